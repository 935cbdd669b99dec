//! Sources of the values of a game, of which the first that knows a position answers.

use super::lines::answer_line;
use super::{Oracle, Reach, SearchOracle, SolvedTable};
use crate::error::Error;
use crate::rules::{AnyPosition, Rules};
use crate::solve::Value;
use std::sync::Arc;

/// Rules of a game as an oracle, which knows only the values of finished games.
#[derive(Clone, Debug)]
pub struct RulesOracle(pub Arc<dyn Rules>);

impl Oracle for RulesOracle {
    fn game(&self) -> &dyn Rules {
        &*self.0
    }

    fn name(&self) -> String {
        "rules".to_string()
    }

    fn value_of(&self, _: &AnyPosition) -> Option<Value> {
        None
    }

    fn not_there(&self, position: &AnyPosition) -> Error {
        Error::from(format!("no table contains {}", self.0.notation(position)))
    }
}

/// Source that answers for a position.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A table.
    Table(&'a SolvedTable),
    /// A search, which reads the stored solution first.
    Search(&'a SearchOracle),
    /// The rules alone.
    Rules(&'a RulesOracle),
}

impl<'a> Source<'a> {
    /// Returns the oracle.
    pub fn oracle(self) -> &'a dyn Oracle {
        match self {
            Source::Table(table) => table,
            Source::Search(search) => search,
            Source::Rules(rules) => rules,
        }
    }
}

/// Returns whether an oracle proves a position's value as far as a principal variation needs.
fn proves(oracle: &dyn Oracle, position: &AnyPosition) -> bool {
    oracle.value_of(position).is_some_and(|value| oracle.is_proven(value))
}

/// Tables and a search of a game.
pub struct Sources {
    rules: RulesOracle,
    tables: Vec<SolvedTable>,
    search: Option<SearchOracle>,
    reach: Reach,
}

impl Sources {
    /// Returns the sources of a game: tables in the order of preference, and a search of the positions within reach.
    pub fn new(
        game: &dyn Rules,
        tables: Vec<SolvedTable>,
        search: Option<SearchOracle>,
        reach: Reach,
    ) -> Sources {
        Sources { rules: RulesOracle(game.shared()), tables, search, reach }
    }

    /// Returns the rules.
    pub fn game(&self) -> &dyn Rules {
        &*self.rules.0
    }

    /// Returns the first table.
    pub fn table(&self) -> Option<&SolvedTable> {
        self.tables.first()
    }

    /// Returns all tables.
    pub fn tables(&self) -> &[SolvedTable] {
        &self.tables
    }

    /// Returns the search.
    pub fn search(&self) -> Option<&SearchOracle> {
        self.search.as_ref()
    }

    /// Parses a position. Transcripts are played from the root of the first table.
    pub fn parse(&self, text: &str) -> Result<AnyPosition, Error> {
        match self.table() {
            Some(table) => table.states().parse(text),
            None => self.game().parse_position(text, &self.game().start()),
        }
    }

    /// Returns the first table that proves a position's value.
    pub fn proving_table(&self, position: &AnyPosition) -> Option<&SolvedTable> {
        self.tables.iter().find(|table| proves(*table, position))
    }

    /// Returns the source for a position: a table that proves its value, else the search if the position is within
    /// reach and not over, else a complete table that contains it, else any that does, else the first table, else the
    /// rules. A search that proves nothing gives way to a table that contains the position, unless it reaches all.
    /// The budget of the search starts again.
    pub fn source(&self, position: &AnyPosition) -> Source<'_> {
        if let Some(table) = self.proving_table(position) {
            return Source::Table(table);
        }
        let contains = |table: &SolvedTable| table.states().find(position).is_some();
        let in_table = self.tables.iter().any(contains);
        // Without a table a search knows how empty squares count.
        let has_end = !self.tables.is_empty() || !self.game().is_layered();
        let is_over = has_end && self.game().is_terminal(&position.state);
        if let Some(search) = self.search.as_ref().filter(|_| !is_over)
            && self.reach.contains(self.game(), position, in_table)
        {
            search.restart();
            let knows_result = |table: &SolvedTable| {
                table.value_of(position).is_some_and(|value| value.outcome().is_some())
            };
            let gives_way = !self.game().is_layered() && self.tables.iter().any(knows_result);
            if !in_table || self.reach == Reach::All && !gives_way || proves(search, position) {
                return Source::Search(search);
            }
        }
        let rank = |table: &&SolvedTable| (!contains(table), !table.table().manifest().complete);
        match self.tables.iter().min_by_key(rank) {
            Some(table) => Source::Table(table),
            None => Source::Rules(&self.rules),
        }
    }

    /// Answers a line by a line of JSON, without the line break; `None` if the line is empty or a remark.
    pub fn answer_line(&self, line: &str) -> Option<String> {
        answer_line(line, |position| {
            let parsed = self.parse(position)?;
            self.source(&parsed).oracle().brief(parsed)
        })
    }
}
