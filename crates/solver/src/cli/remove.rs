//! `solver remove`: tables taken away.

use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;

use super::complete::tables;
use super::context::Context;
use yomikiri::hint::{Hinted, did_you_mean};
use yomikiri::table::{Removed, TableError};
use yomikiri_measure::render::number::bytes;

/// Remove tables, finished or not, with what belongs to them
///
/// A name must be exactly that of a table or of an unfinished one. Of several those that are not
/// there are told and passed over, as after a removal that was interrupted; if one is something
/// else or is being written, none is removed. Files that are not the table's own are left where
/// they are.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of tables, or paths of their directories; NAME.partial for an unfinished table alone
    #[arg(required = true, value_name = "TABLE", add = tables())]
    names: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// What is gone.
    removed: Vec<Line>,
    /// Names of which nothing was there.
    missing: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    /// Name of the table.
    table: String,
    /// Whether it was a draft.
    unfinished: bool,
    /// Size of its files.
    bytes: u64,
    /// Files that were not the table's.
    left: Vec<String>,
}

impl From<Removed> for Line {
    fn from(Removed { name, only_draft, bytes, left }: Removed) -> Line {
        let left = left.iter().map(|path| path.display().to_string()).collect();
        Line { table: name, unfinished: only_draft, bytes, left }
    }
}

pub(super) fn run(mut args: Args, context: &mut Context) -> anyhow::Result<()> {
    // Twice the same would be locked by ourselves.
    args.names.sort();
    args.names.dedup();
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    for name in args.names {
        match context.store.removal(&name) {
            Err(error @ TableError::Missing { .. }) => missing.push((name, error)),
            found => held.push(found?),
        }
    }
    if held.is_empty()
        && let Some((name, error)) = missing.pop()
    {
        let names = context.store.names();
        let near = did_you_mean(&name, names.iter().map(String::as_str));
        bail!(near.into_iter().fold(Hinted::of(&error), Hinted::with_hint));
    }
    missing.iter().for_each(|(name, _)| context.remark(format!("{name} is not there")));
    let mut removed = Vec::new();
    for removal in held {
        let line = Line::from(removal.remove()?);
        if !context.json {
            let what = if line.unfinished { " (unfinished)" } else { "" };
            context.line(format!("removed {}{what}, {}", line.table, bytes(line.bytes as f64)))?;
        }
        for path in &line.left {
            context.remark(format!("{path} is not the table's and was left"));
        }
        removed.push(line);
    }
    if context.json {
        let missing = missing.into_iter().map(|(name, _)| name).collect();
        context.json("remove", &Output { removed, missing })?;
    }
    Ok(())
}
