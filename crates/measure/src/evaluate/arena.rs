//! Games between policies that are sampled, for boards too large for a table.
//!
//! Where there is a table, [`games`](super::games()) says exactly what is to be expected; use that.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;

use crate::policy::chance::{sample, unit};
use crate::policy::{Answers, Batch, Policy};
use yomikiri::game::{Game, GameExt, Outcome, Position, Repetition, Side};
use yomikiri::hint::Hinted;
use yomikiri::parallel;
use yomikiri::progress::Progress;

/// The results of games, as the first of two policies sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tally {
    /// How many games it won.
    pub wins: u64,
    /// How many were drawn.
    pub draws: u64,
    /// How many it lost.
    pub losses: u64,
    /// The sum of its final scores; `None` in games without.
    pub score: Option<i64>,
    /// Whether there were several games, all of them move by move the same: then there is no sample.
    pub identical: bool,
}

impl Tally {
    /// How many games there were.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The share of games that it won.
    pub fn won(&self) -> f64 {
        self.wins as f64 / self.games().max(1) as f64
    }

    /// The share of points, a draw being half of one.
    pub fn points(&self) -> f64 {
        (self.wins as f64 + 0.5 * self.draws as f64) / self.games().max(1) as f64
    }

    /// The standard error of the share of points.
    pub fn error(&self) -> f64 {
        let (games, mean) = (self.games().max(1) as f64, self.points());
        let squares = self.wins as f64 + 0.25 * self.draws as f64;
        ((squares / games - mean * mean).max(0.0) / games).sqrt()
    }

    /// Counts a game for the one who played `side`.
    fn count<G: Game>(&mut self, game: &G, recorded: &Recorded<G::State>, side: Side) {
        let Position { state, side: mover } = &recorded.end;
        // A game that came back to a position has no result of its own.
        let endless = match (game.repetition(), mover) {
            (Repetition::SecondPlayerWins, Side::First) => Outcome::Loss,
            (Repetition::SecondPlayerWins, Side::Second) => Outcome::Win,
            (Repetition::Draw | Repetition::Unknown, _) => Outcome::Draw,
        };
        let outcome = game.result(state).unwrap_or(endless);
        let score = i64::from(game.material(state));
        let (outcome, score) = if *mover == side { (outcome, score) } else { (-outcome, -score) };
        match outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
        if game.scores().is_some() {
            *self.score.get_or_insert_default() += score;
        }
    }
}

/// Which games are played.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// How many with each side.
    pub games: u64,
    /// The random moves at the opening of a game.
    pub random_plies: u32,
    /// The seed.
    pub seed: u64,
}

/// How many games one thread plays side by side; a constant, for it decides which positions are a
/// batch.
const LANES: u64 = 64;

/// How often a position is there when a game is over that may go on for ever.
pub const REPEATED: usize = 4;

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded<S> {
    /// The positions in which a move was to be chosen, in order.
    pub positions: Vec<Position<S>>,
    /// The position at the end; it is there for the [`REPEATED`]th time if the game is not over by it.
    pub end: Position<S>,
}

/// Plays games of `one` against `other`, first with `one` as the first player, then as the second;
/// a game depends on its number and the seed, not on threads.
pub fn arena<G: Game>(
    game: &G,
    one: &dyn Policy<G>,
    other: &dyn Policy<G>,
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<[Tally; 2], Hinted> {
    let title = format!("playing {} against {}", one.name(), other.name());
    progress.begin_with(&title, Some(2 * sampling.games), "games");
    let mut tallies = [Tally::default(); 2];
    for side in Side::ALL {
        let [first, second] = if side == Side::First { [one, other] } else { [other, one] };
        let games = record(game, [first, second], sampling, progress)?;
        let tally = &mut tallies[side.index()];
        games.iter().for_each(|recorded| tally.count(game, recorded, side));
        tally.identical = games.len() > 1 && games.windows(2).all(|pair| pair[0] == pair[1]);
    }
    progress.finish("games played");
    Ok(tallies)
}

/// Plays games of a first player against a second one and keeps them.
pub fn record<G: Game>(
    game: &G,
    players: [&dyn Policy<G>; 2],
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<Vec<Recorded<G::State>>, Hinted> {
    let tasks = sampling.games.div_ceil(LANES) as usize;
    let parts = parallel::try_map(tasks, &|task| {
        let begin = task as u64 * LANES;
        let games = play(game, players, sampling, begin..sampling.games.min(begin + LANES))?;
        progress.advance(games.len() as u64);
        Ok::<_, Hinted>(games)
    });
    Ok(parts?.into_iter().flatten().collect())
}

/// A game that is going on, with its own random numbers.
struct Lane<S> {
    position: Position<S>,
    passed: Vec<Position<S>>,
    random: SplitMix64,
}

/// Plays the games of these numbers; they come in order.
fn play<G: Game>(
    game: &G,
    players: [&dyn Policy<G>; 2],
    sampling: Sampling,
    numbers: std::ops::Range<u64>,
) -> Result<Vec<Recorded<G::State>>, Hinted> {
    let begin = |number: u64| {
        let seed = sampling.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = SplitMix64::seed_from_u64(seed);
        unit(&mut random);
        Lane { position: game.start(), passed: Vec::new(), random }
    };
    let mut lanes: Vec<Lane<G::State>> = numbers.map(begin).collect();
    let mut answers = Answers::default();
    loop {
        let mut batches = [Batch::default(), Batch::default()];
        let mut choosing: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        for (at, lane) in lanes.iter_mut().enumerate() {
            let actions = game.actions(&lane.position.state);
            let came_back = || lane.passed.iter().filter(|at| **at == lane.position).count() + 1;
            if actions.is_empty() || (game.layers().is_none() && came_back() >= REPEATED) {
                continue;
            }
            let who = lane.position.side.index();
            batches[who].push(lane.position, actions);
            choosing[who].push(at);
        }
        if batches.iter().all(Batch::is_empty) {
            break;
        }
        for (who, batch) in batches.iter().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            answers.clear();
            players[who].answer(game, batch, &mut answers)?;
            answers.check(batch)?;
            for (place, &at) in choosing[who].iter().enumerate() {
                let (lane, range) = (&mut lanes[at], batch.range(place));
                let chance = unit(&mut lane.random);
                let chosen = match (lane.passed.len() as u32) < sampling.random_plies {
                    true => (chance * range.len() as f64) as usize,
                    false => sample(&answers.probabilities[range.clone()], chance),
                };
                let action = batch.actions()[range][chosen];
                lane.passed.push(lane.position);
                lane.position = game.advance(&lane.position, action);
            }
        }
    }
    let recorded = |lane: Lane<G::State>| Recorded { positions: lane.passed, end: lane.position };
    Ok(lanes.into_iter().map(recorded).collect())
}
