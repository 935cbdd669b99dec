//! Positions of a bounded table in which something is proven of some moves only.
//!
//! A bounded table rarely proves all moves of a position, so that few are judged. Much more often it
//! proves that some moves win, or that some lose. There it is told how often a policy takes a move
//! that is proven to win, and how often one that is proven to lose. A move of which nothing is
//! proven may be as good or as bad as any: the first is the least that is kept, the second the least
//! that is thrown away.

use serde::Serialize;

use super::accuracy::PolicyAccuracy;
use super::details::Key;
use super::figures::Figures;
use super::source::{Case, Judged, Piece, Truth};
use yomikiri::any::AnyPosition;
use yomikiri::game::{Action, Outcome};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::Oracle;

/// How a policy moves where a bounded table proves something of some moves only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ForcedFigures {
    /// Positions proven to be won, with a move that is not proven to keep that.
    pub won: u64,
    /// Mean probability there of a move that is proven to win; `None` without such positions.
    pub won_kept: Option<f64>,
    /// Mean probability there of a move that is proven to lose.
    pub won_thrown: Option<f64>,
    /// Positions not proven to be won or lost, with a move that is proven to lose.
    pub at_risk: u64,
    /// Mean probability there of such a move.
    pub at_risk_lost: Option<f64>,
}

impl ForcedFigures {
    /// Figures of a policy in the positions of [`Judged::forced`].
    pub(super) fn of(measured: &PolicyAccuracy) -> ForcedFigures {
        let of = |outcome: Outcome| {
            let key = Key::Outcome(outcome.value().into());
            let group = measured.details.by_value.iter().find(|group| group.key == key);
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
    /// Puts the positions of a row of a bounded table into `out` if the table proves of some moves that they win or lose, and
    /// of others not. What is not proven to be won or lost stands for a draw in them.
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
            // Its table follows checks alone; a policy may make any move.
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
            .ok_or_else(|| format!("the moves of row {row} have no best"))?;
        let orientations = states.orientations(row);
        out.push_row(table.game(), (case, position), (&actions, &truths), orientations, orienting);
        Ok(())
    }
}

/// What is proven of a move: that it wins, that it loses, or neither.
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
