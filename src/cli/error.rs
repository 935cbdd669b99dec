//! Errors as the person at the terminal sees them: one line, and an exit code; as JSON for programs.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use serde::Serialize;

use super::colour;
use super::program::{self, in_its_name};
use crate::evaluate::MeasureError;
use crate::export::ExportError;
use crate::game::NotationError;
use crate::graph::{GraphError, PackError};
use crate::hint::{Hint, Hinted, joined, shortened};
use crate::policy::PolicyError;
use crate::registry::UnknownGame;
use crate::render::shown::{is_hidden, shown, shown_text};
use crate::solve::SweepError;
use crate::solved::NotThere;
use crate::table::TableError;

/// Input that we cannot work with: what, and where, in one line; and what to do.
#[derive(Debug)]
pub(super) struct UserError(Hinted);

impl UserError {
    pub fn new(what: impl Into<Hinted>) -> UserError {
        UserError(what.into())
    }

    /// Appends what to do.
    pub fn with_hint(self, hint: impl Into<String>) -> UserError {
        UserError(self.0.with_hint(hint))
    }

    /// Input that a library function has refused.
    pub fn from_error(error: impl Hint) -> UserError {
        UserError(Hinted::of(&error))
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UserError {}

impl Hint for UserError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.0.hint()
    }
}

/// That a table has no values yet.
pub(super) fn not_solved(table: &str) -> UserError {
    UserError::new(format!("{table} is not solved"))
        .with_hint(format!("run 'solver value-iterate {table}'"))
}

/// What has gone wrong, as a program tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// We failed, or a file could not be written.
    Failure,
    /// The command line cannot be understood.
    Usage,
    /// What was given or asked for cannot be worked with.
    Input,
    /// A table's files do not hold what they should, or a table was found wrong.
    Damaged,
    /// A policy from outside failed.
    Policy,
    /// A policy is not as good as was asked for.
    Bound,
    /// We were told to end.
    Interrupted,
}

impl Kind {
    /// The exit code. One who was told to end ends by the signal.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Kind::Failure | Kind::Interrupted => 1,
            Kind::Usage | Kind::Input => 2,
            Kind::Damaged => 3,
            Kind::Policy => 4,
            Kind::Bound => 5,
        })
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
    let kind = error.chain().find_map(kind_of).unwrap_or(Kind::Failure);
    let said = hinted(error);
    let plain = |text: &str, half| shortened(&shown(text), half);
    let hint = said.hint().map(|hint| plain(&hint, 500));
    let left = 1_000 - hint.as_ref().map_or(0, |hint| hint.len() / 2);
    say(kind, &plain(&said.to_string(), left), hint.as_deref(), json);
    kind.code()
}

/// All causes of an error in one message, and the hint of the outermost that has one.
pub(super) fn hinted(error: &anyhow::Error) -> Hinted {
    let line = Hinted::from(format!("{error:#}"));
    match error.chain().find_map(hint_of) {
        Some(hint) => line.with_hint(hint),
        None => line,
    }
}

/// One of the causes of an error.
type Cause = dyn std::error::Error + 'static;

/// Returns the hint of one cause of an error.
fn hint_of<'a>(cause: &'a Cause) -> Option<Cow<'a, str>> {
    fn of<'a, E: Hint + 'static>(cause: &'a Cause) -> Option<Cow<'a, str>> {
        cause.downcast_ref::<E>()?.hint()
    }
    type Of = for<'a> fn(&'a Cause) -> Option<Cow<'a, str>>;
    let all: &[Of] = &[
        of::<Hinted>,
        of::<UserError>,
        of::<NotationError>,
        of::<UnknownGame>,
        of::<PolicyError>,
        of::<MeasureError>,
        of::<TableError>,
        of::<GraphError>,
        of::<PackError>,
        of::<ExportError>,
        of::<SweepError>,
        #[cfg(feature = "onnx")]
        of::<crate::learn::LearnError>,
        #[cfg(feature = "cluster")]
        of::<crate::cluster::ClusterError>,
    ];
    all.iter().find_map(|of| of(cause))
}

pub(super) fn kind_of(cause: &Cause) -> Option<Kind> {
    let of_table = |error: Option<&TableError>| match error {
        Some(error) if error.is_damaged() => Kind::Damaged,
        Some(error) if !error.is_bad_input() => Kind::Failure,
        _ => Kind::Input,
    };
    if cause.is::<UserError>()
        || cause.is::<NotThere>()
        || cause.is::<NotationError>()
        || cause.is::<UnknownGame>()
    {
        return Some(Kind::Input);
    }
    #[cfg(feature = "cluster")]
    if let Some(error) = cause.downcast_ref() {
        return Some(super::cluster::kind_of(error));
    }
    let of_policy =
        |error: &PolicyError| if error.is_failure() { Kind::Policy } else { Kind::Input };
    if let Some(error) = cause.downcast_ref() {
        return Some(of_policy(error));
    }
    if let Some(error) = cause.downcast_ref::<MeasureError>() {
        return match error {
            MeasureError::Damaged(_) | MeasureError::Table(_) => Some(Kind::Damaged),
            MeasureError::Policy { error, .. } => Some(of_policy(error)),
            MeasureError::Output(_) => None,
        };
    }
    let table = cause.downcast_ref::<TableError>().map(Some);
    let graph = || cause.downcast_ref().map(GraphError::of_table);
    let pack = || cause.downcast_ref().map(PackError::of_table);
    let export = || cause.downcast_ref().map(ExportError::of_table);
    let sweep = || cause.downcast_ref().map(SweepError::of_table);
    table.or_else(graph).or_else(pack).or_else(export).or_else(sweep).map(of_table)
}

/// The word that is not understood because what it means was not built in, and the feature that has it.
fn of_another_build(error: &clap::Error) -> Option<(&str, &'static str)> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let word = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    })?;
    let features = [
        ("learn", cfg!(feature = "learn"), &["train"] as &[_]),
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
        return Kind::Usage.code();
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
        return Kind::Usage.code();
    }
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let what = paragraph.strip_prefix("error: ").unwrap_or(paragraph);
    let message = what.split_whitespace().collect::<Vec<_>>().join(" ");
    say(Kind::Usage, &message, Some("see 'solver --help'"), true);
    Kind::Usage.code()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_kind() {
        let damaged = || TableError::damaged("t".as_ref(), "x");
        let io =
            || TableError::Io { action: "read", path: "t".into(), source: io::Error::other("x") };
        let policy = || PolicyError::new("x");
        let cases: [(anyhow::Error, Kind); 10] = [
            (UserError::new("x").into(), Kind::Input),
            (damaged().into(), Kind::Damaged),
            (GraphError::Table(damaged()).into(), Kind::Damaged),
            (ExportError::Table(io()).into(), Kind::Failure),
            (SweepError::TooLong.into(), Kind::Input),
            (anyhow::Error::from(damaged()).context("while"), Kind::Damaged),
            (policy().into(), Kind::Input),
            (policy().failed().into(), Kind::Policy),
            (MeasureError::Policy { policy: "p".into(), error: policy() }.into(), Kind::Input),
            (MeasureError::Output(io::Error::other("full")).into(), Kind::Failure),
        ];
        for (error, kind) in cases {
            let found = error.chain().find_map(kind_of).unwrap_or(Kind::Failure);
            assert_eq!(found, kind, "{error:#}");
        }
    }
}
