//! `solver train td`, `disc-regression`, `dqn` and `q-mlp`: networks that learn from games.

use std::path::{Path, PathBuf};

use super::super::context::Context;
use super::super::error::UserError;
use super::super::report::{Request, Timeout, opened};
use super::{Common, Course, figures, learn_error, place};
use crate::any::AnyGame;
use crate::evaluate::{Judged, Player, Sampling, arena, measure};
use crate::game::Game;
use crate::learn::LearnError;
use crate::learn::card::{Card, Reading};
use crate::learn::course::Row;
use crate::learn::features::Features;
use crate::learn::network::Network;
use crate::learn::player::Learned;
use crate::learn::recipes::{discs, q, td};
use crate::policy::{Policy, PolicySpec};
use crate::progress::Silent;
use crate::registry::othello;
use crate::solved::{Orienting, SolvedTable};

/// On which board, and how it is measured.
#[derive(Debug, clap::Args)]
struct Board {
    /// The board, as rows x columns or the side of a square; on 4x4 the network is measured exactly
    #[arg(long, value_name = "SIZE", default_value = "4")]
    size: String,
    /// How many games with each side are played at the end against each rival
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rival_games: u64,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    timeout: Timeout,
}

/// Learn by temporal differences from games against itself, as in the thesis of 2002
#[derive(Debug, clap::Args)]
pub(super) struct TdArgs {
    /// How many games
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    games: u64,
    /// How many of them are a round
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    round: u64,
    /// How many are played side by side
    #[arg(long, value_name = "N", default_value_t = 64)]
    lanes: usize,
    /// Hidden units
    #[arg(long, value_name = "N", default_value_t = 40)]
    hidden: usize,
    /// How often a random move is made
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    epsilon: f64,
    /// The size of a step
    #[arg(long, value_name = "RATE", default_value_t = 1.0)]
    rate: f64,
    #[command(flatten)]
    board: Board,
}

/// Learn to foretell the final discs from games of five simple players (an article of 2022)
#[derive(Debug, clap::Args)]
pub(super) struct DiscsArgs {
    /// Who plays; each meets each, itself too
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = FIVE_READING_TWO)]
    players: Vec<String>,
    /// How many games each meeting has
    #[arg(long, value_name = "N", default_value_t = 400)]
    games: u64,
    /// How many moves are drawn at random before the players are asked
    #[arg(long, value_name = "N", default_value_t = 8)]
    random_plies: u32,
    /// The units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "100,50")]
    hidden: Vec<usize>,
    /// How often every position is shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    rounds: u64,
    /// How many positions a step sees
    #[arg(long, value_name = "N", default_value_t = 256)]
    batch: usize,
    /// The size of the first steps
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    rate: f64,
    #[command(flatten)]
    board: Board,
}

const FIVE_READING_TWO: &str = "random,n-hand:2,n-hand-custom:2,n-least:2,n-most:2";
const FIVE: &str = "random,n-hand:1,n-hand-custom:1,n-least:1,n-most:1";

/// Learn the worth of moves from games against five simple players (an article of 2023)
#[derive(Debug, clap::Args)]
pub(super) struct DqnArgs {
    /// Against whom it plays, from both sides
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = FIVE)]
    opponents: Vec<String>,
    /// How many rounds
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rounds: u64,
    /// How many games a round has with each side against each
    #[arg(long, value_name = "N", default_value_t = 1)]
    games: u64,
    /// The units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "64,64")]
    hidden: Vec<usize>,
    #[command(flatten)]
    q: QArgs,
    #[command(flatten)]
    board: Board,
}

/// Learn the worth of moves from games against itself (a course exercise)
#[derive(Debug, clap::Args)]
pub(super) struct QMlpArgs {
    /// How many rounds
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u64,
    /// How many games a round has
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u64,
    /// The units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "128")]
    hidden: Vec<usize>,
    #[command(flatten)]
    q: QArgs,
    #[command(flatten)]
    board: Board,
}

/// How worths are learned.
#[derive(Debug, clap::Args)]
struct QArgs {
    /// How many decisions are remembered
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    replay: usize,
    /// How many steps are made for each decision, a game counting as half the board's actions
    #[arg(long, value_name = "N", default_value_t = 0.25)]
    steps: f64,
    /// How many memories a step sees
    #[arg(long, value_name = "N", default_value_t = 128)]
    batch: usize,
    /// After how many steps the older copy is renewed
    #[arg(long, value_name = "N", default_value_t = 500)]
    renew: u64,
    /// The size of the first steps
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    rate: f64,
}

pub(super) fn td(args: TdArgs, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    if args.games == 0 || args.round == 0 || args.lanes == 0 || args.hidden == 0 {
        return Err(
            UserError::new("--games, --round, --lanes and --hidden: at least 1 each").into()
        );
    }
    let settings = td::Settings {
        hidden: args.hidden,
        games: args.games,
        round: args.round,
        lanes: args.lanes,
        epsilon: args.epsilon,
        rate: args.rate,
        seed: args.board.common.seed,
    };
    learn(Recipe::Td(settings), "td", args.board, context)
}

pub(super) fn discs(args: DiscsArgs, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let settings = discs::Settings {
        players: args.players,
        games: args.games,
        random_plies: args.random_plies,
        hidden: args.hidden,
        rounds: args.rounds,
        batch: args.batch.max(1),
        rate: args.rate,
        seed: args.board.common.seed,
    };
    learn(Recipe::Discs(settings), "disc-regression", args.board, context)
}

pub(super) fn dqn(args: DqnArgs, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let settings = q::Settings {
        features: Features::Signed,
        hidden: args.hidden,
        opponents: args.opponents,
        rounds: args.rounds,
        games: args.games,
        epsilon: [0.5, 0.05],
        gamma: 0.99,
        replay: args.q.replay,
        steps: args.q.steps,
        batch: args.q.batch.max(1),
        renew: args.q.renew.max(1),
        rate: args.q.rate,
        bound: 1.0,
        seed: args.board.common.seed,
    };
    learn(Recipe::Q(settings), "dqn", args.board, context)
}

pub(super) fn q_mlp(args: QMlpArgs, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let settings = q::Settings {
        features: Features::Planes,
        hidden: args.hidden,
        opponents: Vec::new(),
        rounds: args.rounds,
        games: args.games,
        epsilon: [0.5, 0.1],
        gamma: 0.999,
        replay: args.q.replay,
        steps: args.q.steps,
        batch: args.q.batch.max(1),
        renew: args.q.renew.max(1),
        rate: args.q.rate,
        bound: 1.0,
        seed: args.board.common.seed,
    };
    learn(Recipe::Q(settings), "q-mlp", args.board, context)
}

enum Recipe {
    Td(td::Settings),
    Discs(discs::Settings),
    Q(q::Settings),
}

/// Against whom a network of each recipe is measured in games.
fn rivals(recipe: &str) -> &'static [&'static str] {
    match recipe {
        "td" => &["random"],
        "disc-regression" => &["random", "n-least:1", "n-least:2"],
        "dqn" => &["random", "n-hand:1", "n-hand-custom:1", "n-least:1", "n-most:1"],
        _ => &["random", "alphabeta:2"],
    }
}

/// A side of so many squares at most is measured exactly, which needs a table.
const EXACT: usize = 16;

fn learn(
    recipe: Recipe,
    name: &str,
    board: Board,
    context: &mut Context,
) -> anyhow::Result<(Card, PathBuf)> {
    let game = othello(&board.size)?;
    let place = place(&board.common, name, &game.name(), context)?;
    let (rows, columns) = game.shape();
    let table = match rows * columns <= EXACT {
        true => {
            let asked = Request {
                policies: &["random".to_string()],
                timeout: &board.timeout,
                table: None,
                game: None,
                size: Some(&board.size),
                force: false,
            };
            Some(opened(&asked, context)?.0)
        }
        false => None,
    };
    let card = train(recipe, name, &board, (&game, table.as_ref()), &place, context)?;
    Ok((card, place))
}

fn train(
    recipe: Recipe,
    name: &str,
    board: &Board,
    (game, table): (&AnyGame, Option<&SolvedTable>),
    place: &Path,
    context: &Context,
) -> anyhow::Result<Card> {
    let (features, reading) = match &recipe {
        Recipe::Td(_) => (Features::Colours, Reading::Wins),
        Recipe::Discs(_) => (Features::Ternary, Reading::Discs),
        Recipe::Q(settings) => (settings.features, Reading::Q),
    };
    let examine = |network: &Network, last: bool| {
        let player = Learned::new("network".to_string(), network, features, reading)?;
        let mut row = Row::new();
        if let Some(table) = table {
            let judged = Judged { table, orienting: Orienting::All };
            let players = [Player::Policy(Box::new(player.clone()))];
            let measured = measure(&judged, &players, None, &Silent)?;
            figures("", &measured.policies[0], &mut row);
        }
        let games = if last { board.rival_games } else { 100 };
        for rival in if last { rivals(name) } else { &["random"] } {
            met(game, &player, rival, games, &mut row)?;
        }
        Ok(row)
    };
    let (method, settings) = match &recipe {
        Recipe::Td(settings) => (settings.method(), serde_json::to_value(settings)?),
        Recipe::Discs(settings) => (settings.method(), serde_json::to_value(settings)?),
        Recipe::Q(settings) => (settings.method(), serde_json::to_value(settings)?),
    };
    let (place, every) = (board.common.at(place), board.common.every.max(1));
    let spec = game.name();
    let course =
        Course { recipe: name, game: spec, features, reading, method, settings, place, every };
    let own = game.folded();
    match recipe {
        Recipe::Td(settings) => course.run(td::Td::new(own, settings), &examine, &context.bars),
        Recipe::Discs(settings) => {
            let players = policies(game, &settings.players)?;
            let learner = discs::Discs::new(game, settings, &players, &context.bars);
            course.run(learner.map_err(learn_error)?, &examine, &context.bars)
        }
        Recipe::Q(settings) => {
            let opponents = policies(game, &settings.opponents)?;
            let learner = q::QLearning::new(own, settings, opponents);
            course.run(learner, &examine, &context.bars)
        }
    }
}

/// The policies of these names.
fn policies(game: &AnyGame, names: &[String]) -> Result<Vec<Box<dyn Policy<AnyGame>>>, UserError> {
    let policy = |name: &String| {
        let spec: PolicySpec = name.parse().map_err(UserError::from_error)?;
        let policy = game.policy(&spec).map_err(UserError::from_error)?;
        policy.ok_or_else(|| UserError::new(format!("policy '{name}' cannot be learned from")))
    };
    names.iter().map(policy).collect()
}

/// Plays games against a rival; those who are not random themselves are met after some random moves,
/// for they would play the same game again and again.
fn met(
    game: &AnyGame,
    player: &Learned,
    rival: &str,
    games: u64,
    row: &mut Row,
) -> Result<(), LearnError> {
    let spec: PolicySpec = rival.parse().map_err(crate::policy::PolicyError::from)?;
    let Some(policy) = game.policy(&spec)? else { return Ok(()) };
    let random_plies = if rival == "random" { 0 } else { OPENING };
    let sampling = Sampling { games, random_plies, seed: 1 };
    let [first, second] = arena(game, player, policy.as_ref(), sampling, &Silent)?;
    for (side, tally) in [("first", first), ("second", second)] {
        row.insert(format!("won as {side} against {rival}"), tally.won());
        row.insert(format!("drawn as {side} against {rival}"), tally.draws as f64 / games as f64);
    }
    Ok(())
}

/// Random moves before games against a rival that is not random.
const OPENING: u32 = 6;
