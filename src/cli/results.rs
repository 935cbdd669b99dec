//! `solver results`: what solved tables say in all, as a page of Markdown.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::program;
use super::table_args::ManyTables;
use super::value_iterate::root_text;
use crate::game::Game;
use crate::render::Grid;
use crate::render::number::thousands;
use crate::render::verdict::{outcome_cell, plies_cell, score_cell};
use crate::solved::{LayerValues, SolvedTable, Totals};
use crate::table::{Counts, Identity};

/// Show what solved tables say in all, as Markdown
///
/// Of every table: how it is made, the value of its root and of each move there, all counts and
/// values by layer, how many states have which score, and the longest game.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    tables: ManyTables,
}

/// The JSON that `--json` prints (`docs/query-schema.md`).
#[derive(Serialize)]
struct Results<'a> {
    results: Vec<Output<'a>>,
}

/// States and moves are rows of the table, values their movers'.
#[derive(Serialize)]
struct Output<'a> {
    table: String,
    perspective: &'static str,
    layers: Vec<Layer<'a>>,
    all: &'a LayerValues,
    /// Moves of all rows but passes; absent where some were not followed.
    moves: Option<u64>,
    /// How many states have which score; outcome, in games without scores.
    histogram: &'a BTreeMap<i8, u64>,
    /// The most plies to the end.
    longest: Option<u16>,
}

#[derive(Serialize)]
struct Layer<'a> {
    layer: u32,
    moves: Option<u64>,
    #[serde(flatten)]
    values: &'a LayerValues,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let opened = match &args.tables.names(context)?[..] {
        [] => vec![context.latest()?],
        names => names.iter().map(|name| context.store.open(name)).collect::<Result<_, _>>()?,
    };
    let tables = opened.into_iter().map(|table| context.solved(table, false));
    let tables = tables.collect::<anyhow::Result<Vec<_>>>()?;
    let totals: Vec<Totals> = tables.iter().map(SolvedTable::totals).collect();
    let both = tables.iter().zip(&totals);
    if context.json {
        let results = both.map(|(table, totals)| output(table, totals)).collect();
        context.json("results", &Results { results })?;
        return Ok(ExitCode::SUCCESS);
    }
    for (place, (table, totals)) in both.enumerate() {
        let between = if place > 0 { "\n" } else { "" };
        context.print(format!("{between}{}", page(table, totals)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Moves that are no passes, where all are followed: passes are counted at a frontier too.
fn moves(counts: &Counts) -> Option<u64> {
    let rows = &counts.table;
    (rows.frontier == 0).then(|| rows.transitions - rows.passes)
}

fn output<'a>(table: &SolvedTable, totals: &'a Totals) -> Output<'a> {
    let manifest = table.table().manifest();
    let layers = totals.layers.iter().zip(&manifest.layers);
    Output {
        table: table.table().name(),
        perspective: "mover",
        layers: layers
            .map(|((&layer, values), counts)| Layer { layer, moves: moves(counts), values })
            .collect(),
        all: &totals.all,
        moves: moves(&manifest.counts),
        histogram: &totals.histogram,
        longest: totals.longest.map(|(plies, _)| plies),
    }
}

/// A table's part of the page.
fn page(table: &SolvedTable, totals: &Totals) -> anyhow::Result<String> {
    let (game, manifest) = (table.game(), table.table().manifest());
    let (name, program) = (table.table().name(), program::name());
    let roots = table.states().roots()?;
    let mut text = format!(
        "## {}\n\n    {program} enumerate {}\n    {program} value-iterate {name}\n    {program} results {name}\n",
        game.title(),
        options(&manifest.identity, &name),
    );
    for (root, &row) in roots.iter().zip(&manifest.root_ids) {
        text += &format!("\n{}.\n", root_text(table, root, row));
    }
    if let Some((plies, row)) = totals.longest {
        let mut from = String::new();
        let read = table.states().visit(row..row + 1, |_, position| {
            from = game.notation(&position);
            Ok(())
        });
        read.map_err(anyhow::Error::msg)?;
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
    text += &layers_text(table, totals);
    if table.has_scores() {
        text += &histogram_text(&totals.histogram);
    }
    Ok(text)
}

/// What tells `enumerate` to make such a table.
fn options(identity: &Identity, name: &str) -> String {
    let mut options = format!("--game {}", identity.game);
    match (identity.start.as_str(), &identity.roots[..]) {
        ("standard", _) => {}
        ("custom", [root]) => options += &format!(" --root '{root}'"),
        ("custom", _) => options += " --roots FILE",
        (start, _) => options += &format!(" --start {start}"),
    }
    let further = [
        identity.checks_only.then(|| " --checks-only".to_string()),
        identity
            .index
            .as_ref()
            .filter(|index| *index == "keys")
            .map(|_| " --index keys".to_string()),
        (identity.symmetry == "none").then(|| " --symmetry none".to_string()),
        identity.max_depth.map(|plies| format!(" --max-depth {plies}")),
        identity.max_states.map(|states| format!(" --max-states {states}")),
        (crate::graph::table_name(identity) != name).then(|| format!(" --name {name}")),
    ];
    options + &further.into_iter().flatten().collect::<String>()
}

/// What is counted of a layer, with its heading.
type CountColumn = (&'static str, fn(&Counts) -> u64);
/// What is said of a layer's values, with its heading.
type ValueColumn = (&'static str, fn(&LayerValues) -> String);

/// Counts and values by layer; values where rows tell their layer.
fn layers_text(table: &SolvedTable, totals: &Totals) -> String {
    let manifest = table.table().manifest();
    let layer = table.game().layers().unwrap_or("ply");
    let rows = &manifest.counts.table;
    let mut counted: Vec<CountColumn> = Vec::new();
    if manifest.counts.reachable.is_some() {
        counted.push(("positions", |counts| counts.reachable().states));
        counted.push(("boards", Counts::distinct_boards));
        counted.push(("mover-relative", Counts::mover_relative));
    }
    counted.push(("states", |counts| counts.table.states));
    counted.push(("over", |counts| counts.table.terminals));
    if rows.frontier == 0 {
        counted.push(("moves", |counts| moves(counts).unwrap_or_default()));
    } else {
        counted.push(("transitions", |counts| counts.table.transitions));
    }
    if rows.passes > 0 {
        counted.push(("passes", |counts| counts.table.passes));
    }
    if rows.frontier > 0 {
        counted.push(("frontier", |counts| counts.table.frontier));
    }
    let mut valued: Vec<ValueColumn> = vec![
        ("lost", |values| thousands(values.losses)),
        ("drawn", |values| thousands(values.draws)),
        ("won", |values| thousands(values.wins)),
    ];
    if unproven(&totals.all) > 0 {
        valued.push(("not proven", |values| thousands(unproven(values))));
    }
    if table.has_scores() {
        valued.push(("sum of scores", |values| {
            let sign = if values.sum_of_scores < 0 { "−" } else { "" };
            format!("{sign}{}", thousands(values.sum_of_scores.unsigned_abs()))
        }));
    }
    let row = |name: String, counts: &Counts, values: Option<&LayerValues>| -> Vec<String> {
        let counts = counted.iter().map(|(_, count)| thousands(count(counts)));
        let values = valued.iter().map(|(_, say)| values.map_or(String::new(), say));
        [name].into_iter().chain(counts).chain(values).collect()
    };
    let layers = (manifest.first_layer..).zip(&manifest.layers);
    let layers =
        layers.map(|(number, counts)| row(number.to_string(), counts, totals.layers.get(&number)));
    let all = row("all".to_string(), &manifest.counts, Some(&totals.all));
    let headings =
        counted.iter().map(|column| column.0).chain(valued.iter().map(|column| column.0));
    let headings: Vec<&str> = [layer].into_iter().chain(headings).collect();
    format!(
        "\n### By {layer}\n\n*States* are the rows of the table: states as the mover sees them, those that a symmetry \
         carries into each other counted once. Moves and values are theirs, values the mover's.\n\n{}",
        Grid::of(&headings, layers.chain([all])).to_markdown()
    )
}

fn unproven(values: &LayerValues) -> u64 {
    values.states - values.losses - values.draws - values.wins
}

/// How many states are won and lost by how much.
fn histogram_text(histogram: &BTreeMap<i8, u64>) -> String {
    let most = histogram.keys().map(|score| score.unsigned_abs()).max().unwrap_or(0);
    let of = |score: i8| histogram.get(&score).copied().unwrap_or(0);
    let rows =
        (1..=most as i8).map(|by| vec![by.to_string(), thousands(of(-by)), thousands(of(by))]);
    let grid = Grid::of(&["by", "lost", "won"], rows);
    format!(
        "\n### By score\n\nStates that the mover loses and wins by so much; {} are drawn.\n\n{}",
        thousands(of(0)),
        grid.to_markdown()
    )
}
