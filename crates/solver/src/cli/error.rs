//! Errors as the person at the terminal sees them: one line, and an exit code; as JSON for programs.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::colour;
use super::program::in_its_name;
use yomikiri::error::{Error, Kind, joined, shortened};
use yomikiri_measure::render::sanitise::shown;

/// Returns the error for a table without values.
pub(super) fn not_solved(table: &str) -> Error {
    Error::new(format!("{table} is not solved"), format!("run 'solver value-iterate {table}'"))
}

/// Returns the exit code. A process that receives a signal ends by it.
pub(super) fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Failure | Kind::Interrupted => 1,
        Kind::Usage
        | Kind::Input
        | Kind::Unfit
        | Kind::Missing
        | Kind::Busy
        | Kind::Position
        | Kind::Answer => 2,
        Kind::Damaged => 3,
        Kind::Policy => 4,
        Kind::Bound => 5,
    }
}

/// The JSON of an error, in one line.
#[derive(Serialize)]
struct Output<'a> {
    error: Described<'a>,
}

#[derive(Serialize)]
struct Described<'a> {
    kind: Kind,
    message: &'a str,
    /// Advice.
    hint: Option<&'a str>,
}

/// Reports an error on stderr, with what to do, in at most some 2,000 bytes: invalid input may be megabytes long.
pub(super) fn say(kind: Kind, message: &str, hint: Option<&str>, json: bool) {
    let plain = |text: &str, half| shortened(&shown(&in_its_name(text)), half);
    let hint = hint.map(|hint| plain(hint, 500));
    let message = &plain(message, 1_000 - hint.as_ref().map_or(0, |hint| hint.len() / 2));
    let hint = hint.as_deref();
    let line = match json {
        true => serde_json::to_string(&Output { error: Described { kind, message, hint } })
            .expect("an error is plain data"),
        false => format!("{} {}", colour::prefix(), joined(message, hint)),
    };
    to_stderr(line);
}

/// Writes a line to stderr. If stderr cannot be written, nothing else changes.
pub(super) fn to_stderr(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Reports an error on stderr and returns its exit code; 0 if nobody reads our output any more.
pub(super) fn report(error: &Error, json: bool) -> ExitCode {
    let cause = error.cause().and_then(|cause| cause.downcast_ref::<io::Error>());
    if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    say(error.kind(), &error.to_string(), error.hint(), json);
    code(error.kind()).into()
}
