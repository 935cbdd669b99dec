//! Games that get on: every move leads to a later layer, and the end has a score.

use super::{Empties, Game, Score};

/// A game none of whose moves leads to an earlier layer: it can be enumerated and solved layer by
/// layer, and it ends with a score.
pub trait Layered: Game {
    /// The layer of a state: no move lowers it, and only a pass keeps it. Othello: the disc count.
    fn layer(&self, state: &Self::State) -> u32;

    /// A bound on the plies of a game from `state`; every move lowers it, passes too.
    fn max_plies(&self, state: &Self::State) -> u32;

    /// The mover's final score were the game to end here; its meaning at the end of a game only.
    fn final_score(&self, state: &Self::State, empties: Empties) -> Score;

    /// The largest score a game can end with.
    fn max_score(&self) -> Score;

    /// The squares held by the mover and by the opponent, bit `row * columns + column` each.
    fn squares(&self, state: &Self::State) -> (u64, u64);

    /// The state in which mover and opponent hold these squares; `None` if both hold one, or one is not
    /// on the board.
    fn of_squares(&self, own: u64, other: u64) -> Option<Self::State>;
}
