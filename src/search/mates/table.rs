//! Table of mate search results, bounded in memory, shared by threads without locks.
//!
//! A cluster holds five entries behind a version number (a sequence lock): a reader that meets a writer reads
//! again, so it never combines parts of two entries. An entry contains the whole position, so lookups cannot
//! collide. Replacing an entry costs work but never correctness: nothing is concluded from missing entries.

use std::array::from_fn;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use bytemuck::Zeroable;

use crate::mmap::Mapped;

/// Proof or disproof number that stands for "never"; larger sums stay below it.
pub(super) const NEVER: u32 = (1 << 22) - 1;
/// Number of remaining plies without a bound.
pub(super) const UNBOUNDED: u8 = 127;
/// Highest of the three bits of each kind in a hand, which stays 0.
const GUARDS: u16 = 0b100_100_100_100_100;
const ENTRIES: usize = 5;
/// Most bytes of a table that is kept small.
const SMALL: usize = 1 << 26;
const KEY_HIGH: u64 = (1 << 48) - 1;

/// Position as the table identifies it: the board with the search's mode (112 bits), and the attacker's
/// means, which are the pieces in hand and the plies that remain.
///
/// On one board the pieces in the attacker's hand determine those in the defender's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TableKey {
    /// Board, player to move and kind of search.
    pub board: u128,
    /// Attacker's pieces in hand, three bits a kind.
    pub hand: u16,
    /// Plies within which the attacker must win.
    pub plies: u8,
}

impl TableKey {
    /// Returns `true` if the attacker has at least the means of `other` on the same board.
    #[inline]
    pub(super) fn dominates(&self, other: &TableKey) -> bool {
        self.board == other.board && self.plies >= other.plies && covers(self.hand, other.hand)
    }

    /// Hashes the board to the number that selects its cluster.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let mixed =
            (self.board as u64) ^ ((self.board >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb)
    }
}

/// Returns `true` if a hand has at least as many pieces of every kind as another.
#[inline]
fn covers(hand: u16, other: u16) -> bool {
    ((hand | GUARDS) - other) & GUARDS == GUARDS
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// No entry.
    Nothing,
    /// Win of the attacker within so many plies ([`UNBOUNDED`]: more than can be counted).
    Proven(u8),
    /// Proof that the attacker cannot win within the remaining plies.
    Disproven,
    /// Proof and disproof number.
    Numbers(u32, u32),
}

#[derive(Debug, Zeroable)]
#[repr(align(64))]
struct Cluster {
    version: AtomicU64,
    words: [AtomicU64; 3 * ENTRIES],
}

/// Clusters of entries.
#[derive(Debug)]
pub(super) struct MateTable {
    clusters: Clusters,
}

#[derive(Debug)]
enum Clusters {
    /// Memory that one search after another takes, which is 7 % faster.
    Small(Vec<Cluster>),
    /// Memory that the system allocates as a search uses it.
    Large(Mapped<Cluster>),
}

impl Clusters {
    #[inline(always)]
    fn values(&self) -> &[Cluster] {
        match self {
            Clusters::Small(clusters) => clusters,
            Clusters::Large(clusters) => clusters.values(),
        }
    }
}

/// Third word of an entry: numbers, work and plies.
#[derive(Clone, Copy)]
struct Data(u64);

impl Data {
    fn new(numbers: (u32, u32), work: u32, plies: u8) -> Data {
        let work = u64::from(work.min((1 << 13) - 1));
        Data(
            u64::from(numbers.0) | u64::from(numbers.1) << 22 | work << 44 | u64::from(plies) << 57,
        )
    }

    fn numbers(self) -> (u32, u32) {
        (self.0 as u32 & NEVER, (self.0 >> 22) as u32 & NEVER)
    }

    fn work(self) -> u32 {
        (self.0 >> 44) as u32 & ((1 << 13) - 1)
    }

    fn plies(self) -> u8 {
        (self.0 >> 57) as u8
    }
}

impl MateTable {
    /// Returns a table of at most `memory` bytes, with at least one cluster; of half as many and so on where the system
    /// refuses them.
    pub(super) fn new(memory: usize) -> MateTable {
        let count = (memory / size_of::<Cluster>()).max(1);
        MateTable {
            clusters: match memory {
                0..=SMALL => Clusters::Small((0..count).map(|_| Cluster::zeroed()).collect()),
                _ => Clusters::Large(Mapped::at_most(count)),
            },
        }
    }

    #[inline]
    fn cluster(&self, hash: u64) -> &Cluster {
        let clusters = self.clusters.values();
        &clusters[((u128::from(hash) * clusters.len() as u128) >> 64) as usize]
    }

    /// Looks up a position. Proofs with smaller means and disproofs with larger ones apply too.
    #[inline]
    pub(super) fn get(&self, place: &TableKey, hash: u64) -> Lookup {
        let cluster = self.cluster(hash);
        loop {
            let version = cluster.version.load(Acquire);
            let stored = cluster.find(place);
            fence(Acquire);
            if version & 1 == 0 && cluster.version.load(Relaxed) == version {
                return stored;
            }
            std::hint::spin_loop();
        }
    }

    /// Stores a result in place of an older one of the position, or of the entry that took the least work.
    pub(super) fn put(&self, place: &TableKey, hash: u64, stored: Lookup, work: u32) {
        let (numbers, plies) = match stored {
            Lookup::Nothing => return,
            Lookup::Proven(plies) => ((0, NEVER), plies),
            Lookup::Disproven => ((NEVER, 0), place.plies),
            Lookup::Numbers(proof, disproof) => ((proof, disproof), place.plies),
        };
        let cluster = self.cluster(hash);
        let version = cluster.version.load(Relaxed);
        let locked = version & 1 == 0
            && cluster.version.compare_exchange(version, version + 1, Acquire, Relaxed).is_ok();
        if locked {
            fence(Release);
            cluster.write(place, Data::new(numbers, work, plies));
            cluster.version.store(version + 2, Release);
        }
    }
}

impl Cluster {
    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.words[at].load(Relaxed)
    }

    #[inline]
    fn find(&self, place: &TableKey) -> Lookup {
        let (low, high) = (place.board as u64, (place.board >> 64) as u64);
        let mut found = Lookup::Nothing;
        for entry in 0..ENTRIES {
            let second = self.word(3 * entry + 1);
            if self.word(3 * entry) != low || second & KEY_HIGH != high {
                continue;
            }
            let (hand, data) = ((second >> 48) as u16, Data(self.word(3 * entry + 2)));
            match data.numbers() {
                (0, 0) => {}
                (0, _) if covers(place.hand, hand) && data.plies() <= place.plies => {
                    return Lookup::Proven(data.plies());
                }
                (_, 0) if covers(hand, place.hand) && data.plies() >= place.plies => {
                    return Lookup::Disproven;
                }
                (0, _) | (_, 0) => {}
                (proof, disproof) if hand == place.hand && data.plies() == place.plies => {
                    found = Lookup::Numbers(proof, disproof);
                }
                _ => {}
            }
        }
        found
    }

    /// Writes an entry; the caller holds the lock. Replacing another entry ages the rest.
    fn write(&self, place: &TableKey, data: Data) {
        let low = place.board as u64;
        let second = (place.board >> 64) as u64 | u64::from(place.hand) << 48;
        let rank = |entry: usize| {
            let old = Data(self.word(3 * entry + 2));
            let same = self.word(3 * entry) == low && self.word(3 * entry + 1) == second;
            let (proof, disproof) = old.numbers();
            // Numbers, and results that the new one includes, are obsolete.
            let (new_proof, new_disproof) = data.numbers();
            let useless = same
                && ((proof > 0 && disproof > 0 && old.plies() == place.plies)
                    || (proof == 0 && new_proof == 0 && old.plies() >= data.plies())
                    || (disproof == 0 && new_disproof == 0 && old.plies() <= data.plies()));
            if old.0 == 0 || useless { 0 } else { 1 + old.work() }
        };
        let ranks: [u32; ENTRIES] = from_fn(rank);
        let entry = (0..ENTRIES).min_by_key(|&entry| ranks[entry]).unwrap_or(0);
        if ranks[entry] > 0 {
            for other in 0..ENTRIES {
                let old = Data(self.word(3 * other + 2));
                let aged =
                    Data::new(old.numbers(), old.work() - old.work().div_ceil(8), old.plies());
                self.words[3 * other + 2].store(aged.0, Relaxed);
            }
        }
        self.words[3 * entry].store(low, Relaxed);
        self.words[3 * entry + 1].store(second, Relaxed);
        self.words[3 * entry + 2].store(data.0, Relaxed);
    }
}
