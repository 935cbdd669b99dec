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

use std::borrow::Cow;
use std::path::PathBuf;

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
pub use pack::{PackError, check_packable, is_packed_of, pack};
pub use plan::{Estimate, Index, Plan, estimate, read_roots, table_name, within_room};
#[doc(hidden)]
pub use ranked::ones_of;
#[doc(hidden)]
pub use ranked::{ENDLESS, Ranked, RankedGame, distance_of_end};
#[doc(hidden)]
pub use view::{Finder, Graph, RowMove, RowPiece, TerminalScores};

use crate::hint::{Hint, Hinted, Kind};
use crate::table::TableError;

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

/// Invalid enumeration request, or a table that does not match it.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// Failure to read or write a table's files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Directory of the table occupied by a table with another identity.
    #[error("{} contains a table other than {name}", dir.display())]
    OtherTable {
        /// Default name of the requested table.
        name: String,
        /// Directory of the other table.
        dir: PathBuf,
    },
    /// Plan without roots.
    #[error("no root: expected at least one position to enumerate from")]
    NoRoot,
    /// Roots in different layers.
    #[error("roots in different layers")]
    MixedRoots,
    /// Bound below the number of states that the roots need.
    #[error("invalid --max-states: expected at least {states}, the number of roots")]
    NoRoom {
        /// Number of states in the roots' layer.
        states: u64,
    },
    /// Index by rank for a game or a plan without ranks.
    #[error("--index rank does not apply to {game}: expected a game with ranks, whole and folded")]
    NoRanks {
        /// Name of the game.
        game: String,
    },
    /// Derived moves for a game or a plan without blocks.
    #[error(
        "--transitions derived does not apply to {game}: expected Othello on up to 32 squares, without --max-depth and --max-states"
    )]
    NoBlocks {
        /// Name of the game.
        game: String,
    },
    /// More moves in a layer than fit their numbers.
    #[error("layer {layer} has at least {moves} moves; the limit is 2^32 per layer")]
    TooManyMoves {
        /// Number of the layer; a ply in games with cycles.
        layer: u32,
        /// Number of moves found.
        moves: u64,
    },
    /// Game that this version cannot enumerate with the given options.
    #[error("{game} cannot be enumerated: {what}")]
    Unfit {
        /// Name of the game.
        game: String,
        /// Reason, with a hint.
        what: Hinted,
    },
    /// More states than ids.
    #[error("{states} states exceed the limit of 2^32")]
    TooManyStates {
        /// Number of states.
        states: u64,
    },
}

impl Hint for GraphError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            GraphError::Table(error) => return error.hint(),
            GraphError::Unfit { what, .. } => return what.hint(),
            GraphError::OtherTable { .. } => {
                "choose another --name or --tables, or see 'solver list'"
            }
            GraphError::MixedRoots => "enumerate each separately",
            GraphError::TooManyMoves { .. } | GraphError::TooManyStates { .. } => {
                "bound the enumeration with --max-depth or --max-states"
            }
            GraphError::NoRoot
            | GraphError::NoRoom { .. }
            | GraphError::NoRanks { .. }
            | GraphError::NoBlocks { .. } => return None,
        };
        Some(hint.into())
    }

    fn kind(&self) -> Kind {
        match self {
            GraphError::Table(error) => error.kind(),
            _ => Kind::Input,
        }
    }
}
