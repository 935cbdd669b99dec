//! Errors as the person at the terminal sees them: one line, and an exit code; as JSON for programs.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use serde::Serialize;

use super::colour;
use super::program::{self, in_its_name};
use yomikiri::game::NotationError;
use yomikiri::graph::{GraphError, PackError};
use yomikiri::hint::{Hint, Hinted, Kind, joined, shortened};
use yomikiri::registry::UnknownGame;
use yomikiri::solve::SweepError;
use yomikiri::solved::NotThere;
use yomikiri::table::TableError;
use yomikiri_measure::evaluate::MeasureError;
use yomikiri_measure::export::ExportError;
use yomikiri_measure::render::shown::{is_hidden, shown, shown_text};

/// That a table has no values yet.
pub(super) fn not_solved(table: &str) -> Hinted {
    Hinted::new(format!("{table} is not solved"), format!("run 'solver value-iterate {table}'"))
}

/// Returns the exit code. One who was told to end ends by the signal.
pub(super) fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Failure | Kind::Interrupted => 1,
        Kind::Usage | Kind::Input => 2,
        Kind::Damaged => 3,
        Kind::Policy => 4,
        Kind::Bound => 5,
    }
}

/// The JSON of an error, in one line.
#[derive(Serialize)]
struct Output<'a> {
    error: Said<'a>,
}

#[derive(Serialize)]
struct Said<'a> {
    kind: Kind,
    message: &'a str,
    /// What to do.
    hint: Option<&'a str>,
}

/// Says on stderr what has gone wrong, and what to do.
pub(super) fn say(kind: Kind, message: &str, hint: Option<&str>, json: bool) {
    let (message, hint) = (&*in_its_name(message), hint.map(in_its_name));
    let hint = hint.as_deref();
    let line = match json {
        true => serde_json::to_string(&Output { error: Said { kind, message, hint } })
            .expect("an error is plain data"),
        false => format!("{} {}", colour::prefix(), joined(message, hint)),
    };
    to_stderr(line);
}

/// Writes a line to stderr. A stderr that cannot be written changes nothing else.
pub(super) fn to_stderr(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Says an error on stderr and gives its exit code; 0 when nobody reads our output any more.
pub(super) fn report(error: &anyhow::Error, json: bool) -> ExitCode {
    let closed_pipe = error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if closed_pipe {
        return ExitCode::SUCCESS;
    }
    let said = hinted(error);
    let plain = |text: &str, half| shortened(&shown(text), half);
    let hint = said.hint().map(|hint| plain(&hint, 500));
    let left = 1_000 - hint.as_ref().map_or(0, |hint| hint.len() / 2);
    say(said.kind(), &plain(&said.to_string(), left), hint.as_deref(), json);
    code(said.kind()).into()
}

/// All causes of an error in one message, with the kind of the outermost that has one and the hint of the outermost that
/// has a hint.
pub(super) fn hinted(error: &anyhow::Error) -> Hinted {
    let causes: Vec<&dyn Hint> = error.chain().filter_map(as_hint).collect();
    let kind = causes.first().map_or(Kind::Failure, |cause| cause.kind());
    let line = Hinted::from(format!("{error:#}")).of_kind(kind);
    match causes.iter().find_map(|cause| cause.hint()) {
        Some(hint) => line.with_hint(hint),
        None => line,
    }
}

/// Finds the type of one cause of an error, if it has a kind and may have a hint.
fn as_hint<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a dyn Hint> {
    fn of<'a, E: Hint + 'static>(cause: &'a (dyn Error + 'static)) -> Option<&'a dyn Hint> {
        cause.downcast_ref::<E>().map(|error| error as &dyn Hint)
    }
    let all = [
        of::<Hinted>,
        of::<NotThere>,
        of::<NotationError>,
        of::<UnknownGame>,
        of::<MeasureError>,
        of::<TableError>,
        of::<GraphError>,
        of::<PackError>,
        of::<ExportError>,
        of::<SweepError>,
        #[cfg(feature = "cluster")]
        of::<yomikiri_cluster::ClusterError>,
    ];
    all.iter().find_map(|of| of(cause))
}

/// The word that is not understood because what it means was not built in, and the feature that has it.
fn of_another_build(error: &clap::Error) -> Option<(&str, &'static str)> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let word = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    })?;
    let features = [
        ("onnx", cfg!(feature = "onnx"), &["train"] as &[_]),
        (
            "cluster",
            cfg!(feature = "cluster"),
            &["gather", "--processes", "--process", "--hosts", "--parts"],
        ),
        ("serve", cfg!(feature = "serve"), &["serve"]),
        ("parquet", cfg!(feature = "parquet"), &["--parquet"]),
    ];
    let has = |(_, built_in, words): &&(&str, bool, &[&str])| !built_in && words.contains(&word);
    features.iter().find(has).map(|&(feature, ..)| (word, feature))
}

/// Says why the command line cannot be understood, or prints the help that was asked for.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let words: Vec<_> = std::env::args_os().take_while(|word| word != "--").collect();
    if let Some((word, feature)) = of_another_build(error) {
        let message = format!("'{word}' is not in this build of {}", program::name());
        let hint = format!("build it in with 'cargo install --path . --features {feature}'");
        say(Kind::Usage, &message, Some(&hint), words.iter().any(|word| word == "--json"));
        return code(Kind::Usage).into();
    }
    if !error.use_stderr() {
        let text = error.render();
        let text = if colour::on_stdout() { text.ansi().to_string() } else { text.to_string() };
        // Nobody may read it.
        let _ = write!(io::stdout(), "{}", in_its_name(&text));
        return ExitCode::SUCCESS;
    }
    if !words.iter().any(|word| word == "--json") {
        // A colour in a word would be taken for one of ours.
        let is_plain = |word: &OsString| !word.to_string_lossy().contains(is_hidden);
        let coloured = colour::on_stderr() && std::env::args_os().all(|word| is_plain(&word));
        let text = error.render();
        let text = if coloured { text.ansi().to_string() } else { text.to_string() };
        to_stderr(shown_text(text.trim_end(), coloured));
        return code(Kind::Usage).into();
    }
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let what = paragraph.strip_prefix("error: ").unwrap_or(paragraph);
    let message = what.split_whitespace().collect::<Vec<_>>().join(" ");
    say(Kind::Usage, &message, Some("see 'solver --help'"), true);
    code(Kind::Usage).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_kind() {
        let damaged = || TableError::damaged("t".as_ref(), "x");
        let io =
            || TableError::Io { action: "read", path: "t".into(), source: io::Error::other("x") };
        let policy = || Hinted::from("x");
        let cases: [(anyhow::Error, Kind); 10] = [
            (Hinted::from("x").into(), Kind::Input),
            (damaged().into(), Kind::Damaged),
            (GraphError::Table(damaged()).into(), Kind::Damaged),
            (ExportError::Table(io()).into(), Kind::Failure),
            (SweepError::TooLong.into(), Kind::Input),
            (anyhow::Error::from(damaged()).context("while"), Kind::Damaged),
            (policy().into(), Kind::Input),
            (policy().of_kind(Kind::Policy).into(), Kind::Policy),
            (MeasureError::Policy { policy: "p".into(), error: policy() }.into(), Kind::Input),
            (MeasureError::Output(io::Error::other("full")).into(), Kind::Failure),
        ];
        for (error, kind) in cases {
            assert_eq!(hinted(&error).kind(), kind, "{error:#}");
        }
    }
}
