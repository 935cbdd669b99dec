//! `solver export`: data of a table for other programs.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::export_positions::{self, PositionArgs};
use super::export_targets::{self, TargetArgs};
use super::output;
use super::preflight;
use super::table_args::OneTable;
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, States};
use yomikiri::table::fits_disk;
use yomikiri_measure::export::{Exported, bytes_of, write_states};
use yomikiri_measure::render::number::{bytes, thousands};

/// Write exact values for training, or positions for policies to answer
///
/// Targets are one row per state, with the exact values of all its moves; docs/targets.md describes the columns and
/// formats. With --states, the directory contains planes.npy, legal.npy, side.npy, row.npy, positions.txt and
/// states.json, which describes them. Write logits.npy, probabilities.npy, actions.npy or scores.npy beside them, a
/// row for each position, and measure them with 'solver report --policy predictions:DIR'. With --positions, the values
/// of your own positions are written.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Write positions with a move to choose, for predictions
    #[arg(long)]
    states: bool,
    /// Output: a directory of arrays, or a file .npz, .parquet, .jsonl, .csv or .obf
    ///
    /// The default is TABLE-targets beside the table; with --states, TABLE-states or TABLE-states-canonical.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Positions to write: all orientations, or one per row
    ///
    /// The default is canonical for targets, and all for --states.
    #[arg(long, value_name = "WHICH", value_enum)]
    states_of: Option<Which>,
    /// Begin even if it is not expected to fit on the disk; with --positions, replace the file of --out
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Columns to write, by name; 'all' for every one [default: those that suit the format]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "states")]
    columns: Option<Vec<String>>,
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    targets: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Every orientation in which a row occurs, as reports ask for them
    All,
    /// One for each row, as reports ask with --canonical
    Canonical,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// Name of the table.
    table: &'a str,
    /// Directory of its files.
    directory: String,
    /// True if they were there already.
    reused: bool,
    /// Size of its files.
    bytes: u64,
    /// Number of positions.
    positions: u64,
    /// Number of actions of the game.
    actions: u64,
    /// Meaning of each plane.
    planes: &'a [String],
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    if let Some(file) = &args.positions.positions {
        let (names, out) = (args.columns.as_deref(), (args.out.as_deref(), args.force));
        return export_positions::run(&args.positions, file, names, &args.table, out, context);
    }
    let table = args.table.open(context)?;
    if !args.states {
        let all = args.states_of == Some(Which::All);
        let mut targets = args.targets;
        targets.columns = args.columns;
        return export_targets::run(&targets, table, all, args.out, args.force, context);
    }
    let of = match args.states_of.unwrap_or(Which::All) {
        Which::All => Orienting::All,
        Which::Canonical => Orienting::First,
    };
    let place = args.out.unwrap_or_else(|| {
        let suffix = match of {
            Orienting::All => "states",
            Orienting::First => "states-canonical",
        };
        table.dir().with_file_name(format!("{}-{suffix}", table.name()))
    });
    output::check_dir(&place)?;
    let states = States::open(context.games.of_table(&table)?, table, true)?;
    let damaged = |what| Error::damaged(states.table().dir(), what);
    let count = states.open_positions(of).map_err(damaged)?;
    let needed = bytes_of(states.game(), count) as f64;
    if !args.force {
        let what = format!("{} positions take", thousands(count));
        let refused = |no_room| preflight::refused(&what, &no_room, "choose another --out");
        fits_disk(needed, &place).map_err(refused)?;
    }
    let exported = write_states(&states, of, &place, &context.bars)?;
    let Exported { states, place, reused, bytes: size } = exported;
    let output = Output {
        table: &states.table,
        directory: place.display().to_string(),
        reused,
        bytes: size,
        positions: states.positions,
        actions: states.actions,
        planes: &states.planes,
    };
    context.show("export-states", &output, |Output { table, directory, positions, .. }| {
        let there = if reused { " (they were already there)" } else { "" };
        let (positions, size) = (thousands(*positions), bytes(size as f64));
        format!("{positions} positions of {table} in {directory}, {size}{there}\n")
    })
}
