//! `solver pack`: a small table that answers as the full one does.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::error::UserError;
use super::guard;
use super::table_args::OneTable;
use crate::graph::{check_packable, is_packed_of, pack};
use crate::hint::Hinted;
use crate::render::number::bytes;
use crate::table::{Lock, Table, check_name};

/// Make a small table of a solved one, which every command reads as it is
///
/// A packed table keeps positions and values in compressed blocks and makes moves from the rules.
/// 'solver unpack' makes the full table again, byte by byte.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Keep more than outcome and score
    #[arg(long, value_enum, value_name = "WHAT")]
    with: Option<With>,
    /// The name of the packed table [default: the table's with .packed]
    #[arg(long)]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum With {
    /// Plies to the end; games without scores always keep them
    Distance,
}

#[derive(Serialize)]
struct Output {
    table: String,
    directory: String,
    states: u64,
    bytes: u64,
    bytes_before: u64,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let table = args.table.open(context)?;
    let game = context.games.of_table(&table)?;
    let name = args.name.unwrap_or_else(|| format!("{}.packed", table.name()));
    check_packable(&table)?;
    let distances = args.with.is_some();
    let is_it = |packed: &Table| is_packed_of(&game, packed, &table, distances);
    let (place, made, _lock) = place_for(&name, &is_it, context)?;
    let packed = match made {
        Some(packed) => packed,
        None => {
            let made = pack(&game, &table, &place, distances, &context.bars);
            Table::open(&made.map_err(|error| with_remains(error.into(), &place))?)?
        }
    };
    let output = Output {
        table: name,
        directory: place.display().to_string(),
        states: packed.manifest().counts.table.states,
        bytes: size_of_table(&packed),
        bytes_before: size_of_table(&table),
    };
    if context.json {
        context.json("pack", &output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let each = |bytes: u64| bytes as f64 / (output.states as f64).max(1.0);
    context.line(format!(
        "table {} in {}, {}: {:.2} bytes a state, where {} has {:.1}",
        output.table,
        output.directory,
        bytes(output.bytes as f64),
        each(output.bytes),
        table.name(),
        each(output.bytes_before)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Says of a failure for want of room what is left of the table that was to be made at a place.
pub(super) fn with_remains(error: anyhow::Error, place: &Path) -> anyhow::Error {
    guard::with_left(error, guard::Left::Remains(&place.with_added_extension("partial")))
}

/// The place of a table that is to be made, with the right to write it, and the table if it is there
/// already, as after a run that was killed at its very end.
pub(super) fn place_for(
    name: &str,
    is_it: &dyn Fn(&Table) -> bool,
    context: &Context,
) -> anyhow::Result<(PathBuf, Option<Table>, Lock)> {
    check_name(name)?;
    let (place, lock) = (context.store.place(name), context.store.lock(name)?);
    if !place.exists() {
        return Ok((place, None, lock));
    }
    let Some(made) = Table::open(&place).ok().filter(is_it) else {
        let what = Hinted::new(
            format!("{} is there already", place.display()),
            "remove it, or give another --name",
        );
        return Err(UserError::new(what).into());
    };
    context.remark(format!("{name} is there already"));
    Ok((place, Some(made), lock))
}
