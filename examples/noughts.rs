//! Noughts and crosses: a game of one's own with every command of `solver`:
//! `cargo run --release --example noughts -- report`.

use std::process::ExitCode;
use yomikiri::rules::{Action, Facts, Game, Group, Outcome, Position, Side};

const LINES: [u64; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// Rules of noughts and crosses, with the symmetries of the board.
pub(crate) struct Noughts(pub Group);
type Board = (u64, u64); // Squares of the mover and of the opponent.

impl Game for Noughts {
    type State = Board;
    fn name(&self) -> String {
        "noughts-and-crosses".to_string()
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
        u128::from(mine << 9 | theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        self.of_squares((key >> 9) as u64, key as u64 & 0o777)
    }

    // The rest is optional: layers, symmetries, and squares, of which images and drawings are made.
    fn layer_unit(&self) -> Option<&'static str> {
        Some("marks")
    }
    fn layer(&self, state: &Board) -> u32 {
        (state.0 | state.1).count_ones()
    }
    fn group(&self) -> &Group {
        &self.0
    }
    fn facts(&self) -> Facts {
        Facts { shape: (3, 3), ..Facts::default() }
    }
    fn squares(&self, state: &Board) -> Option<(u64, u64)> {
        Some(*state)
    }
    fn of_squares(&self, mine: u64, theirs: u64) -> Option<Board> {
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        ((mine | theirs) >> 9 == 0 && mine & theirs == 0 && in_turn).then_some((mine, theirs))
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![Noughts(Group::of_board(3, 3))])
}
