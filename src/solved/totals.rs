//! Counts of a solved table, by layer and in all.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::SolvedTable;
use crate::parallel;
use crate::rules::Outcome;

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
        let mut totals = Totals::default();
        let all = &mut totals.all;
        for row in rows {
            let value = self.value(row);
            all.states += 1;
            match value.outcome() {
                Some(Outcome::Loss) => all.losses += 1,
                Some(Outcome::Draw) => all.draws += 1,
                Some(Outcome::Win) => all.wins += 1,
                None => {}
            }
            if let Some(score) = value.score() {
                all.sum_of_scores += i64::from(score.0);
                *totals.histogram.entry(score.0).or_default() += 1;
            }
            if let Some(plies) = value.distance() {
                totals.longest = longer(totals.longest, Some((plies, row)));
            }
        }
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
    /// Adds the totals of later rows, but not their layers.
    fn add(&mut self, other: &Totals) {
        self.all.add(&other.all);
        for (&score, states) in &other.histogram {
            *self.histogram.entry(score).or_default() += states;
        }
        self.longest = longer(self.longest, other.longest);
    }
}

/// Returns the longer of two distances; the first if they are equal.
fn longer(a: Option<(u16, usize)>, b: Option<(u16, usize)>) -> Option<(u16, usize)> {
    if b.map(|(plies, _)| plies) > a.map(|(plies, _)| plies) { b } else { a }
}
