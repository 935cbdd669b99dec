//! Solved tables as read by everything above: rows with positions, moves and values, and the lookup of a
//! position's row.
//!
//! They are opened in one place ([`States::open`], [`SolvedTable::open`]) and are the same for every
//! game: readers do not depend on the index, on whether moves are stored, or on whether the game is
//! layered. All values are the mover's.
//!
//! ```
//! use yomikiri::oracle::{Oracle, SolvedTable};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! let answer = table.answer(table.states().parse("c4b4")?)?;
//! let best: Vec<&str> = answer.moves.iter().filter(|m| m.best).map(|m| &m.name[..]).collect();
//! assert_eq!(best, ["a4"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod arrays;
mod estimated;
mod interface;
mod lines;
mod part_tables;
mod search_oracle;
mod sources;
mod totals;

use crate::enumerate::{self, Plan};
use crate::error::Error;
use crate::parallel;
use crate::progress::Progress;
use crate::rules::{AnyPosition, AnyState, Orientations, Rules, Symmetry};
use crate::solve::{self, SolveOptions, Value, Values};
use crate::table::rows::{RowMove, RowPiece, Rows, StateKind};
use crate::table::{Store, Table};
use std::sync::Arc;

pub use answer::{
    Answer, Board, Brief, ByChecks, Cycles, Estimated, LineEnd, MoveAnswer, PositionEstimate,
    Verdict,
};
#[doc(hidden)]
pub use arrays::ArrayRows;
pub use interface::Oracle;
#[doc(hidden)]
pub use lines::{LONGEST_LINE, LineAnswer};
#[doc(hidden)]
pub use part_tables::PartTables;
#[doc(hidden)]
pub use search_oracle::{Budget, Reach, SearchOracle, WantedValues, empty_squares, quick_squares};
#[doc(hidden)]
pub use sources::{RulesOracle, Source, Sources};
#[doc(hidden)]
pub use totals::{LayerValues, Totals};

/// Choice among the positions of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Orienting {
    /// Every orientation, with every side to move, in which the row is reachable; every image of it if a
    /// complete table does not record orientations.
    #[default]
    All,
    /// The first orientation, so one position per row.
    First,
}

impl Orienting {
    /// Returns `all` or `canonical`.
    pub fn name(self) -> &'static str {
        match self {
            Orienting::All => "all",
            Orienting::First => "canonical",
        }
    }

    /// Returns the largest number of orientations taken of a row.
    pub fn most(self) -> usize {
        match self {
            Orienting::All => usize::MAX,
            Orienting::First => 1,
        }
    }
}

/// States of a table, solved or not.
pub struct States {
    game: Arc<dyn Rules>,
    table: Table,
    rows: Rows,
    pieces: Vec<RowPiece>,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "States({})", self.table.name())
    }
}

impl States {
    /// Maps the rows of a table of a game; compares checksums if `checked`.
    pub fn open(game: Arc<dyn Rules>, table: Table, checked: bool) -> Result<States, Error> {
        let rows = match checked {
            true => Rows::open_checked(&*game, &table)?,
            false => Rows::open(&*game, &table)?,
        };
        let pieces = rows.pieces();
        Ok(States { game, table, rows, pieces })
    }

    /// Returns the rules.
    pub fn game(&self) -> &dyn Rules {
        &*self.game
    }

    /// Returns the table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.states()
    }

    /// Returns all rows in pieces, which depend on the table alone.
    pub fn pieces(&self) -> &[RowPiece] {
        &self.pieces
    }

    /// Returns whether every row has a layer.
    pub fn has_layers(&self) -> bool {
        self.pieces.iter().all(|piece| piece.layer.is_some())
    }

    /// Returns the roots of the table.
    pub fn roots(&self) -> Result<Vec<AnyPosition>, Error> {
        let start = self.game.start();
        let roots = self.table.manifest().identity.roots.iter();
        roots.map(|root| self.game.parse_position(root, &start)).collect()
    }

    /// Parses a position. Transcripts are played from the table's first root.
    pub fn parse(&self, text: &str) -> Result<AnyPosition, Error> {
        let roots = self.roots()?;
        self.game.parse_position(text, roots.first().unwrap_or(&self.game.start()))
    }

    /// Returns the row of a position in any orientation; `None` if it is not in the table.
    pub fn find(&self, position: &AnyPosition) -> Option<usize> {
        self.rows.find(&*self.game, position)
    }

    /// Returns the canonical position of a row; `None` if the row is invalid.
    pub fn position(&self, row: usize) -> Option<AnyPosition> {
        self.rows.position(&*self.game, row)
    }

    /// Calls `visit` with the canonical position of each of some ascending rows. Stops at the first
    /// error, be it of `visit` or of an invalid row.
    pub fn visit(
        &self,
        mut rows: impl Iterator<Item = usize>,
        mut visit: impl FnMut(usize, AnyPosition) -> Result<(), String>,
    ) -> Result<(), String> {
        self.rows.visit(&*self.game, &mut rows, &mut visit)
    }

    /// Returns the kind of a row whose state is `state`. [`Table::check_read`] fails afterwards if the
    /// table cannot have such a row.
    pub fn kind(&self, row: usize, state: &AnyState) -> StateKind {
        self.possible(row, self.rows.kind(row, &|| self.game.is_terminal(state)))
    }

    /// Returns whether a row is at the bound of the enumeration, with its moves not followed.
    pub fn is_frontier(&self, row: usize) -> bool {
        self.possible(row, self.rows.kind(row, &|| false)) == StateKind::Frontier
    }

    /// Returns the kind that was read, and records damage if a complete table cannot have it.
    fn possible(&self, row: usize, kind: StateKind) -> StateKind {
        if kind == StateKind::Frontier && self.table.manifest().complete {
            let what = format!("marked complete, but row {row} is frontier");
            self.table.damage().or_record::<()>(Err(self.table.damaged_manifest(what)));
        }
        kind
    }

    /// Returns the orientations in which a row is reachable; `None` if not recorded.
    pub fn orientations(&self, row: usize) -> Option<Orientations> {
        self.rows.orientations(row)
    }

    /// Returns whether the table records the orientations of its rows.
    pub fn has_orientations(&self) -> bool {
        self.rows.has_orientations()
    }

    /// Returns the layer of a row; `None` if not recorded.
    pub fn layer_of(&self, row: usize) -> Option<u32> {
        self.rows.layer_of(row)
    }

    /// Returns the number of positions that have moves, all of which were followed. Fails on an invalid row.
    pub fn open_positions(&self, orienting: Orienting) -> Result<u64, String> {
        if !self.has_images(orienting) {
            return Ok(self.rows.open_positions(orienting.most()));
        }
        let counts = parallel::try_map(self.pieces.len(), &|piece| {
            let mut count = 0;
            self.visit_open(&self.pieces[piece], orienting, |_, _| count += 1).map(|()| count)
        });
        Ok(counts?.into_iter().sum())
    }

    /// Returns whether every image of a row is taken because the reachable ones are not recorded.
    fn has_images(&self, orienting: Orienting) -> bool {
        let all = orienting == Orienting::All && self.table.manifest().complete;
        all && !self.has_orientations()
    }

    /// Calls `visit` with the rows and positions of a piece that [`States::open_positions`] counts, in
    /// order. Fails on an invalid row.
    pub fn visit_open(
        &self,
        piece: &RowPiece,
        orienting: Orienting,
        mut visit: impl FnMut(usize, AnyPosition),
    ) -> Result<(), String> {
        let order = self.game.group().order();
        let has_images = self.has_images(orienting);
        self.visit(piece.rows.clone(), |row, position| {
            if self.kind(row, &position.state) != StateKind::Interior {
                return Ok(());
            }
            match self.orientations(row) {
                None if has_images => self.images(&position).for_each(|image| visit(row, image)),
                None => visit(row, position),
                Some(all) => all.iter(order).take(orienting.most()).for_each(|(symmetry, side)| {
                    let state = self.game.transform(&position.state, symmetry);
                    visit(row, AnyPosition { state, side });
                }),
            }
            Ok(())
        })
    }

    /// Returns a position and its distinct images.
    fn images(&self, position: &AnyPosition) -> impl Iterator<Item = AnyPosition> {
        let symmetries = 0..self.game.group().order() as Symmetry;
        let mut keys = Vec::new();
        symmetries.filter_map(move |symmetry| {
            let state = self.game.transform(&position.state, symmetry);
            let key = self.game.key(&state);
            let is_new = !keys.contains(&key);
            keys.push(key);
            is_new.then_some(AnyPosition { state, ..*position })
        })
    }

    /// Fills `moves` with the legal moves of a row and the rows they lead to, by ascending action. Fails
    /// if the stored moves are others.
    pub fn moves(
        &self,
        row: usize,
        state: &AnyState,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        self.rows.moves(&*self.game, row, state, moves)
    }
}

/// A table with values.
#[derive(Debug)]
pub struct SolvedTable {
    states: States,
    values: Values,
}

impl SolvedTable {
    /// Opens the table of everything reachable from the start of a game. Enumerates and solves it in the
    /// store first, unless that is done.
    pub fn of_whole(
        game: Arc<dyn Rules>,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<SolvedTable, Error> {
        let mut table = enumerate::build(&*game, &Plan::from_start(&*game), store, progress)?.table;
        if table.manifest().solution.is_none() {
            solve::solve(&*game, &mut table, &SolveOptions::default(), progress, &mut |_, _| {})?;
        }
        let dir = table.dir().to_path_buf();
        let solved = SolvedTable::open(game, table, true)?;
        solved.ok_or_else(|| Error::damaged(&dir, "no values"))
    }

    /// Maps the rows and values of a table of a game; compares checksums if `checked`. Returns `None` if
    /// the table is not solved.
    pub fn open(
        game: Arc<dyn Rules>,
        table: Table,
        checked: bool,
    ) -> Result<Option<SolvedTable>, Error> {
        let Some(values) = Values::open(&table, checked)? else { return Ok(None) };
        let states = States::open(game, table, checked)?;
        if values.rows() != states.rows() {
            let what = "columns and rows of inconsistent lengths";
            return Err(Error::damaged(states.table.dir(), what));
        }
        Ok(Some(SolvedTable { states, values }))
    }

    /// Returns the rows.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// Returns the rules.
    pub fn game(&self) -> &dyn Rules {
        &*self.states.game
    }

    /// Returns the table's files.
    pub fn table(&self) -> &Table {
        &self.states.table
    }

    /// Returns the values of all rows.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns whether values have a score.
    pub fn has_scores(&self) -> bool {
        self.values.has_scores()
    }

    /// Returns the value of a row, for its mover.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        self.values.get(row)
    }

    /// Returns the value of a move to a row, for who makes it; the widest bounds if it was not followed.
    #[inline]
    pub fn move_value(&self, target: Option<u32>) -> Value {
        target.map_or(self.cut_off(), |row| self.value(row as usize).before())
    }
}
