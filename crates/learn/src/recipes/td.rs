//! Temporal-difference learning by self-play; source in `docs/results/learned.md`.
//!
//! The network estimates the probabilities that Black and that White wins from a position. A player
//! makes the move that maximises the difference of his probability and the other's, and sometimes a
//! random one. After each move the target for the previous position is the answer for the current
//! one, at the end the result (TD(0): Sutton 1988; afterstates: Sutton and Barto, section 6.8).
//!
//! Many games are played in parallel, each with its own seed, and a step follows the mean of their
//! gradients; the source plays one game after the other.

use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::backpropagation::{Gradient, Pass, squared_errors};
use crate::chance::{below, seeded, unit};
use crate::network::{Activation, Architecture, Head, Network};
use crate::optimiser::OptimiserMethod;
use crate::options::{AT_ONCE, COUNT, UNITS, number, rate, share};
use crate::trainer::Trainer;
use crate::training_run::{HistoryRow, Learner};
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri::rules::encode::{Encoding, Layout};
use yomikiri::rules::{AnyPosition, Outcome, Position, Rules, Side};

/// The settings of training, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Settings {
    /// Units of the hidden layer.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = number::<usize>(1, UNITS))]
    pub hidden: usize,
    /// Games of self-play.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = number::<u64>(1, COUNT))]
    pub games: u64,
    /// Games of an iteration.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = number::<u64>(1, COUNT))]
    pub games_per_iteration: u64,
    /// Games that are played in parallel.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = number::<usize>(1, AT_ONCE))]
    pub parallel_games: usize,
    /// Probability of a random move.
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = share)]
    pub epsilon: f64,
    /// Initial learning rate (SGD); it falls linearly to a twentieth.
    #[arg(long, value_name = "RATE", default_value_t = 1.0, value_parser = rate)]
    pub learning_rate: f64,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Settings {
    /// Returns the optimiser.
    pub fn method(&self) -> OptimiserMethod {
        OptimiserMethod::Sgd { rate: self.learning_rate }
    }

    /// Returns the layout of positions: by colour, as in the source.
    pub fn encoding(&self, board: (usize, usize)) -> Encoding {
        Encoding::of(Layout::Colours, Layout::Colours.planes(), board)
    }

    /// Returns the architecture for a board.
    pub fn architecture(&self, board: (usize, usize)) -> Architecture {
        Architecture::Mlp {
            inputs: self.encoding(board).len(),
            hidden: vec![self.hidden],
            activation: Activation::Sigmoid,
            heads: vec![Head {
                name: "wins".to_string(),
                outputs: 2,
                activation: Activation::Sigmoid,
            }],
        }
    }
}

/// Number of parts of the games; constant, because it determines the order of summation.
const PARTS: usize = 4;

/// A game in progress.
struct Lane {
    position: AnyPosition,
    random: Xoshiro256PlusPlus,
    /// Network input of the position after the last move; empty before the first.
    last: Vec<f32>,
    /// Number of steps before it begins.
    wait: usize,
    over: bool,
}

/// Inputs and targets of a step.
#[derive(Default)]
struct TdErrors {
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

/// Temporal-difference learning.
pub struct Td {
    game: Arc<dyn Rules>,
    encoding: Encoding,
    settings: Settings,
    trainer: Trainer,
}

impl Td {
    /// Returns the state before the first game.
    pub fn new(game: Arc<dyn Rules>, settings: Settings) -> Td {
        // Small weights of both signs: with only positive ones, as in the source's program, all hidden
        // units behave alike.
        let architecture = settings.architecture(game.shape());
        let encoding = settings.encoding(game.shape());
        let network = Network::uniform(architecture, settings.seed, -0.1, 0.1);
        let trainer = Trainer::new(network, settings.method());
        Td { game, encoding, settings, trainer }
    }

    fn lane(&self, iteration: u64, number: u64, wait: usize) -> Lane {
        let random = seeded(self.settings.seed, &[iteration, number]);
        Lane { position: self.game.start(), random, last: Vec::new(), wait, over: false }
    }

    /// Makes a move in each game and returns the resulting inputs and targets.
    fn moves(&self, lanes: &mut [Lane]) -> TdErrors {
        let game = &*self.game;
        let width = self.encoding.len();
        let (mut inputs, mut nexts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for lane in lanes.iter() {
            if lane.wait == 0 && !lane.over {
                game.moves(&lane.position.state, |_, state| {
                    let next = Position { state, side: lane.position.side.other() };
                    inputs.resize(inputs.len() + width, 0.0);
                    let own = &mut inputs[nexts.len() * width..];
                    self.encoding.write_position(game, &next, own);
                    nexts.push(next);
                });
            }
            ends.push(nexts.len());
        }
        let mut errors = TdErrors::default();
        if nexts.is_empty() {
            lanes.iter_mut().for_each(|lane| lane.wait = lane.wait.saturating_sub(1));
            return errors;
        }
        let answers = &Pass::new(&self.trainer.network, inputs.clone(), None).answers[0];
        // Black's probability to win less White's, or the result.
        let worth = |at: usize| match result(game, &nexts[at]) {
            Some([black, white]) => black - white,
            None => answers[2 * at] - answers[2 * at + 1],
        };
        let mut begin = 0;
        for (lane, &end) in lanes.iter_mut().zip(&ends) {
            let range = begin..end;
            begin = end;
            if range.is_empty() {
                lane.wait = lane.wait.saturating_sub(1);
                continue;
            }
            let sign = if lane.position.side == Side::First { 1.0 } else { -1.0 };
            let chosen = if range.len() > 1 && unit(&mut lane.random) < self.settings.epsilon {
                range.start + below(&mut lane.random, range.len())
            } else {
                let better =
                    |a: usize, b: usize| if sign * worth(b) > sign * worth(a) { b } else { a };
                range.clone().reduce(better).unwrap_or(range.start)
            };
            let end = result(game, &nexts[chosen]);
            let target = end.unwrap_or([answers[2 * chosen], answers[2 * chosen + 1]]);
            if !lane.last.is_empty() {
                errors.inputs.append(&mut lane.last);
                errors.targets.extend(target);
            }
            lane.position = nexts[chosen];
            lane.over = end.is_some();
            if !lane.over {
                lane.last = inputs[chosen * width..(chosen + 1) * width].to_vec();
            }
        }
        errors
    }
}

/// Returns the result of a finished game, 1 for the winner; `None` while it goes on.
fn result(game: &dyn Rules, position: &AnyPosition) -> Option<[f32; 2]> {
    if !game.is_terminal(&position.state) {
        return None;
    }
    let mover = position.side.index();
    let mut wins = [0.0; 2];
    match game.result(&position.state)? {
        Outcome::Win => wins[mover] = 1.0,
        Outcome::Draw => {}
        Outcome::Loss => wins[1 - mover] = 1.0,
    }
    Some(wins)
}

/// Returns half the squared errors over `count`, so that the gradient is the error, with that gradient.
fn gradient(network: &Network, errors: TdErrors, count: usize) -> Gradient {
    let pass = Pass::new(network, errors.inputs, None);
    let weight = 0.5 / count as f64;
    let (loss, errors) = squared_errors(&pass.answers[0], &errors.targets, weight);
    pass.backward(loss, vec![errors])
}

impl Learner for Td {
    fn iterations(&self) -> u64 {
        self.settings.games.div_ceil(self.settings.games_per_iteration)
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, iteration: u64, _progress: &dyn Progress) -> Result<HistoryRow, Error> {
        let size = self.settings.games_per_iteration;
        let done = iteration * size;
        let games = size.min(self.settings.games - done);
        let factor = 1.0 - 0.95 * (done as f64 / self.settings.games as f64);
        // Games begin at different steps, so that a step covers all stages of a game.
        let plies = self.game.action_count();
        let count = (self.settings.parallel_games as u64).min(games);
        let wait = |at: u64| at as usize * plies / count as usize;
        let mut begun = count;
        let lanes: Vec<Lane> = (0..count).map(|at| self.lane(iteration, at, wait(at))).collect();
        let mut parts: Vec<Vec<Lane>> = Vec::new();
        let size = lanes.len().div_ceil(PARTS);
        let mut rest = lanes.into_iter().peekable();
        while rest.peek().is_some() {
            parts.push(rest.by_ref().take(size).collect());
        }
        let (mut squares, mut steps) = (0.0, 0u64);
        while parts.iter().any(|lanes| !lanes.is_empty()) {
            let this = &*self;
            let errors = parts.par_iter_mut().map(|lanes| this.moves(lanes));
            let errors: Vec<TdErrors> =
                errors.filter(|errors| !errors.targets.is_empty()).collect();
            let count: usize = errors.iter().map(|errors| errors.targets.len() / 2).sum();
            if count > 0 {
                // The learning rate is for a full batch and scales with the number of games.
                let factor = factor * count as f64 / self.settings.parallel_games as f64;
                let step = |network: &Network, errors| gradient(network, errors, count);
                squares += self.trainer.step(errors, factor, None, step)?;
                steps += 1;
            }
            for lanes in &mut parts {
                for lane in lanes.iter_mut().filter(|lane| lane.over) {
                    if begun < games {
                        *lane = self.lane(iteration, begun, 0);
                        begun += 1;
                    }
                }
                lanes.retain(|lane| !lane.over);
            }
        }
        let games = (done + games) as f64;
        Ok(HistoryRow::from([
            ("games".to_string(), games),
            ("loss".to_string(), squares / steps.max(1) as f64),
        ]))
    }
}
