//! Value iteration: sweeps over the undecided states until nothing changes.

use super::Log;
use super::graph::{Bounds, CyclicGraph, Start, intervals};
use crate::parallel;
use crate::progress::Silent;
use crate::solve::backup::Backup;
use crate::solve::kept::Kept;
use crate::solve::sweep::{Jacobi, Successors};
use crate::solve::value::{Prospect, Value};
use crate::table::{SweepRecord, TableError};

/// Solves a graph by sweeps, each from the values before it (Jacobi), until one changes nothing.
/// States that are decided are left out of later sweeps.
///
/// The n-th sweep finds the ends that are n plies away, so there are as many sweeps as the longest
/// forced game has plies, and one that confirms. `on_sweep` is called after each, numbered from 1.
/// Works on the threads of the current pool, and gives the same for any number of them. The graph
/// must pass [`CyclicGraph::check`]. What an interrupted process kept is gone on with.
///
/// Gives one interval per state, its mover's, and whether there was anything kept. Memory: 8 bytes per state and up to 16 per state with
/// moves.
pub fn iterate(
    graph: &CyclicGraph<'_>,
    kept: Option<&Kept>,
    mut on_sweep: impl FnMut(usize, &SweepRecord),
) -> Result<(Vec<Value>, bool), TableError> {
    let log = Log::new(kept, &mut on_sweep);
    if graph.bounds_coincide() { from_start::<1>(graph, log) } else { from_start::<2>(graph, log) }
}

fn from_start<const BOUNDS: usize>(
    graph: &CyclicGraph<'_>,
    mut log: Log<'_>,
) -> Result<(Vec<Value>, bool), TableError> {
    let Start { mut values, lead, .. } = Start::<BOUNDS>::of(graph);
    let resumed = log.resume(graph, &mut values).is_some();
    let (backup, swept) = (CyclicBackup { graph, lead }, log.sweeps.len());
    let open = |row: usize| graph.has_moves(row) && !backup.is_final(values[row], swept);
    let rows = parallel::select(graph.states(), open);
    sweep(&backup, &mut values, rows, &mut log)?;
    Ok((intervals(values), resumed))
}

/// Sweeps rows until nothing changes. None of them is one that the log counts as decided.
pub(super) fn sweep<const BOUNDS: usize>(
    backup: &CyclicBackup<'_, BOUNDS>,
    values: &mut [Bounds<BOUNDS>],
    rows: Vec<u32>,
    log: &mut Log<'_>,
) -> Result<(), TableError> {
    let (moves, sweeps) = (backup.graph, log.sweeps.len());
    let mut jacobi = Jacobi { backup, moves, values, rows, sweeps };
    loop {
        let swept = jacobi.sweep(&Silent);
        log.add(swept.residual, swept.changed, swept.decided.unwrap_or_default());
        if swept.changed == 0 {
            return Ok(());
        }
        log.secure(moves, None, |row| jacobi.values[row])?;
    }
}

impl Successors for CyclicGraph<'_> {
    #[inline]
    fn of<'a>(&'a self, row: usize, _room: &'a mut Vec<u32>) -> &'a [u32] {
        self.edges(row)
    }
}

/// Bounds of prospects in a graph that may have cycles.
pub(super) struct CyclicBackup<'a, const BOUNDS: usize> {
    pub graph: &'a CyclicGraph<'a>,
    /// After `n` sweeps an end at most `n + lead` plies away is final.
    pub lead: usize,
}

impl<const BOUNDS: usize> Backup for CyclicBackup<'_, BOUNDS> {
    type Value = Bounds<BOUNDS>;

    fn leaf(&self, row: usize) -> Bounds<BOUNDS> {
        self.graph.at_first(row)
    }

    #[inline]
    fn backup(
        &self,
        row: usize,
        successors: impl Iterator<Item = Bounds<BOUNDS>> + Clone,
    ) -> Bounds<BOUNDS> {
        // The best move is the one to the worst prospect, since `before` never rises.
        let mut worst = [Prospect::BEST; BOUNDS];
        for value in successors {
            for bound in 0..BOUNDS {
                worst[bound] = worst[bound].min(value[bound]);
            }
        }
        let mut new: Bounds<BOUNDS> =
            std::array::from_fn(|bound| worst[BOUNDS - 1 - bound].before());
        if BOUNDS == 2 && self.graph.is_restricted(row) {
            new[1] = new[1].max(Prospect::ENDLESS_WIN);
        }
        new
    }

    /// In plies between two ends with the same winner, and 1 for any other change.
    fn change(&self, old: Bounds<BOUNDS>, new: Bounds<BOUNDS>) -> f64 {
        let apart = |(old, new): (Prospect, Prospect)| match (old.distance(), new.distance()) {
            (Some(a), Some(b)) if old.outcome() == new.outcome() => a.abs_diff(b),
            _ => u16::from(old != new),
        };
        old.into_iter().zip(new).map(apart).max().map_or(0.0, f64::from)
    }

    fn is_final(&self, value: Bounds<BOUNDS>, sweep: usize) -> bool {
        // The furthest distance also stands for those beyond it, and may still turn out shorter.
        let last = (sweep + self.lead).min(usize::from(Prospect::MAX_DISTANCE) - 1);
        value.iter().all(|bound| bound.distance().is_some_and(|plies| usize::from(plies) <= last))
    }
}
