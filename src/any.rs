//! A game without its type: what everybody but the hot loops plays.
//!
//! Enumerating, verifying and searching are compiled for each type of rules; tables, reports,
//! exports and commands are compiled once, for [`AnyGame`]. Its states are keys, so each question
//! about a state unpacks it first.

use std::sync::Arc;

use crate::game::perft::{Finished, perft_shared};
use crate::game::{
    Action, Canonical, Drawn, Empties, End, Expected, Game, Group, Mobility, MoveSquares,
    NotationError, Outcome, PieceKind, Planes, Position, Repetition, Score, Side, StateKey,
    Symmetry, WideKey,
};
use crate::graph::{self, Enumerated, GraphError, Plan};
use crate::policy::{self, Answers, Batch, Policy, PolicyError, PolicySpec};
use crate::progress::Progress;
use crate::solve::{self, Run, SolveOptions, SweepError, Verified};
use crate::table::{Store, SweepRecord, Table, TableError};

/// A state of some game, as its key; made by that game alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyState(WideKey);

/// A position of some game.
pub type AnyPosition = Position<AnyState>;

/// The rules of a game whose type is not known.
#[derive(Clone)]
pub struct AnyGame {
    rules: Arc<dyn Rules>,
    /// Kept beside the rules, because every loop needs them.
    group: Group,
}

impl std::fmt::Debug for AnyGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyGame({})", Game::name(self))
    }
}

impl AnyGame {
    /// The game without its type.
    pub fn new(game: impl Game) -> AnyGame {
        AnyGame { group: game.group().clone(), rules: Arc::new(game) }
    }

    /// The same rules with states folded as far as they can be.
    pub fn folded(&self) -> AnyGame {
        Game::with_folding(self, true).unwrap_or_else(|| self.clone())
    }

    /// Enumerates a plan into the store; see [`graph::build`].
    pub fn enumerate(
        &self,
        plan: &Plan<AnyState>,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<Enumerated, GraphError> {
        self.rules.enumerate(plan, store, progress)
    }

    /// Proves a table whose checksums have been checked; see [`solve::prove`].
    pub fn verify(&self, table: &Table, progress: &dyn Progress) -> Result<Verified, TableError> {
        self.rules.verify(table, progress)
    }

    /// Solves a table; see [`solve::solve`].
    pub fn solve(
        &self,
        table: &mut Table,
        options: &SolveOptions,
        progress: &dyn Progress,
        on_sweep: &mut dyn FnMut(usize, &SweepRecord),
    ) -> Result<Run, SweepError> {
        self.rules.solve_table(table, options, progress, on_sweep)
    }

    /// The policy that is meant, where the rules are all it needs.
    pub fn policy(
        &self,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError> {
        self.rules.clone().policy(spec)
    }

    /// The number of lines of `depth` plies from a state; `plain`: one by one, on one thread.
    pub fn perft(&self, state: &AnyState, depth: u32, finished: Finished) -> u64 {
        self.rules.perft(state.0, depth, finished)
    }
}

/// The state of a key.
///
/// # Panics
///
/// When the key is of another game: an [`AnyState`] is made by its game alone.
#[inline]
fn typed<G: Game>(game: &G, key: WideKey) -> G::State {
    let state = G::Key::narrow(key).and_then(|key| game.state(key));
    state.expect("a state belongs to the game that made it")
}

fn typed_position<G: Game>(game: &G, position: &AnyPosition) -> Position<G::State> {
    Position { state: typed(game, position.state.0), side: position.side }
}

#[inline]
fn wide<G: Game>(game: &G, state: &G::State) -> WideKey {
    game.key(state).widen()
}

fn wide_position<G: Game>(game: &G, position: &Position<G::State>) -> AnyPosition {
    Position { state: AnyState(wide(game, &position.state)), side: position.side }
}

fn widened<K: StateKey>(canonical: Canonical<K>) -> Canonical<WideKey> {
    Canonical { key: canonical.key.widen(), ties: canonical.ties }
}

/// What an argument or result of [`forward!`] is in [`Rules`]: states are keys there.
macro_rules! raw {
    (State) => { WideKey };
    (Maybe) => { Option<WideKey> };
    (Key) => { WideKey };
    (Position) => { &AnyPosition };
    ([$plain:ty]) => { $plain };
}

/// What it is in [`AnyGame`].
macro_rules! shown {
    (State) => {
        &AnyState
    };
    (Position) => {
        &AnyPosition
    };
    ([$plain:ty]) => {
        $plain
    };
}

/// What a result is in [`AnyGame`].
macro_rules! given {
    (State) => { AnyState };
    (Maybe) => { Option<AnyState> };
    (Key) => { WideKey };
    ([$plain:ty]) => { $plain };
}

/// An argument on its way down to the game, and a result on its way up.
macro_rules! down {
    (State, $game:expr, $value:expr) => {
        &typed($game, $value)
    };
    (Position, $game:expr, $value:expr) => {
        &typed_position($game, $value)
    };
    ([$plain:ty], $game:expr, $value:expr) => {
        $value
    };
}
macro_rules! up {
    (State, $game:expr, $value:expr) => {
        wide($game, &$value)
    };
    (Maybe, $game:expr, $value:expr) => {
        $value.map(|state| wide($game, &state))
    };
    (Key, $game:expr, $value:expr) => {
        $value.widen()
    };
    ([$plain:ty], $game:expr, $value:expr) => {
        $value
    };
}
macro_rules! key_of {
    (State, $value:expr) => {
        $value.0
    };
    ($kind:tt, $value:expr) => {
        $value
    };
}
macro_rules! state_of {
    (State, $value:expr) => {
        AnyState($value)
    };
    (Maybe, $value:expr) => {
        $value.map(AnyState)
    };
    ($kind:tt, $value:expr) => {
        $value
    };
}

/// Writes the methods of [`Game`] that need nothing but their arguments turned, three times: in the
/// trait without types, for every game, and for [`AnyGame`].
macro_rules! forward {
    ($(fn $name:ident($($arg:ident: $kind:tt),*) -> $result:tt;)*) => {
        /// The methods of [`Game`] in a form that needs no type.
        trait Rules: Hot + Send + Sync {
            $(fn $name(&self $(, $arg: raw!($kind))*) -> raw!($result);)*
        }

        impl<G: Game> Rules for G {
            $(fn $name(&self $(, $arg: raw!($kind))*) -> raw!($result) {
                up!($result, self, Game::$name(self $(, down!($kind, self, $arg))*))
            })*
        }

        impl Game for AnyGame {
            type State = AnyState;
            type Key = WideKey;

            $(fn $name(&self $(, $arg: shown!($kind))*) -> given!($result) {
                state_of!($result, self.rules.$name($(key_of!($kind, $arg)),*))
            })*

            fn start(&self) -> AnyPosition {
                self.rules.start_position()
            }

            fn for_each_action(&self, state: &AnyState, mut visit: impl FnMut(Action)) {
                self.rules.for_each_action_of(state.0, &mut visit);
            }

            fn for_each_successor(
                &self,
                state: &AnyState,
                mut visit: impl FnMut(Action, AnyState),
            ) {
                self.rules.successors(state.0, &mut |action, after| visit(action, AnyState(after)));
            }

            fn key(&self, state: &AnyState) -> WideKey {
                state.0
            }

            fn state(&self, key: WideKey) -> Option<AnyState> {
                self.rules.state_of_key(key).map(AnyState)
            }

            fn position_of(&self, key: WideKey) -> Option<AnyPosition> {
                self.rules.position_of_key(key)
            }

            fn for_each_predecessor(&self, state: &AnyState, mut visit: impl FnMut(AnyState)) {
                self.rules.predecessors(state.0, &mut |before| visit(AnyState(before)));
            }

            fn group(&self) -> &Group {
                &self.group
            }

            fn with_folding(&self, fold: bool) -> Option<AnyGame> {
                self.rules.folded(fold)
            }

            fn canonical(&self, state: &AnyState) -> Canonical<WideKey> {
                self.rules.canonical_of(state.0)
            }

            fn parse_line(
                &self,
                text: &str,
                from: &AnyPosition,
            ) -> Result<Vec<AnyPosition>, NotationError> {
                self.rules.read_line(text, from)
            }
        }
    };
}

forward! {
    fn name() -> [String];
    fn action_count() -> [usize];
    fn play(state: State, action: [Action]) -> State;
    fn result(state: State) -> [Option<Outcome>];
    fn mobility(state: State) -> [Mobility];
    fn layers() -> [Option<&'static str>];
    fn layer(state: State) -> [u32];
    fn max_plies(state: State) -> [Option<u32>];
    fn max_score() -> [Option<Score>];
    fn score(state: State, empties: [Empties]) -> [Score];
    fn score_unit() -> [&'static str];
    fn end(state: State) -> [Option<End>];
    fn end_in_words(position: Position) -> [Option<String>];
    fn in_check(state: State) -> [bool];
    fn keeps_sides() -> [bool];
    fn repetition() -> [Repetition];
    fn is_small() -> [bool];
    fn expected(state: State) -> [Option<Expected>];
    fn rules_version() -> [u32];
    fn has_blocks() -> [bool];
    fn key_bits() -> [u32];
    fn key_words() -> [usize];
    fn position_key(position: Position) -> Key;
    fn rank_count() -> [Option<u32>];
    fn rank(state: State) -> [Option<u32>];
    fn unrank(rank: [u32]) -> Maybe;
    fn has_predecessors() -> [bool];
    fn conventions() -> [Vec<(&'static str, String)>];
    fn transform(state: State, symmetry: [Symmetry]) -> State;
    fn transform_action(action: [Action], symmetry: [Symmetry]) -> [Action];
    fn swapped(state: State) -> Maybe;
    fn is_pass(action: [Action]) -> [bool];
    fn material(state: State) -> [i32];
    fn shape() -> [(usize, usize)];
    fn planes() -> [Planes];
    fn write_planes(state: State, out: [&mut [u8]]) -> [()];
    fn read_planes(planes: [&[u8]]) -> Maybe;
    fn squares(state: State) -> [Option<(u64, u64)>];
    fn has_square_weights() -> [bool];
    fn of_squares(own: [u64], other: [u64]) -> Maybe;
    fn title() -> [String];
    fn side_name(side: [Side]) -> [&'static str];
    fn side_mark(side: [Side]) -> [Option<&'static str>];
    fn action_name(side: [Side], action: [Action]) -> [String];
    fn coordinates() -> [[Vec<String>; 2]];
    fn diagram(position: Position) -> [String];
    fn drawn(position: Position) -> [Drawn];
    fn piece_kinds() -> [Vec<PieceKind>];
    fn move_squares(side: [Side], action: [Action]) -> [MoveSquares];
    fn diagram_japanese(position: Position) -> [Option<String>];
    fn notation(position: Position) -> [String];
    fn notations(position: Position) -> [Vec<(&'static str, String)>];
}

/// What needs more than its arguments turned, and the hot loops, which are compiled for each game.
trait Hot {
    fn start_position(&self) -> AnyPosition;
    fn for_each_action_of(&self, state: WideKey, visit: &mut dyn FnMut(Action));
    fn successors(&self, state: WideKey, visit: &mut dyn FnMut(Action, WideKey));
    fn predecessors(&self, state: WideKey, visit: &mut dyn FnMut(WideKey));
    fn state_of_key(&self, key: WideKey) -> Option<WideKey>;
    fn position_of_key(&self, key: WideKey) -> Option<AnyPosition>;
    fn folded(&self, fold: bool) -> Option<AnyGame>;
    fn canonical_of(&self, state: WideKey) -> Canonical<WideKey>;
    fn read_line(&self, text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, NotationError>;
    fn enumerate(
        &self,
        plan: &Plan<AnyState>,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<Enumerated, GraphError>;
    fn verify(&self, table: &Table, progress: &dyn Progress) -> Result<Verified, TableError>;
    fn solve_table(
        &self,
        table: &mut Table,
        options: &SolveOptions,
        progress: &dyn Progress,
        on_sweep: &mut dyn FnMut(usize, &SweepRecord),
    ) -> Result<Run, SweepError>;
    fn policy(
        self: Arc<Self>,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError>;
    fn perft(&self, state: WideKey, depth: u32, finished: Finished) -> u64;
}

impl<G: Game> Hot for G {
    fn start_position(&self) -> AnyPosition {
        wide_position(self, &self.start())
    }

    fn for_each_action_of(&self, state: WideKey, visit: &mut dyn FnMut(Action)) {
        self.for_each_action(&typed(self, state), visit);
    }

    fn successors(&self, state: WideKey, visit: &mut dyn FnMut(Action, WideKey)) {
        let state = typed(self, state);
        self.for_each_successor(&state, |action, after| visit(action, wide(self, &after)));
    }

    fn predecessors(&self, state: WideKey, visit: &mut dyn FnMut(WideKey)) {
        self.for_each_predecessor(&typed(self, state), |before| visit(wide(self, &before)));
    }

    fn state_of_key(&self, key: WideKey) -> Option<WideKey> {
        let state = G::Key::narrow(key).and_then(|key| Game::state(self, key))?;
        // A key may say more than its state does, such as who is to move.
        Some(wide(self, &state))
    }

    fn position_of_key(&self, key: WideKey) -> Option<AnyPosition> {
        let position = self.position_of(G::Key::narrow(key)?)?;
        Some(wide_position(self, &position))
    }

    fn folded(&self, fold: bool) -> Option<AnyGame> {
        self.with_folding(fold).map(AnyGame::new)
    }

    fn canonical_of(&self, state: WideKey) -> Canonical<WideKey> {
        widened(self.canonical(&typed(self, state)))
    }

    fn read_line(&self, text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, NotationError> {
        let line = self.parse_line(text, &typed_position(self, from))?;
        Ok(line.iter().map(|position| wide_position(self, position)).collect())
    }

    fn enumerate(
        &self,
        plan: &Plan<AnyState>,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<Enumerated, GraphError> {
        let plan = plan.map(|root| typed_position(self, root));
        graph::build(self, &plan, store, progress)
    }

    fn verify(&self, table: &Table, progress: &dyn Progress) -> Result<Verified, TableError> {
        solve::prove(self, table, progress)
    }

    fn solve_table(
        &self,
        table: &mut Table,
        options: &SolveOptions,
        progress: &dyn Progress,
        on_sweep: &mut dyn FnMut(usize, &SweepRecord),
    ) -> Result<Run, SweepError> {
        solve::solve(self, table, options, progress, on_sweep)
    }

    fn policy(
        self: Arc<Self>,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError> {
        let policy = policy::of_rules(spec, &*self)?;
        Ok(policy.map(|policy| Box::new(Typed { game: self, policy }) as Box<dyn Policy<AnyGame>>))
    }

    fn perft(&self, state: WideKey, depth: u32, finished: Finished) -> u64 {
        perft_shared(self, &typed(self, state), depth, finished)
    }
}

/// A policy of a game whose type is known, for positions whose type is not.
struct Typed<G: Game> {
    game: Arc<G>,
    policy: Box<dyn Policy<G>>,
}

impl<G: Game> Policy<AnyGame> for Typed<G> {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn answer(
        &self,
        _game: &AnyGame,
        batch: &Batch<AnyState>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        let batch = batch.map(|position| typed_position(&*self.game, position));
        self.policy.answer(&self.game, &batch, answers)
    }
}
