//! A game without its type: what everybody but the hot loops plays.
//!
//! Enumerating, verifying and searching are compiled for each type of rules; tables, reports,
//! exports and commands are compiled once, for [`AnyGame`]. Its states are keys, so each question
//! about a state unpacks it first.

use std::sync::Arc;

use crate::game::perft::{Finished, perft_shared};
use crate::game::{
    Action, Canonical, Drawn, Empties, End, Expected, Game, Group, Layers, Mobility, MoveSquares,
    NotationError, Outcome, PieceKind, Planes, Position, RankedMoves, Ranks, Repetition, Score,
    Scores, Side, StateKey, Symmetry, WideKey,
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
        AnyGame { group: game.group().clone(), rules: Arc::new(Erased(game)) }
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
        self.rules.solve(table, options, progress, on_sweep)
    }

    /// The policy that is meant, where the rules are all it needs.
    pub fn policy(&self, spec: &PolicySpec) -> MadePolicy {
        self.rules.clone().policy(spec)
    }

    /// The number of lines of `depth` plies from a state.
    pub fn perft(&self, state: &AnyState, depth: u32, finished: Finished) -> u64 {
        self.rules.perft(state, depth, finished)
    }
}

/// A game behind [`Rules`].
struct Erased<G>(G);

impl<G: Game> Erased<G> {
    /// The state of its key.
    ///
    /// # Panics
    ///
    /// When the key is of another game: an [`AnyState`] is made by its game alone.
    #[inline]
    fn typed(&self, state: &AnyState) -> G::State {
        let typed = G::Key::narrow(state.0).and_then(|key| self.0.state(key));
        typed.expect("a state belongs to the game that made it")
    }

    fn typed_position(&self, position: &AnyPosition) -> Position<G::State> {
        Position { state: self.typed(&position.state), side: position.side }
    }

    #[inline]
    fn any(&self, state: &G::State) -> AnyState {
        AnyState(self.0.key(state).widen())
    }

    fn any_position(&self, position: &Position<G::State>) -> AnyPosition {
        Position { state: self.any(&position.state), side: position.side }
    }
}

/// Declares the methods of [`Rules`], and implements them for every game by what stands behind each.
/// [`AnyGame`] passes those of `game` on to them.
macro_rules! rules {
    (
        |$erased:ident, $game:ident|
        game { $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block)* }
        more { $(fn $own:ident($($own_arg:ident: $own_type:ty),*) -> $own_result:ty $own_body:block)* }
    ) => {
        /// A game in a form that needs no type.
        trait Rules: Send + Sync {
            $(fn $name(&self $(, $arg: $type)*) -> $result;)*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result;)*
            fn policy(self: Arc<Self>, spec: &PolicySpec) -> MadePolicy;
        }

        impl<G: Game> Rules for Erased<G> {
            $(fn $name(&self $(, $arg: $type)*) -> $result {
                let ($erased, $game) = (self, &self.0);
                let _ = $erased;
                $body
            })*
            $(fn $own(&self $(, $own_arg: $own_type)*) -> $own_result {
                let ($erased, $game) = (self, &self.0);
                let _ = $erased;
                $own_body
            })*

            fn policy(self: Arc<Self>, spec: &PolicySpec) -> MadePolicy {
                let policy = policy::of_rules(spec, &self.0)?;
                Ok(policy.map(|policy| Box::new(Typed { game: self, policy }) as _))
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

            fn group(&self) -> &Group {
                &self.group
            }

            fn with_folding(&self, fold: bool) -> Option<AnyGame> {
                self.rules.folded(fold)
            }

            fn layers(&self) -> Option<&dyn Layers<AnyState>> {
                self.rules.layers()
            }

            fn scores(&self) -> Option<&dyn Scores<AnyState>> {
                self.rules.scores()
            }

            fn ranks(&self) -> Option<&dyn Ranks<AnyState>> {
                self.rules.ranks()
            }
        }
    };
}

type MadePolicy = Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError>;

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
        // A key may say more than its state does, such as who is to move.
        fn state(key: WideKey) -> Option<AnyState> {
            G::Key::narrow(key).and_then(|key| game.state(key)).map(|state| erased.any(&state))
        }
        fn position_of(key: WideKey) -> Option<AnyPosition> {
            let position = G::Key::narrow(key).and_then(|key| game.position_of(key));
            position.map(|position| erased.any_position(&position))
        }
        fn position_key(position: &AnyPosition) -> WideKey {
            game.position_key(&erased.typed_position(position)).widen()
        }
        fn canonical(state: &AnyState) -> Canonical<WideKey> {
            let Canonical { key, ties } = game.canonical(&erased.typed(state));
            Canonical { key: key.widen(), ties }
        }
        fn mobility(state: &AnyState) -> Mobility { game.mobility(&erased.typed(state)) }
        fn end(state: &AnyState) -> Option<End> { game.end(&erased.typed(state)) }
        fn end_in_words(position: &AnyPosition) -> Option<String> {
            game.end_in_words(&erased.typed_position(position))
        }
        fn in_check(state: &AnyState) -> bool { game.in_check(&erased.typed(state)) }
        fn keeps_sides() -> bool { game.keeps_sides() }
        fn repetition() -> Repetition { game.repetition() }
        fn is_small() -> bool { game.is_small() }
        fn expected(root: &AnyState) -> Option<Expected> { game.expected(&erased.typed(root)) }
        fn rules_version() -> u32 { game.rules_version() }
        fn has_blocks() -> bool { game.has_blocks() }
        fn key_bits() -> u32 { game.key_bits() }
        fn key_words() -> usize { game.key_words() }
        fn conventions() -> Vec<(&'static str, String)> { game.conventions() }
        fn transform(state: &AnyState, symmetry: Symmetry) -> AnyState {
            erased.any(&game.transform(&erased.typed(state), symmetry))
        }
        fn transform_action(action: Action, symmetry: Symmetry) -> Action {
            game.transform_action(action, symmetry)
        }
        fn swapped(state: &AnyState) -> Option<AnyState> {
            game.swapped(&erased.typed(state)).map(|state| erased.any(&state))
        }
        fn is_pass(action: Action) -> bool { game.is_pass(action) }
        fn material(state: &AnyState) -> i32 { game.material(&erased.typed(state)) }
        fn shape() -> (usize, usize) { game.shape() }
        fn planes() -> Planes { game.planes() }
        fn write_planes(state: &AnyState, out: &mut [u8]) -> () {
            game.write_planes(&erased.typed(state), out)
        }
        fn read_planes(planes: &[u8]) -> Option<AnyState> {
            game.read_planes(planes).map(|state| erased.any(&state))
        }
        fn squares(state: &AnyState) -> Option<(u64, u64)> { game.squares(&erased.typed(state)) }
        fn has_square_weights() -> bool { game.has_square_weights() }
        fn of_squares(own: u64, other: u64) -> Option<AnyState> {
            game.of_squares(own, other).map(|state| erased.any(&state))
        }
        fn title() -> String { game.title() }
        fn side_name(side: Side) -> &'static str { game.side_name(side) }
        fn side_mark(side: Side) -> Option<&'static str> { game.side_mark(side) }
        fn action_name(side: Side, action: Action) -> String { game.action_name(side, action) }
        fn coordinates() -> [Vec<String>; 2] { game.coordinates() }
        fn diagram(position: &AnyPosition) -> String {
            game.diagram(&erased.typed_position(position))
        }
        fn drawn(position: &AnyPosition) -> Drawn { game.drawn(&erased.typed_position(position)) }
        fn piece_kinds() -> Vec<PieceKind> { game.piece_kinds() }
        fn move_squares(side: Side, action: Action) -> MoveSquares {
            game.move_squares(side, action)
        }
        fn notations(position: &AnyPosition) -> Vec<(&'static str, String)> {
            game.notations(&erased.typed_position(position))
        }
        fn parse_line(text: &str, from: &AnyPosition) -> Result<Vec<AnyPosition>, NotationError> {
            let line = game.parse_line(text, &erased.typed_position(from))?;
            Ok(line.iter().map(|position| erased.any_position(position)).collect())
        }
    }
    more {
        fn layers() -> Option<&dyn Layers<AnyState>> { game.layers().map(|_| erased as _) }
        fn scores() -> Option<&dyn Scores<AnyState>> { game.scores().map(|_| erased as _) }
        fn ranks() -> Option<&dyn Ranks<AnyState>> { game.ranks().map(|_| erased as _) }
        fn folded(fold: bool) -> Option<AnyGame> { game.with_folding(fold).map(AnyGame::new) }
        fn visit_actions(state: &AnyState, visit: &mut dyn FnMut(Action)) -> () {
            game.for_each_action(&erased.typed(state), visit)
        }
        fn visit_successors(state: &AnyState, visit: &mut dyn FnMut(Action, AnyState)) -> () {
            let state = erased.typed(state);
            game.for_each_successor(&state, |action, after| visit(action, erased.any(&after)))
        }
        fn enumerate(
            plan: &Plan<AnyState>,
            store: &Store,
            progress: &dyn Progress
        ) -> Result<Enumerated, GraphError> {
            let plan = plan.map(|root| erased.typed_position(root));
            graph::build(game, &plan, store, progress)
        }
        fn verify(table: &Table, progress: &dyn Progress) -> Result<Verified, TableError> {
            solve::prove(game, table, progress)
        }
        fn solve(
            table: &mut Table,
            options: &SolveOptions,
            progress: &dyn Progress,
            on_sweep: &mut dyn FnMut(usize, &SweepRecord)
        ) -> Result<Run, SweepError> {
            solve::solve(game, table, options, progress, on_sweep)
        }
        fn perft(state: &AnyState, depth: u32, finished: Finished) -> u64 {
            perft_shared(game, &erased.typed(state), depth, finished)
        }
    }
}

/// A capability of a game that has it.
const HAS: &str = "it is handed out by games that have it alone";

impl<G: Game> Layers<AnyState> for Erased<G> {
    fn unit(&self) -> &'static str {
        self.0.layers().expect(HAS).unit()
    }

    fn layer_of(&self, state: &AnyState) -> u32 {
        self.0.layer(&self.typed(state))
    }
}

impl<G: Game> Scores<AnyState> for Erased<G> {
    fn most(&self) -> Score {
        self.0.scores().expect(HAS).most()
    }

    fn score_of(&self, state: &AnyState, empties: Empties) -> Score {
        self.0.score(&self.typed(state), empties)
    }

    fn unit(&self) -> &'static str {
        self.0.scores().expect(HAS).unit()
    }
}

impl<G: Game> Ranks<AnyState> for Erased<G> {
    fn count(&self) -> u32 {
        self.0.ranks().expect(HAS).count()
    }

    fn rank_of(&self, state: &AnyState) -> Option<u32> {
        self.0.ranks().expect(HAS).rank_of(&self.typed(state))
    }

    fn state_of(&self, rank: u32) -> Option<AnyState> {
        self.0.ranks().expect(HAS).state_of(rank).map(|state| self.any(&state))
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        self.0.ranks().expect(HAS).predecessors(rank, before);
    }

    fn moves(&self) -> Option<&dyn RankedMoves> {
        self.0.ranks().expect(HAS).moves()
    }
}

/// A policy of a game whose type is known, for positions whose type is not.
struct Typed<G: Game> {
    game: Arc<Erased<G>>,
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
        let batch = batch.map(|position| self.game.typed_position(position));
        self.policy.answer(&self.game.0, &batch, answers)
    }
}
