//! States of a layer as bitmaps, one for each block.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use crate::bits::set_bit;
use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel;
use crate::rules::Orientations;
use crate::table::{Buffer, Memory};

/// Words of bitmaps in a task: few enough that the successors of a block's states stay in the CPU cache, and
/// a layer has enough tasks for all threads.
const TASK: usize = 1 << 13;
/// Number of rows made before they are written, and the number if memory is short.
const ROWS_AT_ONCE: [usize; 2] = [1 << 20, 1 << 18];
/// Free bytes below which memory is short.
const SHORT: u64 = 1 << 29;
/// Number of slices in which a layer is found if its bitmap lies in a file. Every slice reads all states of
/// the layer before, but makes only the moves that lead into the slice.
const SLICES: usize = 8;
/// Words that one count of rows covers.
const PAIR: usize = 2;
/// Words over which rows are counted: the count fits in two bytes, and a task consists of whole stretches.
const STRETCH: usize = 1 << 10;
/// Stretches counted in a task.
const COUNTED: usize = 1 << 4;

/// States of a layer as bits.
pub struct Layer {
    pub number: u32,
    /// Canonical occupied squares of each block, ascending.
    pub blocks: Vec<u32>,
    /// Words of each block.
    pub words: usize,
    /// Bitmap: bit `place` of a block is set if the layer contains the state.
    pub bits: Buffer<AtomicU64>,
    /// Number of rows of the same stretch before each [`PAIR`] of words; filled when the layer is closed.
    counts: Buffer<u16>,
    /// Number of rows before each stretch.
    firsts: Vec<u32>,
    pub rows: usize,
}

impl Layer {
    pub fn new(number: u32, blocks: Vec<u32>, memory: &Memory) -> Result<Layer, Error> {
        let words = (1usize << number).div_ceil(64);
        let bits = memory.zeros(blocks.len() * words)?;
        let counts = memory.zeros(bits.len().div_ceil(PAIR))?;
        Ok(Layer { number, blocks, words, bits, counts, firsts: Vec::new(), rows: 0 })
    }

    /// Returns the bit of a state: its word and its position there.
    #[inline(always)]
    pub fn bit(&self, block: usize, place: u32) -> (usize, u32) {
        (block * self.words + (place / 64) as usize, place % 64)
    }

    /// Marks a state as found; returns `true` if it was new.
    #[inline(always)]
    pub fn mark(&self, (word, bit): (usize, u32)) -> bool {
        set_bit(&self.bits[word], bit)
    }

    /// Returns the blocks in ranges that are marked one after another: a single range in memory; if the
    /// bitmap lies in a file, ranges small enough that memory may hold each.
    pub fn slices(&self) -> Vec<Range<usize>> {
        let (blocks, slices) =
            (self.blocks.len(), if self.bits.is_in_a_file() { SLICES } else { 1 });
        let size = blocks.div_ceil(slices).max(1);
        let starts = (0..blocks.max(1)).step_by(size);
        starts.map(|start| start..blocks.min(start + size)).collect()
    }

    pub fn tasks(&self) -> usize {
        self.bits.len().div_ceil(TASK)
    }

    /// Returns the number of rows before those of a task, in a closed layer.
    pub fn rows_before(&self, task: usize) -> usize {
        let word = task * TASK;
        if word < self.bits.len() { self.row((word, 0)) as usize } else { self.rows }
    }

    /// Groups the tasks of a closed layer into about [`ROWS_AT_ONCE`] rows each.
    pub fn groups(&self, memory: &Memory) -> Vec<Range<usize>> {
        let rows_at_once = ROWS_AT_ONCE[usize::from(memory.left() < SHORT)];
        let mut groups: Vec<Range<usize>> = Vec::new();
        for task in 0..self.tasks() {
            match groups.last_mut() {
                Some(last)
                    if self.rows_before(task) - self.rows_before(last.start) < rows_at_once =>
                {
                    last.end = task + 1;
                }
                _ => groups.push(task..task + 1),
            }
        }
        groups
    }

    /// Returns the blocks of a task that have states, each with its words.
    pub fn pieces(&self, task: usize) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let begin = task * TASK;
        let words = begin..self.bits.len().min(begin + TASK);
        let blocks = words.start / self.words..words.end.div_ceil(self.words);
        let own = move |block: usize| {
            let all = block * self.words..(block + 1) * self.words;
            (block, all.start.max(words.start)..all.end.min(words.end))
        };
        let has_states = |(_, words): &(usize, Range<usize>)| {
            self.bits[words.clone()].iter().any(|word| word.load(Ordering::Relaxed) != 0)
        };
        blocks.map(own).filter(has_states)
    }

    /// Counts the rows, after the last state was added.
    pub fn close(&mut self) {
        let bits = &self.bits;
        let count = |first: usize, counts: &mut [u16]| -> Vec<u32> {
            let mut pairs = bits[first * PAIR..].chunks(PAIR);
            let mut count = |counts: &mut [u16]| {
                let mut rows = 0;
                for (count, pair) in counts.iter_mut().zip(&mut pairs) {
                    *count = rows as u16;
                    rows += pair
                        .iter()
                        .map(|word| word.load(Ordering::Relaxed).count_ones())
                        .sum::<u32>();
                }
                rows
            };
            counts.chunks_mut(STRETCH / PAIR).map(&mut count).collect()
        };
        let counted = parallel::map_mut(&mut self.counts, COUNTED * STRETCH / PAIR, &count);
        self.rows = 0;
        self.firsts = counted
            .into_iter()
            .flatten()
            .map(|own| {
                let first = self.rows as u32;
                self.rows += own as usize;
                first
            })
            .collect();
    }

    /// Prefetches the words that [`Layer::row`] will read for a bit.
    #[inline(always)]
    pub fn fetch(&self, (word, _): (usize, u32)) {
        prefetch(&self.bits[word]);
        prefetch(&self.counts[word / PAIR]);
    }

    /// Returns the row within the layer of a state that it contains.
    #[inline(always)]
    pub fn row(&self, (word, bit): (usize, u32)) -> u32 {
        let load = |word: usize| self.bits[word].load(Ordering::Relaxed);
        // Counts the other word of the pair if it is the first, without a branch, which would often be
        // mispredicted.
        let is_second = (word % PAIR) as u64;
        let before = load(word - word % PAIR) & is_second.wrapping_neg();
        let own = load(word) & ((1 << bit) - 1);
        let rows = self.firsts[word / STRETCH] + u32::from(self.counts[word / PAIR]);
        rows + before.count_ones() + own.count_ones()
    }

    #[inline(always)]
    pub fn contains(&self, (word, bit): (usize, u32)) -> bool {
        self.bits[word].load(Ordering::Relaxed) >> bit & 1 == 1
    }

    /// Takes words of a block until they contain at least `most` states; returns their places, stored in
    /// `room`.
    #[inline(always)]
    pub fn take_places<'a>(
        &self,
        words: &mut Range<usize>,
        most: usize,
        room: &'a mut Vec<u32>,
    ) -> &'a [u32] {
        // Most words have at most two states: three slots are always written, to avoid a branch
        // misprediction.
        const AT_LEAST: usize = 3;
        if room.len() < most + 64 + AT_LEAST {
            room.resize(most + 64 + AT_LEAST, 0);
        }
        let mut count = 0;
        for word in words.by_ref() {
            let mut bits = self.bits[word].load(Ordering::Relaxed);
            // The number of words is a power of two.
            let first = (word & (self.words - 1)) as u32 * 64;
            let (mut at, end) = (count, count + bits.count_ones() as usize);
            for slot in &mut room[at..at + AT_LEAST] {
                *slot = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            at += AT_LEAST;
            while bits != 0 {
                room[at] = first + bits.trailing_zeros();
                bits &= bits - 1;
                at += 1;
            }
            count = end;
            if count >= most {
                break;
            }
        }
        &room[..count]
    }

    /// Returns the index of a block in the layer.
    pub fn index(&self, occupied: u32) -> Option<usize> {
        self.blocks.binary_search(&occupied).ok()
    }

    /// Returns the index of a block that the layer was created to contain.
    pub fn led_to(&self, occupied: u32) -> usize {
        self.index(occupied).expect("blocks that placements lead to exist")
    }
}

/// Layer whose rows are known, with the orientations of each.
pub(super) struct Closed {
    pub layer: Layer,
    pub orientations: Buffer<AtomicU16>,
}

/// Adds the orientations in which a move reaches a state.
#[inline(always)]
pub(super) fn reach(state: &AtomicU16, Orientations(reached): Orientations) {
    if state.load(Ordering::Relaxed) & reached != reached {
        state.fetch_or(reached, Ordering::Relaxed);
    }
}
