//! How many threads work, ours and those of the library that multiplies matrices.
//!
//! One of the two places of the crate with `unsafe`. The library asks for its number of threads before
//! each product: it looks at the environment and, if nothing is said there, reads the description of
//! all processors, which takes longer than the products of a small network. So it is said there.
#![allow(unsafe_code)]

use std::thread::available_parallelism;

/// What the library asks for, and rayon too where no number is given to it.
const NAME: &str = "RAYON_NUM_THREADS";

/// Starts our threads, as many as are asked for, and tells the library to work with one. To be called
/// once, before anything else is begun.
pub(super) fn for_learning(asked: Option<usize>) -> anyhow::Result<()> {
    let said = std::env::var(NAME).ok().and_then(|number| number.parse().ok());
    let all = || available_parallelism().map_or(1, usize::from);
    let count = asked.or(said.filter(|&count| count > 0)).unwrap_or_else(all);
    // SAFETY: the process has no other thread yet that could read or write the environment.
    unsafe { std::env::set_var(NAME, "1") };
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global()?;
    Ok(())
}
