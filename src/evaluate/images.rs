//! Where a policy errs on the board, and how differently it answers images of a position.

use serde::{Serialize, Serializer};

use super::figures::{mean, outcome_lost, score_lost};
use super::source::Piece;
use super::truth::{Case, Truth};
use crate::any::AnyGame;
use crate::game::{Action, Game, Side};

/// How far a policy's answers about the positions of a row are apart: images of one another, with
/// either side to move. Sums over all of them but the first of each row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImageFigures {
    /// How many positions.
    pub states: u64,
    /// Total variation distances between the probabilities of the moves and those of their images
    /// in the first position of the row: half the sum of the absolute differences, 0 to 1.
    pub distance: f64,
    /// The greatest of them.
    pub greatest: f64,
}

impl ImageFigures {
    /// Adds those of other positions.
    pub(super) fn add(&mut self, other: &ImageFigures) {
        self.states += other.states;
        self.distance += other.distance;
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The mean distance, 0 to 1; 0 for a policy that answers images alike.
    pub fn mean_distance(&self) -> Option<f64> {
        mean(self.distance, self.states)
    }
}

impl Serialize for ImageFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Means {
            states: u64,
            mean_distance: Option<f64>,
            greatest_distance: f64,
        }
        let (states, mean_distance) = (self.states, self.mean_distance());
        Means { states, mean_distance, greatest_distance: self.greatest }.serialize(serializer)
    }
}

/// What a policy says of the first position of a row, to compare the others with.
#[derive(Default)]
pub(super) struct FirstImage {
    row: Option<u32>,
    /// By the place of the move in the row.
    probabilities: Vec<f64>,
}

impl FirstImage {
    /// Compares the position at a place with the first of its row, or takes it for that.
    pub fn compare(&mut self, piece: &Piece, at: usize, own: &[f64], figures: &mut ImageFigures) {
        let images = piece.images[piece.batch.range(at)].iter().map(|&image| usize::from(image));
        let row = Some(piece.cases[at].row);
        if self.row != row {
            self.row = row;
            self.probabilities.clear();
            self.probabilities.resize(own.len(), 0.0);
            images.zip(own).for_each(|(image, &p)| self.probabilities[image] = p);
            return;
        }
        let apart = images.zip(own).map(|(image, p)| (p - self.probabilities[image]).abs());
        let distance = 0.5 * apart.sum::<f64>();
        figures.states += 1;
        figures.distance += distance;
        figures.greatest = figures.greatest.max(distance);
    }
}

/// What is given away on a square, summed over all judged positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SquareFigures {
    /// Expected number of positions in which the policy plays there.
    pub played: f64,
    /// What it gives away by that of the outcome.
    pub result_lost: f64,
    /// And of the score.
    pub score_lost: f64,
    /// Expected number of positions in which the square was best and another was played that is
    /// not; several best ones share.
    pub missed: f64,
    /// What is given away by that of the outcome.
    pub result_missed: f64,
    /// And of the score.
    pub score_missed: f64,
}

impl SquareFigures {
    fn add(&mut self, other: &SquareFigures) {
        self.played += other.played;
        self.result_lost += other.result_lost;
        self.score_lost += other.score_lost;
        self.missed += other.missed;
        self.result_missed += other.result_missed;
        self.score_missed += other.score_missed;
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
        let is_best = |truth: &Truth| truth.q_score() == own.q_score();
        let mut all = SquareFigures::default();
        for ((action, truth), &p) in actions.iter().zip(truths).zip(probabilities) {
            if p == 0.0 {
                continue;
            }
            let square = &mut self.0[usize::from(action.0)];
            square.played += p;
            if !is_best(truth) {
                let lost = (p * outcome_lost(own, truth), p * f64::from(score_lost(own, truth)));
                square.result_lost += lost.0;
                square.score_lost += lost.1;
                all.missed += p;
                all.result_missed += lost.0;
                all.score_missed += lost.1;
            }
        }
        if all.missed > 0.0 {
            let best = truths.iter().filter(|truth| is_best(truth)).count() as f64;
            let [missed, result_missed, score_missed] =
                [all.missed, all.result_missed, all.score_missed].map(|sum| sum / best);
            let share = SquareFigures { missed, result_missed, score_missed, ..Default::default() };
            let best = actions.iter().zip(truths).filter(|(_, truth)| is_best(truth));
            best.for_each(|(action, _)| self.0[usize::from(action.0)].add(&share));
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
