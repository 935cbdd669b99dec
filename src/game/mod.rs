//! Rules of games: the [`Game`] trait and the built-in games. This module does not depend on tables or files.
//!
//! A [`Game`] describes positions as their *mover* sees them: a state holds "mine" and "theirs", so that one
//! value serves both sides. Eight methods are required (moves, successors, results, packing). Everything else
//! is optional and offered as capabilities, one trait each; [`GameExt`] has the methods derived from them. A
//! game has [`layers`](Game::layers) if every move leads to a later one; in any other game play may repeat
//! positions. All code outside this module uses an [`AnyGame`](crate::any::AnyGame), a game with its type erased,
//! whose [`Rules`] answer loops about a whole position at a time.
//!
//! Invariants, checked for every game by [`conform`]:
//! * `state(key(s)) == s`, and keys order states totally;
//! * a state has no action exactly when the game is over in it;
//! * symmetries commute with moves;
//! * in a layered game `layer` never decreases along a move, and only a [pass](Game::is_pass) keeps it;
//! * unpacking the rank or the key of a position gives the position or its mirror image.
//!
//! ```
//! use yomikiri::game::othello::Othello;
//! use yomikiri::game::{Empties, Game, GameExt};
//!
//! let game = Othello::<u64>::new(4, 4, true);
//! let mut state = game.start().state;
//! // The first legal move until nobody can move.
//! while let Some(&action) = game.actions(&state).first() {
//!     state = game.play(&state, action);
//! }
//! assert!(game.is_terminal(&state));
//! println!("final score of the player to move: {}", game.score(&state, Empties::Uncounted));
//! ```

mod capabilities;
mod conform;
pub mod encode;
mod ext;
pub mod othello;
pub mod perft;
mod plain_search;
mod planes;
mod played;
mod rules;
mod search;
pub mod shogi;
mod split;
pub mod symmetry;
mod types;
mod words;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;

pub use capabilities::{
    Bitboards, Drawing, Ends, Layers, Names, Notations, Planes, RankedMoves, Ranks, Scores,
    ShogiBoards, Sides, Symmetries,
};
pub use conform::conform;
pub use ext::{BoardLayout, Drawn, GameExt, Held, MoveSquares, PieceKind};
pub(crate) use plain_search::PlainSearch;
pub use planes::PlaneKinds;
pub use played::{EndReason, PlayedEnd, PlayedGame, RepetitionRule};
pub(crate) use rules::Typed;
pub use rules::{Address, MoveByKey, MoveByRank, Rules, Standing};
pub use search::{
    MOST_WIN_PLIES, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, SearchWeights, WIN_PLIES,
};
pub(crate) use split::GAMMA;
pub use split::mix;
pub use split::{Divider, Division, Split, Splits, name_word};
pub use symmetry::{Group, Orientations, Symmetry};
pub use types::{Action, Empties, End, ExpectedStates, Outcome, Position, Repetition, Score, Side};
pub use words::{FoldedWords, StateWords};

use crate::hint::{Hint, Hinted};

/// State packed into 64 or 128 bits, ordered as tables store it.
pub trait StateKey: bytemuck::Pod + Ord + Hash + Debug + Send + Sync {
    /// Number of `u64` words of a key in a table: 1 or 2.
    const WORDS: usize;

    /// Returns the highest `bits` (at most 24) of a key of `width` significant bits; monotone in the key.
    fn prefix(self, width: u32, bits: u32) -> usize;

    /// Returns the key as two words, in the same order; a narrow key leaves the second word 0.
    fn widen(self) -> WideKey;

    /// Converts a key of two words to this type; `None` if it does not fit.
    fn narrow(key: WideKey) -> Option<Self>;

    /// Joins two numbers, the second of `low_bits` bits. A wide key stores one in each word.
    fn join(high: u64, low: u64, low_bits: u32) -> Self;

    /// Splits a key into the two numbers given to [`StateKey::join`].
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

/// Key of two words, the first the more significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct WideKey(pub [u64; 2]);

impl WideKey {
    /// Returns the key as one number, which is compared faster than two words.
    #[inline(always)]
    fn number(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}

impl Ord for WideKey {
    #[inline(always)]
    fn cmp(&self, other: &WideKey) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for WideKey {
    #[inline(always)]
    fn partial_cmp(&self, other: &WideKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The default goes by way of an `Option`.
    #[inline(always)]
    fn lt(&self, other: &WideKey) -> bool {
        self.number() < other.number()
    }

    #[inline(always)]
    fn le(&self, other: &WideKey) -> bool {
        self.number() <= other.number()
    }
}

impl StateKey for WideKey {
    const WORDS: usize = 2;

    /// `width` counts the bits of both words, half of them in each.
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

/// Canonical key of a state and the symmetries that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canonical<K> {
    /// Smallest key among the state's images.
    pub key: K,
    /// Bit set of the symmetries whose image has this key; never empty.
    pub ties: u8,
}

impl<K> Canonical<K> {
    /// Returns the first symmetry that maps the state to its canonical form.
    pub fn symmetry(&self) -> Symmetry {
        self.ties.trailing_zeros() as Symmetry
    }
}

/// Number and kind of a mover's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// No action: the game is over.
    Over,
    /// Only a pass.
    Pass,
    /// This many moves, at least one.
    Moves(u32),
}

/// Properties of a game as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Rows and columns of the board; 0 × 0 for a game without a board.
    pub shape: (usize, usize),
    /// Number of significant bits of a key.
    pub key_bits: u32,
    /// Words of a key in a table: 1 or 2.
    pub key_words: usize,
    /// Version of the rules' code, raised whenever a change could change a table.
    pub rules_version: u32,
    /// `true` if the game is small enough for full enumeration.
    pub is_small: bool,
    /// `true` for Othello with keys of one word, whose states form [`othello::blocks`].
    pub has_blocks: bool,
}

impl Facts {
    /// Returns the facts of a small game without a board that uses all bits of keys of type `K`.
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

/// Rules of a two-player, zero-sum game of perfect information.
///
/// Eight methods are required. The other features of a game are capabilities, each a small trait, and
/// [`GameExt`] has the methods derived from them. `docs/your-own-game.md` walks through an example.
pub trait Game: Sized + Send + Sync + 'static {
    /// Position without its side to move, as the mover sees it.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// Packed form in which states are stored and compared: `u64` or [`WideKey`].
    type Key: StateKey;

    /// Returns the name under which tables are stored: letters, digits and hyphens.
    fn name(&self) -> String;

    /// Returns the initial position.
    fn start(&self) -> Position<Self::State>;

    /// Returns the number of action indices; every [`Action`] is below it.
    fn action_count(&self) -> usize;

    /// Calls `visit` with every legal action, in ascending order; not at all if the game is over.
    fn for_each_action(&self, state: &Self::State, visit: impl FnMut(Action));

    /// Returns the state after a legal action, as its new mover sees it.
    fn play(&self, state: &Self::State, action: Action) -> Self::State;

    /// Returns the outcome for the mover, or `None` while the game goes on. A state has a result exactly when
    /// it has no action.
    fn result(&self, state: &Self::State) -> Option<Outcome>;

    /// Packs a state.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// Unpacks a key; `None` if no state has it.
    fn state(&self, key: Self::Key) -> Option<Self::State>;

    // ---- optional parts of the rules ----

    /// Returns the properties of the game: board, keys and size.
    #[inline]
    fn facts(&self) -> Facts {
        Facts::of_keys::<Self::Key>()
    }

    /// Returns `true` for a pass: the board stays, the side changes.
    #[inline]
    fn is_pass(&self, _action: Action) -> bool {
        false
    }

    /// Returns the board with the other side to move; `None` if the game has no such state.
    fn swapped(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Returns the mover's material minus the opponent's; in Othello discs.
    fn material(&self, _state: &Self::State) -> i32 {
        0
    }

    /// Returns the rule by which a repeated position ends a game: by default the fourth occurrence is a draw, or a
    /// win of the second player if keys contain the side to move.
    fn repetition_rule(&self) -> RepetitionRule {
        let result = match self.sides() {
            Some(_) => Repetition::SecondPlayerWins,
            None => Repetition::Draw,
        };
        RepetitionRule { occurrence: 4, result, perpetual_check_loses: false }
    }

    /// Estimates the number of states reachable from a root; `None` if no estimate is known.
    fn expected(&self, _root: &Self::State) -> Option<ExpectedStates> {
        None
    }

    /// Returns the same rules with states folded under all symmetries of the board, or not folded at all;
    /// `None` if the board has no symmetries to fold.
    fn with_folding(&self, _fold: bool) -> Option<Self> {
        None
    }

    // ---- capabilities: `None` unless the game has them ----

    /// Returns the [Layers], if every move leads to a later layer. Without them positions may repeat, and a
    /// table's layers are plies.
    fn layers(&self) -> Option<&dyn Layers<Self::State>> {
        None
    }

    /// Returns the [Scores], if results are finer than outcomes.
    fn scores(&self) -> Option<&dyn Scores<Self::State>> {
        None
    }

    /// Returns the [Ranks], if the game numbers its states without gaps.
    fn ranks(&self) -> Option<&dyn Ranks<Self::State>> {
        None
    }

    /// Returns the [Symmetries] of the board.
    fn symmetries(&self) -> Option<&dyn Symmetries<Self::State>> {
        None
    }

    /// Returns the [Sides], if keys contain the side to move.
    fn sides(&self) -> Option<&dyn Sides<Self::Key>> {
        None
    }

    /// Returns the [Ends], if the game has ends beyond a result.
    fn ends(&self) -> Option<&dyn Ends<Self::State>> {
        None
    }

    /// Returns the [Bitboards], if the squares alone determine a state.
    fn bitboards(&self) -> Option<&dyn Bitboards<Self::State>> {
        None
    }

    /// Returns the [Planes], the input of networks.
    fn planes(&self) -> Option<&dyn Planes<Self::State>> {
        None
    }

    /// Returns the [Drawing] of the board.
    fn drawing(&self) -> Option<&dyn Drawing<Self::State>> {
        None
    }

    /// Returns the [Names] of sides and actions.
    fn names(&self) -> Option<&dyn Names> {
        None
    }

    /// Returns the [ShogiBoards], if the game is of the shogi family.
    fn shogi_boards(&self) -> Option<&dyn ShogiBoards<Self::State>> {
        None
    }

    /// Returns an exact search for this game, if it has one faster than the generic
    /// [`search`](crate::search).
    fn score_search(&self, _options: &SearchOptions) -> Option<Box<dyn ScoreSearch<Self::State>>> {
        None
    }

    /// Returns the [Notations] of positions.
    fn notations(&self) -> Option<&dyn Notations<Self::State>> {
        None
    }

    // ---- derived methods; a game overrides those that it can compute faster ----

    /// Returns the canonical key of a state: the smallest among its images.
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

    /// Counts the mover's actions without listing them.
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

/// Invalid text of a position, a move or a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotationError(Hinted);

impl NotationError {
    /// Makes an error from a one-line message of what is wrong and where.
    pub fn new(what: impl Into<Hinted>) -> NotationError {
        NotationError(what.into())
    }

    /// Adds advice on what would be valid.
    pub fn with_hint(self, hint: impl Into<String>) -> NotationError {
        NotationError(self.0.with_hint(hint))
    }

    /// Rewords the message with `wrap`, for example to prepend `line 3: `.
    pub fn map(self, wrap: impl FnOnce(String) -> String) -> NotationError {
        NotationError(self.0.map(wrap))
    }
}

impl Hint for NotationError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.0.hint()
    }
}
