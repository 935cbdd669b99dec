//! Four in a row (Connect Four), a game that ranks its positions: its tables contain neither keys nor moves.
//!
//!     cargo run --release --example ranked_four -- report --game ranked-four-4x5
//!     cargo run --release --example ranked_four -- enumerate --game ranked-four-5x5
//!
//! Discs fall to the lowest free square of a column; four in a line win. On five columns of four squares it
//! is a draw (J. Tromp, John's Connect Four Playground).

use std::process::ExitCode;

use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{Action, Facts, Game, Group, MoveSquares, Outcome, Position, Side, Symmetry};

/// Rules on a board of at most 32 squares; squares are numbered `row * columns + column`, the top row first.
pub struct RankedFour {
    rows: usize,
    columns: usize,
    lines: Vec<u64>,
    group: Group,
    /// Pascal's triangle.
    choose: Vec<Vec<u64>>,
    /// Number of ways to fill columns: `ways[columns][discs]`.
    ways: Vec<Vec<u64>>,
    /// First rank of every number of discs, and the number of ranks.
    firsts: Vec<u64>,
}

/// Discs of the mover and of the opponent.
pub type Board = (u64, u64);

fn squares(set: u64) -> impl DoubleEndedIterator<Item = usize> {
    (0..32).filter(move |square| set >> square & 1 == 1)
}

impl RankedFour {
    /// Makes the rules of a board.
    pub fn new(rows: usize, columns: usize) -> RankedFour {
        let mut lines = Vec::new();
        for (square, (down, right)) in
            (0..rows * columns).flat_map(|at| [(0, 1), (1, 0), (1, 1), (1, -1)].map(|to| (at, to)))
        {
            let (row, column) = ((square / columns) as isize, (square % columns) as isize);
            let line = (0..4).map(|step| (row + step * down, column + step * right));
            let within = |&(row, column): &(isize, isize)| {
                (0..rows as isize).contains(&row) && (0..columns as isize).contains(&column)
            };
            if line.clone().all(|square| within(&square)) {
                lines.push(line.map(|(row, column)| 1 << (row * columns as isize + column)).sum());
            }
        }
        let most = rows * columns;
        let mut choose = vec![vec![0; most + 2]; most + 1];
        let mut ways = vec![vec![0; most + 1]; columns + 1];
        (choose[0][0], ways[0][0]) = (1, 1);
        for n in 1..=most {
            choose[n][0] = 1;
            (1..=n).for_each(|k| choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k]);
        }
        for column in 1..=columns {
            for discs in 0..=most {
                ways[column][discs] =
                    (0..=rows.min(discs)).map(|own| ways[column - 1][discs - own]).sum();
            }
        }
        let mut firsts = vec![0];
        (0..=most).for_each(|discs| {
            firsts.push(firsts[discs] + ways[columns][discs] * choose[discs][discs / 2])
        });
        assert!(
            most <= 32 && firsts[most + 1] <= u32::MAX.into(),
            "{rows}x{columns} has too many positions"
        );
        RankedFour { rows, columns, lines, group: Group::mirror(), choose, ways, firsts }
    }

    /// Returns the lowest squares of a column, `height` of them.
    fn lowest(&self, column: usize, height: usize) -> u64 {
        (self.rows - height..self.rows).map(|row| 1 << (row * self.columns + column)).sum()
    }

    fn height(&self, column: usize, discs: u64) -> usize {
        (discs & self.lowest(column, self.rows)).count_ones() as usize
    }

    /// Returns the number of positions that come before: those with fewer discs, with lower columns, or with
    /// the same squares and other discs of the mover.
    fn number(&self, &(mine, theirs): &Board) -> u32 {
        let occupied = mine | theirs;
        let discs = occupied.count_ones() as usize;
        let (mut shape, mut left) = (0, discs);
        for column in 0..self.columns {
            let (height, ways) =
                (self.height(column, occupied), &self.ways[self.columns - 1 - column]);
            shape += (0..height).map(|lower| ways[left - lower]).sum::<u64>();
            left -= height;
        }
        let own = squares(occupied).enumerate().filter(|(_, square)| mine >> square & 1 == 1);
        let colours: u64 = own.zip(1..).map(|((place, _), disc)| self.choose[place][disc]).sum();
        (self.firsts[discs] + shape * self.choose[discs][discs / 2] + colours) as u32
    }
}

impl Game for RankedFour {
    type State = Board;

    fn name(&self) -> String {
        format!("ranked-four-{}x{}", self.rows, self.columns)
    }
    fn start(&self) -> Position<Board> {
        Position { state: (0, 0), side: Side::First }
    }
    /// An action is the index of a column.
    fn action_count(&self) -> usize {
        self.columns
    }
    fn moves(&self, state: &Board, mut each: impl FnMut(Action, Board)) {
        let (&(mine, theirs), occupied) = (state, state.0 | state.1);
        let columns = if self.result(state).is_some() { 0 } else { self.columns };
        for column in (0..columns).filter(|column| occupied >> column & 1 == 0) {
            let fallen = self.lowest(column, self.height(column, occupied) + 1) & !occupied;
            each(Action(column as u16), (theirs, mine | fallen));
        }
    }
    fn result(&self, &(mine, theirs): &Board) -> Option<Outcome> {
        let lost = self.lines.iter().any(|line| theirs & line == *line);
        let full = (mine | theirs).count_ones() as usize == self.rows * self.columns;
        if lost { Some(Outcome::Loss) } else { full.then_some(Outcome::Draw) }
    }
    fn key(&self, &(mine, theirs): &Board) -> u128 {
        u128::from(mine << 32 | theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        let key = u64::try_from(key).ok()?;
        let (mine, theirs) = (key >> 32, key & 0xffff_ffff);
        let fallen = |column| self.lowest(column, self.height(column, mine | theirs));
        let occupied = (0..self.columns).map(fallen).sum::<u64>();
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        (mine & theirs == 0 && mine | theirs == occupied && in_turn).then_some((mine, theirs))
    }
    // The rest is optional.
    fn facts(&self) -> Facts {
        Facts { shape: (self.rows, self.columns), ..Facts::default() }
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        &self.group
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        Action(map_square(symmetry, (0, usize::from(action.0)), self.rows, self.columns).1 as u16)
    }

    // ---- the board ----
    fn squares(&self, &state: &Board) -> Option<Board> {
        Some(state)
    }
    fn of_squares(&self, mine: u64, theirs: u64) -> Option<Board> {
        self.state(self.key(&(mine, theirs))).filter(|found| *found == (mine, theirs))
    }

    // ---- drawing ----
    /// An action names a column rather than a square.
    fn move_squares(&self, _position: &Position<Board>, _action: Action) -> MoveSquares {
        MoveSquares::default()
    }

    // ---- layers ----
    fn layer_unit(&self) -> Option<&'static str> {
        Some("discs")
    }
    fn layer(&self, &(mine, theirs): &Board) -> u32 {
        (mine | theirs).count_ones()
    }

    // ---- ranks ----
    fn rank_count(&self) -> Option<u32> {
        Some(self.firsts[self.firsts.len() - 1] as u32)
    }
    /// Returns the smaller number of a position and its mirror image; the larger one is unused as a rank.
    fn rank(&self, state: &Board) -> Option<u32> {
        Some(self.number(state).min(self.number(&self.transform(state, 1))))
    }
    fn state_of_rank(&self, rank: u32) -> Option<Board> {
        let discs = self.firsts.partition_point(|&first| first <= rank.into()) - 1;
        let (below, of_shape) =
            (u64::from(rank) - self.firsts[discs], *self.choose.get(discs)?.get(discs / 2)?);
        let (mut shape, mut colours) = (below / of_shape, below % of_shape);
        let (mut occupied, mut left) = (0, discs);
        for column in 0..self.columns {
            let ways = &self.ways[self.columns - 1 - column];
            let mut height = 0;
            while shape >= ways[left - height] {
                shape -= ways[left - height];
                height += 1;
            }
            occupied |= self.lowest(column, height);
            left -= height;
        }
        let (mut mine, mut own) = (0, discs / 2);
        for (square, place) in squares(occupied).rev().zip((0..discs).rev()) {
            if colours >= self.choose[place][own] {
                colours -= self.choose[place][own];
                mine |= 1 << square;
                own -= 1;
            }
        }
        Some((mine, occupied & !mine))
    }
}

fn main() -> ExitCode {
    let sizes = [(4, 5), (4, 4), (5, 4), (4, 6), (5, 5)];
    yomikiri_solver::main_with(
        sizes.map(|(rows, columns)| RankedFour::new(rows, columns).into_rules()).into(),
    )
}
