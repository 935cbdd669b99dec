//! Confidence intervals of figures of a sample.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

/// Number of resamples for a confidence interval.
const RESAMPLES: usize = 1000;

/// A 95 % confidence interval: percentile bootstrap over positions (B. Efron, "Bootstrap Methods: Another
/// Look at the Jackknife", 1979) with 1,000 resamples from a fixed seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Confidence intervals of a policy's means over positions whose moves differ in outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Intervals {
    /// Probability of moves that keep the outcome.
    pub result_kept: Interval,
    /// Loss of score, or of outcome in games without scores.
    pub lost: Interval,
}

impl Interval {
    /// Returns the interval of the mean of `values`; `None` if they are empty.
    pub(super) fn of(values: &[f64]) -> Option<Interval> {
        if values.is_empty() {
            return None;
        }
        let mut random = SplitMix64::seed_from_u64(0);
        let mut mean = || {
            let draw = |_| values[(random.next_u64() % values.len() as u64) as usize];
            (0..values.len()).map(draw).sum::<f64>() / values.len() as f64
        };
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| mean()).collect();
        means.sort_by(f64::total_cmp);
        Some(Interval {
            lower: means[RESAMPLES / 40],
            upper: means[RESAMPLES - 1 - RESAMPLES / 40],
        })
    }
}
