//! The moves of a table of blocks that does not store them, made anew layer by layer.

use std::ops::Range;

use super::layer::Layer;
use super::tasks::{Emit, Rows, Task, Workspace};
#[cfg(target_arch = "x86_64")]
use crate::game::othello::blocks::Instructions;
use crate::game::othello::blocks::{Bits, Blocks, Tables};
use crate::game::{Game, GameExt, Group};
use crate::graph::view::add_up;
use crate::parallel::{self, Spare};
use crate::table::{Memory, TableError};

/// Makes the moves of some game's blocks, whatever bits it has.
trait Derive: Send + Sync {
    /// The layer of some keys; `None` if they are not those of a layer with this number, ascending.
    fn layer(
        &self,
        number: u32,
        keys: &[u64],
        memory: &Memory,
    ) -> Result<Option<Layer>, TableError>;

    /// The moves of a task of a layer to rows of it and the next, whose first rows have the ids
    /// `bases`; `None` if one leads nowhere.
    fn moves(
        &self,
        layers: [&Layer; 2],
        bases: [u32; 2],
        task: usize,
        memory: (&mut Workspace, Rows),
    ) -> Option<Rows>;
}

/// Makes the moves of the rows of a game's blocks.
pub struct Deriver(Box<dyn Derive>);

impl Deriver {
    /// The deriver of a game that has blocks, as fast as this processor can be.
    pub fn new<G: Game>(game: &G) -> Deriver {
        #[cfg(target_arch = "x86_64")]
        if Instructions::are_there() {
            return Deriver(Box::new((Blocks::<Instructions>::new(game), game.group().clone())));
        }
        Deriver(Box::new((Blocks::<Tables>::new(game), game.group().clone())))
    }

    /// The layer of some keys; `None` if they are not those of a layer with this number, ascending.
    pub(in crate::graph) fn layer(
        &self,
        number: u32,
        keys: &[u64],
        memory: &Memory,
    ) -> Result<Option<Layer>, TableError> {
        self.0.layer(number, keys, memory)
    }
}

impl<B: Bits> Derive for (Blocks<B>, Group) {
    fn layer(
        &self,
        number: u32,
        keys: &[u64],
        memory: &Memory,
    ) -> Result<Option<Layer>, TableError> {
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
        (workspace, rows): (&mut Workspace, Rows),
    ) -> Option<Rows> {
        let (rules, group) = (&self.0, &self.1);
        let orientations = [&[][..]; 2];
        let of = Task { rules, group, layer, next, orientations, bases, task, workspace, rows };
        B::run(Emit::<B, true, false>(of))
    }
}

impl Layer {
    /// The layer of ascending keys, closed.
    pub(super) fn of_keys<B: Bits>(
        rules: &Blocks<B>,
        number: u32,
        keys: &[u64],
        memory: &Memory,
    ) -> Result<Layer, TableError> {
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

/// The moves of the rows of a layer, made in tasks.
pub struct DerivedMoves<'a> {
    deriver: &'a Deriver,
    layer: &'a Layer,
    next: &'a Layer,
    bases: [u32; 2],
    /// Memory that has served before.
    spare: Spare<(Workspace, Rows)>,
}

impl<'a> DerivedMoves<'a> {
    /// The moves of a layer to rows of it and the next, whose first rows have the ids `bases`.
    pub(in crate::graph) fn new(
        deriver: &'a Deriver,
        [layer, next]: [&'a Layer; 2],
        bases: [u32; 2],
    ) -> DerivedMoves<'a> {
        DerivedMoves { deriver, layer, next, bases, spare: Spare::default() }
    }

    /// The rows of each task, counted from the first of the layer.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        let rows = |task: usize| self.layer.rows_before(task)..self.layer.rows_before(task + 1);
        (0..self.layer.tasks()).map(rows).collect()
    }

    /// Calls `visit` with the offsets of a task's rows among its edges, one more than there are
    /// rows, and the ids to which the edges lead. False if one leads nowhere, or if that is.
    pub fn visit(
        &self,
        task: usize,
        offsets: &mut Vec<u32>,
        visit: &mut dyn FnMut(&[u32], &[u32]) -> bool,
    ) -> bool {
        let (mut workspace, rows) = self.spare.take();
        let (layers, memory) = ([self.layer, self.next], (&mut workspace, rows));
        let made = self.deriver.0.moves(layers, self.bases, task, memory);
        let Some(rows) = made else { return false };
        add_up(&rows.edge_counts, offsets);
        let found = visit(offsets, &rows.targets);
        self.spare.give((workspace, rows.emptied()));
        found
    }
}
