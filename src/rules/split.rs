//! Split into training, validation and test positions, by a hash of the position alone.
//!
//! A position belongs to the same part in every table, in every orientation of the board and whichever side
//! is to move, so no image of a test position is used for training. The hash is simple enough for other
//! programs to compute (`docs/targets.md` has it in Python). All arithmetic is modulo 2^64:
//!
//! ```text
//! mix(x): x += 0x9E3779B97F4A7C15
//!         x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9
//!         x = (x ^ x >> 27) * 0x94D049BB133111EB
//!         x ^ x >> 31
//! hash  : h = seed; for every word w of [name, word...]: h = mix(h ^ w)
//! ```
//!
//! Here `name` is the 64-bit FNV-1a hash of the game's name, and `word...` are the state's
//! [words](StateWords), the smallest among its images. `(h >> 11) / 2^53` decides the split,
//! `(mix(h) >> 11) / 2^53` the samples. The mixing is that of SplitMix64 (Steele, Lea and Flood, "Fast
//! splittable pseudorandom number generators", 2014).

use super::{AnyState, FoldedWords, Rules, StateWords};

/// Part of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// Training positions.
    Train,
    /// Positions for choosing among trained models, and for early stopping.
    Validation,
    /// Positions for measurement.
    Test,
}

impl Split {
    /// All parts, in the order of their indices.
    pub const ALL: [Split; 3] = [Split::Train, Split::Validation, Split::Test];

    /// Returns 0 for training, 1 for validation, 2 for test.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns `train`, `validation` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::Test => "test",
        }
    }
}

/// Division of positions into parts: a seed and shares. Positions in neither share are for testing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Splits {
    /// Seed of the division.
    pub seed: u64,
    /// Share of training positions, 0 to 1.
    pub train: f64,
    /// Share of validation positions; at most 1 together with `train`.
    pub validation: f64,
}

impl Default for Splits {
    /// Returns shares of 80 % for training and 10 % each for validation and test, with seed 0.
    fn default() -> Splits {
        Splits { seed: 0, train: 0.8, validation: 0.1 }
    }
}

impl Splits {
    /// Makes a division with these shares of training, validation and test positions. Fails with a message if
    /// a share is not within 0 to 1 or they do not add up to 1.
    pub fn new(seed: u64, shares: [f64; 3]) -> Result<Splits, String> {
        if let Some(bad) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(format!("invalid share {bad}: expected a number from 0 to 1"));
        }
        let sum: f64 = shares.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(format!("invalid shares: their sum is {sum}, expected 1"));
        }
        Ok(Splits { seed, train: shares[0], validation: shares[1] })
    }

    /// Returns the share of test positions, rounded to twelve decimal places.
    pub fn test(&self) -> f64 {
        ((1.0 - self.train - self.validation) * 1e12).round() / 1e12
    }

    /// Hashes a state, given as the words that all its images share; `name` is the [`name_word`] of its game.
    pub fn hash(&self, name: u64, words: StateWords) -> u64 {
        let words = [name].into_iter().chain(words.as_slice().iter().copied());
        words.fold(self.seed, |hash, word| mix(hash ^ word))
    }

    /// Maps the [`hash`](Splits::hash) of a state to a number in [0, 1), independent of its part. The states
    /// below `x` are a sample of share `x` of every part, and a larger `x` only adds to it.
    pub fn unit_of_hash(hash: u64) -> f64 {
        unit_of(mix(hash))
    }

    /// Returns the part of a state with this [`hash`](Splits::hash).
    pub fn of_hash(&self, hash: u64) -> Split {
        let at = unit_of(hash);
        if at < self.train {
            Split::Train
        } else if at < self.train + self.validation {
            Split::Validation
        } else {
            Split::Test
        }
    }
}

/// Set of positions that a policy was trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    /// Division of all positions.
    pub splits: Splits,
    /// Share of the training positions in use, 0 to 1.
    pub share: f64,
}

impl Division {
    /// Returns the part of a state with this [`hash`](Splits::hash), or `None` for a training position that
    /// was not in use.
    pub fn of_hash(&self, hash: u64) -> Option<Split> {
        let split = self.splits.of_hash(hash);
        let is_used = split != Split::Train || Splits::unit_of_hash(hash) < self.share;
        is_used.then_some(split)
    }
}

/// Assigns the states of a game to the parts of a division.
#[derive(Clone, Debug)]
pub struct Divider {
    division: Division,
    name: u64,
    words: FoldedWords,
}

impl Divider {
    /// Makes a divider for the states of a game.
    pub fn new(game: &dyn Rules, division: Division) -> Divider {
        Divider { division, name: name_word(&game.name()), words: FoldedWords::new(game) }
    }

    /// Returns the part of a state, equal for all its images, or `None` for a training position that was not
    /// in use.
    pub fn of(&self, state: &AnyState) -> Option<Split> {
        let Divider { division, name, words } = self;
        division.of_hash(division.splits.hash(*name, words.of(state)))
    }
}

/// Hashes a game's name to the word used in [`Splits::hash`]: FNV-1a.
pub fn name_word(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

/// Step between two seeds of which one follows the other in SplitMix64.
pub(crate) const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the first output of SplitMix64 from the seed `x`.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GAMMA);
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// Maps the highest 53 bits of a hash to a number in [0, 1).
fn unit_of(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::othello::Othello;
    use crate::rules::{AnyPosition, Game};

    #[test]
    fn the_hash_is_the_published_one() {
        // The first outputs of SplitMix64 from seed 0, and FNV-1a of "a".
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(name_word("a"), 0xAF63_DC4C_8601_EC8C);
    }

    /// Returns the positions of 4×4 Othello within some plies of the start.
    fn some_positions(game: &dyn Rules, plies: u32) -> Vec<AnyPosition> {
        let mut all = vec![game.start()];
        let mut last = all.clone();
        for _ in 0..plies {
            let next = |position: &AnyPosition| {
                let actions = game.actions(&position.state);
                actions.into_iter().map(|action| game.advance(position, action)).collect::<Vec<_>>()
            };
            last = last.iter().flat_map(next).collect();
            all.extend(&last);
        }
        all
    }

    #[test]
    fn every_orientation_is_in_the_same_part() {
        let splits = Splits { seed: 7, train: 0.5, validation: 0.25 };
        let [folded, plain] = [true, false].map(|fold| Othello::new(4, 4, fold).into_rules());
        let [words, of_plain] = [&*folded, &*plain].map(FoldedWords::new);
        let mut seen = [0; 3];
        for position in some_positions(&*folded, 4) {
            let hash = splits.hash(0, words.of(&position.state));
            seen[splits.of_hash(hash).index()] += 1;
            for symmetry in 0..8 {
                let image = folded.transform(&position.state, symmetry);
                assert_eq!(splits.hash(0, of_plain.of(&image)), hash);
            }
        }
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }

    #[test]
    fn shares_are_kept_and_samples_are_independent_of_them() {
        let splits = Splits { seed: 1, train: 0.7, validation: 0.2 };
        let (name, game) = (name_word("othello-4x5"), Othello::new(4, 5, true).into_rules());
        let mut counts = [[0u32; 2]; 3];
        for bits in 0..100_000u64 {
            let board = game.of_squares(bits & 0x3ff, bits & !0x3ff).unwrap();
            let hash = splits.hash(name, StateWords::of(&*game, &board));
            let below = usize::from(unit_of(mix(hash)) < 0.5);
            counts[splits.of_hash(hash).index()][below] += 1;
        }
        for (share, [above, below]) in [0.7, 0.2, 0.1].into_iter().zip(counts) {
            let of = f64::from(above + below) / 100_000.0;
            assert!((of - share).abs() < 0.01, "{of} of {share}");
            assert!((f64::from(below) / f64::from(above) - 1.0).abs() < 0.06, "{above} {below}");
        }
    }

    #[test]
    fn invalid_shares_are_refused() {
        assert_eq!(Splits::new(0, [0.8, 0.1, 0.1]).unwrap(), Splits::default());
        assert_eq!(Splits::default().test(), 0.1);
        assert!(Splits::new(0, [0.8, 0.3, 0.1]).unwrap_err().contains("their sum"));
        assert!(Splits::new(0, [1.5, -0.5, 0.0]).unwrap_err().contains("1.5"));
        assert!(Splits::new(0, [f64::NAN, 0.5, 0.5]).unwrap_err().contains("NaN"));
    }
}
