//! `solver leaderboard`: every policy there is on one table, the best first.

use std::path::PathBuf;
use std::process::ExitCode;

use super::complete::policies;
use super::context::{Context, command_line};
use super::players::{learned_for, players, tell_unreadable, variants};
use super::report::{about, check_writable, measured, write_whole};
use super::table_args::{TableArgs, solved};
use crate::policy::PolicySpec;
use crate::render::{html, leaderboard};

/// Rank the built-in policies and the trained networks of a game by the exact figures of the report
///
/// They are ranked by how often they keep the outcome in positions whose moves differ in it; networks
/// in those that they have not learned from. Trained networks are those in the directory 'policies' beside the tables.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: TableArgs,
    /// Other policies too: see the report's --policy
    #[arg(long, value_name = "POLICY", add = policies())]
    also: Vec<String>,
    /// Write it as Markdown to this file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the whole report as a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The built-in policies, of which those that the game has are ranked.
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
    for path in args.out.iter().chain(&args.html) {
        check_writable(path)?;
    }
    let (game, table) = args.table.game(context)?;
    let has = |name: &&str| name.parse().is_ok_and(|spec: PolicySpec| spec.check(&game).is_ok());
    let built_in = BUILT_IN.into_iter().filter(has);
    let mut names: Vec<String> = built_in.map(str::to_string).collect();
    tell_unreadable(context);
    for spec in learned_for(&game, &context.store) {
        names.push(spec.to_string());
        if let PolicySpec::Learned(learned) = spec {
            let variants = variants(&learned, &context.store).into_iter();
            names.extend(variants.map(|spec| PolicySpec::Learned(spec).to_string()));
        }
    }
    let also = args.also.iter().flat_map(|list| PolicySpec::split_list(list));
    names.extend(also.map(str::to_string));
    let policies = args.table.policies(&names, &game, context)?;
    let players = players(&policies, &game, &context.store)?;
    let taken = args.table.why(&game, context);
    let table = solved(&game, table, args.table.force, context)?;
    let report = measured(&table, taken, players, context)?;
    let text = leaderboard(&report, &command_line());
    if let Some(path) = &args.out {
        write_whole(path, &text)?;
        context.remark(format!("{}: written", path.display()));
    }
    if let Some(path) = &args.html {
        write_whole(path, &html(&report, &about(&table)))?;
        context.remark(format!("{}: written", path.display()));
    }
    match context.json {
        true => context.json("report", &report)?,
        false => context.print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
