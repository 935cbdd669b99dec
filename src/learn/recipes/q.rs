//! Q-learning with a replay buffer and a target network.
//!
//! The replay buffer holds each decision with the position of the next one. The target of a move's
//! Q-value is the reward (1 won, 0 drawn, −1 lost) or, where the game goes on, γ times the best
//! Q-value there, negated if the other player decides there (Watkins 1989; for two players Littman
//! 1994). Passes are no decisions.
//!
//! What makes this stable where a plain version is not (Mnih et al. 2015): a batch is sampled from
//! many games, whose positions are less alike than those of one; targets come from an older copy of
//! the network, the target network; the online network chooses the move there (van Hasselt, Guez
//! and Silver 2016), since the maximum of uncertain values is biased upwards; only legal moves
//! count; and the loss is Huber's.

use candle_core::{Device, Result as Calculated, Tensor};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::replay::{Experience, Replay};
use crate::game::encode::{Encoding, Layout};
use crate::game::{Action, Game, Position, Side};
use crate::learn::LearnError;
use crate::learn::chance::{below, sample, seeded, unit};
use crate::learn::network::{Activation, Architecture, Head, Network, Parameter};
use crate::learn::optimiser::{Kind, Method};
use crate::learn::trainer::{Trainer, rows};
use crate::learn::training::{Learner, Row};
use crate::learn::weights::Weights;
use crate::policy::{Answers, Batch, Policy};
use crate::progress::Progress;

/// The settings of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How positions are laid out.
    pub layout: Layout,
    /// The units of each hidden layer.
    pub hidden: Vec<usize>,
    /// The names of the opponents, each played from both sides; self-play if there are none.
    pub opponents: Vec<String>,
    /// The iterations: games, then the fit to the replay buffer.
    pub iterations: u64,
    /// The games of an iteration with each side against each opponent.
    pub games: u64,
    /// What hidden units make of their sums.
    pub activation: Activation,
    /// What the outputs make of theirs.
    pub output: Activation,
    /// The probability of a random move in the first iteration and in the last; between them it
    /// falls geometrically, so that both are above 0 if they differ.
    pub epsilon: [f64; 2],
    /// The discount of a move, 0 to 1.
    pub gamma: f64,
    /// The capacity of the replay buffer, in decisions.
    pub replay: usize,
    /// The steps for each decision of an iteration. A game counts as half as many decisions as the
    /// board has actions, so that the settings alone say how many steps there are. That is about
    /// what one side decides; in self-play both sides' decisions are used.
    pub steps_per_decision: f64,
    /// The batch size.
    pub batch: usize,
    /// The steps between updates of the target network.
    pub target_update: u64,
    /// The optimiser.
    pub optimiser: Kind,
    /// The initial learning rate; it falls linearly to a tenth.
    pub learning_rate: f64,
    /// The δ of the Huber loss (Huber 1964): the gradient of larger errors is that of δ.
    pub huber_delta: f64,
    /// The seed.
    pub seed: u64,
}

impl Settings {
    /// The optimiser.
    pub fn method(&self) -> Method {
        self.optimiser.method(self.learning_rate)
    }

    /// How positions are laid out.
    pub fn encoding(&self, board: (usize, usize)) -> Encoding {
        Encoding::of(self.layout, self.layout.planes(), board)
    }

    /// The network on a board.
    pub fn architecture(&self, board: (usize, usize)) -> Architecture {
        let outputs = board.0 * board.1 + 1;
        let head = Head { name: "q".to_string(), outputs, activation: self.output };
        Architecture::Mlp {
            inputs: self.encoding(board).len(),
            hidden: self.hidden.clone(),
            activation: self.activation,
            heads: vec![head],
        }
    }
}

/// Into how many parts a batch is cut; a constant, for sums are made part by part.
const PARTS: usize = 2;
/// Games played in parallel.
const LANES: usize = 64;

/// A game that is going on.
struct Lane<S> {
    position: Position<S>,
    random: Xoshiro256PlusPlus,
    /// The opponent and the learner's side; the learner plays both sides without one.
    opponent: Option<(usize, Side)>,
    /// The last decision of each side, until the next one or the end.
    pending: [Option<Experience>; 2],
    over: bool,
}

/// The results of games against an opponent, as sums.
#[derive(Clone, Debug, Default)]
struct Results {
    games: u32,
    wins: u32,
    draws: u32,
    /// Discs at the end, the learner's and the opponent's.
    discs: u32,
    theirs: u32,
}

/// Trains by Q-learning.
pub struct QLearning<G: Game> {
    game: G,
    encoding: Encoding,
    settings: Settings,
    opponents: Vec<Box<dyn Policy<G>>>,
    trainer: Trainer,
    target: Network,
    replay: Replay,
}

impl<G: Game> QLearning<G> {
    /// Before the first game; the opponents are those of the settings.
    pub fn new(game: G, settings: Settings, opponents: Vec<Box<dyn Policy<G>>>) -> QLearning<G> {
        let network = Network::new(settings.architecture(game.shape()), settings.seed);
        let encoding = settings.encoding(game.shape());
        let (target, replay) = (network.clone(), Replay::new(settings.replay));
        let trainer = Trainer::new(network, settings.method());
        QLearning { game, encoding, settings, opponents, trainer, target, replay }
    }

    fn lanes(&self, iteration: u64) -> Vec<Lane<G::State>> {
        let count = self.opponents.len();
        let sides = (0..count).flat_map(|at| Side::ALL.map(|side| Some((at, side))));
        let kinds: Vec<_> = if count == 0 { vec![None] } else { sides.collect() };
        let games = (0..self.settings.games).flat_map(|_| kinds.iter().copied());
        let lane = |(number, opponent)| Lane {
            position: self.game.start(),
            random: seeded(self.settings.seed, &[iteration, number]),
            opponent,
            pending: [None; 2],
            over: false,
        };
        (0..).zip(games).map(lane).collect()
    }

    /// The board of a state, as the replay buffer stores it.
    fn board(&self, state: &G::State) -> [u64; 2] {
        let (own, other) = self.game.squares(state).unwrap_or_default();
        [own, other]
    }

    /// Plays games to their end and stores their decisions; adds to the results against each
    /// opponent.
    fn play(
        &mut self,
        lanes: &mut [Lane<G::State>],
        epsilon: f64,
        results: &mut [Results],
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

    /// Chooses moves in the lanes named, each with its legal actions.
    fn decide(
        &mut self,
        lanes: &mut [Lane<G::State>],
        choices: Vec<(usize, Vec<Action>)>,
        epsilon: f64,
    ) -> Calculated<()> {
        if choices.is_empty() {
            return Ok(());
        }
        let boards: Vec<[u64; 2]> =
            choices.iter().map(|(at, _)| self.board(&lanes[*at].position.state)).collect();
        let inputs = self.encoding.boards(boards.iter().copied());
        let width = self.encoding.len();
        let q =
            self.trainer.network.fixed()?.forward(&rows(inputs, width)?)?[0].to_vec2::<f32>()?;
        for (((at, actions), q), board) in choices.into_iter().zip(q).zip(boards) {
            let lane = &mut lanes[at];
            let side = lane.position.side;
            for (whose, pending) in lane.pending.iter_mut().enumerate() {
                // In self-play the next decision is the other side's; with an opponent, its own.
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
        Ok(())
    }

    /// Ends a lane's game if it is over: pending decisions get their reward.
    fn end(&mut self, lane: &mut Lane<G::State>, results: &mut [Results]) {
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

    /// The targets of the Q-values of some decisions.
    fn targets(&self, experiences: &[Experience]) -> Calculated<Vec<f32>> {
        let boards = experiences.iter().map(|experience| experience.next);
        let inputs = rows(self.encoding.boards(boards), self.encoding.len())?;
        let answers = |network: &Network| network.fixed()?.forward(&inputs)?[0].to_vec2::<f32>();
        let (online, target) = (answers(&self.trainer.network)?, answers(&self.target)?);
        let of = |(at, experience): (usize, &Experience)| {
            if experience.sign == 0 {
                return experience.reward;
            }
            let Some(state) = self.game.of_squares(experience.next[0], experience.next[1]) else {
                return experience.reward;
            };
            let mut best: Option<usize> = None;
            self.game.for_each_action(&state, |action| {
                let action = usize::from(action.0);
                if best.is_none_or(|best| online[at][action] > online[at][best]) {
                    best = Some(action);
                }
            });
            let q = best.map_or(0.0, |best| target[at][best].clamp(-1.0, 1.0));
            self.settings.gamma as f32 * f32::from(experience.sign) * q
        };
        Ok(experiences.iter().enumerate().map(of).collect())
    }

    /// A step on a random batch of the replay buffer; gives its loss.
    fn step(&mut self, random: &mut Xoshiro256PlusPlus, factor: f64) -> Result<f64, LearnError> {
        let all = self.replay.experiences();
        let batch: Vec<Experience> =
            (0..self.settings.batch).map(|_| all[below(random, all.len())]).collect();
        let parts: Vec<&[Experience]> = batch.chunks(batch.len().div_ceil(PARTS)).collect();
        let this = &*self;
        let targets = self.trainer.workers.map(parts.clone(), |part| this.targets(part));
        let targets: Vec<Vec<f32>> = targets.into_iter().collect::<Calculated<_>>()?;
        let parts: Vec<(&[Experience], Vec<f32>)> = parts.into_iter().zip(targets).collect();
        let Settings { huber_delta, batch: count, .. } = self.settings;
        let encoding = &self.encoding;
        let loss = self.trainer.step(parts, factor, Some(10.0), |weights, (part, targets)| {
            loss(weights, encoding, (part, targets), huber_delta, count)
        })?;
        if self.trainer.optimiser.steps().is_multiple_of(self.settings.target_update) {
            self.target = self.trainer.network.clone();
        }
        Ok(loss)
    }
}

/// Huber's loss of the Q-values of decisions, over `count`.
fn loss(
    weights: &Weights<'_>,
    encoding: &Encoding,
    (part, targets): (&[Experience], Vec<f32>),
    delta: f64,
    count: usize,
) -> Calculated<Tensor> {
    let boards = part.iter().map(|experience| experience.before);
    let inputs = rows(encoding.boards(boards), encoding.len())?;
    let chosen: Vec<u32> = part.iter().map(|experience| u32::from(experience.action)).collect();
    let chosen = Tensor::from_vec(chosen, (part.len(), 1), &Device::Cpu)?;
    let q = weights.forward(&inputs)?[0].gather(&chosen, 1)?;
    let errors = (q - rows(targets, 1)?)?.abs()?;
    // ½ e² up to δ, δ (e − δ/2) beyond: ½ m² + δ (e − m) with m the lesser of e and δ.
    let least = errors.minimum(delta)?;
    let all = ((least.sqr()? * 0.5)? + ((&errors - &least)? * delta)?)?;
    all.sum_all()? / count as f64
}

impl<G: Game> Learner for QLearning<G> {
    fn iterations(&self) -> u64 {
        self.settings.iterations
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, iteration: u64, _progress: &dyn Progress) -> Result<Row, LearnError> {
        let done = iteration as f64 / (self.settings.iterations.max(2) - 1) as f64;
        let [from, to] = self.settings.epsilon;
        let epsilon = if from == to { from } else { from * libm::pow(to / from, done) };
        let mut results = vec![Results::default(); self.opponents.len()];
        let mut lanes = self.lanes(iteration);
        let decisions = lanes.len() * self.game.action_count() / 2;
        for lanes in lanes.chunks_mut(LANES) {
            self.play(lanes, epsilon, &mut results)?;
        }
        let steps = ((decisions as f64 * self.settings.steps_per_decision) as u64).max(1);
        let mut random = seeded(self.settings.seed, &[iteration, u64::MAX]);
        let mut total = 0.0;
        for _ in 0..steps {
            total += self.step(&mut random, 1.0 - 0.9 * done)?;
        }
        let mut row = Row::from([
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
        self.replay = Replay::of_parameter(self.settings.replay, replay)?;
        let plain = |p: &Parameter| {
            Some(Parameter { name: p.name.strip_prefix("target.")?.to_string(), ..p.clone() })
        };
        let target = target.iter().map(plain).collect::<Option<Vec<_>>>()?;
        self.target = Network::of(self.target.architecture().clone(), target)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any::{AnyGame, AnyPosition};
    use crate::registry::othello;

    /// A network as the article has it, ReLU 64 and sigmoid 64, with its step of plain descent.
    struct Articles {
        hidden: Vec<[f32; 64]>,
        output: Vec<[f32; 64]>,
    }

    impl Articles {
        fn forward(&self, squares: &[f32; 64]) -> ([f32; 64], [f32; 64]) {
            let dot = |weights: &[f32; 64], x: &[f32; 64]| -> f32 {
                weights.iter().zip(x).map(|(w, x)| w * x).sum()
            };
            // Rust's maximum would hide what is no number.
            let relu = |x: f32| if x < 0.0 { 0.0 } else { x };
            let hidden = std::array::from_fn(|at| relu(dot(&self.hidden[at], squares)));
            let sigmoid = |x: f32| 1.0 / (1.0 + libm::expf(-x));
            (hidden, std::array::from_fn(|at| sigmoid(dot(&self.output[at], &hidden))))
        }

        fn learn(&mut self, squares: &[f32; 64], action: usize, target: f32) {
            let (hidden, output) = self.forward(squares);
            let error = (output[action] - target) * output[action] * (1.0 - output[action]);
            for (at, &unit) in hidden.iter().enumerate() {
                let back = error * self.output[action][at] * f32::from(unit > 0.0);
                self.output[action][at] -= 0.001 * error * unit;
                let weights = self.hidden[at].iter_mut().zip(squares);
                weights.for_each(|(weight, square)| *weight -= 0.001 * back * square);
            }
        }

        fn broken(&self) -> usize {
            let all = self.hidden.iter().chain(&self.output).flatten();
            all.filter(|weight| weight.is_nan()).count()
        }
    }

    /// The squares as the mover sees them: 1 own, −1 the other's.
    fn squares(game: &AnyGame, position: &AnyPosition) -> [f32; 64] {
        let text = game.diagram(position);
        let discs = text.lines().skip(1).take(8).flat_map(|row| row.split_whitespace().skip(1));
        let own = if position.side == Side::First { "X" } else { "O" };
        let mut discs = discs.map(|disc| match disc {
            "X" | "O" => {
                if disc == own {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => 0.0,
        });
        std::array::from_fn(|_| discs.next().unwrap())
    }

    /// The article's target of a move after which the game goes on: the mean, over the opponent's
    /// replies, of the Q-value of one's own best answer.
    fn target(game: &AnyGame, network: &Articles, after: &AnyPosition) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for reply in game.actions(&after.state) {
            let next = game.advance(after, reply);
            let answers = game.actions(&next.state).into_iter().filter(|&a| !game.is_pass(a));
            let (_, output) = network.forward(&squares(game, &next));
            let best = answers.map(|answer| output[usize::from(answer.0)]).reduce(f32::max);
            if let Some(best) = best.filter(|_| !game.is_pass(reply)) {
                (sum, count) = (sum + best, count + 1.0);
            }
        }
        sum / count
    }

    /// Why the deep Q-learning of the article of 2023 exploded at once, whatever its network: where
    /// no reply of the opponent leaves an answer its target is 0 / 0.
    #[test]
    fn the_article_divides_nothing_by_nothing() {
        const GAMES: u32 = 20;
        let (game, mut random) = (othello("8").unwrap(), seeded(0, &[]));
        let mut weights = || std::array::from_fn(|_| (unit(&mut random) as f32 - 0.5) / 4.0);
        let mut network = Articles {
            hidden: (0..64).map(|_| weights()).collect(),
            output: (0..64).map(|_| weights()).collect(),
        };
        let (mut random, mut first_broken, mut games_with_it) = (seeded(1, &[]), None, 0);
        for number in 1..=GAMES {
            let (mut position, mut has_it) = (game.start(), false);
            while !game.is_terminal(&position.state) {
                let actions = game.actions(&position.state);
                let action = actions[below(&mut random, actions.len())];
                let after = game.advance(&position, action);
                if position.side == Side::First && !game.is_pass(action) {
                    let target = match game.result(&after.state) {
                        Some(outcome) => -f32::from(outcome.value()),
                        None => 0.99 * target(&game, &network, &after),
                    };
                    has_it |= target.is_nan();
                    if first_broken.is_none() {
                        network.learn(&squares(&game, &position), usize::from(action.0), target);
                        first_broken = (network.broken() > 0).then_some(number);
                    }
                }
                position = after;
            }
            games_with_it += u32::from(has_it);
        }
        assert_eq!((first_broken, games_with_it), (Some(1), GAMES));
        // From then on there is no number for any move.
        let (_, output) = network.forward(&squares(&game, &game.start()));
        let spoiled = output.iter().filter(|value| value.is_nan()).count();
        assert_eq!(spoiled, 64);
    }
}
