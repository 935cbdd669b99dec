//! King and rook against king, a chess ending whose positions are numbered:
//! `cargo run --release --example king_and_rook -- report --game king-and-rook-8x8 --no-games`.
//!
//! White, to move, mates in at most 16 moves on eight by eight squares (T. Ströhlein, Untersuchungen über
//! kombinatorische Spiele, 1970). The game starts in a position that takes as many.

use std::process::ExitCode;
use yomikiri::rules::{
    Action, Drawn, Facts, Game, MoveSquares, Outcome, PieceKind, Position, Side,
};

/// Rules on a board of `size` × `size` squares, numbered `row * size + column`.
pub(crate) struct KingAndRook {
    size: u32,
}

/// Position, the same for both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ending {
    /// Square of White's king.
    pub(crate) king: u32,
    /// Square of White's rook; that of Black's king if it has captured the rook.
    pub(crate) rook: u32,
    /// Square of Black's king.
    pub(crate) black: u32,
    /// `true` if White is to move: a state must contain its mover, because the sides differ.
    pub(crate) white_moves: bool,
}

impl KingAndRook {
    /// Makes the rules of a board with 3 to 35 rows.
    pub(crate) fn new(size: u32) -> KingAndRook {
        KingAndRook { size }
    }

    fn squares(&self) -> u32 {
        self.size * self.size
    }

    /// Returns `true` if two squares touch or are the same.
    fn touch(&self, a: u32, b: u32) -> bool {
        let n = self.size;
        (a / n).abs_diff(b / n) <= 1 && (a % n).abs_diff(b % n) <= 1
    }

    /// Returns `true` if a rook on `from` reaches `to` past a piece on `blocker`.
    fn reaches(&self, from: u32, to: u32, blocker: u32) -> bool {
        let n = self.size;
        let (same_row, same_column) = (from / n == to / n, from % n == to % n);
        let within = blocker > from.min(to) && blocker < from.max(to);
        let is_blocked = within && (same_row || blocker % n == to % n);
        from != to && (same_row || same_column) && !is_blocked
    }

    /// Returns `true` if the position may occur: the player who has just moved is not in check.
    fn is_legal(&self, &Ending { king, rook, black, white_moves }: &Ending) -> bool {
        let may_stand = if white_moves { !self.reaches(rook, black, king) } else { rook != black };
        may_stand && king != rook && !self.touch(king, black)
    }

    /// Returns the legal positions that differ from one by a move of White or of Black, with the other side to move.
    /// Moves forth and back are the same, except that a captured rook does not return.
    fn neighbours(&self, state: &Ending, by_white: bool) -> impl Iterator<Item = (Action, Ending)> {
        let &Ending { king, rook, black, white_moves } = state;
        let turned = Ending { white_moves: !white_moves, ..*state };
        let (all, from) = (0..self.squares(), if by_white { king } else { black });
        let steps = all.clone().filter(move |&to| to != from && self.touch(from, to));
        let slides = all.filter(move |&to| {
            by_white && self.reaches(rook, to, king) && self.reaches(rook, to, black)
        });
        let steps = steps.map(move |to| match by_white {
            true => (to, Ending { king: to, ..turned }),
            false => (to, Ending { black: to, ..turned }),
        });
        let slides = slides.map(move |to| (self.squares() + to, Ending { rook: to, ..turned }));
        let legal = steps.chain(slides).filter(|(_, after)| self.is_legal(after));
        legal.map(|(action, after)| (Action(action as u16), after))
    }
}

impl Game for KingAndRook {
    type State = Ending;
    fn name(&self) -> String {
        format!("king-and-rook-{0}x{0}", self.size)
    }
    fn start(&self) -> Position<Ending> {
        let (rook, black) = (self.size + 1, 2 * self.size + 2);
        Position { state: Ending { king: 0, rook, black, white_moves: true }, side: Side::First }
    }
    /// An action is the square that a king reaches, or after all these that of the rook.
    fn action_count(&self) -> usize {
        2 * self.squares() as usize
    }
    fn moves(&self, state: &Ending, mut each: impl FnMut(Action, Ending)) {
        if state.rook != state.black {
            let moves = self.neighbours(state, state.white_moves);
            moves.for_each(|(action, after)| each(action, after));
        }
    }
    fn result(&self, state: &Ending) -> Option<Outcome> {
        let is_stuck = || self.neighbours(state, false).next().is_none();
        match state.white_moves {
            true => (state.rook == state.black).then_some(Outcome::Draw),
            false if !is_stuck() => None,
            false if self.in_check(state) => Some(Outcome::Loss),
            false => Some(Outcome::Draw),
        }
    }
    fn key(&self, state: &Ending) -> u128 {
        let digits = [state.white_moves.into(), state.king, state.rook, state.black];
        digits.into_iter().fold(0, |number, digit: u32| number * self.squares() + digit).into()
    }
    fn state(&self, key: u128) -> Option<Ending> {
        let state = self.state_of_rank(u32::try_from(key).ok()?)?;
        self.is_legal(&state).then_some(state)
    }
    fn facts(&self) -> Facts {
        let size = self.size as usize;
        Facts { shape: (size, size), key_bits: 32, ..Facts::default() }
    }
    fn in_check(&self, state: &Ending) -> bool {
        !state.white_moves && self.reaches(state.rook, state.black, state.king)
    }

    // ---- ranks: the numbers of all positions, legal or not ----
    fn rank_count(&self) -> Option<u32> {
        Some(2 * self.squares().pow(3))
    }
    fn rank(&self, state: &Ending) -> Option<u32> {
        Some(self.key(state) as u32)
    }
    fn state_of_rank(&self, rank: u32) -> Option<Ending> {
        let n = self.squares();
        let state = Ending {
            king: rank / n / n % n,
            rook: rank / n % n,
            black: rank % n,
            white_moves: rank / n / n / n == 1,
        };
        (rank < 2 * n * n * n).then_some(state)
    }
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        if let Some(after) = self.state(rank.into()) {
            let states = self.neighbours(&after, !after.white_moves);
            before.extend(states.filter_map(|(_, state)| self.rank(&state)));
        }
    }

    // ---- drawing and names ----
    fn drawn(&self, &Position { state, .. }: &Position<Ending>) -> Drawn {
        let piece = |square: u32| match square {
            _ if square == state.king => "K",
            _ if square == state.black => "k",
            _ if square == state.rook => "R",
            _ => "",
        };
        let cells = (0..self.squares()).map(|square| piece(square).to_string()).collect();
        Drawn { cells, ..Drawn::default() }
    }
    fn piece_kinds(&self) -> Vec<PieceKind> {
        let kinds = [("K", "king"), ("R", "rook")].into_iter();
        kinds.map(|(piece, name)| PieceKind { piece: piece.into(), name, japanese: None }).collect()
    }
    /// An action does not contain the square that a piece leaves.
    fn move_squares(&self, _position: &Position<Ending>, _action: Action) -> MoveSquares {
        MoveSquares::default()
    }
    fn coordinates(&self) -> [Vec<String>; 2] {
        let rows = (1..=self.size).rev().map(|row| row.to_string()).collect();
        [('a'..='z').map(String::from).take(self.size as usize).collect(), rows]
    }
    fn side_names(&self) -> [&'static str; 2] {
        ["White", "Black"]
    }
    fn action_name(&self, _side: Side, Action(action): Action) -> String {
        let (piece, square) = (action / self.squares() as u16, action % self.squares() as u16);
        let (row, column) = (square / self.size as u16, square % self.size as u16);
        let [columns, rows] = self.coordinates();
        format!("{}{}{}", ["K", "R"][piece as usize], columns[column as usize], rows[row as usize])
    }
}

fn main() -> ExitCode {
    yomikiri_solver::main_with(yomikiri::games![KingAndRook::new(8)])
}
