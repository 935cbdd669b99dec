//! `solver train minishogi-value`: a value network for minishogi.

use std::path::PathBuf;

use super::super::context::Context;
use super::{Common, blank, draw, learn_error, place};
use crate::game::shogi::MINISHOGI;
use crate::learn::card::{Card, Inputs, PieceFeatures, Reading};
use crate::learn::course;
use crate::learn::recipes::minishogi_value::{MinishogiValue, Settings};

/// Learn the mover's chance to win in minishogi, from mates and from games against itself
///
/// What it learns first are positions of random games that are mate, or one move before it. The network
/// plays with 'learned:NAME?plies=6,width=4', which reads 6 plies ahead and keeps 4 moves of each
/// position; 'mate=20000' lets it first look for a forced win in as many positions.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "256")]
    hidden: Vec<usize>,
    /// How many positions at mate to learn from
    #[arg(long, value_name = "N", default_value_t = 1_800_000)]
    mates: usize,
    /// How many other positions at mate to measure with
    #[arg(long, value_name = "N", default_value_t = 96_554)]
    held_out: usize,
    /// How often the positions at mate are shown
    #[arg(long, value_name = "N", default_value_t = 4)]
    mate_rounds: u64,
    /// Rounds of self-play after that
    #[arg(long, value_name = "N", default_value_t = 40)]
    rounds: u64,
    /// Games of self-play in each round
    #[arg(long, value_name = "N", default_value_t = 2_500)]
    games: u64,
    /// How often the positions of a round's games are shown
    #[arg(long, value_name = "N", default_value_t = 1)]
    shows: u64,
    /// How many positions at mate are shown again with each position of self-play
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    reminder: f64,
    /// The most random moves at the opening of a game
    #[arg(long, value_name = "N", default_value_t = 10)]
    random_plies: usize,
    /// After how many plies a game is broken off
    #[arg(long, value_name = "N", default_value_t = 256)]
    plies: usize,
    /// How far a target goes from the network's value to the return, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    alpha: f32,
    /// How far a return looks beyond the next value, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    gamma: f32,
    /// How many positions a step sees
    #[arg(long, value_name = "N", default_value_t = 64)]
    batch: usize,
    /// The size of a step
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    rate: f64,
    /// How long steps are at the end of the mates and in self-play, of their full size
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    last: f64,
    /// How many positions with proven moves, of each of two kinds, to measure its play in at the end
    #[arg(long, value_name = "N", default_value_t = 200)]
    exam: usize,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let settings = Settings {
        hidden: args.hidden,
        mates: args.mates,
        held_out: args.held_out,
        mate_rounds: args.mate_rounds,
        rounds: args.rounds,
        games: args.games,
        shows: args.shows,
        reminder: args.reminder,
        random_plies: args.random_plies,
        plies: args.plies,
        alpha: args.alpha,
        gamma: args.gamma,
        batch: args.batch,
        rate: args.rate,
        last: args.last,
        seed: args.common.seed,
    };
    let game = MINISHOGI.name;
    let place = place(&args.common, "value", game, context)?;
    let mut learner = MinishogiValue::new(settings.clone(), &context.bars).map_err(learn_error)?;
    let inputs = Inputs::Pieces(PieceFeatures::Attacks);
    let of = ("minishogi-value", game, inputs, Reading::Win);
    let mut card = blank(of, &learner, serde_json::to_value(&settings)?);
    let method = settings.method();
    let at = args.common.at(&place);
    course::run(&mut learner, method, at, &mut card, &context.bars, |learner, rows| {
        draw(&place, rows)?;
        let mut row = learner.held_out();
        row.extend(learner.tactics(args.exam)?);
        Ok(row)
    })
    .map_err(learn_error)?;
    Ok((card, place))
}
