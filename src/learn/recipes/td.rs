//! Temporal differences, as in the thesis of 2002: a network learns by playing against itself which
//! positions are good.
//!
//! The network says of a position, whoever is to move, with what chances Black and White win. A player
//! makes the move after which his chance less the other's is the highest, and a random one now and
//! then. After each move the answer for the position before is drawn towards that for the position
//! now, at the end towards the result (TD(0): Sutton 1988; positions after moves: Sutton and Barto,
//! section 6.8).
//!
//! Many games are played side by side, each with chances of its own, and a step of learning is made
//! with the mean of their errors; the thesis played one game after the other.

use candle_core::{Result as Calculated, Tensor};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::game::{Game, Outcome, Position, Side};
use crate::learn::LearnError;
use crate::learn::chance::{below, drawn_for, unit};
use crate::learn::course::{Learner, Row};
use crate::learn::features::Features;
use crate::learn::network::{Activation, Architecture, Head, Network};
use crate::learn::optimiser::Method;
use crate::learn::trainer::{Trainer, rows};
use crate::learn::weights::Weights;
use crate::progress::Progress;

/// By what a network learns from temporal differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Hidden units.
    pub hidden: usize,
    /// How many games it plays against itself.
    pub games: u64,
    /// How many of them are one round.
    pub round: u64,
    /// How many are played side by side.
    pub lanes: usize,
    /// How often a random move is made, 0 to 1.
    pub epsilon: f64,
    /// The size of a step along the mean of the errors' gradients; it falls in a straight line to a
    /// twentieth.
    pub rate: f64,
    /// From this the weights and all chances are drawn.
    pub seed: u64,
}

impl Settings {
    /// How the weights follow the errors.
    pub fn method(&self) -> Method {
        Method::Sgd { rate: self.rate }
    }

    /// The network on a board of so many squares.
    pub fn architecture(&self, squares: usize) -> Architecture {
        Architecture::Mlp {
            inputs: Features::Colours.width(squares),
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

/// Into how many parts the games are shared; a constant, for sums are made part by part.
const PARTS: usize = 4;

/// A game that is going on.
struct Lane<S> {
    position: Position<S>,
    random: Xoshiro256PlusPlus,
    /// What the network was given for the position after the last move; empty before the first.
    last: Vec<f32>,
    /// How many steps it still waits before it begins.
    wait: usize,
    over: bool,
}

/// Errors of a step: what the network was given, and what it should have said.
#[derive(Default)]
struct Errors {
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

/// Learns by playing against itself.
pub struct Td<G: Game> {
    game: G,
    settings: Settings,
    trainer: Trainer,
}

impl<G: Game> Td<G> {
    /// Before the first game.
    pub fn new(game: G, settings: Settings) -> Td<G> {
        let squares = game.action_count() - 1;
        // Small weights of both signs: all positive ones, as in the thesis's program, make all hidden
        // units do much the same.
        let architecture = settings.architecture(squares);
        let network = Network::uniform(architecture, settings.seed, -0.1, 0.1);
        let trainer = Trainer::new(network, settings.method());
        Td { game, settings, trainer }
    }

    fn lane(&self, round: u64, number: u64, wait: usize) -> Lane<G::State> {
        let random = drawn_for(self.settings.seed, &[round, number]);
        Lane { position: self.game.start(), random, last: Vec::new(), wait, over: false }
    }

    /// Makes a move in each game; gives the errors that show.
    fn moves(&self, lanes: &mut [Lane<G::State>]) -> Calculated<Errors> {
        let game = &self.game;
        let features = Features::Colours;
        let width = self.trainer.network.architecture().inputs();
        let (mut inputs, mut nexts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for lane in lanes.iter() {
            if lane.wait == 0 && !lane.over {
                game.for_each_successor(&lane.position.state, |_, state| {
                    let next = Position { state, side: lane.position.side.other() };
                    features.push(game, &next, &mut inputs);
                    nexts.push(next);
                });
            }
            ends.push(nexts.len());
        }
        let mut errors = Errors::default();
        if nexts.is_empty() {
            lanes.iter_mut().for_each(|lane| lane.wait = lane.wait.saturating_sub(1));
            return Ok(errors);
        }
        let answers = self.trainer.network.fixed()?.forward(&rows(inputs.clone(), width)?)?;
        let answers = answers[0].flatten_all()?.to_vec1::<f32>()?;
        // What Black's chance is above White's, or what came of the game.
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
        Ok(errors)
    }
}

/// What a finished game came to, 1 for the one who won; `None` while it goes on.
fn result<G: Game>(game: &G, position: &Position<G::State>) -> Option<[f32; 2]> {
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

fn loss(weights: &Weights<'_>, errors: Errors, count: usize) -> Calculated<Tensor> {
    let width = errors.inputs.len() / (errors.targets.len() / 2);
    let answers = weights.forward(&rows(errors.inputs, width)?)?;
    let errors = (&answers[0] - rows(errors.targets, 2)?)?;
    // Half the squares: its slope is the error.
    errors.sqr()?.sum_all()? * (0.5 / count as f64)
}

impl<G: Game> Learner for Td<G> {
    fn rounds(&self) -> u64 {
        self.settings.games.div_ceil(self.settings.round)
    }

    fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    fn trainer_mut(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn round(&mut self, round: u64, _progress: &dyn Progress) -> Result<Row, LearnError> {
        let done = round * self.settings.round;
        let games = self.settings.round.min(self.settings.games - done);
        let gone = done as f64 / self.settings.games as f64;
        let pace = 1.0 - 0.95 * gone;
        // Games begin one after the other, so that a step sees all stages of a game.
        let plies = self.game.action_count();
        let count = (self.settings.lanes as u64).min(games);
        let wait = |at: u64| at as usize * plies / count as usize;
        let mut begun = count;
        let lanes: Vec<Lane<G::State>> =
            (0..count).map(|at| self.lane(round, at, wait(at))).collect();
        let mut parts: Vec<Vec<Lane<G::State>>> = Vec::new();
        let size = lanes.len().div_ceil(PARTS);
        let mut rest = lanes.into_iter().peekable();
        while rest.peek().is_some() {
            parts.push(rest.by_ref().take(size).collect());
        }
        let (mut squares, mut steps) = (0.0, 0u64);
        while parts.iter().any(|lanes| !lanes.is_empty()) {
            let this = &*self;
            let found =
                self.trainer.workers.map(parts.iter_mut().collect(), |lanes| this.moves(lanes));
            let errors: Vec<Errors> = found.into_iter().collect::<Calculated<_>>()?;
            let errors: Vec<Errors> =
                errors.into_iter().filter(|errors| !errors.targets.is_empty()).collect();
            let count: usize = errors.iter().map(|errors| errors.targets.len() / 2).sum();
            if count > 0 {
                // A step with fewer games is as much shorter.
                let pace = pace * count as f64 / self.settings.lanes as f64;
                let step = |weights: &Weights<'_>, errors| loss(weights, errors, count);
                squares += self.trainer.step(errors, pace, None, step)?;
                steps += 1;
            }
            for lanes in &mut parts {
                for lane in lanes.iter_mut().filter(|lane| lane.over) {
                    if begun < games {
                        *lane = self.lane(round, begun, 0);
                        begun += 1;
                    }
                }
                lanes.retain(|lane| !lane.over);
            }
        }
        let games = (done + games) as f64;
        Ok(Row::from([
            ("games".to_string(), games),
            ("loss".to_string(), squares / steps.max(1) as f64),
        ]))
    }
}
