//! Games with their type erased, for all code but the hot loops.
//!
//! Search and perft are compiled for each type of rules; tables, their enumeration, solution and proof, reports,
//! exports and commands are compiled once, for [`AnyGame`]. Its states are keys, so each question about a state
//! unpacks its key first; loops that would ask about each move ask the [`Rules`] about a whole position.
//!
//! ```
//! use yomikiri::game::{Game, GameExt};
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

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

use crate::game::perft::{Finished, perft_shared};
use crate::game::shogi::{Board, Variant};
use crate::game::{
    Action, Address, Bitboards, Canonical, Drawing, Drawn, Empties, End, Ends, ExpectedStates,
    Facts, Game, GameExt, Group, Layers, Mobility, MoveSquares, Names, NotationError, Notations,
    Outcome, PieceKind, PlainSearch, PlaneKinds, Planes, Position, RankedMoves, Ranks,
    RepetitionRule, Rules, Score, ScoreBounds, ScoreSearch, Scores, SearchLimits, SearchOptions,
    ShogiBoards, Side, Sides, StateKey, Symmetries, Symmetry, Typed, WideKey,
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
        let (group, facts) = (game.group().clone(), game.facts());
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

    /// Returns the game with its type, for loops worth compiling for it; `None` if `G` is not its type.
    pub fn of_type<G: Game>(&self) -> Option<OfType<G>> {
        let rules: Arc<dyn Any + Send + Sync> = self.rules.clone().as_any();
        rules.downcast().ok().map(OfType)
    }

    /// Counts the lines of `depth` plies from a state.
    pub fn perft(&self, state: &AnyState, depth: u32, finished: Finished) -> u64 {
        self.rules.perft(state, depth, finished)
    }
}

impl Deref for AnyGame {
    type Target = dyn Rules;

    fn deref(&self) -> &dyn Rules {
        &*self.rules
    }
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
        capabilities { $($capability:ident: $handed:ident $(<$of:ty>)?),* $(,)? }
        more { $(fn $own:ident($($own_arg:ident: $own_type:ty),*) -> $own_result:ty $own_body:block)* }
    ) => {
        /// Form of a game that can be a trait object.
        trait ErasedRules: Rules {
            $(fn $name(&self $(, $arg: $type)*) -> $result;)*
            $(fn $capability(&self) -> Option<&dyn $handed $(<$of>)?>;)*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result;)*
            fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
            fn search(self: Arc<Self>, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>>;
        }

        impl<G: Game> ErasedRules for Typed<G> {
            $(fn $name(&self $(, $arg: $type)*) -> $result {
                let ($erased, $game) = (self, &self.game);
                let _ = $erased;
                $body
            })*
            $(fn $capability(&self) -> Option<&dyn $handed $(<$of>)?> {
                self.game.$capability().map(|_| self as _)
            })*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result {
                let ($erased, $game) = (self, &self.game);
                let _ = ($erased, $game);
                $own_body
            })*

            fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
                self
            }

            fn search(self: Arc<Self>, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<AnyState>>> {
                self.game.layers()?;
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

            fn for_each_successor(&self, state: &AnyState, mut visit: impl FnMut(Action, AnyState)) {
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

            fn symmetries(&self) -> Option<&dyn Symmetries<AnyState>> {
                Some(self)
            }

            $(fn $capability(&self) -> Option<&dyn $handed $(<$of>)?> {
                self.rules.$capability()
            })*
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
    }
    capabilities {
        layers: Layers<AnyState>,
        scores: Scores<AnyState>,
        ranks: Ranks<AnyState>,
        sides: Sides<WideKey>,
        ends: Ends<AnyState>,
        bitboards: Bitboards<AnyState>,
        planes: Planes<AnyState>,
        drawing: Drawing<AnyState>,
        names: Names,
        shogi_boards: ShogiBoards<AnyState>,
        notations: Notations<AnyState>,
    }
    more {
        fn folded(fold: bool) -> Option<AnyGame> { game.with_folding(fold).map(AnyGame::new) }
        fn image(state: &AnyState, symmetry: Symmetry) -> AnyState {
            erased.any(&game.transform(&erased.typed(state), symmetry))
        }
        fn image_of_action(action: Action, symmetry: Symmetry) -> Action {
            game.transform_action(action, symmetry)
        }
        fn visit_actions(state: &AnyState, visit: &mut dyn FnMut(Action)) -> () {
            game.for_each_action(&erased.typed(state), visit)
        }
        fn visit_successors(state: &AnyState, visit: &mut dyn FnMut(Action, AnyState)) -> () {
            let state = erased.typed(state);
            game.for_each_successor(&state, |action, after| visit(action, erased.any(&after)))
        }
        fn position_at(at: Address) -> Option<AnyPosition> {
            erased.position(at).map(|position| erased.any_position(&position))
        }
        fn perft(state: &AnyState, depth: u32, finished: Finished) -> u64 {
            perft_shared(game, &erased.typed(state), depth, finished)
        }
    }
}

impl Symmetries<AnyState> for AnyGame {
    fn all(&self) -> &Group {
        &self.group
    }

    fn image_of(&self, state: &AnyState, symmetry: Symmetry) -> AnyState {
        self.rules.image(state, symmetry)
    }

    fn image_of_action(&self, action: Action, symmetry: Symmetry) -> Action {
        self.rules.image_of_action(action, symmetry)
    }
}

/// Implements the capabilities of an erased game by those of the game, for games that have them.
macro_rules! capabilities {
    ($(
        $handed:ident $(<$of:ty>)?, $capability:ident |$erased:ident, $it:ident| {
            $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block)*
        }
    )*) => {
        $(impl<G: Game> $handed $(<$of>)? for Typed<G> {
            $(fn $name(&self $(, $arg: $type)*) -> $result {
                let $it = self.game.$capability().expect("it is handed out by games that have it");
                let $erased = self;
                let _ = $erased;
                $body
            })*
        })*
    };
}

capabilities! {
    Layers<AnyState>, layers |erased, it| {
        fn unit() -> &'static str { it.unit() }
        fn layer_of(state: &AnyState) -> u32 { it.layer_of(&erased.typed(state)) }
    }
    Scores<AnyState>, scores |erased, it| {
        fn most() -> Score { it.most() }
        fn score_of(state: &AnyState, empties: Empties) -> Score {
            it.score_of(&erased.typed(state), empties)
        }
        fn unit() -> &'static str { it.unit() }
    }
    Ranks<AnyState>, ranks |erased, it| {
        fn count() -> u32 { it.count() }
        fn rank_of(state: &AnyState) -> Option<u32> { it.rank_of(&erased.typed(state)) }
        fn state_of(rank: u32) -> Option<AnyState> {
            it.state_of(rank).map(|state| erased.any(&state))
        }
        fn predecessors(rank: u32, before: &mut Vec<u32>) -> () { it.predecessors(rank, before) }
        fn moves() -> Option<&dyn RankedMoves> { it.moves() }
    }
    Sides<WideKey>, sides |erased, it| {
        fn tag(key: WideKey, side: Side) -> WideKey { it.tag(narrow::<G>(key), side).widen() }
        fn side_of(key: WideKey) -> Side { it.side_of(narrow::<G>(key)) }
    }
    Ends<AnyState>, ends |erased, it| {
        fn end_of(state: &AnyState) -> Option<End> { it.end_of(&erased.typed(state)) }
        fn words_of(position: &AnyPosition) -> Option<String> {
            it.words_of(&erased.typed_position(position))
        }
        fn is_check(state: &AnyState) -> bool { it.is_check(&erased.typed(state)) }
    }
    Bitboards<AnyState>, bitboards |erased, it| {
        fn held(state: &AnyState) -> (u64, u64) { it.held(&erased.typed(state)) }
        fn state_with(own: u64, other: u64) -> Option<AnyState> {
            it.state_with(own, other).map(|state| erased.any(&state))
        }
        fn has_square_weights() -> bool { it.has_square_weights() }
    }
    Planes<AnyState>, planes |erased, it| {
        fn kinds() -> PlaneKinds { it.kinds() }
        fn write(state: &AnyState, out: &mut [u8]) -> () { it.write(&erased.typed(state), out) }
        fn read(planes: &[u8]) -> Option<AnyState> {
            it.read(planes).map(|state| erased.any(&state))
        }
    }
    Drawing<AnyState>, drawing |erased, it| {
        fn drawn_of(position: &AnyPosition) -> Option<Drawn> {
            it.drawn_of(&erased.typed_position(position))
        }
        fn kinds() -> Vec<PieceKind> { it.kinds() }
        fn squares_of(side: Side, action: Action) -> Option<MoveSquares> {
            it.squares_of(side, action)
        }
        fn axes() -> Option<[Vec<String>; 2]> { it.axes() }
        fn text_of(position: &AnyPosition) -> Option<String> {
            it.text_of(&erased.typed_position(position))
        }
    }
    Names, names |erased, it| {
        fn title() -> String { it.title() }
        fn sides() -> [&'static str; 2] { it.sides() }
        fn marks() -> Option<[&'static str; 2]> { it.marks() }
        fn of_action(side: Side, action: Action) -> String { it.of_action(side, action) }
        fn conventions() -> Vec<(&'static str, String)> { it.conventions() }
    }
    ShogiBoards<AnyState>, shogi_boards |erased, it| {
        fn variant() -> Variant { it.variant() }
        fn board_of(state: &AnyState) -> Board { it.board_of(&erased.typed(state)) }
    }
    Notations<AnyState>, notations |erased, it| {
        fn written(position: &AnyPosition) -> Vec<(&'static str, String)> {
            it.written(&erased.typed_position(position))
        }
        fn read(text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, NotationError> {
            let line = it.read(text, &erased.typed_position(from))?;
            Ok(line.iter().map(|position| erased.any_position(position)).collect())
        }
    }
}

/// Game whose type is known, and conversion of its positions.
pub struct OfType<G: Game>(Arc<Typed<G>>);

impl<G: Game> OfType<G> {
    /// Returns the rules.
    pub fn rules(&self) -> &G {
        &self.0.game
    }

    /// Converts a position to the game's type.
    ///
    /// # Panics
    ///
    /// If the position belongs to another game.
    pub fn position(&self, position: &AnyPosition) -> Position<G::State> {
        self.0.typed_position(position)
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
