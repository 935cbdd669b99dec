//! The states of a layer as bitmaps, one for each block.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use crate::game::{Group, Orientations};
use crate::parallel;

/// Words of bitmaps that one task takes.
pub(super) const TASK: usize = 1 << 10;
/// How many rows are made before they are written.
const ROWS_AT_ONCE: usize = 1 << 20;
/// Words that one count of rows covers: a cache line.
pub(super) const LINE: usize = 8;

/// The states of a layer as bits.
pub(super) struct Layer {
    pub number: u32,
    /// The canonical occupied squares of each block, ascending.
    pub blocks: Vec<u32>,
    /// Words of each block.
    pub words: usize,
    /// Bit `place` of a block: the state is there.
    pub bits: Vec<AtomicU64>,
    /// Of every [`LINE`] words, how many rows come before them; empty until the layer is closed.
    pub counts: Vec<u32>,
    pub rows: usize,
}

/// Zeros that are written at once: of memory that is read first the system makes pages twice, and
/// stops all threads for it.
pub(super) fn written<T: bytemuck::Zeroable + Send>(length: usize) -> Vec<T> {
    let mut zeros = bytemuck::zeroed_vec(length);
    parallel::map_mut(&mut zeros, 1 << 16, &|_, zeros| zeros.fill_with(T::zeroed));
    zeros
}

impl Layer {
    pub fn new(number: u32, blocks: Vec<u32>) -> Layer {
        let words = (1usize << number).div_ceil(64);
        let bits = written(blocks.len() * words);
        Layer { number, blocks, words, bits, counts: Vec::new(), rows: 0 }
    }

    /// The bit of a state: the word it is in, and where.
    #[inline(always)]
    pub fn bit(&self, block: usize, place: u32) -> (usize, u32) {
        (block * self.words + (place / 64) as usize, place % 64)
    }

    /// Marks a state as found; tells whether it was not.
    #[inline(always)]
    pub fn mark(&self, (word, bit): (usize, u32)) -> bool {
        let (word, bit) = (&self.bits[word], 1 << bit);
        // Most are known: looking costs less than writing.
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    pub fn tasks(&self) -> usize {
        self.bits.len().div_ceil(TASK)
    }

    /// How many rows come before those of a task, in a closed layer.
    pub fn rows_before(&self, task: usize) -> usize {
        self.counts.get(task * TASK / LINE).map_or(self.rows, |&rows| rows as usize)
    }

    /// The tasks of a closed layer in groups of about [`ROWS_AT_ONCE`] rows.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for task in 0..self.tasks() {
            match groups.last_mut() {
                Some(last)
                    if self.rows_before(task) - self.rows_before(last.start) < ROWS_AT_ONCE =>
                {
                    last.end = task + 1;
                }
                _ => groups.push(task..task + 1),
            }
        }
        groups
    }

    /// The blocks of a task that have states, each with its words.
    pub fn pieces(&self, task: usize) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let words = task * TASK..self.bits.len().min((task + 1) * TASK);
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

    /// Counts the rows, now that no state will be added.
    pub fn close(&mut self) {
        let ones = |line: usize| {
            let words = line * LINE..self.bits.len().min((line + 1) * LINE);
            self.bits[words].iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
        };
        let mut counts: Vec<u32> = parallel::column(self.bits.len().div_ceil(LINE), ones);
        let mut rows = 0u64;
        for count in &mut counts {
            let own = u64::from(*count);
            *count = rows as u32;
            rows += own;
        }
        (self.counts, self.rows) = (counts, rows as usize);
    }

    /// The row within the layer of a state that is there.
    #[inline(always)]
    pub fn row(&self, (word, bit): (usize, u32)) -> u32 {
        let line = word / LINE;
        let load = |word: usize| self.bits[word].load(Ordering::Relaxed);
        let before = (line * LINE..word).map(|word| load(word).count_ones()).sum::<u32>();
        self.counts[line] + before + (load(word) & ((1 << bit) - 1)).count_ones()
    }

    #[inline(always)]
    pub fn contains(&self, (word, bit): (usize, u32)) -> bool {
        self.bits[word].load(Ordering::Relaxed) >> bit & 1 == 1
    }

    /// The place of a bit of a word in its block.
    #[inline(always)]
    pub fn place(&self, word: usize, bit: u32) -> u32 {
        (word % self.words) as u32 * 64 + bit
    }

    pub fn index(&self, occupied: u32) -> usize {
        self.blocks.binary_search(&occupied).expect("a block that placements lead to is there")
    }
}

/// A layer whose rows are known, with the orientations of each.
pub(super) struct Closed {
    pub layer: Layer,
    pub orientations: Vec<AtomicU16>,
}

/// Tells a state in which orientations a move reaches it.
#[inline(always)]
pub(super) fn reach(state: &AtomicU16, group: &Group, from: Orientations, ties: u8) {
    let reached = group.successor_orientations(from, ties).0;
    if state.load(Ordering::Relaxed) & reached != reached {
        state.fetch_or(reached, Ordering::Relaxed);
    }
}
