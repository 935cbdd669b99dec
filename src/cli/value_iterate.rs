//! `solver value-iterate`: solve a table.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::position::{is_folded, roots, spec_of};
use super::solve_table::{Wish, solve};
use super::verdict::{Mover, cyclic_verdict, proven_text, verdict};
use crate::game::{Cyclic, Empties, GameVisitor, Layered, Outcome, Repetition};
use crate::render::Grid;
use crate::render::number::thousands;
use crate::solve::cyclic::{CyclicSolved, Road};
use crate::solve::{Order, Run};
use crate::table::{Discounted, Solution, Table};

/// Solve a table by value iteration: the value, score and distance of every state
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory [default: the one enumerated last]
    table: Option<String>,
    /// Stop after a sweep in which no value changes by this much (Othello) [default: 0.01]
    #[arg(long, value_name = "θ")]
    theta: Option<f64>,
    /// The order of a sweep (Othello) [default: topological]
    #[arg(long, value_enum)]
    order: Option<OrderArg>,
    /// Also keep outcomes discounted by γ a ply, as 32-bit floats in value.npy
    #[arg(long, value_name = "γ")]
    discount: Option<f64>,
    /// What squares left empty at the end count for (Othello) [default: uncounted]
    #[arg(long, value_enum)]
    empties: Option<EmptiesArg>,
    /// By which road (shogi); both lead to the same values [default: the faster one]
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// What play without end counts as (shogi) [default: a draw in animal shogi; in minishogi, where
    /// the fourth repetition does, a win of the second player]
    #[arg(long, value_enum)]
    repetition: Option<RepetitionArg>,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodArg {
    /// Backwards from the ends, by distance
    Retrograde,
    /// Sweeps over all undecided states
    ValueIteration,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RepetitionArg {
    /// A draw
    Draw,
    /// A win of White, who moves second
    SecondPlayerWins,
    /// Nothing is said of it; values that hang on it are not proven
    Unknown,
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
        order: args.order.map(|order| match order {
            OrderArg::Topological => Order::Topological,
            OrderArg::Natural => Order::Natural,
        }),
        theta: args.theta,
        empties: args.empties.map(|empties| match empties {
            EmptiesArg::Uncounted => Empties::Uncounted,
            EmptiesArg::ToWinner => Empties::ToWinner,
        }),
        discount: args.discount,
        road: args.method.map(|method| match method {
            MethodArg::Retrograde => Road::Retrograde,
            MethodArg::ValueIteration => Road::ValueIteration,
        }),
        repetition: args.repetition.map(|repetition| match repetition {
            RepetitionArg::Draw => Repetition::Draw,
            RepetitionArg::SecondPlayerWins => Repetition::SecondPlayerWins,
            RepetitionArg::Unknown => Repetition::Unknown,
        }),
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
            let mut row = vec![(i + 1).to_string(), residual, thousands(sweep.changed)];
            row.extend(sweep.decided.map(thousands));
            row
        })
        .collect();
    let mut headings = vec!["sweep", "residual", "states changed"];
    headings.extend(run.sweeps.iter().find_map(|sweep| sweep.decided).map(|_| "decided"));
    Grid::of(&headings, rows).to_text()
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
        const SHOWN: usize = 10;
        let manifest = self.table.manifest();
        let Some(solved) = CyclicSolved::open(self.table)? else { return Ok(String::new()) };
        let roots = roots(&game, self.table)?;
        let mut text = String::new();
        for (root, &row) in roots.iter().zip(&manifest.root_ids).take(SHOWN) {
            let mover = Mover {
                side: game.side_name(root.side),
                in_check: game.in_check(&root.state),
                gives_checks: manifest.identity.checks_only.then_some(true),
            };
            let value = cyclic_verdict(mover, solved.value(row as usize));
            text += &match roots.len() {
                1 => format!("{value}\n"),
                _ => format!("{}: {value}\n", game.notation(root)),
            };
        }
        if let Some(more @ 1..) = roots.len().checked_sub(SHOWN) {
            text += &format!("and {more} roots more; see the manifest\n");
        }
        if let Some(solution) = &manifest.solution {
            text += &proven_text(manifest, solution);
            text.push('\n');
        }
        Ok(text)
    }
}
