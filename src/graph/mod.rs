//! Graphs: enumeration of a game into a table, and a table read as states, edges and layers.
//!
//! [`build`] enumerates a game into a table; a [`Graph`] maps one. Rows are sorted keys or ranks, in (layer,
//! key) or rank order; moves are stored or derived from the rules. In a layered game every edge leads to a
//! later layer (not always the next), except a pass, which is the only edge of its state and may stay in the
//! layer. In a game with cycles edges may lead anywhere, and layers are plies.
//!
//! ```
//! use yomikiri::graph::{self, Plan};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//!
//! let (game, dir) = (othello("4")?, tempfile::tempdir()?);
//! // All positions at most six plies from the start, symmetric ones once.
//! let plan = Plan { max_depth: Some(6), ..Plan::from_start(&*game) };
//! let table = graph::build(&*game, &plan, &Store::at(dir.path()), &Silent)?.table;
//! assert!(!table.manifest().complete);
//! assert_eq!(table.manifest().counts.table.states, 404);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod builder;
mod by_block;
mod by_key;
mod by_rank;
mod census;
mod check;
mod code;
mod conventions;
mod keys;
mod pack;
mod plan;
mod ranked;
mod sort;
mod stored_key;
mod view;

use std::path::Path;

#[doc(hidden)]
pub use build::{AssembledLayer, assemble};
pub use build::{Enumerated, build};
#[doc(hidden)]
pub use by_block::TaskStates;
pub(crate) use by_block::deriver;
#[doc(hidden)]
pub use census::Census;
#[doc(hidden)]
pub use check::{LayerChecks, LayerSums, LayerToRead, Maker};
#[doc(hidden)]
pub use keys::{Keys, KeysElsewhere};
#[doc(hidden)]
pub use pack::{check_packable, is_packed_of, pack};
pub use plan::{Estimate, Index, Plan, estimate, read_roots, table_name, within_room};
#[doc(hidden)]
pub use ranked::{ENDLESS, Ranked, RankedGame, distance_of_end};
#[doc(hidden)]
pub use view::{Finder, Graph, RowMove, RowPiece, TerminalScores};

use crate::error::{Error, Kind};
use crate::rules::Rules;

/// Fault of arrays whose lengths contradict each other.
const UNFIT: &str = "arrays of inconsistent lengths";

/// Kind of a row, as stored in `kinds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StateKind {
    /// State with all its moves in the table.
    Interior = 0,
    /// State in which the game is over.
    Terminal = 1,
    /// State at the bound of the enumeration: its moves were not followed, its value is unknown.
    Frontier = 2,
}

impl StateKind {
    /// Returns the kind stored as `byte`, or `None` if the byte is invalid.
    pub fn of(byte: u8) -> Option<StateKind> {
        use StateKind::{Frontier, Interior, Terminal};
        [Interior, Terminal, Frontier].get(byte as usize).copied()
    }

    /// Returns `interior`, `terminal` or `frontier`.
    pub fn name(self) -> &'static str {
        match self {
            StateKind::Interior => "interior",
            StateKind::Terminal => "terminal",
            StateKind::Frontier => "frontier",
        }
    }
}

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
