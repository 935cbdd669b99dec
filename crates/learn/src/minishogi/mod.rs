//! A value network for minishogi: features, training data, search.
//!
//! The network returns the mover's probability to win; its users take it as
//! [`ValueFunction`].
//!
//! * [`features`]: a position as 361 numbers;
//! * `mates`: mate positions, and those one move before, from random games;
//! * `selfplay`: games of the network against itself, with targets for their positions;
//! * [`beam`]: the search, which keeps a few moves per position;
//! * [`player`]: the search as a policy, preceded by a search for mates;
//! * [`quick`]: a trained network as [`ValueFunction`];
//! * `tactics`: positions with some proven moves, to measure players.
//!
//! Results depend only on the arguments, to the bit, not on threads or time.

pub mod beam;
pub mod features;
pub mod mates;
pub mod player;
pub mod quick;
pub mod selfplay;
pub mod tactics;
#[cfg(test)]
mod test_positions;

pub use features::FEATURES;

use yomikiri::games::shogi::{Board, MINISHOGI, Shogi};
use yomikiri::rules::{AnyPosition, Game, Position, Rules};

/// Rules of minishogi.
pub type Minishogi = Shogi;

/// Returns the rules; left-right mirror images have the same canonical key.
pub fn rules() -> Minishogi {
    Shogi::new(&MINISHOGI, true)
}

/// Converts a position of minishogi's rules to the form in which policies take it.
fn erased(game: &dyn Rules, rules: &Minishogi, position: &Position<Board>) -> AnyPosition {
    let state = game.state(rules.key(&position.state)).expect("a key of minishogi");
    Position { state, side: position.side }
}

/// A value network.
pub trait ValueFunction: Send + Sync {
    /// Writes the mover's probability to win, from 0 to 1, for each row of [`FEATURES`] numbers.
    ///
    /// The value of a row must not depend on the other rows, to the last bit.
    ///
    /// # Panics
    ///
    /// If `rows` is not [`FEATURES`] times as long as `out`.
    fn values(&self, rows: &[f32], out: &mut [f32]);
}
