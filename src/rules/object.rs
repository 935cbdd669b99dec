//! Rules of a game as an object, for all that is compiled once for all games: tables, solvers, proofs, policies,
//! reports, commands.
//!
//! A state of the object is its key, so each question about one unpacks it, which costs about as much as making a
//! move. Loops therefore ask about a whole position by its [`Address`]: the position is unpacked once, its moves are
//! made on the game's own states, and each successor is packed once. Recursion takes a [`Walk`], which unpacks only
//! where it begins.
//!
//! ```
//! use yomikiri::registry::Games;
//!
//! // One loop over games of all types: four moves open 4×4 Othello, and four 3×4 animal shogi.
//! let games = Games::with(vec![]);
//! for (name, moves) in [("othello-4x4", 4), ("animal-shogi", 4)] {
//!     let game = games.named(name)?;
//!     assert_eq!(game.actions(&game.start().state).len(), moves);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::error::Error;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::perft::{Finished, perft_shared};
use super::{
    Action, BoardLayout, Canonical, Drawn, Empties, End, ExpectedStates, Facts, Game, Group,
    Mobility, MoveSquares, Outcome, PieceKind, PlainSearch, PlaneKinds, Position, RankedMoves,
    Repetition, RepetitionRule, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, Side,
    Symmetry, words_of_key,
};
use super::{Misread, PlayedLine, Sheet, transcript};

/// State of some game, stored as the two words of its key; only that game makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyState([u64; 2]);

/// Position of some game.
pub type AnyPosition = Position<AnyState>;

/// Number under which a table finds a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Key of a state, or its folded key in a table, which may contain the side to move.
    Key(u128),
    /// Rank; it does not contain the side, and the first player counts as the one to move.
    Rank(u32),
}

/// Move and the folded key of the position after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveByKey {
    /// Key under which a table contains the position after the move.
    pub key: u128,
    /// Layer of that position; 0 in a game without layers.
    pub layer: u32,
    /// The move.
    pub action: Action,
    /// Bit set of the symmetries that bring the position to its canonical form.
    pub ties: u8,
}

/// Move and the rank of the state after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveByRank {
    /// The move.
    pub action: Action,
    /// Rank of the state after the move; `None` if it has none.
    pub rank: Option<u32>,
    /// End of the game there for the player to move in it, if it was asked for.
    pub end: Option<End>,
}

/// Answer of the rules about a position, without its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Side to move; the first player if the address does not contain it.
    pub side: Side,
    /// Layer; 0 in a game without layers.
    pub layer: u32,
    /// Number and kind of the mover's actions; `None` in a game without layers, where it would cost more than
    /// the rest.
    pub mobility: Option<Mobility>,
    /// End of the game for the mover; `None` while it goes on.
    pub end: Option<End>,
    /// Mover's score, if the game is over; otherwise 0.
    pub score: Score,
    /// Rank of the state, if it was addressed by one: the same, unless the game's ranks are at fault.
    pub rank: Option<u32>,
}

/// Declares the methods of [`Rules`] and implements them for every game by the given expressions. A method without a
/// comment is that of [`Game`] with the same name.
macro_rules! rules {
    (
        |$this:ident, $game:ident|
        $($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block)*
    ) => {
        /// Rules of a game whose type is erased: the form in which everything but the games themselves takes a game.
        /// [`Game::into_rules`] makes it. A method without a comment is that of [`Game`] with the same name.
        ///
        /// Addresses may come from damaged tables: one that belongs to no state is answered by `None` or `false`.
        /// A method that is given a state or a key of another game panics.
        pub trait Rules: Send + Sync {
            $($(#[$doc])* #[allow(missing_docs)] fn $name(&self $(, $arg: $type)*) $(-> $result)?;)*
        }

        #[allow(unused_variables)]
        impl<G: Game> Rules for Typed<G> {
            $(fn $name(&self $(, $arg: $type)*) $(-> $result)? {
                let ($this, $game) = (self, &*self.game);
                $body
            })*
        }
    };
}

rules! {
    |this, game|
    fn name() -> String { game.name() }
    fn start() -> AnyPosition { this.pack_position(&game.start()) }
    fn action_count() -> usize { game.action_count() }
    fn play(state: &AnyState, action: Action) -> AnyState {
        this.pack(&game.play(&this.unpack(state), action))
    }
    fn result(state: &AnyState) -> Option<Outcome> { game.result(&this.unpack(state)) }
    // A key may contain more than the state, such as the side to move.
    fn state(key: u128) -> Option<AnyState> {
        this.unpack_key(key).map(|state| this.pack(&state))
    }
    fn canonical(state: &AnyState) -> Canonical { this.canonical(&this.unpack(state)) }
    fn mobility(state: &AnyState) -> Mobility { game.mobility(&this.unpack(state)) }
    fn expected(root: &AnyState) -> Option<ExpectedStates> { game.expected(&this.unpack(root)) }
    fn swapped(state: &AnyState) -> Option<AnyState> {
        let swapped = game.swapped(&this.unpack(state))?;
        // A game of one's own may swap into what it refuses to be a state.
        (game.state(game.key(&swapped)) == Some(swapped)).then(|| this.pack(&swapped))
    }
    fn is_pass(action: Action) -> bool { game.is_pass(action) }
    fn adds_passes() -> bool { game.adds_passes() }
    fn material(state: &AnyState) -> Option<i32> { game.material(&this.unpack(state)) }
    fn evaluation(state: &AnyState) -> Option<i32> { game.evaluation(&this.unpack(state)) }
    fn repetition_rule() -> RepetitionRule { game.repetition_rule() }
    fn end(state: &AnyState) -> Option<End> { game.end(&this.unpack(state)) }
    fn end_in_words(position: &AnyPosition) -> Option<String> {
        game.end_in_words(&this.unpack_position(position))
    }
    fn in_check(state: &AnyState) -> bool { game.in_check(&this.unpack(state)) }
    fn layer_unit() -> Option<&'static str> { game.layer_unit() }
    fn layer(state: &AnyState) -> u32 { game.layer(&this.unpack(state)) }
    fn max_score() -> Option<Score> { game.max_score() }
    fn score(state: &AnyState, empties: Empties) -> Score {
        game.score(&this.unpack(state), empties)
    }
    fn score_unit() -> &'static str { game.score_unit() }
    fn transform(state: &AnyState, symmetry: Symmetry) -> AnyState {
        this.pack(&game.transform(&this.unpack(state), symmetry))
    }
    fn transform_action(action: Action, symmetry: Symmetry) -> Action {
        game.transform_action(action, symmetry)
    }
    fn keeps_sides() -> bool { game.keeps_sides() }
    fn side_of(key: u128) -> Side { game.side_of(key) }
    fn rank_count() -> Option<u32> { game.rank_count() }
    fn rank(state: &AnyState) -> Option<u32> { game.rank(&this.unpack(state)) }
    fn state_of_rank(rank: u32) -> Option<AnyState> {
        game.state_of_rank(rank).map(|state| this.pack(&state))
    }
    fn predecessors(rank: u32, before: &mut Vec<u32>) { game.predecessors(rank, before) }
    fn ranked_moves() -> Option<&dyn RankedMoves> { game.ranked_moves() }
    fn squares(state: &AnyState) -> Option<(u64, u64)> { game.squares(&this.unpack(state)) }
    fn of_squares(mover: u64, opponent: u64) -> Option<AnyState> {
        game.of_squares(mover, opponent).map(|state| this.pack(&state))
    }
    fn plane_kinds() -> PlaneKinds { game.plane_kinds() }
    fn write_planes(state: &AnyState, out: &mut [f32]) {
        game.write_planes(&this.unpack(state), out)
    }
    fn read_planes(planes: &[f32]) -> Option<AnyState> {
        game.read_planes(planes).map(|state| this.pack(&state))
    }
    fn drawn(position: &AnyPosition) -> Drawn { game.drawn(&this.unpack_position(position)) }
    fn piece_kinds() -> Vec<PieceKind> { game.piece_kinds() }
    fn move_squares(position: &AnyPosition, action: Action) -> MoveSquares {
        game.move_squares(&this.unpack_position(position), action)
    }
    fn coordinates() -> [Vec<String>; 2] { game.coordinates() }
    fn diagram(position: &AnyPosition) -> String {
        game.diagram(&this.unpack_position(position))
    }
    fn diagram_with(position: &AnyPosition, signs: &[(u16, char)]) -> String {
        game.diagram_with(&this.unpack_position(position), signs)
    }
    fn title() -> String { game.title() }
    fn action_name(side: Side, action: Action) -> String { game.action_name(side, action) }
    fn conventions() -> Vec<(&'static str, String)> { game.conventions() }
    fn written(position: &AnyPosition) -> Vec<(&'static str, String)> {
        game.written(&this.unpack_position(position))
    }
    fn parse_line(text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, Error> {
        let line = game.parse_line(text, &this.unpack_position(from))?;
        Ok(line.iter().map(|position| this.pack_position(position)).collect())
    }
    /// Plays a game of a text from its position, or from `from` if it has none. Passes may be left out.
    fn play_sheet(sheet: &Sheet<'_>, from: &AnyPosition) -> Result<PlayedLine<AnyState>, Misread> {
        let line = transcript::play(game, sheet, &this.unpack_position(from))?;
        let moves = line.moves.iter().map(|(before, action)| (this.pack_position(before), *action));
        let [start, last] = [line.start, line.last].map(|position| this.pack_position(&position));
        Ok(PlayedLine { start, moves: moves.collect(), last, claim: line.claim })
    }
    fn advance(position: &AnyPosition, action: Action) -> AnyPosition {
        this.pack_position(&game.advance(&this.unpack_position(position), action))
    }
    fn actions(state: &AnyState) -> Vec<Action> { game.actions(&this.unpack(state)) }
    fn must_pass(state: &AnyState) -> bool { game.must_pass(&this.unpack(state)) }
    fn is_terminal(state: &AnyState) -> bool { game.is_terminal(&this.unpack(state)) }
    fn repetition() -> Repetition { game.repetition() }
    fn is_layered() -> bool { game.is_layered() }
    fn has_scores() -> bool { game.has_scores() }
    fn position_key(position: &AnyPosition) -> u128 {
        this.checked(game.position_key(&this.unpack_position(position)))
    }
    fn shape() -> (usize, usize) { this.facts.shape }
    fn has_squares() -> bool { game.has_squares() }
    fn diagram_japanese(position: &AnyPosition) -> Option<String> {
        game.diagram_japanese(&this.unpack_position(position))
    }
    fn side_name(side: Side) -> &'static str { game.side_name(side) }
    fn side_mark(side: Side) -> Option<&'static str> { game.side_mark(side) }
    fn notation(position: &AnyPosition) -> String {
        game.notation(&this.unpack_position(position))
    }
    fn parse_position(text: &str, from: &AnyPosition) -> Result<AnyPosition, Error> {
        let read = game.parse_position(text, &this.unpack_position(from))?;
        Ok(this.pack_position(&read))
    }
    fn facts() -> Facts { this.facts }
    fn group() -> &Group { game.group() }
    fn key(state: &AnyState) -> u128 { key_of_words(state.0) }
    fn with_folding(fold: bool) -> Option<Arc<dyn Rules>> {
        game.with_folding(fold).map(Game::into_rules)
    }
    #[doc(hidden)]
    fn as_any() -> &(dyn Any + 'static) { game }
    /// Returns a handle to the same rules, to be kept.
    fn shared() -> Arc<dyn Rules> { Arc::new(this.clone()) }
    /// Returns the position at an address; `None` if the address is invalid.
    fn position_at(at: Address) -> Option<AnyPosition> {
        Some(this.pack_position(&this.position(at)?))
    }
    /// Begins a walk in a state.
    fn walk(state: &AnyState) -> Box<dyn Walk + '_> {
        Box::new(TypedWalk { game, state: this.unpack(state), before: Vec::new() })
    }
    /// Counts the mover's actions.
    fn mobility_at(at: Address) -> Option<Mobility> {
        Some(game.mobility(&this.position(at)?.state))
    }
    /// Fills `moves` with the legal moves, by ascending action; it is left empty if the game is over. Returns
    /// `false` if the address is invalid.
    fn moves_by_key(at: Address, moves: &mut Vec<MoveByKey>) -> bool { this.moves_by_key(at, moves) }
    /// Fills `moves` with the legal moves, by ascending action, and their ranks; if `with_ends`, with the ends of
    /// the game after them too. Returns `false` if the address is invalid or the game has no ranks.
    fn moves_by_rank(at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool {
        this.moves_by_rank(at, with_ends, moves)
    }
    /// Returns what is known of a position; fills `moves`, if given, like [`Rules::moves_by_key`], so that the
    /// position is unpacked once.
    fn standing(at: Address, empties: Empties, moves: Option<&mut Vec<MoveByKey>>) -> Option<Standing> {
        this.standing(at, empties, moves)
    }
    /// Returns the folded key of a state; if `swapped`, that of the board with the other side to move, or `None`
    /// if the game has no such state.
    fn canonical_at(at: Address, swapped: bool) -> Option<Canonical> {
        this.canonical_at(at, swapped)
    }
    #[doc(hidden)]
    fn visit_actions(state: &AnyState, visit: &mut dyn FnMut(Action)) {
        game.for_each_action(&this.unpack(state), visit)
    }
    #[doc(hidden)]
    fn visit_moves(state: &AnyState, visit: &mut dyn FnMut(Action, AnyState)) {
        game.moves(&this.unpack(state), |action, after| visit(action, this.pack(&after)))
    }
    /// Counts the lines of `depth` plies from a state, as [`perft_shared`].
    fn perft(state: &AnyState, depth: u32, finished: Finished) -> u64 {
        perft_shared(game, &this.unpack(state), depth, finished)
    }
    /// Returns an exact search of a game with layers: the game's own, or plain alpha-beta.
    fn score_search(options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>> {
        game.layer_unit()?;
        let (own, plain) = (game.score_search(options), PlainSearch::new(options));
        Some(Box::new(TypedSearch { rules: this.clone(), own, plain }))
    }
}

impl dyn Rules + '_ {
    /// Returns the game itself, if it is of this type.
    pub fn typed<G: Game>(&self) -> Option<&G> {
        self.as_any().downcast_ref()
    }

    /// Calls `each` with every legal action, in ascending order; not at all if the game is over.
    pub fn for_each_action(&self, state: &AnyState, mut each: impl FnMut(Action)) {
        self.visit_actions(state, &mut each);
    }

    /// Calls `each` with every legal action, in ascending order, and the state after it.
    pub fn moves(&self, state: &AnyState, mut each: impl FnMut(Action, AnyState)) {
        self.visit_moves(state, &mut each);
    }

    /// Returns the board without a position on it.
    pub fn board_layout(&self) -> BoardLayout {
        let ((rows, columns), [column_names, row_names]) = (self.shape(), self.coordinates());
        let (pieces, marks) = (self.piece_kinds(), Side::ALL.map(|side| self.side_mark(side)));
        let marks = marks[0].zip(marks[1]).map(<[_; 2]>::from);
        BoardLayout { rows, columns, column_names, row_names, pieces, marks }
    }

    /// Returns the position with the side to move that its state says, if states do.
    pub fn with_mover(&self, position: AnyPosition) -> AnyPosition {
        match self.keeps_sides() {
            true => Position { side: self.side_of(self.position_key(&position)), ..position },
            false => position,
        }
    }

    /// Returns the same rules with states folded under all symmetries.
    pub fn folded(&self) -> Arc<dyn Rules> {
        self.with_folding(true).unwrap_or_else(|| self.shared())
    }
}

/// Joins the words of a key.
#[inline]
fn key_of_words([high, low]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

impl fmt::Debug for dyn Rules + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// A position in which moves are made and taken back, on the game's own states: recursion on it costs little more
/// than in code compiled for the game, while an [`AnyState`] would be unpacked and packed at each step.
pub trait Walk {
    /// Fills `actions` with the legal actions, in ascending order.
    fn actions(&self, actions: &mut Vec<Action>);

    /// Plays a legal action.
    fn push(&mut self, action: Action);

    /// Takes the last action back; does nothing at the position where the walk began.
    fn pop(&mut self);

    /// Returns the outcome for the mover, or `None` while the game goes on.
    fn result(&self) -> Option<Outcome>;

    /// Returns the end of the game for the mover, as [`Game::end`]; `None` while it goes on.
    fn end(&self) -> Option<End>;

    /// Counts the mover's actions.
    fn mobility(&self) -> Mobility;

    /// Returns the mover's material minus the opponent's; 0 in a game without material.
    fn material(&self) -> i32;

    /// Estimates the mover's advantage, as [`Game::evaluation`]; 0 if there is nothing to go by.
    fn evaluation(&self) -> i32;

    /// Returns the mover's score, if the game is over.
    fn score(&self, empties: Empties) -> Score;

    /// Returns the squares of the mover and of the opponent; `None` if squares alone do not determine a state.
    fn squares(&self) -> Option<(u64, u64)>;
}

/// A [`Walk`] in a type of games.
struct TypedWalk<'a, G: Game> {
    game: &'a G,
    state: G::State,
    /// States before it, from the first.
    before: Vec<G::State>,
}

impl<G: Game> Walk for TypedWalk<'_, G> {
    fn actions(&self, actions: &mut Vec<Action>) {
        actions.clear();
        self.game.for_each_action(&self.state, |action| actions.push(action));
    }

    fn push(&mut self, action: Action) {
        self.before.push(self.state);
        self.state = self.game.play(&self.state, action);
    }

    fn pop(&mut self) {
        self.state = self.before.pop().unwrap_or(self.state);
    }

    fn result(&self) -> Option<Outcome> {
        self.game.result(&self.state)
    }

    fn end(&self) -> Option<End> {
        self.game.end(&self.state)
    }

    fn mobility(&self) -> Mobility {
        self.game.mobility(&self.state)
    }

    fn material(&self) -> i32 {
        self.game.material(&self.state).unwrap_or(0)
    }

    fn evaluation(&self) -> i32 {
        self.game.evaluation(&self.state).unwrap_or(0)
    }

    fn score(&self, empties: Empties) -> Score {
        self.game.score(&self.state, empties)
    }

    fn squares(&self) -> Option<(u64, u64)> {
        self.game.squares(&self.state)
    }
}

/// A game as [`Rules`]: compiled for each type of games.
pub(super) struct Typed<G> {
    game: Arc<G>,
    /// Cached, because every loop needs them.
    facts: Facts,
    most_key: u128,
}

impl<G> Clone for Typed<G> {
    fn clone(&self) -> Typed<G> {
        Typed { game: self.game.clone(), ..*self }
    }
}

impl<G: Game> Typed<G> {
    pub(super) fn new(game: G) -> Typed<G> {
        let facts = game.facts();
        assert!((1..=128).contains(&facts.key_bits), "{}: key_bits is not 1 to 128", game.name());
        Typed { most_key: facts.most_key(), game: Arc::new(game), facts }
    }

    /// Unpacks a position; `None` if the address is invalid.
    fn position(&self, at: Address) -> Option<Position<G::State>> {
        match at {
            // Before the game sees a key, which it may cut off.
            Address::Key(key) if key > self.most_key => None,
            Address::Key(key) => self.game.position_of(key),
            Address::Rank(rank) => {
                let state = self.game.state_of_rank(rank)?;
                Some(Position { state, side: Side::First })
            }
        }
    }

    /// Returns a key that the game made.
    ///
    /// # Panics
    ///
    /// If it has more bits than the game says: tables would cut it off.
    #[inline]
    fn checked(&self, key: u128) -> u128 {
        if key > self.most_key {
            self.refuse_key()
        }
        key
    }

    #[cold]
    #[inline(never)]
    fn refuse_key(&self) -> ! {
        panic!("{}: a key exceeds `Facts::key_bits`", self.game.name())
    }

    fn canonical(&self, state: &G::State) -> Canonical {
        let Canonical { key, ties } = self.game.canonical(state);
        Canonical { key: self.checked(key), ties }
    }

    /// Returns the state of a key; `None` if no state has it.
    fn unpack_key(&self, key: u128) -> Option<G::State> {
        if key <= self.most_key { self.game.state(key) } else { None }
    }

    /// Unpacks a state.
    ///
    /// # Panics
    ///
    /// If the state belongs to another game.
    #[inline]
    fn unpack(&self, state: &AnyState) -> G::State {
        let unpacked = self.game.state(key_of_words(state.0));
        unpacked.expect("a state belongs to the game that made it")
    }

    fn unpack_position(&self, position: &AnyPosition) -> Position<G::State> {
        Position { state: self.unpack(&position.state), side: position.side }
    }

    #[inline]
    fn pack(&self, state: &G::State) -> AnyState {
        AnyState(words_of_key(self.checked(self.game.key(state))))
    }

    fn pack_position(&self, position: &Position<G::State>) -> AnyPosition {
        Position { state: self.pack(&position.state), side: position.side }
    }

    /// Appends the moves of a position.
    fn make_moves(&self, position: &Position<G::State>, moves: &mut Vec<MoveByKey>) {
        let (game, side) = (&self.game, position.side.other());
        // Keys of layered games do not contain the side: orientations do.
        let is_tagged = game.keeps_sides() && !game.is_layered();
        game.moves(&position.state, |action, after| {
            let Canonical { key, ties } = self.canonical(&after);
            let key = if is_tagged { self.checked(game.tag(key, side)) } else { key };
            moves.push(MoveByKey { key, layer: game.layer(&after), action, ties });
        });
    }

    /// Counts the actions of a layered game's state; `moves` are all its moves, if they are known.
    fn count(&self, state: &G::State, moves: Option<&[MoveByKey]>) -> Mobility {
        match moves {
            None => self.game.mobility(state),
            Some([]) => Mobility::Over,
            Some([to]) if self.game.is_pass(to.action) => Mobility::Pass,
            Some(moves) => Mobility::Moves(moves.len() as u32),
        }
    }

    fn moves_by_key(&self, at: Address, moves: &mut Vec<MoveByKey>) -> bool {
        moves.clear();
        let position = self.position(at);
        if let Some(position) = &position {
            self.make_moves(position, moves);
        }
        position.is_some()
    }

    fn moves_by_rank(&self, at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool {
        moves.clear();
        let (game, position) = (&self.game, self.position(at));
        let Some(position) = position.filter(|_| game.rank_count().is_some()) else { return false };
        game.moves(&position.state, |action, after| {
            let end = if with_ends { game.end(&after) } else { None };
            moves.push(MoveByRank { action, rank: game.rank(&after), end });
        });
        true
    }

    fn standing(
        &self,
        at: Address,
        empties: Empties,
        mut moves: Option<&mut Vec<MoveByKey>>,
    ) -> Option<Standing> {
        let (game, position) = (&self.game, self.position(at)?);
        if let Some(moves) = &mut moves {
            moves.clear();
            self.make_moves(&position, moves);
        }
        let Position { state, side } = position;
        let moves = moves.as_ref().map(|moves| &moves[..]);
        let mobility = game.is_layered().then(|| self.count(&state, moves));
        let end = match mobility {
            None | Some(Mobility::Over) => game.end(&state),
            Some(_) => None,
        };
        let score = end.map(|_| game.score(&state, empties));
        Some(Standing {
            side,
            layer: game.layer(&state),
            mobility,
            end,
            score: score.unwrap_or(Score(0)),
            rank: match at {
                Address::Key(_) => None,
                Address::Rank(_) => game.rank(&state),
            },
        })
    }

    fn canonical_at(&self, at: Address, swapped: bool) -> Option<Canonical> {
        let state = self.position(at)?.state;
        let state = if swapped { self.game.swapped(&state)? } else { state };
        Some(self.canonical(&state))
    }
}

/// Search of a layered game on its own states: the game's own, or the plain one.
struct TypedSearch<G: Game> {
    rules: Typed<G>,
    own: Option<Box<dyn ScoreSearch<G::State>>>,
    plain: PlainSearch,
}

impl<G: Game> ScoreSearch<AnyState> for TypedSearch<G> {
    fn search(
        &self,
        state: &AnyState,
        window: (Score, Score),
        limits: &SearchLimits,
    ) -> ScoreBounds {
        let state = self.rules.unpack(state);
        match &self.own {
            Some(own) => own.search(&state, window, limits),
            None => self.plain.search(&*self.rules.game, &state, window, limits),
        }
    }
}
