//! How what moves give away is distributed.

use serde::{Serialize, Serializer};

/// What the moves of a policy give away of the final score, as a distribution over the judged
/// positions: the move of each has the policy's probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// `expected[d]`: the expected number of positions in which a score of `d` is given away.
    pub expected: Vec<f64>,
}

impl Losses {
    /// A move that gives away so much of the score, made in so many positions, as expected.
    pub(super) fn add(&mut self, lost: usize, expected: f64) {
        if self.expected.len() <= lost {
            self.expected.resize(lost + 1, 0.0);
        }
        self.expected[lost] += expected;
    }

    /// Adds those of other positions.
    pub(super) fn merge(&mut self, other: &Losses) {
        if self.expected.len() < other.expected.len() {
            self.expected.resize(other.expected.len(), 0.0);
        }
        self.expected.iter_mut().zip(&other.expected).for_each(|(sum, part)| *sum += part);
    }

    /// The least loss such that with probability `share` (0 to 1) no more is given away; `None` if
    /// there are no positions.
    pub fn percentile(&self, share: f64) -> Option<usize> {
        let total: f64 = self.expected.iter().sum();
        let mut below = 0.0;
        let reaches = |&expected: &f64| {
            below += expected;
            // A hair less, so that sums that are rounded reach what they should.
            below >= share * total * (1.0 - 1e-12)
        };
        let found = self.expected.iter().position(reaches);
        found.filter(|_| total > 0.0)
    }

    /// The most that is ever given away.
    pub fn worst(&self) -> Option<usize> {
        self.expected.iter().rposition(|&expected| expected > 0.0)
    }
}

/// As it is written to JSON.
#[derive(Serialize)]
struct Written<'a> {
    percentile_95: Option<usize>,
    percentile_99: Option<usize>,
    worst: Option<usize>,
    expected_states: &'a [f64],
}

impl Serialize for Losses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            percentile_95: self.percentile(0.95),
            percentile_99: self.percentile(0.99),
            worst: self.worst(),
            expected_states: &self.expected,
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_the_worst() {
        let mut losses = Losses::default();
        assert_eq!((losses.percentile(0.95), losses.worst()), (None, None));
        for _ in 0..18 {
            losses.add(0, 1.0);
        }
        losses.add(2, 0.75);
        losses.add(4, 0.25);
        losses.add(7, 1.0);
        // Of 20 positions 18 lose nothing; 19 lose at most 4.
        assert_eq!(losses.percentile(0.9), Some(0));
        assert_eq!(losses.percentile(0.95), Some(4));
        assert_eq!(losses.percentile(0.99), Some(7));
        assert_eq!(losses.percentile(1.0), Some(7));
        assert_eq!(losses.worst(), Some(7));
        let mut both = Losses::default();
        both.merge(&losses);
        both.merge(&losses);
        assert_eq!(both.expected, [36.0, 0.0, 1.5, 0.0, 0.5, 0.0, 0.0, 2.0]);
    }
}
