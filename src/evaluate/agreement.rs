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
    use crate::evaluate::{Judged, Source};
    use crate::game::othello::Othello;
    use crate::progress::Silent;
    use crate::solved::{Orienting, SolvedTable};
    use crate::table::Store;

    /// By hand: two policies of which one always takes the first move and one is uniform agree in
    /// the mean of 1 over the number of moves.
    #[test]
    fn what_is_common_is_the_lesser_probability() {
        let dir = tempfile::tempdir().unwrap();
        let game = AnyGame::new(Othello::<u64>::new(4, 4, true));
        let table = SolvedTable::of_whole(game, &Store::at(dir.path()), &Silent).unwrap();
        let judged = Judged::new(&table, Orienting::All);
        let (mut agreement, mut expected, mut positions) = (Agreement::default(), 0.0, 0);
        for piece in 0..judged.pieces() {
            for piece in judged.fill(piece).unwrap().0 {
                let [mut one, mut other] = [Answers::default(), Answers::default()];
                for at in 0..piece.cases.len() {
                    let moves = piece.batch.range(at).len();
                    one.probabilities.extend((0..moves).map(|m| f64::from(u8::from(m == 0))));
                    other.probabilities.extend((0..moves).map(|_| 1.0 / moves as f64));
                    if moves > 1 {
                        expected += 1.0 / moves as f64;
                        positions += 1;
                    }
                }
                agreement.add(&piece, &[one, other]);
            }
        }
        let mean = expected / f64::from(positions);
        assert!(positions > 20_000 && (agreement.of(0, 1) - mean).abs() < 1e-12);
        assert_eq!(agreement.of(0, 1), agreement.of(1, 0));
        assert!(
            (agreement.of(0, 0) - 1.0).abs() < 1e-12 && (agreement.of(1, 1) - 1.0).abs() < 1e-12
        );
        assert_eq!(Agreement::default().of(0, 0), 0.0);
    }
}
