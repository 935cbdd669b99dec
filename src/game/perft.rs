//! Perft: how many lines of play there are to a depth, the standard check of a move generator.
//!
//! A pass is a ply, and a game that has ended counts once at every depth past its end (the
//! convention of the published 8×8 Othello counts).

use dashmap::DashMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::Game;

/// The number of lines of `depth` plies from `state`, counted one by one.
pub fn perft<G: Game>(game: &G, state: &G::State, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut successors = Vec::with_capacity(16);
    game.for_each_successor(state, |_, successor| successors.push(successor));
    if depth == 1 || successors.is_empty() {
        return successors.len().max(1) as u64;
    }
    successors.iter().map(|successor| perft(game, successor, depth - 1)).sum()
}

/// The same number as [`perft`], on all threads, counting each distinct canonical state once a
/// depth. Memory grows with the number of distinct states above the last two plies.
pub fn perft_shared<G: Game>(game: &G, state: &G::State, depth: u32) -> u64 {
    let memo = DashMap::with_hasher(FxBuildHasher);
    shared(game, state, depth, &memo)
}

type Memo<K> = DashMap<(K, u32), u64, FxBuildHasher>;

fn shared<G: Game>(game: &G, state: &G::State, depth: u32, memo: &Memo<G::Key>) -> u64 {
    if depth <= 2 {
        return perft(game, state, depth);
    }
    let at = (game.canonical(state).key, depth);
    if let Some(known) = memo.get(&at) {
        return *known;
    }
    let mut successors = Vec::new();
    game.for_each_successor(state, |_, successor| successors.push(successor));
    let count = if successors.is_empty() {
        1
    } else if depth > 4 {
        successors.par_iter().map(|successor| shared(game, successor, depth - 1, memo)).sum()
    } else {
        successors.iter().map(|successor| shared(game, successor, depth - 1, memo)).sum()
    };
    memo.insert(at, count);
    count
}
