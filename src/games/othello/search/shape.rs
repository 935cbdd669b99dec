//! Masks of one board shape: borders, parity regions, stable discs, symmetries.

use crate::games::othello::Board;
use crate::rules::Empties;

/// Board shape and scoring of one search.
#[derive(Clone, Debug)]
pub(super) struct BoardShape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Squares of the board.
    pub board: u64,
    /// Number of squares of the board.
    pub squares: i32,
    /// Corner squares.
    pub corners: u64,
    /// Squares diagonally next to a corner.
    pub crosses: u64,
    /// Quarters of the board, whose parities order the moves.
    pub regions: [u64; 4],
    /// Region of each square.
    pub region_of: [u64; 64],
    /// Squares at an end of their row, diagonal, column and other diagonal.
    ends: [u64; 4],
    empties: Empties,
}

/// Squares whose successor in one direction, after 1, 2 and 4 steps, lies beside the 8×8 grid:
/// for steps of +9, −9, +7 and −7.
const DIAGONAL_ENDS: [[u64; 3]; 4] = [
    [0xff80_8080_8080_8080, 0xffff_c0c0_c0c0_c0c0, 0xffff_ffff_f0f0_f0f0],
    [0x0101_0101_0101_01ff, 0x0303_0303_0303_ffff, 0x0f0f_0f0f_ffff_ffff],
    [0xff01_0101_0101_0101, 0xffff_0303_0303_0303, 0xffff_ffff_0f0f_0f0f],
    [0x8080_8080_8080_80ff, 0xc0c0_c0c0_c0c0_ffff, 0xf0f0_f0f0_ffff_ffff],
];

impl BoardShape {
    /// Returns the masks of a board of `rows` × `columns` squares, each 4 to 8.
    pub(super) fn new(rows: usize, columns: usize, empties: Empties) -> BoardShape {
        assert!(
            (4..=8).contains(&rows) && (4..=8).contains(&columns),
            "invalid shape {rows}x{columns}"
        );
        let where_square = |test: &dyn Fn(usize, usize) -> bool| {
            let all = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
            all.filter(|&(r, c)| test(r, c)).fold(0u64, |set, (r, c)| set | 1 << (8 * r + c))
        };
        let (last_row, last_column) = (rows - 1, columns - 1);
        let board = where_square(&|_, _| true);
        let at_sides = where_square(&|_, c| c == 0 || c == last_column);
        let at_top_and_bottom = where_square(&|r, _| r == 0 || r == last_row);
        let regions = [(false, false), (false, true), (true, false), (true, true)]
            .map(|half| where_square(&|r, c| (r >= rows / 2, c >= columns / 2) == half));
        let region_of = std::array::from_fn(|square| {
            regions.into_iter().find(|region| region >> square & 1 != 0).unwrap_or(0)
        });
        let both = at_sides | at_top_and_bottom;
        BoardShape {
            rows,
            columns,
            board,
            squares: (rows * columns) as i32,
            corners: at_sides & at_top_and_bottom,
            crosses: where_square(&|r, c| {
                (r == 1 || r + 2 == rows) && (c == 1 || c + 2 == columns)
            }),
            regions,
            region_of,
            ends: [at_sides, both, at_top_and_bottom, both],
            empties,
        }
    }

    /// Returns the empty squares of a board.
    #[inline(always)]
    pub(super) fn empty(&self, board: Board) -> u64 {
        self.board & !(board.mover | board.opponent)
    }

    /// Returns the mover's score when neither side can move.
    pub(super) fn final_score(&self, board: Board) -> i32 {
        let difference = board.mover.count_ones() as i32 - board.opponent.count_ones() as i32;
        match self.empties {
            Empties::Uncounted => difference,
            Empties::ToWinner => {
                difference + difference.signum() * self.empty(board).count_ones() as i32
            }
        }
    }

    /// Returns the squares of the regions with an odd number of empty squares.
    #[inline(always)]
    pub(super) fn odd_regions(&self, empty: u64) -> u64 {
        self.regions.into_iter().fold(0, |odd, region| {
            odd | region & u64::from((empty & region).count_ones() & 1).wrapping_neg()
        })
    }

    /// Returns discs of `own` that can never be turned, a subset of all such discs.
    ///
    /// A disc is safe along a line that is full, that ends at the disc, or on which a neighbour is
    /// stable; it is stable if it is safe along all four lines.
    #[inline(always)]
    pub(super) fn stable(&self, own: u64, other: u64) -> u64 {
        let safe = self.full_lines(own | other | !self.board);
        let mut stable = own & safe[0] & safe[1] & safe[2] & safe[3];
        loop {
            // Neighbours across the edge of the grid are harmless: ends of lines are safe anyway.
            let beside = |shift: u32| stable << shift | stable >> shift;
            let next = own
                & (safe[0] | beside(1))
                & (safe[1] | beside(7))
                & (safe[2] | beside(8))
                & (safe[3] | beside(9));
            if next == stable {
                return stable;
            }
            stable = next;
        }
    }

    /// Returns the squares on full rows, diagonals, columns and other diagonals, and those at an
    /// end of such a line.
    #[inline(always)]
    fn full_lines(&self, filled: u64) -> [u64; 4] {
        let mut row = filled & filled >> 4;
        row &= row >> 2;
        row &= row >> 1;
        row = (row & 0x0101_0101_0101_0101) * 0xff;
        let mut column = filled & filled.rotate_right(32);
        column &= column.rotate_right(16);
        column &= column.rotate_right(8);
        let run = |[one, two, four]: [u64; 3], step: fn(u64, u32) -> u64, shift: u32| {
            let mut full = filled & (one | step(filled, shift));
            full &= two | step(full, 2 * shift);
            full & (four | step(full, 4 * shift))
        };
        let (down, up) = (|set, n| set >> n, |set, n| set << n);
        let [plus_9, minus_9, plus_7, minus_7] = DIAGONAL_ENDS;
        let falling = run(plus_9, down, 9) & run(minus_9, up, 9);
        let rising = run(plus_7, down, 7) & run(minus_7, up, 7);
        let ends = &self.ends;
        [row | ends[0], rising | ends[1], column | ends[2], falling | ends[3]]
    }

    /// Returns the smallest image of a board under the symmetries of its shape.
    pub(super) fn canonical(&self, board: Board) -> Board {
        let mut smallest = board;
        let mut consider = |image: Board| {
            if (image.mover, image.opponent) < (smallest.mover, smallest.opponent) {
                smallest = image;
            }
        };
        let turns = if self.rows == self.columns { 2 } else { 1 };
        let mut image = board;
        for _ in 0..turns {
            for _ in 0..2 {
                for _ in 0..2 {
                    consider(image);
                    image = on_both(image, |set| self.mirror_columns(set));
                }
                image = on_both(image, |set| self.mirror_rows(set));
            }
            image = on_both(image, transpose);
        }
        smallest
    }

    fn mirror_rows(&self, set: u64) -> u64 {
        set.swap_bytes() >> (8 * (8 - self.rows))
    }

    fn mirror_columns(&self, set: u64) -> u64 {
        // Reversing all bits mirrors rows and columns; swapping the bytes restores the rows.
        set.reverse_bits().swap_bytes() >> (8 - self.columns)
    }
}

fn on_both(board: Board, map: impl Fn(u64) -> u64) -> Board {
    Board { mover: map(board.mover), opponent: map(board.opponent) }
}

/// Mirrors the 8×8 grid at its main diagonal.
fn transpose(set: u64) -> u64 {
    let swap = |set: u64, mask: u64, shift: u32| {
        let moved = (set ^ set >> shift) & mask;
        set ^ moved ^ moved << shift
    };
    let set = swap(set, 0x00aa_00aa_00aa_00aa, 7);
    let set = swap(set, 0x0000_cccc_0000_cccc, 14);
    swap(set, 0x0000_0000_f0f0_f0f0, 28)
}
