//! `solver unpack`: the full table of a packed one.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::error::UserError;
use super::pack::{place_for, with_remains};
use super::table_args::OneTable;
use super::value_iterate::solve_table;
use crate::graph::{differing, is_unpacked_of, unpack};
use crate::hint::Hinted;
use crate::render::number::bytes;
use crate::solve::SolveOptions;
use crate::table::Table;

/// Make the full table of a packed one again, byte by byte
///
/// Moves come from the rules. If distances were not packed the table is solved anew. Every array is
/// compared with the checksum of the one that was packed; discounted values are not kept.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// The name of the full table [default: the packed one's without .packed]
    #[arg(long)]
    name: Option<String>,
}

#[derive(Serialize)]
struct Output {
    table: String,
    directory: String,
    bytes: u64,
    solved_anew: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let packed = args.table.open(context)?;
    if !packed.manifest().is_packed() {
        return Err(UserError::new(format!("{} is not packed", packed.name())).into());
    }
    let game = context.games.of_table(&packed)?;
    let own = packed.name();
    let name = args.name.as_deref().or(own.strip_suffix(".packed"));
    let name = name.ok_or_else(|| {
        UserError::new(format!("{own} does not end in .packed"))
            .with_hint("give the full table a --name")
    })?;
    let is_it = |table: &Table| is_unpacked_of(table, &packed);
    let (place, made, lock) = place_for(name, &is_it, context)?;
    let mut table = match made {
        Some(table) => table,
        None => {
            let made = unpack(&game, &packed, &place, &context.bars);
            Table::open(&made.map_err(|error| with_remains(error.into(), &place))?)?
        }
    };
    // Solving takes the lock itself.
    drop(lock);
    let solution = packed.manifest().solution.as_ref();
    let missing = solution.filter(|_| table.manifest().solution.is_none());
    if let Some(solution) = missing {
        context.remark(format!("{name}: solving, since distances were not packed"));
        solve_table(&mut table, &SolveOptions::of_layered(solution), true, context)?;
    }
    if let Some(array) = differing(&table, &packed) {
        let what = Hinted::new(
            format!(
                "solved anew, {name} has another '{array}' than the table that was packed as {own}"
            ),
            "run 'solver verify' on both",
        );
        return Err(UserError::new(what).into());
    }
    let output = Output {
        table: name.to_string(),
        directory: place.display().to_string(),
        bytes: size_of_table(&table),
        solved_anew: missing.is_some(),
    };
    if context.json {
        context.json("unpack", &output)?;
    } else {
        let (dir, size) = (&output.directory, bytes(output.bytes as f64));
        context.line(format!("table {name} in {dir}, {size}: every array as it was"))?;
    }
    Ok(ExitCode::SUCCESS)
}
