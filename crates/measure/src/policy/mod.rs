//! What chooses moves.
//!
//! A [`Policy`] gives each legal action of each position of a [`Batch`] a probability, and if it
//! can a score, and each position a value ([`Answers`]). Figures are then exact expectations:
//! nothing is sampled.
//!
//! Most policies are a [`Rule`]: they go position by position and find each action worth something;
//! the best actions share ([`ByRule`]).
//!
//! * [`Random`] takes every move equally often, [`Greedy`] the most material, [`Weights`] the
//!   best squares;
//! * [`Lines`] averages over all lines of a length, [`Minimax`] takes the best for
//!   either side; what they look at where they stop is an [`Evaluation`];
//! * [`MonteCarlo`] and [`Mcts`] play on at random, from a seed, so that they too are fixed;
//! * [`Mate`] gives mates by checks and avoids them;
//! * `Onnx` (with the feature of that name) is a network in an ONNX file, perhaps with a [`Card`] beside
//!   it; [`NetworkSpec`] says how it is read;
//! * [`Predictions`] and [`Exec`] ask files and programs; [`Steady`] finds answers that depend on the
//!   batch, [`Amended`] plays what another policy ranks highest;
//! * [`PolicySpec`] is what a person writes for a policy; [`of_rules`] and [`of_outside`] make it.
//!   The perfect policy needs a solved table, so it belongs to [`evaluate`](crate::evaluate).
//!
//! Moves that a rule finds equally good are equally likely. A single action, such as a pass, has
//! probability 1.

mod batch;
mod build;
pub mod card;
pub mod chance;
mod grammar;
mod lines;
mod mate;
mod mcts;
mod montecarlo;
mod network_spec;
mod of_game;
#[cfg(feature = "onnx")]
pub mod onnx;
mod outside;
mod rules;
#[cfg(test)]
mod sample;
mod search;
mod spec;
mod steady;
mod weights;
mod wrapped;

pub use batch::{Answer, Answers, Batch};
pub use build::{of_outside, of_rules};
pub use card::Card;
pub use chance::PLAYOUT_PLIES;
pub use lines::Lines;
pub use mate::Mate;
pub use mcts::Mcts;
pub use montecarlo::MonteCarlo;
pub use network_spec::{Choice, NetworkSpec, Softmax, ValueRange};
pub use of_game::of_game;
#[cfg(feature = "onnx")]
pub use onnx::Onnx;
pub use outside::{Beside, Dense, Exec, Legal, PROTOCOL, PROTOCOL_VERSION, Predictions};
pub use rules::{Evaluation, Greedy, Material, Moves, Random};
pub use search::Minimax;
pub use spec::{PlayOn, PolicySpec, ReadAhead};
pub use steady::Steady;
pub use weights::{MICRO, Weights};
pub use wrapped::{Amended, Amendment, TrainedOn, TrainedSpec};

use yomikiri::game::{Action, Game, GameExt, Position};
use yomikiri::hint::Hinted;

/// Something that chooses moves.
pub trait Policy<G: Game>: Send + Sync {
    /// The name under which reports show it.
    fn name(&self) -> String;

    /// Answers for every position of a batch; `answers` comes cleared.
    ///
    /// The answer for a position must not depend on what else is in the batch.
    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), Hinted>;

    /// Which positions' exact values it has learned from.
    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Nothing
    }
}

/// A policy that goes position by position and takes what it finds best.
pub trait Rule<G: Game>: Send + Sync {
    /// The name under which reports show it.
    fn name(&self) -> String;

    /// Writes to `out` what each of `actions` is worth, in their order: the higher, the better.
    ///
    /// `actions` are the legal actions of the position, at least two, for one needs no choice.
    /// Actions of the same worth are equally likely, so that sums should be exact (of integers,
    /// say).
    fn worths(&self, game: &G, position: &Position<G::State>, actions: &[Action], out: &mut [f64]);
}

/// A rule as a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByRule<R>(pub R);

impl<G: Game, R: Rule<G>> Policy<G> for ByRule<R> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let count = batch.actions().len();
        answers.scores.resize(count, 0.0);
        answers.probabilities.resize(count, 0.0);
        for (at, position) in batch.positions().iter().enumerate() {
            let range = batch.range(at);
            let actions = &batch.actions()[range.clone()];
            let scores = &mut answers.scores[range.clone()];
            if actions.len() > 1 {
                self.0.worths(game, position, actions, scores);
            }
            share_best(scores, &mut answers.probabilities[range]);
        }
        Ok(())
    }
}

/// What a policy does in one position: its legal actions, each with its probability.
pub fn ask<G: Game>(
    policy: &dyn Policy<G>,
    game: &G,
    position: &Position<G::State>,
) -> Result<Vec<(Action, f64)>, Hinted> {
    let mut batch = Batch::default();
    batch.push(*position, game.actions(&position.state));
    let mut answers = Answers::default();
    policy.answer(game, &batch, &mut answers)?;
    answers.check(&batch)?;
    Ok(batch.actions().iter().copied().zip(answers.probabilities).collect())
}

/// Writes to `out` the same probability for each place whose worth is the highest, and 0 for the
/// others. Both have the same length.
///
/// # Panics
///
/// When the lengths differ.
pub fn share_best<W: PartialOrd + Copy>(worths: &[W], out: &mut [f64]) {
    assert_eq!(worths.len(), out.len(), "one probability a worth");
    let mut best: Option<W> = None;
    let mut count = 0u32;
    for (i, &worth) in worths.iter().enumerate() {
        let is_less = best.is_some_and(|best| worth < best);
        let is_equal = best.is_some_and(|best| worth == best);
        out[i] = if is_less { 0.0 } else { 1.0 };
        match (is_less, is_equal) {
            (true, _) => {}
            (_, true) => count += 1,
            _ => {
                out[..i].fill(0.0);
                (best, count) = (Some(worth), 1);
            }
        }
    }
    out.iter_mut().for_each(|p| *p /= f64::from(count.max(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_share_and_the_others_get_nothing() {
        let mut out = [9.0; 6];
        share_best(&[1, 3, 2, 3, 0, 3], &mut out);
        let third = 1.0 / 3.0;
        assert_eq!(out, [0.0, third, 0.0, third, 0.0, third]);
    }
}
