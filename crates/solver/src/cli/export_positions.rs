//! `solver export --positions`: exact values of the user's own positions.

use std::path::{Path, PathBuf};

use super::context::Context;
use super::export_targets::format_of;
use super::lines::{self, FormOption, GameFile};
use super::output;
use super::position_options::{FILE_LIMIT, tell_cost};
use super::sizes::Seconds;
use super::table_args::{OneTable, WinPlies, is_searched, missing};
use yomikiri::error::Error;
use yomikiri::rules::{SearchLimits, WIN_PLIES};
use yomikiri_measure::export::targets::{
    Encoder, Format, LineSink, TargetShape, choose_columns, has_obf, known_examples, write_blocks,
};
use yomikiri_measure::judge::KnownValues;
use yomikiri_measure::records::Place;
use yomikiri_measure::render::number::thousands;

/// The options of positions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Positions of your own")]
pub(super) struct PositionArgs {
    /// Write the values of the positions of a file, one per line ('-' is stdin)
    ///
    /// A line is a board, an OBF line, SFEN, digits, or a transcript of moves from the root of the table, which stands
    /// for all its positions. Games in GGF, SGF, PGN, WTHOR, KIF and CSA are recognised. On a board without a table (8x8) they are solved by search, those with few empty squares
    /// first. --out is a file .jsonl, .csv, .obf or .parquet [default: JSON lines on stdout].
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// Take only the final position of a transcript
    #[arg(long, requires = "positions", hide_short_help = true)]
    last: bool,
    #[command(flatten)]
    form: FormOption,
    /// Skip and count invalid lines, positions that the table lacks, and those that the search does not reach
    #[arg(long, requires = "positions")]
    skip_bad: bool,
    /// Longest search for values that no table contains [default: 600]
    #[arg(long, value_name = "SECONDS", requires = "positions", hide_short_help = true)]
    search_time: Option<Seconds>,
    #[command(flatten)]
    wins: WinPlies,
}

/// Most bad lines that are named.
const NAMED: usize = 10;

pub(super) fn run(
    args: &PositionArgs,
    file: &Path,
    names: Option<&[String]>,
    named: &OneTable,
    (out, force): (Option<&Path>, bool),
    context: &mut Context,
) -> Result<(), Error> {
    let format = out.map_or(Ok(Format::Jsonl), format_of)?;
    if matches!(format, Format::Npy | Format::Npz) {
        return Err(Error::new(
            "--positions cannot write arrays",
            "use .jsonl, .csv, .obf or .parquet",
        ));
    }
    if let Some(out) = out {
        if yomikiri::output::is_same(out, file) {
            let what = format!("{} appears twice", out.display());
            return Err(Error::new(what, "give the output a file of its own"));
        }
        // A pipe is there to be written.
        if out.is_file() && !force {
            let what = format!("{} is there already", out.display());
            return Err(Error::new(what, "add --force to replace it"));
        }
        output::check(out)?;
    }
    let file = &GameFile::open(file)?;
    let searched = named.game(context)?.and_then(|game| missing(&*game, context));
    let (game, table) = match searched.filter(|game| is_searched(&**game)) {
        Some(game) => (game, None),
        None => {
            let table = context.solved(named.open(context)?, false)?;
            (table.game().shared(), Some(table))
        }
    };
    let (game, table) = (&*game, table.as_ref());
    if format == Format::Obf && !has_obf(game) {
        let what = format!("OBF is a format of Othello, not of {}", game.name());
        return Err(Error::new(what, "choose another extension"));
    }
    let shape = TargetShape::of(game, table);
    let columns = choose_columns(game, format, &shape, names);
    let mut columns = columns.map_err(|wrong| wrong.map(|what| format!("--columns: {what}")))?;
    if names.is_none() {
        // A position that is looked up counts once.
        columns.retain(|column| !["weight", "key", "split"].contains(&column.name));
    }
    let records = args.form.read(file, game, table, context)?;
    let mut bad = records.errors.clone();
    let (places, positions): (Vec<_>, Vec<_>) = records.positions(args.last).unzip();
    let mut values = KnownValues::new(game, table, args.wins.plies(game, WIN_PLIES)?);
    if table.is_none() {
        // Before the search, which takes long.
        refuse(&mut bad, file, args.skip_bad)?;
        let limit = args.search_time.map_or(FILE_LIMIT, |Seconds(time)| time);
        let unknown = values.unknown(&mut positions.iter());
        if let Some(cost) = values.cost(&unknown) {
            tell_cost(cost, Some(limit), context);
        }
        let labels = context.store.root().join("labels");
        values.search(&unknown, &labels, &SearchLimits::within(Some(limit)), &context.bars)?;
    }
    let folded = game.folded();
    let encoder = Encoder::new(game, &*folded, &columns, shape);
    let (block, missing) = known_examples(&encoder, &values, &positions)?;
    bad.extend(missing.into_iter().map(|at| {
        let position = &positions[at];
        let not_searched = || {
            let what = "not searched within the limit of time (--search-time)";
            format!("{}: {what}", game.notation(position)).into()
        };
        (places[at], table.map_or_else(not_searched, |table| lines::missing(position, table)))
    }));
    refuse(&mut bad, file, args.skip_bad)?;
    for (place, wrong) in bad.iter().take(NAMED) {
        context.remark(format!("{}, {place}: {}", file.name, wrong.line()));
    }
    match out {
        Some(out) => write_blocks(format, out, &columns, &block)?,
        None => {
            let mut text = Vec::new();
            let lines = LineSink::new(format, &columns);
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

/// Fails at the first bad line, unless such are skipped.
fn refuse(bad: &mut [(Place, Error)], file: &GameFile, is_skipped: bool) -> Result<(), Error> {
    bad.sort_by_key(|(place, _)| *place);
    if let Some((place, wrong)) = bad.first().filter(|_| !is_skipped) {
        let hint = "nothing was written, add --skip-bad to leave such lines out";
        let more = match bad.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let wrong = wrong.clone();
        let wrong = wrong.map(|what| format!("{}, {place}: {what}{more}", file.name));
        return Err(wrong.with_hint(hint));
    }
    Ok(())
}
