//! `solver checksum`: what tables say, in a line each.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::error::{Kind, UserError, hinted};
use super::table_args::ManyTables;
use crate::hint::Hint;
use crate::input;
use crate::solved::read_checksums;

/// Hash what tables say, however it is stored
///
/// The checksum is of every position with its outcome, score and distance, and of what the table
/// was made from. It does not depend on how rows are found and ordered, or whether moves are stored.
/// With --check the exit code is 0 if all is as the file says, and 3 if a table says something else
/// or is not there.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    tables: ManyTables,
    /// Compare with the lines of a file that this command has printed, all of them if no table is
    /// named
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

#[derive(Serialize)]
struct Output {
    checksums: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    table: String,
    /// What the table says, where it could be read.
    checksum: Option<String>,
    /// With `--check`: whether the file says the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let names = args.tables.names(context)?;
    let mut wanted: Vec<(String, Option<String>)> = match &args.check {
        Some(file) => read(file)?.into_iter().map(|(sum, name)| (name, Some(sum))).collect(),
        None if names.is_empty() => vec![(context.latest()?.name(), None)],
        None => names.iter().map(|name| (name.clone(), None)).collect(),
    };
    if let Some(file) = args.check.as_ref().filter(|_| !names.is_empty()) {
        let named: BTreeSet<&String> = wanted.iter().map(|(name, _)| name).collect();
        if let Some(other) = names.iter().find(|table| !named.contains(table)) {
            let file = file.display();
            return Err(UserError::new(format!("{file} has no line for '{other}'")).into());
        }
        wanted.retain(|(name, _)| names.contains(name));
    }
    let mut checksums = Vec::new();
    for (table, expected) in wanted {
        let found = checksum(&table, context);
        let line = match expected {
            None => {
                let sum = found?;
                if !context.json {
                    context.line(format!("{sum}  {table}"))?;
                }
                Line { table, checksum: Some(sum), ok: None }
            }
            Some(expected) => {
                let ok = found.as_ref().is_ok_and(|sum| *sum == expected);
                let said = match &found {
                    Err(error) => format!("{table}: not compared: {}", hinted(error).line()),
                    Ok(_) if ok => format!("{table}: OK"),
                    Ok(_) => format!("{table}: differs"),
                };
                if !context.json {
                    context.line(said)?;
                }
                Line { table, checksum: found.ok(), ok: Some(ok) }
            }
        };
        context.flush()?;
        checksums.push(line);
    }
    let all = checksums.iter().all(|line| line.ok != Some(false));
    if context.json {
        context.json("checksum", &Output { checksums })?;
    }
    Ok(if all { ExitCode::SUCCESS } else { Kind::Damaged.code() })
}

/// The checksum of a table of a name.
fn checksum(table: &str, context: &Context) -> anyhow::Result<String> {
    let table = context.solved(context.store.open(table)?, false)?;
    Ok(table.checksum(&context.bars)?)
}

/// The lines of a file.
fn read(file: &Path) -> Result<Vec<(String, String)>, UserError> {
    let wrong = |what: String| UserError::new(format!("{}: {what}", file.display()));
    let text = File::open(file).and_then(input::text);
    let text = text.map_err(|e| wrong(format!("cannot be read: {e}")))?;
    read_checksums(&text).map_err(wrong)
}
