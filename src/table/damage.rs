//! Damage met by readers that return values rather than results. They record it with the table that they read; check
//! for it before using the values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::TableError;

/// Damage met in a table, shared by all of its readers.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<OnceLock<(PathBuf, String)>>);

impl Damage {
    /// Returns the value read, or records the error and returns `None`. [`Damage::check`] fails from then on.
    pub fn or_record<T>(&self, read: Result<T, TableError>) -> Option<T> {
        read.map_err(|error| self.record(error)).ok()
    }

    #[cold]
    fn record(&self, error: TableError) {
        // What was met first is reported; the rest may follow from it.
        let _ = self.0.set(match error {
            TableError::Damaged { path, what } => (path, what),
            other => (PathBuf::new(), other.to_string()),
        });
    }

    /// Records that a file is damaged.
    #[cold]
    pub fn record_in(&self, path: &Path, what: impl Into<String>) {
        self.record(TableError::damaged(path, what));
    }

    /// Fails if damage was recorded.
    pub fn check(&self) -> Result<(), TableError> {
        match self.0.get() {
            Some((path, what)) => Err(TableError::damaged(path, what.as_str())),
            None => Ok(()),
        }
    }
}
