//! Before a large run: what it will take, and whether there is room for it.

use std::path::Path;

use super::context::Context;
use super::error::UserError;
use crate::graph::Estimate;
use crate::render::number::{bytes, thousands};

/// Estimates above this number of states are shown before the work begins.
const LARGE: f64 = 1e6;

/// Says what an enumeration will take and refuses what does not fit.
pub(super) fn check(what: &str, estimate: &Estimate, context: &Context) -> Result<(), UserError> {
    check_room(what, estimate, context)?;
    if estimate.states >= LARGE {
        let about = if estimate.exact { "" } else { "about " };
        context.remark(format!(
            "{what}: expects {about}{} states, {about}{} on disk, {} of memory",
            count(estimate.states),
            bytes(estimate.disk),
            bytes(estimate.memory)
        ));
    }
    Ok(())
}

fn check_room(what: &str, estimate: &Estimate, context: &Context) -> Result<(), UserError> {
    check_memory(what, estimate.memory)?;
    let what = format!("{what} expects {} states and", count(estimate.states));
    let hint = "bound it with --max-depth or --max-states, choose another --tables";
    check_disk(&what, estimate.disk, context.store.root(), hint)
}

/// Refuses what does not fit in the memory that is free now.
pub(super) fn check_memory(what: &str, needed: f64) -> Result<(), UserError> {
    match free_memory() {
        Some(free) if needed > free => Err(UserError::new(format!(
            "{what} needs about {} of memory where {} are free; bound it with --max-depth or --max-states, or add --force",
            bytes(needed),
            bytes(free)
        ))),
        _ => Ok(()),
    }
}

/// Refuses to write `what` where it does not fit on the disk; `hint` says what to do.
pub(super) fn check_disk(
    what: &str,
    needed: f64,
    place: &Path,
    hint: &str,
) -> Result<(), UserError> {
    match free_disk(place) {
        Some(free) if needed > free => Err(UserError::new(format!(
            "{what} {} on disk where {} has {} free; {hint}, or add --force",
            bytes(needed),
            place.display(),
            bytes(free)
        ))),
        _ => Ok(()),
    }
}

fn count(states: f64) -> String {
    if states < 1e15 { thousands(states as u64) } else { format!("{states:.0e}") }
}

/// The bytes of memory that are free now, where that is known.
pub(super) fn free_memory() -> Option<f64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let host = system.available_memory();
    let limited = system.cgroup_limits().map_or(host, |limits| limits.free_memory);
    Some(host.min(limited)).filter(|&free| free > 0).map(|free| free as f64)
}

/// The room on the disk that holds `dir` or its nearest parent.
fn free_disk(dir: &Path) -> Option<f64> {
    let there = std::path::absolute(dir).ok()?;
    let there = there.ancestors().find_map(|parent| parent.canonicalize().ok())?;
    let disks = sysinfo::Disks::new_with_refreshed_list().ok()?;
    disks
        .iter()
        .filter(|disk| there.starts_with(disk.mount_point()))
        .max_by_key(|disk| disk.mount_point().components().count())
        .map(|disk| disk.available_space() as f64)
}
