//! `solver value-iterate`: solve a table.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::error::UserError;
use super::position::{is_folded, roots, spec_of};
use super::solve_table::{Wish, solve};
use crate::game::{Cyclic, Empties, GameVisitor, Layered, Outcome};
use crate::render::Grid;
use crate::render::number::thousands;
use crate::solve::{Order, Run};
use crate::table::{Discounted, Solution, Table};

/// Solve a table by value iteration: the value, score and distance of every state
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory [default: the one enumerated last]
    table: Option<String>,
    /// Stop after a sweep in which no value changes by this much
    #[arg(long, value_name = "θ", default_value_t = 0.01)]
    theta: f64,
    /// The order of a sweep
    #[arg(long, value_enum, default_value = "topological")]
    order: OrderArg,
    /// Also keep outcomes discounted by γ a ply, as 32-bit floats in value.npy
    #[arg(long, value_name = "γ")]
    discount: Option<f64>,
    /// What squares left empty at the end count for
    #[arg(long, value_enum, default_value = "uncounted")]
    empties: EmptiesArg,
    /// Begin even if it is not expected to fit
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderArg {
    /// Layer by layer from the end: one sweep, and one to confirm
    Topological,
    /// All states from the values before the sweep, as often as it takes
    Natural,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EmptiesArg {
    /// For nobody: the score is the plain disc difference
    Uncounted,
    /// For the winner
    ToWinner,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let name = match args.table {
        Some(name) => name,
        None => {
            let name = context.store.latest()?;
            context.remark(format!("{name}: the table enumerated last"));
            name
        }
    };
    let mut table = context.store.open(&name)?;
    let wish = Wish {
        order: match args.order {
            OrderArg::Topological => Order::Topological,
            OrderArg::Natural => Order::Natural,
        },
        theta: args.theta,
        empties: match args.empties {
            EmptiesArg::Uncounted => Empties::Uncounted,
            EmptiesArg::ToWinner => Empties::ToWinner,
        },
        discount: args.discount,
        force: args.force,
    };
    let run = solve(&mut table, wish, context)?;
    if run.resumed {
        context.remark(format!("{}: went on where an earlier run ended", table.name()));
    }
    print(&table, &run, wish, context)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Output<'a> {
    table: String,
    directory: String,
    perspective: &'static str,
    already_solved: bool,
    solution: Option<&'a Solution>,
    discounted: Option<&'a Discounted>,
}

fn print(table: &Table, run: &Run, wish: Wish, context: &mut Context) -> anyhow::Result<()> {
    let manifest = table.manifest();
    if context.json {
        let exact = wish.discount.is_none();
        return context.json(&Output {
            table: table.name(),
            directory: table.dir().display().to_string(),
            perspective: "mover",
            already_solved: run.already_solved,
            solution: manifest.solution.as_ref().filter(|_| exact),
            discounted: manifest.discounted.as_ref().filter(|_| !exact),
        });
    }
    if run.already_solved {
        context.line(format!("{} was already solved in this way:", table.name()))?;
    } else {
        context.line(format!("{}: {} sweeps", table.name(), run.sweeps.len()))?;
    }
    context.line("")?;
    context.print(sweeps_text(run))?;
    context.line("")?;
    context.print(result_text(table, wish)?)?;
    Ok(())
}

fn sweeps_text(run: &Run) -> String {
    let rows: Vec<Vec<String>> = run
        .sweeps
        .iter()
        .enumerate()
        .map(|(i, sweep)| {
            let residual = format!("{:.4}", sweep.residual);
            let residual = residual.trim_end_matches('0').trim_end_matches('.').to_string();
            vec![(i + 1).to_string(), residual, thousands(sweep.changed)]
        })
        .collect();
    Grid::of(&["sweep", "residual", "states changed"], rows).to_text()
}

/// What the roots are worth, in words.
fn result_text(table: &Table, wish: Wish) -> anyhow::Result<String> {
    spec_of(table)?.with_rules(is_folded(table), Result_ { table, wish })
}

struct Result_<'a> {
    table: &'a Table,
    wish: Wish,
}

impl GameVisitor for Result_<'_> {
    type Output = anyhow::Result<String>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<String> {
        let manifest = self.table.manifest();
        let mut text = String::new();
        let roots = roots(&game, self.table)?;
        if let (Some(_), Some(discounted)) = (self.wish.discount, &manifest.discounted) {
            for (root, value) in roots.iter().zip(&discounted.roots) {
                let side = game.side_name(root.side);
                text += &format!("{side}, to move at the root: discounted value {value:+}\n");
            }
            return Ok(text);
        }
        let Some(solution) = &manifest.solution else { return Ok(text) };
        for (root, value) in roots.iter().zip(&solution.roots) {
            let side = game.side_name(root.side);
            let outcome = value.outcome.map(Outcome::of);
            text += &format!(
                "{}\n",
                verdict(side, outcome, value.score.map(i32::from), value.distance)
            );
        }
        if !manifest.complete {
            let states = manifest.counts.table.states;
            text += &format!(
                "of {} states {} have proven outcomes, {} proven scores, {} exact distances\n",
                thousands(states),
                thousands(solution.proven_outcomes),
                thousands(solution.proven_scores.unwrap_or_default()),
                thousands(solution.exact_distances)
            );
        }
        Ok(text)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<String> {
        Err(UserError::not_yet("value-iterate", &game).into())
    }
}

/// `Black, to move, loses by 8 discs; 13 plies to the end`.
pub(super) fn verdict(
    side: &str,
    outcome: Option<Outcome>,
    score: Option<i32>,
    distance: Option<u16>,
) -> String {
    let result = match (outcome, score) {
        (Some(Outcome::Draw), _) => "draws".to_string(),
        (Some(outcome), score) => {
            let verb = if outcome == Outcome::Win { "wins" } else { "loses" };
            match score.map(i32::abs) {
                Some(1) => format!("{verb} by 1 disc"),
                Some(discs) => format!("{verb} by {discs} discs"),
                None => format!("{verb} by a score that the table does not prove"),
            }
        }
        (None, _) => "has an outcome that the table does not prove".to_string(),
    };
    let end = match distance {
        Some(1) => "; 1 ply to the end".to_string(),
        Some(plies) => format!("; {plies} plies to the end"),
        None => String::new(),
    };
    format!("{side}, to move, {result}{end}")
}
