//! A value network for minishogi: its features, its training data, its search.
//!
//! The network's output is the mover's probability to win. Code that needs a network takes it as
//! [`Values`].
//!
//! * [`features`]: a position as 361 numbers;
//! * `mates`: positions that are mate, or one move before it, from random games;
//! * `selfplay`: games of the network against itself, with targets for every position in them;
//! * [`beam`]: the search that keeps a few moves a position;
//! * [`player`]: it as a policy, with the search for mates before it;
//! * [`quick`]: a trained network as [`Values`];
//! * `tactics`: positions some of whose moves are proven, to measure players.
//!
//! Results depend on the arguments alone, to the bit: not on threads, not on time.

pub mod beam;
pub mod features;
pub mod mates;
pub mod player;
pub mod quick;
#[cfg(test)]
mod sample;
pub mod selfplay;
pub mod tactics;

pub use features::FEATURES;

use yomikiri::game::WideKey;
use yomikiri::game::shogi::{MINISHOGI, Shogi};

/// The rules of minishogi as all of this uses them.
pub type Minishogi = Shogi<WideKey>;

/// The rules; canonical keys are those of left-right mirror images together.
pub fn rules() -> Minishogi {
    Shogi::new(&MINISHOGI, true)
}

/// A value network.
pub trait Values: Send + Sync {
    /// Writes for each row of [`FEATURES`] numbers the mover's probability to win, strictly between
    /// 0 and 1 or at one of them.
    ///
    /// The value of a row must not depend on the other rows, to the last bit.
    ///
    /// # Panics
    ///
    /// When `rows` is not [`FEATURES`] times as long as `out`.
    fn values(&self, rows: &[f32], out: &mut [f32]);
}
