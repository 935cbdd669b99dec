//! Flat Monte Carlo: plays the move with the best mean result of random playouts.
//!
//! Every legal move gets the same number of playouts, without a tree (Abramson 1990). The random numbers of a
//! position depend on the seed and the position alone. So this is a fixed policy, and reports measure it
//! exactly: the policy of this seed, not the average over seeds.

use super::chance::{Chance, value};
use super::{Answers, Batch, PlayOn, Policy, PolicySpec, share_best};
use yomikiri::error::Error;
use yomikiri::rules::{Rules, Walk};

/// Maximises the mean result of random playouts after the move; a win is 1, a draw 0, a loss −1.
///
/// Scores are these means; the value of a position is that of the move it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonteCarlo {
    playouts: u32,
    seed: u64,
}

impl MonteCarlo {
    /// Returns a policy of `playouts` a move, at least 1, from a seed.
    pub fn new(playouts: u32, seed: u64) -> MonteCarlo {
        MonteCarlo { playouts: playouts.max(1), seed }
    }

    /// Returns the sum of the results of playouts from a position, for its mover.
    fn sum(&self, walk: &mut dyn Walk, chance: &mut Chance) -> i64 {
        match walk.result() {
            Some(outcome) => value(outcome) * i64::from(self.playouts),
            None => (0..self.playouts).map(|_| chance.playout(walk)).sum(),
        }
    }
}

impl Policy for MonteCarlo {
    fn name(&self) -> String {
        PolicySpec::Plays(PlayOn::MonteCarlo, self.playouts, self.seed).to_string()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let mut answers = Answers::default();
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for (at, position) in batch.positions().iter().enumerate() {
            let range = batch.range(at);
            let mut chance = Chance::new(game, self.seed, position);
            let mut walk = game.walk(&position.state);
            for &action in &batch.actions()[range.clone()] {
                walk.push(action);
                let theirs = self.sum(&mut *walk, &mut chance);
                walk.pop();
                // Exact integer sums over the same count, so equal moves tie.
                answers.scores.push(-theirs as f64 / f64::from(self.playouts));
            }
            let means = &answers.scores[range.clone()];
            share_best(means, &mut answers.probabilities[range]);
            answers.values.push(means.iter().copied().fold(-1.0, f64::max));
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{answers, four, positions, result};
    use super::*;
    use yomikiri::rules::{Action, AnyPosition, Outcome};

    /// Returns the exact expectation of random play, for the player to move in `root`.
    fn expectation(game: &dyn Rules, root: &AnyPosition, position: &AnyPosition) -> f64 {
        match result(game, root, position) {
            Some(Outcome::Win) => 1.0,
            Some(Outcome::Draw) => 0.0,
            Some(Outcome::Loss) => -1.0,
            None => {
                let actions = game.actions(&position.state);
                let after =
                    |&action: &Action| expectation(game, root, &game.advance(position, action));
                actions.iter().map(after).sum::<f64>() / actions.len() as f64
            }
        }
    }

    #[test]
    fn means_come_near_the_expectation() {
        let game = four();
        let mut late = positions(&*game, 300);
        late.retain(|position| game.layer(&position.state) >= 11);
        assert!(late.len() > 50);
        let playouts = 2_000;
        let answers = answers(&MonteCarlo::new(playouts, 0), &*game, &late);
        let (mut scores, mut values) = (answers.scores.iter(), answers.values.iter());
        // Five standard deviations of a mean of terms with a standard deviation of at most 1.
        let near = 5.0 / f64::from(playouts).sqrt();
        for position in &late {
            let mut best = -1.0;
            for action in game.actions(&position.state) {
                let expected = expectation(&*game, position, &game.advance(position, action));
                let found = *scores.next().unwrap();
                assert!((found - expected).abs() < near, "{found} for {expected}");
                best = f64::max(best, found);
            }
            assert_eq!(*values.next().unwrap(), best);
        }
        assert_eq!((scores.next(), values.next()), (None, None));
    }
}
