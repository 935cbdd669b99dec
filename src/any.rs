//! Games with their type erased.
//!
//! Search and perft are compiled for each type of rules; tables, their enumeration, solution and proof, reports,
//! exports and commands are compiled once, for [`AnyGame`]. Its states are keys, so each question about a state
//! unpacks its key first; loops that would ask about each move ask the [`Rules`] about a whole position.
//!
//! ```
//! use yomikiri::game::Game;
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

use std::ops::Deref;
use std::sync::Arc;

use crate::game::perft::{Finished, perft_shared};
use crate::game::shogi::{Board, Variant};
use crate::game::{
    Action, Address, Canonical, Drawn, Empties, End, ExpectedStates, Facts, Game, Group, Mobility,
    MoveSquares, NotationError, Outcome, PieceKind, PlainSearch, PlaneKinds, Position, RankedMoves,
    RepetitionRule, Rules, Score, ScoreBounds, ScoreSearch, SearchLimits, SearchOptions, Side,
    StateKey, Symmetry, Typed, Walk, WideKey,
};

/// State of some game, stored as its key; only that game makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyState(WideKey);

/// Position of some game.
pub type AnyPosition = Position<AnyState>;

/// Rules of a game whose type is erased.
#[derive(Clone)]
pub struct AnyGame {
    rules: Arc<dyn ErasedRules>,
    /// Cached beside the rules, because every loop needs them.
    group: Group,
    facts: Facts,
}

impl std::fmt::Debug for AnyGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyGame({})", Game::name(self))
    }
}

impl AnyGame {
    /// Erases the type of a game.
    pub fn new(game: impl Game) -> AnyGame {
        // The width of a key is that of its type, whatever the game says.
        let facts = Facts { key_words: words_of(&game), ..game.facts() };
        let group = game.group().clone();
        AnyGame { group, facts, rules: Arc::new(Typed { game }) }
    }

    /// Returns the same rules with states folded under all symmetries.
    pub fn folded(&self) -> AnyGame {
        Game::with_folding(self, true).unwrap_or_else(|| self.clone())
    }

    /// Returns the position at an address; `None` if the address is invalid.
    pub fn position_at(&self, at: Address) -> Option<AnyPosition> {
        self.rules.position_at(at)
    }

    /// Begins a [`Walk`] in a state.
    ///
    /// # Panics
    ///
    /// If the state belongs to another game.
    pub fn walk_from(&self, state: &AnyState) -> Box<dyn Walk + '_> {
        self.rules.walk(Address::Key(state.0)).expect("a state belongs to the game that made it")
    }

    /// Counts the lines of `depth` plies from a state.
    pub fn perft(&self, state: &AnyState, depth: u32, finished: Finished) -> u64 {
        self.rules.perft(state, depth, finished)
    }
}

impl Deref for AnyGame {
    type Target = dyn Rules;

    fn deref(&self) -> &Self::Target {
        &*self.rules
    }
}

/// Returns the number of words of a game's keys.
fn words_of<G: Game>(_: &G) -> usize {
    G::Key::WORDS
}

/// Converts a key to the key type of a game.
///
/// # Panics
///
/// If the key belongs to another game.
fn narrow<G: Game>(key: WideKey) -> G::Key {
    G::Key::narrow(key).expect("a key belongs to the game that made it")
}

impl<G: Game> Typed<G> {
    /// Unpacks a state.
    ///
    /// # Panics
    ///
    /// If the state belongs to another game.
    #[inline]
    fn typed(&self, state: &AnyState) -> G::State {
        let typed = self.game.state(narrow::<G>(state.0));
        typed.expect("a state belongs to the game that made it")
    }

    fn typed_position(&self, position: &AnyPosition) -> Position<G::State> {
        Position { state: self.typed(&position.state), side: position.side }
    }

    #[inline]
    fn any(&self, state: &G::State) -> AnyState {
        AnyState(self.game.key(state).widen())
    }

    fn any_position(&self, position: &Position<G::State>) -> AnyPosition {
        Position { state: self.any(&position.state), side: position.side }
    }
}

/// Declares the methods of [`ErasedRules`] and implements them for every game by the given expressions. [`AnyGame`]
/// implements those under `game` by calls to its rules.
macro_rules! rules {
    (
        |$erased:ident, $game:ident|
        game { $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block)* }
        more { $(fn $own:ident($($own_arg:ident: $own_type:ty),*) -> $own_result:ty $own_body:block)* }
    ) => {
        /// Form of a game that can be a trait object.
        trait ErasedRules: Rules {
            $(fn $name(&self $(, $arg: $type)*) -> $result;)*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result;)*
            fn search(self: Arc<Self>, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>>;
        }

        impl<G: Game> ErasedRules for Typed<G> {
            $(fn $name(&self $(, $arg: $type)*) -> $result {
                let ($erased, $game) = (self, &self.game);
                let _ = ($erased, $game);
                $body
            })*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result {
                let ($erased, $game) = (self, &self.game);
                let _ = ($erased, $game);
                $own_body
            })*

            fn search(self: Arc<Self>, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>> {
                self.game.layer_unit()?;
                let (own, plain) = (self.game.score_search(options), PlainSearch::new(options));
                Some(Box::new(TypedSearch { game: self, own, plain }))
            }
        }

        impl Game for AnyGame {
            type State = AnyState;
            type Key = WideKey;

            $(fn $name(&self $(, $arg: $type)*) -> $result {
                self.rules.$name($($arg),*)
            })*

            fn for_each_action(&self, state: &AnyState, mut visit: impl FnMut(Action)) {
                self.rules.visit_actions(state, &mut visit);
            }

            fn moves(&self, state: &AnyState, mut visit: impl FnMut(Action, AnyState)) {
                self.rules.visit_successors(state, &mut visit);
            }

            fn key(&self, state: &AnyState) -> WideKey {
                state.0
            }

            fn facts(&self) -> Facts {
                self.facts
            }

            fn with_folding(&self, fold: bool) -> Option<AnyGame> {
                self.rules.folded(fold)
            }

            fn score_search(&self, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>> {
                self.rules.clone().search(options)
            }

            fn group(&self) -> &Group {
                &self.group
            }
        }
    };
}

rules! {
    |erased, game|
    game {
        fn name() -> String { game.name() }
        fn start() -> AnyPosition { erased.any_position(&game.start()) }
        fn action_count() -> usize { game.action_count() }
        fn play(state: &AnyState, action: Action) -> AnyState {
            erased.any(&game.play(&erased.typed(state), action))
        }
        fn result(state: &AnyState) -> Option<Outcome> { game.result(&erased.typed(state)) }
        // A key may contain more than the state, such as the side to move.
        fn state(key: WideKey) -> Option<AnyState> {
            G::Key::narrow(key).and_then(|key| game.state(key)).map(|state| erased.any(&state))
        }
        fn canonical(state: &AnyState) -> Canonical<WideKey> {
            let Canonical { key, ties } = game.canonical(&erased.typed(state));
            Canonical { key: key.widen(), ties }
        }
        fn mobility(state: &AnyState) -> Mobility { game.mobility(&erased.typed(state)) }
        fn expected(root: &AnyState) -> Option<ExpectedStates> { game.expected(&erased.typed(root)) }
        fn swapped(state: &AnyState) -> Option<AnyState> {
            game.swapped(&erased.typed(state)).map(|state| erased.any(&state))
        }
        fn is_pass(action: Action) -> bool { game.is_pass(action) }
        fn material(state: &AnyState) -> i32 { game.material(&erased.typed(state)) }
        fn repetition_rule() -> RepetitionRule { game.repetition_rule() }
        fn end(state: &AnyState) -> Option<End> { game.end(&erased.typed(state)) }
        fn end_in_words(position: &AnyPosition) -> Option<String> {
            game.end_in_words(&erased.typed_position(position))
        }
        fn in_check(state: &AnyState) -> bool { game.in_check(&erased.typed(state)) }
        fn layer_unit() -> Option<&'static str> { game.layer_unit() }
        fn layer(state: &AnyState) -> u32 { game.layer(&erased.typed(state)) }
        fn max_score() -> Option<Score> { game.max_score() }
        fn score(state: &AnyState, empties: Empties) -> Score {
            game.score(&erased.typed(state), empties)
        }
        fn score_unit() -> &'static str { game.score_unit() }
        fn transform(state: &AnyState, symmetry: Symmetry) -> AnyState {
            erased.any(&game.transform(&erased.typed(state), symmetry))
        }
        fn transform_action(action: Action, symmetry: Symmetry) -> Action {
            game.transform_action(action, symmetry)
        }
        fn keeps_sides() -> bool { game.keeps_sides() }
        fn tag(key: WideKey, side: Side) -> WideKey { game.tag(narrow::<G>(key), side).widen() }
        fn side_of(key: WideKey) -> Side { game.side_of(narrow::<G>(key)) }
        fn rank_count() -> Option<u32> { game.rank_count() }
        fn rank(state: &AnyState) -> Option<u32> { game.rank(&erased.typed(state)) }
        fn state_of_rank(rank: u32) -> Option<AnyState> {
            game.state_of_rank(rank).map(|state| erased.any(&state))
        }
        fn predecessors(rank: u32, before: &mut Vec<u32>) -> () { game.predecessors(rank, before) }
        fn ranked_moves() -> Option<&dyn RankedMoves> { game.ranked_moves() }
        fn squares(state: &AnyState) -> Option<(u64, u64)> { game.squares(&erased.typed(state)) }
        fn of_squares(mover: u64, opponent: u64) -> Option<AnyState> {
            game.of_squares(mover, opponent).map(|state| erased.any(&state))
        }
        fn has_square_weights() -> bool { game.has_square_weights() }
        fn plane_kinds() -> PlaneKinds { game.plane_kinds() }
        fn write_planes(state: &AnyState, out: &mut [u8]) -> () {
            game.write_planes(&erased.typed(state), out)
        }
        fn read_planes(planes: &[u8]) -> Option<AnyState> {
            game.read_planes(planes).map(|state| erased.any(&state))
        }
        fn drawn(position: &AnyPosition) -> Drawn { game.drawn(&erased.typed_position(position)) }
        fn piece_kinds() -> Vec<PieceKind> { game.piece_kinds() }
        fn move_squares(side: Side, action: Action) -> MoveSquares { game.move_squares(side, action) }
        fn coordinates() -> [Vec<String>; 2] { game.coordinates() }
        fn diagram(position: &AnyPosition) -> String {
            game.diagram(&erased.typed_position(position))
        }
        fn title() -> String { game.title() }
        fn side_names() -> [&'static str; 2] { game.side_names() }
        fn side_marks() -> Option<[&'static str; 2]> { game.side_marks() }
        fn action_name(side: Side, action: Action) -> String { game.action_name(side, action) }
        fn conventions() -> Vec<(&'static str, String)> { game.conventions() }
        fn written(position: &AnyPosition) -> Vec<(&'static str, String)> {
            game.written(&erased.typed_position(position))
        }
        fn parse_line(text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, NotationError> {
            let line = game.parse_line(text, &erased.typed_position(from))?;
            Ok(line.iter().map(|position| erased.any_position(position)).collect())
        }
        fn shogi_variant() -> Option<Variant> { game.shogi_variant() }
        fn shogi_board(state: &AnyState) -> Option<Board> { game.shogi_board(&erased.typed(state)) }
    }
    more {
        fn folded(fold: bool) -> Option<AnyGame> { game.with_folding(fold).map(AnyGame::new) }
        fn visit_actions(state: &AnyState, visit: &mut dyn FnMut(Action)) -> () {
            game.for_each_action(&erased.typed(state), visit)
        }
        fn visit_successors(state: &AnyState, visit: &mut dyn FnMut(Action, AnyState)) -> () {
            let state = erased.typed(state);
            game.moves(&state, |action, after| visit(action, erased.any(&after)))
        }
        fn position_at(at: Address) -> Option<AnyPosition> {
            erased.position(at).map(|position| erased.any_position(&position))
        }
        fn perft(state: &AnyState, depth: u32, finished: Finished) -> u64 {
            perft_shared(game, &erased.typed(state), depth, finished)
        }
    }
}

/// Search of a layered game on its own states: the game's own, or the plain one.
struct TypedSearch<G: Game> {
    game: Arc<Typed<G>>,
    own: Option<Box<dyn ScoreSearch<G::State>>>,
    plain: PlainSearch<G::Key>,
}

impl<G: Game> ScoreSearch<AnyState> for TypedSearch<G> {
    fn search(
        &self,
        state: &AnyState,
        window: (Score, Score),
        limits: &SearchLimits,
    ) -> ScoreBounds {
        let state = self.game.typed(state);
        match &self.own {
            Some(own) => own.search(&state, window, limits),
            None => self.plain.search(&self.game.game, &state, window, limits),
        }
    }
}
