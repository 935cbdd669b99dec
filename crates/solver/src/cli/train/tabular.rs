//! `solver train tabular`: the textbook's algorithms on a solved table.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::super::context::Context;
use super::super::ensure_solved::ensure_solved;
use super::super::players::policies_dir;
use super::{SizeArg, check_free};
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{Orientations, Outcome};
use yomikiri::table::rows::StateKind;
use yomikiri_learn::card::{file, write_whole};
use yomikiri_learn::recipes::tabular::{Algorithm, Chart, Point, Settings, Tabular, TabularState};
use yomikiri_measure::render::number::thousands;
use yomikiri_measure::render::{Line, Panel, panels};

/// Tabular Monte Carlo and temporal-difference learning, measured against the solution
///
/// Each algorithm has a value for every state or move. NAME.csv has the learning curves, NAME.svg plots them; the
/// values are not stored.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An algorithm; may be repeated [default: all]
    #[arg(long = "method", value_enum, value_name = "METHOD", value_delimiter = ',')]
    methods: Vec<Algorithm>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    size: SizeArg,
    /// Output without an ending [default: policies/tabular-GAME beside the tables]
    #[arg(long, value_name = "NAME")]
    out: Option<PathBuf>,
    /// Replace the files of an earlier run
    #[arg(long)]
    force: bool,
}

/// The most squares of a board whose states are held in memory, each with its moves.
const MOST_SQUARES: usize = 20;

/// A line of the CSV file.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Row {
    /// The algorithm.
    method: String,
    /// Number of games that it has learned from.
    games: u64,
    /// The root mean square error of its values against the exact ones.
    error: f64,
    /// Share of decisive positions in which its best move keeps the outcome, 0 to 1.
    right_decisive: f64,
}

/// The JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct Curves {
    /// The points of the curves.
    curves: Vec<Row>,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let Args { methods, settings, size, out, force } = args;
    let game = size.game(context)?;
    let (rows, columns) = game.shape();
    if rows * columns > MOST_SQUARES {
        let what = format!(
            "{} has more than {MOST_SQUARES} squares: every state needs a value in memory",
            game.name()
        );
        return Err(Error::new(what, "try 4x5"));
    }
    let methods = if methods.is_empty() { Algorithm::value_variants().to_vec() } else { methods };
    let name = format!("tabular-{}", game.name());
    let place = out.unwrap_or_else(|| policies_dir(&context.store).join(&name));
    check_free(&place, &["csv", "svg"], force)?;
    let chart = chart(&ensure_solved(&*game, None, false, context)?)?;
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
    lines.iter().try_for_each(|line| csv.serialize(line)).map_err(std::io::Error::from)?;
    let csv = csv.into_inner().map_err(|error| error.into_error())?;
    let svg = draw(&game.name(), &methods, &curves);
    for (ending, bytes) in [("csv", &csv[..]), ("svg", svg.as_bytes())] {
        write_whole(&file(&place, ending), bytes)?;
    }
    context.show("train-tabular", &Curves { curves: lines }, |_| {
        let [method, games, error, right] = ["method", "games", "error", "right decisive"];
        let mut text = format!("{method:<16} {games:>10} {error:>9} {right:>15}  error against\n");
        for (method, curve) in methods.iter().zip(&curves) {
            for point in [curve.first(), curve.last()].into_iter().flatten() {
                text += &format!(
                    "{:<16} {:>10} {:>9.4} {:>14.1}%  {}\n",
                    method.name(),
                    thousands(point.games),
                    point.error,
                    100.0 * point.right,
                    if method.predicts() { "random play" } else { "best play" },
                );
            }
        }
        text + &format!("written: {} and .svg\n", file(&place, "csv").display())
    })
}

/// The states of a solved table of a whole layered game.
fn chart(table: &SolvedTable) -> Result<Chart, Error> {
    let (states, mut all, mut moves) = (table.states(), Vec::new(), Vec::new());
    let read = states.visit(0..states.rows(), |row, position| {
        moves.clear();
        if states.kind(row, &position.state) == StateKind::Interior {
            states.moves(row, &position.state, &mut moves)?;
        }
        let targets =
            moves.iter().map(|&(_, target)| target.filter(|&to| (to as usize) < states.rows()));
        all.push(TabularState {
            moves: targets
                .collect::<Option<_>>()
                .ok_or_else(|| format!("a move of row {row} leads out of it"))?,
            outcome: table.value(row).outcome().map_or(0, Outcome::value),
            positions: states.orientations(row).map_or(1, Orientations::count),
        });
        Ok(())
    });
    read.map_err(|what| Error::damaged(table.table().dir(), what))?;
    let root = table.table().manifest().root_ids.first().map_or(0, |&row| row as usize);
    Ok(Chart::new(root, all))
}

fn draw(game: &str, methods: &[Algorithm], curves: &[Vec<Point>]) -> String {
    let lines = |of: &dyn Fn(&Point) -> f64| -> Vec<Line> {
        let line = |(method, curve): (&Algorithm, &Vec<Point>)| {
            let points = curve.iter().map(|point| (point.games as f64, of(point))).collect();
            (method.name(), points)
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::*;
    use yomikiri::oracle::Orienting;
    use yomikiri::progress::Silent;
    use yomikiri::registry::othello;
    use yomikiri::rules::{Action, AnyPosition, AnyState, Outcome, Rules};
    use yomikiri::table::Store;
    use yomikiri_measure::judge::{Player, TablePositions, measure};
    use yomikiri_measure::policy::{ByRule, Rule};

    /// Returns the mover's expected outcome of random play, by the rules alone.
    fn expectation(game: &dyn Rules, state: &AnyState) -> f64 {
        let (mut sum, mut moves) = (0.0, 0);
        game.moves(state, |_, after| {
            sum -= expectation(game, &after);
            moves += 1;
        });
        let end = || f64::from(game.result(state).map_or(0, Outcome::value));
        if moves == 0 { end() } else { sum / f64::from(moves) }
    }

    /// Learned values of moves from row to row, as a policy that the report measures.
    struct AsPolicy(Arc<SolvedTable>, HashMap<(usize, usize), f64>);

    impl Rule for AsPolicy {
        fn name(&self) -> String {
            "tabular".to_string()
        }

        fn worths(
            &self,
            game: &dyn Rules,
            position: &AnyPosition,
            actions: &[Action],
            out: &mut [f64],
        ) {
            let AsPolicy(table, worths) = self;
            let row = table.states().find(position).unwrap();
            for (out, &action) in out.iter_mut().zip(actions) {
                let state = game.play(&position.state, action);
                let after = AnyPosition { state, side: position.side.other() };
                let target = table.states().find(&after).unwrap();
                *out = worths[&(row, target)];
            }
        }
    }

    #[test]
    fn curves_begin_level_come_nearer_and_are_those_of_the_report() {
        let dir = tempfile::tempdir().unwrap();
        let game = othello("4").unwrap();
        let table = SolvedTable::of_whole(game, &Store::at(dir.path()), &Silent).unwrap();
        let table = Arc::new(table);
        let chart = chart(&table).unwrap();
        let settings = Settings { games: 4000, every: 2000, epsilon: 0.2, alpha: 0.1, seed: 3 };
        // Late states, where all lines can be followed by the rules.
        let late = chart.states() - 6000;
        let visited = table.states().visit(late..late + 50, |row, position| {
            let expected = expectation(table.game(), &position.state);
            assert!((chart.random(row) - expected).abs() < 1e-9, "{row}");
            Ok(())
        });
        visited.unwrap();
        for algorithm in Algorithm::value_variants().iter().copied() {
            let mut learner = Tabular::new(&chart, algorithm, &settings);
            let points = learner.learn(|_| {});
            let games: Vec<u64> = points.iter().map(|point| point.games).collect();
            assert_eq!(games, [0, 2000, 4000]);
            let nearer = points[2].error < points[0].error && points[2].right > points[0].right;
            assert!(nearer, "{algorithm:?}: {points:?}");
            let again = Tabular::new(&chart, algorithm, &settings).learn(|_| {});
            assert_eq!(again, points);
            let mut worths = HashMap::new();
            for row in 0..chart.states() {
                worths.extend(
                    chart.moves(row).map(|at| ((row, chart.target(at)), learner.worth(at))),
                );
            }
            let player = Player::Policy(Box::new(ByRule(AsPolicy(table.clone(), worths))));
            let judged = TablePositions::new(&table, Orienting::All);
            let measured = measure(&judged, &[player], None, &Silent).unwrap();
            let right = measured.policies[0].total.decisive_result.result_kept().unwrap();
            assert!((right - points[2].right).abs() < 1e-9, "{algorithm:?}: {right}, {points:?}");
        }
        // Random play can be predicted well where it comes often: at the start.
        let many = Settings { games: 20_000, ..settings };
        let mut learner = Tabular::new(&chart, Algorithm::MonteCarlo, &many);
        learner.learn(|_| {});
        let root = table.table().manifest().root_ids[0] as usize;
        let standard_error = 1.0 / f64::sqrt(20_000.0);
        let start = learner.value(root) - chart.random(root);
        assert!(start.abs() < 4.0 * standard_error, "{start}");
    }
}
