//! Tables of cyclic games solved: from the mapped graph to the columns.

use super::{CyclicGraph, CyclicSweep, GameEnd, SecondToMove, iterate, retrograde};
use crate::graph::{Graph, Ranked, RankedMoves};
use crate::progress::Progress;
use crate::solve::columns::{install_cyclic, install_ranked};
use crate::solve::method::{Algorithm, CyclicMethod};
use crate::solve::{Run, SweepError, iterate_ranked, retrograde_ranked};
use crate::table::{SweepRecord, Table, TableError};

/// Solves a table of sorted keys whose checksums have been checked. `end` gives the ends of terminal
/// rows, `second_to_move` tells who moves where the table keeps that; `each` hears of every sweep.
pub fn solve_cyclic(
    table: &mut Table,
    graph: &Graph,
    (end, second_to_move): (&GameEnd<'_>, &SecondToMove<'_>),
    method: CyclicMethod,
    progress: &dyn Progress,
    mut each: impl FnMut(usize, &SweepRecord),
) -> Result<Run, SweepError> {
    method.check(table)?;
    if let Some(sweeps) = method.already_there(table) {
        return Ok(Run { sweeps, already_solved: true, resumed: false });
    }
    let _lock = table.lock()?;
    let seen = CyclicGraph {
        kinds: graph.kinds(),
        edge_offsets: graph.edge_offsets(),
        edge_targets: graph.edge_targets(),
        end,
        second_to_move,
        repetition: method.repetition,
    };
    seen.check().map_err(|wrong| TableError::damaged(table.dir(), wrong.to_string()))?;
    progress.begin(&format!("solving {}", table.name()), Some(graph.states() as u64));
    let mut told = 0;
    let on_sweep = |number: usize, sweep: &CyclicSweep| {
        progress.advance(sweep.decided.saturating_sub(told));
        told = told.max(sweep.decided);
        each(number, &record(sweep));
    };
    let solution = match method.algorithm {
        Algorithm::Retrograde => retrograde(&seen, on_sweep),
        Algorithm::ValueIteration => iterate(&seen, on_sweep),
    };
    let sweeps: Vec<SweepRecord> = solution.sweeps.iter().map(record).collect();
    install_cyclic(table, method, &solution.values, &sweeps)?;
    progress.finish(&format!("{} sweeps", sweeps.len()));
    Ok(Run { sweeps, already_solved: false, resumed: false })
}

fn record(sweep: &CyclicSweep) -> SweepRecord {
    SweepRecord { residual: sweep.residual, changed: sweep.changed, decided: Some(sweep.decided) }
}

/// Solves a ranked table whose checksums have been checked, making its moves from the rules.
pub fn solve_ranked(
    table: &mut Table,
    ranked: &Ranked,
    moves: &dyn RankedMoves,
    method: CyclicMethod,
    progress: &dyn Progress,
    mut each: impl FnMut(usize, &SweepRecord),
) -> Result<Run, SweepError> {
    method.check(table)?;
    if let Some(sweeps) = method.already_there(table) {
        return Ok(Run { sweeps, already_solved: true, resumed: false });
    }
    let _lock = table.lock()?;
    let mut sweeps = Vec::new();
    let on_sweep = |number: usize, sweep: SweepRecord| {
        each(number, &sweep);
        sweeps.push(sweep);
    };
    let distances = match method.algorithm {
        Algorithm::Retrograde => retrograde_ranked(ranked, moves, progress, on_sweep),
        Algorithm::ValueIteration => iterate_ranked(ranked, moves, progress, on_sweep),
    };
    let distances = distances.map_err(|error| SweepError::Options(error.to_string()))?;
    install_ranked(table, method, &distances, &sweeps)?;
    progress.finish(&format!("{} sweeps", sweeps.len()));
    Ok(Run { sweeps, already_solved: false, resumed: false })
}
