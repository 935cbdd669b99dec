//! Colours, which only ever say what words say too.

use std::ffi::OsString;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

use super::program;

/// Settles when there are colours, by what `--color` says, before the command line is understood:
/// what is wrong with it is coloured too.
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

/// Whether what goes to stdout is coloured.
pub(super) fn on_stdout() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// The same of stderr.
pub(super) fn on_stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// A line about a mover who wins, draws or loses.
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

/// What an error begins with.
pub(super) fn prefix() -> String {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let name = program::name();
    if on_stderr() { format!("{style}{name}:{style:#}") } else { format!("{name}:") }
}
