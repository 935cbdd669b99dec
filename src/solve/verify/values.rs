//! Values of a table as the proof reads them, and their expected values.

use super::ExpectedRow;
use crate::error::Error;
use crate::rules::{Outcome, Repetition, Rules, Score};
use crate::solve::RowOrder;
use crate::solve::columns::Values;
use crate::solve::value::{Prospect, Value};
use crate::table::rows::StateKind;
use crate::table::{Array, Table};

/// Value columns of a table, and its convention for infinite play.
pub(super) struct ProofColumns {
    pub values: Values,
    layered: bool,
    /// Largest score, if bounds are of scores and not of distances: in a layered game that is cut off or
    /// whose distances are left out.
    max_score: Option<Score>,
}

impl ProofColumns {
    pub(super) fn open(game: &dyn Rules, table: &Table) -> Result<Option<ProofColumns>, Error> {
        let Some(values) = Values::open(table, false)? else { return Ok(None) };
        let manifest = table.manifest();
        let wrong = |what: &str| Err(table.damaged_manifest(what));
        let layered = game.is_layered();
        let named = manifest.solution.as_ref().and_then(|solution| solution.repetition.as_ref());
        if named.is_some() == layered {
            return wrong("value of infinite play missing from the solution, or unexpected");
        }
        if values.repetition() == Repetition::SecondPlayerWins && !game.keeps_sides() {
            return wrong("invalid value of infinite play for these states");
        }
        let is_bounded = !manifest.complete || values.leaves_distances_out();
        let most = game.max_score().unwrap_or(Score(1));
        let max_score = Some(most).filter(|_| layered && is_bounded);
        Ok(Some(ProofColumns { values, layered, max_score }))
    }

    /// Returns the value of infinite play.
    fn without_end(&self, second: bool) -> Value {
        const WIN: Prospect = Prospect::ENDLESS_WIN;
        const LOSS: Prospect = Prospect::ENDLESS_LOSS;
        match (self.values.repetition(), second) {
            (Repetition::Draw, _) => Value::exactly(Prospect::DRAW),
            (Repetition::SecondPlayerWins, true) => Value::exactly(WIN),
            (Repetition::SecondPlayerWins, false) => Value::exactly(LOSS),
            (Repetition::Unknown, _) => Value { lower: LOSS, upper: WIN },
        }
    }

    /// Proves and returns the value of a row whose moves are in the table.
    pub(super) fn prove(&self, row: usize, made: &ExpectedRow) -> Result<Value, String> {
        let value = self.values.get(row);
        let successors = made.moves.iter().map(|&(_, target)| self.values.get(target));
        match self.max_score {
            Some(most) => self.prove_scores(value, successors, (made, most))?,
            None => self.prove_interval(value, successors, made)?,
        }
        Ok(value)
    }

    fn prove_scores(
        &self,
        value: Value,
        successors: impl Iterator<Item = Value> + Clone,
        (made, most): (&ExpectedRow, Score),
    ) -> Result<(), String> {
        let expected = match (made.end, made.kind) {
            (Some(end), _) if self.values.leaves_distances_out() => {
                Value::of_scores(end.score(), end.score(), None)
            }
            (Some(end), _) => Value::exactly(end),
            (None, StateKind::Frontier) => Value::of_scores(-most, most, None),
            (None, _) => best_scores(successors)?,
        };
        if value == expected {
            return Ok(());
        }
        let text = |Value { lower, upper }: Value| format!("{lower} to {upper}");
        Err(format!("its value is {}, expected {}", text(value), text(expected)))
    }

    fn prove_interval(
        &self,
        value: Value,
        successors: impl Iterator<Item = Value>,
        made: &ExpectedRow,
    ) -> Result<(), String> {
        let is_open = made.end.is_none() && made.kind != StateKind::Frontier;
        let expected = match made.end {
            Some(end) => {
                let undecided = !self.layered && self.values.repetition() != Repetition::Draw;
                if end.outcome() == Outcome::Draw && undecided {
                    return Err("it is a drawn end, with which values can be proven only if infinite play is a draw too".to_string());
                }
                Value::exactly(end)
            }
            None if is_open => {
                let (mut lower, mut upper) = (Prospect::WORST, Prospect::WORST);
                for successor in successors {
                    let Value { lower: least, upper: most } = successor.before();
                    (lower, upper) = (lower.max(least), upper.max(most));
                }
                Value { lower, upper }
            }
            None => Value::CUT_OFF,
        };
        let without_end = self.without_end(made.second);
        for (bound, found, expected, without_end) in [
            ("at least ", value.lower, expected.lower, without_end.lower),
            ("at most ", value.upper, expected.upper, without_end.upper),
        ] {
            let bound = if self.values.has_bounds() { bound } else { "" };
            if found != expected {
                let giver = if is_open { " by its successors" } else { "" };
                return Err(format!("its value is {bound}{found}, expected {expected}{giver}"));
            }
            if found.distance().is_some_and(|plies| plies >= Prospect::MAX_DISTANCE) {
                return Err(format!(
                    "its value is {bound}{found}, beyond the longest provable distance"
                ));
            }
            if is_open && !self.layered && found.distance().is_none() && found != without_end {
                return Err(format!(
                    "its value is {bound}{found}, expected {without_end}, by the solution"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the bounds of the score, and the distance if it is known, from the values of the successors.
fn best_scores(successors: impl Iterator<Item = Value> + Clone) -> Result<Value, String> {
    // In more bits than are stored, so that any sign can be reversed.
    let score = |prospect: Prospect| -i16::from(prospect.score().0);
    let lower = successors.clone().map(|s| score(s.upper)).max().unwrap_or(0);
    let upper = successors.clone().map(|s| score(s.lower)).max().unwrap_or(0);
    // One unknown distance leaves all unknown.
    let mut keeping = successors.filter(|s| score(s.lower) == upper).map(|s| s.distance());
    let first = keeping.next().flatten().filter(|_| lower == upper);
    let distance = first.and_then(|first| {
        keeping.try_fold(first, |best, plies| {
            Some(if lower < 0 { best.max(plies?) } else { best.min(plies?) })
        })
    });
    let [lower, upper] = [lower, upper].map(|score| i8::try_from(score).map(Score));
    let (lower, upper) = lower.ok().zip(upper.ok()).ok_or("a successor has an impossible score")?;
    Ok(Value::of_scores(lower, upper, distance.map(|plies| plies + 1)))
}

/// Column of discounted values.
pub(super) struct Discounts {
    value: Array<f32>,
    discount: f32,
    /// Largest difference allowed between a value and what its successors give.
    tolerance: f32,
}

impl Discounts {
    pub(super) fn open(table: &Table) -> Result<Option<Discounts>, Error> {
        let Some(discounted) = &table.manifest().discounted else { return Ok(None) };
        let value = table.array::<f32>("value")?;
        if value.len() as u64 != table.manifest().counts.table.states {
            return Err(table.damaged_manifest("columns of inconsistent lengths"));
        }
        // One sweep in topological order needs no tolerance, nor does a last sweep that changed nothing.
        let exact = discounted.order == RowOrder::Topological.name()
            || discounted.sweeps.last().is_some_and(|sweep| sweep.changed == 0);
        let tolerance = if exact { 0.0 } else { discounted.theta as f32 };
        Ok(Some(Discounts { value, discount: discounted.discount as f32, tolerance }))
    }

    pub(super) fn prove(&self, row: usize, made: &ExpectedRow) -> Result<(), String> {
        let found = self.value[row];
        let moves = made.moves.iter().map(|&(_, target)| -self.discount * self.value[target]);
        let expected = match made.end {
            Some(end) => f32::from(end.outcome().value()),
            None => moves.fold(f32::NEG_INFINITY, f32::max),
        };
        match (found - expected).abs() <= self.tolerance {
            true => Ok(()),
            false => Err(format!(
                "its discounted value is {found}, expected {expected} by its successors"
            )),
        }
    }
}
