//! Semi-strong table: exact value and a best move of every position that one side's best moves reach.
//!
//! The table is a walk for each side as hero. A record contains the hero's score minus its known bound, and
//! the index of its move. The scores come from a search; `check` proves most of them.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;

use super::certificate::{Problem, batch_size, index_of};
use super::check::{
    BoardRules, CheckLimits, CheckReport, SearchWork, next_move, search_leaves, squares,
};
use super::{Header, Node, Pool, Room, SEMI_STRONG, ScoredMove, Turn, Walk, board_of, damaged};
use crate::error::Error;
use crate::games::othello::Board;
use crate::games::othello::search::{Engine, EngineOptions};
use crate::output::{failure, kept};
use crate::rules::SearchLimits as Limits;
use crate::table::IoContext;

/// Length of the header of a checkpoint in bytes, and the place of the leaf depth in it.
const HEAD: usize = 44;
const LEAF_DEPTH: usize = 13;

/// Makes a table. Its decisions are saved in a checkpoint file, from which it resumes. `on_level` receives
/// the hero (0 for the mover), the empty squares and the number of positions of each finished level.
///
/// # Errors
///
/// If the checkpoint is in use, is not the one of this problem, or cannot be read or written
/// ([`Kind::Failure`](crate::error::Kind::Failure)); a checkpoint that is refused is not changed. If the table needs too many positions.
pub fn make(
    problem: &Problem,
    checkpoint: &Path,
    on_level: &mut dyn FnMut(usize, usize, usize),
) -> Result<Vec<u8>, Error> {
    let rules = problem.rules();
    let mut log = DecisionLog::open(checkpoint, problem)?;
    let pool = Pool::new(&problem.options);
    let root = match log.known.next() {
        Some(decision) => decision.score,
        None => {
            let score = pool.solve(problem);
            log.append(&[ScoredMove { score, square: None }])?;
            score
        }
    };
    let other_table = || format!("{}: record of another table", checkpoint.display());
    if root.abs() > rules.most() {
        return Err(other_table().into());
    }
    let (mut gains, mut moves, mut counts) = (Vec::new(), Vec::new(), [0; 2]);
    for (at, (turn, bound)) in [(Turn::Hero, root), (Turn::Other, -root)].into_iter().enumerate() {
        let mut walk = Walk::new(&rules, problem.leaf_depth, Room::new(&CheckLimits::NONE));
        walk.add(problem.root, turn, bound);
        for empties in walk.levels() {
            let level = walk.level(empties)?;
            counts[at] += level.len() as u32;
            for batch in level.chunks(batch_size(empties)) {
                let mut decisions: Vec<_> = log.known.by_ref().take(batch.len()).collect();
                if decisions.len() < batch.len() {
                    let new = pool.decide(&batch[decisions.len()..], |engine, board, bound| {
                        decide(&rules, &walk, engine, board, bound)
                    });
                    log.append(&new)?;
                    decisions.extend(new);
                }
                for (&(board, bound), ScoredMove { score, square }) in batch.iter().zip(decisions) {
                    let legal = rules.moves(board);
                    let is_move = square.map_or(legal == 0, |at| legal >> at & 1 == 1);
                    if score < bound || score > rules.most() || !is_move {
                        return Err(other_table().into());
                    }
                    gains.push((score - bound) as u8);
                    moves.extend(index_of(&rules, board, square));
                    walk.follow(board, score, square);
                }
            }
            if !level.is_empty() {
                on_level(at, empties, level.len());
            }
        }
        walk.failure()?;
    }
    gains.extend(moves);
    Ok(problem.file(SEMI_STRONG, root, counts, &gains))
}

/// Finds the exact score of a position of the hero and the move that keeps the table small.
fn decide(
    rules: &BoardRules,
    walk: &Walk,
    engine: &mut Engine,
    board: Board,
    bound: i32,
) -> ScoredMove {
    let most = rules.most();
    let mut known = None;
    let mut score = bound;
    while score < most {
        // The second search goes up from the first proven gain.
        let window = if score == bound { (bound, bound + 1) } else { (score, most) };
        let found = engine.solve(&board, window, &Limits::default());
        if found.lower <= score {
            break;
        }
        (score, known) = (found.lower, found.best);
        if found.upper <= score {
            break;
        }
    }
    ScoredMove { score, square: walk.choose(engine, board, score, known) }
}

/// Decisions in the order of the walk, in an append-only file.
///
/// After the header of the table, without its score, come blocks: their number of decisions, their CRC-32, and two
/// bytes for each decision. A damaged or incomplete block ends the file.
struct DecisionLog {
    file: File,
    path: PathBuf,
    known: std::vec::IntoIter<ScoredMove>,
}

impl DecisionLog {
    /// Opens or creates the log of a table. A file that is refused is not changed.
    fn open(path: &Path, problem: &Problem) -> Result<DecisionLog, Error> {
        let read = |error: io::Error| failure("read", path, error);
        let refused = |what: &str| {
            let hint = format!("delete {}, or choose another --out", path.display());
            Error::new(format!("{} is {what}", path.display()), hint)
        };
        let mut file = kept(path).at("write", path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let what = format!("{} is in use by another process", path.display());
                return Err(Error::new(what, "wait for it, or choose another --out"));
            }
            Err(TryLockError::Error(error)) => return Err(read(error)),
            Ok(()) => {}
        }
        let head = DecisionLog::head(problem);
        let mut bytes = Vec::new();
        (&file).take(HEAD as u64).read_to_end(&mut bytes).map_err(read)?;
        if !head.starts_with(&bytes) {
            let leaf_depth = bytes.get(LEAF_DEPTH).copied().unwrap_or_default().into();
            let other = Problem { leaf_depth, ..problem.clone() };
            if bytes != DecisionLog::head(&other) {
                return Err(refused("not a checkpoint of this table"));
            }
            let what = format!("{} is a checkpoint with --leaves {leaf_depth}", path.display());
            let hint = format!("give --leaves {leaf_depth}, or delete {}", path.display());
            return Err(Error::new(what, hint));
        }
        let is_begun = bytes.len() == HEAD;
        bytes.clear();
        file.read_to_end(&mut bytes).map_err(read)?;
        let mut rest = &bytes[..];
        let mut known = Vec::new();
        while let Some((block, tail)) = DecisionLog::block(rest) {
            known.extend(block);
            rest = tail;
        }
        let complete = if is_begun { HEAD + bytes.len() - rest.len() } else { 0 };
        file.set_len(complete as u64).map_err(read)?;
        file.seek(SeekFrom::Start(complete as u64)).map_err(read)?;
        let mut log = DecisionLog { file, path: path.to_path_buf(), known: known.into_iter() };
        if !is_begun {
            log.write(&head)?;
        }
        Ok(log)
    }

    fn head(problem: &Problem) -> Vec<u8> {
        let mut head = problem.file(SEMI_STRONG, 0, [0; 2], b"");
        head.truncate(HEAD);
        head
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).at("write", &self.path)
    }

    fn block(bytes: &[u8]) -> Option<(Vec<ScoredMove>, &[u8])> {
        let (&[count, a, b, c, d], rest) = bytes.split_first_chunk()?;
        let (body, tail) = rest.split_at_checked(2 * count as usize)?;
        let decision = |pair: &[u8]| ScoredMove {
            score: i32::from(pair[0] as i8),
            square: (pair[1] < 64).then_some(pair[1].into()),
        };
        let right = crc32fast::hash(body) == u32::from_le_bytes([a, b, c, d]);
        right.then(|| (body.chunks(2).map(decision).collect(), tail))
    }

    fn append(&mut self, decisions: &[ScoredMove]) -> Result<(), Error> {
        let pair =
            |d: &ScoredMove| [d.score as i8 as u8, d.square.map_or(64, |square| square as u8)];
        let body: Vec<u8> = decisions.iter().flat_map(pair).collect();
        let mut block = vec![decisions.len() as u8];
        block.extend(crc32fast::hash(&body).to_le_bytes());
        block.extend(body);
        self.write(&block)
    }
}

/// Returns the table built into the program if it covers positions of these rules with the board's number of
/// empty squares; made by `solver prove --semi-strong`.
pub fn stored(rules: &BoardRules, board: Board) -> Option<&'static SemiStrongTable> {
    static TABLE: OnceLock<Option<SemiStrongTable>> = OnceLock::new();
    let bytes = include_bytes!("stored.semi");
    let (header, _) = Header::split(bytes, SEMI_STRONG).ok()?;
    if *rules != BoardRules::new(header.rows, header.columns, header.empties)
        || rules.empties(board) <= header.leaf_depth
    {
        return None;
    }
    TABLE.get_or_init(|| SemiStrongTable::open(bytes, &CheckLimits::NONE).ok()).as_ref()
}

/// Checks a table: the stored moves of either side keep the scores that it claims, and the scores agree with each
/// other and with a plain search below them. The score of a position whose best move leaves the table may be too low.
pub(super) fn check(
    bytes: &[u8],
    limits: &CheckLimits,
    announce: &mut dyn FnMut(&SearchWork),
) -> Result<CheckReport, Error> {
    let table = SemiStrongTable::open(bytes, limits)?;
    table.check_scores()?;
    let SemiStrongTable { header, rules, sides } = table;
    let leaves = search_leaves(&rules, &sides, true, limits, announce)?;
    Ok(CheckReport { header, is_semi_strong: true, leaves })
}

/// Opened table.
pub struct SemiStrongTable {
    /// Header of the file.
    pub header: Header,
    rules: BoardRules,
    pub(super) sides: [Walk; 2],
}

/// Exact score of a position for its mover and a best move, which is `None` for a pass or a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactAnswer {
    /// Score.
    pub score: i32,
    /// Bit of a best move.
    pub square: Option<u32>,
}

impl SemiStrongTable {
    /// Expands a file.
    ///
    /// # Errors
    ///
    /// If the file is damaged ([`Kind::Damaged`](crate::error::Kind::Damaged)) or exceeds the limits ([`Kind::Input`](crate::error::Kind::Input)).
    pub fn open(bytes: &[u8], limits: &CheckLimits) -> Result<SemiStrongTable, Error> {
        let (header, content) = Header::read(bytes, SEMI_STRONG, limits)?;
        let rules = BoardRules::new(header.rows, header.columns, header.empties);
        let total = header.counts[0] as usize + header.counts[1] as usize;
        let truncated = || damaged("truncated records");
        let (gains, moves) = content.split_at_checked(total).ok_or_else(truncated)?;
        let (mut gains, mut moves) = (gains.iter(), moves.iter());
        let mut side = |turn: Turn, bound: i32, count: u32, room: Room| {
            let mut walk = Walk::new(&rules, header.leaf_depth, room);
            walk.add(header.root, turn, bound);
            let mut met = 0;
            walk.replay(true, |board, bound| {
                let score = bound + i32::from(*gains.next().ok_or_else(truncated)?);
                if score > rules.most() {
                    return Err(damaged("invalid score"));
                }
                met += 1;
                Ok(ScoredMove { score, square: next_move(&rules, board, &mut moves)? })
            })?;
            if met == count { Ok(walk) } else { Err(damaged("inconsistent records")) }
        };
        let mut room = Room::new(limits);
        room.take(content.len())?;
        let first = side(Turn::Hero, header.score, header.counts[0], room)?;
        let second = side(Turn::Other, -header.score, header.counts[1], first.room)?;
        if gains.next().is_some() || moves.next().is_some() {
            return Err(damaged("records beyond the end"));
        }
        Ok(SemiStrongTable { header, rules, sides: [first, second] })
    }

    /// Checks that the scores above the leaves agree with each other: the other side's positions have the lowest
    /// score of their replies, no move of a stored position leads to a better score than its own, and a position has
    /// one score wherever it is stored.
    fn check_scores(&self) -> Result<(), Error> {
        let depth = self.header.leaf_depth as usize;
        let walks = self.sides.iter();
        let positions = walks.flat_map(move |walk| {
            let hero = walk.hero[depth + 1..].iter().flatten();
            let hero = hero.map(move |(key, node)| (walk, Turn::Hero, key, node));
            let other = walk.other[depth + 1..].iter().flatten();
            hero.chain(other.map(move |(key, node)| (walk, Turn::Other, key, node)))
        });
        let fault = |(walk, turn, key, node): (&Walk, Turn, &(u64, u64), &Node)| {
            let board = board_of(key);
            let score = i32::from(node.score);
            let what = match turn {
                Turn::Hero => self.hero_fault(board, score),
                Turn::Other => self.other_fault(walk, board, score),
            }?;
            Some(format!("{what}: {}", self.rules.diagram(board)))
        };
        positions.par_bridge().find_map_any(fault).map_or(Ok(()), |what| Err(damaged(what)))
    }

    fn hero_fault(&self, board: Board, score: i32) -> Option<&'static str> {
        if self.scores(board).any(|other| other != score) {
            return Some("a position has two scores");
        }
        let is_better = |child: Board| {
            if self.rules.is_over(child) {
                return -self.rules.score(child) > score;
            }
            self.scores(child).any(|after| -after > score)
        };
        let is_exceeded = self.rules.successors(board).into_iter().any(is_better);
        is_exceeded.then_some("a move leads to a better score than the position's")
    }

    fn other_fault(&self, walk: &Walk, board: Board, score: i32) -> Option<&'static str> {
        if self.scores(board).any(|other| other != -score) {
            return Some("a position has two scores");
        }
        // Replies that are searched are compared by `search_leaves`.
        let lowest = walk.replies(board).reduce(|a, b| Some(a?.min(b?)))?;
        (lowest? != score).then_some("no reply reaches the score of a position")
    }

    /// Returns the mover's exact scores of a position that the table claims.
    fn scores(&self, board: Board) -> impl Iterator<Item = i32> {
        let key = self.sides[0].key(board);
        let empties = self.rules.empties(board);
        let hero = self.sides.iter().filter(move |_| empties > self.header.leaf_depth);
        let hero = hero.filter_map(move |walk| walk.hero[empties as usize].get(&key));
        let other =
            self.sides.iter().filter_map(move |walk| walk.other[empties as usize].get(&key));
        hero.map(|node| node.score.into()).chain(other.map(|node| -i32::from(node.score)))
    }

    /// Returns an engine for the positions below the table.
    pub fn engine(&self) -> Engine {
        let Header { rows, columns, empties, .. } = self.header;
        Engine::new(&EngineOptions {
            rows,
            columns,
            empties,
            memory: 1 << 24,
            threads: 1,
            evaluation: None,
        })
    }

    /// Returns the exact score of a position and a best move, or `None` outside the table.
    pub fn query(&self, engine: &mut Engine, board: Board) -> Option<ExactAnswer> {
        let rules = &self.rules;
        let legal = rules.moves(board);
        if rules.is_over(board) {
            return Some(ExactAnswer { score: rules.score(board), square: None });
        }
        if rules.empties(board) <= self.header.leaf_depth {
            let window = (-rules.most(), rules.most());
            let found = engine.solve(&board, window, &Limits::default());
            return Some(ExactAnswer { score: found.lower, square: found.best });
        }
        let score = self.scores(board).next()?;
        let child = |&square: &u32| rules.play(board, square);
        // The stored move belongs to an image of the board: find the move that reaches its child.
        if let Some(target) = self.stored_child(board) {
            let square = squares(legal).find(|at| rules.canonical(child(at)) == target);
            return Some(ExactAnswer { score, square });
        }
        let holds = |square: &u32| {
            let child = child(square);
            if rules.is_over(child) {
                return -rules.score(child) == score;
            }
            if rules.empties(child) > self.header.leaf_depth {
                return self.scores(child).next() == Some(-score);
            }
            engine.solve(&child, (-score, 1 - score), &Limits::default()).upper <= -score
        };
        Some(ExactAnswer { score, square: squares(legal).find(holds) })
    }

    /// Returns the canonical position after the stored move of a position of the hero.
    fn stored_child(&self, board: Board) -> Option<Board> {
        let image = self.rules.canonical(board);
        let key = (image.mover, image.opponent);
        let empties = self.rules.empties(board) as usize;
        let node = self.sides.iter().find_map(|walk| walk.hero[empties].get(&key))?;
        let square = node.square?;
        Some(self.rules.canonical(self.rules.play(image, square.into())))
    }
}
