//! Three men's morris, a game in which positions can repeat.
//!
//! Each side places three men in turn, then moves one at a time along a line to a free adjacent point; three
//! in a row win. "The first player can always win, provided he plays to the centre on his first move"; if
//! that is barred it "should always end in a draw": H. E. Dudeney, The Canterbury Puzzles (1907), No. 110,
//! Ovid's Game.

#![allow(unreachable_pub)]

use std::process::ExitCode;

use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{Action, Facts, Game, Group, MoveSquares, Outcome, Position, Side, Symmetry};

const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
/// Points adjacent to each point.
pub const NEXT: [u16; 9] = [0o032, 0o025, 0o062, 0o121, 0o757, 0o424, 0o230, 0o520, 0o260];

/// Points of the mover and of the opponent.
type Men = (u16, u16);

/// Rules, with the centre open or barred to the first man.
pub struct ThreeMensMorris {
    group: Group,
    /// `true` if the first man may not be placed in the centre.
    centre_barred: bool,
}

impl ThreeMensMorris {
    /// Makes either variant.
    pub fn new(centre_barred: bool) -> ThreeMensMorris {
        ThreeMensMorris { group: Group::of_board(3, 3), centre_barred }
    }
}

fn points(set: u16) -> impl Iterator<Item = u16> {
    (0..9).filter(move |i| set >> i & 1 == 1)
}

fn turned(point: u16, symmetry: Symmetry) -> u16 {
    let (row, column) = map_square(symmetry, (point as usize / 3, point as usize % 3), 3, 3);
    (3 * row + column) as u16
}

impl Game for ThreeMensMorris {
    type State = Men;

    fn name(&self) -> String {
        let barred = if self.centre_barred { "-centre-barred" } else { "" };
        format!("three-mens-morris{barred}")
    }
    fn start(&self) -> Position<Men> {
        Position { state: (0, 0), side: Side::First }
    }
    /// Actions are `9 * from + to`; for a placement `from` equals `to`.
    fn action_count(&self) -> usize {
        81
    }
    fn moves(&self, state: &Men, mut each: impl FnMut(Action, Men)) {
        let &(mine, theirs) = state;
        let free = 0o777 & !(mine | theirs);
        let mut visit = |action: u16| {
            each(Action(action), (theirs, mine & !(1 << (action / 9)) | 1 << (action % 9)));
        };
        if self.result(state).is_some() {
        } else if mine.count_ones() < 3 {
            let barred = if free == 0o777 && self.centre_barred { 0o020 } else { 0 };
            points(free & !barred).for_each(|to| visit(10 * to));
        } else {
            let moves =
                points(mine).flat_map(|i| points(NEXT[i as usize] & free).map(move |j| (i, j)));
            moves.for_each(|(from, to)| visit(9 * from + to));
        }
    }
    fn result(&self, &(_, theirs): &Men) -> Option<Outcome> {
        LINES.iter().any(|line| theirs & line == *line).then_some(Outcome::Loss)
    }
    fn key(&self, &(mine, theirs): &Men) -> u128 {
        u128::from(mine) << 9 | u128::from(theirs)
    }
    fn state(&self, key: u128) -> Option<Men> {
        let (mine, theirs) = ((key >> 9) as u16, (key & 0o777) as u16);
        let (men, others) = (mine.count_ones(), theirs.count_ones());
        let in_turn = others <= 3 && (others == men || others == men + 1);
        (key >> 18 == 0 && mine & theirs == 0 && in_turn).then_some((mine, theirs))
    }
    // The rest is optional: symmetries, and a drawing of the board.
    fn facts(&self) -> Facts {
        Facts { shape: (3, 3), ..Facts::default() }
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        &self.group
    }
    fn transform(&self, state: &Men, symmetry: Symmetry) -> Men {
        let all = |set| points(set).fold(0, |all, i| all | 1 << turned(i, symmetry));
        (all(state.0), all(state.1))
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        Action(9 * turned(action.0 / 9, symmetry) + turned(action.0 % 9, symmetry))
    }

    // ---- the board ----
    fn squares(&self, &(mine, theirs): &Men) -> Option<(u64, u64)> {
        Some((mine.into(), theirs.into()))
    }
    fn of_squares(&self, mine: u64, theirs: u64) -> Option<Men> {
        let state = (mine.try_into().ok()?, theirs.try_into().ok()?);
        self.state(self.key(&state)).filter(|found| *found == state)
    }

    // ---- drawing ----
    fn move_squares(&self, _position: &Position<Men>, Action(action): Action) -> MoveSquares {
        let (from, to) = (action / 9, action % 9);
        MoveSquares { from: Some(from).filter(|&from| from != to), to: Some(to) }
    }
}

fn main() -> ExitCode {
    let games = [false, true].map(ThreeMensMorris::new);
    yomikiri_solver::main_with(games.map(Game::into_rules).into())
}
