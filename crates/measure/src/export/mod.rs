//! What other programs are given: the positions of a table, as arrays and as text.
//!
//! [`states`](write_states) writes every position in which a report asks a policy, for programs
//! that answer them all at once and hand their predictions back (`docs/policy-protocol.md`). The
//! files are written into a directory beside their place, which is renamed when all is there; what
//! stands at the place is replaced only if an earlier export wrote all of it.
//!
//! The bytes depend on the table and on the request alone, not on threads or the machine. Memory
//! is bounded by a few chunks of rows.

mod checksum;
mod folder;
mod states;
pub mod targets;

use std::borrow::Cow;
use std::path::PathBuf;

pub use checksum::{checksum, read_checksums};
pub use states::{Exported, SCHEMA, SCHEMA_VERSION, States, StatesFile, bytes_of, write_states};

use yomikiri::hint::{Hint, Hinted, Kind};
use yomikiri::table::TableError;

/// An export that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The table, or the files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Something else is at the place.
    #[error("{} {what}", place.display())]
    Taken {
        /// Where the export was to lie.
        place: PathBuf,
        /// What is there.
        what: String,
    },
    /// A request that cannot be met.
    #[error("{what}")]
    Request {
        /// What is wrong and what would be right.
        what: Hinted,
    },
    /// Another process is writing to the same place.
    #[error("{} is being written by another process", place.display())]
    Busy {
        /// Where it writes.
        place: PathBuf,
    },
}

impl Hint for ExportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            ExportError::Table(error) => error.hint(),
            ExportError::Taken { .. } => Some("move it away or choose another --out".into()),
            ExportError::Request { what } => what.hint(),
            ExportError::Busy { .. } => Some("wait for it to end".into()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            ExportError::Table(error) => error.kind(),
            _ => Kind::Input,
        }
    }
}
