//! The states of a layer as bitmaps, one for each block.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use crate::game::{Group, Orientations};
use crate::parallel;
use crate::table::{Memory, Room, TableError};

/// Words of bitmaps that one task takes.
pub(super) const TASK: usize = 1 << 10;
/// How many rows are made before they are written, and how many where memory is short.
const ROWS_AT_ONCE: [usize; 2] = [1 << 20, 1 << 18];
/// Bytes below which it is.
const SHORT: u64 = 1 << 29;
/// In how many slices a layer is found that lies in a file. Every slice looks at all states of the
/// layer before it, but makes the moves that lead into it alone.
const SLICES: usize = 8;
/// Words that one count of rows covers: a cache line.
pub(super) const LINE: usize = 8;

/// The states of a layer as bits.
pub(in crate::graph) struct Layer {
    pub number: u32,
    /// The canonical occupied squares of each block, ascending.
    pub blocks: Vec<u32>,
    /// Words of each block.
    pub words: usize,
    /// Bit `place` of a block: the state is there.
    pub bits: Room<AtomicU64>,
    /// Of every [`LINE`] words, how many rows come before them, once the layer is closed.
    pub counts: Room<u32>,
    pub rows: usize,
}

impl Layer {
    pub fn new(number: u32, blocks: Vec<u32>, memory: &Memory) -> Result<Layer, TableError> {
        let words = (1usize << number).div_ceil(64);
        let bits = memory.zeros(blocks.len() * words)?;
        let counts = memory.zeros(bits.len().div_ceil(LINE))?;
        Ok(Layer { number, blocks, words, bits, counts, rows: 0 })
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

    /// The blocks in ranges that are marked one after another: all at once in memory, and where bits
    /// lie in a file so few that memory may hold them meanwhile.
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

    /// How many rows come before those of a task, in a closed layer.
    pub fn rows_before(&self, task: usize) -> usize {
        self.counts.get(task * TASK / LINE).map_or(self.rows, |&rows| rows as usize)
    }

    /// The tasks of a closed layer in groups of about [`ROWS_AT_ONCE`] rows.
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
        let (bits, counts) = (&self.bits, &mut self.counts);
        parallel::map_mut(counts, parallel::GRAIN, &|first, counts| {
            let lines = bits[first * LINE..].chunks(LINE);
            for (count, line) in counts.iter_mut().zip(lines) {
                *count = line.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
            }
        });
        let mut rows = 0u64;
        for count in &mut **counts {
            let own = u64::from(*count);
            *count = rows as u32;
            rows += own;
        }
        self.rows = rows as usize;
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

    /// Takes words of a block until they have so many states or more, whose places in the block it gives.
    #[inline(always)]
    pub fn take_places(&self, words: &mut Range<usize>, most: usize, places: &mut Vec<u32>) {
        // Most words have none, one or two: so many are written in any case, for a branch would often
        // be foreseen wrong.
        const AT_LEAST: usize = 3;
        places.resize(words.len().saturating_mul(64).min(most + 64) + AT_LEAST, 0);
        let mut count = 0;
        for word in words.by_ref() {
            let mut bits = self.bits[word].load(Ordering::Relaxed);
            // As many as there are words is a power of two.
            let first = (word & (self.words - 1)) as u32 * 64;
            let (mut at, end) = (count, count + bits.count_ones() as usize);
            for slot in &mut places[at..at + AT_LEAST] {
                *slot = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            at += AT_LEAST;
            while bits != 0 {
                places[at] = first + bits.trailing_zeros();
                bits &= bits - 1;
                at += 1;
            }
            count = end;
            if count >= most {
                break;
            }
        }
        places.truncate(count);
    }

    /// The place of a block among those of the layer.
    pub fn index(&self, occupied: u32) -> Option<usize> {
        self.blocks.binary_search(&occupied).ok()
    }

    /// The same of a block for whose sake the layer was made.
    pub fn led_to(&self, occupied: u32) -> usize {
        self.index(occupied).expect("a block that placements lead to is there")
    }
}

/// A layer whose rows are known, with the orientations of each.
pub(super) struct Closed {
    pub layer: Layer,
    pub orientations: Room<AtomicU16>,
}

/// Tells a state in which orientations a move reaches it.
#[inline(always)]
pub(super) fn reach(state: &AtomicU16, group: &Group, from: Orientations, ties: u8) {
    let reached = group.successor_orientations(from, ties).0;
    if state.load(Ordering::Relaxed) & reached != reached {
        state.fetch_or(reached, Ordering::Relaxed);
    }
}
