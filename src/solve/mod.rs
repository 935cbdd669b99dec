//! Values of states by value iteration over the mapped transition table, and their proof.
//!
//! Works on graphs and never on rules: what it must know of a game (the scores of finished games,
//! the moves regenerated for verification) is handed in. A state's value is the maximum over its
//! moves of minus the successor's value (Shapley 1953; Bellman 1957, for the undiscounted game).
//!
//! * [`value_iterate`] computes a table's columns: exactly, as bounds where the table has a
//!   frontier, or discounted;
//! * `Backup` says what one sweep does to one state, whatever the game;
//! * [`prove`] proves rows, moves and values from the rules;
//! * [`Values`] reads them, [`ByDistance`] counts them;
//! * policy iteration evaluates a policy and improves it, in turn (layered games);
//! * [`cyclic`] solves graphs with cycles, by value iteration and by retrograde analysis.

mod backup;
mod columns;
pub mod cyclic;
mod distances;
mod iterate;
mod kept;
mod method;
mod policies;
mod proof;
mod ranked;
mod sweep;
mod table;
pub mod value;

pub use columns::{UNKNOWN_DISTANCE, UNKNOWN_SCORE, Values};
pub use distances::ByDistance;
#[cfg(feature = "cluster")]
pub(crate) use iterate::install_found;
pub use iterate::{Run, value_iterate};
pub use kept::Kept;
pub use method::{Algorithm, CyclicMethod, Method, SolveOptions};
pub use proof::{Counterexample, Verified, prove};
pub use ranked::{
    ENDLESS, RankedError, iterate as iterate_ranked, outcome_of, retrograde as retrograde_ranked,
};
pub use sweep::{Order, SweepError};
pub use table::solve;
pub use value::{Prospect, Value};
