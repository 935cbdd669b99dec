//! Policies that come from outside: predictions in files, and programs that are asked.
//!
//! [`Predictions`] were made beforehand for every position; [`Exec`] is a program that is asked
//! while the report goes on. What either says is checked here, and whatever is wrong with it is one
//! line that names the file and the row, or the position. `docs/policy-protocol.md` is the
//! specification.

mod dense;
mod exec;
mod npy;
mod predictions;
mod process;

pub use dense::{Beside, Dense, Legal};
pub use exec::{Exec, PROTOCOL, PROTOCOL_VERSION};
pub use predictions::Predictions;
