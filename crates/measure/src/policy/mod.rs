//! Policies, which choose moves.
//!
//! A [`Policy`] assigns a probability to each legal action of each position of a [`Batch`], and optionally a
//! score to each action and a value to each position ([`Answers`]). Figures are exact expectations over these
//! probabilities: nothing is sampled.
//!
//! Most policies are a [`Rule`], which rates each action of one position; the best actions share the
//! probability ([`ByRule`]). Actions rated equal are equally likely; a single action, such as a pass, has
//! probability 1.
//!
//! * [`Random`] plays uniformly, [`Greedy`] takes the most material, [`Weights`] the best squares;
//! * [`Lines`] averages over all lines of a length, and [`Minimax`] takes the best for either side; both
//!   evaluate leaves by an [`StaticEvaluation`];
//! * [`MonteCarlo`] and [`Mcts`] use random playouts from a seed, so they are fixed policies too;
//! * [`Mate`] plays mates by checks and avoids moves that allow them;
//! * [`Front`] searches some plies before another policy chooses;
//! * [`Outside`] reads the numbers of a [`Source`]: of `Onnx` (feature `onnx`), a network in an ONNX file, optionally
//!   with a [`Card`] beside it ([`NetworkSpec`]); of [`Predictions`] in files; of a program, [`Exec`]; or of a function
//!   in Python. [`ReadingSpec`] declares what the numbers mean, and [`BatchCheck`] detects answers that depend on the batch;
//! * [`Engine`] plays the moves of an engine that speaks USI, UCI or GTP ([`EngineSpec`]);
//! * [`PolicySpec`] is the text form of a policy, and [`of_rules`] and [`of_outside`] build it. The perfect
//!   policy needs a solved table, so it belongs to [`judge`](crate::judge).
//!
//! ```
//! use yomikiri_measure::policy::PolicySpec;
//!
//! let spec: PolicySpec = "mcts:100:7".parse()?;
//! assert_eq!(spec.to_string(), "mcts:100:7");
//! let error = "mcts:many".parse::<PolicySpec>().unwrap_err();
//! println!("{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod batch_check;
mod build;
pub mod card;
pub mod chance;
mod front;
mod grammar;
mod heuristics;
mod mate;
mod mcts;
mod montecarlo;
mod network_spec;
#[cfg(feature = "onnx")]
pub mod onnx;
mod outside;
mod reader;
mod rollout_players;
mod search;
mod spec;
#[cfg(test)]
mod test_positions;
mod trained_on;
mod weights;

pub use batch::{Answer, Answers, Batch};
pub use batch_check::BatchCheck;
pub use build::{of_outside, of_rules};
pub use card::Card;
pub use chance::PLAYOUT_PLIES;
pub use front::Front;
pub use heuristics::{Even, Greedy, Material, MoveCount, Random, StaticEvaluation};
pub use mate::Mate;
pub use mcts::Mcts;
pub use montecarlo::MonteCarlo;
pub use network_spec::NetworkSpec;
#[cfg(feature = "onnx")]
pub use onnx::Onnx;
pub use outside::{Engine, EngineSpec, Exec, PROTOCOL, PROTOCOL_VERSION, Predictions, Protocol};
pub use reader::{MoveChoice, OutputRows, Outside, ReadingSpec, Softmax, Source, ValueRange};
pub use rollout_players::Lines;
pub use search::Minimax;
pub use spec::{PlayOn, PolicySpec, ReadAhead};
pub use trained_on::{Trained, TrainedOn, TrainedSpec};
pub use weights::{MICRO, Weights};

use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Rules, Walk};

/// Chooses moves.
pub trait Policy: Send + Sync {
    /// Returns the name shown in reports.
    fn name(&self) -> String;

    /// Answers for every position of a batch.
    ///
    /// The answer for a position must not depend on the rest of the batch.
    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error>;

    /// Returns the positions whose exact values it was trained on.
    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Nothing
    }

    /// Returns how its numbers are read, if that was decided by their names or sizes.
    fn reading(&self) -> Option<String> {
        None
    }
}

/// A policy that rates the actions of one position and plays the best.
pub trait Rule: Send + Sync {
    /// Returns the name shown in reports.
    fn name(&self) -> String;

    /// Writes the worth of each of `actions` to `out`, in their order: higher is better.
    ///
    /// `actions` are all legal actions of the position, at least two. Actions of the same worth are equally
    /// likely, so worths should be exact (sums of integers, for example).
    fn worths(&self, game: &dyn Rules, position: &AnyPosition, actions: &[Action], out: &mut [f64]);
}

/// Writes to `out` the worth of each action by the position after it, in which the opponent is to move.
fn rate_after(
    (game, position): (&dyn Rules, &AnyPosition),
    actions: &[Action],
    out: &mut [f64],
    mut worth: impl FnMut(&mut dyn Walk) -> f64,
) {
    let mut walk = game.walk(&position.state);
    for (out, &action) in out.iter_mut().zip(actions) {
        walk.push(action);
        *out = worth(&mut *walk);
        walk.pop();
    }
}

impl Rule for Box<dyn Rule> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn worths(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
        out: &mut [f64],
    ) {
        (**self).worths(game, position, actions, out);
    }
}

/// A policy that plays the actions a rule rates best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByRule<R>(pub R);

impl<R: Rule> Policy for ByRule<R> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let (count, mut answers) = (batch.actions().len(), Answers::default());
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
        Ok(answers)
    }
}

/// Returns the legal actions of a position with the policy's probabilities.
pub fn ask(
    policy: &dyn Policy,
    game: &dyn Rules,
    position: &AnyPosition,
) -> Result<Vec<(Action, f64)>, Error> {
    let mut batch = Batch::default();
    batch.push(*position, game.actions(&position.state));
    let answers = policy.answer(game, &batch)?;
    answers.check(&batch)?;
    Ok(batch.actions().iter().copied().zip(answers.probabilities).collect())
}

/// Writes equal probabilities to `out` for all places of the highest worth, and 0 for the others.
///
/// # Panics
///
/// If the lengths differ.
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
