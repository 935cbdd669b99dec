//! External policies: predictions in files, programs, and engines.
//!
//! [`Predictions`] are computed beforehand for every position; [`Exec`] runs a program during the report, [`Engine`] one
//! that speaks USI, UCI or GTP. Errors are
//! one line that names the file and the row, or the position. `docs/your-policy.md` is the specification.

mod engine;
mod exec;
mod npy;
mod predictions;
mod process;

pub use engine::{Engine, EngineSpec, Protocol};
pub use exec::{Exec, PROTOCOL, PROTOCOL_VERSION};
pub use predictions::Predictions;
