//! Before a large run: what it will take, and whether there is room for it.

use std::io;
use std::path::Path;
use std::str::FromStr;

use bytesize::ByteSize;

use super::context::Context;
use super::error::UserError;
use crate::graph::Estimate;
use crate::render::number::{bytes, seconds, thousands};
use crate::table::bytes_in;

/// Estimates above this number of states are shown before the work begins.
const LARGE: f64 = 1e6;

/// An amount of memory as it is given on the command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryArg(pub u64);

/// The program and the rows that it writes take nearly as much.
const LEAST: u64 = 300_000_000;

impl FromStr for MemoryArg {
    type Err = String;

    fn from_str(text: &str) -> Result<MemoryArg, String> {
        match text.parse::<ByteSize>() {
            Ok(ByteSize(..LEAST)) => Err(format!("give at least {}", bytes(LEAST as f64))),
            Ok(ByteSize(count)) => Ok(MemoryArg(count)),
            Err(_) => Err("it is no amount of memory; write 4G or 500M".to_string()),
        }
    }
}

/// What may be allocated: what was asked for, or what is free, where that is known.
pub(super) fn room_in_memory(asked: Option<u64>) -> Option<u64> {
    asked.or_else(|| free_memory().map(|free| free as u64))
}

/// Says what an enumeration that may take so much memory will take, and refuses what does not fit.
pub(super) fn check(
    what: &str,
    estimate: &Estimate,
    memory: Option<u64>,
    context: &Context,
) -> Result<(), UserError> {
    let beyond = memory.map_or(0.0, |memory| (estimate.memory - memory as f64).max(0.0));
    if !estimate.in_blocks {
        check_memory(what, estimate.memory, memory, BOUND)?;
    }
    let expects = format!("{what} expects {} states and", count(estimate.states));
    let hint = format!("{BOUND}, choose another --tables");
    check_disk(&expects, estimate.disk + beyond, context.store.root(), &hint)?;
    if estimate.states >= LARGE {
        let about = if estimate.exact { "" } else { "about " };
        let derived = if estimate.derived { " without moves" } else { "" };
        let files = match beyond > 0.0 {
            true => format!(", {} in files meanwhile", bytes(beyond)),
            false => String::new(),
        };
        context.remark(format!(
            "{what}: expects {about}{} states, about {}, {} on disk{derived}, {} of memory{files}",
            count(estimate.states),
            seconds(estimate.seconds / rayon::current_num_threads() as f64),
            bytes(estimate.disk),
            bytes(estimate.memory - beyond)
        ));
    }
    Ok(())
}

/// What to do where a board is too large.
pub(super) const BOUND: &str = "bound it with --max-depth or --max-states of 'solver enumerate', \
                                begin nearer to the end with its --root";

/// Refuses what does not fit in so much memory, or in what is free now; `hint` says what to do.
pub(super) fn check_memory(
    what: &str,
    needed: f64,
    memory: Option<u64>,
    hint: &str,
) -> Result<(), UserError> {
    match room_in_memory(memory) {
        Some(free) if needed > free as f64 => Err(UserError::new(format!(
            "{what} needs about {} of memory where {} are free; {hint}, or add --force",
            bytes(needed),
            bytes(free as f64)
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

/// Says of a failure for want of room on the disk what the unfinished table keeps there.
pub(super) fn with_draft(error: anyhow::Error, draft: &Path) -> anyhow::Error {
    let is_full = |cause: &io::Error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    };
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    if !causes.any(is_full) || !draft.is_dir() {
        return error;
    }
    let (kept, place) = (bytes(bytes_in(draft) as f64), draft.display());
    anyhow::anyhow!(
        "{error:#}; {place} keeps {kept}: make room and run again to go on, or run 'solver remove {place}'"
    )
}

/// The room on the disk that holds `dir` or its nearest parent.
pub(super) fn free_disk(dir: &Path) -> Option<f64> {
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
