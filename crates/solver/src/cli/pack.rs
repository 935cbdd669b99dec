//! `solver pack`: a small table that answers as the full one does.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::preflight;
use super::table_args::OneTable;
use yomikiri::error::Error;
use yomikiri::table::rows::{check_packable, is_packed_of, pack};
use yomikiri::table::{Table, check_name};
use yomikiri_measure::render::number::bytes;

/// Compress a solved table; every command reads the result
///
/// A packed table stores positions and values in compressed blocks and derives moves from the rules.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Keep a column beside outcome and score
    #[arg(long, value_enum, value_name = "WHAT")]
    with: Option<With>,
    /// Name of the packed table [default: TABLE.packed]
    #[arg(long)]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum With {
    /// Plies to the end; games without scores always keep them
    Distance,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Name of the table.
    table: String,
    /// Directory of its files.
    directory: String,
    /// Its rows.
    states: u64,
    /// Size of its files.
    bytes: u64,
    /// Size of the full table.
    bytes_before: u64,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let table = args.table.open(context)?;
    let game = context.games.of_table(&table)?;
    let name = args.name.unwrap_or_else(|| format!("{}.packed", table.name()));
    check_packable(&table)?;
    let distances = args.with.is_some();
    check_name(&name)?;
    let (place, _lock) = (context.store.place(&name), context.store.lock(&name)?);
    let packed = match place.exists() {
        // As after a run that was killed at its very end.
        true => {
            let packed =
                made_before(&place, |packed| is_packed_of(&*game, packed, &table, distances))?;
            context.remark(format!("{name} exists already"));
            packed
        }
        false => {
            let remains = &place.with_added_extension("partial");
            let made = pack(&*game, &table, &place, distances, &context.bars);
            Table::open(&made.map_err(|error| preflight::with_left(error, remains))?)?
        }
    };
    let output = Output {
        table: name,
        directory: place.display().to_string(),
        states: packed.manifest().counts.table.states,
        bytes: size_of_table(&packed),
        bytes_before: size_of_table(&table),
    };
    context.show("pack", &output, |Output { table: packed, directory, states, bytes: size, .. }| {
        let each = |bytes: u64| bytes as f64 / (*states as f64).max(1.0);
        let (own, before) = (each(*size), each(output.bytes_before));
        let (size, name) = (bytes(*size as f64), table.name());
        format!("table {packed} in {directory}, {size}: {own:.2} bytes a state, where {name} has {before:.1}\n")
    })
}

/// Opens the table at `place`; fails unless it is the packed table.
fn made_before(place: &Path, is_it: impl Fn(&Table) -> bool) -> Result<Table, Error> {
    Table::open(place).ok().filter(is_it).ok_or_else(|| {
        let what = format!("{} exists already", place.display());
        Error::new(what, "remove it, or give another --name")
    })
}
