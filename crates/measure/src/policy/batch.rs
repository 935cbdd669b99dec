//! Positions put to a policy together, and what it says of them.

use std::ops::Range;

use yomikiri::game::{Action, Position};
use yomikiri::hint::Hinted;

/// Positions in which a policy chooses a move, each with its legal actions.
#[derive(Clone, Debug)]
pub struct Batch<S> {
    positions: Vec<Position<S>>,
    /// Where the actions of each position begin, and at last where they end.
    offsets: Vec<usize>,
    actions: Vec<Action>,
}

impl<S> Default for Batch<S> {
    fn default() -> Batch<S> {
        Batch { positions: Vec::new(), offsets: vec![0], actions: Vec::new() }
    }
}

impl<S> Batch<S> {
    /// Adds a position that is not over, with its legal actions in ascending order.
    pub fn push(&mut self, position: Position<S>, actions: impl IntoIterator<Item = Action>) {
        self.positions.push(position);
        self.actions.extend(actions);
        self.offsets.push(self.actions.len());
    }

    /// The same batch with every position in another form.
    pub fn map<T>(&self, position: impl Fn(&Position<S>) -> Position<T>) -> Batch<T> {
        Batch {
            positions: self.positions.iter().map(position).collect(),
            offsets: self.offsets.clone(),
            actions: self.actions.clone(),
        }
    }

    /// A batch of the positions at some places.
    pub fn of(&self, places: &[usize]) -> Batch<S>
    where
        S: Copy,
    {
        let mut batch = Batch::default();
        for &at in places {
            batch.push(self.positions[at], self.actions[self.range(at)].iter().copied());
        }
        batch
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The positions.
    pub fn positions(&self) -> &[Position<S>] {
        &self.positions
    }

    /// The actions of all positions, one position after the other.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Which of the actions are those of the position at a place.
    pub fn range(&self, at: usize) -> Range<usize> {
        self.offsets[at]..self.offsets[at + 1]
    }

    /// Takes all positions out and keeps the room.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.actions.clear();
        self.offsets.truncate(1);
    }
}

/// What a policy says of a [`Batch`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// One an action of the batch, in its order: with which probability the policy chooses it.
    /// Those of a position sum to 1.
    pub probabilities: Vec<f64>,
    /// One an action: how good the policy finds it, on any scale, the higher the better (a logit, a
    /// Q value). Empty if it gives none; its probabilities then stand for them.
    pub scores: Vec<f64>,
    /// One a position: the outcome that the policy expects for the player to move, −1 a loss to 1 a
    /// win. Empty if it gives none.
    pub values: Vec<f64>,
    /// One a position: the final score that the policy expects for the player to move. Empty if it
    /// gives none.
    pub final_scores: Vec<f64>,
}

/// What a policy says of one position of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// One an action.
    pub probabilities: &'a [f64],
    /// One an action; the probabilities if the policy gives no scores.
    pub scores: &'a [f64],
    /// The outcome it expects, if it says.
    pub value: Option<f64>,
    /// The final score it expects, if it says.
    pub final_score: Option<f64>,
}

/// How far a sum of probabilities may be from 1.
const SLACK: f64 = 1e-6;

impl Answers {
    /// Clears everything and keeps the allocations.
    pub fn clear(&mut self) {
        self.probabilities.clear();
        self.scores.clear();
        self.values.clear();
        self.final_scores.clear();
    }

    /// Makes room for the answer to a batch.
    pub fn reserve<S>(&mut self, batch: &Batch<S>) {
        self.probabilities.reserve(batch.actions().len());
        self.scores.reserve(batch.actions().len());
        self.values.reserve(batch.len());
    }

    /// What is said of the position at a place, whose actions are those of `range`.
    pub fn at(&self, at: usize, range: Range<usize>) -> Answer<'_> {
        let probabilities = &self.probabilities[range.clone()];
        let scores = if self.scores.is_empty() { probabilities } else { &self.scores[range] };
        let [value, final_score] =
            [&self.values, &self.final_scores].map(|list| list.get(at).copied());
        Answer { probabilities, scores, value, final_score }
    }

    /// That there is an answer for everything in the batch and that it makes sense.
    pub fn check<S>(&self, batch: &Batch<S>) -> Result<(), Hinted> {
        let (actions, positions) = (batch.actions().len(), batch.len());
        let wrong = |what: &str| Err(Hinted::from(what));
        if self.probabilities.len() != actions {
            return wrong("it does not give one probability for each legal move");
        }
        if !self.scores.is_empty() && self.scores.len() != actions {
            return wrong("it does not give one score for each legal move");
        }
        if !self.values.is_empty() && self.values.len() != positions {
            return wrong("it does not give one value for each position");
        }
        if !self.final_scores.is_empty() && self.final_scores.len() != positions {
            return wrong("it does not give one final score for each position");
        }
        if self.final_scores.iter().any(|score| !score.is_finite()) {
            return wrong("one of the final scores that it expects is not a number");
        }
        if self.scores.iter().any(|score| score.is_nan()) {
            return wrong("one of its scores is not a number");
        }
        if self.values.iter().any(|value| !(-1.0..=1.0).contains(value)) {
            return wrong("one of its values is not from -1 (a loss) to 1 (a win)");
        }
        for at in 0..positions {
            let probabilities = &self.probabilities[batch.range(at)];
            let sum: f64 = probabilities.iter().sum();
            // Written so that a sum that is not a number fails.
            let fits = (sum - 1.0).abs() <= SLACK && probabilities.iter().all(|&p| p >= 0.0);
            if !fits {
                return wrong("the probabilities of one of its positions do not sum to 1");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::game::Side;

    #[test]
    fn answers_must_fit_the_batch() {
        let mut batch = Batch::default();
        batch.push(Position { state: 0u8, side: Side::First }, [Action(1), Action(4)]);
        batch.push(Position { state: 1u8, side: Side::Second }, [Action(2)]);
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
