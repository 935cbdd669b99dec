//! `solver completions` and `solver man`: completions of a shell, and manual pages.

use std::path::PathBuf;
use yomikiri::error::Error;

use super::complete;
use super::context::Context;
use super::help::{command, page, pages};
use super::program;
use yomikiri::table::IoContext;

/// Print completions for a shell, with the names of tables, games and policies
///
/// Put the line into the shell's start-up file: source <(solver completions bash), source <(solver
/// completions zsh), solver completions fish | source. Names of tables and trained networks are
/// those of the directory that YOMIKIRI_TABLES names, or 'tables'.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// Print the manual page, or write the pages of all commands to a directory
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Directory for solver.1, solver-enumerate.1, …
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn completions(args: CompletionsArgs, context: &mut Context) -> Result<(), Error> {
    context.raw(&complete::registration(&args.shell)?)
}

pub(super) fn man(args: ManArgs, context: &mut Context) -> Result<(), Error> {
    let mut built = command();
    built.build();
    match args.dir {
        Some(dir) => {
            std::fs::create_dir_all(&dir).at("create", &dir)?;
            pages(&built, program::name(), &dir)?;
        }
        None => {
            let mut text = Vec::new();
            page(&built, program::name(), &mut text)?;
            context.raw(&String::from_utf8(text)?)?;
        }
    }
    Ok(())
}
