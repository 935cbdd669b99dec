//! Memory up to a limit and mapped files beyond it; free memory and disk space.

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use super::error::IoContext;
use crate::error::Error;
use crate::mmap::Mapped;
use crate::parallel;

/// Budget of bytes that work on a table may allocate.
#[derive(Clone, Debug)]
pub struct Memory {
    left: Arc<AtomicU64>,
    dir: PathBuf,
}

/// Bytes populated per task.
const AT_ONCE: usize = 16 << 20;

/// Bytes set aside for what is not allocated through [`Memory`]: rows being written, and the program.
pub const BESIDE: u64 = 224 << 20;

impl Memory {
    /// Returns a budget of `limit` bytes, or an unlimited one. Allocations that exceed it lie in unnamed
    /// files on the disk of `dir`.
    pub fn new(limit: Option<u64>, dir: &Path) -> Memory {
        let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(BESIDE));
        Memory { left: Arc::new(AtomicU64::new(left)), dir: dir.to_path_buf() }
    }

    /// Returns how many bytes may still be allocated in memory.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Allocates `length` zeros, in memory or else in a file. Fails if the disk has no room for the file.
    pub fn zeros<T: Zeroable + Send + Sync>(&self, length: usize) -> Result<Buffer<T>, Error> {
        let bytes = (length as u64).saturating_mul(size_of::<T>() as u64);
        let take = |left: u64| left.checked_sub(bytes);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            let file = tempfile::tempfile_in(&self.dir).at("create a file in", &self.dir)?;
            reserve(&file, bytes).at("reserve memory in a file in", &self.dir)?;
            let map = Mapped::zeros(length, Some(&file)).at("map a file in", &self.dir)?;
            return Ok(Buffer { map, taken: None });
        }
        let map = Mapped::zeros(length, None).at("allocate memory for the table in", &self.dir)?;
        // Populated now: a page that is read before it is written is allocated twice, and replacing it
        // stops all threads.
        let grain = (AT_ONCE / size_of::<T>()).max(1);
        let populated = parallel::map_ranges(length, grain, &|some| map.populate(some));
        let mut room = Buffer { map, taken: Some((self.clone(), bytes)) };
        if populated.contains(&false) {
            parallel::map_mut(&mut room, 1 << 16, &|_, zeros| zeros.fill_with(T::zeroed));
        }
        Ok(room)
    }
}

/// Makes a file of zeros with its blocks allocated: writing to a mapped sparse file on a full disk kills
/// the process.
fn reserve(file: &File, bytes: u64) -> std::io::Result<()> {
    file.set_len(bytes.max(1))?;
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes)?;
    }
    Ok(())
}

/// Values in memory or in a mapped file.
#[derive(Debug)]
pub struct Buffer<T> {
    map: Mapped<T>,
    /// Budget to which so many bytes return on drop; `None` for a file.
    taken: Option<(Memory, u64)>,
}

impl<T> Buffer<T> {
    /// Returns whether the values lie in a file.
    pub fn is_in_a_file(&self) -> bool {
        self.taken.is_none()
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.map.values()
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.map.values_mut()
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = &self.taken {
            memory.left.fetch_add(*bytes, Ordering::Relaxed);
        }
    }
}

/// Lack of memory or disk space.
#[derive(Clone, Debug, PartialEq)]
pub struct NoRoom {
    /// Estimate of the bytes needed.
    pub needed: f64,
    /// Free bytes.
    pub free: f64,
    /// Directory on the disk concerned; `None` for memory.
    pub disk: Option<PathBuf>,
}

/// Checks that `needed` bytes fit in `free` ones; `None` means unlimited.
pub fn fits_memory(needed: f64, free: Option<u64>) -> Result<(), NoRoom> {
    match free {
        Some(free) if needed > free as f64 => Err(NoRoom { needed, free: free as f64, disk: None }),
        _ => Ok(()),
    }
}

/// Checks that `needed` bytes fit on the disk of a directory. Succeeds if its space is unknown.
pub fn fits_disk(needed: f64, place: &Path) -> Result<(), NoRoom> {
    match free_disk(place) {
        Some(free) if needed > free => {
            Err(NoRoom { needed, free, disk: Some(place.to_path_buf()) })
        }
        _ => Ok(()),
    }
}

/// Returns the free bytes on the disk of `dir` or of its nearest existing parent; `None` if unknown.
pub fn free_disk(dir: &Path) -> Option<f64> {
    let there = std::path::absolute(dir).ok()?;
    let there = there.ancestors().find_map(|parent| parent.canonicalize().ok())?;
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(there.as_path()).ok()?;
        Some(found.f_bavail as f64 * found.f_frsize as f64)
    }
    #[cfg(not(unix))]
    {
        let _ = there;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_lies_in_a_file_until_there_is_room_again() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(BESIDE + 100), dir.path());
        let mut own = memory.zeros::<u64>(10).unwrap();
        let mut more = memory.zeros::<u64>(5000).unwrap();
        assert!(!own.is_in_a_file() && more.is_in_a_file());
        assert!(own.iter().chain(more.iter()).all(|&value| value == 0));
        (own[9], more[4999]) = (7, 8);
        assert_eq!((own[9], more[4999], more.len()), (7, 8, 5000));
        assert!(memory.zeros::<u32>(20).unwrap().is_in_a_file());
        drop(own);
        assert!(!memory.zeros::<u32>(20).unwrap().is_in_a_file());
        assert!(memory.zeros::<u32>(0).unwrap().is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(Memory::new(Some(0), Path::new("/nowhere")).zeros::<u8>(1).is_err());
        // More than can be addressed, in memory and in a file.
        for limit in [None, Some(0)] {
            let memory = Memory::new(limit, dir.path());
            for length in [usize::MAX / 8 + 2, usize::MAX / 2 + 1, usize::MAX / 16 + 1] {
                assert!(memory.zeros::<u64>(length).is_err(), "{length}");
            }
        }
    }
}
