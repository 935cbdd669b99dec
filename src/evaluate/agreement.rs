//! How alike policies choose.

use super::source::Piece;
use crate::policy::Answers;

/// For each two policies, over the positions with a choice, the sum of what their probabilities
/// have in common: Σ min(p, q) over the moves, which is 1 less the total variation distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Policy by policy, row by row.
    sums: Vec<f64>,
    positions: f64,
}

impl Agreement {
    /// Adds what policies, always the same ones, answered for a piece.
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

    /// The mean for two policies by their places, 0 to 1; 0 where there was no position.
    pub fn of(&self, first: usize, second: usize) -> f64 {
        let count = self.sums.len().isqrt();
        let sum = self.sums.get(first.max(second) * count + first.min(second));
        sum.map_or(0.0, |sum| sum / self.positions.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any::AnyGame;
    use crate::evaluate::{Case, Truth};
    use crate::game::othello::Othello;
    use crate::game::{Action, Game, Outcome};

    #[test]
    fn what_is_common_is_the_lesser_probability() {
        let own = Truth { outcome: Outcome::Draw, score: None, distance: None, rank: 0 };
        let start = AnyGame::new(Othello::<u64>::new(4, 4, true)).start();
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
        // Where there is a choice: a half, and a quarter.
        assert_eq!([agreement.of(0, 1), agreement.of(1, 0)], [0.375; 2]);
        assert_eq!([agreement.of(0, 0), agreement.of(1, 1)], [1.0; 2]);
        assert_eq!(Agreement::default().of(0, 0), 0.0);
    }
}
