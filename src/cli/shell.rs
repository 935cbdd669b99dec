//! `solver completions` and `solver man`: what a shell and a reader of manuals need.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory;

use super::Cli;
use super::context::Context;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Which shell
    shell: clap_complete::Shell,
}

/// Print the manual page, or write the pages of all commands to a directory
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Where to write solver.1, solver-enumerate.1, …
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn completions(
    args: CompletionsArgs,
    context: &mut Context,
) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "solver", &mut script);
    context.print(String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn man(args: ManArgs, context: &mut Context) -> anyhow::Result<ExitCode> {
    match args.dir {
        Some(dir) => {
            std::fs::create_dir_all(&dir)
                .with_context(|| format!("cannot create {}", dir.display()))?;
            clap_mangen::generate_to(Cli::command(), &dir)
                .with_context(|| format!("cannot write the pages to {}", dir.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            context.print(String::from_utf8(page)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
