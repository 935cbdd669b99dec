//! Errors of tables on disk.

use std::io;
use std::path::Path;

use crate::error::{Error, Kind};
use crate::output::failure;

impl Error {
    /// Returns the error for a damaged file.
    #[cold]
    pub fn damaged(path: &Path, what: impl Into<String>) -> Error {
        let what = format!("{} is damaged: {}", path.display(), what.into());
        Error::new(what, "remove the table and enumerate it again").of_kind(Kind::Damaged)
    }

    /// Returns the error for a table that does not exist; `instead` says what does, with a hint.
    pub(super) fn missing(path: &Path, instead: Error) -> Error {
        instead.map(|what| format!("no table at {}: {what}", path.display())).of_kind(Kind::Missing)
    }

    /// Returns the error for a directory or a file that is not a table, for a reason that may have a hint.
    pub(crate) fn foreign(path: &Path, why: impl Into<Error>) -> Error {
        let what = why.into().map(|why| format!("{} is not a table: {why}", path.display()));
        let hint = "name another, or make one with 'solver enumerate'";
        what.with_hint(hint).of_kind(Kind::Unfit)
    }

    /// Returns the error for files that another process is writing.
    pub fn busy(path: &Path) -> Error {
        Error::busy_by(path, "another process", "wait for it to end")
    }

    /// Returns the error for files that `who` is writing.
    pub(super) fn busy_by(path: &Path, who: &str, hint: &str) -> Error {
        let what = format!("{} is being written by {who}", path.display());
        Error::new(what, hint).of_kind(Kind::Busy)
    }
}

/// Adds the operation and the path to an I/O error.
pub trait IoContext<T> {
    /// Converts the error, adding the operation (such as `create`) and the path.
    fn at(self, action: &str, path: &Path) -> Result<T, Error>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &str, path: &Path) -> Result<T, Error> {
        self.map_err(|error| failure(action, path, error))
    }
}
