//! Signals that end a run.

use std::io;
#[cfg(unix)]
use std::sync::Arc;

use super::error::say;
use super::progress_bar::Bars;
use yomikiri::error::Kind;

/// Reports on SIGINT and SIGTERM that a run can be resumed, and then ends by that signal.
pub(super) fn report_resumable(bars: Bars, json: bool) -> io::Result<()> {
    on_signals(move |name| {
        bars.clear();
        let hint = "run the same command again to go on from there";
        say(Kind::Interrupted, &format!("ended by {name}"), Some(hint), json);
        true
    })
}

/// Acts on the first SIGINT or SIGTERM; the second ends the process.
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut act = Some(act);
    on_signals(move |_| act.take().map(|act| act()).is_none())
}

/// Calls `act` with the name of each SIGINT and SIGTERM, and ends by that signal if it returns true. A signal that is
/// ignored from the start, as by shells for processes in the background, stays ignored.
#[cfg(unix)]
fn on_signals(mut act: impl FnMut(&str) -> bool + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, signal_name};

    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            if act(signal_name(signal).unwrap_or("a signal")) {
                let _ = emulate_default_handler(signal);
            }
        }
    })?;
    Ok(())
}

/// Does nothing where there are no such signals.
#[cfg(not(unix))]
fn on_signals(_act: impl FnMut(&str) -> bool + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Makes a file beyond the limit of `ulimit -f` an error of the write, as on a full disk, instead of the end of the
/// process. Programs that we start do not inherit the handler.
#[cfg(unix)]
pub(super) fn fail_where_a_file_is_too_large() -> io::Result<()> {
    use signal_hook::consts::SIGXFSZ;
    match ignored() >> (SIGXFSZ - 1) & 1 {
        0 => signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn fail_where_a_file_is_too_large() -> io::Result<()> {
    Ok(())
}

/// Returns the ignored signals, one bit each from the lowest on, as far as the system reports them in a file; the
/// call for it would be `unsafe`.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}
