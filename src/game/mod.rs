//! Rules: what a game is, and the games we know. Nothing here knows of tables or files.
//!
//! A [`Game`] describes positions as their *mover* sees them: a state holds "mine" and "theirs", so
//! that one value serves both sides. What a game must supply is little (moves, successors, results,
//! packing). What else it has it hands out as capabilities, a trait each; the rest has defaults. A
//! game whose moves lead only on has [`layers`](Game::layers); any other may go round in circles.
//! Everybody but the hot loops plays an [`AnyGame`](crate::any::AnyGame), a game without its type.
//!
//! Invariants, checked for every game by [`conform`]:
//! * `state(key(s)) == s`, and keys order states totally;
//! * a state has no action exactly when the game is over in it;
//! * symmetries commute with moves;
//! * in a layered game `layer` never falls along a move, and only [forced](Game::is_pass) moves keep
//!   it;
//! * a rank or the key of a position leads back to it or to its mirror image.

pub mod blocks;
mod capabilities;
mod conform;
mod drawn;
pub mod encode;
mod generic;
pub mod othello;
pub mod perft;
mod planes;
pub mod shogi;
mod split;
pub mod symmetry;
mod types;
mod words;

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

pub use capabilities::{Layers, RankedMoves, Ranks, Scores};
pub use conform::conform;
pub use drawn::{Drawn, Held, MoveSquares, PieceKind};
pub use planes::Planes;
pub(crate) use split::mix;
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

/// The rules of a two-player, zero-sum game of perfect information.
///
/// Eight methods are required; everything else is a capability with a default. What a game gains by
/// each is said where it is declared. `docs/your-own-game.md` goes through an example.
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

    // ---- ends and endless play, for games that may go round in circles ----

    /// The end of the game for the mover, with the plies that still belong to it.
    fn end(&self, state: &Self::State) -> Option<End> {
        self.result(state).map(|outcome| End { outcome, plies: 0 })
    }

    /// Why the game has ended, in words such as `Black is mated`; `None` while it goes on.
    fn end_in_words(&self, position: &Position<Self::State>) -> Option<String> {
        let [mover, other] = [position.side, position.side.other()].map(|s| self.side_name(s));
        Some(match self.result(&position.state)? {
            Outcome::Win => format!("{mover} has won"),
            Outcome::Draw => "it is drawn".to_string(),
            Outcome::Loss => format!("{other} has won"),
        })
    }

    /// Whether the mover's king is attacked.
    fn in_check(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a table tells apart whose move it is in a state, because the convention for infinite
    /// play does.
    fn keeps_sides(&self) -> bool {
        false
    }

    /// What infinite play counts for unless told otherwise.
    fn repetition(&self) -> Repetition {
        Repetition::Draw
    }

    /// Whether the game is small enough to be enumerated whole.
    fn is_small(&self) -> bool {
        true
    }

    /// How many states play from a root is expected to lead to, where something is known of it.
    fn expected(&self, _root: &Self::State) -> Option<Expected> {
        None
    }

    // ---- the space of states ----

    /// Raised whenever a change of the rules' code could change a table.
    fn rules_version(&self) -> u32 {
        1
    }

    /// How many bits of a key are significant.
    fn key_bits(&self) -> u32 {
        64 * Self::Key::WORDS as u32
    }

    /// How many words a key takes in a table: 1 or 2.
    fn key_words(&self) -> usize {
        Self::Key::WORDS
    }

    /// Whether states are boards of at most 32 squares on which moves place a disc and turn the
    /// lines it closes, keyed as [`Blocks`](blocks::Blocks) has them.
    fn has_blocks(&self) -> bool {
        false
    }

    /// The canonical key of a position, with the side to move in it where the game
    /// [keeps sides](Game::keeps_sides).
    #[inline]
    fn position_key(&self, position: &Position<Self::State>) -> Self::Key {
        self.canonical(&position.state).key
    }

    /// The canonical position of a key; the first player's where sides are not kept. `None` if no
    /// position has it.
    fn position_of(&self, key: Self::Key) -> Option<Position<Self::State>> {
        self.state(key).map(|state| Position { state, side: Side::First })
    }

    /// What keys and actions mean, in words, by name; and what the values of a table leave out.
    fn conventions(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    // ---- symmetry and the exchange of sides ----

    /// The symmetries under which states are folded.
    fn group(&self) -> &Group {
        Group::identity()
    }

    /// The same rules with states folded under all the board's symmetries, or not folded at all;
    /// `None` where there is nothing to fold.
    fn with_folding(&self, _fold: bool) -> Option<Self> {
        None
    }

    /// The image of a state under a symmetry of [`Game::group`].
    fn transform(&self, state: &Self::State, _symmetry: Symmetry) -> Self::State {
        *state
    }

    /// The action that does in the image of a state what `action` does in the state.
    fn transform_action(&self, action: Action, _symmetry: Symmetry) -> Action {
        action
    }

    /// The same board with the other side to move; `None` if the game has no such state.
    fn swapped(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Whether the action is a pass: the board stays, the side changes.
    #[inline]
    fn is_pass(&self, _action: Action) -> bool {
        false
    }

    // ---- what policies and networks look at ----

    /// The mover's material less the opponent's; in Othello discs.
    fn material(&self, _state: &Self::State) -> i32 {
        0
    }

    /// How many rows and columns the board has; none where there is no board.
    fn shape(&self) -> (usize, usize) {
        (0, 0)
    }

    /// What the planes of [`Game::write_planes`] are; no planes unless a game has some.
    fn planes(&self) -> Planes {
        Planes::default()
    }

    /// Writes a state as planes, as its mover sees it: number `row * columns + column` of plane `p`
    /// is `out[p * rows * columns + row * columns + column]`. `out` has room for all planes and
    /// nothing else; all of it is written.
    fn write_planes(&self, _state: &Self::State, _out: &mut [u8]) {}

    /// The state that has these planes; `None` if none has.
    fn read_planes(&self, _planes: &[u8]) -> Option<Self::State> {
        None
    }

    /// The squares held by the mover and by the opponent, bit `row * columns + column` each; `None`
    /// where more than that makes a state.
    fn squares(&self, _state: &Self::State) -> Option<(u64, u64)> {
        None
    }

    /// Whether the built-in square weights, which are Othello's, fit the board.
    fn has_square_weights(&self) -> bool {
        false
    }

    /// The state in which mover and opponent hold these squares; `None` if there is none.
    fn of_squares(&self, _own: u64, _other: u64) -> Option<Self::State> {
        None
    }

    // ---- names and notation: without its own, moves are numbers and positions are keys ----

    /// What the game is called in a heading.
    fn title(&self) -> String {
        self.name()
    }

    /// The name of a side: `Black`, `White`.
    fn side_name(&self, side: Side) -> &'static str {
        match side {
            Side::First => "First",
            Side::Second => "Second",
        }
    }

    /// The name of an action of `side` as people write it: `c4`, `pass`. Actions are those of the
    /// mover, while people may name squares from one player's seat.
    fn action_name(&self, _side: Side, action: Action) -> String {
        action.0.to_string()
    }

    /// Names of the board's columns from the left and of its rows from the top, as the first player
    /// sees it: `a`, `b`… and `1`, `2`….
    fn coordinates(&self) -> [Vec<String>; 2] {
        let (rows, columns) = self.shape();
        let letters = ('a'..='z').map(String::from);
        [letters.take(columns).collect(), (1..=rows).map(|row| row.to_string()).collect()]
    }

    /// The board as rows of text with its coordinates.
    fn diagram(&self, position: &Position<Self::State>) -> String {
        drawn::diagram(self, position)
    }

    /// What stands on each square; nothing where squares alone do not make a state.
    fn drawn(&self, position: &Position<Self::State>) -> Drawn {
        drawn::by_squares(self, position)
    }

    /// The kinds of pieces that are told apart on the board; none where there is but one.
    fn piece_kinds(&self) -> Vec<PieceKind> {
        Vec::new()
    }

    /// The squares of an action of `side`, numbered as those of [`Game::drawn`]. Where a game has a
    /// board and does not say, an action is the number of the square it is about.
    fn move_squares(&self, _side: Side, action: Action) -> MoveSquares {
        let (rows, columns) = self.shape();
        let to = Some(action.0).filter(|&square| usize::from(square) < rows * columns);
        MoveSquares { from: None, to: to.filter(|_| !self.is_pass(action)) }
    }

    /// The mark of a side in diagrams, where it has one: `X`.
    fn side_mark(&self, _side: Side) -> Option<&'static str> {
        None
    }

    /// The position in every one-line notation the game knows, each with its name, the usual one
    /// first.
    fn notations(&self, position: &Position<Self::State>) -> Vec<(&'static str, String)> {
        vec![("line", generic::notation(self, position))]
    }

    /// Reads a position in any notation the game knows, or a transcript played from `from`; of a
    /// transcript every position: first where it begins, then after each move, passes that are left out
    /// among them. Never empty.
    fn parse_line(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Vec<Position<Self::State>>, NotationError> {
        generic::parse_line(self, text, from)
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

    /// The position in the usual notation of the game (Othello: OBF).
    fn notation(&self, position: &Position<Self::State>) -> String {
        self.notations(position).swap_remove(0).1
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

    /// The [diagram](Game::diagram) with the Japanese names of the pieces, where the game has them.
    fn diagram_japanese(&self, position: &Position<Self::State>) -> Option<String> {
        drawn::diagram_japanese(self, position)
    }

    /// The layer of a state; 0 where the game has none.
    #[inline]
    fn layer(&self, state: &Self::State) -> u32 {
        self.layers().map_or(0, |layers| layers.layer_of(state))
    }

    /// The mover's final score were the game to end here: the outcome's value where the game has no
    /// [scores](Game::scores).
    fn score(&self, state: &Self::State, empties: Empties) -> Score {
        match self.scores() {
            Some(scores) => scores.score_of(state, empties),
            None => Score(self.result(state).map_or(0, Outcome::value)),
        }
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
#[error("{0}")]
pub struct NotationError(Hinted);

impl NotationError {
    /// What is wrong, and where; one line.
    pub(crate) fn new(what: impl Into<Hinted>) -> NotationError {
        NotationError(what.into())
    }

    /// The same with what would be right.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> NotationError {
        NotationError(self.0.with_hint(hint))
    }

    /// The same with what `wrap` makes of the message, as `line 3: ` before it.
    pub(crate) fn map(self, wrap: impl FnOnce(String) -> String) -> NotationError {
        NotationError(self.0.map(wrap))
    }
}

impl Hint for NotationError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.0.hint()
    }
}
