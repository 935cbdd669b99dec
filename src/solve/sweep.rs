//! Sweeps over a graph: every state's value from its successors', until nothing changes.
//!
//! *Topological*: layers from the last to the first, so that one sweep makes every value final and
//! a second confirms it. *Natural*: every state from the values before the sweep (Jacobi), as many
//! sweeps as the longest game has plies and one more; the order in which the 2002 thesis swept.
//! Both run on all threads and give the same bytes whatever their number.

use std::ops::Range;

use rayon::prelude::*;

use super::backup::Backup;
use super::value::Prospect;
use crate::graph::{Graph, StateKind, TerminalScores};
use crate::table::{SweepRecord, TableError};

/// In which order a sweep takes the states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Layers from the end: one sweep, and one to confirm.
    #[default]
    Topological,
    /// All states from the values before the sweep: many sweeps.
    Natural,
}

impl Order {
    /// `topological` or `natural`.
    pub fn name(self) -> &'static str {
        match self {
            Order::Topological => "topological",
            Order::Natural => "natural",
        }
    }
}

/// A graph that cannot be swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// What was asked for cannot be.
    #[error("{0}")]
    Options(String),
    /// A distance for which there is no room.
    #[error(
        "an end is {} plies away or more, for which a table has no room",
        Prospect::MAX_DISTANCE
    )]
    TooLong,
}

impl SweepError {
    /// Whether the cause is what we were given, and not a failure on our side.
    pub fn is_bad_input(&self) -> bool {
        match self {
            SweepError::Table(error) => error.is_bad_input(),
            SweepError::Options(_) | SweepError::TooLong => true,
        }
    }
}

/// A graph with the scores of its finished games, ready to be swept.
pub struct Sweep<'a, B: Backup> {
    graph: &'a Graph,
    backup: &'a B,
    terminal: &'a TerminalScores<'a>,
}

/// The change a state has seen.
#[derive(Clone, Copy)]
struct Change {
    residual: f64,
    changed: u64,
}

impl Change {
    const NONE: Change = Change { residual: 0.0, changed: 0 };

    fn and(self, other: Change) -> Change {
        Change {
            residual: self.residual.max(other.residual),
            changed: self.changed + other.changed,
        }
    }

    fn record(self) -> SweepRecord {
        SweepRecord { residual: self.residual, changed: self.changed, decided: None }
    }
}

/// How many states a task takes.
const GRAIN: usize = 1 << 12;

impl<'a, B: Backup> Sweep<'a, B> {
    /// Prepares to sweep a graph whose edges have been checked.
    pub fn new(graph: &'a Graph, backup: &'a B, terminal: &'a TerminalScores<'a>) -> Self {
        Sweep { graph, backup, terminal }
    }

    /// One sweep of a layer in topological order: `values` holds the final values of all later
    /// layers. Other layers' values are not touched.
    pub fn layer(&self, rows: Range<usize>, values: &mut [B::Value]) -> SweepRecord {
        let (head, later) = values.split_at_mut(rows.end);
        let own = &mut head[rows.clone()];
        let of_later = |target: usize| later[target - rows.end];
        let offsets = &self.graph.edge_offsets()[rows.start..=rows.end];
        let targets = self.graph.edge_targets();
        let (mut change, passes) = own
            .par_chunks_mut(GRAIN)
            .enumerate()
            .map(|(chunk, values)| {
                let mut change = Change::NONE;
                let mut passes = Vec::new();
                for (i, value) in values.iter_mut().enumerate() {
                    let place = chunk * GRAIN + i;
                    let edges = &targets[offsets[place] as usize..offsets[place + 1] as usize];
                    match edges.first() {
                        Some(&target) if (target as usize) < rows.end => {
                            passes.push((place, target as usize));
                            continue;
                        }
                        _ => {}
                    }
                    let row = rows.start + place;
                    change = change.and(self.renew(row, edges, of_later, value));
                }
                (change, passes)
            })
            .reduce(
                || (Change::NONE, Vec::new()),
                |mut a, mut b| {
                    a.1.append(&mut b.1);
                    (a.0.and(b.0), a.1)
                },
            );
        // A pass stays in the layer, and leads to a state whose own moves leave it.
        let renewed: Vec<B::Value> = passes
            .par_iter()
            .with_min_len(GRAIN)
            .map(|&(_, target)| self.backup.backup(std::iter::once(own[target - rows.start])))
            .collect();
        for ((place, _), new) in passes.into_iter().zip(renewed) {
            change = change.and(self.replace(&mut own[place], new));
        }
        change.record()
    }

    /// One sweep of all states from the values in `old` to those in `new`.
    pub fn all(&self, old: &[B::Value], new: &mut [B::Value]) -> SweepRecord {
        let offsets = self.graph.edge_offsets();
        let targets = self.graph.edge_targets();
        new.par_chunks_mut(GRAIN)
            .enumerate()
            .map(|(chunk, values)| {
                let mut change = Change::NONE;
                for (i, value) in values.iter_mut().enumerate() {
                    let row = chunk * GRAIN + i;
                    let edges = &targets[offsets[row] as usize..offsets[row + 1] as usize];
                    *value = old[row];
                    change = change.and(self.renew(row, edges, |target| old[target], value));
                }
                change
            })
            .reduce(|| Change::NONE, Change::and)
            .record()
    }

    #[inline]
    fn renew(
        &self,
        row: usize,
        edges: &[u32],
        value_of: impl Fn(usize) -> B::Value,
        value: &mut B::Value,
    ) -> Change {
        let new = if !edges.is_empty() {
            self.backup.backup(edges.iter().map(|&target| value_of(target as usize)))
        } else if self.graph.kind(row) == StateKind::Terminal {
            self.backup.terminal((self.terminal)(row))
        } else {
            self.backup.frontier()
        };
        self.replace(value, new)
    }

    #[inline]
    fn replace(&self, value: &mut B::Value, new: B::Value) -> Change {
        if *value == new {
            return Change::NONE;
        }
        let change = Change { residual: self.backup.change(*value, new), changed: 1 };
        *value = new;
        change
    }
}
