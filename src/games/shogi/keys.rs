//! Packing of states into keys.
//!
//! From its highest bit a key contains the side to move (0 for the first player, and in tables without
//! sides), the occupied squares, the pieces in hand at two bits a kind (first the mover's), and the codes of
//! the pieces on the occupied squares, the lowest square in the lowest bits. If that exceeds 64 bits, the
//! codes form the second word.

use std::cmp::Ordering;

use super::board::{Board, Cell};
use super::variant::{Ending, MAX_SQUARES, Variant};
use crate::rules::Side;

/// Packing of a variant's states.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    squares: usize,
    hand_kinds: usize,
    kinds: usize,
    /// Bits of the code of a piece, and of all pieces together.
    code_bits: u32,
    stream_bits: u32,
    bits: u32,
    /// Bits of a key below its head: those of the codes, or a word.
    low_bits: u32,
    /// Code of each cell; 0 for an empty one.
    codes: [u64; 32],
    /// Cell of each code.
    cells: [Cell; 32],
    /// Mirror image of each square.
    mirrored: [u8; MAX_SQUARES],
    /// Tally of each code: 1 in the byte that counts its sort. The sorts are the mover's king, the kinds that
    /// can be held, and the opponent's king.
    tallied: [u64; 32],
    /// Number of pieces of each kind that can be held, and `true` if kings are never captured.
    copies: u8,
    kings_stay: bool,
    keeps_sides: bool,
}

/// Returns the bits of the code of a piece, and of the codes of all pieces.
fn stream_of(variant: &Variant) -> (u32, u32) {
    let pieces = 2 + variant.hand_kinds() * usize::from(variant.copies);
    let code_bits = usize::BITS - (2 * variant.kinds.len() - 1).leading_zeros();
    (code_bits, code_bits * pieces as u32)
}

impl Packing {
    /// # Panics
    ///
    /// If keys are too short for the variant.
    pub(super) fn new(variant: &Variant) -> Packing {
        let (squares, hand_kinds) = (variant.squares(), variant.hand_kinds());
        let kinds = variant.kinds.len();
        let (code_bits, stream_bits) = stream_of(variant);
        let bits = Packing::bits_for(variant).expect("a key has room for the variant");
        let low_bits = if bits <= 64 { stream_bits } else { 64 };
        let (mut codes, mut cells) = ([0; 32], [Cell::EMPTY; 32]);
        let mut tallied = [0; 32];
        for kind in 0..kinds {
            for (owner, place) in [(super::Owner::Mover, 0), (super::Owner::Opponent, kinds)] {
                let cell = Cell::of(owner, kind);
                codes[usize::from(cell.0)] = (kind + place) as u64;
                cells[kind + place] = cell;
                let theirs = kind == 0 && place > 0;
                let byte = if theirs { hand_kinds + 1 } else { variant.kinds[kind].in_hand };
                tallied[kind + place] = 1 << (8 * byte);
            }
        }
        let mut mirrored = [0; MAX_SQUARES];
        for (square, image) in mirrored.iter_mut().enumerate().take(squares) {
            *image = variant.mirrored(square) as u8;
        }
        Packing {
            squares,
            hand_kinds,
            kinds,
            code_bits,
            stream_bits,
            bits,
            low_bits,
            codes,
            cells,
            mirrored,
            tallied,
            copies: variant.copies,
            kings_stay: variant.ending != Ending::Played,
            keeps_sides: variant.keeps_sides,
        }
    }

    /// Returns the number of significant bits of a variant's keys; `None` if they do not fit.
    pub(super) fn bits_for(variant: &Variant) -> Option<u32> {
        let head = 1 + variant.squares() as u32 + 4 * variant.hand_kinds() as u32;
        let codes = stream_of(variant).1;
        let (bits, fits) = match head + codes {
            bits @ ..=64 => (bits, true),
            _ => (64 + head, head <= 64 && codes <= 64),
        };
        (fits && variant.copies <= 3).then_some(bits)
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    #[inline]
    pub(super) fn pack(&self, board: &Board) -> u128 {
        self.pack_image(board, board.occupied(), |square| square)
    }

    /// Returns the smaller of the keys of a board and its left-right mirror image, and which of the two have
    /// it: bit 0 the board, bit 1 the image.
    #[inline]
    pub(super) fn pack_smaller(&self, board: &Board) -> (u128, u8) {
        let occupied = board.occupied();
        let image =
            Self::squares_of(occupied).fold(0, |image, square| image | 1 << self.mirror(square));
        // The occupied squares decide, except on the few boards where they are symmetric.
        let own = || self.pack_image(board, occupied, |square| square);
        let mirrored = || self.pack_image(board, image, |square| self.mirror(square));
        match occupied.cmp(&image) {
            Ordering::Less => (own(), 0b01),
            Ordering::Greater => (mirrored(), 0b10),
            Ordering::Equal => {
                let (own, mirrored) = (own(), mirrored());
                match own.cmp(&mirrored) {
                    Ordering::Less => (own, 0b01),
                    Ordering::Equal => (own, 0b11),
                    Ordering::Greater => (mirrored, 0b10),
                }
            }
        }
    }

    fn mirror(&self, square: usize) -> usize {
        usize::from(self.mirrored[square])
    }

    /// Returns the squares of a set, ascending.
    #[inline]
    fn squares_of(mut set: u64) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let square = set.trailing_zeros() as usize;
            set &= set.wrapping_sub(1);
            (square < 64).then_some(square)
        })
    }

    /// Returns the key of an image with the occupied squares `occupied`; `from` maps each of them to its
    /// square on the board.
    #[inline]
    fn pack_image(&self, board: &Board, occupied: u64, from: impl Fn(usize) -> usize) -> u128 {
        let (mut stream, mut at) = (0u64, 0u32);
        for square in Self::squares_of(occupied) {
            stream |= self.codes[usize::from(board.cells[from(square)].0 & 31)] << at;
            at += self.code_bits;
        }
        let mut head = occupied;
        for hand in board.hands {
            for count in &hand[..self.hand_kinds] {
                head = head << 2 | u64::from(*count);
            }
        }
        u128::from(head) << self.low_bits | u128::from(stream)
    }

    fn side_bit(&self) -> u32 {
        self.squares as u32 + 4 * self.hand_kinds as u32
    }

    /// Adds the side to move to a key.
    #[inline]
    pub(super) fn tag(&self, key: u128, side: Side) -> u128 {
        key | (side.index() as u128) << (self.low_bits + self.side_bit())
    }

    /// Returns the side to move in a key; the first player if sides are not kept.
    #[inline]
    pub(super) fn side_of(&self, key: u128) -> Side {
        Side::ALL[(key >> (self.low_bits + self.side_bit()) & 1) as usize]
    }

    /// Returns the state of a key, whichever side is to move in it; `None` if no state has it.
    pub(super) fn unpack(&self, key: u128) -> Option<Board> {
        let mut head = u64::try_from(key >> self.low_bits).ok()?;
        let mut stream = (key & ((1 << self.low_bits) - 1)) as u64;
        let mut board = Board::EMPTY;
        let mut tally = 0;
        for hand in board.hands.iter_mut().rev() {
            for (place, count) in hand[..self.hand_kinds].iter_mut().enumerate().rev() {
                *count = (head & 3) as u8;
                tally += (head & 3) << (8 * (place + 1));
                head >>= 2;
            }
        }
        let occupied = head & ((1 << self.squares) - 1);
        if occupied.count_ones() > self.stream_bits / self.code_bits {
            // More pieces than the variant has.
            return None;
        }
        for square in 0..self.squares {
            if head & 1 == 1 {
                let code = (stream & ((1 << self.code_bits) - 1)) as usize;
                if code >= 2 * self.kinds {
                    return None;
                }
                board.put(square, self.cells[code]);
                tally += self.tallied[code];
                stream >>= self.code_bits;
            }
            head >>= 1;
        }
        let has_side = head == 0 || head == 1 && self.keeps_sides;
        (has_side && stream == 0 && self.can_be(tally)).then_some(board)
    }

    /// Returns `true` if a position can have this tally of pieces.
    fn can_be(&self, tally: u64) -> bool {
        let count = |byte: usize| (tally >> (8 * byte)) as u8;
        let king = |byte: usize| count(byte) == 1 || count(byte) == 0 && !self.kings_stay;
        king(0)
            && king(self.hand_kinds + 1)
            && (1..=self.hand_kinds).all(|kind| count(kind) <= self.copies)
    }

    /// Describes keys and actions in words.
    pub(super) fn conventions(&self, variant: &Variant) -> Vec<(&'static str, String)> {
        let Packing { squares, hand_kinds, kinds, code_bits, stream_bits, .. } = *self;
        let names = |range: std::ops::Range<usize>| {
            let names: Vec<_> = variant.kinds[range].iter().map(|kind| kind.name).collect();
            names.join(", ")
        };
        let head = format!(
            "side to move (0 where it is not kept) << {} | occupied squares << {} | pieces in hand, 2 bits a kind ({}), the mover's above the opponent's, the first kind highest",
            squares + 4 * hand_kinds,
            4 * hand_kinds,
            names(1..hand_kinds + 1)
        );
        let stream = format!(
            "codes of the pieces on the occupied squares, {code_bits} bits each, the lowest square lowest: {}, then the opponent's from {kinds} on",
            names(0..kinds)
        );
        let keys = match self.low_bits {
            ..64 => format!("({head}) << {stream_bits} | {stream}"),
            _ => format!("column 0: {head}; column 1: {stream}"),
        };
        vec![
            ("keys", format!("{keys}; square = row * {} + column, row 0 farthest from the mover", variant.columns)),
            ("actions", format!(
                "as the mover sees the board, S = {squares} squares: from f to t is 2 (S f + t), one more with promotion; dropping the kind at place h of the hand (0 {}) is 2 S S + S h + t",
                variant.kinds[1].name
            )),
            ("ends", match variant.ending {
                Ending::Mate => "a mover without a legal move has lost, 0 plies away; a move may not leave the own king attacked",
                Ending::Adjudicated => "a state in which the mover could capture the king is over, won, 1 ply away; another in which the opponent's king stands on the mover's home rank is over, lost, 0 plies away; moving into check is legal",
                Ending::Played => "a state is over when a king has been captured, or stands on its last rank where it cannot be captured",
            }.to_string()),
            ("history", match variant.ending {
                Ending::Mate => "a state does not know how it was reached; the solution records what infinite play counts as. Not represented: the fourfold repetition of a position inside a game, and the exception that a player who gives check throughout then loses",
                _ => "a state does not know how it was reached; the solution records what infinite play counts as (the rules: a threefold repetition is a draw)",
            }.to_string()),
        ]
    }
}
