//! Search as an oracle: exact values of positions that no table contains.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::Oracle;
use crate::any::{AnyGame, AnyPosition, AnyState};
use crate::game::{Action, Empties, Game, GameExt, Score, SearchLimits, SearchOptions};
use crate::search::{Found, Searcher, Task};
use crate::solve::Value;

/// What the answer for one position may spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Longest time.
    pub time: Option<Duration>,
    /// Most positions looked at.
    pub nodes: Option<u64>,
}

/// What is asked of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The outcome without the score.
    pub outcome_only: bool,
    /// The value of each move; else of a best one alone.
    pub all_moves: bool,
}

/// Most empty squares of a position whose values a search finds at once, in some ten milliseconds.
pub const QUICK_SQUARES: u32 = 14;

/// Returns how many squares are empty; `None` in games whose layers do not count discs.
pub fn empty_squares(game: &AnyGame, state: &AnyState) -> Option<u32> {
    let layers = game.layers().filter(|layers| layers.unit() == "discs")?;
    let (rows, columns) = game.shape();
    Some(((rows * columns) as u32).saturating_sub(layers.layer_of(state)))
}

/// Answers by search.
pub struct SearchOracle {
    game: AnyGame,
    empties: Empties,
    searcher: Box<dyn Searcher<AnyGame>>,
    budget: Budget,
    wanted: Wanted,
    began: Mutex<Instant>,
    nodes: AtomicU64,
    /// Whether an answer came without a search.
    stored: AtomicBool,
    known: Mutex<FxHashMap<AnyPosition, (Value, Option<Action>)>>,
}

impl SearchOracle {
    /// Returns the oracle of a game that can be searched, `None` of others.
    pub fn new(
        game: AnyGame,
        options: &SearchOptions,
        budget: Budget,
        wanted: Wanted,
    ) -> Option<SearchOracle> {
        let (searcher, empties) = (game.searcher(options)?, options.empties);
        let (began, nodes, known) =
            (Mutex::new(Instant::now()), AtomicU64::new(0), Mutex::default());
        let stored = AtomicBool::new(false);
        Some(SearchOracle { game, empties, searcher, budget, wanted, began, nodes, stored, known })
    }

    /// Returns the oracle that finds the value of each move in at most `time` a position, beside a table
    /// that counts empty squares in this way. `None` of games that cannot be searched.
    pub fn beside(
        game: AnyGame,
        empties: Empties,
        threads: usize,
        time: Duration,
    ) -> Option<SearchOracle> {
        let options = SearchOptions { empties, threads, ..SearchOptions::default() };
        let budget = Budget { time: Some(time), nodes: None };
        SearchOracle::new(game, &options, budget, Wanted { outcome_only: false, all_moves: true })
    }

    /// Returns how empty squares count in the scores.
    pub fn empties(&self) -> Empties {
        self.empties
    }

    /// Forgets the answers and what they took, so that the next has the whole budget.
    pub fn restart(&self) {
        *self.began.lock().expect("no holder panics") = Instant::now();
        self.nodes.store(0, Ordering::Relaxed);
        self.stored.store(false, Ordering::Relaxed);
        self.known.lock().expect("no holder panics").clear();
    }

    /// Returns how many positions were looked at since the start, and the time since.
    pub fn spent(&self) -> (u64, Duration) {
        let began = *self.began.lock().expect("no holder panics");
        (self.nodes.load(Ordering::Relaxed), began.elapsed())
    }

    /// Returns whether a solution that is part of the program answered, for a position since the start.
    pub fn was_stored(&self) -> bool {
        self.stored.load(Ordering::Relaxed)
    }

    /// Searches a position within what is left of the budget.
    fn search(&self, position: &AnyPosition, task: &Task) -> Found {
        let began = *self.began.lock().expect("no holder panics");
        let spent = self.nodes.load(Ordering::Relaxed);
        let limits = SearchLimits {
            nodes: self.budget.nodes.map(|nodes| nodes.saturating_sub(spent)),
            deadline: self.budget.time.and_then(|time| began.checked_add(time)),
            stop: None,
        };
        let found = self.searcher.search(&self.game, &position.state, task, &limits);
        self.nodes.fetch_add(found.nodes, Ordering::Relaxed);
        self.stored.fetch_or(found.nodes == 0 && found.best.is_some(), Ordering::Relaxed);
        found
    }

    fn task(&self) -> Task {
        if self.wanted.outcome_only { Task::around(Score(0)) } else { Task::EXACT }
    }

    fn known(&self, position: &AnyPosition) -> Option<(Value, Option<Action>)> {
        self.known.lock().expect("no holder panics").get(position).copied()
    }

    fn remember(&self, position: AnyPosition, value: Value, best: Option<Action>) {
        self.known.lock().expect("no holder panics").insert(position, (value, best));
    }
}

impl Oracle for SearchOracle {
    fn game(&self) -> &AnyGame {
        &self.game
    }

    fn name(&self) -> String {
        "search".to_string()
    }

    fn value_of(&self, position: &AnyPosition) -> Option<Value> {
        if let Some((value, _)) = self.known(position) {
            return Some(value);
        }
        let Found { value, best, .. } = self.search(position, &self.task());
        self.remember(*position, value, best);
        Some(value)
    }

    fn is_proven(&self, value: Value) -> bool {
        match self.wanted.outcome_only {
            true => value.outcome().is_some(),
            false => value.score().is_some(),
        }
    }

    fn look_ahead(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        // First, for the order in which it is searched leaves more in the transposition table.
        let value = self.value_of(position);
        let proven = value.filter(|&value| self.is_proven(value));
        let best = proven.and_then(|value| self.best_move(position, value));
        let mut moves = Vec::new();
        self.game.for_each_successor(&position.state, |action, state| {
            let after = AnyPosition { state, side: position.side.other() };
            let value = match self.wanted.all_moves {
                true => self.value_of(&after).map(turned),
                false => value.filter(|_| best == Some(action)),
            };
            moves.push((action, value));
        });
        moves
    }

    /// The value of the position after it is known then too.
    fn best_move(&self, position: &AnyPosition, value: Value) -> Option<Action> {
        let known = self.known(position).and_then(|(_, best)| best);
        let searched = || {
            let task = value.score().map_or(self.task(), Task::around);
            self.search(position, &task).best
        };
        let action = known.or_else(searched)?;
        self.remember(*position, value, Some(action));
        let after = self.game.advance(position, action);
        if value.score().is_some() && self.known(&after).is_none() {
            self.remember(after, turned(value), None);
        }
        Some(action)
    }
}

/// Returns a value as the other player sees it. Of the distance nothing is known.
fn turned(value: Value) -> Value {
    Value::of_scores(-value.upper.score(), -value.lower.score(), None)
}
