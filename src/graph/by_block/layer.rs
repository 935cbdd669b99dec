//! The states of a layer as bitmaps, one for each block.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use crate::game::Orientations;
use crate::parallel;
use crate::table::{Memory, Room, TableError, prefetch};

/// Words of bitmaps that one task takes: so many states of a block lead to what is still in the
/// processor's cache from one another, and a layer has tasks enough for all threads.
const TASK: usize = 1 << 13;
/// How many rows are made before they are written, and how many where memory is short.
const ROWS_AT_ONCE: [usize; 2] = [1 << 20, 1 << 18];
/// Bytes below which it is.
const SHORT: u64 = 1 << 29;
/// In how many slices a layer is found that lies in a file. Every slice looks at all states of the
/// layer before it, but makes the moves that lead into it alone.
const SLICES: usize = 8;
/// Words that one count of rows covers.
const PAIR: usize = 2;
/// Words in which rows are counted: so few that a count fits in two bytes. They are a part of a task.
const STRETCH: usize = 1 << 10;
/// Stretches that are counted at once.
const COUNTED: usize = 1 << 4;

/// The states of a layer as bits.
pub struct Layer {
    pub number: u32,
    /// The canonical occupied squares of each block, ascending.
    pub blocks: Vec<u32>,
    /// Words of each block.
    pub words: usize,
    /// Bit `place` of a block: the state is there.
    pub bits: Room<AtomicU64>,
    /// Of every [`PAIR`] words, how many rows of the same stretch come before them, once the layer is
    /// closed.
    counts: Room<u16>,
    /// Of every stretch, how many rows come before it.
    firsts: Vec<u32>,
    pub rows: usize,
}

impl Layer {
    pub fn new(number: u32, blocks: Vec<u32>, memory: &Memory) -> Result<Layer, TableError> {
        let words = (1usize << number).div_ceil(64);
        let bits = memory.zeros(blocks.len() * words)?;
        let counts = memory.zeros(bits.len().div_ceil(PAIR))?;
        Ok(Layer { number, blocks, words, bits, counts, firsts: Vec::new(), rows: 0 })
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
        let word = task * TASK;
        if word < self.bits.len() { self.row((word, 0)) as usize } else { self.rows }
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

    /// Counts the rows, now that no state will be added.
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

    /// Tells the processor that the row of a bit will be asked for.
    #[inline(always)]
    pub fn fetch(&self, (word, _): (usize, u32)) {
        prefetch(&self.bits[word]);
        prefetch(&self.counts[word / PAIR]);
    }

    /// The row within the layer of a state that is there.
    #[inline(always)]
    pub fn row(&self, (word, bit): (usize, u32)) -> u32 {
        let load = |word: usize| self.bits[word].load(Ordering::Relaxed);
        // The other word of the pair counts if it is the first: without a branch, which would be foreseen
        // wrong every other time.
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

    /// Takes words of a block until they have so many states or more, whose places in the block it gives,
    /// in `room`.
    #[inline(always)]
    pub fn take_places<'a>(
        &self,
        words: &mut Range<usize>,
        most: usize,
        room: &'a mut Vec<u32>,
    ) -> &'a [u32] {
        // Most words have none, one or two: so many are written in any case, for a branch would often
        // be foreseen wrong.
        const AT_LEAST: usize = 3;
        if room.len() < most + 64 + AT_LEAST {
            room.resize(most + 64 + AT_LEAST, 0);
        }
        let mut count = 0;
        for word in words.by_ref() {
            let mut bits = self.bits[word].load(Ordering::Relaxed);
            // As many as there are words is a power of two.
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
pub(super) fn reach(state: &AtomicU16, Orientations(reached): Orientations) {
    if state.load(Ordering::Relaxed) & reached != reached {
        state.fetch_or(reached, Ordering::Relaxed);
    }
}
