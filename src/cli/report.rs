//! `solver report`: how accurate policies are, exactly.

use std::process::ExitCode;

use super::context::Context;

/// Measure policies against the solution
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: Args, _context: &mut Context) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
