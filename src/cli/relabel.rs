//! `solver relabel`: exact values for positions that the user has.

use std::path::PathBuf;
use std::process::ExitCode;

use super::context::Context;
use super::error::UserError;
use super::export_targets::format_of;
use super::lines;
use super::table_args::Named;
use crate::any::AnyGame;
use crate::export::targets::{
    Block, Column, Encoder, Format, Layout, Lines, Shape, choose_columns, look_up, write_blocks,
};
use crate::game::{Game, Splits};
use crate::hint::{Hint, Hinted};
use crate::render::number::thousands;
use crate::solved::SolvedTable;

/// Give positions of your own their exact values, from a table
///
/// One position a line: a board, an OBF line, SFEN, digits, or a transcript of moves from the
/// table's root, every position of which is labelled. Empty lines and what follows a '%' or '#' are
/// left out. Values are those of the player to move; docs/targets.md says what the columns hold.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file of positions, or '-' for stdin
    file: PathBuf,
    #[command(flatten)]
    table: Named,
    /// Where to write: .jsonl, .csv, .obf or .parquet [default: JSON lines on stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    overwrite: bool,
    /// The columns to write, by name; 'all' for every one [default: those that suit the format]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Label only the final position of a transcript
    #[arg(long)]
    last: bool,
    /// Leave out lines that cannot be read and positions that the table does not have, and count
    /// them
    #[arg(long)]
    skip_bad: bool,
}

/// How many positions are looked up at a time.
const AT_ONCE: usize = 1 << 13;
/// How many bad lines are named.
const NAMED: usize = 10;

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let table = args.table.open(context)?;
    let format = args.out.as_ref().map_or(Some(Format::Jsonl), |out| format_of(out).ok());
    let format =
        format.filter(|format| !matches!(format, Format::Npy | Format::Npz)).ok_or_else(|| {
            UserError::new(
                "--out: relabel writes .jsonl, .csv, .obf or .parquet, by the file's extension",
            )
        })?;
    if let Some(out) = args.out.as_ref().filter(|out| out.exists() && !args.overwrite) {
        let what = Hinted::new(
            format!("{} is there already", out.display()),
            "add --overwrite to replace it",
        );
        return Err(UserError::new(what).into());
    }
    let text = lines::read(&args.file)?;
    let table = context.solved(table, false)?;
    Relabel { args: &args, table: &table, format, text: &text, context }.run()?;
    Ok(ExitCode::SUCCESS)
}

struct Relabel<'a> {
    args: &'a Args,
    table: &'a SolvedTable,
    format: Format,
    text: &'a str,
    context: &'a mut Context,
}

impl Relabel<'_> {
    fn run(mut self) -> anyhow::Result<()> {
        let (table, game) = (self.table, self.table.game());
        let shape = Shape {
            layout: Layout::Default,
            scores: table.has_scores(),
            layers: table.states().has_layers(),
            bounds: !table.table().manifest().complete,
            splits: true,
            temperature: None,
        };
        if self.format == Format::Obf && game.squares(&game.start().state).is_none() {
            let name = game.name();
            let what = Hinted::new(
                format!("OBF is of Othello and not of {name}"),
                "choose another extension",
            );
            return Err(UserError::new(what).into());
        }
        let columns = self.columns(game, &shape)?;
        let folded = game.folded();
        let encoder = Encoder { game, folded: &folded, columns: &columns, shape };
        let mut bad = Vec::new();
        let lines = lines::positions(self.text, table, self.args.last, &mut bad)?;
        let mut block = Block::new(columns.len());
        for some in lines.chunks(AT_ONCE) {
            let positions: Vec<_> = some.iter().map(|line| line.position).collect();
            let (found, missing) = look_up(&encoder, table, &Splits::default(), &positions)?;
            block.extend(&found);
            bad.extend(missing.into_iter().map(|at| {
                let position = game.notation(&some[at].position);
                let what =
                    format!("{position} is not among the states of {}", table.table().name());
                (some[at].line, what.into())
            }));
        }
        bad.sort();
        self.report(&bad)?;
        self.write(&columns, &block)?;
        if self.args.out.is_some() || !bad.is_empty() {
            let left = if bad.is_empty() {
                String::new()
            } else {
                format!(", {} left out", thousands(bad.len() as u64))
            };
            self.context
                .remark(format!("{} positions labelled{left}", thousands(block.rows as u64)));
        }
        Ok(())
    }

    fn columns(&self, game: &AnyGame, shape: &Shape) -> Result<Vec<Column>, UserError> {
        let names = self.args.columns.as_deref();
        let columns = choose_columns(game, self.format, shape, names);
        let mut columns = columns
            .map_err(|wrong| UserError::new(wrong.map(|what| format!("--columns: {what}"))))?;
        if names.is_none() {
            // A looked up position stands for itself.
            columns.retain(|column| !["weight", "key", "split"].contains(&column.name));
        }
        Ok(columns)
    }

    /// Names the bad lines; an error unless they are to be skipped.
    fn report(&self, bad: &[(usize, Hinted)]) -> Result<(), UserError> {
        let Some((line, wrong)) = bad.first() else { return Ok(()) };
        let name = self.args.file.display();
        if !self.args.skip_bad {
            let more = match bad.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let wrong = wrong.clone().map(|what| format!("{name}, line {line}: {what}{more}"));
            return Err(UserError::new(wrong)
                .with_hint("nothing was written, add --skip-bad to leave such lines out"));
        }
        for (line, wrong) in bad.iter().take(NAMED) {
            self.context.remark(format!("{name}, line {line}: {}", wrong.line()));
        }
        if bad.len() > NAMED {
            self.context.remark(format!("and {} more", bad.len() - NAMED));
        }
        Ok(())
    }

    fn write(&mut self, columns: &[Column], block: &Block) -> anyhow::Result<()> {
        let Some(out) = &self.args.out else {
            let mut text = Vec::new();
            let lines = Lines::new(self.format, columns);
            lines.begin(&mut text)?;
            lines.write(block, &mut text)?;
            self.context.raw(&String::from_utf8(text)?)?;
            return Ok(());
        };
        Ok(write_blocks(self.format, out, columns, block)?)
    }
}
