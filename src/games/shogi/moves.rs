//! Moves on a board: targets of pieces, attacks, and legal moves.
//!
//! The mover's moves are generated piece by piece as bit sets of target squares, from tables of steps and of
//! rays. While the king is not in check, only moves of the king or of a piece that shields it from a sliding
//! piece can leave it attacked, so few moves have to be tried out.

use super::board::{Board, Cell, Owner};
use super::variant::{Directions, Ending, MAX_KINDS, MAX_SQUARES, Promotion, Variant};
use crate::bits::ones_of;

/// Set of squares, one bit each.
pub(super) type Squares = u32;

/// Move as the mover sees the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Move of a piece from one square to another, with or without promotion.
    Board { from: u8, to: u8, promotes: bool },
    /// Drop of a piece from the hand.
    Drop { kind: u8, to: u8 },
}

/// Squares in one direction, the nearest first.
#[derive(Clone, Copy, Debug, Default)]
struct Ray {
    length: u8,
    squares: [u8; 4],
}

impl Ray {
    #[inline]
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.squares[..usize::from(self.length)].iter().map(|&square| usize::from(square))
    }
}

/// Geometry of the board for the pieces of a variant.
#[derive(Clone, Debug)]
pub(super) struct PieceMoves {
    variant: Variant,
    squares: usize,
    rays: [[Ray; 8]; MAX_SQUARES],
    /// Target squares of the mover's steps, by kind and square.
    steps: [[Squares; MAX_SQUARES]; MAX_KINDS],
    /// Directions from which a piece steps to a square, by the code of its cell: bit `d` is set if a piece
    /// that is in direction `d` as seen from the square steps to it.
    steps_from: [Directions; 32],
    /// Directions from which a piece slides to a square.
    slides_from: [Directions; 32],
    /// Last row, where the mover's pieces promote, and the row nearest to the mover.
    far_row: Squares,
    home_row: Squares,
}

/// Returns the opposite directions.
fn reversed(directions: Directions) -> Directions {
    directions.rotate_left(4)
}

impl PieceMoves {
    pub(super) fn new(variant: &Variant) -> PieceMoves {
        let (rows, columns) = (variant.rows, variant.columns);
        let mut rays = [[Ray::default(); 8]; MAX_SQUARES];
        const TOWARDS: [(isize, isize); 8] =
            [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];
        for (square, of_square) in rays.iter_mut().enumerate().take(rows * columns) {
            for (ray, (down, right)) in of_square.iter_mut().zip(TOWARDS) {
                let (mut row, mut column) = (square / columns, square % columns);
                while let (Some(r), Some(c)) =
                    (row.checked_add_signed(down), column.checked_add_signed(right))
                    && r < rows
                    && c < columns
                {
                    (row, column) = (r, c);
                    ray.squares[usize::from(ray.length)] = (r * columns + c) as u8;
                    ray.length += 1;
                }
            }
        }
        let mut steps = [[0; MAX_SQUARES]; MAX_KINDS];
        let (mut steps_from, mut slides_from) = ([0; 32], [0; 32]);
        for (index, kind) in variant.kinds.iter().enumerate() {
            for (square, targets) in steps[index].iter_mut().enumerate() {
                let reached = directions(kind.steps).filter_map(|d| rays[square][d].iter().next());
                *targets = reached.fold(0, |set, target| set | 1 << target);
            }
            // Seen from its target, the mover's piece is in the opposite direction of its move; the
            // opponent's is rotated once more.
            let (own, other) = (Cell::of(Owner::Mover, index), Cell::of(Owner::Opponent, index));
            steps_from[usize::from(own.0)] = reversed(kind.steps);
            slides_from[usize::from(own.0)] = reversed(kind.slides);
            steps_from[usize::from(other.0)] = kind.steps;
            slides_from[usize::from(other.0)] = kind.slides;
        }
        let row = (1 << columns) - 1;
        PieceMoves {
            variant: *variant,
            squares: rows * columns,
            rays,
            steps,
            steps_from,
            slides_from,
            far_row: row,
            home_row: row << ((rows - 1) * columns),
        }
    }

    /// Returns the variant.
    pub(super) fn variant(&self) -> &Variant {
        &self.variant
    }

    /// Returns `true` if a piece of `owner` could capture on `square`.
    pub(super) fn is_attacked(&self, board: &Board, square: usize, owner: Owner) -> bool {
        (0..8).any(|direction| self.attacker(board, square, owner, direction))
    }

    /// Returns `true` if the first piece in a direction belongs to `owner` and moves to `square`.
    #[inline]
    fn attacker(&self, board: &Board, square: usize, owner: Owner, direction: usize) -> bool {
        let bit = 1 << direction;
        for (distance, seen) in self.rays[square][direction].iter().enumerate() {
            let cell = board.cells[seen];
            if cell.is_empty() {
                continue;
            }
            let code = usize::from(cell.0);
            let steps = if distance == 0 { self.steps_from[code] } else { 0 };
            return (steps | self.slides_from[code]) & bit != 0
                && cell.is_opponents() == (owner == Owner::Opponent);
        }
        false
    }

    /// Returns `true` if the player's king is on the board and attacked.
    pub(super) fn in_check(&self, board: &Board, owner: Owner) -> bool {
        board.king(owner).is_some_and(|king| self.is_attacked(board, king, owner.other()))
    }

    /// Returns the mover's pieces that shield their king from a sliding piece.
    fn shields(&self, board: &Board, king: usize) -> Squares {
        let mut shields = 0;
        for (direction, ray) in self.rays[king].iter().enumerate() {
            let mut seen = ray.iter().filter(|&square| !board.cells[square].is_empty());
            let (Some(first), Some(second)) = (seen.next(), seen.next()) else { continue };
            let cell = board.cells[second];
            let slides = self.slides_from[usize::from(cell.0)] >> direction & 1 == 1;
            if board.cells[first].is_movers() && cell.is_opponents() && slides {
                shields |= 1 << first;
            }
        }
        shields
    }

    /// Returns the squares that the mover's piece on `from` attacks or defends.
    #[inline]
    fn targets(&self, board: &Board, from: usize, kind: usize) -> Squares {
        let mut targets = self.steps[kind][from];
        for direction in directions(self.variant.kinds[kind].slides) {
            for square in self.rays[from][direction].iter() {
                targets |= 1 << square;
                if !board.cells[square].is_empty() {
                    break;
                }
            }
        }
        targets
    }

    /// Returns the squares that the piece on `from`, of either owner, attacks or defends; none if there is no
    /// piece.
    pub(super) fn attacks(&self, board: &Board, from: usize) -> Squares {
        let Some((owner, kind)) = board.cells[from].piece() else { return 0 };
        if owner == Owner::Mover {
            return self.targets(board, from, kind);
        }
        // Steps on the rotated board, rotated back.
        let turned = self.steps[kind][self.squares - 1 - from];
        let mut targets = turned.reverse_bits() >> (Squares::BITS as usize - self.squares);
        for direction in directions(reversed(self.variant.kinds[kind].slides)) {
            for square in self.rays[from][direction].iter() {
                targets |= 1 << square;
                if !board.cells[square].is_empty() {
                    break;
                }
            }
        }
        targets
    }

    /// Returns the result by capture or try of a king: `Some(true)` if the mover has won, `Some(false)` if
    /// the mover has lost. Mates are not detected.
    pub(super) fn king_rule(&self, board: &Board) -> Option<bool> {
        if self.variant.ending == Ending::Mate {
            return None;
        }
        let Some(theirs) = board.king(Owner::Opponent) else { return Some(true) };
        let Some(own) = board.king(Owner::Mover) else { return Some(false) };
        let capturable = self.is_attacked(board, theirs, Owner::Mover);
        match self.variant.ending {
            Ending::Mate => None,
            Ending::Adjudicated if capturable => Some(true),
            _ if self.home_row >> theirs & 1 == 1 && !capturable => Some(false),
            Ending::Adjudicated => None,
            Ending::Played => {
                let safe = !self.is_attacked(board, own, Owner::Opponent);
                (self.far_row >> own & 1 == 1 && safe).then_some(true)
            }
        }
    }

    /// Calls `visit` with the mover's legal moves in ascending order of their actions until it returns
    /// `true`; returns `true` if it did.
    pub(super) fn visit(&self, board: &Board, visit: impl FnMut(Move) -> bool) -> bool {
        self.king_rule(board).is_none() && self.visit_undecided(board, visit)
    }

    /// [`PieceMoves::visit`] for a board on which [`PieceMoves::king_rule`] returned `None`.
    pub(super) fn visit_undecided(
        &self,
        board: &Board,
        mut visit: impl FnMut(Move) -> bool,
    ) -> bool {
        let mate = self.variant.ending == Ending::Mate;
        let king = board.king(Owner::Mover).unwrap_or(MAX_SQUARES);
        let checked = mate && self.in_check(board, Owner::Mover);
        let shields = if mate && king < MAX_SQUARES { self.shields(board, king) } else { 0 };
        let mut own = 0;
        let mut empty = 0;
        for (square, cell) in board.cells[..self.squares].iter().enumerate() {
            own |= Squares::from(cell.is_movers()) << square;
            empty |= Squares::from(cell.is_empty()) << square;
        }
        for from in ones_of(own) {
            let kind = board.cells[from].kind();
            let doubtful = mate && (checked || from == king || shields >> from & 1 == 1);
            for to in ones_of(self.targets(board, from, kind) & !own) {
                if doubtful && !self.leaves_king_safe(board, from, to) {
                    continue;
                }
                let (plain, promoting) = self.promotions(kind, from, to);
                for (promotes, allowed) in [(false, plain), (true, promoting)] {
                    let (from, to) = (from as u8, to as u8);
                    if allowed && visit(Move::Board { from, to, promotes }) {
                        return true;
                    }
                }
            }
        }
        for kind in 1..=self.variant.hand_kinds() {
            if board.hands[0][kind - 1] == 0 {
                continue;
            }
            for to in ones_of(self.droppable(board, kind, empty)) {
                let drop = Move::Drop { kind: kind as u8, to: to as u8 };
                let unblocked = checked && !self.drop_leaves_king_safe(board, kind, to);
                if unblocked || self.is_forbidden_mate(board, kind, to) {
                    continue;
                }
                if visit(drop) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether the move is allowed without promotion, and with it.
    fn promotions(&self, kind: usize, from: usize, to: usize) -> (bool, bool) {
        if self.variant.kinds[kind].promotes_to.is_none() {
            return (true, false);
        }
        let enters = self.far_row >> to & 1 == 1;
        match self.variant.promotion {
            Promotion::Forced => (!enters, enters),
            Promotion::Chosen => {
                let stuck = enters && self.is_stuck(kind, to);
                (!stuck, enters || self.far_row >> from & 1 == 1)
            }
        }
    }

    /// Returns `true` if a piece of the mover could never move from a square.
    pub(super) fn is_stuck(&self, kind: usize, square: usize) -> bool {
        let slides = directions(self.variant.kinds[kind].slides);
        self.steps[kind][square] == 0
            && slides.into_iter().all(|direction| self.rays[square][direction].length == 0)
    }

    /// Returns the empty squares on which the mover may drop a kind, without regard to mate by a pawn.
    fn droppable(&self, board: &Board, kind: usize, empty: Squares) -> Squares {
        let mut squares = empty;
        if !self.variant.drops.immobile {
            // Pieces that can become stuck do so on the farthest row.
            let stuck =
                ones_of(squares & self.far_row).filter(|&square| self.is_stuck(kind, square));
            squares &= !stuck.fold(0, |set: Squares, square| set | 1 << square);
        }
        if !self.variant.drops.two_pawns && self.variant.is_pawn(kind) {
            let pawn = Cell::of(Owner::Mover, kind);
            for (square, _) in board.cells.iter().enumerate().filter(|(_, cell)| **cell == pawn) {
                squares &= !self.file_of(square);
            }
        }
        squares
    }

    /// Returns all squares on the file of a square.
    pub(super) fn file_of(&self, square: usize) -> Squares {
        let column = square % self.variant.columns;
        (0..self.variant.rows).fold(0, |set, row| set | 1 << (row * self.variant.columns + column))
    }

    fn leaves_king_safe(&self, board: &Board, from: usize, to: usize) -> bool {
        let mut after = *board;
        after.cells[from] = Cell::EMPTY;
        after.put(to, board.cells[from]);
        !self.in_check(&after, Owner::Mover)
    }

    fn drop_leaves_king_safe(&self, board: &Board, kind: usize, to: usize) -> bool {
        let mut after = *board;
        after.cells[to] = Cell::of(Owner::Mover, kind);
        !self.in_check(&after, Owner::Mover)
    }

    /// Returns `true` if dropping the kind would be a forbidden mate by a pawn.
    fn is_forbidden_mate(&self, board: &Board, kind: usize, to: usize) -> bool {
        if self.variant.drops.pawn_mate || !self.variant.is_pawn(kind) {
            return false;
        }
        let ahead = to.checked_sub(self.variant.columns);
        let checks =
            ahead.is_some_and(|square| board.cells[square] == Cell::of(Owner::Opponent, 0));
        if !checks {
            return false;
        }
        let after = self.play(board, Move::Drop { kind: kind as u8, to: to as u8 });
        !self.visit(&after, |_| true)
    }

    /// Returns the board after a move, as the other player sees it.
    #[inline]
    pub(super) fn play(&self, board: &Board, played: Move) -> Board {
        let mut after = *board;
        match played {
            Move::Board { from, to, promotes } => {
                let (from, to) = (usize::from(from), usize::from(to));
                let taken = after.cells[to];
                if !taken.is_empty() {
                    // A captured king is in nobody's hand.
                    match self.variant.kinds[taken.kind()].in_hand {
                        0 => after.lose_king(Owner::Opponent),
                        kind => after.hands[0][kind - 1] += 1,
                    }
                }
                let kind = after.cells[from].kind();
                let kind = match self.variant.kinds[kind].promotes_to {
                    Some(promoted) if promotes => promoted,
                    _ => kind,
                };
                after.cells[from] = Cell::EMPTY;
                after.put(to, Cell::of(Owner::Mover, kind));
            }
            Move::Drop { kind, to } => {
                after.hands[0][usize::from(kind) - 1] -= 1;
                after.cells[usize::from(to)] = Cell::of(Owner::Mover, usize::from(kind));
            }
        }
        after.turned(self.squares)
    }
}

/// Returns the indices of the directions in a set.
#[inline]
fn directions(set: Directions) -> impl Iterator<Item = usize> {
    ones_of(set)
}
