//! Positions with few empty squares: no table, moves ordered by parity.

use super::kernel::{Kernel, NEIGHBOURS, Recursion};
use super::{SHALLOW, Search, WORST};
use crate::games::othello::Board;

/// Minimum of alpha at which stable discs may give a cut-off.
const STABILITY_ALPHA: i32 = 4;

impl<K: Kernel> Search<'_, K> {
    /// Searches a position with [`SHALLOW`] empty squares.
    #[inline(always)]
    pub(super) fn shallow(&mut self, board: Board, alpha: i32) -> i32 {
        self.kernel.call::<Shallow, _, _>(self, board, alpha)
    }

    #[inline(always)]
    fn shallow_here(&mut self, board: Board, alpha: i32) -> i32 {
        self.nodes += 1;
        if let Some(upper) = self.stable_bound(board, alpha) {
            return upper;
        }
        let moves = self.kernel.moves(board) & self.shape.board;
        if moves == 0 {
            return self.pass(board, alpha, SHALLOW);
        }
        let odd = self.shape.odd_regions(self.shape.empty(board));
        let mut best = WORST;
        for part in [moves & odd, moves & !odd] {
            let mut rest = part;
            while rest != 0 {
                let square = rest.trailing_zeros();
                rest &= rest - 1;
                let child = self.play(board, square);
                let score = -self.last(child, -alpha - 1, SHALLOW - 1);
                if score > best {
                    best = score;
                    if score > alpha {
                        return score;
                    }
                }
            }
        }
        best
    }

    /// Returns an upper bound by the opponent's stable discs if it is at most `alpha`.
    #[inline(always)]
    pub(super) fn stable_bound(&self, board: Board, alpha: i32) -> Option<i32> {
        if alpha < STABILITY_ALPHA {
            return None;
        }
        let stable = self.shape.stable(board.opponent, board.mover).count_ones() as i32;
        let upper = self.shape.squares - 2 * stable;
        (upper <= alpha).then_some(upper)
    }

    /// Searches after a pass, or returns the score if the game is over.
    #[inline(never)]
    pub(super) fn pass(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        let passed = board.swapped();
        if self.kernel.moves(passed) & self.shape.board == 0 {
            return self.shape.final_score(board);
        }
        -self.search(passed, -alpha - 1, empties)
    }

    /// Searches a position with at most four empty squares.
    #[inline(always)]
    pub(super) fn last(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        self.kernel.call::<Last, _, _>(self, board, (alpha, empties))
    }

    #[inline(always)]
    fn last_here(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        let empty = self.shape.empty(board);
        let odd = self.shape.odd_regions(empty);
        let mut squares = [0; 4];
        let mut parts = [empty & odd, empty & !odd];
        for square in squares.iter_mut().take(empties as usize) {
            let part = if parts[0] != 0 { &mut parts[0] } else { &mut parts[1] };
            *square = part.trailing_zeros();
            *part &= *part - 1;
        }
        let [a, b, c, _] = squares;
        match empties {
            4 => self.last_four(board, alpha, squares),
            3 => self.last_three(board, alpha, [a, b, c]),
            2 => self.last_two(board, alpha, [a, b]),
            1 => self.last_one(board, a),
            _ => self.shape.final_score(board),
        }
    }

    #[inline(always)]
    fn last_four(&mut self, board: Board, alpha: i32, squares: [u32; 4]) -> i32 {
        let [a, b, c, d] = squares;
        let (mut side, mut alpha) = (board, alpha);
        for sign in [1, -1] {
            self.nodes += 1;
            let mut best = WORST;
            for (square, rest) in [(a, [b, c, d]), (b, [a, c, d]), (c, [a, b, d]), (d, [a, b, c])] {
                if let Some(child) = self.try_move(side, square) {
                    let score = -self.last_three(child, -alpha - 1, self.by_parity(rest));
                    best = best.max(score);
                    if score > alpha {
                        return sign * score;
                    }
                }
            }
            if best > WORST {
                return sign * best;
            }
            (side, alpha) = (side.swapped(), -alpha - 1);
        }
        self.shape.final_score(board)
    }

    /// Returns three squares, one alone in its region before a pair in another.
    #[inline(always)]
    fn by_parity(&self, [a, b, c]: [u32; 3]) -> [u32; 3] {
        let region = |square: u32| self.shape.region_of[square as usize & 63];
        match (region(a) == region(b), region(a) == region(c)) {
            (true, false) => [c, a, b],
            (false, true) => [b, a, c],
            _ => [a, b, c],
        }
    }

    #[inline(always)]
    fn last_three(&mut self, board: Board, alpha: i32, squares: [u32; 3]) -> i32 {
        let [a, b, c] = squares;
        let (mut side, mut alpha) = (board, alpha);
        for sign in [1, -1] {
            self.nodes += 1;
            let mut best = WORST;
            for (square, rest) in [(a, [b, c]), (b, [a, c]), (c, [a, b])] {
                if let Some(child) = self.try_move(side, square) {
                    let score = -self.last_two(child, -alpha - 1, rest);
                    best = best.max(score);
                    if score > alpha {
                        return sign * score;
                    }
                }
            }
            if best > WORST {
                return sign * best;
            }
            (side, alpha) = (side.swapped(), -alpha - 1);
        }
        self.shape.final_score(board)
    }

    #[inline(always)]
    fn last_two(&mut self, board: Board, alpha: i32, squares: [u32; 2]) -> i32 {
        let [a, b] = squares;
        let (mut side, mut alpha) = (board, alpha);
        for sign in [1, -1] {
            self.nodes += 1;
            let mut best = WORST;
            for (square, rest) in [(a, b), (b, a)] {
                if let Some(child) = self.try_move(side, square) {
                    let score = -self.last_one(child, rest);
                    best = best.max(score);
                    if score > alpha {
                        return sign * score;
                    }
                }
            }
            if best > WORST {
                return sign * best;
            }
            (side, alpha) = (side.swapped(), -alpha - 1);
        }
        self.shape.final_score(board)
    }

    /// Returns the score of a position with one empty square.
    #[inline(always)]
    fn last_one(&mut self, board: Board, square: u32) -> i32 {
        let Board { mover, opponent } = board;
        let own = mover.count_ones() as i32;
        let turned = self.kernel.last_flips(square, mover, opponent);
        if turned != 0 {
            return 2 * (own + 1 + turned) - self.shape.squares;
        }
        let lost = self.kernel.last_flips(square, opponent, mover);
        if lost != 0 {
            return 2 * (own - lost) - self.shape.squares;
        }
        self.shape.final_score(board)
    }

    /// Plays on a square if that turns at least one disc.
    #[inline(always)]
    fn try_move(&self, board: Board, square: u32) -> Option<Board> {
        if NEIGHBOURS[square as usize & 63] & board.opponent == 0 {
            return None;
        }
        let turned = self.kernel.flips(square, board);
        let child =
            Board { mover: board.opponent ^ turned, opponent: board.mover | turned | 1 << square };
        (turned != 0).then_some(child)
    }
}

struct Shallow;

impl<K: Kernel> Recursion<Search<'_, K>, i32> for Shallow {
    #[inline(always)]
    fn run(search: &mut Search<K>, board: Board, alpha: i32) -> i32 {
        search.shallow_here(board, alpha)
    }
}

struct Last;

impl<K: Kernel> Recursion<Search<'_, K>, (i32, u32)> for Last {
    #[inline(always)]
    fn run(search: &mut Search<K>, board: Board, (alpha, empties): (i32, u32)) -> i32 {
        search.last_here(board, alpha, empties)
    }
}
