//! The engine as the search that Othello brings.

use std::sync::{Arc, Mutex, OnceLock};

use super::kernel::{Kernel, Scalar};
use super::{Engine, Evaluation, Found, Options};
use crate::game::othello::Board;
use crate::game::{
    Action, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, SearchWeights,
};

/// Returns the evaluation that was trained for a board and is part of the program: by `solver train
/// evaluation --size 8 --positions 250000`, and `--size 6 --positions 200000`; their cards lie beside them.
pub fn built_in(rows: usize, columns: usize) -> Option<Arc<Evaluation>> {
    static ALL: [OnceLock<Option<Arc<Evaluation>>>; 2] = [OnceLock::new(), OnceLock::new()];
    let (at, bytes): (usize, &[u8]) = match (rows, columns) {
        (6, 6) => (0, include_bytes!("evaluation-6x6.bin")),
        (8, 8) => (1, include_bytes!("evaluation-8x8.bin")),
        _ => return None,
    };
    ALL[at].get_or_init(|| Evaluation::read(bytes).ok().map(Arc::new)).clone()
}

/// Search of one board shape, by one caller at a time.
pub(in crate::game::othello) struct Brought {
    engine: Mutex<Engine>,
    columns: usize,
    pass: Action,
}

impl Brought {
    /// Returns the search of a board of `rows` × `columns`.
    pub(crate) fn new(rows: usize, columns: usize, options: &SearchOptions) -> Brought {
        let SearchOptions { empties, memory, threads, ref weights } = *options;
        let evaluation = match weights {
            SearchWeights::BuiltIn => built_in(rows, columns),
            SearchWeights::Plain => None,
            SearchWeights::File(bytes) => Evaluation::read(bytes).ok().map(Arc::new),
        };
        let engine = Engine::new(&Options { rows, columns, empties, memory, threads, evaluation });
        Brought { engine: Mutex::new(engine), columns, pass: Action((rows * columns) as u16) }
    }
}

impl ScoreSearch<Board> for Brought {
    fn search(&self, board: &Board, window: (Score, Score), limits: &SearchLimits) -> ScoreBounds {
        let mut engine = self.engine.lock().expect("no search panics");
        // The engine's window leaves its ends out.
        let window = (i32::from(window.0.0) - 1, i32::from(window.1.0) + 1);
        let Found { lower, upper, best, nodes } = engine.solve(board, window, limits);
        let legal = |board: Board| Scalar.moves(board) & engine.shape.board;
        let must_pass = legal(*board) == 0 && legal(board.swapped()) != 0;
        let placed = |bit: u32| Action((bit as usize / 8 * self.columns + bit as usize % 8) as u16);
        let [lower, upper] = [lower, upper].map(|bound| Score(bound as i8));
        let best = best.map(placed).or(must_pass.then_some(self.pass));
        ScoreBounds { lower, upper, best, nodes }
    }
}
