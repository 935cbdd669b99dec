//! Every legal move equally often.

use super::Rule;
use crate::game::{Action, Game, Position};

/// The uniform policy: what any other is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random;

impl<G: Game> Rule<G> for Random {
    fn name(&self) -> String {
        "random".to_string()
    }

    fn worths(
        &self,
        _game: &G,
        _position: &Position<G::State>,
        _actions: &[Action],
        out: &mut [f64],
    ) {
        out.fill(0.0);
    }
}
