//! Sampled games between policies, for boards too large for a table.
//!
//! If there is a table, prefer [`games`](super::games()), which computes expected results exactly.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;

use crate::policy::chance::{sample, unit};
use crate::policy::{Batch, Policy};
use yomikiri::error::Error;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{Empties, Outcome, PlayedGame, Position, Rules, Side};

/// Results of games, from the view of the first of two policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GameTally {
    /// Number of games won.
    pub wins: u64,
    /// Number of games drawn.
    pub draws: u64,
    /// Number of games lost.
    pub losses: u64,
    /// Sum of the final scores; `None` in games without scores.
    pub score: Option<i64>,
    /// `true` if several games were played and all have the same moves, so that they are not a sample.
    pub identical: bool,
}

impl GameTally {
    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Returns the share of games won.
    pub fn won(&self) -> f64 {
        self.wins as f64 / self.games().max(1) as f64
    }

    /// Returns the share of points; a draw counts half.
    pub fn points(&self) -> f64 {
        (self.wins as f64 + 0.5 * self.draws as f64) / self.games().max(1) as f64
    }

    /// Returns the standard error of the share of points.
    pub fn error(&self) -> f64 {
        let (games, mean) = (self.games().max(1) as f64, self.points());
        let squares = self.wins as f64 + 0.25 * self.draws as f64;
        ((squares / games - mean * mean).max(0.0) / games).sqrt()
    }

    /// Counts a finished game for the policy that played `side`.
    fn count(&mut self, game: &dyn Rules, played: &PlayedGame, side: Side) {
        let Position { state, side: mover } = played.position();
        let outcome = played.end(game).map_or(Outcome::Draw, |end| end.outcome);
        let score = i64::from(game.score(state, Empties::Uncounted).0);
        let (outcome, score) = if *mover == side { (outcome, score) } else { (-outcome, -score) };
        match outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
        if game.has_scores() {
            *self.score.get_or_insert_default() += score;
        }
    }
}

/// Games to sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Number of games with each side.
    pub games: u64,
    /// Number of random plies at the opening of a game.
    pub random_plies: u32,
    /// The seed.
    pub seed: u64,
}

/// Number of games that a thread plays side by side; constant, because it decides which positions form a
/// batch.
const LANES: u64 = 64;

/// Plays games of `one` against `other`, first with `one` as the first player, then as the second. A game
/// depends on its number and the seed, not on the number of threads.
pub fn arena(
    game: &dyn Rules,
    one: &dyn Policy,
    other: &dyn Policy,
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<[GameTally; 2], Error> {
    let title = format!("playing {} against {}", one.name(), other.name());
    progress.begin_with(&title, Some(2 * sampling.games), "games");
    let mut tallies = [GameTally::default(); 2];
    for side in Side::ALL {
        let [first, second] = if side == Side::First { [one, other] } else { [other, one] };
        let games = record(game, [first, second], sampling, progress)?;
        let tally = &mut tallies[side.index()];
        games.iter().for_each(|played| tally.count(game, played, side));
        tally.identical = games.len() > 1 && games.windows(2).all(|pair| pair[0] == pair[1]);
    }
    progress.finish("games played");
    Ok(tallies)
}

/// Plays games of a first player against a second one and returns them.
pub fn record(
    game: &dyn Rules,
    players: [&dyn Policy; 2],
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<Vec<PlayedGame>, Error> {
    let tasks = sampling.games.div_ceil(LANES) as usize;
    let parts = parallel::try_map(tasks, &|task| {
        let begin = task as u64 * LANES;
        let games = play(game, players, sampling, begin..sampling.games.min(begin + LANES))?;
        progress.advance(games.len() as u64);
        Ok::<_, Error>(games)
    });
    Ok(parts?.into_iter().flatten().collect())
}

/// A game in progress, with its own random numbers.
struct Lane {
    played: PlayedGame,
    random: SplitMix64,
}

/// Plays the games of these numbers and returns them in order.
fn play(
    game: &dyn Rules,
    players: [&dyn Policy; 2],
    sampling: Sampling,
    numbers: std::ops::Range<u64>,
) -> Result<Vec<PlayedGame>, Error> {
    let begin = |number: u64| {
        let seed = sampling.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = SplitMix64::seed_from_u64(seed);
        unit(&mut random);
        Lane { played: PlayedGame::new(game.start()), random }
    };
    let mut lanes: Vec<Lane> = numbers.map(begin).collect();
    loop {
        let mut batches = [Batch::default(), Batch::default()];
        let mut choosing: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        for (at, lane) in lanes.iter_mut().enumerate() {
            if lane.played.end(game).is_some() {
                continue;
            }
            let position = *lane.played.position();
            let who = position.side.index();
            batches[who].push(position, game.actions(&position.state));
            choosing[who].push(at);
        }
        if batches.iter().all(Batch::is_empty) {
            break;
        }
        for (who, batch) in batches.iter().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let answers = players[who].answer(game, batch)?;
            answers.check(batch)?;
            for (place, &at) in choosing[who].iter().enumerate() {
                let (lane, range) = (&mut lanes[at], batch.range(place));
                let chance = unit(&mut lane.random);
                let chosen = match (lane.played.moves().len() as u32) < sampling.random_plies {
                    true => (chance * range.len() as f64) as usize,
                    false => sample(&answers.probabilities[range.clone()], chance),
                };
                lane.played.play(game, batch.actions()[range][chosen]);
            }
        }
    }
    Ok(lanes.into_iter().map(|lane| lane.played).collect())
}
