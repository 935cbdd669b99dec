//! `solver info --by-distance`: the states of a solved table by outcome and distance.

use serde::Serialize;

use super::context::Context;
use crate::game::Outcome;
use crate::render::Grid;
use crate::render::number::thousands;
use crate::solve::ByDistance;
use crate::table::Table;

/// Prints the counts.
pub(super) fn print(table: Table, context: &mut Context) -> anyhow::Result<()> {
    let table = context.solved(table, false)?;
    let bounded = !table.table().manifest().complete;
    let is_frontier = |row: usize| bounded && table.states().is_frontier(row);
    let counted = ByDistance::of(table.values(), is_frontier);
    if context.json {
        return context.json("info-by-distance", &Output::of(table.table(), &counted));
    }
    context.print(to_text(&counted))?;
    Ok(())
}

/// The JSON that `--json` prints (`docs/query-schema.md`); outcomes are the mover's.
#[derive(Serialize)]
struct Output {
    table: String,
    perspective: &'static str,
    /// What play without end counts as, in a cyclic game.
    repetition: Option<String>,
    states: u64,
    /// Element d of each: how many states are won, drawn and lost in exactly d plies.
    won: Vec<u64>,
    drawn: Vec<u64>,
    lost: Vec<u64>,
    /// Proven, but without an end that either side could force.
    won_without_end: u64,
    drawn_without_end: u64,
    lost_without_end: u64,
    /// Proven, but how far the end is is not.
    won_inexact: u64,
    drawn_inexact: u64,
    lost_inexact: u64,
    /// Their moves were followed, their outcome is not proven.
    not_proven: u64,
    /// Their moves were not followed.
    frontier: u64,
}

impl Output {
    fn of(table: &Table, counted: &ByDistance) -> Output {
        let [lost, drawn, won] = [0, 1, 2].map(|i| counted.plies.iter().map(|at| at[i]).collect());
        let [lost_without_end, drawn_without_end, won_without_end] = counted.endless;
        let [lost_inexact, drawn_inexact, won_inexact] = counted.inexact;
        let solution = table.manifest().solution.as_ref();
        Output {
            table: table.name(),
            perspective: "mover",
            repetition: solution.and_then(|solution| solution.repetition.clone()),
            states: counted.states(),
            won,
            drawn,
            lost,
            won_without_end,
            drawn_without_end,
            lost_without_end,
            won_inexact,
            drawn_inexact,
            lost_inexact,
            not_proven: counted.unproven,
            frontier: counted.frontier,
        }
    }
}

fn to_text(counted: &ByDistance) -> String {
    let proven = counted.proven();
    let draw = Outcome::Draw.index();
    // Draws have distances where games end in them; elsewhere they stand below.
    let in_columns = counted.plies.iter().any(|at| at[draw] > 0) || counted.inexact[draw] > 0;
    let mut columns = vec![Outcome::Win, Outcome::Loss];
    let mut headings = vec!["plies", "won", "lost", "all"];
    if in_columns {
        columns.insert(1, Outcome::Draw);
        headings.insert(2, "drawn");
    }
    let row = |name: String, counts: &[u64; 3]| -> Vec<String> {
        let counts: Vec<u64> = columns.iter().map(|outcome| counts[outcome.index()]).collect();
        let all = counts.iter().sum();
        [name].into_iter().chain(counts.into_iter().chain([all]).map(thousands)).collect()
    };
    let mut rows: Vec<Vec<String>> = counted
        .plies
        .iter()
        .enumerate()
        .map(|(plies, counts)| row(plies.to_string(), counts))
        .collect();
    for (name, counts) in [("not exact", &counted.inexact), ("without end", &counted.endless)] {
        if columns.iter().any(|outcome| counts[outcome.index()] > 0) {
            rows.push(row(name.to_string(), counts));
        }
    }
    rows.push(row("all".to_string(), &proven));
    let mut text =
        "States by the outcome for the player to move and the plies to the end\n\n".to_string();
    text += &Grid::of(&headings, rows).to_text();
    let below = [
        (if in_columns { 0 } else { proven[draw] }, "drawn"),
        (counted.unproven, "not proven"),
        (counted.frontier, "at the frontier, their moves not followed"),
    ];
    text.push('\n');
    for (states, what) in below.into_iter().filter(|(states, _)| *states > 0) {
        text += &format!("{:>15}  {what}\n", thousands(states));
    }
    text + &format!("{:>15}  states in all\n", thousands(counted.states()))
}
