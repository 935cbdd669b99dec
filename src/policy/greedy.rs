//! The move after which one has the most material.

use super::Rule;
use crate::game::{Action, Game, Position};

/// Maximises the material after the move, own less the opponent's: one ply of looking ahead, as
/// beginners play. In Othello it counts discs; in shogi the values of pieces, so that it captures
/// what is worth the most and promotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greedy;

impl<G: Game> Rule<G> for Greedy {
    fn name(&self) -> String {
        "greedy".to_string()
    }

    fn worths(&self, game: &G, position: &Position<G::State>, actions: &[Action], out: &mut [f64]) {
        // The successor is seen by the opponent, whose material is to be least.
        for (out, &action) in out.iter_mut().zip(actions) {
            *out = f64::from(-game.material(&game.play(&position.state, action)));
        }
    }
}
