//! Runs the ONNX runtime on a thread of its own, which may panic and is abandoned when it exceeds its time
//! limit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;
use yomikiri::error::{Error, Kind};

/// Stack size: the runtime plans by recursion, with a frame for each node of a chain.
const STACK: usize = 64 << 20;
/// Name prefix of the runtime's threads, including ours.
const THREADS: &str = "rten-";
/// Number of threads past their time limit at which no more are started.
const MOST_LATE: usize = 4;
/// Number of threads past their time limit.
static LATE: AtomicUsize = AtomicUsize::new(0);

/// Runs work of the runtime within a time limit, which is [`Duration::MAX`] for our own models. A panic
/// becomes an error and is not printed. A timeout is an error too; its thread cannot be killed and continues.
pub(super) fn isolated<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    counted(&LATE, limit, work)
}

fn counted<T: Send + 'static>(
    late: &'static AtomicUsize,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let failed = |what: String| Error::from(what).of_kind(Kind::Policy);
    // The process whose threads the runtime has: a process forked from it would wait for them forever.
    static OWNER: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let owner = OWNER.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    if owner.is_err_and(|owner| owner != process) {
        let what = "a process forked from one that has run ONNX models cannot run any";
        return Err(failed(what.to_string()).with_hint("start it by the method `spawn`"));
    }
    silence();
    let count = late.load(Ordering::Relaxed);
    if count >= MOST_LATE && limit < Duration::MAX {
        let what =
            format!("{count} answers of models are still being computed past their time limit");
        return Err(failed(what).with_hint("leave such models out and run again"));
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    // Set by whichever comes first: the end of the work, or the timeout.
    let is_over = Arc::new(AtomicBool::new(false));
    let ended = is_over.clone();
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        if ended.swap(true, Ordering::Relaxed) {
            late.fetch_sub(1, Ordering::Relaxed);
        }
        // The receiver may be gone.
        let _ = sender.send(done);
    };
    let thread = thread::Builder::new().name(format!("{THREADS}apart")).stack_size(STACK);
    thread.spawn(work).map_err(|error| failed(format!("cannot start a thread: {error}")))?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => {
            Err(failed(format!("the runtime (rten) failed: {}", panic_message(&*panic))))
        }
        Err(RecvTimeoutError::Disconnected) => Err(failed("the runtime (rten) failed".to_string())),
        Err(RecvTimeoutError::Timeout) => {
            late.fetch_add(1, Ordering::Relaxed);
            if is_over.swap(true, Ordering::Relaxed) {
                late.fetch_sub(1, Ordering::Relaxed);
            }
            let what = format!("no answer within {} s", limit.as_secs_f64());
            Err(failed(what).with_hint("raise --policy-timeout if it needs longer"))
        }
    }
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown reason")
}

/// Suppresses the output of panics on the runtime's threads, which become errors.
fn silence() {
    static SILENT: Once = Once::new();
    SILENT.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !thread::current().name().is_some_and(|name| name.starts_with(THREADS)) {
                print(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    static TRIED: AtomicUsize = AtomicUsize::new(0);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_panics_or_takes_too_long_is_an_error_and_few_are_left_behind() {
        assert_eq!(counted(&TRIED, LONG, || 7).unwrap(), 7);
        let error = counted(&TRIED, LONG, || panic!("at {}", 7)).map(|(): ()| ()).unwrap_err();
        assert!(
            error.kind() == Kind::Policy && error.to_string().ends_with("(rten) failed: at 7"),
            "{error}"
        );
        let (end, wait) = mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        for _ in 0..MOST_LATE {
            let wait = wait.clone();
            let work = move || drop(wait.lock().map(|wait| wait.recv()));
            let error = counted(&TRIED, Duration::from_millis(20), work).unwrap_err();
            assert!(error.line().contains("within 0.02 s; raise --policy-timeout"), "{error}");
        }
        let error = counted(&TRIED, LONG, || ()).unwrap_err().to_string();
        assert!(error.starts_with("4 answers of models"), "{error}");
        // Threads that end make room for others.
        drop(end);
        while counted(&TRIED, LONG, || ()).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
