//! A table as everybody reads it: rows with their positions, moves and values, and the way from a
//! position to its row.
//!
//! Opened in one place ([`States::open`], [`SolvedTable::open`]), and the same for every game: no
//! reader asks how rows are found, whether moves are stored, or whether the game is layered. All
//! values are the mover's.

mod answer;
mod arrays;
mod lines;
mod oracle;
mod searched;
mod totals;

use std::ops::Range;

use crate::any::{AnyGame, AnyPosition, AnyState};
use crate::game::{Game, GameExt, NotationError, Orientations, Symmetry};
use crate::graph::{Graph, GraphError, Piece, Plan, RowMove, StateKind};
use crate::parallel;
use crate::progress::Progress;
use crate::solve::{SolveOptions, SweepError, Value, Values};
use crate::table::{Store, Table, TableError, or_record};

pub use answer::{Answer, Board, Brief, Cycles, LineEnd, MoveAnswer, NotThere, Verdict};
pub use arrays::ArrayRows;
pub use lines::{LONGEST_LINE, LineAnswer};
pub use oracle::Oracle;
pub use searched::{Budget, QUICK_SQUARES, SearchOracle, Wanted, empty_squares};
pub use totals::{LayerValues, Totals};

/// Which positions of a row are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Orienting {
    /// Every orientation, with every side to move, in which the row is reachable; where a complete
    /// table does not tell, every image of it.
    #[default]
    All,
    /// The first of them: one a row.
    First,
}

impl Orienting {
    /// `all` or `canonical`.
    pub fn name(self) -> &'static str {
        match self {
            Orienting::All => "all",
            Orienting::First => "canonical",
        }
    }

    /// How many orientations of a row are taken at most.
    pub fn most(self) -> usize {
        match self {
            Orienting::All => usize::MAX,
            Orienting::First => 1,
        }
    }
}

/// The states of a table, solved or not.
pub struct States {
    game: AnyGame,
    table: Table,
    rows: Graph,
    pieces: Vec<Piece>,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "States({})", self.table.name())
    }
}

impl States {
    /// Maps the rows of a table of a game, comparing checksums if `checked`.
    pub fn open(game: AnyGame, table: Table, checked: bool) -> Result<States, TableError> {
        let rows = match checked {
            true => Graph::open_checked(&game, &table)?,
            false => Graph::open(&game, &table)?,
        };
        let pieces = rows.pieces();
        Ok(States { game, table, rows, pieces })
    }

    /// The rules.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }

    /// The files.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.states()
    }

    /// All rows in pieces, always the same in the same order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether rows have a layer.
    pub fn has_layers(&self) -> bool {
        self.pieces.iter().all(|piece| piece.layer.is_some())
    }

    /// The roots of the table.
    pub fn roots(&self) -> Result<Vec<AnyPosition>, NotationError> {
        let start = self.game.start();
        let roots = self.table.manifest().identity.roots.iter();
        roots.map(|root| self.game.parse_position(root, &start)).collect()
    }

    /// Reads a position; transcripts are played from the table's first root.
    pub fn parse(&self, text: &str) -> Result<AnyPosition, NotationError> {
        let roots = self.roots()?;
        self.game.parse_position(text, roots.first().unwrap_or(&self.game.start()))
    }

    /// The row of a position, whatever its orientation; `None` if it is not in the table.
    pub fn find(&self, position: &AnyPosition) -> Option<usize> {
        self.rows.find(&self.game, position)
    }

    /// Calls `visit` with the canonical position of each of some rows, in order, until it fails;
    /// fails too where a row is none.
    pub fn visit(
        &self,
        mut rows: Range<usize>,
        mut visit: impl FnMut(usize, AnyPosition) -> Result<(), String>,
    ) -> Result<(), String> {
        self.rows.visit(&self.game, &mut rows, &mut visit)
    }

    /// Returns what a row is, `state` being its state. Where it is what this table has none of,
    /// [`Table::check_read`] fails.
    pub fn kind(&self, row: usize, state: &AnyState) -> StateKind {
        self.possible(row, self.rows.kind(row, &|| self.game.is_terminal(state)))
    }

    /// Whether a row is at the bound of the enumeration, its moves not followed.
    pub fn is_frontier(&self, row: usize) -> bool {
        self.possible(row, self.rows.kind(row, &|| false)) == StateKind::Frontier
    }

    /// A kind that was read, if a row can have it here.
    fn possible(&self, row: usize, kind: StateKind) -> StateKind {
        let cut = matches!(kind, StateKind::Frontier | StateKind::Restricted);
        if cut && self.table.manifest().complete {
            let what = format!("it says that it is complete, and row {row} is {}", kind.name());
            or_record::<()>(Err(self.table.damaged_manifest(what)));
        }
        kind
    }

    /// The orientations in which a row is reachable; `None` where the table does not tell.
    pub fn orientations(&self, row: usize) -> Option<Orientations> {
        self.rows.orientations(row)
    }

    /// Whether the table tells the orientations of its rows.
    pub fn has_orientations(&self) -> bool {
        self.rows.has_orientations()
    }

    /// The layer of a row; `None` where the table does not tell.
    pub fn layer_of(&self, row: usize) -> Option<u32> {
        self.rows.layer_of(row)
    }

    /// How many positions there are with a move to choose all of whose moves were followed. Fails
    /// where a row is none.
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

    /// Whether every image of a row is taken, for want of knowing which are reachable.
    fn has_images(&self, orienting: Orienting) -> bool {
        let all = orienting == Orienting::All && self.table.manifest().complete;
        all && !self.has_orientations()
    }

    /// Calls `visit` with these positions of a piece and their rows, in order; fails where a row is
    /// none.
    pub fn visit_open(
        &self,
        piece: &Piece,
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

    /// A position and its images, each once.
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

    /// Fills `moves` with the legal moves of a row and the rows they lead to, by ascending action.
    /// Fails where the table's are others.
    pub fn moves(
        &self,
        row: usize,
        state: &AnyState,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        self.rows.moves(&self.game, row, state, moves)
    }
}

/// A solved table.
#[derive(Debug)]
pub struct SolvedTable {
    states: States,
    values: Values,
}

/// Why a whole game was not solved.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum WholeError {
    /// It was not enumerated.
    Enumerate(#[from] GraphError),
    /// Its values were not found.
    Solve(#[from] SweepError),
    /// Its table cannot be read.
    Table(#[from] TableError),
}

impl SolvedTable {
    /// Everything that can be reached from the start of a game, enumerated and solved in a store
    /// unless it is there already.
    pub fn of_whole(
        game: AnyGame,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<SolvedTable, WholeError> {
        let mut table = game.enumerate(&Plan::from_start(&game), store, progress)?.table;
        if table.manifest().solution.is_none() {
            game.solve(&mut table, &SolveOptions::default(), progress, &mut |_, _| {})?;
        }
        let dir = table.dir().to_path_buf();
        let solved = SolvedTable::open(game, table, true)?;
        Ok(solved.ok_or_else(|| TableError::damaged(&dir, "it has no values"))?)
    }

    /// Maps the rows and values of a table of a game, comparing checksums if `checked`; `None` if
    /// the table is not solved.
    pub fn open(
        game: AnyGame,
        table: Table,
        checked: bool,
    ) -> Result<Option<SolvedTable>, TableError> {
        let Some(values) = Values::open(&table, checked)? else { return Ok(None) };
        let states = States::open(game, table, checked)?;
        if values.rows() != states.rows() {
            let what = "its columns' lengths do not fit its rows";
            return Err(TableError::damaged(states.table.dir(), what));
        }
        Ok(Some(SolvedTable { states, values }))
    }

    /// Rows and values that lie elsewhere than in the files of a table that says what they are.
    pub fn elsewhere(game: AnyGame, table: Table, rows: Graph, values: Values) -> SolvedTable {
        let pieces = rows.pieces();
        SolvedTable { states: States { game, table, rows, pieces }, values }
    }

    /// The rows.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// The rules.
    pub fn game(&self) -> &AnyGame {
        &self.states.game
    }

    /// The files.
    pub fn table(&self) -> &Table {
        &self.states.table
    }

    /// The values, row by row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Whether values have a score.
    pub fn has_scores(&self) -> bool {
        self.values.has_scores()
    }

    /// The value of a row.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        self.values.get(row)
    }

    /// The value of a move to a row for who makes it; of one not followed, what may be.
    #[inline]
    pub fn move_value(&self, target: Option<u32>) -> Value {
        target.map_or(self.cut_off(), |row| self.value(row as usize).before())
    }
}
