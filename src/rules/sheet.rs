//! Texts of games: a position, moves, players and a result, as a form divides them.

use std::borrow::Cow;
use std::fmt;

use super::{Empties, Side};
use crate::error::Error;

/// Move as a text writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveText<'t> {
    /// The move.
    pub text: Cow<'t, str>,
    /// Byte of the whole text at which it begins.
    pub at: usize,
    /// Side that makes it, if the form says so.
    pub side: Option<Side>,
}

/// Result of a game as its form states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Winner; `None` for a draw.
    Winner(Option<Side>),
    /// First player's score less the second's, empty squares counting by this rule, or by either if there is none.
    Margin(i32, Option<Empties>),
}

/// A game or a position in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet<'t> {
    /// Byte of the text at which it begins.
    pub at: usize,
    /// Position, or moves, or both, in a one-line notation of the game; empty for the position from which it is played.
    pub text: Cow<'t, str>,
    /// Moves of a form that divides them.
    pub words: Vec<MoveText<'t>>,
    /// Names of the first and the second player.
    pub players: [Option<String>; 2],
    /// Result.
    pub claim: Option<Claim>,
}

/// Error at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// Byte of the text.
    pub at: usize,
    /// Error there.
    pub error: Error,
}

impl Misread {
    pub(super) fn new(at: usize, error: impl Into<Error>) -> Misread {
        Misread { at, error: error.into() }
    }
}

impl<'t> Sheet<'t> {
    /// Returns the sheet of a line of text at this byte of the whole.
    pub fn line(text: &'t str, at: usize) -> Sheet<'t> {
        Sheet { at, text: Cow::Borrowed(text), ..Sheet::default() }
    }
}

impl<'t> MoveText<'t> {
    /// Returns a part of the move as a move of its own.
    pub fn part(&self, from: usize, to: usize) -> MoveText<'t> {
        let text = match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
            Cow::Owned(text) => Cow::Owned(text[from..to].to_string()),
        };
        MoveText { text, at: self.at + from, side: self.side }
    }
}

impl fmt::Display for Claim {
    /// Writes `1-0`, `0-1`, `1/2-1/2`, or the first player's margin: `+12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Winner(Some(Side::First)) => f.write_str("1-0"),
            Claim::Winner(Some(Side::Second)) => f.write_str("0-1"),
            Claim::Winner(None) => f.write_str("1/2-1/2"),
            Claim::Margin(margin, _) => write!(f, "{margin:+}"),
        }
    }
}

impl Claim {
    /// Reads a result: `1-0`, `1/2-1/2`, `38-26`, the first player's part first; or that player's margin, `+12`.
    pub fn read(text: &str) -> Option<Claim> {
        match text {
            "1-0" => Some(Claim::Winner(Some(Side::First))),
            "0-1" => Some(Claim::Winner(Some(Side::Second))),
            "1/2-1/2" | "½-½" | "0.5-0.5" => Some(Claim::Winner(None)),
            _ => {
                if text.starts_with(['+', '-']) {
                    let margin: i16 = text.parse().ok()?;
                    return Some(Claim::Margin(margin.into(), None));
                }
                let (first, second) = text.split_once('-')?;
                let number = |text: &str| text.parse::<u8>().ok().map(i32::from);
                Some(Claim::Margin(number(first)? - number(second)?, None))
            }
        }
    }
}
