//! `solver info`: identity, counts and values of a table.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::context::Context;
use super::counts::{bracketed, by_layer, counts_text, moves, size_of_table};
use super::enumerate::Output;
use super::program;
use super::table_args::OneTable;
use super::value_iterate::root_texts;
use yomikiri::error::Error;
use yomikiri::oracle::{LayerValues, Oracle, SolvedTable, Totals};
use yomikiri::rules::{Outcome, Rules};
use yomikiri::table::{Manifest, Solution};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::{bytes, counted, thousands};
use yomikiri_measure::render::verdict::{outcome_cell, plies_cell, proven_text, score_cell};

/// Show the counts of a table and how it was solved
///
/// With --values all values are read too, and the page is Markdown: the value of the root and of each
/// move there, counts and values by layer, how many states have which score (or, in games without
/// scores, end in how many plies), and the longest game.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Count the values of a solved table too, as Markdown
    #[arg(long)]
    values: bool,
}

/// The JSON that `--json` prints (`docs/json.md`).
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Info<'a> {
    #[serde(flatten)]
    table: Output<'a>,
    /// With `--values`.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Values>,
}

/// Values of a table in all. States and moves are rows of the table, values those of the player to move.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Values {
    /// Always `mover`: values are those of the player to move.
    perspective: &'static str,
    /// Value of infinite play, in a cyclic game.
    repetition: Option<String>,
    /// By layer.
    layers: Vec<Layer>,
    /// Every judged position.
    all: LayerValues,
    /// Moves of all rows but passes; absent where some were not followed.
    moves: Option<u64>,
    /// Number of states by score; by outcome, in games without scores.
    histogram: BTreeMap<i8, u64>,
    /// The most plies to the end that are known exactly.
    longest: Option<u16>,
    /// By outcome and plies to the end.
    won: Plies,
    /// Draws, by plies to the end.
    drawn: Plies,
    /// Losses, by plies to the end.
    lost: Plies,
    /// States whose moves were followed and whose outcome is not proven.
    not_proven: u64,
    /// States whose moves were not followed.
    frontier: u64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Layer {
    /// Number of the layer.
    layer: u32,
    /// Moves of them.
    moves: Option<u64>,
    #[serde(flatten)]
    values: LayerValues,
}

/// States of one outcome.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Plies {
    /// Element d: number of states that end in exactly d plies.
    by_distance: Vec<u64>,
    /// Proven, without an end that either side could force.
    without_end: u64,
    /// Proven, the distance not.
    inexact: u64,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let opened = args.table.open(context)?;
    let solved = match args.values {
        true => Some(context.solved(context.store.open(&opened.name())?, false)?),
        false => None,
    };
    let counted = solved.as_ref().map(|table| (table, table.totals()));
    if context.json {
        let values = counted.map(|(table, totals)| values(table, totals));
        return context.json("info", &Info { table: Output::of(&opened), values });
    }
    if let Some((table, totals)) = &counted {
        return context.print(page(table, totals)?);
    }
    let manifest = opened.manifest();
    let game = context.games.of_table(&opened)?;
    context.print(counts_text(&*game, manifest))?;
    let solved = match &manifest.solution {
        Some(solution) => solution_text(&*game, manifest, solution),
        None => format!("not solved; run 'solver value-iterate {}'", opened.name()),
    };
    context.line(format!(
        "\n{}{} in {}, {}, {solved}",
        opened.name(),
        bracketed(&*game, &opened.name(), &manifest.identity),
        opened.dir().display(),
        bytes(size_of_table(&opened) as f64)
    ))?;
    if let Some(discounted) = &manifest.discounted {
        context.line(format!("with values discounted by {}", discounted.discount))?;
    }
    Ok(())
}

/// Returns how a table was solved and how much that proves.
fn solution_text(game: &dyn Rules, manifest: &Manifest, solution: &Solution) -> String {
    let with_bounds = if manifest.complete { "" } else { " with bounds" };
    let sweeps = counted(solution.sweeps.len() as u64, "sweep");
    if let Some(method) = &solution.method {
        let method = match method.as_str() {
            "value-iteration" => "value iteration",
            "retrograde" => "retrograde analysis",
            other => other,
        };
        let proven = proven_text(manifest, solution);
        return format!("solved{with_bounds} by {method}, {sweeps}\n{proven}");
    }
    let empties = match (&solution.empties, game.has_squares()) {
        (Some(empties), true) => format!(", empties {empties}"),
        _ => String::new(),
    };
    if manifest.complete {
        return format!("solved, {sweeps}{empties}");
    }
    format!(
        "solved with bounds, {} of {} scores proven{empties}",
        solution.proven_scores.unwrap_or_default(),
        manifest.counts.table.states
    )
}

fn values(table: &SolvedTable, totals: Totals) -> Values {
    let manifest = table.table().manifest();
    // A layer that moves jump over may have no states, and then no values.
    let moves_of = |layer: u32| {
        let counts = manifest.layers.get(layer.checked_sub(manifest.first_layer)? as usize);
        counts.and_then(moves)
    };
    let layers = totals.layers.into_iter();
    let layers = layers.map(|(layer, values)| Layer { layer, moves: moves_of(layer), values });
    let [lost, drawn, won] = [0, 1, 2].map(|outcome| Plies {
        by_distance: totals.plies.iter().map(|at| at[outcome]).collect(),
        without_end: totals.endless[outcome],
        inexact: totals.inexact[outcome],
    });
    Values {
        perspective: "mover",
        repetition: manifest.solution.as_ref().and_then(|solution| solution.repetition.clone()),
        layers: layers.collect(),
        all: totals.all,
        moves: moves(&manifest.counts),
        histogram: totals.histogram,
        longest: totals.longest.map(|(plies, _)| plies),
        won,
        drawn,
        lost,
        not_proven: totals.unproven,
        frontier: totals.frontier,
    }
}

/// Lays out all values of a table as a page of Markdown.
fn page(table: &SolvedTable, totals: &Totals) -> Result<String, Error> {
    let (game, manifest) = (table.game(), table.table().manifest());
    let roots = table.states().roots()?;
    let mut text = format!("## {}\n", game.title());
    for value in root_texts(table)? {
        text += &format!("\n{value}.\n");
    }
    if let Some((plies, row)) = totals.longest {
        let mut from = String::new();
        let read = table.states().visit(row..row + 1, |_, position| {
            from = game.notation(&position);
            Ok(())
        });
        read.map_err(|what| Error::damaged(table.table().dir(), what))?;
        let (program, name) = (program::name(), table.table().name());
        text += &format!(
            "\nThe longest game from any state, both sides playing best, takes {plies} plies:\n\n    {program} query {name} '{from}'\n"
        );
    }
    if let [root] = roots[..] {
        let mut openings = table.look_ahead(&root);
        openings.sort_by_key(|&(action, value)| (Reverse(value.map(|v| v.preference())), action));
        let rows = openings.into_iter().map(|(action, value)| {
            let value = value.unwrap_or(table.cut_off());
            let mut cells =
                vec![game.action_name(root.side, action), outcome_cell(value).to_string()];
            cells.extend(table.has_scores().then(|| score_cell(value)));
            cells.push(plies_cell(value));
            cells
        });
        let mut headings = vec!["move", "outcome", "plies to the end"];
        if table.has_scores() {
            headings.insert(2, "score");
        }
        let whose = game.side_name(root.side);
        text += &format!("\n### First moves\n\nValues are {whose}'s.\n\n");
        text += &Grid::of(&headings, rows).to_markdown();
    }
    text += &format!(
        "\n### By {}\n\n*States* are the rows of the table: positions as the mover sees them, mirror images \
         counted once. Moves are those of the rows; values are the mover's.\n\n{}",
        game.layer_unit().unwrap_or("ply"),
        by_layer(game, manifest, Some((&totals.layers, &totals.all))).to_markdown()
    );
    Ok(text
        + &match table.has_scores() {
            true => scores_text(&totals.histogram),
            false => distances_text(totals),
        })
}

/// Lays out the numbers of won and lost states by score.
fn scores_text(histogram: &BTreeMap<i8, u64>) -> String {
    let most = histogram.keys().map(|score| score.unsigned_abs()).max().unwrap_or(0);
    let of = |score: i8| histogram.get(&score).copied().unwrap_or(0);
    let scores = (1..=most as i8).filter(|&by| of(-by) + of(by) > 0);
    let rows = scores.map(|by| vec![by.to_string(), thousands(of(-by)), thousands(of(by))]);
    let grid = Grid::of(&["by", "lost", "won"], rows);
    format!(
        "\n### By score\n\nStates that the mover loses or wins by each score; {} are drawn.\n\n{}",
        thousands(of(0)),
        grid.to_markdown()
    )
}

/// Lays out the numbers of won, drawn and lost states by plies.
fn distances_text(counted: &Totals) -> String {
    let row = |name: String, counts: [u64; 3]| -> Vec<String> {
        let counts = [Outcome::Win, Outcome::Draw, Outcome::Loss].map(|of| counts[of.index()]);
        let all = counts.iter().sum();
        [name].into_iter().chain(counts.into_iter().chain([all]).map(thousands)).collect()
    };
    let plies = counted.plies.iter().enumerate().map(|(plies, &at)| row(plies.to_string(), at));
    let other = [("not exact", counted.inexact), ("without end", counted.endless)];
    let other = other.into_iter().filter(|(_, counts)| *counts != [0; 3]);
    let other = other.map(|(name, counts)| row(name.to_string(), counts));
    let all = row("all".to_string(), [counted.all.losses, counted.all.draws, counted.all.wins]);
    let grid = Grid::of(&["plies", "won", "drawn", "lost", "all"], plies.chain(other).chain([all]));
    let mut text = "\n### By plies to the end\n\nStates by the mover's outcome".to_string();
    for (states, what) in [
        (counted.unproven, "are not proven"),
        (counted.frontier, "are at the frontier, their moves not followed"),
    ] {
        if states > 0 {
            text += &format!("; {} {what}", thousands(states));
        }
    }
    text + ".\n\n" + &grid.to_markdown()
}
