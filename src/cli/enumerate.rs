//! `solver enumerate`: all reachable states into a table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::counts::{counts_text, size_of_table};
use super::error::UserError;
use super::guard;
use crate::game::{Cyclic, Game, GameSpec, GameVisitor, Layered, Position, SpecError};
use crate::graph::{Enumerated, Plan, enumerate, enumerate_whole, estimate, explore, table_name};
use crate::render::number::bytes;
use crate::table::Manifest;

/// Enumerate all reachable states of a board into a table
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An Othello board, rows x columns, each 4 to 8: 4x6, or 4 for 4x4 [default: 4]
    #[arg(long, value_name = "SIZE", conflicts_with = "game")]
    size: Option<String>,
    /// The game: minishogi, animal-shogi, animal-shogi-3x3, or othello-4x6 and the like
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
    /// Begin here instead of at the standard start: a board, an OBF line, digits, SFEN or a
    /// transcript
    #[arg(long, value_name = "POSITION", conflicts_with_all = ["start", "roots"], allow_hyphen_values = true)]
    root: Option<String>,
    /// Begin at every position of a file, one a line; the table is the union of their subtrees
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    roots: Option<PathBuf>,
    /// Who may move first from the standard start (Othello) [default: black]
    #[arg(long, value_enum)]
    start: Option<Start>,
    /// The player to move at the root gives check with every move, the other plays everything: the
    /// tree of a mating problem (minishogi)
    #[arg(long)]
    checks_only: bool,
    /// How rows are found; by rank where the game is enumerated whole and can be ranked
    #[arg(long, value_enum)]
    index: Option<Index>,
    /// Fold states that the board's symmetries carry into each other
    #[arg(long, value_enum, default_value = "full")]
    symmetry: Symmetry,
    /// Follow no moves of states this many plies from the root (a pass is a ply); needed for minishogi
    #[arg(long, value_name = "PLIES")]
    max_depth: Option<u32>,
    /// Begin no layer (number of discs; ply in shogi) that would make the table larger than this
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
enum Index {
    /// By the rank of the position: small tables, moves made from the rules
    Rank,
    /// Among sorted keys, with a stored transition table
    Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Symmetry {
    /// All symmetries of the board
    Full,
    /// None: a row for every state as its mover sees it
    None,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let spec = spec(&args.game, &args.size, "4")?;
    let fold = args.symmetry == Symmetry::Full;
    let made = spec.with_rules(fold, Enumerate { args: &args, context })?;
    print(&made, context)?;
    Ok(ExitCode::SUCCESS)
}

/// The game that is asked for by its name or the size of its board.
pub(super) fn spec(
    game: &Option<String>,
    size: &Option<String>,
    default_size: &str,
) -> Result<GameSpec, SpecError> {
    match game {
        Some(game) => game.parse(),
        None => GameSpec::othello(size.as_deref().unwrap_or(default_size)),
    }
}

struct Enumerate<'a> {
    args: &'a Args,
    context: &'a mut Context,
}

impl GameVisitor for Enumerate<'_> {
    type Output = anyhow::Result<Enumerated>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Enumerated> {
        let Args { start, checks_only, index, force, .. } = self.args;
        if *checks_only || index.is_some() {
            let option = if *checks_only { "--checks-only" } else { "--index" };
            return Err(UserError::new(format!("{option} means nothing in Othello")).into());
        }
        let mut plan = self.plan(&game)?;
        if matches!(start, Some(Start::Both)) {
            plan.start = "both".to_string();
            plan.roots = vec![game.start(), other_side_first(&game)];
        }
        make(&game, &plan, self.context, *force)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Enumerated> {
        let Args { start, max_depth, max_states, checks_only, index, force, .. } = self.args;
        if start.is_some() {
            return Err(UserError::new("--start is for Othello; give a --root").into());
        }
        let mut plan = self.plan(&game)?;
        plan.checks_only = *checks_only;
        let bounded = max_depth.is_some() || max_states.is_some() || plan.start != "standard";
        let ranks = !bounded && !checks_only && game.rank_count().is_some();
        if *index == Some(Index::Rank) && !ranks {
            return Err(UserError::new(format!(
                "--index rank is for a whole game that ranks its positions, folded; {} here is not",
                game.spec()
            ))
            .into());
        }
        if !bounded && !checks_only && !ranks && game.rank_count().is_none() && game.keeps_sides() {
            return Err(UserError::new(format!(
                "{} is too large to be enumerated whole; give --max-depth (7 plies are 9.5 million states), --max-states or --checks-only",
                game.spec()
            ))
            .into());
        }
        let keys = *index == Some(Index::Keys);
        make_cyclic(&game, plan, ranks && !keys, self.context, *force)
    }
}

impl Enumerate<'_> {
    /// What the options that all games share ask for.
    fn plan<G: Game>(&self, game: &G) -> anyhow::Result<Plan<G::State>> {
        let Args { root, roots, max_depth, max_states, .. } = self.args;
        let standard = game.start();
        let roots = match (root, roots) {
            (Some(text), _) => vec![game.parse_position(text, &standard)?],
            (None, Some(path)) => read_roots(game, path)?,
            (None, None) => vec![standard],
        };
        let start = if roots == [standard] { "standard" } else { "custom" };
        Ok(Plan {
            start: start.to_string(),
            roots,
            max_depth: *max_depth,
            max_states: *max_states,
            ..Plan::from_start(game)
        })
    }
}

/// The positions of a file, one a line; empty lines and what follows a # are left out.
fn read_roots<G: Game>(game: &G, path: &Path) -> anyhow::Result<Vec<Position<G::State>>> {
    let wrong = |what: String| UserError::new(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let mut roots = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let root = game
            .parse_position(line, &game.start())
            .map_err(|error| wrong(format!("line {}: {error}", number + 1)))?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    if roots.is_empty() {
        return Err(wrong("has no position; write one a line".to_string()).into());
    }
    Ok(roots)
}

/// Enumerates a plan of a cyclic game, by ranks or by keys, while there is room.
pub(super) fn make_cyclic<G: Cyclic>(
    game: &G,
    mut plan: Plan<G::State>,
    ranked: bool,
    context: &Context,
    force: bool,
) -> anyhow::Result<Enumerated> {
    check_depth(plan.max_depth)?;
    let made = if ranked {
        let ranks = f64::from(game.rank_count().unwrap_or(0));
        if !force {
            // The bits, the list of a ply and what it finds, and the bits once more when written.
            guard::check_memory(&game.spec().to_string(), ranks / 2.0 + 2e7)?;
        }
        enumerate_whole(game, &plan, &context.store, &context.bars)?
    } else {
        plan.max_memory = if force { None } else { guard::free_memory().map(|free| free as u64) };
        explore(game, &plan, &context.store, &context.bars)?
    };
    if let Some(ply) = made.resumed_at {
        let name = made.table.name();
        context.remark(format!("{name}: went on from ply {ply}, where an earlier run ended"));
    }
    Ok(made)
}

fn check_depth(max_depth: Option<u32>) -> Result<(), UserError> {
    match max_depth {
        Some(0) => Err(UserError::new("--max-depth 0 follows no move; give at least 1")),
        _ => Ok(()),
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
    check_depth(plan.max_depth)?;
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
