//! `solver verify`: read every byte of a table and prove every value.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::error::Kind;
use super::table_args::OneTable;
use crate::any::AnyGame;
use crate::game::{Game, Side};
use crate::render::number::{bytes, thousands};

/// Read every byte of a table and prove every edge and value from the rules
///
/// The exit code is 0 if everything holds, and 3 if a file is damaged or the files are whole but a
/// row is wrong; the first such row is shown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
}

#[derive(Serialize)]
struct Output {
    table: String,
    bytes: u64,
    states: u64,
    edges: u64,
    solved: bool,
    proven: bool,
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
struct Counterexample {
    row: usize,
    state: String,
    what: String,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let table = args.table.open(context)?;
    let read = table.check()?;
    let game = context.games.of_table(&table)?;
    let found = game.verify(&table, &context.bars)?;
    let proven = found.counterexample.is_none();
    let code = if proven { ExitCode::SUCCESS } else { Kind::Damaged.code() };
    let output = Output {
        table: table.name(),
        bytes: read,
        states: found.states,
        edges: found.edges,
        solved: found.solved,
        proven,
        counterexample: found.counterexample.map(|c| Counterexample {
            row: c.row,
            state: c.state,
            what: c.what,
        }),
    };
    if context.json {
        context.json("verify", &output)?;
    } else {
        print(&output, shown_as(&game), context)?;
    }
    Ok(code)
}

/// As whom a counterexample shows its mover, if not as who it is.
fn shown_as(game: &AnyGame) -> Option<&'static str> {
    let first = game.side_mark(Side::First).unwrap_or(game.side_name(Side::First));
    (!game.keeps_sides()).then_some(first)
}

fn print(output: &Output, mover: Option<&str>, context: &mut Context) -> anyhow::Result<()> {
    context.line(format!(
        "{}: all checksums match ({} read)",
        output.table,
        bytes(output.bytes as f64)
    ))?;
    match &output.counterexample {
        Some(wrong) => {
            context.line(format!("row {} is wrong: {}", wrong.row, wrong.what))?;
            let shown = mover.map(|name| format!(" (the mover shown as {name})"));
            context.line(format!("  {}{}", wrong.state, shown.unwrap_or_default()))?;
        }
        None => {
            let values = if output.solved {
                "every value follows from its successors"
            } else {
                "there are no values yet"
            };
            context.line(format!(
                "{} states, {} edges: every move regenerated from the rules, {values}",
                thousands(output.states),
                thousands(output.edges)
            ))?;
        }
    }
    Ok(())
}
