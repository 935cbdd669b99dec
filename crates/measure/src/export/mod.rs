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
//! use yomikiri::oracle::{Orienting, SolvedTable};
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

use std::fmt::Display;
use std::path::Path;

pub use checksum::{checksum, read_checksums};
pub use states::{Exported, SCHEMA, SCHEMA_VERSION, States, StatesFile, bytes_of, write_states};

use yomikiri::error::Error;

/// Returns the error for a place that is taken by something else, which `what` describes.
fn place_taken(place: &Path, what: impl Display) -> Error {
    let what = format!("{} {what}", place.display());
    Error::new(what, "move it away or choose another --out")
}
