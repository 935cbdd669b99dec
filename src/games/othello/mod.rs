//! Othello on every board from 4×4 to 8×8, square or not.
//!
//! All shapes share one bitboard layout: square (row, column) is bit `8 * row + column`, whatever the board's
//! width, so the eight directions are constant shifts and the same compiled code serves every board. On a
//! narrow board the unused columns are empty and so end each line at the edge.
//!
//! A pass is a separate action, the only one of a mover who cannot place a disc while the opponent can; the
//! game is over when neither can. The layer is the number of discs.

#[doc(hidden)]
pub mod blocks;
mod canonical;
mod moves;
mod notation;
#[doc(hidden)]
pub mod proof;
mod score_search;
#[doc(hidden)]
pub mod search;
mod size;

use crate::error::Error;
use crate::rules::symmetry::map_square;
use crate::rules::{
    Action, Canonical, Empties, ExpectedStates, Facts, Game, Group, Mobility, MoveText, Outcome,
    PlaneKinds, Position, Score, ScoreSearch, SearchOptions, Side, Symmetry,
};
use canonical::BoardImages;
use moves::Flips;
use search::{Evaluation, built_in};
use std::sync::{Arc, OnceLock};

/// Minimum number of rows and of columns.
pub const MIN_SIDE: usize = 4;
/// Maximum number of rows and of columns.
pub const MAX_SIDE: usize = 8;

/// Discs on a board as the mover sees them, as bits `8 * row + column`; the two sets are disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// The mover's discs.
    pub mover: u64,
    /// The opponent's discs.
    pub opponent: u64,
}

impl Board {
    /// Returns the number of discs.
    #[inline]
    pub fn discs(&self) -> u32 {
        (self.mover | self.opponent).count_ones()
    }

    /// Returns the board with the other side to move.
    #[inline]
    pub fn swapped(&self) -> Board {
        Board { mover: self.opponent, opponent: self.mover }
    }
}

/// Spreads a set packed row by row over the bits of the 8×8 grid.
pub fn grid_of(packed: u64, columns: usize) -> u64 {
    squares_of(packed).fold(0, |grid, at| grid | 1 << (at / columns * 8 + at % columns))
}

/// Packs a set of the 8×8 grid row by row: bit `row * columns + column`.
pub fn packed_of(grid: u64, columns: usize) -> u64 {
    let inside = squares_of(grid).filter(|at| at % 8 < columns);
    inside.fold(0, |packed, at| packed | 1 << (at / 8 * columns + at % 8))
}

/// Returns the mover's discs minus the opponent's.
fn difference(board: &Board) -> i32 {
    board.mover.count_ones() as i32 - board.opponent.count_ones() as i32
}

fn squares_of(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |at| set >> at & 1 == 1)
}

/// Rules of Othello on one shape of board.
///
/// A key is the occupied squares above the mover's, both packed row by row: in one word on boards of up to 32
/// squares, in one word each on larger ones. Sorted by key, states therefore form blocks with the same occupied
/// squares, and the canonical image has the smallest occupied squares.
#[derive(Clone, Debug)]
pub struct Othello {
    rows: usize,
    columns: usize,
    lines: Flips,
    group: Group,
    images: BoardImages,
    /// Bits of a key below the occupied squares.
    low_bits: u32,
    /// Evaluation of the board, read when it is first asked for.
    evaluation: OnceLock<Arc<Evaluation>>,
}

impl Othello {
    /// Makes the rules for a board of `rows` × `columns`, each 4 to 8. `fold` identifies states that are
    /// images of each other under the board's symmetries.
    ///
    /// # Panics
    ///
    /// If a side is out of range.
    pub fn new(rows: usize, columns: usize, fold: bool) -> Othello {
        let sides = MIN_SIDE..=MAX_SIDE;
        assert!(
            sides.contains(&rows) && sides.contains(&columns),
            "invalid board {rows}x{columns}: expected sides of {MIN_SIDE} to {MAX_SIDE}"
        );
        let group = if fold { Group::of_board(rows, columns) } else { Group::trivial() };
        let low_bits = if rows * columns <= 32 { rows * columns } else { 64 } as u32;
        let images = BoardImages::new(rows, columns, low_bits, &group);
        let (lines, evaluation) = (Flips::new(rows, columns), OnceLock::new());
        Othello { rows, columns, lines, group, images, low_bits, evaluation }
    }

    /// Returns the number of squares.
    pub fn square_count(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns the squares on which the mover may place a disc, as bits of the 8×8 grid.
    #[inline]
    pub fn placements(&self, board: &Board) -> u64 {
        self.lines.placements(board)
    }

    #[inline]
    fn pass(&self) -> Action {
        Action(self.square_count() as u16)
    }

    /// Returns the action that places a disc on a bit of the 8×8 grid.
    #[inline]
    fn action_of_bit(&self, bit: u32) -> Action {
        Action((bit as usize / 8 * self.columns + bit as usize % 8) as u16)
    }

    /// Returns the bit of the 8×8 grid on which an action other than the pass places a disc.
    #[inline]
    fn bit_of_action(&self, action: Action) -> u32 {
        let square = action.0 as usize;
        (square / self.columns * 8 + square % self.columns) as u32
    }

    /// Packs grid bits row by row: bit `row * columns + column`.
    fn pack(&self, grid: u64) -> u64 {
        let row_mask = (1u64 << self.columns) - 1;
        (0..self.rows)
            .fold(0, |packed, row| packed | (grid >> (8 * row) & row_mask) << (row * self.columns))
    }

    /// Spreads packed bits over the 8×8 grid.
    #[inline]
    fn unpack(&self, packed: u64) -> u64 {
        let row_mask = (1u64 << self.columns) - 1;
        (0..self.rows)
            .fold(0, |grid, row| grid | (packed >> (row * self.columns) & row_mask) << (8 * row))
    }

    fn map_bits(&self, grid: u64, symmetry: Symmetry) -> u64 {
        let mut rest = grid;
        let mut image = 0;
        while rest != 0 {
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let (r, c) = map_square(symmetry, (bit / 8, bit % 8), self.rows, self.columns);
            image |= 1 << (8 * r + c);
        }
        image
    }
}

impl Game for Othello {
    type State = Board;

    fn name(&self) -> String {
        format!("othello-{}x{}", self.rows, self.columns)
    }

    /// Returns the standard start: Black, to move, has the two middle squares of the diagonal that rises to
    /// the right. With an odd number of rows or columns the middle block is the upper or left one.
    fn start(&self) -> Position<Board> {
        let (r, c) = (self.rows / 2 - 1, self.columns / 2 - 1);
        let bit = |r: usize, c: usize| 1u64 << (8 * r + c);
        let state =
            Board { mover: bit(r, c + 1) | bit(r + 1, c), opponent: bit(r, c) | bit(r + 1, c + 1) };
        Position { state, side: Side::First }
    }

    fn action_count(&self) -> usize {
        self.square_count() + 1
    }

    #[inline]
    fn facts(&self) -> Facts {
        Facts {
            shape: (self.rows, self.columns),
            key_bits: self.low_bits + self.square_count() as u32,
            ..Facts::default()
        }
    }

    fn with_folding(&self, fold: bool) -> Option<Othello> {
        Some(Othello::new(self.rows, self.columns, fold))
    }

    #[inline]
    fn for_each_action(&self, state: &Board, mut visit: impl FnMut(Action)) {
        let mut rest = self.lines.placements(state);
        if rest == 0 {
            if self.lines.placements(&state.swapped()) != 0 {
                visit(self.pass());
            }
            return;
        }
        while rest != 0 {
            visit(self.action_of_bit(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }

    #[inline]
    fn moves(&self, state: &Board, mut visit: impl FnMut(Action, Board)) {
        let mut rest = self.lines.placements(state);
        if rest == 0 {
            let swapped = state.swapped();
            if self.lines.placements(&swapped) != 0 {
                visit(self.pass(), swapped);
            }
            return;
        }
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            visit(self.action_of_bit(bit), self.lines.place(state, bit));
        }
    }

    #[inline]
    fn mobility(&self, state: &Board) -> Mobility {
        let placements = self.lines.placements(state);
        if placements != 0 {
            Mobility::Moves(placements.count_ones())
        } else if self.lines.placements(&state.swapped()) != 0 {
            Mobility::Pass
        } else {
            Mobility::Over
        }
    }

    #[inline]
    fn play(&self, state: &Board, action: Action) -> Board {
        if self.is_pass(action) {
            state.swapped()
        } else {
            self.lines.place(state, self.bit_of_action(action))
        }
    }

    #[inline]
    fn is_pass(&self, action: Action) -> bool {
        action == self.pass()
    }

    #[inline]
    fn swapped(&self, state: &Board) -> Option<Board> {
        Some(state.swapped())
    }

    fn material(&self, state: &Board) -> Option<i32> {
        Some(difference(state))
    }

    fn evaluation(&self, state: &Board) -> Option<i32> {
        let (rows, columns) = (self.rows, self.columns);
        let plain = || Arc::new(Evaluation::plain(rows, columns));
        let read = || built_in(rows, columns).unwrap_or_else(plain);
        Some(self.evaluation.get_or_init(read).hundredths(*state))
    }

    fn result(&self, state: &Board) -> Option<Outcome> {
        let over = self.mobility(state) == Mobility::Over;
        over.then(|| Outcome::of(difference(state).signum() as i8))
    }

    fn key(&self, state: &Board) -> u128 {
        let [occupied, mover] =
            [state.mover | state.opponent, state.mover].map(|set| self.pack(set));
        u128::from(occupied) << self.low_bits | u128::from(mover)
    }

    #[inline]
    fn state(&self, key: u128) -> Option<Board> {
        let squares = self.square_count() as u32;
        let (high, low) = (key >> self.low_bits, key & ((1 << self.low_bits) - 1));
        let (occupied, mover) = (u64::try_from(high).ok()?, low as u64);
        let on_board = if squares == 64 { u64::MAX } else { (1 << squares) - 1 };
        if mover & !occupied != 0 || occupied & !on_board != 0 {
            return None;
        }
        Some(Board { mover: self.unpack(mover), opponent: self.unpack(occupied ^ mover) })
    }

    #[inline]
    fn canonical(&self, state: &Board) -> Canonical {
        self.images.canonical(state)
    }

    fn score_search(&self, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<Board>>> {
        Some(Box::new(score_search::EngineSearch::new(self.rows, self.columns, options)))
    }

    fn expected(&self, root: &Board) -> Option<ExpectedStates> {
        let shape = (self.rows.min(self.columns), self.rows.max(self.columns));
        let is_start = *root == self.start().state;
        Some(size::expected(shape, root.discs(), is_start, self.group.order() > 1))
    }

    // ---- layers ----

    fn layer_unit(&self) -> Option<&'static str> {
        Some("discs")
    }

    #[inline]
    fn layer(&self, state: &Board) -> u32 {
        state.discs()
    }

    // ---- scores ----

    fn max_score(&self) -> Option<Score> {
        Some(Score(self.square_count() as i8))
    }

    fn score(&self, state: &Board, empties: Empties) -> Score {
        let difference = difference(state);
        let left = self.square_count() as i32 - state.discs() as i32;
        Score(match empties {
            Empties::Uncounted => difference,
            Empties::ToWinner => difference + left * difference.signum(),
        } as i8)
    }

    fn score_unit(&self) -> &'static str {
        "disc"
    }

    // ---- symmetries ----

    #[inline]
    fn group(&self) -> &Group {
        &self.group
    }

    fn transform(&self, state: &Board, symmetry: Symmetry) -> Board {
        Board {
            mover: self.map_bits(state.mover, symmetry),
            opponent: self.map_bits(state.opponent, symmetry),
        }
    }

    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        if self.is_pass(action) {
            return action;
        }
        let square = (action.0 as usize / self.columns, action.0 as usize % self.columns);
        let (r, c) = map_square(symmetry, square, self.rows, self.columns);
        Action((r * self.columns + c) as u16)
    }

    // ---- the board ----

    fn squares(&self, state: &Board) -> Option<(u64, u64)> {
        Some((self.pack(state.mover), self.pack(state.opponent)))
    }

    fn of_squares(&self, own: u64, other: u64) -> Option<Board> {
        let squares = self.square_count();
        let outside = if squares == 64 { 0 } else { !0 << squares };
        let fits = (own | other) & outside == 0 && own & other == 0;
        fits.then(|| Board { mover: self.unpack(own), opponent: self.unpack(other) })
    }

    // ---- planes ----

    fn plane_kinds(&self) -> PlaneKinds {
        PlaneKinds { pieces: vec!["disc"], ..PlaneKinds::default() }
    }

    // ---- names ----

    fn title(&self) -> String {
        format!("Othello {}x{}", self.rows, self.columns)
    }

    fn side_names(&self) -> [&'static str; 2] {
        ["Black", "White"]
    }

    fn side_marks(&self) -> Option<[&'static str; 2]> {
        Some(["X", "O"])
    }

    fn action_name(&self, _side: Side, action: Action) -> String {
        notation::action_name(self, action)
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        let squares = self.square_count();
        let keys = if squares <= 32 {
            format!("occupied squares << {squares} | mover's squares; bit = row * columns + column")
        } else {
            "column 0: occupied squares, column 1: mover's squares; bit = row * columns + column"
                .to_string()
        };
        let actions =
            format!("row * columns + column, a1 at the top left being 0; {squares} is the pass");
        let passes =
            "a pass is a move and a ply of its own, the only one of a mover who cannot place";
        vec![("keys", keys), ("actions", actions), ("passes", passes.to_string())]
    }

    // ---- notation ----

    fn written(&self, position: &Position<Board>) -> Vec<(&'static str, String)> {
        vec![("obf", notation::obf(self, position)), ("digits", notation::digits(self, position))]
    }

    fn read_position(&self, text: &str) -> Result<Option<Position<Board>>, Error> {
        notation::read_position(self, text)
    }

    fn split_moves<'t>(&self, words: Vec<MoveText<'t>>) -> Result<Vec<MoveText<'t>>, Error> {
        Ok(notation::split_moves(words))
    }

    fn read_move(&self, _position: &Position<Board>, text: &str) -> Option<Action> {
        notation::read_move(self, text)
    }
}
