//! Self-play of a value network, and targets for its positions.
//!
//! A game opens with 0 to [`SelfPlay::random_plies`] random moves, every number equally likely.
//! Then each move minimises the opponent's value, the first of equals; a
//! successor without a move is a proven loss. The game ends
//!
//! * without a move: the mover has lost;
//! * when a position with the same side to move occurs for the fourth time: the first player has
//!   lost, as infinite play counts in minishogi tables. The rule that perpetual check loses
//!   is ignored, as in the tables;
//! * after [`SelfPlay::plies`] plies, without a result.
//!
//! **Targets** are computed from the last position backwards. V is the network's value and R the
//! return, both the mover's: at the end R is the result (0 lost, 1 won; without a result V), before
//! it `R_i = 1 - ((1 - γ) V(s_{i+1}) + γ R_{i+1})`, and the target of a position is
//! `(1 - α) V(s_i) + α R_i`. Positions before the last random move are left out, since the following
//! moves are no evidence of their value.

use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::mates::MateExample;
use super::{Minishogi, ValueFunction, features};
use crate::chance::{below, seeded};
use crate::options::{AT_ONCE, KEPT, OPENING, number, share};
use yomikiri::games::shogi::Board;
use yomikiri::progress::Progress;
use yomikiri::rules::{Game, Position, Side};

/// Purpose of the games' random numbers; others of the same seed have different ones.
const SELF_PLAY: u64 = 2;

/// Number of occurrences of a position that end a game.
const REPEATED: u8 = 4;

/// Settings of games and of learning from them: options of the command too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct SelfPlay {
    /// Games of an iteration.
    #[arg(long, value_name = "N", default_value_t = 2_500, value_parser = number::<u64>(0, KEPT / 10))]
    pub games: u64,
    /// Most random moves at the opening of a game.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::<usize>(0, OPENING))]
    pub random_plies: usize,
    /// Plies after which a game ends without a result.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = number::<usize>(1, AT_ONCE))]
    pub plies: usize,
    /// Weight of the return in a target, 0 to 1; the rest is the network's value.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = narrow_share)]
    pub alpha: f32,
    /// Weight of later positions in a return, 0 to 1; the rest is the next value.
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, value_parser = narrow_share)]
    pub gamma: f32,
}

/// Parses a share in single precision.
fn narrow_share(text: &str) -> Result<f32, String> {
    share(text).map(|share| share as f32)
}

/// Games by their end, and the positions in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayedGame {
    /// Positions of all games with their targets, in the order of games and plies.
    pub examples: Vec<MateExample>,
    /// Games won by the first player, in which the second had no move.
    pub first_wins: u64,
    /// Games won by the second player, in which the first had no move.
    pub second_wins: u64,
    /// Games that ended by repetition.
    pub repeated: u64,
    /// Games without a result.
    pub broken_off: u64,
}

impl PlayedGame {
    fn add(&mut self, other: PlayedGame) {
        self.examples.extend(other.examples);
        self.first_wins += other.first_wins;
        self.second_wins += other.second_wins;
        self.repeated += other.repeated;
        self.broken_off += other.broken_off;
    }
}

/// Plays the games of a seed, numbered from `first`; the number determines the game.
pub fn play(
    game: &Minishogi,
    values: &dyn ValueFunction,
    (plan, seed): (&SelfPlay, u64),
    first: u64,
    progress: &dyn Progress,
) -> PlayedGame {
    progress.begin_with("self-play", Some(plan.games), "games");
    let played: Vec<PlayedGame> = (first..first + plan.games)
        .into_par_iter()
        .map(|number| {
            let random = seeded(seed, &[SELF_PLAY, number]);
            let played = play_one(game, values, plan, random);
            progress.advance(1);
            played
        })
        .collect();
    let mut all = PlayedGame::default();
    played.into_iter().for_each(|played| all.add(played));
    progress.finish(&format!("{} positions of {} games", all.examples.len(), plan.games));
    all
}

/// Returns the network's values of positions.
fn values_of(
    game: &Minishogi,
    values: &dyn ValueFunction,
    positions: &[Position<Board>],
) -> Vec<f32> {
    let mut rows = Vec::new();
    features::append(game, positions, &mut rows);
    let mut found = vec![0.0; positions.len()];
    values.values(&rows, &mut found);
    found
}

fn play_one(
    game: &Minishogi,
    values: &dyn ValueFunction,
    plan: &SelfPlay,
    mut random: Xoshiro256PlusPlus,
) -> PlayedGame {
    let random_plies = below(&mut random, plan.random_plies + 1);
    let mut last = game.start();
    // Positions since the last random move.
    let mut positions = vec![last];
    let mut seen = FxHashMap::from_iter([(last, 1)]);
    let mut played = PlayedGame::default();
    let mut ply = 0;
    // Result for the last position's mover, if any.
    let result = loop {
        let mut after = Vec::new();
        game.moves(&last.state, |_, state| {
            after.push(Position { state, side: last.side.other() });
        });
        if after.is_empty() {
            match last.side {
                Side::First => played.second_wins = 1,
                Side::Second => played.first_wins = 1,
            }
            break Some(0.0);
        }
        last = if ply < random_plies {
            positions.clear();
            after[below(&mut random, after.len())]
        } else if let Some(won) = after.iter().find(|p| game.is_terminal(&p.state)) {
            *won
        } else {
            after[smallest(&values_of(game, values, &after))]
        };
        ply += 1;
        positions.push(last);
        let times = seen.entry(last).or_insert(0);
        *times += 1;
        if *times == REPEATED {
            played.repeated = 1;
            break Some(if last.side == Side::First { 0.0 } else { 1.0 });
        }
        if ply >= plan.plies {
            played.broken_off = 1;
            break None;
        }
    };
    let own = values_of(game, values, &positions);
    let targets = targets(&own, result, plan.alpha, plan.gamma);
    let examples = positions.into_iter().zip(targets);
    played.examples = examples.map(|(position, target)| MateExample { position, target }).collect();
    played
}

/// Returns the index of the smallest number, the first of equals.
fn smallest(numbers: &[f32]) -> usize {
    let mut best = 0;
    for (at, number) in numbers.iter().enumerate() {
        if *number < numbers[best] {
            best = at;
        }
    }
    best
}

/// Returns the targets of a game's positions. `own` are their values, each for its mover; `result` is that of
/// the last position's mover, `None` without a result.
pub fn targets(own: &[f32], result: Option<f32>, alpha: f32, gamma: f32) -> Vec<f32> {
    let mut targets = own.to_vec();
    let mut next: Option<(f32, f32)> = None;
    for (target, &value) in targets.iter_mut().zip(own).rev() {
        let back = match next {
            None => result.unwrap_or(value),
            Some((value, back)) => 1.0 - ((1.0 - gamma) * value + gamma * back),
        };
        *target = (1.0 - alpha) * value + alpha * back;
        next = Some((value, back));
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::super::test_positions::Bumpy;
    use super::*;
    use yomikiri::progress::Silent;

    const SMALL: SelfPlay =
        SelfPlay { games: 150, random_plies: 10, plies: 256, alpha: 0.2, gamma: 0.8 };

    #[test]
    fn targets_are_those_worked_out_by_hand() {
        // The mover of the third has lost: R is 0, then 1 - 0.2 * 0.3 = 0.94, then
        // 1 - (0.2 * 0.5 + 0.8 * 0.94) = 0.148.
        let found = targets(&[0.6, 0.5, 0.3], Some(0.0), 0.2, 0.8);
        let expected = [0.8 * 0.6 + 0.2 * 0.148, 0.8 * 0.5 + 0.2 * 0.94, 0.8 * 0.3];
        assert!(
            found.iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6),
            "{found:?}"
        );
        // Without a result R is the last value.
        assert_eq!(targets(&[0.25], None, 0.5, 0.8), [0.25]);
        assert!(targets(&[], None, 0.2, 0.8).is_empty());
    }

    #[test]
    fn games_are_played_by_the_rules_and_by_the_values() {
        let game = rules();
        let plan = SelfPlay { random_plies: 0, games: 1, ..SMALL };
        let played = play(&game, &Bumpy, (&plan, 5), 0, &Silent);
        let positions: Vec<_> = played.examples.iter().map(|e| e.position).collect();
        assert_eq!(positions[0], game.start());
        let value = |position: &Position<Board>| {
            let (mut row, mut out) = (Vec::new(), [0.0]);
            features::append(&game, [position], &mut row);
            Bumpy.values(&row, &mut out);
            if game.is_terminal(&position.state) { -1.0 } else { out[0] }
        };
        for pair in positions.windows(2) {
            let after = game.actions(&pair[0].state);
            let after: Vec<_> = after.iter().map(|&a| game.advance(&pair[0], a)).collect();
            assert!(after.contains(&pair[1]));
            assert!(after.iter().all(|other| value(other) >= value(&pair[1])));
        }
    }

    #[test]
    fn every_game_ends_in_one_way() {
        let game = rules();
        let played = play(&game, &Bumpy, (&SMALL, 5), 0, &Silent);
        let PlayedGame { first_wins, second_wins, repeated, broken_off, .. } = played;
        assert_eq!(first_wins + second_wins + repeated + broken_off, 150);
        assert!(
            first_wins > 0 && second_wins > 0 && repeated > 0,
            "{first_wins} {second_wins} {repeated}"
        );
        let ended = played.examples.iter().filter(|e| game.is_terminal(&e.position.state)).count();
        assert_eq!(ended as u64, first_wins + second_wins);
        assert!(played.examples.iter().all(|e| (0.0..=1.0).contains(&e.target)));
        let short = play(&game, &Bumpy, (&SelfPlay { plies: 5, ..SMALL }, 5), 0, &Silent);
        assert_eq!(short.broken_off + short.first_wins + short.second_wins, 150);
        assert!(short.broken_off > 100);
    }
}
