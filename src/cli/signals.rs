//! What is said when a long run is told to end.

use std::io;
#[cfg(unix)]
use std::sync::Arc;

use super::bars::Bars;

/// Says on SIGINT and SIGTERM that a run is not lost, and then ends by that signal. One that
/// whoever started us wants ignored, as shells do for what runs in the background, stays so.
#[cfg(unix)]
pub(super) fn say_that_it_goes_on(bars: Bars, json: bool) -> io::Result<()> {
    use super::error::{Kind, say};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, signal_name};

    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            bars.clear();
            let name = signal_name(signal).unwrap_or("a signal");
            let hint = "run the same command again to go on from there";
            say(Kind::Interrupted, &format!("ended by {name}"), Some(hint), json);
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// A file that grows beyond what the shell's `ulimit -f` allows becomes an error of the write, as on
/// a full disk, and does not end us. Programs that we start are ended as ever: handlers are not theirs.
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

/// Does something on the first SIGINT or SIGTERM; the second ends us. One that whoever started us
/// wants ignored stays so.
#[cfg(all(unix, feature = "serve"))]
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    let mut act = Some(act);
    std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            match act.take() {
                Some(act) => act(),
                None => drop(emulate_default_handler(signal)),
            }
        }
    })?;
    Ok(())
}

/// The same where there are no such signals.
#[cfg(all(not(unix), feature = "serve"))]
pub(super) fn at_the_first(_act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// The signals that are ignored, one bit each from the lowest on, where the system tells: to ask it
/// by a call would be `unsafe`.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
pub(super) fn say_that_it_goes_on(_bars: Bars, _json: bool) -> io::Result<()> {
    Ok(())
}
