//! Values of states, and their proof.
//!
//! Works on graphs, not on rules: callers pass in what it must know of a game (the scores of finished games,
//! the moves derived again for verification). A state's value is the maximum over its moves of minus the
//! successor's value (Shapley 1953; Bellman 1957, for the undiscounted game). Each index has one algorithm:
//!
//! * sorted keys are swept: layered games layer by layer from the end (`layered`), games with cycles until
//!   nothing changes (`cyclic`); a `Backup` defines what a sweep does to one state, in any game;
//! * ranks are solved by retrograde analysis (`ranked`), except in layered games, which are swept like sorted
//!   keys;
//! * `textbook` sweeps layered games in the ways of the textbooks.
//!
//! [`solve`] solves a table of any game and writes its columns, [`Values`] reads them, and [`prove`]
//! proves rows, moves and values from the rules.
//!
//! ```
//! use yomikiri::enumerate::{self, Plan};
//! use yomikiri::solve::{self, SolveOptions};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//!
//! let (game, dir) = (othello("4")?, tempfile::tempdir()?);
//! let store = Store::at(dir.path());
//! let mut table = enumerate::build(&*game, &Plan::from_start(&*game), &store, &Silent)?.table;
//! solve::solve(&*game, &mut table, &SolveOptions::default(), &Silent, &mut |_, _| {})?;
//! // Every value follows from the rules: recomputed without the solver.
//! solve::prove(&*game, &table, &Silent)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod checkpoint;
mod columns;
mod cyclic;
mod layered;
mod options;
mod part_values;
mod ranked;
mod sweep;
mod textbook;
pub mod value;
mod verify;

use std::time::Duration;

pub use columns::Values;
pub use options::{RowOrder, SolveOptions};
#[doc(hidden)]
pub use part_values::{PartValues, install_swept};
pub use value::{Prospect, Value};
pub use verify::{Counterexample, Verified, prove};

use checkpoint::Checkpoint;
use layered::Layered;
use options::Method;
use ranked::LONGEST;

use crate::error::Error;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::table::rows::{ENDLESS, RankedGame, Rows};
use crate::table::{CHECKPOINT_AFTER, Memory, SweepRecord, Table};

/// Result of [`solve`].
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Records of all sweeps.
    pub sweeps: Vec<SweepRecord>,
    /// `true` if the table already had these values and nothing was written.
    pub already_solved: bool,
    /// `true` if an interrupted run was resumed.
    pub resumed: bool,
}

/// Sweeps so far; `each` is called after every sweep.
struct SweepLog<'a> {
    sweeps: Vec<SweepRecord>,
    each: &'a mut dyn FnMut(usize, &SweepRecord),
}

impl SweepLog<'_> {
    fn add(&mut self, sweep: SweepRecord) {
        self.sweeps.push(sweep);
        (self.each)(self.sweeps.len(), &sweep);
    }

    /// Returns the number of states decided, or 0 if they are not counted.
    fn decided(&self) -> u64 {
        self.sweeps.last().and_then(|sweep| sweep.decided).unwrap_or(0)
    }
}

/// Interval between checkpoints in games with cycles, of one byte a rank, or four or eight a state with
/// moves.
const SAVED_AFTER: Duration = Duration::from_secs(10);

/// Solves a table by the method that its game and the options determine, and writes its columns. Calls `each`
/// after every sweep.
///
/// Without a discount the columns are exact (`outcome`, `score`, `distance`), or bounds if the table has a
/// frontier; with one they are `value`. A table that has them already, by the same method, is left unchanged.
pub fn solve(
    game: &dyn Rules,
    table: &mut Table,
    options: &SolveOptions,
    progress: &dyn Progress,
    each: &mut dyn FnMut(usize, &SweepRecord),
) -> Result<Run, Error> {
    if table.manifest().is_packed() {
        let what = format!("{} is packed and cannot be solved again", table.name());
        return Err(Error::new(what, "run 'solver enumerate' for a table to solve in another way"));
    }
    if let Some(option) = options.unfit(game) {
        let name = game.name();
        return Err(format!("{option} does not apply to {name}").into());
    }
    let method = Method::of(game, table, options);
    method.check(table)?;
    // Keys are checked layer by layer.
    let graph = match game.is_layered() {
        true if table.manifest().identity.is_by_rank() => Some(Rows::open_checked(game, table)?),
        true => Some(Rows::open(game, table)?),
        false => None,
    };
    let after = if graph.is_some() { CHECKPOINT_AFTER } else { SAVED_AFTER };
    let after = options.checkpoint_after.unwrap_or(after);
    let checkpoint = Checkpoint::of(table, method.identity(table), after);
    let there = |table: &Table| {
        let sweeps = method.existing(table)?;
        Some(Run { sweeps, already_solved: true, resumed: false })
    };
    // If a checkpoint remains, the process that installed the columns ended before removing it.
    if let Some(run) = there(table).filter(|_| !checkpoint.remains()) {
        return Ok(run);
    }
    let _lock = match table.lock() {
        Ok(lock) => lock,
        // The files are those of a process at work.
        Err(busy) => return there(table).ok_or(busy),
    };
    if let Some(run) = there(table) {
        if checkpoint.remains() {
            checkpoint.remove();
        }
        return Ok(run);
    }
    let mut log = SweepLog { sweeps: Vec::new(), each };
    let resumed = if let Some(graph) = &graph {
        let memory = &Memory::new(options.max_memory, table.dir());
        let layered = Layered { graph, method: &method, memory, checkpoint: &checkpoint, progress };
        layered.solve(game, table, &mut log)?
    } else {
        let graph = Rows::open_checked(game, table)?;
        if let Some(ranked) = graph.ranked() {
            ranked.check_whole()?;
            let moves = RankedGame::new(game, Some(ranked));
            let work = (&checkpoint, progress);
            let (distances, resumed) =
                ranked::retrograde(ranked, &moves, method.repetition, work, &mut log)?;
            let value = |row: usize| {
                let plies = Some(distances[row]).filter(|&byte| byte != ENDLESS);
                columns::ranked_value(plies.map(u16::from), method.repetition)
            };
            let (rows, extent) = (distances.len(), (u16::from(LONGEST), false));
            columns::install_values(table, &method, rows, &value, extent, &log.sweeps)?;
            resumed
        } else {
            let (values, resumed) = cyclic::solve(
                game,
                table,
                &graph,
                method.repetition,
                (&checkpoint, progress),
                &mut log,
            )?;
            let bounds = |row: usize| values[row];
            let extent = columns::extent_of(values.len(), &bounds);
            columns::install_values(table, &method, values.len(), &bounds, extent, &log.sweeps)?;
            resumed
        }
    };
    checkpoint.remove();
    if graph.is_none() {
        progress.finish(&format!("{} sweeps", log.sweeps.len()));
    }
    Ok(Run { sweeps: log.sweeps, already_solved: false, resumed })
}
