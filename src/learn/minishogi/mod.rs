//! A value network for minishogi: what it sees, what it learns from, and how it plays.
//!
//! The network's output is the mover's chance to win, from 0 to 1. What needs a network here takes
//! it as [`Values`].
//!
//! * [`features`]: a position as 361 numbers;
//! * `mates`: positions that are mate, or one move before it, from random games;
//! * `selfplay`: games of the network against itself, with targets for every position in them;
//! * [`beam`]: the search that keeps a few moves a position;
//! * [`force`]: the search for a win that nothing prevents;
//! * [`player`]: both together as a policy;
//! * [`quick`]: a trained network as [`Values`];
//! * `exam`: positions in which some moves' ends are proven, to measure players.
//!
//! Everything here is fixed by its arguments: neither threads nor the time change a bit of it.

pub mod beam;
#[cfg(feature = "learn")]
pub mod exam;
pub mod features;
pub mod force;
#[cfg(feature = "learn")]
pub mod mates;
pub mod player;
pub mod quick;
#[cfg(test)]
mod sample;
#[cfg(feature = "learn")]
pub mod selfplay;

pub use features::FEATURES;

use crate::game::WideKey;
use crate::game::shogi::{MINISHOGI, Shogi};

/// The rules of minishogi as all of this uses them.
pub type Minishogi = Shogi<WideKey>;

/// The rules; canonical keys are those of left-right mirror images together.
pub fn rules() -> Minishogi {
    Shogi::new(&MINISHOGI, true)
}

/// What finds positions worth something: a value network.
pub trait Values: Send + Sync {
    /// Writes for each row of [`FEATURES`] numbers the mover's chance to win, strictly between 0 and 1
    /// or at one of them.
    ///
    /// The value of a row must not depend on the other rows, to the last bit.
    ///
    /// # Panics
    ///
    /// When `rows` is not [`FEATURES`] times as long as `out`.
    fn values(&self, rows: &[f32], out: &mut [f32]);
}
