//! A position of a game of the family: what stands on every square, and what is held in hand.

use super::variant::{MAX_HAND_KINDS, MAX_SQUARES};

/// Whose piece it is, as the mover sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The player to move.
    Mover,
    /// The other.
    Opponent,
}

impl Owner {
    /// 0 for the mover, 1 for the opponent.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The other owner.
    #[inline]
    pub fn other(self) -> Owner {
        match self {
            Owner::Mover => Owner::Opponent,
            Owner::Opponent => Owner::Mover,
        }
    }
}

/// What stands on a square: 0 nothing, `1 + kind` a piece of the mover, `17 + kind` one of the
/// opponent, a kind being an index into [`Variant::kinds`](super::Variant::kinds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Cell(pub u8);

const OPPONENT: u8 = 16;

impl Cell {
    /// Nothing.
    pub const EMPTY: Cell = Cell(0);

    /// A piece.
    #[inline]
    pub fn of(owner: Owner, kind: usize) -> Cell {
        Cell(1 + kind as u8 + OPPONENT * owner as u8)
    }

    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether there is a piece of the mover.
    #[inline]
    pub fn is_movers(self) -> bool {
        self.0 != 0 && self.0 & OPPONENT == 0
    }

    /// Whether there is a piece of the opponent.
    #[inline]
    pub fn is_opponents(self) -> bool {
        self.0 & OPPONENT != 0
    }

    /// Whose piece and of what kind; `None` if there is none.
    #[inline]
    pub fn piece(self) -> Option<(Owner, usize)> {
        if self.is_empty() {
            return None;
        }
        let owner = if self.is_opponents() { Owner::Opponent } else { Owner::Mover };
        Some((owner, self.kind()))
    }

    /// The kind of the piece.
    ///
    /// The square must not be empty.
    #[inline]
    pub fn kind(self) -> usize {
        usize::from((self.0 & (OPPONENT - 1)).wrapping_sub(1))
    }

    /// The same piece of the other player; nothing stays nothing.
    #[inline]
    pub fn turned(self) -> Cell {
        Cell(self.0 ^ (u8::from(self.0 != 0) << 4))
    }
}

/// A position as its mover sees it: row 0 is the rank farthest from the mover, so the mover's
/// pieces move up, and the square of row `r` and column `c` is `r * columns + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// What stands on each square; empty beyond the board.
    pub cells: [Cell; MAX_SQUARES],
    /// How many pieces of each kind the mover and the opponent hold: kind `k` at index `k - 1`.
    pub hands: [[u8; MAX_HAND_KINDS]; 2],
    /// The squares of the mover's and the opponent's king, which the cells say too; [`NO_SQUARE`]
    /// for one that has been captured.
    kings: [u8; 2],
}

/// Where a captured king stands.
const NO_SQUARE: u8 = u8::MAX;

impl Board {
    /// Nothing on the board or in hand.
    pub const EMPTY: Board = Board {
        cells: [Cell::EMPTY; MAX_SQUARES],
        hands: [[0; MAX_HAND_KINDS]; 2],
        kings: [NO_SQUARE; 2],
    };

    /// The squares on which something stands, as bits.
    #[inline]
    pub fn occupied(&self) -> u64 {
        // Eight squares at a time: a byte below 128 and 127 have the highest bit if it is not 0, and
        // the product gathers these bits.
        let mut bytes = [0; MAX_SQUARES.next_multiple_of(8)];
        bytes.iter_mut().zip(self.cells).for_each(|(byte, cell)| *byte = cell.0);
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().rev().fold(0, |set, word| {
            let there = (u64::from_le_bytes(*word) + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080;
            set << 8 | (there >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }

    /// Puts a piece, or nothing, on a square.
    #[inline]
    pub fn put(&mut self, square: usize, cell: Cell) {
        self.cells[square] = cell;
        if let Some((owner, 0)) = cell.piece() {
            self.kings[owner.index()] = square as u8;
        }
    }

    /// Takes the king of a player off the board, wherever it stood.
    pub(super) fn lose_king(&mut self, owner: Owner) {
        self.kings[owner.index()] = NO_SQUARE;
    }

    /// The position as the other player sees it, the board having `squares` squares.
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

    /// Where the king of a player stands; `None` if it has been captured.
    #[inline]
    pub fn king(&self, owner: Owner) -> Option<usize> {
        let king = self.kings[owner.index()];
        (king != NO_SQUARE).then_some(usize::from(king))
    }
}
