//! Tables found and solved by several processes, on one machine or more, over timely dataflow.
//!
//! A block (the states with the same occupied squares) has an owner among all workers, by hash. Layer by layer a
//! worker makes the moves of its own blocks and sends where they lead to the owners, packed by target block and
//! without what it would send twice. A layer is a round of the dataflow: once no message of it can be on its way any
//! more, every owner has all states of its blocks. Backwards, a worker asks the owners of the next layer for the values
//! that its moves need, each once among some millions of moves, and owners answer from files that are mapped.
//!
//! Memory is bounded: what is received for the next layer is cut into slices by hash, which lie in a file beyond the
//! bound and are made states a few at a time; and all wait until little is on its way before more is sent.
//!
//! Every worker writes a layer of its own blocks into a file, synced before the next layer begins, so that all go on
//! at the last layer that all have. [`gather`] makes the usual table of them.

// An `expect` says why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

mod backwards;
mod connect;
mod expand;
mod gather;
mod in_place;
mod parts;
mod post;
mod spool;
mod worker;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub use gather::gather;
pub use in_place::{open, table_of};
pub use parts::parts_dir;

use yomikiri::any::{AnyGame, AnyState};
#[cfg(target_arch = "x86_64")]
use yomikiri::game::othello::blocks::Instructions;
use yomikiri::game::othello::blocks::Tables;
use yomikiri::graph::{GraphError, Plan};
use yomikiri::hint::{Hint, Hinted, Kind};
use yomikiri::solve::SweepError;
use yomikiri::table::{Counts, TableError};

/// What has ended the work of a process.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// What was asked for cannot be.
    #[error("{0}")]
    Input(Hinted),
    /// The other processes, or the way to them.
    #[error("{0}")]
    Others(Hinted),
    /// A file of ours.
    #[error("{}: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is the matter with it.
        what: Hinted,
    },
    /// A file of a worker's.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
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

impl Hint for ClusterError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            ClusterError::Input(what)
            | ClusterError::Others(what)
            | ClusterError::File { what, .. } => what.hint(),
            ClusterError::Damaged { .. } => {
                Some("remove it, and it is made again with those that follow".into())
            }
            ClusterError::Table(error) => error.hint(),
            ClusterError::Graph(error) => error.hint(),
            ClusterError::Sweep(error) => error.hint(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            ClusterError::Input(_) => Kind::Input,
            ClusterError::Damaged { .. } => Kind::Damaged,
            ClusterError::File { .. } | ClusterError::Others(_) => Kind::Failure,
            ClusterError::Table(error) => error.kind(),
            ClusterError::Graph(error) => error.kind(),
            ClusterError::Sweep(error) => error.kind(),
        }
    }
}

impl ClusterError {
    fn file(path: &Path, what: &str, error: std::io::Error) -> ClusterError {
        ClusterError::File {
            path: path.to_path_buf(),
            what: format!("cannot {what} ({error})").into(),
        }
    }
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
    /// About how many bytes a process may allocate; as many as it takes if none.
    pub memory: Option<u64>,
    /// After how many plies enumerating stops, to be gone on with by a later run; never if none.
    pub plies: Option<u32>,
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

impl Done {
    fn add(&mut self, counts: &Counts) {
        self.states += counts.table.states;
        self.moves += counts.table.transitions;
    }
}

/// Whether a job is one of those that are spread over processes.
pub fn check(job: &Job) -> Result<(), ClusterError> {
    if job.plan.has_blocks(&job.game) && job.plan.derived {
        return Ok(());
    }
    let what =
        "several processes solve whole Othello boards of up to 32 squares, with derived moves";
    Err(ClusterError::Input(what.into()))
}

/// Does this process's part of a job: connects to the others, compares with them what was asked, and goes on at the last
/// layer that all have. `fail` is called with an error that ends the work, and must end the process, or the others would wait.
pub fn run(job: &Job, fail: fn(&ClusterError)) -> Result<Done, ClusterError> {
    check(job)?;
    #[cfg(target_arch = "x86_64")]
    if Instructions::are_there() {
        return connect::run(job, worker::work::<Instructions>, fail);
    }
    connect::run(job, worker::work::<Tables>, fail)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use yomikiri::game::othello::Othello;
    use yomikiri::progress::Silent;
    use yomikiri::solve::SolveOptions;
    use yomikiri::table::Store;

    fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
        files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
    }

    /// The least memory: layers are received in files, and made, sent and asked for in many shares.
    #[test]
    fn little_memory_and_a_stop_between_change_no_byte() {
        let dir = tempfile::tempdir().unwrap();
        let game = AnyGame::new(Othello::<u64>::new(4, 5, true));
        let plan = Plan { derived: true, ..Plan::from_start(&game) };
        let [one, all] = ["one", "all"].map(|name| Store::at(&dir.path().join(name)));
        let mut table = game.enumerate(&plan, &one, &Silent).unwrap().table;
        game.solve(&mut table, &SolveOptions::default(), &Silent, &mut |_, _| {}).unwrap();
        let parts = parts_dir(&all, &plan.table_name(&game));
        let hosts = vec!["localhost:1".to_string()];
        let (process, workers, memory) = (0, 2, Some(0));
        let job = Job {
            game,
            plan,
            parts,
            solves: false,
            hosts,
            process,
            workers,
            memory,
            plies: Some(9),
        };
        let fail = |error: &ClusterError| panic!("{}", error.line());
        let first = run(&job, fail).unwrap();
        let rest = run(&Job { plies: None, ..job.clone() }, fail).unwrap();
        assert!(first.states > 1000 && rest.sent > 1 << 20, "{first:?} {rest:?}");
        let solved = run(&Job { plies: None, solves: true, ..job.clone() }, fail).unwrap();
        assert_eq!(solved.states, table.manifest().counts.table.states);
        let made = gather(&job, std::slice::from_ref(&job.parts), &all, &Silent).unwrap();
        assert!(files(made.dir()) == files(table.dir()));
    }
}
