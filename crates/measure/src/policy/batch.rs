//! Batches of positions, and a policy's answers for them.

use std::ops::Range;

use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition};

/// Positions in which a policy chooses a move, with their legal actions.
#[derive(Clone, Debug)]
pub struct Batch {
    positions: Vec<AnyPosition>,
    /// Start of each position's actions, followed by the number of actions.
    offsets: Vec<usize>,
    actions: Vec<Action>,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { positions: Vec::new(), offsets: vec![0], actions: Vec::new() }
    }
}

impl Batch {
    /// Adds a nonterminal position with its legal actions in ascending order.
    pub fn push(&mut self, position: AnyPosition, actions: impl IntoIterator<Item = Action>) {
        self.positions.push(position);
        self.actions.extend(actions);
        self.offsets.push(self.actions.len());
    }

    /// Replaces every position, keeping the actions.
    pub fn replace(&mut self, position: impl Fn(&AnyPosition) -> AnyPosition) {
        self.positions.iter_mut().for_each(|old| *old = position(old));
    }

    /// Returns a batch of the positions at the given indices.
    pub fn select(&self, places: &[usize]) -> Batch {
        let mut batch = Batch::default();
        for &at in places {
            batch.push(self.positions[at], self.actions[self.range(at)].iter().copied());
        }
        batch
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns `true` if there are no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns the positions.
    pub fn positions(&self) -> &[AnyPosition] {
        &self.positions
    }

    /// Returns the actions of all positions, one position after the other.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns the range of the actions of the position at an index.
    pub fn range(&self, at: usize) -> Range<usize> {
        self.offsets[at]..self.offsets[at + 1]
    }

    /// Removes all positions and keeps the allocations.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.actions.clear();
        self.offsets.truncate(1);
    }
}

/// Answers of a policy for a [`Batch`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Probability of each action of the batch, in its order. The probabilities of a position sum to 1.
    pub probabilities: Vec<f64>,
    /// Score of each action on any scale, the higher the better (a logit, a Q value). Empty if the policy
    /// returns none; the probabilities then serve as scores.
    pub scores: Vec<f64>,
    /// Expected outcome of each position for the player to move, from −1 (loss) to 1 (win). Empty if the
    /// policy returns none.
    pub values: Vec<f64>,
    /// Expected final score of each position for the player to move. Empty if the policy returns none.
    pub final_scores: Vec<f64>,
}

/// Answer of a policy for one position of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// Probability of each action.
    pub probabilities: &'a [f64],
    /// Score of each action; its probability if the policy returns no scores.
    pub scores: &'a [f64],
    /// Expected outcome for the player to move, if the policy returns it.
    pub value: Option<f64>,
    /// Expected final score for the player to move, if the policy returns it.
    pub final_score: Option<f64>,
}

/// Tolerance of sums of probabilities.
const SLACK: f64 = 1e-6;

impl Answers {
    /// Moves the answers to a later part of the batch behind these.
    pub fn append(&mut self, later: Answers) {
        self.probabilities.extend(later.probabilities);
        self.scores.extend(later.scores);
        self.values.extend(later.values);
        self.final_scores.extend(later.final_scores);
    }

    /// Returns the answer for the position at index `at`, whose actions are those of `range`.
    pub fn at(&self, at: usize, range: Range<usize>) -> Answer<'_> {
        let probabilities = &self.probabilities[range.clone()];
        let scores = if self.scores.is_empty() { probabilities } else { &self.scores[range] };
        let [value, final_score] =
            [&self.values, &self.final_scores].map(|list| list.get(at).copied());
        Answer { probabilities, scores, value, final_score }
    }

    /// Checks that the answers have the lengths of the batch, and that all numbers are valid.
    pub fn check(&self, batch: &Batch) -> Result<(), Error> {
        let (actions, positions) = (batch.actions().len(), batch.len());
        let wrong = |what: &str| Err(Error::from(what));
        if self.probabilities.len() != actions {
            return wrong("expected one probability for each legal move");
        }
        if !self.scores.is_empty() && self.scores.len() != actions {
            return wrong("expected one score for each legal move");
        }
        if !self.values.is_empty() && self.values.len() != positions {
            return wrong("expected one value for each position");
        }
        if !self.final_scores.is_empty() && self.final_scores.len() != positions {
            return wrong("expected one final score for each position");
        }
        if self.final_scores.iter().any(|score| !score.is_finite()) {
            return wrong("invalid expected final score: not finite");
        }
        if self.scores.iter().any(|score| score.is_nan()) {
            return wrong("invalid score: NaN");
        }
        if self.values.iter().any(|value| !(-1.0..=1.0).contains(value)) {
            return wrong("invalid value: expected -1 (a loss) to 1 (a win)");
        }
        for at in 0..positions {
            let probabilities = &self.probabilities[batch.range(at)];
            let sum: f64 = probabilities.iter().sum();
            // This form rejects a NaN sum.
            let fits = (sum - 1.0).abs() <= SLACK && probabilities.iter().all(|&p| p >= 0.0);
            if !fits {
                return wrong("invalid probabilities of a position: their sum is not 1");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::four;
    use super::*;

    #[test]
    fn answers_must_fit_the_batch() {
        let (start, mut batch) = (four().start(), Batch::default());
        batch.push(start, [Action(1), Action(4)]);
        batch.push(start, [Action(2)]);
        assert_eq!((batch.len(), batch.range(0), batch.range(1)), (2, 0..2, 2..3));
        let good = Answers {
            probabilities: vec![0.25, 0.75, 1.0],
            values: vec![-1.0, 1.0],
            final_scores: vec![0.5, -3.0],
            ..Answers::default()
        };
        good.check(&batch).unwrap();
        let wrong = [
            Answers { probabilities: vec![0.25, 0.75], ..good.clone() },
            Answers { probabilities: vec![0.25, 0.7, 1.0], ..good.clone() },
            Answers { probabilities: vec![-0.25, 1.25, 1.0], ..good.clone() },
            Answers { probabilities: vec![f64::NAN, 0.75, 1.0], ..good.clone() },
            Answers { scores: vec![0.0], ..good.clone() },
            Answers { scores: vec![0.0, f64::NAN, 0.0], ..good.clone() },
            Answers { values: vec![0.0], ..good.clone() },
            Answers { values: vec![0.0, 1.5], ..good.clone() },
            Answers { final_scores: vec![0.0], ..good.clone() },
            Answers { final_scores: vec![0.0, f64::INFINITY], ..good.clone() },
        ];
        for answers in wrong {
            assert!(answers.check(&batch).is_err(), "{answers:?}");
        }
    }
}
