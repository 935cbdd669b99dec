//! Positions of a table for other programs, as arrays and as text.
//!
//! [`states`](write_states) writes every position in which a report queries a policy, for programs
//! that predict all of them at once (`docs/your-policy.md`). Files are written into a directory
//! beside their place, which is renamed when it is complete; it replaces only an unchanged earlier export.
//!
//! The bytes depend only on the table and the request, not on threads or the machine. Memory is
//! bounded by a few chunks of rows.
//!
//! ```
//! use yomikiri::solved::{Orienting, SolvedTable};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//! use yomikiri_measure::export::write_states;
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! write_states(table.states(), Orienting::All, &dir.path().join("states"), &Silent)?;
//! assert!(dir.path().join("states/planes.npy").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
    /// An error of the table, or of writing the files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The place is taken by something else.
    #[error("{} {what}", place.display())]
    Taken {
        /// Destination of the export.
        place: PathBuf,
        /// Description of the present content.
        what: String,
    },
    /// The request is invalid.
    #[error("{what}")]
    Request {
        /// Message and hint.
        what: Hinted,
    },
    /// Another process is writing to the same place.
    #[error("{} is being written by another process", place.display())]
    Busy {
        /// Destination of both.
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
