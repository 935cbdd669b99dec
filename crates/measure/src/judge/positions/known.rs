//! Exact values of any positions: those of a table, or else those that a search found.

use std::path::Path;
use std::sync::Arc;

use super::labels::LabelSettings;
use super::{Example, Labels, SearchCost};
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{AnyPosition, Empties, MOST_WIN_PLIES, Rules, SearchLimits};
use yomikiri::search::can_search;

/// Knowledge of a game's positions.
pub struct KnownValues<'a> {
    game: Arc<dyn Rules>,
    table: Option<&'a SolvedTable>,
    win_plies: u32,
    /// `true` once what the table does not know was searched.
    is_searched: bool,
    labels: Option<Labels>,
}

impl<'a> KnownValues<'a> {
    /// Returns the values of a table; none without one. A search looks for forced wins within `win_plies` plies after a
    /// move.
    pub fn new(
        game: &dyn Rules,
        table: Option<&'a SolvedTable>,
        win_plies: u32,
    ) -> KnownValues<'a> {
        let win_plies = win_plies.min(MOST_WIN_PLIES);
        KnownValues { game: game.shared(), table, win_plies, is_searched: false, labels: None }
    }

    /// Returns the plies within which forced wins are looked for after a move.
    pub fn win_plies(&self) -> u32 {
        self.win_plies
    }

    /// Returns how empty squares count in the scores.
    pub fn empties(&self) -> Empties {
        self.table.map_or(Empties::Uncounted, |table| table.values().empties())
    }

    /// Returns the unfinished positions that must be searched: those of which the table does not prove the values of all
    /// moves, and in games with cycles those that it does not contain; none in a game that cannot be searched.
    pub fn unknown(&self, positions: &mut dyn Iterator<Item = &AnyPosition>) -> Vec<AnyPosition> {
        let is_complete = self.table.is_some_and(|table| table.table().manifest().complete);
        let is_known = |position: &AnyPosition| match self.table {
            None => false,
            Some(table) if is_complete || !self.game.is_layered() => {
                table.states().find(position).is_some()
            }
            Some(table) => {
                Example::look_up(table, position, true).is_some_and(|known| known.is_settled())
            }
        };
        if !can_search(&*self.game) {
            return Vec::new();
        }
        let is_unknown = |position: &&AnyPosition| {
            !self.game.is_terminal(&position.state) && !is_known(position)
        };
        let all: Vec<AnyPosition> = positions.copied().collect();
        let parts = parallel::map_ranges(all.len(), super::AT_ONCE, &|part| {
            all[part].iter().filter(is_unknown).copied().collect::<Vec<_>>()
        });
        parts.concat()
    }

    /// Searches positions, cheapest first, until a time or a flag of `limits`; values are read from and added to the labels
    /// in a directory. Those whose search does not end until then stay unknown.
    pub fn search(
        &mut self,
        positions: &[AnyPosition],
        labels: &Path,
        limits: &SearchLimits<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        self.is_searched = true;
        if positions.is_empty() {
            return Ok(());
        }
        let mut file = match self.labels.take() {
            Some(file) => file,
            None => {
                let settings = LabelSettings { empties: self.empties(), win_plies: self.win_plies };
                Labels::open(labels, &*self.game, settings)?
            }
        };
        let result = file.find(positions, limits, progress);
        self.labels = Some(file);
        result
    }

    /// Fails if anything that was read of the table is damaged.
    pub fn check(&self) -> Result<(), Error> {
        self.table.map_or(Ok(()), |table| table.table().check_read())
    }

    /// Estimates the cost of searching positions; `None` if there are none.
    pub fn cost(&self, positions: &[AnyPosition]) -> Option<SearchCost> {
        SearchCost::of(&*self.game, positions)
    }

    /// Returns what is known of a position, of the table if it proves everything, with its moves if `with_moves`;
    /// `None` if nothing is.
    pub fn of(&self, position: &AnyPosition, with_moves: bool) -> Result<Option<Example>, Error> {
        let known = self.table.and_then(|table| Example::look_up(table, position, with_moves));
        // Whether a search knew more would depend on what was searched before.
        let is_final = |known: &Example| known.is_settled() || !self.game.is_layered();
        if known.as_ref().is_some_and(is_final) {
            return Ok(known);
        }
        let searched =
            |moves: &[_]| Example::searched(&*self.game, position, moves, self.empties());
        if self.is_searched && can_search(&*self.game) && self.game.is_terminal(&position.state) {
            return Ok(Some(searched(&[])));
        }
        let labels = self.labels.as_ref();
        let moves = labels.map_or(Ok(None), |labels| labels.moves(&position.state))?;
        Ok(moves.map(|moves| searched(&moves)).or(known))
    }
}
