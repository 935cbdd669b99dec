//! Counts of a solved table, by layer and in all.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::SolvedTable;
use crate::parallel;
use crate::rules::Outcome;
use crate::solve::Value;

/// Rows that a task counts.
const GRAIN: usize = 1 << 18;

/// Values of the rows of a layer, or of all rows, each for its mover.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LayerValues {
    /// Number of rows.
    pub states: u64,
    /// Number of proven losses.
    pub losses: u64,
    /// Number of proven draws.
    pub draws: u64,
    /// Number of proven wins.
    pub wins: u64,
    /// Sum of the proven scores; of outcomes in games without scores.
    pub sum_of_scores: i64,
}

/// Counts of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Counts by layer, if rows have one.
    pub layers: BTreeMap<u32, LayerValues>,
    /// Counts of all rows.
    pub all: LayerValues,
    /// Number of rows with each proven score, or outcome in games without scores.
    pub histogram: BTreeMap<i8, u64>,
    /// Largest exact distance in plies, and the first row with it.
    pub longest: Option<(u16, usize)>,
    /// Rows lost, drawn and won (in the order of [`Outcome::index`]) by the exact number of plies to the end.
    pub plies: Vec<[u64; 3]>,
    /// Proven outcomes without a forced end: draws in games with cycles, and outcomes by infinite play.
    pub endless: [u64; 3],
    /// Proven outcomes whose distance is not proven.
    pub inexact: [u64; 3],
    /// Rows whose moves were followed and whose outcome is not proven.
    pub unproven: u64,
    /// Rows whose moves were not followed and whose outcome is not proven.
    pub frontier: u64,
}

impl SolvedTable {
    /// Counts all rows.
    pub fn totals(&self) -> Totals {
        let mut runs: Vec<(Option<u32>, Range<usize>)> = Vec::new();
        for piece in self.states.pieces() {
            match runs.last_mut() {
                Some((layer, rows)) if *layer == piece.layer => rows.end = piece.rows.end,
                _ => runs.push((piece.layer, piece.rows.clone())),
            }
        }
        let mut totals = Totals::default();
        for (layer, rows) in runs {
            let of =
                |part: Range<usize>| self.count(rows.start + part.start..rows.start + part.end);
            for part in parallel::map_ranges(rows.len(), GRAIN, &of) {
                totals.add(&part);
                if let Some(layer) = layer {
                    totals.layers.entry(layer).or_default().add(&part.all);
                }
            }
        }
        totals
    }

    fn count(&self, rows: Range<usize>) -> Totals {
        let is_bounded = !self.table().manifest().complete;
        let mut totals = Totals::default();
        rows.for_each(|row| {
            totals.add_row(row, self.value(row), || is_bounded && self.states.is_frontier(row));
        });
        totals
    }
}

impl LayerValues {
    fn add(&mut self, other: &LayerValues) {
        self.states += other.states;
        self.losses += other.losses;
        self.draws += other.draws;
        self.wins += other.wins;
        self.sum_of_scores += other.sum_of_scores;
    }
}

impl Totals {
    #[inline]
    fn add_row(&mut self, row: usize, value: Value, is_frontier: impl Fn() -> bool) {
        let all = &mut self.all;
        all.states += 1;
        if let Some(score) = value.score() {
            all.sum_of_scores += i64::from(score.0);
            *self.histogram.entry(score.0).or_default() += 1;
        }
        let Some(outcome) = value.outcome() else {
            *if is_frontier() { &mut self.frontier } else { &mut self.unproven } += 1;
            return;
        };
        match outcome {
            Outcome::Loss => all.losses += 1,
            Outcome::Draw => all.draws += 1,
            Outcome::Win => all.wins += 1,
        }
        let counted = match value.distance() {
            Some(plies) => {
                self.longest = longer(self.longest, Some((plies, row)));
                let plies = usize::from(plies);
                self.plies.resize(self.plies.len().max(plies + 1), [0; 3]);
                &mut self.plies[plies]
            }
            None if value.lower == value.upper => &mut self.endless,
            None => &mut self.inexact,
        };
        counted[outcome.index()] += 1;
    }

    /// Adds the totals of later rows, but not their layers.
    fn add(&mut self, other: &Totals) {
        self.all.add(&other.all);
        for (&score, states) in &other.histogram {
            *self.histogram.entry(score).or_default() += states;
        }
        self.longest = longer(self.longest, other.longest);
        self.plies.resize(self.plies.len().max(other.plies.len()), [0; 3]);
        let add = |own: &mut [u64; 3], other: &[u64; 3]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        };
        self.plies.iter_mut().zip(&other.plies).for_each(|(own, other)| add(own, other));
        add(&mut self.endless, &other.endless);
        add(&mut self.inexact, &other.inexact);
        self.unproven += other.unproven;
        self.frontier += other.frontier;
    }
}

/// Returns the longer of two distances; the first if they are equal.
fn longer(a: Option<(u16, usize)>, b: Option<(u16, usize)>) -> Option<(u16, usize)> {
    if b.map(|(plies, _)| plies) > a.map(|(plies, _)| plies) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Prospect;

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
        let mut counted = Totals::default();
        for part in [0..4, 4..9] {
            let mut totals = Totals::default();
            part.for_each(|row| totals.add_row(row, values[row], || row == 8));
            counted.add(&totals);
        }
        assert_eq!(counted.plies, [[1, 0, 0], [0; 3], [0; 3], [0, 0, 2]]);
        assert_eq!((counted.endless, counted.inexact), ([1, 1, 0], [1, 0, 1]));
        assert_eq!((counted.unproven, counted.frontier), (1, 1));
        let LayerValues { states, losses, draws, wins, .. } = counted.all;
        assert_eq!((states, losses, draws, wins), (9, 3, 1, 3));
        assert_eq!(counted.longest, Some((3, 0)));
    }
}
