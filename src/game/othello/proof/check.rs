//! Checker of certificates. It shares only the rules of the game with the search that made them.

use rayon::prelude::*;

use super::{Header, PROOF, Turn, Walk};
use crate::game::Empties;
use crate::game::othello::Board;

/// Maximum number of empty squares at which moves are searched unordered.
const UNORDERED: u32 = 4;

/// Result of a successful check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// Claim that was proven.
    pub header: Header,
    /// Number of leaves of both sides that were searched.
    pub leaves: [usize; 2],
}

/// Checks a certificate and returns the claim that it proves.
pub fn check(bytes: &[u8]) -> Result<CheckReport, String> {
    let (header, moves) = Header::read(bytes, PROOF)?;
    let rules = BoardRules::new(header.rows, header.columns, header.empties);
    let (count, others) = (header.counts[0] as usize, header.counts[1] as usize);
    if count.checked_add(others) != Some(moves.len()) {
        return Err(format!(
            "invalid move stream: {} moves, expected {count} + {others}",
            moves.len()
        ));
    }
    let (of_mover, of_opponent) = moves.split_at(count);
    let sides = [(Turn::Hero, header.score, of_mover), (Turn::Other, -header.score, of_opponent)];
    let mut leaves = [0; 2];
    for (at, (turn, score, moves)) in sides.into_iter().enumerate() {
        let who = ["mover", "opponent"][at];
        leaves[at] = check_side(&rules, &header, turn, score, moves).map_err(|error| {
            format!("proof for the {who} of a score of at least {score}: {error}")
        })?;
    }
    Ok(CheckReport { header, leaves })
}

/// Checks that the hero scores at least `score` and returns the number of leaves.
fn check_side(
    rules: &BoardRules,
    header: &Header,
    turn: Turn,
    score: i32,
    moves: &[u8],
) -> Result<usize, String> {
    let mut walk = Walk::new(rules, header.leaf_depth);
    walk.add(header.root, turn, score);
    let mut moves = moves.iter();
    for empties in walk.levels() {
        for (board, _) in walk.level(empties)? {
            let legal = rules.moves(board);
            let mut square = None;
            if legal.count_ones() > 1 {
                let index = *moves.next().ok_or("truncated move stream")?;
                square = Some(nth(legal, index).ok_or_else(|| {
                    format!("invalid move index {index} in a position with {empties} empty squares")
                })?);
            }
            walk.follow(board, score, square);
        }
    }
    if moves.next().is_some() {
        return Err(format!("{} moves beyond the end", moves.len() + 1));
    }
    walk.failure()?;
    check_leaves(rules, &walk)
}

/// Searches the leaves of a walk and returns their number; fails if the hero scores less than its bound.
pub(super) fn check_leaves(rules: &BoardRules, walk: &Walk) -> Result<usize, String> {
    let leaves = walk.leaves();
    let refuted = leaves.par_iter().find_any(|&&(board, turn, score)| match turn {
        Turn::Hero => rules.search(board, score - 1, score) < score,
        Turn::Other => rules.search(board, -score, -score + 1) > -score,
    });
    match refuted {
        Some(&(board, ..)) => {
            Err(format!("score of a leaf below its bound: {}", rules.diagram(board)))
        }
        None => Ok(leaves.len()),
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
