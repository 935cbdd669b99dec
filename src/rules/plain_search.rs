//! Plain alpha-beta with a transposition table, for any layered game.
//!
//! Null windows with memory close in on the value (A. Plaat et al., "Best-First Fixed-Depth Minimax
//! Algorithms", 1996), so an interrupted search has proven bounds. Moves with the fewest replies come first.

use std::mem;
use std::sync::Mutex;

use super::{
    Action, Empties, Game, Mobility, Score, ScoreBounds, SearchLimits, SearchOptions, words_of_key,
};

/// Search of a layered game without a search of its own.
pub(crate) struct PlainSearch {
    empties: Empties,
    memory: usize,
    table: Mutex<Slots>,
}

/// Initial number of slots of the transposition table, which grows as it fills.
const SMALLEST: usize = 1 << 12;

/// Transposition table; its number of slots is a power of two.
#[derive(Default)]
struct Slots {
    slots: Vec<Option<PlainSlot>>,
    filled: usize,
}

impl Slots {
    fn place(&self, key: [u64; 2]) -> usize {
        let [high, low] = key;
        let hash = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash ^ hash >> 32) as usize & (self.slots.len() - 1)
    }

    fn get(&self, key: [u64; 2]) -> Option<PlainSlot> {
        self.slots[self.place(key)].filter(|slot| slot.key == key)
    }

    fn insert(&mut self, slot: PlainSlot) {
        let place = self.place(slot.key);
        self.filled += usize::from(self.slots[place].is_none());
        self.slots[place] = Some(slot);
    }

    /// Grows to `count` slots, rounded down to a power of two, if the system has memory for them.
    fn grow(&mut self, count: usize) {
        let (count, mut slots) = (1 << count.ilog2(), Vec::new());
        if self.slots.len() < count && slots.try_reserve_exact(count).is_ok() {
            slots.resize(count, None);
            let old = mem::replace(&mut self.slots, slots);
            self.filled = 0;
            old.into_iter().flatten().for_each(|slot| self.insert(slot));
        }
    }
}

/// Entry of one state: bounds of its score, and its best move.
#[derive(Clone, Copy)]
struct PlainSlot {
    key: [u64; 2],
    lower: i8,
    upper: i8,
    best: Option<Action>,
}

/// Error of a search that reached a limit.
struct Stopped;

impl PlainSearch {
    pub(crate) fn new(options: &SearchOptions) -> PlainSearch {
        PlainSearch { empties: options.empties, memory: options.memory, table: Mutex::default() }
    }

    /// Searches like [`ScoreSearch::search`](super::ScoreSearch::search).
    pub(crate) fn search<G: Game>(
        &self,
        game: &G,
        state: &G::State,
        window: (Score, Score),
        limits: &SearchLimits,
    ) -> ScoreBounds {
        let mut table = self.table.lock().expect("no search panics");
        let most = game.max_score().map_or(1, |most| most.0);
        let slots = (self.memory / size_of::<Option<PlainSlot>>()).max(1);
        table.grow(SMALLEST.min(slots));
        let (empties, table) = (self.empties, &mut *table);
        let mut run = PlainRun { game, empties, most, limits, table, slots, nodes: 0 };
        run.close_in(state, window)
    }
}

/// One search.
struct PlainRun<'a, G: Game> {
    game: &'a G,
    empties: Empties,
    most: i8,
    limits: &'a SearchLimits<'a>,
    table: &'a mut Slots,
    /// Maximum number of slots.
    slots: usize,
    nodes: u64,
}

impl<G: Game> PlainRun<'_, G> {
    /// Narrows the bounds of a state until they meet or leave the window.
    fn close_in(
        &mut self,
        state: &G::State,
        (Score(low), Score(high)): (Score, Score),
    ) -> ScoreBounds {
        let (mut lower, mut upper, mut best) = (-self.most, self.most, None);
        let mut beta = 1.clamp(lower + 1, upper);
        while lower < upper && lower < high && upper > low {
            let Ok(score) = self.score(state, beta) else { break };
            if score < beta {
                upper = score;
                beta = score;
            } else {
                lower = score;
                best = self
                    .table
                    .get(words_of_key(self.game.key(state)))
                    .and_then(|slot| slot.best)
                    .or(best);
                beta = score + 1;
            }
        }
        // Without a best move the value is the lowest score, which every move keeps.
        let best = best.or_else(|| self.game.actions(state).first().copied());
        let best = best.filter(|_| lower == upper);
        let (lower, upper) = (Score(lower), Score(upper));
        ScoreBounds { lower, upper, distance: None, best, nodes: self.nodes }
    }

    /// Returns a proven lower bound of the score that is at least `beta`, or a proven upper bound below
    /// `beta`.
    fn score(&mut self, state: &G::State, beta: i8) -> Result<i8, Stopped> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(1024) && self.limits.are_reached(self.nodes) {
            return Err(Stopped);
        }
        let game = self.game;
        if game.is_terminal(state) {
            return Ok(game.score(state, self.empties).0);
        }
        let key = words_of_key(game.key(state));
        let known = self.table.get(key);
        let known =
            known.unwrap_or(PlainSlot { key, lower: -self.most, upper: self.most, best: None });
        if known.lower >= beta {
            return Ok(known.lower);
        }
        if known.upper < beta {
            return Ok(known.upper);
        }
        let (mut score, mut best) = (i8::MIN, known.best);
        for (action, after) in self.moves(state, known.best) {
            let found = -self.score(&after, 1 - beta)?;
            if found > score {
                (score, best) = (found, Some(action));
            }
            if score >= beta {
                break;
            }
        }
        if self.table.filled > self.table.slots.len() / 2 {
            self.table.grow(self.slots.min(2 * self.table.slots.len()));
        }
        self.table.insert(match score >= beta {
            true => PlainSlot { lower: score, best, ..known },
            false => PlainSlot { upper: score, ..known },
        });
        Ok(score)
    }

    /// Returns the moves and the states after them, in the order in which they are tried.
    fn moves(&self, state: &G::State, first: Option<Action>) -> Vec<(Action, G::State)> {
        let mut moves = Vec::new();
        self.game.moves(state, |action, after| {
            let replies = match self.game.mobility(&after) {
                Mobility::Over | Mobility::Pass => 0,
                Mobility::Moves(count) => count + 1,
            };
            let order = if Some(action) == first { 0 } else { 1 + replies };
            moves.push((order, action, after));
        });
        moves.sort_by_key(|&(order, action, _)| (order, action));
        moves.into_iter().map(|(_, action, after)| (action, after)).collect()
    }
}
