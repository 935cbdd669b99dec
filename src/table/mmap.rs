//! Mapping a file into memory, and prefetching from it; one of the places with `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Zeroable;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Advice, Mmap, MmapMut, MmapOptions};

/// How much of a mapped file is going to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// All of it, front to back or back to front: the system reads ahead.
    All,
    /// A few bytes here and there, for which nothing else is to be read.
    Little,
}

/// Maps a whole file, read-only, to be read front to back or back to front.
pub fn map_read_only(file: &File) -> io::Result<Mmap> {
    map_for(file, Reading::All)
}

/// Maps a whole file, read-only.
///
/// Safety contract: the files of a table are never changed in place, only replaced by rename, so a
/// mapped file keeps its bytes and its length. A foreign process that truncates one nevertheless
/// ends us with SIGBUS; no other harm can come of it, because every length is checked on opening.
pub(super) fn map_for(file: &File, reading: Reading) -> io::Result<Mmap> {
    // SAFETY: see the contract above; the map is read-only and outlives no assumption of length.
    let map = unsafe { Mmap::map(file)? };
    // The advice is only a hint and may fail.
    let _ = map.advise(match reading {
        Reading::All => Advice::WillNeed,
        Reading::Little => Advice::Random,
    });
    Ok(map)
}

/// Takes the pages of some bytes out of a map, and perhaps the first of what follows; they come
/// back from the file when they are read.
pub(super) fn unmap_pages(map: &Mmap, bytes: Range<usize>) {
    // SAFETY: of a read-only map of a file nothing is lost by this.
    #[cfg(unix)]
    let _ =
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
    #[cfg(not(unix))]
    let _ = (map, bytes);
}

/// Prefetches what will be read soon, on processors that can.
#[inline(always)]
pub fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

/// Values in memory of the system's, or in a file that is mapped to be written.
///
/// Safety contract: a file has no name, so nobody else changes it; it is as long as the values, and
/// the disk has room for all of it.
#[derive(Debug)]
pub(super) struct Mapped<T> {
    map: MmapMut,
    length: usize,
    values: PhantomData<T>,
}

impl<T: Zeroable> Mapped<T> {
    /// Maps so many zeros: those of a file, if there is one.
    pub(super) fn zeros(length: usize, file: Option<&File>) -> io::Result<Mapped<T>> {
        let bytes =
            length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        // A map has at least one byte.
        let bytes = bytes.max(1);
        let map = match file {
            None => MmapMut::map_anon(bytes)?,
            // SAFETY: see the contract above.
            Some(file) => unsafe { MmapOptions::new().len(bytes).map_mut(file)? },
        };
        Ok(Mapped { map, length, values: PhantomData })
    }
}

impl<T> Mapped<T> {
    /// Gets the memory of some values at once, in large pages where the system has them: page by page,
    /// when each is written first, it takes several times as long. Tells whether that could be done.
    pub(super) fn populate(&self, some: Range<usize>) -> bool {
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

    /// Asks for large pages, which the system gives or not.
    pub(super) fn in_large_pages(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.map.advise(Advice::HugePage);
    }

    #[inline(always)]
    pub(super) fn values(&self) -> &[T] {
        // SAFETY: maps begin at a page, this one has room for so many values, zeros are values, and
        // what was written since was written as values.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.length) }
    }

    #[inline(always)]
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.length) }
    }
}
