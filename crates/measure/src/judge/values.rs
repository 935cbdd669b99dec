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

/// Sums over positions, as [`Figures`](super::Figures); [`means`](Self::means) returns the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "Means")]
#[cfg_attr(feature = "schemas", schemars(with = "Means"))]
pub struct ValueFigures {
    /// Number of positions.
    pub states: u64,
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
    pub states: u64,
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
        self.states += count;
        self.error += weight * (value - truth).abs();
        self.squared += weight * (value - truth).powi(2);
        if outcome != Outcome::Draw {
            self.decided += count;
            self.right_sign += if value * truth > 0.0 { count } else { 0 };
        }
        let chance = f64::midpoint(value, 1.0);
        let bin = &mut self.bins[((chance * BINS as f64) as usize).min(BINS - 1)];
        bin.states += count;
        bin.predicted += weight * chance;
        bin.actual += weight * f64::midpoint(truth, 1.0);
    }

    /// Adds the figures of other positions.
    pub(super) fn add(&mut self, other: &ValueFigures) {
        self.states += other.states;
        self.decided += other.decided;
        self.error += other.error;
        self.squared += other.squared;
        self.right_sign += other.right_sign;
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.states += other.states;
            bin.predicted += other.predicted;
            bin.actual += other.actual;
        }
    }

    /// Returns the means; `None` if there are no positions.
    pub fn means(&self) -> Means {
        let off = self.bins.iter().map(|bin| (bin.predicted - bin.actual).abs()).sum();
        let bins = self.bins.iter().enumerate().map(|(at, bin)| BinMeans {
            from: at as f64 / BINS as f64,
            to: (at + 1) as f64 / BINS as f64,
            states: bin.states,
            predicted: mean(bin.predicted, bin.states),
            actual: mean(bin.actual, bin.states),
        });
        Means {
            states: self.states,
            decided_states: self.decided,
            mean_error: mean(self.error, self.states),
            root_mean_square_error: mean(self.squared, self.states).map(f64::sqrt),
            sign_accuracy: mean(self.right_sign as f64, self.decided),
            brier: mean(self.squared / 4.0, self.states),
            calibration_error: mean(off, self.states),
            reliability: bins.collect(),
        }
    }
}

/// Accuracy of the final scores that a policy expects: sums over positions, as [`Figures`](super::Figures);
/// [`means`](Self::means) returns the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "FinalScoreMeans")]
pub struct FinalScoreFigures {
    /// Number of positions.
    pub states: u64,
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
        self.states += u64::from(weight);
        let weight = f64::from(weight);
        self.signed += weight * off;
        self.error += weight * off.abs();
        self.squared += weight * off * off;
    }

    /// Adds the figures of other positions.
    pub(super) fn add(&mut self, other: &FinalScoreFigures) {
        self.states += other.states;
        self.signed += other.signed;
        self.error += other.error;
        self.squared += other.squared;
    }

    /// Returns the means; `None` if there are no positions.
    pub fn means(&self) -> FinalScoreMeans {
        FinalScoreMeans {
            states: self.states,
            mean_error: mean(self.error, self.states),
            mean_signed_error: mean(self.signed, self.states),
            root_mean_square_error: mean(self.squared, self.states).map(f64::sqrt),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FinalScoreMeans {
    /// Number of positions.
    pub states: u64,
    /// Mean absolute error of the expected score.
    pub mean_error: Option<f64>,
    /// Mean of expected minus exact score.
    pub mean_signed_error: Option<f64>,
    /// Root mean square error of the expected score.
    pub root_mean_square_error: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Means {
    /// Number of positions.
    pub states: u64,
    /// Number of positions that are not drawn.
    pub decided_states: u64,
    /// Mean absolute error of the value.
    pub mean_error: Option<f64>,
    /// Root mean square error of the value.
    pub root_mean_square_error: Option<f64>,
    /// Share of decided positions in which the value has the right sign, 0 to 1.
    pub sign_accuracy: Option<f64>,
    /// Brier score: mean squared error of the probability.
    pub brier: Option<f64>,
    /// Calibration error: mean difference of predicted and true probability over the bins.
    pub calibration_error: Option<f64>,
    /// Bins of the reliability diagram.
    pub reliability: Vec<BinMeans>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BinMeans {
    /// Lower edge of the bin.
    pub from: f64,
    /// Upper edge of the bin.
    pub to: f64,
    /// Number of positions.
    pub states: u64,
    /// Mean predicted probability.
    pub predicted: Option<f64>,
    /// Mean true probability.
    pub actual: Option<f64>,
}

impl From<FinalScoreFigures> for FinalScoreMeans {
    fn from(of: FinalScoreFigures) -> FinalScoreMeans {
        of.means()
    }
}

impl From<ValueFigures> for Means {
    fn from(of: ValueFigures) -> Means {
        of.means()
    }
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
        assert_eq!(figures.states, 4);
        assert_eq!(figures.means().mean_signed_error, Some(0.0));
        assert_eq!(figures.means().mean_error, Some(1.5));
        assert_eq!(figures.means().root_mean_square_error, Some(3f64.sqrt()));
    }

    #[test]
    fn figures_of_values_worked_out_by_hand() {
        let mut figures = ValueFigures::default();
        figures.add_position(Outcome::Win, 0.5, 1); // 0.75 predicted, 1 true
        figures.add_position(Outcome::Loss, 0.5, 1); // 0.75 predicted, 0 true
        figures.add_position(Outcome::Draw, 0.0, 1); // 0.5 predicted, 0.5 true
        figures.add_position(Outcome::Loss, -1.0, 1); // 0 predicted, 0 true
        assert_eq!((figures.states, figures.decided, figures.right_sign), (4, 3, 2));
        assert_eq!(figures.means().mean_error, Some((0.5 + 1.5) / 4.0));
        assert_eq!(figures.means().brier, Some((0.0625 + 0.5625) / 4.0));
        assert_eq!(figures.means().sign_accuracy, Some(2.0 / 3.0));
        // The bin of 0.75 has two positions whose predictions sum to 1.5 and outcomes to 1.
        assert_eq!(figures.means().calibration_error, Some(0.5 / 4.0));
        let mut twice = figures;
        twice.add(&figures);
        assert_eq!(twice.means().brier, figures.means().brier);
        assert_eq!(twice.bins[7].states, 4);
        figures.add_position(Outcome::Win, 1.0, 1);
        assert_eq!(figures.bins[9].states, 1);
    }
}
