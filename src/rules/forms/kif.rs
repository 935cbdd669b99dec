//! KIF: a header in Japanese, numbered moves such as `1 ５三歩(54)`, and the end.

use std::borrow::Cow;

use crate::error::Error;
use crate::rules::Side;
use crate::rules::sheet::{Claim, Misread, MoveText, Sheet};

/// Words that begin lines of a header, each with a colon behind it.
const HEADER: [&str; 8] =
    ["手合割", "先手", "後手", "下手", "上手", "開始日時", "棋戦", "後手の持駒"];
/// Last words of games, without a move, and whether the player to move has lost.
const ENDS: [(&str, End); 14] = [
    ("投了", End::MoverLoses),
    ("詰み", End::MoverLoses),
    ("詰", End::MoverLoses),
    ("切れ負け", End::MoverLoses),
    ("反則負け", End::MoverLoses),
    ("反則勝ち", End::MoverWins),
    ("入玉勝ち", End::MoverWins),
    ("不戦勝", End::MoverWins),
    ("不戦敗", End::MoverLoses),
    ("トライ", End::MoverLoses),
    ("千日手", End::Draw),
    ("持将棋", End::Draw),
    ("中断", End::Open),
    ("不詰", End::Open),
];

#[derive(Clone, Copy)]
enum End {
    MoverLoses,
    MoverWins,
    Draw,
    Open,
}

/// Returns `true` for a line that no other form has.
pub(super) fn is_sign(line: &str) -> bool {
    line.starts_with("手数")
        || HEADER.iter().any(|word| header(line, word).is_some())
        || numbered(line).is_some()
}

fn header<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    line.strip_prefix(word)?.strip_prefix(['：', ':'])
}

/// Returns the number of a move in Japanese, and what is behind it.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = line[..line.len() - text.len()].parse().ok()?;
    let text = text.trim_start().trim_start_matches(['▲', '△', '▼', '▽']);
    let is_move = text.starts_with(|c: char| ('１'..='９').contains(&c) || c == '同')
        || ENDS.iter().any(|(word, _)| text.starts_with(word));
    is_move.then_some((number, text))
}

/// Returns the number of a line, and the text behind it.
fn numbered_text(line: &str) -> Option<(usize, &str)> {
    let (number, text) = line.split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, text.trim_start())).filter(|(_, text)| !text.is_empty())
}

pub(super) fn read(text: &str) -> Result<Vec<Sheet<'_>>, Misread> {
    let mut sheets: Vec<Sheet> = Vec::new();
    let mut board: Vec<&str> = Vec::new();
    let (mut is_variation, mut destination, mut at) = (false, String::new(), 0);
    for whole in text.split_inclusive('\n') {
        let (begin, line) = (at, whole.trim());
        at += whole.len();
        let has_moves =
            sheets.last().is_some_and(|sheet| !sheet.words.is_empty() || sheet.claim.is_some());
        if line.is_empty() || line.starts_with(['#', '*', '&']) {
            continue;
        }
        if line.starts_with("変化") {
            is_variation = true;
            continue;
        }
        // A numbered line that is no move is reported as an illegal one.
        if let Some((number, move_text)) = numbered(line).or_else(|| numbered_text(line)) {
            if sheets.is_empty() || number == 1 && has_moves && !is_variation {
                sheets.push(Sheet { at: begin, ..Sheet::default() });
                destination.clear();
            }
            let sheet = sheets.last_mut().expect("one was begun");
            if is_variation {
                continue;
            }
            let place = begin + (move_text.as_ptr() as usize - whole.as_ptr() as usize);
            if let Some((_, end)) = ENDS.iter().find(|(word, _)| move_text.starts_with(word)) {
                // The side that begins makes the moves of odd numbers.
                let is_second = ["後手番", "上手番"].iter().any(|side| sheet.text.contains(side));
                let first = if is_second { Side::Second } else { Side::First };
                let mover = if number % 2 == 1 { first } else { first.other() };
                sheet.claim = match end {
                    End::MoverLoses => Some(Claim::Winner(Some(mover.other()))),
                    End::MoverWins => Some(Claim::Winner(Some(mover))),
                    End::Draw => Some(Claim::Winner(None)),
                    End::Open => None,
                };
                continue;
            }
            sheet.words.push(word(move_text, place, &mut destination)?);
            continue;
        }
        // A header begins the next game.
        if has_moves && HEADER.iter().any(|word| header(line, word).is_some()) || sheets.is_empty()
        {
            sheets.push(Sheet { at: begin, ..Sheet::default() });
            board.clear();
            is_variation = false;
            destination.clear();
        }
        let sheet = sheets.last_mut().expect("one was begun");
        // `まで` tells who has won, which the last move tells too.
        let is_of_board =
            line.starts_with('|') || line.contains("の持駒") || matches!(line, "後手番" | "上手番");
        if is_of_board {
            board.push(line);
            sheet.text = Cow::Owned(board.join("\n"));
        } else if let Some(name) = header(line, "先手").or(header(line, "下手")) {
            sheet.players[0] = Some(name.trim().to_string());
        } else if let Some(name) = header(line, "後手").or(header(line, "上手")) {
            sheet.players[1] = Some(name.trim().to_string());
        }
    }
    Ok(sheets)
}

/// Returns a move with its destination written out where it is `同`, the same as that before.
fn word<'t>(text: &'t str, at: usize, destination: &mut String) -> Result<MoveText<'t>, Misread> {
    // Behind the move stands its time.
    let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
    if let Some(piece) = text.strip_prefix('同') {
        let piece = piece.trim_start_matches(['　', ' ']);
        let end = piece.find(|c: char| c.is_whitespace()).unwrap_or(piece.len());
        if destination.is_empty() {
            let error =
                Error::new(format!("`{text}` without a move before it"), "expected its square");
            return Err(Misread::new(at, error));
        }
        return Ok(MoveText {
            text: Cow::Owned(format!("{destination}{}", &piece[..end])),
            at,
            side: None,
        });
    }
    let move_text = &text[..end];
    *destination = move_text.chars().take(2).collect();
    Ok(MoveText { text: Cow::Borrowed(move_text), at, side: None })
}
