//! What is exactly known of a position and of each of its moves.

use crate::game::{Outcome, Score};
use crate::solve::Value;

/// The proven value of a position for its mover, or of a move for who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Who wins.
    pub outcome: Outcome,
    /// The final score; `None` in games that have none.
    pub score: Option<Score>,
    /// Plies to the end of the game, from the position or the move on, where they are known
    /// exactly; `None` too where the game does not end.
    pub distance: Option<u16>,
    /// Orders the moves of a position as the solver does: a better outcome or score first, ahead
    /// and level the shorter game, behind the longer. Moves of the same rank are equally good.
    pub rank: i64,
}

impl Truth {
    /// Of a value, with its score if values have one; `None` where it is not proven.
    pub fn of(value: Value, scored: bool) -> Option<Truth> {
        let score = if scored { Some(value.score()?) } else { None };
        Some(Truth {
            outcome: value.outcome()?,
            score,
            distance: value.distance(),
            rank: Truth::rank(value),
        })
    }

    /// The [`rank`](Truth::rank) of a value.
    pub(super) fn rank(value: Value) -> i64 {
        (i64::from(value.lower.number()) << 32) + i64::from(value.upper.number())
    }

    /// The score; in games without scores 1, 0 or −1 by the outcome.
    pub fn q_score(&self) -> Score {
        self.score.unwrap_or(Score(self.outcome.value()))
    }

    /// The exact Q value with which a policy's scores are compared: the score, or in games without
    /// one the outcome, and then the distance as far as it is proven.
    pub fn q(&self) -> i64 {
        self.score.map_or(self.rank, |score| i64::from(score.0))
    }
}

/// A position in which policies are judged, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its row of the table.
    pub row: u32,
    /// How many positions it stands for: 1, or all those of its row where only the first is asked
    /// about.
    pub weight: u32,
    /// The layer, or plies from the nearest root; `None` where the table does not tell.
    pub layer: Option<u32>,
    /// The position's value for its mover.
    pub own: Truth,
    /// Whether its moves differ in outcome.
    pub differs_in_outcome: bool,
    /// Whether its moves differ in score.
    pub differs_in_score: bool,
    /// Whether distances are compared in it: it is won or lost in an exactly known number of plies,
    /// and so is every move that keeps the outcome. Never in a game with scores.
    pub timed: bool,
}

impl Case {
    /// The case of a row whose moves have these values; `None` if the row's does not follow from
    /// them: the table is damaged.
    pub(super) fn of(row: usize, layer: Option<u32>, own: Truth, moves: &[Truth]) -> Option<Case> {
        let best = moves.iter().map(|truth| truth.outcome).max()?;
        let worst = moves.iter().map(|truth| truth.outcome).min()?;
        let scores = moves.iter().map(|truth| truth.score);
        let (most, least) = (scores.clone().max()?, scores.min()?);
        let follows = best == own.outcome && most == own.score;
        let kept = |truth: &&Truth| truth.outcome == own.outcome;
        let timed = own.score.is_none()
            && own.outcome != Outcome::Draw
            && own.distance.is_some()
            && moves.iter().filter(kept).all(|truth| truth.distance.is_some());
        follows.then_some(Case {
            row: row as u32,
            weight: 1,
            layer,
            own,
            differs_in_outcome: best != worst,
            differs_in_score: most != least,
            timed,
        })
    }
}
