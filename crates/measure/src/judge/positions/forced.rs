//! Positions of a bounded table in which it proves only some moves.

use super::piece::JudgedCase;
use super::{Case, Example, Truth};
use yomikiri::game::{Action, Outcome};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::{Oracle, SolvedTable};

impl Example {
    /// Returns the moves of a position of a bounded table if it proves that some win or lose, and not all of them.
    /// Values neither won nor lost count as draws. The moves of a restricted row, of which the table follows checks
    /// alone, are all included: a policy may make any.
    pub(super) fn forced(&self, table: &SolvedTable) -> Result<Option<JudgedCase>, String> {
        let is_lost = self.value.outcome() == Some(Outcome::Loss);
        if is_lost || matches!(self.kind, StateKind::Terminal | StateKind::Frontier) {
            return Ok(None);
        }
        let (actions, truths): (Vec<Action>, Vec<Truth>) = match self.kind {
            StateKind::Interior => {
                self.moves.iter().map(|&(action, value)| (action, proven(value))).unzip()
            }
            _ => {
                let moves = table.look_ahead(&self.position).into_iter();
                let value = |value: Option<Value>| proven(value.unwrap_or(table.cut_off()));
                moves.map(|(action, found)| (action, value(found))).unzip()
            }
        };
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
