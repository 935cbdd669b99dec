//! Context of every command: the store, the output, the bars.

use std::env;
use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use super::colour;
use super::error::{not_solved, to_stderr};
use super::program::{self, in_its_name};
use super::progress_bar::Bars;
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::registry::Games;
use yomikiri::table::{IoContext, Store, Table};
use yomikiri_measure::render::sanitise::{fit_to, folded, shown_text, style_texts, write_ascii};

/// The surroundings of a command.
pub(super) struct Context {
    pub store: Store,
    pub json: bool,
    pub quiet: bool,
    /// True if output is coloured.
    pub colour: bool,
    pub bars: Bars,
    pub games: Games,
    /// Ends the program once the command is done.
    pub code: ExitCode,
    /// Workers of a process that works with others.
    #[cfg(feature = "cluster")]
    pub workers: usize,
    out: BufWriter<Stdout>,
}

/// Envelope of every command's JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Envelope<'a, T> {
    /// Name of the schema, with `yomikiri-` before it.
    schema: String,
    /// Raised when a field changes its meaning or goes away.
    schema_version: u32,
    #[serde(flatten)]
    data: &'a T,
}

impl Context {
    pub(super) fn new(
        games: Games,
        tables: PathBuf,
        json: bool,
        quiet: bool,
    ) -> Result<Context, Error> {
        let colour = colour::on_stdout() && !json;
        if colour {
            style_texts();
        }
        if let Some((Width(columns), _)) = terminal_size_of(io::stdout()) {
            fit_to(columns.into());
        }
        if is_ascii_locale(|name| env::var(name).ok()) {
            write_ascii();
        }
        Ok(Context {
            store: Store::at(&tables),
            json,
            quiet,
            colour,
            bars: Bars::new(quiet)?,
            games,
            code: ExitCode::SUCCESS,
            #[cfg(feature = "cluster")]
            workers: 1,
            out: BufWriter::new(io::stdout()),
        })
    }

    /// Opens the default table; `None` if there is none, or if its game is one of another program.
    pub(super) fn latest_of_ours(&self) -> Option<Result<Table, Error>> {
        match self.store.latest() {
            Ok(name) => match self.store.open(&name) {
                Ok(table) => {
                    let game = &table.manifest().identity.game;
                    self.games.named(game).is_ok().then_some(Ok(table))
                }
                Err(error) => Some(Err(error)),
            },
            // Any of several may be meant.
            Err(error) => Some(Err(error)).filter(|_| !self.store.names().is_empty()),
        }
    }

    /// Returns the game to begin with: the first of the program's own, else a board that is solved in a second.
    pub(super) fn example_game(&self) -> String {
        match &self.games.default_name()[..] {
            "othello-4x4" => "4x5".to_string(),
            own => own.to_string(),
        }
    }

    /// Returns in words why it is the default.
    pub(super) fn why_latest(&self) -> &'static str {
        match self.store.enumerated_last() {
            Some(_) => "enumerated last",
            None => "the only table here",
        }
    }

    /// Opens the rows and values of a solved table, comparing checksums if `checked`.
    pub(super) fn solved(&self, table: Table, checked: bool) -> Result<SolvedTable, Error> {
        let (game, name) = (self.games.of_table(&table)?, table.name());
        let solved = SolvedTable::open(game, table, checked)?;
        solved.ok_or_else(|| not_solved(&name))
    }

    /// Writes text for people, without control characters; fails if a table that may have been read for it is
    /// damaged.
    pub(super) fn print(&mut self, text: impl fmt::Display) -> Result<(), Error> {
        let text = shown_text(&in_its_name(&text.to_string()), self.colour);
        self.raw(&folded(&text))
    }

    /// Writes a line for people.
    pub(super) fn line(&mut self, text: impl fmt::Display) -> Result<(), Error> {
        self.print(format_args!("{text}\n"))
    }

    /// Writes text for programs unchanged; fails if a table that may have been read for it is damaged.
    pub(super) fn raw(&mut self, text: &str) -> Result<(), Error> {
        self.store.check_read()?;
        to_stdout(self.out.write_all(text.as_bytes()))
    }

    /// Writes data as indented JSON, of which `docs/schemas/NAME.json` is the schema.
    pub(super) fn json(&mut self, name: &str, data: &impl Serialize) -> Result<(), Error> {
        let schema = format!("yomikiri-{name}");
        let text = serde_json::to_string_pretty(&Envelope { schema, schema_version: 1, data })?;
        self.raw(&(text + "\n"))
    }

    /// Writes data as JSON with `--json`, else as the text that `text` makes of it.
    pub(super) fn show<T: Serialize>(
        &mut self,
        name: &str,
        data: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        match self.json {
            true => self.json(name, data),
            false => Ok(self.print(text(data))?),
        }
    }

    /// Writes a remark to stderr, unless quiet.
    pub(super) fn remark(&self, text: impl fmt::Display) {
        if !self.quiet {
            to_stderr(shown_text(&in_its_name(&text.to_string()), false));
        }
    }

    /// Writes everything that is buffered.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        to_stdout(self.out.flush())
    }
}

/// Returns whether the locale is that of C, named by the first variable that is set: a terminal then displays ASCII alone.
fn is_ascii_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Names stdout in the error of writing to it.
pub(super) fn to_stdout(written: io::Result<()>) -> Result<(), Error> {
    written.at("write", Path::new("stdout"))
}

/// Returns the command line as it was typed.
pub(super) fn command_line() -> String {
    let words = program::words().iter().map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    if let Some(program) = words.first_mut() {
        *program = program::name().to_string();
    }
    // No argument has a zero in it.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
