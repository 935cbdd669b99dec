//! Where on the board a policy errs.

use serde::Serialize;

use super::figures::{outcome_lost, score_lost};
use super::truth::{Case, Truth};
use crate::any::AnyGame;
use crate::game::{Action, Game, Side};

/// What is given away on a square, summed over all judged positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SquareFigures {
    /// Expected number of positions in which the policy plays there.
    pub played: f64,
    /// What it gives away by that of the outcome.
    pub result_lost: f64,
    /// And of the score.
    pub score_lost: f64,
}

impl SquareFigures {
    fn add(&mut self, other: &SquareFigures) {
        self.played += other.played;
        self.result_lost += other.result_lost;
        self.score_lost += other.score_lost;
    }
}

/// Figures by square.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Squares(Vec<SquareFigures>);

impl Squares {
    /// Adds a position whose moves are worth `truths` and chosen with `probabilities`.
    pub fn add_position(
        &mut self,
        case: &Case,
        actions: &[Action],
        truths: &[Truth],
        probabilities: &[f64],
    ) {
        let own = &case.own;
        let most = actions.last().map_or(0, |action| usize::from(action.0) + 1);
        if self.0.len() < most {
            self.0.resize(most, SquareFigures::default());
        }
        for ((action, truth), &p) in actions.iter().zip(truths).zip(probabilities) {
            if p == 0.0 {
                continue;
            }
            let square = &mut self.0[usize::from(action.0)];
            square.played += p;
            if truth.q_score() != own.q_score() {
                square.result_lost += p * outcome_lost(own, truth);
                square.score_lost += p * f64::from(score_lost(own, truth));
            }
        }
    }

    /// Adds those of other positions.
    pub fn add(&mut self, other: &Squares) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), SquareFigures::default());
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, other)| sum.add(other));
    }

    /// By the squares of a game's board, whose numbers are their actions.
    pub fn of_board(&self, game: &AnyGame) -> Vec<Square> {
        let (rows, columns) = if self.0.is_empty() { (0, 0) } else { game.shape() };
        let square = |at: usize| Square {
            square: game.action_name(Side::First, Action(at as u16)),
            row: at / columns,
            column: at % columns,
            figures: self.0.get(at).copied().unwrap_or_default(),
        };
        (0..rows * columns).map(square).collect()
    }
}

/// A square of the board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Square {
    /// As people write it: `c4`.
    pub square: String,
    /// Its row, from 0 at the top.
    pub row: usize,
    /// Its column, from 0 at the left.
    pub column: usize,
    /// What is given away there.
    #[serde(flatten)]
    pub figures: SquareFigures,
}
