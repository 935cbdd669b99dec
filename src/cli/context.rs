//! What every command has at hand: the store, the output, the bars.

use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::bars::Bars;
use crate::table::Store;

/// The surroundings of a command.
pub(super) struct Context {
    pub store: Store,
    pub json: bool,
    pub quiet: bool,
    pub bars: Bars,
    out: BufWriter<Stdout>,
}

impl Context {
    pub fn new(tables: PathBuf, json: bool, quiet: bool) -> Context {
        Context {
            store: Store::at(&tables),
            json,
            quiet,
            bars: Bars::new(quiet),
            out: BufWriter::new(io::stdout()),
        }
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

    /// Says something on stderr that is no data, unless told to be quiet.
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
