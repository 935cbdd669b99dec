//! Random numbers from a seed and a purpose, and random playouts.
//!
//! The random numbers of a position depend on the seed, the position and the side to move alone, so answers
//! do not depend on earlier requests. The generators (SplitMix64 for seeding, xoshiro256++ for drawing) are
//! published algorithms, whose numbers do not change with the version of a library.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use yomikiri::rules::{Action, AnyPosition, Outcome, Rules, StateWords, Walk};

/// Number of plies after which a playout is stopped and counts as a draw. No game of Othello is as long; in
/// minishogi about 2 of 100 random games are.
pub const PLAYOUT_PLIES: u32 = 512;

/// Returns the random numbers of a seed for one purpose. Work that seeds them by its place can be resumed
/// anywhere and split among threads in any way.
pub fn seeded(seed: u64, purpose: &[u64]) -> Xoshiro256PlusPlus {
    let mix = |mixed: u64, word: &u64| SplitMix64::seed_from_u64(mixed ^ word).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(purpose.iter().fold(mix(0, &seed), mix))
}

/// Returns a number in [0, 1).
pub fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a number below `bound`, which is at least 1; all are equally likely (to one part in 2⁶⁴ /
/// `bound`).
pub fn below(random: &mut impl Rng, bound: usize) -> usize {
    ((u128::from(random.next_u64()) * bound as u128) >> 64) as usize
}

/// Returns the index that `unit`, a number in [0, 1), selects among probabilities that sum to 1.
pub fn sample(probabilities: &[f64], mut unit: f64) -> usize {
    for (at, probability) in probabilities.iter().enumerate() {
        unit -= probability;
        if unit < 0.0 {
            return at;
        }
    }
    // The remainder left by rounding goes to the last possible index.
    probabilities.iter().rposition(|&probability| probability > 0.0).unwrap_or(0)
}

/// Random numbers of one position.
#[derive(Debug)]
pub(super) struct Chance {
    numbers: Xoshiro256PlusPlus,
    /// Reused for every ply.
    actions: Vec<Action>,
}

impl Chance {
    pub(super) fn new(game: &dyn Rules, seed: u64, position: &AnyPosition) -> Chance {
        let words = StateWords::of(game, &position.state);
        let purpose = [words.as_slice(), &[position.side.index() as u64]].concat();
        Chance { numbers: seeded(seed, &purpose), actions: Vec::new() }
    }

    /// Returns a number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        below(&mut self.numbers, count)
    }

    /// Plays uniformly random moves of both sides and returns the result for the player to move before them: 1 a
    /// win, 0 a draw, −1 a loss. Takes the moves back.
    pub(super) fn playout(&mut self, walk: &mut dyn Walk) -> i64 {
        let (mut plies, mut sign) = (0, 1);
        while plies < PLAYOUT_PLIES {
            walk.actions(&mut self.actions);
            if self.actions.is_empty() {
                break;
            }
            let chosen = self.below(self.actions.len());
            walk.push(self.actions[chosen]);
            (plies, sign) = (plies + 1, -sign);
        }
        let result = walk.result().map_or(0, |outcome| sign * value(outcome));
        (0..plies).for_each(|_| walk.pop());
        result
    }
}

/// Returns 1 for a win, 0 for a draw, −1 for a loss.
pub(super) fn value(outcome: Outcome) -> i64 {
    i64::from(outcome.value())
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{animals, answers, four, minishogi, positions};
    use super::super::{Answers, Mcts, MonteCarlo, Policy};
    use super::*;

    #[test]
    fn every_position_side_and_seed_has_its_own_random_numbers() {
        let game = minishogi();
        let mut first = std::collections::HashSet::new();
        let positions = positions(&*game, 200);
        for &position in &positions {
            for side in [position.side, position.side.other()] {
                for seed in [0, 1, u64::MAX] {
                    let mut chance = Chance::new(&*game, seed, &AnyPosition { side, ..position });
                    first.insert(chance.numbers.next_u64());
                }
            }
        }
        assert!(first.len() > 5 * positions.len());
        let numbers = |seed| Chance::new(&*game, seed, &positions[0]).numbers.next_u64();
        assert_eq!(numbers(3), numbers(3));
    }

    /// Random numbers must be the same in every version and on every machine.
    #[test]
    fn random_numbers_are_known() {
        let game = four();
        let mut chance = Chance::new(&*game, 0, &game.start());
        assert_eq!([0; 8].map(|_| chance.below(100)), [68, 50, 65, 68, 61, 46, 95, 13]);
    }

    #[test]
    fn games_that_do_not_end_are_draws() {
        // Two kings alone.
        let game = minishogi();
        let kings = game.parse_position("k4/5/5/5/4K b - 1", &game.start()).unwrap();
        let mut chance = Chance::new(&*game, 0, &kings);
        let mut walk = game.walk(&kings.state);
        assert!((0..20).all(|_| chance.playout(&mut *walk) == 0));
        let drawn = answers(&MonteCarlo::new(3, 0), &*game, &[kings]);
        assert_eq!((drawn.scores, drawn.values), (vec![0.0; 3], vec![0.0]));
        assert_eq!(answers(&Mcts::new(30, 0), &*game, &[kings]).values, [0.0]);
    }

    fn depends_on_the_position_alone(game: &dyn Rules, count: usize, policy: &dyn Policy) {
        let mut positions = positions(game, count);
        let together = answers(policy, game, &positions);
        let one_by_one = |positions: &[AnyPosition]| {
            let mut all = Answers::default();
            for position in positions {
                let one = answers(policy, game, &[*position]);
                all.probabilities.extend(one.probabilities);
                all.scores.extend(one.scores);
                all.values.extend(one.values);
            }
            all
        };
        assert_eq!(one_by_one(&positions), together);
        positions.reverse();
        assert_eq!(one_by_one(&positions), answers(policy, game, &positions));
    }

    #[test]
    fn answers_depend_on_the_position_alone() {
        for seed in [0, 9] {
            let (carlo, tree) = (MonteCarlo::new(5, seed), Mcts::new(40, seed));
            depends_on_the_position_alone(&*four(), 100, &carlo);
            depends_on_the_position_alone(&*four(), 100, &tree);
            depends_on_the_position_alone(&*animals(), 50, &carlo);
            depends_on_the_position_alone(&*animals(), 50, &tree);
        }
        let positions = positions(&*four(), 100);
        let of_seed = |seed| answers(&MonteCarlo::new(5, seed), &*four(), &positions);
        assert_ne!(of_seed(0), of_seed(9));
    }
}
