//! Errors as the person at the terminal sees them: one line, and an exit code; as JSON for programs.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::colour;
use super::program::in_its_name;
use yomikiri::graph::{GraphError, PackError};
use yomikiri::hint::{Hint, Hinted, Kind, joined, shortened};
use yomikiri::registry::UnknownGame;
use yomikiri::rules::NotationError;
use yomikiri::solve::SweepError;
use yomikiri::solved::{NotThere, SolvedTable};
use yomikiri::table::TableError;
use yomikiri_measure::export::ExportError;
use yomikiri_measure::judge::MeasureError;
use yomikiri_measure::render::shown::shown;

/// Returns the error for a table without values.
pub(super) fn not_solved(table: &str) -> Hinted {
    Hinted::new(format!("{table} is not solved"), format!("run 'solver value-iterate {table}'"))
}

/// Converts an error of a measurement: a damaged table is damage, a policy's error is invalid input.
pub(super) fn failed(table: Option<&SolvedTable>, error: MeasureError) -> anyhow::Error {
    match (error, table) {
        (MeasureError::Damaged(what), Some(table)) => {
            TableError::damaged(table.table().dir(), what.line()).into()
        }
        (MeasureError::Table(error), _) => error.into(),
        (error, _) => error.into(),
    }
}

/// Returns the exit code. A process that receives a signal ends by it.
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
pub(super) fn report(error: &anyhow::Error, json: bool) -> ExitCode {
    let closed_pipe = error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if closed_pipe {
        return ExitCode::SUCCESS;
    }
    let described = hinted(error);
    say(described.kind(), &described.to_string(), described.hint().as_deref(), json);
    code(described.kind()).into()
}

/// Joins all causes of an error in one message, with the kind of the outermost that has one and the hint of the
/// outermost that has a hint.
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
            (MeasureError::Table(io()).into(), Kind::Failure),
        ];
        for (error, kind) in cases {
            assert_eq!(hinted(&error).kind(), kind, "{error:#}");
        }
    }
}
