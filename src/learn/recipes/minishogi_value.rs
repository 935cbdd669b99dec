//! A value network for minishogi, first taught mates, then what comes of its own games.
//!
//! The first rounds show positions that are mate, or one move before it, all of them each round, in an
//! order of the round's own; a part of them is held out and never shown. Each further round plays some
//! games of the network against itself and shows the positions in them, some times over, with targets
//! from the games' ends and the network's own values; mates can be mixed in, so that they are not
//! forgotten. The loss is the cross-entropy of the target and the network's answer.

use candle_core::{Result as Calculated, Tensor};
use serde::{Deserialize, Serialize};

use crate::learn::LearnError;
use crate::learn::chance::{drawn_for, shuffle};
use crate::learn::course::{Learner, Row};
use crate::learn::minishogi::beam::Beam;
use crate::learn::minishogi::exam::{self, Marks};
use crate::learn::minishogi::mates::{self, Example, MatePlan, Mates};
use crate::learn::minishogi::player::{Player, Search};
use crate::learn::minishogi::quick::{Quick, architecture};
use crate::learn::minishogi::selfplay::{self, SelfPlay};
use crate::learn::minishogi::{FEATURES, Minishogi, Values, features, rules};
use crate::learn::network::Network;
use crate::learn::optimiser::Method;
use crate::learn::trainer::{Trainer, rows};
use crate::learn::weights::Weights;
use crate::policy::{ByRule, Random};
use crate::progress::{Progress, Silent};

/// By what a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Positions at mate to learn from, and to measure with.
    pub mates: usize,
    /// Positions at mate that are held out.
    pub held_out: usize,
    /// How often the mates are shown.
    pub mate_rounds: u64,
    /// Rounds of self-play after them.
    pub rounds: u64,
    /// Games in each.
    pub games: u64,
    /// How often the positions of a round's games are shown.
    pub shows: u64,
    /// How many mates are shown with each self-played position, 0 to 1.
    pub reminder: f64,
    /// The most random moves at the opening of a game.
    pub random_plies: usize,
    /// After how many plies a game is broken off.
    pub plies: usize,
    /// How far a target goes from the network's value to the return.
    pub alpha: f32,
    /// How far a return looks beyond the next value.
    pub gamma: f32,
    /// How many positions a step sees.
    pub batch: usize,
    /// The size of a step.
    pub rate: f64,
    /// How long steps are at the end of the mates and in self-play, of their full size; 1 for steps of
    /// one size.
    pub last: f64,
    /// From this everything random is drawn.
    pub seed: u64,
}

impl Settings {
    /// Adam, with the figures of the source.
    pub fn method(&self) -> Method {
        Method::Adam { rate: self.rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, decay: 0.0 }
    }

    fn games_of(&self, round: u64) -> SelfPlay {
        SelfPlay {
            first: round * self.games,
            games: self.games,
            random_plies: self.random_plies,
            plies: self.plies,
            alpha: self.alpha,
            gamma: self.gamma,
            seed: self.seed,
        }
    }

    fn check(&self) -> Result<(), LearnError> {
        let wrong = |what: &str| Err(LearnError::Settings(what.to_string()));
        let share = |number: f64| (0.0..=1.0).contains(&number);
        if self.hidden.contains(&0) {
            return wrong("a hidden layer has no units; give each 1 or more");
        }
        if self.batch == 0 || self.plies == 0 {
            return wrong("a step sees 1 position or more, and a game has 1 ply or more");
        }
        if !share(f64::from(self.alpha))
            || !share(f64::from(self.gamma))
            || !share(self.reminder)
            || !share(self.last)
        {
            return wrong(
                "alpha, gamma, the share of mates shown again and the last steps' size are from 0 to 1",
            );
        }
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return wrong("the size of a step is above 0 and at most 1");
        }
        Ok(())
    }
}

/// Learns mates, then from its own games.
pub struct MinishogiValue {
    game: Minishogi,
    settings: Settings,
    mates: Mates,
    trainer: Trainer,
}

/// Into how many parts a batch is cut; a constant, for sums are made part by part.
const PARTS: usize = 2;

/// What is done of this much is told, so that one sees it go on.
const TOLD: usize = 1 << 14;

impl MinishogiValue {
    /// Makes the positions at mate and the network's first weights.
    pub fn new(settings: Settings, progress: &dyn Progress) -> Result<MinishogiValue, LearnError> {
        settings.check()?;
        let game = rules();
        let Settings { mates: train, held_out, seed, .. } = settings;
        let mates = mates::generate(&game, &MatePlan { train, held_out, seed }, progress);
        let network = Network::new(architecture(&settings.hidden), seed);
        let trainer = Trainer::new(network, settings.method());
        Ok(MinishogiValue { game, settings, mates, trainer })
    }

    /// The network as it is, ready to be asked.
    fn values(&self) -> Quick {
        Quick::of(&self.trainer.network).expect("the network is built as a value network")
    }

    /// How well the network tells the held-out positions: of all, of those that are mate, and of those
    /// one move before it the share on the right side of a half, and the mean loss.
    pub fn held_out(&self) -> Row {
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
                lost -= (if kind == 1 { kept(value) } else { kept(1.0 - value) }).ln();
            }
        }
        let total: u32 = all.iter().sum();
        let shares = [
            ("held out: right", right.iter().sum(), total),
            ("held out: right, mated", right[0], all[0]),
            ("held out: right, mates in one", right[1], all[1]),
        ];
        let shares = shares.into_iter().filter(|(.., of)| *of > 0);
        let mut row: Row = shares
            .map(|(name, right, of)| (name.to_string(), f64::from(right) / f64::from(of)))
            .collect();
        if total > 0 {
            row.insert("held out: positions".to_string(), f64::from(total));
            row.insert("held out: loss".to_string(), lost / f64::from(total));
        }
        row
    }

    /// How the network plays, one ply ahead and with the beam of the source, in `count` positions of
    /// each kind of an [`exam`]; chance beside it.
    pub fn tactics(&self, count: usize) -> Result<Row, LearnError> {
        let exam = exam::make(count, self.settings.seed);
        let mut row = Row::new();
        let mut add = |name: &str, marks: Option<Marks>| {
            if let Some(Marks { kept, lost }) = marks {
                row.insert(format!("won by force: kept, {name}"), kept);
                row.insert(format!("at risk: lost by force, {name}"), lost);
            }
        };
        add("random", exam.mark(&ByRule(Random))?);
        for (name, beam) in [("plies=1", Beam { width: 4, plies: 1 }), ("plies=6", Beam::default())]
        {
            let search = Search { beam, mate: 0 };
            let player = Player::new(name.to_string(), self.values(), search)?;
            add(name, exam.mark(&player)?);
        }
        Ok(row)
    }

    /// Shows examples in an order of its own; gives the mean loss.
    /// `pace` says how long steps are when a part of the examples has been shown.
    fn show(
        &mut self,
        mut order: Vec<Example>,
        purpose: &[u64],
        pace: impl Fn(f64) -> f64,
        progress: &dyn Progress,
    ) -> Result<f64, LearnError> {
        shuffle(&mut drawn_for(self.settings.seed, purpose), &mut order);
        let mut total = 0.0;
        let mut told = 0;
        for (at, batch) in order.chunks(self.settings.batch).enumerate() {
            let count = batch.len();
            let lesson = |part: &[Example]| {
                let mut numbers = Vec::with_capacity(part.len() * FEATURES);
                features::append(&self.game, part.iter().map(|e| &e.position), &mut numbers);
                (numbers, part.iter().map(|e| e.target).collect::<Vec<f32>>())
            };
            let lessons = batch.chunks(count.div_ceil(PARTS)).map(lesson).collect();
            let gone = (at * self.settings.batch) as f64 / order.len() as f64;
            let found = self
                .trainer
                .step(lessons, pace(gone), None, |weights, lesson| loss(weights, lesson, count))?;
            total += found * count as f64;
            told += count;
            if told >= TOLD {
                told = 0;
                let done = (at + 1) * self.settings.batch;
                progress.note(&format!("{done} of {} positions shown", order.len()));
            }
        }
        Ok(total / order.len().max(1) as f64)
    }

    /// A round of games and what is learned of them.
    fn play(&mut self, round: u64, progress: &dyn Progress) -> Result<Row, LearnError> {
        progress.note("playing");
        let plan = self.settings.games_of(round - self.settings.mate_rounds);
        let played = selfplay::play(&self.game, &self.values(), &plan, &Silent);
        let last = self.settings.last;
        let mut lost = 0.0;
        for show in 0..self.settings.shows {
            let mut order = played.examples.clone();
            let wanted = (order.len() as f64 * self.settings.reminder) as usize;
            let mut reminders = self.mates.train.clone();
            shuffle(&mut drawn_for(self.settings.seed, &[REMINDER, round, show]), &mut reminders);
            reminders.truncate(wanted);
            order.extend(reminders);
            lost = self.show(order, &[SHOW, round, show], |_| last, progress)?;
        }
        let games = self.settings.games.max(1) as f64;
        let mut row = self.held_out();
        row.extend(
            [
                ("loss", lost),
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

/// What random numbers are for, beside others of the same seed.
const SHOW: u64 = 3;
const REMINDER: u64 = 4;

/// How long steps are when a part `gone` of the mates is over: from 1 down to `last` along half a cosine
/// (Loshchilov and Hutter 2017).
fn pace(gone: f64, last: f64) -> f64 {
    last + (1.0 - last) * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * gone))
}

/// A chance kept away from 0 and 1, whose logarithms are infinite.
fn kept(chance: f32) -> f64 {
    f64::from(chance) * (1.0 - 2.0 * EDGE) + EDGE
}

/// How near to 0 and 1 chances count as they are.
const EDGE: f64 = 1e-6;

/// The sum of the cross-entropies of positions, over `count`.
fn loss(
    weights: &Weights<'_>,
    (numbers, targets): (Vec<f32>, Vec<f32>),
    count: usize,
) -> Calculated<Tensor> {
    let answer = weights.forward(&rows(numbers, FEATURES)?)?.swap_remove(0);
    let targets = rows(targets, 1)?;
    let win = ((&answer * (1.0 - 2.0 * EDGE))? + EDGE)?;
    let lose = ((answer * (2.0 * EDGE - 1.0))? + (1.0 - EDGE))?;
    let against = ((&targets * -1.0)? + 1.0)?;
    let sum = ((targets * win.log()?)? + (against * lose.log()?)?)?.sum_all()?;
    sum * (-1.0 / count as f64)
}

impl Learner for MinishogiValue {
    fn rounds(&self) -> u64 {
        self.settings.mate_rounds + self.settings.rounds
    }

    fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    fn trainer_mut(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    fn round(&mut self, round: u64, progress: &dyn Progress) -> Result<Row, LearnError> {
        let mut row = if round < self.settings.mate_rounds {
            let order = self.mates.train.clone();
            let (rounds, last) = (self.settings.mate_rounds as f64, self.settings.last);
            let pace = |gone| pace((round as f64 + gone) / rounds, last);
            let lost = self.show(order, &[SHOW, round, 0], pace, progress)?;
            let mut row = self.held_out();
            row.insert("loss".to_string(), lost);
            row
        } else {
            self.play(round, progress)?
        };
        row.insert("round".to_string(), (round + 1) as f64);
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
            mate_rounds: 3,
            rounds: 1,
            games: 40,
            shows: 1,
            reminder: 0.5,
            random_plies: 6,
            plies: 60,
            alpha: 0.2,
            gamma: 0.8,
            batch: 32,
            rate: 0.002,
            last: 0.2,
            seed: 1,
        }
    }

    fn learned(settings: Settings, rounds: std::ops::Range<u64>) -> (MinishogiValue, Vec<Row>) {
        let mut learner = MinishogiValue::new(settings, &Silent).unwrap();
        let rows = rounds.map(|round| learner.round(round, &Silent).unwrap()).collect();
        (learner, rows)
    }

    #[test]
    fn mates_are_learned_and_not_forgotten() {
        let untaught = MinishogiValue::new(small(), &Silent).unwrap().held_out();
        assert!(untaught["held out: right"] < 0.75, "{untaught:?}");
        let (learner, rows) = learned(small(), 0..4);
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
        let start = crate::game::Game::start(&learner.game);
        features::append(&learner.game, [&start, &start], &mut numbers);
        let mut chance = [0.0; 2];
        learner.values().values(&numbers, &mut chance);
        let p = f64::from(chance[0]);
        let wanted = -(0.25 * p.ln() + 0.75 * (1.0 - p).ln() + p.ln()) / 2.0;
        let weights = learner.trainer.network.fixed().unwrap();
        let found = loss(&weights, (numbers, vec![0.25, 1.0]), 2).unwrap();
        let found = f64::from(found.to_scalar::<f32>().unwrap());
        assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
    }

    #[test]
    fn threads_change_no_bit() {
        let settings = Settings { mates: 400, held_out: 50, mate_rounds: 1, games: 70, ..small() };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (learner, rows) = learned(settings.clone(), 0..2);
                (learner.trainer.network, rows)
            })
        };
        assert!(on(1) == on(3));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let wrong = [
            Settings { hidden: vec![8, 0], ..small() },
            Settings { batch: 0, ..small() },
            Settings { alpha: 1.5, ..small() },
            Settings { gamma: f32::NAN, ..small() },
            Settings { rate: 0.0, ..small() },
        ];
        for settings in wrong {
            assert!(MinishogiValue::new(settings, &Silent).is_err());
        }
    }
}
