//! `solver remove`: removal of tables.

use anyhow::bail;
use serde::Serialize;

use super::complete::tables;
use super::context::Context;
use yomikiri::hint::{Hinted, did_you_mean};
use yomikiri::table::{Removed, TableError};
use yomikiri_measure::render::number::bytes;

/// Remove tables, finished or not, with all their files
///
/// A name must be exactly that of a table or of an unfinished one. Missing tables are reported and skipped, as after
/// an interrupted removal; if a name is something else, or a table is being written, none is removed. Files that do
/// not belong to a table stay.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of tables, or paths of their directories; NAME.partial for an unfinished table alone
    #[arg(required = true, value_name = "TABLE", add = tables())]
    names: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Tables that were removed.
    removed: Vec<Line>,
    /// Names of missing tables.
    missing: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Line {
    /// Name of the table.
    table: String,
    /// True if it was unfinished.
    unfinished: bool,
    /// Size of its files.
    bytes: u64,
    /// Files that did not belong to the table.
    left: Vec<String>,
}

impl From<Removed> for Line {
    fn from(Removed { name, only_draft, bytes, left }: Removed) -> Line {
        let left = left.iter().map(|path| path.display().to_string()).collect();
        Line { table: name, unfinished: only_draft, bytes, left }
    }
}

pub(super) fn run(mut args: Args, context: &mut Context) -> anyhow::Result<()> {
    // The same name twice would be locked by ourselves.
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
        bail!(match near {
            Some(near) => Hinted::new(format!("no table `{name}`"), near),
            None => Hinted::of(&error),
        });
    }
    missing.iter().for_each(|(name, _)| context.remark(format!("{name} is missing")));
    let mut removed = Vec::new();
    for removal in held {
        let line = Line::from(removal.remove()?);
        if !context.json {
            let what = if line.unfinished { " (unfinished)" } else { "" };
            context.line(format!("removed {}{what}, {}", line.table, bytes(line.bytes as f64)))?;
        }
        for path in &line.left {
            context.remark(format!("{path} does not belong to the table and stays"));
        }
        removed.push(line);
    }
    if context.json {
        let missing = missing.into_iter().map(|(name, _)| name).collect();
        context.json("remove", &Output { removed, missing })?;
    }
    Ok(())
}
