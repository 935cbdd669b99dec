//! Learning from the solved table: which moves are the best, and who wins.
//!
//! Each training position is shown in a random image a round. The loss of a position is −log of the
//! probability that the network gives to the best moves together, so that it need not choose among
//! them, half for those that keep the score and half for those that keep the outcome, and a squared
//! error of its value. Only training positions in the sense of [`Splits`] are seen.

use candle_core::{Result as Calculated, Tensor};
use serde::{Deserialize, Serialize};

use crate::evaluate::{Case, MeasureError, Piece, Source, Truth};
use crate::export::{Split, Splits};
use crate::game::{Action, Layered, Position, Side, Symmetry};
use crate::learn::LearnError;
use crate::learn::chance::{below, drawn_for, shuffle};
use crate::learn::course::{Learner, Row};
use crate::learn::features::Features;
use crate::learn::network::{Activation, Architecture, Head, Network, Weights, log_sum_exp};
use crate::learn::optimiser::Method;
use crate::learn::trainer::{Trainer, rows};
use crate::policy::Batch;
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
    /// Which of the training positions are used, 0 to 1; the smaller share is part of the larger.
    pub share: f64,
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
        let heads = vec![
            head("policy", rows * columns + 1, Activation::Linear),
            head("value", 1, Activation::Tanh),
        ];
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
struct Examples<S> {
    states: Vec<S>,
    /// The outcome for the mover, −1 to 1.
    outcomes: Vec<i8>,
    /// Where the moves of each begin, and where the last's end.
    offsets: Vec<usize>,
    /// Each legal move, and whether it keeps the score and the outcome.
    moves: Vec<(Action, bool, bool)>,
}

impl<S> Default for Examples<S> {
    fn default() -> Examples<S> {
        Examples { states: vec![], outcomes: vec![], offsets: vec![0], moves: vec![] }
    }
}

impl<S> Examples<S> {
    fn push(&mut self, state: S, case: &Case, moves: impl Iterator<Item = (Action, Truth)>) {
        self.states.push(state);
        self.outcomes.push(case.own.outcome.value());
        let kept = |(action, truth): (Action, Truth)| {
            (action, truth.score == case.own.score, truth.outcome == case.own.outcome)
        };
        self.moves.extend(moves.map(kept));
        self.offsets.push(self.moves.len());
    }
}

/// Learns from a table.
pub struct Supervised<G: Layered> {
    game: G,
    settings: Settings,
    examples: Examples<G::State>,
    trainer: Trainer,
}

/// Into how many parts a batch is cut; a constant, for sums are made part by part.
const PARTS: usize = 4;

impl<G: Layered> Supervised<G> {
    /// Takes the training positions out of the source, which should give every row once.
    pub fn new(
        game: G,
        source: &impl Source<G>,
        settings: Settings,
    ) -> Result<Supervised<G>, LearnError> {
        let splits = settings.split();
        let game = game.with_folding(true);
        let mut examples = Examples::default();
        let mut piece = Piece::default();
        for at in 0..source.pieces() {
            piece.clear();
            source.fill(at, &mut piece).map_err(MeasureError::Damaged)?;
            for (place, case) in piece.cases.iter().enumerate() {
                let state = piece.batch.positions()[place].state;
                let range = piece.batch.range(place);
                let used = splits.of(&game, &state) == Split::Train
                    && splits.unit(&game, &state) < settings.share;
                if used {
                    let actions = piece.batch.actions()[range.clone()].iter().copied();
                    let truths = piece.truths[range].iter().copied();
                    examples.push(state, case, actions.zip(truths));
                }
            }
        }
        if examples.states.is_empty() {
            return Err(LearnError::Settings("no position is left to train on".to_string()));
        }
        let network = Network::new(settings.architecture(game.spec().shape()), settings.seed);
        let trainer = Trainer::new(network, settings.method());
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
            for &(action, score, outcome) in
                &examples.moves[examples.offsets[at]..examples.offsets[at + 1]]
            {
                let place = begin + usize::from(game.transform_action(action, symmetry).0);
                lesson.legal[place] = 0.0;
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
}

/// The sum of the losses of a lesson's positions, over `count`.
fn loss(weights: &Weights<'_>, lesson: Lesson, width: usize, count: usize) -> Calculated<Tensor> {
    let positions = lesson.values.len();
    let inputs = lesson.inputs.len() / positions;
    let answers = weights.forward(&rows(lesson.inputs, inputs)?)?;
    let of_set = |set: Vec<f32>| log_sum_exp(&(&answers[0] + rows(set, width)?)?);
    let legal = of_set(lesson.legal)?;
    let kept = (of_set(lesson.by_score)? + of_set(lesson.by_outcome)?)?;
    let missed = (legal - (kept * 0.5)?)?.sum_all()?;
    let error = (&answers[1] - rows(lesson.values, 1)?)?.sqr()?.sum_all()?;
    (missed + (error * VALUE)?)? / count as f64
}

/// What the error of a value counts for beside the moves.
const VALUE: f64 = 0.25;

impl<G: Layered> Learner for Supervised<G> {
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
            let parts = batch.chunks(batch.len().div_ceil(PARTS));
            let lessons: Vec<Lesson> = parts.map(|part| self.lesson(part)).collect();
            let longest = Some(LONGEST);
            total += self.trainer.step(lessons, pace, longest, |weights, lesson| {
                loss(weights, lesson, width, batch.len())
            })?;
        }
        Ok(Row::from([("loss".to_string(), total / batches as f64)]))
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

/// The positions of a source that belong to some parts; what is left of each piece keeps its order.
pub struct OfSplit<'a, G, S> {
    /// The rules.
    pub game: &'a G,
    /// All positions.
    pub source: &'a S,
    /// How they are told apart.
    pub splits: Splits,
    /// Which are meant.
    pub wanted: Split,
}

impl<G: Layered, S: Source<G>> Source<G> for OfSplit<'_, G, S> {
    fn pieces(&self) -> usize {
        self.source.pieces()
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn fill(&self, piece: usize, out: &mut Piece<G::State>) -> Result<u64, String> {
        let mut all = Piece::default();
        let rows = self.source.fill(piece, &mut all)?;
        let mut batch = Batch::default();
        for (at, position) in all.batch.positions().iter().enumerate() {
            if self.splits.of(self.game, &position.state) != self.wanted {
                continue;
            }
            let range = all.batch.range(at);
            batch.push(*position, all.batch.actions()[range.clone()].iter().copied());
            out.truths.extend_from_slice(&all.truths[range]);
            out.cases.push(all.cases[at]);
        }
        out.batch = batch;
        Ok(rows)
    }
}
