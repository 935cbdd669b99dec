//! Textbook reinforcement learning on a table of a whole game: Monte Carlo and temporal-difference
//! learning with a value for every state or move, and their exact error as they learn (Sutton and
//! Barto, *Reinforcement Learning*, chapters 5 and 6; see `docs/results/learned.md`).
//!
//! Both sides learn from the same values, always those of the player to move. A game is worth 1, 0
//! or −1 at its end and nothing before, without discount. Images of a state under symmetries are one
//! state, as in the table, and moves that lead to the same state are one move.
//!
//! Two methods, first-visit Monte Carlo and TD(0), predict the outcome of uniformly random play for
//! every state; the truth is the exact expectation. The others learn to play, with a value for
//! every move; the truth is the table. No state of a layered game occurs twice in a game, so that
//! every visit is a first visit.

use clap::ValueEnum;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::chance::{below, seeded, unit};
use crate::options::{COUNT, number, share};

/// Learners, in the order of the textbook. The numbers are part of the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// First-visit Monte Carlo: how random play ends, as the mean of what followed
    MonteCarlo = 0,
    /// Monte Carlo control with exploring starts: a random move of a random state, then the best
    ExploringStarts = 2,
    /// On-policy Monte Carlo control: now and then a random move
    EpsilonSoft = 3,
    /// Off-policy Monte Carlo control: the best moves, learned from games with random ones by
    /// weighted importance sampling
    OffPolicy = 4,
    /// TD(0): how random play ends, each state's value moved towards the next one's
    Td = 1,
    /// Sarsa: a move's value moved towards that of the move that was made next
    Sarsa = 5,
    /// Q-learning: a move's value moved towards that of the best next move
    QLearning = 6,
}

impl Algorithm {
    /// Returns the name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }

    /// Returns `true` if it predicts random play instead of learning to play.
    pub fn predicts(self) -> bool {
        matches!(self, Algorithm::MonteCarlo | Algorithm::Td)
    }
}

/// The settings of learning, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Settings {
    /// Games to learn from.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = number::<u64>(1, COUNT))]
    pub games: u64,
    /// Games between two measurements.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = number::<u64>(1, COUNT))]
    pub every: u64,
    /// ε: share of random moves, also in the games of off-policy learning.
    #[arg(long, value_name = "ε", default_value_t = 0.1, value_parser = share)]
    pub epsilon: f64,
    /// α: step size of td, sarsa and q-learning; the others average.
    #[arg(long, value_name = "α", default_value_t = 0.1, value_parser = share)]
    pub alpha: f64,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// A state of a whole layered game with its solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabularState {
    /// Indices of its successors, one for each move.
    pub moves: Vec<u32>,
    /// Value for its mover: 1, 0 or −1.
    pub outcome: i8,
    /// Number of positions that it represents.
    pub positions: u32,
}

/// A whole layered game with its solution in memory: states and moves by index.
#[derive(Debug)]
pub struct Chart {
    root: usize,
    /// Index of the first move of each state, and the end.
    first: Vec<usize>,
    /// Target state of each move.
    targets: Vec<u32>,
    /// First move of the same state with the same target, for each move; it has the value of both.
    same: Vec<u32>,
    /// True value of each state for its mover; of ends by the rules.
    truth: Vec<f64>,
    /// Number of positions that each state represents.
    weights: Vec<f64>,
    /// Value of each state for its mover under random play.
    random: Vec<f64>,
    /// States with moves.
    open: Vec<u32>,
}

impl Chart {
    /// Builds the chart from all states of a game in order, and the index of the start.
    ///
    /// # Panics
    ///
    /// If a move leads to a state that does not exist.
    pub fn new(root: usize, states: impl IntoIterator<Item = TabularState>) -> Chart {
        let mut chart = Chart {
            root,
            first: vec![0],
            targets: Vec::new(),
            same: Vec::new(),
            truth: Vec::new(),
            weights: Vec::new(),
            random: Vec::new(),
            open: Vec::new(),
        };
        for (row, TabularState { moves, outcome, positions }) in states.into_iter().enumerate() {
            let begin = chart.targets.len();
            for &target in &moves {
                let same = chart.targets[begin..].iter().position(|&other| other == target);
                chart.same.push((begin + same.unwrap_or(chart.targets.len() - begin)) as u32);
                chart.targets.push(target);
            }
            if !moves.is_empty() {
                chart.open.push(row as u32);
            }
            chart.first.push(chart.targets.len());
            chart.truth.push(f64::from(outcome));
            chart.weights.push(f64::from(positions));
            chart.random.push(f64::NAN);
        }
        (0..chart.truth.len()).for_each(|row| _ = chart.expect(row));
        chart
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.truth.len()
    }

    /// Returns the value of a state for its mover under random play.
    pub fn random(&self, row: usize) -> f64 {
        self.random[row]
    }

    /// Returns the target state of a move.
    pub fn target(&self, at: usize) -> usize {
        self.targets[at] as usize
    }

    /// Computes the value of a state under random play: the mean over its moves.
    fn expect(&mut self, row: usize) -> f64 {
        if self.random[row].is_nan() {
            let moves = self.moves(row);
            self.random[row] = match moves.len() {
                0 => self.truth[row],
                count => {
                    let after = |at: usize| self.targets[at] as usize;
                    let after: Vec<usize> = moves.map(after).collect();
                    after.into_iter().map(|row| -self.expect(row)).sum::<f64>() / count as f64
                }
            };
        }
        self.random[row]
    }

    /// Returns the indices of a state's moves.
    pub fn moves(&self, row: usize) -> std::ops::Range<usize> {
        self.first[row]..self.first[row + 1]
    }

    /// Returns `true` if the outcome of a state depends on the move.
    fn is_decisive(&self, row: usize) -> bool {
        let mut worths = self.moves(row).map(|at| self.truth[self.targets[at] as usize]);
        let first = worths.next();
        worths.any(|worth| Some(worth) != first)
    }
}

/// Accuracy of an algorithm after some games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Number of games.
    pub games: u64,
    /// Root mean square error of the values of all positions with moves.
    pub error: f64,
    /// Share of moves that keep the outcome in positions where not all do; moves of equal value share.
    pub right: f64,
}

/// An algorithm with its learned values.
pub struct Tabular<'a> {
    chart: &'a Chart,
    algorithm: Algorithm,
    settings: Settings,
    chance: Xoshiro256PlusPlus,
    /// Values of states, if the algorithm predicts.
    values: Vec<f64>,
    /// Values of moves, stored at the first move with the same target, if it learns to play.
    worths: Vec<f64>,
    /// Number of games, or their total weight, in the mean of each state or move.
    weights: Vec<f64>,
}

impl<'a> Tabular<'a> {
    /// Starts with the values of ends and 0 for everything else.
    pub fn new(chart: &'a Chart, algorithm: Algorithm, settings: &Settings) -> Tabular<'a> {
        let ends = |row: usize| if chart.moves(row).is_empty() { chart.truth[row] } else { 0.0 };
        Tabular {
            chart,
            algorithm,
            settings: settings.clone(),
            chance: seeded(settings.seed, &[algorithm as u64]),
            values: (0..chart.truth.len()).map(ends).collect(),
            worths: vec![0.0; chart.targets.len()],
            weights: vec![0.0; chart.targets.len().max(chart.truth.len())],
        }
    }

    /// Plays and learns; returns a point before the first game and after every few. Calls `each` with the
    /// games played since the last point.
    pub fn learn(&mut self, mut each: impl FnMut(u64)) -> Vec<Point> {
        let Settings { games, every, .. } = self.settings;
        let mut points = vec![self.measure(0)];
        let mut played = 0;
        while played < games {
            let some = every.min(games - played);
            (0..some).for_each(|_| self.game());
            played += some;
            points.push(self.measure(played));
            each(some);
        }
        points
    }

    /// Returns the learned value of a state for its mover under random play, for algorithms that predict.
    pub fn value(&self, row: usize) -> f64 {
        self.values[row]
    }

    /// Returns the learned value of a move for the player who makes it.
    pub fn worth(&self, at: usize) -> f64 {
        match self.algorithm.predicts() {
            true => -self.values[self.chart.targets[at] as usize],
            false => self.worths[self.chart.same[at] as usize],
        }
    }

    /// Measures the present accuracy.
    fn measure(&self, games: u64) -> Point {
        let Chart { truth, random, weights, open, .. } = self.chart;
        let (mut squares, mut all, mut right, mut decisive) = (0.0, 0.0, 0.0, 0.0);
        for row in open.iter().map(|&row| row as usize) {
            let found = self.chart.moves(row).map(|at| self.worth(at)).fold(f64::MIN, f64::max);
            let difference = match self.algorithm.predicts() {
                true => self.values[row] - random[row],
                false => found - truth[row],
            };
            squares += weights[row] * difference * difference;
            all += weights[row];
            if self.chart.is_decisive(row) {
                let best = self.chart.moves(row).filter(|&at| self.worth(at) == found);
                let targets: Vec<u32> = best.map(|at| self.chart.targets[at]).collect();
                let keeps = |target: &&u32| -truth[**target as usize] == truth[row];
                let kept = targets.iter().filter(keeps).count();
                right += weights[row] * kept as f64 / targets.len() as f64;
                decisive += weights[row];
            }
        }
        Point { games, error: (squares / all).sqrt(), right: right / decisive }
    }

    fn game(&mut self) {
        match self.algorithm {
            Algorithm::MonteCarlo => self.monte_carlo_prediction(),
            Algorithm::Td => self.td(),
            Algorithm::ExploringStarts | Algorithm::EpsilonSoft => self.monte_carlo_control(),
            Algorithm::OffPolicy => self.off_policy(),
            Algorithm::Sarsa | Algorithm::QLearning => self.one_step_control(),
        }
    }

    fn after(&self, at: usize) -> usize {
        self.chart.targets[at] as usize
    }

    fn is_over(&self, row: usize) -> bool {
        self.chart.moves(row).is_empty()
    }

    fn any_move(&mut self, row: usize) -> usize {
        let moves = self.chart.moves(row);
        moves.start + below(&mut self.chance, moves.len())
    }

    /// Returns the moves of greatest value.
    fn best(&self, row: usize) -> Vec<usize> {
        let moves = self.chart.moves(row);
        let most = moves.clone().map(|at| self.worth(at)).fold(f64::MIN, f64::max);
        moves.filter(|&at| self.worth(at) == most).collect()
    }

    fn best_move(&mut self, row: usize) -> usize {
        let best = self.best(row);
        best[below(&mut self.chance, best.len())]
    }

    /// Chooses a best move, or with probability ε any move.
    fn soft_move(&mut self, row: usize) -> usize {
        match unit(&mut self.chance) < self.settings.epsilon {
            true => self.any_move(row),
            false => self.best_move(row),
        }
    }

    /// Returns the probability of a move under [`soft_move`](Self::soft_move).
    fn chance_of(&self, row: usize, at: usize) -> f64 {
        let (epsilon, best) = (self.settings.epsilon, self.best(row));
        let among_best = if best.contains(&at) { (1.0 - epsilon) / best.len() as f64 } else { 0.0 };
        epsilon / self.chart.moves(row).len() as f64 + among_best
    }

    /// Plays on from a state; returns the states with their moves, and the value of the end for its mover.
    fn play(
        &mut self,
        mut row: usize,
        mut choose: impl FnMut(&mut Self, usize) -> usize,
    ) -> (Vec<(usize, usize)>, f64) {
        let mut made = Vec::new();
        while !self.is_over(row) {
            let at = choose(self, row);
            made.push((row, at));
            row = self.after(at);
        }
        (made, self.chart.truth[row])
    }

    fn monte_carlo_prediction(&mut self) {
        let (made, mut result) = self.play(self.chart.root, Self::any_move);
        for (row, _) in made.into_iter().rev() {
            result = -result;
            self.weights[row] += 1.0;
            self.values[row] += (result - self.values[row]) / self.weights[row];
        }
    }

    fn td(&mut self) {
        let mut row = self.chart.root;
        while !self.is_over(row) {
            let at = self.any_move(row);
            let next = self.after(at);
            self.values[row] += self.settings.alpha * (-self.values[next] - self.values[row]);
            row = next;
        }
    }

    fn monte_carlo_control(&mut self) {
        let (mut made, mut result) = match self.algorithm {
            Algorithm::ExploringStarts => {
                let row = self.chart.open[below(&mut self.chance, self.chart.open.len())] as usize;
                let at = self.any_move(row);
                let (mut made, result) = self.play(self.after(at), Self::best_move);
                made.insert(0, (row, at));
                (made, result)
            }
            _ => self.play(self.chart.root, Self::soft_move),
        };
        while let Some((_, at)) = made.pop() {
            result = -result;
            let at = self.chart.same[at] as usize;
            self.weights[at] += 1.0;
            self.worths[at] += (result - self.worths[at]) / self.weights[at];
        }
    }

    fn off_policy(&mut self) {
        let (mut made, mut result) = self.play(self.chart.root, Self::soft_move);
        // Probabilities during the game, before anything is learned from it.
        let chances: Vec<f64> = made.iter().map(|&(row, at)| self.chance_of(row, at)).collect();
        let mut weight = 1.0;
        while let Some((row, at)) = made.pop() {
            result = -result;
            let first = self.chart.same[at] as usize;
            self.weights[first] += weight;
            self.worths[first] += weight / self.weights[first] * (result - self.worths[first]);
            // Earlier moves are credited with best play only, so the game is cut at any other move.
            let best = self.best(row);
            if !best.contains(&at) {
                break;
            }
            weight *= 1.0 / best.len() as f64 / chances[made.len()];
        }
    }

    fn one_step_control(&mut self) {
        let mut at = self.soft_move(self.chart.root);
        loop {
            let next = self.after(at);
            let (target, then) = match self.is_over(next) {
                true => (self.chart.truth[next], None),
                false => {
                    let then = self.soft_move(next);
                    let followed = match self.algorithm {
                        Algorithm::Sarsa => then,
                        _ => self.best(next)[0],
                    };
                    (self.worth(followed), Some(then))
                }
            };
            let first = self.chart.same[at] as usize;
            self.worths[first] += self.settings.alpha * (-target - self.worths[first]);
            let Some(then) = then else { break };
            at = then;
        }
    }
}
