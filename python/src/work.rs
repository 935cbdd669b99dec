//! Long work with the interpreter's lock released, with progress and Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use yomikiri::hint::Hint;
use yomikiri::progress::Progress;
use yomikiri::table::Moment;

use crate::errors::{YomikiriError, table_error};

/// Interval at which signals are checked and progress is reported.
const BEAT: Duration = Duration::from_millis(50);

/// Panic payload that ends cancelled work; only [`outcome`] catches it.
struct Cancelled;

/// Progress and cancellation of work.
#[derive(Default)]
pub(crate) struct WorkState {
    cancelled: AtomicBool,
    done: AtomicU64,
    /// The task and its number of units.
    task: Mutex<Option<(String, Option<u64>)>>,
}

impl Progress for WorkState {
    fn begin(&self, what: &str, total: Option<u64>) {
        self.advance(0);
        self.done.store(0, Ordering::Relaxed);
        if let Ok(mut task) = self.task.lock() {
            *task = Some((what.to_string(), total));
        }
    }

    fn advance(&self, units: u64) {
        // Like a kill: the piece in work is lost, files on disk stay intact.
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn finish(&self, _summary: &str) {
        self.advance(0);
    }
}

/// A request of a worker thread to the interpreter.
pub(crate) type PythonRequest = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Runs `work` on a thread of its own with the interpreter's lock released. Requests of `work` are answered
/// on this thread, with the lock. `progress` is called with the task, the units done and the units in total.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&WorkState, std::sync::mpsc::Sender<PythonRequest>) -> PyResult<T> + Send,
) -> PyResult<T> {
    // A pool of its own: while its threads wait for a callable, that may look something up, or measure.
    let resting = pools().resting.take();
    let (state, pool) = (&WorkState::default(), resting.map_or_else(threads, Ok)?);
    let begun = Moment::now();
    let (asks, requests) = channel::<PythonRequest>();
    let done = std::thread::scope(|scope| {
        let pool = &pool;
        let worker = scope
            .spawn(move || catch_unwind(AssertUnwindSafe(|| pool.install(|| work(state, asks)))));
        let listened = listen(py, state, requests, progress);
        if listened.is_err() {
            state.cancelled.store(true, Ordering::Relaxed);
        }
        let done = py.detach(|| worker.join()).unwrap_or_else(Err);
        listened?;
        outcome(done, begun)
    });
    pools().resting = Some(pool);
    done
}

/// Answers requests until the work ends, which closes their channel.
fn listen(
    py: Python<'_>,
    state: &WorkState,
    requests: Receiver<PythonRequest>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let requests = Mutex::new(requests);
    loop {
        let next = py.detach(|| match requests.lock() {
            Ok(requests) => requests.recv_timeout(BEAT),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        py.check_signals()?;
        match next {
            Ok(request) => request(py)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if let Some(progress) = progress {
            let task = state.task.lock().ok().and_then(|task| task.clone());
            if let Some((what, total)) = task {
                progress.call1((what, state.done.load(Ordering::Relaxed), total))?;
            }
        }
    }
}

/// Returns the result of work that began at `begun`. Fails if it met damage in a table; a panic becomes an
/// exception.
fn outcome<T>(done: Result<PyResult<T>, Box<dyn Any + Send>>, begun: Moment) -> PyResult<T> {
    let done = done.unwrap_or_else(|panic| Err(unwound(panic)));
    begun.check().map_err(|error| table_error(error.line()))?;
    done
}

/// Converts a panic, which is a bug of ours, to an exception.
fn unwound(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    YomikiriError::new_err(format!("internal error of yomikiri, please report it: {text}"))
}

/// Runs short work with the interpreter's lock released.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let pool = {
        let mut pools = pools();
        match &pools.shared {
            Some(pool) => pool.clone(),
            None => pools.shared.insert(Arc::new(threads()?)).clone(),
        }
    };
    let begun = Moment::now();
    outcome(py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work)))), begun)
}

/// Thread pools of a process.
#[derive(Default)]
struct Pools {
    process: u32,
    /// Pool of all short work.
    shared: Option<Arc<ThreadPool>>,
    /// Pool of finished long work, kept for the next.
    resting: Option<ThreadPool>,
}

/// Returns the pools of this process. A forked process has none of its parent's threads, and would wait for
/// them forever, so it gets its own.
fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, shared: None, resting: None });
    let (mut pools, process) = (lock(&POOLS), std::process::id());
    if pools.process != process {
        // Dropping them would wait for the parent's threads.
        std::mem::forget(std::mem::replace(&mut *pools, Pools { process, ..Pools::default() }));
    }
    pools
}

fn threads() -> PyResult<ThreadPool> {
    // In long work one thread waits for a callable while the others prepare its next batches.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(processors + 1).build();
    pool.map_err(|error| YomikiriError::new_err(format!("cannot start threads: {error}")))
}

/// Locks a slot whose content is valid even after a panic.
pub(crate) fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
