//! Sets of numbers as the bits of words.

use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the positions of the bits set in a word, ascending.
#[inline]
pub(crate) fn ones_of(word: impl Into<u64>) -> impl Iterator<Item = usize> + Clone {
    let mut word = word.into();
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit as usize
        })
    })
}

/// Sets a bit of a word; returns `true` if it was clear.
#[inline(always)]
pub(crate) fn set_bit(word: &AtomicU64, bit: u32) -> bool {
    let bit = 1 << bit;
    // Most bits are set already, and a load costs less than a write.
    word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
}
