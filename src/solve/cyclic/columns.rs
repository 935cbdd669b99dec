//! The solved columns of a cyclic game's table.
//!
//! Where rows are found among sorted keys: `outcome` and `distance`, and if anything is not proven
//! `lower` and `upper` (bounds of the outcome) and `prospect_lower` and `prospect_upper` (the same
//! with their distances, see [`Prospect`]). Where rows are found by rank: `distance` alone, in a byte.

use rayon::prelude::*;

use super::{Interval, Prospect};
use crate::game::{Outcome, Repetition};
use crate::solve::ranked::{ENDLESS, outcome_of};
use crate::solve::{UNKNOWN_DISTANCE, UNKNOWN_SCORE};
use crate::table::{
    Array, Column, Element, Manifest, RootValue, Solution, SweepRecord, Table, TableError,
};

/// Every column that a solution of a cyclic game may have.
const COLUMNS: [&str; 6] =
    ["outcome", "distance", "lower", "upper", "prospect_lower", "prospect_upper"];

/// The road that was taken to the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Road {
    /// Backwards from the ends.
    #[default]
    Retrograde,
    /// Sweeps over all undecided states.
    ValueIteration,
}

impl Road {
    /// `retrograde` or `value-iteration`.
    pub fn name(self) -> &'static str {
        match self {
            Road::Retrograde => "retrograde",
            Road::ValueIteration => "value-iteration",
        }
    }
}

/// How a cyclic table is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CyclicMethod {
    /// By which road; both lead to the same values.
    pub road: Road,
    /// What play without end counts as.
    pub repetition: Repetition,
}

impl CyclicMethod {
    /// The sweeps of a solution that the table has already, computed in this way.
    pub(super) fn already_there(self, table: &Table) -> Option<Vec<SweepRecord>> {
        let solution = table.manifest().solution.as_ref()?;
        let same = solution.method.as_deref() == Some(self.road.name())
            && solution.repetition.as_deref() == Some(self.repetition.name());
        same.then(|| solution.sweeps.clone())
    }

    fn solution(self, sweeps: &[SweepRecord], proven: u64, exact: u64) -> Solution {
        Solution {
            empties: None,
            order: None,
            theta: None,
            residual_unit: "plies of distance; 1 for any other change".to_string(),
            sweeps: sweeps.to_vec(),
            proven_outcomes: proven,
            proven_scores: None,
            exact_distances: exact,
            roots: Vec::new(),
            method: Some(self.road.name().to_string()),
            repetition: Some(self.repetition.name().to_string()),
        }
    }
}

fn column<T: Send>(values: &[Interval], of: impl Fn(&Interval) -> T + Sync + Send) -> Vec<T> {
    values.par_iter().with_min_len(1 << 14).map(of).collect()
}

fn outcome_byte(value: Interval) -> i8 {
    value.outcome().map_or(UNKNOWN_SCORE, Outcome::value)
}

fn distance_word(value: Interval) -> u16 {
    value.distance().unwrap_or(UNKNOWN_DISTANCE)
}

fn root_value(value: Interval) -> RootValue {
    RootValue {
        outcome: value.outcome().map(Outcome::value),
        score: None,
        distance: value.distance(),
    }
}

/// Writes the columns of a table of sorted keys.
pub(super) fn install(
    table: &mut Table,
    method: CyclicMethod,
    values: &[Interval],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    let outcome = column(values, |value| outcome_byte(*value));
    let distance = column(values, |value| distance_word(*value));
    let proven = outcome.par_iter().filter(|&&o| o != UNKNOWN_SCORE).count() as u64;
    let exact = distance.par_iter().filter(|&&d| d != UNKNOWN_DISTANCE).count() as u64;
    let mut solution = method.solution(sweeps, proven, exact);
    let roots = &table.manifest().root_ids;
    solution.roots = roots.iter().map(|&row| root_value(values[row as usize])).collect();
    let mut columns = vec![Column::new("outcome", &outcome), Column::new("distance", &distance)];
    let whole = values.par_iter().with_min_len(1 << 14).all(|value| value.lower == value.upper);
    let bounds = (!whole).then(|| {
        (
            column(values, |value| value.lower.outcome().value()),
            column(values, |value| value.upper.outcome().value()),
            column(values, |value| value.lower.rank()),
            column(values, |value| value.upper.rank()),
        )
    });
    if let Some((lower, upper, prospect_lower, prospect_upper)) = &bounds {
        columns.push(Column::new("lower", lower));
        columns.push(Column::new("upper", upper));
        columns.push(Column::new("prospect_lower", prospect_lower));
        columns.push(Column::new("prospect_upper", prospect_upper));
    }
    install_columns(table, &columns, solution)
}

/// Writes the column of a ranked table.
pub(super) fn install_ranked(
    table: &mut Table,
    method: CyclicMethod,
    distance: &[u8],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    let ended = distance.par_iter().with_min_len(1 << 16).filter(|&&d| d != ENDLESS).count() as u64;
    let proven = match method.repetition {
        Repetition::Unknown => ended,
        _ => distance.len() as u64,
    };
    let mut solution = method.solution(sweeps, proven, ended);
    let roots = &table.manifest().root_ids;
    let value = |&row: &u64| root_value(ranked_value(distance[row as usize], method.repetition));
    solution.roots = roots.iter().map(value).collect();
    install_columns(table, &[Column::new("distance", distance)], solution)
}

fn install_columns(
    table: &mut Table,
    columns: &[Column<'_>],
    solution: Solution,
) -> Result<(), TableError> {
    let unsolve = |manifest: &mut Manifest| {
        manifest.solution = None;
        COLUMNS.iter().for_each(|&name| {
            manifest.arrays.remove(name);
        });
    };
    table.install(columns, unsolve, |manifest| manifest.solution = Some(solution))
}

fn ranked_value(distance: u8, repetition: Repetition) -> Interval {
    match (outcome_of(distance), repetition) {
        (Some(outcome), _) => Interval::exactly(Prospect::of_end(outcome, u16::from(distance))),
        (None, Repetition::Unknown) => {
            Interval { lower: Prospect::ENDLESS_LOSS, upper: Prospect::ENDLESS_WIN }
        }
        (None, _) => Interval::exactly(Prospect::DRAW),
    }
}

#[derive(Debug)]
enum Columns {
    /// Everything is proven.
    Whole { outcome: Array<i8>, distance: Array<u16> },
    /// The bounds as [`Prospect::rank`]s.
    Bounded { lower: Array<i16>, upper: Array<i16> },
    /// By rank.
    Ranked { distance: Array<u8> },
}

/// The columns of a solved table of a cyclic game, mapped.
#[derive(Debug)]
pub struct CyclicSolved {
    columns: Columns,
    repetition: Repetition,
}

impl CyclicSolved {
    /// Maps the columns; `None` if the table is not solved.
    pub fn open(table: &Table) -> Result<Option<CyclicSolved>, TableError> {
        CyclicSolved::map(table, false)
    }

    /// The same, comparing the columns' checksums.
    pub fn open_checked(table: &Table) -> Result<Option<CyclicSolved>, TableError> {
        CyclicSolved::map(table, true)
    }

    fn map(table: &Table, checked: bool) -> Result<Option<CyclicSolved>, TableError> {
        fn open<T: Element>(
            table: &Table,
            name: &str,
            check: bool,
        ) -> Result<Array<T>, TableError> {
            if check { table.checked_array(name) } else { table.array(name) }
        }
        let manifest = table.manifest();
        let Some(solution) = &manifest.solution else { return Ok(None) };
        let damaged = |what: String| TableError::damaged(&table.dir().join("manifest.json"), what);
        let named = solution.repetition.as_deref().unwrap_or_default();
        let repetition = Repetition::of(named)
            .ok_or_else(|| damaged(format!("its solution counts infinite play as '{named}'")))?;
        let has = |name: &str| manifest.arrays.contains_key(name);
        let columns = if manifest.identity.index.as_deref() == Some("rank") {
            Columns::Ranked { distance: open(table, "distance", checked)? }
        } else if has("prospect_lower") {
            Columns::Bounded {
                lower: open(table, "prospect_lower", checked)?,
                upper: open(table, "prospect_upper", checked)?,
            }
        } else {
            Columns::Whole {
                outcome: open(table, "outcome", checked)?,
                distance: open(table, "distance", checked)?,
            }
        };
        let rows = manifest.counts.table.states as usize;
        let fits = match &columns {
            Columns::Whole { outcome, distance } => outcome.len() == rows && distance.len() == rows,
            Columns::Bounded { lower, upper } => lower.len() == rows && upper.len() == rows,
            Columns::Ranked { distance } => distance.len() == rows,
        };
        if !fits {
            return Err(damaged("its columns' lengths do not fit".to_string()));
        }
        Ok(Some(CyclicSolved { columns, repetition }))
    }

    /// What play without end counts as.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// The distances of a ranked table as they are stored.
    pub fn ranked_distances(&self) -> Option<&[u8]> {
        match &self.columns {
            Columns::Ranked { distance } => Some(distance),
            _ => None,
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.columns {
            Columns::Whole { outcome, .. } => outcome.len(),
            Columns::Bounded { lower, .. } => lower.len(),
            Columns::Ranked { distance } => distance.len(),
        }
    }

    /// The value of a row, for its mover.
    #[inline]
    pub fn value(&self, row: usize) -> Interval {
        match &self.columns {
            Columns::Whole { outcome, distance } => {
                let outcome = Outcome::of(outcome[row]);
                Interval::exactly(match (distance[row], outcome) {
                    (UNKNOWN_DISTANCE, Outcome::Win) => Prospect::ENDLESS_WIN,
                    (UNKNOWN_DISTANCE, Outcome::Loss) => Prospect::ENDLESS_LOSS,
                    (plies, outcome) => Prospect::of_end(outcome, plies),
                })
            }
            Columns::Bounded { lower, upper } => Interval {
                lower: Prospect::from_rank(lower[row]),
                upper: Prospect::from_rank(upper[row]),
            },
            Columns::Ranked { distance } => ranked_value(distance[row], self.repetition),
        }
    }
}
