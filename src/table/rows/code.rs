//! Codes of keys, and blocks of ascending codes as bytes.
//!
//! A code splits a key into a *group* and a *place* and orders as the keys do. Where a key consists of the
//! occupied squares and the mover's, the group is the occupied squares and the place is the mover's,
//! compressed to the bits of the occupied ones, so that places of a group are close together. Otherwise a key
//! of one word is a place, and one of two words a group and a place.
//!
//! A block is a list of *runs*, rows of one group with ascending places. Its bytes are the number of runs;
//! for each run but the first, the difference of its group from the one before, and its first place; the
//! length of each run; and for each other row the number of places skipped before it. Numbers are in LEB128.
//! The skips are stored in planes, first bytes together, then the second bytes of those that have two, and so
//! on, because bytes of one kind compress best together.

use crate::bits::ones_of;
use crate::rules::Rules;
// The one name of a game outside `by_block`; plans take it from here.
pub(crate) use crate::games::othello::blocks::has_blocks;

/// Group and place of a key.
pub(crate) type Code = [u64; 2];

/// Conversion between keys and codes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coding {
    /// Number of squares, if a key is one word with the occupied squares above the mover's.
    squares: Option<u32>,
    words: usize,
}

impl Coding {
    pub(crate) fn of(game: &dyn Rules) -> Coding {
        let squares = has_blocks(game).then(|| game.facts().key_bits / 2);
        Coding { squares, words: game.facts().key_words() }
    }

    #[inline]
    pub(crate) fn code(self, key: u128) -> Code {
        let (high, low) = ((key >> 64) as u64, key as u64);
        match (self.squares, self.words) {
            (Some(squares), _) => {
                let occupied = low >> squares;
                [occupied, press(low & ((1 << squares) - 1), occupied)]
            }
            (None, 1) => [0, low],
            (None, _) => [high, low],
        }
    }

    /// Returns the key of a code; unspecified for a code without a key.
    #[inline]
    pub(crate) fn key(self, [group, place]: Code) -> u128 {
        match (self.squares, self.words) {
            (Some(squares), _) => (group << squares | spread(place, group)).into(),
            (None, 1) => place.into(),
            (None, _) => u128::from(group) << 64 | u128::from(place),
        }
    }
}

/// Gathers the bits of `x` selected by `mask` into the low bits.
#[inline]
fn press(x: u64, mask: u64) -> u64 {
    ones_of(mask).zip(0..).fold(0, |all, (bit, place)| all | (x >> bit & 1) << place)
}

/// Scatters the low bits of `x` to the bits of `mask`.
#[inline]
fn spread(x: u64, mask: u64) -> u64 {
    ones_of(mask).zip(0..).fold(0, |all, (bit, place)| all | (x >> place & 1) << bit)
}

/// Appends a number in LEB128: seven bits a byte, lowest first, the highest bit set in all but the last byte.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a LEB128 number from the front; `None` if it is truncated or too long.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns the maximum number of bytes that `rows` rows encode to.
pub(crate) fn most_bytes(rows: usize) -> usize {
    // The worst case is a run for each row: a group, a place and a length.
    10 + rows * 30
}

/// Encodes a block, all but its first code.
pub(crate) fn encode(codes: &[Code]) -> Vec<u8> {
    let ascends = |a: &Code, b: &Code| a[0] == b[0] && a[1] < b[1];
    let mut bytes = Vec::new();
    put(&mut bytes, codes.chunk_by(ascends).count() as u64);
    for pair in codes.windows(2).filter(|pair| !ascends(&pair[0], &pair[1])) {
        put(&mut bytes, pair[1][0].wrapping_sub(pair[0][0]));
        put(&mut bytes, pair[1][1]);
    }
    codes.chunk_by(ascends).for_each(|run| put(&mut bytes, run.len() as u64));
    let pairs = codes.windows(2).filter(|pair| ascends(&pair[0], &pair[1]));
    let mut skipped: Vec<u64> = pairs.map(|pair| pair[1][1] - pair[0][1] - 1).collect();
    while !skipped.is_empty() {
        let more = |number: u64| if number > 0x7f { 0x80 } else { 0 };
        bytes.extend(skipped.iter().map(|&number| number as u8 & 0x7f | more(number)));
        skipped.retain(|&number| number > 0x7f);
        skipped.iter_mut().for_each(|number| *number >>= 7);
    }
    bytes
}

/// Decodes `rows` codes, the first of which is given; `None` if the bytes are not such a block.
pub(crate) fn decode(first: Code, rows: usize, mut bytes: &[u8]) -> Option<Vec<Code>> {
    let bytes = &mut bytes;
    let runs = usize::try_from(take(bytes)?).ok().filter(|&runs| runs <= rows)?;
    let mut begins = Vec::with_capacity(runs);
    let mut group = first[0];
    for run in 0..runs {
        begins.push(match run {
            0 => first,
            _ => {
                group = group.wrapping_add(take(bytes)?);
                [group, take(bytes)?]
            }
        });
    }
    let mut lengths = Vec::with_capacity(runs);
    for _ in 0..runs {
        lengths.push(usize::try_from(take(bytes)?).ok().filter(|&l| 0 < l && l <= rows)?);
    }
    if lengths.iter().sum::<usize>() != rows {
        return None;
    }
    let mut skipped = skips(rows - runs, bytes)?.into_iter();
    let mut codes = Vec::with_capacity(rows);
    for ([group, mut place], length) in begins.into_iter().zip(lengths) {
        codes.push([group, place]);
        for skip in skipped.by_ref().take(length - 1) {
            place = place.checked_add(skip)?.checked_add(1)?;
            codes.push([group, place]);
        }
    }
    Some(codes)
}

/// Decodes the skips at the end of a block; `None` unless they take all remaining bytes.
fn skips(count: usize, mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut skipped = vec![0u64; count];
    let mut longer: Vec<usize> = (0..count).collect();
    for shift in (0..64).step_by(7) {
        let (plane, rest) = bytes.split_at_checked(longer.len())?;
        for (&at, &byte) in longer.iter().zip(plane) {
            skipped[at] |= u64::from(byte & 0x7f) << shift;
        }
        let mut plane = plane.iter();
        longer.retain(|_| plane.next().is_some_and(|&byte| byte & 0x80 != 0));
        bytes = rest;
        if longer.is_empty() {
            break;
        }
    }
    (longer.is_empty() && bytes.is_empty()).then_some(skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_pressed_is_spread_again() {
        let mask = 0b1011_0110;
        assert_eq!(press(0b1001_0010, mask), 0b10101);
        for place in 0..32 {
            assert_eq!(press(spread(place, mask), mask), place);
        }
    }

    proptest! {
        #[test]
        fn blocks_read_back_and_no_bytes_break_the_reader(
            codes in prop::collection::vec((0u64..4, any::<u64>(), 0u32..64), 1..200),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let code = |(group, place, shift): (u64, u64, u32)| [group << 40, place >> shift];
            let codes: Vec<Code> = codes.into_iter().map(code).collect();
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            for codes in [codes, sorted] {
                let mut bytes = encode(&codes);
                prop_assert!(bytes.len() <= most_bytes(codes.len()));
                prop_assert_eq!(decode(codes[0], codes.len(), &bytes), Some(codes.clone()));
                prop_assert_eq!(decode(codes[0], codes.len() + 1, &bytes), None);
                let at = at.index(bytes.len());
                bytes[at] = byte;
                if let Some(found) = decode(codes[0], codes.len(), &bytes) {
                    prop_assert_eq!(found.len(), codes.len());
                }
            }
        }
    }
}
