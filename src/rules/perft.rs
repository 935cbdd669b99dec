//! Perft: counts lines of play to a depth, the standard check of a move generator.
//!
//! A pass is a ply. [`Finished`] sets how a game that ends earlier counts.

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::{Game, words_of_key};
use crate::parallel;

/// Convention by which a game that ends before the depth counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// One line at every greater depth: the convention of the published 8×8 Othello counts.
    Counted,
    /// No line: every line has the full number of plies, as in chess and shogi programs.
    Dropped,
}

impl Finished {
    fn lines(self) -> u64 {
        match self {
            Finished::Counted => 1,
            Finished::Dropped => 0,
        }
    }
}

/// Counts the lines of `depth` plies from `state` one by one.
pub fn perft<G: Game>(game: &G, state: &G::State, depth: u32, finished: Finished) -> u64 {
    if depth == 0 {
        return 1;
    }
    if depth == 1 {
        let mut actions = 0;
        game.for_each_action(state, |_| actions += 1);
        return if actions == 0 { finished.lines() } else { actions };
    }
    let mut successors = Vec::with_capacity(16);
    game.moves(state, |_, successor| successors.push(successor));
    if successors.is_empty() {
        return finished.lines();
    }
    successors.iter().map(|successor| perft(game, successor, depth - 1, finished)).sum()
}

/// Counts like [`perft`], but on all threads and with each distinct canonical state once per depth. Memory
/// grows with the number of distinct states above the last two plies.
pub fn perft_shared<G: Game>(game: &G, state: &G::State, depth: u32, finished: Finished) -> u64 {
    let memo = DashMap::with_hasher(FxBuildHasher);
    shared(game, state, depth, finished, &memo)
}

type Memo = DashMap<([u64; 2], u32), u64, FxBuildHasher>;

fn shared<G: Game>(game: &G, state: &G::State, depth: u32, finished: Finished, memo: &Memo) -> u64 {
    if depth <= 2 {
        return perft(game, state, depth, finished);
    }
    let at = (words_of_key(game.canonical(state).key), depth);
    if let Some(known) = memo.get(&at) {
        return *known;
    }
    let mut successors = Vec::new();
    game.moves(state, |_, successor| successors.push(successor));
    let below = |successor: &G::State| shared(game, successor, depth - 1, finished, memo);
    let count = if successors.is_empty() {
        finished.lines()
    } else if depth > 4 {
        let below = |place: usize| below(&successors[place]);
        parallel::map(successors.len(), &below).into_iter().sum()
    } else {
        successors.iter().map(below).sum()
    };
    memo.insert(at, count);
    count
}
