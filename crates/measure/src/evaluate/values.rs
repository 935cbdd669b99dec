//! How good a policy's values are.
//!
//! A value v in [−1, 1] is the outcome that the policy expects for the player to move; as a chance
//! of winning it is p = (v + 1) / 2, a draw counting half. The truth is the proven outcome, or as a
//! chance 1, ½ or 0.

use serde::Serialize;

use super::figures::mean;
use yomikiri::game::{Outcome, Score};

/// Into how many classes of equal width chances are sorted for the reliability diagram.
pub const BINS: usize = 10;

/// Sums over positions, as [`Figures`](super::Figures); [`means`](Self::means) gives the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "Means")]
#[cfg_attr(feature = "schemas", schemars(with = "Means"))]
pub struct ValueFigures {
    /// How many positions.
    pub states: u64,
    /// Those of them that are not drawn.
    pub decided: u64,
    /// Absolute differences of value and outcome.
    pub error: f64,
    /// Their squares.
    pub squared: f64,
    /// Decided positions in which the value has the outcome's sign.
    pub right_sign: u64,
    /// Positions by chance.
    pub bins: [Bin; BINS],
}

/// The positions whose chance, as the policy sees it, is in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// How many.
    pub states: u64,
    /// Sum of the chances that the policy sees.
    pub predicted: f64,
    /// Sum of the true ones.
    pub actual: f64,
}

impl ValueFigures {
    /// So many positions whose outcome is known, and what the policy expects in them.
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

    /// Adds those of other positions.
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

    /// The means; `None` where there are no positions.
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

/// How good the final scores are that a policy expects: sums over positions, as
/// [`Figures`](super::Figures); [`means`](Self::means) gives the means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "FinalScoreMeans")]
pub struct FinalScoreFigures {
    /// How many positions.
    pub states: u64,
    /// Expected less exact scores.
    pub signed: f64,
    /// Their absolute values.
    pub error: f64,
    /// Their squares.
    pub squared: f64,
}

impl FinalScoreFigures {
    /// So many positions whose exact score is known, and what the policy expects in them.
    pub(super) fn add_position(&mut self, exact: Score, expected: f64, weight: u32) {
        let off = expected - f64::from(exact.0);
        self.states += u64::from(weight);
        let weight = f64::from(weight);
        self.signed += weight * off;
        self.error += weight * off.abs();
        self.squared += weight * off * off;
    }

    /// Adds those of other positions.
    pub(super) fn add(&mut self, other: &FinalScoreFigures) {
        self.states += other.states;
        self.signed += other.signed;
        self.error += other.error;
        self.squared += other.squared;
    }

    /// The means; `None` where there are no positions.
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
    /// How many positions.
    pub states: u64,
    /// Value less outcome.
    pub mean_error: Option<f64>,
    /// Signed.
    pub mean_signed_error: Option<f64>,
    /// The same, squared.
    pub root_mean_square_error: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Means {
    /// How many positions.
    pub states: u64,
    /// Those that are not drawn.
    pub decided_states: u64,
    /// Value less outcome.
    pub mean_error: Option<f64>,
    /// The same, squared.
    pub root_mean_square_error: Option<f64>,
    /// Of the decided with the right sign, 0 to 1.
    pub sign_accuracy: Option<f64>,
    /// Mean square of chance less truth.
    pub brier: Option<f64>,
    /// Mean distance of chance and truth over classes.
    pub calibration_error: Option<f64>,
    /// Classes of chance.
    pub reliability: Vec<BinMeans>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BinMeans {
    /// Least predicted value of the bin.
    pub from: f64,
    /// Greatest predicted value of the bin.
    pub to: f64,
    /// How many positions.
    pub states: u64,
    /// Their mean chance.
    pub predicted: Option<f64>,
    /// Their mean result.
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
        figures.add_position(Outcome::Win, 0.5, 1); // chance 0.75 of 1
        figures.add_position(Outcome::Loss, 0.5, 1); // chance 0.75 of 0
        figures.add_position(Outcome::Draw, 0.0, 1); // chance 0.5 of 0.5
        figures.add_position(Outcome::Loss, -1.0, 1); // chance 0 of 0
        assert_eq!((figures.states, figures.decided, figures.right_sign), (4, 3, 2));
        assert_eq!(figures.means().mean_error, Some((0.5 + 1.5) / 4.0));
        assert_eq!(figures.means().brier, Some((0.0625 + 0.5625) / 4.0));
        assert_eq!(figures.means().sign_accuracy, Some(2.0 / 3.0));
        // The class of 0.75 has two positions that say 1.5 in sum and truly have 1.
        assert_eq!(figures.means().calibration_error, Some(0.5 / 4.0));
        let mut twice = figures;
        twice.add(&figures);
        assert_eq!(twice.means().brier, figures.means().brier);
        assert_eq!(twice.bins[7].states, 4);
        figures.add_position(Outcome::Win, 1.0, 1);
        assert_eq!(figures.bins[9].states, 1);
    }
}
