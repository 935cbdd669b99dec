//! `solver remove`: removal of tables.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::complete::tables;
use super::context::Context;
use yomikiri::error::{Error, Kind, did_you_mean};
use yomikiri::output;
use yomikiri::table::{IoContext, Removed, bytes_in};
use yomikiri_measure::render::number::bytes;

/// Remove tables, finished or not, with all their files
///
/// A name must be exactly that of a table or of an unfinished one, or the path of an output (an export, a page) of
/// which a killed command left temporary files, which are removed, not the output. Missing tables are reported and
/// skipped, as after an interrupted removal; if a name is something else, or a table is being written, none is removed.
/// Files that do not belong to a table stay. NAME.parts means all parts that several processes have written.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of tables, or paths of their directories; NAME.partial for an unfinished table alone
    #[arg(required = true, value_name = "TABLE", add = tables())]
    names: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Tables that were removed, and outputs whose temporary files were.
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

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let (dirs, mut names): (Vec<_>, Vec<_>) =
        args.names.into_iter().partition(|name| is_of_parts(&context.store.resolve(name)));
    let dirs: Vec<PathBuf> = dirs.iter().map(|name| context.store.resolve(name)).collect();
    names.extend(dirs.iter().flat_map(|dir| parts_in(dir)));
    // The same name twice would be locked by ourselves.
    names.sort();
    names.dedup();
    let (mut held, mut outputs, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        match context.store.removal(&name) {
            Ok(removal) => held.push(removal),
            Err(error) => match output_left(&name, context) {
                Some(place) => outputs.push((name, place)),
                None if error.kind() == Kind::Missing => missing.push((name, error)),
                None => return Err(error),
            },
        }
    }
    if held.is_empty()
        && outputs.is_empty()
        && let Some((name, error)) = missing.pop()
    {
        let names = context.store.names();
        let near = did_you_mean(&name, names.iter().map(String::as_str));
        return Err(match near {
            Some(near) => Error::new(format!("no table `{name}`"), near),
            None => error,
        });
    }
    missing.iter().for_each(|(name, _)| context.remark(format!("{name} is missing")));
    let tables = held.into_iter().map(|removal| removal.remove().map(Line::from));
    let outputs = outputs.into_iter().map(|(name, place)| remove_left(name, &place));
    let mut removed = Vec::new();
    for line in tables.chain(outputs) {
        let line = line?;
        if !context.json {
            let what = if line.unfinished { " (unfinished)" } else { "" };
            context.line(format!("removed {}{what}, {}", line.table, bytes(line.bytes as f64)))?;
        }
        for path in &line.left {
            context.remark(format!("{path} does not belong to the table and stays"));
        }
        removed.push(line);
    }
    for dir in dirs {
        if std::fs::remove_dir(&dir).is_err() {
            context.remark(format!("{} has other files, which stay", dir.display()));
        }
    }
    if context.json {
        let missing = missing.into_iter().map(|(name, _)| name).collect();
        context.json("remove", &Output { removed, missing })?;
    }
    Ok(())
}

/// Returns whether a directory is of the parts that several processes write.
fn is_of_parts(dir: &Path) -> bool {
    dir.is_dir() && dir.extension().is_some_and(|end| end == "parts")
}

/// Returns the paths of the parts in a directory. A draft and a lock are removed with their part.
fn parts_in(dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let names = names.filter(|name| name.starts_with("part-"));
    let part = |name: String| {
        let end = [".partial", ".lock"].iter().find_map(|end| name.strip_suffix(end));
        dir.join(end.unwrap_or(&name)).display().to_string()
    };
    names.map(part).collect()
}

/// Returns the output of a path, or of a name beside the tables, of which temporary files are there. The path may be
/// that of such a file.
fn output_left(name: &str, context: &Context) -> Option<PathBuf> {
    let path = Path::new(name);
    let file = path.file_name()?.to_str()?;
    let place = path.with_file_name(output::output_of(file).unwrap_or(file));
    let places = [context.store.root().join(&place), place];
    places.into_iter().find(|place| !output::leftovers(place).is_empty())
}

/// Removes the temporary files of an output.
fn remove_left(name: String, place: &Path) -> Result<Line, Error> {
    let sizes = output::leftovers(place).into_iter().map(|part| bytes_of(&part));
    let bytes = sizes.sum();
    if output::remove_leftovers(place).at("remove", place)? {
        return Err(Error::busy(place));
    }
    Ok(Line { table: name, unfinished: true, bytes, left: Vec::new() })
}

/// Returns the size of a file, or of the files of a directory.
fn bytes_of(path: &Path) -> u64 {
    if path.is_dir() { bytes_in(path) } else { path.metadata().map_or(0, |there| there.len()) }
}
