//! Tic-tac-toe: a custom game with every command of `solver`:
//! `cargo run --release --example tic_tac_toe -- report`.

use std::process::ExitCode;
use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{Action, Game, Group, Outcome, Position, Side, Symmetry};

const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// Rules of tic-tac-toe, with the symmetries of the board.
pub(crate) struct TicTacToe(pub Group);
type Board = (u16, u16); // Squares of the mover and of the opponent.

fn turned(square: u16, symmetry: Symmetry) -> u16 {
    let (row, column) = map_square(symmetry, (square as usize / 3, square as usize % 3), 3, 3);
    (3 * row + column) as u16
}

impl Game for TicTacToe {
    type State = Board;
    fn name(&self) -> String {
        "tic-tac-toe".to_string()
    }
    fn start(&self) -> Position<Board> {
        Position { state: (0, 0), side: Side::First }
    }
    fn action_count(&self) -> usize {
        9
    }
    fn moves(&self, state: &Board, mut each: impl FnMut(Action, Board)) {
        let (&(mine, theirs), is_over) = (state, self.result(state).is_some());
        let free = (0..9).filter(|square| !is_over && (mine | theirs) >> square & 1 == 0);
        free.for_each(|square| each(Action(square), (theirs, mine | 1 << square)));
    }
    fn result(&self, &(mine, theirs): &Board) -> Option<Outcome> {
        let lost = LINES.iter().any(|line| theirs & line == *line);
        let full = (mine | theirs == 0o777).then_some(Outcome::Draw);
        if lost { Some(Outcome::Loss) } else { full }
    }
    fn key(&self, &(mine, theirs): &Board) -> u128 {
        u128::from(mine) << 9 | u128::from(theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        let (mine, theirs) = ((key >> 9) as u16, (key & 0o777) as u16);
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        (key >> 18 == 0 && mine & theirs == 0 && in_turn).then_some((mine, theirs))
    }
    // The rest is optional: layers, symmetries, and a drawing of the board.

    // ---- layers ----
    fn layer_unit(&self) -> Option<&'static str> {
        Some("marks")
    }
    fn layer(&self, state: &Board) -> u32 {
        (state.0 | state.1).count_ones()
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        &self.0
    }
    fn transform(&self, &(mine, theirs): &Board, symmetry: Symmetry) -> Board {
        let all = |set: u16| (0..9).map(|i| (set >> i & 1) << turned(i, symmetry)).sum();
        (all(mine), all(theirs))
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        Action(turned(action.0, symmetry))
    }

    // ---- drawing ----
    fn diagram(&self, position: &Position<Board>) -> String {
        let &Position { state: (mine, theirs), side } = position;
        let marks = if side == Side::First { ["X", "O"] } else { ["O", "X"] };
        let cell = |i: u16| match (mine >> i & 1, theirs >> i & 1) {
            (0, 0) => i.to_string(),
            (taken, _) => marks[1 - taken as usize].to_string(),
        };
        let row = |r| format!("{} {} {}\n", cell(r), cell(r + 1), cell(r + 2));
        [0, 3, 6].map(row).concat()
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![TicTacToe(Group::of_board(3, 3))])
}
