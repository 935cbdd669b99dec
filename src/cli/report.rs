//! `solver report`: how accurate policies are, exactly.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::context::Context;
use super::enumerate::{game_of, make};
use super::error::UserError;
use super::guard;
use super::players::{check as check_player, learned_for, players};
use super::value_iterate::solve_table;
use crate::any::AnyGame;
use crate::evaluate::{
    AccuracyReport, Gathered, Judged, MeasureError, Piece, Play, Played, Player, Sink, Unfolded,
    games, judgements, measure,
};
use crate::game::Game;
use crate::graph::Plan;
use crate::policy::{Answers, PolicySpec};
use crate::progress::Progress;
use crate::render::{Part, RowsFile, accuracy_text, html};
use crate::solve::SolveOptions;
use crate::solved::{Orienting, SolvedTable};
use crate::table::{Table, TableError};

/// Measure policies against the solution, building the table if it is not there
///
/// Every figure is an exact expectation; nothing is sampled. In Othello it is over all reachable
/// positions, in every orientation in which they occur; in games of the shogi family over the rows of
/// the table whose results, and whose moves' results, are proven.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An Othello board, rows x columns, each 4 to 8 [default: 4]
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["table", "game"])]
    size: Option<String>,
    /// A game that is enumerated whole: animal-shogi-3x3, animal-shogi, or othello-4x5 and the like
    #[arg(long, value_name = "GAME", conflicts_with = "table")]
    game: Option<String>,
    /// A table's name or directory, instead of a whole game
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// A policy to measure; may be repeated: random, greedy, n-hand:N, n-least:N, n-most:N, minimax:N,
    /// alphabeta:N, montecarlo:N[:SEED], mcts:N[:SEED], perfect, and in Othello weights, weights:FILE,
    /// n-hand-custom:N[:FILE], minimax:N:FILE, alphabeta:N:FILE and onnx:FILE; predictions:DIR for
    /// predictions of the positions of 'solver export --states', and 'exec:COMMAND' for a program that is
    /// asked [default: random, greedy, weights in Othello, perfect]
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,
    #[command(flatten)]
    timeout: Timeout,
    /// For which positions to show the figures by discs (in shogi by plies from the root): all, those
    /// whose moves differ in result, those whose moves differ in score (Othello), or none [default:
    /// all of these]
    #[arg(
        long,
        visible_alias = "by-plies",
        value_name = "SETS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    by_discs: Vec<ByDiscs>,
    /// Ask about every row of the table once, not in every orientation in which it is reachable: in
    /// Othello up to 16 times faster, and exact too for policies that respect the board's symmetries
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
    /// Begin even if the table is not expected to fit
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ByDiscs {
    All,
    Result,
    Score,
    None,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let asked = Request {
        policies: &args.policy,
        timeout: &args.timeout,
        table: args.table.as_deref(),
        game: args.game.as_deref(),
        size: args.size.as_deref(),
        force: args.force,
    };
    let check = |game: &AnyGame| parts(&args.by_discs, game).map(|_| ());
    let (table, policies) = opened_for(&asked, context, check)?;
    let parts = parts(&args.by_discs, table.game())?;
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

/// How long programs may take.
#[derive(Debug, clap::Args)]
pub(super) struct Timeout {
    /// How long an answer of a program may take, if a policy is one
    #[arg(long, value_name = "SECONDS", default_value_t = PolicySpec::LIMIT.as_secs_f64())]
    policy_timeout: f64,
}

impl Timeout {
    pub fn limit(&self) -> Result<Duration, UserError> {
        let seconds = self.policy_timeout;
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        limit.ok_or_else(|| {
            UserError::new(format!("--policy-timeout {seconds}: give a number of seconds above 0"))
        })
    }
}

/// A request for a solved table and policies.
pub(super) struct Request<'a> {
    pub policies: &'a [String],
    pub timeout: &'a Timeout,
    pub table: Option<&'a str>,
    pub game: Option<&'a str>,
    pub size: Option<&'a str>,
    pub force: bool,
}

/// The table that is meant, enumerated and solved if it is not, and the policies, those of the game if
/// none are named.
pub(super) fn opened(
    asked: &Request<'_>,
    context: &mut Context,
) -> anyhow::Result<(SolvedTable, Vec<PolicySpec>)> {
    opened_for(asked, context, |_| Ok(()))
}

/// The same; `check` says what else the game must have before its table is made.
fn opened_for(
    asked: &Request<'_>,
    context: &mut Context,
    check: impl Fn(&AnyGame) -> Result<(), UserError>,
) -> anyhow::Result<(SolvedTable, Vec<PolicySpec>)> {
    let limit = asked.timeout.limit()?;
    let parse = |name: &String| name.parse().map(|spec: PolicySpec| spec.within(limit));
    let named = asked.policies.iter().map(|name| parse(name).map_err(UserError::from_error));
    let named = named.collect::<Result<Vec<PolicySpec>, _>>()?;
    let opened = asked.table.map(|name| context.store.open(name)).transpose()?;
    let game = match &opened {
        Some(table) => context.games.of_table(table)?,
        None => game_of(asked.game, asked.size, context)?,
    };
    // What the game does not have is told before its table is made.
    let policies = if named.is_empty() { defaults(&game, context) } else { named };
    policies.iter().try_for_each(|policy| check_player(policy, &game, &context.store))?;
    check(&game)?;
    let mut table = match opened {
        Some(table) => table,
        None => whole(&game, context, asked.force)?,
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve_table(&mut table, &SolveOptions::default(), asked.force, context)?;
    }
    Ok((context.solved(table, true)?, policies))
}

/// What is measured if nothing else is asked for: the game's own policies, and between them and the
/// perfect one what was trained here.
fn defaults(game: &AnyGame, context: &Context) -> Vec<PolicySpec> {
    let mut all = PolicySpec::defaults(game);
    let perfect = all.iter().position(|policy| *policy == PolicySpec::Perfect);
    let at = perfect.unwrap_or(all.len());
    all.splice(at..at, learned_for(game, &context.store));
    all
}

/// The sets that are asked for, all of the game's unless some are named.
fn parts(asked: &[ByDiscs], game: &AnyGame) -> Result<Vec<Part>, UserError> {
    if game.max_score().is_none() && asked.contains(&ByDiscs::Score) {
        let name = game.name();
        return Err(UserError::new(format!("--by-discs score means nothing for {name}")));
    }
    if asked.is_empty() {
        return Ok(vec![Part::All, Part::Result, Part::Score]);
    }
    let part = |asked: &ByDiscs| match asked {
        ByDiscs::All => Some(Part::All),
        ByDiscs::Result => Some(Part::Result),
        ByDiscs::Score => Some(Part::Score),
        ByDiscs::None => None,
    };
    Ok(asked.iter().filter_map(part).collect())
}

/// The table of a whole game, enumerated if it is not there.
fn whole(game: &AnyGame, context: &Context, force: bool) -> anyhow::Result<Table> {
    if !game.is_small() {
        let name = game.name();
        return Err(UserError::new(format!(
            "{name} is too large to be enumerated whole; run 'solver enumerate --game {name} --max-depth 6' (or another bound) and give --table the table's name"
        ))
        .into());
    }
    let made = make(game, Plan::from_start(game), context, force)?;
    if !made.reused {
        context.remark(format!("{}: enumerated", made.table.name()));
    }
    Ok(made.table)
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
    /// Whether games are wanted, and how many mistakes of each policy.
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
        // Policies are built first: a weight file that is wrong is told before the work begins.
        let players = players(policies, table.game(), &context.store)?;
        let damaged = |what| TableError::damaged(table.table().dir(), what);
        let unfolded = match self.wants_games() {
            true => Some(Unfolded::new(table.states()).map_err(damaged)?),
            false => None,
        };
        let judged = Judged { table, orienting };
        let mut gathered = Gathered::default();
        let names: Vec<String> = players.iter().map(Player::name).collect();
        let mut files = self.files()?;
        let wanted = unfolded.is_some() || !files.is_empty();
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            if unfolded.is_some() {
                gathered.add(answers);
            }
            push_rows(&mut files, table.game(), &names, piece, answers)
        };
        let sink: Option<&mut Sink<'_>> = if wanted { Some(&mut collect) } else { None };
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

    /// The files of results that are wanted, begun.
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
    fn wants_games(&self) -> bool {
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
        MeasureError::Policy { .. } => UserError::from_error(error).into(),
    }
}
