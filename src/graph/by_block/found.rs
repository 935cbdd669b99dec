//! Which states a layer leads to; and, so that a later process need not find them again, in bytes of a draft.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::ByBlock;
use super::layer::Layer;
use super::tasks::{Find, Passes};
use crate::game::blocks::{Bits, Blocks, Work};
use crate::graph::GraphError;
use crate::graph::packed::code::{put, take};
use crate::parallel::{self, Spare};
use crate::table::{Draft, Memory, TableError};

/// The arrays of a draft that hold the states found of a layer that is not closed: those of even layers and those
/// of odd ones.
pub(super) const FOUND: [&str; 2] = ["found_even", "found_odd"];
/// The one that holds which states of the layer before must pass.
pub(super) const PASSES: &str = "passes";
/// Words of a layer whose states are made bytes in one task, and in how many tasks before they are written.
const WORDS: usize = 1 << 14;
const TASKS: usize = 1 << 7;
/// States that are taken at once, and that are made bytes together.
const AT_ONCE: usize = 1 << 12;
const NEAR: usize = 1 << 6;
/// Bytes of a length.
const LENGTH: usize = size_of::<u64>();

/// The array of what is found of a layer.
pub(super) fn found_of(layer: &Layer) -> &'static str {
    FOUND[layer.number as usize % 2]
}

/// The layer that a layer's placements may lead to, without states.
pub(super) fn empty_next<B: Bits>(
    rules: &Blocks<B>,
    layer: &Layer,
    memory: &Memory,
) -> Result<Layer, TableError> {
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

/// Marks what a layer leads to in a slice of the next; with the first slice, adds to the layer what passes lead
/// to, and gives the states that must pass.
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

/// Closes a layer under passes and marks what it leads to, slice by slice; gives the states that must
/// pass.
pub(super) fn find<B: Bits>(rules: &Blocks<B>, layer: &mut Layer, next: &Layer) -> Passes {
    let slices = next.slices(0).into_iter();
    let passes: Vec<Passes> = slices.map(|slice| find_slice(rules, layer, next, &slice)).collect();
    layer.close();
    passes.concat()
}

impl<B: Bits> ByBlock<B> {
    /// Closes the next layer and marks what it leads to in `after`, of which an earlier process may have found
    /// some; gives the states that must pass.
    pub(super) fn find(&mut self, draft: &mut Draft, after: &Layer) -> Result<Passes, GraphError> {
        let started = Instant::now();
        let (array, mut passes) = (found_of(after), Passes::new());
        let begun = self.state.begun.as_ref().map_or(0, |begun| begun.blocks as usize);
        // Where it takes long: a layer differs little in size from the one before.
        let is_kept =
            draft.has(found_of(&self.next)) || begun > 0 || self.finding >= self.checkpoint_after;
        if begun > 0 {
            passes = self.found_before(draft, after).ok_or_else(|| draft.astray())?;
        } else if is_kept {
            draft.grow::<u8>(array, true, None)?;
            draft.grow::<u64>(PASSES, true, None)?;
        }
        for slice in after.slices(begun) {
            let found = find_slice(&self.rules, &self.next, after, &slice);
            if is_kept {
                self.append_found(draft, after, &slice, &found)?;
                self.state.begun.get_or_insert_default().blocks = slice.end as u64;
                self.secured.save_if_due(draft, &self.state)?;
            }
            passes.extend(found);
        }
        self.next.close();
        self.finding = started.elapsed();
        Ok(passes)
    }

    /// Appends the states of a slice, and those that must pass.
    fn append_found(
        &self,
        draft: &mut Draft,
        after: &Layer,
        slice: &Range<usize>,
        passes: &Passes,
    ) -> Result<(), TableError> {
        let number = |&(block, place): &(u32, u32)| u64::from(block) << 32 | u64::from(place);
        let passes: Vec<u64> = passes.iter().map(number).collect();
        draft.append(&[(PASSES, bytemuck::cast_slice(&passes))])?;
        let spare = Spare::<(Vec<u8>, Vec<u32>)>::default();
        let of_task = (WORDS / after.words).max(1);
        for first in slice.clone().step_by(TASKS * of_task) {
            let blocks = slice.end.min(first + TASKS * of_task) - first;
            let coded = parallel::map_ranges(blocks, of_task, &|some| {
                let (mut bytes, mut room) = spare.take();
                let blocks = first + some.start..first + some.end;
                B::run(Code { layer: after, blocks, bytes: &mut bytes, room: &mut room });
                (bytes, room)
            });
            for (mut bytes, room) in coded {
                draft.append(&[(found_of(after), &bytes)])?;
                bytes.clear();
                spare.give((bytes, room));
            }
        }
        Ok(())
    }

    /// Marks what an earlier process has found; gives the states that must pass, which it had found with the
    /// first slice. `None` if that is not what it can have found.
    fn found_before(&self, draft: &Draft, after: &Layer) -> Option<Passes> {
        after.read_found(draft)?;
        let passes = draft.tail::<u64>(PASSES, draft.rows(PASSES)? as usize).ok()?;
        let (rules, layer) = (&self.rules, &self.next);
        let pass_on = |some: Range<usize>| -> Option<Passes> {
            let mut found = Passes::with_capacity(some.len());
            for of_block in passes[some].chunk_by(|a, b| a >> 32 == b >> 32) {
                let number = (of_block[0] >> 32) as usize;
                let block = rules.block(*layer.blocks.get(number)?);
                for &pass in of_block {
                    let place = pass as u32;
                    let fits = u64::from(place) >> layer.number == 0;
                    if !fits || !layer.contains(layer.bit(number, place)) {
                        return None;
                    }
                    let (swapped, _) = rules.swapped(&block, rules.mover(&block, place));
                    layer.mark(layer.bit(number, swapped));
                    found.push((number as u32, place));
                }
            }
            Some(found)
        };
        let found = parallel::map_ranges(passes.len(), parallel::GRAIN, &pass_on);
        Some(found.into_iter().collect::<Option<Vec<_>>>()?.concat())
    }
}

/// Adds the states of some blocks, if there are any, to bytes that [`Layer::read_coded`] reads: how many bytes
/// follow, and how many places are left out before each state, from the first place of the layer on.
struct Code<'a> {
    layer: &'a Layer,
    blocks: Range<usize>,
    bytes: &'a mut Vec<u8>,
    /// For places meanwhile.
    room: &'a mut Vec<u32>,
}

impl Work for Code<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Code { layer, blocks, bytes, room } = self;
        let begin = bytes.len() + LENGTH;
        bytes.resize(begin, 0);
        let (mut next, mut near) = (0, [0; 2 * NEAR]);
        for block in blocks {
            let first = (block * layer.words) as u64 * 64;
            let mut words = block * layer.words..(block + 1) * layer.words;
            while !Range::is_empty(&words) {
                for some in layer.take_places(&mut words, AT_ONCE, room).chunks(NEAR) {
                    let mut count = 0;
                    for &place in some {
                        let at = first + u64::from(place);
                        let skipped = at - next;
                        next = at + 1;
                        if skipped >> 14 != 0 {
                            bytes.extend_from_slice(&near[..count]);
                            count = 0;
                            put(bytes, skipped);
                            continue;
                        }
                        // One byte or two, without a branch.
                        let more = u8::from(skipped > 0x7f);
                        near[count] = skipped as u8 & 0x7f | more << 7;
                        near[count + 1] = (skipped >> 7) as u8;
                        count += 1 + usize::from(more);
                    }
                    bytes.extend_from_slice(&near[..count]);
                }
            }
        }
        match (bytes.len() - begin) as u64 {
            0 => bytes.truncate(begin - LENGTH),
            length => bytes[begin - LENGTH..begin].copy_from_slice(&length.to_le_bytes()),
        }
    }
}

impl Layer {
    /// Marks states; `None` if the bytes are not those of states.
    fn read_coded(&self, mut bytes: &[u8]) -> Option<()> {
        let mut parts = Vec::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (part, rest) = rest.split_at_checked(length)?;
            parts.push(part);
            bytes = rest;
        }
        let read = parallel::map(parts.len(), &|part| self.read_part(parts[part]));
        read.into_iter().collect()
    }

    fn read_part(&self, mut bytes: &[u8]) -> Option<()> {
        // Blocks of fewer than 64 places have a word each.
        let (places, mut next) = (1 << self.number.min(6), 0u64);
        while let Some((&byte, rest)) = bytes.split_first() {
            let skipped = match byte < 0x80 {
                true => {
                    bytes = rest;
                    u64::from(byte)
                }
                false => take(&mut bytes)?,
            };
            let at = next.checked_add(skipped)?;
            if at % 64 >= places || at / 64 >= self.bits.len() as u64 {
                return None;
            }
            self.mark(((at / 64) as usize, (at % 64) as u32));
            next = at + 1;
        }
        Some(())
    }

    /// Marks the states that a draft holds; `None` if it holds none, or not states.
    pub(super) fn read_found(&self, draft: &Draft) -> Option<()> {
        let name = found_of(self);
        self.read_coded(&draft.tail::<u8>(name, draft.rows(name)? as usize).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn states_read_back_and_no_bytes_break_the_reader(
            (number, blocks) in (2u32..9, 1u32..40),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
            cut in any::<prop::sample::Index>(),
            (at, byte) in (any::<prop::sample::Index>(), any::<u8>()),
        ) {
            let memory = Memory::new(None, std::path::Path::new("."));
            let empty = || Layer::new(number, (0..blocks).collect(), &memory).unwrap();
            let (layer, again) = (empty(), empty());
            for place in places {
                let place = place.index((blocks as usize) << number) as u32;
                layer.mark(layer.bit((place >> number) as usize, place & ((1 << number) - 1)));
            }
            let (cut, mut bytes) = (cut.index(blocks as usize), Vec::new());
            for some in [0..cut, cut..blocks as usize] {
                let room = &mut Vec::new();
                Code { layer: &layer, blocks: some, bytes: &mut bytes, room }.run();
            }
            again.read_coded(&bytes).unwrap();
            let all = |layer: &Layer| -> Vec<u64> {
                layer.bits.iter().map(|word| word.load(Ordering::Relaxed)).collect()
            };
            prop_assert_eq!(all(&layer), all(&again));
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
                let other = empty();
                if other.read_coded(&bytes).is_some() && number < 6 {
                    prop_assert!(all(&other).iter().all(|word| word >> (1 << number) == 0));
                }
            }
        }
    }
}
