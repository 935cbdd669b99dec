//! The best moves of a solved table of a cyclic game.

use super::cyclic::CyclicRows;
use crate::game::{Action, Cyclic, Outcome, Position};
use crate::policy::{Answers, Batch, Policy, PolicyError, share_best};
use crate::solve::cyclic::{CyclicSolved, Interval, Prospect};

/// Plays a table's best moves, equally often those that are equally good.
///
/// The outcome that is proven to be had comes first, then the best that is not excluded; among wins
/// the shortest, among losses the longest. Where these are not proven, what counts is what the mover
/// gets if all that is not known turns out badly, and then what if it turns out well. A move that
/// leads out of the table is as good as one to its frontier; in a position that is not in the table
/// all moves share.
#[derive(Clone, Copy, Debug)]
pub struct CyclicPerfect<'a> {
    rows: CyclicRows<'a>,
    solved: &'a CyclicSolved,
}

/// How good a move is; the higher, the better.
type Worth = (Outcome, Outcome, Prospect, Prospect);

/// What is known of a position whose moves were not followed, as solving assumes it.
const UNKNOWN: Interval = Interval { lower: Prospect::loss(2), upper: Prospect::win(1) };

impl<'a> CyclicPerfect<'a> {
    /// The best moves of a table, given as its rows and its solution.
    pub fn new(rows: CyclicRows<'a>, solved: &'a CyclicSolved) -> CyclicPerfect<'a> {
        CyclicPerfect { rows, solved }
    }

    fn value<G: Cyclic>(&self, game: &G, position: &Position<G::State>) -> Option<Interval> {
        let row = self.rows.find(game, position)?;
        (row < self.solved.rows()).then(|| self.solved.value(row))
    }
}

fn worth(value: Interval) -> Worth {
    let Interval { lower, upper } = value;
    (lower.outcome(), upper.outcome(), lower, upper)
}

impl<G: Cyclic> Policy<G> for CyclicPerfect<'_> {
    fn name(&self) -> String {
        "perfect".to_string()
    }

    /// # Panics
    ///
    /// When the game's keys have another width than the table's: the table is of another game.
    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for (at, position) in batch.positions().iter().enumerate() {
            let actions = &batch.actions()[batch.range(at)];
            let out = &mut answers.probabilities[batch.range(at)];
            if self.rows.find(game, position).is_none() {
                out.fill(1.0 / actions.len() as f64);
                continue;
            }
            let worth = |&action: &Action| {
                let after = game.advance(position, action);
                worth(self.value(game, &after).unwrap_or(UNKNOWN).before())
            };
            let worths: Vec<Worth> = actions.iter().map(worth).collect();
            share_best(&worths, out);
        }
        Ok(())
    }
}
