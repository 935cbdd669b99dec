//! The simplest rules, and evaluations of positions for rules that search.

use super::{Rule, rate_after};
use yomikiri::rules::{Action, AnyPosition, Mobility, Rules, Walk};

/// The uniform policy: the baseline for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random;

impl Rule for Random {
    fn name(&self) -> String {
        "random".to_string()
    }

    fn worths(
        &self,
        _game: &dyn Rules,
        _position: &AnyPosition,
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

impl Rule for Greedy {
    fn name(&self) -> String {
        "greedy".to_string()
    }

    fn worths(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
        out: &mut [f64],
    ) {
        rate_after((game, position), actions, out, |walk| f64::from(-walk.material()));
    }
}

/// A static evaluation of positions.
pub trait StaticEvaluation: Send + Sync {
    /// Returns the value of a position for its mover, on any scale; less than 2⁵⁰ in size.
    fn value(&self, position: &dyn Walk) -> i64;
}

/// Material of the mover minus the opponent's: discs in Othello, values of pieces in shogi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Material;

impl StaticEvaluation for Material {
    fn value(&self, position: &dyn Walk) -> i64 {
        i64::from(position.material())
    }
}

/// Nothing: a search by it sees results alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Even;

impl StaticEvaluation for Even {
    fn value(&self, _position: &dyn Walk) -> i64 {
        0
    }
}

/// Number of moves the mover can choose from; 0 if the mover must pass or the game is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount;

impl StaticEvaluation for MoveCount {
    fn value(&self, position: &dyn Walk) -> i64 {
        match position.mobility() {
            Mobility::Moves(moves) => i64::from(moves),
            Mobility::Pass | Mobility::Over => 0,
        }
    }
}
