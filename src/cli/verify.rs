//! `solver verify`: read every byte of a table and prove every value.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::error::UserError;
use super::position::{is_folded, roots, spec_of};
use crate::game::{Cyclic, Empties, GameVisitor, Layered};
use crate::graph::{Graph, Ranked, RankedGame, Regenerator, Remaker, roots_of};
use crate::render::number::{bytes, thousands};
use crate::solve::cyclic::verify_cyclic;
use crate::solve::{Solved, Verified, verify, verify_ranked};
use crate::table::Table;

/// Read every byte of a table and prove every edge and value from the rules
///
/// The exit code is 0 if everything holds, 2 if a file is damaged, and 1 if the files are whole but
/// a row is wrong; the first such row is shown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory [default: the one enumerated last]
    table: Option<String>,
}

#[derive(Serialize)]
struct Output {
    table: String,
    bytes: u64,
    states: u64,
    edges: u64,
    solved: bool,
    proven: bool,
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
struct Counterexample {
    row: usize,
    state: String,
    what: String,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let name = match args.table {
        Some(name) => name,
        None => context.store.latest()?,
    };
    let table = context.store.open(&name)?;
    let read = table.check()?;
    let spec = spec_of(&table)?;
    let found = spec.with_rules(is_folded(&table), Verify { table: &table, context })?;
    let Found { verified: found, mover } = found;
    let proven = found.counterexample.is_none();
    let code = if proven { ExitCode::SUCCESS } else { ExitCode::from(1) };
    let output = Output {
        table: table.name(),
        bytes: read,
        states: found.states,
        edges: found.edges,
        solved: found.solved,
        proven,
        counterexample: found.counterexample.map(|c| Counterexample {
            row: c.row,
            state: c.state,
            what: c.what,
        }),
    };
    if context.json {
        context.json(&output)?;
    } else {
        print(&output, mover, context)?;
    }
    Ok(code)
}

fn print(output: &Output, mover: Option<&str>, context: &mut Context) -> anyhow::Result<()> {
    context.line(format!(
        "{}: all checksums match ({} read)",
        output.table,
        bytes(output.bytes as f64)
    ))?;
    match &output.counterexample {
        Some(wrong) => {
            context.line(format!("row {} is wrong: {}", wrong.row, wrong.what))?;
            let shown = mover.map(|name| format!(" (the mover shown as {name})"));
            context.line(format!("  {}{}", wrong.state, shown.unwrap_or_default()))?;
        }
        None => {
            let values = if output.solved {
                "every value follows from its successors"
            } else {
                "there are no values yet"
            };
            context.line(format!(
                "{} states, {} edges: every move regenerated from the rules, {values}",
                thousands(output.states),
                thousands(output.edges)
            ))?;
        }
    }
    Ok(())
}

/// What was found, and as whom states show their mover if not as who it is.
struct Found {
    verified: Verified,
    mover: Option<&'static str>,
}

struct Verify<'a> {
    table: &'a Table,
    context: &'a Context,
}

impl GameVisitor for Verify<'_> {
    type Output = anyhow::Result<Found>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Found> {
        let Verify { table, context } = self;
        let graph = Graph::open(table)?;
        let empties = Solved::open(table)?.map_or(Empties::Uncounted, |solved| solved.empties());
        let regenerator = Regenerator::new(&graph, &game, empties);
        let roots = regenerator.roots(&roots(&game, table)?);
        let verified = verify(table, &graph, &regenerator, &roots, &context.bars)?;
        Ok(Found { verified, mover: Some("X") })
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Found> {
        let Verify { table, context } = self;
        let mover = if game.keeps_sides() { None } else { Some("Black") };
        let verified = if table.manifest().identity.index.as_deref() == Some("rank") {
            if game.rank_count().is_none() {
                return Err(UserError::new(format!(
                    "{} says that it is found by rank, which {} is not",
                    table.name(),
                    game.spec()
                ))
                .into());
            }
            roots_of(&game, table)?;
            let ranked = Ranked::open(table)?;
            verify_ranked(table, &ranked, &RankedGame(&game), &context.bars)?
        } else {
            let graph = Graph::open(table)?;
            let remaker = Remaker::new(&graph, &game, table)?;
            verify_cyclic(table, &graph, &remaker, &context.bars)?
        };
        Ok(Found { verified, mover })
    }
}
