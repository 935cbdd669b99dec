//! Long work with the interpreter's lock released, with progress and Ctrl-C.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use yomikiri::progress::Progress;

use crate::errors::YomikiriError;

/// Interval at which signals are checked and progress is reported.
const BEAT: Duration = Duration::from_millis(50);

/// Panic payload that ends cancelled work; only [`outcome`] catches it.
struct Cancelled;

/// Time that cancelled work has to end before the call returns without it.
const GRACE: Duration = Duration::from_millis(150);

/// Progress and cancellation of work.
#[derive(Default)]
pub(crate) struct WorkState {
    cancelled: AtomicBool,
    done: AtomicU64,
    /// Positions that policies have answered.
    answered: AtomicU64,
    /// The task and its number of units.
    task: Mutex<Option<(String, Option<u64>)>>,
}

impl WorkState {
    /// Ends the calling work if it was cancelled. Like a kill: the piece in work is lost, files on disk stay
    /// intact.
    fn check(&self) {
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// Returns the flag that is set when the work is cancelled.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Counts positions that a policy has answered; ends cancelled work.
    pub(crate) fn answered(&self, positions: usize) {
        self.check();
        self.answered.fetch_add(positions as u64, Ordering::Relaxed);
    }
}

impl Progress for WorkState {
    fn begin(&self, what: &str, total: Option<u64>) {
        self.check();
        self.done.store(0, Ordering::Relaxed);
        if let Ok(mut task) = self.task.lock() {
            *task = Some((what.to_string(), total));
        }
    }

    fn advance(&self, units: u64) {
        self.check();
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    fn finish(&self, _summary: &str) {
        self.check();
    }
}

/// A request of a worker thread to the interpreter.
pub(crate) type PythonRequest = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Result of work, or its panic.
type Done<T> = Result<PyResult<T>, Box<dyn Any + Send>>;

/// Runs `work` on a thread of its own with the interpreter's lock released. Requests of `work` are answered
/// on this thread, with the lock. `progress` is called with the task, the units done, the units in total and
/// the positions that policies have answered. An exception, such as that of Ctrl-C, cancels the work; if it
/// does not end at once, its thread ends it later, and the next work waits for that.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<WorkState>, Sender<PythonRequest>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let _call = Call::begin()?;
    wait_for_cancelled(py)?;
    // A pool of its own: while its threads wait for a callable, that may look something up, or measure.
    let resting = pools().resting.take();
    let (state, pool) = (Arc::new(WorkState::default()), resting.map_or_else(threads, Ok)?);
    let (asks, requests) = channel::<PythonRequest>();
    let (give, done) = channel::<Done<T>>();
    let (leave, left) = channel::<()>();
    let shared = state.clone();
    let worker = move || {
        let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&shared, asks))));
        pools().resting = Some(pool);
        let _ = give.send(done);
        drop(leave);
    };
    let started = std::thread::Builder::new().spawn(worker);
    started.map_err(|error| YomikiriError::new_err(format!("no threads: {error}")))?;
    if let Err(raised) = listen(py, &state, requests, progress) {
        state.cancelled.store(true, Ordering::Relaxed);
        let left = Mutex::new(left);
        if let Err(RecvTimeoutError::Timeout) = py.detach(|| lock(&left).recv_timeout(GRACE)) {
            pools().cancelled.extend(left.into_inner());
        }
        return Err(raised);
    }
    let done = Mutex::new(done);
    let done = py.detach(|| lock(&done).recv());
    outcome(done.unwrap_or_else(|_| Err(Box::new("the work ended without a result"))))
}

/// Waits for the end of cancelled work, which may still hold files.
fn wait_for_cancelled(py: Python<'_>) -> PyResult<()> {
    while let Some(left) = { pools().cancelled.pop() } {
        let left = Mutex::new(left);
        while let Err(RecvTimeoutError::Timeout) = py.detach(|| lock(&left).recv_timeout(BEAT)) {
            if let Err(raised) = py.check_signals() {
                pools().cancelled.extend(left.into_inner());
                return Err(raised);
            }
        }
    }
    Ok(())
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
        ending()?;
        match next {
            Ok(request) => {
                request(py)?;
                ANSWERED.fetch_add(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if let Some(progress) = progress {
            let task = state.task.lock().ok().and_then(|task| task.clone());
            if let Some((what, total)) = task {
                let (done, answered) = (&state.done, &state.answered);
                let [done, answered] = [done, answered].map(|count| count.load(Ordering::Relaxed));
                progress.call1((what, done, total, answered))?;
            }
        }
    }
}

/// Returns the result of work; a panic becomes an exception.
fn outcome<T>(done: Done<T>) -> PyResult<T> {
    done.unwrap_or_else(|panic| Err(unwound(panic)))
}

/// Converts a panic, which is a bug of ours, to an exception.
fn unwound(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    YomikiriError::new_err(format!("internal error of yomikiri, please report it: {text}"))
}

/// Does something without threads of ours, with the interpreter's lock released.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let _call = Call::begin()?;
    Ok(py.detach(work))
}

/// Runs short work with the interpreter's lock released.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let _call = Call::begin()?;
    let made = pools().shared.clone();
    // Made without the lock: a process that is forked meanwhile would find it held forever.
    let made = made.map_or_else(|| threads().map(Arc::new), Ok)?;
    let pool = pools().shared.get_or_insert(made).clone();
    outcome(py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work)))))
}

/// A call that runs while its thread does not have the interpreter's lock, or runs a callable. A thread that takes the lock
/// of an interpreter that has ended is ended with all of its frames, which ours do not survive.
pub(crate) struct Call;

/// `true` once the interpreter ends.
static ENDING: AtomicBool = AtomicBool::new(false);

impl Call {
    /// Fails if the interpreter ends.
    pub(crate) fn begin() -> PyResult<Call> {
        pools().calls += 1;
        OWN_CALLS.set(OWN_CALLS.get() + 1);
        let call = Call;
        ending()?;
        Ok(call)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        OWN_CALLS.set(OWN_CALLS.get().saturating_sub(1));
        let mut pools = pools();
        pools.calls = pools.calls.saturating_sub(1);
    }
}

/// Ends the calling thread, if it is not the main one, while the interpreter ends.
fn ending() -> PyResult<()> {
    match ENDING.load(Ordering::SeqCst) {
        true => Err(PySystemExit::new_err("the interpreter ends")),
        false => Ok(()),
    }
}

/// Number of requests that the interpreter has answered, in all calls.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
/// Number of requests in which all that PyO3 makes once is made: texts, types and functions.
const FIRST: u64 = 8;

/// Most time that a fork waits for other threads.
const FORK: Duration = Duration::from_millis(500);

thread_local! {
    /// Number of calls of this thread, which may fork in a callable.
    static OWN_CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Waits until no other thread does anything for the first time, called before a fork: a process that is forked meanwhile
/// would wait for its end forever.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    let begun = Instant::now();
    while pools().calls > OWN_CALLS.get()
        && ANSWERED.load(Ordering::Relaxed) < FIRST
        && begun.elapsed() < FORK
    {
        py.detach(|| std::thread::sleep(Duration::from_millis(1)));
    }
}

/// Gives a forked process pools of its own. It has none of its parent's threads, and another thread may have held the lock.
#[pyfunction]
pub(crate) fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    OWN_CALLS.set(0);
}

/// Time that calls of other threads have to end at the interpreter's end: as long as a callable may take for a batch.
const LAST: Duration = Duration::from_secs(60);

/// Cancels the calls of other threads and waits for their end; called as the interpreter ends.
#[pyfunction]
pub(crate) fn end_calls(py: Python<'_>) {
    ENDING.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    while begun.elapsed() < LAST && pools().calls > 0 {
        py.detach(|| std::thread::sleep(Duration::from_millis(5)));
    }
}

/// Thread pools of a process.
struct Pools {
    /// Number of calls that run.
    calls: usize,
    /// Pool of all short work.
    shared: Option<Arc<ThreadPool>>,
    /// Pool of finished long work, kept for the next.
    resting: Option<ThreadPool>,
    /// Cancelled work that has not ended: each channel closes at its end.
    cancelled: Vec<Receiver<()>>,
}

/// Number of forks between the first process and this one.
static FORKS: AtomicUsize = AtomicUsize::new(0);
/// Pools for so many processes, each forked from the one before.
const GENERATIONS: usize = 64;

/// Returns the pools of this process.
fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: [Mutex<Pools>; GENERATIONS] = [const {
        Mutex::new(Pools { calls: 0, shared: None, resting: None, cancelled: Vec::new() })
    }; GENERATIONS];
    lock(&POOLS[FORKS.load(Ordering::Relaxed) % GENERATIONS])
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
