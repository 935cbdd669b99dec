//! The proof of a cyclic game's table of sorted keys, from moves made anew from the rules.
//!
//! A second road to every value, written apart from the solvers. Every row's key, kind, edges and
//! value is looked at by itself, against its successors as they stand in the columns.
//!
//! # What is proven
//!
//! *The states.* Keys unpack, are canonical and stand in one row only; a row's edges are exactly the
//! moves that the rules give it and the bounds of the enumeration let it follow. The first layer is
//! the roots; no edge leads more than one layer on, and every other row has a predecessor in the layer
//! before. So the rows are the states that can be reached, each in the layer of its distance from the
//! roots.
//!
//! *The values.* Call (state, bound) a node: its moves lead to the nodes of the successors' other
//! bounds, and along every play the same player, the hero, moves in the lower ones. A terminal or
//! frontier node has a fixed value, and so has one that is restricted and without moves. For all
//! others the value is compared with the best of what the moves give, which is an end one ply
//! further off. That makes the *ends* (wins and losses with a distance) right:
//!
//! * An end in the table can be forced. By induction on its distance: a win in d has a move to a
//!   loss in d − 1; of a loss in d every move leads to a win in at most d − 1.
//! * An end that can be forced is in the table. By induction on the distance d at which best play
//!   forces it: a win in d has a move to a loss that best play forces in d − 1, and that stands in the
//!   table so, hence the node is a win in at most d, and not in less by the first point; likewise a
//!   loss.
//!
//! *Play without end.* Agreement with the successors is not enough for the rest, since the nodes of a
//! circle may agree on anything. But at a node where neither player can force an end, both can go on
//! for ever: each has a move that keeps the other from forcing one. Who leaves such nodes against
//! that loses by an end, which is worse than anything without. So the value is what play without end
//! counts for, by the convention alone, and that is what is compared. Two things would break this and
//! are looked at. A drawn end may be better than play without end; where the convention is not a
//! draw itself, a table that has one is refused (the games there are have none). And a restricted
//! mover is given a win without end at least in the upper bound; there the convention must be that
//! nothing is known of play without end, which gives the same.
//!
//! A distance as long as there is room for is refused too, because ends further off share it, and
//! the inductions do not hold.
//!
//! *Not proven*: the rules themselves; the record of sweeps; the conventions in words.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::fate::Fates;
use crate::graph::{Graph, Remade, Remake, StateKind};
use crate::progress::Progress;
use crate::solve::{Counterexample, Verified};
use crate::table::{Counts, Table, TableError, Tally};

/// Proves a table of sorted keys whose checksums have been checked; `remake` makes rows from the
/// rules. The counterexample is the lowest row that is wrong by itself; if there is none, the lowest
/// that is not reached as it should be.
pub fn verify_cyclic(
    table: &Table,
    graph: &Graph,
    remake: &dyn Remake,
    progress: &dyn Progress,
) -> Result<Verified, TableError> {
    let fates = Fates::open(table)?;
    let states = graph.states();
    progress.begin("proving", Some(states as u64));
    let proof = Proof {
        graph,
        remake,
        fates: fates.as_ref(),
        frontier: frontier_of(table, graph),
        reached: (0..states.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
    };
    let (layers, mut first) = proof.layers(progress);
    let roots = remake.roots();
    first = first.or_else(|| proof.roots(&roots));
    first = first.or_else(|| proof.unreached());
    first = first.or_else(|| proof.bound(table));
    if first.is_none() {
        proof.manifest(table, &layers, &roots)?;
    }
    progress.finish(if first.is_none() { "proven" } else { "refuted" });
    Ok(Verified {
        states: states as u64,
        edges: layers.iter().map(|found| found.tally.transitions).sum(),
        solved: fates.is_some(),
        counterexample: first.map(|(row, what)| Counterexample {
            row,
            state: remake.describe(row),
            what,
        }),
    })
}

/// The number of the first layer whose moves are not followed: the one at the bound of the depth;
/// or the last, where the number of states is bounded and a row of it says so.
fn frontier_of(table: &Table, graph: &Graph) -> usize {
    let identity = &table.manifest().identity;
    let depth = identity.max_depth.map_or(usize::MAX, |depth| depth as usize);
    let last = graph.layers().len().saturating_sub(1);
    let is_cut = |rows: Range<usize>| graph.kinds()[rows].contains(&(StateKind::Frontier as u8));
    let cut = identity.max_states.is_some() && graph.layers().next_back().is_some_and(is_cut);
    if cut { depth.min(last) } else { depth }
}

/// A row and what is wrong with it.
type Wrong = Option<(usize, String)>;

/// What was found in a layer.
#[derive(Clone, Copy, Default)]
struct Found {
    tally: Tally,
    /// Outcomes that are proven, and distances that are exact.
    outcomes: u64,
    distances: u64,
    /// Rows whose bounds differ.
    open: u64,
}

impl Found {
    fn add(&mut self, other: &Found) {
        self.tally.add(&other.tally);
        self.outcomes += other.outcomes;
        self.distances += other.distances;
        self.open += other.open;
    }
}

/// A layer's number, its end and that of the next.
struct Layer {
    number: usize,
    end: usize,
    next_end: usize,
}

struct Proof<'a> {
    graph: &'a Graph,
    remake: &'a dyn Remake,
    fates: Option<&'a Fates>,
    /// The number of the first layer whose moves are not followed.
    frontier: usize,
    /// A bit a row: whether a row of the layer before leads to it.
    reached: Vec<AtomicU64>,
}

impl Proof<'_> {
    /// Proves layer after layer until one has a wrong row; gives what was found in each.
    fn layers(&self, progress: &dyn Progress) -> (Vec<Found>, Wrong) {
        const GRAIN: usize = 1 << 12;
        let mut layers = Vec::new();
        let ends = self.graph.layers().map(|rows| rows.end).skip(1);
        let ends = ends.chain([self.graph.states()]);
        for (number, (rows, next_end)) in self.graph.layers().zip(ends).enumerate() {
            let layer = Layer { number, end: rows.end, next_end };
            let prove = |chunk: usize| {
                let begin = rows.start + chunk * GRAIN;
                let some = begin..rows.end.min(begin + GRAIN);
                progress.advance(some.len() as u64);
                let (mut found, mut made) = (Found::default(), Remade::default());
                for row in some {
                    match self.row(row, &layer, &mut made) {
                        Ok(own) => found.add(&own),
                        Err(what) => return (found, Some((row, what))),
                    }
                }
                (found, None)
            };
            let join = |mut a: (Found, Wrong), b: (Found, Wrong)| {
                a.0.add(&b.0);
                (a.0, earlier(a.1, b.1))
            };
            let chunks = (0..rows.len().div_ceil(GRAIN)).into_par_iter();
            let (found, wrong) = chunks.map(prove).reduce(|| (Found::default(), None), join);
            layers.push(found);
            if wrong.is_some() {
                return (layers, wrong);
            }
        }
        (layers, None)
    }

    /// Proves one row of a layer.
    fn row(&self, row: usize, layer: &Layer, made: &mut Remade) -> Result<Found, String> {
        let at_frontier = layer.number >= self.frontier;
        self.remake.row(row, !at_frontier, made)?;
        let kind = match made.end {
            Some(_) => StateKind::Terminal,
            None if at_frontier => StateKind::Frontier,
            None if made.restricted => StateKind::Restricted,
            None => StateKind::Interior,
        };
        let stored = self.graph.kinds()[row];
        if stored != kind as u8 {
            return Err(format!("its kind is {stored}, the rules and bounds say {kind:?}"));
        }
        if kind == StateKind::Interior && made.moves.is_empty() {
            return Err("it has neither a move nor an end".to_string());
        }
        self.edges(row, made)?;
        for m in &made.moves {
            match m.target {
                Some(target) if target >= layer.next_end => {
                    let name = self.remake.action_name(row, m.action);
                    return Err(format!("its move {name} leads more than one layer on"));
                }
                Some(target) if target >= layer.end => self.reach(target),
                _ => {}
            }
        }
        let mut found = Found {
            tally: Tally {
                states: 1,
                terminals: u64::from(kind == StateKind::Terminal),
                passes: 0,
                frontier: u64::from(kind == StateKind::Frontier),
                transitions: made.moves.len() as u64,
            },
            ..Found::default()
        };
        if let Some(fates) = self.fates {
            let (lower, upper) = fates.prove(row, kind, made)?;
            found.outcomes = u64::from(lower.outcome() == upper.outcome());
            found.distances = u64::from(lower == upper && lower.plies().is_some());
            found.open = u64::from(lower != upper);
        }
        Ok(found)
    }

    /// That the edges are the moves.
    fn edges(&self, row: usize, made: &Remade) -> Result<(), String> {
        let offsets = self.graph.edge_offsets();
        let (begin, end) = (offsets[row], offsets[row + 1]);
        let edges = self.graph.edges() as u64;
        let last = row + 1 == self.graph.states();
        if begin > end || end > edges || (row == 0 && begin != 0) || (last && end != edges) {
            return Err("the offsets of its edges are wrong".to_string());
        }
        let range = begin as usize..end as usize;
        if range.len() != made.moves.len() {
            return Err(format!(
                "it has {} edges where {} moves are followed",
                range.len(),
                made.moves.len()
            ));
        }
        for (edge, m) in range.zip(&made.moves) {
            let name = self.remake.action_name(row, m.action);
            let target =
                m.target.ok_or_else(|| format!("its move {name} leads out of the table"))?;
            let stored = self.graph.edge_targets()[edge] as usize;
            let action = self.graph.edge_actions().get(edge);
            if (action, stored) != (m.action, target) {
                return Err(format!(
                    "its edge {} to {stored} should be {name} to {target}",
                    self.remake.action_name(row, action)
                ));
            }
        }
        Ok(())
    }

    fn reach(&self, row: usize) {
        self.reached[row / 64].fetch_or(1 << (row % 64), Ordering::Relaxed);
    }

    fn is_reached(&self, row: usize) -> bool {
        self.reached[row / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 1
    }

    /// That the roots are the first layer.
    fn roots(&self, roots: &[Option<usize>]) -> Wrong {
        let first = self.graph.layers().next().unwrap_or(0..0);
        for root in roots {
            match root {
                None => return Some((0, "a root is not in the table".to_string())),
                Some(row) if !first.contains(row) => {
                    return Some((*row, "it is a root and not in the first layer".to_string()));
                }
                Some(_) => {}
            }
        }
        let unexpected = first.into_iter().find(|&row| !roots.contains(&Some(row)));
        unexpected.map(|row| (row, "it is in the first layer and no root".to_string()))
    }

    /// The first row behind the first layer to which no row of the layer before leads.
    fn unreached(&self) -> Wrong {
        let begin = self.graph.layers().next().map_or(0, |rows| rows.end);
        let row = (begin..self.graph.states()).into_par_iter().find_first(|&r| !self.is_reached(r));
        row.map(|row| (row, "no row of the layer before leads to it".to_string()))
    }

    /// That the last layer had to be cut off, if the bound of the number of states has done it.
    fn bound(&self, table: &Table) -> Wrong {
        let identity = &table.manifest().identity;
        let most = identity.max_states?;
        let states = self.graph.states() as u64;
        if states > most {
            return Some((most as usize, "it is beyond the bound of the states".to_string()));
        }
        let by_depth = identity.max_depth.map_or(usize::MAX, |depth| depth as usize);
        if self.frontier >= by_depth {
            return None;
        }
        let last = self.graph.layers().next_back()?;
        let cut = |&row: &usize| self.graph.kind(row) == StateKind::Frontier;
        let row = last.clone().find(cut)?;
        match self.remake.leads_beyond(last, most - states) {
            true => None,
            false => Some((row, "it is at the frontier, but there is room behind it".to_string())),
        }
    }

    /// That the manifest says of the rows and roots what was found.
    fn manifest(
        &self,
        table: &Table,
        layers: &[Found],
        roots: &[Option<usize>],
    ) -> Result<(), TableError> {
        let manifest = table.manifest();
        let wrong = |what: &str| {
            Err(TableError::damaged(&table.dir().join("manifest.json"), what.to_string()))
        };
        let only = |table: Tally| Counts { table, ..Counts::default() };
        let mut all = Found::default();
        layers.iter().for_each(|found| all.add(found));
        if manifest.counts != only(all.tally)
            || manifest.first_layer != 0
            || !layers.iter().map(|found| only(found.tally)).eq(manifest.layers.iter().copied())
            || layers.iter().any(|found| found.tally.states == 0)
        {
            return wrong("its counts are not those of the rows");
        }
        if manifest.complete != (all.tally.frontier == 0 && !manifest.identity.checks_only) {
            return wrong("whether it is complete is not what its rows say");
        }
        let ids = manifest.root_ids.iter().map(|&id| Some(id as usize));
        if !ids.eq(roots.iter().copied()) {
            return wrong("its root_ids are not the rows of its roots");
        }
        if manifest.discounted.is_some() {
            return wrong("it tells of discounted values, which such tables do not have");
        }
        let (Some(solution), Some(fates)) = (&manifest.solution, self.fates) else {
            return Ok(());
        };
        if (solution.proven_outcomes, solution.exact_distances) != (all.outcomes, all.distances) {
            return wrong("its solution does not prove as much as it says");
        }
        if fates.has_bounds() != (all.open > 0) {
            return wrong("it keeps bounds where every value is exact");
        }
        let values = manifest.root_ids.iter().map(|&id| fates.root_value(id as usize));
        if !values.eq(solution.roots.iter().map(|root| Some(root.clone()))) {
            return wrong("the values it gives its roots are not those of their rows");
        }
        Ok(())
    }
}

fn earlier(a: Wrong, b: Wrong) -> Wrong {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}
