//! `solver train td`, `disc-regression`, `dqn` and `q-mlp`: training on games.

use std::path::PathBuf;

use super::super::context::Context;
use super::super::ensure_solved::ensure_solved;
use super::{Common, Plan, SizeArg, draw, figures, place};
use yomikiri::error::Error;
use yomikiri::oracle::Orienting;
use yomikiri::progress::Silent;
use yomikiri::rules::Rules;
use yomikiri::rules::encode::Layout;
use yomikiri_learn::card::{Card, LearnedFrom, Reading};
use yomikiri_learn::options::{COUNT, KEPT, UNITS, number};
use yomikiri_learn::recipes::{discs, q, td};
use yomikiri_learn::training_run::{HistoryRow, Learner};
use yomikiri_measure::judge::{Player, Sampling, TablePositions, arena, measure};
use yomikiri_measure::policy::{Onnx, Policy, PolicySpec, ReadingSpec, of_rules};

/// The board, and the games that measure the network.
#[derive(Debug, clap::Args)]
struct Board {
    #[command(flatten)]
    size: SizeArg,
    /// Games with each side against each test opponent at the end
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::<u64>(1, KEPT / 10), hide_short_help = true)]
    test_games: u64,
    #[command(flatten)]
    common: Common,
}

/// Temporal-difference learning by self-play
#[derive(Debug, clap::Args)]
pub(super) struct TdArgs {
    #[command(flatten)]
    settings: td::Settings,
    #[command(flatten)]
    board: Board,
}

/// Regression of the final number of discs, on games of five simple players
#[derive(Debug, clap::Args)]
pub(super) struct DiscsArgs {
    #[command(flatten)]
    settings: discs::Settings,
    #[command(flatten)]
    board: Board,
}

const FIVE: &str = "random,n-hand:1,n-hand-custom:1,n-least:1,n-most:1";

/// Q-learning from games against five simple players
#[derive(Debug, clap::Args)]
pub(super) struct DqnArgs {
    /// Opponents, each played from both sides
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = FIVE)]
    opponents: Vec<String>,
    /// Iterations: games, then the fit to the replay buffer
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::<u64>(1, COUNT))]
    iterations: u64,
    /// Games of an iteration with each side against each opponent
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>(1, KEPT / 10))]
    games: u64,
    /// Units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "64,64", value_parser = number::<usize>(1, UNITS))]
    hidden: Vec<usize>,
    #[command(flatten)]
    fit: q::Fit,
    #[command(flatten)]
    board: Board,
}

/// Q-learning by self-play
#[derive(Debug, clap::Args)]
pub(super) struct QMlpArgs {
    /// Iterations: games, then the fit to the replay buffer
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number::<u64>(1, COUNT))]
    iterations: u64,
    /// Games of an iteration
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::<u64>(1, KEPT / 10))]
    games: u64,
    /// Units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "128", value_parser = number::<usize>(1, UNITS))]
    hidden: Vec<usize>,
    #[command(flatten)]
    fit: q::Fit,
    #[command(flatten)]
    board: Board,
}

pub(super) fn td(args: TdArgs, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let TdArgs { settings, board } = args;
    let game = board.size.game(context)?;
    let plan = Plan {
        recipe: "td",
        reading: Reading::Wins,
        encoding: Some(settings.encoding(game.shape())),
        learned_from: LearnedFrom::Nothing,
        equivariant: false,
        architecture: settings.architecture(game.shape()),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    learn(plan, &*game, board, context, |game, _| Ok(td::Td::new(game.folded(), settings)))
}

pub(super) fn discs(args: DiscsArgs, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let DiscsArgs { settings, board } = args;
    let game = board.size.game(context)?;
    let plan = Plan {
        recipe: "disc-regression",
        reading: Reading::Discs,
        encoding: Some(settings.encoding(game.shape())),
        learned_from: LearnedFrom::Nothing,
        equivariant: false,
        architecture: settings.architecture(game.shape()),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    learn(plan, &*game, board, context, |game, context| {
        let players = policies(game, &settings.players)?;
        discs::Discs::new(game, settings, &players, &context.bars)
    })
}

pub(super) fn dqn(args: DqnArgs, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let DqnArgs { opponents, iterations, games, hidden, fit, board } = args;
    let fit = fit.settled([0.5, 0.05], 0.99)?;
    let layout = Layout::Signed;
    q("dqn", q::Settings { layout, hidden, opponents, iterations, games, fit }, board, context)
}

pub(super) fn q_mlp(args: QMlpArgs, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let QMlpArgs { iterations, games, hidden, fit, board } = args;
    let fit = fit.settled([0.5, 0.1], 0.999)?;
    let (layout, opponents) = (Layout::Nchw, Vec::new());
    q("q-mlp", q::Settings { layout, hidden, opponents, iterations, games, fit }, board, context)
}

fn q(
    recipe: &'static str,
    settings: q::Settings,
    board: Board,
    context: &mut Context,
) -> Result<(Card, PathBuf), Error> {
    let game = board.size.game(context)?;
    let plan = Plan {
        recipe,
        reading: Reading::Q,
        encoding: Some(settings.encoding(game.shape())),
        learned_from: LearnedFrom::Nothing,
        equivariant: false,
        architecture: settings.architecture(game.shape()),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    learn(plan, &*game, board, context, |game, _| {
        let opponents = policies(game, &settings.opponents)?;
        Ok(q::QLearning::new(game.folded(), settings, opponents))
    })
}

/// The test opponents of each recipe.
fn test_opponents(recipe: &str) -> &'static [&'static str] {
    match recipe {
        "td" => &["random"],
        "disc-regression" => &["random", "n-least:1", "n-least:2"],
        "dqn" => &["random", "n-hand:1", "n-hand-custom:1", "n-least:1", "n-most:1"],
        _ => &["random", "alphabeta:2"],
    }
}

/// A board of so many squares at most is measured exactly, which needs a table.
const EXACT: usize = 16;

/// Trains, measures and writes.
fn learn<L: Learner>(
    plan: Plan,
    game: &dyn Rules,
    board: Board,
    context: &mut Context,
    learner: impl FnOnce(&dyn Rules, &Context) -> Result<L, Error>,
) -> Result<(Card, PathBuf), Error> {
    let recipe = plan.recipe;
    let place = place(&board.common, recipe, &game.name(), context)?;
    let run = plan.run(game.name(), &board.common, place.clone())?;
    let (rows, columns) = game.shape();
    let table = match rows * columns <= EXACT {
        true => Some(ensure_solved(game, None, false, context)?),
        false => None,
    };
    let mut learner = learner(game, context)?;
    let player = run.player(game);
    let measured = run.run(&mut learner, &context.bars, |learner, history| {
        let player = player(&learner.trainer().network, &ReadingSpec::default())?;
        let mut row = HistoryRow::new();
        if let Some(history) = history {
            draw(&place, history)?;
        }
        let is_last = history.is_some();
        let games = if is_last { board.test_games } else { 100 };
        for opponent in if is_last { test_opponents(recipe) } else { &["random"] } {
            play_test_games(game, &player, opponent, games, &mut row)?;
        }
        if let Some(table) = &table {
            let judged = TablePositions::new(table, Orienting::All);
            let players = [Player::Policy(Box::new(player))];
            let measured = measure(&judged, &players, None, &Silent)?;
            figures("", &measured.policies[0], &mut row);
        }
        Ok(row)
    });
    Ok((measured?, place))
}

/// The policies of these names.
fn policies(game: &dyn Rules, names: &[String]) -> Result<Vec<Box<dyn Policy>>, Error> {
    let policy = |name: &String| {
        let policy = of_rules(&name.parse()?, game)?;
        let none = || Error::from(format!("policy '{name}' cannot be learned from"));
        policy.ok_or_else(none)
    };
    names.iter().map(policy).collect()
}

/// Plays games against a test opponent; after some random moves if it is deterministic, since the
/// same game would repeat.
fn play_test_games(
    game: &dyn Rules,
    player: &Onnx,
    opponent: &str,
    games: u64,
    row: &mut HistoryRow,
) -> Result<(), Error> {
    let spec: PolicySpec = opponent.parse()?;
    let Some(policy) = of_rules(&spec, game)? else { return Ok(()) };
    let random_plies = if opponent == "random" { 0 } else { OPENING };
    let sampling = Sampling { games, random_plies, seed: 1 };
    let [first, second] = arena(game, player, policy.as_ref(), sampling, &Silent)?;
    for (side, tally) in [("first", first), ("second", second)] {
        row.insert(format!("won as {side} against {opponent}"), tally.won());
        row.insert(
            format!("drawn as {side} against {opponent}"),
            tally.draws as f64 / games as f64,
        );
    }
    Ok(())
}

/// Random moves before games against a deterministic opponent.
const OPENING: u32 = 6;
