//! Records of successors, the ranges of keys in which they are sorted, and the sorting.
//!
//! Records come in several parts. Keys of one word are sorted by a least-significant-digit radix sort, which
//! skips the digits above those in which the shard's keys differ and reads the parts in place in its first
//! pass. Wide keys are sorted by comparison.

use crate::rules::Orientations;
use crate::table::rows::stored_key::StoredKey;

/// Successor with the edge that leads to it, its orientations and its ply.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Record<K> {
    pub key: K,
    /// Number of the edge in its layer.
    pub edge: u32,
    pub orientations: Orientations,
    /// Fewest plies from a root by this edge.
    pub ply: u16,
}

/// Consecutive ranges of keys (shards), about equally full.
#[derive(Clone, Debug)]
pub(super) struct Partition<K> {
    /// First key of every range but the first.
    cuts: Vec<K>,
    /// Number of cuts below each prefix (highest bits) of a key. Empty if there are no cuts.
    cuts_below: Vec<u16>,
}

/// Target number of records in a shard: they are sorted within the L2 cache.
pub(super) const SHARD_RECORDS: u64 = 1 << 15;
pub(super) const MAX_SHARDS: u64 = 1 << 11;
const PREFIX_BITS: u32 = 14;

impl<K: StoredKey> Partition<K> {
    /// Returns a single shard of all keys.
    pub(super) fn whole() -> Partition<K> {
        Partition { cuts: Vec::new(), cuts_below: Vec::new() }
    }

    /// Returns at most `wanted` shards, cut at quantiles of a sample of keys of `width` bits. The cuts affect
    /// the speed of the enumeration, not its result.
    pub(super) fn by_sample(mut sample: Vec<K>, wanted: usize, width: u32) -> Partition<K> {
        sample.sort_unstable();
        let wanted = wanted.min(sample.len() + 1).min(usize::from(u16::MAX));
        let mut cuts: Vec<K> =
            (1..wanted).map(|shard| sample[shard * sample.len() / wanted]).collect();
        cuts.dedup();
        if cuts.is_empty() {
            return Partition::whole();
        }
        let below = |prefix| cuts.partition_point(|cut| cut.prefix(width, PREFIX_BITS) < prefix);
        let cuts_below = (0..=1 << PREFIX_BITS).map(|prefix| below(prefix) as u16).collect();
        Partition { cuts, cuts_below }
    }

    /// Returns the number of shards.
    pub(super) fn shards(&self) -> usize {
        self.cuts.len() + 1
    }

    /// Returns the shard of a key of `width` bits; monotone in the key.
    #[inline]
    pub(super) fn shard(&self, key: K, width: u32) -> usize {
        if self.cuts.is_empty() {
            return 0;
        }
        let prefix = key.prefix(width, PREFIX_BITS);
        let from = usize::from(self.cuts_below[prefix]);
        let to = usize::from(self.cuts_below[prefix + 1]);
        from + self.cuts[from..to].partition_point(|cut| *cut <= key)
    }
}

/// Buffers reused for one shard after another.
pub(super) struct Sorter<K> {
    sorted: Vec<Record<K>>,
    other: Vec<Record<K>>,
    /// Position of the next record of each pass and digit.
    places: Vec<u32>,
}

const DIGIT_BITS: u32 = 12;
/// Number of records up to which comparison sort is faster than counting.
const SMALL: usize = 1 << 9;

impl<K> Default for Sorter<K> {
    fn default() -> Sorter<K> {
        Sorter { sorted: Vec::new(), other: Vec::new(), places: Vec::new() }
    }
}

impl<K: StoredKey> Sorter<K> {
    /// Returns the records of all parts, ascending by key.
    pub(super) fn sort(&mut self, parts: &[Vec<Record<K>>]) -> &[Record<K>] {
        let count = parts.iter().map(Vec::len).sum();
        match range(parts) {
            Some((low, high)) if count > SMALL && low != high => {
                self.by_digits(parts, count, 64 - (low ^ high).leading_zeros())
            }
            _ => self.by_comparison(parts),
        }
        &self.sorted[..count]
    }

    fn by_comparison(&mut self, parts: &[Vec<Record<K>>]) {
        self.sorted.clear();
        parts.iter().for_each(|part| self.sorted.extend_from_slice(part));
        self.sorted.sort_unstable_by_key(|record| record.key);
    }

    /// Sorts by the lowest `bits` bits, the only ones in which keys differ.
    fn by_digits(&mut self, parts: &[Vec<Record<K>>], count: usize, bits: u32) {
        let filler = Record { key: K::zeroed(), edge: 0, orientations: Orientations(0), ply: 0 };
        for buffer in [&mut self.sorted, &mut self.other] {
            if buffer.len() < count {
                buffer.resize(count, filler);
            }
        }
        let passes = bits.div_ceil(DIGIT_BITS);
        let width = bits.div_ceil(passes);
        let mask = (1 << width) - 1;
        let digit = |record: &Record<K>, pass: u32| {
            (word(record.key).unwrap_or(0) >> (pass * width)) as usize & mask
        };
        self.places.clear();
        self.places.resize((passes as usize) << width, 0);
        for record in parts.iter().flatten() {
            for pass in 0..passes {
                self.places[(pass as usize) << width | digit(record, pass)] += 1;
            }
        }
        for (pass, places) in self.places.chunks_exact_mut(1 << width).enumerate() {
            let mut sum = 0;
            for place in places.iter_mut() {
                sum += std::mem::replace(place, sum);
            }
            std::mem::swap(&mut self.sorted, &mut self.other);
            let mut put = |record: &Record<K>| {
                let place = &mut places[digit(record, pass as u32)];
                self.sorted[*place as usize] = *record;
                *place += 1;
            };
            if pass == 0 {
                parts.iter().flatten().for_each(&mut put);
            } else {
                self.other[..count].iter().for_each(&mut put);
            }
        }
    }
}

/// Returns the key as a number if it is one word.
#[inline]
fn word<K: StoredKey>(key: K) -> Option<u64> {
    (K::WORDS == 1).then(|| key.widen() as u64)
}

/// Returns the smallest and the largest key of one word; `None` for wide keys and for no records.
fn range<K: StoredKey>(parts: &[Vec<Record<K>>]) -> Option<(u64, u64)> {
    let mut words = parts.iter().flatten().map(|record| word(record.key));
    let first = words.next()??;
    Some(words.flatten().fold((first, first), |(low, high), word| (low.min(word), high.max(word))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::rows::stored_key::WideKey;

    fn check<K: StoredKey>(key: impl Fn(u64) -> K) {
        let mut sorter = Sorter::default();
        for count in [0u64, 1, 2, 600, 50_000, 700] {
            let record = |i: u64| Record {
                key: key(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20),
                edge: i as u32,
                orientations: Orientations(i as u16),
                ply: 3,
            };
            let parts: Vec<Vec<_>> =
                (0..3).map(|p| (0..count).filter(|i| i % 3 == p).map(record).collect()).collect();
            let mut expected: Vec<_> = parts.concat();
            expected.sort_by_key(|r| r.key);
            let sorted = sorter.sort(&parts);
            assert!(sorted.iter().map(|r| r.key).eq(expected.iter().map(|r| r.key)), "{count}");
            let mut edges: Vec<_> = sorted.iter().map(|r| r.edge).collect();
            edges.sort_unstable();
            assert!(edges.into_iter().eq(0..count as u32), "{count}");
        }
    }

    #[test]
    fn records_come_out_ascending_and_none_is_lost() {
        check(|k| k);
        check(|k| k % 1000);
        check(|k| WideKey::narrow(u128::from(k % 100) << 64 | u128::from(k)).unwrap());
    }
}
