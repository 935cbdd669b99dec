//! Where answers are worked out: on threads of their own, so that who waits for them holds up
//! nobody, and no more of a kind at once than leaves room for the others.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::reply::Refusal;

/// How long an answer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A look into a table.
    Quick,
    /// Thousands of them, or a search.
    Batch,
    /// A policy's answer.
    Slow,
    /// All rows of a table.
    Long,
}

/// How many policies are asked at once.
const SLOW: usize = 2;
/// How many tables are read whole at once: each takes all cores.
const LONG: usize = 1;
/// How long one waits for a place.
const PATIENCE: Duration = Duration::from_secs(10);

/// The places of each kind.
pub(super) struct Workshop {
    batch: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

/// How many threads there are for all kinds.
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

    /// Works something out; a panic is an error of that one answer.
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
        // The place is the work's: it stays taken when nobody waits for the answer any more.
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
