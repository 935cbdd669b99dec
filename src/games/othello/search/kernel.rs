//! Legal moves, flips and sums of pattern weights, in portable Rust and with AVX2 and BMI2.
//!
//! Both versions return the same results, so a search visits the same positions with either. The
//! search is generic over [`Kernel`] and enters each recursive function through [`Kernel::call`],
//! which compiles it for the instructions of the kernel; without that, intrinsics are not inlined.
//! Sums over lanes are written with intrinsics, because the compiler turned loops over 48 lanes into an
//! extract, an add and an insert a lane, at half of the speed of the whole search.
//! This is the only file of the search with `unsafe` code.

#![allow(unsafe_code)]

use crate::games::othello::Board;

/// Shifts of the four lines through a square: row, two diagonals, column.
const SHIFTS: [u32; 4] = [1, 7, 8, 9];

/// Squares through which a line of each shift may continue: all but the outer columns, except along a column.
const INNER: [u64; 4] = [0x7e7e_7e7e_7e7e_7e7e, 0x7e7e_7e7e_7e7e_7e7e, !0, 0x7e7e_7e7e_7e7e_7e7e];

/// Squares of the eight rays from each square: four towards higher bits, four towards lower ones.
static RAYS: [Rays; 64] = rays();

/// Squares next to each square.
pub(super) static NEIGHBOURS: [u64; 64] = neighbours();

/// Number of discs turned by a move on square `i` of a full line of eight in which `set` is the mover's.
static LINE_COUNTS: [[u8; 256]; 8] = line_counts();

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Rays {
    up: [u64; 4],
    down: [u64; 4],
}

/// Maximum number of patterns on a board, images included; 8×8 has 46.
pub(super) const LANES: usize = 48;

/// Index of the contents of each pattern.
pub(super) type Lanes = [u16; LANES];

/// Part of a half row in the indices, for each set of its squares.
pub(super) type HalfRowParts = [Lanes; 16];

/// Recursive function of a search, to be compiled for the instructions of a kernel.
///
/// A type instead of a closure, because only methods can be marked for inlining.
pub(super) trait Recursion<S, A> {
    /// Searches a position; `arguments` are usually the window and the number of empty squares.
    fn run(search: &mut S, board: Board, arguments: A) -> i32;
}

/// Board operations that depend on the processor.
pub(super) trait Kernel: Copy + Send + Sync {
    /// Returns the empty squares of the 8×8 grid on which the mover turns at least one disc. On narrow boards
    /// the set also contains squares beside the board.
    fn moves(self, board: Board) -> u64;

    /// Returns the opponent's discs that the mover turns by placing on an empty square.
    fn flips(self, square: u32, board: Board) -> u64;

    /// Counts the discs that the side with `own` turns on the only empty square of the board.
    fn last_flips(self, square: u32, own: u64, other: u64) -> i32;

    /// Returns the index of each pattern's contents: the sum of what each half row of the mover's discs adds,
    /// and twice that of the opponent's. `parts` has two elements a row, from the first row on.
    fn pattern_indices(self, parts: &[HalfRowParts], board: Board) -> Lanes;

    /// Returns the sum of the weights at `offsets + indices`, all but the last of which are weights of patterns.
    fn sum_weights(self, weights: &[i16], offsets: &[u32; LANES], indices: &Lanes) -> i32;

    /// Runs `R` compiled for this kernel's instructions.
    fn call<R: Recursion<S, A>, S, A>(self, search: &mut S, board: Board, arguments: A) -> i32;
}

/// Kernel in portable Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar;

impl Kernel for Scalar {
    #[inline(always)]
    fn moves(self, board: Board) -> u64 {
        let mut reach = 0;
        for (shift, inner) in SHIFTS.into_iter().zip(INNER) {
            let through = board.opponent & inner;
            reach |= run(board.mover, through, |set, n| set << (shift * n)) << shift;
            reach |= run(board.mover, through, |set, n| set >> (shift * n)) >> shift;
        }
        reach & !(board.mover | board.opponent)
    }

    #[inline(always)]
    fn flips(self, square: u32, board: Board) -> u64 {
        let rays = &RAYS[square as usize & 63];
        let mut turned = 0;
        for ray in rays.up {
            let open = ray & !board.opponent;
            let end = open & open.wrapping_neg() & board.mover;
            turned |= end.saturating_sub(1) & ray;
        }
        for ray in rays.down {
            let open = ray & !board.opponent;
            let highest = (1u64 << 63).checked_shr(open.leading_zeros()).unwrap_or(0);
            let end = highest & board.mover;
            turned |= (end << 1).wrapping_neg() & ray;
        }
        turned
    }

    #[inline(always)]
    fn last_flips(self, square: u32, own: u64, other: u64) -> i32 {
        self.flips(square, Board { mover: own, opponent: other }).count_ones() as i32
    }

    #[inline(always)]
    fn pattern_indices(self, parts: &[HalfRowParts], board: Board) -> Lanes {
        let mut indices = [0; LANES];
        for (half, parts) in parts.iter().enumerate() {
            let own_part = &parts[(board.mover >> (4 * half) & 15) as usize];
            let other_part = &parts[(board.opponent >> (4 * half) & 15) as usize];
            for lane in 0..LANES {
                let part = own_part[lane].wrapping_add(other_part[lane].wrapping_mul(2));
                indices[lane] = part.wrapping_add(indices[lane]);
            }
        }
        indices
    }

    #[inline(always)]
    fn sum_weights(self, weights: &[i16], offsets: &[u32; LANES], indices: &Lanes) -> i32 {
        let places = offsets.iter().zip(indices).map(|(offset, &index)| offset + u32::from(index));
        places.map(|place| i32::from(weights[place as usize])).sum()
    }

    #[inline(always)]
    fn call<R: Recursion<S, A>, S, A>(self, search: &mut S, board: Board, arguments: A) -> i32 {
        #[inline(never)]
        fn plain<R: Recursion<S, A>, S, A>(search: &mut S, board: Board, arguments: A) -> i32 {
            R::run(search, board, arguments)
        }
        plain::<R, S, A>(search, board, arguments)
    }
}

/// Returns the discs of `through` in an unbroken run that starts next to a disc of `from`;
/// `step(set, n)` moves a set by `n` squares in the direction of the run.
#[inline(always)]
fn run(from: u64, through: u64, step: impl Fn(u64, u32) -> u64) -> u64 {
    let mut reached = through & step(from, 1);
    reached |= through & step(reached, 1);
    let pairs = through & step(through, 1);
    reached |= pairs & step(reached, 2);
    reached | pairs & step(reached, 2)
}

const fn rays() -> [Rays; 64] {
    let mut all = [Rays { up: [0; 4], down: [0; 4] }; 64];
    let steps = [(0, 1), (1, -1), (1, 0), (1, 1)];
    let mut square = 0;
    while square < 64 {
        let mut line = 0;
        while line < 4 {
            let (dr, dc) = steps[line];
            all[square].up[line] = ray(square as i32, dr, dc);
            all[square].down[line] = ray(square as i32, -dr, -dc);
            line += 1;
        }
        square += 1;
    }
    all
}

const fn ray(square: i32, dr: i32, dc: i32) -> u64 {
    let (mut row, mut column) = (square / 8 + dr, square % 8 + dc);
    let mut set = 0;
    while row >= 0 && row < 8 && column >= 0 && column < 8 {
        set |= 1 << (8 * row + column);
        row += dr;
        column += dc;
    }
    set
}

const fn neighbours() -> [u64; 64] {
    let mut all = [0; 64];
    let mut square = 0;
    while square < 64 {
        let set = 1u64 << square;
        let wide = set | (set << 1 & !0x0101_0101_0101_0101) | (set >> 1 & !0x8080_8080_8080_8080);
        all[square] = (wide | wide << 8 | wide >> 8) & !set;
        square += 1;
    }
    all
}

const fn line_counts() -> [[u8; 256]; 8] {
    let mut all = [[0; 256]; 8];
    let mut square = 0;
    while square < 8 {
        let mut set = 0;
        while set < 256 {
            let above = set >> (square + 1);
            let below = set & ((1 << square) - 1);
            if above != 0 {
                all[square][set] += above.trailing_zeros() as u8;
            }
            if below != 0 {
                all[square][set] += (square as u32 - 1 - below.ilog2()) as u8;
            }
            set += 1;
        }
        square += 1;
    }
    all
}

#[cfg(target_arch = "x86_64")]
pub(super) use vector::Vector;

#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::*;

    use super::{Board, HalfRowParts, INNER, Kernel, LANES, LINE_COUNTS, Lanes, RAYS, Recursion};

    /// Kernel for processors with AVX2 and BMI2.
    ///
    /// A value exists only where [`Vector::detect`] found the instructions, so every method may
    /// use them.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Vector(());

    impl Vector {
        /// Returns the kernel if the processor has its instructions.
        pub(crate) fn detect() -> Option<Vector> {
            let found = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            found.then_some(Vector(()))
        }
    }

    impl Kernel for Vector {
        #[inline(always)]
        fn moves(self, board: Board) -> u64 {
            // SAFETY: `detect` found the instructions.
            unsafe { moves(board) }
        }

        #[inline(always)]
        fn flips(self, square: u32, board: Board) -> u64 {
            // SAFETY: `detect` found the instructions.
            unsafe { flips(square, board) }
        }

        #[inline(always)]
        fn last_flips(self, square: u32, own: u64, _other: u64) -> i32 {
            // SAFETY: `detect` found the instructions.
            unsafe { last_flips(square, own) }
        }

        #[inline(always)]
        fn pattern_indices(self, parts: &[HalfRowParts], board: Board) -> Lanes {
            // SAFETY: `detect` found the instructions.
            unsafe { pattern_indices(parts, board) }
        }

        #[inline(always)]
        fn sum_weights(self, weights: &[i16], offsets: &[u32; LANES], indices: &Lanes) -> i32 {
            // SAFETY: `detect` found the instructions.
            unsafe { sum_weights(weights, offsets, indices) }
        }

        #[inline(always)]
        fn call<R: Recursion<S, A>, S, A>(self, search: &mut S, board: Board, arguments: A) -> i32 {
            #[inline(never)]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn featured<R: Recursion<S, A>, S, A>(
                search: &mut S,
                board: Board,
                arguments: A,
            ) -> i32 {
                R::run(search, board, arguments)
            }
            // SAFETY: `detect` found the instructions.
            unsafe { featured::<R, S, A>(search, board, arguments) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn four(words: &[u64; 4]) -> __m256i {
        // SAFETY: the four words are readable; the load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn or_of_lanes(words: __m256i) -> u64 {
        let half =
            _mm_or_si128(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        _mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))) as u64
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn moves(board: Board) -> u64 {
        let (one, two) = (_mm256_setr_epi64x(1, 7, 8, 9), _mm256_setr_epi64x(2, 14, 16, 18));
        let own = _mm256_set1_epi64x(board.mover as i64);
        let through = _mm256_and_si256(_mm256_set1_epi64x(board.opponent as i64), four(&INNER));
        let mut up = _mm256_and_si256(through, _mm256_sllv_epi64(own, one));
        let mut down = _mm256_and_si256(through, _mm256_srlv_epi64(own, one));
        up = _mm256_or_si256(up, _mm256_and_si256(through, _mm256_sllv_epi64(up, one)));
        down = _mm256_or_si256(down, _mm256_and_si256(through, _mm256_srlv_epi64(down, one)));
        let pairs_up = _mm256_and_si256(through, _mm256_sllv_epi64(through, one));
        let pairs_down = _mm256_srlv_epi64(pairs_up, one);
        for _ in 0..2 {
            up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two)));
            down =
                _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two)));
        }
        let reach = _mm256_or_si256(_mm256_sllv_epi64(up, one), _mm256_srlv_epi64(down, one));
        or_of_lanes(reach) & !(board.mover | board.opponent)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn flips(square: u32, board: Board) -> u64 {
        let rays = &RAYS[square as usize & 63];
        let zero = _mm256_setzero_si256();
        let own = _mm256_set1_epi64x(board.mover as i64);
        let other = _mm256_set1_epi64x(board.opponent as i64);
        // Towards higher bits: the first square that is not the opponent's is the lowest bit.
        let ray = four(&rays.up);
        let open = _mm256_andnot_si256(other, ray);
        let first = _mm256_and_si256(open, _mm256_sub_epi64(zero, open));
        let end = _mm256_and_si256(first, own);
        let none = _mm256_cmpeq_epi64(end, zero);
        let below = _mm256_add_epi64(end, _mm256_set1_epi64x(-1));
        let up = _mm256_andnot_si256(none, _mm256_and_si256(below, ray));
        // Towards lower bits: the first such square is the highest bit, found by filling the ray below each.
        let (one, two, three) = (
            _mm256_setr_epi64x(1, 7, 8, 9),
            _mm256_setr_epi64x(2, 14, 16, 18),
            _mm256_setr_epi64x(4, 28, 32, 36),
        );
        let ray = four(&rays.down);
        let open = _mm256_andnot_si256(other, ray);
        let mut behind = _mm256_srlv_epi64(open, one);
        behind = _mm256_or_si256(behind, _mm256_srlv_epi64(behind, one));
        behind = _mm256_or_si256(behind, _mm256_srlv_epi64(behind, two));
        behind = _mm256_or_si256(behind, _mm256_srlv_epi64(behind, three));
        let end = _mm256_and_si256(_mm256_andnot_si256(behind, open), own);
        let above = _mm256_sub_epi64(zero, _mm256_add_epi64(end, end));
        let down = _mm256_and_si256(above, ray);
        or_of_lanes(_mm256_or_si256(up, down))
    }

    /// Number of vectors of 16 lanes.
    const VECTORS: usize = LANES / 16;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sixteen(lanes: &Lanes, vector: usize) -> __m256i {
        // SAFETY: slicing checks that the 16 lanes are there; the load needs no alignment.
        unsafe { _mm256_loadu_si256(lanes[16 * vector..][..16].as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn pattern_indices(parts: &[HalfRowParts], board: Board) -> Lanes {
        let (mut own, mut other) =
            ([_mm256_setzero_si256(); VECTORS], [_mm256_setzero_si256(); VECTORS]);
        for (half, parts) in parts.iter().enumerate() {
            let own_part = &parts[(board.mover >> (4 * half) & 15) as usize];
            let other_part = &parts[(board.opponent >> (4 * half) & 15) as usize];
            for vector in 0..VECTORS {
                own[vector] = _mm256_add_epi16(own[vector], sixteen(own_part, vector));
                other[vector] = _mm256_add_epi16(other[vector], sixteen(other_part, vector));
            }
        }
        let mut indices = [0; LANES];
        for vector in 0..VECTORS {
            let twice = _mm256_add_epi16(other[vector], other[vector]);
            let sum = _mm256_add_epi16(own[vector], twice);
            // SAFETY: slicing checks that the 16 lanes are there; the store needs no alignment.
            unsafe { _mm256_storeu_si256(indices[16 * vector..][..16].as_mut_ptr().cast(), sum) };
        }
        indices
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum_weights(weights: &[i16], offsets: &[u32; LANES], indices: &Lanes) -> i32 {
        // A gather reads the weight after each one too, so the last may not be asked for.
        assert!((2..1 << 30).contains(&weights.len()), "invalid number of weights");
        let most = _mm256_set1_epi32(weights.len() as i32 - 2);
        // Keeps the weight and drops the one after it.
        let first_of_two = _mm256_set1_epi32(1);
        let mut sum = _mm256_setzero_si256();
        for (offsets, indices) in offsets.chunks_exact(8).zip(indices.chunks_exact(8)) {
            // SAFETY: both have eight elements, and weights at `most` and after it are read at most.
            let weights = unsafe {
                let indices = _mm256_cvtepu16_epi32(_mm_loadu_si128(indices.as_ptr().cast()));
                let offsets = _mm256_loadu_si256(offsets.as_ptr().cast());
                let places = _mm256_min_epu32(_mm256_add_epi32(offsets, indices), most);
                _mm256_i32gather_epi32::<2>(weights.as_ptr().cast(), places)
            };
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(weights, first_of_two));
        }
        let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
        _mm_cvtsi128_si32(half) + _mm_extract_epi32::<1>(half)
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    fn last_flips(square: u32, own: u64) -> i32 {
        let rays = &RAYS[square as usize & 63];
        let (row, column) = (square as usize >> 3 & 7, square as usize & 7);
        let set = 1u64 << (square & 63);
        let [diagonal, anti] = [3, 1].map(|line| rays.up[line] | rays.down[line] | set);
        // Both diagonals meet a column at most once: the n-th bit of a diagonal lies in the n-th
        // column, or row, of those it meets.
        let along = LINE_COUNTS[column][(own >> (8 * row) & 0xff) as usize];
        let across =
            LINE_COUNTS[row][_pext_u64(own, 0x0101_0101_0101_0101 << column) as usize & 0xff];
        let first = LINE_COUNTS[row.min(column)][_pext_u64(own, diagonal) as usize & 0xff];
        let second = LINE_COUNTS[row.min(7 - column)][_pext_u64(own, anti) as usize & 0xff];
        i32::from(along) + i32::from(across) + i32::from(first) + i32::from(second)
    }
}
