//! Progress drawn as a bar on stderr where that is a terminal, and as a line now and then where it is not.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::error::to_stderr;
use super::program;
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri_measure::render::number::{seconds, thousands};
use yomikiri_measure::render::sanitise::{is_ascii, shown};

/// Time between two lines where stderr is not a terminal, unless `YOMIKIRI_PROGRESS` has other seconds.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Draws the current task; nothing when quiet.
#[derive(Clone)]
pub(super) struct Bars {
    quiet: bool,
    /// Time between two lines; `None` on a terminal.
    line_every: Option<Duration>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    bar: Option<ProgressBar>,
    /// Unit of the current task, and the time of its last line or of its beginning.
    line: Option<(String, Instant)>,
    /// Seconds that the next task is expected to take.
    expected: Option<f64>,
}

impl Bars {
    pub(super) fn new(quiet: bool) -> Result<Bars, Error> {
        let seconds = program::number_in("YOMIKIRI_PROGRESS")?;
        let line_every = seconds.map_or(LINE_EVERY, Duration::from_secs);
        Ok(Bars {
            quiet,
            line_every: (!stderr().is_terminal()).then_some(line_every),
            held: Arc::default(),
        })
    }

    /// Starts the time to go of the next task from an estimate in seconds.
    pub(super) fn expect(&self, seconds: f64) {
        self.held().expected = Some(seconds);
    }

    /// Removes the current bar.
    pub(super) fn clear(&self) {
        let bar = self.held().bar.take();
        bar.iter().for_each(ProgressBar::finish_and_clear);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Estimates the seconds to go when `done` of the work, 0 to 1, took `elapsed` seconds: at first by what was expected,
/// after a tenth of the work by its progress alone.
fn to_go(done: f64, elapsed: f64, expected: Option<f64>) -> Option<f64> {
    let by_progress = (done > 0.0).then(|| elapsed * (1.0 - done) / done);
    let Some(expected) = expected else { return by_progress };
    // The first layers of a game are slow for their few states.
    let weight = (10.0 * done).min(1.0).powi(2);
    Some(by_progress.map_or(0.0, |left| weight * left) + (1.0 - weight) * expected * (1.0 - done))
}

impl Progress for Bars {
    fn begin(&self, what: &str, total: Option<u64>) {
        self.begin_with(what, total, "states");
    }

    fn begin_with(&self, what: &str, total: Option<u64>, unit: &str) {
        self.clear();
        if self.quiet {
            return;
        }
        // The target draws nothing where stderr is not a terminal.
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(total, target).with_message(shown(what));
        let expected = self.held().expected.take();
        let left = move |state: &ProgressState, out: &mut dyn Write| {
            let done = state.pos() as f64 / state.len().unwrap_or(1).max(1) as f64;
            let left = to_go(done.min(1.0), state.elapsed().as_secs_f64(), expected);
            let _ = write!(out, "{:>6}", left.map_or("?".to_string(), seconds));
        };
        let template = match total.map(|total| thousands(total).len()) {
            Some(width) => format!(
                "{{msg}} {{wide_bar}} {{human_pos:>{width}}}/{{human_len}} {unit}, {{left}} to go {{prefix}}"
            ),
            None => format!("{{spinner}} {{msg}} {{human_pos}} {unit} {{prefix}}"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let style = match is_ascii() {
                true => style.progress_chars("#>-").tick_chars("-\\|/ "),
                false => style,
            };
            bar.set_style(style.with_key("left", left));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut held = self.held();
        (held.bar, held.line) = (Some(bar), Some((unit.to_string(), Instant::now())));
    }

    fn advance(&self, units: u64) {
        let held = &mut *self.held();
        let Some(bar) = &held.bar else { return };
        bar.inc(units);
        let Some((every, (unit, last))) = self.line_every.zip(held.line.as_mut()) else { return };
        if last.elapsed() >= every {
            *last = Instant::now();
            let done = thousands(bar.position());
            let of = bar.length().map_or(String::new(), |all| format!(" of {}", thousands(all)));
            let time = seconds(bar.elapsed().as_secs_f64());
            to_stderr(format!("{}: {done}{of} {unit} after {time}", bar.message()));
        }
    }

    fn log(&self, step: std::fmt::Arguments<'_>) {
        tracing::info!("{step}");
    }

    fn note(&self, what: &str) {
        if let Some(bar) = &self.held().bar {
            bar.set_prefix(format!("({what})"));
        }
    }

    fn finish(&self, summary: &str) {
        tracing::debug!(summary, "finished");
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::to_go;

    #[test]
    fn the_time_to_go_starts_from_the_estimate() {
        assert_eq!(to_go(0.0, 5.0, Some(20.0)), Some(20.0));
        assert_eq!(to_go(0.0, 5.0, None), None);
        // Slow at first: the estimate still counts.
        assert!(to_go(0.001, 10.0, Some(20.0)).is_some_and(|left| left < 140.0));
        assert_eq!(to_go(0.5, 30.0, Some(20.0)), Some(30.0));
        assert_eq!(to_go(1.0, 60.0, Some(20.0)), Some(0.0));
    }
}
