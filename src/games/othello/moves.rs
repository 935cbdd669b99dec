//! Legal placements and the discs they turn, by shifts of whole boards.
//!
//! The opponent's discs next to one of the mover's are followed in one direction as far as they reach
//! (parallel prefix: two steps, then doubled steps); an empty square behind them is a placement.

use super::Board;

/// Masks of one board shape.
#[derive(Clone, Debug)]
pub(super) struct Flips {
    board: u64,
    /// Squares that a line along a row or a diagonal may pass: all but the first and the last column.
    inner: u64,
    /// `true` if a line can have more than two discs between its ends.
    long: bool,
}

impl Flips {
    pub(super) fn new(rows: usize, columns: usize) -> Flips {
        let row = (1u64 << columns) - 1;
        let inner_row = row & !1 & !(1 << (columns - 1));
        let repeat = |byte: u64| (0..rows).fold(0, |mask, r| mask | byte << (8 * r));
        Flips { board: repeat(row), inner: repeat(inner_row), long: rows.max(columns) > 4 }
    }

    /// Returns the empty squares on which the mover turns at least one disc.
    #[inline]
    pub(super) fn placements(&self, board: &Board) -> u64 {
        let Board { mover, opponent } = *board;
        let inner = opponent & self.inner;
        let mut reach = 0;
        for (shift, through) in [(1, inner), (7, inner), (8, opponent), (9, inner)] {
            reach |= run(mover, through, self.long, |x, n| x << (shift * n)) << shift;
            reach |= run(mover, through, self.long, |x, n| x >> (shift * n)) >> shift;
        }
        reach & self.board & !(mover | opponent)
    }

    /// Returns the board after a legal placement on `bit`, as the opponent sees it.
    #[inline]
    pub(super) fn place(&self, board: &Board, bit: u32) -> Board {
        let Board { mover, opponent } = *board;
        let placed = 1u64 << bit;
        let inner = opponent & self.inner;
        let mut turned = 0;
        for (shift, through) in [(1, inner), (7, inner), (8, opponent), (9, inner)] {
            let up = run(placed, through, self.long, |x, n| x << (shift * n));
            turned |= if (up << shift) & mover != 0 { up } else { 0 };
            let down = run(placed, through, self.long, |x, n| x >> (shift * n));
            turned |= if (down >> shift) & mover != 0 { down } else { 0 };
        }
        Board { mover: opponent ^ turned, opponent: mover | placed | turned }
    }
}

/// Returns the discs of `through` in an unbroken run that starts next to a disc of `from`. `step(x, n)`
/// shifts `x` by `n` squares in the direction of the run.
#[inline(always)]
fn run(from: u64, through: u64, long: bool, step: impl Fn(u64, u32) -> u64) -> u64 {
    let mut reached = through & step(from, 1);
    reached |= through & step(reached, 1);
    if long {
        let pairs = through & step(through, 1);
        reached |= pairs & step(reached, 2);
        reached |= pairs & step(reached, 2);
    }
    reached
}
