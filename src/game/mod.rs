//! Rules: what a game is, and the games we know. Nothing here knows of tables or files.
//!
//! A [`Game`] describes positions as their *mover* sees them: a state holds "mine" and "theirs", so
//! that one value serves both sides. What a game must supply is little (moves, successors, results,
//! packing). What else it has it hands out as capabilities, a trait each; what follows from all of them is
//! in [`GameExt`]. A game whose moves lead only on has [`layers`](Game::layers); any other may go round in circles.
//! Everybody but the hot loops plays an [`AnyGame`](crate::any::AnyGame), a game without its type.
//!
//! Invariants, checked for every game by [`conform`]:
//! * `state(key(s)) == s`, and keys order states totally;
//! * a state has no action exactly when the game is over in it;
//! * symmetries commute with moves;
//! * in a layered game `layer` never falls along a move, and only [forced](Game::is_pass) moves keep
//!   it;
//! * a rank or the key of a position leads back to it or to its mirror image.

mod capabilities;
mod conform;
mod drawn;
pub mod encode;
mod ext;
mod generic;
pub mod othello;
pub mod perft;
mod planes;
mod search;
pub mod shogi;
mod split;
pub mod symmetry;
mod types;
mod words;

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

pub use capabilities::{
    Bitboards, Drawing, Ends, Layers, Names, Notations, Planes, RankedMoves, Ranks, Scores,
    ShogiBoards, Sides, Symmetries,
};
pub use conform::conform;
pub use drawn::{Drawn, Held, MoveSquares, PieceKind};
pub use ext::GameExt;
pub use planes::PlaneKinds;
pub use search::{ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, SearchWeights};
pub(crate) use split::GAMMA;
pub use split::mix;
pub use split::{Divider, Division, Split, Splits, name_word};
pub use symmetry::{Group, Orientations, Symmetry};
pub use types::{Action, Empties, End, Expected, Outcome, Position, Repetition, Score, Side};
pub use words::{FoldedWords, StateWords};

use crate::hint::{Hint, Hinted};

/// A state packed into 64 or 128 bits, ordered as it is stored in a table.
pub trait StateKey: bytemuck::Pod + Ord + Hash + Debug + Send + Sync {
    /// How many `u64` words a key takes in a table: 1 or 2.
    const WORDS: usize;

    /// The highest `bits` (at most 24) of a key of `width` significant bits; monotone in the key.
    fn prefix(self, width: u32, bits: u32) -> usize;

    /// The key as two words, of which a narrow key needs the first; in the same order.
    fn widen(self) -> WideKey;

    /// The key of two words; `None` if it is none of this type.
    fn narrow(key: WideKey) -> Option<Self>;

    /// Joins two numbers of which the second has `low_bits`: in a wide key a word each.
    fn join(high: u64, low: u64, low_bits: u32) -> Self;

    /// The two numbers.
    fn split(self, low_bits: u32) -> (u64, u64);
}

impl StateKey for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self >> width.saturating_sub(bits)) as usize
    }

    #[inline]
    fn widen(self) -> WideKey {
        WideKey([self, 0])
    }

    #[inline]
    fn narrow(key: WideKey) -> Option<u64> {
        (key.0[1] == 0).then_some(key.0[0])
    }

    #[inline]
    fn join(high: u64, low: u64, low_bits: u32) -> u64 {
        high << low_bits | low
    }

    #[inline]
    fn split(self, low_bits: u32) -> (u64, u64) {
        (self >> low_bits, self & ((1 << low_bits) - 1))
    }
}

/// A key of two words, the first the more significant.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
pub struct WideKey(pub [u64; 2]);

impl StateKey for WideKey {
    const WORDS: usize = 2;

    /// `width` counts the bits of both words together, an equal number in each.
    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self.0[0] >> (width / 2).saturating_sub(bits)) as usize
    }

    #[inline]
    fn widen(self) -> WideKey {
        self
    }

    #[inline]
    fn narrow(key: WideKey) -> Option<WideKey> {
        Some(key)
    }

    #[inline]
    fn join(high: u64, low: u64, _low_bits: u32) -> WideKey {
        WideKey([high, low])
    }

    #[inline]
    fn split(self, _low_bits: u32) -> (u64, u64) {
        (self.0[0], self.0[1])
    }
}

/// A canonical key and the symmetries that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canonical<K> {
    /// The smallest key among the state's images.
    pub key: K,
    /// The symmetries whose image has that key, as a set of bits; never empty.
    pub ties: u8,
}

impl<K> Canonical<K> {
    /// The first symmetry that brings the state to its canonical form.
    pub fn symmetry(&self) -> Symmetry {
        self.ties.trailing_zeros() as Symmetry
    }
}

/// What a mover can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// Nothing: the game is over.
    Over,
    /// Only pass.
    Pass,
    /// This many moves, at least one.
    Moves(u32),
}

/// Facts of a game as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Rows and columns of the board; none where there is no board.
    pub shape: (usize, usize),
    /// Number of significant bits of a key.
    pub key_bits: u32,
    /// Words of a key in a table: 1 or 2.
    pub key_words: usize,
    /// Raised whenever a change of the rules' code could change a table.
    pub rules_version: u32,
    /// True if the game is small enough to be enumerated whole.
    pub is_small: bool,
    /// True for Othello with keys of one word, whose states come in [`othello::blocks`].
    pub has_blocks: bool,
}

impl Facts {
    /// A small game without a board whose keys are of type `K`, all bits of them significant.
    #[inline]
    pub const fn of_keys<K: StateKey>() -> Facts {
        Facts {
            shape: (0, 0),
            key_bits: 64 * K::WORDS as u32,
            key_words: K::WORDS,
            rules_version: 1,
            is_small: true,
            has_blocks: false,
        }
    }
}

/// The rules of a two-player, zero-sum game of perfect information.
///
/// Eight methods are required. What else a game has it hands out as capabilities, each a small trait, and
/// [`GameExt`] has what follows. `docs/your-own-game.md` goes through an example.
pub trait Game: Sized + Send + Sync + 'static {
    /// A position without its side to move, as the mover sees it.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// The packed form in which states are stored and compared: `u64` or [`WideKey`].
    type Key: StateKey;

    /// The name, under which tables are stored: letters, digits and hyphens.
    fn name(&self) -> String;

    /// Where the game starts.
    fn start(&self) -> Position<Self::State>;

    /// How many action indices there are; every [`Action`] is below.
    fn action_count(&self) -> usize;

    /// Calls `visit` with every legal action, in ascending order; with none when the game is over.
    fn for_each_action(&self, state: &Self::State, visit: impl FnMut(Action));

    /// The state after a legal action, as its new mover sees it.
    fn play(&self, state: &Self::State, action: Action) -> Self::State;

    /// How the game has ended for the mover; `None` while it goes on. A state has a result exactly
    /// when it has no action.
    fn result(&self, state: &Self::State) -> Option<Outcome>;

    /// Packs a state.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// Unpacks a key; `None` if no state has it.
    fn state(&self, key: Self::Key) -> Option<Self::State>;

    // ---- more of the rules ----

    /// The board, the keys and the size of the game.
    #[inline]
    fn facts(&self) -> Facts {
        Facts::of_keys::<Self::Key>()
    }

    /// Returns true for a pass: the board stays, the side changes.
    #[inline]
    fn is_pass(&self, _action: Action) -> bool {
        false
    }

    /// Returns the board with the other side to move; `None` if the game has no such state.
    fn swapped(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// The mover's material less the opponent's; in Othello discs.
    fn material(&self, _state: &Self::State) -> i32 {
        0
    }

    /// How many states play from a root is expected to lead to, where something is known of it.
    fn expected(&self, _root: &Self::State) -> Option<Expected> {
        None
    }

    /// The same rules with states folded under all the board's symmetries, or not folded at all;
    /// `None` where there is nothing to fold.
    fn with_folding(&self, _fold: bool) -> Option<Self> {
        None
    }

    // ---- capabilities: `None` unless a game has more to offer ----

    /// [Layers], where every move leads to a later one. Without them play may go round in circles, and
    /// layers are plies.
    fn layers(&self) -> Option<&dyn Layers<Self::State>> {
        None
    }

    /// [Scores], where the game has more than outcomes.
    fn scores(&self) -> Option<&dyn Scores<Self::State>> {
        None
    }

    /// [Ranks], where the game numbers its states without gaps.
    fn ranks(&self) -> Option<&dyn Ranks<Self::State>> {
        None
    }

    /// [Symmetries] of the board.
    fn symmetries(&self) -> Option<&dyn Symmetries<Self::State>> {
        None
    }

    /// [Sides] in keys, where tables keep them.
    fn sides(&self) -> Option<&dyn Sides<Self::Key>> {
        None
    }

    /// [Ends] that are more than a result.
    fn ends(&self) -> Option<&dyn Ends<Self::State>> {
        None
    }

    /// [Bitboards], where squares alone make a state.
    fn bitboards(&self) -> Option<&dyn Bitboards<Self::State>> {
        None
    }

    /// [Planes] for networks.
    fn planes(&self) -> Option<&dyn Planes<Self::State>> {
        None
    }

    /// [Drawing] of the board.
    fn drawing(&self) -> Option<&dyn Drawing<Self::State>> {
        None
    }

    /// [Names] of sides and actions.
    fn names(&self) -> Option<&dyn Names> {
        None
    }

    /// [ShogiBoards], where the game is of the shogi family.
    fn shogi_boards(&self) -> Option<&dyn ShogiBoards<Self::State>> {
        None
    }

    /// Exact search of this game, faster than the plain one of [`search`](crate::search).
    fn score_search(&self, _options: &SearchOptions) -> Option<Box<dyn ScoreSearch<Self::State>>> {
        None
    }

    /// [Notations] of positions.
    fn notations(&self) -> Option<&dyn Notations<Self::State>> {
        None
    }

    // ---- what follows from the rest; a game gives its own where that is faster ----

    /// The canonical key of a state: the smallest among its images.
    #[inline]
    fn canonical(&self, state: &Self::State) -> Canonical<Self::Key> {
        let mut best = Canonical { key: self.key(state), ties: 1 };
        for symmetry in 1..self.group().order() as Symmetry {
            let key = self.key(&self.transform(state, symmetry));
            if key < best.key {
                best = Canonical { key, ties: 1 << symmetry };
            } else if key == best.key {
                best.ties |= 1 << symmetry;
            }
        }
        best
    }

    /// Calls `visit` with every legal action and its successor.
    #[inline]
    fn for_each_successor(&self, state: &Self::State, mut visit: impl FnMut(Action, Self::State)) {
        self.for_each_action(state, |action| visit(action, self.play(state, action)));
    }

    /// What the mover can do, without listing it.
    #[inline]
    fn mobility(&self, state: &Self::State) -> Mobility {
        let mut mobility = Mobility::Over;
        self.for_each_action(state, |action| {
            mobility = match mobility {
                Mobility::Over if self.is_pass(action) => Mobility::Pass,
                Mobility::Moves(n) => Mobility::Moves(n + 1),
                _ => Mobility::Moves(1),
            }
        });
        mobility
    }
}

/// Text that is not a position, a move or a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotationError(Hinted);

impl NotationError {
    /// What is wrong, and where; one line.
    pub fn new(what: impl Into<Hinted>) -> NotationError {
        NotationError(what.into())
    }

    /// The same with what would be right.
    pub fn with_hint(self, hint: impl Into<String>) -> NotationError {
        NotationError(self.0.with_hint(hint))
    }

    /// The same with what `wrap` makes of the message, as `line 3: ` before it.
    pub fn map(self, wrap: impl FnOnce(String) -> String) -> NotationError {
        NotationError(self.0.map(wrap))
    }
}

impl Hint for NotationError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.0.hint()
    }
}
