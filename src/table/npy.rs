//! Arrays in NumPy's `.npy` format, version 1.0: payload mapped or streamed.
//!
//! Every header is padded to [`HEADER_BYTES`], so the payload is aligned to 64 bytes, and a file can be
//! streamed before its length is known: the header is written last, into the space kept for it.

use std::borrow::Cow;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use memmap2::Mmap;

use super::Table;
use super::error::IoContext;
use super::npy_header::NpyHeader;
use crate::error::Error;
use crate::mmap::{AccessPattern, map_for, unmap_pages};
use crate::parallel;

/// Offset of the payload.
pub const HEADER_BYTES: usize = 128;

/// Bytes at the beginning of a file that go through the page cache.
pub(super) const KEPT_IN_MEMORY: u64 = 64 << 20;

/// A type that is one row of an array.
pub trait Element: Pod + Send + Sync {
    /// NumPy's name of the scalar, `<u4`.
    const DESCR: &'static str;
    /// Scalars in a row; 1 for a one-dimensional array.
    const COLUMNS: u64 = 1;
}

macro_rules! elements {
    ($($t:ty => $descr:literal),*) => { $(impl Element for $t { const DESCR: &'static str = $descr; })* };
}
elements!(u8 => "|u1", i8 => "|i1", i16 => "<i2", u16 => "<u2", u32 => "<u4", u64 => "<u8", f32 => "<f4");

/// A row of two words.
impl Element for [u64; 2] {
    const DESCR: &'static str = "<u8";
    const COLUMNS: u64 = 2;
}

/// Returns the shape of an array of `rows` rows of `T`.
pub fn shape_of<T: Element>(rows: u64) -> Vec<u64> {
    if T::COLUMNS == 1 { vec![rows] } else { vec![rows, T::COLUMNS] }
}

/// Returns the header of an array, exactly [`HEADER_BYTES`] long.
pub(super) fn header(path: &Path, descr: &str, shape: &[u64]) -> Result<Vec<u8>, Error> {
    let (descr, shape) = (descr.to_string(), shape.to_vec());
    let bytes = NpyHeader { descr, fortran_order: false, shape }.bytes();
    if bytes.len() != HEADER_BYTES {
        return Err(Error::damaged(path, "header too long"));
    }
    Ok(bytes)
}

/// Opens a file of a table. A missing one counts as damage.
pub(super) fn open(path: &Path) -> Result<File, Error> {
    // A pipe or a device has no length, and reading from it may block for ever.
    let opened = std::fs::metadata(path).and_then(|found| match found.is_file() {
        true => File::open(path).map(Some),
        false => Ok(None),
    });
    match opened {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(Error::damaged(path, "not a regular file")),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::damaged(path, "missing file"))
        }
        Err(error) => Err(error).at("open", path),
    }
}

/// Maps a table's file.
pub(super) fn map(file: &File, path: &Path, reading: AccessPattern) -> Result<Mmap, Error> {
    map_for(file, reading).at("map", path)
}

/// A read-only, mapped array of `T`.
#[derive(Debug)]
pub struct Array<T> {
    path: PathBuf,
    map: Mmap,
    element: PhantomData<T>,
}

impl<T: Element> Array<T> {
    /// Maps a file and checks that its header and length are those of `rows` rows of `T`. The payload is
    /// not read.
    pub(super) fn open(
        file: &File,
        path: &Path,
        rows: u64,
        reading: AccessPattern,
    ) -> Result<Array<T>, Error> {
        let map = map(file, path, reading)?;
        let expected = header(path, T::DESCR, &shape_of::<T>(rows))?;
        let length = rows.saturating_mul(size_of::<T>() as u64).saturating_add(HEADER_BYTES as u64);
        if map.len() as u64 != length {
            return Err(Error::damaged(
                path,
                format!("{} bytes, expected {length} (manifest)", map.len()),
            ));
        }
        if map[..HEADER_BYTES] != expected[..] {
            return Err(Error::damaged(path, describe_header(&map[..], T::DESCR, rows)));
        }
        Ok(Array { path: path.to_path_buf(), map, element: PhantomData })
    }
}

impl<T: Pod> Array<T> {
    /// Maps the rows of a file whose header is not written yet.
    pub(super) fn so_far(path: &Path) -> Result<Array<T>, Error> {
        let map = map(&open(path)?, path, AccessPattern::All)?;
        let payload = map.len().checked_sub(HEADER_BYTES);
        if payload.is_none_or(|bytes| bytes % size_of::<T>() > 0) {
            return Err(Error::damaged(path, "incomplete last row"));
        }
        Ok(Array { path: path.to_path_buf(), map, element: PhantomData })
    }

    /// Returns the path of the mapped file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of the payload.
    pub fn bytes(&self) -> &[u8] {
        &self.map[HEADER_BYTES..]
    }

    /// Drops rows that will not be read again soon from the page cache, if the file is large.
    pub fn drop_page_cache(&self, rows: Range<usize>) {
        if self.map.len() as u64 > KEPT_IN_MEMORY {
            let bytes = HEADER_BYTES + rows.start * size_of::<T>()
                ..HEADER_BYTES + rows.end * size_of::<T>();
            unmap_pages(&self.map, bytes.clone());
            if let Ok(file) = File::open(&self.path) {
                drop_page_cache(&file, bytes.start as u64, Some(bytes.len() as u64));
            }
        }
    }
}

fn describe_header(bytes: &[u8], descr: &str, rows: u64) -> String {
    match NpyHeader::read(bytes) {
        Ok(header) => format!(
            "header with {} of shape {:?}, expected {descr} of {rows} rows (manifest)",
            header.descr, header.shape
        ),
        Err(_) => "invalid NumPy header".to_string(),
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.bytes())
    }
}

/// A mapped column of `u8` or of `u16`.
#[derive(Debug)]
pub enum Ints {
    /// One byte per number.
    Narrow(Array<u8>),
    /// Two bytes per number.
    Wide(Array<u16>),
}

impl Ints {
    /// Maps a column in the width that the manifest names.
    pub fn open(table: &Table, name: &str) -> Result<Ints, Error> {
        match table.manifest().arrays.get(name).map(|entry| entry.dtype.as_str()) {
            Some(dtype) if dtype == u16::DESCR => Ok(Ints::Wide(table.array(name)?)),
            _ => Ok(Ints::Narrow(table.array(name)?)),
        }
    }

    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        match self {
            Ints::Narrow(column) => column.len(),
            Ints::Wide(column) => column.len(),
        }
    }

    /// Returns the number in a row.
    #[inline]
    pub fn get(&self, row: usize) -> u16 {
        match self {
            Ints::Narrow(column) => u16::from(column[row]),
            Ints::Wide(column) => column[row],
        }
    }

    /// Returns the sum of the numbers in some rows, of which there are at most a thousand.
    #[inline]
    pub fn sum(&self, rows: Range<usize>) -> usize {
        match self {
            Ints::Narrow(column) => {
                // Four 16-bit sums per word: 128 words of 8 numbers add up to at most 65280 each.
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

    /// Returns the bytes of some rows, as stored.
    pub fn stored(&self, rows: Range<usize>) -> &[u8] {
        match self {
            Ints::Narrow(column) => &column[rows],
            Ints::Wide(column) => bytemuck::cast_slice(&column[rows]),
        }
    }

    /// Drops rows from the page cache, as [`Array::drop_page_cache`] does.
    pub fn drop_page_cache(&self, rows: Range<usize>) {
        match self {
            Ints::Narrow(column) => column.drop_page_cache(rows),
            Ints::Wide(column) => column.drop_page_cache(rows),
        }
    }

    /// Returns numbers as bytes to append to such a column of a draft.
    pub fn bytes(numbers: &[u16], wide: bool) -> Cow<'_, [u8]> {
        match wide {
            true => Cow::Borrowed(bytemuck::cast_slice(numbers)),
            false => Cow::Owned(numbers.iter().map(|&number| number as u8).collect()),
        }
    }
}

/// Returns the CRC-32 (IEEE) of some bytes, computed on all threads if there are many.
pub fn crc32(bytes: &[u8]) -> u32 {
    const CHUNK: usize = 4 << 20;
    let hash = |chunk: &[u8]| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(chunk);
        hasher
    };
    if bytes.len() <= CHUNK {
        return hash(bytes).finalize();
    }
    let parts = parallel::map_ranges(bytes.len(), CHUNK, &|range| hash(&bytes[range]));
    let mut whole = crc32fast::Hasher::new();
    parts.iter().for_each(|part| whole.combine(part));
    whole.finalize()
}

/// Drops part of a file, to its end if `bytes` is `None`, from the page cache (`POSIX_FADV_DONTNEED`)
/// and starts writing its dirty pages: the final sync is short, reused pages cost less than new ones,
/// and other programs keep theirs.
pub(super) fn drop_page_cache(file: &File, from: u64, bytes: Option<u64>) {
    // A hint, which may fail.
    #[cfg(target_os = "linux")]
    let _ = {
        let bytes = bytes.and_then(std::num::NonZeroU64::new);
        rustix::fs::fadvise(file, from, bytes, rustix::fs::Advice::DontNeed)
    };
    #[cfg(not(target_os = "linux"))]
    let _ = (file, from, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_checksum_is_the_plain_one() {
        let bytes: Vec<u8> = (0..9_000_000u32).map(|i| (i * 7 / 8) as u8).collect();
        assert_eq!(crc32(&bytes), crc32fast::hash(&bytes));
    }
}
