//! Tables of games in blocks found and solved by several processes, on one machine or more, over timely dataflow.
//!
//! A block (the states with the same occupied squares) has an owner among all workers, by hash. Layer by layer a
//! worker makes the moves of its own blocks and sends where they lead to the owners, packed by target block and
//! without what it would send twice. A layer is an epoch of the dataflow: once no message of the epoch can be on its
//! way any more, every owner has all states of its blocks. Backwards, a worker asks the owners of the next layer for
//! the values that its moves need, each once, and is answered in the order of what it asked: an epoch each.
//!
//! Every worker writes a layer of its own blocks into a file, synced before the next layer begins, so that all go on
//! at the last layer that all have. [`gather`] makes the usual table of them.
//!
//! Limits: a layer of a worker's blocks, and what it sends and receives for one, must fit in its memory.

mod connect;
mod expand;
mod gather;
mod parts;
mod worker;

use std::path::PathBuf;

pub use gather::gather;
pub use parts::parts_dir;

use crate::any::{AnyGame, AnyState};
#[cfg(target_arch = "x86_64")]
use crate::game::blocks::Instructions;
use crate::game::blocks::Tables;
use crate::graph::{GraphError, Plan};
use crate::solve::SweepError;
use crate::table::TableError;

/// What has ended the work of a process.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// What was asked for cannot be.
    #[error("{0}")]
    Input(String),
    /// The other processes, or the way to them.
    #[error("{0}")]
    Others(String),
    /// A file of ours.
    #[error("{}: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is the matter with it.
        what: String,
    },
    /// The files of a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table cannot be made.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Its values cannot be written.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

/// What a process is to do, and who the others are.
#[derive(Clone)]
pub struct Job {
    /// The game, which has blocks.
    pub game: AnyGame,
    /// What is enumerated: a whole game, its moves derived.
    pub plan: Plan<AnyState>,
    /// Where the workers' files lie.
    pub parts: PathBuf,
    /// Whether values are found, of states that have been.
    pub solves: bool,
    /// The addresses of all processes.
    pub hosts: Vec<String>,
    /// Which of them this is.
    pub process: usize,
    /// Workers of each process.
    pub workers: usize,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// States of its own.
    pub states: u64,
    /// Moves of them.
    pub moves: u64,
    /// Bytes of places, orientations and values that it sent, to itself or others.
    pub sent: u64,
}

/// Does this process's part of a job: connects to the others, compares with them what was asked, and goes on at the last
/// layer that all have. `fail` is called with an error that ends the work, and must end the process, or the others would wait.
pub fn run(job: &Job, fail: fn(&ClusterError)) -> Result<Done, ClusterError> {
    if !job.plan.has_blocks(&job.game) || !job.plan.derived {
        let what =
            "only whole games in blocks (Othello up to 32 squares) are spread over processes";
        return Err(ClusterError::Input(what.to_string()));
    }
    #[cfg(target_arch = "x86_64")]
    if Instructions::are_there() {
        return connect::run(job, worker::work::<Instructions>, fail);
    }
    connect::run(job, worker::work::<Tables>, fail)
}
