//! The answer to a query for a position, for people and for programs.
//!
//! Moves come from the rules, applied to the position as given, and their values from looking up their
//! successors. So an image of a stored state is answered in its own orientation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::SolvedTable;
use crate::error::Error;
use crate::rules::{AnyPosition, Drawn, MoveSquares, Outcome, Rules, Side};
use crate::search::MateByChecks;
use crate::search::mates::MateVerdict;
use crate::solve::Value;
use crate::table::Manifest;

/// Returns the error for a position that a table does not contain.
pub(super) fn not_in_table(table: &SolvedTable, position: &AnyPosition) -> Error {
    let Manifest { identity, complete, .. } = table.table().manifest();
    let bounds = [
        identity.max_depth.map(|plies| format!("{plies} plies")),
        identity.max_states.map(|states| format!("{states} states")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    let within = match complete {
        true => String::new(),
        false => format!(" within the table's bounds ({})", bounds.join(", ")),
    };
    let roots = if identity.roots.len() == 1 { "the root" } else { "its roots" };
    Error::from(format!(
        "{} is not among the states of {}: unreachable from {roots}{within}",
        table.game().notation(position),
        table.table().name()
    ))
}

/// Most plies of a principal variation.
pub(super) const LONGEST_LINE: usize = 200;

/// The answer for a position; `docs/json.md` specifies its JSON. Values are those of `mover`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Answer {
    /// Name of the table; `search`, `stored solution` or `stored solution and search` where no table contains the position and
    /// its value was found so.
    pub table: String,
    /// Position in one line.
    pub position: String,
    /// Position in every one-line notation, by the notation's name.
    pub notations: BTreeMap<&'static str, String>,
    /// Board and pieces in hand.
    pub board: Board,
    /// Always `mover`.
    pub perspective: &'static str,
    /// Name of the side to move.
    pub mover: &'static str,
    /// `true` if the position itself can be reached from the root, not only an image of it or the one
    /// with colours exchanged; absent if the table does not record that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// `interior`, `terminal` or `frontier`; `outside` if nothing is known of the position.
    pub kind: &'static str,
    /// Value of the position.
    #[serde(flatten)]
    pub value: Verdict,
    /// Estimate, where the outcome is not proven and one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<PositionEstimate>,
    /// Legal moves, best first; in a layered game only those that were followed.
    pub moves: Vec<MoveAnswer>,
    /// Principal variation, as far as values are proven.
    pub principal_variation: Vec<String>,
    /// Further fields of a cyclic game.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// The side to move.
    #[serde(skip)]
    pub side: Side,
    /// End of the principal variation.
    #[serde(skip)]
    pub line_end: LineEnd,
}

/// Board of a position.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Board {
    /// Rows of text.
    pub diagram: String,
    /// Content of each square, and pieces in hand.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// Further fields of a cyclic game.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cycles {
    /// `true` if the mover's king is attacked.
    pub in_check: bool,
    /// Reason why the game is over, in words; `null` if it is not.
    pub end: Option<String>,
    /// Name of the winner, if the game is over.
    pub winner: Option<&'static str>,
    /// Value of infinite play: `draw`, `second-player-wins` or `unknown`.
    pub repetition: &'static str,
    /// Ply of `principal_variation`, from 0, to whose position its last move leads back; `null` if it
    /// does not.
    pub repeats_from: Option<usize>,
    /// Mate by checks alone, as far as a search found one, in games of the shogi family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_checks: Option<ByChecks>,
}

/// Mate of the mover who gives check with every move.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ByChecks {
    /// `mate`, `no_mate` (proven) or `open` (a limit was reached first).
    pub verdict: &'static str,
    /// Plies of the mate that was found; 127 stands for 127 and more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// True if no mate by checks is shorter: proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_shortest: Option<bool>,
    /// Moves of the mate against the longest defence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<String>,
    /// Plies that are missing at the end of the line because a limit was reached; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_plies: Option<u32>,
}

impl ByChecks {
    pub(super) fn new(mate: MateByChecks, game: &dyn Rules, position: &AnyPosition) -> ByChecks {
        let MateByChecks { verdict, line } = mate;
        let (verdict, plies, is_shortest) = match verdict {
            MateVerdict::Mate { plies, is_shortest, .. } => {
                ("mate", Some(plies), Some(is_shortest))
            }
            MateVerdict::NoMate => ("no_mate", None, None),
            MateVerdict::Open => ("open", None, None),
        };
        let mut side = position.side.other();
        let name = |action| {
            side = side.other();
            game.action_name(side, action)
        };
        ByChecks {
            verdict,
            plies,
            is_shortest,
            line: line.actions.into_iter().map(name).collect(),
            missing_plies: Some(line.missing_plies).filter(|&plies| plies > 0),
        }
    }
}

/// A move and its value for the mover.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MoveAnswer {
    /// Name of the move.
    #[serde(rename = "move")]
    pub name: String,
    /// Index of the move.
    pub action: u16,
    /// Squares from which and to which it leads.
    #[serde(flatten)]
    pub squares: MoveSquares,
    /// Position after the move.
    #[serde(rename = "position")]
    pub after: String,
    /// `true` if it leads to a state of the table; otherwise its value is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<bool>,
    /// `true` if it keeps the score, or in games without scores the outcome, as far as is known; `false` if nothing is.
    pub best: bool,
    /// Value of the move.
    #[serde(flatten)]
    pub value: Verdict,
    /// Estimate, where the outcome is not proven and one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimated>,
}

/// Expectation of a short search, never a proof: either an advantage or a forced outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Estimated {
    /// Advantage expected for the mover, in points of the score or of the smallest piece; null if an outcome is forced.
    pub advantage: Option<f64>,
    /// Outcome for the mover that the searched moves lead to by force, as far as they repeat nothing; null without one.
    pub outcome: Option<i8>,
    /// Plies to that outcome.
    pub distance: Option<u32>,
}

/// Estimate of a position, with its cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PositionEstimate {
    /// Positions that were searched, by one thread: the estimate is the same each time.
    pub nodes: u64,
    /// Plies that were searched.
    pub plies: u32,
    /// Expectation for the mover.
    #[serde(flatten)]
    pub expected: Estimated,
}

/// A value, as far as it is proven.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// 1 for a win, 0 for a draw, −1 for a loss.
    pub outcome: Option<i8>,
    /// Outcome as a word.
    pub result: Option<&'static str>,
    /// Plies to the end, if known exactly; none for draws of cyclic games.
    pub distance: Option<u16>,
    #[serde(flatten)]
    bounds: Bounds,
    /// The value itself.
    #[serde(skip)]
    pub value: Value,
}

/// Bounds of a value.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Bounds {
    Scores {
        /// Score for the mover; null if not proven.
        score: Option<i8>,
        /// Lower bound of the score.
        score_lower: i8,
        /// Upper bound of the score.
        score_upper: i8,
    },
    /// Bounds of the plies to the end of a proven win or loss, and of the outcome. Without an upper
    /// bound of the plies, infinite play may decide.
    Plies {
        /// Lower bound of the plies to a proven win or loss; null if there is none.
        distance_lower: Option<u16>,
        /// Upper bound; null if infinite play may decide.
        distance_upper: Option<u16>,
        /// Lower bound of the outcome.
        outcome_lower: i8,
        /// Upper bound of the outcome.
        outcome_upper: i8,
    },
}

impl Verdict {
    /// Returns the verdict on a value, with scores if `scored`.
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

/// End of a principal variation.
#[derive(Debug)]
pub enum LineEnd {
    /// The game ends; how, in words, in cyclic games.
    Over(Option<String>),
    /// The position after so many plies is repeated.
    Repeats(usize),
    /// It is too long to be shown.
    Cut,
    /// Values are not proven from there on.
    Unproven,
}

/// A brief answer, one line of JSON, for queries of thousands of positions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Brief {
    /// Position in one line.
    pub position: String,
    /// `interior`, `terminal` or `frontier`.
    pub kind: &'static str,
    /// Value for the player to move.
    #[serde(flatten)]
    pub value: Verdict,
    /// Names of the moves that keep the score, or in games without scores the outcome, as far as is known, those that
    /// win soonest or lose latest first; none if nothing is known.
    pub best: Vec<String>,
}
