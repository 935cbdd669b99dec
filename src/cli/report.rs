//! `solver report`: how accurate policies are, exactly.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::context::Context;
use super::enumerate::{make, make_cyclic, spec};
use super::error::UserError;
use super::guard;
use super::played::{unfold, unfolded_bytes};
use super::players::{check as check_player, cyclic_player, learned_for, player};
use super::position::{is_folded, spec_of};
use super::solve_table::{Wish, solve};
use crate::evaluate::{AccuracyReport, CyclicRows, CyclicTable, Gathered, LayeredRows, MeasureError, Orienting, Piece, Play, Played, Player, Sink, games, judgements, measure};
use crate::game::{Game, GameSpec, GameVisitor};
use crate::graph::{Enumerated, Graph, Plan, Ranked};
use crate::policy::{Answers, PolicySpec};
use crate::progress::Progress;
use crate::render::{Part, RowsFile, accuracy_text, html};
use crate::solve::Solved;
use crate::solve::cyclic::CyclicSolved;
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
    let asked = Asked {
        policies: &args.policy,
        timeout: &args.timeout,
        table: args.table.as_deref(),
        game: args.game.as_deref(),
        size: args.size.as_deref(),
        force: args.force,
    };
    let parts = |spec| parts(&args.by_discs, spec);
    let (table, spec, policies) = opened_for(&asked, context, |spec| parts(spec).map(|_| ()))?;
    let parts = parts(spec)?;
    let orienting = if args.canonical { Orienting::First } else { Orienting::All };
    // A page has room for some mistakes of each policy.
    let mistakes = if args.html.is_some() { args.mistakes.max(3) } else { args.mistakes };
    let games = !args.no_games;
    let visitor = Measure {
        table: &table,
        policies: &policies,
        orienting,
        games,
        mistakes,
        csv: args.csv.as_deref(),
        #[cfg(feature = "parquet")]
        parquet: args.parquet.as_deref(),
        context,
    };
    let report = spec.with_rules(is_folded(&table), visitor)?;
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

/// What a person asks of a solved table: policies, and where.
pub(super) struct Asked<'a> {
    pub policies: &'a [String],
    pub timeout: &'a Timeout,
    pub table: Option<&'a str>,
    pub game: Option<&'a str>,
    pub size: Option<&'a str>,
    pub force: bool,
}

/// The table that is meant, enumerated and solved if it is not, its game, and the policies, those of
/// the game if none are named.
pub(super) fn opened(
    asked: &Asked<'_>,
    context: &mut Context,
) -> anyhow::Result<(Table, GameSpec, Vec<PolicySpec>)> {
    opened_for(asked, context, |_| Ok(()))
}

/// The same; `check` says what else the game must have before its table is made.
fn opened_for(
    asked: &Asked<'_>,
    context: &mut Context,
    check: impl Fn(GameSpec) -> Result<(), UserError>,
) -> anyhow::Result<(Table, GameSpec, Vec<PolicySpec>)> {
    let limit = asked.timeout.limit()?;
    let parse = |name: &String| name.parse().map(|spec: PolicySpec| spec.within(limit));
    let named = asked.policies.iter().map(|name| parse(name).map_err(UserError::from_error));
    let named = named.collect::<Result<Vec<PolicySpec>, _>>()?;
    let opened = asked.table.map(|name| context.store.open(name)).transpose()?;
    let spec = match &opened {
        Some(table) => spec_of(table)?,
        None => {
            let owned = |text: Option<&str>| text.map(str::to_string);
            spec(&owned(asked.game), &owned(asked.size), "4")?
        }
    };
    // What the game does not have is told before its table is made.
    let policies = if named.is_empty() { defaults(spec, context) } else { named };
    policies.iter().try_for_each(|policy| check_player(policy, spec, &context.store))?;
    check(spec)?;
    let mut table = match opened {
        Some(table) => table,
        None => spec.with_rules(true, Whole { context, force: asked.force })?,
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve(&mut table, Wish { force: asked.force, ..Wish::default() }, context)?;
    }
    Ok((table, spec, policies))
}

/// What is measured if nothing else is asked for: the game's own policies, and between them and the
/// perfect one what was trained here.
fn defaults(spec: GameSpec, context: &Context) -> Vec<PolicySpec> {
    let mut all = PolicySpec::defaults(spec);
    let perfect = all.iter().position(|policy| *policy == PolicySpec::Perfect);
    let at = perfect.unwrap_or(all.len());
    all.splice(at..at, learned_for(spec, &context.store));
    all
}

/// The sets that are asked for, all of the game's unless some are named.
fn parts(asked: &[ByDiscs], spec: GameSpec) -> Result<Vec<Part>, UserError> {
    let scores = matches!(spec, GameSpec::Othello { .. });
    if !scores && asked.contains(&ByDiscs::Score) {
        return Err(UserError::new(format!("--by-discs score means nothing for {spec}")));
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
struct Whole<'a> {
    context: &'a Context,
    force: bool,
}

impl GameVisitor for Whole<'_> {
    type Output = anyhow::Result<Table>;

    fn layered<G: Game>(self, game: G) -> anyhow::Result<Table> {
        let made = make(&game, &Plan::from_start(&game), self.context, self.force)?;
        Ok(self.made(made))
    }

    fn cyclic<G: Game>(self, game: G) -> anyhow::Result<Table> {
        let ranked = game.rank_count().is_some();
        if !ranked && game.keeps_sides() {
            let name = game.spec();
            return Err(UserError::new(format!(
                "{name} is too large to be enumerated whole; run 'solver enumerate --game {name} --max-depth 6' (or another bound) and give --table the table's name"
            ))
            .into());
        }
        let plan = Plan::from_start(&game);
        let made = make_cyclic(&game, plan, ranked, self.context, self.force)?;
        Ok(self.made(made))
    }
}

impl Whole<'_> {
    fn made(&self, made: Enumerated) -> Table {
        if !made.reused {
            self.context.remark(format!("{}: enumerated", made.table.name()));
        }
        made.table
    }
}

/// The exact figures of policies on a table, games among them, without mistakes one by one.
pub(super) fn measured(
    table: &Table,
    spec: GameSpec,
    policies: &[PolicySpec],
    context: &Context,
) -> anyhow::Result<AccuracyReport> {
    let visitor = Measure {
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
    spec.with_rules(is_folded(table), visitor)
}

struct Measure<'a> {
    table: &'a Table,
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

impl GameVisitor for Measure<'_> {
    type Output = anyhow::Result<AccuracyReport>;

    fn layered<G: Game>(self, game: G) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, context, .. } = self;
        let graph = Graph::open_checked(table)?;
        let solved = Solved::open_checked(table)?.ok_or_else(|| unsolved(table))?;
        // Policies are built first: a weight file that is wrong is told before the work begins.
        let players = policies
            .iter()
            .map(|spec| player(spec, &game, &context.store))
            .collect::<Result<Vec<_>, _>>()?;
        let unfolded = match self.wants_games() {
            true => Some(unfold(&game, table, &graph)?),
            false => None,
        };
        let rows = LayeredRows::new(&game, &graph, &solved, self.orienting);
        let mut gathered = Gathered::default();
        let names: Vec<String> = players.iter().map(Player::name).collect();
        let mut files = self.files()?;
        let heard = unfolded.is_some() || !files.is_empty();
        let mut hear = |piece: &Piece<G::State>, answers: &[Answers]| {
            if unfolded.is_some() {
                gathered.add(answers);
            }
            push_rows(&mut files, &game, &names, piece, answers)
        };
        let sink: Option<&mut Sink<'_, G::State>> = if heard { Some(&mut hear) } else { None };
        let measured = measure(&game, &rows, &players, sink, &context.bars);
        let measured = measured.map_err(|error| failed(table, error))?;
        finish(files)?;
        let mut report = AccuracyReport::new(&game, table, self.orienting, measured)?;
        if let Some(unfolded) = unfolded {
            let mut played = Vec::new();
            for (name, answers) in names.iter().zip(&gathered.answers) {
                let (probabilities, values) = (&answers.probabilities[..], &answers.values[..]);
                played.push(Played { name, probabilities, values });
            }
            let play = Play::new(&unfolded, &solved);
            context.bars.begin("playing games", None);
            report.games = Some(games(&game, &graph, &play, &played, self.mistakes));
            context.bars.finish("games played");
        }
        Ok(report)
    }

    fn cyclic<G: Game>(self, game: G) -> anyhow::Result<AccuracyReport> {
        let Measure { table, .. } = self;
        let solved = CyclicSolved::open_checked(table)?.ok_or_else(|| unsolved(table))?;
        if table.manifest().identity.index.as_deref() == Some("rank") {
            let ranked = Ranked::open_checked(table)?;
            return self.measure_cyclic(&game, CyclicRows::Ranked(&ranked), &solved);
        }
        let graph = Graph::open_checked(table)?;
        self.measure_cyclic(&game, CyclicRows::Keys(&graph), &solved)
    }
}

impl Measure<'_> {
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
        let possible = table.manifest().complete && self.orienting == Orienting::All;
        if !possible || !self.games {
            return false;
        }
        let counts = table.manifest().counts.reachable();
        let bytes = unfolded_bytes(counts.states, counts.transitions, policies.len());
        let fits = guard::free_memory().is_none_or(|free| bytes < free);
        if !fits {
            context.remark(format!(
                "{}: games are not played out, which needs about {} of memory",
                table.name(),
                crate::render::number::bytes(bytes)
            ));
        }
        fits
    }

    fn measure_cyclic<G: Game>(
        &self,
        game: &G,
        rows: CyclicRows<'_>,
        solved: &CyclicSolved,
    ) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, context, .. } = self;
        let players = policies
            .iter()
            .map(|spec| cyclic_player(spec, game, &context.store))
            .collect::<Result<Vec<_>, _>>()?;
        let damaged = |what| failed(table, MeasureError::Damaged(what));
        let rows = CyclicTable::new(game, rows, solved).map_err(damaged)?;
        let names: Vec<String> = players.iter().map(Player::name).collect();
        let mut files = self.files()?;
        let heard = !files.is_empty();
        let mut hear = |piece: &Piece<G::State>, answers: &[Answers]| {
            push_rows(&mut files, game, &names, piece, answers)
        };
        let sink: Option<&mut Sink<'_, G::State>> = if heard { Some(&mut hear) } else { None };
        let measured = measure(game, &rows, &players, sink, &context.bars);
        let measured = measured.map_err(|error| failed(table, error))?;
        finish(files)?;
        Ok(AccuracyReport::of_cyclic(game, table, solved, measured)?)
    }
}

/// Adds what policies answered for a piece to files of results.
fn push_rows<G: Game>(
    files: &mut [RowsFile],
    game: &G,
    names: &[String],
    piece: &Piece<G::State>,
    answers: &[Answers],
) -> std::io::Result<()> {
    for file in files {
        for (name, answers) in names.iter().zip(answers) {
            judgements(game, name, piece, answers).try_for_each(|row| file.push(row))?;
        }
    }
    Ok(())
}

fn finish(files: Vec<RowsFile>) -> std::io::Result<()> {
    files.into_iter().try_for_each(RowsFile::finish)
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    crate::table::write_whole(path, text.as_bytes())
        .map_err(|error| UserError::new(format!("cannot write {}: {error}", path.display())).into())
}

/// A damaged table is the table's failure; a policy comes from the person who asks.
pub(super) fn failed(table: &Table, error: MeasureError) -> anyhow::Error {
    match error {
        MeasureError::Damaged(what) => TableError::damaged(table.dir(), what).into(),
        MeasureError::Output(error) => error.into(),
        MeasureError::Policy { .. } => UserError::from_error(error).into(),
    }
}

pub(super) fn unsolved(table: &Table) -> UserError {
    UserError::new(format!("{0} is not solved; run 'solver value-iterate {0}'", table.name()))
}
