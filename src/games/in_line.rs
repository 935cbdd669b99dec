//! Boards on which stones in a line win: sets of squares, lines, and drawn boards.
//!
//! Sets are bits of a grid in which an empty line lies between two neighbouring columns (or rows), so that no
//! shifted set wraps around an edge: a line is found by a few shifts, without masks (John Tromp, *The Fhourstones
//! benchmark*).

use std::borrow::Cow;

use crate::error::Error;
use crate::rules::{ExpectedStates, MoveText, Outcome, Position, Side};

/// Stones on a board as the mover sees them, as bits of the game's grid; the two sets are disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stones {
    /// The mover's stones.
    pub mover: u64,
    /// The opponent's stones.
    pub opponent: u64,
}

impl Stones {
    /// Returns the occupied squares.
    #[inline]
    pub fn occupied(&self) -> u64 {
        self.mover | self.opponent
    }

    /// Returns the side to move, who has as many stones as the other, or one less: the first player has the first stone.
    /// `None` for any other numbers.
    pub(super) fn side(&self) -> Option<Side> {
        let [own, other] = [self.mover, self.opponent].map(u64::count_ones);
        match other.checked_sub(own) {
            Some(0) => Some(Side::First),
            Some(1) => Some(Side::Second),
            _ => None,
        }
    }
}

/// Board of some shape, on which `length` stones in a line win.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Rows and columns.
    pub(super) shape: (usize, usize),
    /// Stones in a winning line.
    pub(super) length: usize,
    /// Steps between neighbours in the four directions.
    steps: [u32; 4],
    /// Bit of each square, row by row from the top left.
    bits: Vec<u32>,
    /// Bits of all squares.
    pub(super) all: u64,
}

impl Grid {
    /// Makes a board whose square (row, column) is the bit `bit_of(row, column)`. Neighbours in one direction are `stride`
    /// bits apart, those in the other one bit.
    pub(super) fn new(
        (rows, columns): (usize, usize),
        length: usize,
        stride: u32,
        bit_of: impl Fn(usize, usize) -> u32,
    ) -> Grid {
        let squares = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let bits: Vec<u32> = squares.map(|(row, column)| bit_of(row, column)).collect();
        let all = bits.iter().map(|bit| 1 << bit).sum();
        Grid {
            shape: (rows, columns),
            length,
            steps: [1, stride - 1, stride, stride + 1],
            bits,
            all,
        }
    }

    /// Makes a board whose squares follow each other row by row.
    pub(super) fn by_rows((rows, columns): (usize, usize), length: usize) -> Grid {
        let stride = columns as u32 + 1;
        Grid::new((rows, columns), length, stride, |row, column| {
            row as u32 * stride + column as u32
        })
    }

    /// Returns whether stones of one side have a line.
    #[inline]
    pub(super) fn has_line(&self, stones: u64) -> bool {
        self.steps
            .iter()
            .any(|step| (1..self.length).fold(stones, |lines, _| lines & (lines >> step)) != 0)
    }

    /// Returns the result for the mover: a line of the opponent's wins, and a full board without one is a draw.
    #[inline]
    pub(super) fn result(&self, stones: &Stones) -> Option<Outcome> {
        match self.has_line(stones.opponent) {
            true => Some(Outcome::Loss),
            false => (stones.occupied() == self.all).then_some(Outcome::Draw),
        }
    }

    /// Returns the number of squares.
    pub(super) fn count(&self) -> u32 {
        self.bits.len() as u32
    }

    /// Returns the bits of the squares, row by row.
    pub(super) fn bits(&self) -> impl Iterator<Item = u32> {
        self.bits.iter().copied()
    }

    /// Bounds the states reachable from a root from above, by placing stones in turn as if no line ended the game.
    /// `shapes` is the number of sets of squares with so many stones.
    pub(super) fn at_most(
        &self,
        root: &Stones,
        (order, moves): (usize, f64),
        shapes: impl Fn(u32) -> f64,
    ) -> ExpectedStates {
        let placed = root.occupied().count_ones();
        let states = (placed..=self.count())
            .map(|stones| shapes(stones) * choices(stones - placed, (stones - placed) / 2));
        ExpectedStates { states: states.sum::<f64>() / order as f64, moves, exact: false }
    }

    /// Packs a set row by row.
    #[inline]
    pub(super) fn packed(&self, set: u64) -> u64 {
        self.bits.iter().zip(0..).map(|(bit, square)| (set >> bit & 1) << square).sum()
    }

    /// Returns the set of squares that are packed row by row.
    #[inline]
    pub(super) fn spread(&self, packed: u64) -> u64 {
        self.bits.iter().zip(0..).map(|(bit, square)| (packed >> square & 1) << bit).sum()
    }

    /// Returns stones if they lie on the board without sharing squares, it is the mover's turn, and the mover has no
    /// line, which would have ended the game.
    pub(super) fn checked(&self, stones: Stones) -> Option<Stones> {
        let Stones { mover, opponent } = stones;
        let is_possible = mover & opponent == 0
            && stones.occupied() & !self.all == 0
            && stones.side().is_some()
            && !self.has_line(mover);
        is_possible.then_some(stones)
    }

    /// Returns the stones of squares that are packed row by row, if they are [possible](Grid::checked).
    pub(super) fn stones_of(&self, mover: u64, opponent: u64) -> Option<Stones> {
        let squares = u64::MAX >> (64 - self.bits.len());
        let fits = (mover | opponent) & !squares == 0 && mover & opponent == 0;
        let [mover, opponent] = [mover, opponent].map(|packed| self.spread(packed));
        self.checked(Stones { mover, opponent }).filter(|_| fits)
    }

    /// Writes the squares row by row, each as one of the signs for empty, the first player and the second.
    fn signs(&self, stones: &Stones, [empty, first, second]: [char; 3]) -> String {
        let (mover, opponent) = match stones.side() {
            Some(Side::Second) => (second, first),
            _ => (first, second),
        };
        let sign = |bit: &u32| match (stones.mover >> bit & 1, stones.opponent >> bit & 1) {
            (1, _) => mover,
            (_, 1) => opponent,
            _ => empty,
        };
        self.bits.iter().map(sign).collect()
    }

    /// Writes a position in its one-line notations: `X`, `O` and `.`, and the same as digits.
    pub(super) fn written(&self, stones: &Stones) -> Vec<(&'static str, String)> {
        vec![
            ("board", self.signs(stones, ['.', 'X', 'O'])),
            ("digits", self.signs(stones, ['0', '1', '2'])),
        ]
    }

    /// Reads a drawn board: its squares row by row from the top, `.`, `-`, `_` or `0` empty, `X`, `x` or `1` the first
    /// player's, `O`, `o` or `2` the second's, with any breaks, frames, names of rows and columns, and `… to move` behind.
    /// `None` if the text is none; an error if it is meant as one and no position has it.
    pub(super) fn read(
        &self,
        text: &str,
        names: [&'static str; 2],
    ) -> Result<Option<Position<Stones>>, Error> {
        // A move number, `1. 4`.
        let unnumbered = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        if unnumbered.len() < text.trim_start().len() && unnumbered.starts_with(". ") {
            return Ok(None);
        }
        let (rows, columns) = self.shape;
        let lists: Vec<usize> = text.split('[').map(|list| list.split(',').count()).collect();
        if rows != columns && lists.len() == columns + 2 && lists[2..].iter().all(|n| *n >= rows) {
            let what = "invalid board: a list of columns";
            return Err(Error::new(what, "write rows from the top, as Kaggle and PettingZoo do"));
        }
        let (mut squares, mut mover) = (String::new(), None);
        for line in text.split(['\n', '/']) {
            if let Some(who) = line.trim().strip_suffix(" to move") {
                // Drawings have the player's mark behind the name.
                let who = who.split(" (").next().unwrap_or(who);
                let named = Side::ALL.into_iter().find(|side| names[side.index()] == who);
                let [first, second] = names;
                let hint = format!("expected {first} or {second}");
                mover =
                    Some(named.ok_or_else(|| {
                        Error::new(format!("invalid side to move `{who}`"), hint)
                    })?);
                continue;
            }
            let is_frame = |c: char| c.is_whitespace() || "|[],+".contains(c);
            let cells: String = line.chars().filter(|&c| !is_frame(c)).collect();
            let are_names = |first: char| cells.chars().eq((first..).take(self.shape.1));
            let begins_with_row = || {
                let (row, rest) = cells.split_at_checked(1)?;
                let is_row = row.parse::<usize>().is_ok() && rest.len() == self.shape.1;
                (is_row && !rest.contains(|c: char| c.is_ascii_digit())).then_some(rest)
            };
            if !['a', 'A', '1'].into_iter().any(are_names) {
                squares += begins_with_row().unwrap_or(&cells);
            }
        }
        let is_sign = |c: char| "XxOo12.-_0".contains(c);
        let has_digits = squares.contains(|c: char| c.is_ascii_digit());
        // Moves with marks, `x3 o3`.
        if has_digits && squares.contains(['X', 'x', 'O', 'o']) {
            return Ok(None);
        }
        let is_meant = squares.contains(['.', '_']) || mover.is_some() || text.contains('|');
        let count = self.bits.len();
        if squares.chars().count() != count || !squares.chars().all(is_sign) {
            if !is_meant && (has_digits || !squares.chars().all(is_sign) || squares.is_empty()) {
                return Ok(None);
            }
            let what = match squares.chars().find(|&c| !is_sign(c)) {
                Some(sign) => format!("invalid board: `{sign}` on a square"),
                None => format!("invalid board: {} squares", squares.len()),
            };
            let hint = format!(
                "expected {count}, {rows} rows of {columns} from the top: . free, X {}, O {}",
                names[0], names[1]
            );
            return Err(Error::new(what, hint));
        }
        let [mut first, mut second] = [0, 0];
        for (sign, bit) in squares.chars().zip(&self.bits) {
            match sign {
                'X' | 'x' | '1' => first |= 1 << bit,
                'O' | 'o' | '2' => second |= 1 << bit,
                _ => {}
            }
        }
        let as_first = Stones { mover: first, opponent: second };
        let side = match as_first.side() {
            Some(Side::First) => Side::First,
            _ => Side::Second,
        };
        let state = match side {
            Side::First => as_first,
            Side::Second => Stones { mover: second, opponent: first },
        };
        if state.side() != Some(side) {
            let [xs, os] = [first, second].map(u64::count_ones);
            let what = format!("invalid board: {xs} X and {os} O");
            return Err(Error::new(what, "X begins: expected as many X as O, or one more"));
        }
        if let Some(named) = mover.filter(|named| *named != side) {
            let [named, right] = [named, side].map(|side| names[side.index()]);
            let what = format!("invalid board: {named} to move");
            return Err(Error::new(what, format!("by the number of marks {right} is to move")));
        }
        match self.checked(state) {
            Some(state) => Ok(Some(Position { state, side })),
            None => {
                let what = "invalid board: no game leads to it";
                Err(Error::new(what, "expected at most one line, of the player who moved last"))
            }
        }
    }

    /// Returns the move `x(0,2)` of OpenSpiel, row and column from 0, as the name of its square; any other stays.
    pub(super) fn named_square<'t>(&self, word: &MoveText<'t>) -> MoveText<'t> {
        let marked = unmarked(word);
        let square = marked.text.strip_prefix('(').and_then(|text| {
            let (row, column) = text.strip_suffix(')')?.split_once(',')?;
            let number = |text: &str, most| text.parse::<usize>().ok().filter(|n| *n < most);
            let (row, column) = (number(row, self.shape.0)?, number(column, self.shape.1)?);
            Some(format!("{}{}", char::from(b'a' + column as u8), row + 1))
        });
        match square {
            Some(square) => MoveText { text: Cow::Owned(square), ..marked },
            None => word.clone(),
        }
    }
}

/// Returns a move without the mark before it: `x3` or `X3`, and the side that the mark names.
pub(super) fn unmarked<'t>(word: &MoveText<'t>) -> MoveText<'t> {
    let side = match word.text.as_bytes().first() {
        Some(b'x' | b'X') => Side::First,
        Some(b'o' | b'O') => Side::Second,
        _ => return word.clone(),
    };
    MoveText { side: Some(side), ..word.part(1, word.text.len()) }
}

/// Returns the number of ways to choose `some` of `all`.
pub(super) fn choices(all: u32, some: u32) -> f64 {
    (1..=some).map(|at| f64::from(all - some + at) / f64::from(at)).product()
}
