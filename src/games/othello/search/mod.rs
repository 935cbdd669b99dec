//! Exact search of Othello positions on every board from 4×4 to 8×8.
//!
//! Null-window searches narrow the bounds of a score until they meet. All bounds are proven, so a
//! search may stop at any time.

mod deep;
mod evaluation;
mod kernel;
mod parallel;
mod patterns;
mod shallow;
mod shape;
#[cfg(test)]
mod tests;
mod training;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use crate::games::othello::Board;
use crate::rules::{Empties, SearchLimits as Limits};
use crate::transposition::{TranspositionEntry, TranspositionTable};
use deep::OrderedMove;
use kernel::{Kernel, Scalar};
use parallel::{SplitPoint, Team};
use shape::BoardShape;

pub use evaluation::{Evaluation, built_in};
pub use training::{FitProgress, TrainOptions};

/// Transposition table of boards.
type BoardTable = TranspositionTable<2, 2>;

impl From<Board> for [u64; 2] {
    #[inline(always)]
    fn from(board: Board) -> [u64; 2] {
        [board.mover, board.opponent]
    }
}

/// Maximum number of empty squares that are searched without the transposition table.
const SHALLOW: u32 = 5;

/// Bound below every score.
const WORST: i32 = -128;

/// Bound of all evaluations.
const WIDE: i32 = 1 << 20;

/// Returns whether searches use vector instructions on this processor.
pub fn is_vectorised() -> bool {
    #[cfg(target_arch = "x86_64")]
    return kernel::Vector::detect().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Options of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Number of rows, 4 to 8.
    pub rows: usize,
    /// Number of columns, 4 to 8.
    pub columns: usize,
    /// Convention for the squares left empty at the end.
    pub empties: Empties,
    /// Maximum size of the transposition table in bytes.
    pub memory: usize,
    /// Number of threads.
    pub threads: usize,
    /// Evaluation for move ordering; the plain one if `None` or of another shape.
    pub evaluation: Option<Arc<Evaluation>>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineResult {
    /// Proven lower bound of the mover's final score.
    pub lower: i32,
    /// Proven upper bound of the mover's final score; equal to `lower` when solved.
    pub upper: i32,
    /// Bit of a move proven to reach `lower`; `None` for a pass, a finished game, or if no move is proven to.
    pub best: Option<u32>,
    /// Number of positions visited.
    pub nodes: u64,
}

/// Exact search engine of one board shape.
pub struct Engine {
    shape: BoardShape,
    table: BoardTable,
    /// Small table of each thread.
    near: Vec<BoardTable>,
    memory: usize,
    scalar: bool,
    evaluation: Arc<Evaluation>,
}

impl Engine {
    /// Returns an engine; it allocates its table when a search needs it.
    pub fn new(options: &EngineOptions) -> Engine {
        let evaluation = options.evaluation.clone().filter(|evaluation| {
            (evaluation.shape.rows, evaluation.shape.columns) == (options.rows, options.columns)
        });
        let plain = || Arc::new(Evaluation::plain(options.rows, options.columns));
        Engine {
            shape: BoardShape::new(options.rows, options.columns, options.empties),
            table: BoardTable::new(0),
            near: (0..options.threads.max(1)).map(|_| BoardTable::new(NEAR_BYTES)).collect(),
            memory: options.memory,
            scalar: false,
            evaluation: evaluation.unwrap_or_else(plain),
        }
    }

    /// Searches until the score is known within `window`, ends excluded; a score outside it is only bounded.
    pub fn solve(&mut self, board: &Board, window: (i32, i32), limits: &Limits) -> EngineResult {
        self.with_search(board, limits, Solve { window })
    }

    fn with_search<T: KernelTask>(&mut self, board: &Board, limits: &Limits, task: T) -> T::Output {
        self.prepare_table(self.shape.empty(*board).count_ones(), limits.deadline);
        #[cfg(target_arch = "x86_64")]
        if !self.scalar
            && let Some(kernel) = kernel::Vector::detect()
        {
            return parallel::run(self, kernel, limits, task, *board);
        }
        parallel::run(self, Scalar, limits, task, *board)
    }

    /// Grows the table to the size that a search with `empties` empty squares can use until its deadline.
    fn prepare_table(&mut self, empties: u32, deadline: Option<Instant>) {
        let wanted = 1usize << (TABLE_BITS + empties).min(50);
        let seconds =
            |deadline: Instant| deadline.saturating_duration_since(Instant::now()).as_secs();
        let used = deadline.map_or(usize::MAX, |deadline| {
            let seconds = usize::try_from(seconds(deadline)).unwrap_or(usize::MAX);
            seconds.saturating_mul(BYTES_A_SECOND * self.near.len()).max(BYTES_AT_LEAST)
        });
        let bytes = wanted.min(self.memory).min(used);
        if bytes >= 2 * self.table.bytes() && empties > SHALLOW {
            // Frees the old table first, so that both are never allocated at once.
            self.table = BoardTable::new(0);
            self.table = BoardTable::new(bytes);
        }
        self.table.start_search();
        self.near.iter_mut().for_each(BoardTable::start_search);
    }
}

/// Distance between the first and the second bound tried.
const FIRST_STEP: i32 = 2;

/// Maximum number of plies of the searches by evaluation that guess a score.
const GUESS_MOST: u32 = 6;

/// Maximum number of empty squares of positions stored in the small table of one thread.
const NEAR: u32 = 11;

/// Size of the table of one thread.
const NEAR_BYTES: usize = 1 << 20;

/// Bytes of the table that a thread can use in a second; it writes a tenth of them. Zeroing more takes time from a
/// search with a deadline.
const BYTES_A_SECOND: usize = 256 << 20;

/// Bytes of the table that no deadline reduces.
const BYTES_AT_LEAST: usize = 512 << 20;

/// Binary logarithm of the table's bytes for a position without empty squares.
const TABLE_BITS: u32 = 7;

/// Work to be done by a search with either kernel.
trait KernelTask {
    type Output;

    fn run<K: Kernel>(self, search: &mut Search<K>, board: Board) -> Self::Output;
}

struct Solve {
    window: (i32, i32),
}

impl KernelTask for Solve {
    type Output = EngineResult;

    fn run<K: Kernel>(self, search: &mut Search<K>, board: Board) -> EngineResult {
        let (lower, upper) = search.narrow(board, self.window);
        let proven = lower == upper || lower > -search.shape.squares;
        let best = if proven { search.move_reaching(board, lower) } else { None };
        EngineResult { lower, upper, best, nodes: search.nodes }
    }
}

/// State of one thread's search.
struct Search<'a, K: Kernel> {
    kernel: K,
    shape: &'a BoardShape,
    evaluation: &'a Evaluation,
    table: &'a BoardTable,
    /// Small table of this thread for positions with few empty squares; fits into the CPU cache.
    near: &'a BoardTable,
    /// State shared with other threads, if any.
    team: Option<&'a Team>,
    /// Innermost node that this thread searches together with others.
    split: Option<Arc<SplitPoint>>,
    limits: Limits<'a>,
    nodes: u64,
    /// Number of nodes at which limits are checked next.
    next_check: u64,
    stopped: bool,
    /// Minimum number of empty squares of positions that are folded by symmetry.
    fold_from: u32,
    /// Moves of all positions from the root to the current one.
    moves: Vec<OrderedMove>,
}

impl<'a, K: Kernel> Search<'a, K> {
    fn new(
        engine: &'a Engine,
        kernel: K,
        limits: &Limits<'a>,
        thread: usize,
        team: Option<&'a Team>,
    ) -> Search<'a, K> {
        Search {
            kernel,
            shape: &engine.shape,
            evaluation: &engine.evaluation,
            table: &engine.table,
            near: &engine.near[thread],
            team,
            split: None,
            limits: *limits,
            nodes: 0,
            next_check: 0,
            stopped: false,
            fold_from: (engine.shape.squares as u32).saturating_sub(FOLD_DISCS),
            moves: Vec::with_capacity(1024),
        }
    }

    /// Narrows the bounds of a score until they meet or leave `window`.
    ///
    /// Each null-window search proves one bound. The steps grow as long as all searches fail on
    /// the same side.
    fn narrow(&mut self, board: Board, window: (i32, i32)) -> (i32, i32) {
        let squares = self.shape.squares;
        let empties = self.shape.empty(board).count_ones();
        let (mut lower, mut upper) = (-squares, squares);
        let mut target = self.guess(board, empties);
        let mut step = FIRST_STEP;
        let mut low_side = None;
        while lower < upper && lower < window.1 && upper > window.0 {
            target = target.clamp(lower + 1, upper).clamp(window.0 + 1, window.1.max(window.0 + 1));
            let score = self.search(board, target - 1, empties);
            if self.stopped {
                break;
            }
            let failed_low = score < target;
            if low_side.is_some_and(|side| side != failed_low) {
                step = (step / 2).max(1);
            }
            if failed_low {
                upper = upper.min(score);
                target = upper - step + 1;
            } else {
                lower = lower.max(score);
                target = lower + step;
            }
            if low_side == Some(failed_low) {
                step *= 2;
            }
            low_side = Some(failed_low);
        }
        (lower, upper)
    }

    /// Returns a cheap guess of the score: the mean of two searches by evaluation, one a ply deeper than the other,
    /// because the weights value the turn itself too much.
    fn guess(&mut self, board: Board, empties: u32) -> i32 {
        let trained = self.evaluation.is_trained();
        let depth = if trained { (empties.saturating_sub(7) / 2).min(GUESS_MOST) } else { 0 };
        let depths = [depth, depth.saturating_sub(1)];
        let sum: i32 = depths.map(|depth| self.preview(board, depth, -WIDE, WIDE)).iter().sum();
        sum / (2 * evaluation::DISC)
    }

    /// Returns a score that proves whether the position is worth more than `alpha`.
    #[inline(always)]
    fn search(&mut self, board: Board, alpha: i32, empties: u32) -> i32 {
        match empties {
            0..SHALLOW => self.last(board, alpha, empties),
            SHALLOW => self.shallow(board, alpha),
            _ => self.deep(board, alpha, empties),
        }
    }

    /// Returns a move whose value is at least `score`.
    fn move_reaching(&mut self, board: Board, score: i32) -> Option<u32> {
        let empties = self.shape.empty(board).count_ones();
        let children = self.children(board);
        let (last, others) = children.split_last()?;
        let known = |&&(_, child): &&(u32, Board)| {
            let child = self.folded(child, empties - 1);
            let table = self.table_for(empties - 1);
            let entry = table.get(child, table.index(child)).unwrap_or(TranspositionEntry::UNKNOWN);
            -entry.upper >= score
        };
        if let Some(&(square, _)) = children.iter().find(known) {
            return Some(square);
        }
        for &(square, child) in others {
            let reply = self.search(child, -score, empties - 1);
            if self.stopped {
                return None;
            }
            if -reply >= score {
                return Some(square);
            }
        }
        Some(last.0)
    }

    /// Returns the table for positions with this number of empty squares.
    #[inline(always)]
    fn table_for(&self, empties: u32) -> &'a BoardTable {
        if empties > NEAR { self.table } else { self.near }
    }

    fn children(&self, board: Board) -> Vec<(u32, Board)> {
        let moves = self.kernel.moves(board) & self.shape.board;
        let squares = (0..64).filter(|square| moves >> square & 1 != 0);
        squares.map(|square| (square, self.play(board, square))).collect()
    }

    /// Returns the board after the mover places on a square, as the opponent sees it.
    #[inline(always)]
    fn play(&self, board: Board, square: u32) -> Board {
        let turned = self.kernel.flips(square, board);
        Board { mover: board.opponent ^ turned, opponent: board.mover | turned | 1 << square }
    }

    /// Checks the limits every few thousand nodes.
    #[inline(always)]
    fn must_stop(&mut self, empties: u32) -> bool {
        if self.nodes >= self.next_check {
            self.check_limits();
        }
        self.stopped |= self.is_cut(empties);
        self.stopped
    }

    #[cold]
    fn check_limits(&mut self) {
        let Limits { nodes, deadline, stop } = self.limits;
        let reached = deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || stop.is_some_and(|stop| stop.load(Relaxed));
        self.stopped |= match self.team {
            Some(team) => team.check(&self.limits, reached),
            None => reached || nodes.is_some_and(|most| self.nodes >= most),
        };
        self.next_check = self.nodes + CHECK_EVERY;
        if let Some(most) = nodes {
            self.next_check = self.next_check.min(most);
        }
    }
}

/// Number of nodes between two checks of the limits.
const CHECK_EVERY: u64 = 20_000;

/// Maximum number of discs on a board that is folded by symmetry.
const FOLD_DISCS: u32 = 12;

/// Returns a position of a random game with the given number of empty squares.
#[doc(hidden)]
pub fn random_board(rows: usize, columns: usize, empties: u32, seed: &mut u64) -> Board {
    let mut random = |count: usize| {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*seed ^ *seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as usize) % count
    };
    let shape = BoardShape::new(rows, columns, Empties::Uncounted);
    let (r, c) = (rows / 2 - 1, columns / 2 - 1);
    let bit = |r: usize, c: usize| 1u64 << (8 * r + c);
    loop {
        let mut board =
            Board { mover: bit(r, c + 1) | bit(r + 1, c), opponent: bit(r, c) | bit(r + 1, c + 1) };
        while shape.empty(board).count_ones() > empties {
            let legal = |board| Scalar.moves(board) & shape.board;
            if legal(board) == 0 {
                board = board.swapped();
                if legal(board) == 0 {
                    break;
                }
                continue;
            }
            let mut moves = legal(board);
            for _ in 0..random(moves.count_ones() as usize) {
                moves &= moves - 1;
            }
            let square = moves.trailing_zeros();
            let turned = Scalar.flips(square, board);
            board = Board {
                mover: board.opponent ^ turned,
                opponent: board.mover | turned | 1 << square,
            };
        }
        if shape.empty(board).count_ones() == empties {
            return board;
        }
    }
}

/// Plays a move.
#[doc(hidden)]
pub fn play(board: Board, square: u32) -> Board {
    let turned = Scalar.flips(square, board);
    Board { mover: board.opponent ^ turned, opponent: board.mover | turned | 1 << square }
}
