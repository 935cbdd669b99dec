//! Damage met by readers that return values rather than results. They record it with the table that they read; check
//! for it before using the values.

use crate::error::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Damage met in a table, shared by all of its readers.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<OnceLock<Error>>);

impl Damage {
    /// Returns the value read, or records the error and returns `None`. [`Damage::check`] fails from then on.
    pub fn or_record<T>(&self, read: Result<T, Error>) -> Option<T> {
        read.map_err(|error| self.record(error)).ok()
    }

    #[cold]
    fn record(&self, error: Error) {
        // The first damage is reported; the rest may follow from it.
        let _ = self.0.set(error);
    }

    /// Records that a file is damaged.
    #[cold]
    pub fn record_in(&self, path: &Path, what: impl Into<String>) {
        self.record(Error::damaged(path, what));
    }

    /// Returns `true` if damage was recorded, or still may be by a reader.
    pub(super) fn is_open(&self) -> bool {
        self.0.get().is_some() || Arc::strong_count(&self.0) > 1
    }

    /// Fails if damage was recorded.
    pub fn check(&self) -> Result<(), Error> {
        self.0.get().cloned().map_or(Ok(()), Err)
    }
}
