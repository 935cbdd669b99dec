//! Packed arrays: blocks of rows, each compressed on its own by Zstandard, so that one can be read
//! without the others.
//!
//! A packed array is an array of bytes: its blocks one after another, followed by 64-bit offsets: where
//! each block begins, and where the last one ends. Every block ends in a checksum of its content.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Zeroable;
use dashmap::DashMap;
use rustc_hash::FxBuildHasher;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use super::error::IoContext;
use super::{Array, Damage, Draft, Element, Table};
use crate::error::Error;
use crate::parallel;
use crate::progress::Progress;

/// Rows of a block of a column.
pub const BLOCK: usize = 1 << 10;
/// Compression level: higher ones take longer and gain little.
const LEVEL: i32 = 19;
/// Bytes of unpacked blocks that each array caches.
const KEPT: usize = 256 << 20;
/// Blocks that are compressed before they are written.
const AT_ONCE: usize = 1 << 10;

/// Returns the rows of each block of [`BLOCK`] among `rows`.
pub fn blocks_of(rows: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..rows.div_ceil(BLOCK)).map(move |block| block * BLOCK..rows.min((block + 1) * BLOCK))
}

/// Compresses `blocks` blocks, whose bytes `of` returns, into a new array of a draft.
pub fn write_blocks(
    draft: &mut Draft,
    name: &'static str,
    blocks: usize,
    of: &(dyn Fn(usize) -> Vec<u8> + Sync),
    progress: &dyn Progress,
) -> Result<(), Error> {
    draft.grow::<u8>(name, false, None)?;
    progress.begin(name, Some(blocks as u64));
    let compress = |block: usize| {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        let packed = compressor.compress(&of(block));
        progress.advance(1);
        packed
    };
    let (mut begins, mut end) = (vec![0u64], 0);
    for first in (0..blocks).step_by(AT_ONCE) {
        let some = AT_ONCE.min(blocks - first);
        let packed = parallel::try_map(some, &|block| compress(first + block));
        let packed = packed.at("compress", &draft.file(name))?;
        for block in &packed {
            end += block.len() as u64;
            begins.push(end);
        }
        draft.append(&[(name, &packed.concat())])?;
    }
    progress.finish(&format!("{end} bytes"));
    draft.append(&[(name, bytemuck::cast_slice(&begins))])
}

/// Returns the values byte by byte: the lowest byte of all of them, then the next of all, and so on.
pub fn planes<T: Element>(values: &[T]) -> Vec<u8> {
    let (bytes, width): (&[u8], _) = (bytemuck::cast_slice(values), size_of::<T>());
    (0..width).flat_map(|plane| bytes.iter().skip(plane).step_by(width).copied()).collect()
}

/// Returns the `rows` values that [`planes`] was given; `None` if the length does not fit.
pub fn of_planes<T: Element>(planes: &[u8], rows: usize) -> Option<Vec<T>> {
    let width = size_of::<T>();
    if planes.len() != rows * width {
        return None;
    }
    let mut values: Vec<T> = bytemuck::zeroed_vec(rows);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
    for (plane, from) in planes.chunks(rows.max(1)).enumerate() {
        bytes.iter_mut().skip(plane).step_by(width).zip(from).for_each(|(to, from)| *to = *from);
    }
    Some(values)
}

/// Decompresses a block; `None` if it is damaged or exceeds `most` bytes.
fn decompress(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    thread_local! {
        // Reused: creating one takes as long as unpacking a block.
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress(packed, most).ok()
    })
}

/// A packed array whose blocks are unpacked on demand and cached.
pub struct Packed<T> {
    bytes: Array<u8>,
    blocks: usize,
    kept: DashMap<usize, Arc<[T]>, FxBuildHasher>,
    room: usize,
    damage: Damage,
}

impl<T> fmt::Debug for Packed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packed({}, {} blocks)", self.bytes.path().display(), self.blocks)
    }
}

impl<T: Zeroable> Packed<T> {
    /// Maps an array of `blocks` blocks of at most `length` values; compares its checksum if `checked`.
    pub fn open(
        table: &Table,
        name: &str,
        blocks: usize,
        length: usize,
        checked: bool,
    ) -> Result<Packed<T>, Error> {
        let bytes = table.array_checked::<u8>(name, checked)?;
        let room = (KEPT / (length * size_of::<T>()).max(1)).min(blocks.max(1));
        let damage = table.damage().clone();
        let packed = Packed { bytes, blocks, kept: DashMap::default(), room, damage };
        let words = blocks.checked_add(1).and_then(|words| words.checked_mul(8));
        let end = words.and_then(|words| packed.bytes.len().checked_sub(words));
        match end.is_some() && packed.begin_of(blocks) == end {
            true => Ok(packed),
            false => Err(Error::damaged(packed.bytes.path(), "wrong number of blocks")),
        }
    }

    /// Returns the damage met in the table.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Returns the path of the array's file.
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Returns the offset at which a block begins; that of the block after the last is the end.
    fn begin_of(&self, block: usize) -> Option<usize> {
        let behind = self.blocks.checked_add(1)?.checked_sub(block)?.checked_mul(8)?;
        let at = self.bytes.len().checked_sub(behind)?;
        let word = self.bytes.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(word)).ok()
    }

    /// Returns a block of at most `most` bytes, which `unpack` turns into values.
    pub fn block(
        &self,
        block: usize,
        most: usize,
        unpack: impl FnOnce(&[u8]) -> Option<Vec<T>>,
    ) -> Result<Arc<[T]>, Error> {
        if let Some(kept) = self.kept.get(&block) {
            return Ok(kept.clone());
        }
        let range = self.begin_of(block).zip(self.begin_of(block + 1));
        let packed = range.and_then(|(begin, end)| self.bytes.get(begin..end));
        let bytes = packed.and_then(|packed| decompress(packed, most));
        let values = bytes.and_then(|bytes| unpack(&bytes)).ok_or_else(|| self.damaged(block))?;
        let values: Arc<[T]> = values.into();
        // Starting over costs each block one more unpacking, and spares a list of the last uses.
        if self.kept.len() >= self.room {
            self.kept.clear();
        }
        self.kept.insert(block, values.clone());
        Ok(values)
    }

    /// Returns the error for a block that cannot be unpacked.
    pub fn damaged(&self, block: usize) -> Error {
        Error::damaged(self.bytes.path(), format!("block {block} cannot be decompressed"))
    }
}

/// A packed column of numbers, one per row, in blocks of [`BLOCK`].
#[derive(Debug)]
pub struct PackedColumn<T> {
    packed: Packed<T>,
    rows: usize,
}

impl<T: Element> PackedColumn<T> {
    /// Maps a column of `rows` rows; compares its checksum if `checked`.
    pub fn open(
        table: &Table,
        name: &str,
        rows: usize,
        checked: bool,
    ) -> Result<PackedColumn<T>, Error> {
        let packed = Packed::open(table, name, rows.div_ceil(BLOCK), BLOCK, checked)?;
        Ok(PackedColumn { packed, rows })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the numbers of a block.
    pub fn block(&self, block: usize) -> Result<Arc<[T]>, Error> {
        let rows = self.rows.saturating_sub(block * BLOCK).min(BLOCK);
        self.packed.block(block, rows * size_of::<T>(), |bytes| of_planes(bytes, rows))
    }

    /// Returns the number in a row; `None` if its block is damaged, which is recorded.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        let damage = self.packed.damage();
        let block = damage.or_record(self.block(row / BLOCK))?;
        // The row number may come from damaged data.
        let number = block.get(row % BLOCK).copied();
        damage.or_record(number.ok_or_else(|| self.packed.damaged(row / BLOCK)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_put_together_again() {
        for rows in [0, 1, 5] {
            let values: Vec<u16> = (0..rows).map(|row| row * 300 + 7).collect();
            let found = of_planes::<u16>(&planes(&values), values.len());
            assert_eq!(found.as_ref(), Some(&values));
            assert_eq!(of_planes::<u16>(&planes(&values), values.len() + 1), None);
        }
    }
}
