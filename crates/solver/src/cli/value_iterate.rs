//! `solver value-iterate`: solve a table.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::context::Context;
use super::counts::MOST_ROOTS;
use super::output;
use super::preflight;
use super::signals::report_resumable;
use super::sizes::Memory;
use super::table_args::OneTable;
use yomikiri::error::Error;
use yomikiri::oracle::{SolvedTable, States};
use yomikiri::rules::{AnyPosition, Empties, Repetition};
use yomikiri::solve::{self, RowOrder, Run, SolveOptions};
use yomikiri::table::{Discounted, Scratch, Solution, SweepRecord, Table};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::{counted, thousands};
use yomikiri_measure::render::verdict::{Mover, proven_text, verdict};

/// Solve a table by value iteration: value, score and distance of every state
///
/// In a layered game (Othello) every move leads to a later layer, so that it always ends; a cyclic game (shogi) may
/// never end.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Stop after a sweep in which no value changes by this much (layered games) [default: 0.01]
    #[arg(long, value_name = "θ", hide_short_help = true)]
    theta: Option<f64>,
    /// Order of a sweep (layered games) [default: topological]
    #[arg(long, value_name = "ORDER", value_enum, hide_short_help = true)]
    order: Option<OrderArg>,
    /// Store outcomes discounted by γ a ply too, as 32-bit floats in the column 'value'
    #[arg(long, value_name = "γ")]
    discount: Option<f64>,
    /// Rule for empty squares in final scores (Othello) [default: uncounted]
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(["uncounted", "to-winner"])
        .map(|name| Empties::named(&name).unwrap_or_default()))]
    empties: Option<Empties>,
    /// Algorithm (layered games); both give the same values [default: value-iteration]
    #[arg(long, value_name = "METHOD", value_enum, hide_short_help = true)]
    method: Option<MethodArg>,
    /// Value of infinite play (cyclic games)
    ///
    /// The default is a draw in animal shogi, and a win of the second player in minishogi, by its rule of fourfold
    /// repetition. With 'unknown', values that depend on it are not proven.
    #[arg(long, value_name = "VALUE", value_parser = PossibleValuesParser::new(["draw", "second-player-wins", "unknown"])
        .map(|name| Repetition::of(&name).unwrap_or(Repetition::Unknown)))]
    repetition: Option<Repetition>,
    /// Memory limit: 4G [default: the free memory]
    ///
    /// Beyond it, values of layered games use files beside the table until it is solved.
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
enum OrderArg {
    /// Layer by layer from the end: one sweep
    Topological,
    /// All states from the values before the sweep, as often as it takes
    Natural,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodArg {
    /// Sweeps over all states
    ValueIteration,
    /// A policy is evaluated and improved, in turn
    PolicyIteration,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    #[cfg(feature = "cluster")]
    if args.cluster.is_asked() {
        let word = args.table.word().map(str::to_string);
        let game = context.games.meant(&word.unwrap_or_else(|| context.games.default_name()))?;
        let job = super::cluster::job(game, true, args.memory, context);
        return super::cluster::run(&args.cluster, job, context);
    }
    report_resumable(context.bars.clone(), context.json)?;
    let mut table = args.table.open(context)?;
    if args.table.word().is_none() {
        context.remark(format!("{}: {}", table.name(), context.why_latest()));
    }
    let order = match (args.method, args.order) {
        (Some(MethodArg::PolicyIteration), Some(_)) => {
            let what = "--order does not apply to policy iteration";
            return Err(Error::new(what, "leave out --order or --method"));
        }
        (Some(MethodArg::PolicyIteration), None) => Some(RowOrder::Policies),
        (Some(MethodArg::ValueIteration), _) if is_taken_back(&table, context)? => {
            let name = table.name();
            let what = format!(
                "{name} is solved by retrograde analysis, as all tables by rank without layers are"
            );
            return Err(Error::new(what, "leave out --method"));
        }
        (_, order) => order.map(|order| match order {
            OrderArg::Topological => RowOrder::Topological,
            OrderArg::Natural => RowOrder::Natural,
        }),
    };
    let options = SolveOptions {
        order,
        theta: args.theta,
        empties: args.empties,
        discount: args.discount,
        repetition: args.repetition,
        checkpoint_after: None,
        max_memory: args.memory.map(|memory| memory.0),
    };
    output::check(&table.dir().join("manifest.json"))?;
    let run = solve_table(&mut table, &options, args.force, context)?;
    if run.resumed {
        context.remark(format!("{}: resumed where an earlier run ended", table.name()));
    }
    print(table, &run, options.discount.is_some(), context)
}

/// Returns whether a table is solved by retrograde analysis.
fn is_taken_back(table: &Table, context: &Context) -> Result<bool, Error> {
    let by_rank = table.manifest().identity.is_by_rank();
    Ok(by_rank && !context.games.of_table(table)?.is_layered())
}

/// Solves a table after checking that there is room for it.
pub(super) fn solve_table(
    table: &mut Table,
    options: &SolveOptions,
    force: bool,
    context: &Context,
) -> Result<Run, Error> {
    let game = context.games.of_table(table)?;
    let options = match options.within_room(&*game, table) {
        Err(no_room) if !force => {
            let what = format!("{} needs", table.name());
            return Err(preflight::refused(&what, &no_room, "close other programs"));
        }
        found => found.unwrap_or(*options),
    };
    let mut on_sweep = |sweep: usize, record: &SweepRecord| {
        tracing::info!(sweep, record.residual, record.changed, record.decided, "swept");
    };
    let run = solve::solve(&*game, table, &options, &context.bars, &mut on_sweep);
    run.map_err(|error| preflight::with_left(error, Scratch::of(table.dir()).dir()))
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// Name of the table.
    table: String,
    /// Directory of its files.
    directory: String,
    /// Always `mover`: values are those of the player to move.
    perspective: &'static str,
    /// True if it was solved in this way already.
    already_solved: bool,
    /// Solution with exact values; null if only discounted values were wanted.
    solution: Option<&'a Solution>,
    /// Solution with discounted values; null without --discount.
    discounted: Option<&'a Discounted>,
}

fn print(table: Table, run: &Run, discounted: bool, context: &mut Context) -> Result<(), Error> {
    let manifest = table.manifest();
    if context.json {
        return context.json(
            "value-iterate",
            &Output {
                table: table.name(),
                directory: table.dir().display().to_string(),
                perspective: "mover",
                already_solved: run.already_solved,
                solution: manifest.solution.as_ref().filter(|_| !discounted),
                discounted: manifest.discounted.as_ref().filter(|_| discounted),
            },
        );
    }
    let name = table.name();
    let done = match run.already_solved {
        true => format!("{name} was already solved in this way:"),
        false => format!("{name}: {}", counted(run.sweeps.len() as u64, "sweep")),
    };
    let found = match discounted {
        true => discounted_text(table, context)?,
        false => result_text(&context.solved(table.for_few_rows(), false)?)?,
    };
    context.print(format!("{done}\n\n{}\n{found}", sweeps_text(run)))
}

fn sweeps_text(run: &Run) -> String {
    let rows = (1..).zip(&run.sweeps).map(|(number, sweep): (u32, _)| {
        let residual = format!("{:.4}", sweep.residual);
        let residual = residual.trim_end_matches('0').trim_end_matches('.').to_string();
        let mut row = vec![number.to_string(), residual, thousands(sweep.changed)];
        row.extend(sweep.decided.map(thousands));
        row
    });
    let mut headings = vec!["sweep", "residual", "states changed"];
    headings.extend(run.sweeps.iter().find_map(|sweep| sweep.decided).map(|_| "decided"));
    Grid::of(&headings, rows).to_text()
}

/// The discounted values of the roots.
fn discounted_text(table: Table, context: &Context) -> Result<String, Error> {
    let values = table.manifest().discounted.as_ref().map_or(vec![], |d| d.roots.clone());
    let states = States::open(context.games.of_table(&table)?, table, false)?;
    let line = |(root, value): (AnyPosition, f32)| {
        let side = states.game().side_name(root.side);
        format!("{side}, to move at the root: discounted value {value:+}\n")
    };
    Ok(states.roots()?.into_iter().zip(values).map(line).collect())
}

/// Returns the value of a root of a table in a sentence.
pub(super) fn root_text(table: &SolvedTable, root: &AnyPosition, row: u64) -> String {
    let game = table.game();
    let mover = Mover {
        side: game.side_name(root.side),
        in_check: game.in_check(&root.state),
        unit: table.has_scores().then(|| game.score_unit()),
    };
    verdict(mover, table.value(row as usize))
}

/// Returns the values of the roots in words, a line each; of many the first.
pub(super) fn root_texts(table: &SolvedTable) -> Result<Vec<String>, Error> {
    let game = table.game();
    let roots = table.states().roots()?;
    let rows = &table.table().manifest().root_ids;
    let shown = roots.iter().zip(rows).take(MOST_ROOTS).map(|(root, &row)| {
        let value = root_text(table, root, row);
        match roots.len() == 1 || game.is_layered() {
            true => value,
            false => format!("{}: {value}", game.notation(root)),
        }
    });
    let more = roots.len().saturating_sub(MOST_ROOTS);
    let more = (more > 0).then(|| format!("and {more} roots more; see the manifest"));
    Ok(shown.chain(more).collect())
}

/// Returns the values of the roots in words.
fn result_text(table: &SolvedTable) -> Result<String, Error> {
    let (game, manifest) = (table.game(), table.table().manifest());
    let mut text = root_texts(table)?.join("\n") + "\n";
    match &manifest.solution {
        Some(solution) if !game.is_layered() || !manifest.complete => {
            text += &proven_text(manifest, solution);
            text.push('\n');
        }
        _ => {}
    }
    Ok(text)
}
