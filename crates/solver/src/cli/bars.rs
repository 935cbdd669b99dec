//! Progress drawn as a bar on stderr, where that is a terminal.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use yomikiri::progress::Progress;
use yomikiri_measure::render::shown::shown;

/// Draws the piece of work that is going on; nothing when quiet or when stderr is no terminal.
#[derive(Clone)]
pub(super) struct Bars {
    quiet: bool,
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl Bars {
    pub(super) fn new(quiet: bool) -> Bars {
        Bars { quiet, bar: Arc::default() }
    }

    /// Takes away the bar that is shown.
    pub(super) fn clear(&self) {
        self.replace(None);
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        let mut held = self.bar.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(old) = held.take() {
            old.finish_and_clear();
        }
        *held = bar;
    }
}

impl Progress for Bars {
    fn begin(&self, what: &str, total: Option<u64>) {
        self.begin_with(what, total, "states");
    }

    fn begin_with(&self, what: &str, total: Option<u64>, unit: &str) {
        if self.quiet {
            return;
        }
        // The target draws nothing where stderr is no terminal.
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(total, target).with_message(shown(what));
        let template = match total {
            Some(_) => format!(
                "{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}, {{eta}} to go {{prefix}}"
            ),
            None => format!("{{spinner}} {{msg}} {{human_pos}} {unit} {{prefix}}"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        self.replace(Some(bar));
    }

    fn advance(&self, units: u64) {
        let held = self.bar.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(bar) = held.as_ref() {
            bar.inc(units);
        }
    }

    fn log(&self, step: std::fmt::Arguments<'_>) {
        tracing::info!("{step}");
    }

    fn note(&self, what: &str) {
        let held = self.bar.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(bar) = held.as_ref() {
            bar.set_prefix(format!("({what})"));
        }
    }

    fn finish(&self, summary: &str) {
        tracing::debug!(summary, "finished");
        self.clear();
    }
}
