//! Comparison of two policies position by position, and agreement of policies.
//!
//! Either may be several players, one for each seed of the same recipe; its loss in a position is then the
//! mean over its players.

use serde::Serialize;

use super::case::Piece;
use super::figures::{Figures, mean};
use super::judgement::likeliest;
use crate::policy::Answers;
use yomikiri::any::AnyGame;
use yomikiri::game::GameExt;

/// Losses that differ by no more than this count as equal.
const EQUAL: f64 = 1e-9;

/// Losses of two policies in the same positions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Every judged position.
    pub all: Pairs,
    /// Positions whose moves differ in outcome.
    pub decisive_outcome: Pairs,
    /// Positions whose moves differ in score; empty in games without scores.
    pub decisive_score: Pairs,
    /// Positions of the greatest difference, by score and then by outcome, in descending order.
    pub costliest: Vec<Difference>,
}

/// Positions in which two policies were compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pairs {
    /// Number of positions.
    pub states: u64,
    /// Number of positions in which their move probabilities differ.
    pub states_apart: u64,
    /// Comparison by loss of outcome.
    pub outcome: Paired,
    /// Comparison by loss of score; zeros in games without scores.
    pub score: Paired,
    /// Mean losses of each seed of the first and of the second policy.
    pub seeds: Vec<[Lost; 2]>,
}

/// Mean loss of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lost {
    /// Loss of outcome.
    pub outcome: f64,
    /// Loss of score.
    pub score: f64,
}

/// Counts of positions by which policy loses less, and the mean losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Paired {
    /// Number of positions in which the first loses less.
    pub first_better: u64,
    /// Number of positions in which both lose the same.
    pub equal: u64,
    /// Number of positions in which the second loses less.
    pub second_better: u64,
    /// Mean loss of the first.
    pub first_lost: f64,
    /// Mean loss of the second.
    pub second_lost: f64,
}

/// A position in which one policy loses more than the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Row of the position; only one image of a position is kept.
    pub row: u32,
    /// Position in the game's one-line notation.
    pub position: String,
    /// Board as text.
    pub diagram: String,
    /// Name of the side to move.
    pub mover: String,
    /// Likeliest move of each policy (of its first seed).
    pub moves: [String; 2],
    /// Loss of outcome of each policy.
    pub outcome_lost: [f64; 2],
    /// Loss of score of each policy.
    pub score_lost: [f64; 2],
}

impl Difference {
    /// Returns the absolute differences of the losses of score and of outcome.
    fn size(&self) -> [f64; 2] {
        [self.score_lost, self.outcome_lost].map(|[first, second]| (first - second).abs())
    }
}

impl Paired {
    fn add(&mut self, [first, second]: [f64; 2]) {
        let difference = second - first;
        match difference.abs() <= EQUAL {
            true => self.equal += 1,
            false if difference > 0.0 => self.first_better += 1,
            false => self.second_better += 1,
        }
        self.first_lost += first;
        self.second_lost += second;
    }

    fn averaged(&mut self, states: u64) {
        self.first_lost = mean(self.first_lost, states).unwrap_or(0.0);
        self.second_lost = mean(self.second_lost, states).unwrap_or(0.0);
    }
}

impl Pairs {
    fn add(&mut self, lost: &[[Lost; 2]], mean: [Lost; 2], is_apart: bool) {
        self.states += 1;
        self.states_apart += u64::from(is_apart);
        self.outcome.add(mean.map(|lost| lost.outcome));
        self.score.add(mean.map(|lost| lost.score));
        self.seeds.resize(lost.len(), Default::default());
        for (sums, lost) in self.seeds.iter_mut().zip(lost) {
            for (sum, lost) in sums.iter_mut().zip(lost) {
                sum.outcome += lost.outcome;
                sum.score += lost.score;
            }
        }
    }

    fn averaged(&mut self) {
        self.outcome.averaged(self.states);
        self.score.averaged(self.states);
        for lost in self.seeds.iter_mut().flatten() {
            lost.outcome /= self.states.max(1) as f64;
            lost.score /= self.states.max(1) as f64;
        }
    }
}

impl Comparison {
    /// Adds the positions of a piece. `answers` are those of the first and the second policy for the first
    /// seed, then for the next; the `most` greatest differences are kept.
    pub fn add(&mut self, game: &AnyGame, piece: &Piece, answers: &[Answers], most: usize) {
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let truths = &piece.truths[range.clone()];
            let probabilities = |answers: &Answers| answers.probabilities[range.clone()].to_vec();
            let lost = |probabilities: &[f64]| {
                let figures = Figures::of_position(case, truths, probabilities, probabilities);
                Lost { outcome: figures.loss_outcome, score: figures.loss_score }
            };
            let chosen: Vec<[Vec<f64>; 2]> = answers
                .as_chunks()
                .0
                .iter()
                .map(|pair: &[Answers; 2]| pair.each_ref().map(probabilities))
                .collect();
            let all: Vec<[Lost; 2]> =
                chosen.iter().map(|pair| pair.each_ref().map(|own| lost(own))).collect();
            let average = [0, 1].map(|who| Lost {
                outcome: all.iter().map(|pair| pair[who].outcome).sum::<f64>() / all.len() as f64,
                score: all.iter().map(|pair| pair[who].score).sum::<f64>() / all.len() as f64,
            });
            let differ = |pair: &[Vec<f64>; 2]| {
                pair[0].iter().zip(&pair[1]).any(|(a, b)| (a - b).abs() > EQUAL)
            };
            let is_apart = chosen.iter().any(differ);
            self.all.add(&all, average, is_apart);
            if case.differs_in_outcome {
                self.decisive_outcome.add(&all, average, is_apart);
            }
            if case.differs_in_score {
                self.decisive_score.add(&all, average, is_apart);
            }
            let position = &piece.batch.positions()[at];
            let difference = || Difference {
                row: case.row,
                position: game.notation(position),
                diagram: game.diagram(position),
                mover: game.side_name(position.side).to_string(),
                moves: chosen[0].each_ref().map(|own| {
                    let action = piece.batch.actions()[range.clone()][likeliest(own)];
                    game.action_name(position.side, action)
                }),
                outcome_lost: average.map(|lost| lost.outcome),
                score_lost: average.map(|lost| lost.score),
            };
            let size = [
                (average[0].score - average[1].score).abs(),
                (average[0].outcome - average[1].outcome).abs(),
            ];
            self.keep(case.row, size, most, difference);
        }
    }

    /// Keeps a difference if it is among the greatest, and the greatest of its row.
    fn keep(&mut self, row: u32, size: [f64; 2], most: usize, difference: impl Fn() -> Difference) {
        let is_full = self.costliest.len() >= most;
        let is_small = |other: &Difference| size <= other.size();
        let same = self.costliest.iter().position(|other| other.row == row);
        if most == 0
            || size[0].max(size[1]) <= EQUAL
            || is_full && self.costliest.last().is_some_and(is_small)
            || same.is_some_and(|same| is_small(&self.costliest[same]))
        {
            return;
        }
        if let Some(same) = same {
            self.costliest.remove(same);
        }
        let place = self.costliest.partition_point(|other| other.size() >= size);
        self.costliest.insert(place, difference());
        self.costliest.truncate(most);
    }

    /// Divides the sums by the numbers of positions, once all are added.
    pub fn averaged(mut self) -> Comparison {
        let sets = [&mut self.all, &mut self.decisive_outcome, &mut self.decisive_score];
        sets.into_iter().for_each(Pairs::averaged);
        self
    }
}

/// Agreement of each two policies: the sum over positions with a choice of Σ min(p, q) over the moves, which
/// is 1 minus the total variation distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Sums by pair of policies, row by row of the lower triangle.
    sums: Vec<f64>,
    positions: f64,
}

impl Agreement {
    /// Adds the answers of policies, always the same ones, for a piece.
    pub fn add(&mut self, piece: &Piece, answers: &[Answers]) {
        let count = answers.len();
        self.sums.resize(count * count, 0.0);
        for (at, case) in piece.cases.iter().enumerate() {
            let moves = piece.batch.range(at);
            if moves.len() < 2 {
                continue;
            }
            let weight = f64::from(case.weight);
            self.positions += weight;
            for (row, first) in answers.iter().enumerate() {
                for (column, second) in answers.iter().enumerate().take(row + 1) {
                    let both = first.probabilities[moves.clone()]
                        .iter()
                        .zip(&second.probabilities[moves.clone()]);
                    let common: f64 = both.map(|(p, q)| p.min(*q)).sum();
                    self.sums[row * count + column] += weight * common;
                }
            }
        }
    }

    /// Returns the mean agreement of two policies by their indices, 0 to 1; 0 if there are no positions.
    pub fn of(&self, first: usize, second: usize) -> f64 {
        let count = self.sums.len().isqrt();
        let sum = self.sums.get(first.max(second) * count + first.min(second));
        sum.map_or(0.0, |sum| sum / self.positions.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Case, Truth};
    use yomikiri::game::{Action, Game, Outcome};
    use yomikiri::registry::othello;

    #[test]
    fn the_common_part_is_the_lesser_probability() {
        let own = Truth { outcome: Outcome::Draw, score: None, distance: None, rank: 0 };
        let start = othello("4").unwrap().start();
        let mut piece = Piece::default();
        for (row, moves) in [(0, 2), (1, 4), (2, 1)] {
            piece.batch.push(start, (0..moves).map(Action));
            piece.cases.push(Case::of(row, None, own, &[own]).unwrap());
        }
        let first = vec![1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let even = vec![0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 1.0];
        let of = |probabilities| Answers { probabilities, ..Answers::default() };
        let mut agreement = Agreement::default();
        agreement.add(&piece, &[of(first), of(even)]);
        // In the two positions with a choice: a half, and a quarter.
        assert_eq!([agreement.of(0, 1), agreement.of(1, 0)], [0.375; 2]);
        assert_eq!([agreement.of(0, 0), agreement.of(1, 1)], [1.0; 2]);
        assert_eq!(Agreement::default().of(0, 0), 0.0);
    }
}
