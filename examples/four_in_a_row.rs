//! Four in a row (Connect Four) on a small board, with layers and mirror images:
//! `cargo run --release --example four_in_a_row -- report --game four-in-a-row`.

use std::process::ExitCode;
use yomikiri::rules::{Action, Facts, Game, Group, MoveSquares, Outcome, Position, Side, Symmetry};

const ROWS: u64 = 4;
const COLUMNS: u64 = 5;

/// Rules of four in a row. Square `row * COLUMNS + column` is a bit, the top row first.
pub(crate) struct FourInARow(pub Group);
type Board = (u64, u64); // Discs of the mover and of the opponent.

fn has_four(discs: u64) -> bool {
    let is_there = |row: u64, column: u64| {
        row < ROWS && column < COLUMNS && discs >> (row * COLUMNS + column) & 1 == 1
    };
    let steps = [(0, 1), (1, 0), (1, 1), (1, u64::MAX)];
    (0..ROWS * COLUMNS).any(|square| {
        let from = (square / COLUMNS, square % COLUMNS);
        let disc = |n: u64, (down, right): (u64, u64)| {
            is_there(from.0 + n * down, from.1.wrapping_add(n.wrapping_mul(right)))
        };
        steps.iter().any(|&step| (0..4).all(|n| disc(n, step)))
    })
}

impl Game for FourInARow {
    type State = Board;
    fn name(&self) -> String {
        "four-in-a-row".to_string()
    }
    fn start(&self) -> Position<Board> {
        Position { state: (0, 0), side: Side::First }
    }
    fn action_count(&self) -> usize {
        COLUMNS as usize
    }
    fn moves(&self, state: &Board, mut each: impl FnMut(Action, Board)) {
        let (&(mine, theirs), is_over) = (state, self.result(state).is_some());
        for column in (0..COLUMNS).filter(|_| !is_over) {
            let free = |square: &u64| (mine | theirs) >> square & 1 == 0;
            let lowest = (0..ROWS).rev().map(|row| row * COLUMNS + column).find(free);
            lowest.iter().for_each(|to| each(Action(column as u16), (theirs, mine | 1 << to)));
        }
    }
    fn result(&self, &(mine, theirs): &Board) -> Option<Outcome> {
        let full = (mine | theirs) + 1 == 1 << (ROWS * COLUMNS);
        if has_four(theirs) { Some(Outcome::Loss) } else { full.then_some(Outcome::Draw) }
    }
    fn key(&self, &(mine, theirs): &Board) -> u128 {
        u128::from(mine << 32 | theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        self.of_squares((key >> 32) as u64, key as u64 & 0xffff_ffff)
    }

    // The rest is optional: layers, mirror images, and squares, of which images and drawings are made.
    fn layer_unit(&self) -> Option<&'static str> {
        Some("discs")
    }
    fn layer(&self, &(mine, theirs): &Board) -> u32 {
        (mine | theirs).count_ones()
    }
    fn group(&self) -> &Group {
        &self.0
    }
    fn transform_action(&self, Action(column): Action, symmetry: Symmetry) -> Action {
        Action(if symmetry == 0 { column } else { COLUMNS as u16 - 1 - column })
    }
    fn facts(&self) -> Facts {
        Facts { shape: (ROWS as usize, COLUMNS as usize), ..Facts::default() }
    }
    fn squares(&self, &state: &Board) -> Option<(u64, u64)> {
        Some(state)
    }
    fn of_squares(&self, mine: u64, theirs: u64) -> Option<Board> {
        let all = mine | theirs;
        let held_up = all & !(all >> COLUMNS | ((1 << COLUMNS) - 1) << ((ROWS - 1) * COLUMNS)) == 0;
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        let fits = mine & theirs == 0 && all >> (ROWS * COLUMNS) == 0;
        (fits && held_up && in_turn).then_some((mine, theirs))
    }
    fn move_squares(&self, _position: &Position<Board>, _column: Action) -> MoveSquares {
        MoveSquares::default()
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![FourInARow(Group::mirror())])
}
