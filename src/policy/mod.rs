//! What chooses moves.
//!
//! A [`Policy`] gives each legal action of a position a probability. Its figures are then exact
//! expectations: nothing is drawn at random.

use crate::game::{Action, Game, Position};

/// Something that chooses moves.
pub trait Policy<G: Game>: Send + Sync {
    /// The name under which reports show it.
    fn name(&self) -> String;

    /// Writes to `out` the probability with which each of `actions` is chosen, in their order.
    ///
    /// `actions` are the legal actions of the position, at least one; `out` comes with as many
    /// zeros and must sum to 1.
    fn probabilities(
        &self,
        game: &G,
        position: &Position<G::State>,
        actions: &[Action],
        out: &mut [f64],
    );
}
