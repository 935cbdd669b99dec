//! Sweeps of rows from the values before each sweep (Jacobi), and the changes they make.

use std::ops::Range;
use std::sync::Mutex;

use super::SweepLog;
use super::backup::Backup;
use crate::parallel::{self, GRAIN};
use crate::progress::Progress;
use crate::table::SweepRecord;

/// Change of states' values in a sweep.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub residual: f64,
    pub changed: u64,
    /// Number of rows that became final.
    pub decided: u64,
}

impl Change {
    pub(super) const NONE: Change = Change { residual: 0.0, changed: 0, decided: 0 };

    pub(super) fn and(self, other: Change) -> Change {
        Change {
            residual: self.residual.max(other.residual),
            changed: self.changed.saturating_add(other.changed),
            decided: self.decided + other.decided,
        }
    }

    /// Returns the record of a sweep over layers, in which rows that became final are not counted.
    pub(super) fn record(self) -> SweepRecord {
        SweepRecord { residual: self.residual, changed: self.changed, decided: None }
    }

    pub(super) fn of_record(SweepRecord { residual, changed, .. }: SweepRecord) -> Change {
        Change { residual, changed, decided: 0 }
    }

    #[inline(always)]
    pub(super) fn of<B: Backup>(backup: &B, old: B::Value, new: B::Value) -> Change {
        match old == new {
            true => Change::NONE,
            false => Change { residual: backup.change(old, new), changed: 1, decided: 0 },
        }
    }
}

/// Function that returns the range of a row's edges among the targets.
pub(super) type EdgesOf<'a> = dyn Fn(usize) -> Range<usize> + Sync + 'a;

/// Target rows of rows' moves.
#[derive(Clone, Copy)]
pub(super) struct StoredMoves<'a> {
    pub edges_of: &'a EdgesOf<'a>,
    pub targets: &'a [u32],
}

impl StoredMoves<'_> {
    /// Returns the target rows of a row's moves.
    #[inline]
    pub(super) fn of(&self, row: usize) -> &[u32] {
        &self.targets[(self.edges_of)(row)]
    }
}

/// Rows that are swept repeatedly.
pub(super) struct Jacobi<'a, B: Backup> {
    pub backup: &'a B,
    pub moves: StoredMoves<'a>,
    pub values: &'a mut [B::Value],
    /// Rows to sweep, ascending; rows that have become final are left out.
    pub rows: Vec<u32>,
    /// Number of sweeps so far.
    pub sweeps: usize,
}

impl<B: Backup> Jacobi<'_, B> {
    /// Sweeps all rows once.
    pub(super) fn sweep(&mut self) -> Change {
        self.sweeps += 1;
        let renew = |places: Range<usize>| self.renew(&self.rows[places]);
        let renewed = parallel::map_ranges(self.rows.len(), GRAIN, &renew);
        let (fresh, changes): (Vec<Vec<B::Value>>, Vec<Change>) = renewed.into_iter().unzip();
        let change = changes.into_iter().fold(Change::NONE, Change::and);
        if change.changed > 0 {
            self.replace(&fresh);
        }
        if change.decided > 0 {
            let open = |&row: &u32| !self.backup.is_final(self.values[row as usize], self.sweeps);
            let open = |places: Range<usize>| {
                self.rows[places].iter().copied().filter(open).collect::<Vec<u32>>()
            };
            self.rows = parallel::map_ranges(self.rows.len(), GRAIN, &open).concat();
        }
        change
    }

    /// Computes the new values of some rows from the old values of all.
    fn renew(&self, rows: &[u32]) -> (Vec<B::Value>, Change) {
        let mut change = Change::NONE;
        let renew = |&row: &u32| {
            let row = row as usize;
            let new = match self.moves.of(row) {
                [] => self.backup.leaf(row),
                targets => self.backup.backup(targets.iter().map(|&t| self.values[t as usize])),
            };
            let decided = u64::from(self.backup.is_final(new, self.sweeps));
            change = change.and(Change::of(self.backup, self.values[row], new));
            change.decided += decided;
            new
        };
        let fresh = rows.iter().map(renew).collect();
        (fresh, change)
    }

    fn replace(&mut self, fresh: &[Vec<B::Value>]) {
        let (mut rest, mut begin) = (&mut *self.values, 0);
        let mut pieces = Vec::with_capacity(fresh.len());
        for (rows, fresh) in self.rows.chunks(GRAIN).zip(fresh) {
            let end = rows[rows.len() - 1] as usize + 1;
            let (own, later) = rest.split_at_mut(end - begin);
            pieces.push(Mutex::new((begin, own, rows, fresh)));
            (rest, begin) = (later, end);
        }
        parallel::each(pieces.len(), &|piece| {
            let (begin, own, rows, fresh) = &mut *parallel::lock(&pieces[piece]);
            for (&row, new) in rows.iter().zip(fresh.iter()) {
                own[row as usize - *begin] = *new;
            }
        });
    }
}

/// Reports a sweep that has ended.
pub(super) fn done(log: &mut SweepLog<'_>, sweep: SweepRecord, progress: &dyn Progress) {
    progress.finish(&format!("residual {}, {} changed", sweep.residual, sweep.changed));
    log.add(sweep);
}
