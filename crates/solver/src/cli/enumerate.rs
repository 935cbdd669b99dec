//! `solver enumerate`: all reachable states into a table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::counts::{bracketed, counts_text, size_of_table};
use super::lines::{FormOption, GameFile};
use super::preflight;
use super::signals::report_resumable;
use super::sizes::Memory;
use super::table_args::GameArg;
use yomikiri::enumerate::{self, Enumerated, Index, Plan, estimate};
use yomikiri::error::Error;
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri::table::{Manifest, Table, free_disk};
use yomikiri_measure::render::number::bytes;

/// Enumerate all reachable states of a game into a table
///
/// Minishogi is too large to be enumerated whole: give --max-depth or --max-states.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArg,
    /// Begin at this position: a board, an OBF line, digits, SFEN or a transcript
    #[arg(long, value_name = "POSITION", conflicts_with_all = ["start", "roots"], allow_hyphen_values = true)]
    root: Option<String>,
    /// Begin at every position of a file, one per line; the table is the union of their subtrees
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    roots: Option<PathBuf>,
    #[command(flatten)]
    form: FormOption,
    /// Player to move at the standard start, in games that always end [default: first]
    #[arg(long, value_name = "WHO", value_enum, hide_short_help = true)]
    start: Option<Start>,
    /// Index of the rows [default: rank, where a game is enumerated whole and can be ranked]
    #[arg(long, value_name = "INDEX", value_enum, hide_short_help = true)]
    index: Option<IndexArg>,
    /// Store the moves, or derive them from the rules for a third of the size (Othello, whole)
    ///
    /// [default: stored, unless that does not fit on the disk]
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true)]
    transitions: Option<TransitionsArg>,
    /// Fold states that symmetries of the board map to each other
    #[arg(long, value_name = "WHICH", value_enum, default_value = "full", hide_short_help = true)]
    symmetry: Symmetry,
    /// Follow no moves of states this many plies from the root (a pass is a ply)
    #[arg(long, value_name = "PLIES")]
    max_depth: Option<u32>,
    /// Stop before a layer, or ply, that would exceed this many states
    #[arg(long, value_name = "STATES")]
    max_states: Option<u64>,
    /// Name of the table [default: derived from the game and the options]
    ///
    /// Commands that build a missing table look for the derived name only.
    #[arg(long)]
    name: Option<String>,
    /// Memory limit: 4G [default: the free memory]
    ///
    /// Beyond it, whole boards of Othello use files beside the table until it is finished; other games are enumerated
    /// in slices.
    #[arg(long, value_name = "BYTES")]
    memory: Option<Memory>,
    /// Begin even if it is not expected to fit
    #[arg(long)]
    force: bool,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: super::cluster::ClusterArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Start {
    /// The first player, as the rules say
    First,
    /// Either player: positions reached either way count
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum IndexArg {
    /// By the rank of the position: small tables, moves made from the rules
    Rank,
    /// Among sorted keys, with a stored transition table
    Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum TransitionsArg {
    /// In files that are mapped
    Stored,
    /// From the rules: smaller, slower to ask
    Derived,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Symmetry {
    /// All symmetries of the board
    Full,
    /// None: a row for every state as its mover sees it
    None,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    #[cfg(feature = "cluster")]
    if args.cluster.is_asked() {
        let game = args.game.game(context)?;
        let mut job = super::cluster::job(game, false, args.memory, context);
        job.plies = args.max_depth;
        return super::cluster::run(&args.cluster, job, context);
    }
    report_resumable(context.bars.clone(), context.json)?;
    let game = args.game.game(context)?;
    let fold = args.symmetry == Symmetry::Full;
    let game = game.with_folding(fold).unwrap_or(game);
    if !fold && game.group().order() > 1 {
        let name = game.name();
        return Err(Error::new(
            format!("{name} always folds its states"),
            "leave --symmetry none out, or give the game a `with_folding`",
        ));
    }
    let mut plan = plan(&args, &*game, context)?;
    if args.transitions.is_none() && !args.force {
        plan.derived = is_better_derived(&*game, &plan, context);
    }
    let made = make(&*game, plan, context, args.force)?;
    // Tables that other commands make on the way do not become the default.
    context.store.set_latest(&made.table.name())?;
    print(&made, &*game, context)?;
    if args.name.is_none() && made.table.manifest().identity.start == "custom" {
        context.remark(
            "a table from other positions than the start is easier to find with --name NAME",
        );
    }
    Ok(())
}

/// Returns whether the moves alone do not fit on the disk.
fn is_better_derived(game: &dyn Rules, plan: &Plan, context: &Context) -> bool {
    let derived = Plan { derived: true, ..plan.clone() };
    let there = |plan: &Plan| context.store.place(&plan.table_name(game)).exists();
    let Some(room) = free_disk(context.store.root()) else { return false };
    let fits = |plan| estimate(game, plan).is_none_or(|expected| expected.disk <= room);
    plan.has_blocks(game) && !there(plan) && !fits(plan) && (there(&derived) || fits(&derived))
}

/// Returns the plan of the options.
fn plan(args: &Args, game: &dyn Rules, context: &Context) -> Result<Plan, Error> {
    let Args { start, index, force: _, root, roots, max_depth, max_states, .. } = args;
    let (name, layered) = (game.name(), game.is_layered());
    let unfit = [
        (index.is_some() && layered && game.rank_count().is_none(), "--index"),
        (start.is_some() && !layered, "--start"),
        (args.transitions.is_some() && !layered, "--transitions"),
    ];
    if let Some((_, option)) = unfit.into_iter().find(|(unfit, _)| *unfit) {
        return Err(Error::from(format!("{option} does not apply to {name}")));
    }
    if *max_depth == Some(0) {
        return Err(Error::new(
            "invalid --max-depth 0: expected at least 1",
            "1 follows the moves of the root",
        ));
    }
    let standard = game.start();
    let roots = match (root, roots) {
        (Some(text), _) => vec![game.parse_position(text, &standard)?],
        (None, Some(path)) => roots_in(game, path, args.form, context)?,
        (None, None) => vec![standard],
    };
    let named = if roots == [standard] { "standard" } else { "custom" };
    let mut plan = Plan {
        start: named.to_string(),
        roots,
        max_depth: *max_depth,
        max_states: *max_states,
        derived: args.transitions == Some(TransitionsArg::Derived),
        max_memory: args.memory.map(|memory| memory.0),
        name: args.name.clone(),
        ..Plan::from_start(game)
    };
    if matches!(start, Some(Start::Both)) {
        let swapped = game.swapped(&standard.state).filter(|state| !game.must_pass(state));
        let state = swapped.ok_or_else(|| {
            let hint = "it needs a start in which either side can move, and `swapped`";
            Error::new(format!("--start both does not apply to {name}"), hint)
        })?;
        plan.start = "both".to_string();
        plan.roots = vec![standard, AnyPosition { state, side: standard.side.other() }];
    }
    match index {
        Some(IndexArg::Rank) => plan.index = Index::Rank,
        Some(IndexArg::Keys) => plan.index = Index::Keys,
        None if !plan.is_whole() => plan.index = Index::Keys,
        None => {}
    }
    if plan.is_whole() && !game.facts().is_small {
        return Err(Error::new(
            format!("{name} is too large to be enumerated whole"),
            "give --max-depth (7 plies are 9.5 million states) or --max-states",
        ));
    }
    Ok(plan)
}

/// Returns the distinct last positions of a file of positions or games.
fn roots_in(
    game: &dyn Rules,
    path: &Path,
    form: FormOption,
    context: &Context,
) -> Result<Vec<AnyPosition>, Error> {
    let file = GameFile::open(path)?;
    let records = form.read(&file, game, None, context)?;
    if let Some((place, error)) = records.errors.into_iter().next() {
        return Err(error.map(|what| format!("{}, {place}: {what}", file.name)));
    }
    let (mut roots, mut known) = (Vec::new(), HashSet::new());
    for record in &records.games {
        let root = *record.played.position();
        if known.insert(root) {
            roots.push(root);
        }
    }
    match roots.is_empty() {
        true => Err(Error::new(format!("no position in {}", file.name), "write one per line")),
        false => Ok(roots),
    }
}

/// Enumerates a plan after checking that it fits.
pub(super) fn make(
    game: &dyn Rules,
    mut plan: Plan,
    context: &Context,
    force: bool,
) -> Result<Enumerated, Error> {
    let name = plan.table_name(game);
    if !force {
        plan = preflight::planned(game, plan, context)?;
    }
    let made = enumerate::build(game, &plan, &context.store, &context.bars).map_err(|error| {
        let draft = context.store.place(&name).with_added_extension("partial");
        preflight::with_left(error, &draft)
    })?;
    if let Some(layer) = made.resumed_at {
        let at = match game.layer_unit() {
            Some(unit) => format!("{layer} {unit}"),
            None => format!("ply {layer}"),
        };
        context.remark(format!("{name}: resumed at {at}, where an earlier run ended"));
    }
    Ok(made)
}

/// A table as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// Name of the table.
    table: String,
    /// Directory of its files.
    directory: String,
    /// Size of its files.
    bytes: u64,
    /// Manifest of the table: docs/table-format.md.
    #[cfg_attr(feature = "schemas", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    manifest: &'a Manifest,
}

impl<'a> Output<'a> {
    pub(super) fn of(table: &'a Table) -> Output<'a> {
        Output {
            table: table.name(),
            directory: table.dir().display().to_string(),
            bytes: size_of_table(table),
            manifest: table.manifest(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Reused<'a> {
    /// True if it was there already.
    reused: bool,
    #[serde(flatten)]
    output: Output<'a>,
}

fn print(made: &Enumerated, game: &dyn Rules, context: &mut Context) -> Result<(), Error> {
    let output = Reused { reused: made.reused, output: Output::of(&made.table) };
    context.show("enumerate", &output, |Reused { reused, output }| {
        let there = if *reused { " (it was already there)" } else { "" };
        let Output { table, directory, bytes: size, manifest } = output;
        let size = bytes(*size as f64);
        let counts = counts_text(game, manifest);
        let title = bracketed(game, table, &manifest.identity);
        format!("{counts}\ntable {table}{title} in {directory}, {size}{there}\n")
    })
}
