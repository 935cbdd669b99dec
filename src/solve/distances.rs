//! Counts of a solved table's states by outcome and distance.

use std::ops::Range;

use super::columns::Values;
use super::value::Value;
use crate::parallel;
use crate::rules::Outcome;

/// Number of rows that a task counts.
const GRAIN: usize = 1 << 20;

/// States of a solved table counted by their value for the mover; every state is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByDistance {
    /// States lost, drawn and won (in the order of [`Outcome::index`]) by the exact number of plies to the
    /// end.
    pub plies: Vec<[u64; 3]>,
    /// Proven outcomes without a forced end: draws in games with cycles, and outcomes by infinite play.
    pub endless: [u64; 3],
    /// Proven outcomes whose distance is not proven.
    pub inexact: [u64; 3],
    /// States whose moves were followed and whose outcome is not proven.
    pub unproven: u64,
    /// States whose moves were not followed.
    pub frontier: u64,
}

/// Category of a state.
enum Category {
    Plies(Outcome, usize),
    Endless(Outcome),
    Inexact(Outcome),
    Unproven,
    Frontier,
}

impl ByDistance {
    /// Counts a table; `is_frontier` returns `true` for rows whose moves were not followed.
    pub fn of(values: &Values, is_frontier: impl Fn(usize) -> bool + Sync) -> ByDistance {
        ByDistance::count(values.rows(), |row| place_of(values.get(row), || is_frontier(row)))
    }

    fn count(rows: usize, place: impl Fn(usize) -> Category + Sync) -> ByDistance {
        let count = |rows: Range<usize>| {
            let mut counted = ByDistance::default();
            rows.for_each(|row| counted.add(place(row)));
            counted
        };
        let parts = parallel::map_ranges(rows, GRAIN, &count).into_iter();
        parts.fold(ByDistance::default(), ByDistance::join)
    }

    #[inline]
    fn add(&mut self, place: Category) {
        match place {
            Category::Plies(outcome, plies) => {
                if plies >= self.plies.len() {
                    self.plies.resize(plies + 1, [0; 3]);
                }
                self.plies[plies][outcome.index()] += 1;
            }
            Category::Endless(outcome) => self.endless[outcome.index()] += 1,
            Category::Inexact(outcome) => self.inexact[outcome.index()] += 1,
            Category::Unproven => self.unproven += 1,
            Category::Frontier => self.frontier += 1,
        }
    }

    fn join(mut self, other: ByDistance) -> ByDistance {
        let add = |own: &mut [u64; 3], other: [u64; 3]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        };
        if other.plies.len() > self.plies.len() {
            self.plies.resize(other.plies.len(), [0; 3]);
        }
        self.plies.iter_mut().zip(other.plies).for_each(|(own, other)| add(own, other));
        add(&mut self.endless, other.endless);
        add(&mut self.inexact, other.inexact);
        self.unproven += other.unproven;
        self.frontier += other.frontier;
        self
    }

    /// Returns the number of states proven lost, drawn and won.
    pub fn proven(&self) -> [u64; 3] {
        let all = self.plies.iter().chain([&self.endless, &self.inexact]);
        all.fold([0; 3], |sum, some| std::array::from_fn(|i| sum[i] + some[i]))
    }

    /// Returns the number of states.
    pub fn states(&self) -> u64 {
        self.proven().iter().sum::<u64>() + self.unproven + self.frontier
    }
}

fn place_of(value: Value, is_frontier: impl Fn() -> bool) -> Category {
    match (value.outcome(), value.distance()) {
        (Some(outcome), Some(plies)) => Category::Plies(outcome, usize::from(plies)),
        (Some(outcome), None) if value.lower == value.upper => Category::Endless(outcome),
        (Some(outcome), None) => Category::Inexact(outcome),
        (None, _) if is_frontier() => Category::Frontier,
        (None, _) => Category::Unproven,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::value::Prospect;

    #[test]
    fn every_state_is_counted_once_and_in_its_place() {
        let exactly = Value::exactly;
        let between = |lower, upper| Value { lower, upper };
        let values = [
            exactly(Prospect::win(3)),
            exactly(Prospect::win(3)),
            exactly(Prospect::loss(0)),
            exactly(Prospect::DRAW),
            exactly(Prospect::ENDLESS_LOSS),
            between(Prospect::win(9), Prospect::win(5)),
            between(Prospect::loss(2), Prospect::ENDLESS_LOSS),
            between(Prospect::DRAW, Prospect::win(5)),
            between(Prospect::loss(2), Prospect::win(1)),
        ];
        let counted = ByDistance::count(values.len(), |row| place_of(values[row], || row == 8));
        assert_eq!(counted.plies, [[1, 0, 0], [0; 3], [0; 3], [0, 0, 2]]);
        assert_eq!((counted.endless, counted.inexact), ([1, 1, 0], [1, 0, 1]));
        assert_eq!((counted.unproven, counted.frontier), (1, 1));
        assert_eq!((counted.proven(), counted.states()), ([3, 1, 3], 9));
    }
}
