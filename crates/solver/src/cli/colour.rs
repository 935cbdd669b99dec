//! Colours. The words mean the same without them.

use std::ffi::OsString;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

use super::program;

/// Chooses colours by `--color` before the command line is parsed, since its errors are coloured too.
pub(super) fn choose(words: impl Iterator<Item = OsString>) {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let said =
        words.iter().zip(words.iter().skip(1).map(Some).chain([None])).find_map(|(word, next)| {
            word.strip_prefix("--color=")
                .or_else(|| next.filter(|_| word == "--color").map(|next| &next[..]))
        });
    match said {
        Some("always") => ColorChoice::Always.write_global(),
        Some("never") => ColorChoice::Never.write_global(),
        _ => {}
    }
}

/// Returns whether stdout is coloured.
pub(super) fn on_stdout() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns whether stderr is coloured.
pub(super) fn on_stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Colours a line about a mover who wins, draws or loses.
pub(super) fn of_outcome(line: &str, outcome: Option<i8>) -> String {
    let colour = match outcome {
        Some(1) => AnsiColor::Green,
        Some(0) => AnsiColor::Yellow,
        Some(_) => AnsiColor::Red,
        None => return line.to_string(),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{line}{style:#}")
}

/// Returns the beginning of an error.
pub(super) fn prefix() -> String {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let name = program::name();
    if on_stderr() { format!("{style}{name}:{style:#}") } else { format!("{name}:") }
}
