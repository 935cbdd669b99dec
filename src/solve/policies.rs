//! Policy iteration (Howard 1960) in a game of layers: a policy for both sides is evaluated, then
//! improved in every state where another move is worth more, until none is.
//!
//! Where both sides play the same policy and no state comes twice, this ends: when the states of the
//! last layers have their best moves these never change again, so that every round settles a layer
//! or more. And where it ends every value is the best of what the moves are worth.

use std::ops::Range;

use super::backup::Backup;
use crate::graph::Graph;
use crate::parallel::{self, GRAIN};
use crate::table::SweepRecord;

/// A policy, as the place of its move among those of each row, and its values.
pub(super) struct Policies<'a, B: Backup> {
    pub graph: &'a Graph,
    pub backup: &'a B,
    pub chosen: Vec<u16>,
    pub values: &'a mut [B::Value],
}

impl<B: Backup> Policies<'_, B> {
    fn targets(&self, row: usize) -> &[u32] {
        &self.graph.edge_targets()[self.graph.edges_of(row)]
    }

    /// Evaluates the policy, then improves it: how much values changed, and how many moves did.
    pub fn improve(&mut self) -> SweepRecord {
        let residual =
            self.graph.layers().rev().map(|rows| self.evaluate(rows)).fold(0.0, f64::max);
        let better = |rows: Range<usize>| {
            let better = rows.filter_map(|row| Some((row, self.better(row)?)));
            better.collect::<Vec<_>>()
        };
        let better = parallel::map_ranges(self.values.len(), GRAIN, &better).concat();
        better.iter().for_each(|&(row, place)| self.chosen[row] = place);
        SweepRecord { residual, changed: better.len() as u64, decided: None }
    }

    /// Gives the rows of a layer the values of their moves; how much they changed. A pass stays in
    /// its layer and leads to a state that does not pass.
    fn evaluate(&mut self, layer: Range<usize>) -> f64 {
        let mut residual = 0.0;
        for passing in [false, true] {
            let renew = |rows: Range<usize>| {
                let rows = rows.map(|row| layer.start + row);
                let of_kind = rows.filter(|&row| self.stays(row, &layer) == passing);
                of_kind.map(|row| (row, self.value(row, self.chosen[row]))).collect::<Vec<_>>()
            };
            for (row, new) in parallel::map_ranges(layer.len(), GRAIN, &renew).concat() {
                residual = f64::max(residual, self.backup.change(self.values[row], new));
                self.values[row] = new;
            }
        }
        residual
    }

    fn stays(&self, row: usize, layer: &Range<usize>) -> bool {
        self.targets(row).first().is_some_and(|&target| layer.contains(&(target as usize)))
    }

    /// What a row is worth by one of its moves.
    fn value(&self, row: usize, place: u16) -> B::Value {
        match self.targets(row) {
            [] => self.backup.leaf(row),
            targets => {
                let next = self.values[targets[usize::from(place)] as usize];
                self.backup.backup(row, std::iter::once(next))
            }
        }
    }

    /// The first of the best moves, if it is better than the one chosen.
    fn better(&self, row: usize) -> Option<u16> {
        let targets = self.targets(row);
        let next = targets.iter().map(|&target| self.values[target as usize]);
        let best = (!targets.is_empty()).then(|| self.backup.backup(row, next))?;
        let is_best = |place: &u16| self.value(row, *place) == best;
        (!is_best(&self.chosen[row])).then(|| (0..targets.len() as u16).find(is_best))?
    }
}
