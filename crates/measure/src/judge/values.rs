//! Accuracy of a policy's values.
//!
//! A value v in [−1, 1] is the outcome the policy expects for the player to move. As a winning probability it
//! is p = (v + 1) / 2, so a draw counts half. It is compared with the proven outcome, as a probability 1, ½
//! or 0.

use serde::Serialize;

use super::figures::mean;
use yomikiri::rules::{Outcome, Score};

/// Number of bins of equal width in the reliability diagram.
pub const BINS: usize = 10;

/// Sums over positions, as [`Figures`](super::Figures).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueFigures {
    /// Number of positions.
    pub positions: u64,
    /// Number of positions that are not drawn.
    pub decided: u64,
    /// Absolute differences of value and outcome.
    pub error: f64,
    /// Squared differences of value and outcome.
    pub squared: f64,
    /// Number of decided positions in which the value has the outcome's sign.
    pub right_sign: u64,
    /// Positions by predicted probability.
    pub bins: [Bin; BINS],
}

/// Positions whose predicted probability is in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Number of positions.
    pub positions: u64,
    /// Sum of the predicted probabilities.
    pub predicted: f64,
    /// Sum of the true ones.
    pub actual: f64,
}

impl ValueFigures {
    /// Adds a position of known outcome that counts `weight` times, with the policy's value for it.
    pub(super) fn add_position(&mut self, outcome: Outcome, value: f64, weight: u32) {
        let truth = f64::from(outcome.value());
        let (count, weight) = (u64::from(weight), f64::from(weight));
        self.positions += count;
        self.error += weight * (value - truth).abs();
        self.squared += weight * (value - truth).powi(2);
        if outcome != Outcome::Draw {
            self.decided += count;
            self.right_sign += if value * truth > 0.0 { count } else { 0 };
        }
        let chance = f64::midpoint(value, 1.0);
        let bin = &mut self.bins[((chance * BINS as f64) as usize).min(BINS - 1)];
        bin.positions += count;
        bin.predicted += weight * chance;
        bin.actual += weight * f64::midpoint(truth, 1.0);
    }

    /// Adds the figures of other positions.
    pub(super) fn add(&mut self, other: &ValueFigures) {
        self.positions += other.positions;
        self.decided += other.decided;
        self.error += other.error;
        self.squared += other.squared;
        self.right_sign += other.right_sign;
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.positions += other.positions;
            bin.predicted += other.predicted;
            bin.actual += other.actual;
        }
    }

    pub(super) fn mean(&self, sum: f64) -> Option<f64> {
        mean(sum, self.positions)
    }

    /// Returns the share of decided positions in which the value has the right sign.
    pub(super) fn sign(&self) -> Option<f64> {
        mean(self.right_sign as f64, self.decided)
    }

    /// Returns the mean difference of predicted and true probability over the bins.
    pub(super) fn calibration(&self) -> Option<f64> {
        self.mean(self.bins.iter().map(|bin| (bin.predicted - bin.actual).abs()).sum())
    }

    /// Returns the bins of the reliability diagram.
    pub fn reliability(&self) -> Vec<BinMeans> {
        let bins = self.bins.iter().enumerate().map(|(at, bin)| BinMeans {
            from: at as f64 / BINS as f64,
            to: (at + 1) as f64 / BINS as f64,
            positions: bin.positions,
            predicted: mean(bin.predicted, bin.positions),
            actual: mean(bin.actual, bin.positions),
        });
        bins.collect()
    }
}

/// Accuracy of the final scores that a policy expects: sums over positions, as [`Figures`](super::Figures).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FinalScoreFigures {
    /// Number of positions.
    pub positions: u64,
    /// Expected minus exact scores.
    pub signed: f64,
    /// Absolute differences.
    pub error: f64,
    /// Squared differences.
    pub squared: f64,
}

impl FinalScoreFigures {
    /// Adds a position of known score that counts `weight` times, with the score the policy expects.
    pub(super) fn add_position(&mut self, exact: Score, expected: f64, weight: u32) {
        let off = expected - f64::from(exact.0);
        self.positions += u64::from(weight);
        let weight = f64::from(weight);
        self.signed += weight * off;
        self.error += weight * off.abs();
        self.squared += weight * off * off;
    }

    /// Adds the figures of other positions.
    pub(super) fn add(&mut self, other: &FinalScoreFigures) {
        self.positions += other.positions;
        self.signed += other.signed;
        self.error += other.error;
        self.squared += other.squared;
    }

    pub(super) fn mean(&self, sum: f64) -> Option<f64> {
        mean(sum, self.positions)
    }
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BinMeans {
    /// Lower edge of the bin.
    pub from: f64,
    /// Upper edge of the bin.
    pub to: f64,
    /// Number of positions.
    pub positions: u64,
    /// Mean predicted probability.
    pub predicted: Option<f64>,
    /// Mean true probability.
    pub actual: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_scores_are_off_by_hand() {
        let mut figures = FinalScoreFigures::default();
        figures.add_position(Score(4), 7.0, 1);
        let mut others = FinalScoreFigures::default();
        others.add_position(Score(-2), -3.0, 3);
        figures.add(&others);
        assert_eq!(figures.positions, 4);
        assert_eq!(figures.mean(figures.signed), Some(0.0));
        assert_eq!(figures.mean(figures.error), Some(1.5));
        assert_eq!(figures.mean(figures.squared), Some(3.0));
    }

    #[test]
    fn figures_of_values_worked_out_by_hand() {
        let mut figures = ValueFigures::default();
        figures.add_position(Outcome::Win, 0.5, 1); // 0.75 predicted, 1 true
        figures.add_position(Outcome::Loss, 0.5, 1); // 0.75 predicted, 0 true
        figures.add_position(Outcome::Draw, 0.0, 1); // 0.5 predicted, 0.5 true
        figures.add_position(Outcome::Loss, -1.0, 1); // 0 predicted, 0 true
        assert_eq!((figures.positions, figures.decided, figures.right_sign), (4, 3, 2));
        assert_eq!(figures.mean(figures.error), Some((0.5 + 1.5) / 4.0));
        assert_eq!(figures.mean(figures.squared / 4.0), Some((0.0625 + 0.5625) / 4.0));
        assert_eq!(figures.sign(), Some(2.0 / 3.0));
        // The bin of 0.75 has two positions whose predictions sum to 1.5 and outcomes to 1.
        assert_eq!(figures.calibration(), Some(0.5 / 4.0));
        let mut twice = figures;
        twice.add(&figures);
        assert_eq!(twice.calibration(), figures.calibration());
        assert_eq!(twice.bins[7].positions, 4);
        figures.add_position(Outcome::Win, 1.0, 1);
        assert_eq!(figures.bins[9].positions, 1);
    }
}
