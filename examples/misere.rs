//! Misère noughts and crosses, the shortest of games: three in a row lose.
//! `cargo run --release --example misere -- report --game misere-noughts`.

use std::process::ExitCode;
use yomikiri::rules::{Action, Game, Outcome, Position, Side};

const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// Rules of misère noughts and crosses.
pub(crate) struct MisereNoughts;
type Board = (u16, u16); // Squares of the mover and of the opponent.

impl Game for MisereNoughts {
    type State = Board;
    fn name(&self) -> String {
        "misere-noughts".to_string()
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
    /// The opponent has just moved: their line is a win of the mover.
    fn result(&self, &(mine, theirs): &Board) -> Option<Outcome> {
        let won = LINES.iter().any(|line| theirs & line == *line);
        let full = (mine | theirs == 0o777).then_some(Outcome::Draw);
        if won { Some(Outcome::Win) } else { full }
    }
    fn key(&self, &(mine, theirs): &Board) -> u128 {
        u128::from(mine) << 9 | u128::from(theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        let (mine, theirs) = ((key >> 9) as u16, (key & 0o777) as u16);
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        (key >> 18 == 0 && mine & theirs == 0 && in_turn).then_some((mine, theirs))
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![MisereNoughts])
}
