//! Search as an oracle: exact values of positions that no table contains.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::Oracle;
use crate::rules::{
    Action, AnyPosition, AnyState, Empties, Outcome, Rules, Score, SearchLimits, SearchOptions,
};
use crate::search::{MateByChecks, SearchResult, SearchTask, Searcher, searcher, usual_memory};
use crate::solve::{Prospect, Value};

/// Limits of the search for one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Longest time.
    pub time: Option<Duration>,
    /// Most nodes.
    pub nodes: Option<u64>,
}

/// Values that a search must find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedValues {
    /// `true` to find the outcome without the score.
    pub outcome_only: bool,
    /// `true` to find the value of every move, `false` for a best one alone.
    pub all_moves: bool,
}

/// Most empty squares of a position on any board whose value a search finds within a minute.
const LONG_SQUARES: u32 = 20;
/// Most squares of a board whose positions a search usually solves within a minute.
const LONG_BOARD: usize = 36;

/// Positions that are searched if no table proves their value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Positions with at most [`quick_squares`] empty squares.
    Quick,
    /// Positions that are usually solved within a minute.
    Long,
    /// All positions that no table contains, and of the others those that are usually solved within a minute.
    Outside,
    /// All positions.
    #[default]
    All,
}

impl Reach {
    /// Returns whether a position is searched; `in_table` says whether a table contains it.
    pub fn contains(self, game: &dyn Rules, position: &AnyPosition, in_table: bool) -> bool {
        let (rows, columns) = game.shape();
        let Some(empty) = empty_squares(game, &position.state) else {
            // How long a search takes is unknown.
            return self == Reach::All || !in_table;
        };
        match self {
            Reach::All => true,
            Reach::Outside if !in_table => true,
            Reach::Quick => empty <= quick_squares(game),
            Reach::Long | Reach::Outside => empty <= LONG_SQUARES || rows * columns <= LONG_BOARD,
        }
    }
}

/// Returns the most empty squares of a position that a search solves in about ten milliseconds.
pub fn quick_squares(game: &dyn Rules) -> u32 {
    if game.has_scores() { 14 } else { 24 }
}

/// Returns the number of empty squares; `None` in games whose layers do not count discs.
pub fn empty_squares(game: &dyn Rules, state: &AnyState) -> Option<u32> {
    game.layer_unit().filter(|unit| *unit == "discs")?;
    let (rows, columns) = game.shape();
    Some(((rows * columns) as u32).saturating_sub(game.layer(state)))
}

/// An oracle that searches.
pub struct SearchOracle {
    game: Arc<dyn Rules>,
    empties: Empties,
    searcher: Box<dyn Searcher>,
    budget: Mutex<Budget>,
    wanted: WantedValues,
    began: Mutex<Instant>,
    nodes: AtomicU64,
    /// `true` if searches must stop.
    stop: AtomicBool,
    /// `true` if an answer came from a stored solution, without a search.
    stored: AtomicBool,
    known: Mutex<FxHashMap<AnyPosition, (Value, Option<Action>)>>,
    mates: Mutex<FxHashMap<AnyPosition, MateByChecks>>,
}

impl SearchOracle {
    /// Returns the oracle of a game; `None` if the game cannot be searched.
    pub fn new(
        game: Arc<dyn Rules>,
        options: &SearchOptions,
        budget: Budget,
        wanted: WantedValues,
    ) -> Option<SearchOracle> {
        let (searcher, empties) = (searcher(&*game, options)?, options.empties);
        let (began, nodes, known) =
            (Mutex::new(Instant::now()), AtomicU64::new(0), Mutex::default());
        let budget = Mutex::new(budget);
        let [stop, stored] = [false; 2].map(AtomicBool::new);
        let oracle = SearchOracle {
            game,
            empties,
            searcher,
            budget,
            wanted,
            began,
            nodes,
            stop,
            stored,
            known,
            mates: Mutex::default(),
        };
        Some(oracle)
    }

    /// Returns the oracle that finds the values of all moves in at most `time` per position, to
    /// complement a table with this scoring of empty squares. `None` if the game cannot be searched.
    pub fn beside(
        game: Arc<dyn Rules>,
        empties: Empties,
        threads: usize,
        time: Duration,
    ) -> Option<SearchOracle> {
        let mut options = SearchOptions { empties, threads, ..SearchOptions::default() };
        options.memory = usual_memory(&*game, options.memory);
        let budget = Budget { time: Some(time), nodes: None };
        SearchOracle::new(
            game,
            &options,
            budget,
            WantedValues { outcome_only: false, all_moves: true },
        )
    }

    /// Discards all answers and resets the budget.
    pub fn restart(&self) {
        *self.began.lock().expect("no holder panics") = Instant::now();
        self.nodes.store(0, Ordering::Relaxed);
        self.stored.store(false, Ordering::Relaxed);
        self.known.lock().expect("no holder panics").clear();
        self.mates.lock().expect("no holder panics").clear();
    }

    /// Sets the budget of later searches and keeps the answers; a search that was stopped may run again.
    pub fn allow(&self, budget: Budget) {
        *self.budget.lock().expect("no holder panics") = budget;
        *self.began.lock().expect("no holder panics") = Instant::now();
        self.nodes.store(0, Ordering::Relaxed);
        self.stop.store(false, Ordering::Relaxed);
    }

    /// Stops the running search and all later ones; their values are then only bounds.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the number of nodes searched since the last restart, and the time since.
    pub fn spent(&self) -> (u64, Duration) {
        let began = *self.began.lock().expect("no holder panics");
        (self.nodes.load(Ordering::Relaxed), began.elapsed())
    }

    /// Returns whether a solution stored in the program has answered since the last restart.
    pub fn was_stored(&self) -> bool {
        self.stored.load(Ordering::Relaxed)
    }

    /// Searches a position within the remaining budget.
    fn search(&self, position: &AnyPosition, task: &SearchTask) -> SearchResult {
        let found = self.searcher.search(&position.state, task, &self.limits());
        self.nodes.fetch_add(found.nodes, Ordering::Relaxed);
        self.stored.fetch_or(found.nodes == 0 && !found.line.is_empty(), Ordering::Relaxed);
        found
    }

    fn task(&self) -> SearchTask {
        if self.wanted.outcome_only { SearchTask::around(Score(0)) } else { SearchTask::EXACT }
    }

    fn known(&self, position: &AnyPosition) -> Option<(Value, Option<Action>)> {
        self.known.lock().expect("no holder panics").get(position).copied()
    }

    fn remember(&self, position: AnyPosition, value: Value, best: Option<Action>) {
        self.known.lock().expect("no holder panics").insert(position, (value, best));
    }

    /// Remembers what the line of a forced win proves of the positions after each of its moves: bounds, because the
    /// longest defence against checks need not be the longest against every move.
    fn remember_line(&self, from: AnyPosition, value: Value, line: &[Action]) {
        let (mut position, mut plies) = (from, value.distance_upper());
        let mut outcome = value.outcome();
        for (played, &action) in line.iter().enumerate() {
            position = self.game.advance(&position, action);
            plies = plies.and_then(|plies| plies.checked_sub(1));
            outcome = outcome.map(|outcome| Outcome::of(-outcome.value()));
            let Some((outcome, plies)) = outcome.zip(plies) else { return };
            let end = Prospect::of_end(outcome, plies);
            let proven = match outcome {
                Outcome::Win => Value { lower: end, ..Value::CUT_OFF },
                _ => Value { upper: end, ..Value::CUT_OFF },
            };
            let best = line.get(played + 1).copied();
            let mut known = self.known.lock().expect("no holder panics");
            known.entry(position).or_insert((proven, best));
        }
    }

    fn turned(&self, value: Value) -> Value {
        value.turned(self.game.is_layered())
    }

    /// Returns what is left of the budget.
    fn limits(&self) -> SearchLimits<'_> {
        let began = *self.began.lock().expect("no holder panics");
        let budget = *self.budget.lock().expect("no holder panics");
        let spent = self.nodes.load(Ordering::Relaxed);
        SearchLimits {
            nodes: budget.nodes.map(|nodes| nodes.saturating_sub(spent)),
            deadline: budget.time.and_then(|time| began.checked_add(time)),
            stop: Some(&self.stop),
        }
    }
}

impl Oracle for SearchOracle {
    fn game(&self) -> &dyn Rules {
        &*self.game
    }

    /// Returns what has answered since the last restart: a search, or a solution stored in the program.
    fn name(&self) -> String {
        let name = match (self.was_stored(), self.spent().0) {
            (false, _) => "search",
            (true, 0) => "stored solution",
            (true, _) => "stored solution and search",
        };
        name.to_string()
    }

    fn value_of(&self, position: &AnyPosition) -> Option<Value> {
        if let Some((value, _)) = self.known(position) {
            return Some(value);
        }
        if let Some(value) = self.end_value(&position.state) {
            return Some(value);
        }
        let SearchResult { value, line, mate, .. } = self.search(position, &self.task());
        if let Some(mate) = mate {
            self.mates.lock().expect("no holder panics").insert(*position, mate);
        }
        self.remember(*position, value, line.first().copied());
        if !self.game.is_layered() {
            self.remember_line(*position, value, &line);
        }
        Some(value)
    }

    fn empties(&self) -> Empties {
        self.empties
    }

    fn mate(&self, position: &AnyPosition) -> Option<MateByChecks> {
        self.mates.lock().expect("no holder panics").get(position).cloned()
    }

    fn is_proven(&self, value: Value) -> bool {
        match self.wanted.outcome_only {
            true => value.outcome().is_some(),
            false => value.score().is_some(),
        }
    }

    fn look_ahead(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        // Searched first: this order leaves more in the transposition table.
        let value = self.value_of(position);
        let proven = value.filter(|&value| self.is_proven(value));
        let best = proven.and_then(|value| self.best_move(position, value));
        let mut moves = Vec::new();
        self.game.moves(&position.state, |action, state| {
            let after = AnyPosition { state, side: position.side.other() };
            if self.wanted.all_moves {
                moves.push((action, self.value_of(&after).map(|value| self.turned(value))));
            } else if best == Some(action) {
                moves.push((action, value));
            }
        });
        moves
    }

    /// Also remembers the value of the position after the move.
    fn best_move(&self, position: &AnyPosition, value: Value) -> Option<Action> {
        let known = self.known(position).and_then(|(_, best)| best);
        let searched = || {
            // The line of a forced win is not searched for again where a limit cut it.
            self.game.layer_unit()?;
            let task = value.score().map_or(self.task(), SearchTask::around);
            self.search(position, &task).line.first().copied()
        };
        let action = known.or_else(searched)?;
        self.remember(*position, value, Some(action));
        let after = self.game.advance(position, action);
        let is_kept = self.game.is_layered() && value.score().is_some();
        if is_kept && self.known(&after).is_none() {
            self.remember(after, self.turned(value), None);
        }
        Some(action)
    }
}
