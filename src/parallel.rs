//! Work spread over the threads of the current Rayon pool.
//!
//! Rayon's adaptors are recompiled, with their splitting, stealing and joining, for every closure passed to
//! them, and most closures here exist once for every game. Therefore tasks are large enough to be called
//! through a pointer, and all of them go through [`each`], which is compiled once. Results are in task order,
//! whichever thread ran the task.
//!
//! ```
//! use yomikiri::parallel;
//!
//! assert_eq!(parallel::map(4, &|task| task * task), [0, 1, 4, 9]);
//! assert_eq!(parallel::select(10, |index| index % 3 == 0), [0, 3, 6, 9]);
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;
use rayon::prelude::*;

/// Number of rows of a task if each row is cheap.
pub const GRAIN: usize = 1 << 12;

/// Calls `work` with every number below `tasks`, in parallel.
pub fn each(tasks: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..tasks).into_par_iter().with_max_len(1).for_each(work);
}

/// Locks a slot that only one task uses at a time, even if a task has panicked.
pub fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pool of buffers that tasks reuse, because allocating one costs more than many a task.
#[derive(Debug)]
pub struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare(Mutex::default())
    }
}

impl<T: Default> Spare<T> {
    /// Takes a buffer from the pool, or makes a new one.
    pub fn take(&self) -> T {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Returns a buffer to the pool.
    pub fn give(&self, memory: T) {
        lock(&self.0).push(memory);
    }
}

/// Maps every number below `tasks`, in parallel.
pub fn map<T: Send>(tasks: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..tasks).map(|_| Mutex::new(None)).collect();
    each(tasks, &|task| {
        let result = of(task);
        *lock(&slots[task]) = Some(result);
    });
    let result = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.into_iter().filter_map(result).collect()
}

/// Maps every number below `tasks`, in parallel, or returns the error of the lowest task that failed. Tasks
/// after a failed one are no longer started.
pub fn try_map<T: Send, E: Send>(
    tasks: usize,
    of: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let failed = AtomicUsize::new(tasks);
    let results = map(tasks, &|task| {
        if failed.load(Ordering::Relaxed) < task {
            return None;
        }
        let result = of(task);
        if result.is_err() {
            failed.fetch_min(task, Ordering::Relaxed);
        }
        Some(result)
    });
    results.into_iter().flatten().collect()
}

/// Maps ranges that cover `0..len`, of `grain` numbers each except the last.
pub fn map_ranges<T: Send>(
    len: usize,
    grain: usize,
    of: &(dyn Fn(Range<usize>) -> T + Sync),
) -> Vec<T> {
    map(len.div_ceil(grain), &|task| of(task * grain..len.min((task + 1) * grain)))
}

/// Maps pieces of a slice, of `grain` elements each except the last. `of` gets the index of the piece's first
/// element.
pub fn map_mut<T: Send, R: Send>(
    slice: &mut [T],
    grain: usize,
    of: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    let pieces: Vec<Mutex<&mut [T]>> = slice.chunks_mut(grain).map(Mutex::new).collect();
    map(pieces.len(), &|task| of(task * grain, &mut lock(&pieces[task])))
}

/// Fills a column: element `n` is `of(n)`.
pub fn column<T: Zeroable + Send>(len: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut column = bytemuck::zeroed_vec(len);
    map_mut(&mut column, GRAIN, &|first, piece| {
        for (place, value) in piece.iter_mut().enumerate() {
            *value = of(first + place);
        }
    });
    column
}

/// Returns the numbers below `len` for which `holds` is true, ascending.
pub fn select(len: usize, holds: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
    let of = |range: Range<usize>| -> Vec<u32> {
        range.filter(|&place| holds(place)).map(|place| place as u32).collect()
    };
    map_ranges(len, GRAIN, &of).concat()
}

/// Returns the result of `of` for the lowest number below `len` for which it is `Some`.
pub fn find_map<T: Send>(len: usize, of: impl Fn(usize) -> Option<T> + Sync) -> Option<T> {
    let first = AtomicUsize::new(len);
    let found = map_ranges(len, GRAIN, &|mut range: Range<usize>| {
        if first.load(Ordering::Relaxed) < range.start {
            return None;
        }
        let begin = range.start;
        let found = range.find_map(&of);
        if found.is_some() {
            first.fetch_min(begin, Ordering::Relaxed);
        }
        found
    });
    found.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_their_number() {
        for len in [0, 1, GRAIN - 1, GRAIN, 3 * GRAIN + 7] {
            let squares: Vec<u64> = (0..len as u64).map(|n| n * n).collect();
            assert_eq!(column(len, |n| (n * n) as u64), squares);
            let follow = |end, range: Range<usize>| (range.start == end).then_some(range.end);
            assert_eq!(
                map_ranges(len, 10, &|range| range).into_iter().try_fold(0, follow),
                Some(len)
            );
            assert_eq!(select(len, |n| n + 2 >= len).len(), len.min(2));
        }
    }

    #[test]
    fn the_first_is_found_of_many() {
        assert_eq!(
            find_map(9 * GRAIN, |n| (n % GRAIN == 77 && n > GRAIN).then_some(n)),
            Some(GRAIN + 77)
        );
        assert_eq!(find_map(9 * GRAIN, |_| None::<u8>), None);
    }

    #[test]
    fn the_first_failure_is_returned_and_little_is_started_after_it() {
        let begun = AtomicUsize::new(0);
        let fails = |task: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if task % 100 == 7 { Err(task) } else { Ok(task) }
        };
        assert_eq!(try_map(1 << 16, &fails), Err(7));
        assert!(begun.into_inner() < 1 << 16);
        assert_eq!(try_map(7, &fails_never), Ok((0..7).collect()));
    }

    fn fails_never(task: usize) -> Result<usize, ()> {
        Ok(task)
    }
}
