//! What a position is worth at a glance, for rules that read ahead.

use super::Weights;
use crate::game::{Game, Mobility};

/// Finds a position worth something without reading on.
pub trait Evaluation<G: Game>: Send + Sync {
    /// What the position is worth to its mover, on a scale of its own; less than 2⁵⁰ in size.
    fn of(&self, game: &G, state: &G::State) -> i64;
}

/// The mover's material less the opponent's: discs in Othello, values of pieces in shogi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Material;

impl<G: Game> Evaluation<G> for Material {
    fn of(&self, game: &G, state: &G::State) -> i64 {
        i64::from(game.material(state))
    }
}

/// How many moves the mover can choose from; none where he must pass or the game is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves;

impl<G: Game> Evaluation<G> for Moves {
    fn of(&self, game: &G, state: &G::State) -> i64 {
        match game.mobility(state) {
            Mobility::Moves(moves) => i64::from(moves),
            Mobility::Pass | Mobility::Over => 0,
        }
    }
}

/// The weights of the mover's squares less those of the opponent's, in [`MICRO`](super::MICRO)
/// units.
impl<G: Game> Evaluation<G> for Weights {
    /// # Panics
    ///
    /// When the board has more squares than the one the weights were made for.
    fn of(&self, game: &G, state: &G::State) -> i64 {
        let (own, theirs) = game.squares(state).unwrap_or_default();
        self.sum(own) - self.sum(theirs)
    }
}
