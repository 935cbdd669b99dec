//! What is said when a long run is told to end.

use std::io;

use super::bars::Bars;

/// Says on SIGINT and SIGTERM that a run is not lost, and then ends by that signal.
#[cfg(unix)]
pub(super) fn say_that_it_goes_on(bars: Bars, json: bool) -> io::Result<()> {
    use super::error::{Kind, say};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, signal_name};

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
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

#[cfg(not(unix))]
pub(super) fn say_that_it_goes_on(_bars: Bars, _json: bool) -> io::Result<()> {
    Ok(())
}
