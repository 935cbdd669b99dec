//! Builder of tables of layered games whose states come in [`Blocks`]: layer by layer, without sorting.
//!
//! A layer is a bitmap for each block; memory holds three layers and the rows being written. Expanding a
//! layer sets bits in the next layer's bitmaps; the row of a state is the number of bits before its own. The
//! moves of a layer are made twice: first to find the states of the next layer, and again, once that is
//! closed under passes and has its rows, to write their targets. Rows are in key order, so the table equals
//! the one that [`ByKey`](super::by_key) makes.

mod derive;
mod layer;
mod tasks;

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

pub(super) use self::derive::{DerivedMoves, Numbered};
pub(crate) use self::derive::{Deriver, deriver};
pub(super) use self::layer::Layer;
use self::layer::{Closed, reach};
pub use self::tasks::TaskStates;
use self::tasks::{Emit, EmitTask, Find, KeyTask, Passes, TaskRows, Workspace};
use super::builder::{BuildState, Builder, declare, edge_starts, has_wide_orientations};
use super::census::Census;
use super::plan::Plan;
use crate::enumerate::{no_root, too_many_states};
use crate::error::Error;
use crate::games::othello::blocks::{Bits, Blocks};
use crate::parallel::{self, Spare};
use crate::progress::Progress;
use crate::rules::{Group, Orientations, Rules};
use crate::table::{Buffer, Counts, Draft, Ints, Lengths, Memory};

/// Enumeration of a game that has blocks.
pub(super) struct ByBlock<B: Bits> {
    rules: Blocks<B>,
    group: Group,
    state: BuildState,
    /// Layer whose keys are written and whose edges are not.
    layer: Closed,
    /// Successors of the layer, not yet closed.
    next: Layer,
    /// `true` if orientations take two bytes.
    wide: bool,
    /// `true` if moves are not stored.
    derived: bool,
    memory: Memory,
}

/// Adds to the targets of passes the orientations in which these reach them.
fn pass_on<B: Bits>(rules: &Blocks<B>, group: &Group, closed: &Closed, passes: &Passes) {
    let Closed { layer, orientations } = closed;
    parallel::map_ranges(passes.len(), parallel::GRAIN, &|some| {
        // Preparing a block costs more than a pass, and the passes of a block are adjacent.
        for of_block in passes[some].chunk_by(|a, b| a.0 == b.0) {
            let number = of_block[0].0 as usize;
            let block = rules.block(layer.blocks[number]);
            for &(_, place) in of_block {
                let (after, ties) = rules.swapped(&block, rules.mover(&block, place));
                let [from, to] =
                    [place, after].map(|p| &orientations[layer.row(layer.bit(number, p)) as usize]);
                let own = Orientations(from.load(Ordering::Relaxed));
                reach(to, group.successor_orientations(own, ties));
            }
        }
    });
}

impl<'a, B: Bits> Builder<'a> for ByBlock<B> {
    type State = BuildState;

    fn open(
        game: &'a dyn Rules,
        plan: &'a Plan,
        draft: &mut Draft,
        resumed: Option<(BuildState, Lengths)>,
    ) -> Result<Self, Error> {
        let lengths = resumed.as_ref().map(|(_, lengths)| lengths);
        let (wide, derived) = (has_wide_orientations(game), plan.derived);
        // No board of 32 squares has more actions than fit in a byte.
        let actions = (!derived).then_some(false);
        declare(draft, 1, actions, lengths)?;
        Ints::grow(draft, "orientations", wide, lengths)?;
        let (rules, group) = (Blocks::new(game), game.group().clone());
        let memory = draft.memory(plan.max_memory);
        let is_new = resumed.is_none();
        let (state, layer, next) = if let Some((state, _)) = resumed {
            let first = plan.roots.first().map_or(0, |root| game.layer(&root.state));
            if !state.fits(draft, first) {
                return Err(draft.inconsistent());
            }
            let (layer, next) = reload(&rules, draft, &state, wide, &memory)?;
            (state, layer, next)
        } else {
            let roots = plan.roots.iter().filter_map(|root| {
                let (occupied, place, ties) = rules.place_of(game.squares(&root.state)?);
                Some((occupied, place, group.root_orientations(root.side, ties)))
            });
            let roots: Vec<(u32, u32, Orientations)> = roots.collect();
            let (layer, next, root_ids) = begin(&rules, &group, &roots, &memory)?;
            let mut state = BuildState::new(layer.layer.number);
            state.offsets.push(layer.layer.rows as u64);
            state.root_ids = root_ids;
            (state, layer, next)
        };
        let work = ByBlock { rules, group, state, layer, next, wide, derived, memory };
        if is_new {
            work.append_states(draft)?;
        }
        Ok(work)
    }

    fn next_layer(&self) -> u32 {
        self.layer.layer.number
    }

    fn state(&self) -> &BuildState {
        &self.state
    }

    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, Error> {
        let started = Instant::now();
        let after = empty_next(&self.rules, &self.next, &self.memory)?;
        let passes = find(&self.rules, &mut self.next, &after);
        let finding = started.elapsed();
        let layer = std::mem::replace(&mut self.next, after);
        let total = self.state.offsets.last().copied().unwrap_or(0) + layer.rows as u64;
        if total > u64::from(u32::MAX) {
            return Err(too_many_states(total));
        }
        let orientations = self.memory.zeros(layer.rows)?;
        let next = Closed { layer, orientations };
        let counts = self.append_edges(draft, &next, progress)?;
        self.state.counts.push(counts);
        pass_on(&self.rules, &self.group, &next, &passes);
        let Layer { number, rows, blocks, .. } = &self.layer.layer;
        let (blocks, seconds) = (blocks.len(), started.elapsed().as_secs_f64());
        progress.log(format_args!(
            "layer complete layer={number} states={rows} blocks={blocks} finding={:.6} seconds={seconds:.6}",
            finding.as_secs_f64()
        ));
        self.layer = next;
        if self.layer.layer.rows == 0 {
            return Ok(false);
        }
        self.state.offsets.push(total);
        self.append_states(draft)?;
        Ok(true)
    }

    fn finish(self, draft: &mut Draft) -> Result<BuildState, Error> {
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&self.state.offsets))])?;
        Ok(self.state)
    }
}

impl<B: Bits> ByBlock<B> {
    /// Appends the keys and orientations of the layer just found.
    fn append_states(&self, draft: &mut Draft) -> Result<(), Error> {
        let Closed { layer, orientations } = &self.layer;
        let (spare, spare_keys) = (Spare::<Workspace>::default(), Spare::<Vec<u64>>::default());
        let make = |task| {
            let (mut workspace, keys) = (spare.take(), spare_keys.take());
            let rules = &self.rules;
            let keys = B::run(KeyTask { rules, layer, task, workspace: &mut workspace, keys });
            spare.give(workspace);
            keys
        };
        let mut row = 0;
        in_groups((layer, &self.memory), &make, &mut |made| {
            for mut keys in made {
                let own = orientations[row..row + keys.len()].iter();
                let own: Vec<u16> = own.map(|own| own.load(Ordering::Relaxed)).collect();
                row += keys.len();
                draft.append(&[
                    ("keys", bytemuck::cast_slice(&keys)),
                    ("orientations", &Ints::bytes(&own, self.wide)),
                ])?;
                keys.clear();
                spare_keys.give(keys);
            }
            Ok(())
        })
    }

    /// Appends the kinds and edges of the layer, whose targets are known now.
    fn append_edges(
        &mut self,
        draft: &mut Draft,
        next: &Closed,
        progress: &dyn Progress,
    ) -> Result<Counts, Error> {
        let (state, mut census) = (&mut self.state, Census::default());
        let offsets = &state.offsets;
        let bases = [offsets[offsets.len() - 2] as u32, offsets[offsets.len() - 1] as u32];
        let (rules, group, Closed { layer, orientations }) =
            (&self.rules, &self.group, &self.layer);
        let orientations = [&orientations[..], &next.orientations];
        let (next, derived) = (&next.layer, self.derived);
        let (spare, spare_rows) = (Spare::<Workspace>::default(), Spare::<TaskRows>::default());
        let make = |task: usize| {
            let (mut workspace, rows) = (spare.take(), spare_rows.take());
            let workspace = &mut workspace;
            let of =
                EmitTask { rules, group, layer, next, orientations, bases, task, workspace, rows };
            let rows = match derived {
                true => B::run(Emit::<B, false, true>(of)),
                false => B::run(Emit::<B, true, true>(of)),
            };
            spare.give(std::mem::take(workspace));
            rows
        };
        in_groups((layer, &self.memory), &make, &mut |made: Vec<Option<TaskRows>>| {
            for rows in made {
                // Every target has been found, unless the draft is invalid.
                let rows = rows.ok_or_else(|| draft.inconsistent())?;
                census.add(&rows.census);
                progress.advance(rows.census.table.states);
                if !derived {
                    let counts = rows.edge_counts.iter().map(|&count| u64::from(count));
                    let starts = edge_starts(draft, &mut state.edges, counts);
                    draft.append(&[
                        ("kinds", &rows.kinds),
                        ("edge_counts", &rows.edge_counts),
                        ("edge_starts", bytemuck::cast_slice(&starts)),
                        ("edge_targets", bytemuck::cast_slice(&rows.targets)),
                        ("edge_actions", &rows.actions),
                    ])?;
                }
                spare_rows.give(rows.emptied());
            }
            Ok(())
        })?;
        Ok(census.counts(census.table.states))
    }
}

/// Makes something of each task of a layer and writes it, one group of tasks while the next is made.
fn in_groups<T: Send>(
    (layer, memory): (&Layer, &Memory),
    make: &(dyn Fn(usize) -> T + Sync),
    write: &mut (dyn FnMut(Vec<T>) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let mut made = Vec::new();
    for tasks in layer.groups(memory) {
        let before = std::mem::take(&mut made);
        let (more, written) = rayon::join(
            || parallel::map(tasks.len(), &|task| make(tasks.start + task)),
            || write(before),
        );
        written?;
        made = more;
    }
    write(made)
}

/// Returns the layer that a layer's placements may lead to, without states.
fn empty_next<B: Bits>(rules: &Blocks<B>, layer: &Layer, memory: &Memory) -> Result<Layer, Error> {
    let some = |blocks: Range<usize>| {
        let with_states = blocks.filter(|&block| {
            let words = block * layer.words..(block + 1) * layer.words;
            layer.bits[words].iter().any(|word| word.load(Ordering::Relaxed) != 0)
        });
        let mut next: Vec<u32> =
            with_states.flat_map(|block| rules.next(layer.blocks[block])).collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    let mut next = parallel::map_ranges(layer.blocks.len(), 1 << 8, &some).concat();
    next.sort_unstable();
    next.dedup();
    Layer::new(layer.number + 1, next, memory)
}

/// Marks the successors of a layer in a slice of the next. With the first slice, also adds the targets of
/// passes to the layer and returns the states that must pass.
fn find_slice<B: Bits>(
    rules: &Blocks<B>,
    layer: &Layer,
    next: &Layer,
    slice: &Range<usize>,
) -> Passes {
    let spare = Spare::default();
    let passes = parallel::map(layer.tasks(), &|task| {
        let (slice, mut workspace) = (slice.clone(), spare.take());
        let work = Find { rules, layer, next, slice, task, workspace: &mut workspace };
        let made = B::run(work);
        spare.give(workspace);
        made
    });
    passes.concat()
}

/// Closes a layer under passes and marks its successors slice by slice; returns the states that must pass.
fn find<B: Bits>(rules: &Blocks<B>, layer: &mut Layer, next: &Layer) -> Passes {
    let slices = next.slices().into_iter();
    let passes: Vec<Passes> = slices.map(|slice| find_slice(rules, layer, next, &slice)).collect();
    layer.close();
    passes.concat()
}

/// Returns the layer of the roots, its successors, and the row of each root.
fn begin<B: Bits>(
    rules: &Blocks<B>,
    group: &Group,
    roots: &[(u32, u32, Orientations)],
    memory: &Memory,
) -> Result<(Closed, Layer, Vec<u64>), Error> {
    let mut blocks: Vec<u32> = roots.iter().map(|root| root.0).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let number = blocks.first().ok_or_else(no_root)?.count_ones();
    let mut layer = Layer::new(number, blocks, memory)?;
    for &(occupied, place, _) in roots {
        layer.mark(layer.bit(layer.led_to(occupied), place));
    }
    let next = empty_next(rules, &layer, memory)?;
    let passes = find(rules, &mut layer, &next);
    let orientations: Buffer<AtomicU16> = memory.zeros(layer.rows)?;
    let row = |&(occupied, place, own): &(u32, u32, Orientations)| {
        let row = layer.row(layer.bit(layer.led_to(occupied), place));
        orientations[row as usize].fetch_or(own.0, Ordering::Relaxed);
        u64::from(row)
    };
    let rows = roots.iter().map(row).collect();
    let closed = Closed { layer, orientations };
    pass_on(rules, group, &closed, &passes);
    Ok((closed, next, rows))
}

/// Reads the layer to be expanded from a draft with a checkpoint, and finds its successors again.
fn reload<B: Bits>(
    rules: &Blocks<B>,
    draft: &Draft,
    state: &BuildState,
    wide_orientations: bool,
    memory: &Memory,
) -> Result<(Closed, Layer), Error> {
    let (number, rows) = (state.next_layer(), state.last_layer().len());
    let keys = draft.tail::<u64>("keys", rows)?;
    let are_in_order = keys.is_sorted_by(|a, b| a < b);
    if keys.is_empty() || !are_in_order || !keys.iter().all(|&key| rules.has_key(number, key)) {
        return Err(draft.damaged("keys", "the last keys belong to another layer"));
    }
    let mut layer = Layer::of_keys(rules, number, &keys, memory)?;
    drop(keys);
    let next = empty_next(rules, &layer, memory)?;
    find(rules, &mut layer, &next);
    if layer.rows != rows {
        return Err(draft.damaged("keys", "a pass leads out of the table, or a key is duplicate"));
    }
    let mut orientations: Buffer<AtomicU16> = memory.zeros(rows)?;
    let sets = Ints::tail(draft, "orientations", wide_orientations, rows)?;
    for (own, set) in orientations.iter_mut().zip(sets) {
        *own.get_mut() = set;
    }
    Ok((Closed { layer, orientations }, next))
}
