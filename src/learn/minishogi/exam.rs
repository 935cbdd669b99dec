//! Positions in which it is proven what some moves lead to, and what a player does in them.
//!
//! Tables bounded by plies hold few positions of minishogi all of whose moves are proven, so a player
//! is measured on positions of games of chance, near their ends, of which the search for forced wins
//! ([`super::force`]) proves something with [`NODES`] positions:
//!
//! * *won*: the mover wins by force, but not with one move. What counts is the share of choices that
//!   keep a proven win; a choice may also win in a way that was not proven, so it is a lower bound.
//! * *at risk*: some moves lose by force and others are not known to. What counts is the share of
//!   choices that lose by force.
//!
//! A player that takes every legal move equally often is measured beside it.

use rayon::prelude::*;

use super::force::{self, Fate, Verdict};
use super::mates::GAME_PLIES;
use super::{Minishogi, rules};
use crate::game::shogi::Board;
use crate::game::{Game, Position};
use crate::learn::chance::{below, drawn_for};
use crate::policy::{Answers, Batch, Policy, PolicyError};

/// How many positions a proof may look at.
pub const NODES: usize = 2_000;

/// How many plies before the end of a game its position is taken at most.
const NEAR: usize = 16;

/// What the games' random numbers are for, beside others of the same seed.
const EXAM: u64 = 5;

/// How many games are looked at together, and at most for each position that is wanted.
const GAMES_AT_ONCE: u64 = 64;
const GAMES_EACH: u64 = 200;

/// Positions of both kinds, with what is proven of their moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exam {
    /// The mover wins by force in 3 plies or more.
    pub won: Vec<(Position<Board>, Verdict)>,
    /// Some moves lose by force, others are open.
    pub at_risk: Vec<(Position<Board>, Verdict)>,
}

/// What a player does in the positions of an exam; shares of its choices, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    /// In won positions: choices that keep a proven win.
    pub kept: f64,
    /// In positions at risk: choices that lose by force.
    pub lost: f64,
}

/// Makes an exam of `count` positions of each kind, or fewer if they are not found in
/// `200 count` games.
pub fn make(count: usize, seed: u64) -> Exam {
    let game = rules();
    let mut exam = Exam::default();
    let mut games = 0;
    while exam.won.len().min(exam.at_risk.len()) < count && games < GAMES_EACH * count as u64 {
        let found: Vec<_> = (games..games + GAMES_AT_ONCE)
            .into_par_iter()
            .filter_map(|number| late(&game, seed, number))
            .map(|position| (position, force::search(&game, &position.state, NODES)))
            .collect();
        games += GAMES_AT_ONCE;
        for (position, verdict) in found {
            let loses = |(_, fate): &(_, Fate)| matches!(fate, Fate::Loses(_));
            let list = match verdict.root {
                Fate::Wins(plies) if plies >= 3 => &mut exam.won,
                Fate::Open if verdict.moves.iter().any(loses) => &mut exam.at_risk,
                _ => continue,
            };
            if list.len() < count {
                list.push((position, verdict));
            }
        }
    }
    exam
}

/// A position near the end of a game of chance, with at least two moves.
fn late(game: &Minishogi, seed: u64, number: u64) -> Option<Position<Board>> {
    let mut random = drawn_for(seed, &[EXAM, number]);
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

impl Exam {
    /// Marks a player; `None` where an exam has no positions of a kind.
    pub fn mark(&self, player: &dyn Policy<Minishogi>) -> Result<Option<Marks>, PolicyError> {
        let wins = |fate: Fate| matches!(fate, Fate::Wins(_));
        let loses = |fate: Fate| matches!(fate, Fate::Loses(_));
        let kept = share(&self.won, player, wins)?;
        let lost = share(&self.at_risk, player, loses)?;
        Ok(kept.zip(lost).map(|(kept, lost)| Marks { kept, lost }))
    }
}

/// The mean share of choices with a fate that counts; `None` of no positions.
fn share(
    positions: &[(Position<Board>, Verdict)],
    player: &dyn Policy<Minishogi>,
    counts: impl Fn(Fate) -> bool,
) -> Result<Option<f64>, PolicyError> {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    for (position, verdict) in positions {
        batch.push(*position, verdict.moves.iter().map(|(action, _)| *action));
    }
    player.answer(&rules(), &batch, &mut answers)?;
    answers.check(&batch)?;
    let fates = positions.iter().flat_map(|(_, verdict)| &verdict.moves);
    let chosen = fates.zip(&answers.probabilities).filter(|((_, fate), _)| counts(*fate));
    let sum: f64 = chosen.map(|(_, probability)| probability).sum();
    Ok((!positions.is_empty()).then(|| sum / positions.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::super::beam::Beam;
    use super::super::player::{Player, Search};
    use super::super::sample::Bumpy;
    use super::*;
    use crate::policy::{ByRule, Random};

    #[test]
    fn a_player_who_searches_passes_and_chance_does_not() {
        let exam = make(40, 0);
        assert_eq!((exam.won.len(), exam.at_risk.len()), (40, 40));
        let search = Search { beam: Beam { width: 2, plies: 1 }, mate: NODES };
        let sure = Player::new("sure".to_string(), Bumpy, search).unwrap();
        let marks = exam.mark(&sure).unwrap().unwrap();
        // Thirds do not sum to 1 exactly.
        assert!((marks.kept - 1.0).abs() < 1e-9 && marks.lost == 0.0, "{marks:?}");
        // By hand from the fates: chance takes every move equally often.
        let of = |list: &[(_, Verdict)], wins: bool| {
            let share = |(_, verdict): &(_, Verdict)| {
                let counts = verdict.moves.iter().filter(|(_, fate)| match fate {
                    Fate::Open => false,
                    Fate::Wins(_) => wins,
                    Fate::Loses(_) => !wins,
                });
                counts.count() as f64 / verdict.moves.len() as f64
            };
            list.iter().map(share).sum::<f64>() / 40.0
        };
        let chance = exam.mark(&ByRule(Random)).unwrap().unwrap();
        assert!((chance.kept - of(&exam.won, true)).abs() < 1e-9 && chance.kept < 0.5);
        assert!((chance.lost - of(&exam.at_risk, false)).abs() < 1e-9 && chance.lost > 0.1);
        assert_eq!(Exam::default().mark(&ByRule(Random)).unwrap(), None);
    }
}
