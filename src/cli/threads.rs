//! How many threads work, ours and those of the library that multiplies matrices.
//!
//! One of the places of the crate with `unsafe`. The library asks for its number of threads before
//! each product: it looks at the environment and, if there is nothing, reads the description of all
//! processors, which takes longer than the products of a small network. So the environment names it.
#![allow(unsafe_code)]

use std::thread::available_parallelism;

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// What the library reads, and rayon too where no number is given to it.
const NAME: &str = "RAYON_NUM_THREADS";

/// Starts our threads, as many as requested, and sets the library's number to one where nothing else
/// can read the environment meanwhile; elsewhere its products take longer. To be called once, before
/// anything else is begun.
pub(super) fn for_learning(threads: Option<usize>) -> Result<(), ThreadPoolBuildError> {
    let from_environment = std::env::var(NAME).ok().and_then(|number| number.parse().ok());
    let all = || available_parallelism().map_or(1, usize::from);
    let count = threads.or(from_environment.filter(|&count| count > 0)).unwrap_or_else(all);
    if is_alone() {
        // SAFETY: the process has no other thread that could read or write the environment, and this
        // one starts none before it is done.
        unsafe { std::env::set_var(NAME, "1") };
    }
    ThreadPoolBuilder::new().num_threads(count).build_global()
}

/// Whether this thread is known to be the only one of the process: on Windows the environment can be
/// changed beside others.
fn is_alone() -> bool {
    #[cfg(windows)]
    return true;
    #[cfg(not(windows))]
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests run in threads, so there is always another.
    #[test]
    fn the_environment_is_not_changed_beside_other_threads() {
        let before = std::env::var_os(NAME);
        let _ = for_learning(Some(2));
        assert_eq!(std::env::var_os(NAME), before);
    }
}
