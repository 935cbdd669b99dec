//! Generation of certificates: weak solutions that `check` verifies.

use super::check::{BoardRules, CheckLimits, squares};
use super::{Header, PROOF, Pool, Room, ScoredMove, Turn, Walk};
use crate::error::Error;
use crate::games::othello::Board;
use crate::games::othello::search::EngineOptions;
use crate::rules::SearchLimits as Limits;

/// Position to be solved, with the options of the search.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Root position.
    pub root: Board,
    /// `true` if White is to move in the root position.
    pub white_to_move: bool,
    /// Maximum number of empty squares of positions that are searched instead of stored.
    pub leaf_depth: u32,
    /// Board shape, convention of empties, memory and threads of the search.
    pub options: EngineOptions,
}

impl Problem {
    fn header(&self, score: i32, counts: [u32; 2]) -> Header {
        let EngineOptions { rows, columns, empties, .. } = self.options;
        let Problem { root, white_to_move, leaf_depth, .. } = *self;
        Header { rows, columns, empties, white_to_move, root, score, leaf_depth, counts }
    }

    pub(super) fn rules(&self) -> BoardRules {
        BoardRules::new(self.options.rows, self.options.columns, self.options.empties)
    }

    pub(super) fn file(
        &self,
        magic: &[u8; 7],
        score: i32,
        counts: [u32; 2],
        content: &[u8],
    ) -> Vec<u8> {
        self.header(score, counts).write(magic, content)
    }
}

/// Solves a position and returns a certificate of its score; fails if it needs too many positions.
pub fn prove(problem: &Problem) -> Result<Vec<u8>, Error> {
    let pool = Pool::new(&problem.options);
    let score = pool.solve(problem);
    let (mut content, mut counts) = (Vec::new(), [0; 2]);
    let rules = problem.rules();
    for (at, (turn, score)) in [(Turn::Hero, score), (Turn::Other, -score)].into_iter().enumerate()
    {
        let moves = prove_side(problem, &rules, &pool, turn, score)?;
        counts[at] = moves.len() as u32;
        content.extend(moves);
    }
    Ok(problem.file(PROOF, score, counts, &content))
}

/// Returns the moves by which the hero scores at least `score`.
fn prove_side(
    problem: &Problem,
    rules: &BoardRules,
    pool: &Pool,
    turn: Turn,
    score: i32,
) -> Result<Vec<u8>, Error> {
    let mut walk = Walk::new(rules, problem.leaf_depth, Room::new(&CheckLimits::NONE));
    walk.add(problem.root, turn, score);
    let mut stream = Vec::new();
    for empties in walk.levels() {
        for batch in walk.level(empties)?.chunks(batch_size(empties)) {
            let decisions = pool.decide(batch, |engine, board, _| ScoredMove {
                score,
                square: walk.choose(engine, board, score, None),
            });
            for (&(board, _), decision) in batch.iter().zip(decisions) {
                stream.extend(index_of(rules, board, decision.square));
                walk.follow(board, score, decision.square);
            }
        }
    }
    walk.failure()?;
    Ok(stream)
}

/// Returns the index of a move among all moves, if there are several.
pub(super) fn index_of(rules: &BoardRules, board: Board, square: Option<u32>) -> Option<u8> {
    let moves = rules.moves(board);
    let index = squares(moves).position(|at| Some(at) == square)?;
    (moves.count_ones() > 1).then_some(index as u8)
}

/// Number of positions that are decided before any of them is added to the walk.
pub(super) fn batch_size(empties: usize) -> usize {
    match empties {
        0..=20 => 64,
        21..=25 => 8,
        _ => 2,
    }
}

impl Pool {
    pub(super) fn solve(&self, problem: &Problem) -> i32 {
        let squares = (problem.options.rows * problem.options.columns) as i32;
        let mut engine = self.0[0].lock().expect("an engine panicked");
        engine.solve(&problem.root, (-squares, squares), &Limits::default()).lower
    }
}
