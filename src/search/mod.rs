//! Exact search: values of positions outside tables.
//!
//! A [`Searcher`] answers for one position at a time. Layered games are searched to their ends by a
//! [`ScoreSearch`]; games of the shogi family, which have cycles, for the wins that can be forced ([`mates`]).
//!
//! ```
//! use yomikiri::rules::{Game, Score, SearchLimits, SearchOptions};
//! use yomikiri::registry::othello;
//! use yomikiri::search::{SearchTask, searcher};
//!
//! let game = othello("4")?;
//! let searcher = searcher(&*game, &SearchOptions::default()).ok_or("no search for this game")?;
//! let found = searcher.search(&game.start().state, &SearchTask::EXACT, &SearchLimits::default());
//! assert_eq!(found.value.score(), Some(Score(-8)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod estimate;
#[doc(hidden)]
pub mod mates;

use crate::rules::{Action, AnyState, Rules, Score, ScoreSearch, SearchLimits, SearchOptions};
use crate::solve::Value;
use mates::{MateLine, MateValues, MateVerdict};

/// Task of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTask {
    /// Scores, inclusive, between which the exact value is wanted.
    pub window: (Score, Score),
}

impl SearchTask {
    /// Task to find the exact value.
    pub const EXACT: SearchTask = SearchTask { window: (Score(-i8::MAX), Score(i8::MAX)) };

    /// Returns the task to decide whether the score is this, lower or higher.
    pub fn around(score: Score) -> SearchTask {
        SearchTask { window: (Score(score.0.saturating_sub(1)), Score(score.0.saturating_add(1))) }
    }
}

/// Result of one search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// Proven bounds, for the mover.
    pub value: Value,
    /// Moves of both players that keep the value, as far as they were found: at most one, or the line of a forced win.
    pub line: Vec<Action>,
    /// Number of positions visited.
    pub nodes: u64,
    /// Mate of the mover by checks alone, in games of the shogi family.
    pub mate: Option<MateByChecks>,
}

/// Answer to the question whether the mover mates with nothing but checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateByChecks {
    /// Verdict of the search, whose plies are those of the line.
    pub verdict: MateVerdict,
    /// Mate against the longest defence.
    pub line: MateLine,
}

/// Search for positions of a game, which keeps its results for later calls.
pub trait Searcher: Send + Sync {
    /// Searches a state until the task is done or a limit is reached.
    fn search(&self, state: &AnyState, task: &SearchTask, limits: &SearchLimits) -> SearchResult;
}

/// Returns `true` if a game has a [searcher].
pub fn can_search(game: &dyn Rules) -> bool {
    game.is_layered() || mates::has_mates(game)
}

/// Returns the memory in bytes of a game's search: `most`, except for mates, whose tables stay in the processor's
/// caches.
pub fn usual_memory(game: &dyn Rules, most: usize) -> usize {
    if game.is_layered() { most } else { most.min(16 << 20) }
}

/// Returns the searcher of a game; `None` for games with cycles outside the shogi family.
pub fn searcher(game: &dyn Rules, options: &SearchOptions) -> Option<Box<dyn Searcher>> {
    Some(match game.score_search(options) {
        Some(search) => Box::new(LayeredSearcher(search)),
        None => Box::new(MateValues::new(game, options)?),
    })
}

/// Searcher of a layered game.
struct LayeredSearcher(Box<dyn ScoreSearch<AnyState>>);

impl Searcher for LayeredSearcher {
    fn search(&self, state: &AnyState, task: &SearchTask, limits: &SearchLimits) -> SearchResult {
        let found = self.0.search(state, task.window, limits);
        let value = Value::of_scores(found.lower, found.upper, found.distance);
        let line = found.best.into_iter().collect();
        SearchResult { value, line, nodes: found.nodes, mate: None }
    }
}
