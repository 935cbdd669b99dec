//! The command `solver`: see [`yomikiri::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    yomikiri::cli::main()
}
