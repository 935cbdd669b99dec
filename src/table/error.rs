//! What can go wrong with a table on disk.

use crate::hint::{Hint, Hinted, Kind};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// A table that cannot be opened or written. Every message is one line: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// There is no table at the path.
    #[error("no table at {}: {what}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// What is there in its stead, or what to do.
        what: Hinted,
    },
    /// No table is the one enumerated last, and none was named.
    #[error("no table was enumerated last in {}", path.display())]
    NoLatest {
        /// The directory of tables.
        path: PathBuf,
        /// Those that are there.
        names: String,
    },
    /// The directory or file is something else than a table.
    #[error("{} is not a table of this program: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why it is none.
        what: Hinted,
    },
    /// A table cannot have the name.
    #[error("'{name}' is no name for a table: {what}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        what: &'static str,
    },
    /// The table was written in another version of the format.
    #[error("{} is in table format {found}, this version reads format {expected}", path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version it names.
        found: u64,
        /// The version we read.
        expected: u32,
    },
    /// The files do not hold what the manifest says.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Another process is writing the same table.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried: `read`, `write`, …
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Hint for TableError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            TableError::Missing { what, .. } => return what.hint(),
            TableError::NoLatest { names, .. } => format!("name one of {names}").into(),
            TableError::Foreign { what, .. } => {
                let what =
                    what.clone().with_hint("name another, or make one with 'solver enumerate'");
                return what.hint().map(Cow::into_owned).map(Cow::from);
            }
            TableError::Version { .. } => "enumerate it anew".into(),
            TableError::Damaged { .. } => "delete the table and enumerate it anew".into(),
            TableError::Busy { .. } => "wait for it to end".into(),
            TableError::Name { .. } | TableError::Io { .. } => return None,
        })
    }

    fn kind(&self) -> Kind {
        match self {
            TableError::Damaged { .. } => Kind::Damaged,
            TableError::Io { .. } => Kind::Failure,
            _ => Kind::Input,
        }
    }
}

impl TableError {
    /// Returns the error of a damaged file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> TableError {
        TableError::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

/// Adds what was tried and where to an operating system's error.
pub trait IoContext<T> {
    /// Says what was tried, `create`, and where.
    fn at(self, action: &'static str, path: &Path) -> Result<T, TableError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, TableError> {
        self.map_err(|source| TableError::Io { action, path: path.to_path_buf(), source })
    }
}
