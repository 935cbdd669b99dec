//! Proofs of Othello positions that can be stored and checked without the search that found them.
//!
//! A weak solution (`certificate`) proves the score of its root; a semi-strong table (`semistrong`) contains
//! the exact value of every position that its best moves reach. Both store one move for each position of one
//! side, the hero, and no positions: a [`Walk`] visits them again in the same order.

pub mod certificate;
pub mod check;
pub mod semistrong;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use crate::game::Empties;
use crate::game::SearchLimits as Limits;
use crate::game::othello::Board;
use crate::game::othello::search::{Engine, EngineOptions};
use check::{BoardRules, squares};

/// Magic bytes of a certificate.
const PROOF: &[u8; 7] = b"YKPROOF";
/// Magic bytes of a semi-strong table.
const SEMI_STRONG: &[u8; 7] = b"YKSEMIS";
/// Version of both formats.
const VERSION: u8 = 1;
/// Length of a header in bytes.
const HEADER: usize = 48;
/// Maximum number of stored moves of one side.
const MOST_MOVES: u32 = 1 << 27;
/// Maximum number of positions of one side's walk, some 4 GB, whatever a file claims.
const MOST_POSITIONS: usize = 1 << 27;
/// Maximum number of empty squares of positions that are searched instead of stored.
const DEEPEST_LEAF: u32 = 20;
/// Maximum expansion factor of deflate.
const MOST_INFLATED: usize = 1032;

/// Header of a file: its position and its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Convention for the squares left empty at the end.
    pub empties: Empties,
    /// `true` if White is to move in the root position.
    pub white_to_move: bool,
    /// Root position.
    pub root: Board,
    /// Score of the root position for its mover.
    pub score: i32,
    /// Maximum number of empty squares of positions that are searched instead of stored.
    pub leaf_depth: u32,
    /// Number of records of the mover and of the opponent as hero.
    pub counts: [u32; 2],
}

impl Header {
    /// Reads the header of a certificate or a semi-strong table and verifies its checksum; the flag is `true`
    /// for the latter.
    pub fn of(bytes: &[u8]) -> Result<(Header, bool), String> {
        let is_semi_strong = bytes.starts_with(SEMI_STRONG);
        let magic = if is_semi_strong { SEMI_STRONG } else { PROOF };
        Header::read(bytes, magic).map(|(header, _)| (header, is_semi_strong))
    }

    /// Returns a file of this header and its content.
    fn write(&self, magic: &[u8; 7], content: &[u8]) -> Vec<u8> {
        let mut bytes = magic.to_vec();
        bytes.extend([
            VERSION,
            self.rows as u8,
            self.columns as u8,
            u8::from(self.empties == Empties::ToWinner),
            u8::from(self.white_to_move),
            self.score as i8 as u8,
            self.leaf_depth as u8,
            0,
            0,
        ]);
        bytes.extend(self.root.mover.to_le_bytes());
        bytes.extend(self.root.opponent.to_le_bytes());
        bytes.extend(self.counts.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(checksum(&bytes, content).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(miniz_oxide::deflate::compress_to_vec_zlib(content, 10));
        bytes
    }

    /// Reads a header and the content behind it.
    fn read(bytes: &[u8], magic: &[u8; 7]) -> Result<(Header, Vec<u8>), String> {
        let (header, packed) = Header::split(bytes, magic)?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let content = inflated(packed, word(44) as usize)?;
        if checksum(&bytes[..40], &content) != word(40) {
            return Err("wrong checksum: the file is damaged".to_string());
        }
        Ok((header, content))
    }

    /// Reads a header and returns it with the packed content behind it, unread.
    fn split<'a>(bytes: &'a [u8], magic: &[u8; 7]) -> Result<(Header, &'a [u8]), String> {
        let Some((head, packed)) = bytes.split_at_checked(HEADER) else {
            return Err(format!("file ends in its header, after {} bytes", bytes.len()));
        };
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        if head[..7] != magic[..] {
            return Err("invalid file: the magic bytes are missing".to_string());
        }
        if head[7] != VERSION {
            return Err(format!("invalid version {}: expected {VERSION}", head[7]));
        }
        let header = Header {
            rows: head[8].into(),
            columns: head[9].into(),
            empties: if head[10] == 0 { Empties::Uncounted } else { Empties::ToWinner },
            white_to_move: head[11] == 1,
            score: i32::from(head[12] as i8),
            leaf_depth: head[13].into(),
            root: Board { mover: long(16), opponent: long(24) },
            counts: [word(32), word(36)],
        };
        let Header { rows, columns, .. } = header;
        if !(4..=8).contains(&rows) || !(4..=8).contains(&columns) {
            return Err(format!("invalid board shape {rows}x{columns}: expected sides of 4 to 8"));
        }
        if header.score.abs() > (rows * columns) as i32 {
            return Err(format!("invalid score {}: exceeds the number of squares", header.score));
        }
        if head[10] > 1 || head[11] > 1 || head[14] != 0 || head[15] != 0 {
            return Err("invalid header: unknown flags".to_string());
        }
        if !BoardRules::new(rows, columns, header.empties).is_valid(header.root) {
            return Err("invalid root position".to_string());
        }
        if header.counts.into_iter().any(|count| count > MOST_MOVES) || word(44) > 4 * MOST_MOVES {
            return Err(format!("invalid number of moves: expected at most {MOST_MOVES}"));
        }
        if header.leaf_depth > DEEPEST_LEAF {
            let depth = header.leaf_depth;
            return Err(format!("invalid leaf depth {depth}: expected at most {DEEPEST_LEAF}"));
        }
        Ok((header, packed))
    }
}

/// Decompresses a zlib stream, which must have this length and end where the bytes end.
fn inflated(packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
    const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    if length > packed.len().saturating_mul(MOST_INFLATED) {
        return Err(format!("truncated content: expected {length} bytes"));
    }
    let mut content = vec![0; length];
    let (status, read, written) =
        decompress(&mut DecompressorOxide::new(), packed, &mut content, 0, FLAGS);
    if status != TINFLStatus::Done || written != length {
        return Err(format!("truncated or damaged content: {status:?}"));
    }
    match packed.len() - read {
        0 => Ok(content),
        more => Err(format!("invalid file: {more} bytes beyond the content")),
    }
}

fn checksum(head: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(content);
    hasher.finalize()
}

/// Side to move, seen from the side whose moves are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Side with one stored move in each position.
    Hero,
    /// Other side, all of whose moves are followed.
    Other,
}

/// Knowledge of a position: the hero's score, or a lower bound of it before its record is read, and the
/// hero's move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    score: i8,
    square: Option<u8>,
}

type Positions = BTreeMap<(u64, u64), Node>;

/// Positions that the hero's moves reach, folded by symmetry, by number of empty squares.
///
/// They are visited level by level, from many empty squares to few, and in the order of their discs within a
/// level. All actions into a level come from levels above it, except passes.
///
/// A position of the hero with several moves takes one record of a file, so a walk ends where the records do.
/// Forced moves take none; a walk that follows them, or a file of many records, ends at 2²⁷ positions.
pub struct Walk {
    rules: BoardRules,
    leaf_depth: u32,
    hero: Vec<Positions>,
    other: Vec<Positions>,
    /// Number of positions that may still be added.
    room: usize,
    /// Reason why the walk proves nothing: a finished game in which the hero scores less than its bound, a
    /// position with two scores, or too many positions.
    failed: Option<String>,
}

impl Walk {
    /// Returns a walk without positions.
    pub fn new(rules: &BoardRules, leaf_depth: u32) -> Walk {
        let levels = vec![Positions::new(); 65];
        let (hero, other) = (levels.clone(), levels);
        Walk { rules: *rules, leaf_depth, hero, other, room: MOST_POSITIONS, failed: None }
    }

    /// Returns the numbers of empty squares of all levels with stored moves, in descending order.
    pub fn levels(&self) -> std::iter::Rev<Range<usize>> {
        (self.leaf_depth as usize + 1..65).rev()
    }

    /// Fails with the reason if the walk proves nothing.
    pub fn failure(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns the hero's positions of a level and the lower bounds of their scores; fails if the walk has
    /// failed.
    pub fn level(&self, empties: usize) -> Result<Vec<(Board, i32)>, String> {
        self.failure()?;
        let board = |(&(mover, opponent), node): (&(u64, u64), &Node)| {
            (Board { mover, opponent }, i32::from(node.score))
        };
        Ok(self.hero[empties].iter().map(board).collect())
    }

    /// Adds a position and the other side's replies; `bound` is a lower bound of the hero's score.
    pub fn add(&mut self, board: Board, turn: Turn, bound: i32) {
        if self.rules.is_over(board) {
            let score = self.rules.score(board);
            if bound > if turn == Turn::Hero { score } else { -score } {
                let diagram = self.rules.diagram(board);
                self.failed = Some(format!("score of a finished game below its bound: {diagram}"));
            }
            return;
        }
        if self.room == 0 {
            self.failed = Some("stored moves reach too many positions".to_string());
            return;
        }
        let empties = self.rules.empties(board);
        let key = self.key(board);
        let node = Node { score: bound as i8, square: None };
        if turn == Turn::Hero {
            let level = &mut self.hero[empties as usize];
            let before = level.len();
            let known = level.entry(key).or_insert(node);
            known.score = known.score.max(bound as i8);
            self.room -= level.len() - before;
            return;
        }
        match self.other[empties as usize].insert(key, node) {
            // A position reached by two moves has one score.
            Some(known) if known.score != node.score => {
                self.failed = Some("inconsistent records".to_string());
            }
            Some(_) => {}
            None => {
                self.room -= 1;
                if empties > self.leaf_depth {
                    for reply in self.rules.successors(board) {
                        self.add(reply, Turn::Hero, bound);
                    }
                }
            }
        }
    }

    /// Records the score of a position of the hero and plays its move; `None` is the only action.
    pub fn follow(&mut self, board: Board, score: i32, square: Option<u32>) {
        let moves = self.rules.moves(board);
        let square = square.or_else(|| squares(moves).next());
        let empties = self.rules.empties(board) as usize;
        let node = Node { score: score as i8, square: square.map(|square| square as u8) };
        self.hero[empties].insert((board.mover, board.opponent), node);
        let child = square.map_or(board.swapped(), |square| self.rules.play(board, square));
        self.add(child, Turn::Other, score);
    }

    /// Returns the positions that are searched instead of stored, and lower bounds of the hero's scores.
    pub fn leaves(&self) -> Vec<(Board, Turn, i32)> {
        let depth = self.leaf_depth as usize;
        let of = |levels: &[Positions], turn: Turn| {
            let all = levels[..=depth].iter().flatten();
            let leaf = |(&(mover, opponent), node): (&(u64, u64), &Node)| {
                (Board { mover, opponent }, turn, i32::from(node.score))
            };
            all.map(leaf).collect::<Vec<_>>()
        };
        [of(&self.hero, Turn::Hero), of(&self.other, Turn::Other)].concat()
    }

    fn key(&self, board: Board) -> (u64, u64) {
        let Board { mover, opponent } = self.rules.canonical(board);
        (mover, opponent)
    }

    /// Returns a position's moves, first those that add the fewest positions to the walk.
    fn ranked(&self, board: Board) -> Vec<(u32, Board)> {
        let rank = |child: Board| {
            let replies = self.rules.successors(child);
            let empties = self.rules.empties(child);
            if self.rules.is_over(child)
                || self.other[empties as usize].contains_key(&self.key(child))
            {
                return (0, replies.len());
            }
            let is_new = |reply: &&Board| {
                let level = &self.hero[self.rules.empties(**reply) as usize];
                !self.rules.is_over(**reply) && !level.contains_key(&self.key(**reply))
            };
            let stored = empties > self.leaf_depth;
            let new = if stored { replies.iter().filter(is_new).count() } else { 0 };
            (1 + new, replies.len())
        };
        let child = |square| (square, self.rules.play(board, square));
        let mut moves: Vec<_> = squares(self.rules.moves(board)).map(child).collect();
        moves.sort_by_cached_key(|&(square, child)| (rank(child), square));
        moves
    }

    /// Returns the first of the ranked moves that scores at least `score`; `known` is a move that does.
    fn choose(
        &self,
        engine: &mut Engine,
        board: Board,
        score: i32,
        known: Option<u32>,
    ) -> Option<u32> {
        let moves = self.ranked(board);
        let (last, others) = moves.split_last()?;
        let holds = |&&(square, child): &&(u32, Board)| {
            known == Some(square)
                || engine.solve(&child, (-score, 1 - score), &Limits::default()).upper <= -score
        };
        Some(others.iter().find(holds).unwrap_or(last).0)
    }
}

/// Score and move of a position of the hero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScoredMove {
    score: i32,
    square: Option<u32>,
}

/// Engines that decide positions in parallel.
struct Pool(Vec<Mutex<Engine>>);

impl Pool {
    fn new(options: &EngineOptions) -> Pool {
        let memory = options.memory / options.threads.max(1);
        let one = EngineOptions { memory, threads: 1, ..options.clone() };
        Pool((0..options.threads.max(1)).map(|_| Mutex::new(Engine::new(&one))).collect())
    }

    /// Decides positions; the result does not depend on the number of engines.
    fn decide(
        &self,
        positions: &[(Board, i32)],
        decide: impl Fn(&mut Engine, Board, i32) -> ScoredMove + Sync,
    ) -> Vec<ScoredMove> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(vec![ScoredMove { score: 0, square: None }; positions.len()]);
        std::thread::scope(|scope| {
            for engine in &self.0 {
                scope.spawn(|| {
                    let mut engine = engine.lock().expect("an engine panicked");
                    loop {
                        let at = next.fetch_add(1, Relaxed);
                        let Some(&(board, bound)) = positions.get(at) else { break };
                        let decision = decide(&mut engine, board, bound);
                        done.lock().expect("an engine panicked")[at] = decision;
                    }
                });
            }
        });
        done.into_inner().expect("an engine panicked")
    }
}
