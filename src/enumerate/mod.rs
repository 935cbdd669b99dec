//! Enumeration of a game into a table.
//!
//! [`build`] enumerates a game into a table, whose [`Rows`](crate::table::rows::Rows) are sorted keys or ranks, in (layer,
//! key) or rank order; moves are stored or derived from the rules. In a layered game every edge leads to a
//! later layer (not always the next), except a pass, which is the only edge of its state and may stay in the
//! layer. In a game with cycles edges may lead anywhere, and layers are plies.
//!
//! ```
//! use yomikiri::enumerate::{self, Plan};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//!
//! let (game, dir) = (othello("4")?, tempfile::tempdir()?);
//! // All positions at most six plies from the start, symmetric ones once.
//! let plan = Plan { max_depth: Some(6), ..Plan::from_start(&*game) };
//! let table = enumerate::build(&*game, &plan, &Store::at(dir.path()), &Silent)?.table;
//! assert!(!table.manifest().complete);
//! assert_eq!(table.manifest().counts.table.states, 404);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod by_block;
mod by_key;
mod by_rank;
mod census;
mod check;
mod conventions;
mod driver;
mod parts;
mod plan;
mod sort;

use std::path::Path;

#[doc(hidden)]
pub use by_block::TaskStates;
pub(crate) use by_block::deriver;
#[doc(hidden)]
pub use census::Census;
#[doc(hidden)]
pub use check::{LayerChecks, LayerSums, LayerToRead, Maker};
pub use driver::{Enumerated, build};
#[doc(hidden)]
pub use parts::{Part, PartDraft, PartLayer, Parts, join, part_name};
pub use plan::{Estimate, Index, Plan, estimate, table_name, within_room};

use crate::error::{Error, Kind};
use crate::rules::Rules;

const BOUND: &str = "bound the enumeration with --max-depth or --max-states";

/// Returns the error for a place that contains a table other than the one of a name.
fn other_table(name: &str, dir: &Path) -> Error {
    let what = format!("{} contains a table other than {name}", dir.display());
    Error::new(what, "choose another --name or --tables, or see 'solver list'")
}

/// Returns the error for a plan without roots.
fn no_root() -> Error {
    "no root: expected at least one position to enumerate from".into()
}

/// Returns the error for a layer (a ply in games with cycles) that has more moves than fit their numbers.
fn too_many_moves(layer: u32, moves: u64) -> Error {
    let what = format!("layer {layer} has at least {moves} moves; the limit is 2^32 per layer");
    Error::new(what, BOUND).of_kind(Kind::Unfit)
}

/// Returns the error for more states than fit their numbers.
fn too_many_states(states: u64) -> Error {
    Error::new(format!("{states} states exceed the limit of 2^32"), BOUND).of_kind(Kind::Unfit)
}

/// Returns the error for a game that cannot be enumerated with the given options.
fn unfit(game: &dyn Rules, why: impl Into<Error>) -> Error {
    let unfit = why.into().map(|why| format!("{} cannot be enumerated: {why}", game.name()));
    unfit.of_kind(Kind::Unfit)
}
