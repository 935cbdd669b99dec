//! Damage met by readers that return values rather than results. They record it here; check for it
//! before using the values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Table, TableError};
use crate::parallel;

/// Number of times damage was recorded in this process.
static RECORDED: AtomicU64 = AtomicU64::new(0);
/// Damage by file: number of the file's last record, and description.
static FOUND: Mutex<BTreeMap<PathBuf, (u64, String)>> = Mutex::new(BTreeMap::new());

/// A moment in this process, to check for damage recorded after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment(u64);

impl Moment {
    /// Returns the present moment. The default is the start of the process.
    pub fn now() -> Moment {
        Moment(RECORDED.load(Ordering::Acquire))
    }

    /// Fails if damage to any table was recorded since this moment.
    pub fn check(self) -> Result<(), TableError> {
        self.check_files(|_| true)
    }

    fn check_files(self, concerns: impl Fn(&Path) -> bool) -> Result<(), TableError> {
        if Moment::now() == self {
            return Ok(());
        }
        let found = parallel::lock(&FOUND);
        let mut since = found.iter().filter(|(path, (at, _))| *at > self.0 && concerns(path));
        match since.next() {
            Some((path, (_, what))) => Err(TableError::damaged(path, what.as_str())),
            None => Ok(()),
        }
    }
}

impl Table {
    /// Fails if readers of this table have met damage since it was opened. Readers that do not return a
    /// `Result` then return a placeholder (no row, an unreachable end, zero): check before using it.
    pub fn check_read(&self) -> Result<(), TableError> {
        // Damage recorded without a file concerns every table.
        let concerns = |path: &Path| path.as_os_str().is_empty() || path.starts_with(&self.dir);
        self.opened.check_files(concerns)
    }
}

/// Returns the value read, or records the error and returns `None`. [`Table::check_read`] fails from then on.
pub fn or_record<T>(read: Result<T, TableError>) -> Option<T> {
    read.map_err(record).ok()
}

#[cold]
fn record(error: TableError) {
    let (path, what) = match error {
        TableError::Damaged { path, what } => (path, what),
        other => (PathBuf::new(), other.to_string()),
    };
    let mut found = parallel::lock(&FOUND);
    let number = RECORDED.load(Ordering::Acquire) + 1;
    found.insert(path, (number, what));
    RECORDED.store(number, Ordering::Release);
}
