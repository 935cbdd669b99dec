//! Rules: what a game is, and the games we know. Nothing here knows of tables or files.
//!
//! A [`Game`] describes positions as their *mover* sees them: a state holds "mine" and "theirs", so
//! that one value serves both sides. What a game must supply is little (moves, successors, packing,
//! the images of a state under the board's symmetries); the rest is provided. A game is either
//! [`Layered`], if its moves lead only on, or [`Cyclic`], if they may lead back.
//!
//! Invariants, checked for every game by `tests/tables/conformance.rs`:
//! * `state(key(s)) == s`, and keys order states totally;
//! * a state has no action exactly when the game is over in it;
//! * symmetries commute with moves;
//! * in a layered game `layer` never falls along a move, only [forced](Game::is_pass) moves keep it,
//!   and `max_plies` falls along every move;
//! * in a cyclic game `end` is known exactly where the game is over, and a rank or the key of a
//!   position leads back to it or to its mirror image.

mod cyclic;
mod layered;
pub mod othello;
pub mod perft;
mod planes;
pub mod shogi;
mod spec;
pub mod symmetry;
mod types;

use std::fmt::Debug;
use std::hash::Hash;

pub use cyclic::{Cyclic, End, Repetition};
pub use layered::Layered;
pub use planes::Planes;
pub use spec::{GameSpec, GameVisitor, SpecError, with_variant};
pub use symmetry::{Group, Orientations, Symmetry};
pub use types::{Action, Empties, Outcome, Position, Score, Side};

/// A state packed into 64 or 128 bits, ordered as it is stored in a table.
pub trait StateKey: bytemuck::Pod + Ord + Hash + Debug + Send + Sync {
    /// How many `u64` words a key takes in a table: 1 or 2.
    const WORDS: usize;

    /// The highest `bits` (at most 24) of a key of `width` significant bits; monotone in the key.
    fn prefix(self, width: u32, bits: u32) -> usize;

    /// The key as a number, where it is one word.
    fn word(self) -> Option<u64>;
}

impl StateKey for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn prefix(self, width: u32, bits: u32) -> usize {
        (self >> width.saturating_sub(bits)) as usize
    }

    #[inline]
    fn word(self) -> Option<u64> {
        Some(self)
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

    fn word(self) -> Option<u64> {
        None
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

/// The rules of a two-player, zero-sum game of perfect information.
pub trait Game: Send + Sync {
    /// A position without its side to move, as the mover sees it.
    type State: Copy + Eq + Hash + Debug + Send + Sync;
    /// The packed form in which states are stored and compared.
    type Key: StateKey;

    /// Which game this is; its text form is the table's `game`.
    fn spec(&self) -> GameSpec;

    /// Raised whenever a change of the rules' code could change a table.
    fn rules_version(&self) -> u32;

    /// Where the game starts.
    fn start(&self) -> Position<Self::State>;

    /// How many action indices there are; every [`Action`] is below.
    fn action_count(&self) -> usize;

    /// How many bits of a key are significant.
    fn key_bits(&self) -> u32;

    /// The symmetries under which states are folded.
    fn group(&self) -> &Group;

    /// The same rules with states folded under all the board's symmetries, or not folded at all.
    fn with_folding(&self, fold: bool) -> Self
    where
        Self: Sized;

    /// Calls `visit` with every legal action, in ascending order; with none when the game is over.
    fn for_each_action(&self, state: &Self::State, visit: impl FnMut(Action));

    /// The state after a legal action, as its new mover sees it.
    fn play(&self, state: &Self::State, action: Action) -> Self::State;

    /// Whether the action is a pass: the board stays, the side changes.
    #[inline]
    fn is_pass(&self, _action: Action) -> bool {
        false
    }

    /// The same board with the other side to move.
    fn swapped(&self, state: &Self::State) -> Self::State;

    /// The mover's material less the opponent's; in Othello discs.
    fn material(&self, state: &Self::State) -> i32;

    /// How the game has ended for the mover; `None` while it goes on.
    fn result(&self, state: &Self::State) -> Option<Outcome>;

    /// Packs a state.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// Unpacks a key; `None` if no state has it.
    fn state(&self, key: Self::Key) -> Option<Self::State>;

    /// What the planes of [`Game::write_planes`] are.
    fn planes(&self) -> Planes;

    /// Writes a state as planes, as its mover sees it: number `row * columns + column` of plane `p` is
    /// `out[p * rows * columns + row * columns + column]`. `out` has room for all planes and nothing
    /// else; all of it is written.
    fn write_planes(&self, state: &Self::State, out: &mut [u8]);

    /// The state that has these planes; `None` if none has.
    fn read_planes(&self, planes: &[u8]) -> Option<Self::State>;

    /// The image of a state under a symmetry of [`Game::group`].
    fn transform(&self, state: &Self::State, symmetry: Symmetry) -> Self::State;

    /// The action that does in the image of a state what `action` does in the state.
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action;

    /// The name of an action of `side` as people write it: `c4`, `pass`. Actions are those of the
    /// mover, while people may name squares from one player's seat.
    fn action_name(&self, side: Side, action: Action) -> String;

    /// The board as rows of text with its coordinates.
    fn diagram(&self, position: &Position<Self::State>) -> String;

    /// The same with the Japanese names of the pieces, where the game has them.
    fn diagram_japanese(&self, _position: &Position<Self::State>) -> Option<String> {
        None
    }

    /// The position in the one-line notation of the game (Othello: OBF).
    fn notation(&self, position: &Position<Self::State>) -> String;

    /// The position in every one-line notation the game knows, each with its name.
    fn notations(&self, position: &Position<Self::State>) -> Vec<(&'static str, String)> {
        vec![("line", self.notation(position))]
    }

    /// Reads a position in any notation the game knows; transcripts are played from `from`.
    fn parse_position(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Position<Self::State>, NotationError> {
        let positions = self.parse_line(text, from)?;
        Ok(positions.last().copied().unwrap_or(*from))
    }

    /// Reads the same texts, and of a transcript every position: first where it begins, then after
    /// each move, passes that are left out among them. Never empty.
    fn parse_line(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Vec<Position<Self::State>>, NotationError>;

    /// The name of a side: `Black`, `White`.
    fn side_name(&self, side: Side) -> &'static str;

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

    /// The legal actions, in ascending order.
    fn actions(&self, state: &Self::State) -> Vec<Action> {
        let mut actions = Vec::new();
        self.for_each_action(state, |action| actions.push(action));
        actions
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

    /// Whether the only legal action is a pass.
    #[inline]
    fn must_pass(&self, state: &Self::State) -> bool {
        self.mobility(state) == Mobility::Pass
    }

    /// Whether the game is over.
    #[inline]
    fn is_terminal(&self, state: &Self::State) -> bool {
        self.mobility(state) == Mobility::Over
    }

    /// The position after a legal action.
    fn advance(&self, position: &Position<Self::State>, action: Action) -> Position<Self::State> {
        Position { state: self.play(&position.state, action), side: position.side.other() }
    }
}

/// Text that is not a position, a move or a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NotationError {
    /// What is wrong, where, and what would be right; one line.
    pub what: String,
}

impl NotationError {
    pub(crate) fn new(what: impl Into<String>) -> NotationError {
        NotationError { what: what.into() }
    }
}
