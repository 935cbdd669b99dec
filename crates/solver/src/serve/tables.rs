//! Tables of one directory, opened on first use, and games without a table.
//!
//! Names are looked up among the tables of the directory and never joined to a path as given. Players
//! and counts of a table are discarded when it is rewritten.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;

use super::cache::Recent;
use super::players::{Asked, MOST_KEPT};
use super::reply::Refusal;
use yomikiri::error::Error;
use yomikiri::oracle::{Answer, Oracle, Reach, RulesOracle, SearchOracle, SolvedTable, Totals};
use yomikiri::registry::Games;
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri::table::Store;

/// Maximum number of open tables.
const MOST_OPEN: usize = 64;

/// Time limit of the search for a position that a table does not contain.
const SEARCH: Duration = Duration::from_secs(1);
/// Maximum time that a request may allow a search.
pub(super) const LONGEST_SEARCH: u64 = 60;

/// The tables of a directory.
pub(super) struct Tables {
    store: Store,
    games: Games,
    open: Recent<Opened>,
}

/// An open table, or a game that is played without one.
pub(super) struct Opened {
    pub name: String,
    rules: RulesOracle,
    table: Option<SolvedTable>,
    /// Recently used policies.
    pub players: Recent<Asked>,
    /// Totals, counted on first use.
    pub totals: OnceLock<Totals>,
    manifest: PathBuf,
    stamp: Option<Stamp>,
}

/// Modification time, size and inode, by which a rewritten file is recognised.
type Stamp = (Option<SystemTime>, u64, u64);

fn stamp_of(path: &PathBuf) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let inode = 0;
    Some((found.modified().ok(), found.len(), inode))
}

impl Opened {
    /// Returns `true` if its manifest has not been rewritten, nor a table made, since it was opened.
    fn is_current(&self) -> bool {
        self.stamp == stamp_of(&self.manifest)
    }

    fn of(
        name: String,
        game: Arc<dyn Rules>,
        table: Option<SolvedTable>,
        manifest: PathBuf,
        stamp: Option<Stamp>,
    ) -> Opened {
        let (players, totals) = (Recent::of(MOST_KEPT), OnceLock::new());
        Opened { name, rules: RulesOracle(game), table, players, totals, manifest, stamp }
    }

    pub(super) fn game(&self) -> &dyn Rules {
        self.rules.game()
    }

    /// Returns the table; `None` for a game that has none.
    pub(super) fn table(&self) -> Option<&SolvedTable> {
        self.table.as_ref()
    }

    /// Returns the table, or a refusal for a game that has none.
    pub(super) fn solved(&self) -> Result<&SolvedTable, Refusal> {
        self.table.as_ref().ok_or_else(|| {
            Refusal::absent(format!("there is no table of {}", self.name))
                .with(format!("run 'solver enumerate {}' and 'solver value-iterate'", self.name))
        })
    }

    /// Returns the table, or the rules alone.
    pub(super) fn oracle(&self) -> &dyn Oracle {
        self.table.as_ref().map_or(&self.rules as &dyn Oracle, |table| table)
    }

    /// Returns a search for a position of which the table does not prove all values, if few squares are empty, or
    /// with a time limit in seconds if that usually suffices.
    pub(super) fn search(
        &self,
        answer: &Answer,
        position: &AnyPosition,
        seconds: Option<u64>,
    ) -> Option<SearchOracle> {
        let game = self.game();
        let values = answer.moves.iter().map(|one| &one.value).chain([&answer.value]);
        let is_open = values.into_iter().any(|value| value.outcome.is_none());
        let reach = if seconds.is_some() { Reach::Long } else { Reach::Quick };
        let time =
            seconds.map_or(SEARCH, |seconds| Duration::from_secs(seconds.min(LONGEST_SEARCH)));
        let search = || SearchOracle::beside(game.shared(), self.oracle().empties(), 1, time);
        let in_table = answer.kind != "outside";
        // A search for forced wins would know less of moves into the table, and takes its time.
        let has_time = self.table.is_none() && seconds.is_some();
        let can_prove = is_open && (game.is_layered() || has_time);
        (can_prove && reach.contains(game, position, in_table)).then(search).flatten()
    }

    /// Fails if damage has been found in it.
    pub(super) fn check_read(&self) -> Result<(), Refusal> {
        let checked = self.table.as_ref().map_or(Ok(()), |table| table.table().check_read());
        checked.map_err(|error| damaged(&error))
    }
}

impl Tables {
    pub(super) fn new(store: Store, games: Games) -> Tables {
        Tables { store, games, open: Recent::of(MOST_OPEN) }
    }

    /// Returns the names of the tables.
    pub(super) fn names(&self) -> Vec<String> {
        self.store.names()
    }

    /// Returns the games that have no table of their name.
    pub(super) fn games(&self) -> Vec<Arc<dyn Rules>> {
        let names = self.names();
        let is_free = |game: &Arc<dyn Rules>| !names.contains(&game.name());
        self.games.all().into_iter().filter(is_free).collect()
    }

    /// Returns a solved table, or a game without one, by name.
    pub(super) fn table(&self, name: &str) -> Result<Arc<Opened>, Refusal> {
        let is_it = |opened: &Opened| opened.name == name;
        let is_sound = |opened: &Opened| opened.is_current() && opened.check_read().is_ok();
        self.open.forget(|opened| is_it(opened) && !is_sound(opened));
        self.open.get(is_it, || self.opened(name))
    }

    fn opened(&self, name: &str) -> Result<Opened, Refusal> {
        let hint = "see /api/v1/tables";
        let known = self.names().into_iter().find(|known| known == name);
        let Some(name) = known else {
            let games = self.games.all();
            let game = games.into_iter().find(|game| game.name() == name).ok_or_else(|| {
                Refusal::absent(format!("there is no table and no game '{name}'")).with(hint)
            })?;
            let manifest = self.store.place(name).join("manifest.json");
            return Ok(Opened::of(name.to_string(), game, None, manifest, None));
        };
        let dir = self.store.place(&name);
        let manifest = dir.join("manifest.json");
        // The stamp precedes reading, so that a change in between is noticed at the next request.
        let stamp = stamp_of(&manifest);
        let solved = yomikiri::table::Table::open(&dir).and_then(|table| {
            let game = self.games.of_table(&table)?;
            SolvedTable::open(game, table, false)
        });
        match solved.map_err(|error| damaged(&error))? {
            None => Err(Refusal::new(StatusCode::CONFLICT, format!("{name} is not solved"))
                .with(format!("run 'solver value-iterate {name}'"))),
            Some(table) => {
                let game = table.game().shared();
                Ok(Opened::of(name, game, Some(table), manifest, stamp))
            }
        }
    }
}

/// Returns the refusal for a table that cannot be read.
fn damaged(error: &Error) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.clone()).with("run 'solver verify'")
}
