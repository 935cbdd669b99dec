//! Hare and hounds, a game in which the second player wins infinite play:
//! `cargo run --release --example hare_and_hounds -- report --game hare-and-hounds`.
//!
//! Three hounds, who move first, and a hare move along the lines of a board with eleven points, the hounds never
//! back to the left (M. Gardner, Mathematical Games, Scientific American, October 1963). The hounds win if the
//! hare cannot move; they do so in twelve moves. The hare wins if no hound is left of it, or if the hounds stall:
//! usually for ten moves in a row without advancing, here for ever.

use std::process::ExitCode;
use yomikiri::rules::{Action, Facts, Game, Outcome, Position, Side};

/// Points of the board, among three rows of five: all but its corners.
const POINTS: u16 = 0b01110_11111_01110;
/// Board with point `i` of the rows as the `i`th letter.
const BOARD: &str = "  b-c-d\n /|\\|/|\\\nf-g-h-i-j\n \\|/|\\|/\n  l-m-n";

/// Rules of hare and hounds.
pub(crate) struct HareAndHounds;

/// Position, the same for both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hunt {
    /// Set of the hounds' points.
    pub(crate) hounds: u16,
    /// Point of the hare.
    pub(crate) hare: u16,
    /// `true` if the hare is to move: a state must contain its mover, because the sides differ.
    pub(crate) hare_moves: bool,
}

fn points(set: u16) -> impl Iterator<Item = u16> {
    (0..15).filter(move |point| set >> point & 1 == 1)
}

/// Returns `true` if a line joins two points. Diagonals join points with odd numbers.
fn adjacent(a: u16, b: u16) -> bool {
    let (rows, columns) = ((a / 5).abs_diff(b / 5), (a % 5).abs_diff(b % 5));
    rows + columns == 1 || rows == 1 && columns == 1 && a % 2 == 1
}

impl Hunt {
    fn has_escaped(self) -> bool {
        points(self.hounds).all(|hound| hound % 5 >= self.hare % 5)
    }

    /// Calls `each` with the moves of all pieces by the lines of the board.
    fn steps(self, mut each: impl FnMut(u16, u16)) {
        let Hunt { hounds, hare, hare_moves } = self;
        for from in points(if hare_moves { 1 << hare } else { hounds }) {
            for to in points(POINTS & !hounds & !(1 << hare)) {
                if adjacent(from, to) && (hare_moves || to % 5 >= from % 5) {
                    each(from, to);
                }
            }
        }
    }
}

impl Game for HareAndHounds {
    type State = Hunt;
    fn name(&self) -> String {
        "hare-and-hounds".to_string()
    }
    fn start(&self) -> Position<Hunt> {
        let state = Hunt { hounds: 1 << 1 | 1 << 5 | 1 << 11, hare: 9, hare_moves: false };
        Position { state, side: Side::First }
    }
    /// An action is `15 * from + to`.
    fn action_count(&self) -> usize {
        15 * 15
    }
    fn moves(&self, state: &Hunt, mut each: impl FnMut(Action, Hunt)) {
        let &Hunt { hounds, hare, hare_moves } = state;
        if state.has_escaped() {
            return;
        }
        state.steps(|from, to| {
            let after = match hare_moves {
                true => Hunt { hounds, hare: to, hare_moves: false },
                false => Hunt { hounds: hounds ^ (1 << from | 1 << to), hare, hare_moves: true },
            };
            each(Action(15 * from + to), after);
        });
    }
    fn result(&self, state: &Hunt) -> Option<Outcome> {
        let mut is_stuck = true;
        state.steps(|_, _| is_stuck = false);
        match state.has_escaped() {
            true if state.hare_moves => Some(Outcome::Win),
            true => Some(Outcome::Loss),
            false => is_stuck.then_some(Outcome::Loss),
        }
    }
    fn key(&self, state: &Hunt) -> u128 {
        u128::from(state.hounds) << 5 | u128::from(state.hare) << 1 | u128::from(state.hare_moves)
    }
    fn state(&self, key: u128) -> Option<Hunt> {
        let [hounds, hare] = [key >> 5 & 0x7fff, key >> 1 & 15].map(|field| field as u16);
        let taken = hounds | 1 << hare;
        let valid = key >> 20 == 0 && taken & !POINTS == 0 && taken.count_ones() == 4;
        let state = Hunt { hounds, hare, hare_moves: key & 1 == 1 };
        (valid && hounds.count_ones() == 3).then_some(state)
    }
    fn facts(&self) -> Facts {
        Facts { key_bits: 20, ..Facts::default() }
    }

    // ---- sides: the hare, the second player, wins infinite play ----
    fn keeps_sides(&self) -> bool {
        true
    }
    fn side_of(&self, key: u128) -> Side {
        Side::ALL[(key & 1) as usize]
    }

    // ---- drawing and names ----
    fn diagram(&self, position: &Position<Hunt>) -> String {
        let piece = |letter: char| match (letter as u16).wrapping_sub('a' as u16) {
            point if point == position.state.hare => 'O',
            point if point < 15 && position.state.hounds >> point & 1 == 1 => 'X',
            _ => letter,
        };
        BOARD.chars().map(piece).collect()
    }
    fn side_names(&self) -> [&'static str; 2] {
        ["Hunter", "Hare"]
    }
    fn action_name(&self, _side: Side, Action(action): Action) -> String {
        [action / 15, action % 15].map(|point| char::from(b'a' + point as u8)).iter().collect()
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![HareAndHounds])
}
