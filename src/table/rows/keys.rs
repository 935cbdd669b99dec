//! Sorted keys of rows: mapped or in compressed blocks; and the search for a key among them.

use std::ops::Range;
use std::sync::Arc;

use super::UNFIT;
use super::code::{self, Code, Coding};
use super::stored_key::{StoredKey, WideKey};
use crate::error::Error;
use crate::parallel;
use crate::rules::Rules;
use crate::table::{Array, BLOCK, Packed, Table};

/// Keys of a table, of one or two words each.
pub enum Keys {
    /// 64-bit keys.
    Narrow(Array<u64>),
    /// Keys of two words.
    Wide(Array<WideKey>),
    /// Keys in compressed blocks.
    Packed(PackedKeys),
}

impl Keys {
    /// Maps the keys of a table; fails unless there are `rows` of them.
    pub(crate) fn open(game: &dyn Rules, table: &Table, rows: usize) -> Result<Keys, Error> {
        let (keys, count) = if table.manifest().is_packed() {
            let keys = PackedKeys::open(game, table, rows)?;
            (Keys::Packed(keys), rows)
        } else if game.facts().key_words() == 1 {
            let keys = table.array::<u64>("keys")?;
            let count = keys.len();
            (Keys::Narrow(keys), count)
        } else {
            let keys = table.array::<WideKey>("keys")?;
            let count = keys.len();
            (Keys::Wide(keys), count)
        };
        match count == rows {
            true => Ok(keys),
            false => Err(table.damaged_manifest(UNFIT)),
        }
    }

    /// Returns the bytes of some rows' keys; empty if keys are not mapped.
    pub(crate) fn bytes(&self, rows: Range<usize>) -> &[u8] {
        match self {
            Keys::Narrow(array) => bytemuck::cast_slice(&array[rows]),
            Keys::Wide(array) => bytemuck::cast_slice(&array[rows]),
            Keys::Packed(_) => &[],
        }
    }

    /// Returns the key of a row; `None` if it is damaged, which is recorded.
    #[inline]
    pub fn get(&self, row: usize) -> Option<u128> {
        match self {
            Keys::Narrow(array) => array.get(row).map(|key| key.widen()),
            Keys::Wide(array) => array.get(row).map(|key| key.widen()),
            Keys::Packed(keys) => keys.get(row, &mut None),
        }
    }

    /// Returns a reader of keys that works like [`Keys::get`] but is fastest for ascending rows.
    pub(crate) fn reader(&self) -> impl FnMut(usize) -> Option<u128> + '_ {
        let mut last = None;
        move |row| match self {
            Keys::Packed(keys) => keys.get(row, &mut last),
            _ => self.get(row),
        }
    }

    /// Returns the row of a key among ascending rows.
    #[inline]
    pub fn find(&self, rows: Range<usize>, key: u128) -> Option<usize> {
        match self {
            Keys::Narrow(array) => search(array, rows, u64::narrow(key)?),
            Keys::Wide(array) => search(array, rows, WideKey::narrow(key)?),
            Keys::Packed(keys) => keys.find(rows, keys.coding.code(key)),
        }
    }

    /// Returns an index of ascending rows for [`Keys::find_by`]; `None` if keys are not mapped. `width` is the
    /// number of significant bits.
    pub(crate) fn index(&self, rows: Range<usize>, width: u32) -> Option<BucketIndex> {
        match self {
            Keys::Narrow(array) => Some(BucketIndex::new(&array[rows], width)),
            Keys::Wide(array) => Some(BucketIndex::new(&array[rows], width)),
            Keys::Packed(_) => None,
        }
    }

    /// Returns the row of a key among ascending rows, by their index if there is one.
    #[inline]
    pub(crate) fn find_by(
        &self,
        index: &Option<BucketIndex>,
        rows: &Range<usize>,
        key: u128,
    ) -> Option<usize> {
        let at = match (self, index) {
            (Keys::Narrow(array), Some(index)) => {
                index.find(&array[rows.clone()], u64::narrow(key)?)
            }
            (Keys::Wide(array), Some(index)) => {
                index.find(&array[rows.clone()], WideKey::narrow(key)?)
            }
            _ => return self.find(rows.clone(), key),
        };
        at.map(|at| rows.start + at)
    }

    /// Evicts the keys of some rows from the page cache.
    pub(crate) fn drop_page_cache(&self, rows: Range<usize>) {
        match self {
            Keys::Narrow(keys) => keys.drop_page_cache(rows),
            Keys::Wide(keys) => keys.drop_page_cache(rows),
            Keys::Packed(_) => {}
        }
    }

    /// Checks properties that reads of single rows do not.
    pub(crate) fn check_whole(&self) -> Result<(), Error> {
        match self {
            Keys::Narrow(_) | Keys::Wide(_) => Ok(()),
            Keys::Packed(keys) => {
                let blocks = keys.firsts.len();
                parallel::try_map(blocks, &|block| keys.block(block).map(drop)).map(drop)
            }
        }
    }
}

/// Sorted keys in compressed blocks of [`BLOCK`] rows, each found by its first code.
pub struct PackedKeys {
    coding: Coding,
    /// Code of each block's first row.
    firsts: Array<[u64; 2]>,
    codes: Packed<Code>,
    rows: usize,
}

/// Number of a block, and its codes.
type CodeBlock = (usize, Arc<[Code]>);

impl PackedKeys {
    fn open(game: &dyn Rules, table: &Table, rows: usize) -> Result<PackedKeys, Error> {
        let firsts = table.array::<[u64; 2]>("packed_firsts")?;
        let blocks = rows.div_ceil(BLOCK);
        if firsts.len() != blocks {
            return Err(table.damaged_manifest(UNFIT));
        }
        let codes = Packed::open(table, "packed_keys", blocks, BLOCK, false)?;
        Ok(PackedKeys { coding: Coding::of(game), firsts, codes, rows })
    }

    fn block(&self, block: usize) -> Result<Arc<[Code]>, Error> {
        let rows = self.rows.saturating_sub(block * BLOCK).min(BLOCK);
        let unpack = |bytes: &[u8]| code::decode(*self.firsts.get(block)?, rows, bytes);
        self.codes.block(block, code::most_bytes(rows), unpack)
    }

    /// Returns the key of a row; `last` caches the block read last.
    fn get(&self, row: usize, last: &mut Option<CodeBlock>) -> Option<u128> {
        let number = row / BLOCK;
        if last.as_ref().is_none_or(|(there, _)| *there != number) {
            *last = Some((number, self.codes.damage().or_record(self.block(number))?));
        }
        let (_, codes) = last.as_ref()?;
        codes.get(row % BLOCK).map(|&code| self.coding.key(code))
    }

    /// Returns the row of a code among ascending rows.
    fn find(&self, rows: Range<usize>, code: Code) -> Option<usize> {
        if rows.is_empty() {
            return None;
        }
        let last = (rows.end - 1) / BLOCK;
        // The last block that begins within the rows and not after the code, else the first row's block.
        let (first, begun) = (rows.start / BLOCK, rows.start.div_ceil(BLOCK));
        let later = self.firsts.get(begun..=last).unwrap_or_default();
        let block = match later.partition_point(|first| !is_before(&code, first)) {
            0 => first,
            n => begun + n - 1,
        };
        let codes = self.codes.damage().or_record(self.block(block))?;
        let from = rows.start.saturating_sub(block * BLOCK);
        let some = codes.get(from..codes.len().min(rows.end - block * BLOCK))?;
        let at = some.partition_point(|other| is_before(other, &code));
        (some.get(at) == Some(&code)).then_some(block * BLOCK + from + at)
    }
}

/// Compares codes without the slice comparison that `Ord` of arrays compiles to.
#[inline]
fn is_before(a: &Code, b: &Code) -> bool {
    (a[0], a[1]) < (b[0], b[1])
}

/// Index of a sorted slice of keys by their highest bits; keys that share them are found by binary search.
#[derive(Clone, Debug)]
pub(crate) struct BucketIndex {
    width: u32,
    bits: u32,
    /// For each prefix the position of the first key with it or a higher one; then the number of keys.
    starts: Vec<u32>,
}

impl BucketIndex {
    /// Builds the index of ascending keys of `width` significant bits, in time and memory proportional to
    /// their number (at most about two bytes a key).
    pub(crate) fn new<K: StoredKey>(keys: &[K], width: u32) -> BucketIndex {
        assert!(keys.len() <= u32::MAX as usize, "a layer of more than 2^32 states");
        let bits = (usize::BITS - (keys.len() / 4).leading_zeros()).clamp(1, 22.min(width));
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

    /// Returns the position of a key in the slice that the index was built for.
    #[inline]
    pub(crate) fn find<K: StoredKey>(&self, keys: &[K], key: K) -> Option<usize> {
        let prefix = bucket(key, self.width, self.bits);
        let range = self.starts[prefix] as usize..*self.starts.get(prefix + 1)? as usize;
        search(keys, range, key)
    }
}

/// Returns the bucket of a key; the last one if bits above `width` are set.
#[inline]
fn bucket<K: StoredKey>(key: K, width: u32, bits: u32) -> usize {
    key.prefix(width, bits).min((1 << bits) - 1)
}

/// Returns the position of a key within a range of ascending keys.
#[inline]
fn search<K: Ord>(keys: &[K], range: Range<usize>, key: K) -> Option<usize> {
    let bucket = &keys[range.clone()];
    let at = bucket.partition_point(|other| *other < key);
    (bucket.get(at) == Some(&key)).then(|| range.start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(high: u64, low: u64) -> WideKey {
        WideKey::narrow(u128::from(high) << 64 | u128::from(low)).unwrap()
    }

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
            let all: Vec<WideKey> = keys.iter().map(|&k| wide(k, !k)).collect();
            let index = BucketIndex::new(&all, 96);
            for (place, &key) in all.iter().enumerate() {
                assert_eq!(index.find(&all, key), Some(place));
                assert_eq!(index.find(&all, wide((key.widen() >> 64) as u64, 0)), None);
            }
            // A damaged table may contain keys of any bits.
            let long = [keys.clone(), vec![u64::MAX]].concat();
            let index = BucketIndex::new(&long, 32);
            assert_eq!(index.find(&long, u64::MAX), Some(count));
            assert_eq!(index.find(&long, u64::MAX - 1), None);
        }
    }
}
