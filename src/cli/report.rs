//! `solver report`: how accurate policies are, exactly.

use std::process::ExitCode;
use std::time::Duration;

use super::context::Context;
use super::enumerate::{make, make_cyclic, spec};
use super::error::UserError;
use super::position::{is_folded, spec_of};
use super::solve_table::{Wish, solve};
use crate::evaluate::{
    AccuracyReport, CyclicRows, MeasureError, accuracy, accuracy_cyclic, build, build_cyclic,
};
use crate::game::{Cyclic, GameSpec, GameVisitor, Layered};
use crate::graph::{Enumerated, Graph, Plan, Ranked};
use crate::policy::PolicySpec;
use crate::render::{Part, accuracy_text};
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
    /// A policy to measure; may be repeated: random, greedy, perfect, and in Othello weights and
    /// weights:FILE; predictions:DIR for predictions of the positions of 'solver export --states', and
    /// 'exec:COMMAND' for a program that is asked [default: random, greedy, weights in Othello, perfect]
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,
    /// How long an answer of a program may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    policy_timeout: f64,
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
    let named = args.policy.iter().map(|name| name.parse().map_err(UserError::from_error));
    let named = named.collect::<Result<Vec<PolicySpec>, _>>()?;
    let limit = timeout(args.policy_timeout)?;
    let opened = args.table.as_ref().map(|name| context.store.open(name)).transpose()?;
    let spec = match &opened {
        Some(table) => spec_of(table)?,
        None => spec(&args.game, &args.size, "4")?,
    };
    // What the game does not have is told before its table is made.
    let policies = if named.is_empty() { PolicySpec::defaults(spec) } else { named };
    policies.iter().try_for_each(|policy| policy.check(spec)).map_err(UserError::from_error)?;
    let parts = parts(&args.by_discs, spec)?;
    let mut table = match opened {
        Some(table) => table,
        None => spec.with_rules(true, Whole { context, force: args.force })?,
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve(&mut table, Wish { force: args.force, ..Wish::default() }, context)?;
    }
    let visitor = Measure { table: &table, policies: &policies, limit, context };
    let report = spec.with_rules(is_folded(&table), visitor)?;
    if context.json {
        context.json(&report)?
    } else {
        context.print(accuracy_text(&report, &parts))?
    }
    Ok(ExitCode::SUCCESS)
}

/// The time that is given in seconds.
fn timeout(seconds: f64) -> Result<Duration, UserError> {
    let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
    limit.ok_or_else(|| {
        UserError::new(format!("--policy-timeout {seconds}: give a number of seconds above 0"))
    })
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

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Table> {
        let made = make(&game, &Plan::from_start(&game), self.context, self.force)?;
        Ok(self.made(made))
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Table> {
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

struct Measure<'a> {
    table: &'a Table,
    policies: &'a [PolicySpec],
    limit: Duration,
    context: &'a Context,
}

impl GameVisitor for Measure<'_> {
    type Output = anyhow::Result<AccuracyReport>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, limit, context } = self;
        let graph = Graph::open_checked(table)?;
        let solved = Solved::open_checked(table)?.ok_or_else(|| unsolved(table))?;
        // Policies are built first: a weight file that is wrong is told before the work begins.
        let built = policies
            .iter()
            .map(|spec| build(spec, &game, &graph, &solved, limit).map_err(UserError::from_error))
            .collect::<Result<Vec<_>, _>>()?;
        let measured = built
            .iter()
            .map(|policy| accuracy(&game, &graph, &solved, policy.as_ref(), &context.bars))
            .map(|measured| measured.map_err(|error| failed(table, error)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(AccuracyReport::new(&game, table, &graph, &solved, measured)?)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<AccuracyReport> {
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
    fn measure_cyclic<G: Cyclic>(
        &self,
        game: &G,
        rows: CyclicRows<'_>,
        solved: &CyclicSolved,
    ) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, context, limit } = *self;
        let built = policies
            .iter()
            .map(|spec| {
                build_cyclic(spec, game, rows, solved, limit).map_err(UserError::from_error)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let measured = accuracy_cyclic(game, rows, solved, &built, &context.bars)
            .map_err(|error| failed(table, error))?;
        Ok(AccuracyReport::of_cyclic(game, table, solved, measured)?)
    }
}

/// A damaged table is the table's failure; a policy comes from the person who asks.
fn failed(table: &Table, error: MeasureError) -> anyhow::Error {
    match error {
        MeasureError::Damaged(what) => TableError::damaged(table.dir(), what).into(),
        MeasureError::Policy { .. } => UserError::from_error(error).into(),
    }
}

fn unsolved(table: &Table) -> UserError {
    UserError::new(format!("{0} is not solved; run 'solver value-iterate {0}'", table.name()))
}
