//! `solver train minishogi-value`: a value network for minishogi.

use std::path::PathBuf;

use super::super::context::Context;
use super::{Common, draw, learn_error, new_card, place};
use crate::game::shogi::MINISHOGI;
use crate::learn::card::{Card, Inputs, PieceFeatures, Reading};
use crate::learn::recipes::minishogi_value::{MinishogiValue, Settings};
use crate::learn::training;

/// Train a value network for minishogi, on mates, then by self-play
///
/// The first iterations are epochs of positions that are mate, or one move before it; the others play
/// games and train on them. The network plays with 'learned:NAME?plies=6,width=4', which searches 6
/// plies and keeps 4 moves of each position; 'mate=20000' first searches that many positions for a
/// forced win.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Units of each hidden layer
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "256")]
    hidden: Vec<usize>,
    /// Training positions at mate
    #[arg(long, value_name = "N", default_value_t = 1_800_000)]
    mates: usize,
    /// Held-out positions at mate
    #[arg(long, value_name = "N", default_value_t = 96_554)]
    held_out: usize,
    /// Epochs of the positions at mate
    #[arg(long, value_name = "N", default_value_t = 4)]
    mate_epochs: u64,
    /// Iterations of self-play after that
    #[arg(long, value_name = "N", default_value_t = 40)]
    iterations: u64,
    /// Games of an iteration
    #[arg(long, value_name = "N", default_value_t = 2_500)]
    games: u64,
    /// Epochs of the positions of an iteration's games
    #[arg(long, value_name = "N", default_value_t = 1)]
    epochs: u64,
    /// Positions at mate mixed in for each position of self-play, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    mate_share: f64,
    /// Most random moves at the opening of a game
    #[arg(long, value_name = "N", default_value_t = 10)]
    random_plies: usize,
    /// Plies after which a game ends without a result
    #[arg(long, value_name = "N", default_value_t = 256)]
    plies: usize,
    /// Weight of the return in a target, 0 to 1; the rest is the network's value
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    alpha: f32,
    /// Weight of later positions in a return, 0 to 1; the rest is the next value
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    gamma: f32,
    /// Batch size, in positions
    #[arg(long, value_name = "N", default_value_t = 64)]
    batch: usize,
    /// Initial learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    learning_rate: f64,
    /// Final learning rate, at the end of the mates and in self-play, as a share of the initial one
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    final_rate: f64,
    /// Test positions with proven moves, of each of two kinds, to measure its play at the end
    #[arg(long, value_name = "N", default_value_t = 200)]
    test_positions: usize,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let settings = Settings {
        hidden: args.hidden,
        mates: args.mates,
        held_out: args.held_out,
        mate_epochs: args.mate_epochs,
        iterations: args.iterations,
        games: args.games,
        epochs: args.epochs,
        mate_share: args.mate_share,
        random_plies: args.random_plies,
        plies: args.plies,
        alpha: args.alpha,
        gamma: args.gamma,
        batch: args.batch,
        learning_rate: args.learning_rate,
        final_rate: args.final_rate,
        seed: args.common.seed,
    };
    let game = MINISHOGI.name;
    let place = place(&args.common, "value", game, context)?;
    let mut learner = MinishogiValue::new(settings.clone(), &context.bars).map_err(learn_error)?;
    let inputs = Inputs::Pieces(PieceFeatures::Attacks);
    let of = ("minishogi-value", game, inputs, Reading::Win);
    let mut card = new_card(of, &learner, serde_json::to_value(&settings)?);
    let method = settings.method();
    let at = args.common.at(&place);
    training::run(&mut learner, method, at, &mut card, &context.bars, |learner, rows| {
        draw(&place, rows)?;
        let mut row = learner.held_out();
        row.extend(learner.tactics(args.test_positions)?);
        Ok(row)
    })
    .map_err(learn_error)?;
    Ok((card, place))
}
