//! Progress reports, without terminals.
//!
//! The library calls a [`Progress`]; the commands draw bars from it. Reports never change a result.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use yomikiri::progress::Progress;
//! use yomikiri::{registry::othello, oracle::SolvedTable, table::Store};
//!
//! /// Counts the units of all tasks.
//! #[derive(Default)]
//! struct Count(AtomicU64);
//!
//! impl Progress for Count {
//!     fn begin(&self, _what: &str, _total: Option<u64>) {}
//!     fn advance(&self, units: u64) {
//!         self.0.fetch_add(units, Ordering::Relaxed);
//!     }
//!     fn finish(&self, _summary: &str) {}
//! }
//!
//! let (dir, count) = (tempfile::tempdir()?, Count::default());
//! SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &count)?;
//! assert!(count.0.into_inner() >= 12_351);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

/// Receives progress reports of one task at a time.
pub trait Progress: Sync {
    /// Begins a task: its name and, where known, how many states it has.
    fn begin(&self, what: &str, total: Option<u64>);

    /// Begins a task measured in another unit than states: `games`, `epochs`.
    fn begin_with(&self, what: &str, total: Option<u64>, _unit: &str) {
        self.begin(what, total);
    }

    /// Adds finished units.
    fn advance(&self, units: u64);

    /// Records a step that is complete, for a log: a layer, a ply, with its counts.
    fn log(&self, _step: fmt::Arguments<'_>) {}

    /// Adds a remark on the task.
    fn note(&self, _what: &str) {}

    /// Ends the task with a summary of its result.
    fn finish(&self, summary: &str);
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self, _summary: &str) {}
}
