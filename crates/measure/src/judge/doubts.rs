//! Signs that a policy's numbers are read as something they are not, seen over all positions.

use super::positions::Truth;
use crate::policy::Answer;
use yomikiri::rules::Outcome;

/// Fewest positions from which something is concluded.
const FEWEST: u64 = 50;
/// Tolerance of probabilities that follow from numbers of single precision.
const SLACK: f64 = 1e-5;

/// Range and reading of a policy's numbers in some positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Number of positions whose moves have different numbers.
    choices: u64,
    /// `true` if the probabilities of all of them are the softmax of the numbers.
    are_logits: bool,
    least: f64,
    most: f64,
    /// Number of lost positions with a value, and the least of all values.
    lost: u64,
    least_value: f64,
    /// Numbers of positions won or lost whose value has the right sign, and the wrong one.
    right: u64,
    wrong: u64,
}

impl Default for Seen {
    fn default() -> Seen {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        let least_value = f64::INFINITY;
        Seen { choices: 0, are_logits: true, least, most, lost: 0, least_value, right: 0, wrong: 0 }
    }
}

impl Seen {
    /// Adds the answer in a position of this value.
    pub(super) fn add_position(&mut self, answer: &Answer<'_>, own: &Truth) {
        let scores = answer.scores;
        // Policies of other numbers are found out in the first position.
        if self.are_logits && scores.iter().any(|score| *score != scores[0]) {
            self.choices += 1;
            self.are_logits = is_softmax(scores, answer.probabilities);
            for &score in scores.iter().filter(|score| score.is_finite()) {
                (self.least, self.most) = (self.least.min(score), self.most.max(score));
            }
        }
        if let Some(value) = answer.value {
            self.least_value = self.least_value.min(value);
            let outcome = f64::from(own.outcome.value());
            self.lost += u64::from(own.outcome == Outcome::Loss);
            self.right += u64::from(value * outcome > 0.0);
            self.wrong += u64::from(value * outcome < 0.0);
        }
    }

    /// Adds other positions.
    pub(super) fn add(&mut self, other: &Seen) {
        self.choices += other.choices;
        self.are_logits &= other.are_logits;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.lost += other.lost;
        self.least_value = self.least_value.min(other.least_value);
        self.right += other.right;
        self.wrong += other.wrong;
    }

    /// Returns what contradicts the reading, each with the option that mends it.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.choices >= FEWEST && self.are_logits && self.least >= -1.0 && self.most <= 1.0 {
            doubts.push(if self.least >= 0.0 {
                "its numbers lie in 0 to 1 and are read as logits: softmax=no reads them as probabilities, move=best plays the highest"
            } else {
                "its numbers lie in -1 to 1 and are read as logits: move=best plays the highest, as for Q-values"
            });
        }
        if self.lost >= FEWEST && self.right > 0 && self.least_value >= 0.0 {
            doubts.push("its values are never below 0: range=01 reads them as 0 a loss, 1 a win");
        } else if self.right + self.wrong >= FEWEST && 2 * self.wrong > 3 * self.right {
            doubts.push("its values have the wrong sign more often than not: they may be the opponent's, or in the order loss, draw, win");
        }
        doubts.into_iter().map(str::to_string).collect()
    }
}

/// Returns `true` if probabilities are the softmax of scores.
fn is_softmax(scores: &[f64], probabilities: &[f64]) -> bool {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    let both = scores.iter().zip(probabilities);
    most.is_finite()
        && both.into_iter().all(|(score, p)| ((score - most).exp() / sum - p).abs() < SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::rules::Score;
    use yomikiri::solve::Value;

    /// Returns the doubts about a policy that answers alike in so many positions, in turn won and lost.
    fn doubts(
        scores: &[f64],
        reads_logits: bool,
        values: [f64; 2],
        positions: usize,
    ) -> Vec<String> {
        let mass = |score: &f64| if reads_logits { score.exp() } else { score.max(0.0) };
        let sum: f64 = scores.iter().map(mass).sum();
        let probabilities: Vec<f64> = scores.iter().map(|score| mass(score) / sum).collect();
        let mut seen = [Seen::default(); 2];
        for at in 0..positions {
            let score = Score(if at % 2 == 0 { 4 } else { -4 });
            let truth = Truth::of(Value::of_scores(score, score, None), true).unwrap();
            let value = Some(values[at % 2]);
            let answer = Answer { probabilities: &probabilities, scores, value, final_score: None };
            seen[at / 3 % 2].add_position(&answer, &truth);
        }
        let [mut all, other] = seen;
        all.add(&other);
        all.doubts()
    }

    #[test]
    fn numbers_that_contradict_their_reading_are_doubtful() {
        let good = [0.5, -0.5];
        let first =
            |found: Vec<String>| found.join(" ").split(':').next().unwrap_or_default().to_string();
        assert_eq!(
            first(doubts(&[0.1, 0.9, 0.4], true, good, 120)),
            "its numbers lie in 0 to 1 and are read as logits"
        );
        assert_eq!(
            first(doubts(&[-0.1, 0.9, 0.4], true, good, 120)),
            "its numbers lie in -1 to 1 and are read as logits"
        );
        assert_eq!(
            first(doubts(&[2.0, 1.0], true, [0.9, 0.1], 120)),
            "its values are never below 0"
        );
        assert_eq!(
            first(doubts(&[2.0, 1.0], true, [-0.2, 0.3], 120)),
            "its values have the wrong sign more often than not"
        );
        // Logits, probabilities, equal numbers, and too few positions say nothing.
        assert!(doubts(&[2.0, 1.0], true, good, 120).is_empty());
        assert!(doubts(&[0.1, 0.9], false, good, 120).is_empty());
        assert!(doubts(&[0.5, 0.5], true, good, 120).is_empty());
        assert!(doubts(&[0.1, 0.9], true, [0.9, 0.1], 40).is_empty());
        assert!(doubts(&[2.0, 1.0], true, [0.0, 0.0], 120).is_empty());
    }
}
