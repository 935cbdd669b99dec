//! Solved columns of a table. Solving writes them; all queries read them. Each holds one thing:
//!
//! | columns | tables |
//! |---|---|
//! | `score`, `distance` | of games with scores, all values proven |
//! | `outcome`, `distance` | of games without scores, all values proven |
//! | `score_lower`, `score_upper`, `distance` | of games with scores, with a frontier |
//! | `lower`, `upper`, `distance` | of layered games without scores, with a frontier |
//! | `prospect_lower`, `prospect_upper` | of games with cycles, not all values proven |
//! | `distance` of one byte | by rank, of games with cycles: its parity determines the outcome |
//! | `packed_score` or `packed_outcome`, `packed_distance` | packed, all values proven; distance optional |

use std::ops::Range;

use super::SweepError;
use super::options::Method;
use super::ranked::outcome_of;
use super::value::{Prospect, SweepOrder, Value};
use crate::graph::ENDLESS;
use crate::mmap::prefetch;
use crate::parallel::{self, GRAIN};
use crate::rules::{Empties, Outcome, Repetition, Score};
use crate::table::{
    Array, DISCOUNTED_COLUMN, Discounted, Element, Manifest, NewColumn, PackedColumn, RootValue,
    SOLUTION_COLUMNS, Solution, SweepRecord, Table, TableError, Written,
};

/// Entry of `outcome` and `score` where the value is not proven.
pub const UNKNOWN_SCORE: i8 = i8::MIN;
/// Entry of `distance` where it is not known exactly, and for infinite play.
pub const UNKNOWN_DISTANCE: u16 = u16::MAX;

/// Function that returns the values of some rows.
type SomeValues<'a> = dyn Fn(Range<usize>) -> Vec<Value> + Sync + 'a;
/// Function that encodes values as the bytes of a column.
type Encode = fn(&[Value]) -> Vec<u8>;

fn encoded<T: Element>(values: &[Value], of: impl Fn(&Value) -> T) -> Vec<u8> {
    let column: Vec<T> = values.iter().map(of).collect();
    bytemuck::cast_slice(&column).to_vec()
}

/// Form in which values are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Proven values.
    Exact,
    /// Bounds of scores or outcomes, and distances.
    Bounds,
    /// Bounds of prospects.
    Prospects,
    /// Distances of a table by rank.
    Ranked,
}

/// Returns the columns of a form.
fn columns_of(form: Form, scored: bool) -> Vec<(NewColumn, Encode)> {
    let distance: (NewColumn, Encode) = (NewColumn::of::<u16>("distance"), |values| {
        encoded(values, |value| value.distance().unwrap_or(UNKNOWN_DISTANCE))
    });
    // In games without scores these are outcomes.
    let lower: Encode = |values| encoded(values, |value| value.lower.score().0);
    let upper: Encode = |values| encoded(values, |value| value.upper.score().0);
    let i8s = NewColumn::of::<i8>;
    match (form, scored) {
        (Form::Exact, true) => vec![(i8s("score"), lower), distance],
        (Form::Exact, false) => vec![(i8s("outcome"), lower), distance],
        (Form::Bounds, true) => {
            vec![(i8s("score_lower"), lower), (i8s("score_upper"), upper), distance]
        }
        (Form::Bounds, false) => vec![(i8s("lower"), lower), (i8s("upper"), upper), distance],
        (Form::Prospects, _) => vec![
            (NewColumn::of::<i16>("prospect_lower"), |values| {
                encoded(values, |value| value.lower.to_stored())
            }),
            (NewColumn::of::<i16>("prospect_upper"), |values| {
                encoded(values, |value| value.upper.to_stored())
            }),
        ],
        (Form::Ranked, _) => vec![(NewColumn::of::<u8>("distance"), |values| {
            encoded(values, |value| value.distance().map_or(ENDLESS, |plies| plies as u8))
        })],
    }
}

/// Writes values in the columns of their form.
fn install_values(
    table: &mut Table,
    mut solution: Solution,
    rows: usize,
    values: &SomeValues<'_>,
    (form, scored): (Form, bool),
) -> Result<(), SweepError> {
    let (columns, encoders): (Vec<NewColumn>, Vec<Encode>) =
        columns_of(form, scored).into_iter().unzip();
    let count = |values: &[Value], is: fn(&Value) -> bool| {
        values.iter().filter(|&value| is(value)).count() as u64
    };
    let (mut proven, mut longest) = ([0; 3], 0);
    let mut fill = |rows: Range<usize>| {
        let some = parallel::map_ranges(rows.len(), GRAIN, &|some| {
            let values = values(rows.start + some.start..rows.start + some.end);
            let bytes: Vec<Vec<u8>> = encoders.iter().map(|encode| encode(&values)).collect();
            let outcomes = count(&values, |value| value.outcome().is_some());
            let distances = count(&values, |value| value.distance().is_some());
            let scores = count(&values, |value| value.score().is_some());
            let plies = values.iter().filter_map(|value| value.distance()).max();
            (bytes, [outcomes, distances, scores], plies)
        });
        let mut whole = vec![Vec::new(); encoders.len()];
        for (bytes, counts, plies) in some {
            whole.iter_mut().zip(bytes).for_each(|(whole, bytes)| whole.extend(bytes));
            proven.iter_mut().zip(counts).for_each(|(all, some): (&mut u64, u64)| *all += some);
            longest = longest.max(plies.unwrap_or(0));
        }
        match longest >= Prospect::MAX_DISTANCE {
            true => Err(SweepError::TooLong),
            false => Ok(whole),
        }
    };
    let written = table.write_columns(&columns, rows, &mut fill)?;
    [solution.proven_outcomes, solution.exact_distances, _] = proven;
    solution.proven_scores = scored.then_some(proven[2]);
    let root = |&row: &u64| {
        let value = values(row as usize..row as usize + 1)[0];
        RootValue {
            outcome: value.outcome().map(Outcome::value),
            score: value.score().filter(|_| scored).map(|score| score.0),
            distance: value.distance(),
        }
    };
    solution.roots = table.manifest().root_ids.iter().map(root).collect();
    Ok(install(table, written, solution)?)
}

fn install(table: &mut Table, columns: Vec<Written>, solution: Solution) -> Result<(), TableError> {
    let unsolve = |manifest: &mut Manifest| {
        manifest.solution = None;
        SOLUTION_COLUMNS.iter().for_each(|&name| {
            manifest.arrays.remove(name);
        });
    };
    table.install(columns, unsolve, |manifest| manifest.solution = Some(solution))
}

/// Writes the exact values of a layered game's table.
pub(super) fn install_exact<T: SweepOrder>(
    table: &mut Table,
    method: &Method,
    kept: &[T],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let form = (Form::Exact, method.has_scores);
    let exact = |rows: Range<usize>| -> Vec<Value> {
        kept[rows].iter().map(|kept| Value::exactly(kept.prospect())).collect()
    };
    install_values(table, method.record(sweeps), kept.len(), &exact, form)
}

/// Writes bounds of a layered game's table with a frontier, or values of a game with cycles by sorted keys.
pub(super) fn install_intervals(
    table: &mut Table,
    method: &Method,
    values: &[Value],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let is_open = |row: usize| Some(values[row]).filter(|value| value.lower != value.upper);
    let form = match method.layered {
        true => (Form::Bounds, method.has_scores),
        false if parallel::find_map(values.len(), is_open).is_some() => (Form::Prospects, false),
        false => (Form::Exact, false),
    };
    let some = |rows: Range<usize>| values[rows].to_vec();
    install_values(table, method.record(sweeps), values.len(), &some, form)
}

/// Writes the column of a table by rank.
pub(super) fn install_ranked(
    table: &mut Table,
    method: &Method,
    distance: &[u8],
    sweeps: &[SweepRecord],
) -> Result<(), SweepError> {
    let some = |rows: Range<usize>| -> Vec<Value> {
        let own = distance[rows].iter();
        own.map(|&distance| ranked_value(distance, method.repetition)).collect()
    };
    let form = (Form::Ranked, false);
    install_values(table, method.record(sweeps), distance.len(), &some, form)
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
        empties: method.has_scores.then(|| method.empties.name().to_string()),
        order: method.order.name().to_string(),
        theta: method.theta,
        sweeps: sweeps.to_vec(),
        roots,
    };
    let mut fill = |rows| Ok::<_, TableError>(vec![bytemuck::cast_slice(&values[rows]).to_vec()]);
    let column = [NewColumn::of::<f32>(DISCOUNTED_COLUMN)];
    let written = table.write_columns(&column, values.len(), &mut fill)?;
    table.install(
        written,
        |manifest| {
            manifest.discounted = None;
            manifest.arrays.remove(DISCOUNTED_COLUMN);
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
enum ValueColumns {
    /// Outcome or score, and distance, all proven.
    Exact(Array<i8>, Array<u16>),
    /// Bounds of outcome or score, and distance.
    Bounds(Array<i8>, Array<i8>, Array<u16>),
    /// Bounds as stored [`Prospect`]s.
    Prospects(Array<i16>, Array<i16>),
    /// Distances of a table by rank.
    Ranked(Array<u8>),
    /// Outcome or score, and distance if it is stored, all proven and packed.
    Packed(PackedColumn<i8>, Option<PackedColumn<u16>>),
    /// Distances of a table by rank, packed.
    PackedRanked(PackedColumn<u8>),
    /// Values outside the files of a table.
    Elsewhere(Elsewhere),
}

/// Values outside the files of a table.
struct Elsewhere {
    rows: usize,
    of: Box<dyn Fn(usize) -> Option<Prospect> + Send + Sync>,
}

impl std::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Elsewhere({} rows)", self.rows)
    }
}

impl ValueColumns {
    /// Maps the columns of a packed table.
    fn open_packed(table: &Table, rows: usize, checked: bool) -> Result<ValueColumns, TableError> {
        let manifest = table.manifest();
        let has = |name: &str| manifest.arrays.contains_key(name);
        let distance = "packed_distance";
        let values = ["packed_score", "packed_outcome"].into_iter().find(|name| has(name));
        let Some(values) = values else {
            return Ok(ValueColumns::PackedRanked(PackedColumn::open(
                table, distance, rows, checked,
            )?));
        };
        let open = || PackedColumn::open(table, distance, rows, checked);
        let distances = has(distance).then(open).transpose()?;
        Ok(ValueColumns::Packed(PackedColumn::open(table, values, rows, checked)?, distances))
    }
}

/// Mapped values of a solved table.
#[derive(Debug)]
pub struct Values {
    columns: ValueColumns,
    has_scores: bool,
    empties: Empties,
    repetition: Repetition,
}

impl Values {
    /// Maps the columns, comparing checksums if `checked`; returns `None` if the table is not solved.
    pub fn open(table: &Table, checked: bool) -> Result<Option<Values>, TableError> {
        let manifest = table.manifest();
        let Some(solution) = &manifest.solution else { return Ok(None) };
        let damaged = |what: String| table.damaged_manifest(what);
        let has = |name: &str| manifest.arrays.contains_key(name);
        let has_scores = ["score", "score_lower", "packed_score"].into_iter().any(has);
        // Games without scores have no empty squares to count, and layered games no infinite play.
        let named = solution.empties.as_deref().unwrap_or_default();
        let empties = match Empties::named(named) {
            None if has_scores || !named.is_empty() => {
                return Err(damaged(format!(
                    "invalid rule for empty squares `{named}` in the solution"
                )));
            }
            empties => empties.unwrap_or_default(),
        };
        let named = solution.repetition.as_deref().unwrap_or_default();
        let repetition = match Repetition::of(named) {
            None if solution.method.is_some() || !named.is_empty() => {
                return Err(damaged(format!(
                    "invalid value of infinite play `{named}` in the solution"
                )));
            }
            repetition => repetition.unwrap_or(Repetition::Draw),
        };
        let i8s = |name: &str| table.array_checked::<i8>(name, checked);
        let distances = || table.array_checked::<u16>("distance", checked);
        let states = manifest.counts.table.states as usize;
        let columns = if manifest.is_packed() {
            ValueColumns::open_packed(table, states, checked)?
        } else if has("prospect_lower") {
            let prospects = |name: &str| table.array_checked::<i16>(name, checked);
            ValueColumns::Prospects(prospects("prospect_lower")?, prospects("prospect_upper")?)
        } else if has("score_lower") {
            ValueColumns::Bounds(i8s("score_lower")?, i8s("score_upper")?, distances()?)
        } else if has("lower") {
            ValueColumns::Bounds(i8s("lower")?, i8s("upper")?, distances()?)
        } else if has_scores {
            ValueColumns::Exact(i8s("score")?, distances()?)
        } else if has("outcome") {
            ValueColumns::Exact(i8s("outcome")?, distances()?)
        } else {
            ValueColumns::Ranked(table.array_checked("distance", checked)?)
        };
        let lengths = match &columns {
            ValueColumns::Exact(a, b) => [a.len(), b.len(), b.len()],
            ValueColumns::Bounds(a, b, c) => [a.len(), b.len(), c.len()],
            ValueColumns::Prospects(a, b) => [a.len(), b.len(), b.len()],
            ValueColumns::Ranked(a) => [a.len(); 3],
            ValueColumns::Packed(..) | ValueColumns::PackedRanked(_) => [states; 3],
            ValueColumns::Elsewhere(_) => [states; 3],
        };
        if lengths != [states; 3] {
            return Err(damaged("columns of inconsistent lengths".to_string()));
        }
        Ok(Some(Values { columns, has_scores, empties, repetition }))
    }

    /// Returns exact scores of `rows` rows outside a table's files; `of` returns `None` for damaged rows.
    pub fn elsewhere(
        rows: usize,
        of: Box<dyn Fn(usize) -> Option<Prospect> + Send + Sync>,
    ) -> Values {
        let columns = ValueColumns::Elsewhere(Elsewhere { rows, of });
        let (empties, repetition) = (Empties::Uncounted, Repetition::Draw);
        Values { columns, has_scores: true, empties, repetition }
    }

    /// Prefetches the values of some rows, where that pays.
    pub(super) fn fetch(&self, rows: &[u32]) {
        fn of<T: Element>(column: &Array<T>, rows: &[u32]) {
            rows.iter().filter_map(|&row| column.get(row as usize)).for_each(prefetch);
        }
        match &self.columns {
            ValueColumns::Exact(a, b) => {
                of(a, rows);
                of(b, rows);
            }
            ValueColumns::Bounds(a, b, c) => {
                of(a, rows);
                of(b, rows);
                of(c, rows);
            }
            ValueColumns::Prospects(a, b) => {
                of(a, rows);
                of(b, rows);
            }
            // Moves of these are found one at a time, so there is nothing to prefetch.
            _ => {}
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.columns {
            ValueColumns::Exact(column, _) | ValueColumns::Bounds(column, ..) => column.len(),
            ValueColumns::Prospects(column, _) => column.len(),
            ValueColumns::Ranked(column) => column.len(),
            ValueColumns::Packed(column, _) => column.rows(),
            ValueColumns::PackedRanked(column) => column.rows(),
            ValueColumns::Elsewhere(values) => values.rows,
        }
    }

    /// Returns `true` if distances are left out, although all are finite.
    pub(super) fn leaves_distances_out(&self) -> bool {
        matches!(self.columns, ValueColumns::Packed(_, None))
    }

    /// Returns `true` if bounds are stored, which differ in some rows.
    pub(super) fn has_bounds(&self) -> bool {
        matches!(self.columns, ValueColumns::Bounds(..) | ValueColumns::Prospects(..))
    }

    /// Returns `true` if a row is stored as its value would be written, not in an equivalent form.
    pub(super) fn is_canonical(&self, row: usize) -> bool {
        match &self.columns {
            ValueColumns::Bounds(lower, upper, distance) => {
                lower[row] == upper[row] || distance[row] == UNKNOWN_DISTANCE
            }
            ValueColumns::Prospects(lower, upper) => [lower[row], upper[row]]
                .into_iter()
                .all(|stored| Prospect::of_stored(stored).to_stored() == stored),
            _ => true,
        }
    }

    /// Returns `true` if values have a score.
    pub fn has_scores(&self) -> bool {
        self.has_scores
    }

    /// Returns how squares left empty at the end count in the scores.
    pub fn empties(&self) -> Empties {
        self.empties
    }

    /// Returns the value of infinite play.
    pub fn repetition(&self) -> Repetition {
        self.repetition
    }

    /// Returns the value of a row, for its mover. If the row of a packed table is damaged, nothing of the
    /// value is proven, and [`Table::check_read`] fails.
    #[inline]
    pub fn get(&self, row: usize) -> Value {
        self.read(row).unwrap_or(Value::CUT_OFF)
    }

    #[inline]
    fn read(&self, row: usize) -> Option<Value> {
        let known = |distance: u16| Some(distance).filter(|&plies| plies != UNKNOWN_DISTANCE);
        Some(match &self.columns {
            ValueColumns::Exact(score, distance) => {
                Value::exactly(Prospect::new(Score(score[row]), known(distance[row])))
            }
            ValueColumns::Bounds(lower, upper, distance) => {
                Value::of_scores(Score(lower[row]), Score(upper[row]), known(distance[row]))
            }
            ValueColumns::Prospects(lower, upper) => Value {
                lower: Prospect::of_stored(lower[row]),
                upper: Prospect::of_stored(upper[row]),
            },
            ValueColumns::Ranked(distance) => ranked_value(distance[row], self.repetition),
            ValueColumns::Packed(score, None) => {
                let score = Score(score.get(row)?);
                Value::of_scores(score, score, None)
            }
            ValueColumns::Packed(score, Some(distance)) => {
                let score = Score(score.get(row)?);
                Value::exactly(Prospect::new(score, known(distance.get(row)?)))
            }
            ValueColumns::PackedRanked(distance) => {
                ranked_value(distance.get(row)?, self.repetition)
            }
            ValueColumns::Elsewhere(values) => Value::exactly((values.of)(row)?),
        })
    }
}
