//! What a solved table holds in all, layer by layer.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::SolvedTable;
use crate::game::Outcome;
use crate::parallel;

/// How many rows a task counts.
const GRAIN: usize = 1 << 18;

/// The values of the rows of a layer, or of all; each row's for its mover.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LayerValues {
    /// How many rows there are.
    pub states: u64,
    /// How many are proven losses.
    pub losses: u64,
    /// How many are proven draws.
    pub draws: u64,
    /// How many are proven wins.
    pub wins: u64,
    /// The sum of the proven scores; of outcomes, in games without scores.
    pub sum_of_scores: i64,
}

/// What a table holds in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// By layer, where rows have one.
    pub layers: BTreeMap<u32, LayerValues>,
    /// Of all rows.
    pub all: LayerValues,
    /// How many rows have which proven score; outcome, in games without scores.
    pub histogram: BTreeMap<i8, u64>,
    /// The most plies to the end that are known exactly, and the first row that has them.
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
    /// Adds those of later rows.
    fn add(&mut self, other: &Totals) {
        self.all.add(&other.all);
        for (&score, states) in &other.histogram {
            *self.histogram.entry(score).or_default() += states;
        }
        self.longest = longer(self.longest, other.longest);
    }
}

/// The longer of two games, the first of equal ones.
fn longer(a: Option<(u16, usize)>, b: Option<(u16, usize)>) -> Option<(u16, usize)> {
    if b.map(|(plies, _)| plies) > a.map(|(plies, _)| plies) { b } else { a }
}
