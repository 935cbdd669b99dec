//! Q-learning with a replay buffer and a target network.
//!
//! The replay buffer holds each decision with the position of the next one. The target of a move's
//! Q-value is the reward (1 won, 0 drawn, −1 lost) or, if the game goes on, γ times the best
//! Q-value of the next decision, negated if it is the other player's (Watkins 1989; for two players Littman
//! 1994). Passes are not decisions.
//!
//! Several measures keep this stable (Mnih et al. 2015): a batch is sampled from
//! many games, whose positions are less alike than those of one; targets come from an older copy of
//! the network, the target network; the online network chooses the next move (van Hasselt, Guez
//! and Silver 2016), since the maximum of uncertain values is biased upwards; only legal moves
//! count; and the loss is Huber's.

use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::replay::{Experience, Replay};
use crate::backpropagation::{Gradient, Pass};
use crate::chance::{below, sample, seeded, unit};
use crate::network::{Activation, Architecture, Head, Network, Parameter};
use crate::optimiser::{OptimiserKind, OptimiserMethod};
use crate::options::{AT_ONCE, COUNT, KEPT, number, rate, share};
use crate::trainer::Trainer;
use crate::training_run::{HistoryRow, Learner};
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri::rules::encode::{Encoding, Layout};
use yomikiri::rules::{Action, AnyPosition, AnyState, Rules, Side};
use yomikiri_measure::policy::{Batch, Policy};

/// The settings of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Layout of positions.
    pub layout: Layout,
    /// Number of units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Names of the opponents, each played from both sides; empty for self-play.
    pub opponents: Vec<String>,
    /// Number of iterations: games, then the fit to the replay buffer.
    pub iterations: u64,
    /// Number of games of an iteration with each side against each opponent.
    pub games: u64,
    /// Settings of exploration and of the fit.
    #[serde(flatten)]
    pub fit: Fit,
}

/// Settings of exploration and of the fit, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Fit {
    /// Capacity of the replay buffer, in decisions
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number::<usize>(1, KEPT))]
    pub replay: usize,
    /// Steps for each decision; a game counts as half as many decisions as the board has actions
    #[arg(long, value_name = "N", default_value_t = 0.25, value_parser = rate)]
    pub steps_per_decision: f64,
    /// Batch size, in decisions
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = number::<usize>(1, AT_ONCE))]
    pub batch: usize,
    /// Steps between updates of the target network
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = number::<u64>(1, COUNT), hide_short_help = true)]
    pub target_update: u64,
    /// Activation of the hidden units
    #[arg(long, value_enum, default_value = "relu", hide_short_help = true)]
    pub activation: Activation,
    /// Activation of the outputs; Q-values are from -1 to 1, which a sigmoid cannot produce
    #[arg(long, value_enum, default_value = "linear", hide_short_help = true)]
    pub output: Activation,
    /// Optimiser
    #[arg(long, value_enum, default_value = "adam", hide_short_help = true)]
    pub optimiser: OptimiserKind,
    /// Initial learning rate; it falls linearly to a tenth
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = rate)]
    pub learning_rate: f64,
    /// Probability of a random move, or those of the first and of the last iteration, between
    /// which it falls geometrically [default: 0.5,0.05 for dqn, 0.5,0.1 for q-mlp]
    #[arg(long, value_name = "P[,P]", value_delimiter = ',', num_args = 1)]
    pub epsilon: Vec<f64>,
    /// Discount of a move [default: 0.99 for dqn, 0.999 for q-mlp]
    #[arg(long, value_name = "G", value_parser = share)]
    pub gamma: Option<f64>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Fit {
    /// Checks the numbers, and sets ε and γ to these defaults where they are missing.
    pub fn settled(mut self, epsilon: [f64; 2], gamma: f64) -> Result<Fit, Error> {
        self.gamma.get_or_insert(gamma);
        self.epsilon = match self.epsilon[..] {
            [] => epsilon.to_vec(),
            [always] if (0.0..=1.0).contains(&always) => vec![always; 2],
            [first, last] if [first, last].iter().all(|&p| p > 0.0 && p <= 1.0) => self.epsilon,
            _ => {
                let what = "invalid --epsilon: expected a probability, or two above 0 separated by a comma";
                return Err(what.into());
            }
        };
        Ok(self)
    }
}

/// δ of the Huber loss (Huber 1964): larger errors have the gradient of δ.
const HUBER_DELTA: f64 = 1.0;

impl Settings {
    /// Returns the optimiser.
    pub fn method(&self) -> OptimiserMethod {
        self.fit.optimiser.method(self.fit.learning_rate)
    }

    /// Returns the layout of positions.
    pub fn encoding(&self, board: (usize, usize)) -> Encoding {
        Encoding::of(self.layout, self.layout.planes(), board)
    }

    /// Returns the architecture for a board.
    pub fn architecture(&self, board: (usize, usize)) -> Architecture {
        let outputs = board.0 * board.1 + 1;
        let head = Head { name: "q".to_string(), outputs, activation: self.fit.output };
        Architecture::Mlp {
            inputs: self.encoding(board).len(),
            hidden: self.hidden.clone(),
            activation: self.fit.activation,
            heads: vec![head],
        }
    }
}

/// Number of parts of a batch; constant, because it determines the order of summation.
const PARTS: usize = 2;
/// Games played in parallel.
const LANES: usize = 64;

/// A game in progress.
struct Lane {
    position: AnyPosition,
    random: Xoshiro256PlusPlus,
    /// Opponent and learner's side; `None` if the learner plays both sides.
    opponent: Option<(usize, Side)>,
    /// Last decision of each side, until its next one or the end.
    pending: [Option<Experience>; 2],
    over: bool,
}

/// Sums of results of games against an opponent.
#[derive(Clone, Debug, Default)]
struct Results {
    games: u32,
    wins: u32,
    draws: u32,
    /// Discs at the end, the learner's; `theirs` are the opponent's.
    discs: u32,
    theirs: u32,
}

/// Q-learning.
pub struct QLearning {
    game: Arc<dyn Rules>,
    encoding: Encoding,
    settings: Settings,
    opponents: Vec<Box<dyn Policy>>,
    trainer: Trainer,
    target: Network,
    replay: Replay,
}

impl QLearning {
    /// Returns the state before the first game; `opponents` are those of the settings.
    pub fn new(
        game: Arc<dyn Rules>,
        settings: Settings,
        opponents: Vec<Box<dyn Policy>>,
    ) -> QLearning {
        let network = Network::new(settings.architecture(game.shape()), settings.fit.seed);
        let encoding = settings.encoding(game.shape());
        let (target, replay) = (network.clone(), Replay::new(settings.fit.replay));
        let trainer = Trainer::new(network, settings.method());
        QLearning { game, encoding, settings, opponents, trainer, target, replay }
    }

    fn lanes(&self, iteration: u64) -> Vec<Lane> {
        let count = self.opponents.len();
        let sides = (0..count).flat_map(|at| Side::ALL.map(|side| Some((at, side))));
        let kinds: Vec<_> = if count == 0 { vec![None] } else { sides.collect() };
        let games = (0..self.settings.games).flat_map(|_| kinds.iter().copied());
        let lane = |(number, opponent)| Lane {
            position: self.game.start(),
            random: seeded(self.settings.fit.seed, &[iteration, number]),
            opponent,
            pending: [None; 2],
            over: false,
        };
        (0..).zip(games).map(lane).collect()
    }

    /// Returns the board of a state in the form of the replay buffer.
    fn board(&self, state: &AnyState) -> [u64; 2] {
        let (own, other) = self.game.squares(state).unwrap_or_default();
        [own, other]
    }

    /// Plays games to their end, stores their decisions and adds to the results against each opponent.
    fn play(
        &mut self,
        lanes: &mut [Lane],
        epsilon: f64,
        results: &mut [Results],
    ) -> Result<(), Error> {
        while lanes.iter().any(|lane| !lane.over) {
            let mut own = Vec::new();
            let mut theirs: Vec<(Batch, Vec<usize>)> =
                self.opponents.iter().map(|_| Default::default()).collect();
            for (at, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.over) {
                let actions = self.game.actions(&lane.position.state);
                match lane.opponent {
                    _ if actions.len() == 1 && self.game.is_pass(actions[0]) => {
                        lane.position = self.game.advance(&lane.position, actions[0]);
                    }
                    Some((which, side)) if lane.position.side != side => {
                        theirs[which].0.push(lane.position, actions);
                        theirs[which].1.push(at);
                    }
                    _ => own.push((at, actions)),
                }
            }
            self.decide(lanes, own, epsilon);
            for (which, (batch, places)) in
                theirs.iter().enumerate().filter(|(_, t)| !t.1.is_empty())
            {
                let answers = self.opponents[which].answer(&*self.game, batch)?;
                answers.check(batch)?;
                for (place, &at) in places.iter().enumerate() {
                    let (lane, range) = (&mut lanes[at], batch.range(place));
                    let unit = unit(&mut lane.random);
                    let chosen = sample(&answers.probabilities[range.clone()], unit);
                    let action = batch.actions()[range][chosen];
                    lane.position = self.game.advance(&lane.position, action);
                }
            }
            for lane in lanes.iter_mut().filter(|lane| !lane.over) {
                self.end(lane, results);
            }
        }
        Ok(())
    }

    /// Chooses moves in some lanes, given with their legal actions.
    fn decide(&mut self, lanes: &mut [Lane], choices: Vec<(usize, Vec<Action>)>, epsilon: f64) {
        if choices.is_empty() {
            return;
        }
        let boards: Vec<[u64; 2]> =
            choices.iter().map(|(at, _)| self.board(&lanes[*at].position.state)).collect();
        let inputs = self.encoding.boards(boards.iter().copied());
        let answers = Pass::new(&self.trainer.network, inputs, None).answers.swap_remove(0);
        let q = answers.chunks_exact(self.game.action_count());
        for (((at, actions), q), board) in choices.into_iter().zip(q).zip(boards) {
            let lane = &mut lanes[at];
            let side = lane.position.side;
            for (whose, pending) in lane.pending.iter_mut().enumerate() {
                // The next decision is the other side's in self-play, the learner's own against an opponent.
                if let Some(experience) = pending.take() {
                    let sign = if whose == side.index() { 1 } else { -1 };
                    self.replay.push(Experience { next: board, sign, ..experience });
                }
            }
            let chosen = if unit(&mut lane.random) < epsilon {
                actions[below(&mut lane.random, actions.len())]
            } else {
                let value = |action: &Action| q[usize::from(action.0)];
                let better = |a: Action, b: Action| if value(&b) > value(&a) { b } else { a };
                actions.iter().copied().reduce(better).unwrap_or(actions[0])
            };
            let experience =
                Experience { before: board, action: chosen.0, ..Experience::default() };
            lane.pending[side.index()] = Some(experience);
            lane.position = self.game.advance(&lane.position, chosen);
        }
    }

    /// Ends a lane's game if it is over, and rewards its pending decisions.
    fn end(&mut self, lane: &mut Lane, results: &mut [Results]) {
        let state = &lane.position.state;
        if !self.game.is_terminal(state) {
            return;
        }
        lane.over = true;
        let mover = self.game.result(state).map_or(0, |outcome| outcome.value());
        for (side, pending) in Side::ALL.into_iter().zip(&mut lane.pending) {
            if let Some(experience) = pending.take() {
                let value = if side == lane.position.side { mover } else { -mover };
                self.replay.push(Experience { reward: f32::from(value), ..experience });
            }
        }
        if let Some((which, side)) = lane.opponent {
            let value = if side == lane.position.side { mover } else { -mover };
            let (mover, other) = self.game.squares(state).unwrap_or_default();
            let [mover, other] = [mover, other].map(u64::count_ones);
            let is_mover = side == lane.position.side;
            let (own, theirs) = if is_mover { (mover, other) } else { (other, mover) };
            let results = &mut results[which];
            results.games += 1;
            results.wins += u32::from(value > 0);
            results.draws += u32::from(value == 0);
            results.discs += own;
            results.theirs += theirs;
        }
    }

    /// Returns the targets of the Q-values of some decisions.
    fn targets(&self, experiences: &[Experience]) -> Vec<f32> {
        let inputs = self.encoding.boards(experiences.iter().map(|experience| experience.next));
        let answers = |network| Pass::new(network, inputs.clone(), None).answers.swap_remove(0);
        let (online, target) = (answers(&self.trainer.network), answers(&self.target));
        let of = |(at, experience): (usize, &Experience)| {
            let place = |action: usize| at * self.game.action_count() + action;
            if experience.sign == 0 {
                return experience.reward;
            }
            let Some(state) = self.game.of_squares(experience.next[0], experience.next[1]) else {
                return experience.reward;
            };
            let mut best: Option<usize> = None;
            self.game.for_each_action(&state, |action| {
                let action = usize::from(action.0);
                if best.is_none_or(|best| online[place(action)] > online[best]) {
                    best = Some(place(action));
                }
            });
            let q = best.map_or(0.0, |best| target[best].clamp(-1.0, 1.0));
            self.settings.fit.gamma.unwrap_or(1.0) as f32 * f32::from(experience.sign) * q
        };
        experiences.iter().enumerate().map(of).collect()
    }

    /// Makes a step on a random batch of the replay buffer and returns its loss.
    fn step(&mut self, random: &mut Xoshiro256PlusPlus, factor: f64) -> Result<f64, Error> {
        let all = self.replay.experiences();
        let batch: Vec<Experience> =
            (0..self.settings.fit.batch).map(|_| all[below(random, all.len())]).collect();
        let parts: Vec<&[Experience]> = batch.chunks(batch.len().div_ceil(PARTS)).collect();
        let targets: Vec<Vec<f32>> = parts.par_iter().map(|part| self.targets(part)).collect();
        let parts: Vec<(&[Experience], Vec<f32>)> = parts.into_iter().zip(targets).collect();
        let (encoding, count) = (&self.encoding, self.settings.fit.batch);
        let loss = self.trainer.step(parts, factor, Some(10.0), |network, part| {
            gradient(network, encoding, part, count)
        })?;
        if self.trainer.optimiser.steps().is_multiple_of(self.settings.fit.target_update) {
            self.target = self.trainer.network.clone();
        }
        Ok(loss)
    }
}

/// Returns Huber's loss of the Q-values of decisions over `count`, with its gradient.
fn gradient(
    network: &Network,
    encoding: &Encoding,
    (part, targets): (&[Experience], Vec<f32>),
    count: usize,
) -> Gradient {
    let boards = part.iter().map(|experience| experience.before);
    let pass = Pass::new(network, encoding.boards(boards), None);
    let q = &pass.answers[0];
    let (width, mut loss, mut errors) = (q.len() / part.len(), 0.0, vec![0.0; q.len()]);
    for (at, (experience, target)) in part.iter().zip(targets).enumerate() {
        let place = at * width + usize::from(experience.action);
        let error = f64::from(q[place] - target);
        // ½ e² up to δ, δ (e − δ/2) beyond: ½ m² + δ (e − m) with m the lesser of e and δ.
        let least = error.abs().min(HUBER_DELTA);
        loss += (0.5 * least * least + HUBER_DELTA * (error.abs() - least)) / count as f64;
        errors[place] = (least.copysign(error) / count as f64) as f32;
    }
    pass.backward(loss, vec![errors])
}

impl Learner for QLearning {
    fn iterations(&self) -> u64 {
        self.settings.iterations
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, iteration: u64, _progress: &dyn Progress) -> Result<HistoryRow, Error> {
        let done = iteration as f64 / (self.settings.iterations.max(2) - 1) as f64;
        let (from, to) = (self.settings.fit.epsilon[0], self.settings.fit.epsilon[1]);
        let epsilon = if from == to { from } else { from * libm::pow(to / from, done) };
        let mut results = vec![Results::default(); self.opponents.len()];
        let mut lanes = self.lanes(iteration);
        let decisions = lanes.len() * self.game.action_count() / 2;
        for lanes in lanes.chunks_mut(LANES) {
            self.play(lanes, epsilon, &mut results)?;
        }
        let steps = ((decisions as f64 * self.settings.fit.steps_per_decision) as u64).max(1);
        let mut random = seeded(self.settings.fit.seed, &[iteration, u64::MAX]);
        let mut total = 0.0;
        for _ in 0..steps {
            total += self.step(&mut random, 1.0 - 0.9 * done)?;
        }
        let mut row = HistoryRow::from([
            ("iteration".to_string(), (iteration + 1) as f64),
            ("loss".to_string(), total / steps as f64),
            ("epsilon".to_string(), epsilon),
        ]);
        for (name, results) in self.settings.opponents.iter().zip(results) {
            let Results { games, wins, draws, discs, .. } = results;
            let [games, wins, draws, discs] = [games, wins, draws, discs].map(f64::from);
            row.insert(format!("points against {name}"), (wins + draws / 2.0) / games);
            row.insert(format!("games against {name}"), games);
            row.insert(format!("wins against {name}"), wins);
            row.insert(format!("draws against {name}"), draws);
            row.insert(format!("discs against {name}"), discs);
            row.insert(format!("discs of {name}"), f64::from(results.theirs));
        }
        Ok(row)
    }

    fn state(&self) -> Vec<Parameter> {
        let target = self.target.parameters().iter().cloned();
        let target = target.map(|p| Parameter { name: format!("target.{}", p.name), ..p });
        [self.replay.to_parameter()].into_iter().chain(target).collect()
    }

    fn restore(&mut self, state: Vec<Parameter>) -> Option<()> {
        let (replay, target) = state.split_first()?;
        self.replay = Replay::of_parameter(self.settings.fit.replay, replay)?;
        let plain = |p: &Parameter| {
            Some(Parameter { name: p.name.strip_prefix("target.")?.to_string(), ..p.clone() })
        };
        let target = target.iter().map(plain).collect::<Option<Vec<_>>>()?;
        self.target = Network::of(self.target.architecture().clone(), target)?;
        Some(())
    }
}
