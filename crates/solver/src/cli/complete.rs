//! Completions of a shell: options, and names of tables, games and policies.
//!
//! The shell runs the program with [`VARIABLE`] set, which then answers and ends.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use super::help;
use super::players::learned_names;
use super::program;
use yomikiri::error::Error;
use yomikiri::games::shogi::VARIANTS;
use yomikiri::table::Store;
use yomikiri_measure::policy::PolicySpec;

const VARIABLE: &str = "YOMIKIRI_COMPLETE";

/// Answers a shell and ends, if a shell asks.
pub(super) fn answer() {
    CompleteEnv::with_factory(help::command).var(VARIABLE).complete();
}

/// Returns the lines by which a shell calls this program.
pub(super) fn registration(shell: &str) -> Result<String, Error> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(shell) {
        let name = program::name();
        shell.write_registration(VARIABLE, name, name, name, &mut script)?;
    }
    Ok(String::from_utf8(script)?)
}

/// Returns the store of the tables.
fn store() -> Store {
    Store::at(&std::env::var_os("YOMIKIRI_TABLES").map_or("tables".into(), PathBuf::from))
}

/// Completes one of some names.
fn completer(names: fn() -> Vec<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        let current = current.to_str().unwrap_or_default();
        // Names before the last comma of a list stay.
        let (before, last) = current.rsplit_once(',').unwrap_or(("", current));
        let fits = names().into_iter().filter(|name| name.starts_with(last));
        let whole = |name: String| match before {
            "" => name,
            before => format!("{before},{name}"),
        };
        fits.map(|name| CompletionCandidate::new(whole(name))).collect()
    })
}

/// Completes the name of a table.
pub(super) fn tables() -> ArgValueCompleter {
    completer(|| store().names())
}

/// Completes the name of a game.
pub(super) fn games() -> ArgValueCompleter {
    completer(|| {
        let sized = [
            "othello-4x4",
            "othello-4x5",
            "othello-4x6",
            "othello-5x5",
            "connect-four",
            "connect-four-4x4",
            "connect-four-4x5",
            "connect-four-5x5",
            "tic-tac-toe",
            "tic-tac-toe-4x4-4",
        ];
        let shogi = VARIANTS.iter().map(|variant| variant.name);
        sized.into_iter().chain(shogi).map(str::to_string).collect()
    })
}

/// Completes the name of a policy.
pub(super) fn policies() -> ArgValueCompleter {
    completer(|| {
        let known = PolicySpec::KNOWN.split(", ").map(|form| match form.split_once(':') {
            Some((name, _)) => format!("{}:", name.trim_end_matches('[')),
            None => form.to_string(),
        });
        let learned =
            learned_names(&store(), None).into_iter().map(|name| format!("learned:{name}"));
        known.chain(learned).collect()
    })
}
