//! Transposition table of exact searches, shared by all threads without locks.
//!
//! A position is one or two words, which a slot contains, so no two positions are confused.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;

use crate::mmap::{Mapped, prefetch};

/// Proven bounds of a position's score and the move that gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TranspositionEntry {
    /// Lower bound of the mover's score.
    pub lower: i32,
    /// Upper bound of the mover's score.
    pub upper: i32,
    /// Number of the best move; 64 if unknown.
    pub best: u32,
}

impl TranspositionEntry {
    /// Entry of a position without known bounds.
    pub(crate) const UNKNOWN: TranspositionEntry =
        TranspositionEntry { lower: -64, upper: 64, best: 64 };

    fn pack(self, depth: u32, age: u8) -> u64 {
        u64::from(self.lower as u8)
            | u64::from(self.upper as u8) << 8
            | u64::from(self.best) << 16
            | u64::from(depth) << 24
            | u64::from(age) << 32
            | 1 << 40
    }

    fn unpack(data: u64) -> TranspositionEntry {
        let bound = |shift: u32| i32::from((data >> shift) as i8);
        TranspositionEntry { lower: bound(0), upper: bound(8), best: (data >> 16 & 0xff) as u32 }
    }
}

/// One slot: the words of the position, each masked by a hash of the data, and the data.
///
/// Threads may write the words of one slot in any interleaving. A slot torn between two writers
/// does not match any position, because its masks belong to other data.
#[derive(Zeroable)]
struct Slot<const WORDS: usize> {
    words: [AtomicU64; WORDS],
    data: AtomicU64,
}

/// Slots of one cache line: two for positions of two words, four for those of one.
#[derive(Zeroable)]
#[repr(align(64))]
struct Bucket<const WORDS: usize, const SLOTS: usize>([Slot<WORDS>; SLOTS]);

impl<const WORDS: usize> Slot<WORDS> {
    #[inline(always)]
    fn read(&self, position: [u64; WORDS]) -> Option<u64> {
        let data = self.data.load(Relaxed);
        let masks = masks(data);
        let mut words = self.words.iter().zip(masks).zip(position);
        let found = words.all(|((held, mask), word)| held.load(Relaxed) ^ mask == word);
        (found && data != 0).then_some(data)
    }

    #[inline(always)]
    fn write(&self, position: [u64; WORDS], data: u64) {
        for ((held, mask), word) in self.words.iter().zip(masks(data)).zip(position) {
            held.store(word ^ mask, Relaxed);
        }
        self.data.store(data, Relaxed);
    }
}

#[inline(always)]
fn masks(data: u64) -> [u64; 2] {
    let first = data.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [first, first.rotate_left(29)]
}

/// Transposition table whose number of buckets is a power of two.
///
/// The system zeroes its memory when a search first uses it, so a large table costs a short search little.
pub(crate) struct TranspositionTable<const WORDS: usize, const SLOTS: usize> {
    buckets: Mapped<Bucket<WORDS, SLOTS>>,
    age: u8,
}

impl<const WORDS: usize, const SLOTS: usize> TranspositionTable<WORDS, SLOTS> {
    /// Returns an empty table of at most `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> TranspositionTable<WORDS, SLOTS> {
        let most = (bytes / size_of::<Bucket<WORDS, SLOTS>>()).max(1);
        TranspositionTable { buckets: Mapped::at_most(1 << most.ilog2()), age: 0 }
    }

    /// Returns the size of the table in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.buckets.values())
    }

    /// Ages all entries, so that a new search replaces them first.
    pub(crate) fn start_search(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    /// Returns the index of a position's bucket.
    #[inline(always)]
    pub(crate) fn index(&self, position: impl Into<[u64; WORDS]>) -> usize {
        let words = position.into();
        let product = u128::from(words[0] ^ 0x2545_f491_4f6c_dd1d)
            * u128::from(words[WORDS - 1] ^ 0x9e37_79b9_7f4a_7c15);
        let folded = ((product >> 64) as u64 ^ product as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        folded.rotate_left(32) as usize & (self.buckets.values().len() - 1)
    }

    /// Prefetches a bucket.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.buckets.values()[index]);
    }

    /// Returns the bounds stored for a position whose bucket is `index`.
    #[inline(always)]
    pub(crate) fn get(
        &self,
        position: impl Into<[u64; WORDS]>,
        index: usize,
    ) -> Option<TranspositionEntry> {
        let position = position.into();
        let mut slots = self.buckets.values()[index].0.iter();
        slots.find_map(|slot| slot.read(position)).map(TranspositionEntry::unpack)
    }

    /// Stores bounds of a position; `depth` is its number of empty squares.
    ///
    /// They replace the entry of the position, whose bounds they must include, or the one of least depth.
    #[inline(always)]
    pub(crate) fn put(
        &self,
        position: impl Into<[u64; WORDS]>,
        index: usize,
        depth: u32,
        entry: TranspositionEntry,
    ) {
        let (position, data) = (position.into(), entry.pack(depth, self.age));
        let mut victim = &self.buckets.values()[index].0[0];
        let mut least = u32::MAX;
        for slot in &self.buckets.values()[index].0 {
            if slot.read(position).is_some() {
                return slot.write(position, data);
            }
            let held = slot.data.load(Relaxed);
            let current = (held >> 32) as u8 == self.age;
            let worth = if current { (held >> 24 & 0xff) as u32 + 1 } else { 0 };
            if worth < least {
                (victim, least) = (slot, worth);
            }
        }
        victim.write(position, data);
    }
}
