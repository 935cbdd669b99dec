//! WTHOR: bases of Othello games in binary.
//!
//! A header of 16 bytes (date of the base, number of games, year, size of the board, kind, depth), then 68 bytes a game:
//! numbers of tournament and players, Black's discs at the end and in theory, and 60 moves `10 * row + column` from 11
//! to 88, passes left out, 0 behind the last.

use std::borrow::Cow;

use crate::error::{Error, Kind};
use crate::rules::Empties;
use crate::rules::sheet::{Claim, MoveText, Sheet};

const HEAD: usize = 16;
const GAME: usize = 68;
/// Bytes of a game before its moves.
const FRONT: usize = 8;

/// Names of the squares, row by row.
const NAMES: &str = "a1b1c1d1e1f1g1h1a2b2c2d2e2f2g2h2a3b3c3d3e3f3g3h3a4b4c4d4e4f4g4h4\
                     a5b5c5d5e5f5g5h5a6b6c6d6e6f6g6h6a7b7c7d7e7f7g7h7a8b8c8d8e8f8g8h8";

/// Returns `true` if the header is that of a base and the length is that of its games.
pub(super) fn is_base(bytes: &[u8]) -> bool {
    let Some(head) = bytes.get(..HEAD) else { return false };
    let is_date = (18..=21).contains(&head[0]) && head[1] < 100 && head[2] <= 12 && head[3] <= 31;
    let is_size = matches!(head[12], 0 | 8 | 10);
    is_date && is_size && head[13] <= 1 && bytes.len() == HEAD + GAME * count(head)
}

pub(super) fn game_at(at: usize) -> usize {
    at.saturating_sub(HEAD) / GAME + 1
}

fn count(head: &[u8]) -> usize {
    u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize
}

pub(super) fn games(bytes: &[u8]) -> Result<usize, Error> {
    if !is_base(bytes) {
        let what = "not a WTHOR base: its header and its length differ";
        return Err(
            Error::new(what, "expected 16 bytes and 68 for each game").of_kind(Kind::Damaged)
        );
    }
    if bytes[12] == 10 {
        return Err("a base of 10×10 boards, expected 8×8".into());
    }
    Ok(count(bytes))
}

pub(super) fn sheet(bytes: &[u8], index: usize) -> Sheet<'static> {
    let begin = HEAD + GAME * index;
    let game = &bytes[begin..begin + GAME];
    // A 0 before the last move is none.
    let count = game[FRONT..].iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
    let moves = game[FRONT..].iter().take(count);
    let words = moves.enumerate().map(|(place, code)| {
        let (row, column) = (usize::from(code / 10), usize::from(code % 10));
        let is_square = (1..=8).contains(&row) && (1..=8).contains(&column);
        let text = match is_square {
            true => {
                let at = 2 * (8 * (row - 1) + column - 1);
                Cow::Borrowed(&NAMES[at..at + 2])
            }
            false => Cow::Owned(format!("code {code}")),
        };
        MoveText { text, at: begin + FRONT + place, side: None }
    });
    let discs = i32::from(game[6]);
    let player =
        |at: usize| Some(format!("player {}", u16::from_le_bytes([game[at], game[at + 1]])));
    Sheet {
        at: begin,
        words: words.collect(),
        players: [player(2), player(4)],
        claim: Some(Claim::Margin(2 * discs - 64, Some(Empties::ToWinner))),
        ..Sheet::default()
    }
}
