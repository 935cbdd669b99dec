//! External policies: predictions in files, and programs.
//!
//! [`Predictions`] are computed beforehand for every position; [`Exec`] runs a program during the report. Errors are
//! one line that names the file and the row, or the position. `docs/your-policy.md` is the specification.

mod exec;
mod npy;
mod predictions;
mod process;

pub use exec::{Exec, PROTOCOL, PROTOCOL_VERSION};
pub use predictions::Predictions;
