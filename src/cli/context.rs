//! What every command has at hand: the store, the output, the bars.

use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::bars::Bars;
use super::error::not_solved;
use crate::registry::Games;
use crate::solved::SolvedTable;
use crate::table::{Store, Table};

/// The surroundings of a command.
pub(super) struct Context {
    pub store: Store,
    pub json: bool,
    pub quiet: bool,
    pub bars: Bars,
    pub games: Games,
    out: BufWriter<Stdout>,
}

impl Context {
    pub fn new(games: Games, tables: PathBuf, json: bool, quiet: bool) -> Context {
        Context {
            store: Store::at(&tables),
            json,
            quiet,
            bars: Bars::new(quiet),
            games,
            out: BufWriter::new(io::stdout()),
        }
    }

    /// Opens the table of a name; without one the table enumerated last.
    pub fn open(&self, name: Option<&str>) -> anyhow::Result<Table> {
        let latest = || self.store.latest();
        let name = name.map_or_else(latest, |name| Ok(name.to_string()))?;
        Ok(self.store.open(&name)?)
    }

    /// A solved table's rows and values, comparing checksums if `checked`.
    pub fn solved(&self, table: Table, checked: bool) -> anyhow::Result<SolvedTable> {
        let (game, name) = (self.games.of_table(&table)?, table.name());
        let solved = SolvedTable::open(game, table, checked)?;
        Ok(solved.ok_or_else(|| not_solved(&name))?)
    }

    /// Writes data.
    pub fn print(&mut self, text: impl fmt::Display) -> io::Result<()> {
        write!(self.out, "{text}")
    }

    /// Writes a line of data.
    pub fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Writes data as indented JSON.
    pub fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(self.line(text)?)
    }

    /// Writes a remark to stderr, unless quiet.
    pub fn remark(&self, text: impl fmt::Display) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Makes sure that everything is written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The command as it was given, to be given again.
pub(super) fn command_line() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(program).file_stem().map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_default();
    }
    // No argument has a zero in it.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
