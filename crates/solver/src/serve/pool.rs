//! Thread pool for computing answers, apart from the threads that handle connections, with limits for each
//! kind of work so that none blocks the others.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::reply::Refusal;

/// Kind of work by its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A lookup in a table.
    Quick,
    /// Thousands of lookups, or a search.
    Batch,
    /// An answer of a policy.
    Slow,
    /// A pass through all rows of a table.
    Long,
}

/// Calls a function when dropped: with the handler, when its client goes away.
pub(super) struct WhenDropped<F: Fn()>(pub F);

impl<F: Fn()> Drop for WhenDropped<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Maximum number of policies working at a time.
const SLOW: usize = 2;
/// Maximum number of passes through tables at a time: each takes all cores.
const LONG: usize = 1;
/// Maximum time to wait for a slot.
const PATIENCE: Duration = Duration::from_secs(10);

/// Slots for each kind of work.
pub(super) struct Workshop {
    batch: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

/// Returns the number of threads for all kinds.
pub(super) fn threads() -> usize {
    2 * cores() + SLOW + LONG + 1
}

fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl Workshop {
    pub(super) fn new() -> Workshop {
        let places = |count| Arc::new(Semaphore::new(count));
        Workshop { batch: places(cores()), slow: places(SLOW), long: places(LONG) }
    }

    /// Runs work on the pool; a panic becomes an error of its answer.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        kind: Kind,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let gate = match kind {
            Kind::Quick => None,
            Kind::Batch => Some(self.batch.clone()),
            Kind::Slow => Some(self.slow.clone()),
            Kind::Long => Some(self.long.clone()),
        };
        let place = match gate {
            None => None,
            Some(gate) => {
                let place = timeout(PATIENCE, gate.acquire_owned()).await;
                Some(place.map_err(|_| Refusal::busy())?.map_err(|_| Refusal::busy())?)
            }
        };
        // The work holds its slot even if nobody waits for the answer any more.
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.unwrap_or_else(|_| {
            let what = "the server failed at this request";
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what))
        })
    }
}
