//! Transposition table shared by all threads without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;

use crate::games::othello::Board;
use crate::mmap::{Mapped, prefetch};

/// Proven bounds of a position's score and the move that gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TranspositionEntry {
    /// Lower bound of the mover's score.
    pub lower: i32,
    /// Upper bound of the mover's score.
    pub upper: i32,
    /// Bit of the best move; 64 if unknown.
    pub best: u32,
}

impl TranspositionEntry {
    /// Entry of a position without known bounds.
    pub(super) const UNKNOWN: TranspositionEntry =
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

/// Number of entries in a bucket, which fills one cache line.
const BUCKET: usize = 2;

/// One slot: the two words of the board, each masked by a hash of the data, and the data.
///
/// Threads may write the words of one slot in any interleaving. A slot torn between two writers
/// does not match any board, because its masks belong to other data.
#[derive(Zeroable)]
struct Slot {
    mover: AtomicU64,
    opponent: AtomicU64,
    data: AtomicU64,
    _unused: u64,
}

#[derive(Zeroable)]
#[repr(align(64))]
struct Bucket([Slot; BUCKET]);

impl Slot {
    #[inline(always)]
    fn read(&self, board: Board) -> Option<u64> {
        let data = self.data.load(Relaxed);
        let (first, second) = masks(data);
        let found = self.mover.load(Relaxed) ^ first == board.mover
            && self.opponent.load(Relaxed) ^ second == board.opponent;
        (found && data != 0).then_some(data)
    }

    #[inline(always)]
    fn write(&self, board: Board, data: u64) {
        let (first, second) = masks(data);
        self.mover.store(board.mover ^ first, Relaxed);
        self.opponent.store(board.opponent ^ second, Relaxed);
        self.data.store(data, Relaxed);
    }
}

#[inline(always)]
fn masks(data: u64) -> (u64, u64) {
    let first = data.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (first, first.rotate_left(29))
}

/// Transposition table whose number of buckets is a power of two.
///
/// The system zeroes its memory when a search first uses it, so a large table costs a short search little.
pub(super) struct TranspositionTable {
    buckets: Mapped<Bucket>,
    age: u8,
}

impl TranspositionTable {
    /// Returns an empty table of at most `bytes` bytes.
    pub(super) fn new(bytes: usize) -> TranspositionTable {
        let most = (bytes / size_of::<Bucket>()).max(1);
        TranspositionTable { buckets: Mapped::at_most(1 << most.ilog2()), age: 0 }
    }

    /// Returns the size of the table in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.buckets.values())
    }

    /// Ages all entries, so that a new search replaces them first.
    pub(super) fn start_search(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    /// Returns the index of a board's bucket.
    #[inline(always)]
    pub(super) fn index(&self, board: Board) -> usize {
        let product = u128::from(board.mover ^ 0x2545_f491_4f6c_dd1d)
            * u128::from(board.opponent ^ 0x9e37_79b9_7f4a_7c15);
        let folded = ((product >> 64) as u64 ^ product as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        folded.rotate_left(32) as usize & (self.buckets.values().len() - 1)
    }

    /// Prefetches a bucket.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(&self.buckets.values()[index]);
    }

    /// Returns the bounds stored for a board whose bucket is `index`.
    #[inline(always)]
    pub(super) fn get(&self, board: Board, index: usize) -> Option<TranspositionEntry> {
        self.buckets.values()[index]
            .0
            .iter()
            .find_map(|slot| slot.read(board))
            .map(TranspositionEntry::unpack)
    }

    /// Stores bounds of a board; `depth` is its number of empty squares.
    ///
    /// They replace the entry of the board, whose bounds they must include, or the one of least depth.
    #[inline(always)]
    pub(super) fn put(&self, board: Board, index: usize, depth: u32, entry: TranspositionEntry) {
        let data = entry.pack(depth, self.age);
        let mut victim = &self.buckets.values()[index].0[0];
        let mut least = u32::MAX;
        for slot in &self.buckets.values()[index].0 {
            if slot.read(board).is_some() {
                return slot.write(board, data);
            }
            let held = slot.data.load(Relaxed);
            let current = (held >> 32) as u8 == self.age;
            let worth = if current { (held >> 24 & 0xff) as u32 + 1 } else { 0 };
            if worth < least {
                (victim, least) = (slot, worth);
            }
        }
        victim.write(board, data);
    }
}
