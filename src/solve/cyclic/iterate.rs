//! Value iteration: sweeps over the undecided states until nothing changes.

use rayon::prelude::*;

use super::graph::{Bounds, CyclicGraph, GRAIN, Start, intervals};
use super::{CyclicSolution, CyclicSweep, Log};
use crate::solve::value::Prospect;

/// Solves a graph by sweeps, each from the values before it (Jacobi), until one changes nothing.
/// States that are decided are left out of later sweeps.
///
/// The n-th sweep finds the ends that are n plies away, so there are as many sweeps as the longest
/// forced game has plies, and one that confirms. `on_sweep` hears of each, numbered from 1. Works
/// on the threads of the current pool, and gives the same for any number of them. The graph must
/// pass [`CyclicGraph::check`].
///
/// Memory: 8 bytes per state and up to 16 per state with moves.
pub fn iterate(
    graph: &CyclicGraph<'_>,
    mut on_sweep: impl FnMut(usize, &CyclicSweep),
) -> CyclicSolution {
    let log = Log::new(&mut on_sweep);
    if graph.bounds_coincide() { from_start::<1>(graph, log) } else { from_start::<2>(graph, log) }
}

fn from_start<const BOUNDS: usize>(graph: &CyclicGraph<'_>, mut log: Log<'_>) -> CyclicSolution {
    let Start { mut values, lead, .. } = Start::<BOUNDS>::of(graph);
    let rows = with_moves(graph).collect();
    Sweeps { graph, lead, values: &mut values, rows }.run(&mut log);
    CyclicSolution { values: intervals(values), sweeps: log.sweeps }
}

/// The rows that have moves, in order.
pub(super) fn with_moves(graph: &CyclicGraph<'_>) -> impl ParallelIterator<Item = u32> {
    let rows = (0..graph.states()).into_par_iter().with_min_len(GRAIN);
    rows.filter(|&row| graph.has_moves(row)).map(|row| row as u32)
}

/// A row's bounds from those of its successors. The row has some.
#[inline]
pub(super) fn back_up<const BOUNDS: usize>(
    graph: &CyclicGraph<'_>,
    row: usize,
    value_of: impl Fn(usize) -> Bounds<BOUNDS>,
) -> Bounds<BOUNDS> {
    // The best move is the one to the worst prospect, since `before` never rises.
    let mut worst = [Prospect::BEST; BOUNDS];
    for &target in graph.edges(row) {
        let value = value_of(target as usize);
        for bound in 0..BOUNDS {
            worst[bound] = worst[bound].min(value[bound]);
        }
    }
    let mut new: Bounds<BOUNDS> = std::array::from_fn(|bound| worst[BOUNDS - 1 - bound].before());
    if BOUNDS == 2 && graph.is_restricted(row) {
        new[1] = new[1].max(Prospect::ENDLESS_WIN);
    }
    new
}

/// What a sweep has done to some rows.
#[derive(Clone, Copy, Default)]
struct Change {
    residual: u16,
    changed: u64,
    decided: u64,
}

impl Change {
    fn and(self, other: Change) -> Change {
        Change {
            residual: self.residual.max(other.residual),
            changed: self.changed + other.changed,
            decided: self.decided + other.decided,
        }
    }
}

/// How far apart two values are; the unit is explained with [`CyclicSweep::residual`].
fn residual(old: Prospect, new: Prospect) -> u16 {
    match (old.distance(), new.distance()) {
        (Some(a), Some(b)) if old.outcome() == new.outcome() => a.abs_diff(b),
        _ => u16::from(old != new),
    }
}

/// Sweeps to come: the values, and the rows (ascending) that are swept.
pub(super) struct Sweeps<'a, const BOUNDS: usize> {
    pub graph: &'a CyclicGraph<'a>,
    pub lead: usize,
    pub values: &'a mut [Bounds<BOUNDS>],
    pub rows: Vec<u32>,
}

impl<const BOUNDS: usize> Sweeps<'_, BOUNDS> {
    /// Sweeps until nothing changes. What the log says to be decided is not among the rows.
    pub fn run(mut self, log: &mut Log<'_>) {
        let mut fresh = vec![[Prospect::DRAW; BOUNDS]; self.rows.len()];
        for sweep in 1.. {
            fresh.truncate(self.rows.len());
            let change = self.renew(&mut fresh, sweep);
            let decided = log.decided() + change.decided;
            let residual = f64::from(change.residual);
            log.add(CyclicSweep { residual, changed: change.changed, decided });
            if change.changed == 0 {
                return;
            }
            self.replace(&fresh);
            if change.decided > 0 {
                self.leave_out_decided(sweep);
            }
        }
    }

    /// The rows' new values, from the old of all.
    fn renew(&self, fresh: &mut [Bounds<BOUNDS>], sweep: usize) -> Change {
        let chunks = self.rows.par_chunks(GRAIN).zip(fresh.par_chunks_mut(GRAIN));
        let of_chunk = |(rows, fresh): (&[u32], &mut [Bounds<BOUNDS>])| {
            let mut change = Change::default();
            for (&row, new) in rows.iter().zip(fresh) {
                *new = back_up(self.graph, row as usize, |target| self.values[target]);
                change = change.and(self.change(self.values[row as usize], *new, sweep));
            }
            change
        };
        chunks.map(of_chunk).reduce(Change::default, Change::and)
    }

    #[inline]
    fn change(&self, old: Bounds<BOUNDS>, new: Bounds<BOUNDS>, sweep: usize) -> Change {
        let decided = u64::from(self.is_decided(new, sweep));
        if old == new {
            return Change { decided, ..Change::default() };
        }
        let apart = (0..BOUNDS).map(|bound| residual(old[bound], new[bound])).max();
        Change { residual: apart.unwrap_or(0), changed: 1, decided }
    }

    /// Whether a value after a sweep is final.
    fn is_decided(&self, value: Bounds<BOUNDS>, sweep: usize) -> bool {
        // The furthest distance also stands for those beyond it, and may still turn out shorter.
        let last = (sweep + self.lead).min(usize::from(Prospect::MAX_DISTANCE) - 1);
        value.iter().all(|bound| bound.distance().is_some_and(|plies| usize::from(plies) <= last))
    }

    fn replace(&mut self, fresh: &[Bounds<BOUNDS>]) {
        let (mut rest, mut begin) = (&mut *self.values, 0);
        let mut pieces = Vec::with_capacity(self.rows.len().div_ceil(GRAIN));
        for (rows, fresh) in self.rows.chunks(GRAIN).zip(fresh.chunks(GRAIN)) {
            let end = rows[rows.len() - 1] as usize + 1;
            let (own, later) = rest.split_at_mut(end - begin);
            pieces.push((begin, own, rows, fresh));
            (rest, begin) = (later, end);
        }
        pieces.into_par_iter().for_each(|(begin, own, rows, fresh)| {
            for (&row, new) in rows.iter().zip(fresh) {
                own[row as usize - begin] = *new;
            }
        });
    }

    fn leave_out_decided(&mut self, sweep: usize) {
        let rows = std::mem::take(&mut self.rows);
        let undecided = |row: &u32| !self.is_decided(self.values[*row as usize], sweep);
        let kept = rows.par_iter().copied().with_min_len(GRAIN).filter(undecided).collect();
        self.rows = kept;
    }
}
