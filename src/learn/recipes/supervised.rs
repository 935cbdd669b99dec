//! Learning from the solved table: which moves are the best, and who wins.
//!
//! Each training position is shown in a random image a round. The loss of a position is −log of the
//! probability that the network gives to the best moves together, so that it need not choose among
//! them, half for those that keep the score and half for those that keep the outcome, and a squared
//! error of its value. Only training positions in the sense of [`Splits`] are seen.

use candle_core::{Result as Calculated, Tensor};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::parts::Part;
use crate::any::{AnyGame, AnyState};
use crate::evaluate::{Case, Truth};
use crate::export::Splits;
use crate::game::{Action, Game, Position, Side, Symmetry};
use crate::learn::LearnError;
use crate::learn::chance::{below, drawn_for, shuffle, unit};
use crate::learn::course::{Learner, Row};
use crate::learn::equivariance::Ties;
use crate::learn::features::Features;
use crate::learn::network::{Activation, Architecture, Head, Network};
use crate::learn::optimiser::Method;
use crate::learn::trainer::{Trainer, rows};
use crate::learn::weights::{Weights, log_sum_exp};
use crate::progress::Progress;

/// By what a network is trained on a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What it is built of.
    pub net: Net,
    /// How often all positions are shown.
    pub rounds: u64,
    /// How many positions a step sees.
    pub batch: usize,
    /// The size of the first steps; they get shorter along half a cosine.
    pub rate: f64,
    /// The decay of weights.
    pub decay: f64,
    /// What the error of the value counts for.
    pub value: f64,
    /// What the error of the scores of all moves counts for; 0 leaves them out.
    pub scores: f64,
    /// The share of hidden units of an MLP that are left out, others at each step (Srivastava et al.
    /// 2014).
    pub dropout: f64,
    /// Whether all images of a position are answered alike ([`crate::learn::equivariance`]).
    pub equivariant: bool,
    /// Which of the training positions are used, 0 to 1; the smaller share is part of the larger.
    pub share: f64,
    /// Which of the positions of each part are measured, 0 to 1, likewise.
    pub measured: f64,
    /// From this the weights, the order and the images are drawn.
    pub seed: u64,
    /// From this positions are told apart into those for training and others.
    pub split_seed: u64,
    /// The shares of training and validation positions; the others are for the test.
    pub splits: [f64; 2],
}

/// The kinds of network there are for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Net {
    /// Hidden layers of so many units.
    Mlp {
        /// Units of each.
        hidden: Vec<usize>,
    },
    /// Residual blocks of convolutions.
    Residual {
        /// Planes of each layer.
        channels: usize,
        /// How many blocks.
        blocks: usize,
    },
}

impl Settings {
    /// That the numbers make sense.
    pub fn check(&self) -> Result<(), LearnError> {
        let [train, validation] = self.splits;
        let wrong = |what: String| Err(LearnError::Settings(what));
        Splits::new(0, [train, validation, 1.0 - train - validation])
            .map_err(LearnError::Settings)?;
        for (name, share) in [("share", self.share), ("measured", self.measured)] {
            if !(0.0..=1.0).contains(&share) || share == 0.0 {
                return wrong(format!("--{name} {share}: give a number above 0, at most 1"));
            }
        }
        if self.batch == 0 || self.rounds == 0 {
            return wrong("--batch and --rounds must be at least 1".to_string());
        }
        let numbers = [
            ("rate", self.rate),
            ("decay", self.decay),
            ("value", self.value),
            ("scores", self.scores),
        ];
        for (name, number) in numbers {
            if !(0.0..=100.0).contains(&number) {
                return wrong(format!("--{name} {number}: give a number from 0 to 100"));
            }
        }
        let is_mlp = matches!(self.net, Net::Mlp { .. });
        if !(0.0..1.0).contains(&self.dropout) || self.dropout > 0.0 && !is_mlp {
            let what = "give a number from 0 to below 1, 0 for a network that is no mlp";
            return wrong(format!("--dropout {}: {what}", self.dropout));
        }
        Ok(())
    }

    /// How its training positions are told from others.
    pub fn split(&self) -> Splits {
        let [train, validation] = self.splits;
        Splits { seed: self.split_seed, train, validation }
    }

    /// How its weights follow gradients.
    pub fn method(&self) -> Method {
        Method::adam(self.rate, self.decay)
    }

    /// What the network is built of on a board.
    pub fn architecture(&self, (rows, columns): (usize, usize)) -> Architecture {
        let head =
            |name: &str, outputs, activation| Head { name: name.to_string(), outputs, activation };
        let actions = rows * columns + 1;
        let mut heads =
            vec![head("policy", actions, Activation::Linear), head("value", 1, Activation::Tanh)];
        if self.scores > 0.0 {
            heads.push(head("scores", actions, Activation::Linear));
        }
        match &self.net {
            Net::Mlp { hidden } => Architecture::Mlp {
                inputs: 2 * rows * columns,
                hidden: hidden.clone(),
                activation: Activation::Relu,
                heads,
            },
            &Net::Residual { channels, blocks } => {
                Architecture::Residual { planes: 2, rows, columns, channels, blocks, heads }
            }
        }
    }
}

/// Positions with what is exactly known of them.
struct Examples {
    states: Vec<AnyState>,
    /// The outcome for the mover, −1 to 1.
    outcomes: Vec<i8>,
    /// Where the moves of each begin, and where the last's end.
    offsets: Vec<usize>,
    /// Each legal move, whether it keeps the score and the outcome, and the mover's score after it.
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

/// Learns from a table.
pub struct Supervised {
    game: AnyGame,
    settings: Settings,
    examples: Examples,
    trainer: Trainer,
}

/// Of how many positions a part of a batch has at least; a constant, for sums are made part by part.
const PART: usize = 64;

impl Supervised {
    /// Learns from training positions, each of which should be given once.
    pub fn new(game: &AnyGame, train: &Part, settings: Settings) -> Result<Supervised, LearnError> {
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
            return Err(LearnError::Settings("no position is left to train on".to_string()));
        }
        let architecture = settings.architecture(game.shape());
        let network = Network::new(architecture.clone(), settings.seed);
        let mut trainer = Trainer::new(network, settings.method());
        if settings.equivariant {
            let order = game.group().order();
            let unfit = || {
                let what = format!("the board has {order} symmetries: give a multiple of {order}");
                LearnError::Settings(format!("--equivariant: {what} as --hidden or --channels"))
            };
            trainer = trainer.tied(Ties::of(&architecture, &game).ok_or_else(unfit)?);
        }
        Ok(Supervised { game, settings, examples, trainer })
    }

    /// How many positions it learns from, each in all its images.
    pub fn examples(&self) -> usize {
        self.examples.states.len()
    }

    /// What the network is to learn of some positions, each with the image in which it is shown.
    fn lesson(&self, shown: &[(usize, Symmetry)]) -> Lesson {
        let Supervised { game, examples, .. } = self;
        let width = game.action_count();
        let mut lesson = Lesson::default();
        for &(at, symmetry) in shown {
            let state = game.transform(&examples.states[at], symmetry);
            let position = Position { state, side: Side::First };
            Features::Planes.push(game, &position, &mut lesson.inputs);
            lesson.values.push(f32::from(examples.outcomes[at]));
            let begin = lesson.legal.len();
            for all in [&mut lesson.legal, &mut lesson.by_score, &mut lesson.by_outcome] {
                all.resize(begin + width, NEVER);
            }
            lesson.scores.resize(begin + width, 0.0);
            for &(action, score, outcome, discs) in
                &examples.moves[examples.offsets[at]..examples.offsets[at + 1]]
            {
                let place = begin + usize::from(game.transform_action(action, symmetry).0);
                lesson.legal[place] = 0.0;
                lesson.scores[place] = f32::from(discs) / (width - 1) as f32;
                if score {
                    lesson.by_score[place] = 0.0;
                }
                if outcome {
                    lesson.by_outcome[place] = 0.0;
                }
            }
        }
        lesson
    }
}

/// What is added to the logit of a move that does not count.
const NEVER: f32 = -1e9;

/// Numbers of some positions, one after the other; of actions 0 for those that count, [`NEVER`] for
/// the others.
#[derive(Default)]
struct Lesson {
    inputs: Vec<f32>,
    values: Vec<f32>,
    legal: Vec<f32>,
    by_score: Vec<f32>,
    by_outcome: Vec<f32>,
    /// The mover's score after each legal move, over the number of squares; 0 of others.
    scores: Vec<f32>,
}

/// Leaves out hidden units.
struct Dropout {
    share: f64,
    random: Xoshiro256PlusPlus,
}

impl Dropout {
    /// For so many positions and units 0, or what makes up for those that are 0.
    fn mask(&mut self, positions: usize, units: usize) -> Calculated<Option<Tensor>> {
        if self.share == 0.0 {
            return Ok(None);
        }
        let kept = (1.0 / (1.0 - self.share)) as f32;
        let one = |_| if unit(&mut self.random) < self.share { 0.0 } else { kept };
        rows((0..positions * units).map(one).collect(), units).map(Some)
    }
}

/// The sum of the losses of a lesson's positions, over `count`; the errors of the value and of the
/// scores count for `counts`.
fn loss(
    weights: &Weights<'_>,
    lesson: Lesson,
    (width, count): (usize, usize),
    [value, scores]: [f64; 2],
    dropout: &mut Dropout,
) -> Calculated<Tensor> {
    let positions = lesson.values.len();
    let given = lesson.inputs.len() / positions;
    let inputs = rows(lesson.inputs, given)?;
    let answers = weights.forward_masked(&inputs, |units| dropout.mask(positions, units))?;
    let wrong = match answers.get(2) {
        Some(found) => {
            let is_legal =
                rows(lesson.legal.iter().map(|&l| f32::from(l == 0.0)).collect(), width)?;
            let errors = ((found - rows(lesson.scores, width)?)? * is_legal)?;
            Some((errors.sqr()?.sum_all()? * scores)?)
        }
        None => None,
    };
    let of_set = |set: Vec<f32>| log_sum_exp(&(&answers[0] + rows(set, width)?)?);
    let legal = of_set(lesson.legal)?;
    let kept = (of_set(lesson.by_score)? + of_set(lesson.by_outcome)?)?;
    let missed = (legal - (kept * 0.5)?)?.sum_all()?;
    let error = (&answers[1] - rows(lesson.values, 1)?)?.sqr()?.sum_all()?;
    let sum = (missed + (error * value)?)?;
    let sum = wrong.map_or(Ok(sum.clone()), |wrong| sum + wrong)?;
    sum / count as f64
}

impl Learner for Supervised {
    fn rounds(&self) -> u64 {
        self.settings.rounds
    }

    fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    fn trainer_mut(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn round(&mut self, round: u64, _progress: &dyn Progress) -> Result<Row, LearnError> {
        let mut random = drawn_for(self.settings.seed, &[round]);
        let order = self.game.group().order();
        let mut shown: Vec<(usize, Symmetry)> =
            (0..self.examples()).map(|at| (at, below(&mut random, order) as Symmetry)).collect();
        shuffle(&mut random, &mut shown);
        let batches = shown.len().div_ceil(self.settings.batch);
        let width = self.game.action_count();
        let mut total = 0.0;
        for (at, batch) in shown.chunks(self.settings.batch).enumerate() {
            let gone = round as f64 + at as f64 / batches as f64;
            let pace = pace(gone / self.settings.rounds as f64);
            let parts = (self.settings.batch / PART).max(1);
            let parts = batch.chunks(batch.len().div_ceil(parts));
            let lessons: Vec<(usize, Lesson)> =
                parts.map(|part| self.lesson(part)).enumerate().collect();
            let Settings { seed, dropout, .. } = self.settings;
            let counts = [self.settings.value, self.settings.scores];
            let size = (width, batch.len());
            total +=
                self.trainer.step(lessons, pace, Some(LONGEST), |weights, (part, lesson)| {
                    let random = drawn_for(seed, &[round, at as u64, part as u64]);
                    loss(weights, lesson, size, counts, &mut Dropout { share: dropout, random })
                })?;
        }
        Ok(Row::from([
            ("round".to_string(), (round + 1) as f64),
            ("loss".to_string(), total / batches as f64),
        ]))
    }
}

/// The longest a gradient may be.
const LONGEST: f64 = 5.0;

/// How long steps are when a part `gone` of all is over: from 1 down to a fiftieth along half a cosine
/// (Loshchilov and Hutter 2017), after a short rise.
fn pace(gone: f64) -> f64 {
    let rise = (gone / 0.02).min(1.0);
    rise * (0.02 + 0.98 * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * gone)))
}
