//! `solver verify`: reads every byte of a table and proves every value, or hashes its contents.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::context::Context;
use super::error::code;
use super::lines::text_of;
use super::table_args::OneTable;
use yomikiri::error::{Error, Kind};
use yomikiri::rules::{Rules, Side};
use yomikiri::solve;
use yomikiri_measure::export::{self, read_checksums};
use yomikiri_measure::render::number::{bytes, thousands};
use yomikiri_measure::render::sanitise::{GREEN, RED, styled};

/// Read every byte of a table and prove every move and value from the rules
///
/// The exit code is 0 if everything holds, and 3 if a file is damaged or a row is wrong; the first wrong row is shown.
///
/// --checksum hashes every position with its outcome, score and distance, and the origin of the table; the index,
/// the order of the rows and stored moves do not change it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Print the checksum of the contents instead of proving them
    #[arg(long)]
    checksum: bool,
    /// Compare checksums with a file of such lines; exit code 3 if a table differs or is missing
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Name of the table.
    table: String,
    /// Size of its files.
    bytes: u64,
    /// States that were proven.
    states: u64,
    /// Moves proven.
    edges: u64,
    /// True if it has values.
    solved: bool,
    /// True if everything holds.
    proven: bool,
    /// The first row that is wrong.
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Counterexample {
    /// Its number.
    row: usize,
    /// Its position.
    state: String,
    /// Fault.
    what: String,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    if let Some(file) = &args.check {
        return compare(file, &args.table, context);
    }
    let table = args.table.open(context)?;
    if args.checksum {
        let (table, sum) = (table.name(), checksum(&table.name(), context)?);
        let line = format!("{sum}  {table}\n");
        let checksums = vec![Checksum { table, checksum: Some(sum), ok: None }];
        return context.show("checksum", &Checksums { checksums }, |_| line);
    }
    let read = table.check()?;
    let game = context.games.of_table(&table)?;
    let found = solve::prove(&*game, &table, &context.bars)?;
    let proven = found.counterexample.is_none();
    if !proven {
        context.code = code(Kind::Damaged).into();
    }
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
    context.show("verify", &output, |output| text(output, shown_as(&*game)))
}

/// Returns the side as which a counterexample shows its mover, if not its own.
fn shown_as(game: &dyn Rules) -> Option<&'static str> {
    let first = game.side_mark(Side::First).unwrap_or(game.side_name(Side::First));
    (!game.keeps_sides()).then_some(first)
}

fn text(output: &Output, mover: Option<&str>) -> String {
    let read = bytes(output.bytes as f64);
    let read = format!("{}: all checksums match ({read} read)\n", output.table);
    if let Some(Counterexample { row, state, what }) = &output.counterexample {
        let shown = mover.map(|name| format!(" (the mover shown as {name})"));
        let shown = shown.unwrap_or_default();
        let wrong = styled(&format!("row {row} is wrong: {what}"), RED);
        return format!("{read}{wrong}\n  {state}{shown}\n");
    }
    let values = match output.solved {
        true => "every value follows from its successors",
        false => "the table has no values yet",
    };
    let [states, edges] = [output.states, output.edges].map(thousands);
    let moves = format!("{states} states, {edges} edges: every move follows from the rules");
    format!("{read}{}\n{}\n", styled(&moves, GREEN), styled(values, GREEN))
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Checksums {
    /// One for each table.
    checksums: Vec<Checksum>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Checksum {
    /// Name of the table.
    table: String,
    /// Checksum of the contents, if they could be read.
    checksum: Option<String>,
    /// With `--check`: true if the file has the same checksum.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

/// Compares the checksums of a file with those of its tables, or of one of them.
fn compare(file: &Path, table: &OneTable, context: &mut Context) -> Result<(), Error> {
    let wrong = |what: String| Error::from(format!("{}: {what}", file.display()));
    let mut expected = read_checksums(&text_of(file)?).map_err(wrong)?;
    if table.word().is_some() {
        let name = table.open(context)?.name();
        expected.retain(|(_, table)| *table == name);
        if expected.is_empty() {
            return Err(wrong(format!("no line for '{name}'")));
        }
    }
    let mut checksums = Vec::new();
    for (expected, table) in expected {
        let found = checksum(&table, context);
        let ok = found.as_ref().is_ok_and(|sum| *sum == expected);
        if !context.json {
            context.line(match &found {
                Err(error) => format!("{table}: not compared: {}", error.line()),
                Ok(_) if ok => format!("{table}: OK"),
                Ok(_) => format!("{table}: differs"),
            })?;
            context.flush()?;
        }
        checksums.push(Checksum { table, checksum: found.ok(), ok: Some(ok) });
    }
    if checksums.iter().any(|line| line.ok != Some(true)) {
        context.code = code(Kind::Damaged).into();
    }
    // Lines of text have been printed one by one.
    context.show("checksum", &Checksums { checksums }, |_| String::new())
}

/// The checksum of a table of a name.
fn checksum(table: &str, context: &Context) -> Result<String, Error> {
    let table = context.solved(context.store.open(table)?, false)?;
    export::checksum(&table, &context.bars)
}
