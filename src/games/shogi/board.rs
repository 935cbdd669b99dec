//! Position of a game of the family: the pieces on the squares and in hand.

use super::variant::{MAX_HAND_KINDS, MAX_SQUARES};

/// Owner of a piece, as the mover sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Player to move.
    Mover,
    /// Other player.
    Opponent,
}

impl Owner {
    /// Returns 0 for the mover, 1 for the opponent.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the other owner.
    #[inline]
    pub fn other(self) -> Owner {
        match self {
            Owner::Mover => Owner::Opponent,
            Owner::Opponent => Owner::Mover,
        }
    }
}

/// Content of a square: 0 if empty, `1 + kind` for a piece of the mover, `17 + kind` for one of the opponent,
/// where `kind` is an index into [`Variant::kinds`](super::Variant::kinds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Cell(pub u8);

const OPPONENT: u8 = 16;

impl Cell {
    /// Empty square.
    pub const EMPTY: Cell = Cell(0);

    /// Makes the cell of a piece.
    #[inline]
    pub fn of(owner: Owner, kind: usize) -> Cell {
        Cell(1 + kind as u8 + OPPONENT * owner as u8)
    }

    /// Returns `true` for an empty square.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` for a piece of the mover.
    #[inline]
    pub fn is_movers(self) -> bool {
        self.0 != 0 && self.0 & OPPONENT == 0
    }

    /// Returns `true` for a piece of the opponent.
    #[inline]
    pub fn is_opponents(self) -> bool {
        self.0 & OPPONENT != 0
    }

    /// Returns owner and kind of the piece; `None` for an empty square.
    #[inline]
    pub fn piece(self) -> Option<(Owner, usize)> {
        if self.is_empty() {
            return None;
        }
        let owner = if self.is_opponents() { Owner::Opponent } else { Owner::Mover };
        Some((owner, self.kind()))
    }

    /// Returns the kind of the piece. The square must not be empty.
    #[inline]
    pub fn kind(self) -> usize {
        usize::from((self.0 & (OPPONENT - 1)).wrapping_sub(1))
    }

    /// Returns the same piece with the other owner; an empty square stays empty.
    #[inline]
    pub fn turned(self) -> Cell {
        Cell(self.0 ^ (u8::from(self.0 != 0) << 4))
    }
}

/// Position as its mover sees it: row 0 is the rank farthest from the mover, so the mover's pieces move up,
/// and the square of row `r` and column `c` is `r * columns + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// Content of each square; cells beyond the board are empty.
    pub cells: [Cell; MAX_SQUARES],
    /// Number of pieces of each kind in hand of the mover and of the opponent: kind `k` at index `k - 1`.
    pub hands: [[u8; MAX_HAND_KINDS]; 2],
    /// Squares of the mover's and of the opponent's king, a cache of the cells; [`NO_SQUARE`] for a captured
    /// king.
    kings: [u8; 2],
}

/// Square of a captured king.
const NO_SQUARE: u8 = u8::MAX;

impl Board {
    /// Position without pieces on the board or in hand.
    pub const EMPTY: Board = Board {
        cells: [Cell::EMPTY; MAX_SQUARES],
        hands: [[0; MAX_HAND_KINDS]; 2],
        kings: [NO_SQUARE; 2],
    };

    /// Returns the occupied squares, as bits.
    #[inline]
    pub fn occupied(&self) -> u64 {
        // Eight squares at a time: adding 127 to a byte below 128 sets its highest bit unless it is 0, and
        // the product gathers these bits.
        let mut bytes = [0; MAX_SQUARES.next_multiple_of(8)];
        bytes.iter_mut().zip(self.cells).for_each(|(byte, cell)| *byte = cell.0);
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().rev().fold(0, |set, word| {
            let there = (u64::from_le_bytes(*word) + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080;
            set << 8 | (there >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }

    /// Sets the content of a square.
    #[inline]
    pub fn put(&mut self, square: usize, cell: Cell) {
        self.cells[square] = cell;
        if let Some((owner, 0)) = cell.piece() {
            self.kings[owner.index()] = square as u8;
        }
    }

    /// Records the capture of a player's king; its cell stays as it is.
    pub(super) fn lose_king(&mut self, owner: Owner) {
        self.kings[owner.index()] = NO_SQUARE;
    }

    /// Returns the position as the other player sees it, on a board of `squares` squares.
    #[inline]
    pub fn turned(&self, squares: usize) -> Board {
        let mut turned = Board::EMPTY;
        turned.hands = [self.hands[1], self.hands[0]];
        let cells = self.cells[..squares].iter().rev();
        for (to, from) in turned.cells[..squares].iter_mut().zip(cells) {
            *to = from.turned();
        }
        let last = squares as u8 - 1;
        turned.kings = [self.kings[1], self.kings[0]]
            .map(|king| if king == NO_SQUARE { NO_SQUARE } else { last - king });
        turned
    }

    /// Returns the square of a player's king; `None` if it has been captured.
    #[inline]
    pub fn king(&self, owner: Owner) -> Option<usize> {
        let king = self.kings[owner.index()];
        (king != NO_SQUARE).then_some(usize::from(king))
    }
}
