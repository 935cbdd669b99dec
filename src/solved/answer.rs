//! The answer to a question about a position, for people and for programs.
//!
//! Moves come from the rules on the position as it was given and their values from looking up where
//! each leads, so a mirror image of what the table holds is answered as it stands on the board.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::SolvedTable;
use crate::any::AnyPosition;
use crate::game::{Drawn, GameExt, MoveSquares, Outcome, Side};
use crate::hint::Hint;
use crate::solve::Value;
use crate::table::Manifest;

/// A position is not in a table, whose bounds it names; or the table is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotThere(String);

impl Hint for NotThere {
    fn hint(&self) -> Option<Cow<'_, str>> {
        None
    }
}

impl NotThere {
    /// The error in one line.
    pub fn new(what: impl std::fmt::Display) -> NotThere {
        NotThere(what.to_string())
    }

    /// A position that a table does not contain.
    pub(super) fn in_table(table: &SolvedTable, position: &AnyPosition) -> NotThere {
        let Manifest { identity, complete, .. } = table.table().manifest();
        let bounds = [
            identity.max_depth.map(|plies| format!("{plies} plies")),
            identity.max_states.map(|states| format!("{states} states")),
            identity.checks_only.then(|| "checks only".to_string()),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let within = match complete {
            true => String::new(),
            false => format!(" within the table's bounds ({})", bounds.join(", ")),
        };
        let roots = if identity.roots.len() == 1 { "the root" } else { "its roots" };
        NotThere(format!(
            "{} is not among the states of {}: it cannot be reached from {roots}{within}",
            table.game().notation(position),
            table.table().name()
        ))
    }
}

/// How many plies of best play are shown.
pub(super) const LONGEST_LINE: usize = 200;

/// What a table says of a position; its JSON is `docs/json.md`'s. Values are those of `mover`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Name of the table; `search` where no table contains the position and a search found its value.
    pub table: String,
    /// The position in one line.
    pub position: String,
    /// The same in every one-line notation, by name.
    pub notations: BTreeMap<&'static str, String>,
    /// What stands where.
    pub board: Board,
    /// Always `mover`.
    pub perspective: &'static str,
    /// Who is to move.
    pub mover: &'static str,
    /// Whether this very position, not only a mirror image or the one with colours exchanged, can
    /// be reached from the root; absent where the table does not keep that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    pub kind: &'static str,
    /// What it is worth.
    #[serde(flatten)]
    pub value: Verdict,
    /// Every legal move, best first; of a layered game those that were followed.
    pub moves: Vec<MoveAnswer>,
    /// Best play, as far as it is proven.
    pub principal_variation: Vec<String>,
    /// Of a game that may go round in circles.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// The side to move.
    #[serde(skip)]
    pub side: Side,
    /// How the line of best play ends.
    #[serde(skip)]
    pub line_end: LineEnd,
}

/// The board of a position.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Board {
    /// As rows of text.
    pub diagram: String,
    /// Square by square, and what is in hand.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// The further fields of a cyclic game.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cycles {
    /// True if the mover's king is attacked.
    pub in_check: bool,
    /// Why the game is over, in words; `null` while it goes on.
    pub end: Option<String>,
    /// Who has won, if the game is over.
    pub winner: Option<&'static str>,
    /// What play without end counts as: `draw`, `second-player-wins` or `unknown`.
    pub repetition: &'static str,
    /// Who gives check with every move, in a table that follows no other moves of that player.
    pub checks_only: Option<&'static str>,
    /// The ply of `principal_variation`, counted from 0, from which it goes round for ever; `null`
    /// if it ends.
    pub repeats_from: Option<usize>,
}

/// A move and its value for the mover.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MoveAnswer {
    /// Its name.
    #[serde(rename = "move")]
    pub name: String,
    /// Its number.
    pub action: u16,
    /// From where and to where.
    #[serde(flatten)]
    pub squares: MoveSquares,
    /// The position after it.
    #[serde(rename = "position")]
    pub after: String,
    /// Whether it leads to a state of the table; nothing is known of it otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<bool>,
    /// Whether no other move is better, as far as is known; false where nothing is.
    pub best: bool,
    /// What it is worth.
    #[serde(flatten)]
    pub value: Verdict,
}

/// A value, as far as it is proven.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// 1 a win, 0 a draw, −1 a loss.
    pub outcome: Option<i8>,
    /// The same as a word.
    pub result: Option<&'static str>,
    /// Plies to the end, if known exactly; draws have none where play may go on for ever.
    pub distance: Option<u16>,
    #[serde(flatten)]
    bounds: Bounds,
    /// All of it.
    #[serde(skip)]
    pub value: Value,
}

/// What is known where a value is not proven.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Bounds {
    Scores {
        /// The score of the player to move; null where it is not proven.
        score: Option<i8>,
        /// The least that it can be.
        score_lower: i8,
        /// The most.
        score_upper: i8,
    },
    /// The fewest and the most plies to the end of a proven win or loss; no most where it may be
    /// play without end. The worst and the best that the outcome can be.
    Plies {
        /// The fewest plies to a proven win or loss; null where there are none.
        distance_lower: Option<u16>,
        /// The most; null where it may be by play without end.
        distance_upper: Option<u16>,
        /// The worst that the outcome can be.
        outcome_lower: i8,
        /// The best.
        outcome_upper: i8,
    },
}

impl Verdict {
    /// Of a value, with its score if values have one.
    pub fn of(value: Value, scored: bool) -> Verdict {
        let bounds = match scored {
            true => Bounds::Scores {
                score: value.score().map(|score| score.0),
                score_lower: value.lower.score().0,
                score_upper: value.upper.score().0,
            },
            false => Bounds::Plies {
                distance_lower: value.distance_lower(),
                distance_upper: value.distance_upper(),
                outcome_lower: value.lower.outcome().value(),
                outcome_upper: value.upper.outcome().value(),
            },
        };
        let (outcome, result) =
            (value.outcome().map(Outcome::value), value.outcome().map(Outcome::name));
        Verdict { outcome, result, distance: value.distance(), bounds, value }
    }
}

/// How the line of best play ends.
#[derive(Debug)]
pub enum LineEnd {
    /// With the game, in words where it may go on for ever.
    Over(Option<String>),
    /// By coming back to where it was after so many plies.
    Repeats(usize),
    /// Where it has become too long to be shown.
    Cut,
    /// Where values are no longer proven.
    Unproven,
}

/// The little of an answer that programs want of thousands of positions; a line of JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Brief {
    /// The position in one line.
    pub position: String,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    pub kind: &'static str,
    /// For the player to move.
    #[serde(flatten)]
    pub value: Verdict,
    /// The moves that no other is better than, as far as is known; none where nothing is.
    pub best: Vec<String>,
}
