//! Graphs: a game enumerated into a table, and the table seen as states, edges and layers.
//!
//! [`build`] enumerates a game into a table, and a [`Graph`] maps one: rows that are sorted keys or
//! ranks, with moves that are stored or made from the rules. Rows are in (layer, key) or in rank
//! order. In a layered game every edge leads to a later layer, not always to the next, but for a
//! pass, which is the only edge of its state and may stay in the layer. In a game with cycles edges
//! may lead anywhere, and layers are plies.

mod build;
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
mod view;

use std::borrow::Cow;
use std::path::PathBuf;

pub use build::{AssembledLayer, assemble};
pub use build::{Enumerated, build};
pub use by_block::States;
pub(crate) use by_block::deriver;
pub use census::Census;
pub use check::{LayerChecks, LayerSums, LayerToRead, Maker};
pub use keys::{BucketIndex, Keys, KeysElsewhere, search};
pub use pack::{PackError, check_packable, is_packed_of, pack};
pub use plan::{Estimate, Index, Plan, estimate, read_roots, table_name, within_room};
pub use ranked::ones_of;
pub use ranked::{ENDLESS, Ranked, RankedGame, distance_of_end};
pub use view::{Finder, Graph, Piece, RowMove, TerminalScores};

use crate::hint::{Hint, Hinted, Kind};
use crate::table::TableError;

/// What is wrong with arrays whose lengths contradict each other.
const UNFIT: &str = "its arrays' lengths do not fit each other";

/// What a row of a table is, as stored in `kinds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StateKind {
    /// All its moves are in the table.
    Interior = 0,
    /// The game is over.
    Terminal = 1,
    /// At the bound of the enumeration: its moves were not followed, its value is not known.
    Frontier = 2,
    /// Its mover may only give check: the other moves were not followed.
    Restricted = 3,
}

impl StateKind {
    /// The kind stored as a byte.
    pub fn of(byte: u8) -> Option<StateKind> {
        use StateKind::{Frontier, Interior, Restricted, Terminal};
        [Interior, Terminal, Frontier, Restricted].get(byte as usize).copied()
    }

    /// `interior`, `terminal`, `frontier` or `restricted`.
    pub fn name(self) -> &'static str {
        match self {
            StateKind::Interior => "interior",
            StateKind::Terminal => "terminal",
            StateKind::Frontier => "frontier",
            StateKind::Restricted => "restricted",
        }
    }
}

/// An enumeration that cannot be done, or a table that does not fit.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The place of the table is taken by another.
    #[error("{} holds another table than the {name} that is asked for", dir.display())]
    OtherTable {
        /// What the table that is asked for is usually called.
        name: String,
        /// Where it lies.
        dir: PathBuf,
    },
    /// Nothing to begin with.
    #[error("no root: give at least one position to enumerate from")]
    NoRoot,
    /// Roots in different layers.
    #[error("the roots are in different layers")]
    MixedRoots,
    /// The bound is below what the roots need.
    #[error("--max-states leaves no room for the {states} states of the root")]
    NoRoom {
        /// How many there are.
        states: u64,
    },
    /// `--checks-only` for a game without checks, or whose states do not keep the side to move.
    #[error("{game} has no mates to be given by checks")]
    NoChecks {
        /// The game.
        game: String,
    },
    /// Ranks where there are none.
    #[error(
        "--index rank is for a whole game that ranks its positions, folded; {game} here is not"
    )]
    NoRanks {
        /// The game.
        game: String,
    },
    /// Moves to be derived where there are no blocks.
    #[error(
        "--transitions derived is for Othello on up to 32 squares, without --max-depth and --max-states; {game} here is not"
    )]
    NoBlocks {
        /// The game.
        game: String,
    },
    /// Roots with different players to move.
    #[error("the roots have different players to move")]
    TwoAttackers,
    /// More moves than can be told apart.
    #[error("layer {layer} has {moves} moves and more, and this version numbers 2^32 of a layer")]
    TooManyMoves {
        /// The layer, which is a ply where play may go round.
        layer: u32,
        /// How many were found.
        moves: u64,
    },
    /// A game that this version cannot enumerate as it is asked to.
    #[error("{game} cannot be enumerated so: {what}")]
    Unfit {
        /// The game.
        game: String,
        /// What is in the way, and what to do.
        what: Hinted,
    },
    /// More states than ids.
    #[error("{states} states are more than the 2^32 that this version numbers")]
    TooManyStates {
        /// How many there would be.
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
            GraphError::MixedRoots => "enumerate them one by one",
            GraphError::NoRoom { .. } => "raise it",
            GraphError::NoChecks { .. } => "--checks-only is for minishogi",
            GraphError::TwoAttackers => {
                "with --checks-only it must be the same one, who gives the checks"
            }
            GraphError::TooManyMoves { .. } | GraphError::TooManyStates { .. } => {
                "bound the enumeration with --max-depth or --max-states"
            }
            GraphError::NoRoot | GraphError::NoRanks { .. } | GraphError::NoBlocks { .. } => {
                return None;
            }
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
