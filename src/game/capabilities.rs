//! What a game can have besides its rules, a trait for each; [`Game`](super::Game) hands out those it has.
//! `S` is the game's state.

use super::{Empties, End, Score};

/// Layers: every move leads to a later one, and only a pass may stay in its layer. The game is enumerated
/// and solved layer by layer.
pub trait Layers<S>: Sync {
    /// What a layer counts, in the plural: `discs`.
    fn unit(&self) -> &'static str;

    /// The layer of a state.
    fn layer_of(&self, state: &S) -> u32;
}

/// Scores: results finer than win, draw and loss.
pub trait Scores<S>: Sync {
    /// The largest score the game can end with.
    fn most(&self) -> Score;

    /// The mover's final score were the game to end here; its sign is the outcome.
    fn score_of(&self, state: &S, empties: Empties) -> Score;

    /// What the score counts, in the singular: `disc`.
    fn unit(&self) -> &'static str {
        "point"
    }
}

/// Ranks: numbers of the states without gaps. Every state that can be reached from the start has one.
///
/// A table by rank has no room for ends other than a loss, and a win in one ply: other games are
/// enumerated by keys.
pub trait Ranks<S>: Sync {
    /// How many ranks there are.
    fn count(&self) -> u32;

    /// The rank of a state, the same for all its images; `None` if it has none.
    fn rank_of(&self, state: &S) -> Option<u32>;

    /// The state of a rank; `None` if there are not so many.
    fn state_of(&self, rank: u32) -> Option<S>;

    /// Appends the ranks of the states from which one move leads to that of `rank`, each once; some of
    /// them may not be reachable, and those in which the game is over may be left out.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);

    /// Moves from rank to rank, where they can be made by a shorter way than over states.
    fn moves(&self) -> Option<&dyn RankedMoves> {
        None
    }
}

/// The moves of a game over the ranks of its states. Ranks that are asked about are below
/// [`RankedMoves::ranks`].
pub trait RankedMoves: Sync {
    /// How many ranks there are.
    fn ranks(&self) -> u32;

    /// Fills `after` with the rank to which each move of a state leads, and how the game has ended
    /// there, for its mover. Nothing where the game is over.
    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>);

    /// How the game has ended in a state, for its mover; with `None` fills `ends` with how it has
    /// ended after each move. Moves that lead to one state are one.
    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End>;

    /// Appends what [`Ranks::predecessors`] appends.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);
}
