//! Positions with many empty squares: transposition table, ordered moves, stability.

use super::evaluation::{DISC, around};
use super::kernel::{Kernel, Recursion};
use super::{SHALLOW, Search, WIDE, WORST};
use crate::games::othello::Board;
use crate::transposition::TranspositionEntry;

/// Minimum number of empty squares at which the children are looked up before any is searched.
const ETC_FROM: u32 = 10;

/// Weights of the move order, in units of [`DISC`] of the search by evaluation.
struct MoveOrder {
    /// Weight of the opponent's moves.
    mobility: i32,
    /// Weight of the opponent's moves into corners.
    corner_reply: i32,
    /// Weight of empty squares next to the mover's discs.
    potential: i32,
    /// Weight of a move into a region with an odd number of empty squares.
    parity: i32,
    /// Minimum number of empty squares at which a search by evaluation contributes.
    preview_from: u32,
    /// Plies of that search for every ten empty squares more.
    preview_slope: u32,
    /// Maximum number of plies of that search.
    preview_most: u32,
}

impl MoveOrder {
    const PLAIN: MoveOrder = MoveOrder {
        mobility: 16,
        corner_reply: 16,
        potential: 4,
        parity: 8,
        preview_from: 11,
        preview_slope: 3,
        preview_most: 5,
    };
    const TRAINED: MoveOrder = MoveOrder {
        mobility: 90,
        corner_reply: 60,
        potential: 4,
        parity: 16,
        preview_from: 12,
        preview_slope: 4,
        preview_most: 8,
    };
}

/// Legal move with its rank in the move order.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderedMove {
    child: Board,
    index: usize,
    square: u32,
    /// Rank; smaller is searched first.
    cost: i32,
}

impl<K: Kernel> Search<'_, K> {
    /// Searches a position with more than [`SHALLOW`] empty squares.
    #[inline(always)]
    pub(super) fn deep(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        self.kernel.call::<Deep, _, _>(self, board, (alpha, empties))
    }

    #[inline(always)]
    fn deep_here(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        self.nodes += 1;
        if self.must_stop(empties) {
            return alpha;
        }
        if let Some(upper) = self.stable_bound(board, alpha) {
            return upper;
        }
        let board = self.folded(board, empties);
        let table = self.table_for(empties);
        let index = table.index(board);
        let known = table.get(board, index).unwrap_or(TranspositionEntry::UNKNOWN);
        if known.lower > alpha {
            return known.lower;
        }
        if known.upper <= alpha {
            return known.upper;
        }
        let moves = self.kernel.moves(board) & self.shape.board;
        if moves == 0 {
            return self.pass(board, alpha, empties);
        }
        let start = self.moves.len();
        let (best, square) = self.best_move(board, alpha, empties, moves, known.best);
        self.moves.truncate(start);
        if self.stopped {
            return alpha;
        }
        let entry = if best > alpha {
            TranspositionEntry { lower: best, best: square, ..known }
        } else {
            TranspositionEntry { upper: best, best: square, ..known }
        };
        table.put(board, index, empties, entry);
        best
    }

    /// Returns the best score found and its move.
    #[inline(always)]
    fn best_move(
        &mut self,
        board: Board,
        alpha: i32,
        empties: u32,
        moves: u64,
        hint: u32,
    ) -> (i32, u32) {
        let start = self.moves.len();
        self.list_moves(board, empties, moves);
        if empties >= ETC_FROM
            && let Some(cut) = self.transposition_cut(start, alpha, empties)
        {
            return cut;
        }
        self.rate_moves(start, board, empties, hint);
        let (mut best, mut square) = (WORST, 64);
        for next in start..self.moves.len() {
            if next > start && next + 1 < self.moves.len() && self.can_split(empties) {
                return self.split_moves(next, alpha, empties, (best, square));
            }
            self.select(next);
            let OrderedMove { child, square: at, .. } = self.moves[next];
            let score = if empties - 1 > SHALLOW {
                -self.deep(child, -alpha - 1, empties - 1)
            } else {
                -self.shallow(child, -alpha - 1)
            };
            if self.stopped {
                break;
            }
            if score > best {
                (best, square) = (score, at);
                if score > alpha {
                    break;
                }
            }
        }
        (best, square)
    }

    /// Searches the remaining moves together with other threads.
    #[cold]
    fn split_moves(
        &mut self,
        next: usize,
        alpha: i32,
        empties: u32,
        best: (i32, u32),
    ) -> (i32, u32) {
        let Some(team) = self.team else {
            return best;
        };
        self.moves[next..].sort_by_key(|m| m.cost);
        let rest = self.moves[next..].iter().map(|m| (m.child, m.square)).collect();
        self.search_together(team, rest, alpha, empties, best)
    }

    #[inline(always)]
    fn list_moves(&mut self, board: Board, empties: u32, moves: u64) {
        let table = self.table_for(empties - 1);
        let mut rest = moves;
        while rest != 0 {
            let square = rest.trailing_zeros();
            rest &= rest - 1;
            let child = self.folded(self.play(board, square), empties - 1);
            let mut index = 0;
            if empties - 1 > SHALLOW {
                index = table.index(child);
                table.prefetch(index);
            }
            self.moves.push(OrderedMove { child, index, square, cost: 0 });
        }
    }

    /// Returns a move whose child has a known bound that gives a cut-off.
    #[inline(always)]
    fn transposition_cut(&self, start: usize, alpha: i32, empties: u32) -> Option<(i32, u32)> {
        if empties - 1 <= SHALLOW {
            return None;
        }
        let table = self.table_for(empties - 1);
        for m in &self.moves[start..] {
            if let Some(entry) = table.get(m.child, m.index)
                && -entry.upper > alpha
            {
                return Some((-entry.upper, m.square));
            }
        }
        None
    }

    #[inline(always)]
    fn rate_moves(&mut self, start: usize, board: Board, empties: u32, hint: u32) {
        let odd = self.shape.odd_regions(self.shape.empty(board));
        let order =
            if self.evaluation.is_trained() { &MoveOrder::TRAINED } else { &MoveOrder::PLAIN };
        for i in start..self.moves.len() {
            let OrderedMove { child, square, .. } = self.moves[i];
            self.moves[i].cost = if square == hint {
                i32::MIN
            } else {
                self.cost(child, order, empties) - order.parity * i32::from(odd >> square & 1 != 0)
            };
        }
    }

    /// Rates a move by its child, in which the opponent is to move; smaller is better.
    #[inline(always)]
    fn cost(&mut self, child: Board, order: &MoveOrder, empties: u32) -> i32 {
        let replies = self.kernel.moves(child) & self.shape.board;
        let open = around(child.opponent) & self.shape.empty(child);
        let mut cost = order.mobility * replies.count_ones() as i32;
        cost += order.corner_reply * (replies & self.shape.corners).count_ones() as i32;
        cost += order.potential * open.count_ones() as i32;
        if let Some(above) = empties.checked_sub(order.preview_from) {
            let depth = (above * order.preview_slope / 10).min(order.preview_most);
            cost += self.preview(child, depth, -WIDE, WIDE);
        }
        cost
    }

    /// Moves the cheapest of the remaining moves to index `next`.
    #[inline(always)]
    fn select(&mut self, next: usize) {
        let rest = &mut self.moves[next..];
        let mut least = 0;
        for i in 1..rest.len() {
            if rest[i].cost < rest[least].cost {
                least = i;
            }
        }
        rest.swap(0, least);
    }

    /// Returns the value of a search to `depth` plies by evaluation alone.
    #[inline(always)]
    pub(super) fn preview(&mut self, board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
        if depth == 0 {
            self.nodes += 1;
            return self.evaluation.value(self.kernel, board);
        }
        self.kernel.call::<Preview, _, _>(self, board, (depth, alpha, beta))
    }

    #[inline(always)]
    fn preview_here(&mut self, board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
        self.nodes += 1;
        let moves = self.kernel.moves(board) & self.shape.board;
        if moves == 0 {
            let passed = board.swapped();
            if self.kernel.moves(passed) & self.shape.board == 0 {
                let disc = if self.evaluation.is_trained() { DISC } else { PLAIN_FINAL };
                return self.shape.final_score(board) * disc;
            }
            return -self.preview(passed, depth - 1, -beta, -alpha);
        }
        let start = self.moves.len();
        self.list_preview(board, depth, moves);
        let mut best = -WIDE;
        for next in start..self.moves.len() {
            if depth > 1 {
                self.select(next);
            }
            let child = self.moves[next].child;
            best = best.max(-self.preview(child, depth - 1, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
        self.moves.truncate(start);
        best
    }

    /// Adds the moves of a position in a search by evaluation, rated if the depth justifies it.
    #[inline(always)]
    fn list_preview(&mut self, board: Board, depth: u32, moves: u64) {
        let mut rest = moves;
        while rest != 0 {
            let square = rest.trailing_zeros();
            rest &= rest - 1;
            let child = self.play(board, square);
            let cost = match depth {
                1 => 0,
                2 => (self.kernel.moves(child) & self.shape.board).count_ones() as i32,
                _ => self.evaluation.value(self.kernel, child),
            };
            self.moves.push(OrderedMove { child, index: 0, square, cost });
        }
    }

    /// Returns the representative of a board's symmetric images, near the start of a game.
    #[inline(always)]
    pub(super) fn folded(&self, board: Board, empties: u32) -> Board {
        if empties >= self.fold_from { self.shape.canonical(board) } else { board }
    }
}

struct Deep;

impl<K: Kernel> Recursion<Search<'_, K>, (i32, u32)> for Deep {
    #[inline(always)]
    fn run(search: &mut Search<K>, board: Board, (alpha, empties): (i32, u32)) -> i32 {
        search.deep_here(board, alpha, empties)
    }
}

struct Preview;

impl<K: Kernel> Recursion<Search<'_, K>, (u32, i32, i32)> for Preview {
    #[inline(always)]
    fn run(search: &mut Search<K>, board: Board, window: (u32, i32, i32)) -> i32 {
        let (depth, alpha, beta) = window;
        search.preview_here(board, depth, alpha, beta)
    }
}

/// Plain evaluation of one disc at the end of the game; more than [`DISC`], because it is certain.
const PLAIN_FINAL: i32 = 8 * DISC;
