//! Cheap estimate of a position, used to order moves and never in a proof.

use super::kernel::Kernel;
use super::shape::Shape;
use crate::game::othello::Board;

/// Evaluation by mobility, potential mobility, stable discs, corners and the squares next to empty
/// corners.
#[derive(Clone, Debug, Default)]
pub struct Evaluation;

// Weights of moves, moves into corners, empty squares next to the opponent, corners held, stable
// discs, and discs diagonally next to an empty corner.
const MOBILITY: i32 = 4;
const CORNER_MOVE: i32 = 4;
const POTENTIAL: i32 = 2;
const CORNER: i32 = 12;
const STABLE: i32 = 6;
const EXPOSED: i32 = 4;

/// Evaluation of one disc of the final score, roughly.
pub const DISC: i32 = 8;

impl Evaluation {
    /// Returns an estimate for the mover; larger is better, the unit is arbitrary.
    #[inline(always)]
    pub fn value<K: Kernel>(&self, kernel: K, shape: &Shape, board: Board) -> i32 {
        side(kernel, shape, board) - side(kernel, shape, board.swapped())
    }
}

/// Returns the mover's part of the estimate.
#[inline(always)]
fn side<K: Kernel>(kernel: K, shape: &Shape, board: Board) -> i32 {
    let empty = shape.empty(board);
    let exposed = around(empty & shape.corners) & shape.crosses;
    let moves = kernel.moves(board) & shape.board;
    MOBILITY * count(moves)
        + CORNER_MOVE * count(moves & shape.corners)
        + POTENTIAL * count(around(board.opponent) & empty)
        + CORNER * count(board.mover & shape.corners)
        + STABLE * count(shape.stable(board.mover, board.opponent))
        - EXPOSED * count(board.mover & exposed)
}

#[inline(always)]
fn count(set: u64) -> i32 {
    set.count_ones() as i32
}

/// Returns the squares next to a set, and some of the set.
#[inline(always)]
pub fn around(set: u64) -> u64 {
    let wide = set | (set << 1 & !0x0101_0101_0101_0101) | (set >> 1 & !0x8080_8080_8080_8080);
    wide | wide << 8 | wide >> 8
}
