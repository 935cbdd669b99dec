//! Positions in which only some moves are proven.

use super::judged_positions::JudgedCase;
use super::{Case, Example, Truth};
use yomikiri::rules::{Action, Outcome};
use yomikiri::solve::Value;
use yomikiri::table::rows::StateKind;

impl Example {
    /// Returns the moves of a position if it is proven that some win or lose, and not all of them. Values neither won
    /// nor lost count as draws.
    pub(super) fn forced(&self) -> Result<Option<JudgedCase>, String> {
        if self.value.outcome() == Some(Outcome::Loss) || self.kind != StateKind::Interior {
            return Ok(None);
        }
        let moves = self.moves.iter().map(|&(action, value)| (action, proven(value)));
        let (actions, truths): (Vec<Action>, Vec<Truth>) = moves.unzip();
        let Some(own) = truths.iter().copied().max_by_key(|truth| truth.rank) else {
            return Ok(None);
        };
        if truths.iter().all(|truth| truth.outcome == own.outcome) {
            return Ok(None);
        }
        let case = Case::of(self.row as usize, self.layer, own, &truths)
            .ok_or_else(|| format!("no best move in row {}", self.row))?;
        Ok(Some(JudgedCase { case, actions, truths }))
    }
}

/// Returns the proven outcome of a move: win, loss, or a draw for neither.
fn proven(value: Value) -> Truth {
    let outcome = match value.outcome() {
        Some(Outcome::Win) => Outcome::Win,
        Some(Outcome::Loss) => Outcome::Loss,
        Some(Outcome::Draw) | None => Outcome::Draw,
    };
    let rank = match outcome {
        Outcome::Draw => 0,
        _ => Truth::rank(value),
    };
    Truth { outcome, score: None, distance: None, rank }
}
