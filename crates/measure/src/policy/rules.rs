//! The simplest rules, and what a position is worth at a glance for rules that read ahead.

use super::{Rule, Weights};
use yomikiri::game::{Action, Game, GameExt, Mobility, Position};

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
