//! Exact search: values of positions that no table holds.
//!
//! A [`Searcher`] answers for one position at a time. Layered games are searched to their ends
//! (`plain`), or by the [`ScoreSearch`] that they bring. Games of the shogi family, in which play may go round in
//! circles, are searched for mates ([`mates`]).

pub mod mates;
mod plain;

use crate::game::{Action, Game, Score, ScoreSearch, SearchLimits, SearchOptions};
use crate::solve::Value;

/// Task of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Scores between which the value is wanted exactly, ends included.
    pub window: (Score, Score),
}

impl Task {
    /// Asks for the exact value.
    pub const EXACT: Task = Task { window: (Score(-i8::MAX), Score(i8::MAX)) };

    /// Asks whether the score is this, lower or higher.
    pub fn around(score: Score) -> Task {
        Task { window: (Score(score.0.saturating_sub(1)), Score(score.0.saturating_add(1))) }
    }
}

/// Result of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Proven bounds, the mover's.
    pub value: Value,
    /// A move that keeps the lower bound, if one was found.
    pub best: Option<Action>,
    /// Positions looked at.
    pub nodes: u64,
}

/// Searches positions of a game; keeps what it learned for the next.
pub trait Searcher<G: Game>: Send + Sync {
    /// Searches a state until the task is done or a limit is reached.
    fn search(&self, game: &G, state: &G::State, task: &Task, limits: &SearchLimits) -> Found;
}

/// Returns the searcher of a game; `None` where play may go round in circles.
pub fn of_rules<G: Game>(game: &G, options: &SearchOptions) -> Option<Box<dyn Searcher<G>>> {
    game.layers()?;
    Some(match game.score_search(options) {
        Some(search) => Box::new(Brought(search)),
        None => Box::new(plain::Plain::<G>::new(options)),
    })
}

/// The search that a game brings.
struct Brought<S>(Box<dyn ScoreSearch<S>>);

impl<G: Game> Searcher<G> for Brought<G::State> {
    fn search(&self, _game: &G, state: &G::State, task: &Task, limits: &SearchLimits) -> Found {
        let found = self.0.search(state, task.window, limits);
        let value = Value::of_scores(found.lower, found.upper, None);
        Found { value, best: found.best, nodes: found.nodes }
    }
}
