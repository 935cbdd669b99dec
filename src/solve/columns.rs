//! The solved columns of a table: written after sweeping, read by everything that follows.

use rayon::prelude::*;

use super::backup::{Bounds, Rank};
use super::method::Method;
use crate::game::{Empties, Outcome, Score};
use crate::table::{
    Array, Column, Discounted, Manifest, RootValue, Solution, SweepRecord, Table, TableError,
};

/// What `outcome` and `score` hold where the value is not proven.
pub const UNKNOWN_SCORE: i8 = i8::MIN;
/// What `distance` holds where it is not known to be exact.
pub const UNKNOWN_DISTANCE: u16 = u16::MAX;

/// The columns of an exact solution; a solution of a bounded table has the bounds too.
const EXACT_COLUMNS: [&str; 7] =
    ["outcome", "score", "distance", "lower", "upper", "score_lower", "score_upper"];

fn empties_name(empties: Empties) -> &'static str {
    match empties {
        Empties::Uncounted => "uncounted",
        Empties::ToWinner => "to-winner",
    }
}

/// The sweeps of a solution that the table has already, computed by the same method.
pub(super) fn already_there(table: &Table, method: &Method) -> Option<Vec<SweepRecord>> {
    let manifest = table.manifest();
    let same = |empties: Option<&str>, order: Option<&str>, theta: Option<f64>| {
        empties == Some(empties_name(method.empties))
            && order == Some(method.order.name())
            && theta == Some(method.theta)
    };
    match method.discount {
        Some(discount) => manifest
            .discounted
            .as_ref()
            .filter(|d| d.discount == discount)
            .filter(|d| same(Some(&d.empties), Some(&d.order), Some(d.theta)))
            .map(|d| d.sweeps.clone()),
        None => manifest
            .solution
            .as_ref()
            .filter(|s| same(s.empties.as_deref(), s.order.as_deref(), s.theta))
            .map(|s| s.sweeps.clone()),
    }
}

pub(super) fn install_exact(
    table: &mut Table,
    method: &Method,
    ranks: &[Rank],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    let (outcome, (score, distance)): (Vec<i8>, (Vec<i8>, Vec<u16>)) = ranks
        .par_iter()
        .with_min_len(1 << 14)
        .map(|rank| {
            let score = rank.score();
            (score.outcome().value(), (score.0, rank.distance()))
        })
        .unzip();
    let all = ranks.len() as u64;
    let mut solution = solution(method, sweeps, [all, all, all]);
    let ids = &table.manifest().root_ids;
    solution.roots = ids
        .iter()
        .map(|&id| RootValue {
            outcome: Some(outcome[id as usize]),
            score: Some(score[id as usize]),
            distance: Some(distance[id as usize]),
        })
        .collect();
    let columns = [
        Column::new("outcome", &outcome),
        Column::new("score", &score),
        Column::new("distance", &distance),
    ];
    install(table, &columns, solution)
}

pub(super) fn install_bounds(
    table: &mut Table,
    method: &Method,
    bounds: &[Bounds],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    fn column<T: Send>(bounds: &[Bounds], of: impl Fn(&Bounds) -> T + Sync + Send) -> Vec<T> {
        bounds.par_iter().with_min_len(1 << 14).map(of).collect()
    }
    let known = |proven: bool, value: i8| if proven { value } else { UNKNOWN_SCORE };
    let outcome = column(bounds, |b| known(b.lower.signum() == b.upper.signum(), b.lower.signum()));
    let score = column(bounds, |b| known(b.is_proven(), b.lower));
    let distance = column(bounds, |b| b.distance);
    let lower = column(bounds, |b| b.lower.signum());
    let upper = column(bounds, |b| b.upper.signum());
    let score_lower = column(bounds, |b| b.lower);
    let score_upper = column(bounds, |b| b.upper);
    let count = |column: &[i8]| column.par_iter().filter(|&&v| v != UNKNOWN_SCORE).count() as u64;
    let exact = distance.par_iter().filter(|&&d| d != UNKNOWN_DISTANCE).count() as u64;
    let mut solution = solution(method, sweeps, [count(&outcome), count(&score), exact]);
    let ids = &table.manifest().root_ids;
    solution.roots = ids
        .iter()
        .map(|&id| RootValue {
            outcome: Some(outcome[id as usize]).filter(|&v| v != UNKNOWN_SCORE),
            score: Some(score[id as usize]).filter(|&v| v != UNKNOWN_SCORE),
            distance: Some(distance[id as usize]).filter(|&d| d != UNKNOWN_DISTANCE),
        })
        .collect();
    let columns = [
        Column::new("outcome", &outcome),
        Column::new("score", &score),
        Column::new("distance", &distance),
        Column::new("lower", &lower),
        Column::new("upper", &upper),
        Column::new("score_lower", &score_lower),
        Column::new("score_upper", &score_upper),
    ];
    install(table, &columns, solution)
}

fn solution(method: &Method, sweeps: &[SweepRecord], counts: [u64; 3]) -> Solution {
    Solution {
        method: None,
        repetition: None,
        empties: Some(empties_name(method.empties).to_string()),
        order: Some(method.order.name().to_string()),
        theta: Some(method.theta),
        residual_unit: "discs of score or plies of distance, whichever changed more".to_string(),
        sweeps: sweeps.to_vec(),
        proven_outcomes: counts[0],
        proven_scores: Some(counts[1]),
        exact_distances: counts[2],
        roots: Vec::new(),
    }
}

fn install(
    table: &mut Table,
    columns: &[Column<'_>],
    solution: Solution,
) -> Result<(), TableError> {
    let unsolve = |manifest: &mut Manifest| {
        manifest.solution = None;
        EXACT_COLUMNS.iter().for_each(|&name| {
            manifest.arrays.remove(name);
        });
    };
    table.install(columns, unsolve, |manifest| manifest.solution = Some(solution))
}

pub(super) fn install_discounted(
    table: &mut Table,
    method: &Method,
    values: &[f32],
    sweeps: &[SweepRecord],
) -> Result<(), TableError> {
    let roots = table.manifest().root_ids.iter().map(|&id| values[id as usize]).collect();
    let discounted = Discounted {
        discount: method.discount.unwrap_or(1.0),
        empties: empties_name(method.empties).to_string(),
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

/// What a solved table says of a state, for its mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The least the outcome can be.
    pub lower: Outcome,
    /// The most the outcome can be.
    pub upper: Outcome,
    /// The least the score can be.
    pub score_lower: Score,
    /// The most the score can be.
    pub score_upper: Score,
    /// Plies to the end of the game, where known exactly.
    pub distance: Option<u16>,
}

impl Value {
    /// The outcome, where proven.
    pub fn outcome(&self) -> Option<Outcome> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// The score, where proven.
    pub fn score(&self) -> Option<Score> {
        (self.score_lower == self.score_upper).then_some(self.score_lower)
    }

    /// How good a move to such a value is for the mover, this being the mover's value of the move:
    /// the score first; ahead or level the shorter game, behind the longer. Unproven scores count
    /// by what is sure.
    pub fn preference(&self) -> (Score, Score, i32) {
        let plies = self.distance.map_or(i32::from(u16::MAX), i32::from);
        let tempo = if self.score_lower.0 < 0 { plies } else { -plies };
        (self.score_lower, self.score_upper, tempo)
    }

    /// The same, seen by the player who moved here, the end being one ply further.
    pub fn before(&self) -> Value {
        Value {
            lower: -self.upper,
            upper: -self.lower,
            score_lower: -self.score_upper,
            score_upper: -self.score_lower,
            distance: self.distance.map(|d| d + 1),
        }
    }
}

/// The columns of a solved table, mapped.
#[derive(Debug)]
pub struct Solved {
    score: Array<i8>,
    distance: Array<u16>,
    bounds: Option<(Array<i8>, Array<i8>)>,
    empties: Empties,
}

impl Solved {
    /// Maps the columns; `None` if the table is not solved.
    pub fn open(table: &Table) -> Result<Option<Solved>, TableError> {
        Solved::map(table, false)
    }

    /// The same, comparing the columns' checksums.
    pub fn open_checked(table: &Table) -> Result<Option<Solved>, TableError> {
        Solved::map(table, true)
    }

    fn map(table: &Table, checked: bool) -> Result<Option<Solved>, TableError> {
        let Some(solution) = &table.manifest().solution else { return Ok(None) };
        let manifest = table.dir().join("manifest.json");
        let i8s = |name: &str| {
            if checked { table.checked_array::<i8>(name) } else { table.array::<i8>(name) }
        };
        let distance = if checked {
            table.checked_array("distance")?
        } else {
            table.array::<u16>("distance")?
        };
        let bounds = if table.manifest().complete {
            None
        } else {
            Some((i8s("score_lower")?, i8s("score_upper")?))
        };
        let empties = match solution.empties.as_deref() {
            Some("uncounted") => Empties::Uncounted,
            Some("to-winner") => Empties::ToWinner,
            other => {
                let what = format!("its solution counts empties '{}'", other.unwrap_or_default());
                return Err(TableError::damaged(&manifest, what));
            }
        };
        let solved = Solved { score: i8s("score")?, distance, bounds, empties };
        let states = table.manifest().counts.table.states as usize;
        let bounds_fit = solved
            .bounds
            .as_ref()
            .is_none_or(|(lower, upper)| lower.len() == states && upper.len() == states);
        if solved.score.len() != states || solved.distance.len() != states || !bounds_fit {
            return Err(TableError::damaged(&manifest, "its columns' lengths do not fit"));
        }
        Ok(Some(solved))
    }

    /// What squares left empty at the end count for in the scores.
    pub fn empties(&self) -> Empties {
        self.empties
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.score.len()
    }

    /// The value of a row, for its mover.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        let (lower, upper) = match &self.bounds {
            None => (self.score[row], self.score[row]),
            Some((lower, upper)) => (lower[row], upper[row]),
        };
        Value {
            lower: Outcome::of(lower),
            upper: Outcome::of(upper),
            score_lower: Score(lower),
            score_upper: Score(upper),
            distance: Some(self.distance[row]).filter(|&d| d != UNKNOWN_DISTANCE),
        }
    }
}
