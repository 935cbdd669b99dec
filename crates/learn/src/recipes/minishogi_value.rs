//! A value network for minishogi, trained on mates, then by self-play.
//!
//! The first iterations are epochs of mate positions and positions one move before mate, reshuffled
//! each time; a part of them is held out. Each further iteration plays games of the network against
//! itself and trains on their positions for some epochs, with targets from the results and the
//! network's own values. Mates can be mixed in (rehearsal), so that they stay learned. The loss is
//! the cross-entropy of the target and the network's answer.

use serde::{Deserialize, Serialize};

use super::check_size;
use crate::backpropagation::{Gradient, Pass};
use crate::chance::{seeded, shuffle};
use crate::minishogi::beam::Beam;
use crate::minishogi::mates::{self, MateExample, Mates};
use crate::minishogi::player::{MinishogiPlayer, PlayerSearch};
use crate::minishogi::quick::{Quick, architecture};
use crate::minishogi::selfplay::{self, SelfPlay};
use crate::minishogi::tactics::{Shares, TestSet};
use crate::minishogi::{FEATURES, Minishogi, ValueFunction, features, rules};
use crate::network::Network;
use crate::optimiser::OptimiserMethod;
use crate::options::{AT_ONCE, COUNT, KEPT, UNITS, number, share};
use crate::trainer::Trainer;
use crate::training_run::{HistoryRow, Learner};
use yomikiri::error::Error;
use yomikiri::progress::{Progress, Silent};
use yomikiri_measure::policy::{ByRule, Random};

/// The settings of training, which are options of the command too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Settings {
    /// Units of each hidden layer.
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "256", value_parser = number::<usize>(1, UNITS))]
    pub hidden: Vec<usize>,
    /// Training positions at mate.
    #[arg(long, value_name = "N", default_value_t = 1_800_000, value_parser = number::<usize>(0, KEPT))]
    pub mates: usize,
    /// Held-out positions at mate.
    #[arg(long, value_name = "N", default_value_t = 96_554, value_parser = number::<usize>(0, KEPT))]
    pub held_out: usize,
    /// Epochs of the mates.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u64>(0, COUNT))]
    pub mate_epochs: u64,
    /// Iterations of self-play after them.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = number::<u64>(0, COUNT))]
    pub iterations: u64,
    /// Settings of games.
    #[command(flatten)]
    #[serde(flatten)]
    pub play: SelfPlay,
    /// Epochs of an iteration's positions.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>(0, COUNT))]
    pub epochs: u64,
    /// Mates mixed in for each position of self-play, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub mate_share: f64,
    /// Batch size.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = number::<usize>(1, AT_ONCE))]
    pub batch: usize,
    /// Initial learning rate.
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = share)]
    pub learning_rate: f64,
    /// Final learning rate, at the end of the mates and in self-play, as a share of the initial
    /// one.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = share)]
    pub final_rate: f64,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Settings {
    /// Returns Adam with the constants of the source.
    pub fn method(&self) -> OptimiserMethod {
        let rate = self.learning_rate;
        OptimiserMethod::Adam { rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, weight_decay: 0.0 }
    }
}

/// Training on mates, then by self-play.
pub struct MinishogiValue {
    game: Minishogi,
    settings: Settings,
    mates: Mates,
    trainer: Trainer,
}

/// Number of parts of a batch; constant, because it determines the order of summation.
const PARTS: usize = 2;

/// Number of positions between reports of progress.
const REPORTED: usize = 1 << 14;

impl MinishogiValue {
    /// Generates the mate positions and the initial weights.
    pub fn new(settings: Settings, progress: &dyn Progress) -> Result<MinishogiValue, Error> {
        check_size(&architecture(&settings.hidden))?;
        let game = rules();
        let Settings { mates, held_out, seed, .. } = settings;
        let mates = mates::generate(&game, [mates, held_out], seed, progress);
        let network = Network::new(architecture(&settings.hidden), seed);
        let trainer = Trainer::new(network, settings.method());
        Ok(MinishogiValue { game, settings, mates, trainer })
    }

    /// Returns the current network for inference.
    fn values(&self) -> Quick {
        Quick::of(&self.trainer.network).expect("the network is built as a value network")
    }

    /// Returns the accuracy on the held-out positions (all, mates, and those one move before) and the mean
    /// loss.
    pub fn held_out(&self) -> HistoryRow {
        let values = self.values();
        let (mut right, mut all, mut lost) = ([0u32; 2], [0u32; 2], 0.0);
        let (mut numbers, mut found) = (Vec::new(), Vec::new());
        for examples in self.mates.held_out.chunks(1024) {
            numbers.clear();
            let positions = examples.iter().map(|example| &example.position);
            features::append(&self.game, positions, &mut numbers);
            found.clear();
            found.resize(examples.len(), 0.0);
            values.values(&numbers, &mut found);
            for (example, &value) in examples.iter().zip(&found) {
                let kind = usize::from(example.target > 0.5);
                all[kind] += 1;
                right[kind] += u32::from((value > 0.5) == (kind == 1));
                lost -= (if kind == 1 { clamped(value) } else { clamped(1.0 - value) }).ln();
            }
        }
        let total: u32 = all.iter().sum();
        let shares = [
            ("held out: right", right.iter().sum(), total),
            ("held out: right, mated", right[0], all[0]),
            ("held out: right, mates in one", right[1], all[1]),
        ];
        let shares = shares.into_iter().filter(|(.., of)| *of > 0);
        let mut row: HistoryRow = shares
            .map(|(name, right, of)| (name.to_string(), f64::from(right) / f64::from(of)))
            .collect();
        if total > 0 {
            row.insert("held out: positions".to_string(), f64::from(total));
            row.insert("held out: loss".to_string(), lost / f64::from(total));
        }
        row
    }

    /// Measures the network in positions of [`tactics`](crate::minishogi::tactics), at one ply and with the
    /// beam of the source, and random play for comparison.
    pub fn tactics(&self, tests: &TestSet) -> Result<HistoryRow, Error> {
        let mut row = HistoryRow::new();
        let mut add = |name: &str, shares: Option<Shares>| {
            if let Some(Shares { kept, lost }) = shares {
                row.insert(format!("won by force: kept, {name}"), kept);
                row.insert(format!("at risk: lost by force, {name}"), lost);
            }
        };
        add("random", tests.measure(&ByRule(Random))?);
        for (name, beam) in [("depth=1", Beam { width: 4, plies: 1 }), ("depth=6", Beam::default())]
        {
            let search = PlayerSearch { beam, mate: 0 };
            let player = MinishogiPlayer::new(name.to_string(), self.values(), search);
            add(name, tests.measure(&player)?);
        }
        Ok(row)
    }

    /// Trains an epoch on some examples and returns the mean loss. `schedule` maps the completed share of the
    /// examples to the factor of the learning rate.
    fn epoch(
        &mut self,
        mut order: Vec<MateExample>,
        purpose: &[u64],
        schedule: impl Fn(f64) -> f64,
        progress: &dyn Progress,
    ) -> Result<f64, Error> {
        shuffle(&mut seeded(self.settings.seed, purpose), &mut order);
        let mut total = 0.0;
        let mut since = 0;
        for (at, batch) in order.chunks(self.settings.batch).enumerate() {
            let count = batch.len();
            let part = |part: &[MateExample]| {
                let mut numbers = Vec::with_capacity(part.len() * FEATURES);
                features::append(&self.game, part.iter().map(|e| &e.position), &mut numbers);
                (numbers, part.iter().map(|e| e.target).collect::<Vec<f32>>())
            };
            let parts = batch.chunks(count.div_ceil(PARTS)).map(part).collect();
            let done = (at * self.settings.batch) as f64 / order.len() as f64;
            let found = self.trainer.step(parts, schedule(done), None, |network, part| {
                gradient(network, part, count)
            })?;
            total += found * count as f64;
            since += count;
            if since >= REPORTED {
                since = 0;
                let done = (at + 1) * self.settings.batch;
                progress.note(&format!("{done} of {} positions", order.len()));
            }
        }
        Ok(total / order.len().max(1) as f64)
    }

    /// Plays an iteration of self-play and trains on it.
    fn self_play(&mut self, iteration: u64, progress: &dyn Progress) -> Result<HistoryRow, Error> {
        progress.note("playing");
        let Settings { play, mate_epochs, seed, .. } = self.settings;
        let first = (iteration - mate_epochs) * play.games;
        let played = selfplay::play(&self.game, &self.values(), (&play, seed), first, &Silent);
        let final_rate = self.settings.final_rate;
        let mut loss = 0.0;
        for epoch in 0..self.settings.epochs {
            let mut order = played.examples.clone();
            let count = (order.len() as f64 * self.settings.mate_share) as usize;
            let mut mates = self.mates.train.clone();
            shuffle(&mut seeded(self.settings.seed, &[REHEARSAL, iteration, epoch]), &mut mates);
            mates.truncate(count);
            order.extend(mates);
            loss = self.epoch(order, &[EPOCH, iteration, epoch], |_| final_rate, progress)?;
        }
        let games = play.games.max(1) as f64;
        let mut row = self.held_out();
        row.extend(
            [
                ("loss", loss),
                ("plies a game", played.examples.len() as f64 / games),
                ("first player wins", played.first_wins as f64 / games),
                ("second player wins", played.second_wins as f64 / games),
                ("repetitions", played.repeated as f64 / games),
                ("broken off", played.broken_off as f64 / games),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        Ok(row)
    }
}

/// Purposes of random numbers; others of the same seed have different ones.
const EPOCH: u64 = 3;
const REHEARSAL: u64 = 4;

/// Returns the factor of the learning rate after the share `done` of the mates. It falls from
/// 1 to `last` along half a cosine (Loshchilov and Hutter 2017).
fn schedule(done: f64, last: f64) -> f64 {
    last + (1.0 - last) * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done))
}

/// Clamps a probability away from 0 and 1, where the logarithm is infinite.
fn clamped(probability: f32) -> f64 {
    f64::from(probability) * (1.0 - 2.0 * EDGE) + EDGE
}

/// Minimum distance from 0 and 1.
const EDGE: f64 = 1e-6;

/// Returns the sum of the cross-entropies of positions over `count`, with its gradient.
fn gradient(network: &Network, (numbers, targets): (Vec<f32>, Vec<f32>), count: usize) -> Gradient {
    let pass = Pass::new(network, numbers, None);
    let (mut loss, mut errors) = (0.0, Vec::with_capacity(targets.len()));
    for (&answer, target) in pass.answers[0].iter().zip(targets) {
        let (win, lose, target) = (clamped(answer), clamped(1.0 - answer), f64::from(target));
        loss -= (target * win.ln() + (1.0 - target) * lose.ln()) / count as f64;
        let error = ((1.0 - target) / lose - target / win) * (1.0 - 2.0 * EDGE);
        errors.push((error / count as f64) as f32);
    }
    pass.backward(loss, vec![errors])
}

impl Learner for MinishogiValue {
    fn iterations(&self) -> u64 {
        self.settings.mate_epochs + self.settings.iterations
    }

    fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn iterate(&mut self, iteration: u64, progress: &dyn Progress) -> Result<HistoryRow, Error> {
        let mut row = if iteration < self.settings.mate_epochs {
            let order = self.mates.train.clone();
            let (epochs, last) = (self.settings.mate_epochs as f64, self.settings.final_rate);
            let schedule = |done| schedule((iteration as f64 + done) / epochs, last);
            let loss = self.epoch(order, &[EPOCH, iteration, 0], schedule, progress)?;
            let mut row = self.held_out();
            row.insert("loss".to_string(), loss);
            row
        } else {
            self.self_play(iteration, progress)?
        };
        row.insert("iteration".to_string(), (iteration + 1) as f64);
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Settings {
        Settings {
            hidden: vec![32],
            mates: 6_000,
            held_out: 1_500,
            mate_epochs: 3,
            iterations: 1,
            play: SelfPlay { games: 40, random_plies: 6, plies: 60, alpha: 0.2, gamma: 0.8 },
            epochs: 1,
            mate_share: 0.5,
            batch: 32,
            learning_rate: 0.002,
            final_rate: 0.2,
            seed: 1,
        }
    }

    fn trained(
        settings: Settings,
        iterations: std::ops::Range<u64>,
    ) -> (MinishogiValue, Vec<HistoryRow>) {
        let mut learner = MinishogiValue::new(settings, &Silent).unwrap();
        let rows = iterations.map(|number| learner.iterate(number, &Silent).unwrap()).collect();
        (learner, rows)
    }

    #[test]
    fn mates_are_learned_and_stay_learned() {
        let untrained = MinishogiValue::new(small(), &Silent).unwrap().held_out();
        assert!(untrained["held out: right"] < 0.75, "{untrained:?}");
        let (learner, rows) = trained(small(), 0..4);
        let right: Vec<f64> = rows.iter().map(|row| row["held out: right"]).collect();
        assert!(right[2] > 0.82 && right[3] > 0.82, "{right:?}");
        assert!(rows[2]["loss"] < rows[0]["loss"]);
        let ends = ["first player wins", "second player wins", "repetitions", "broken off"];
        let ends: f64 = ends.iter().map(|name| rows[3][*name]).sum();
        assert!((ends - 1.0).abs() < 1e-9);
        assert_eq!(learner.held_out()["held out: positions"], 1_500.0);
    }

    #[test]
    fn the_loss_is_the_cross_entropy() {
        let settings = Settings { mates: 0, held_out: 0, ..small() };
        let learner = MinishogiValue::new(settings, &Silent).unwrap();
        let mut numbers = Vec::new();
        let start = yomikiri::rules::Game::start(&learner.game);
        features::append(&learner.game, [&start, &start], &mut numbers);
        let mut values = [0.0; 2];
        learner.values().values(&numbers, &mut values);
        let p = f64::from(values[0]);
        let expected = -(0.25 * p.ln() + 0.75 * (1.0 - p).ln() + p.ln()) / 2.0;
        let (found, _) = gradient(&learner.trainer.network, (numbers, vec![0.25, 1.0]), 2);
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}
