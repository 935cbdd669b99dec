//! The simplest rules, and evaluations of positions for rules that search.

use super::Rule;
use yomikiri::game::{Action, Game, Mobility, Position};

/// The uniform policy: the baseline for all others.
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

/// Maximises the material after the move, own minus the opponent's: a search of one ply. In Othello it counts
/// discs; in shogi the values of pieces, so it captures the most valuable piece and promotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greedy;

impl<G: Game> Rule<G> for Greedy {
    fn name(&self) -> String {
        "greedy".to_string()
    }

    fn worths(&self, game: &G, position: &Position<G::State>, actions: &[Action], out: &mut [f64]) {
        // The successor's material is the opponent's, so it is negated.
        for (out, &action) in out.iter_mut().zip(actions) {
            *out = f64::from(-game.material(&game.play(&position.state, action)));
        }
    }
}

/// A static evaluation of positions.
pub trait StaticEvaluation<G: Game>: Send + Sync {
    /// Returns the value of a position for its mover, on any scale; less than 2⁵⁰ in size.
    fn of(&self, game: &G, state: &G::State) -> i64;
}

/// Material of the mover minus the opponent's: discs in Othello, values of pieces in shogi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Material;

impl<G: Game> StaticEvaluation<G> for Material {
    fn of(&self, game: &G, state: &G::State) -> i64 {
        i64::from(game.material(state))
    }
}

/// Number of moves the mover can choose from; 0 if the mover must pass or the game is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount;

impl<G: Game> StaticEvaluation<G> for MoveCount {
    fn of(&self, game: &G, state: &G::State) -> i64 {
        match game.mobility(state) {
            Mobility::Moves(moves) => i64::from(moves),
            Mobility::Pass | Mobility::Over => 0,
        }
    }
}
