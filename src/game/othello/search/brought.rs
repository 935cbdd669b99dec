//! The engine as the search that Othello brings.

use std::sync::Mutex;

use super::kernel::{Kernel, Scalar};
use super::{Engine, Found, Options};
use crate::game::othello::Board;
use crate::game::{Action, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions};

/// Search of one board shape, by one caller at a time.
pub(in crate::game::othello) struct Brought {
    engine: Mutex<Engine>,
    columns: usize,
    pass: Action,
}

impl Brought {
    /// Returns the search of a board of `rows` × `columns`.
    pub fn new(rows: usize, columns: usize, options: &SearchOptions) -> Brought {
        let SearchOptions { empties, memory, threads } = *options;
        let options = Options { rows, columns, empties, memory, threads, evaluation: None };
        let engine = Engine::new(&options);
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
