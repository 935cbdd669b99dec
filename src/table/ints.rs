//! Columns of small numbers, of one byte each where they fit and of two otherwise.

use std::borrow::Cow;
use std::ops::Range;

use super::{Array, Draft, Element, Lengths, Table, TableError};

/// A mapped column of `u8` or of `u16`.
#[derive(Debug)]
pub enum Ints {
    /// One byte each.
    Narrow(Array<u8>),
    /// Two bytes each.
    Wide(Array<u16>),
}

impl Ints {
    /// Maps a column in the width that the manifest names.
    pub fn open(table: &Table, name: &str) -> Result<Ints, TableError> {
        match table.manifest().arrays.get(name).map(|entry| entry.dtype.as_str()) {
            Some(dtype) if dtype == u16::DESCR => Ok(Ints::Wide(table.array(name)?)),
            _ => Ok(Ints::Narrow(table.array(name)?)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Ints::Narrow(column) => column.len(),
            Ints::Wide(column) => column.len(),
        }
    }

    /// The number in a row.
    #[inline]
    pub fn get(&self, row: usize) -> u16 {
        match self {
            Ints::Narrow(column) => u16::from(column[row]),
            Ints::Wide(column) => column[row],
        }
    }

    /// The sum of the numbers in some rows, at most a thousand.
    #[inline]
    pub fn sum(&self, rows: Range<usize>) -> usize {
        match self {
            Ints::Narrow(column) => {
                // Four sums in a word, each of two bytes, which hold 128 times two numbers.
                const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
                let (words, rest) = column[rows].as_chunks::<8>();
                let sums = words.iter().map(|&word| u64::from_le_bytes(word));
                let sums: u64 = sums.map(|word| (word & EVEN) + (word >> 8 & EVEN)).sum();
                let sums: u64 = (0..4).map(|at| sums >> (16 * at) & 0xffff).sum();
                sums as usize + rest.iter().map(|&number| usize::from(number)).sum::<usize>()
            }
            Ints::Wide(column) => column[rows].iter().map(|&number| usize::from(number)).sum(),
        }
    }

    /// Some rows as they are stored.
    pub fn stored(&self, rows: Range<usize>) -> &[u8] {
        match self {
            Ints::Narrow(column) => &column[rows],
            Ints::Wide(column) => bytemuck::cast_slice(&column[rows]),
        }
    }

    /// As [`Array::forget`].
    pub fn forget(&self, rows: Range<usize>) {
        match self {
            Ints::Narrow(column) => column.forget(rows),
            Ints::Wide(column) => column.forget(rows),
        }
    }

    /// Declares such a column in a draft.
    pub fn grow(
        draft: &mut Draft,
        name: &'static str,
        wide: bool,
        lengths: Option<&Lengths>,
    ) -> Result<(), TableError> {
        match wide {
            true => draft.grow::<u16>(name, false, lengths),
            false => draft.grow::<u8>(name, false, lengths),
        }
    }

    /// Numbers as they are appended to such a column of a draft.
    pub fn bytes(numbers: &[u16], wide: bool) -> Cow<'_, [u8]> {
        match wide {
            true => Cow::Borrowed(bytemuck::cast_slice(numbers)),
            false => Cow::Owned(numbers.iter().map(|&number| number as u8).collect()),
        }
    }

    /// Reads the last rows of such a column of a draft back.
    pub fn tail(
        draft: &Draft,
        name: &str,
        wide: bool,
        rows: usize,
    ) -> Result<Vec<u16>, TableError> {
        match wide {
            true => draft.tail::<u16>(name, rows),
            false => Ok(draft.tail::<u8>(name, rows)?.into_iter().map(u16::from).collect()),
        }
    }
}
