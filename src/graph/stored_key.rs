//! Keys as tables store them: in one word or in two.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;

use crate::table::Element;

/// Key of a state in one or two words, ordered as a number.
pub(super) trait StoredKey: bytemuck::Pod + Ord + Hash + Debug + Send + Sync {
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

    /// `width` counts the bits of both words, half of them in each.
    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self.0[0] >> (width / 2).saturating_sub(bits)) as usize
    }

    #[inline]
    fn widen(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }

    #[inline]
    fn narrow(key: u128) -> Option<WideKey> {
        Some(WideKey([(key >> 64) as u64, key as u64]))
    }
}

impl Element for WideKey {
    const DESCR: &'static str = u64::DESCR;
    const COLUMNS: u64 = 2;
}
