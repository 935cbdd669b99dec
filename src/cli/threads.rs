//! How many threads work, ours and those of the library that multiplies matrices.
//!
//! One of the two places of the crate with `unsafe`. The library asks for its number of threads
//! before each product: it looks at the environment and, if there is nothing, reads the description
//! of all processors, which takes longer than the products of a small network. So the environment
//! says it.
#![allow(unsafe_code)]

use std::thread::available_parallelism;

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// What the library reads, and rayon too where no number is given to it.
const NAME: &str = "RAYON_NUM_THREADS";

/// Starts our threads, as many as requested, and sets the library's number to one. To be called
/// once, before anything else is begun.
pub(super) fn for_learning(threads: Option<usize>) -> Result<(), ThreadPoolBuildError> {
    let from_environment = std::env::var(NAME).ok().and_then(|number| number.parse().ok());
    let all = || available_parallelism().map_or(1, usize::from);
    let count = threads.or(from_environment.filter(|&count| count > 0)).unwrap_or_else(all);
    // SAFETY: the process has no other thread yet that could read or write the environment.
    unsafe { std::env::set_var(NAME, "1") };
    ThreadPoolBuilder::new().num_threads(count).build_global()
}
