//! Values in words.

use crate::game::{Outcome, Repetition};
use crate::solve::cyclic::Interval;

/// `Black, to move, loses by 8 discs; 13 plies to the end`.
pub(super) fn verdict(
    side: &str,
    outcome: Option<Outcome>,
    score: Option<i32>,
    distance: Option<u16>,
) -> String {
    let result = match (outcome, score) {
        (Some(Outcome::Draw), _) => "draws".to_string(),
        (Some(outcome), score) => {
            let verb = if outcome == Outcome::Win { "wins" } else { "loses" };
            match score.map(i32::abs) {
                Some(1) => format!("{verb} by 1 disc"),
                Some(discs) => format!("{verb} by {discs} discs"),
                None => format!("{verb} by a score that the table does not prove"),
            }
        }
        (None, _) => "has an outcome that the table does not prove".to_string(),
    };
    let end = match distance {
        Some(1) => "; 1 ply to the end".to_string(),
        Some(plies) => format!("; {plies} plies to the end"),
        None => String::new(),
    };
    format!("{side}, to move, {result}{end}")
}

/// `Black, to move, wins in 7 plies`.
pub(super) fn cyclic_verdict(side: &str, value: Interval) -> String {
    let result = match value.outcome() {
        None => "has an outcome that the table does not prove".to_string(),
        Some(Outcome::Draw) => "draws: neither side can force an end".to_string(),
        Some(outcome) => {
            let verb = if outcome == Outcome::Win { "wins" } else { "loses" };
            match distance_text(value) {
                Some(plies) => format!("{verb} {plies}"),
                None => format!("{verb} by play without end"),
            }
        }
    };
    format!("{side}, to move, {result}")
}

/// How far the end of a proven win or loss is; `None` if it has none.
fn distance_text(value: Interval) -> Option<String> {
    let plies = |n: u16| if n == 1 { "1 ply".to_string() } else { format!("{n} plies") };
    match (value.distance_lower(), value.distance_upper()) {
        (Some(least), Some(most)) if least == most => Some(format!("in {}", plies(most))),
        (Some(least), Some(most)) => Some(format!(
            "in at most {}; whether at least {} or more is not proven",
            plies(most),
            plies(least)
        )),
        (Some(least), None) => Some(format!("in {} or more, or by play without end", plies(least))),
        (None, Some(most)) => Some(format!("in at most {}", plies(most))),
        (None, None) => None,
    }
}

/// What play without end counts as, in words.
pub(super) fn repetition_text(repetition: Repetition) -> &'static str {
    match repetition {
        Repetition::Draw => "a draw",
        Repetition::SecondPlayerWins => "a win of the second player",
        Repetition::Unknown => "unknown",
    }
}
