//! Test positions with moves proven to win or lose, and measurements of players in them.
//!
//! Tables bounded by plies contain few positions of minishogi with all moves proven. So a
//! player is measured in positions near the ends of random games in which the mate search
//! ([`fates`]) proves some moves within [`NODES`] positions:
//!
//! * *won*: the mover has a mate by checks, but not in one move. The measure is the probability of a move
//!   that keeps a proven win; other moves may win too, so it is a lower bound.
//! * *at risk*: some moves allow a mate by checks and others are not known to. The measure is the
//!   probability of a move that allows one.

use rayon::prelude::*;

use super::mates::GAME_PLIES;
use super::{Minishogi, erased, rules};
use crate::chance::{below, seeded};
use yomikiri::error::Error;
use yomikiri::games::shogi::{Board, MINISHOGI};
use yomikiri::rules::{Action, Game, Position};
use yomikiri::search::mates::{Fate, MateRules, fates};
use yomikiri_measure::policy::{Batch, Policy};

/// Maximum number of positions of the search for mates.
pub const NODES: u64 = 2_000;

/// Maximum number of plies between a position and the end of its game.
const NEAR: usize = 16;

/// Purpose of the games' random numbers; others of the same seed have different ones.
const TACTICS: u64 = 5;

/// Games generated at a time, as `GAMES_EACH` is the maximum per position.
const GAMES_AT_ONCE: u64 = 64;
const GAMES_EACH: u64 = 200;

/// A position with the proven fates of its moves.
type JudgedPosition = (Position<Board>, Vec<(Action, Fate)>);

/// Positions of both kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestSet {
    /// The mover has a mate by checks in 3 plies or more.
    pub won: Vec<JudgedPosition>,
    /// Some moves allow a mate by checks, others are open.
    pub at_risk: Vec<JudgedPosition>,
}

/// Mean probabilities with which a player plays moves in a test set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Probability, in won positions, of moves that keep a proven win.
    pub kept: f64,
    /// Probability, in positions at risk, of moves that lose by force.
    pub lost: f64,
}

/// Returns a position near the end of a random game, with at least two moves.
fn late(game: &Minishogi, seed: u64, number: u64) -> Option<Position<Board>> {
    let mut random = seeded(seed, &[TACTICS, number]);
    let mut positions = vec![game.start()];
    let mut actions = Vec::new();
    for _ in 0..GAME_PLIES {
        let last = positions[positions.len() - 1];
        actions.clear();
        game.for_each_action(&last.state, |action| actions.push(action));
        if actions.is_empty() {
            break;
        }
        positions.push(game.advance(&last, actions[below(&mut random, actions.len())]));
    }
    let back = 2 + below(&mut random, NEAR - 1);
    let position = positions.len().checked_sub(back).map(|at| positions[at])?;
    (game.actions(&position.state).len() > 1).then_some(position)
}

impl TestSet {
    /// Generates `count` positions of each kind, or fewer if `200 count` games do not contain them.
    pub fn generate(count: usize, seed: u64) -> TestSet {
        let (game, mating) = (rules(), MateRules::of(&MINISHOGI));
        let judge = |position: Position<Board>| {
            let actions = game.actions(&position.state);
            let fates = fates(&mating, &game, &position.state, &actions, NODES);
            (position, actions.into_iter().zip(fates).collect::<Vec<_>>())
        };
        let mut set = TestSet::default();
        let mut games = 0;
        while set.won.len().min(set.at_risk.len()) < count && games < GAMES_EACH * count as u64 {
            let found: Vec<_> = (games..games + GAMES_AT_ONCE)
                .into_par_iter()
                .filter_map(|number| late(&game, seed, number))
                .map(judge)
                .collect();
            games += GAMES_AT_ONCE;
            for judged in found {
                let fates = || judged.1.iter().map(|(_, fate)| *fate);
                let wins = fates().filter_map(|fate| match fate {
                    Fate::Wins(plies) => Some(plies),
                    _ => None,
                });
                let list = match wins.min() {
                    Some(plies) if plies >= 3 => &mut set.won,
                    None if fates().any(loses) && fates().any(|fate| fate == Fate::Open) => {
                        &mut set.at_risk
                    }
                    _ => continue,
                };
                if list.len() < count {
                    list.push(judged);
                }
            }
        }
        set
    }

    /// Returns the positions as SFEN, one per line with its kind as a comment: roots for a table that proves
    /// them, and positions for a report.
    pub fn to_text(&self) -> String {
        let game = rules();
        let won = self.won.iter().map(|(position, _)| (position, "won by force"));
        let at_risk = self.at_risk.iter().map(|(position, _)| (position, "at risk"));
        let line = |(position, kind)| format!("{} # {kind}\n", game.notation(position));
        won.chain(at_risk).map(line).collect()
    }

    /// Measures a player; `None` if there are no positions of a kind.
    pub fn measure(&self, player: &dyn Policy) -> Result<Option<Shares>, Error> {
        let wins = |fate: Fate| matches!(fate, Fate::Wins(_));
        let kept = share(&self.won, player, wins)?;
        let lost = share(&self.at_risk, player, loses)?;
        Ok(kept.zip(lost).map(|(kept, lost)| Shares { kept, lost }))
    }
}

fn loses(fate: Fate) -> bool {
    matches!(fate, Fate::Loses(_))
}

/// Returns the mean probability of moves whose fate counts; `None` without positions.
fn share(
    positions: &[JudgedPosition],
    player: &dyn Policy,
    counts: impl Fn(Fate) -> bool,
) -> Result<Option<f64>, Error> {
    let (rules, game, mut batch) = (rules(), rules().into_rules(), Batch::default());
    for (position, moves) in positions {
        batch.push(erased(&*game, &rules, position), moves.iter().map(|(action, _)| *action));
    }
    let answers = player.answer(&*game, &batch)?;
    answers.check(&batch)?;
    let fates = positions.iter().flat_map(|(_, moves)| moves);
    let chosen = fates.zip(&answers.probabilities).filter(|((_, fate), _)| counts(*fate));
    let sum: f64 = chosen.map(|(_, probability)| probability).sum();
    Ok((!positions.is_empty()).then(|| sum / positions.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::super::beam::Beam;
    use super::super::player::{MinishogiPlayer, PlayerSearch};
    use super::super::test_positions::Bumpy;
    use super::*;
    use yomikiri_measure::policy::{ByRule, Random};

    #[test]
    fn positions_are_read_again_as_they_were_written() {
        let tests = TestSet::generate(3, 0);
        let (rules, text) = (rules(), tests.to_text());
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let lines = lines.filter(|line| !line.is_empty());
        let read: Vec<_> =
            lines.map(|line| rules.parse_position(line, &rules.start()).unwrap()).collect();
        let all = tests.won.iter().chain(&tests.at_risk);
        assert_eq!(read, all.map(|(position, _)| *position).collect::<Vec<_>>());
    }

    #[test]
    fn a_player_who_searches_keeps_wins_and_random_play_does_not() {
        let tests = TestSet::generate(40, 0);
        assert_eq!((tests.won.len(), tests.at_risk.len()), (40, 40));
        let search = PlayerSearch { beam: Beam { width: 2, plies: 1 }, mate: NODES as usize };
        let sure = MinishogiPlayer::new("sure".to_string(), Bumpy, search);
        let shares = tests.measure(&sure).unwrap().unwrap();
        // Thirds do not sum to 1 exactly.
        assert!((shares.kept - 1.0).abs() < 1e-9 && shares.lost == 0.0, "{shares:?}");
        // By hand from the fates: random play takes every move equally often.
        let of = |list: &[JudgedPosition], wins: bool| {
            let share = |(_, moves): &JudgedPosition| {
                let counts = moves.iter().filter(|(_, fate)| match fate {
                    Fate::Open => false,
                    Fate::Wins(_) => wins,
                    Fate::Loses(_) => !wins,
                });
                counts.count() as f64 / moves.len() as f64
            };
            list.iter().map(share).sum::<f64>() / 40.0
        };
        let random = tests.measure(&ByRule(Random)).unwrap().unwrap();
        assert!((random.kept - of(&tests.won, true)).abs() < 1e-9 && random.kept < 0.5);
        assert!((random.lost - of(&tests.at_risk, false)).abs() < 1e-9 && random.lost > 0.1);
        assert_eq!(TestSet::default().measure(&ByRule(Random)).unwrap(), None);
    }
}
