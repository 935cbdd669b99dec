//! Interface of exact score search: options, limits, and the search that a game supplies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Action, Empties, Score};

/// Usual number of plies within which wins with every move are looked for.
pub const WIN_PLIES: u32 = 5;

/// Maximum number of plies within which wins with every move are looked for.
pub const MOST_WIN_PLIES: u32 = 125;

/// Options of a searcher, fixed for its lifetime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Convention for empty squares at the end of a game.
    pub empties: Empties,
    /// Size of the transposition table in bytes.
    pub memory: usize,
    /// Number of threads of one search.
    pub threads: usize,
    /// Weights for move ordering.
    pub weights: SearchWeights,
    /// `true` to answer from a solution built into the program where it covers the position.
    pub stored: bool,
    /// Plies within which wins with every move, not by checks alone, are looked for (shogi); at most [`MOST_WIN_PLIES`].
    pub win_plies: u32,
}

/// Weights for move ordering, ignored by searches without any. Scores do not depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SearchWeights {
    /// Built-in weights, if there are any for the board.
    #[default]
    BuiltIn,
    /// Untrained weights.
    Plain,
    /// Weights from the content of a file; untrained ones if it does not fit the game.
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
            win_plies: WIN_PLIES,
        }
    }
}

/// Limits of one search. A search that reaches one returns the bounds that it has proven.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimits<'a> {
    /// Maximum number of visited positions.
    pub nodes: Option<u64>,
    /// Time at which the search stops.
    pub deadline: Option<Instant>,
    /// Flag that stops it when set.
    pub stop: Option<&'a AtomicBool>,
}

impl SearchLimits<'_> {
    /// Returns the limit of a time from now on; none at all without one.
    pub fn within(time: Option<Duration>) -> SearchLimits<'static> {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        SearchLimits { deadline, ..SearchLimits::default() }
    }

    /// Returns `true` if a search that has visited `nodes` positions must stop.
    pub fn are_reached(&self, nodes: u64) -> bool {
        self.nodes.is_some_and(|most| nodes >= most)
            || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Proven bounds of the mover's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreBounds {
    /// Lower bound of the score.
    pub lower: Score,
    /// Upper bound of the score.
    pub upper: Score,
    /// Plies to the end under best play of both, if the bounds are equal and the search finds them.
    pub distance: Option<u16>,
    /// Move that guarantees `lower`, if one was found.
    pub best: Option<Action>,
    /// Number of visited positions.
    pub nodes: u64,
}

/// Exact search of a game's scores; without scores, of its outcomes as −1, 0 and 1.
pub trait ScoreSearch<S>: Send + Sync {
    /// Returns bounds of the score of `state`, for its mover. They are equal if the score lies within the
    /// inclusive window and no limit is reached; otherwise they show on which side of the window it lies.
    fn search(&self, state: &S, window: (Score, Score), limits: &SearchLimits) -> ScoreBounds;
}
