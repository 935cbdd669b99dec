//! A table of any game solved.

use std::time::Duration;

use super::cyclic::{CyclicGraph, RowSet, iterate, retrograde};
use super::{
    Algorithm, CyclicMethod, Kept, Method, Run, SolveOptions, SweepError, Value, columns,
    iterate_ranked, retrograde_ranked, value_iterate,
};
use crate::game::{Game, Outcome, Repetition, Side};
use crate::graph::{Deriver, Graph, Ranked, RankedGame, Space};
use crate::progress::Progress;
use crate::table::{Scratch, SweepRecord, Table, TableError};

/// How long work on a game with cycles goes on before it is secured, which takes a byte a rank each
/// time, or four or eight a state that has moves.
const SECURED_AFTER: Duration = Duration::from_secs(10);

/// Solves a table in the way that its game and the options call for; `each` is called after every
/// sweep.
pub fn solve<G: Game>(
    game: &G,
    table: &mut Table,
    options: &SolveOptions,
    progress: &dyn Progress,
    each: &mut dyn FnMut(usize, &SweepRecord),
) -> Result<Run, SweepError> {
    if table.manifest().is_packed() {
        return Err(SweepError::Packed(table.name()));
    }
    if let Some(option) = options.unfit(game) {
        let name = game.name();
        return Err(SweepError::Options(format!("{option} means nothing for {name}").into()));
    }
    if game.layers().is_some() {
        let graph = Graph::open(table)?;
        let exact = Method::exact(game);
        let method = Method {
            order: options.order.unwrap_or(exact.order),
            theta: options.theta.unwrap_or(exact.theta),
            empties: options.empties.unwrap_or(exact.empties),
            discount: options.discount,
            checkpoint_after: options.checkpoint_after.unwrap_or(exact.checkpoint_after),
            max_memory: options.max_memory,
            ..exact
        };
        let terminal = graph.terminal_scores(game, method.empties);
        let made = (!graph.stores_moves()).then(|| Deriver::new(game));
        let moves = (made.as_ref(), &terminal as _);
        return value_iterate(table, &graph, moves, &method, progress, each);
    }
    let (identity, complete) = (&table.manifest().identity, table.manifest().complete);
    let repetition = match identity.checks_only {
        true => Repetition::Unknown,
        false => game.repetition(),
    };
    let method = CyclicMethod {
        // Where most states are cut off, few sweeps do; where none is, there are many.
        algorithm: options.algorithm.unwrap_or(match complete {
            true if identity.is_by_rank() && !game.has_predecessors() => Algorithm::ValueIteration,
            true => Algorithm::Retrograde,
            false => Algorithm::ValueIteration,
        }),
        repetition: options.repetition.unwrap_or(repetition),
    };
    method.check(game, table)?;
    let there = |table: &Table| {
        let sweeps = method.already_there(table)?;
        Some(Run { sweeps, already_solved: true, resumed: false })
    };
    let secured_after = options.checkpoint_after.unwrap_or(SECURED_AFTER);
    let kept = Kept::new(Scratch::of(table.dir()), method.identity(table), secured_after);
    // A process that ended between installing the columns and removing what it kept left that.
    if let Some(run) = there(table).filter(|_| !kept.is_there()) {
        return Ok(run);
    }
    let _lock = table.lock()?;
    if let Some(run) = there(table) {
        if kept.is_there() {
            kept.remove();
        }
        return Ok(run);
    }
    let mut sweeps = Vec::new();
    let on_sweep = |number: usize, sweep: &SweepRecord| {
        each(number, sweep);
        sweeps.push(*sweep);
    };
    let resumed = if let Some(ranked) = Ranked::of(table, true)? {
        Space::<G>::check_whole(&ranked, game, table)?;
        let moves = RankedGame { game, ranked: Some(&ranked) };
        let (distances, resumed) = match method.algorithm {
            Algorithm::Retrograde => retrograde_ranked(&ranked, &moves, &kept, progress, on_sweep)?,
            Algorithm::ValueIteration => {
                iterate_ranked(&ranked, &moves, &kept, progress, on_sweep)?
            }
        };
        columns::install_ranked(table, method, &distances, &sweeps)?;
        resumed
    } else {
        let (values, resumed) = solve_keyed(game, table, method, &kept, progress, on_sweep)?;
        columns::install_prospects(table, method, &values, &sweeps)?;
        resumed
    };
    kept.remove();
    progress.finish(&format!("{} sweeps", sweeps.len()));
    Ok(Run { sweeps, already_solved: false, resumed })
}

/// The values of a table of sorted keys of a game that may go round in circles, and whether an
/// interrupted process had begun.
fn solve_keyed<G: Game>(
    game: &G,
    table: &Table,
    method: CyclicMethod,
    kept: &Kept,
    progress: &dyn Progress,
    mut on_sweep: impl FnMut(usize, &SweepRecord),
) -> Result<(Vec<Value>, bool), SweepError> {
    let graph = Graph::open_checked(table)?;
    // A key that is no position passed its checksum, so it was written wrong; `verify` names it.
    let position = |row: usize| graph.position(game, row);
    let end = |row: usize| {
        let end = position(row).and_then(|position| game.end(&position.state));
        end.map_or((Outcome::Loss, 0), |end| (end.outcome, end.plies))
    };
    let is_second = |row: usize| position(row).is_some_and(|found| found.side == Side::Second);
    // Every edge asks for both its ends, and unpacking a key takes longer than all else: so the
    // sides are found once, a bit a row.
    let asked = method.repetition == Repetition::SecondPlayerWins;
    let rows = if asked { graph.states() } else { 0 };
    let second_rows = RowSet::of(rows, is_second);
    let second = |row: usize| second_rows.has(row as u32);
    let graph = CyclicGraph {
        kinds: graph.kinds(),
        edges_of: &|row| graph.edges_of(row),
        edge_targets: graph.edge_targets(),
        end: &end,
        second_to_move: &second,
        repetition: method.repetition,
    };
    graph.check().map_err(|wrong| TableError::damaged(table.dir(), wrong.to_string()))?;
    progress.begin(&format!("solving {}", table.name()), Some(graph.states() as u64));
    let mut told = 0;
    let on_sweep = |number: usize, sweep: &SweepRecord| {
        let decided = sweep.decided.unwrap_or_default();
        progress.advance(decided.saturating_sub(told));
        told = told.max(decided);
        on_sweep(number, sweep);
    };
    Ok(match method.algorithm {
        Algorithm::Retrograde => retrograde(&graph, Some(kept), on_sweep)?,
        Algorithm::ValueIteration => iterate(&graph, Some(kept), on_sweep)?,
    })
}
