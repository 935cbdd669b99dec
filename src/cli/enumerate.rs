//! `solver enumerate`: all reachable states into a table.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::error::UserError;
use super::guard;
use crate::game::{Cyclic, Game, GameSpec, GameVisitor, Layered, Position};
use crate::graph::{Enumerated, Plan, enumerate, estimate, table_name};
use crate::render::Grid;
use crate::render::number::{bytes, thousands};
use crate::table::{Counts, Manifest, Table};

/// Enumerate all reachable states of a board into a table
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The board, rows x columns, each 4 to 8: 4x6, or 4 for 4x4
    #[arg(long, value_name = "SIZE", default_value = "4")]
    size: String,
    /// Begin here instead of at the standard start: a board, an OBF line, digits or a transcript
    #[arg(long, value_name = "POSITION", conflicts_with = "start", allow_hyphen_values = true)]
    root: Option<String>,
    /// Who may move first from the standard start
    #[arg(long, value_enum, default_value = "black")]
    start: Start,
    /// Fold states that the board's symmetries carry into each other
    #[arg(long, value_enum, default_value = "full")]
    symmetry: Symmetry,
    /// Follow no moves of states this many plies from the root (a pass is a ply)
    #[arg(long, value_name = "PLIES")]
    max_depth: Option<u32>,
    /// Begin no layer (number of discs) that would make the table larger than this
    #[arg(long, value_name = "STATES")]
    max_states: Option<u64>,
    /// Begin even if it is not expected to fit
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Start {
    /// Black, as the rules say
    Black,
    /// Either side (the 2002 thesis counted so)
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Symmetry {
    /// All symmetries of the board
    Full,
    /// None: a row for every state as its mover sees it
    None,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let spec = GameSpec::othello(&args.size)?;
    let fold = args.symmetry == Symmetry::Full;
    let made = spec.with_rules(fold, Enumerate { args: &args, context })?;
    print(&made, context)?;
    Ok(ExitCode::SUCCESS)
}

struct Enumerate<'a> {
    args: &'a Args,
    context: &'a mut Context,
}

impl GameVisitor for Enumerate<'_> {
    type Output = anyhow::Result<Enumerated>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Enumerated> {
        let Args { root, start, max_depth, max_states, force, .. } = self.args;
        let standard = game.start();
        let (start, roots) = match (root, start) {
            (Some(text), _) => match game.parse_position(text, &standard)? {
                root if root == standard => ("standard", vec![root]),
                root => ("custom", vec![root]),
            },
            (None, Start::Black) => ("standard", vec![standard]),
            (None, Start::Both) => ("both", vec![standard, other_side_first(&game)]),
        };
        let plan = Plan {
            start: start.to_string(),
            roots,
            max_depth: *max_depth,
            max_states: *max_states,
            ..Plan::from_start(&game)
        };
        make(&game, &plan, self.context, *force)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Enumerated> {
        Err(UserError::not_yet("enumerate", &game).into())
    }
}

fn other_side_first<G: Game>(game: &G) -> Position<G::State> {
    let start = game.start();
    Position { state: game.swapped(&start.state), side: start.side.other() }
}

/// Enumerates a plan after looking whether there is room for it.
pub(super) fn make<G: Layered>(
    game: &G,
    plan: &Plan<G::State>,
    context: &Context,
    force: bool,
) -> anyhow::Result<Enumerated> {
    if plan.max_depth == Some(0) {
        return Err(UserError::new("--max-depth 0 follows no move; give at least 1").into());
    }
    let name = table_name(&plan.identity(game));
    if !context.store.place(&name).exists() {
        guard::check(&name, &estimate(game, plan), context, force)?;
    }
    let made = enumerate(game, plan, &context.store, &context.bars)?;
    if let Some(layer) = made.resumed_at {
        context.remark(format!("{name}: went on from {layer} discs, where an earlier run ended"));
    }
    Ok(made)
}

#[derive(Serialize)]
struct Output<'a> {
    table: String,
    directory: String,
    reused: bool,
    bytes: u64,
    manifest: &'a Manifest,
}

fn print(made: &Enumerated, context: &mut Context) -> anyhow::Result<()> {
    let table = &made.table;
    let manifest = table.manifest();
    if context.json {
        return context.json(&Output {
            table: table.name(),
            directory: table.dir().display().to_string(),
            reused: made.reused,
            bytes: size_of_table(table),
            manifest,
        });
    }
    context.print(counts_text(manifest))?;
    let there = if made.reused { " (it was already there)" } else { "" };
    context.line(format!(
        "\ntable {} in {}, {}{there}",
        table.name(),
        table.dir().display(),
        bytes(size_of_table(table) as f64)
    ))?;
    Ok(())
}

/// The payload of all arrays, in bytes.
pub(super) fn size_of_table(table: &Table) -> u64 {
    let width = |dtype: &str| dtype.get(2..).and_then(|w| w.parse::<u64>().ok()).unwrap_or(1);
    let arrays = table.manifest().arrays.values();
    let sizes = arrays.map(|a| a.shape.iter().fold(width(&a.dtype), |n, &d| n.saturating_mul(d)));
    sizes.fold(0, u64::saturating_add)
}

/// The counts of a table with their meaning, in all and by discs.
pub(super) fn counts_text(manifest: &Manifest) -> String {
    let identity = &manifest.identity;
    let board = identity.game.trim_start_matches("othello-");
    let from = match identity.start.as_str() {
        "standard" => "the standard start, Black to move".to_string(),
        "both" => "the standard start, either side to move".to_string(),
        _ => identity.roots.join(" "),
    };
    let mut text = format!("Othello {board} from {from}\n\n");
    let (counts, rows) = (&manifest.counts, &manifest.counts.table);
    let reachable = counts.reachable();
    let folding = match identity.symmetry_order {
        1 => "mover-relative states up to the board's symmetries".to_string(),
        n => format!("mover-relative states up to the board's {n} symmetries: the table's rows"),
    };
    let mut facts = vec![
        (reachable.states, "reachable states", "a board and the side to move"),
        (counts.distinct_boards(), "distinct boards", "whoever is to move"),
        (
            counts.mover_relative(),
            "mover-relative states",
            "boards as the mover sees them, colours forgotten",
        ),
        (counts.canonical(), "canonical states", &folding),
        (reachable.terminals, "terminals", "reachable states in which the game is over"),
        (reachable.passes, "passes", "reachable states whose mover must pass"),
        (reachable.transitions, "transitions", "moves out of reachable states, passes among them"),
    ];
    if !manifest.complete {
        facts.push((
            reachable.frontier,
            "frontier",
            "reachable states whose moves were not followed",
        ));
    }
    for (number, name, meaning) in facts {
        text += &format!("{:>15}  {name:<22} {meaning}\n", thousands(number));
    }
    text += &format!(
        "{:>15}  {:<22} rows of the table: {} states, {} transitions\n\n",
        "",
        "",
        thousands(rows.states),
        thousands(rows.transitions)
    );
    text + &layers_text(manifest)
}

fn layers_text(manifest: &Manifest) -> String {
    let mut headings = vec![
        "discs",
        "states",
        "boards",
        "mover-relative",
        "canonical",
        "terminals",
        "passes",
        "transitions",
    ];
    if !manifest.complete {
        headings.push("frontier");
    }
    let row = |name: String, counts: &Counts| {
        let reachable = counts.reachable();
        let mut cells = vec![
            reachable.states,
            counts.distinct_boards(),
            counts.mover_relative(),
            counts.canonical(),
            reachable.terminals,
            reachable.passes,
            reachable.transitions,
        ];
        if !manifest.complete {
            cells.push(reachable.frontier);
        }
        std::iter::once(name).chain(cells.into_iter().map(thousands)).collect()
    };
    let mut rows: Vec<Vec<String>> = manifest
        .layers
        .iter()
        .enumerate()
        .map(|(i, counts)| row((manifest.first_layer as usize + i).to_string(), counts))
        .collect();
    rows.push(row("all".to_string(), &manifest.counts));
    Grid::of(&headings, rows).to_text()
}
