//! Bounded cache of recently used values.

use std::sync::{Arc, Mutex};

use super::reply::Refusal;
use yomikiri::parallel::lock;

/// Values created on first use.
pub(super) struct Recent<T> {
    most: usize,
    /// Cached values, the most recently used last.
    kept: Mutex<Vec<Arc<T>>>,
}

impl<T> Recent<T> {
    /// Returns a cache of at most `most` values.
    pub(super) fn of(most: usize) -> Recent<T> {
        Recent { most, kept: Mutex::default() }
    }

    /// Returns the matching value, or makes it; other requests do not wait for that.
    pub(super) fn get(
        &self,
        is_it: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Arc<T>, Refusal> {
        let find = || {
            let mut kept = lock(&self.kept);
            let at = kept.iter().position(|one| is_it(one))?;
            let found = kept.remove(at);
            kept.push(found.clone());
            Some(found)
        };
        if let Some(found) = find() {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        if let Some(found) = find() {
            return Ok(found);
        }
        let mut kept = lock(&self.kept);
        if kept.len() == self.most {
            kept.remove(0);
        }
        kept.push(made.clone());
        Ok(made)
    }

    /// Drops matching values, which are made again on their next use.
    pub(super) fn forget(&self, is_one: impl Fn(&Arc<T>) -> bool) {
        lock(&self.kept).retain(|one| !is_one(one));
    }
}
