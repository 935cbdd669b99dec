//! The proof of a table: every row's edges and values from regenerated moves, one row at a time.
//!
//! A second road to every value. Successors come from the rules and are found by key, not by the
//! stored edges; the backup is written anew, on scores and distances as they stand in the columns.
//! Since edges never lead to an earlier layer and a pass is never followed by a pass, values that
//! agree with their successors everywhere are the values of the game.

use std::sync::atomic::{AtomicU16, Ordering};

use rayon::prelude::*;

use super::columns::{UNKNOWN_DISTANCE, UNKNOWN_SCORE, Values};
use super::value::Value;
use crate::game::{Orientations, Score};
use crate::graph::{Graph, Regenerate, Regenerated, StateKind};
use crate::progress::Progress;
use crate::table::{Array, Counts, Table, TableError, Tally};

/// What [`verify`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many states were looked at.
    pub states: u64,
    /// How many edges were regenerated.
    pub edges: u64,
    /// Whether there were values, and they were proven.
    pub solved: bool,
    /// The first row (in the order of ids) that is wrong.
    pub counterexample: Option<Counterexample>,
}

/// A row that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Its id.
    pub row: usize,
    /// The state, with the mover as the first player.
    pub state: String,
    /// What is wrong with it.
    pub what: String,
}

/// The columns that a table with a frontier has besides; scores where the game has them.
struct Bounds {
    lower: Array<i8>,
    upper: Array<i8>,
    score: Option<Array<i8>>,
}

struct Columns {
    solved: Values,
    outcome: Array<i8>,
    distance: Array<u16>,
    bounds: Option<Bounds>,
}

struct Discounts {
    value: Array<f32>,
    discount: f32,
    /// By how much a value may differ from what its successors give.
    tolerance: f32,
}

/// Proves a table whose checksums have been checked. `roots` are the rows of the roots and the
/// orientations they give them, and `regenerate` makes rows from the rules, counting empty squares
/// as the solution does.
pub fn verify(
    table: &Table,
    graph: &Graph,
    regenerate: &dyn Regenerate,
    roots: &[(Option<usize>, Orientations)],
    progress: &dyn Progress,
) -> Result<Verified, TableError> {
    graph.check_layered(table)?;
    let proof = Proof::open(table, graph, regenerate)?;
    let states = graph.states();
    progress.begin("proving", Some(2 * states as u64));
    let mut first = None;
    for &(row, orientations) in roots {
        match row {
            Some(row) => proof.reach(row, orientations),
            None => first = Some((0, "a root is not in the table".to_string())),
        }
    }
    let (found, wrong) = proof.rows(progress);
    first = earlier(first, wrong);
    if first.is_none() {
        let unproven = (0..states).into_par_iter().find_first(|&row| !proof.is_reached(row));
        first = unproven.map(|row| (row, proof.describe_orientations(row)));
    }
    if first.is_none() {
        proof.manifest(table, &found, roots)?;
    }
    progress.advance(states as u64);
    progress.finish(if first.is_none() { "proven" } else { "refuted" });
    Ok(Verified {
        states: states as u64,
        edges: found.table.transitions,
        solved: proof.columns.is_some() || proof.discounts.is_some(),
        counterexample: first.map(|(row, what)| Counterexample {
            row,
            state: regenerate.describe(row),
            what,
        }),
    })
}

fn earlier(a: Option<(usize, String)>, b: Option<(usize, String)>) -> Option<(usize, String)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}

struct Proof<'a> {
    graph: &'a Graph,
    regenerate: &'a dyn Regenerate,
    columns: Option<Columns>,
    discounts: Option<Discounts>,
    /// The orientations that roots and predecessors give every row.
    reached: Vec<AtomicU16>,
}

/// The rows and the actual positions they stand for, as they were found.
#[derive(Clone, Copy, Default)]
struct Found {
    table: Tally,
    reachable: Tally,
}

impl Found {
    fn add(&mut self, other: &Found) {
        self.table.add(&other.table);
        self.reachable.add(&other.reachable);
    }
}

impl<'a> Proof<'a> {
    fn open(
        table: &Table,
        graph: &'a Graph,
        regenerate: &'a dyn Regenerate,
    ) -> Result<Self, TableError> {
        let reached = (0..graph.states()).map(|_| AtomicU16::new(0)).collect();
        let (columns, discounts) = (Columns::open(table)?, Discounts::open(table)?);
        Ok(Proof { graph, regenerate, columns, discounts, reached })
    }

    /// Proves all rows; gives what was found and the first that is wrong.
    fn rows(&self, progress: &dyn Progress) -> (Found, Option<(usize, String)>) {
        const GRAIN: usize = 1 << 14;
        let states = self.graph.states();
        let prove = |chunk: usize| {
            let rows = chunk * GRAIN..((chunk + 1) * GRAIN).min(states);
            progress.advance(rows.len() as u64);
            let mut found = Found::default();
            for row in rows {
                match self.row(row) {
                    Ok(own) => found.add(&own),
                    Err(what) => return (found, Some((row, what))),
                }
            }
            (found, None)
        };
        (0..states.div_ceil(GRAIN)).into_par_iter().map(prove).reduce(
            || (Found::default(), None),
            |mut a, b| {
                a.0.add(&b.0);
                (a.0, earlier(a.1, b.1))
            },
        )
    }

    /// That the manifest says of the rows and roots what was found.
    fn manifest(
        &self,
        table: &Table,
        found: &Found,
        roots: &[(Option<usize>, Orientations)],
    ) -> Result<(), TableError> {
        let manifest = table.manifest();
        let wrong = |what: &str| {
            Err(TableError::damaged(&table.dir().join("manifest.json"), what.to_string()))
        };
        let mut summed = Counts::default();
        manifest.layers.iter().for_each(|layer| summed.add(layer));
        let lengths = self.graph.layers().map(|rows| rows.len() as u64);
        let Counts { table: rows, reachable, distinct_boards, mover_relative, canonical, .. } =
            manifest.counts;
        if (rows, reachable) != (found.table, Some(found.reachable))
            || [distinct_boards, mover_relative, canonical].contains(&None)
            || summed != manifest.counts
            || !lengths.eq(manifest.layers.iter().map(|layer| layer.table.states))
        {
            return wrong("its counts are not those of the rows");
        }
        let ids = manifest.root_ids.iter().map(|&id| Some(id as usize));
        if !ids.eq(roots.iter().map(|root| root.0)) {
            return wrong("its root_ids are not the rows of its roots");
        }
        let Some(solution) = &manifest.solution else { return Ok(()) };
        let told = solution.roots.iter().map(|r| (r.outcome, r.score, r.distance));
        let values = manifest.root_ids.iter().filter_map(|&id| {
            let columns = self.columns.as_ref()?;
            let value = columns.solved.get(id as usize);
            let outcome = value.outcome().map(|outcome| outcome.value());
            let score = value.score().filter(|_| columns.solved.has_scores());
            Some((outcome, score.map(|score| score.0), value.distance()))
        });
        if !told.eq(values) {
            return wrong("the values it gives its roots are not those of their rows");
        }
        Ok(())
    }

    fn describe_orientations(&self, row: usize) -> String {
        let found = self.reached[row].load(Ordering::Relaxed);
        let stored = self.graph.orientations(row).0;
        format!("its orientations are {stored:#b} where its predecessors give {found:#b}")
    }

    fn reach(&self, row: usize, orientations: Orientations) {
        self.reached[row].fetch_or(orientations.0, Ordering::Relaxed);
    }

    fn is_reached(&self, row: usize) -> bool {
        self.reached[row].load(Ordering::Relaxed) == self.graph.orientations(row).0
    }

    /// Proves one row; gives what it adds to the counts.
    fn row(&self, row: usize) -> Result<Found, String> {
        let made = self.regenerate.row(row)?;
        let frontier = self.graph.kind(row) == StateKind::Frontier;
        self.edges(row, &made, frontier)?;
        if !frontier {
            made.moves.iter().for_each(|m| self.reach(m.target, m.orientations));
        }
        if let Some(columns) = &self.columns {
            columns.prove(row, &made, frontier)?;
        }
        if let Some(discounts) = &self.discounts {
            discounts.prove(row, &made)?;
        }
        let one = Tally {
            states: 1,
            terminals: u64::from(made.end.is_some()),
            passes: u64::from(made.pass),
            frontier: u64::from(frontier),
            transitions: if frontier { 0 } else { made.moves.len() as u64 },
        };
        let positions = u64::from(self.graph.orientations(row).count());
        Ok(Found { table: one, reachable: one.times(positions) })
    }

    fn edges(&self, row: usize, made: &Regenerated, frontier: bool) -> Result<(), String> {
        let range = self.graph.edges_of(row);
        let kind = self.graph.kinds()[row];
        let wanted = match (&made.end, frontier) {
            (Some(_), _) => StateKind::Terminal,
            (None, true) => StateKind::Frontier,
            (None, false) => StateKind::Interior,
        };
        if kind != wanted as u8 {
            return Err(format!("its kind is {kind}, the rules say {wanted:?}"));
        }
        let edges = self.graph.edges();
        let last = row + 1 == self.graph.states();
        if range.end > edges || (row == 0 && range.start != 0) || (last && range.end != edges) {
            return Err("the offsets of its edges are wrong".to_string());
        }
        if frontier {
            return match range.is_empty() {
                true => Ok(()),
                false => Err("it is at the frontier and has edges".to_string()),
            };
        }
        if let Some(name) = made.missing.first() {
            return Err(format!("its move {name} leads out of the table"));
        }
        if range.len() != made.moves.len() {
            return Err(format!(
                "it has {} edges, the rules give {}",
                range.len(),
                made.moves.len()
            ));
        }
        for (edge, m) in range.zip(&made.moves) {
            let (action, target) =
                (self.graph.edge_actions().get(edge), self.graph.edge_targets()[edge] as usize);
            if action != m.action || target != m.target {
                return Err(format!(
                    "its edge {} to {target} should be {} to {}",
                    self.regenerate.action_name(action),
                    self.regenerate.action_name(m.action),
                    m.target
                ));
            }
        }
        Ok(())
    }
}

impl Columns {
    fn open(table: &Table) -> Result<Option<Columns>, TableError> {
        let Some(solved) = Values::open(table, false)? else { return Ok(None) };
        let i8s = |name: &str| table.array::<i8>(name);
        let bounds = match table.manifest().complete {
            true => None,
            false => {
                let score = solved.has_scores().then(|| i8s("score")).transpose()?;
                Some(Bounds { lower: i8s("lower")?, upper: i8s("upper")?, score })
            }
        };
        let (outcome, distance) = (i8s("outcome")?, table.array("distance")?);
        Ok(Some(Columns { solved, outcome, distance, bounds }))
    }

    fn prove(&self, row: usize, made: &Regenerated, frontier: bool) -> Result<(), String> {
        let found = self.solved.get(row);
        let targets = made.moves.iter().map(|m| self.solved.get(m.target).before());
        let wanted = match made.end {
            _ if frontier => None,
            Some(score) => Some((score, score, Some(0))),
            None => Some(backed_up(&targets.collect::<Vec<_>>())),
        };
        if let Some((lower, upper, distance)) = wanted {
            if (found.lower.score(), found.upper.score()) != (lower, upper) {
                return Err(format!(
                    "its score is {}, its successors give {}",
                    interval(found.lower.score(), found.upper.score()),
                    interval(lower, upper)
                ));
            }
            if found.distance() != distance {
                return Err(format!(
                    "its distance is {}, its successors give {}",
                    plies(found.distance()),
                    plies(distance)
                ));
            }
        } else if found.score().is_some() || found.distance().is_some() {
            return Err("it is at the frontier and has a proven value".to_string());
        }
        self.prove_copies(row, &found)
    }

    /// That the columns that repeat what the bounds say agree with them.
    fn prove_copies(&self, row: usize, found: &Value) -> Result<(), String> {
        let outcome = found.outcome().map_or(UNKNOWN_SCORE, |o| o.value());
        let distance = found.distance().unwrap_or(UNKNOWN_DISTANCE);
        let bounds = self.bounds.as_ref().is_none_or(|Bounds { lower, upper, score }| {
            lower[row] == found.lower.outcome().value()
                && upper[row] == found.upper.outcome().value()
                && score
                    .as_ref()
                    .is_none_or(|score| score[row] == found.score().map_or(UNKNOWN_SCORE, |s| s.0))
        });
        if self.outcome[row] != outcome || self.distance[row] != distance || !bounds {
            return Err("its columns contradict each other".to_string());
        }
        Ok(())
    }
}

/// Bounds of the score and the distance from the values of the moves, each the mover's own.
fn backed_up(moves: &[Value]) -> (Score, Score, Option<u16>) {
    let worst = Score(UNKNOWN_SCORE + 1);
    let lower = moves.iter().map(|m| m.lower.score()).max().unwrap_or(worst);
    let upper = moves.iter().map(|m| m.upper.score()).max().unwrap_or(worst);
    if lower != upper {
        return (lower, upper, None);
    }
    let mut keeping: Vec<Option<u16>> = moves
        .iter()
        .filter(|m| m.upper.score() == upper)
        .map(|m| m.score().and(m.distance()))
        .collect();
    // None sorts below every distance, so one unknown distance comes first.
    keeping.sort_unstable();
    let unknown = keeping.first().is_none_or(Option::is_none);
    let distance = match (unknown, lower.0 < 0) {
        (true, _) => None,
        (false, true) => keeping.last().copied().flatten(),
        (false, false) => keeping.first().copied().flatten(),
    };
    (lower, upper, distance)
}

impl Discounts {
    fn open(table: &Table) -> Result<Option<Discounts>, TableError> {
        let Some(discounted) = &table.manifest().discounted else { return Ok(None) };
        Ok(Some(Discounts {
            value: table.array("value")?,
            discount: discounted.discount as f32,
            // A last sweep that changed nothing leaves nothing to be forgiven.
            tolerance: match discounted.sweeps.last() {
                Some(sweep) if sweep.changed == 0 => 0.0,
                _ => discounted.theta as f32,
            },
        }))
    }

    fn prove(&self, row: usize, made: &Regenerated) -> Result<(), String> {
        let found = self.value[row];
        let wanted = match made.end {
            Some(score) => f32::from(score.outcome().value()),
            None => made
                .moves
                .iter()
                .map(|m| -self.discount * self.value[m.target])
                .fold(f32::NEG_INFINITY, f32::max),
        };
        if (found - wanted).abs() <= self.tolerance {
            return Ok(());
        }
        Err(format!("its discounted value is {found}, its successors give {wanted}"))
    }
}

fn interval(lower: Score, upper: Score) -> String {
    if lower == upper { format!("{lower}") } else { format!("{lower} to {upper}") }
}

fn plies(distance: Option<u16>) -> String {
    distance.map_or("unknown".to_string(), |d| format!("{d}"))
}
