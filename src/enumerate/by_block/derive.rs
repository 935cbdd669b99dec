//! Moves of a table of blocks that does not store them, derived layer by layer.

use std::ops::Range;
use std::sync::Arc;

use super::layer::Layer;
use super::tasks::{Emit, EmitTask, TaskRows, Workspace};
use crate::error::Error;
#[cfg(target_arch = "x86_64")]
use crate::games::othello::blocks::Instructions;
use crate::games::othello::blocks::{Bits, Blocks, Tables};
use crate::parallel::{self, Spare};
use crate::rules::{Group, Rules};
use crate::table::Memory;
use crate::table::rows::add_up;

/// Source of moves for the rows of a game's blocks, independent of the implementation of `Bits`.
pub trait Deriver: Send + Sync {
    /// Returns the layer of ascending keys; `None` if they are not keys of a layer with this number in order.
    fn layer(&self, number: u32, keys: &[u64], memory: &Memory) -> Result<Option<Layer>, Error>;

    /// Returns the moves of a task of a layer to rows of it and the next, whose first rows have the ids
    /// `bases`; `None` if a move leads to no state.
    fn moves(
        &self,
        layers: [&Layer; 2],
        bases: [u32; 2],
        task: usize,
        memory: (&mut Workspace, TaskRows),
    ) -> Option<TaskRows>;
}

/// Returns the deriver of a game that has blocks, the fastest that this processor supports.
pub(crate) fn deriver(game: &dyn Rules) -> Box<dyn Deriver> {
    #[cfg(target_arch = "x86_64")]
    if Instructions::are_available() {
        return Box::new((Blocks::<Instructions>::new(game), game.group().clone()));
    }
    Box::new((Blocks::<Tables>::new(game), game.group().clone()))
}

impl<B: Bits> Deriver for (Blocks<B>, Group) {
    fn layer(&self, number: u32, keys: &[u64], memory: &Memory) -> Result<Option<Layer>, Error> {
        let rules = &self.0;
        let is_right = |rows: Range<usize>| {
            let ascend = keys[rows.start.saturating_sub(1)..rows.end].is_sorted_by(|a, b| a < b);
            ascend && keys[rows].iter().all(|&key| rules.has_key(number, key))
        };
        let checked = parallel::map_ranges(keys.len(), parallel::GRAIN, &is_right);
        if checked.contains(&false) {
            return Ok(None);
        }
        Layer::of_keys(rules, number, keys, memory).map(Some)
    }

    fn moves(
        &self,
        [layer, next]: [&Layer; 2],
        bases: [u32; 2],
        task: usize,
        (workspace, rows): (&mut Workspace, TaskRows),
    ) -> Option<TaskRows> {
        let (rules, group) = (&self.0, &self.1);
        let orientations = [&[][..]; 2];
        let of = EmitTask { rules, group, layer, next, orientations, bases, task, workspace, rows };
        B::run(Emit::<B, true, false>(of))
    }
}

impl Layer {
    /// Returns the closed layer of ascending keys.
    pub(super) fn of_keys<B: Bits>(
        rules: &Blocks<B>,
        number: u32,
        keys: &[u64],
        memory: &Memory,
    ) -> Result<Layer, Error> {
        let of = |rows: Range<usize>| -> Vec<u32> {
            let of_blocks = keys[rows].chunk_by(|&a, &b| rules.occupied(a) == rules.occupied(b));
            of_blocks.map(|keys| rules.occupied(keys[0])).collect()
        };
        let mut blocks = parallel::map_ranges(keys.len(), parallel::GRAIN, &of).concat();
        blocks.dedup();
        let mut layer = Layer::new(number, blocks, memory)?;
        parallel::map_ranges(keys.len(), parallel::GRAIN, &|some| {
            for of_block in keys[some].chunk_by(|&a, &b| rules.occupied(a) == rules.occupied(b)) {
                let block = layer.led_to(rules.occupied(of_block[0]));
                for &key in of_block {
                    layer.mark(layer.bit(block, rules.of_key(key).1));
                }
            }
        });
        layer.close();
        Ok(layer)
    }
}

/// Layer and the id of its first row.
pub(in crate::enumerate) type Numbered = (Layer, u32);

/// Moves of the rows of a layer, made in tasks.
pub(in crate::enumerate) struct DerivedMoves<'a> {
    deriver: &'a dyn Deriver,
    /// The layer and the next.
    layers: [Arc<Numbered>; 2],
    /// Reused buffers.
    spare: Spare<(Workspace, TaskRows)>,
}

impl<'a> DerivedMoves<'a> {
    /// Returns the moves of the first layer, which lead to rows of both.
    pub(crate) fn new(deriver: &'a dyn Deriver, layers: [Arc<Numbered>; 2]) -> DerivedMoves<'a> {
        DerivedMoves { deriver, layers, spare: Spare::default() }
    }

    /// Returns the rows of each task, counted from the first of the layer.
    pub(crate) fn pieces(&self) -> Vec<Range<usize>> {
        let layer = &self.layers[0].0;
        let rows = |task: usize| layer.rows_before(task)..layer.rows_before(task + 1);
        (0..layer.tasks()).map(rows).collect()
    }

    /// Calls `visit` with the offsets of a task's rows among its edges (one more than there are rows) and the
    /// ids of the edges' targets. Returns `false` if a move leads to no state or `visit` does.
    pub(crate) fn visit(
        &self,
        task: usize,
        offsets: &mut Vec<u32>,
        visit: &mut dyn FnMut(&[u32], &[u32]) -> bool,
    ) -> bool {
        let (mut workspace, rows) = self.spare.take();
        let [own, next] = self.layers.each_ref().map(|layer| &**layer);
        let (layers, bases) = ([&own.0, &next.0], [own.1, next.1]);
        let made = self.deriver.moves(layers, bases, task, (&mut workspace, rows));
        let Some(rows) = made else { return false };
        add_up(&rows.edge_counts, offsets);
        let found = visit(offsets, &rows.targets);
        self.spare.give((workspace, rows.emptied()));
        found
    }
}
