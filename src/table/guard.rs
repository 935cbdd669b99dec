//! How much room there is, in memory and on the disk, and what does not fit.

use std::path::{Path, PathBuf};

/// What does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct NoRoom {
    /// About how many bytes it needs.
    pub needed: f64,
    /// How many are free.
    pub free: f64,
    /// On the disk of which directory; of memory if it is none.
    pub disk: Option<PathBuf>,
}

/// How many bytes may be allocated: as many as were asked for, or are free, where that is known.
pub fn room_in_memory(asked: Option<u64>) -> Option<u64> {
    asked.or_else(|| {
        let mut system = sysinfo::System::new().ok()?;
        system.refresh_memory();
        let host = system.available_memory();
        let limited = system.cgroup_limits().map_or(host, |limits| limits.free_memory);
        Some(host.min(limited)).filter(|&free| free > 0)
    })
}

/// That so many bytes fit in as many as were asked for, or in what is free now.
pub fn fits_memory(needed: f64, asked: Option<u64>) -> Result<(), NoRoom> {
    match room_in_memory(asked) {
        Some(free) if needed > free as f64 => Err(NoRoom { needed, free: free as f64, disk: None }),
        _ => Ok(()),
    }
}

/// That so many bytes fit on the disk of a directory.
pub fn fits_disk(needed: f64, place: &Path) -> Result<(), NoRoom> {
    match free_disk(place) {
        Some(free) if needed > free => {
            Err(NoRoom { needed, free, disk: Some(place.to_path_buf()) })
        }
        _ => Ok(()),
    }
}

/// The room on the disk that holds `dir` or its nearest parent, where that is known.
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
