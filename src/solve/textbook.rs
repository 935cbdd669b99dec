//! Layered games solved as textbooks do it, over stored moves.
//!
//! *Natural order*: every state from the values before the sweep (Jacobi); one sweep more than the longest
//! game's plies.
//!
//! *Policy iteration* (Howard 1960): a policy for both sides is evaluated, then improved in every state where
//! another move is worth more, until there is none. Both sides play the same policy and no state repeats, so
//! this terminates: once the states of the last layers have their best moves, these never change again, so
//! every round settles at least one layer. On termination every value is the maximum over its moves.

use std::ops::Range;

use super::SweepLog;
use super::backup::Backup;
use super::sweep::{Jacobi, StoredMoves, done};
use crate::parallel::{self, GRAIN};
use crate::progress::Progress;
use crate::table::SweepRecord;
use crate::table::rows::Rows;

/// Table with stored moves.
pub(super) struct Textbook<'a, B: Backup> {
    pub graph: &'a Rows,
    pub backup: &'a B,
    pub progress: &'a dyn Progress,
}

impl<B: Backup> Textbook<'_, B> {
    fn begin(&self, log: &SweepLog<'_>) {
        let name = format!("sweep {}", log.sweeps.len() + 1);
        self.progress.begin(&name, Some(self.graph.states() as u64));
    }

    fn done(&self, log: &mut SweepLog<'_>, sweep: SweepRecord) {
        self.progress.advance(self.graph.states() as u64);
        done(log, sweep, self.progress);
    }

    /// Sweeps all states until the residual is below `theta`.
    pub(super) fn natural(&self, values: &mut [B::Value], theta: f64, log: &mut SweepLog<'_>) {
        let edges_of = |row| self.graph.edges_of(row);
        let moves = StoredMoves { edges_of: &edges_of, targets: self.graph.edge_targets() };
        let rows = (0..values.len() as u32).collect();
        let mut jacobi = Jacobi { backup: self.backup, moves, values, rows, sweeps: 0 };
        loop {
            self.begin(log);
            let sweep = jacobi.sweep().record();
            self.done(log, sweep);
            if sweep.residual < theta {
                return;
            }
        }
    }

    /// Evaluates and improves a policy until it is the best; the initial policy takes every first move.
    pub(super) fn policies(&self, values: &mut [B::Value], log: &mut SweepLog<'_>) {
        // Indices among the moves of each row.
        let mut chosen: Vec<u16> = vec![0; values.len()];
        loop {
            self.begin(log);
            let layers = self.graph.layers().rev();
            let changes = layers.map(|rows| self.evaluate(rows, &chosen, values));
            let residual = changes.fold(0.0, f64::max);
            let better = |rows: Range<usize>| {
                let better = |row| Some((row, self.better(row, chosen[row], values)?));
                rows.filter_map(better).collect::<Vec<_>>()
            };
            let better = parallel::map_ranges(values.len(), GRAIN, &better).concat();
            better.iter().for_each(|&(row, place)| chosen[row] = place);
            self.done(log, SweepRecord { residual, changed: better.len() as u64, decided: None });
            if better.is_empty() {
                return;
            }
        }
    }

    fn targets(&self, row: usize) -> &[u32] {
        &self.graph.edge_targets()[self.graph.edges_of(row)]
    }

    /// Assigns the rows of a layer the values of their chosen moves; returns the largest change. A pass stays
    /// in its layer and leads to a state that does not pass.
    fn evaluate(&self, layer: Range<usize>, chosen: &[u16], values: &mut [B::Value]) -> f64 {
        let mut residual = 0.0;
        let stays = |row: usize| {
            self.targets(row).first().is_some_and(|&target| layer.contains(&(target as usize)))
        };
        for passing in [false, true] {
            let renew = |rows: Range<usize>| {
                let rows = rows.map(|row| layer.start + row);
                let of_kind = rows.filter(|&row| stays(row) == passing);
                of_kind.map(|row| (row, self.value(row, chosen[row], values))).collect::<Vec<_>>()
            };
            for (row, new) in parallel::map_ranges(layer.len(), GRAIN, &renew).concat() {
                residual = f64::max(residual, self.backup.change(values[row], new));
                values[row] = new;
            }
        }
        residual
    }

    /// Returns the value of a row by one of its moves.
    fn value(&self, row: usize, place: u16, values: &[B::Value]) -> B::Value {
        match self.targets(row) {
            [] => self.backup.leaf(row),
            targets => {
                let next = values[targets[usize::from(place)] as usize];
                self.backup.backup(std::iter::once(next))
            }
        }
    }

    /// Returns the first of the best moves, if it is better than the chosen one.
    fn better(&self, row: usize, chosen: u16, values: &[B::Value]) -> Option<u16> {
        let targets = self.targets(row);
        let next = targets.iter().map(|&target| values[target as usize]);
        let best = (!targets.is_empty()).then(|| self.backup.backup(next))?;
        let is_best = |place: &u16| self.value(row, *place, values) == best;
        (!is_best(&chosen)).then(|| (0..targets.len() as u16).find(is_best))?
    }
}
