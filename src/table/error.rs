//! Errors of tables on disk.

use crate::hint::{Hint, Hinted, Kind};
use crate::output::{advice, failure, is_foreign};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// A table that cannot be opened or written. Messages are one line: what is wrong and where.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// There is no table at the path.
    #[error("no table at {}: {what}", path.display())]
    Missing {
        /// Path of the table.
        path: PathBuf,
        /// State of the directory, or names of the tables that exist, with a hint.
        what: Hinted,
    },
    /// No table was named, and there is no unique default.
    #[error("no default table in {}", path.display())]
    NoLatest {
        /// The directory of tables.
        path: PathBuf,
        /// Names of the tables in it.
        names: String,
    },
    /// The directory or file is not a table.
    #[error("{} is not a table: {what}", path.display())]
    Foreign {
        /// Path of the directory or file.
        path: PathBuf,
        /// Reason, with a hint.
        what: Hinted,
    },
    /// Invalid name of a table.
    #[error("invalid table name `{name}`: {what}")]
    Name {
        /// The name.
        name: String,
        /// Reason.
        what: &'static str,
    },
    /// The table is in another version of the format.
    #[error("unsupported table format {found} of {}: expected {expected}", path.display())]
    Version {
        /// Path of the manifest.
        path: PathBuf,
        /// Version in the manifest.
        found: u64,
        /// Version that this program reads.
        expected: u32,
    },
    /// The files do not match the manifest.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// Another process is writing the same table.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// Path of the lock or the table.
        path: PathBuf,
    },
    /// An operation of the system failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// Operation: `read`, `write`, …
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl Hint for TableError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            TableError::Missing { what, .. } => return what.hint(),
            TableError::NoLatest { names, .. } => format!("expected one of {names}").into(),
            TableError::Foreign { what, .. } => {
                let what =
                    what.clone().with_hint("name another, or make one with 'solver enumerate'");
                return what.hint().map(Cow::into_owned).map(Cow::from);
            }
            TableError::Version { .. } => "enumerate it again".into(),
            TableError::Damaged { .. } => "remove the table and enumerate it again".into(),
            TableError::Busy { .. } => "wait for it to end".into(),
            TableError::Io { source, .. } => return advice(source).map(Cow::from),
            TableError::Name { .. } => return None,
        })
    }

    fn kind(&self) -> Kind {
        match self {
            TableError::Damaged { .. } => Kind::Damaged,
            TableError::Io { source, .. } if !is_foreign(source) => Kind::Failure,
            _ => Kind::Input,
        }
    }
}

impl TableError {
    /// Returns the error for a damaged file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> TableError {
        TableError::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

/// Adds the operation and the path to an I/O error.
pub trait IoContext<T> {
    /// Converts the error, adding the operation (such as `create`) and the path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, TableError>;
}

impl From<TableError> for Hinted {
    /// Copies message, hint and kind; of an operation of the system also its error.
    fn from(error: TableError) -> Hinted {
        match error {
            TableError::Io { action, path, source } => failure(action, &path, &source),
            error => Hinted::of(&error),
        }
    }
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, TableError> {
        self.map_err(|source| TableError::Io { action, path: path.to_path_buf(), source })
    }
}
