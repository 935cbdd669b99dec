//! Tic-tac-toe on boards of any shape: whoever first has a number of marks in a line wins (the *m,n,k game*).

use super::in_line::{Grid, Stones, choices};
use crate::error::Error;
use crate::rules::encode::Plane;
use crate::rules::{
    Action, ExpectedStates, Facts, Game, Group, MoveText, Outcome, PlaneKinds, Position, Side,
};

/// Minimum and maximum number of rows, of columns, and of marks in a winning line.
pub const SIDES: (usize, usize) = (3, 7);

/// Rules on one board. A key is the mover's squares above the opponent's, both packed row by row.
#[derive(Clone, Debug)]
pub struct TicTacToe {
    grid: Grid,
    group: Group,
}

impl TicTacToe {
    /// Makes the rules for a board of `rows` × `columns` on which `length` marks in a line win; `fold` identifies states
    /// that are images of each other. `None` if a number is out of [range](SIDES) or no line has room.
    pub fn new((rows, columns): (usize, usize), length: usize, fold: bool) -> Option<TicTacToe> {
        let is_in_range = |n: &usize| (SIDES.0..=SIDES.1).contains(n);
        if ![rows, columns, length].iter().all(is_in_range) || length > rows.max(columns) {
            return None;
        }
        let grid = Grid::by_rows((rows, columns), length);
        let group = if fold { Group::of_board(rows, columns) } else { Group::trivial() };
        Some(TicTacToe { grid, group })
    }
}

impl Game for TicTacToe {
    type State = Stones;

    fn name(&self) -> String {
        match (self.grid.shape, self.grid.length) {
            ((3, 3), 3) => "tic-tac-toe".to_string(),
            ((rows, columns), length) => format!("tic-tac-toe-{rows}x{columns}-{length}"),
        }
    }
    fn start(&self) -> Position<Stones> {
        Position { state: Stones { mover: 0, opponent: 0 }, side: Side::First }
    }
    fn action_count(&self) -> usize {
        self.grid.count() as usize
    }
    fn moves(&self, state: &Stones, mut each: impl FnMut(Action, Stones)) {
        let (&Stones { mover, opponent }, is_over) = (state, self.result(state).is_some());
        let free = self.grid.bits().zip(0..).filter(|(bit, _)| state.occupied() >> bit & 1 == 0);
        for (bit, square) in free.filter(|_| !is_over) {
            each(Action(square), Stones { mover: opponent, opponent: mover | 1 << bit });
        }
    }
    fn result(&self, state: &Stones) -> Option<Outcome> {
        self.grid.result(state)
    }
    fn key(&self, state: &Stones) -> u128 {
        let [mover, opponent] = [state.mover, state.opponent].map(|set| self.grid.packed(set));
        u128::from(mover) << self.grid.count() | u128::from(opponent)
    }
    fn state(&self, key: u128) -> Option<Stones> {
        let mover = u64::try_from(key >> self.grid.count()).ok()?;
        self.grid.stones_of(mover, (key & ((1 << self.grid.count()) - 1)) as u64)
    }
    fn facts(&self) -> Facts {
        Facts { shape: self.grid.shape, key_bits: 2 * self.grid.count(), ..Facts::default() }
    }
    fn expected(&self, root: &Stones) -> Option<ExpectedStates> {
        let free = self.grid.count() - root.occupied().count_ones();
        let shapes = |stones| choices(free, free + stones - self.grid.count());
        Some(self.grid.at_most(root, (self.group.order(), f64::from(free) / 2.0), shapes))
    }
    fn layer_unit(&self) -> Option<&'static str> {
        Some("marks")
    }
    fn layer(&self, state: &Stones) -> u32 {
        state.occupied().count_ones()
    }
    fn keeps_sides(&self) -> bool {
        true
    }
    fn side_of(&self, key: u128) -> Side {
        self.state(key).and_then(|state| state.side()).unwrap_or(Side::First)
    }
    fn group(&self) -> &Group {
        &self.group
    }
    fn with_folding(&self, fold: bool) -> Option<TicTacToe> {
        TicTacToe::new(self.grid.shape, self.grid.length, fold)
    }
    fn squares(&self, state: &Stones) -> Option<(u64, u64)> {
        Some((self.grid.packed(state.mover), self.grid.packed(state.opponent)))
    }
    fn of_squares(&self, mover: u64, opponent: u64) -> Option<Stones> {
        self.grid.stones_of(mover, opponent)
    }
    fn plane_kinds(&self) -> PlaneKinds {
        PlaneKinds::one("mark", &[Plane::Empty, Plane::White, Plane::Black], false)
    }
    fn title(&self) -> String {
        match (self.grid.shape, self.grid.length) {
            ((3, 3), 3) => "Tic-tac-toe".to_string(),
            ((m, n), k) => format!("Tic-tac-toe {m}x{n}, {k} in a line"),
        }
    }
    fn side_names(&self) -> [&'static str; 2] {
        ["X", "O"]
    }
    fn written(&self, position: &Position<Stones>) -> Vec<(&'static str, String)> {
        self.grid.written(&position.state)
    }
    fn read_position(&self, text: &str) -> Result<Option<Position<Stones>>, Error> {
        self.grid.read(text, self.side_names())
    }
    fn split_moves<'t>(&self, words: Vec<MoveText<'t>>) -> Result<Vec<MoveText<'t>>, Error> {
        Ok(words.iter().map(|word| self.grid.named_square(word)).collect())
    }
}
