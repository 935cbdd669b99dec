//! Exact search of Connect Four: null windows with a transposition table.
//!
//! A score is half the squares plus one, less the discs that the winner has placed when the game ends (P. Pons, *Solving
//! Connect 4*): on 6×7 a win by the winner's 21st disc is 1, and one by the fourth 18. From it follow the result and the number of
//! plies.
//!
//! A node has these bounds before its moves are tried:
//!
//! * a move that wins at once is never searched: whoever is about to win has one already at the parent;
//! * the opponent's only threat that can be played is answered, two are lost, and no disc goes below a threat;
//! * *following up*: whoever does not move first into the free squares can answer in the column of each move, so that
//!   the square above falls to him. In columns with an odd number of free squares the lowest one is left, and these are
//!   answered in pairs. If the other has no line among his discs, the squares below and all that are left, he cannot win; if the
//!   follower then has a line by the squares above, he wins (V. Allis, *A Knowledge-Based Approach of Connect-Four*, 1988, calls
//!   the simplest case claimeven).

use std::sync::Mutex;

use super::{ConnectFour, Stones};
use crate::rules::{Action, Game, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions};
use crate::transposition::{TranspositionEntry, TranspositionTable};

/// Free squares below which positions are searched without the table, and below that without an order of moves.
const FEW: i32 = 12;
const FEWER: i32 = 10;
/// Free squares from which the replies to all moves are looked up first.
const MANY: i32 = 14;
/// Discs up to which a position and its mirror image are one.
const MIRRORED: i32 = 22;
/// Bytes of the table for a position with few free squares, and their number; two more double the table.
const SMALL: usize = 1 << 18;
const EASY: i32 = 16;
/// Nodes between two looks at the limits.
const PATIENCE: u64 = 1 << 12;
/// Least value of a node, below every score.
const WORST: i32 = -100;

/// Search of one board; one caller at a time uses it.
pub(super) struct ConnectFourSearch {
    board: Board,
    table: Mutex<Table>,
    /// Most bytes of the table.
    memory: usize,
}

type Table = TranspositionTable<1, 4>;

impl ConnectFourSearch {
    pub(super) fn new(game: &ConnectFour, options: &SearchOptions) -> ConnectFourSearch {
        let (board, table) = (Board::new(game), Mutex::new(Table::new(0)));
        ConnectFourSearch { board, table, memory: options.memory }
    }
}

impl ScoreSearch<Stones> for ConnectFourSearch {
    /// Finds the outcome, and in a window beyond wins and losses the plies to the end too.
    fn search(&self, state: &Stones, window: (Score, Score), limits: &SearchLimits) -> ScoreBounds {
        let mut table = self.table.lock().expect("no search panics");
        let (board, node) = (&self.board, Node::from_stones(state));
        // A table no larger than the position needs stays in the processor's caches.
        let doublings = (board.squares - node.discs - EASY).max(0) / 2;
        let bytes = self.memory.min(SMALL << doublings);
        if table.bytes() < bytes {
            *table = Table::new(bytes);
        }
        table.start_search();
        let mut search = Search {
            board,
            table: &table,
            limits: *limits,
            nodes: 0,
            next_check: 0,
            stopped: false,
        };
        let by_outcome = window.0.0 >= -1 && window.1.0 <= 1;
        let most = if by_outcome { 1 } else { board.squares };
        let (lower, upper) = search.narrow(node, (-most, most));
        let is_proven = lower == upper || by_outcome && lower.signum() == upper.signum();
        let best = if is_proven { search.best(node, lower) } else { None };
        let exact = lower == upper && !by_outcome;
        ScoreBounds {
            lower: Score(lower.signum() as i8),
            upper: Score(upper.signum() as i8),
            distance: exact.then(|| board.plies(node, lower)),
            best: best.map(|square| Action((square.trailing_zeros() / board.stride) as u16)),
            // The position itself is one.
            nodes: search.nodes + 1,
        }
    }
}

/// Position of a search.
#[derive(Clone, Copy)]
struct Node {
    /// The mover's discs.
    mover: u64,
    /// Occupied squares.
    mask: u64,
    /// Number of discs.
    discs: i32,
}

impl Node {
    fn from_stones(state: &Stones) -> Node {
        let mask = state.occupied();
        Node { mover: state.mover, mask, discs: mask.count_ones() as i32 }
    }

    #[inline(always)]
    fn opponent(self) -> u64 {
        self.mover ^ self.mask
    }

    /// Returns the position after a disc on a square.
    #[inline(always)]
    fn after(self, square: u64) -> Node {
        Node { mover: self.opponent(), mask: self.mask | square, discs: self.discs + 1 }
    }
}

/// Squares of a board.
struct Board {
    /// All squares.
    all: u64,
    /// Lowest squares.
    bottom: u64,
    /// Squares above which an even number of squares follows.
    upper: u64,
    /// Columns from the middle outwards.
    columns: Vec<u64>,
    /// Bits between two columns.
    stride: u32,
    /// Number of squares.
    squares: i32,
}

impl Board {
    fn new(game: &ConnectFour) -> Board {
        let ((rows, columns), all) = (game.shape(), game.grid.all);
        let mut from_middle: Vec<usize> = (0..columns).collect();
        from_middle.sort_by_key(|&column| (2 * column + 1).abs_diff(columns));
        Board {
            all,
            bottom: game.bottom,
            upper: (0..rows).rev().step_by(2).map(|row| game.bottom << row).sum(),
            columns: from_middle.into_iter().map(|column| game.column(column) & all).collect(),
            stride: game.stride,
            squares: all.count_ones() as i32,
        }
    }

    /// Returns the free squares that would complete a line of one side's discs.
    #[inline(always)]
    fn threats(&self, discs: u64, mask: u64) -> u64 {
        let mut completing = (discs << 1) & (discs << 2) & (discs << 3);
        for step in [self.stride - 1, self.stride, self.stride + 1] {
            let (above, below) = (discs << step, discs >> step);
            let two = above & (discs << (2 * step));
            completing |= two & (discs << (3 * step) | below);
            let two = below & (discs >> (2 * step));
            completing |= two & (discs >> (3 * step) | above);
        }
        completing & (self.all ^ mask)
    }

    #[inline(always)]
    fn has_line(&self, discs: u64) -> bool {
        let lines = [1, self.stride - 1, self.stride, self.stride + 1].map(|step| {
            let two = discs & (discs >> step);
            two & (two >> (2 * step))
        });
        lines[0] | lines[1] | lines[2] | lines[3] != 0
    }

    /// Returns the squares on which a disc would come to lie.
    #[inline(always)]
    fn landings(&self, mask: u64) -> u64 {
        (mask + self.bottom) & self.all
    }

    /// Returns the moves that do not lose at once; 0 if all do.
    #[inline(always)]
    fn moves(&self, mask: u64, threats: u64) -> u64 {
        let landings = self.landings(mask);
        let forced = landings & threats;
        let answers = if forced == 0 { landings } else { forced };
        if forced & forced.wrapping_sub(1) != 0 { 0 } else { answers & !(threats >> 1) }
    }

    /// Returns bounds of the score by [following up](self).
    #[inline(always)]
    fn bounds(&self, node: Node, (least, most): (i32, i32)) -> (i32, i32) {
        let Node { mover, mask, discs } = node;
        let free = self.all ^ mask;
        let follows = (self.squares - discs) & 1 == 1;
        let (leader, follower) = match follows {
            true => (node.opponent(), mover),
            false => (mover, node.opponent()),
        };
        let unpaired = self.landings(mask) & self.upper;
        let (mut least, mut most) = (least, most);
        if !self.has_line(leader | free & !self.upper | unpaired) {
            let won = i32::from(self.has_line(follower | free & self.upper & !unpaired));
            match follows {
                true => least = least.max(won),
                false => most = most.min(-won),
            }
        }
        if !self.has_line(follower | free) {
            match follows {
                true => most = most.min(0),
                false => least = least.max(0),
            }
        }
        (least, most)
    }

    /// Returns the key of a position, early on that of the smaller of it and its mirror image, and whether it is the image's.
    #[inline(always)]
    fn key(&self, node: Node) -> (u64, bool) {
        let key = (node.mask + self.bottom) | node.mover;
        if node.discs >= MIRRORED {
            return (key, false);
        }
        let (mut rest, mut image) = (key, 0);
        for _ in 0..self.columns.len() {
            image = image << self.stride | rest & ((1 << self.stride) - 1);
            rest >>= self.stride;
        }
        (key.min(image), image < key)
    }

    /// Returns the score of a win by the mover's next disc.
    #[inline(always)]
    fn next(&self, discs: i32) -> i32 {
        (self.squares + 1 - discs) / 2
    }

    /// Returns the plies to the end of the game by a score of the mover.
    fn plies(&self, node: Node, score: i32) -> u16 {
        let left = self.squares - node.discs;
        // The last move is the mover's if it wins.
        let last = match score.signum() {
            _ if self.has_line(node.opponent()) => 0,
            0 => left,
            sign => (0..left)
                .find(|plies| {
                    (plies % 2 == 0) == (sign > 0) && self.next(node.discs + plies) == score.abs()
                })
                .map_or(left, |before| before + 1),
        };
        last as u16
    }
}

/// Move with what orders it, and the place of the position after it in the table.
#[derive(Clone, Copy, Default)]
struct Reply {
    square: u64,
    order: u32,
    /// Threats of the mover after the move.
    threats: u64,
    key: u64,
    index: usize,
}

/// State of a search.
struct Search<'a> {
    board: &'a Board,
    table: &'a Table,
    limits: SearchLimits<'a>,
    nodes: u64,
    /// Number of nodes at which limits are checked next.
    next_check: u64,
    stopped: bool,
}

impl Search<'_> {
    /// Returns proven bounds of the score: equal, or not both within the window.
    fn narrow(&mut self, node: Node, window: (i32, i32)) -> (i32, i32) {
        let board = self.board;
        let threats = board.threats(node.opponent(), node.mask);
        if board.has_line(node.opponent()) {
            let lost = -board.next(node.discs - 1);
            return (lost, lost);
        }
        if node.mask == board.all {
            return (0, 0);
        }
        let wins = board.threats(node.mover, node.mask) & board.landings(node.mask);
        let won = board.next(node.discs);
        if wins != 0 {
            return (won, won);
        }
        let (mut lower, mut upper) = (-(board.squares - node.discs) / 2, won - 1);
        while lower.max(window.0) < upper.min(window.1) && !self.stopped {
            let middle = lower + (upper - lower) / 2;
            // Around 0 first: wins and losses by few discs are found by short lines.
            let test = match middle {
                ..=0 if lower / 2 < middle => lower / 2,
                1.. if upper / 2 > middle => upper / 2,
                _ => middle,
            };
            let test = test.clamp(window.0, window.1 - 1);
            let found = self.search(node, test + 1, threats);
            match self.stopped {
                true => {}
                false if found > test => lower = found,
                false => upper = found,
            }
        }
        (lower, upper)
    }

    /// Returns a move after which the opponent has no more than the negative of a score that the position has.
    fn best(&mut self, node: Node, score: i32) -> Option<u64> {
        let board = self.board;
        let landings = board.landings(node.mask);
        let wins = board.threats(node.mover, node.mask) & landings;
        let moves = board.moves(node.mask, board.threats(node.opponent(), node.mask));
        if board.has_line(node.opponent()) || landings == 0 {
            return None;
        }
        let from_middle = |set: u64| board.columns.iter().map(move |column| set & column);
        let mut squares = from_middle(if wins != 0 {
            wins
        } else if moves != 0 {
            moves
        } else {
            landings
        });
        if wins != 0 || moves == 0 {
            return squares.find(|square| *square != 0);
        }
        squares.filter(|square| *square != 0).find(|&square| {
            let threats = board.threats(node.mover | square, node.mask | square);
            let reply = -self.search(node.after(square), 1 - score, threats);
            !self.stopped && reply >= score
        })
    }

    /// Returns a score that is at least `beta`, or one below that the position does not exceed. The mover cannot win at
    /// once, and `threats` are the opponent's.
    fn search(&mut self, node: Node, beta: i32, threats: u64) -> i32 {
        self.nodes += 1;
        if self.nodes >= self.next_check {
            self.next_check = self.nodes + PATIENCE;
            self.stopped |= self.limits.are_reached(self.nodes);
        }
        if self.stopped {
            return 0;
        }
        let board = self.board;
        let left = board.squares - node.discs;
        let moves = board.moves(node.mask, threats);
        if moves == 0 {
            return -(left / 2);
        }
        if left <= 2 {
            return 0;
        }
        let (least, most) = board.bounds(node, (-((left - 2) / 2), (left - 1) / 2));
        if most < beta {
            return most;
        }
        if least >= beta {
            return least;
        }
        let is_single = moves & (moves - 1) == 0;
        if is_single || left < FEWER {
            return self.in_any_order(node, beta, moves);
        }
        let is_kept = left >= FEW;
        let ((key, is_image), mut index) = (board.key(node), 0);
        let mut known = TranspositionEntry { lower: least, upper: most, best: 64 };
        let mut hinted = 0;
        if is_kept {
            index = self.table.index([key]);
            if let Some(entry) = self.table.get([key], index) {
                known.lower = known.lower.max(entry.lower);
                known.upper = known.upper.min(entry.upper);
                if known.lower >= beta {
                    return known.lower;
                }
                if known.upper < beta {
                    return known.upper;
                }
                hinted = self.column_of(entry.best, is_image);
            }
        }
        let (mut replies, mut count) = ([Reply::default(); 8], 0);
        let looks_ahead = left >= MANY;
        for &column in &board.columns {
            let square = moves & column;
            if square == 0 {
                continue;
            }
            let threats = board.threats(node.mover | square, node.mask | square);
            let mut reply = Reply { square, threats, ..Reply::default() };
            reply.order = if square & hinted != 0 { u32::MAX } else { threats.count_ones() };
            if looks_ahead {
                reply.key = board.key(node.after(square)).0;
                reply.index = self.table.index([reply.key]);
                self.table.prefetch(reply.index);
            }
            let mut at = count;
            while at > 0 && replies[at - 1].order < reply.order {
                replies[at] = replies[at - 1];
                at -= 1;
            }
            replies[at] = reply;
            count += 1;
        }
        if looks_ahead {
            for reply in &replies[..count] {
                let entry = self.table.get([reply.key], reply.index);
                if let Some(entry) = entry.filter(|entry| -entry.upper >= beta) {
                    return -entry.upper;
                }
            }
        }
        let (mut best, mut chosen) = (WORST, 0);
        for reply in &replies[..count] {
            let score = -self.search(node.after(reply.square), 1 - beta, reply.threats);
            if score > best {
                (best, chosen) = (score, reply.square);
            }
            if self.stopped || best >= beta {
                break;
            }
        }
        if is_kept && !self.stopped {
            let column = chosen.trailing_zeros() / board.stride;
            let image = board.columns.len() as u32 - 1 - column;
            known.best = if is_image { image } else { column };
            match best >= beta {
                true => known.lower = known.lower.max(best),
                false => known.upper = known.upper.min(best),
            }
            self.table.put([key], index, left as u32, known);
        }
        best
    }

    /// Returns the squares of the column that an entry of the table recommends; none if none is.
    #[inline(always)]
    fn column_of(&self, best: u32, is_image: bool) -> u64 {
        let count = self.board.columns.len() as u32;
        let column = if is_image { (count - 1).wrapping_sub(best) } else { best };
        if best < count {
            ((1 << self.board.stride) - 1) << (column * self.board.stride)
        } else {
            0
        }
    }

    /// Searches moves as they come: one, or those of a position with so few free squares that an order costs more than it
    /// saves.
    #[inline(always)]
    fn in_any_order(&mut self, node: Node, beta: i32, moves: u64) -> i32 {
        let mut best = WORST;
        for &column in &self.board.columns {
            let square = moves & column;
            if square != 0 && best < beta {
                let threats = self.board.threats(node.mover | square, node.mask | square);
                best = best.max(-self.search(node.after(square), 1 - beta, threats));
            }
        }
        best
    }
}
