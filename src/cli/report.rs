//! `solver report`: how accurate policies are, exactly.

use std::process::ExitCode;

use super::context::Context;
use super::enumerate::make;
use super::error::UserError;
use super::position::{is_folded, spec_of};
use super::solve_table::{Wish, solve};
use crate::evaluate::{AccuracyReport, accuracy, build};
use crate::game::{Cyclic, GameSpec, GameVisitor, Layered};
use crate::graph::{Graph, Plan};
use crate::policy::PolicySpec;
use crate::render::{Part, accuracy_text};
use crate::solve::Solved;
use crate::table::Table;

/// Measure policies against the solution, building the table if it is not there
///
/// Every figure is an exact expectation over all reachable positions, in every orientation in which
/// they occur; nothing is sampled.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The board, rows x columns, each 4 to 8
    #[arg(long, value_name = "SIZE", default_value = "4", conflicts_with = "table")]
    size: String,
    /// A table's name or directory, instead of the whole game on a board
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// A policy to measure; may be repeated: random, greedy, weights, weights:FILE, perfect
    /// [default: random, greedy, weights and perfect]
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,
    /// For which positions to show the figures by discs: all, those whose moves differ in result,
    /// those whose moves differ in score, or none
    #[arg(
        long,
        value_name = "SETS",
        value_enum,
        value_delimiter = ',',
        default_value = "all,result,score",
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

const DEFAULT_POLICIES: [&str; 4] = ["random", "greedy", "weights", "perfect"];

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let named: Vec<&str> = match args.policy.is_empty() {
        true => DEFAULT_POLICIES.to_vec(),
        false => args.policy.iter().map(String::as_str).collect(),
    };
    let policies = named
        .into_iter()
        .map(|name| name.parse().map_err(UserError::from_error))
        .collect::<Result<Vec<PolicySpec>, _>>()?;
    let mut table = match &args.table {
        Some(name) => context.store.open(name)?,
        None => {
            let spec = GameSpec::othello(&args.size)?;
            spec.with_rules(true, Whole { context, force: args.force })?
        }
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve(&mut table, Wish { force: args.force, ..Wish::default() }, context)?;
    }
    let visitor = Measure { table: &table, policies: &policies, context };
    let report = spec_of(&table)?.with_rules(is_folded(&table), visitor)?;
    if context.json {
        context.json(&report)?
    } else {
        context.print(accuracy_text(&report, &parts(&args.by_discs)))?
    }
    Ok(ExitCode::SUCCESS)
}

fn parts(asked: &[ByDiscs]) -> Vec<Part> {
    let part = |asked: &ByDiscs| match asked {
        ByDiscs::All => Some(Part::All),
        ByDiscs::Result => Some(Part::Result),
        ByDiscs::Score => Some(Part::Score),
        ByDiscs::None => None,
    };
    asked.iter().filter_map(part).collect()
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
        if !made.reused {
            self.context.remark(format!("{}: enumerated", made.table.name()));
        }
        Ok(made.table)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Table> {
        Err(UserError::not_yet("report", &game).into())
    }
}

struct Measure<'a> {
    table: &'a Table,
    policies: &'a [PolicySpec],
    context: &'a Context,
}

impl GameVisitor for Measure<'_> {
    type Output = anyhow::Result<AccuracyReport>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<AccuracyReport> {
        let Measure { table, policies, context } = self;
        let graph = Graph::open_checked(table)?;
        let solved = Solved::open_checked(table)?.ok_or_else(|| {
            UserError::new(format!("{} is not solved; run 'solver value-iterate'", table.name()))
        })?;
        // Policies are built first: a weight file that is wrong is told before the work begins.
        let built = policies
            .iter()
            .map(|spec| build(spec, &game, &graph, &solved).map_err(UserError::from_error))
            .collect::<Result<Vec<_>, _>>()?;
        let measured = built
            .iter()
            .map(|policy| accuracy(&game, table, &graph, &solved, policy.as_ref(), &context.bars))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(AccuracyReport::new(&game, table, &graph, &solved, measured)?)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<AccuracyReport> {
        Err(UserError::not_yet("report", &game).into())
    }
}
