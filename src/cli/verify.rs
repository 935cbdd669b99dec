//! `solver verify`: read every byte of a table and prove every value, or hash what it says.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::error::{Kind, UserError, hinted};
use super::table_args::OneTable;
use crate::any::AnyGame;
use crate::game::{Game, Side};
use crate::hint::Hint;
use crate::input;
use crate::render::number::{bytes, thousands};
use crate::solved::read_checksums;

/// Read every byte of a table and prove every edge and value from the rules
///
/// The exit code is 0 if everything holds, and 3 if a file is damaged or the files are whole but a
/// row is wrong; the first such row is shown.
///
/// --checksum hashes every position with its outcome, score and distance, and what the table was made
/// from; how rows are found and ordered, or whether moves are stored, does not change it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Print the checksum of what the table says, and prove nothing
    #[arg(long)]
    checksum: bool,
    /// Compare checksums with a file of such lines, all of them if no table is named; the exit code
    /// is 3 if a table differs or is not there
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Name of the table.
    table: String,
    /// Size of its files.
    bytes: u64,
    /// States that were proven.
    states: u64,
    /// Moves proven.
    edges: u64,
    /// Whether it has values.
    solved: bool,
    /// Whether all holds.
    proven: bool,
    /// The first row that is wrong.
    counterexample: Option<Counterexample>,
}

#[derive(Serialize, JsonSchema)]
struct Counterexample {
    /// Its number.
    row: usize,
    /// Its position.
    state: String,
    /// What is wrong.
    what: String,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.check {
        return compare(file, &args.table, context);
    }
    let table = args.table.open(context)?;
    if args.checksum {
        let (table, sum) = (table.name(), checksum(&table.name(), context)?);
        match context.json {
            false => context.line(format!("{sum}  {table}"))?,
            true => {
                let checksums = vec![Checksum { table, checksum: Some(sum), ok: None }];
                context.json("checksum", &Checksums { checksums })?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
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

#[derive(Serialize, JsonSchema)]
pub(super) struct Checksums {
    /// One for each table.
    checksums: Vec<Checksum>,
}

#[derive(Serialize, JsonSchema)]
struct Checksum {
    /// Name of the table.
    table: String,
    /// What the table says, where it could be read.
    checksum: Option<String>,
    /// With `--check`: whether the file says the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

/// Compares the checksums of a file with those of its tables, or of one of them.
fn compare(file: &Path, table: &OneTable, context: &mut Context) -> anyhow::Result<ExitCode> {
    let wrong = |what: String| UserError::new(format!("{}: {what}", file.display()));
    let text = File::open(file).and_then(input::text);
    let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut expected = read_checksums(&text).map_err(wrong)?;
    if let Some(name) = table.name(context)? {
        expected.retain(|(_, table)| *table == name);
        if expected.is_empty() {
            return Err(wrong(format!("no line for '{name}'")).into());
        }
    }
    let mut checksums = Vec::new();
    for (expected, table) in expected {
        let found = checksum(&table, context);
        let ok = found.as_ref().is_ok_and(|sum| *sum == expected);
        if !context.json {
            context.line(match &found {
                Err(error) => format!("{table}: not compared: {}", hinted(error).line()),
                Ok(_) if ok => format!("{table}: OK"),
                Ok(_) => format!("{table}: differs"),
            })?;
            context.flush()?;
        }
        checksums.push(Checksum { table, checksum: found.ok(), ok: Some(ok) });
    }
    let all = checksums.iter().all(|line| line.ok == Some(true));
    if context.json {
        context.json("checksum", &Checksums { checksums })?;
    }
    Ok(if all { ExitCode::SUCCESS } else { Kind::Damaged.code() })
}

/// The checksum of a table of a name.
fn checksum(table: &str, context: &Context) -> anyhow::Result<String> {
    let table = context.solved(context.store.open(table)?, false)?;
    Ok(table.checksum(&context.bars)?)
}
