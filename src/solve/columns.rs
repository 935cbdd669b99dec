//! The solved columns of a table: written after solving, read by everything that follows.
//!
//! | columns | of tables |
//! |---|---|
//! | `outcome`, `score`, `distance` | whose games have scores, everything proven |
//! | and `lower`, `upper`, `score_lower`, `score_upper` | whose games have scores, with frontier |
//! | `outcome`, `distance` | without scores, everything proven |
//! | and `lower`, `upper` | without scores, layered, with a frontier |
//! | and `lower`, `upper`, `prospect_lower`, `prospect_upper` | without scores, with cycles |
//! | `distance` of a byte | found by rank: its parity tells the outcome |
//! | `packed_score` or `packed_outcome`, `packed_distance` | packed, everything proven; distances may be left out |

use std::ops::Range;
use std::sync::Mutex;

use bytemuck::Zeroable;

use super::method::{CyclicMethod, Method};
use super::ranked::{ENDLESS, outcome_of};
use super::sweep::SweepError;
use super::value::{Prospect, Value};
use crate::game::{Empties, Outcome, Repetition, Score};
use crate::parallel::{self, GRAIN, lock};
use crate::table::{
    Array, Column, Discounted, Manifest, PackedColumn, RootValue, Solution, SweepRecord, Table,
    TableError,
};

/// What `outcome` and `score` hold where the value is not proven.
pub const UNKNOWN_SCORE: i8 = i8::MIN;
/// What `distance` holds where it is not known to be exact, and for play without end.
pub const UNKNOWN_DISTANCE: u16 = u16::MAX;

/// Every column that a solution may have.
const COLUMNS: [&str; 9] = [
    "outcome",
    "score",
    "distance",
    "lower",
    "upper",
    "score_lower",
    "score_upper",
    "prospect_lower",
    "prospect_upper",
];

/// Makes a column of the values of all rows, of which `values` gives those of some.
fn column<T: Zeroable + Send>(
    rows: usize,
    values: &SomeValues<'_>,
    of: impl Fn(&Value) -> T + Sync,
) -> Vec<T> {
    let mut column = bytemuck::zeroed_vec(rows);
    parallel::map_mut(&mut column, GRAIN, &|first, out| {
        let values = values(first..first + out.len());
        out.iter_mut().zip(&values).for_each(|(out, value)| *out = of(value));
    });
    column
}

/// What is known of values for certain, a column each.
struct Exact {
    outcome: Vec<i8>,
    distance: Vec<u16>,
    /// Empty where there are none.
    score: Vec<i8>,
    /// How many outcomes, distances and scores are known.
    proven: [u64; 3],
    /// The longest distance.
    longest: u16,
}

impl Exact {
    /// Fills all columns from each value while it is at hand.
    fn of(rows: usize, values: &SomeValues<'_>, scored: bool) -> Exact {
        let mut outcome: Vec<i8> = bytemuck::zeroed_vec(rows);
        let mut distance: Vec<u16> = bytemuck::zeroed_vec(rows);
        let mut score: Vec<i8> = bytemuck::zeroed_vec(if scored { rows } else { 0 });
        let own = outcome.chunks_mut(GRAIN).zip(distance.chunks_mut(GRAIN));
        let mut scores = score.chunks_mut(GRAIN);
        let pieces: Vec<_> =
            own.map(|own| Mutex::new((own, scores.next().unwrap_or_default()))).collect();
        let found = parallel::map(pieces.len(), &|piece| {
            let ((outcome, distance), score) = &mut *lock(&pieces[piece]);
            let (first, mut proven, mut longest) = (piece * GRAIN, [0; 3], 0);
            for (place, value) in values(first..first + outcome.len()).iter().enumerate() {
                let (won, plies) = (value.outcome(), value.distance());
                outcome[place] = won.map_or(UNKNOWN_SCORE, Outcome::value);
                distance[place] = plies.unwrap_or(UNKNOWN_DISTANCE);
                longest = longest.max(plies.unwrap_or(0));
                proven[0] += u64::from(won.is_some());
                proven[1] += u64::from(plies.is_some());
                if let Some(score) = score.get_mut(place) {
                    let found = value.score();
                    *score = found.map_or(UNKNOWN_SCORE, |score| score.0);
                    proven[2] += u64::from(found.is_some());
                }
            }
            (proven, longest)
        });
        drop(pieces);
        let (mut proven, mut longest) = ([0; 3], 0);
        for (some, plies) in found {
            proven.iter_mut().zip(some).for_each(|(all, some): (&mut u64, u64)| *all += some);
            longest = longest.max(plies);
        }
        Exact { outcome, distance, score, proven, longest }
    }
}

/// The values of some rows.
type SomeValues<'a> = dyn Fn(Range<usize>) -> Vec<Value> + Sync + 'a;

/// Writes values, with bounds if anything is not proven, in the form of layered games or of others
/// (`by_prospect`).
fn install_values(
    table: &mut Table,
    mut solution: Solution,
    rows: usize,
    values: &SomeValues<'_>,
    [scored, has_bounds, by_prospect]: [bool; 3],
) -> Result<(), SweepError> {
    let Exact { outcome, distance, score, proven, longest } = Exact::of(rows, values, scored);
    if longest >= Prospect::MAX_DISTANCE {
        return Err(SweepError::TooLong);
    }
    [solution.proven_outcomes, solution.exact_distances, _] = proven;
    solution.proven_scores = scored.then_some(proven[2]);
    let score = scored.then_some(score);
    let known = |value: i8| Some(value).filter(|&v| v != UNKNOWN_SCORE);
    let root = |&row: &u64| RootValue {
        outcome: known(outcome[row as usize]),
        score: score.as_ref().and_then(|score| known(score[row as usize])),
        distance: Some(distance[row as usize]).filter(|&d| d != UNKNOWN_DISTANCE),
    };
    solution.roots = table.manifest().root_ids.iter().map(root).collect();

    let mut columns = vec![Column::new("outcome", &outcome), Column::new("distance", &distance)];
    columns.extend(score.as_ref().map(|score| Column::new("score", score)));
    let bounds = has_bounds.then(|| {
        let lower = column(rows, values, |value| value.lower.outcome().value());
        (lower, column(rows, values, |value| value.upper.outcome().value()))
    });
    let scores = (has_bounds && scored).then(|| {
        let lower = column(rows, values, |value| value.lower.score().0);
        (lower, column(rows, values, |value| value.upper.score().0))
    });
    let prospects = (has_bounds && by_prospect).then(|| {
        let lower = column(rows, values, |value| value.lower.to_stored());
        (lower, column(rows, values, |value| value.upper.to_stored()))
    });
    if let Some((lower, upper)) = &bounds {
        columns.extend([Column::new("lower", lower), Column::new("upper", upper)]);
    }
    if let Some((lower, upper)) = &scores {
        columns.extend([Column::new("score_lower", lower), Column::new("score_upper", upper)]);
    }
    if let Some((lower, upper)) = &prospects {
        columns.push(Column::new("prospect_lower", lower));
        columns.push(Column::new("prospect_upper", upper));
    }
    Ok(install(table, &columns, solution)?)
}

fn install(
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

/// Writes the exact values of a layered game's table, given with draws turned round.
pub(super) fn install_exact(
    table: &mut Table,
    method: &Method,
    prospects: &[Prospect],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let form = [method.has_scores, false, false];
    let exact = |rows: Range<usize>| -> Vec<Value> {
        prospects[rows].iter().map(|turned| Value::exactly(turned.with_draws_turned())).collect()
    };
    install_values(table, method.solution(sweeps), prospects.len(), &exact, form)
}

/// Writes the bounds of a layered game's table that has a frontier.
pub(super) fn install_bounds(
    table: &mut Table,
    method: &Method,
    values: &[Value],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let form = [method.has_scores, true, false];
    install_values(
        table,
        method.solution(sweeps),
        values.len(),
        &|rows| values[rows].to_vec(),
        form,
    )
}

/// Writes the values of a game with cycles, of a table of sorted keys.
pub(super) fn install_prospects(
    table: &mut Table,
    method: CyclicMethod,
    values: &[Value],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let is_open = |row: usize| Some(values[row]).filter(|value| value.lower != value.upper);
    let whole = parallel::find_map(values.len(), is_open).is_none();
    install_values(
        table,
        method.solution(sweeps),
        values.len(),
        &|rows| values[rows].to_vec(),
        [false, !whole, true],
    )
}

/// Writes the column of a table by rank.
pub(super) fn install_ranked(
    table: &mut Table,
    method: CyclicMethod,
    distance: &[u8],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let ended = parallel::count(distance.len(), |row| distance[row] != ENDLESS);
    let proven = match method.repetition {
        Repetition::Unknown => ended,
        _ => distance.len() as u64,
    };
    let root = |&row: &u64| {
        let value = ranked_value(distance[row as usize], method.repetition);
        let outcome = value.outcome().map(Outcome::value);
        RootValue { outcome, score: None, distance: value.distance() }
    };
    let solution = Solution {
        proven_outcomes: proven,
        exact_distances: ended,
        roots: table.manifest().root_ids.iter().map(root).collect(),
        ..method.solution(sweeps)
    };
    Ok(install(table, &[Column::new("distance", distance)], solution)?)
}

/// Writes the discounted values of a layered game's table.
pub(super) fn install_discounted(
    table: &mut Table,
    method: &Method,
    values: &[f32],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    let roots = table.manifest().root_ids.iter().map(|&id| values[id as usize]).collect();
    let discounted = Discounted {
        discount: method.discount.unwrap_or(1.0),
        empties: method.empties_name().map(str::to_string),
        order: method.order.name().to_string(),
        theta: method.theta,
        sweeps: sweeps.to_vec(),
        roots,
    };
    table.install(
        &[Column::new("value", values)],
        |manifest| {
            manifest.discounted = None;
            manifest.arrays.remove("value");
        },
        |manifest| manifest.discounted = Some(discounted),
    )
}

fn ranked_value(distance: u8, repetition: Repetition) -> Value {
    match (outcome_of(distance), repetition) {
        (Some(outcome), _) => Value::exactly(Prospect::of_end(outcome, u16::from(distance))),
        (None, Repetition::Unknown) => {
            Value { lower: Prospect::ENDLESS_LOSS, upper: Prospect::ENDLESS_WIN }
        }
        (None, _) => Value::exactly(Prospect::DRAW),
    }
}

#[derive(Debug)]
enum Columns {
    /// Outcome or score, and distance, of which all are proven.
    Exact(Array<i8>, Array<u16>),
    /// Bounds of outcome or score, and distance.
    Bounds(Array<i8>, Array<i8>, Array<u16>),
    /// Bounds as stored [`Prospect`]s.
    Prospects(Array<i16>, Array<i16>),
    /// Distances of a table by rank.
    Ranked(Array<u8>),
    /// Outcome or score, and distance if it is kept, of which all are proven, packed.
    Packed(PackedColumn<i8>, Option<PackedColumn<u16>>),
    /// Distances of a table by rank, packed.
    PackedRanked(PackedColumn<u8>),
}

impl Columns {
    /// Maps the columns of a packed table.
    fn open_packed(table: &Table, rows: usize, checked: bool) -> Result<Columns, TableError> {
        let manifest = table.manifest();
        let has = |name: &str| manifest.arrays.contains_key(name);
        let distance = "packed_distance";
        if manifest.identity.is_by_rank() {
            return Ok(Columns::PackedRanked(PackedColumn::open(table, distance, rows, checked)?));
        }
        let values = if has("packed_score") { "packed_score" } else { "packed_outcome" };
        let open = || PackedColumn::open(table, distance, rows, checked);
        let distances = has(distance).then(open).transpose()?;
        Ok(Columns::Packed(PackedColumn::open(table, values, rows, checked)?, distances))
    }
}

/// The values of a solved table, mapped.
#[derive(Debug)]
pub struct Values {
    columns: Columns,
    has_scores: bool,
    empties: Empties,
    repetition: Repetition,
}

impl Values {
    /// Maps the columns, comparing checksums if `checked`; `None` if the table is not solved.
    pub fn open(table: &Table, checked: bool) -> Result<Option<Values>, TableError> {
        let manifest = table.manifest();
        let Some(solution) = &manifest.solution else { return Ok(None) };
        let damaged = |what: String| TableError::damaged(&table.dir().join("manifest.json"), what);
        let has = |name: &str| manifest.arrays.contains_key(name);
        let has_scores = has("score") || has("packed_score");
        // Games without scores have no empty squares to count, and layered ones no play without
        // end.
        let named = solution.empties.as_deref().unwrap_or_default();
        let empties = match Empties::named(named) {
            None if has_scores || !named.is_empty() => {
                return Err(damaged(format!("its solution counts empties '{named}'")));
            }
            empties => empties.unwrap_or_default(),
        };
        let named = solution.repetition.as_deref().unwrap_or_default();
        let repetition = match Repetition::of(named) {
            None if solution.method.is_some() || !named.is_empty() => {
                return Err(damaged(format!("its solution counts infinite play as '{named}'")));
            }
            repetition => repetition.unwrap_or(Repetition::Draw),
        };
        let i8s = |name: &str| table.array_checked::<i8>(name, checked);
        let distances = || table.array_checked::<u16>("distance", checked);
        let states = manifest.counts.table.states as usize;
        let columns = if manifest.is_packed() {
            Columns::open_packed(table, states, checked)?
        } else if has("prospect_lower") {
            let prospects = |name: &str| table.array_checked::<i16>(name, checked);
            Columns::Prospects(prospects("prospect_lower")?, prospects("prospect_upper")?)
        } else if has("score_lower") {
            Columns::Bounds(i8s("score_lower")?, i8s("score_upper")?, distances()?)
        } else if has("lower") {
            Columns::Bounds(i8s("lower")?, i8s("upper")?, distances()?)
        } else if has_scores {
            Columns::Exact(i8s("score")?, distances()?)
        } else if has("outcome") {
            Columns::Exact(i8s("outcome")?, distances()?)
        } else {
            Columns::Ranked(table.array_checked("distance", checked)?)
        };
        let lengths = match &columns {
            Columns::Exact(a, b) => [a.len(), b.len(), b.len()],
            Columns::Bounds(a, b, c) => [a.len(), b.len(), c.len()],
            Columns::Prospects(a, b) => [a.len(), b.len(), b.len()],
            Columns::Ranked(a) => [a.len(); 3],
            Columns::Packed(..) | Columns::PackedRanked(_) => [states; 3],
        };
        if lengths != [states; 3] {
            return Err(damaged("its columns' lengths do not fit".to_string()));
        }
        Ok(Some(Values { columns, has_scores, empties, repetition }))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.columns {
            Columns::Exact(column, _) | Columns::Bounds(column, ..) => column.len(),
            Columns::Prospects(column, _) => column.len(),
            Columns::Ranked(column) => column.len(),
            Columns::Packed(column, _) => column.rows(),
            Columns::PackedRanked(column) => column.rows(),
        }
    }

    /// Whether distances are left out, although all are finite.
    pub(super) fn leaves_distances_out(&self) -> bool {
        matches!(self.columns, Columns::Packed(_, None))
    }

    /// Whether values have a score.
    pub fn has_scores(&self) -> bool {
        self.has_scores
    }

    /// What squares left empty at the end count for in the scores.
    pub fn empties(&self) -> Empties {
        self.empties
    }

    /// What play without end counts as.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// The value of a row, for its mover.
    ///
    /// # Panics
    ///
    /// As [`whole`](crate::table::whole) does where a packed table is damaged.
    #[inline]
    pub fn get(&self, row: usize) -> Value {
        let known = |distance: u16| Some(distance).filter(|&plies| plies != UNKNOWN_DISTANCE);
        match &self.columns {
            Columns::Exact(score, distance) => {
                Value::exactly(Prospect::new(Score(score[row]), known(distance[row])))
            }
            Columns::Bounds(lower, upper, distance) => {
                Value::of_scores(Score(lower[row]), Score(upper[row]), known(distance[row]))
            }
            Columns::Prospects(lower, upper) => Value {
                lower: Prospect::of_stored(lower[row]),
                upper: Prospect::of_stored(upper[row]),
            },
            Columns::Ranked(distance) => ranked_value(distance[row], self.repetition),
            Columns::Packed(score, None) => {
                let score = Score(score.get(row));
                Value::of_scores(score, score, None)
            }
            Columns::Packed(score, Some(distance)) => {
                let score = Score(score.get(row));
                Value::exactly(Prospect::new(score, known(distance.get(row))))
            }
            Columns::PackedRanked(distance) => ranked_value(distance.get(row), self.repetition),
        }
    }
}
