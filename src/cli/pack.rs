//! `solver pack`: a small table that answers as the full one does.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::error::UserError;
use crate::graph::{check_packable, pack};
use crate::render::number::bytes;
use crate::table::{Lock, Table};

/// Make a small table of a solved one, which every command reads as it is
///
/// A packed table keeps positions and values in compressed blocks and makes moves from the rules.
/// 'solver unpack' makes the full table again, byte by byte.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory [default: the one enumerated last]
    table: Option<String>,
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
    let table = context.open(args.table.as_deref())?;
    let game = context.games.of_table(&table)?;
    let name = args.name.unwrap_or_else(|| format!("{}.packed", table.name()));
    check_packable(&table)?;
    let (place, _lock) = new_place(&name, context)?;
    let place = pack(&game, &table, &place, args.with.is_some(), &context.bars)?;
    let packed = Table::open(&place)?;
    let output = Output {
        table: name,
        directory: place.display().to_string(),
        states: packed.manifest().counts.table.states,
        bytes: size_of_table(&packed),
        bytes_before: size_of_table(&table),
    };
    if context.json {
        context.json(&output)?;
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

/// The place of a table that is to be made, where there is none, with the right to write it.
pub(super) fn new_place(name: &str, context: &Context) -> anyhow::Result<(PathBuf, Lock)> {
    let is_name = Path::new(name).file_name().is_some_and(|file| file == name);
    if !is_name || name.ends_with(".partial") {
        return Err(UserError::new(format!("--name {name}: give the name of a table")).into());
    }
    let place = context.store.place(name);
    if place.exists() {
        let what =
            format!("{} is there already; remove it, or give another --name", place.display());
        return Err(UserError::new(what).into());
    }
    let lock = context.store.lock(name)?;
    Ok((place, lock))
}
