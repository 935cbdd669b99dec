//! Values of a table as the proof reads them, and their expected values.

use std::fmt;

use super::ExpectedRow;
use crate::graph::StateKind;
use crate::rules::{Repetition, Rules};
use crate::solve::RowOrder;
use crate::solve::columns::Values;
use crate::solve::value::{Prospect, Value};
use crate::table::{Array, Table, TableError};

/// Result for the mover, written independently of [`Prospect`]; later in order is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProofResult {
    /// Score; ±1 or 0 in games without scores.
    pub score: i16,
    /// Plies to the end if the mover is behind, otherwise minus them.
    delay: i32,
}

/// Plies of infinite play.
const NEVER: i32 = i32::MAX;

impl ProofResult {
    pub(super) const fn new(score: i16, plies: Option<u16>) -> ProofResult {
        let plies = match plies {
            Some(plies) => plies as i32,
            None => NEVER,
        };
        ProofResult { score, delay: if score < 0 { plies } else { -plies } }
    }

    fn of(prospect: Prospect) -> ProofResult {
        ProofResult::new(score_of(prospect), prospect.distance())
    }

    /// Returns the plies to the end, if there is one.
    fn plies(self) -> Option<u16> {
        u16::try_from(self.delay.abs()).ok()
    }

    /// Returns the result for the player who moves to this one, a ply earlier.
    fn a_ply_before(self) -> ProofResult {
        ProofResult::new(-self.score, self.plies().map(|plies| plies + 1))
    }
}

impl fmt::Display for ProofResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score {
            -1 => write!(f, "a loss")?,
            0 => write!(f, "a draw")?,
            1 => write!(f, "a win")?,
            score => write!(f, "{score:+}")?,
        }
        match self.plies() {
            Some(plies) => write!(f, " in {plies}"),
            None => write!(f, " by infinite play"),
        }
    }
}

/// Value columns of a table, and its convention for infinite play.
pub(super) struct ProofColumns {
    pub values: Values,
    layered: bool,
    /// Largest score, if bounds are of scores and not of distances: in a layered game that is cut off or
    /// whose distances are left out.
    by_score: Option<i16>,
}

impl ProofColumns {
    pub(super) fn open(
        game: &dyn Rules,
        table: &Table,
    ) -> Result<Option<ProofColumns>, TableError> {
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
        let max_score = game.max_score().map_or(1, |most| most.0.into());
        let bounded = !manifest.complete || values.leaves_distances_out();
        let by_score = (layered && bounded).then_some(max_score);
        Ok(Some(ProofColumns { values, layered, by_score }))
    }

    /// Returns the value of infinite play, as lower and upper bound.
    fn without_end(&self, second: bool) -> (ProofResult, ProofResult) {
        const WIN: ProofResult = ProofResult::new(1, None);
        const LOSS: ProofResult = ProofResult::new(-1, None);
        match (self.values.repetition(), second) {
            (Repetition::Draw, _) => (ProofResult::new(0, None), ProofResult::new(0, None)),
            (Repetition::SecondPlayerWins, true) => (WIN, WIN),
            (Repetition::SecondPlayerWins, false) => (LOSS, LOSS),
            (Repetition::Unknown, _) => (LOSS, WIN),
        }
    }

    /// Proves and returns the value of a row whose moves are in the table.
    pub(super) fn prove(&self, row: usize, made: &ExpectedRow) -> Result<Value, String> {
        let value = self.values.get(row);
        let successors = made.moves.iter().map(|&(_, target)| self.values.get(target));
        match self.by_score {
            Some(max_score) => {
                let found = (score_of(value.lower), score_of(value.upper), value.distance());
                let mut expected = match (made.end, made.kind) {
                    (Some(end), _) => (end.score, end.score, end.plies()),
                    (None, StateKind::Frontier) => (-max_score, max_score, None),
                    (None, _) => best_scores(successors),
                };
                if self.values.leaves_distances_out() {
                    expected.2 = None;
                }
                if found != expected {
                    let text = |(lower, upper, distance): (i16, i16, Option<u16>)| {
                        let plies = distance.map_or("unknown".to_string(), |d| d.to_string());
                        format!("{lower:+} to {upper:+} at distance {plies}")
                    };
                    let (found, expected) = (text(found), text(expected));
                    return Err(format!("its score is {found}, expected {expected}"));
                }
            }
            None => self.prove_interval(&value, successors, made)?,
        }
        match self.values.is_canonical(row) {
            true => Ok(value),
            false => Err("its columns contain numbers that no value is written as".to_string()),
        }
    }

    fn prove_interval(
        &self,
        value: &Value,
        successors: impl Iterator<Item = Value>,
        made: &ExpectedRow,
    ) -> Result<(), String> {
        let open = made.end.is_none() && made.kind != StateKind::Frontier;
        let expected = match made.end {
            Some(end) => {
                let undecided = !self.layered && self.values.repetition() != Repetition::Draw;
                if end.score == 0 && undecided {
                    return Err("it is a drawn end, with which values can be proven only if infinite play is a draw too".to_string());
                }
                (end, end)
            }
            None if open => {
                let worst = ProofResult::new(i16::MIN, Some(0));
                let (mut lower, mut upper) = (worst, worst);
                for successor in successors {
                    let least = ProofResult::of(successor.upper).a_ply_before();
                    // Most bounds are equal.
                    let most = match successor.lower == successor.upper {
                        true => least,
                        false => ProofResult::of(successor.lower).a_ply_before(),
                    };
                    (lower, upper) = (lower.max(least), upper.max(most));
                }
                (lower, upper)
            }
            // The mover of a frontier state may lose by the second ply or win with the first.
            None => (ProofResult::new(-1, Some(2)), ProofResult::new(1, Some(1))),
        };
        let without_end = self.without_end(made.second);
        for (bound, found, expected, without_end) in [
            ("at least ", ProofResult::of(value.lower), expected.0, without_end.0),
            ("at most ", ProofResult::of(value.upper), expected.1, without_end.1),
        ] {
            let bound = if self.values.has_bounds() { bound } else { "" };
            if found != expected {
                let giver = if open { " by its successors" } else { "" };
                return Err(format!("its value is {bound}{found}, expected {expected}{giver}"));
            }
            if found.plies().is_some_and(|plies| plies >= Prospect::MAX_DISTANCE) {
                return Err(format!(
                    "its value is {bound}{found}, beyond the longest provable distance"
                ));
            }
            if open && !self.layered && found.plies().is_none() && found != without_end {
                return Err(format!(
                    "its value is {bound}{found}, expected {without_end}, by the solution"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the bounds of the score, and the distance if it is known, from the values of the successors.
fn best_scores(successors: impl Iterator<Item = Value> + Clone) -> (i16, i16, Option<u16>) {
    let best = |of: fn(&Value) -> Prospect| successors.clone().map(|s| -score_of(of(&s))).max();
    let (lower, upper) = (best(|s| s.upper).unwrap_or(0), best(|s| s.lower).unwrap_or(0));
    if lower != upper {
        return (lower, upper, None);
    }
    let keeping = successors.filter(|s| -score_of(s.lower) == upper);
    // One unknown distance leaves all unknown.
    let mut plies: Option<(u16, u16)> = None;
    for successor in keeping {
        let Some(own) = successor.score().and(successor.distance()).map(|plies| plies + 1) else {
            return (lower, upper, None);
        };
        let (nearest, furthest) = plies.unwrap_or((own, own));
        plies = Some((nearest.min(own), furthest.max(own)));
    }
    (lower, upper, plies.map(|(nearest, furthest)| if lower < 0 { furthest } else { nearest }))
}

/// Returns the score in more bits than are stored, so that any sign can be reversed.
fn score_of(prospect: Prospect) -> i16 {
    prospect.score().0.into()
}

/// Column of discounted values.
pub(super) struct Discounts {
    value: Array<f32>,
    discount: f32,
    /// Largest difference allowed between a value and what its successors give.
    tolerance: f32,
}

impl Discounts {
    pub(super) fn open(table: &Table) -> Result<Option<Discounts>, TableError> {
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
            Some(end) => f32::from(end.score.signum()),
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
