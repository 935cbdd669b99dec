//! `solver export --positions`: exact values for positions that the user has.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::context::Context;
use super::export_targets::format_of;
use super::lines::{self, Line};
use yomikiri::game::encode::Layout;
use yomikiri::game::{Game, Splits};
use yomikiri::hint::{Hint, Hinted};
use yomikiri::table::Table;
use yomikiri_measure::export::targets::{
    Block, Encoder, Format, Lines, Shape, choose_columns, look_up, write_blocks,
};
use yomikiri_measure::render::number::thousands;

/// The options of positions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Positions of your own")]
pub(super) struct PositionArgs {
    /// Write the values of the positions of this file instead ('-' is stdin), one a line: a board, an
    /// OBF line, SFEN, digits, or a transcript of moves from the table's root, all of whose positions
    /// are meant [--out: .jsonl, .csv, .obf or .parquet; default: JSON lines on stdout]
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// Take only the final position of a transcript
    #[arg(long, requires = "positions")]
    last: bool,
    /// Leave out lines that cannot be read and positions that the table does not have, and count
    /// them
    #[arg(long, requires = "positions")]
    skip_bad: bool,
}

/// How many positions are looked up at a time.
const AT_ONCE: usize = 1 << 13;
/// How many bad lines are named.
const NAMED: usize = 10;

pub(super) fn run(
    args: &PositionArgs,
    file: &Path,
    names: Option<&[String]>,
    table: Table,
    (out, force): (Option<&Path>, bool),
    context: &mut Context,
) -> anyhow::Result<()> {
    let format = out.map_or(Ok(Format::Jsonl), format_of)?;
    if matches!(format, Format::Npy | Format::Npz) {
        bail!(Hinted::new("--positions writes no arrays", "use .jsonl, .csv, .obf or .parquet"));
    }
    if let Some(out) = out.filter(|out| out.exists() && !force) {
        let what = format!("{} is there already", out.display());
        bail!(Hinted::new(what, "add --force to replace it"));
    }
    let text = lines::read(file)?;
    let table = &context.solved(table, false)?;
    let game = table.game();
    if format == Format::Obf && game.bitboards().is_none() {
        let what = format!("OBF is of Othello and not of {}", game.name());
        bail!(Hinted::new(what, "choose another extension"));
    }
    let shape = Shape {
        layout: Layout::Nchw,
        scores: table.has_scores(),
        layers: table.states().has_layers(),
        bounds: !table.table().manifest().complete,
        splits: true,
        temperature: None,
    };
    let columns = choose_columns(game, format, &shape, names);
    let mut columns = columns.map_err(|wrong| wrong.map(|what| format!("--columns: {what}")))?;
    if names.is_none() {
        // A looked up position stands for itself.
        columns.retain(|column| !["weight", "key", "split"].contains(&column.name));
    }
    let folded = game.folded();
    let encoder = Encoder::new(game, &folded, &columns, shape);
    let mut bad = Vec::new();
    let lines = lines::positions(&text, table, args.last, &mut bad)?;
    let mut block = Block::new(columns.len());
    for some in lines.chunks(AT_ONCE) {
        let positions: Vec<_> = some.iter().map(|line| line.position).collect();
        let (found, missing) = look_up(&encoder, table, &Splits::default(), &positions)?;
        block.extend(&found);
        bad.extend(missing.into_iter().map(|at| {
            let Line { line, position } = &some[at];
            (*line, lines::missing(position, table))
        }));
    }
    bad.sort();
    if let Some((line, wrong)) = bad.first().filter(|_| !args.skip_bad) {
        let hint = "nothing was written, add --skip-bad to leave such lines out";
        let more = match bad.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let wrong = wrong.clone();
        let wrong = wrong.map(|what| format!("{}, line {line}: {what}{more}", file.display()));
        bail!(wrong.with_hint(hint));
    }
    for (line, wrong) in bad.iter().take(NAMED) {
        context.remark(format!("{}, line {line}: {}", file.display(), wrong.line()));
    }
    match out {
        Some(out) => write_blocks(format, out, &columns, &block)?,
        None => {
            let mut text = Vec::new();
            let lines = Lines::new(format, &columns);
            lines.begin(&mut text)?;
            lines.write(&block, &mut text)?;
            context.raw(&String::from_utf8(text)?)?;
        }
    }
    if out.is_some() || !bad.is_empty() {
        let [rows, left] = [block.rows, bad.len()].map(|count| thousands(count as u64));
        context.remark(format!("{rows} positions written, {left} left out"));
    }
    Ok(())
}
