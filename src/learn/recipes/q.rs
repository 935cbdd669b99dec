//! Q-learning: what each move is worth, learned from what came of moves.
//!
//! A decision is remembered with the position in which the next one is made; the worth of the move is
//! drawn towards the reward (1 won, 0 drawn, −1 lost) or, where the game goes on, towards γ times the
//! best worth of a move there, the other player's counting against it (Watkins 1989; for two players
//! Littman 1994). Passes are no decisions.
//!
//! What makes this stable where a plain version is not (Mnih et al. 2015): memories are drawn at random
//! from many games, so that a batch is not one game's worth of like positions; the worth of what
//! follows comes from an older copy of the network, so that it does not run after itself; the move there
//! is chosen by the newer one (van Hasselt, Guez and Silver 2016), for the largest of uncertain numbers
//! is too large; only legal moves count; and errors beyond `bound` pull no harder than one of that size.

use candle_core::{Device, Result as Calculated, Tensor};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::replay::{Memory, Replay};
use crate::game::{Action, Game, Position, Side};
use crate::learn::LearnError;
use crate::learn::chance::{below, drawn_for, unit};
use crate::learn::course::{Learner, Row};
use crate::learn::features::Features;
use crate::learn::network::{Activation, Architecture, Head, Network, Parameter};
use crate::learn::optimiser::Method;
use crate::learn::trainer::{Trainer, rows};
use crate::learn::weights::Weights;
use crate::policy::{Answers, Batch, Policy};
use crate::progress::Progress;

/// By what a network learns the worth of moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How positions are laid out.
    pub features: Features,
    /// The units of each hidden layer.
    pub hidden: Vec<usize>,
    /// The names of the policies it plays against, each from both sides; itself if there are none.
    pub opponents: Vec<String>,
    /// How many rounds there are.
    pub rounds: u64,
    /// How many games it plays in each, with each side against each opponent.
    pub games: u64,
    /// How often a random move is made in the first round and in the last; between them it falls
    /// geometrically.
    pub epsilon: [f64; 2],
    /// What a move later is worth of the same now, 0 to 1.
    pub gamma: f64,
    /// How many decisions are remembered.
    pub replay: usize,
    /// How many steps are made in a round for each decision of it. A game counts as half as many
    /// decisions as the board has actions: so the settings alone say how long a course is. That is
    /// about what one side decides; in play with itself both sides' decisions are learned from.
    pub steps: f64,
    /// How many memories a step sees.
    pub batch: usize,
    /// After how many steps the older copy is renewed.
    pub renew: u64,
    /// The size of a step (Adam); it falls in a straight line to a tenth.
    pub rate: f64,
    /// Beyond which size of error the pull grows no more (Huber 1964).
    pub bound: f64,
    /// From this the weights and all chances are drawn.
    pub seed: u64,
}

impl Settings {
    /// How the weights follow the errors.
    pub fn method(&self) -> Method {
        Method::adam(self.rate, 0.0)
    }

    /// The network on a board of so many squares.
    pub fn architecture(&self, squares: usize) -> Architecture {
        let outputs = squares + 1;
        // Linear: worths are anywhere from −1 to 1, which a sigmoid from 0 to 1 could not say.
        let head = Head { name: "q".to_string(), outputs, activation: Activation::Linear };
        Architecture::Mlp {
            inputs: self.features.width(squares),
            hidden: self.hidden.clone(),
            activation: Activation::Relu,
            heads: vec![head],
        }
    }
}

/// Into how many parts a batch is cut; a constant, for sums are made part by part.
const PARTS: usize = 2;
/// Games played side by side.
const LANES: usize = 64;

/// A game that is going on.
struct Lane<S> {
    position: Position<S>,
    random: Xoshiro256PlusPlus,
    /// Which of the opponents it is against, and with which side it learns; all sides without one.
    opponent: Option<(usize, Side)>,
    /// The last decision of each side that waits for what comes of it.
    waiting: [Option<Memory>; 2],
    over: bool,
}

/// Learns the worth of moves.
pub struct QLearning<G: Game> {
    game: G,
    settings: Settings,
    opponents: Vec<Box<dyn Policy<G>>>,
    trainer: Trainer,
    older: Network,
    replay: Replay,
}

impl<G: Game> QLearning<G> {
    /// Before the first game; the opponents are those of the settings.
    pub fn new(game: G, settings: Settings, opponents: Vec<Box<dyn Policy<G>>>) -> QLearning<G> {
        let squares = game.action_count() - 1;
        let network = Network::new(settings.architecture(squares), settings.seed);
        let (older, replay) = (network.clone(), Replay::new(settings.replay));
        let trainer = Trainer::new(network, settings.method());
        QLearning { game, settings, opponents, trainer, older, replay }
    }

    fn lanes(&self, round: u64) -> Vec<Lane<G::State>> {
        let count = self.opponents.len();
        let sides = (0..count).flat_map(|at| Side::ALL.map(|side| Some((at, side))));
        let kinds: Vec<_> = if count == 0 { vec![None] } else { sides.collect() };
        let games = (0..self.settings.games).flat_map(|_| kinds.iter().copied());
        let lane = |(number, opponent)| Lane {
            position: self.game.start(),
            random: drawn_for(self.settings.seed, &[round, number]),
            opponent,
            waiting: [None; 2],
            over: false,
        };
        (0..).zip(games).map(lane).collect()
    }

    /// The board of a state as it is remembered.
    fn board(&self, state: &G::State) -> [u64; 2] {
        let (own, other) = self.game.squares(state).unwrap_or_default();
        [own, other]
    }

    /// Plays games to their end and remembers their decisions; adds to the points and the games
    /// against each opponent.
    fn play(
        &mut self,
        lanes: &mut [Lane<G::State>],
        epsilon: f64,
        results: &mut [[f64; 2]],
    ) -> Result<(), LearnError> {
        let mut answers = Answers::default();
        while lanes.iter().any(|lane| !lane.over) {
            let mut own = Vec::new();
            let mut theirs: Vec<(Batch<G::State>, Vec<usize>)> =
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
            self.decide(lanes, own, epsilon)?;
            for (which, (batch, places)) in
                theirs.iter().enumerate().filter(|(_, t)| !t.1.is_empty())
            {
                answers.clear();
                self.opponents[which].answer(&self.game, batch, &mut answers)?;
                answers.check(batch)?;
                for (place, &at) in places.iter().enumerate() {
                    let (lane, range) = (&mut lanes[at], batch.range(place));
                    let mut chance = unit(&mut lane.random);
                    let shares = &answers.probabilities[range.clone()];
                    let chosen = shares.iter().position(|share| {
                        chance -= share;
                        chance < 0.0
                    });
                    let chosen = chosen.unwrap_or(range.len() - 1);
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

    /// Chooses moves in the lanes named, each with its legal actions.
    fn decide(
        &mut self,
        lanes: &mut [Lane<G::State>],
        asked: Vec<(usize, Vec<Action>)>,
        epsilon: f64,
    ) -> Calculated<()> {
        if asked.is_empty() {
            return Ok(());
        }
        let boards: Vec<[u64; 2]> =
            asked.iter().map(|(at, _)| self.board(&lanes[*at].position.state)).collect();
        let inputs = self.settings.features.of_boards(&boards, self.game.action_count() - 1);
        let width = self.trainer.network.architecture().inputs();
        let q =
            self.trainer.network.fixed()?.forward(&rows(inputs, width)?)?[0].to_vec2::<f32>()?;
        for (((at, actions), q), board) in asked.into_iter().zip(q).zip(boards) {
            let lane = &mut lanes[at];
            let side = lane.position.side;
            for (whose, waiting) in lane.waiting.iter_mut().enumerate() {
                // In play with itself the next decision is the other's; with an opponent, its own.
                if let Some(memory) = waiting.take() {
                    let sign = if whose == side.index() { 1 } else { -1 };
                    self.replay.push(Memory { next: board, sign, ..memory });
                }
            }
            let chosen = if unit(&mut lane.random) < epsilon {
                actions[below(&mut lane.random, actions.len())]
            } else {
                let worth = |action: &Action| q[usize::from(action.0)];
                let better = |a: Action, b: Action| if worth(&b) > worth(&a) { b } else { a };
                actions.iter().copied().reduce(better).unwrap_or(actions[0])
            };
            let memory = Memory { before: board, action: chosen.0, ..Memory::default() };
            lane.waiting[side.index()] = Some(memory);
            lane.position = self.game.advance(&lane.position, chosen);
        }
        Ok(())
    }

    /// Ends a lane's game if it is over: decisions that wait get their reward.
    fn end(&mut self, lane: &mut Lane<G::State>, results: &mut [[f64; 2]]) {
        let state = &lane.position.state;
        if !self.game.is_terminal(state) {
            return;
        }
        lane.over = true;
        let mover = self.game.result(state).map_or(0, |outcome| outcome.value());
        for (side, waiting) in Side::ALL.into_iter().zip(&mut lane.waiting) {
            if let Some(memory) = waiting.take() {
                let value = if side == lane.position.side { mover } else { -mover };
                self.replay.push(Memory { reward: f32::from(value), ..memory });
            }
        }
        if let Some((which, side)) = lane.opponent {
            let value = if side == lane.position.side { mover } else { -mover };
            results[which][0] += (f64::from(value) + 1.0) / 2.0;
            results[which][1] += 1.0;
        }
    }

    /// What the worths of some decisions should be, by what is remembered to have come of them.
    fn targets(&self, memories: &[Memory]) -> Calculated<Vec<f32>> {
        let squares = self.game.action_count() - 1;
        let width = self.trainer.network.architecture().inputs();
        let boards: Vec<[u64; 2]> = memories.iter().map(|memory| memory.next).collect();
        let inputs = rows(self.settings.features.of_boards(&boards, squares), width)?;
        let answers = |network: &Network| network.fixed()?.forward(&inputs)?[0].to_vec2::<f32>();
        let (newer, older) = (answers(&self.trainer.network)?, answers(&self.older)?);
        let target = |(at, memory): (usize, &Memory)| {
            if memory.sign == 0 {
                return memory.reward;
            }
            let Some(state) = self.game.of_squares(memory.next[0], memory.next[1]) else {
                return memory.reward;
            };
            let mut best: Option<usize> = None;
            self.game.for_each_action(&state, |action| {
                let action = usize::from(action.0);
                if best.is_none_or(|best| newer[at][action] > newer[at][best]) {
                    best = Some(action);
                }
            });
            let worth = best.map_or(0.0, |best| older[at][best].clamp(-1.0, 1.0));
            self.settings.gamma as f32 * f32::from(memory.sign) * worth
        };
        Ok(memories.iter().enumerate().map(target).collect())
    }

    /// A step with memories drawn at random; gives its loss.
    fn step(&mut self, random: &mut Xoshiro256PlusPlus, pace: f64) -> Result<f64, LearnError> {
        let all = self.replay.memories();
        let batch: Vec<Memory> =
            (0..self.settings.batch).map(|_| all[below(random, all.len())]).collect();
        let parts: Vec<&[Memory]> = batch.chunks(batch.len().div_ceil(PARTS)).collect();
        let this = &*self;
        let targets = self.trainer.workers.map(parts.clone(), |part| this.targets(part));
        let targets: Vec<Vec<f32>> = targets.into_iter().collect::<Calculated<_>>()?;
        let squares = self.game.action_count() - 1;
        let lessons: Vec<(&[Memory], Vec<f32>)> = parts.into_iter().zip(targets).collect();
        let (features, bound, count) =
            (self.settings.features, self.settings.bound, self.settings.batch);
        let loss = self.trainer.step(lessons, pace, Some(10.0), |weights, (part, targets)| {
            loss(weights, features, squares, part, targets, bound, count)
        })?;
        if self.trainer.optimiser.steps().is_multiple_of(self.settings.renew) {
            self.older = self.trainer.network.clone();
        }
        Ok(loss)
    }
}

/// Huber's loss of the worths of what was decided, over `count`.
fn loss(
    weights: &Weights<'_>,
    features: Features,
    squares: usize,
    part: &[Memory],
    targets: Vec<f32>,
    bound: f64,
    count: usize,
) -> Calculated<Tensor> {
    let boards: Vec<[u64; 2]> = part.iter().map(|memory| memory.before).collect();
    let inputs = rows(features.of_boards(&boards, squares), features.width(squares))?;
    let chosen: Vec<u32> = part.iter().map(|memory| u32::from(memory.action)).collect();
    let chosen = Tensor::from_vec(chosen, (part.len(), 1), &Device::Cpu)?;
    let worths = weights.forward(&inputs)?[0].gather(&chosen, 1)?;
    let errors = (worths - rows(targets, 1)?)?.abs()?;
    // ½ e² up to the bound b, b (e − b/2) beyond: ½ m² + b (e − m) with m the lesser of e and b.
    let least = errors.minimum(bound)?;
    let all = ((least.sqr()? * 0.5)? + ((&errors - &least)? * bound)?)?;
    all.sum_all()? / count as f64
}

impl<G: Game> Learner for QLearning<G> {
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
        let gone = round as f64 / (self.settings.rounds.max(2) - 1) as f64;
        let [from, to] = self.settings.epsilon;
        let epsilon = from * libm::pow(to / from, gone);
        let mut results = vec![[0.0; 2]; self.opponents.len()];
        let mut lanes = self.lanes(round);
        let decisions = lanes.len() * self.game.action_count() / 2;
        for lanes in lanes.chunks_mut(LANES) {
            self.play(lanes, epsilon, &mut results)?;
        }
        let steps = ((decisions as f64 * self.settings.steps) as u64).max(1);
        let mut random = drawn_for(self.settings.seed, &[round, u64::MAX]);
        let mut total = 0.0;
        for _ in 0..steps {
            total += self.step(&mut random, 1.0 - 0.9 * gone)?;
        }
        let mut row = Row::from([
            ("round".to_string(), (round + 1) as f64),
            ("loss".to_string(), total / steps as f64),
            ("epsilon".to_string(), epsilon),
        ]);
        for (name, [points, games]) in self.settings.opponents.iter().zip(results) {
            row.insert(format!("points against {name}"), points / games);
        }
        Ok(row)
    }

    fn memory(&self) -> Vec<Parameter> {
        let older = self.older.parameters().iter().cloned();
        let older = older.map(|p| Parameter { name: format!("older.{}", p.name), ..p });
        [self.replay.written()].into_iter().chain(older).collect()
    }

    fn remember(&mut self, memory: Vec<Parameter>) -> Option<()> {
        let (replay, older) = memory.split_first()?;
        self.replay = Replay::read(self.settings.replay, replay)?;
        let plain = |p: &Parameter| {
            Some(Parameter { name: p.name.strip_prefix("older.")?.to_string(), ..p.clone() })
        };
        let older = older.iter().map(plain).collect::<Option<Vec<_>>>()?;
        self.older = Network::of(self.older.architecture().clone(), older)?;
        Some(())
    }
}
