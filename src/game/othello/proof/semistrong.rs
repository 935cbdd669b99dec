//! Semi-strong table: exact value and a best move of every position that one side's best moves reach.
//!
//! The table is a walk for each side as hero. A record contains the hero's score minus its known bound, and
//! the index of its move. The scores come from a search; the file does not prove them.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use super::certificate::{Problem, batch_size, index_of};
use super::check::{BoardRules, check_leaves, nth};
use super::{Header, Pool, SEMI_STRONG, ScoredMove, Turn, Walk};
use crate::game::SearchLimits as Limits;
use crate::game::othello::Board;
use crate::game::othello::search::{Engine, EngineOptions};

/// Makes a table. Its decisions are saved in a checkpoint file, from which it resumes. `on_level` receives
/// the hero (0 for the mover), the empty squares and the number of positions of each finished level.
pub fn make(
    problem: &Problem,
    checkpoint: &Path,
    on_level: &mut dyn FnMut(usize, usize, usize),
) -> Result<Vec<u8>, String> {
    let rules = problem.rules();
    let pool = Pool::new(&problem.options);
    let mut log = DecisionLog::open(checkpoint, &problem.file(SEMI_STRONG, 0, [0; 2], b"")[..44])?;
    let root = match log.known.next() {
        Some(decision) => decision.score,
        None => {
            let score = pool.solve(problem);
            log.append(&[ScoredMove { score, square: None }])?;
            score
        }
    };
    let (mut gains, mut moves, mut counts) = (Vec::new(), Vec::new(), [0; 2]);
    for (at, (turn, bound)) in [(Turn::Hero, root), (Turn::Other, -root)].into_iter().enumerate() {
        let mut walk = Walk::new(&rules, problem.leaf_depth);
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
                        return Err(format!("{}: record of another table", checkpoint.display()));
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
/// After the header of the table come blocks: their number of decisions, their CRC-32, and two
/// bytes for each decision. A damaged or incomplete block ends the file.
struct DecisionLog {
    file: File,
    known: std::vec::IntoIter<ScoredMove>,
}

impl DecisionLog {
    fn open(path: &Path, head: &[u8]) -> Result<DecisionLog, String> {
        let fail = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        // The leaf depth may differ: a table may be continued to fewer empty squares.
        let same = |(at, (a, b)): (usize, (&u8, &u8))| at == 13 || at >= 40 || a == b;
        if bytes.is_empty() {
            file.write_all(head).map_err(fail)?;
            bytes.extend(head);
        } else if bytes.len() < head.len() || !bytes.iter().zip(head).enumerate().all(same) {
            return Err(format!("{}: checkpoint of another table", path.display()));
        }
        let mut rest = &bytes[head.len()..];
        let mut known = Vec::new();
        while let Some((block, tail)) = DecisionLog::block(rest) {
            known.extend(block);
            rest = tail;
        }
        let whole = (bytes.len() - rest.len()) as u64;
        file.set_len(whole).map_err(fail)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).map_err(fail)?;
        Ok(DecisionLog { file, known: known.into_iter() })
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

    fn append(&mut self, decisions: &[ScoredMove]) -> Result<(), String> {
        let pair =
            |d: &ScoredMove| [d.score as i8 as u8, d.square.map_or(64, |square| square as u8)];
        let body: Vec<u8> = decisions.iter().flat_map(pair).collect();
        let mut block = vec![decisions.len() as u8];
        block.extend(crc32fast::hash(&body).to_le_bytes());
        block.extend(body);
        self.file.write_all(&block).map_err(|error| format!("checkpoint: {error}"))
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
    TABLE.get_or_init(|| SemiStrongTable::open(bytes).ok()).as_ref()
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
    pub fn open(bytes: &[u8]) -> Result<SemiStrongTable, String> {
        let (header, content) = Header::read(bytes, SEMI_STRONG)?;
        let rules = BoardRules::new(header.rows, header.columns, header.empties);
        let total = header.counts[0] as usize + header.counts[1] as usize;
        let Some((gains, moves)) = content.split_at_checked(total) else {
            return Err("truncated records".to_string());
        };
        let (mut gains, mut moves) = (gains.iter(), moves.iter());
        let mut side = |turn: Turn, bound: i32, count: u32| {
            let mut walk = Walk::new(&rules, header.leaf_depth);
            walk.add(header.root, turn, bound);
            let mut met = 0;
            for empties in walk.levels() {
                for (board, bound) in walk.level(empties)? {
                    let gain = gains.next().ok_or("truncated records")?;
                    let score = bound + i32::from(*gain);
                    let legal = rules.moves(board);
                    let mut square = None;
                    if legal.count_ones() > 1 {
                        let index = moves.next().ok_or("truncated records")?;
                        square = Some(nth(legal, *index).ok_or("invalid move index")?);
                    }
                    if score > rules.most() {
                        return Err("invalid score".to_string());
                    }
                    met += 1;
                    walk.follow(board, score, square);
                }
            }
            walk.failure()?;
            if met == count { Ok(walk) } else { Err("inconsistent records".to_string()) }
        };
        let sides = [
            side(Turn::Hero, header.score, header.counts[0])?,
            side(Turn::Other, -header.score, header.counts[1])?,
        ];
        if gains.next().is_some() || moves.next().is_some() {
            return Err("records beyond the end".to_string());
        }
        Ok(SemiStrongTable { header, rules, sides })
    }

    /// Checks by plain search that the stored moves of either side keep the scores that the table assigns and
    /// returns the number of positions searched below them. For scores after an inferior move it proves only
    /// a lower bound; their exactness rests on the search that made the table.
    pub fn check(&self) -> Result<[usize; 2], String> {
        let [first, second] = &self.sides;
        Ok([check_leaves(&self.rules, first)?, check_leaves(&self.rules, second)?])
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
        let score = self.score(board)?;
        let child = |&square: &u32| rules.play(board, square);
        // The stored move belongs to an image of the board: find the move that reaches its child.
        if let Some(target) = self.stored_child(board) {
            let square =
                super::check::squares(legal).find(|at| rules.canonical(child(at)) == target);
            return Some(ExactAnswer { score, square });
        }
        let holds = |square: &u32| {
            let child = child(square);
            if rules.is_over(child) {
                return -rules.score(child) == score;
            }
            if rules.empties(child) > self.header.leaf_depth {
                return self.score(child) == Some(-score);
            }
            engine.solve(&child, (-score, 1 - score), &Limits::default()).upper <= -score
        };
        Some(ExactAnswer { score, square: super::check::squares(legal).find(holds) })
    }

    /// Returns the score of a position above the leaves, for its mover.
    fn score(&self, board: Board) -> Option<i32> {
        let key = self.sides[0].key(board);
        let empties = self.rules.empties(board) as usize;
        let of = |walk: &Walk| {
            let hero = walk.hero[empties].get(&key).map(|node| i32::from(node.score));
            hero.or_else(|| walk.other[empties].get(&key).map(|node| -i32::from(node.score)))
        };
        self.sides.iter().find_map(of)
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
