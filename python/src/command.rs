//! The command `solver`, run in the interpreter's process.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command `solver` with these arguments; returns the exit code. For a process that does nothing else.
#[pyfunction]
pub(crate) fn run_command(arguments: Vec<OsString>) -> u8 {
    let words = [OsString::from("solver")].into_iter().chain(arguments).collect();
    let code = yomikiri_solver::main_of(words);
    // The interpreter ends without the standard library's last flush.
    let _ = std::io::stdout().flush();
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
}
