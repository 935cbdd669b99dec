//! Supervised learning on a solved table: the best moves and the values.
//!
//! Each epoch visits every training position once, in a random image. The loss of a position is −log
//! of the total probability of the best moves (half for those that keep the score, half for those
//! that keep the outcome), so that the network need not choose among them, plus the squared error
//! of its value. Only the training split ([`Splits`]) is used.

use clap::ArgAction;
use clap::builder::BoolishValueParser;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::parts::SplitPart;
use crate::backpropagation::{Dropout, Gradient, Pass, squared_errors};
use crate::chance::{below, seeded, shuffle};
use crate::equivariance::Ties;
use crate::network::{Activation, Architecture, Head, Network};
use crate::optimiser::OptimiserMethod;
use crate::options::{AT_ONCE, COUNT, UNITS, number, real};
use crate::trainer::Trainer;
use crate::training_run::{HistoryRow, Learner};
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri::rules::encode::{Encoding, Layout};
use yomikiri::rules::{Action, AnyState, Position, Rules, Side, Splits, Symmetry};
use yomikiri_measure::judge::{Case, Truth};

/// The settings of training, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Settings {
    /// Architecture
    #[arg(long, value_enum, default_value = "mlp")]
    pub net: Net,
    /// Units of each hidden layer of an mlp
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "768,768,768", value_parser = number::<usize>(1, UNITS))]
    pub hidden: Vec<usize>,
    /// Channels of a residual network
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = number::<usize>(1, UNITS))]
    pub channels: usize,
    /// Blocks of a residual network
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = number::<usize>(0, 100))]
    pub blocks: usize,
    /// Epochs [default: 150 for an mlp, else 60]
    #[arg(long, value_name = "N", value_parser = number::<u64>(1, COUNT))]
    pub epochs: Option<u64>,
    /// Batch size, in positions
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = number::<usize>(1, AT_ONCE))]
    pub batch: usize,
    /// Initial learning rate (AdamW); it falls along half a cosine
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = weight)]
    pub learning_rate: f64,
    /// Weight decay
    #[arg(long, value_name = "DECAY", default_value_t = 0.2, value_parser = weight, hide_short_help = true)]
    pub weight_decay: f64,
    /// Tie the weights so that all images of a position get the same answer; hidden units or
    /// channels must be a multiple of the number of the board's symmetries
    #[arg(long, value_name = "YES|NO", default_value = "yes", action = ArgAction::Set,
        hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub equivariant: bool,
    /// Dropout rate of the hidden units (Srivastava et al. 2014) [default: 0.1 for an mlp, else 0]
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    pub dropout: Option<f64>,
    /// Weight of the value loss
    #[arg(long, value_name = "WEIGHT", default_value_t = 4.0, value_parser = weight)]
    pub value_weight: f64,
    /// Weight of the loss of the moves' scores; 0 leaves that head out
    #[arg(long, value_name = "WEIGHT", default_value_t = 64.0, value_parser = weight)]
    pub score_weight: f64,
    /// Share of the training positions to use; a smaller share is part of a larger
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub share: f64,
    /// Share of the positions of each split to measure
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub measured: f64,
    /// Share of positions in the training split
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    pub train: f64,
    /// Share of positions in the validation split; the others are the test split
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub validation: f64,
    /// Seed of the weights, the order and the images
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// The architectures to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Net {
    /// Fully connected hidden layers
    Mlp,
    /// Residual blocks of convolutions
    Residual,
}

/// Parses a weight of a loss or a rate.
fn weight(text: &str) -> Result<f64, String> {
    real(text, 0.0, 100.0)
}

impl Settings {
    /// Checks the numbers, and sets those that depend on others.
    pub fn settled(mut self) -> Result<Settings, Error> {
        let wrong = |what: String| Err(Error::from(what));
        // Rounding can make the test share slightly negative.
        let test = (1.0 - self.train - self.validation).max(0.0);
        Splits::new(0, [self.train, self.validation, test])?;
        for (name, share) in [("share", self.share), ("measured", self.measured)] {
            if !(0.0..=1.0).contains(&share) || share == 0.0 {
                return wrong(format!(
                    "invalid --{name} {share}: expected a number above 0, at most 1"
                ));
            }
        }
        let is_mlp = self.net == Net::Mlp;
        self.epochs.get_or_insert(if is_mlp { 150 } else { 60 });
        let dropout = *self.dropout.get_or_insert(if is_mlp { 0.1 } else { 0.0 });
        if !(0.0..1.0).contains(&dropout) || dropout > 0.0 && !is_mlp {
            let what = "expected a number from 0 to below 1, 0 unless the network is an mlp";
            return wrong(format!("invalid --dropout {dropout}: {what}"));
        }
        Ok(self)
    }

    /// Returns the division into splits.
    pub fn split(&self) -> Splits {
        Splits { seed: 0, train: self.train, validation: self.validation }
    }

    /// Returns the optimiser.
    pub fn method(&self) -> OptimiserMethod {
        OptimiserMethod::adam(self.learning_rate, self.weight_decay)
    }

    /// Returns the layout of positions.
    pub fn encoding(&self, board: (usize, usize)) -> Encoding {
        Encoding::of(Layout::Nchw, Layout::Nchw.planes(), board)
    }

    /// Returns the architecture for a board.
    pub fn architecture(&self, (rows, columns): (usize, usize)) -> Architecture {
        let head =
            |name: &str, outputs, activation| Head { name: name.to_string(), outputs, activation };
        let actions = rows * columns + 1;
        let mut heads =
            vec![head("policy", actions, Activation::Linear), head("value", 1, Activation::Tanh)];
        if self.score_weight > 0.0 {
            heads.push(head("scores", actions, Activation::Linear));
        }
        let Settings { channels, blocks, .. } = *self;
        match self.net {
            Net::Mlp => Architecture::Mlp {
                inputs: 2 * rows * columns,
                hidden: self.hidden.clone(),
                activation: Activation::Relu,
                heads,
            },
            Net::Residual => {
                Architecture::Residual { planes: 2, rows, columns, channels, blocks, heads }
            }
        }
    }
}

/// Positions with their exact targets.
struct Examples {
    states: Vec<AnyState>,
    /// Outcomes for the mover, −1 to 1.
    outcomes: Vec<i8>,
    /// Index of each position's first move, and the end of the last one's.
    offsets: Vec<usize>,
    /// Legal moves, with `true` if they keep the score and the outcome, and the mover's score after them.
    moves: Vec<(Action, bool, bool, i8)>,
}

impl Default for Examples {
    fn default() -> Examples {
        Examples { states: vec![], outcomes: vec![], offsets: vec![0], moves: vec![] }
    }
}

impl Examples {
    fn push(&mut self, state: AnyState, case: &Case, moves: impl Iterator<Item = (Action, Truth)>) {
        self.states.push(state);
        self.outcomes.push(case.own.outcome.value());
        let kept = |(action, truth): (Action, Truth)| {
            let (score, outcome) = (truth.score, truth.outcome);
            let kept = (score == case.own.score, outcome == case.own.outcome);
            (action, kept.0, kept.1, score.map_or(0, |score| score.0))
        };
        self.moves.extend(moves.map(kept));
        self.offsets.push(self.moves.len());
    }
}

/// Supervised training on a table.
pub struct Supervised {
    game: Arc<dyn Rules>,
    encoding: Encoding,
    settings: Settings,
    examples: Examples,
    trainer: Trainer,
}

/// Minimum number of positions in a part of a batch; constant, because it determines the order of summation.
const PART: usize = 64;

impl Supervised {
    /// Prepares training on these positions, which should be distinct.
    pub fn new(
        game: &dyn Rules,
        train: &SplitPart,
        settings: Settings,
    ) -> Result<Supervised, Error> {
        let game = game.folded();
        let mut examples = Examples::default();
        for piece in train.pieces() {
            for (at, (position, case)) in
                piece.batch.positions().iter().zip(&piece.cases).enumerate()
            {
                let range = piece.batch.range(at);
                let actions = piece.batch.actions()[range.clone()].iter().copied();
                let truths = piece.truths[range].iter().copied();
                examples.push(position.state, case, actions.zip(truths));
            }
        }
        if examples.states.is_empty() {
            return Err("no training position is left".into());
        }
        let architecture = settings.architecture(game.shape());
        let network = Network::new(architecture.clone(), settings.seed);
        let mut trainer = Trainer::new(network, settings.method());
        if settings.equivariant {
            let order = game.group().order();
            let unfit = || {
                let what = format!("expected a multiple of the board's {order} symmetries");
                Error::from(format!("invalid --hidden or --channels with --equivariant: {what}"))
            };
            trainer = trainer.tied(Ties::of(&architecture, &*game).ok_or_else(unfit)?);
        }
        let encoding = settings.encoding(game.shape());
        Ok(Supervised { game, encoding, settings, examples, trainer })
    }

    /// Returns the number of training positions.
    pub fn examples(&self) -> usize {
        self.examples.states.len()
    }

    /// Returns inputs and targets of some positions, each in an image.
    fn batch_part(&self, shown: &[(usize, Symmetry)]) -> BatchPart {
        let Supervised { game, examples, .. } = self;
        let width = game.action_count();
        let (mut part, mut own) = (BatchPart::default(), vec![0.0; self.encoding.len()]);
        for &(at, symmetry) in shown {
            let state = game.transform(&examples.states[at], symmetry);
            let position = Position { state, side: Side::First };
            self.encoding.write_position(&**game, &position, &mut own);
            part.inputs.extend_from_slice(&own);
            part.values.push(f32::from(examples.outcomes[at]));
            let moves = &examples.moves[examples.offsets[at]..examples.offsets[at + 1]];
            let moved = |&(action, keeps_score, keeps_outcome, discs): &_| Target {
                action: usize::from(game.transform_action(action, symmetry).0),
                keeps_score,
                keeps_outcome,
                score: f32::from(discs) / (width - 1) as f32,
            };
            part.moves.push(moves.iter().map(moved).collect());
        }
        part
    }
}

/// Inputs and targets of some positions, concatenated.
#[derive(Default)]
struct BatchPart {
    inputs: Vec<f32>,
    values: Vec<f32>,
    /// Legal moves of each position.
    moves: Vec<Vec<Target>>,
}

/// Target of a move.
struct Target {
    action: usize,
    keeps_score: bool,
    keeps_outcome: bool,
    /// Score of the mover after it, divided by the number of squares.
    score: f32,
}

/// Returns the sum of the losses of a part's positions over `count`, weighted by the weights of the value
/// loss and the score loss, with its gradient.
fn gradient(
    network: &Network,
    part: BatchPart,
    count: usize,
    [value, scores]: [f64; 2],
    dropout: Dropout,
) -> Gradient {
    let pass = Pass::new(network, part.inputs, Some(dropout));
    let [value, scores, share] = [value, scores, 1.0].map(|weight| weight / count as f64);
    let (mut loss, by_value) = squared_errors(&pass.answers[1], &part.values, value);
    let zeros = |answers: &Vec<f32>| vec![0.0; answers.len()];
    let mut errors: Vec<Vec<f32>> = pass.answers.iter().map(zeros).collect();
    errors[1] = by_value;
    let width = pass.answers[0].len() / part.values.len();
    for (at, moves) in part.moves.iter().enumerate() {
        let row = at * width..(at + 1) * width;
        let (logits, errors_) = (&pass.answers[0][row.clone()], &mut errors[0][row]);
        loss += log_sum_exp(logits, moves, share, |_| true, errors_);
        loss += log_sum_exp(logits, moves, -0.5 * share, |m| m.keeps_score, errors_);
        loss += log_sum_exp(logits, moves, -0.5 * share, |m| m.keeps_outcome, errors_);
        if let Some(found) = pass.answers.get(2) {
            for target in moves {
                let place = at * width + target.action;
                let error = found[place] - target.score;
                loss += scores * f64::from(error * error);
                errors[2][place] = 2.0 * scores as f32 * error;
            }
        }
    }
    pass.backward(loss, errors)
}

/// Returns `weight` times the logarithm of the sum of eˣ over the logits of moves that count; adds its
/// gradient to `errors`.
fn log_sum_exp(
    logits: &[f32],
    moves: &[Target],
    weight: f64,
    counts: impl Fn(&Target) -> bool,
    errors: &mut [f32],
) -> f64 {
    let actions = || moves.iter().filter(|&target| counts(target)).map(|target| target.action);
    let most = actions().map(|at| logits[at]).fold(f32::NEG_INFINITY, f32::max);
    let power = |at: usize| (logits[at] - most).exp();
    let sum: f32 = actions().map(power).sum();
    actions().for_each(|at| errors[at] += weight as f32 * power(at) / sum);
    weight * f64::from(most + sum.ln())
}

impl Learner for Supervised {
    fn iterations(&self) -> u64 {
        self.settings.epochs.unwrap_or_default()
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, epoch: u64, _progress: &dyn Progress) -> Result<HistoryRow, Error> {
        let mut random = seeded(self.settings.seed, &[epoch]);
        let order = self.game.group().order();
        let mut shown: Vec<(usize, Symmetry)> =
            (0..self.examples()).map(|at| (at, below(&mut random, order) as Symmetry)).collect();
        shuffle(&mut random, &mut shown);
        let batches = shown.len().div_ceil(self.settings.batch);
        let mut total = 0.0;
        for (at, batch) in shown.chunks(self.settings.batch).enumerate() {
            let done = epoch as f64 + at as f64 / batches as f64;
            let factor = schedule(done / self.iterations() as f64);
            let parts = (self.settings.batch / PART).max(1);
            let parts = batch.chunks(batch.len().div_ceil(parts));
            let parts: Vec<(usize, BatchPart)> =
                parts.map(|part| self.batch_part(part)).enumerate().collect();
            let (seed, rate) = (self.settings.seed, self.settings.dropout.unwrap_or_default());
            let loss_weights = [self.settings.value_weight, self.settings.score_weight];
            let count = batch.len();
            total +=
                self.trainer.step(parts, factor, Some(MAX_NORM), |network, (number, part)| {
                    let random = seeded(seed, &[epoch, at as u64, number as u64]);
                    gradient(network, part, count, loss_weights, Dropout { rate, random })
                })?;
        }
        Ok(HistoryRow::from([
            ("epoch".to_string(), (epoch + 1) as f64),
            ("loss".to_string(), total / batches as f64),
        ]))
    }
}

/// Norm to which gradients are clipped.
const MAX_NORM: f64 = 5.0;

/// Returns the factor of the learning rate after the share `done` of training. It falls from
/// 1 to a fiftieth along half a cosine (Loshchilov and Hutter 2017), after a short warm-up.
fn schedule(done: f64) -> f64 {
    let warm_up = (done / 0.02).min(1.0);
    warm_up * (0.02 + 0.98 * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done)))
}
