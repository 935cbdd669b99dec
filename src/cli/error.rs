//! Errors as the person at the terminal sees them: one line, and an exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::any::{AnyGame, AnyPosition};
use crate::export::ExportError;
use crate::game::{Game, NotationError};
use crate::graph::{GraphError, PackError};
use crate::registry::UnknownGame;
use crate::solve::SweepError;
use crate::table::{Manifest, Table, TableError};

/// Input that we cannot work with: what, where, and what to do, in one line.
#[derive(Debug)]
pub(super) struct UserError(String);

impl UserError {
    pub fn new(what: impl Into<String>) -> UserError {
        UserError(what.into())
    }

    /// Input that a library function has refused.
    pub fn from_error(error: impl std::error::Error) -> UserError {
        UserError(error.to_string())
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

/// That a table has no values yet.
pub(super) fn not_solved(table: &str) -> UserError {
    UserError::new(format!("{table} is not solved; run 'solver value-iterate {table}'"))
}

/// That a position is not in a table, and what bounds the table.
pub(super) fn not_found(game: &AnyGame, table: &Table, position: &AnyPosition) -> UserError {
    let Manifest { identity, complete, .. } = table.manifest();
    let bounds = [
        identity.max_depth.map(|plies| format!("{plies} plies")),
        identity.max_states.map(|states| format!("{states} states")),
        identity.checks_only.then(|| "checks only".to_string()),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    let within = match complete {
        true => String::new(),
        false => format!(" within the table's bounds ({})", bounds.join(", ")),
    };
    let roots = if identity.roots.len() == 1 { "the root" } else { "its roots" };
    UserError::new(format!(
        "{} is not among the states of {}: it cannot be reached from {roots}{within}",
        game.notation(position),
        table.name()
    ))
}

/// Says an error on stderr and gives its exit code: 2 for bad input, 1 for a failure on our side,
/// 0 when nobody reads our output any more.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    let closed_pipe = error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if closed_pipe {
        return ExitCode::SUCCESS;
    }
    let line = format!("{error:#}").replace('\n', " ");
    eprintln!("solver: {line}");
    ExitCode::from(if is_bad_input(error) { 2 } else { 1 })
}

fn is_bad_input(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UserError>()
            || cause.is::<NotationError>()
            || cause.is::<UnknownGame>()
            || cause.downcast_ref::<TableError>().is_some_and(TableError::is_bad_input)
            || cause.downcast_ref::<GraphError>().is_some_and(GraphError::is_bad_input)
            || cause.downcast_ref::<PackError>().is_some_and(PackError::is_bad_input)
            || cause.downcast_ref::<ExportError>().is_some_and(ExportError::is_bad_input)
            || cause.downcast_ref::<SweepError>().is_some_and(SweepError::is_bad_input)
    })
}
