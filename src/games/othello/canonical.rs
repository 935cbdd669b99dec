//! Canonical keys from all images of a board at once.
//!
//! For every row of the board and every set of squares in it, a table contains the packed images of that row
//! under all symmetries, side by side. The images of a board are the bitwise or of one table entry per row,
//! eight (or four) integers at a time; the smallest key is the canonical one.

use super::Board;
use crate::rules::symmetry::map_square;
use crate::rules::{Canonical, Group, Symmetry};

/// Images of rows, one lane per symmetry, at index `row << columns | squares of the row`.
#[derive(Clone, Debug)]
pub(super) struct BoardImages {
    rows: usize,
    columns: usize,
    /// Bits of a key below the occupied squares.
    low_bits: u32,
    lanes: Lanes,
}

#[derive(Clone, Debug)]
enum Lanes {
    One(Vec<[u64; 1]>),
    Four(Vec<[u64; 4]>),
    Eight(Vec<[u64; 8]>),
}

impl BoardImages {
    pub(super) fn new(rows: usize, columns: usize, low_bits: u32, group: &Group) -> BoardImages {
        let lanes = match group.order() {
            1 => Lanes::One(row_images(rows, columns)),
            4 => Lanes::Four(row_images(rows, columns)),
            _ => Lanes::Eight(row_images(rows, columns)),
        };
        BoardImages { rows, columns, low_bits, lanes }
    }

    #[inline]
    pub(super) fn canonical(&self, board: &Board) -> Canonical {
        match &self.lanes {
            Lanes::One(table) => self.smallest(table, board),
            Lanes::Four(table) => self.smallest(table, board),
            Lanes::Eight(table) => self.smallest(table, board),
        }
    }

    #[inline(always)]
    fn smallest<const L: usize>(&self, table: &[[u64; L]], board: &Board) -> Canonical {
        let mut occupied = [0; L];
        let mut mover = [0; L];
        for row in 0..self.rows {
            let base = row << self.columns;
            let all = board.mover | board.opponent;
            let all = &table[base | (all >> (8 * row) & 0xff) as usize];
            let mine = &table[base | (board.mover >> (8 * row) & 0xff) as usize];
            for lane in 0..L {
                occupied[lane] |= all[lane];
                mover[lane] |= mine[lane];
            }
        }
        // Keys of one word are compared faster as one.
        if self.low_bits < 64 {
            let keys = std::array::from_fn(|lane| occupied[lane] << self.low_bits | mover[lane]);
            let (key, ties) = smallest::<u64, L>(keys);
            Canonical { key: key.into(), ties }
        } else {
            let keys = std::array::from_fn(|lane| {
                u128::from(occupied[lane]) << 64 | u128::from(mover[lane])
            });
            let (key, ties) = smallest::<u128, L>(keys);
            Canonical { key, ties }
        }
    }
}

/// Returns the smallest key and the lanes that have it.
#[inline(always)]
fn smallest<K: Copy + Ord, const L: usize>(keys: [K; L]) -> (K, u8) {
    let key = keys[1..].iter().fold(keys[0], |key, &other| key.min(other));
    let ties = |ties, (lane, &other): (usize, &K)| ties | u8::from(other == key) << lane;
    (key, keys.iter().enumerate().fold(0, ties))
}

fn row_images<const L: usize>(rows: usize, columns: usize) -> Vec<[u64; L]> {
    let mut table = Vec::with_capacity(rows << columns);
    for row in 0..rows {
        for set in 0..1usize << columns {
            table.push(std::array::from_fn(|symmetry| {
                let mut image = 0u64;
                for column in (0..columns).filter(|column| set >> column & 1 == 1) {
                    let (r, c) = map_square(symmetry as Symmetry, (row, column), rows, columns);
                    image |= 1 << (r * columns + c);
                }
                image
            }));
        }
    }
    table
}
