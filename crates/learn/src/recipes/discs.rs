//! Regression of the final number of discs on games of other players; source in `docs/results/learned.md`.
//!
//! Every player plays every player on both sides. The target of a position is the share of all
//! squares that its mover holds at the end. The test set consists of whole games, because
//! positions of one game share their target.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::backpropagation::{Pass, squared_errors};
use crate::chance::{seeded, shuffle};
use crate::network::{Activation, Architecture, Head, Network};
use crate::optimiser::{OptimiserKind, OptimiserMethod};
use crate::options::{AT_ONCE, COUNT, KEPT, OPENING, UNITS, number, rate};
use crate::trainer::Trainer;
use crate::training_run::{HistoryRow, Learner};
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri::rules::Rules;
use yomikiri::rules::encode::{Encoding, Layout, Plane};
use yomikiri_measure::judge::{Sampling, record};
use yomikiri_measure::policy::Policy;

const PLAYERS: &str = "random,n-hand:2,n-hand-custom:2,n-least:2,n-most:2";

/// The settings of training, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Settings {
    /// Players; each plays against every player, itself included.
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = PLAYERS)]
    pub players: Vec<String>,
    /// Games of each pair.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = number::<u64>(1, KEPT / 100))]
    pub games: u64,
    /// Random moves at the start of a game.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number::<u32>(0, OPENING))]
    pub random_plies: u32,
    /// Units of each hidden layer.
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "100,50", value_parser = number::<usize>(1, UNITS))]
    pub hidden: Vec<usize>,
    /// Epochs.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::<u64>(1, COUNT))]
    pub epochs: u64,
    /// Batch size.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = number::<usize>(1, AT_ONCE))]
    pub batch: usize,
    /// Activation of the hidden units.
    #[arg(long, value_enum, default_value = "tanh")]
    pub activation: Activation,
    /// Activation of the output.
    #[arg(long, value_enum, default_value = "sigmoid")]
    pub output: Activation,
    /// Optimiser.
    #[arg(long, value_enum, default_value = "adam")]
    pub optimiser: OptimiserKind,
    /// Initial learning rate; it falls linearly to a tenth.
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = rate)]
    pub learning_rate: f64,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Settings {
    /// Returns the optimiser.
    pub fn method(&self) -> OptimiserMethod {
        self.optimiser.method(self.learning_rate)
    }

    /// Returns the layout of positions: own, other and empty for each square.
    pub fn encoding(&self, board: (usize, usize)) -> Encoding {
        Encoding::of(Layout::Interleaved, &[Plane::Mover, Plane::Opponent, Plane::Empty], board)
    }

    /// Returns the architecture for a board.
    pub fn architecture(&self, board: (usize, usize)) -> Architecture {
        let head = Head { name: "discs".to_string(), outputs: 1, activation: self.output };
        Architecture::Mlp {
            inputs: self.encoding(board).len(),
            hidden: self.hidden.clone(),
            activation: self.activation,
            heads: vec![head],
        }
    }
}

/// A board, and the share of squares that its mover holds at the end of the game.
type DiscExample = ([u64; 2], f32);

/// Disc regression.
pub struct Discs {
    encoding: Encoding,
    settings: Settings,
    train: Vec<DiscExample>,
    test: Vec<DiscExample>,
    trainer: Trainer,
}

/// Number of parts of a batch; constant, because it determines the order of summation.
const PARTS: usize = 4;
/// Number of games per game of the test set.
const TEST_ONE_IN: usize = 10;

impl Discs {
    /// Plays the games between `players`, which are those of the settings.
    pub fn new(
        game: &dyn Rules,
        settings: Settings,
        players: &[Box<dyn Policy>],
        progress: &dyn Progress,
    ) -> Result<Discs, Error> {
        let squares = game.action_count() - 1;
        let (mut train, mut test) = (Vec::new(), Vec::new());
        let pairs = (players.len() * players.len()) as u64;
        progress.begin_with("playing", Some(pairs * settings.games), "games");
        for (number, (first, second)) in
            players.iter().flat_map(|a| players.iter().map(move |b| (a, b))).enumerate()
        {
            let Settings { games, random_plies, seed, .. } = settings;
            let seed = seed.wrapping_add((number as u64 + 1) << 32);
            let sampling = Sampling { games, random_plies, seed };
            let games = record(game, [first.as_ref(), second.as_ref()], sampling, progress)?;
            for (at, played) in games.iter().enumerate() {
                let end = played.position();
                let (own, other) = game.squares(&end.state).unwrap_or_default();
                let examples =
                    if at % TEST_ONE_IN == TEST_ONE_IN - 1 { &mut test } else { &mut train };
                examples.extend(played.moves().iter().map(|(position, _)| {
                    let held = if position.side == end.side { own } else { other };
                    let (own, other) = game.squares(&position.state).unwrap_or_default();
                    ([own, other], held.count_ones() as f32 / squares as f32)
                }));
            }
        }
        progress.finish("games played");
        if train.is_empty() || test.is_empty() {
            return Err(format!("too few games: expected at least {TEST_ONE_IN} per pair").into());
        }
        let network = Network::new(settings.architecture(game.shape()), settings.seed);
        let trainer = Trainer::new(network, settings.method());
        Ok(Discs { encoding: settings.encoding(game.shape()), settings, train, test, trainer })
    }

    /// Returns the mean squared error on the test games.
    fn test_loss(&self) -> f64 {
        let (network, count) = (&self.trainer.network, self.test.len());
        let losses: Vec<f64> = self
            .test
            .par_chunks(4096)
            .map(|part| pass(network, part, &self.encoding, count).1)
            .collect();
        losses.into_iter().sum()
    }

    /// Returns the mean squared error of a constant answer, the mean of the training targets.
    fn constant_loss(&self) -> f64 {
        let mean = self.train.iter().map(|(_, share)| f64::from(*share)).sum::<f64>()
            / self.train.len() as f64;
        let squares = self.test.iter().map(|(_, share)| (f64::from(*share) - mean).powi(2));
        squares.sum::<f64>() / self.test.len() as f64
    }
}

/// Evaluates some examples; returns the pass, the sum of their squared errors over `count`, and its gradient
/// with respect to the answers.
fn pass<'a>(
    network: &'a Network,
    part: &[DiscExample],
    encoding: &Encoding,
    count: usize,
) -> (Pass<'a>, f64, Vec<f32>) {
    let inputs = encoding.boards(part.iter().map(|(board, _)| *board));
    let shares: Vec<f32> = part.iter().map(|(_, share)| *share).collect();
    let pass = Pass::new(network, inputs, None);
    let (loss, errors) = squared_errors(&pass.answers[0], &shares, 1.0 / count as f64);
    (pass, loss, errors)
}

impl Learner for Discs {
    fn iterations(&self) -> u64 {
        self.settings.epochs
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, epoch: u64, _progress: &dyn Progress) -> Result<HistoryRow, Error> {
        let mut order: Vec<usize> = (0..self.train.len()).collect();
        shuffle(&mut seeded(self.settings.seed, &[epoch]), &mut order);
        let size = self.settings.batch.max(1);
        let steps = order.len().div_ceil(size);
        let (encoding, mut total) = (&self.encoding, 0.0);
        for (at, batch) in order.chunks(size).enumerate() {
            let done = (epoch as f64 + at as f64 / steps as f64) / self.settings.epochs as f64;
            let batch: Vec<DiscExample> = batch.iter().map(|&at| self.train[at]).collect();
            let parts = batch.chunks(batch.len().div_ceil(PARTS)).collect();
            total += self.trainer.step(parts, 1.0 - 0.9 * done, None, |network, part| {
                let (pass, loss, errors) = pass(network, part, encoding, batch.len());
                pass.backward(loss, vec![errors])
            })?;
        }
        Ok(HistoryRow::from([
            ("epoch".to_string(), (epoch + 1) as f64),
            ("loss".to_string(), total / steps as f64),
            ("test loss".to_string(), self.test_loss()),
            ("test loss of a constant".to_string(), self.constant_loss()),
        ]))
    }
}
