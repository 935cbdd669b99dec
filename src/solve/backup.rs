//! Backups of one state's value from its successors' values: exact, bounds and discounted.

use std::marker::PhantomData;

use super::value::{Prospect, SweepOrder, Value, change_of};
use crate::rules::Score;
use crate::table::rows::{Rows, StateKind, TerminalScores};

/// Effect of a sweep on one state. Values are always the mover's.
pub(super) trait Backup: Sync {
    /// Value kept of a state while sweeping.
    type Value: Copy + PartialEq + Send + Sync;

    /// Returns the value of a row without moves in the table.
    fn leaf(&self, row: usize) -> Self::Value;

    /// Returns the value of a row from its successors' (at least one), each its own mover's; duplicates are
    /// harmless.
    fn backup(&self, successors: impl Iterator<Item = Self::Value> + Clone) -> Self::Value;

    /// Returns the difference of two values, in the unit of residuals.
    fn change(&self, old: Self::Value, new: Self::Value) -> f64;

    /// Returns `true` if a value found in sweep number `sweep` (from 1) is final.
    fn is_final(&self, _value: Self::Value, _sweep: usize) -> bool {
        false
    }
}

/// Rows of a layered game's table, and the scores of finished games.
#[derive(Clone, Copy)]
pub(super) struct Leaves<'a> {
    pub(super) graph: &'a Rows,
    pub(super) terminal: &'a TerminalScores<'a>,
}

/// Exact scores and distances, kept as `T` while sweeping.
pub(super) struct ExactBackup<'a, T> {
    leaves: Leaves<'a>,
    kept: PhantomData<fn() -> T>,
}

impl<'a, T> ExactBackup<'a, T> {
    pub(super) fn new(leaves: Leaves<'a>) -> ExactBackup<'a, T> {
        ExactBackup { leaves, kept: PhantomData }
    }
}

impl<T: SweepOrder> Backup for ExactBackup<'_, T> {
    type Value = T;

    /// In a table without a frontier every leaf is a finished game.
    fn leaf(&self, row: usize) -> T {
        T::of(Prospect::new((self.leaves.terminal)(row), Some(0)))
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = T> + Clone) -> T {
        successors.fold(T::HIGHEST, T::min).before()
    }

    /// Returns the change of the score or of the distance in plies, whichever is larger.
    #[inline(always)]
    fn change(&self, old: T, new: T) -> f64 {
        old.change_to(new)
    }
}

/// Bounds of scores where subtrees are cut off. A distance is exact if the score is proven and every move
/// that could keep it leads to a state with an exact distance.
pub(super) struct BoundsBackup<'a> {
    /// Largest possible score.
    pub max_score: Score,
    /// Rows without moves.
    pub leaves: Leaves<'a>,
}

impl BoundsBackup<'_> {
    /// Returns the bounds of a state whose moves were not followed.
    pub(super) fn unknown(max_score: Score) -> Value {
        Value::of_scores(-max_score, max_score, None)
    }
}

impl Backup for BoundsBackup<'_> {
    type Value = Value;

    fn leaf(&self, row: usize) -> Value {
        match self.leaves.graph.stored_kind(row) {
            StateKind::Terminal => {
                Value::exactly(Prospect::new((self.leaves.terminal)(row), Some(0)))
            }
            _ => BoundsBackup::unknown(self.max_score),
        }
    }

    fn backup(&self, successors: impl Iterator<Item = Value> + Clone) -> Value {
        best_bounds(successors)
    }

    /// Returns the larger change of a bound of the score; a change of the distance alone counts in plies.
    fn change(&self, old: Value, new: Value) -> f64 {
        let apart = |old: Prospect, new: Prospect| {
            (i32::from(old.score().0) - i32::from(new.score().0)).abs()
        };
        let bounds = apart(old.lower, new.lower).max(apart(old.upper, new.upper));
        f64::from(bounds.max(change_of(old.distance(), new.distance())))
    }
}

/// Returns the bounds of the score from those of the successors (at least one).
fn best_bounds(successors: impl Iterator<Item = Value> + Clone) -> Value {
    let moves = successors.map(Value::before);
    let best = |of: fn(Value) -> Prospect| moves.clone().map(|m| of(m).score()).max();
    let (lower, upper) = (best(|m| m.lower), best(|m| m.upper));
    let (lower, upper) = (lower.unwrap_or(Score(0)), upper.unwrap_or(Score(0)));
    let mut distance = None;
    if lower == upper {
        let mut keeping = moves.filter(|m| m.upper.score() == upper);
        if keeping.clone().all(|m| m.distance().is_some()) {
            distance = keeping.by_ref().map(|m| m.lower).max().and_then(Prospect::distance);
        }
    }
    Value::of_scores(lower, upper, distance)
}

/// Outcomes discounted by γ a ply: `V = max −γ V'`, with ±1 or 0 at the end.
pub(super) struct DiscountBackup<'a> {
    /// γ, above 0 and at most 1.
    pub discount: f32,
    /// Rows without moves.
    pub leaves: Leaves<'a>,
}

impl Backup for DiscountBackup<'_> {
    type Value = f32;

    /// A discounted table is complete, so every leaf is a finished game.
    fn leaf(&self, row: usize) -> f32 {
        f32::from((self.leaves.terminal)(row).outcome().value())
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = f32> + Clone) -> f32 {
        // Zero is never −0, so that equal values have equal bytes.
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
        let proven = |s, distance| Value::of_scores(Score(s), Score(s), Some(distance));
        let unsure = |s| Value::of_scores(Score(s), Score(s), None);
        let open = |lower, upper| Value::of_scores(Score(lower), Score(upper), None);
        let best = |list: &[Value]| best_bounds(list.iter().copied());
        assert_eq!(best(&[proven(-4, 3), open(2, 9)]), proven(4, 4));
        assert_eq!(best(&[proven(-4, 3), open(-4, 9)]), unsure(4));
        assert_eq!(best(&[proven(-4, 3), open(-6, 9)]), open(4, 6));
        assert_eq!(best(&[proven(4, 3), proven(4, 7)]), proven(-4, 8));
    }
}
