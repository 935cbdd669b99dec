//! Solved columns of a table. Solving writes them; all queries read them.
//!
//! | columns | tables |
//! |---|---|
//! | `score` or `outcome`, and `distance` | all values are proven |
//! | the same with `_lower` and `_upper` | bounds, where some value is not proven |
//! | `distance` alone | by rank, of games with cycles: its parity determines the outcome |
//! | `packed_score` or `packed_outcome` alone | packed without distances |
//!
//! A score is that of a [`Prospect`], and an outcome is the score in games without scores. A distance of infinite play, or
//! one that is left open, is the largest number of the column, whose numbers have a byte if all distances fit.

use std::ops::Range;

use super::options::Method;
use super::value::{Prospect, Value};
use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel::{self, GRAIN};
use crate::rules::{Empties, Outcome, Repetition, Score};
use crate::table::{
    Array, DISCOUNTED_COLUMN, Discounted, Element, Manifest, NewColumn, PackedColumn, RootValue,
    SOLUTION_COLUMNS, SweepRecord, Table,
};

/// Function that encodes values as the bytes of a column.
type Encode = Box<dyn Fn(&[Value]) -> Vec<u8> + Sync>;

/// One of the bounds of a value.
#[derive(Clone, Copy)]
enum Bound {
    Lower,
    Upper,
}

/// Returns the column of a number that `of` gives a bound.
fn column<T: Element>(
    name: &'static str,
    bound: Bound,
    of: impl Fn(Prospect) -> T + Sync + 'static,
) -> (NewColumn, Encode) {
    let encode = move |values: &[Value]| {
        let numbers: Vec<T> = match bound {
            Bound::Lower => values.iter().map(|value| of(value.lower)).collect(),
            Bound::Upper => values.iter().map(|value| of(value.upper)).collect(),
        };
        bytemuck::cast_slice(&numbers).to_vec()
    };
    (NewColumn::of::<T>(name), Box::new(encode))
}

/// Returns the columns of a method's values: with distances of at most `longest` plies, and bounds if some differ.
fn columns_of(method: &Method, longest: u16, has_bounds: bool) -> Vec<(NewColumn, Encode)> {
    let [lower, upper] = [Bound::Lower, Bound::Upper];
    let score = |name, bound| column::<i8>(name, bound, |prospect| prospect.score().0);
    let distance = |name, bound| match longest < u16::from(u8::MAX) {
        true => column::<u8>(name, bound, |prospect| {
            prospect.distance().map_or(u8::MAX, |plies| plies as u8)
        }),
        false => column::<u16>(name, bound, |prospect| prospect.distance().unwrap_or(u16::MAX)),
    };
    if method.by_rank && !method.layered {
        return vec![distance("distance", lower)];
    }
    match (has_bounds, has_scores(method)) {
        (false, true) => vec![score("score", lower), distance("distance", lower)],
        (false, false) => vec![score("outcome", lower), distance("distance", lower)],
        (true, has_scores) => {
            let [least, most] = match has_scores {
                true => ["score_lower", "score_upper"],
                false => ["outcome_lower", "outcome_upper"],
            };
            vec![
                score(least, lower),
                distance("distance_lower", lower),
                score(most, upper),
                distance("distance_upper", upper),
            ]
        }
    }
}

/// Returns `true` if values are scores: in layered games that have them.
fn has_scores(method: &Method) -> bool {
    method.layered && method.has_scores
}

/// Returns the longest distance of any bound, and `true` if the bounds of some value differ.
pub(super) fn extent_of(rows: usize, values: &(impl Fn(usize) -> Value + Sync)) -> (u16, bool) {
    let of_some = |some: Range<usize>| {
        some.map(values).fold((0, false), |(longest, is_open), value| {
            let plies = value.lower.distance().max(value.upper.distance());
            (plies.unwrap_or(0).max(longest), is_open || value.lower != value.upper)
        })
    };
    let parts = parallel::map_ranges(rows, GRAIN, &of_some).into_iter();
    parts.fold((0, false), |a, b| (a.0.max(b.0), a.1 || b.1))
}

/// Writes the values of a table's rows, which `values` returns; `extent` is theirs, with at least the longest distance.
pub(super) fn install_values(
    table: &mut Table,
    method: &Method,
    rows: usize,
    values: &(impl Fn(usize) -> Value + Sync),
    (longest, is_open): (u16, bool),
    sweeps: &[SweepRecord],
) -> Result<(), Error> {
    if longest >= Prospect::MAX_DISTANCE {
        let most = Prospect::MAX_DISTANCE;
        return Err(
            format!("a game lasts {most} plies or more, beyond the limit of a table").into()
        );
    }
    let (mut solution, has_scores) = (method.record(sweeps), has_scores(method));
    let (columns, encoders): (Vec<NewColumn>, Vec<Encode>) =
        columns_of(method, longest, is_open).into_iter().unzip();
    let count = |values: &[Value], is: fn(&Value) -> bool| {
        values.iter().filter(|&value| is(value)).count() as u64
    };
    let mut proven = [0; 3];
    let mut fill = |rows: Range<usize>| {
        let some = parallel::map_ranges(rows.len(), GRAIN, &|some| {
            let some = rows.start + some.start..rows.start + some.end;
            let values: Vec<Value> = some.map(values).collect();
            let bytes: Vec<Vec<u8>> = encoders.iter().map(|encode| encode(&values)).collect();
            let outcomes = count(&values, |value| value.outcome().is_some());
            let distances = count(&values, |value| value.distance().is_some());
            let scores = count(&values, |value| value.score().is_some());
            (bytes, [outcomes, distances, scores])
        });
        let mut whole = vec![Vec::new(); encoders.len()];
        for (bytes, counts) in some {
            whole.iter_mut().zip(bytes).for_each(|(whole, bytes)| whole.extend(bytes));
            proven.iter_mut().zip(counts).for_each(|(all, some): (&mut u64, u64)| *all += some);
        }
        Ok::<_, Error>(whole)
    };
    let written = table.write_columns(&columns, rows, &mut fill)?;
    [solution.proven_outcomes, solution.exact_distances, _] = proven;
    solution.proven_scores = has_scores.then_some(proven[2]);
    let root = |&row: &u64| {
        let value = values(row as usize);
        RootValue {
            outcome: value.outcome().map(Outcome::value),
            score: value.score().filter(|_| has_scores).map(|score| score.0),
            distance: value.distance(),
        }
    };
    solution.roots = table.manifest().root_ids.iter().map(root).collect();
    let unsolve = |manifest: &mut Manifest| {
        manifest.solution = None;
        SOLUTION_COLUMNS.iter().for_each(|&name| {
            manifest.arrays.remove(name);
        });
    };
    table.install(written, unsolve, |manifest| manifest.solution = Some(solution))
}

/// Writes the discounted values of a layered game's table.
pub(super) fn install_discounted(
    table: &mut Table,
    method: &Method,
    values: &[f32],
    sweeps: &[SweepRecord],
) -> Result<(), Error> {
    let roots = table.manifest().root_ids.iter().map(|&id| values[id as usize]).collect();
    let discounted = Discounted {
        discount: method.discount.unwrap_or(1.0),
        empties: method.has_scores.then(|| method.empties.name().to_string()),
        order: method.order.name().to_string(),
        theta: method.theta,
        sweeps: sweeps.to_vec(),
        roots,
    };
    let mut fill = |rows| Ok::<_, Error>(vec![bytemuck::cast_slice(&values[rows]).to_vec()]);
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

pub(super) fn ranked_value(distance: Option<u16>, repetition: Repetition) -> Value {
    match (distance, repetition) {
        (Some(plies), _) => {
            let outcome = if plies % 2 == 1 { Outcome::Win } else { Outcome::Loss };
            Value::exactly(Prospect::of_end(outcome, plies))
        }
        (None, Repetition::Unknown) => {
            Value { lower: Prospect::ENDLESS_LOSS, upper: Prospect::ENDLESS_WIN }
        }
        (None, _) => Value::exactly(Prospect::DRAW),
    }
}

/// A column of numbers, packed or not.
#[derive(Debug)]
enum Column<T> {
    Plain(Array<T>),
    Packed(PackedColumn<T>),
}

impl<T: Element> Column<T> {
    /// Maps the column of an array, comparing its checksum if `checked`.
    fn open(table: &Table, name: &str, checked: bool) -> Result<Column<T>, Error> {
        let rows = table.manifest().counts.table.states as usize;
        if table.manifest().is_packed() {
            let name = format!("packed_{name}");
            return Ok(Column::Packed(PackedColumn::open(table, &name, rows, checked)?));
        }
        let column = table.array_checked::<T>(name, checked)?;
        match column.len() == rows {
            true => Ok(Column::Plain(column)),
            false => Err(table.damaged_manifest("columns of inconsistent lengths")),
        }
    }

    /// Returns the number in a row; `None` if it is damaged.
    #[inline]
    fn get(&self, row: usize) -> Option<T> {
        match self {
            Column::Plain(column) => Some(column[row]),
            Column::Packed(column) => column.get(row),
        }
    }

    /// Prefetches some rows. Moves of packed tables are found one at a time, so there is nothing to prefetch.
    fn fetch(&self, rows: &[u32]) {
        if let Column::Plain(column) = self {
            rows.iter().filter_map(|&row| column.get(row as usize)).for_each(prefetch);
        }
    }
}

/// Distances of all rows.
#[derive(Debug)]
enum Distances {
    Bytes(Column<u8>),
    Words(Column<u16>),
}

impl Distances {
    fn open(table: &Table, name: &str, checked: bool) -> Result<Distances, Error> {
        let manifest = table.manifest();
        let entries = if manifest.is_packed() { &manifest.packed } else { &manifest.arrays };
        Ok(match entries.get(name).is_some_and(|entry| entry.dtype == u8::DESCR) {
            true => Distances::Bytes(Column::open(table, name, checked)?),
            false => Distances::Words(Column::open(table, name, checked)?),
        })
    }

    /// Returns the distance in a row, if there is one; `None` if the row is damaged.
    #[inline]
    fn get(&self, row: usize) -> Option<Option<u16>> {
        Some(match self {
            Distances::Bytes(column) => {
                Some(column.get(row)?).filter(|&plies| plies != u8::MAX).map(u16::from)
            }
            Distances::Words(column) => Some(column.get(row)?).filter(|&plies| plies != u16::MAX),
        })
    }

    fn fetch(&self, rows: &[u32]) {
        match self {
            Distances::Bytes(column) => column.fetch(rows),
            Distances::Words(column) => column.fetch(rows),
        }
    }
}

/// Prospects of all rows: scores, or outcomes, with their distances.
#[derive(Debug)]
struct Prospects {
    score: Column<i8>,
    distance: Distances,
}

impl Prospects {
    fn open(
        table: &Table,
        [score, distance]: [&str; 2],
        checked: bool,
    ) -> Result<Prospects, Error> {
        Ok(Prospects {
            score: Column::open(table, score, checked)?,
            distance: Distances::open(table, distance, checked)?,
        })
    }

    #[inline]
    fn get(&self, row: usize) -> Option<Prospect> {
        Some(Prospect::new(Score(self.score.get(row)?), self.distance.get(row)?))
    }

    fn fetch(&self, rows: &[u32]) {
        self.score.fetch(rows);
        self.distance.fetch(rows);
    }
}

#[derive(Debug)]
enum ValueColumns {
    /// Values, all proven.
    Exact(Prospects),
    /// Lower and upper bounds.
    Bounds(Prospects, Prospects),
    /// Distances of a table by rank.
    Ranked(Distances),
    /// Scores or outcomes without distances, all proven.
    Scores(Column<i8>),
}

impl ValueColumns {
    /// Maps the columns; also returns `true` if they contain scores.
    fn open(table: &Table, checked: bool) -> Result<(ValueColumns, bool), Error> {
        let manifest = table.manifest();
        let has = |name: &str| match manifest.is_packed() {
            true => manifest.arrays.contains_key(&format!("packed_{name}")),
            false => manifest.arrays.contains_key(name),
        };
        let prospects = |names: [&str; 2]| Prospects::open(table, names, checked);
        if let Some(score) = ["score", "outcome"].into_iter().find(|name| has(name)) {
            let columns = match has("distance") || !manifest.is_packed() {
                true => ValueColumns::Exact(prospects([score, "distance"])?),
                false => ValueColumns::Scores(Column::open(table, score, checked)?),
            };
            return Ok((columns, score == "score"));
        }
        let bounds = [["score_lower", "score_upper"], ["outcome_lower", "outcome_upper"]];
        Ok(match bounds.into_iter().find(|[lower, _]| has(lower)) {
            Some([lower, upper]) => {
                let (least, most) =
                    (prospects([lower, "distance_lower"])?, prospects([upper, "distance_upper"])?);
                (ValueColumns::Bounds(least, most), lower == "score_lower")
            }
            None => (ValueColumns::Ranked(Distances::open(table, "distance", checked)?), false),
        })
    }
}

/// Mapped values of a solved table.
#[derive(Debug)]
pub struct Values {
    columns: ValueColumns,
    rows: usize,
    has_scores: bool,
    empties: Empties,
    repetition: Repetition,
}

impl Values {
    /// Maps the columns, comparing checksums if `checked`; returns `None` if the table is not solved.
    pub fn open(table: &Table, checked: bool) -> Result<Option<Values>, Error> {
        let manifest = table.manifest();
        let Some(solution) = &manifest.solution else { return Ok(None) };
        let damaged = |what: String| table.damaged_manifest(what);
        let (columns, has_scores) = ValueColumns::open(table, checked)?;
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
        let rows = manifest.counts.table.states as usize;
        Ok(Some(Values { columns, rows, has_scores, empties, repetition }))
    }

    /// Prefetches the values of some rows, where that pays.
    pub(super) fn fetch(&self, rows: &[u32]) {
        match &self.columns {
            ValueColumns::Exact(prospects) => prospects.fetch(rows),
            ValueColumns::Bounds(lower, upper) => {
                lower.fetch(rows);
                upper.fetch(rows);
            }
            ValueColumns::Ranked(distance) => distance.fetch(rows),
            ValueColumns::Scores(_) => {}
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns `true` if distances are left out, although all are finite.
    pub(super) fn leaves_distances_out(&self) -> bool {
        matches!(self.columns, ValueColumns::Scores(_))
    }

    /// Returns `true` if bounds are stored, which differ in some rows.
    pub(super) fn has_bounds(&self) -> bool {
        matches!(self.columns, ValueColumns::Bounds(..))
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
        Some(match &self.columns {
            ValueColumns::Exact(prospects) => Value::exactly(prospects.get(row)?),
            ValueColumns::Bounds(lower, upper) => {
                Value { lower: lower.get(row)?, upper: upper.get(row)? }
            }
            ValueColumns::Ranked(distance) => ranked_value(distance.get(row)?, self.repetition),
            ValueColumns::Scores(score) => {
                let score = Score(score.get(row)?);
                Value::of_scores(score, score, None)
            }
        })
    }
}
