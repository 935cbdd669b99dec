//! Solved parts of a table as an oracle of all its positions.

use super::answer::not_in_table;
use super::lines::answer_line;
use super::{Oracle, SolvedTable};
use crate::enumerate::Parts;
use crate::error::Error;
use crate::rules::{AnyPosition, Empties, Rules};
use crate::solve::Value;
use std::sync::Arc;

/// Solved parts of a table, each with rows of its own.
#[derive(Debug)]
pub struct PartTables(Vec<SolvedTable>);

impl PartTables {
    /// Maps the rows and values of parts of a game's table.
    pub fn open(game: &Arc<dyn Rules>, parts: Parts) -> Result<PartTables, Error> {
        let open = |table| SolvedTable::open(game.clone(), table, false);
        let opened = parts.tables.into_iter().filter_map(|table| open(table).transpose());
        opened.collect::<Result<_, _>>().map(PartTables)
    }

    /// Parses a position; the root if the text is empty. Transcripts are played from the root.
    pub fn parse(&self, text: &str) -> Result<AnyPosition, Error> {
        let states = self.0[0].states();
        match states.roots()?.first() {
            Some(root) if text.trim().is_empty() => Ok(*root),
            _ => states.parse(text),
        }
    }

    /// Answers a line by a line of JSON, without the line break; `None` if the line is empty or a remark.
    pub fn answer_line(&self, line: &str) -> Option<String> {
        answer_line(line, |position| self.brief(self.parse(position)?))
    }

    /// Returns the part that contains a position.
    fn part_of(&self, position: &AnyPosition) -> Option<&SolvedTable> {
        self.0.iter().find(|part| part.states().find(position).is_some())
    }
}

impl Oracle for PartTables {
    fn game(&self) -> &dyn Rules {
        self.0[0].game()
    }

    fn name(&self) -> String {
        let place = self.0[0].table().dir().parent().and_then(|dir| dir.file_name());
        place.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    fn value_of(&self, position: &AnyPosition) -> Option<Value> {
        self.0.iter().find_map(|part| part.value_of(position))
    }

    fn empties(&self) -> Empties {
        self.0[0].empties()
    }

    fn is_reachable(&self, position: &AnyPosition) -> Option<bool> {
        self.part_of(position)?.is_reachable(position)
    }

    fn not_there(&self, position: &AnyPosition) -> Error {
        not_in_table(&self.0[0], position)
    }

    fn check(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(Oracle::check)
    }
}
