//! One state's new value from its successors' values: the three kinds of backup.

use bytemuck::Pod;

use super::value::{Prospect, Value};
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

/// Exact scores and distances.
#[derive(Clone, Copy, Debug)]
pub struct ExactBackup;

impl Backup for ExactBackup {
    type Value = Prospect;

    fn initial(&self) -> Prospect {
        Prospect::new(Score(0), Some(0))
    }

    fn terminal(&self, score: Score) -> Prospect {
        Prospect::new(score, Some(0))
    }

    /// # Panics
    ///
    /// Always: a table with a frontier has bounds, not exact values.
    fn frontier(&self) -> Prospect {
        unreachable!("tables with a frontier are solved with BoundsBackup")
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = Prospect> + Clone) -> Prospect {
        successors.map(Prospect::before).max().unwrap_or(self.initial())
    }

    /// The change of the score in discs or of the distance in plies, whichever is larger.
    fn change(&self, old: Prospect, new: Prospect) -> f64 {
        let score = (i32::from(old.score().0) - i32::from(new.score().0)).abs();
        f64::from(score.max(change_of(old.distance(), new.distance())))
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
    type Value = Value;

    fn initial(&self) -> Value {
        self.frontier()
    }

    fn terminal(&self, score: Score) -> Value {
        Value::exactly(Prospect::new(score, Some(0)))
    }

    fn frontier(&self) -> Value {
        Value::of_scores(-self.max_score, self.max_score, None)
    }

    fn backup(&self, successors: impl Iterator<Item = Value> + Clone) -> Value {
        let moves = successors.map(Value::before);
        let lower = moves.clone().map(|m| m.lower.score()).max().unwrap_or(-self.max_score);
        let upper = moves.clone().map(|m| m.upper.score()).max().unwrap_or(self.max_score);
        let mut distance = None;
        if lower == upper {
            let mut keeping = moves.filter(|m| m.upper.score() == upper);
            if keeping.clone().all(|m| m.distance().is_some()) {
                distance = keeping.by_ref().map(|m| m.lower).max().and_then(Prospect::distance);
            }
        }
        Value::of_scores(lower, upper, distance)
    }

    /// The larger change of a bound in discs; a change of the distance alone counts in plies.
    fn change(&self, old: Value, new: Value) -> f64 {
        let apart = |old: Prospect, new: Prospect| {
            (i32::from(old.score().0) - i32::from(new.score().0)).abs()
        };
        let bounds = apart(old.lower, new.lower).max(apart(old.upper, new.upper));
        f64::from(bounds.max(change_of(old.distance(), new.distance())))
    }
}

/// By how many plies a distance changed; 1 where it was or is not known.
fn change_of(old: Option<u16>, new: Option<u16>) -> i32 {
    match (old, new) {
        (Some(old), Some(new)) => i32::from(old.abs_diff(new)),
        (old, new) => i32::from(old != new),
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

    #[test]
    fn an_unproven_successor_hides_the_distance_only_where_it_could_keep_the_score() {
        let backup = BoundsBackup { max_score: Score(16) };
        let proven = |s, distance| Value::of_scores(Score(s), Score(s), Some(distance));
        let unsure = |s| Value::of_scores(Score(s), Score(s), None);
        let open = |lower, upper| Value::of_scores(Score(lower), Score(upper), None);
        let best = |list: &[Value]| backup.backup(list.iter().copied());
        assert_eq!(best(&[proven(-4, 3), open(2, 9)]), proven(4, 4));
        assert_eq!(best(&[proven(-4, 3), open(-4, 9)]), unsure(4));
        assert_eq!(best(&[proven(-4, 3), open(-6, 9)]), open(4, 6));
        assert_eq!(best(&[proven(4, 3), proven(4, 7)]), proven(-4, 8));
    }
}
