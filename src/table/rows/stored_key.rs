//! Keys as tables store them: in one word or in two.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;

use crate::rules::words_of_key;
use crate::table::Element;

/// Key of a state in one or two words, ordered as a number.
pub(crate) trait StoredKey: bytemuck::Pod + Ord + Hash + Debug + Send + Sync {
    /// Number of words.
    const WORDS: usize;

    /// Returns the highest `bits` (at most 24) of a key of `width` significant bits; monotone in the key.
    fn prefix(self, width: u32, bits: u32) -> usize;

    /// Returns the key as the rules know it.
    fn widen(self) -> u128;

    /// Converts a key; `None` if it does not fit.
    fn narrow(key: u128) -> Option<Self>;
}

impl StoredKey for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self >> width.saturating_sub(bits)) as usize
    }

    #[inline]
    fn widen(self) -> u128 {
        self.into()
    }

    #[inline]
    fn narrow(key: u128) -> Option<u64> {
        key.try_into().ok()
    }
}

/// Key of two words, the first the more significant. A `u128` would make a record a third larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct WideKey([u64; 2]);

// Numbers are compared faster than two words.
impl Ord for WideKey {
    #[inline(always)]
    fn cmp(&self, other: &WideKey) -> Ordering {
        self.widen().cmp(&other.widen())
    }
}

impl PartialOrd for WideKey {
    #[inline(always)]
    fn partial_cmp(&self, other: &WideKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The default goes by way of an `Option`.
    #[inline(always)]
    fn lt(&self, other: &WideKey) -> bool {
        self.widen() < other.widen()
    }

    #[inline(always)]
    fn le(&self, other: &WideKey) -> bool {
        self.widen() <= other.widen()
    }
}

impl StoredKey for WideKey {
    const WORDS: usize = 2;

    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self.widen() >> width.saturating_sub(bits)) as usize
    }

    #[inline]
    fn widen(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }

    #[inline]
    fn narrow(key: u128) -> Option<WideKey> {
        Some(WideKey(words_of_key(key)))
    }
}

impl Element for WideKey {
    const DESCR: &'static str = u64::DESCR;
    const COLUMNS: u64 = 2;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<K: StoredKey>(keys: [u128; 2], width: u32) -> Result<(), TestCaseError> {
        let keys = keys.map(|key| key & u128::MAX >> (128 - width));
        let [first, second] = keys.map(|key| K::narrow(key).unwrap());
        prop_assert_eq!([first.widen(), second.widen()], keys);
        prop_assert_eq!(first.cmp(&second), keys[0].cmp(&keys[1]));
        prop_assert_eq!((first < second, first <= second), (keys[0] < keys[1], keys[0] <= keys[1]));
        // Tables compare the words in their order.
        let [a, b] = [first, second].map(|key| bytemuck::cast_slice::<_, u64>(&[key]).to_vec());
        prop_assert_eq!(a.cmp(&b), keys[0].cmp(&keys[1]));
        for bits in [1, 7, 16, 24].map(|bits: u32| bits.min(width)) {
            let [a, b] = [first, second].map(|key| key.prefix(width, bits));
            prop_assert_eq!([a, b], keys.map(|key| (key >> (width - bits)) as usize));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn keys_keep_their_order(keys: [u128; 2], width in 1u32..=128) {
            check::<WideKey>(keys, width)?;
            if width <= 64 {
                check::<u64>(keys, width)?;
                prop_assert_eq!(u64::narrow(keys[0] | 1 << 64), None);
            }
        }
    }
}
