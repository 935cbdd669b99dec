//! Positions of a bounded table in which it proves only some moves.

use super::piece::JudgedCase;
use super::{Case, Piece, TablePositions, Truth};
use yomikiri::any::AnyPosition;
use yomikiri::game::{Action, Outcome};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::{Oracle, SolvedTable};

impl TablePositions<'_> {
    /// Appends the positions of a row of a bounded table to `out` if it proves that some moves win or lose,
    /// and not all of them.
    pub(super) fn forced_row(
        &self,
        (row, layer): (usize, Option<u32>),
        position: AnyPosition,
        out: &mut Piece,
    ) -> Result<(), String> {
        let TablePositions { table, orienting, .. } = *self;
        let states = table.states();
        let moves = || match states.kind(row, &position.state) {
            StateKind::Interior => {
                let mut moves = Vec::new();
                states.moves(row, &position.state, &mut moves)?;
                let value = |(action, target)| (action, table.move_value(target));
                Ok(moves.into_iter().map(value).collect())
            }
            _ => Ok(look_ahead(table, &position)),
        };
        let case = forced_case(table, (row, layer), &position, moves)?;
        if let Some(JudgedCase { case, actions, truths }) = case {
            let orientations = states.orientations(row);
            let moves = (&actions[..], &truths[..]);
            out.push_row(table.game(), (case, position), moves, orientations, orienting);
        }
        Ok(())
    }
}

/// Returns the legal moves of a position with their values. Those of a restricted row, of which the table follows
/// checks alone, are included: a policy may make any.
pub(super) fn look_ahead(table: &SolvedTable, position: &AnyPosition) -> Vec<(Action, Value)> {
    let moves = table.look_ahead(position).into_iter();
    moves.map(|(action, value)| (action, value.unwrap_or(table.cut_off()))).collect()
}

/// Returns the moves of a position of a bounded table, with the values that `moves` returns, if it proves that some win or lose, and not all of them. Values
/// neither won nor lost count as draws.
pub(super) fn forced_case(
    table: &SolvedTable,
    (row, layer): (usize, Option<u32>),
    position: &AnyPosition,
    moves: impl FnOnce() -> Result<Vec<(Action, Value)>, String>,
) -> Result<Option<JudgedCase>, String> {
    let is_lost = table.value(row).outcome() == Some(Outcome::Loss);
    let kind = table.states().kind(row, &position.state);
    if is_lost || matches!(kind, StateKind::Terminal | StateKind::Frontier) {
        return Ok(None);
    }
    let (actions, truths): (Vec<Action>, Vec<Truth>) =
        moves()?.into_iter().map(|(action, value)| (action, proven(value))).unzip();
    let Some(own) = truths.iter().copied().max_by_key(|truth| truth.rank) else {
        return Ok(None);
    };
    if truths.iter().all(|truth| truth.outcome == own.outcome) {
        return Ok(None);
    }
    let case =
        Case::of(row, layer, own, &truths).ok_or_else(|| format!("no best move in row {row}"))?;
    Ok(Some(JudgedCase { case, actions, truths }))
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
