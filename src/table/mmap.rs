//! Mapping a file into memory; one of the two places of the crate with `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;

#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Advice, Mmap};

/// Maps a whole file, read-only.
///
/// Safety contract: the files of a table are never changed in place, only replaced by rename, so a
/// mapped file keeps its bytes and its length. A foreign process that truncates one nevertheless
/// ends us with SIGBUS; no other harm can come of it, because every length is checked on opening.
pub(super) fn map_read_only(file: &File) -> io::Result<Mmap> {
    // SAFETY: see the contract above; the map is read-only and outlives no assumption of length.
    let map = unsafe { Mmap::map(file)? };
    // Tables are read front to back or back to front; the advice is only a hint and may fail.
    let _ = map.advise(Advice::WillNeed);
    Ok(map)
}

/// Takes the pages of some bytes out of a map, and perhaps the first of what follows; they come back from the file when they are read.
pub(super) fn unmap_pages(map: &Mmap, bytes: Range<usize>) {
    // SAFETY: of a read-only map of a file nothing is lost by this.
    #[cfg(unix)]
    let _ =
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
    #[cfg(not(unix))]
    let _ = (map, bytes);
}
