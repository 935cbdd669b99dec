//! Othello's own exact search: a stored solution if one covers the position, else the engine.

use std::sync::{Arc, Mutex};

use super::Board;
use super::proof::check::BoardRules;
use super::proof::semistrong::{self, ExactAnswer};
use super::search::{Engine, EngineOptions, EngineResult, Evaluation, built_in};
use crate::rules::{
    Action, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, SearchWeights,
};

/// Search of one board shape; one caller at a time uses it.
pub(super) struct EngineSearch {
    engine: Mutex<Engine>,
    rules: BoardRules,
    columns: usize,
    /// `true` if a stored solution may answer.
    stored: bool,
}

impl EngineSearch {
    /// Returns the search of a board of `rows` × `columns`.
    pub(super) fn new(rows: usize, columns: usize, options: &SearchOptions) -> EngineSearch {
        let SearchOptions { empties, memory, threads, ref weights, stored, .. } = *options;
        let evaluation = match weights {
            SearchWeights::BuiltIn => built_in(rows, columns),
            SearchWeights::Plain => None,
            SearchWeights::File(bytes) => Evaluation::read(bytes).ok().map(Arc::new),
        };
        let engine =
            Engine::new(&EngineOptions { rows, columns, empties, memory, threads, evaluation });
        let rules = BoardRules::new(rows, columns, empties);
        EngineSearch { engine: Mutex::new(engine), rules, columns, stored }
    }
}

impl ScoreSearch<Board> for EngineSearch {
    fn search(&self, board: &Board, window: (Score, Score), limits: &SearchLimits) -> ScoreBounds {
        let mut engine = self.engine.lock().expect("no search panics");
        let stored = self.stored.then(|| semistrong::stored(&self.rules, *board)).flatten();
        let found = match stored.and_then(|table| table.query(&mut engine, *board)) {
            Some(ExactAnswer { score, square }) => {
                EngineResult { lower: score, upper: score, best: square, nodes: 0 }
            }
            // The engine's window excludes its ends.
            None => {
                let window = (i32::from(window.0.0) - 1, i32::from(window.1.0) + 1);
                engine.solve(board, window, limits)
            }
        };
        let must_pass = self.rules.moves(*board) == 0 && !self.rules.is_over(*board);
        let placed = |bit: u32| Action((bit as usize / 8 * self.columns + bit as usize % 8) as u16);
        let [lower, upper] = [found.lower, found.upper].map(|bound| Score(bound as i8));
        let pass = Action(self.rules.most() as u16);
        let best = found.best.map(placed).or(must_pass.then_some(pass));
        ScoreBounds { lower, upper, distance: None, best, nodes: found.nodes }
    }
}
