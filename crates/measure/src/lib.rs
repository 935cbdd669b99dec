//! Policies measured against exact values, and exact values as targets to learn from.
//!
//! * [`policy`]: policies, which choose moves;
//! * [`judge`]: policies measured on solved tables and by search;
//! * [`export`]: positions and exact targets as files for other programs;
//! * [`records`]: games and positions of files, in all forms;
//! * [`render`]: values in words; reports as text, as a page with plots, as CSV and Parquet.

// `expect` states why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

use sysinfo::{CGroupLimits, System};

/// Returns the bytes that can be allocated now without swapping, within the limit of the control group;
/// `None` where the system does not say.
pub fn free_memory() -> Option<u64> {
    memory(|system| system.available_memory(), |limits| limits.free_memory)
}

/// Returns the bytes of memory of the machine, within the limit of the control group; `None` where the system does not
/// say.
pub fn machine_memory() -> Option<u64> {
    memory(|system| system.total_memory(), |limits| limits.total_memory)
}

fn memory(of_host: fn(&System) -> u64, of_group: fn(&CGroupLimits) -> u64) -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let host = of_host(&system);
    let group = system.cgroup_limits().map_or(host, |limits| of_group(&limits));
    Some(host.min(group)).filter(|&bytes| bytes > 0)
}

pub mod export;
pub mod judge;
pub mod policy;
pub mod records;
pub mod render;
