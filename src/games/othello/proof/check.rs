//! Checker of certificates, and the search below stored moves. It shares only the rules of the game with the search
//! that made them.

use rayon::prelude::*;

use super::{Header, Leaf, MOST_POSITIONS, POSITION, PROOF, Room, ScoredMove, Turn, Walk, damaged};
use crate::error::Error;
use crate::games::othello::Board;
use crate::rules::Empties;

/// Maximum number of empty squares at which moves are searched unordered.
const UNORDERED: u32 = 4;

/// Limits of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckLimits {
    /// Bytes of memory that the program may take.
    pub memory: usize,
    /// Number of positions of both sides that the stored moves may reach.
    pub positions: usize,
    /// Number of positions that the search below the stored moves may be expected to visit.
    pub search: u64,
}

impl CheckLimits {
    /// Limits of one side's walk in the making of a proof, and none of the search.
    pub const NONE: CheckLimits = CheckLimits {
        memory: MOST_POSITIONS * POSITION * 2,
        positions: MOST_POSITIONS,
        search: u64::MAX,
    };

    /// Returns the limits for a file of this many bytes: 100 MB and 20 times its size of memory, 200,000 positions
    /// and 32 a byte, and a search that visits 2 · 10¹¹ positions, some two CPU hours. Files of `solver prove` have some nine
    /// positions a byte.
    pub fn of_file(bytes: usize) -> CheckLimits {
        CheckLimits {
            memory: 100_000_000 + 20 * bytes,
            positions: 200_000 + 32 * bytes,
            search: 200_000_000_000,
        }
    }
}

/// Search below the stored moves that a check needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchWork {
    /// Number of positions below the stored moves of either side.
    pub leaves: [usize; 2],
    /// Number of empty squares of the one with the most.
    pub most_empty: u32,
    /// Estimated number of positions that the search visits.
    pub visits: f64,
}

impl SearchWork {
    /// Returns the estimated seconds on this number of threads.
    pub fn seconds(&self, threads: usize) -> f64 {
        self.visits / VISITS_PER_SECOND / threads as f64
    }
}

/// Positions that the plain search visits in a second on one core of 2.0 GHz.
const VISITS_PER_SECOND: f64 = 25e6;

/// Estimates the positions that the plain search visits to prove the claim of a leaf. Measured below 6×6 and FFO 40:
/// with 13 empty squares, 2,000 to 12,000 for a bound that the stored moves keep, 40,000 for one that the other
/// side must reach; each further square multiplies them by 2.5 on 6×6 and 2.8 on 8×8.
fn expected_visits(rules: &BoardRules, leaf: &Leaf) -> f64 {
    let bounds = match (leaf.turn, leaf.lower, leaf.upper) {
        (Turn::Other, Some(_), Some(_)) => 9.0,
        (Turn::Other, Some(_), None) => 8.0,
        _ => 1.0,
    };
    let growth = 2.5 + 0.3 * f64::from(rules.most() - 36) / 28.0;
    4_000.0 * bounds * growth.powi(rules.empties(leaf.board) as i32 - 13)
}

/// Result of a successful check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// Claim that was proven.
    pub header: Header,
    /// `true` for a semi-strong table.
    pub is_semi_strong: bool,
    /// Number of positions of both sides that were searched.
    pub leaves: [usize; 2],
}

/// Checks a certificate.
pub(super) fn check(
    bytes: &[u8],
    limits: &CheckLimits,
    announce: &mut dyn FnMut(&SearchWork),
) -> Result<CheckReport, Error> {
    let (header, moves) = Header::read(bytes, PROOF, limits)?;
    let rules = BoardRules::new(header.rows, header.columns, header.empties);
    let (count, others) = (header.counts[0] as usize, header.counts[1] as usize);
    if count.checked_add(others) != Some(moves.len()) {
        let length = moves.len();
        return Err(damaged(format!(
            "invalid move stream: {length} moves, expected {count} + {others}"
        )));
    }
    let (of_mover, of_opponent) = moves.split_at(count);
    let mut room = Room::new(limits);
    room.take(moves.len())?;
    let first = replay(&rules, &header, Turn::Hero, of_mover, room)?;
    let second = replay(&rules, &header, Turn::Other, of_opponent, first.room)?;
    let leaves = search_leaves(&rules, &[first, second], false, limits, announce)?;
    Ok(CheckReport { header, is_semi_strong: false, leaves })
}

/// Walks the stored moves of one side of a certificate.
fn replay(
    rules: &BoardRules,
    header: &Header,
    turn: Turn,
    moves: &[u8],
    room: Room,
) -> Result<Walk, Error> {
    let (who, score) = match turn {
        Turn::Hero => ("mover", header.score),
        Turn::Other => ("opponent", -header.score),
    };
    let mut walk = Walk::new(rules, header.leaf_depth, room);
    walk.add(header.root, turn, score);
    let mut moves = moves.iter();
    let result = walk.replay(false, |board, _| {
        Ok(ScoredMove { score, square: next_move(rules, board, &mut moves)? })
    });
    let result = result.and_then(|()| match moves.len() {
        0 => Ok(walk),
        more => Err(damaged(format!("{more} moves beyond the end"))),
    });
    result.map_err(|error| {
        error.map(|what| format!("proof for the {who} of a score of at least {score}: {what}"))
    })
}

/// Reads the stored move of a position; forced moves are not stored.
pub(super) fn next_move<'a>(
    rules: &BoardRules,
    board: Board,
    moves: &mut impl Iterator<Item = &'a u8>,
) -> Result<Option<u32>, Error> {
    let legal = rules.moves(board);
    if legal.count_ones() < 2 {
        return Ok(None);
    }
    let index = *moves.next().ok_or_else(|| damaged("truncated move stream"))?;
    let empties = rules.empties(board);
    let invalid =
        || format!("invalid move index {index} in a position with {empties} empty squares");
    Ok(Some(nth(legal, index).ok_or_else(|| damaged(invalid()))?))
}

/// Searches the leaves of both walks and returns their numbers. Fails if the hero scores less than the bound of a
/// leaf or, where scores are exact, if a score of the other side's positions is not the one claimed.
pub(super) fn search_leaves(
    rules: &BoardRules,
    walks: &[Walk; 2],
    is_exact: bool,
    limits: &CheckLimits,
    announce: &mut dyn FnMut(&SearchWork),
) -> Result<[usize; 2], Error> {
    let mut work = SearchWork { leaves: [0; 2], most_empty: 0, visits: 0.0 };
    for (walk, count) in walks.iter().zip(&mut work.leaves) {
        for leaf in walk.leaves(is_exact) {
            *count += 1;
            work.most_empty = work.most_empty.max(rules.empties(leaf.board));
            work.visits += expected_visits(rules, &leaf);
        }
    }
    if work.visits > limits.search as f64 {
        let positions = work.leaves[0] + work.leaves[1];
        let [visits, most] = [work.visits, limits.search as f64].map(|count| count / 1e9);
        let most_empty = work.most_empty;
        return Err(format!(
            "the search of {positions} positions of at most {most_empty} empty squares visits about {visits:.1} billion positions: expected at most {most:.1} billion"
        )
        .into());
    }
    announce(&work);
    let leaves = walks.iter().flat_map(|walk| walk.leaves(is_exact));
    match leaves.par_bridge().find_map_any(|leaf| leaf.fault(rules)) {
        Some(fault) => Err(damaged(fault)),
        None => Ok(work.leaves),
    }
}

/// Returns the bit of the set at this index.
pub fn nth(mut set: u64, index: u8) -> Option<u32> {
    if u32::from(index) >= set.count_ones() {
        return None;
    }
    for _ in 0..index {
        set &= set - 1;
    }
    Some(set.trailing_zeros())
}

/// Rules of Othello on one board shape, without any table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardRules {
    rows: usize,
    columns: usize,
    /// Squares of the board.
    board: u64,
    /// Squares that a line along a row or a diagonal may pass.
    inner: u64,
    empties: Empties,
}

impl BoardRules {
    /// Returns the rules on a board of `rows` × `columns`, each 4 to 8.
    pub fn new(rows: usize, columns: usize, empties: Empties) -> BoardRules {
        assert!((4..=8).contains(&rows) && (4..=8).contains(&columns), "invalid board shape");
        let row = (1u64 << columns) - 1;
        let repeat = |byte: u64| (0..rows).fold(0, |mask, r| mask | byte << (8 * r));
        let inner = repeat(row & !1 & !(1 << (columns - 1)));
        BoardRules { rows, columns, board: repeat(row), inner, empties }
    }

    /// Returns the start position.
    pub fn start(&self) -> Board {
        let (r, c) = (self.rows / 2 - 1, self.columns / 2 - 1);
        let bit = |r: usize, c: usize| 1u64 << (8 * r + c);
        Board { mover: bit(r, c + 1) | bit(r + 1, c), opponent: bit(r, c) | bit(r + 1, c + 1) }
    }

    /// Returns whether all discs are on the board and on different squares.
    pub fn is_valid(&self, board: Board) -> bool {
        board.mover & board.opponent == 0 && (board.mover | board.opponent) & !self.board == 0
    }

    /// Returns the largest score.
    pub fn most(&self) -> i32 {
        (self.rows * self.columns) as i32
    }

    /// Counts the empty squares.
    pub fn empties(&self, board: Board) -> u32 {
        (self.board & !(board.mover | board.opponent)).count_ones()
    }

    /// Returns the squares on which the mover may place a disc.
    pub fn moves(&self, board: Board) -> u64 {
        let mut reach = 0;
        for (shift, through) in self.lines(board) {
            reach |= run(board.mover, through, |set, n| set << (shift * n)) << shift;
            reach |= run(board.mover, through, |set, n| set >> (shift * n)) >> shift;
        }
        reach & self.board & !(board.mover | board.opponent)
    }

    /// Returns the board after a legal move, seen by the opponent.
    pub fn play(&self, board: Board, square: u32) -> Board {
        let placed = 1u64 << square;
        let mut turned = 0;
        for (shift, through) in self.lines(board) {
            let up = run(placed, through, |set, n| set << (shift * n));
            let down = run(placed, through, |set, n| set >> (shift * n));
            turned |= if up << shift & board.mover != 0 { up } else { 0 };
            turned |= if down >> shift & board.mover != 0 { down } else { 0 };
        }
        Board { mover: board.opponent ^ turned, opponent: board.mover | placed | turned }
    }

    fn lines(&self, board: Board) -> [(u32, u64); 4] {
        let inner = board.opponent & self.inner;
        [(1, inner), (7, inner), (8, board.opponent), (9, inner)]
    }

    /// Returns whether neither side can move.
    pub fn is_over(&self, board: Board) -> bool {
        self.moves(board) == 0 && self.moves(board.swapped()) == 0
    }

    /// Returns the positions after one action of the mover: its moves, or its pass.
    pub fn successors(&self, board: Board) -> Vec<Board> {
        let moves = self.moves(board);
        if moves == 0 {
            return vec![board.swapped()];
        }
        squares(moves).map(|square| self.play(board, square)).collect()
    }

    /// Returns the mover's score of a finished game.
    pub fn score(&self, board: Board) -> i32 {
        let difference = board.mover.count_ones() as i32 - board.opponent.count_ones() as i32;
        match self.empties {
            Empties::Uncounted => difference,
            Empties::ToWinner => difference + difference.signum() * self.empties(board) as i32,
        }
    }

    /// Returns the mover's score if it is between `alpha` and `beta`, otherwise a bound of it.
    pub fn search(&self, board: Board, mut alpha: i32, beta: i32) -> i32 {
        let moves = self.moves(board);
        if moves == 0 {
            let passed = board.swapped();
            if self.moves(passed) == 0 {
                return self.score(board);
            }
            return -self.search(passed, -beta, -alpha);
        }
        let mut order = [0u32; 64];
        let mut count = 0;
        let ordered = self.empties(board) > UNORDERED;
        for square in squares(moves) {
            order[count] = square;
            if ordered {
                order[count] |= self.moves(self.play(board, square)).count_ones() << 8;
            }
            count += 1;
        }
        let order = &mut order[..count];
        order.sort_unstable();
        let mut best = -64;
        for &mut square in order {
            best = best.max(-self.search(self.play(board, square & 63), -beta, -alpha));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// Returns the smallest image of a board under the symmetries of its shape.
    pub fn canonical(&self, board: Board) -> Board {
        let Board { mover, opponent } = board;
        let mut images = [(mover, opponent); 8];
        let mut count = 1;
        let mut double = |map: &dyn Fn(u64) -> u64| {
            for i in 0..count {
                images[count + i] = (map(images[i].0), map(images[i].1));
            }
            count *= 2;
        };
        double(&|set| set.swap_bytes() >> (8 * (8 - self.rows)));
        double(&|set| set.reverse_bits().swap_bytes() >> (8 - self.columns));
        if self.rows == self.columns {
            double(&transpose);
        }
        let smallest = images[..count].iter().min();
        smallest.map_or(board, |&(mover, opponent)| Board { mover, opponent })
    }

    /// Returns the squares row by row, `X` for the mover.
    pub fn diagram(&self, board: Board) -> String {
        let sign = |square: u32| match (board.mover >> square & 1, board.opponent >> square & 1) {
            (1, _) => 'X',
            (_, 1) => 'O',
            _ => '-',
        };
        squares(self.board).map(sign).collect()
    }
}

/// Returns the bits of a set in ascending order.
pub fn squares(set: u64) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(set), |rest| Some(rest & rest.wrapping_sub(1)))
        .take_while(|&rest| rest != 0)
        .map(u64::trailing_zeros)
}

/// Returns the discs of `through` in unbroken runs that start next to `from`.
fn run(from: u64, through: u64, step: impl Fn(u64, u32) -> u64) -> u64 {
    let mut reached = through & step(from, 1);
    reached |= through & step(reached, 1);
    let pairs = through & step(through, 1);
    reached |= pairs & step(reached, 2);
    reached | pairs & step(reached, 2)
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
