//! Tables enumerated and solved by several processes, on one machine or more, over timely dataflow.
//!
//! A block (the states with the same occupied squares) is owned by one worker of all, by hash. Layer by layer
//! a worker generates the moves of its own blocks and sends the successors to their owners, packed by target
//! block and without most duplicates. A layer is a round of the dataflow: once no message of it can be in
//! flight, every owner has all states of its blocks. Backwards, a worker requests the values of successors
//! from the owners of the next layer, each once per some millions of moves.
//!
//! Memory is bounded. States received for the next layer are cut into slices of keys; beyond the bound
//! they lie in a file and are processed a few slices at a time, in the order of their keys. Before a worker sends more, it waits
//! until little is in flight.
//!
//! Every worker has a [part](yomikiri::enumerate::Part) of the table: a draft with a checkpoint after each layer, so
//! that all resume at the last layer that all have, then a table, which is solved. [`gather`] joins the parts.
//!
//! ```
//! use yomikiri::enumerate::Plan;
//! use yomikiri::registry::othello;
//! use yomikiri_cluster::{Job, check, run};
//!
//! let (game, dir) = (othello("4")?, tempfile::tempdir()?);
//! let plan = Plan { derived: true, ..Plan::from_start(&*game) };
//! let job = Job {
//!     game,
//!     plan,
//!     parts: dir.path().join("parts"),
//!     solves: false,
//!     hosts: vec!["localhost:2101".to_string()],
//!     process: 0,
//!     workers: 2,
//!     memory: None,
//!     plies: None,
//! };
//! check(&job)?;
//! assert_eq!(run(&job, |error| eprintln!("{error}"))?.states, 12_351);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Every `expect` states why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

mod connect;
mod exchange;
mod expand;
mod gather;
mod spool;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

pub use gather::gather;
use yomikiri::enumerate::Plan;
use yomikiri::error::Error;
#[cfg(target_arch = "x86_64")]
use yomikiri::games::othello::blocks::Instructions;
use yomikiri::games::othello::blocks::Tables;
use yomikiri::rules::Rules;
use yomikiri::table::{Counts, Store};

/// Returns the directory of a table's parts.
pub fn parts_dir(store: &Store, table: &str) -> PathBuf {
    store.place(table).with_added_extension("parts")
}

/// Work of a process, and the other processes.
#[derive(Clone)]
pub struct Job {
    /// Game, which must have blocks.
    pub game: Arc<dyn Rules>,
    /// Plan of the enumeration: a whole game, with derived moves.
    pub plan: Plan,
    /// Directory of the workers' parts.
    pub parts: PathBuf,
    /// `true` to find the values of enumerated states, `false` to enumerate.
    pub solves: bool,
    /// Addresses of all processes.
    pub hosts: Vec<String>,
    /// Index of this process among them.
    pub process: usize,
    /// Number of workers of each process.
    pub workers: usize,
    /// Approximate memory limit of a process in bytes, if any.
    pub memory: Option<u64>,
    /// Number of plies after which enumeration stops, to be resumed by a later run; unlimited if `None`.
    pub plies: Option<u32>,
}

/// Work that was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Number of own states.
    pub states: u64,
    /// Number of their moves.
    pub moves: u64,
    /// Bytes of places, orientations and values sent, also to itself.
    pub sent: u64,
}

impl Done {
    fn add(&mut self, counts: &Counts) {
        self.states += counts.table.states;
        self.moves += counts.table.transitions;
    }
}

/// Checks that a job can be spread over processes.
pub fn check(job: &Job) -> Result<(), Error> {
    if job.plan.has_blocks(&*job.game) && job.plan.derived {
        return Ok(());
    }
    let what = "unsupported job for several processes: expected a whole Othello board of up to 32 squares, with derived moves";
    Err(what.into())
}

/// Does this process's part of a job: connects to the other processes, checks that their jobs agree, and
/// resumes at the last layer that all have. `fail` receives an error that ends the work; it must end the
/// process, or the others would wait for it.
pub fn run(job: &Job, fail: fn(&Error)) -> Result<Done, Error> {
    check(job)?;
    #[cfg(target_arch = "x86_64")]
    if Instructions::are_available() {
        return connect::run(job, worker::work::<Instructions>, fail);
    }
    connect::run(job, worker::work::<Tables>, fail)
}
