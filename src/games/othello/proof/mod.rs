//! Proofs of Othello positions that can be stored and checked without the search that found them.
//! `docs/proof-format.md` specifies the files.
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

use crate::error::{Error, Kind};
use crate::games::othello::Board;
use crate::games::othello::search::{Engine, EngineOptions};
use crate::rules::Empties;
use crate::rules::SearchLimits as Limits;
use check::{BoardRules, CheckLimits, CheckReport, SearchWork, squares};

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
/// Maximum number of positions of one side's walk where no limit is given, some 5 GB.
const MOST_POSITIONS: usize = 1 << 27;
/// Bytes of a position in a level that is being filled, and in one that is packed: maps filled in random order are
/// two thirds full.
const POSITION: usize = 40;
const PACKED_POSITION: usize = 24;
/// Maximum number of empty squares of positions that are searched instead of stored.
const DEEPEST_LEAF: u32 = 20;
/// Maximum expansion factor of deflate.
const MOST_INFLATED: usize = 1032;

/// Checks a certificate or a semi-strong table and returns the claim that it proves. `announce` receives the work
/// of the search before it begins.
///
/// # Errors
///
/// If the file is damaged or claims what is false ([`Kind::Damaged`]), or if the check exceeds its limits
/// ([`Kind::Input`]).
pub fn check_file(
    bytes: &[u8],
    limits: &CheckLimits,
    announce: &mut dyn FnMut(&SearchWork),
) -> Result<CheckReport, Error> {
    match bytes.starts_with(SEMI_STRONG) {
        true => semistrong::check(bytes, limits, announce),
        false => check::check(bytes, limits, announce),
    }
}

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
    /// Reads the header of a certificate or a semi-strong table, without the content; the flag is `true` for the
    /// latter.
    ///
    /// # Errors
    ///
    /// If the header is invalid.
    pub fn of(bytes: &[u8]) -> Result<(Header, bool), Error> {
        let is_semi_strong = bytes.starts_with(SEMI_STRONG);
        let magic = if is_semi_strong { SEMI_STRONG } else { PROOF };
        let (header, _) = Header::split(bytes, magic).map_err(damaged)?;
        Ok((header, is_semi_strong))
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
    fn read(
        bytes: &[u8],
        magic: &[u8; 7],
        limits: &CheckLimits,
    ) -> Result<(Header, Vec<u8>), Error> {
        let (header, packed) = Header::split(bytes, magic).map_err(damaged)?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let length = word(44) as usize;
        Room::new(limits).take(length)?;
        let content = inflated(packed, length).map_err(damaged)?;
        if checksum(&bytes[..40], &content) != word(40) {
            return Err(damaged("wrong checksum: the file is damaged"));
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

/// Returns the error for a file that is damaged or makes a false claim.
fn damaged(what: impl Into<String>) -> Error {
    Error::from(what.into()).of_kind(Kind::Damaged)
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

fn board_of(&(mover, opponent): &(u64, u64)) -> Board {
    Board { mover, opponent }
}

/// Room that a check has left.
#[derive(Clone, Copy, Debug)]
struct Room {
    limits: CheckLimits,
    /// Bytes that may still be taken.
    bytes: usize,
    /// Number of positions that may still be added.
    positions: usize,
}

impl Room {
    /// Returns the room within these limits. The program itself and the file take up to three tenths of the memory.
    fn new(limits: &CheckLimits) -> Room {
        Room { limits: *limits, bytes: limits.memory / 10 * 7, positions: limits.positions }
    }

    /// Takes bytes; fails if fewer are left.
    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        let Some(left) = self.bytes.checked_sub(bytes) else {
            let most = self.limits.memory / 1_000_000;
            return Err(format!("stored moves take more than {most} MB of memory").into());
        };
        self.bytes = left;
        Ok(())
    }

    /// Fails if there is no room for another position.
    fn has_position(&self) -> Result<(), Error> {
        if self.positions == 0 {
            let most = self.limits.positions;
            return Err(format!("stored moves reach more than {most} positions").into());
        }
        Room { ..*self }.take(POSITION)
    }

    fn add_position(&mut self) {
        self.bytes -= POSITION;
        self.positions -= 1;
    }
}

/// Positions that the hero's moves reach, folded by symmetry, by number of empty squares.
///
/// They are visited level by level, from many empty squares to few, and in the order of their discs within a
/// level. All actions into a level come from levels above it, except passes.
///
/// A position of the hero with several moves takes one record of a file; forced moves take none, so a walk also ends
/// where its room or its steps do.
pub struct Walk {
    rules: BoardRules,
    leaf_depth: u32,
    hero: Vec<Positions>,
    other: Vec<Positions>,
    room: Room,
    /// Reason why the walk proves nothing: a finished game in which the hero scores less than its bound, a
    /// position with two scores, or too many positions.
    failed: Option<Error>,
}

impl Walk {
    /// Returns a walk without positions.
    fn new(rules: &BoardRules, leaf_depth: u32, room: Room) -> Walk {
        let levels = vec![Positions::new(); 65];
        let (hero, other) = (levels.clone(), levels);
        Walk { rules: *rules, leaf_depth, hero, other, room, failed: None }
    }

    /// Returns the numbers of empty squares of all levels with stored moves, in descending order.
    pub fn levels(&self) -> std::iter::Rev<Range<usize>> {
        (self.leaf_depth as usize + 1..65).rev()
    }

    /// Fails with the reason if the walk proves nothing.
    pub fn failure(&self) -> Result<(), Error> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns the hero's positions of a level and the lower bounds of their scores; fails if the walk has
    /// failed.
    pub fn level(&self, empties: usize) -> Result<Vec<(Board, i32)>, Error> {
        self.failure()?;
        let bound = |(key, node): (&(u64, u64), &Node)| (board_of(key), i32::from(node.score));
        Ok(self.hero[empties].iter().map(bound).collect())
    }

    /// Walks all levels with the records of a file. `record` receives a position of the hero with the lower bound
    /// of its score and returns its score and move. Levels above the leaves are kept for queries, or dropped.
    fn replay(
        &mut self,
        keeps_levels: bool,
        mut record: impl FnMut(Board, i32) -> Result<ScoredMove, Error>,
    ) -> Result<(), Error> {
        for empties in self.levels() {
            self.failure()?;
            // Nothing is added to this level any more: both sides would have to pass.
            let mut level = std::mem::take(&mut self.hero[empties]);
            for (key, node) in &mut level {
                let board = board_of(key);
                let decision = record(board, node.score.into())?;
                *node = self.play(board, decision);
            }
            if keeps_levels {
                self.hero[empties] = level;
                self.pack(empties);
            } else {
                let count = level.len() + self.other[empties].len();
                self.other[empties].clear();
                self.room.bytes += count * POSITION;
            }
        }
        for empties in 0..=self.leaf_depth as usize {
            self.pack(empties);
        }
        self.failure()
    }

    /// Fills the nodes of a finished level, if there is room for a copy.
    fn pack(&mut self, empties: usize) {
        for level in [&mut self.hero[empties], &mut self.other[empties]] {
            if level.len() * PACKED_POSITION <= self.room.bytes {
                *level = std::mem::take(level).into_iter().collect();
                self.room.bytes += level.len() * (POSITION - PACKED_POSITION);
            }
        }
    }

    /// Adds a position and the other side's replies; `bound` is a lower bound of the hero's score.
    pub fn add(&mut self, board: Board, turn: Turn, bound: i32) {
        if self.rules.is_over(board) {
            let score = self.rules.score(board);
            if bound > if turn == Turn::Hero { score } else { -score } {
                let diagram = self.rules.diagram(board);
                let what = format!("score of a finished game below its bound: {diagram}");
                self.failed = Some(damaged(what));
            }
            return;
        }
        if let Err(error) = self.room.has_position() {
            self.failed = Some(error);
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
            if level.len() > before {
                self.room.add_position();
            }
            return;
        }
        match self.other[empties as usize].insert(key, node) {
            // A position reached by two moves has one score.
            Some(known) if known.score != node.score => {
                self.failed = Some(damaged("inconsistent records"));
            }
            Some(_) => {}
            None => {
                self.room.add_position();
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
        let node = self.play(board, ScoredMove { score, square });
        let empties = self.rules.empties(board) as usize;
        self.hero[empties].insert((board.mover, board.opponent), node);
    }

    /// Plays the move of a position of the hero and returns what is known of the position.
    fn play(&mut self, board: Board, decision: ScoredMove) -> Node {
        let ScoredMove { score, square } = decision;
        let square = square.or_else(|| squares(self.rules.moves(board)).next());
        let child = square.map_or(board.swapped(), |square| self.rules.play(board, square));
        self.add(child, Turn::Other, score);
        Node { score: score as i8, square: square.map(|square| square as u8) }
    }

    /// Returns the claims that a search must prove: those of the positions below the stored moves and, where scores
    /// are exact, of the other side's positions just above them that must reach their score by a move.
    fn leaves(&self, is_exact: bool) -> impl Iterator<Item = Leaf> + Send {
        let depth = self.leaf_depth as usize;
        let at_least = |(key, node): (&(u64, u64), &Node)| {
            let lower = Some(i32::from(node.score));
            Leaf { board: board_of(key), turn: Turn::Hero, lower, upper: None }
        };
        let at_most = move |(key, node): (&(u64, u64), &Node)| {
            let upper = Some(-i32::from(node.score));
            let lower = upper.filter(|_| is_exact);
            Leaf { board: board_of(key), turn: Turn::Other, lower, upper }
        };
        let open_score = move |(key, node): (&(u64, u64), &Node)| {
            let (board, score) = (board_of(key), i32::from(node.score));
            let is_open = self.replies(board).all(|reply| reply != Some(score))
                && self.rules.moves(board) != 0;
            let leaf = Leaf { board, turn: Turn::Other, lower: Some(-score), upper: None };
            is_open.then_some(leaf)
        };
        let above = if is_exact { &self.other[depth + 1..depth + 2] } else { &[] };
        let hero = self.hero[..=depth].iter().flatten().map(at_least);
        let other = self.other[..=depth].iter().flatten().map(at_most);
        hero.chain(other).chain(above.iter().flatten().filter_map(open_score))
    }

    /// Returns the hero's scores after each action of the other side; `None` where the reply is not stored.
    fn replies(&self, board: Board) -> impl Iterator<Item = Option<i32>> {
        self.rules.successors(board).into_iter().map(|reply| {
            if self.rules.is_over(reply) {
                return Some(self.rules.score(reply));
            }
            let empties = self.rules.empties(reply);
            let node = self.hero[empties as usize].get(&self.key(reply));
            node.filter(|_| empties > self.leaf_depth).map(|node| node.score.into())
        })
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

/// Position that is searched, with the claim about its mover's score.
struct Leaf {
    board: Board,
    turn: Turn,
    lower: Option<i32>,
    upper: Option<i32>,
}

impl Leaf {
    /// Searches the position and describes what is wrong with the claim; `None` if it is true.
    fn fault(&self, rules: &BoardRules) -> Option<String> {
        let alpha = self.lower.map(|lower| lower - 1).or(self.upper)?;
        let beta = self.upper.map(|upper| upper + 1).or(self.lower)?;
        let score = rules.search(self.board, alpha, beta);
        let is_below = self.lower.is_some_and(|lower| score < lower);
        let is_above = self.upper.is_some_and(|upper| score > upper);
        let fault = match (self.turn, is_below, is_above) {
            (_, false, false) => return None,
            (Turn::Other, true, _) => "above the one claimed",
            _ => "below its bound",
        };
        Some(format!("score of a leaf {fault}: {}", rules.diagram(self.board)))
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
