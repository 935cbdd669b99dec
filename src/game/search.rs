//! Exact search of scores: what it may spend, and the search that a game brings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Action, Empties, Score};

/// Settings of a searcher, which last as long as it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How empty squares count at the end of a game.
    pub empties: Empties,
    /// Bytes of the transposition table.
    pub memory: usize,
    /// Threads of one search.
    pub threads: usize,
    /// Weights by which moves are ordered.
    pub weights: SearchWeights,
    /// Whether a solution that is part of the program answers where it can, without a search.
    pub stored: bool,
}

/// Weights by which a search that has some orders moves. No score depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SearchWeights {
    /// Those that are built in, if there are some for the board.
    #[default]
    BuiltIn,
    /// None that were trained.
    Plain,
    /// Those of a file; plain ones where it is none of the game.
    File(Arc<[u8]>),
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            empties: Empties::Uncounted,
            memory: 256 << 20,
            threads: 1,
            weights: SearchWeights::BuiltIn,
            stored: true,
        }
    }
}

/// Limits of one search. A search that reaches one returns the bounds that it has proven.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimits<'a> {
    /// Most positions looked at.
    pub nodes: Option<u64>,
    /// Time at which it stops.
    pub deadline: Option<Instant>,
    /// Flag that stops it when set.
    pub stop: Option<&'a AtomicBool>,
}

impl SearchLimits<'_> {
    /// Returns true once a search that has looked at so many positions must stop.
    pub fn are_reached(&self, nodes: u64) -> bool {
        self.nodes.is_some_and(|most| nodes >= most)
            || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Proven bounds of the mover's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreBounds {
    /// The score is at least this.
    pub lower: Score,
    /// The score is at most this.
    pub upper: Score,
    /// A move that keeps `lower`, if one was found.
    pub best: Option<Action>,
    /// Positions looked at.
    pub nodes: u64,
}

/// Exact search of a game's scores; of its outcomes, 1, 0 and −1, where it has no scores.
pub trait ScoreSearch<S>: Send + Sync {
    /// Returns bounds of the state's score, both its mover's: equal where the score lies in the window, ends
    /// included, and no limit is reached; else on the side of the window on which the score lies.
    fn search(&self, state: &S, window: (Score, Score), limits: &SearchLimits) -> ScoreBounds;
}
