//! `solver export` without `--states`: exact values as targets to learn from.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::output;
use super::position_options::Part;
use super::preflight;
use yomikiri::error::Error;
use yomikiri::rules::Splits;
use yomikiri::rules::encode::Layout;
use yomikiri::table::{Table, fits_disk};
use yomikiri_measure::export::targets::{
    Card, Format, Images, Selection, Targets, targets_bytes, write_targets,
};
use yomikiri_measure::render::number::{bytes, thousands};

/// Reads the name of a layout.
fn layout(name: &str) -> Result<Layout, String> {
    Layout::named(name).ok_or_else(|| format!("expected one of {}", Layout::names()))
}

/// The options of targets.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Targets")]
#[group(conflicts_with_all = ["states", "positions"])]
pub(super) struct TargetArgs {
    /// Layout of planes: nchw, nhwc (pgx), flat, interleaved, signed, openspiel, openspiel-nhwc
    ///
    /// [default: nchw]
    #[arg(long, value_parser = layout, value_name = "LAYOUT")]
    layout: Option<Layout>,
    #[arg(skip)]
    pub columns: Option<Vec<String>>,
    /// Make the policy the softmax of exact scores divided by T [default: uniform over best moves]
    #[arg(long, value_name = "T", hide_short_help = true)]
    temperature: Option<f64>,
    /// Part to write; with all, a column names it [default: all]
    #[arg(long, value_name = "PART", value_enum, hide_possible_values = true)]
    split: Option<Part>,
    /// Shares of training, validation and test [default: 0.8,0.1,0.1]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', hide_short_help = true)]
    split_fractions: Option<Vec<f64>>,
    /// Seed of the split [default: 0]
    #[arg(long, value_name = "N", hide_short_help = true)]
    split_seed: Option<u64>,
    /// Write every image of each state under the symmetries of the board
    #[arg(long, hide_short_help = true)]
    expand_symmetry: bool,
    /// Write only positions whose moves differ
    #[arg(long)]
    decisive_only: bool,
    /// Value in which moves must differ [default: outcome]
    #[arg(
        long,
        value_name = "VALUE",
        value_enum,
        requires = "decisive_only",
        hide_short_help = true
    )]
    decisive_by: Option<By>,
    /// Write at most N states of each layer, the same on every run
    #[arg(long, value_name = "N", hide_short_help = true)]
    per_layer: Option<u64>,
    /// Write at most N states, the same on every run
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    /// Write finished games too
    #[arg(long, hide_short_help = true)]
    terminals: bool,
    /// Write states whose values or moves are not proven too, with bounds
    #[arg(long, hide_short_help = true)]
    unproven: bool,
    /// Start another file after N rows (directories of arrays)
    #[arg(long, value_name = "N", hide_short_help = true)]
    shard_rows: Option<u64>,
}

/// A sample with a smaller share of the rows than one in so many does not compare the checksums of the whole table.
const SMALL: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Outcome,
    Score,
}

impl TargetArgs {
    fn splits(&self) -> Result<Splits, Error> {
        let seed = self.split_seed.unwrap_or(0);
        let Some(fractions) = &self.split_fractions else {
            return Ok(Splits { seed, ..Splits::default() });
        };
        let wrong = |what: String| Error::from(format!("--split-fractions: {what}"));
        let form = "give three numbers, for training, validation and test, such as 0.8,0.1,0.1";
        let fractions: [f64; 3] = fractions[..].try_into().map_err(|_| wrong(form.to_string()))?;
        Splits::new(seed, fractions).map_err(wrong)
    }

    fn targets(&self, all_states: bool, out: &Path) -> Result<Targets, Error> {
        let format = format_of(out)?;
        let images = match (self.expand_symmetry, all_states) {
            (true, true) => {
                let what = "--expand-symmetry already writes all images";
                return Err(Error::new(what, "leave out --states-of all"));
            }
            (true, false) => Images::Expanded,
            (false, true) => Images::All,
            (false, false) => Images::Canonical,
        };
        for (name, number) in [
            ("--per-layer", self.per_layer),
            ("--sample", self.sample),
            ("--shard-rows", self.shard_rows),
        ] {
            if number == Some(0) {
                return Err(Error::from(format!("invalid {name} 0: expected at least 1")));
            }
        }
        if let Some(temperature) = self.temperature.filter(|t| !(t.is_finite() && *t > 0.0)) {
            return Err(Error::from(format!(
                "invalid --temperature {temperature}: expected a number above 0"
            )));
        }
        Ok(Targets {
            format,
            layout: self.layout.unwrap_or(Layout::Nchw),
            selection: Selection {
                splits: self.splits()?,
                split: self.split.and_then(Part::split),
                terminals: self.terminals,
                unproven: self.unproven,
                decisive: self.decisive_only.then_some(self.decisive_by == Some(By::Score)),
                per_layer: self.per_layer,
                sample: self.sample,
            },
            images,
            temperature: self.temperature,
            columns: self.columns.clone(),
            shard_rows: self.shard_rows,
        })
    }
}

/// The format of a file by its extension, if this program can write it.
pub(super) fn format_of(out: &Path) -> Result<Format, Error> {
    let format = Format::of_path(out).ok_or_else(|| {
        let what = format!("--out {}: unknown extension", out.display());
        let hint = "use .npz, .parquet, .jsonl, .csv, .obf, or none for a directory of arrays";
        Error::new(what, hint)
    })?;
    if format == Format::Parquet && !cfg!(feature = "parquet") {
        let hint = "choose .npz or .jsonl, or build it with the feature 'parquet'";
        return Err(Error::new("this program was built without Parquet", hint));
    }
    Ok(format)
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// Path of the targets.
    out: String,
    /// Data card beside them: docs/targets.md.
    card: &'a Card,
}

pub(super) fn run(
    args: &TargetArgs,
    table: Table,
    all_states: bool,
    out: Option<PathBuf>,
    force: bool,
    context: &mut Context,
) -> Result<(), Error> {
    let beside = || table.dir().with_file_name(format!("{}-targets", table.name()));
    let given = out.is_some();
    let out = out.unwrap_or_else(beside);
    // A table's name may have a dot in it; the default is a directory whatever it is called.
    let as_named = if given { out.clone() } else { PathBuf::from("targets") };
    let targets = args.targets(all_states, &as_named)?;
    output::check_dir(&out)?;
    // A small sample of a large table reads little; its values are checked against those of the moves.
    let is_small =
        args.sample.is_some_and(|most| most < table.manifest().counts.table.states / SMALL);
    let table = match is_small {
        true => context.solved(table.for_few_rows(), false)?,
        false => context.solved(table, true)?,
    };
    let needed = targets_bytes(&table, &targets) as f64;
    // How much of it text and compression leave is not known, so only arrays are refused.
    let exact = matches!(targets.format, Format::Npy | Format::Npz);
    let filtered = targets.selection.decisive.is_some() || targets.selection.split.is_some();
    if !force && exact && !filtered {
        let what = format!("{} rows take up to", thousands(table.states().rows() as u64));
        let hint = "name fewer --columns, take a --sample, write .parquet";
        fits_disk(needed, &out).map_err(|no_room| preflight::refused(&what, &no_room, hint))?;
    }
    let card = write_targets(&table, &targets, &out, &context.bars)?;
    let output = Output { out: out.display().to_string(), card: &card };
    context.show("export", &output, |Output { out, card }| {
        let size: u64 = card.files.values().map(|file| file.bytes).sum();
        let (rows, table, size) = (thousands(card.rows), &card.table, bytes(size as f64));
        format!("{rows} examples of {table} in {out}, {size}\n")
    })
}
