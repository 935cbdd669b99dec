//! A bounded cache of recent requests.

use std::sync::{Arc, Mutex};

use super::reply::Refusal;
use yomikiri::parallel::lock;

/// Things that are made when they are first asked for.
pub(super) struct Recent<T> {
    most: usize,
    /// The one asked for last at the end.
    kept: Mutex<Vec<Arc<T>>>,
}

impl<T> Recent<T> {
    /// Keeps `most` of them.
    pub(super) fn of(most: usize) -> Recent<T> {
        Recent { most, kept: Mutex::default() }
    }

    /// The one that is meant, made if it is not kept; others need not wait for that.
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

    /// Drops some: they are made anew when they are asked for again.
    pub(super) fn forget(&self, is_one: impl Fn(&Arc<T>) -> bool) {
        lock(&self.kept).retain(|one| !is_one(one));
    }
}
