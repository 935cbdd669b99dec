//! Moves between the ranks of a game's states, for those who need not know its states.

use super::End;

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

    /// Appends the ranks of the states from which one move leads here, each once; some of them may
    /// not be reachable, and those in which the game is over may be left out.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);
}
