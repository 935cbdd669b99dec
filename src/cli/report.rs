//! `solver report`: how accurate policies are, exactly.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::context::Context;
use super::error::UserError;
use super::guard;
use super::players::players;
use super::table_args::{TableArgs, solved};
use crate::any::AnyGame;
use crate::evaluate::{
    AccuracyReport, Gathered, Judged, MeasureError, Piece, Play, Played, Player, Sink, Unfolded,
    games, judgements, measure,
};
use crate::game::Game;
use crate::policy::{Answers, PolicySpec};
use crate::progress::Progress;
use crate::render::{Part, RowsFile, accuracy_text, html};
use crate::solved::{Orienting, SolvedTable};
use crate::table::TableError;

/// Measure policies against the solution, building the table if it is not there
///
/// Every figure is an exact expectation; nothing is sampled. In games that always end (Othello) it
/// is over all reachable positions, in every orientation in which they occur; in games that may go
/// on for ever (shogi) over the rows of the table whose results, and whose moves' results, are
/// proven.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: TableArgs,
    /// A policy to measure; may be repeated: random, greedy, n-hand:N, n-least:N, n-most:N,
    /// minimax:N, alphabeta:N, montecarlo:N[:SEED], mcts:N[:SEED], perfect, and in Othello weights,
    /// weights:FILE, n-hand-custom:N[:FILE], minimax:N:FILE, alphabeta:N:FILE and onnx:FILE;
    /// predictions:DIR for predictions of the positions of 'solver export --states', and
    /// 'exec:COMMAND' for a program that is asked [default: random, greedy, weights in Othello,
    /// perfect]
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,
    /// For which positions to show the figures by layer (discs on the board, or plies from the
    /// root): 'all', 'result' and 'score' (those whose moves differ in it), or 'none' [default:
    /// all,result,score]
    #[arg(
        long,
        value_name = "SETS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    by_layer: Vec<ByLayer>,
    /// Ask about every row of the table once, not in every orientation in which it is reachable: up
    /// to 16 times faster, and exact too for policies that respect the board's symmetries
    #[arg(long)]
    canonical: bool,
    /// Also write the report as a page with plots, one file that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the results position by position, one row a policy and position, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The same as Parquet
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Do not play games
    #[arg(long)]
    no_games: bool,
    /// How many of each policy's costliest mistakes to show
    #[arg(long, value_name = "N", default_value_t = 0)]
    mistakes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ByLayer {
    All,
    Result,
    Score,
    None,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let (game, table) = args.table.game(context)?;
    // What the game does not have is refused before its table is made.
    let policies = args.table.policies(&args.policy, &game, context)?;
    let parts = parts(&args.by_layer, &game)?;
    let table = solved(&game, table, args.table.force, context)?;
    let measure = Measure {
        table: &table,
        policies: &policies,
        orienting: if args.canonical { Orienting::First } else { Orienting::All },
        games: !args.no_games,
        // A page has room for some mistakes of each policy.
        mistakes: if args.html.is_some() { args.mistakes.max(3) } else { args.mistakes },
        csv: args.csv.as_deref(),
        #[cfg(feature = "parquet")]
        parquet: args.parquet.as_deref(),
        context,
    };
    let report = measure.run()?;
    if let Some(path) = &args.html {
        write_whole(path, &html(&report))?;
        context.remark(format!("{}: written", path.display()));
    }
    if context.json {
        context.json(&report)?
    } else {
        context.print(accuracy_text(&report, &parts, args.mistakes))?
    }
    Ok(ExitCode::SUCCESS)
}

/// The sets of these names, all of the game's unless some are named.
fn parts(names: &[ByLayer], game: &AnyGame) -> Result<Vec<Part>, UserError> {
    if game.max_score().is_none() && names.contains(&ByLayer::Score) {
        let name = game.name();
        return Err(UserError::new(format!("--by-layer score means nothing for {name}")));
    }
    if names.is_empty() {
        return Ok(vec![Part::All, Part::Result, Part::Score]);
    }
    let part = |name: &ByLayer| match name {
        ByLayer::All => Some(Part::All),
        ByLayer::Result => Some(Part::Result),
        ByLayer::Score => Some(Part::Score),
        ByLayer::None => None,
    };
    Ok(names.iter().filter_map(part).collect())
}

/// The exact figures of policies on a table, games among them, without mistakes one by one.
pub(super) fn measured(
    table: &SolvedTable,
    policies: &[PolicySpec],
    context: &Context,
) -> anyhow::Result<AccuracyReport> {
    let measure = Measure {
        table,
        policies,
        orienting: Orienting::All,
        games: true,
        mistakes: 3,
        csv: None,
        #[cfg(feature = "parquet")]
        parquet: None,
        context,
    };
    measure.run()
}

struct Measure<'a> {
    table: &'a SolvedTable,
    policies: &'a [PolicySpec],
    orienting: Orienting,
    /// Whether to play games, and how many mistakes of each policy to give.
    games: bool,
    mistakes: usize,
    csv: Option<&'a Path>,
    #[cfg(feature = "parquet")]
    parquet: Option<&'a Path>,
    context: &'a Context,
}

impl Measure<'_> {
    fn run(&self) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, context, orienting, .. } = *self;
        // Policies are built first: a wrong file of weights is reported before the work begins.
        let players = players(policies, table.game(), &context.store)?;
        let damaged = |what| TableError::damaged(table.table().dir(), what);
        let unfolded = match self.plays_games() {
            true => Some(Unfolded::new(table.states()).map_err(damaged)?),
            false => None,
        };
        let judged = Judged { table, orienting };
        let mut gathered = Gathered::default();
        let names: Vec<String> = players.iter().map(Player::name).collect();
        let mut files = self.files()?;
        let is_kept = unfolded.is_some() || !files.is_empty();
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            if unfolded.is_some() {
                gathered.add(answers);
            }
            push_rows(&mut files, table.game(), &names, piece, answers)
        };
        let sink: Option<&mut Sink<'_>> = if is_kept { Some(&mut collect) } else { None };
        let measured = measure(&judged, &players, sink, &context.bars);
        let measured = measured.map_err(|error| failed(table, error))?;
        files.into_iter().try_for_each(RowsFile::finish)?;
        let mut report = AccuracyReport::new(&judged, measured)?;
        if let Some(unfolded) = unfolded {
            let played = names.iter().zip(&gathered.answers).map(|(name, answers)| Played {
                name,
                probabilities: &answers.probabilities,
                values: &answers.values,
            });
            let play = Play::new(&unfolded, table);
            context.bars.begin("playing games", None);
            report.games = Some(games(&play, &played.collect::<Vec<_>>(), self.mistakes));
            context.bars.finish("games played");
        }
        Ok(report)
    }

    /// Begins the files of results.
    fn files(&self) -> Result<Vec<RowsFile>, UserError> {
        let cannot = |path: &Path, error: std::io::Error| {
            UserError::new(format!("cannot write {}: {error}", path.display()))
        };
        let mut files = Vec::new();
        if let Some(path) = self.csv {
            files.push(RowsFile::csv(path).map_err(|error| cannot(path, error))?);
        }
        #[cfg(feature = "parquet")]
        if let Some(path) = self.parquet {
            files.push(RowsFile::parquet(path).map_err(|error| cannot(path, error))?);
        }
        Ok(files)
    }

    /// Whether games are played out: on complete tables, where every orientation is asked about and
    /// all positions fit in memory.
    fn plays_games(&self) -> bool {
        let Measure { table, policies, context, .. } = self;
        let manifest = table.table().manifest();
        let possible = manifest.complete && self.orienting == Orienting::All;
        let Some(counts) = manifest.counts.reachable.filter(|_| possible && self.games) else {
            return false;
        };
        let bytes = unfolded_bytes(counts.states, counts.transitions, policies.len());
        let fits = guard::free_memory().is_none_or(|free| bytes < free);
        if !fits {
            context.remark(format!(
                "{}: games are not played out, which needs about {} of memory",
                table.table().name(),
                crate::render::number::bytes(bytes)
            ));
        }
        fits
    }
}

/// About how much memory games between so many policies take on a table of so many actual positions
/// and moves, in bytes.
pub(super) fn unfolded_bytes(positions: u64, moves: u64, policies: usize) -> f64 {
    // Probabilities and scores of each policy, those of the baselines, and the values of a game.
    let answers = moves as f64 * 16.0 * (policies + 2) as f64;
    Unfolded::bytes(positions, moves) as f64 * 2.0 + answers + positions as f64 * 100.0
}

/// Adds what policies answered for a piece to files of results.
fn push_rows(
    files: &mut [RowsFile],
    game: &AnyGame,
    names: &[String],
    piece: &Piece,
    answers: &[Answers],
) -> std::io::Result<()> {
    for file in files {
        for (name, answers) in names.iter().zip(answers) {
            judgements(game, name, piece, answers).try_for_each(|row| file.push(row))?;
        }
    }
    Ok(())
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    crate::table::write_whole(path, text.as_bytes())
        .map_err(|error| UserError::new(format!("cannot write {}: {error}", path.display())).into())
}

/// A damaged table is the table's failure; a policy comes from the person who asks.
pub(super) fn failed(table: &SolvedTable, error: MeasureError) -> anyhow::Error {
    match error {
        MeasureError::Damaged(what) => TableError::damaged(table.table().dir(), what).into(),
        MeasureError::Output(error) => error.into(),
        MeasureError::Policy { .. } => error.into(),
    }
}
