//! `solver train tabular`: the textbook's algorithms on a solved table.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::super::context::Context;
use super::super::error::UserError;
use super::super::players::policies_dir;
use super::super::table_args::solved;
use super::learn_error;
use crate::game::Game;
use crate::learn::card::{file, write_whole};
use crate::learn::recipes::tabular::{Algorithm, Chart, Point, Settings, Tabular};
use crate::parallel;
use crate::progress::Progress;
use crate::registry::othello;
use crate::render::number::thousands;
use crate::render::{Line, Panel, panels};

/// Monte Carlo and temporal-difference learning with a value for every state or move, as in the
/// thesis of 2002, each measured against the solution as it learns
///
/// NAME.csv has the curves, NAME.svg plots them. Nothing is kept of what was learned: the solution
/// is at hand.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An algorithm; may be repeated [default: all]
    #[arg(long = "method", value_enum, value_name = "METHOD", value_delimiter = ',')]
    methods: Vec<Algorithm>,
    #[command(flatten)]
    settings: Settings,
    /// The board of Othello, rows x columns
    #[arg(long, value_name = "SIZE", default_value = "4")]
    size: String,
    /// Where to write, without an ending [default: policies/tabular-GAME beside the tables]
    #[arg(long, value_name = "NAME")]
    out: Option<PathBuf>,
}

/// The most squares of a board whose states are held in memory, each with its moves.
const MOST_SQUARES: usize = 20;

/// A line of the CSV file.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    games: u64,
    error: f64,
    right_decisive: f64,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let Args { methods, settings, size, out } = args;
    let range = |what: &str, number: f64| match (0.0..=1.0).contains(&number) {
        true => Ok(()),
        false => Err(UserError::new(format!("{what} {number}: give a number from 0 to 1"))),
    };
    range("--epsilon", settings.epsilon)?;
    range("--alpha", settings.alpha)?;
    if settings.games == 0 || settings.every == 0 {
        return Err(UserError::new("--games and --every: at least 1 each").into());
    }
    let game = othello(&size)?;
    let (rows, columns) = game.shape();
    if rows * columns > MOST_SQUARES {
        return Err(UserError::new(format!(
            "--size {size}: at most {MOST_SQUARES} squares, for every state has a value in memory; try 4x5"
        ))
        .into());
    }
    let methods = if methods.is_empty() { Algorithm::ALL.to_vec() } else { methods };
    let name = format!("tabular-{}", game.name());
    let place = out.unwrap_or_else(|| policies_dir(&context.store).join(&name));
    let chart = Chart::of(&solved(&game, None, false, context)?).map_err(learn_error)?;
    context.bars.begin("learning", Some(settings.games * methods.len() as u64));
    let curves: Vec<Vec<Point>> = parallel::map(methods.len(), &|at| {
        let mut learner = Tabular::new(&chart, methods[at], &settings);
        learner.learn(|games| context.bars.advance(games))
    });
    context.bars.finish(&format!("{} games with each method", thousands(settings.games)));
    let lines = methods.iter().zip(&curves).flat_map(|(method, curve)| {
        curve.iter().map(|point| Row {
            method: method.name(),
            games: point.games,
            error: point.error,
            right_decisive: point.right,
        })
    });
    let lines: Vec<Row> = lines.collect();
    let mut csv = csv::Writer::from_writer(Vec::new());
    lines.iter().try_for_each(|line| csv.serialize(line))?;
    let csv = csv.into_inner().map_err(|error| error.into_error())?;
    if let Some(parent) = place.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let svg = draw(&game.name(), &methods, &curves);
    for (ending, bytes) in [("csv", &csv[..]), ("svg", svg.as_bytes())] {
        write_whole(&file(&place, ending), bytes).map_err(learn_error)?;
    }
    if context.json {
        context.json(&lines)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.line(format!(
        "{:<16} {:>10} {:>9} {:>15}  error against",
        "method", "games", "error", "right decisive"
    ))?;
    for (method, curve) in methods.iter().zip(&curves) {
        for point in [curve.first(), curve.last()].into_iter().flatten() {
            context.line(format!(
                "{:<16} {:>10} {:>9.4} {:>14.1}%  {}",
                method.name(),
                thousands(point.games),
                point.error,
                100.0 * point.right,
                if method.predicts() { "random play" } else { "best play" },
            ))?;
        }
    }
    let written = file(&place, "csv").display().to_string();
    context.line(format!("written: {written} and .svg"))?;
    Ok(ExitCode::SUCCESS)
}

fn draw(game: &str, methods: &[Algorithm], curves: &[Vec<Point>]) -> String {
    let lines = |of: &dyn Fn(&Point) -> f64| -> Vec<Line> {
        let line = |(method, curve): (&Algorithm, &Vec<Point>)| {
            let points = curve.iter().map(|point| (point.games as f64, of(point))).collect();
            (method.name().to_string(), points)
        };
        methods.iter().zip(curves).map(line).collect()
    };
    let (errors, right) = (lines(&|point| point.error), lines(&|point| point.right));
    let most =
        errors.iter().flat_map(|(_, points)| points).map(|point| point.1).fold(0.1, f64::max);
    let error = format!("{game}: error of the values (root of the mean square)");
    let moves = format!("{game}: right moves in decisive positions");
    panels(&[
        Panel { title: &error, x: "games", y: (0.0, most), percent: false, lines: &errors },
        Panel { title: &moves, x: "games", y: (0.0, 1.0), percent: true, lines: &right },
    ])
}
