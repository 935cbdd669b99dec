//! Memory maps of files, zeroed memory from the system, and prefetching; one of the places with `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Zeroable;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Advice, Mmap, MmapMut, MmapOptions};

/// Expected access to a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessPattern {
    /// Sequential access to all of it, in either direction, with readahead.
    All,
    /// Random access to a few bytes, without readahead.
    Little,
}

/// Maps a whole file, read-only, for sequential access in either direction.
pub fn map_read_only(file: &File) -> io::Result<Mmap> {
    map_for(file, AccessPattern::All)
}

/// Maps a whole file, read-only.
///
/// Safety contract: the files of a table are never changed in place, only replaced by rename, so a
/// mapped file keeps its bytes and its length. A foreign process that truncates one nevertheless ends
/// this one with SIGBUS; it can do no other harm, because every length is checked on opening.
pub(crate) fn map_for(file: &File, reading: AccessPattern) -> io::Result<Mmap> {
    // SAFETY: see the contract above; the map is read-only, and nothing assumes another length.
    let map = unsafe { Mmap::map(file)? };
    // The advice is only a hint and may fail.
    let _ = map.advise(match reading {
        AccessPattern::All => Advice::WillNeed,
        AccessPattern::Little => Advice::Random,
    });
    Ok(map)
}

/// Drops the pages of some bytes from a map, and possibly the pages at its ends; they are read again
/// from the file on the next access.
pub(crate) fn unmap_pages(map: &Mmap, bytes: Range<usize>) {
    // SAFETY: a read-only map of a file loses nothing.
    #[cfg(unix)]
    let _ =
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
    #[cfg(not(unix))]
    let _ = (map, bytes);
}

/// Prefetches a value that will be read soon, on x86-64.
#[inline(always)]
pub(crate) fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

/// Values in anonymous memory, or in a file mapped for writing.
///
/// Safety contract: the file has no name, so nobody else changes it; it is as long as the values, and
/// its blocks are allocated.
#[derive(Debug)]
pub(crate) struct Mapped<T> {
    map: MmapMut,
    length: usize,
    values: PhantomData<T>,
}

/// Least bytes of anonymous memory for which huge pages are asked. The system may ignore it.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

impl<T: Zeroable> Mapped<T> {
    /// Maps `length` zeros in anonymous memory, or half as many and so on where the system refuses them.
    pub(crate) fn at_most(length: usize) -> Mapped<T> {
        match Mapped::zeros(length, None) {
            Ok(map) => map,
            Err(_) if length > 1 => Mapped::at_most(length / 2),
            Err(error) => panic!("the system has no memory left: {error}"),
        }
    }

    /// Maps `length` zeros: in `file`, which must be long enough, or in anonymous memory, in huge pages where
    /// the system has them. Memory is allocated when it is first used.
    pub(crate) fn zeros(length: usize, file: Option<&File>) -> io::Result<Mapped<T>> {
        let bytes =
            length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        // A map has at least one byte.
        let bytes = bytes.max(1);
        let map = match file {
            None => {
                let map = MmapMut::map_anon(bytes)?;
                #[cfg(target_os = "linux")]
                if bytes >= LARGE {
                    let _ = map.advise(Advice::HugePage);
                }
                map
            }
            // SAFETY: see the contract above.
            Some(file) => unsafe { MmapOptions::new().len(bytes).map_mut(file)? },
        };
        Ok(Mapped { map, length, values: PhantomData })
    }
}

impl<T> Mapped<T> {
    /// Populates the memory of some values, in huge pages where the system has them; faulting page by
    /// page on first write takes several times as long. Returns whether it succeeded.
    pub(crate) fn populate(&self, some: Range<usize>) -> bool {
        #[cfg(target_os = "linux")]
        {
            let bytes = some.start * size_of::<T>()..some.end * size_of::<T>();
            let whole = self.map.advise_range(Advice::PopulateWrite, bytes.start, bytes.len());
            whole.is_ok()
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = some;
            false
        }
    }

    #[inline(always)]
    pub(crate) fn values(&self) -> &[T] {
        // SAFETY: a map begins at a page and this one has room for `length` values; zeros are valid
        // values, and everything written since was written as values.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.length) }
    }

    #[inline(always)]
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.length) }
    }
}
