//! Checking a table while it is read: its checksums, and that its edges lead where sweeps may look.

use std::ops::Range;

use super::{Graph, StateKind};
use crate::parallel;
use crate::table::{Table, TableError};

/// What is checked, in the order of [`LayerChecks::sums`].
const ARRAYS: [&str; 4] = ["keys", "kinds", "edge_offsets", "edge_targets"];

/// Checks a table layer by layer from the last to the first, the way in which layered games are
/// solved, so that what is checked is still at hand when it is used.
pub struct LayerChecks<'a> {
    graph: &'a Graph,
    table: &'a Table,
    /// The checksums of what has been read, from some row on to the end.
    sums: [crc32fast::Hasher; 4],
}

/// How many rows are checked at once: what they take stays in the processor's cache.
const ROWS: usize = 1 << 15;
const OFFSETS_ARE_WRONG: &str = "its offsets are wrong";

fn hasher(bytes: &[u8]) -> crc32fast::Hasher {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher
}

impl<'a> LayerChecks<'a> {
    /// Begins behind the last layer.
    pub fn new(graph: &'a Graph, table: &'a Table) -> LayerChecks<'a> {
        let last = &graph.edge_offsets()[graph.states()..];
        let sums = [&[], &[], bytemuck::cast_slice(last), &[]].map(hasher);
        LayerChecks { graph, table, sums }
    }

    /// Checks all layers.
    pub fn all(graph: &'a Graph, table: &'a Table) -> Result<(), TableError> {
        let mut checks = LayerChecks::new(graph, table);
        graph.layers().rev().try_for_each(|rows| checks.layer(rows))?;
        checks.compare()
    }

    /// Checks the edges of the layer before the one checked last, and adds it to the checksums.
    /// These only match when all are there; the edges can be followed at once.
    pub fn layer(&mut self, rows: Range<usize>) -> Result<(), TableError> {
        let some =
            |some: Range<usize>| self.some(rows.start + some.start..rows.start + some.end, &rows);
        let checked = parallel::map_ranges(rows.len(), ROWS, &some);
        let mut sums = [&[] as &[u8]; 4].map(hasher);
        for one in checked {
            let one = match one {
                Ok(one) => one,
                Err(wrong) => {
                    // What is damaged is better named by its checksum.
                    ARRAYS.iter().try_for_each(|name| self.table.check_array(name).map(drop))?;
                    return Err(wrong);
                }
            };
            sums.iter_mut().zip(one).for_each(|(sum, one)| sum.combine(&one));
        }
        for (sum, later) in sums.iter_mut().zip(&self.sums) {
            sum.combine(later);
        }
        self.sums = sums;
        Ok(())
    }

    /// Checks some rows of a layer; gives their checksums.
    fn some(
        &self,
        rows: Range<usize>,
        layer: &Range<usize>,
    ) -> Result<[crc32fast::Hasher; 4], TableError> {
        let graph = self.graph;
        // Once, and not for every row, the maps are seen as slices.
        let (offsets, targets) = (graph.edge_offsets(), graph.edge_targets());
        let between = |a: usize, b: usize| targets.get(offsets[a] as usize..offsets[b] as usize);
        let edges = |row: usize| between(row, row + 1);
        let wrong = |name: &str, what: String| TableError::damaged(&self.table.path_of(name), what);
        let complete = self.table.manifest().complete;
        for row in rows.clone() {
            match leads_on(graph, row, layer, complete, &edges) {
                Some(true) => {}
                Some(false) => {
                    let what = format!("the edges of row {row} lead nowhere");
                    return Err(wrong("edge_targets", what));
                }
                None => return Err(wrong("edge_offsets", OFFSETS_ARE_WRONG.to_string())),
            }
        }
        let own = between(rows.start, rows.end);
        let own = own.ok_or_else(|| wrong("edge_offsets", OFFSETS_ARE_WRONG.to_string()))?;
        Ok([
            hasher(graph.keys().bytes(rows.clone())),
            hasher(&graph.kinds()[rows.clone()]),
            hasher(bytemuck::cast_slice(&offsets[rows])),
            hasher(bytemuck::cast_slice(own)),
        ])
    }

    /// Compares the checksums of all layers with the manifest's.
    pub fn compare(self) -> Result<(), TableError> {
        let (offsets, edges) = (self.graph.edge_offsets(), self.graph.edge_targets().len() as u64);
        if offsets.first() != Some(&0) || offsets.last() != Some(&edges) {
            let path = self.table.path_of("edge_offsets");
            return Err(TableError::damaged(&path, OFFSETS_ARE_WRONG));
        }
        let mut sums = ARRAYS.iter().zip(self.sums);
        sums.try_for_each(|(name, sum)| self.table.compare_checksum(name, sum.finalize()))
    }
}

/// Whether the edges of a row lead where they may: in a layered game on to a later layer, or by a
/// pass to a state of the same whose own edges do; in a cyclic one, whose tables have no
/// orientations, to any state. `None` where the offsets give no edges.
#[inline]
fn leads_on<'a>(
    graph: &Graph,
    row: usize,
    layer: &Range<usize>,
    complete: bool,
    edges: &impl Fn(usize) -> Option<&'a [u32]>,
) -> Option<bool> {
    let states = graph.states();
    if !graph.has_orientations() {
        return Some(edges(row)?.iter().all(|&target| (target as usize) < states));
    }
    let (end, later) = (layer.end as u32, (states - layer.end) as u32);
    // In one comparison: not before the layer's end and not behind the last state.
    let all_later = |edges: &[u32]| {
        edges.iter().fold(true, |all, target| all & (target.wrapping_sub(end) < later))
    };
    Some(match edges(row)? {
        [] => match graph.kind(row) {
            StateKind::Terminal => true,
            StateKind::Frontier | StateKind::Restricted => !complete,
            StateKind::Interior => false,
        },
        own if all_later(own) => true,
        [pass] if layer.contains(&(*pass as usize)) => all_later(edges(*pass as usize)?),
        _ => false,
    })
}
