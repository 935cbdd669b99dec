//! From a key to its place among sorted keys.

use std::ops::Range;

use crate::game::StateKey;

/// Places of keys in a sorted slice, found by their highest bits and a search among the few that
/// share them.
#[derive(Clone, Debug)]
pub struct BucketIndex {
    width: u32,
    bits: u32,
    /// Of every prefix the place of the first key with it or a higher one, and the end.
    starts: Vec<u32>,
}

impl BucketIndex {
    /// Builds the index of ascending keys of `width` significant bits, in time and memory
    /// proportional to their number (at most about two bytes a key).
    pub fn new<K: StateKey>(keys: &[K], width: u32) -> BucketIndex {
        assert!(keys.len() <= u32::MAX as usize, "a layer of more than 2^32 states");
        let half = if K::WORDS == 1 { width } else { width / 2 };
        let bits = (usize::BITS - (keys.len() / 4).leading_zeros()).clamp(1, 22.min(half));
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (place, key) in keys.iter().enumerate() {
            let prefix = bucket(*key, width, bits);
            while starts.len() <= prefix {
                starts.push(place as u32);
            }
        }
        starts.resize((1 << bits) + 1, keys.len() as u32);
        BucketIndex { width, bits, starts }
    }

    /// The place of a key in the slice that the index was built for.
    #[inline]
    pub fn find<K: StateKey>(&self, keys: &[K], key: K) -> Option<usize> {
        let prefix = bucket(key, self.width, self.bits);
        let range = self.starts[prefix] as usize..*self.starts.get(prefix + 1)? as usize;
        search(keys, range, key)
    }
}

/// The bucket of a key; of one with higher bits set than there should be, the last.
#[inline]
fn bucket<K: StateKey>(key: K, width: u32, bits: u32) -> usize {
    key.prefix(width, bits).min((1 << bits) - 1)
}

/// The place of a key within a range of ascending keys.
#[inline]
pub fn search<K: Ord>(keys: &[K], range: Range<usize>, key: K) -> Option<usize> {
    let bucket = &keys[range.clone()];
    let at = bucket.partition_point(|other| *other < key);
    (bucket.get(at) == Some(&key)).then(|| range.start + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::WideKey;

    #[test]
    fn buckets_find_what_is_there_and_nothing_else() {
        for count in [0usize, 1, 2, 100, 5000] {
            let keys: Vec<u64> = (0..count as u64).map(|i| i * i * 7 % (1 << 30) * 4 + 1).collect();
            let mut keys = keys;
            keys.sort_unstable();
            keys.dedup();
            let index = BucketIndex::new(&keys, 32);
            for (place, &key) in keys.iter().enumerate() {
                assert_eq!(index.find(&keys, key), Some(place));
                assert_eq!(index.find(&keys, key + 1), None);
            }
            let wide: Vec<WideKey> = keys.iter().map(|&k| WideKey([k, !k])).collect();
            let index = BucketIndex::new(&wide, 64);
            for (place, &key) in wide.iter().enumerate() {
                assert_eq!(index.find(&wide, key), Some(place));
                assert_eq!(index.find(&wide, WideKey([key.0[0], 0])), None);
            }
            // A damaged table may hold keys of any bits.
            let long = [keys.clone(), vec![u64::MAX]].concat();
            let index = BucketIndex::new(&long, 32);
            assert_eq!(index.find(&long, u64::MAX), Some(count));
            assert_eq!(index.find(&long, u64::MAX - 1), None);
        }
    }
}
