//! Every legal move equally often.

use super::Policy;
use crate::game::{Action, Game, Position};

/// The uniform policy: what any other is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random;

impl<G: Game> Policy<G> for Random {
    fn name(&self) -> String {
        "random".to_string()
    }

    fn probabilities(
        &self,
        _game: &G,
        _position: &Position<G::State>,
        actions: &[Action],
        out: &mut [f64],
    ) {
        out.fill(1.0 / actions.len() as f64);
    }
}
