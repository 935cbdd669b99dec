//! Training of an evaluation on positions that the engine labels itself.
//!
//! Stages are trained from the end of the game backwards. The first two are labelled with exact scores, each
//! later one by a search that ends in the stage below. One seed determines everything.

use std::sync::Arc;

use super::evaluation::{DISC, Evaluation, FIRST_STAGE, STAGE_STEP, STAGES, Trained, stage};
use super::kernel::Kernel;
use super::patterns::{INPUTS, Patterns};
use super::{Engine, EngineOptions, KernelTask, Search, WIDE, play};
use crate::games::othello::Board;
use crate::rules::{Empties, GAMMA, mix};

/// Options of a training.
#[derive(Clone, Copy, Debug)]
pub struct TrainOptions {
    /// Seed of all random choices; the same seed gives the same bytes.
    pub seed: u64,
    /// Number of positions of each stage.
    pub positions: usize,
}

/// Report on one trained stage.
#[derive(Clone, Copy, Debug)]
pub struct FitProgress {
    /// Round of training, from 0.
    pub round: usize,
    /// Minimum number of empty squares of the stage.
    pub empties: u32,
    /// Root mean square error in discs on held-back positions.
    pub error: f64,
}

/// Divisor of the number of positions in each round; later rounds play with the weights of earlier ones.
const ROUNDS: [usize; 2] = [8, 1];

/// Number of stages that are labelled with exact scores.
const EXACT_STAGES: usize = 2;

/// Number of epochs of a stage.
const EPOCHS: usize = 12;

/// Learning rates of the first and the last epoch: the share of an error that one step corrects.
const RATES: [f32; 2] = [0.4, 0.03];

/// Inverse of the share of positions held back to measure the error.
const HELD_BACK: usize = 20;

/// Size of the transposition table for labelling, in bytes.
const MEMORY: usize = 16 << 20;

impl Evaluation {
    /// Trains an evaluation; `progress` is called after each stage.
    pub fn train(
        rows: usize,
        columns: usize,
        options: TrainOptions,
        progress: &mut dyn FnMut(FitProgress),
    ) -> Evaluation {
        let mut evaluation = Evaluation::plain(rows, columns);
        let patterns = Patterns::new(&evaluation.shape);
        let most = (rows * columns) as u32 - 4;
        let mut random = SplitMix(options.seed);
        let mut weights = vec![vec![0f32; patterns.weights()]; STAGES];
        for (round, share) in ROUNDS.into_iter().enumerate() {
            let policy = evaluation.clone();
            for at in 0..STAGES {
                let fewest = FIRST_STAGE + STAGE_STEP * at as u32;
                if fewest < most {
                    let known = Arc::new(evaluation.clone());
                    let samples =
                        label(known, &policy, &mut random, fewest, options.positions / share);
                    let samples: Vec<TrainingSample> = samples
                        .into_iter()
                        .map(|(board, score)| {
                            TrainingSample::new(&patterns, &evaluation, board, score)
                        })
                        .collect();
                    if round == 0 && at > 0 {
                        weights[at] = weights[at - 1].clone();
                    }
                    let error = fit(&mut weights[at], &samples);
                    progress(FitProgress { round, empties: fewest, error });
                } else {
                    weights[at] = weights[at - 1].clone();
                }
                evaluation.trained = Some(Box::new(Trained {
                    patterns: patterns.clone(),
                    weights: weights.iter().map(|stage| rounded(&patterns, stage)).collect(),
                }));
            }
        }
        evaluation
    }
}

fn rounded(patterns: &Patterns, stage: &[f32]) -> Vec<i16> {
    let mut rounded: Vec<i16> = stage.iter().map(|w| (w * DISC as f32).round() as i16).collect();
    patterns.spread(&mut rounded);
    rounded
}

/// Position as indices of weights, with its score.
struct TrainingSample {
    indices: [u32; INPUTS],
    score: f32,
}

impl TrainingSample {
    fn new(
        patterns: &Patterns,
        evaluation: &Evaluation,
        board: Board,
        score: f32,
    ) -> TrainingSample {
        let indices = patterns.indices(&evaluation.shape, board);
        TrainingSample { indices: indices.map(|index| patterns.canonical()[index as usize]), score }
    }
}

/// Fits weights by gradient descent and returns the error on the held-back samples.
fn fit(weights: &mut [f32], samples: &[TrainingSample]) -> f64 {
    let (held_back, training) = samples.split_at(samples.len() / HELD_BACK);
    let missing = |weights: &[f32], sample: &TrainingSample| {
        let sum: f32 = sample.indices.iter().map(|&index| weights[index as usize]).sum();
        sample.score - sum
    };
    for epoch in 0..EPOCHS {
        let along = epoch as f32 / (EPOCHS - 1) as f32;
        let rate = RATES[0] + (RATES[1] - RATES[0]) * along;
        for sample in training {
            let step = rate * missing(weights, sample) / INPUTS as f32;
            for &index in sample.indices.iter().filter(|&&index| index != 0) {
                weights[index as usize] += step;
            }
        }
    }
    let squares = held_back.iter().map(|sample| f64::from(missing(weights, sample)).powi(2));
    (squares.sum::<f64>() / held_back.len().max(1) as f64).sqrt()
}

/// Returns positions of one stage with their scores in discs.
fn label(
    known: Arc<Evaluation>,
    policy: &Evaluation,
    random: &mut SplitMix,
    fewest: u32,
    count: usize,
) -> Vec<(Board, f32)> {
    let (rows, columns) = (known.shape.rows, known.shape.columns);
    let mut engine = Engine::new(&EngineOptions {
        rows,
        columns,
        empties: Empties::Uncounted,
        memory: MEMORY,
        threads: 1,
        evaluation: Some(known),
    });
    let start = start(rows, columns);
    engine.with_search(&start, &Default::default(), Label { policy, random, fewest, count })
}

struct Label<'a> {
    policy: &'a Evaluation,
    random: &'a mut SplitMix,
    fewest: u32,
    count: usize,
}

impl KernelTask for Label<'_> {
    type Output = Vec<(Board, f32)>;

    fn run<K: Kernel>(self, search: &mut Search<K>, start: Board) -> Self::Output {
        let most = search.shape.squares as u32 - 5;
        let mut samples = Vec::with_capacity(self.count);
        while samples.len() < self.count {
            let empties = (self.fewest + self.random.below(STAGE_STEP)).min(most);
            let Some(board) = self.random.game(search.kernel, self.policy, start, empties) else {
                continue;
            };
            let score = if stage(empties) < EXACT_STAGES {
                let whole = (-search.shape.squares, search.shape.squares);
                search.narrow(board, whole).0 as f32
            } else {
                search.preview(board, STAGE_STEP, -WIDE, WIDE) as f32 / DISC as f32
            };
            samples.push((board, score));
        }
        samples
    }
}

/// Returns the start position.
fn start(rows: usize, columns: usize) -> Board {
    let (r, c) = (rows / 2 - 1, columns / 2 - 1);
    let bit = |r: usize, c: usize| 1u64 << (8 * r + c);
    Board { mover: bit(r, c + 1) | bit(r + 1, c), opponent: bit(r, c) | bit(r + 1, c + 1) }
}

/// Generator of random numbers (SplitMix64).
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, count: u32) -> u32 {
        let mixed = mix(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        (((mixed >> 32) * u64::from(count)) >> 32) as u32
    }

    /// Returns a position of a game with `empties` empty squares, unless the game ends earlier.
    ///
    /// Both sides play the move of the best evaluation plus noise, whose size differs by game.
    fn game<K: Kernel>(
        &mut self,
        kernel: K,
        policy: &Evaluation,
        start: Board,
        empties: u32,
    ) -> Option<Board> {
        let shape = &policy.shape;
        let opening = shape.empty(start).count_ones() - self.below(12);
        let noise = (DISC as u32) << self.below(6);
        let mut board = start;
        let mut passed = false;
        loop {
            let left = shape.empty(board).count_ones();
            let moves = kernel.moves(board) & shape.board;
            if moves == 0 {
                if passed {
                    return None;
                }
                (board, passed) = (board.swapped(), true);
                continue;
            }
            if left == empties {
                return Some(board);
            }
            passed = false;
            let mut best = (i32::MIN, board);
            let mut rest = moves;
            while rest != 0 {
                let child = play(board, rest.trailing_zeros());
                rest &= rest - 1;
                let value = if left > opening { 0 } else { -policy.value(kernel, child) };
                let value = value + self.below(noise) as i32;
                if value > best.0 {
                    best = (value, child);
                }
            }
            board = best.1;
        }
    }
}
