//! Policies measured against exact values, and exact values as targets to learn from.
//!
//! * [`policy`]: policies, which choose moves;
//! * [`judge`]: policies measured on solved tables and by search;
//! * [`export`]: positions and exact targets as files for other programs;
//! * [`render`]: values in words; reports as text, as a page with plots, as CSV and Parquet.

// `expect` states why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

/// Returns the bytes that can be allocated now without swapping, within the limit of the control group;
/// `None` where the system does not say.
pub fn free_memory() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let host = system.available_memory();
    let limited = system.cgroup_limits().map_or(host, |limits| limits.free_memory);
    Some(host.min(limited)).filter(|&free| free > 0)
}

pub mod export;
pub mod judge;
pub mod policy;
pub mod render;
