//! Patterns of squares whose contents index the weights of a trained evaluation.
//!
//! The patterns follow from the size of the board: rows and columns, the edges with the squares
//! diagonally next to their corners, diagonals of at least four squares, and blocks in the corners.
//! Images of a pattern under the symmetries of the board share its weights.

use super::kernel::{HalfRowParts, Kernel, LANES, Scalar};
use super::shape::BoardShape;
use crate::games::othello::Board;

/// Number of weights that an evaluation adds: one for each pattern, for the number of moves of
/// either side, and for the number of empty squares.
pub(super) const INPUTS: usize = LANES + 3;

/// Number of weights for a number of moves; larger numbers share the last.
const MOVES: u32 = 32;

/// Minimum length of a diagonal that is a pattern.
const SHORTEST: usize = 4;

/// Half rows of the 8×8 grid.
const HALF_ROWS: usize = 16;

/// Patterns of one board shape and the layout of their weights.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    /// Index of the first weight of each pattern; unused lanes stay at weight 0, which is zero.
    offsets: [u32; LANES],
    /// Part of each half row in the indices, for each set of its squares.
    parts: Box<[HalfRowParts; HALF_ROWS]>,
    /// Smallest weight that is equal to each weight by symmetry.
    canonical: Vec<u32>,
    used: usize,
}

type Square = (usize, usize);

impl Patterns {
    /// Returns the patterns of a board shape.
    pub(super) fn new(shape: &BoardShape) -> Patterns {
        let mut patterns = Patterns {
            offsets: [0; LANES],
            parts: Box::new([[[0; LANES]; 16]; HALF_ROWS]),
            canonical: vec![0],
            used: 0,
        };
        let mut seen = Vec::new();
        for squares in bases(shape.rows, shape.columns) {
            let images = images(shape, &squares);
            if seen.contains(&set_of(&squares)) {
                continue;
            }
            let offset = patterns.canonical.len() as u32;
            patterns.add_weights(&images);
            for image in images {
                if !seen.contains(&set_of(&image)) {
                    seen.push(set_of(&image));
                    patterns.add_image(offset, &image);
                }
            }
        }
        let rest = patterns.canonical.len() as u32;
        patterns.canonical.extend(rest..rest + 2 * MOVES + 64);
        patterns
    }

    /// Returns the number of weights of one stage.
    pub(super) fn weights(&self) -> usize {
        self.canonical.len()
    }

    /// Returns the smallest weight that is equal to each weight by symmetry.
    pub(super) fn canonical(&self) -> &[u32] {
        &self.canonical
    }

    /// Returns the weights that are not equal to a smaller one; weight 0 is always zero.
    pub(super) fn free(&self) -> impl Iterator<Item = usize> {
        (1..self.canonical.len()).filter(|&i| self.canonical[i] as usize == i)
    }

    /// Copies each free weight to those equal to it by symmetry.
    pub(super) fn spread(&self, weights: &mut [i16]) {
        for (i, &from) in self.canonical.iter().enumerate() {
            weights[i] = weights[from as usize];
        }
    }

    /// Returns the sum of a board's weights.
    #[inline(always)]
    pub(super) fn sum<K: Kernel>(
        &self,
        kernel: K,
        shape: &BoardShape,
        board: Board,
        weights: &[i16],
    ) -> i32 {
        let indices = kernel.pattern_indices(&self.parts[..2 * shape.rows], board);
        let counts = self.count_indices(kernel, shape, board);
        kernel.sum_weights(weights, &self.offsets, &indices)
            + counts.into_iter().map(|index| i32::from(weights[index as usize])).sum::<i32>()
    }

    /// Returns the indices of the weights that [`Patterns::sum`] adds.
    pub(super) fn indices(&self, shape: &BoardShape, board: Board) -> [u32; INPUTS] {
        let lanes = Scalar.pattern_indices(&self.parts[..2 * shape.rows], board);
        let mut indices = [0; INPUTS];
        for lane in 0..LANES {
            indices[lane] = self.offsets[lane] + u32::from(lanes[lane]);
        }
        indices[LANES..].copy_from_slice(&self.count_indices(Scalar, shape, board));
        indices
    }

    /// Returns the indices of the weights for the number of moves of either side, and of empty squares.
    #[inline(always)]
    fn count_indices<K: Kernel>(
        &self,
        kernel: K,
        shape: &BoardShape,
        board: Board,
    ) -> [u32; INPUTS - LANES] {
        let rest = self.canonical.len() as u32 - 2 * MOVES - 64;
        let moves = |board| {
            let moves: u64 = kernel.moves(board) & shape.board;
            moves.count_ones().min(MOVES - 1)
        };
        [
            rest + moves(board),
            rest + MOVES + moves(board.swapped()),
            rest + 2 * MOVES + (shape.empty(board).count_ones() & 63),
        ]
    }

    /// Adds the weights of a pattern; its images with the same squares make weights equal.
    fn add_weights(&mut self, images: &[Vec<Square>]) {
        let offset = self.canonical.len() as u32;
        let squares = &images[0];
        let orders: Vec<Vec<usize>> = images
            .iter()
            .filter(|image| set_of(image) == set_of(squares))
            .map(|image| {
                image.iter().filter_map(|at| squares.iter().position(|s| s == at)).collect()
            })
            .collect();
        let power = |n: usize| 3usize.pow(n as u32);
        for index in 0..power(squares.len()) {
            let image = |order: &Vec<usize>| -> usize {
                order
                    .iter()
                    .enumerate()
                    .map(|(to, &from)| index / power(from) % 3 * power(to))
                    .sum()
            };
            let smallest = orders.iter().map(image).min().unwrap_or(index);
            self.canonical.push(offset + smallest as u32);
        }
    }

    fn add_image(&mut self, offset: u32, squares: &[Square]) {
        let lane = self.used;
        self.used += 1;
        self.offsets[lane] = offset;
        let mut power = 1;
        for &(row, column) in squares {
            let half = &mut self.parts[2 * row + column / 4];
            for set in (0..16).filter(|set| set >> (column % 4) & 1 != 0) {
                half[set][lane] += power;
            }
            power = power.wrapping_mul(3);
        }
    }
}

/// Returns the patterns of a board, some of which may be images of each other.
fn bases(rows: usize, columns: usize) -> Vec<Vec<Square>> {
    let block = |height: usize, width: usize| -> Vec<Square> {
        (0..height).flat_map(|r| (0..width).map(move |c| (r, c))).collect()
    };
    let mut edge: Vec<Square> = (0..columns).map(|c| (0, c)).collect();
    edge.extend([(1, 1), (1, columns - 2)]);
    let mut side: Vec<Square> = (0..rows).map(|r| (r, 0)).collect();
    side.extend([(1, 1), (rows - 2, 1)]);
    let mut all = vec![edge, side, block(2, columns.min(5)), block(rows.min(5), 2), block(3, 3)];
    all.extend((1..rows / 2 + rows % 2).map(|r| (0..columns).map(|c| (r, c)).collect()));
    all.extend((1..columns / 2 + columns % 2).map(|c| (0..rows).map(|r| (r, c)).collect()));
    for first in (0..rows).map(|r| (r, 0)).chain((1..columns).map(|c| (0, c))) {
        let length = (rows - first.0).min(columns - first.1);
        if length >= SHORTEST {
            all.push((0..length).map(|i| (first.0 + i, first.1 + i)).collect());
        }
    }
    all
}

/// Returns the images of a pattern under the symmetries of the board, itself first.
fn images(shape: &BoardShape, squares: &[Square]) -> Vec<Vec<Square>> {
    let (rows, columns) = (shape.rows, shape.columns);
    let turns = if rows == columns { 8 } else { 4 };
    let image = |turn: usize| {
        let map = |&(r, c): &Square| {
            let (r, c) = if turn & 4 != 0 { (c, r) } else { (r, c) };
            let r = if turn & 2 != 0 { rows - 1 - r } else { r };
            (r, if turn & 1 != 0 { columns - 1 - c } else { c })
        };
        squares.iter().map(map).collect()
    };
    (0..turns).map(image).collect()
}

fn set_of(squares: &[Square]) -> u64 {
    squares.iter().fold(0, |set, &(r, c)| set | 1 << (8 * r + c))
}
