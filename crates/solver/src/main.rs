//! The command `solver`: see [`yomikiri_solver`].

use std::process::ExitCode;

fn main() -> ExitCode {
    yomikiri_solver::main()
}
