//! Rules of games: the [`Game`] trait. This module does not depend on tables or files.
//!
//! A [`Game`] describes positions as their *mover* sees them: a state holds "mine" and "theirs", so that one
//! value serves both sides. Seven methods are required (moves, results, packing); all others have
//! defaults. A game has [layers](Game::layer_unit) if every move leads to a later one; in any other game play may
//! repeat positions. Everything but the games themselves takes a game as an object, `&dyn Rules`; [`Rules`] answer
//! loops about a whole position at a time.
//!
//! Invariants, checked for every game by [`conform`]:
//! * `state(key(s)) == s`, and keys order states totally;
//! * a state has no action exactly when the game is over in it;
//! * symmetries commute with moves;
//! * in a layered game `layer` never decreases along a move, and only a [pass](Game::is_pass) keeps it;
//! * unpacking the rank or the key of a position gives the position or its mirror image.
//!
//! ```
//! use yomikiri::games::othello::Othello;
//! use yomikiri::rules::{Empties, Game};
//!
//! let game = Othello::new(4, 4, true);
//! let mut state = game.start().state;
//! // The first legal move until nobody can move.
//! while let Some(&action) = game.actions(&state).first() {
//!     state = game.play(&state, action);
//! }
//! assert!(game.is_terminal(&state));
//! println!("final score of the player to move: {}", game.score(&state, Empties::Uncounted));
//! ```

mod conform;
mod default_notation;
mod drawing;
#[doc(hidden)]
pub mod encode;
pub mod forms;
mod moves_again;
mod object;
pub mod perft;
mod plain_search;
mod planes;
mod played_game;
mod search;
mod sheet;
mod split;
mod state_words;
pub mod symmetry;
mod transcript;
mod types;
mod written_game;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

pub use conform::{Nonconformity, assert_conforms, conform};
pub use drawing::{BoardLayout, Drawn, Held, MoveSquares, PieceKind};
pub use moves_again::{ForcedPasses, MovesAgain, Turn};
pub use object::{Address, AnyPosition, AnyState, MoveByKey, MoveByRank, Rules, Standing, Walk};
use plain_search::PlainSearch;
pub use planes::{OpenSpielPlanes, PlaneKinds};
pub use played_game::{EndReason, PlayedEnd, PlayedGame};
pub use search::{
    MOST_WIN_PLIES, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, SearchWeights, WIN_PLIES,
};
pub use sheet::{Claim, Misread, MoveText, Sheet};
pub(crate) use split::GAMMA;
#[doc(hidden)]
pub use split::mix;
#[doc(hidden)]
pub use split::{Divider, Division, Split, Splits, name_word};
#[doc(hidden)]
pub use state_words::{FoldedWords, StateWords};
pub use symmetry::{Group, Orientations, Symmetry};
pub use transcript::PlayedLine;
pub use types::{
    Action, Empties, End, ExpectedStates, Outcome, Position, Repetition, RepetitionRule, Score,
    Side,
};
pub use written_game::{write_game, write_game_file, written_forms};

use crate::error::Error;

/// Canonical key of a state and the symmetries that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// Smallest key among the state's images.
    pub key: u128,
    /// Bit set of the symmetries whose image has this key; never empty.
    pub ties: u8,
}

impl Canonical {
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
    /// Number of bits of a key, 1 to 128; every key is below 2^`key_bits`. Tables store keys of up to 64 bits in one
    /// word, and others in two.
    pub key_bits: u32,
    /// Version of the rules' code, raised whenever a change could change a table.
    pub rules_version: u32,
    /// `true` if the game is small enough for full enumeration.
    pub is_small: bool,
}

impl Facts {
    /// Returns the number of words of a key in a table: 1 or 2.
    pub fn key_words(&self) -> usize {
        if self.key_bits <= 64 { 1 } else { 2 }
    }

    /// Returns the largest key.
    pub fn most_key(&self) -> u128 {
        u128::MAX.checked_shr(128 - self.key_bits).unwrap_or(0)
    }

    /// Returns the words of a key as files have them: one word and 0, or two words, the more significant first.
    #[inline]
    pub fn words(&self, key: u128) -> [u64; 2] {
        let [high, low] = words_of_key(key);
        if self.key_words() == 1 { [low, high] } else { [high, low] }
    }

    /// Returns the key of two [words](Facts::words).
    #[inline]
    pub fn key(&self, words: [u64; 2]) -> u128 {
        let [first, second] = words.map(u128::from);
        if self.key_words() == 1 { second << 64 | first } else { first << 64 | second }
    }
}

/// Splits a key; the first word is the more significant. Two words need no larger alignment than one.
#[inline]
pub(crate) fn words_of_key(key: u128) -> [u64; 2] {
    [(key >> 64) as u64, key as u64]
}

impl Default for Facts {
    /// Returns the facts of a small game without a board, with keys of up to 64 bits.
    fn default() -> Facts {
        Facts { shape: (0, 0), key_bits: 64, rules_version: 1, is_small: true }
    }
}

/// Rules of a two-player, zero-sum game of perfect information.
///
/// Seven methods are required. All others have defaults, which fit a game without the feature; those in a group of
/// their own say which methods belong together. `docs/your-own-game.md` walks through an example.
pub trait Game: Sized + Send + Sync + 'static {
    /// Position without its side to move, as the mover sees it.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// Returns the name under which tables are stored: letters, digits and hyphens.
    fn name(&self) -> String;

    /// Returns the initial position.
    fn start(&self) -> Position<Self::State>;

    /// Returns the number of action indices; every [`Action`] is below it.
    fn action_count(&self) -> usize;

    /// Calls `each` with every legal action, in ascending order, and the state after it, as its new mover sees it;
    /// not at all if the game is over.
    fn moves(&self, state: &Self::State, each: impl FnMut(Action, Self::State));

    /// Returns the outcome for the mover, or `None` while the game goes on. A state has a result exactly when
    /// it has no action.
    fn result(&self, state: &Self::State) -> Option<Outcome>;

    /// Packs a state. Keys of more than 64 bits need [`Facts::key_bits`] to say so.
    fn key(&self, state: &Self::State) -> u128;

    /// Unpacks a key; `None` if no state has it.
    fn state(&self, key: u128) -> Option<Self::State>;

    /// Returns the game as an object, the form in which everything but the games themselves takes it.
    fn into_rules(self) -> Arc<dyn Rules> {
        Arc::new(object::Typed::new(self))
    }

    // ---- properties ----

    /// Returns the properties of the game: board, keys and size.
    #[inline]
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Estimates the number of states reachable from a root; `None` if no estimate is known.
    fn expected(&self, _root: &Self::State) -> Option<ExpectedStates> {
        None
    }

    // ---- moves ----

    /// Returns `true` for a pass: the board stays, the side changes.
    #[inline]
    fn is_pass(&self, _action: Action) -> bool {
        false
    }

    /// Returns `true` if passes are no moves of the game: they stand between two moves of one player.
    fn adds_passes(&self) -> bool {
        false
    }

    /// Returns the board with the other side to move; `None` if the game has no such state.
    fn swapped(&self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Calls `each` with every legal action, in ascending order; not at all if the game is over.
    #[inline]
    fn for_each_action(&self, state: &Self::State, mut each: impl FnMut(Action)) {
        self.moves(state, |action, _| each(action));
    }

    /// Returns the state after a legal action, as its new mover sees it.
    ///
    /// # Panics
    ///
    /// Panics if the action is illegal, unless the game overrides this method.
    fn play(&self, state: &Self::State, action: Action) -> Self::State {
        let mut after = None;
        self.moves(state, |made, next| after = after.or(Some(next).filter(|_| made == action)));
        after.expect("a legal action")
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

    /// Returns the legal actions, in ascending order.
    fn actions(&self, state: &Self::State) -> Vec<Action> {
        let mut actions = Vec::new();
        self.for_each_action(state, |action| actions.push(action));
        actions
    }

    /// Returns the position after a legal action.
    fn advance(&self, position: &Position<Self::State>, action: Action) -> Position<Self::State> {
        Position { state: self.play(&position.state, action), side: position.side.other() }
    }

    /// Returns `true` if the only legal action is a pass.
    #[inline]
    fn must_pass(&self, state: &Self::State) -> bool {
        self.mobility(state) == Mobility::Pass
    }

    // ---- ends ----

    /// Returns `true` if the game is over.
    #[inline]
    fn is_terminal(&self, state: &Self::State) -> bool {
        self.result(state).is_some()
    }

    /// Returns the end of the game for the mover, with the plies still to be played. Its outcome equals
    /// [`Game::result`].
    #[inline]
    fn end(&self, state: &Self::State) -> Option<End> {
        self.result(state).map(|outcome| End { outcome, plies: 0 })
    }

    /// Returns why the game has ended, such as `Black is mated`; `None` while it goes on, or if the result says all.
    fn end_in_words(&self, _position: &Position<Self::State>) -> Option<String> {
        None
    }

    /// Returns `true` if the mover's king is attacked.
    #[inline]
    fn in_check(&self, _state: &Self::State) -> bool {
        false
    }

    /// Returns the rule by which a repeated position ends a game: by default the fourth occurrence is a draw, or a
    /// win of the second player if keys contain the side to move.
    fn repetition_rule(&self) -> RepetitionRule {
        let result = match self.keeps_sides() {
            true => Repetition::SecondPlayerWins,
            false => Repetition::Draw,
        };
        RepetitionRule { occurrence: 4, result, perpetual_check_loses: false }
    }

    /// Returns the game's convention for infinite play.
    fn repetition(&self) -> Repetition {
        self.repetition_rule().result
    }

    // ---- layers: every move leads to a later one, except that a pass may stay ----

    /// Returns the plural of the thing a layer counts, such as `discs`; `None` in a game without layers, where
    /// positions may repeat and a table's layers are plies. A game with layers is enumerated and solved layer by
    /// layer.
    #[inline]
    fn layer_unit(&self) -> Option<&'static str> {
        None
    }

    /// Returns the layer of a state; 0 in a game without layers.
    #[inline]
    fn layer(&self, _state: &Self::State) -> u32 {
        0
    }

    /// Returns `true` if the game has layers.
    #[inline]
    fn is_layered(&self) -> bool {
        self.layer_unit().is_some()
    }

    // ---- scores: results finer than win, draw and loss ----

    /// Returns the largest score with which the game can end; `None` in a game without scores.
    #[inline]
    fn max_score(&self) -> Option<Score> {
        None
    }

    /// Returns the mover's score if the game ended in `state`; its sign is the outcome. A game without scores
    /// scores its outcome as −1, 0 or +1.
    fn score(&self, state: &Self::State, _empties: Empties) -> Score {
        Score(self.result(state).map_or(0, Outcome::value))
    }

    /// Returns the singular of the thing the score counts: `disc`.
    fn score_unit(&self) -> &'static str {
        "point"
    }

    /// Returns `true` if the game has scores.
    #[inline]
    fn has_scores(&self) -> bool {
        self.max_score().is_some()
    }

    /// Returns the mover's material minus the opponent's, in Othello discs; `None` in a game without material.
    fn material(&self, _state: &Self::State) -> Option<i32> {
        None
    }

    /// Estimates the mover's advantage, in hundredths of a point of the score or of the smallest piece; `None` if there is
    /// nothing to go by. Searches that stop before the end use it ([`estimate`](crate::search::estimate)).
    fn evaluation(&self, state: &Self::State) -> Option<i32> {
        Some(100 * self.material(state)?)
    }

    // ---- symmetries of the board, under which states are folded ----

    /// Returns the group of symmetries.
    #[inline]
    fn group(&self) -> &Group {
        Group::identity()
    }

    /// Returns the image of a state under a symmetry of [`Game::group`]; by default that of its
    /// [squares](Game::squares), if it has some.
    fn transform(&self, state: &Self::State, symmetry: Symmetry) -> Self::State {
        let squares = self.squares(state).filter(|_| symmetry > 0);
        let Some((mover, opponent)) = squares else { return *state };
        let [mover, opponent] =
            [mover, opponent].map(|set| symmetry::map_squares(symmetry, set, self.shape()));
        self.of_squares(mover, opponent).expect("the image of a state is a state")
    }

    /// Returns the action that corresponds to `action` in the image of a state. By default it is the number of a
    /// square.
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        let (rows, columns) = self.shape();
        let square = usize::from(action.0);
        if symmetry == 0 || square >= rows * columns || self.is_pass(action) {
            return action;
        }
        let from = (square / columns, square % columns);
        let (row, column) = symmetry::map_square(symmetry, from, rows, columns);
        Action((row * columns + column) as u16)
    }

    /// Returns the same rules with states folded under all symmetries of the board, or not folded at all;
    /// `None` if the board has no symmetries to fold.
    fn with_folding(&self, _fold: bool) -> Option<Self> {
        None
    }

    /// Returns the canonical key of a state: the smallest among its images.
    #[inline]
    fn canonical(&self, state: &Self::State) -> Canonical {
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

    // ---- sides in keys: who is to move is part of a state, because the sides differ or because infinite play is won
    // by the second player ----

    /// Returns `true` if keys in a table contain the side to move: those of [`Game::key`], or as [`Game::tag`] adds it.
    ///
    /// Infinite play is then a win of the second player, unless [`Game::repetition_rule`] says otherwise.
    #[inline]
    fn keeps_sides(&self) -> bool {
        false
    }

    /// Adds the side to move to a canonical key; by default it is no more than the key, which is right unless
    /// [`Game::keeps_sides`] and states do not contain the side. The key with the first side is the canonical key.
    #[inline]
    fn tag(&self, key: u128, _side: Side) -> u128 {
        key
    }

    /// Returns the side to move in a key; the first player if keys do not contain it.
    #[inline]
    fn side_of(&self, _key: u128) -> Side {
        Side::First
    }

    /// Returns the canonical key of a position; it contains the side to move if keys do.
    #[inline]
    fn position_key(&self, position: &Position<Self::State>) -> u128 {
        self.tag(self.canonical(&position.state).key, position.side)
    }

    /// Returns the canonical position of a key, or `None` if no position has it.
    #[inline]
    fn position_of(&self, key: u128) -> Option<Position<Self::State>> {
        Some(Position { state: self.state(key)?, side: self.side_of(key) })
    }

    // ---- ranks: a numbering of states without gaps; every state reachable from the start has one ----

    /// Returns the number of ranks; `None` in a game without ranks.
    ///
    /// In a layered game ranks ascend with the layers. In any other game a table indexed by rank can store three
    /// ends only: a loss, a draw, and a win in one ply. A game with other ends is enumerated by keys.
    fn rank_count(&self) -> Option<u32> {
        None
    }

    /// Returns the rank of a state, equal for all its images; `None` if it has none.
    #[inline]
    fn rank(&self, _state: &Self::State) -> Option<u32> {
        None
    }

    /// Returns the state of a rank; `None` if `rank` is not below [`Game::rank_count`].
    #[inline]
    fn state_of_rank(&self, _rank: u32) -> Option<Self::State> {
        None
    }

    /// Appends the ranks of the states from which one move leads to the state of `rank`, each once. They may
    /// include unreachable states and may leave out terminal ones. Not called for layered games.
    fn predecessors(&self, _rank: u32, _before: &mut Vec<u32>) {}

    /// Returns moves between ranks, if they can be made faster than through states.
    fn ranked_moves(&self) -> Option<&dyn RankedMoves> {
        None
    }

    // ---- the board: squares held by the mover and by the opponent, as bits `row * columns + column` ----

    /// Returns the rows and columns of the board; 0 × 0 without a board.
    #[inline]
    fn shape(&self) -> (usize, usize) {
        self.facts().shape
    }

    /// Returns the squares of the mover and of the opponent; `None` if squares alone do not determine a state.
    #[inline]
    fn squares(&self, _state: &Self::State) -> Option<(u64, u64)> {
        None
    }

    /// Returns the state in which mover and opponent hold these squares; `None` if there is none.
    fn of_squares(&self, _mover: u64, _opponent: u64) -> Option<Self::State> {
        None
    }

    /// Returns `true` if squares alone determine a state.
    fn has_squares(&self) -> bool {
        self.squares(&self.start().state).is_some()
    }

    // ---- planes, the input of networks: one grid of the board for each kind of piece ----

    /// Returns the kinds of pieces that have planes; by default one in a game with [squares](Game::squares), and none in
    /// any other, which has no planes then.
    fn plane_kinds(&self) -> PlaneKinds {
        PlaneKinds {
            pieces: if self.has_squares() { vec!["piece"] } else { Vec::new() },
            ..PlaneKinds::default()
        }
    }

    /// Writes a state as planes, as its mover sees it: plane `p` has square (`row`, `column`) at
    /// `out[p * rows * columns + row * columns + column]`. `out` has exactly the length of all planes and is
    /// overwritten completely. By default, these are the squares of the mover and of the opponent.
    fn write_planes(&self, state: &Self::State, out: &mut [f32]) {
        if let Some(squares) = self.squares(state) {
            planes::write_squares(squares, out);
        }
    }

    /// Returns the state that has these planes; `None` if none has.
    fn read_planes(&self, planes: &[f32]) -> Option<Self::State> {
        let (rows, columns) = self.shape();
        let [mover, opponent] = planes::read_squares(planes, rows * columns)?;
        self.of_squares(mover, opponent)
    }

    // ---- drawing ----

    /// Returns the contents of each square; empty if the game neither draws its board nor has squares.
    fn drawn(&self, position: &Position<Self::State>) -> Drawn {
        drawing::by_squares(self, position)
    }

    /// Returns the kinds of pieces on the board; empty if there is only one.
    fn piece_kinds(&self) -> Vec<PieceKind> {
        Vec::new()
    }

    /// Returns the squares of a legal action, numbered as in [`Drawn`]. The default for a board is that the action is
    /// the number of its target square.
    fn move_squares(&self, _position: &Position<Self::State>, action: Action) -> MoveSquares {
        let (rows, columns) = self.shape();
        let to = Some(action.0).filter(|&square| usize::from(square) < rows * columns);
        MoveSquares { from: None, to: to.filter(|_| !self.is_pass(action)) }
    }

    /// Returns the names of the columns from the left and of the rows from the top, as the first player sees
    /// the board; by default `a`, `b`… and `1`, `2`….
    fn coordinates(&self) -> [Vec<String>; 2] {
        let (rows, columns) = self.shape();
        let letters = ('a'..='z').map(String::from);
        [letters.take(columns).collect(), (1..=rows).map(|row| row.to_string()).collect()]
    }

    /// Returns the board as rows of text with its coordinates.
    fn diagram(&self, position: &Position<Self::State>) -> String {
        self.diagram_with(position, &[])
    }

    /// Returns the [diagram](Game::diagram) with a sign behind some squares; by default without signs, if there are no
    /// squares.
    fn diagram_with(&self, position: &Position<Self::State>, signs: &[(u16, char)]) -> String {
        drawing::diagram(self, position, signs)
    }

    /// Returns the [diagram](Game::diagram) with the Japanese names of the pieces, if the game has them.
    fn diagram_japanese(&self, position: &Position<Self::State>) -> Option<String> {
        drawing::diagram_japanese(self, position)
    }

    // ---- names and notation ----

    /// Returns the name of the game for headings.
    fn title(&self) -> String {
        self.name()
    }

    /// Returns the names of the first and the second player.
    fn side_names(&self) -> [&'static str; 2] {
        ["First", "Second"]
    }

    /// Returns the name of a side: `Black`, `White`.
    fn side_name(&self, side: Side) -> &'static str {
        self.side_names()[side.index()]
    }

    /// Returns the marks of the two players in diagrams, such as `X` and `O`, if they have some.
    fn side_marks(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Returns the mark of a side in diagrams, if it has one.
    fn side_mark(&self, side: Side) -> Option<&'static str> {
        self.side_marks().map(|marks| marks[side.index()])
    }

    /// Returns the usual name of an action of `side`, such as `c4` or `pass`. By default it is that of the square whose
    /// number the action is, in a game with [squares](Game::squares), and otherwise the number. Actions are numbered
    /// from the mover's view, while their names may be from the first player's.
    fn action_name(&self, side: Side, action: Action) -> String {
        default_notation::action_name(self, side, action)
    }

    /// Returns the meanings of keys and actions, in words, by name; also any limitation of a table's values.
    fn conventions(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the position in every one-line notation of the game, each with its name, the usual one first; by
    /// default its key and the side to move.
    fn written(&self, position: &Position<Self::State>) -> Vec<(&'static str, String)> {
        vec![("line", default_notation::notation(self, position))]
    }

    /// Returns the position in the usual notation of the game (Othello: OBF).
    fn notation(&self, position: &Position<Self::State>) -> String {
        self.written(position).swap_remove(0).1
    }

    /// Reads a position in a notation of the game's own; `None` if the text is no position, an error if it is meant as one
    /// and invalid. [`Game::parse_line`] reads `start`, keys, moves and [forms](forms::Form) of games beside it.
    fn read_position(&self, _text: &str) -> Result<Option<Position<Self::State>>, Error> {
        Ok(None)
    }

    /// Divides and rewrites the moves of a transcript, which blanks and commas separate, so that [`Game::read_move`] reads
    /// each; by default they stay.
    fn split_moves<'t>(&self, moves: Vec<MoveText<'t>>) -> Result<Vec<MoveText<'t>>, Error> {
        Ok(moves)
    }

    /// Reads a move, which need not be legal; `None` if the text is none. By default it is the legal action with this name.
    fn read_move(&self, position: &Position<Self::State>, text: &str) -> Option<Action> {
        default_notation::read_move(self, position, text)
    }

    /// Reads a position, a transcript played from `from`, or a game in any form. Returns all
    /// positions of a game: its start and the position after each move, including passes that it leaves
    /// out. Never empty.
    fn parse_line(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Vec<Position<Self::State>>, Error> {
        transcript::parse_line(self, text, from)
    }

    /// Reads a position in any notation of the game; a transcript, played from `from`, gives its last
    /// position.
    fn parse_position(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Position<Self::State>, Error> {
        let positions = self.parse_line(text, from)?;
        Ok(positions.last().copied().unwrap_or(*from))
    }

    // ---- searches of the game's own ----

    /// Returns an exact search for this game, if it has one faster than plain alpha-beta. See
    /// [`Rules::score_search`] for the object.
    fn score_search(&self, _options: &SearchOptions) -> Option<Box<dyn ScoreSearch<Self::State>>> {
        None
    }
}

/// Moves of a game between the ranks of its states. Every rank passed in is below [`RankedMoves::ranks`].
pub trait RankedMoves: Sync {
    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Fills `after` with one entry for each move: the rank of the successor, and the end of the game there
    /// for the player to move in it. Leaves it empty if the game is over.
    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>);

    /// Returns the end of the game in a state, for its mover. If it returns `None`, `ends` contains the end
    /// after each move, for the player to move there; moves that lead to the same state may count once.
    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End>;

    /// Appends the same ranks as [`Game::predecessors`].
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);
}
