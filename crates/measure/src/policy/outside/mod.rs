//! External policies: predictions in files, and programs.
//!
//! [`Predictions`] are computed beforehand for every position; [`Exec`] runs a program during the report.
//! Answers of both are checked here; errors are one line that names the file and the row, or the position.
//! `docs/your-policy.md` is the specification.

mod dense;
mod exec;
mod npy;
mod predictions;
mod process;

pub use dense::{Beside, Dense, Legal};
pub use exec::{Exec, PROTOCOL, PROTOCOL_VERSION};
pub use predictions::Predictions;
