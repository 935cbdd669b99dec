//! Positions of a bounded table in which some moves are proven and others are not.
//!
//! A bounded table rarely proves all moves of a position, so few positions are judged. Much more often it
//! proves that some moves win, or that some lose. In these positions, the figures are how often a policy
//! takes a proven win and how often a proven loss. A move that is not proven may be as good or as bad as any,
//! so these are lower bounds of how often it keeps a win and how often it blunders.

use serde::Serialize;

use super::case::{Case, Piece, Truth};
use super::details::{Details, Key};
use super::figures::Figures;
use super::source::Judged;
use yomikiri::any::AnyPosition;
use yomikiri::game::{Action, Outcome};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::Oracle;

/// Figures of a policy where a bounded table proves only some moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ForcedFigures {
    /// Number of positions proven to be won, with a move not proven to keep the win.
    pub won: u64,
    /// Mean probability of a proven winning move in the won positions; `None` without such positions.
    pub won_kept: Option<f64>,
    /// Mean probability of a proven losing move in the won positions.
    pub won_thrown: Option<f64>,
    /// Number of positions not proven to be won or lost, with a proven losing move.
    pub at_risk: u64,
    /// Mean probability of a proven losing move in the positions at risk.
    pub at_risk_lost: Option<f64>,
}

impl ForcedFigures {
    /// Returns the figures from a policy's details in the positions of [`Judged::forced`].
    pub(super) fn of(details: &Details) -> ForcedFigures {
        let of = |outcome: Outcome| {
            let key = Key::Outcome(outcome.value().into());
            let group = details.by_value.iter().find(|group| group.key == key);
            group.map_or(Figures::default(), |group| group.figures.all)
        };
        let [won, at_risk] = [Outcome::Win, Outcome::Draw].map(|outcome| of(outcome).means());
        ForcedFigures {
            won: won.states,
            won_kept: won.optimal_by_outcome,
            won_thrown: won.blunders.win_to_loss.share,
            at_risk: at_risk.states,
            at_risk_lost: at_risk.blunders.draw_to_loss.share,
        }
    }
}

impl Judged<'_> {
    /// Appends the positions of a row of a bounded table to `out` if it proves that some moves win or lose,
    /// and not all of them. Values neither won nor lost count as draws.
    pub(super) fn forced_row(
        &self,
        (row, layer): (usize, Option<u32>),
        position: AnyPosition,
        out: &mut Piece,
    ) -> Result<(), String> {
        let Judged { table, orienting, .. } = *self;
        let states = table.states();
        if table.value(row).outcome() == Some(Outcome::Loss) {
            return Ok(());
        }
        let moves: Vec<(Action, Value)> = match states.kind(row, &position.state) {
            StateKind::Interior => {
                let mut moves = Vec::new();
                states.moves(row, &position.state, &mut moves)?;
                let value = |(action, target)| (action, table.move_value(target));
                moves.into_iter().map(value).collect()
            }
            // The table follows checks alone; a policy may make any move.
            StateKind::Restricted => {
                let ahead = table.look_ahead(&position).into_iter();
                ahead.map(|(action, value)| (action, value.unwrap_or(table.cut_off()))).collect()
            }
            StateKind::Terminal | StateKind::Frontier => return Ok(()),
        };
        let (actions, truths): (Vec<Action>, Vec<Truth>) =
            moves.into_iter().map(|(action, value)| (action, proven(value))).unzip();
        let Some(own) = truths.iter().copied().max_by_key(|truth| truth.rank) else {
            return Ok(());
        };
        if truths.iter().all(|truth| truth.outcome == own.outcome) {
            return Ok(());
        }
        let case = Case::of(row, layer, own, &truths)
            .ok_or_else(|| format!("no best move in row {row}"))?;
        let orientations = states.orientations(row);
        out.push_row(table.game(), (case, position), (&actions, &truths), orientations, orienting);
        Ok(())
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
