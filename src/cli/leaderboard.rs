//! `solver leaderboard`: every policy there is on one table, the best first.

use std::path::PathBuf;
use std::process::ExitCode;

use super::context::Context;
use super::players::{learned_for, variants};
use super::report::{Request, Timeout, measured, opened, write_whole};
use crate::policy::PolicySpec;
use crate::registry::othello;
use crate::render::{html, leaderboard};

/// Rank all built-in and learned policies on a board by the exact figures of the report
///
/// Those whose move is right most often, where moves differ in outcome, stand first. Learned policies
/// are those in the directory policies beside the tables.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The board, as rows x columns or the side of a square
    #[arg(long, value_name = "SIZE", default_value = "4")]
    size: String,
    /// Other policies too: see the report's --policy
    #[arg(long, value_name = "POLICY")]
    also: Vec<String>,
    /// Write it as Markdown to this file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the whole report as a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Begin even if the table is not expected to fit
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    timeout: Timeout,
}

/// The built-in policies that are ranked.
const BUILT_IN: [&str; 22] = [
    "random",
    "greedy",
    "weights",
    "n-hand:1",
    "n-hand:2",
    "n-hand:4",
    "n-hand-custom:1",
    "n-hand-custom:2",
    "n-hand-custom:4",
    "n-least:1",
    "n-least:2",
    "n-most:1",
    "n-most:2",
    "minimax:2",
    "alphabeta:4",
    "alphabeta:6",
    "alphabeta:8",
    "montecarlo:10",
    "montecarlo:100",
    "mcts:100",
    "mcts:1000",
    "perfect",
];

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let game = othello(&args.size)?;
    let mut names: Vec<String> = BUILT_IN.iter().map(|name| name.to_string()).collect();
    for spec in learned_for(&game, &context.store) {
        names.push(spec.to_string());
        if let PolicySpec::Learned(learned) = spec {
            let variants = variants(&learned, &context.store).into_iter();
            names.extend(variants.map(|spec| PolicySpec::Learned(spec).to_string()));
        }
    }
    names.extend(args.also);
    let asked = Request {
        policies: &names,
        timeout: &args.timeout,
        table: None,
        game: None,
        size: Some(&args.size),
        force: args.force,
    };
    let (table, policies) = opened(&asked, context)?;
    let report = measured(&table, &policies, context)?;
    let text = leaderboard(&report);
    if let Some(path) = &args.out {
        write_whole(path, &text)?;
        context.remark(format!("{}: written", path.display()));
    }
    if let Some(path) = &args.html {
        write_whole(path, &html(&report))?;
        context.remark(format!("{}: written", path.display()));
    }
    match context.json {
        true => context.json(&report)?,
        false => context.print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
