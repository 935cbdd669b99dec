//! One state's new value from its successors' values: the three kinds of backup.

use bytemuck::{Pod, Zeroable};

use crate::game::Score;

/// What a sweep does to one state. Values are always the mover's.
pub trait Backup: Sync {
    /// What is kept of a state while sweeping.
    type Value: Pod + PartialEq + Send + Sync;

    /// The value of every state before the first sweep.
    fn initial(&self) -> Self::Value;

    /// The value of a finished game.
    fn terminal(&self, score: Score) -> Self::Value;

    /// The value of a state whose moves are not in the table.
    fn frontier(&self) -> Self::Value;

    /// The value of a state whose successors (at least one) have these values, each its own
    /// mover's.
    fn backup(&self, successors: impl Iterator<Item = Self::Value> + Clone) -> Self::Value;

    /// How far apart two values are: the unit of residuals.
    fn change(&self, old: Self::Value, new: Self::Value) -> f64;
}

/// A score and a distance in one ordered number: the higher, the better for the mover.
///
/// Best play is for the score first. Among moves of equal score the side ahead shortens the game
/// and the side behind prolongs it; a drawn game both shorten. With `d` plies to the end a score
/// `s > 0` is `256 s − d`, a score `s < 0` is `256 s + d` and a draw is `−d`, so that comparing
/// numbers is comparing moves. Scores are within ±64 and distances within 127, which every game
/// of Othello keeps (at most 60 placements, a pass before each).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub struct Rank(i16);

impl Rank {
    /// The longest distance a rank holds, in plies.
    pub const MAX_DISTANCE: u32 = 127;

    /// The rank of a score with the end of the game `distance` plies away.
    pub fn new(score: Score, distance: u16) -> Rank {
        debug_assert!(u32::from(distance) <= Rank::MAX_DISTANCE);
        let (score, distance) = (i16::from(score.0), distance as i16);
        Rank(if score < 0 { 256 * score + distance } else { 256 * score - distance })
    }

    /// The score, for the mover.
    pub fn score(self) -> Score {
        let size = (i32::from(self.0).abs() + 128) / 256;
        Score((size * i32::from(self.0.signum())) as i8)
    }

    /// Plies to the end of the game.
    pub fn distance(self) -> u16 {
        let score = i16::from(self.score().0);
        (256 * score - self.0).unsigned_abs()
    }

    /// What a move to a state of this rank is worth to the one who moves there: the sign turns and
    /// the end is one ply further.
    #[inline]
    pub fn before(self) -> Rank {
        let rank = self.0;
        if (-127..=0).contains(&rank) { Rank(rank - 1) } else { Rank(-rank + rank.signum()) }
    }
}

/// Exact scores and distances.
#[derive(Clone, Copy, Debug)]
pub struct ExactBackup;

impl Backup for ExactBackup {
    type Value = Rank;

    fn initial(&self) -> Rank {
        Rank::new(Score(0), 0)
    }

    fn terminal(&self, score: Score) -> Rank {
        Rank::new(score, 0)
    }

    /// # Panics
    ///
    /// Always: a table with a frontier has bounds, not exact values.
    fn frontier(&self) -> Rank {
        unreachable!("tables with a frontier are solved with BoundsBackup")
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = Rank> + Clone) -> Rank {
        successors.map(Rank::before).max().unwrap_or(self.initial())
    }

    /// The change of the score in discs or of the distance in plies, whichever is larger.
    fn change(&self, old: Rank, new: Rank) -> f64 {
        let score = (i32::from(old.score().0) - i32::from(new.score().0)).abs();
        let distance = (i32::from(old.distance()) - i32::from(new.distance())).abs();
        f64::from(score.max(distance))
    }
}

/// What is known of a state in a table with a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Bounds {
    /// The mover gets at least this score.
    pub lower: i8,
    /// The mover gets at most this score.
    pub upper: i8,
    /// Plies to the end of the game, or [`Bounds::UNKNOWN`].
    pub distance: u16,
}

impl Bounds {
    /// The distance that is not known to be exact.
    pub const UNKNOWN: u16 = u16::MAX;

    /// Whether the score is proven.
    pub fn is_proven(self) -> bool {
        self.lower == self.upper
    }
}

/// Bounds of scores where a subtree is cut off. A distance is exact where the score is proven and
/// every move that could keep it leads to a state with an exact distance.
#[derive(Clone, Copy, Debug)]
pub struct BoundsBackup {
    /// The largest score there can be.
    pub max_score: Score,
}

impl Backup for BoundsBackup {
    type Value = Bounds;

    fn initial(&self) -> Bounds {
        self.frontier()
    }

    fn terminal(&self, score: Score) -> Bounds {
        Bounds { lower: score.0, upper: score.0, distance: 0 }
    }

    fn frontier(&self) -> Bounds {
        Bounds { lower: -self.max_score.0, upper: self.max_score.0, distance: Bounds::UNKNOWN }
    }

    fn backup(&self, successors: impl Iterator<Item = Bounds> + Clone) -> Bounds {
        let lower = successors.clone().map(|s| -s.upper).max().unwrap_or(-self.max_score.0);
        let upper = successors.clone().map(|s| -s.lower).max().unwrap_or(self.max_score.0);
        let mut distance = Bounds::UNKNOWN;
        if lower == upper {
            let mut keeping = successors.filter(|s| -s.lower == lower);
            let known = keeping.clone().all(|s| s.is_proven() && s.distance != Bounds::UNKNOWN);
            if known {
                let best = if lower < 0 {
                    keeping.map(|s| s.distance).max()
                } else {
                    keeping.by_ref().map(|s| s.distance).min()
                };
                distance = best.map_or(Bounds::UNKNOWN, |d| d + 1);
            }
        }
        Bounds { lower, upper, distance }
    }

    /// The larger change of a bound in discs; a change of the distance alone counts in plies.
    fn change(&self, old: Bounds, new: Bounds) -> f64 {
        let lower = (i32::from(old.lower) - i32::from(new.lower)).abs();
        let upper = (i32::from(old.upper) - i32::from(new.upper)).abs();
        let distance = match (old.distance, new.distance) {
            (a, b) if a == b => 0,
            (Bounds::UNKNOWN, _) | (_, Bounds::UNKNOWN) => 1,
            (a, b) => i32::from(a.abs_diff(b)),
        };
        f64::from(lower.max(upper).max(distance))
    }
}

/// Outcomes discounted by γ a ply: `V = max −γ V'`, with ±1 or 0 at the end.
#[derive(Clone, Copy, Debug)]
pub struct DiscountBackup {
    /// γ, above 0 and at most 1.
    pub discount: f32,
}

impl Backup for DiscountBackup {
    type Value = f32;

    fn initial(&self) -> f32 {
        0.0
    }

    fn terminal(&self, score: Score) -> f32 {
        f32::from(score.outcome().value())
    }

    /// # Panics
    ///
    /// Always: a discounted table must be complete.
    fn frontier(&self) -> f32 {
        unreachable!("tables with a frontier have no discounted values")
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = f32> + Clone) -> f32 {
        // A lost draw is 0 and never −0, so that equal values have equal bytes.
        successors.map(|v| 0.0 - self.discount * v).fold(f32::NEG_INFINITY, f32::max)
    }

    fn change(&self, old: f32, new: f32) -> f64 {
        f64::from((old - new).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks() -> impl Iterator<Item = (i8, u16)> {
        (-64..=64i8).flat_map(|s| (0..=127u16).map(move |d| (s, d)))
    }

    #[test]
    fn ranks_keep_score_and_distance() {
        for (score, distance) in ranks() {
            let rank = Rank::new(Score(score), distance);
            assert_eq!((rank.score(), rank.distance()), (Score(score), distance));
        }
    }

    #[test]
    fn a_move_turns_the_score_and_adds_a_ply() {
        for (score, distance) in ranks().filter(|(_, d)| *d < 127) {
            let before = Rank::new(Score(score), distance).before();
            assert_eq!(before, Rank::new(Score(-score), distance + 1));
        }
    }

    #[test]
    fn better_ranks_are_higher() {
        let rank = |s, d| Rank::new(Score(s), d);
        assert!(rank(2, 9) > rank(1, 1), "the score comes first");
        assert!(rank(1, 1) > rank(1, 9), "ahead, the shorter game");
        assert!(rank(-1, 9) > rank(-1, 1), "behind, the longer game");
        assert!(rank(0, 1) > rank(0, 9), "level, the shorter game");
        assert!(rank(0, 127) > rank(-1, 127) && rank(1, 127) > rank(0, 0));
    }

    #[test]
    fn an_unproven_successor_hides_the_distance_only_where_it_could_keep_the_score() {
        let backup = BoundsBackup { max_score: Score(16) };
        let proven = |s, distance| Bounds { lower: s, upper: s, distance };
        let open = |lower, upper| Bounds { lower, upper, distance: Bounds::UNKNOWN };
        let best = |list: &[Bounds]| backup.backup(list.iter().copied());
        assert_eq!(best(&[proven(-4, 3), open(2, 9)]), proven(4, 4));
        assert_eq!(best(&[proven(-4, 3), open(-4, 9)]), proven(4, Bounds::UNKNOWN));
        assert_eq!(best(&[proven(-4, 3), open(-6, 9)]), open(4, 6));
        assert_eq!(best(&[proven(4, 3), proven(4, 7)]), proven(-4, 8));
    }
}
