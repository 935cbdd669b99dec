//! Sorting the records of a shard by key.
//!
//! Records come in several parts. Keys of one word are sorted by least significant digits first (a
//! radix sort; the digits above those in which the shard's keys differ are skipped), the first pass
//! reading the parts where they lie. Wide keys are compared.

use super::expand::Record;
use crate::game::{Orientations, StateKey};

/// Buffers that serve one shard after another.
pub(super) struct Sorter<K> {
    sorted: Vec<Record<K>>,
    other: Vec<Record<K>>,
}

const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Below this, comparing is faster than counting.
const SMALL: usize = 1 << 9;

impl<K: StateKey> Sorter<K> {
    pub fn new() -> Sorter<K> {
        Sorter { sorted: Vec::new(), other: Vec::new() }
    }

    /// The records of all parts, ascending by key.
    pub fn sort(&mut self, parts: &[Vec<Record<K>>]) -> &[Record<K>] {
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
        for pass in 0..passes {
            let digit = |record: &Record<K>| {
                (record.key.word().unwrap_or(0) >> (pass * width)) as usize & ((1 << width) - 1)
            };
            std::mem::swap(&mut self.sorted, &mut self.other);
            let to = &mut self.sorted[..count];
            if pass == 0 {
                scatter(|| parts.iter().flatten(), to, digit);
            } else {
                let from = &self.other[..count];
                scatter(|| from.iter(), to, digit);
            }
        }
    }
}

/// The smallest and the largest key of one word; `None` for wide keys and for no records.
fn range<K: StateKey>(parts: &[Vec<Record<K>>]) -> Option<(u64, u64)> {
    let mut words = parts.iter().flatten().map(|record| record.key.word());
    let first = words.next()??;
    Some(words.flatten().fold((first, first), |(low, high), word| (low.min(word), high.max(word))))
}

/// One pass: records in the order of a digit, equal digits in the order they came.
fn scatter<'a, K: StateKey, I: Iterator<Item = &'a Record<K>>>(
    from: impl Fn() -> I,
    to: &mut [Record<K>],
    digit: impl Fn(&Record<K>) -> usize,
) {
    let mut places = [0u32; BUCKETS];
    from().for_each(|record| places[digit(record)] += 1);
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for record in from() {
        let place = &mut places[digit(record)];
        to[*place as usize] = *record;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::WideKey;

    fn check<K: StateKey>(key: impl Fn(u64) -> K) {
        let mut sorter = Sorter::new();
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
        check(|k| WideKey([k % 100, k]));
    }
}
