//! A game without its type: what everybody but the hot loops plays.
//!
//! Enumerating, verifying and searching are compiled for each type of rules; tables, reports,
//! exports and commands are compiled once, for [`AnyGame`]. Its states are keys, so each question
//! about a state unpacks it first.

use std::sync::Arc;

use crate::game::perft::{Finished, perft, perft_shared};
use crate::game::{
    Action, Canonical, Empties, End, Game, Group, Mobility, NotationError, Outcome, Planes,
    Position, Repetition, Score, Side, StateKey, Symmetry, WideKey,
};
use crate::graph::{self, Enumerated, GraphError, Plan, RankedGame, RankedMoves};
use crate::policy::{self, Answers, Batch, Policy, PolicyError, PolicySpec};
use crate::progress::Progress;
use crate::solve::{self, Verified};
use crate::table::{Store, Table, TableError};

/// A state of some game, as its key; made by that game alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyState(WideKey);

/// A position of some game.
pub type AnyPosition = Position<AnyState>;

/// The rules of a game whose type is not known.
#[derive(Clone)]
pub struct AnyGame {
    rules: Arc<dyn Rules>,
    /// Kept beside the rules, because they are asked for in every loop.
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

    /// The moves of a game that ranks its states.
    pub fn ranked_moves(&self) -> Box<dyn RankedMoves + '_> {
        self.rules.ranked_moves()
    }

    /// The policy that is meant, where the rules are all it needs.
    pub fn policy(
        &self,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError> {
        self.rules.clone().policy(spec)
    }

    /// The number of lines of `depth` plies from a state; `plain`: one by one, on one thread.
    pub fn perft(&self, state: &AnyState, depth: u32, finished: Finished, plain: bool) -> u64 {
        self.rules.perft(state.0, depth, finished, plain)
    }

    /// Calls `visit` with every legal action of a state, and with its successor's canonical form.
    pub fn for_each_canonical_successor(
        &self,
        state: &AnyState,
        mut visit: impl FnMut(Action, Canonical<WideKey>),
    ) {
        self.rules.canonical_successors(state.0, &mut visit);
    }
}

/// The methods of [`Game`] in a form that needs no type.
trait Rules: Send + Sync {
    fn name(&self) -> String;
    fn start(&self) -> AnyPosition;
    fn action_count(&self) -> usize;
    fn for_each_action(&self, state: WideKey, visit: &mut dyn FnMut(Action));
    fn successors(&self, state: WideKey, visit: &mut dyn FnMut(Action, WideKey));
    fn canonical_successors(
        &self,
        state: WideKey,
        visit: &mut dyn FnMut(Action, Canonical<WideKey>),
    );
    fn play(&self, state: WideKey, action: Action) -> WideKey;
    fn result(&self, state: WideKey) -> Option<Outcome>;
    fn mobility(&self, state: WideKey) -> Mobility;
    fn state(&self, key: WideKey) -> Option<WideKey>;
    fn layers(&self) -> Option<&'static str>;
    fn layer(&self, state: WideKey) -> u32;
    fn max_plies(&self, state: WideKey) -> Option<u32>;
    fn max_score(&self) -> Option<Score>;
    fn score(&self, state: WideKey, empties: Empties) -> Score;
    fn score_unit(&self) -> &'static str;
    fn end(&self, state: WideKey) -> Option<End>;
    fn end_in_words(&self, position: &AnyPosition) -> Option<String>;
    fn in_check(&self, state: WideKey) -> bool;
    fn keeps_sides(&self) -> bool;
    fn repetition(&self) -> Repetition;
    fn is_small(&self) -> bool;
    fn rules_version(&self) -> u32;
    fn key_bits(&self) -> u32;
    fn key_words(&self) -> usize;
    fn position_key(&self, position: &AnyPosition) -> WideKey;
    fn position_of(&self, key: WideKey) -> Option<AnyPosition>;
    fn rank_count(&self) -> Option<u32>;
    fn rank(&self, state: WideKey) -> Option<u32>;
    fn unrank(&self, rank: u32) -> Option<WideKey>;
    fn has_predecessors(&self) -> bool;
    fn predecessors(&self, state: WideKey, visit: &mut dyn FnMut(WideKey));
    fn conventions(&self) -> Vec<(&'static str, String)>;
    fn with_folding(&self, fold: bool) -> Option<AnyGame>;
    fn transform(&self, state: WideKey, symmetry: Symmetry) -> WideKey;
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action;
    fn canonical(&self, state: WideKey) -> Canonical<WideKey>;
    fn swapped(&self, state: WideKey) -> Option<WideKey>;
    fn is_pass(&self, action: Action) -> bool;
    fn material(&self, state: WideKey) -> i32;
    fn shape(&self) -> (usize, usize);
    fn planes(&self) -> Planes;
    fn write_planes(&self, state: WideKey, out: &mut [u8]);
    fn read_planes(&self, planes: &[u8]) -> Option<WideKey>;
    fn squares(&self, state: WideKey) -> Option<(u64, u64)>;
    fn of_squares(&self, own: u64, other: u64) -> Option<WideKey>;
    fn title(&self) -> String;
    fn side_name(&self, side: Side) -> &'static str;
    fn side_mark(&self, side: Side) -> Option<&'static str>;
    fn action_name(&self, side: Side, action: Action) -> String;
    fn diagram(&self, position: &AnyPosition) -> String;
    fn diagram_japanese(&self, position: &AnyPosition) -> Option<String>;
    fn notation(&self, position: &AnyPosition) -> String;
    fn notations(&self, position: &AnyPosition) -> Vec<(&'static str, String)>;
    fn parse_line(&self, text: &str, from: &AnyPosition)
    -> Result<Vec<AnyPosition>, NotationError>;

    fn enumerate(
        &self,
        plan: &Plan<AnyState>,
        store: &Store,
        progress: &dyn Progress,
    ) -> Result<Enumerated, GraphError>;
    fn verify(&self, table: &Table, progress: &dyn Progress) -> Result<Verified, TableError>;
    fn ranked_moves(&self) -> Box<dyn RankedMoves + '_>;
    fn policy(
        self: Arc<Self>,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError>;
    fn perft(&self, state: WideKey, depth: u32, finished: Finished, plain: bool) -> u64;
}

/// The state of a key.
///
/// # Panics
///
/// When the key is of another game: an [`AnyState`] is made by its game alone.
#[inline]
fn typed<G: Game>(game: &G, key: WideKey) -> G::State {
    let state = G::Key::narrow(key).and_then(|key| game.state(key));
    state.expect("a state is asked about by the game that made it")
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

impl<G: Game> Rules for G {
    fn name(&self) -> String {
        Game::name(self)
    }

    fn start(&self) -> AnyPosition {
        wide_position(self, &Game::start(self))
    }

    fn action_count(&self) -> usize {
        Game::action_count(self)
    }

    fn for_each_action(&self, state: WideKey, visit: &mut dyn FnMut(Action)) {
        Game::for_each_action(self, &typed(self, state), visit);
    }

    fn successors(&self, state: WideKey, visit: &mut dyn FnMut(Action, WideKey)) {
        let state = typed(self, state);
        self.for_each_successor(&state, |action, after| visit(action, wide(self, &after)));
    }

    fn canonical_successors(
        &self,
        state: WideKey,
        visit: &mut dyn FnMut(Action, Canonical<WideKey>),
    ) {
        let state = typed(self, state);
        self.for_each_successor(&state, |action, after| {
            visit(action, widened(Game::canonical(self, &after)));
        });
    }

    fn play(&self, state: WideKey, action: Action) -> WideKey {
        wide(self, &Game::play(self, &typed(self, state), action))
    }

    fn result(&self, state: WideKey) -> Option<Outcome> {
        Game::result(self, &typed(self, state))
    }

    fn mobility(&self, state: WideKey) -> Mobility {
        Game::mobility(self, &typed(self, state))
    }

    fn state(&self, key: WideKey) -> Option<WideKey> {
        let state = G::Key::narrow(key).and_then(|key| Game::state(self, key))?;
        // A key may say more than its state does, such as who is to move.
        Some(wide(self, &state))
    }

    fn layers(&self) -> Option<&'static str> {
        Game::layers(self)
    }

    fn layer(&self, state: WideKey) -> u32 {
        Game::layer(self, &typed(self, state))
    }

    fn max_plies(&self, state: WideKey) -> Option<u32> {
        Game::max_plies(self, &typed(self, state))
    }

    fn max_score(&self) -> Option<Score> {
        Game::max_score(self)
    }

    fn score(&self, state: WideKey, empties: Empties) -> Score {
        Game::score(self, &typed(self, state), empties)
    }

    fn score_unit(&self) -> &'static str {
        Game::score_unit(self)
    }

    fn end(&self, state: WideKey) -> Option<End> {
        Game::end(self, &typed(self, state))
    }

    fn end_in_words(&self, position: &AnyPosition) -> Option<String> {
        Game::end_in_words(self, &typed_position(self, position))
    }

    fn in_check(&self, state: WideKey) -> bool {
        Game::in_check(self, &typed(self, state))
    }

    fn keeps_sides(&self) -> bool {
        Game::keeps_sides(self)
    }

    fn repetition(&self) -> Repetition {
        Game::repetition(self)
    }

    fn is_small(&self) -> bool {
        Game::is_small(self)
    }

    fn rules_version(&self) -> u32 {
        Game::rules_version(self)
    }

    fn key_bits(&self) -> u32 {
        Game::key_bits(self)
    }

    fn key_words(&self) -> usize {
        Game::key_words(self)
    }

    fn position_key(&self, position: &AnyPosition) -> WideKey {
        Game::position_key(self, &typed_position(self, position)).widen()
    }

    fn position_of(&self, key: WideKey) -> Option<AnyPosition> {
        let position = Game::position_of(self, G::Key::narrow(key)?)?;
        Some(wide_position(self, &position))
    }

    fn rank_count(&self) -> Option<u32> {
        Game::rank_count(self)
    }

    fn rank(&self, state: WideKey) -> Option<u32> {
        Game::rank(self, &typed(self, state))
    }

    fn unrank(&self, rank: u32) -> Option<WideKey> {
        Some(wide(self, &Game::unrank(self, rank)?))
    }

    fn has_predecessors(&self) -> bool {
        Game::has_predecessors(self)
    }

    fn predecessors(&self, state: WideKey, visit: &mut dyn FnMut(WideKey)) {
        self.for_each_predecessor(&typed(self, state), |before| visit(wide(self, &before)));
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        Game::conventions(self)
    }

    fn with_folding(&self, fold: bool) -> Option<AnyGame> {
        Game::with_folding(self, fold).map(AnyGame::new)
    }

    fn transform(&self, state: WideKey, symmetry: Symmetry) -> WideKey {
        wide(self, &Game::transform(self, &typed(self, state), symmetry))
    }

    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        Game::transform_action(self, action, symmetry)
    }

    fn canonical(&self, state: WideKey) -> Canonical<WideKey> {
        widened(Game::canonical(self, &typed(self, state)))
    }

    fn swapped(&self, state: WideKey) -> Option<WideKey> {
        Some(wide(self, &Game::swapped(self, &typed(self, state))?))
    }

    fn is_pass(&self, action: Action) -> bool {
        Game::is_pass(self, action)
    }

    fn material(&self, state: WideKey) -> i32 {
        Game::material(self, &typed(self, state))
    }

    fn shape(&self) -> (usize, usize) {
        Game::shape(self)
    }

    fn planes(&self) -> Planes {
        Game::planes(self)
    }

    fn write_planes(&self, state: WideKey, out: &mut [u8]) {
        Game::write_planes(self, &typed(self, state), out);
    }

    fn read_planes(&self, planes: &[u8]) -> Option<WideKey> {
        Some(wide(self, &Game::read_planes(self, planes)?))
    }

    fn squares(&self, state: WideKey) -> Option<(u64, u64)> {
        Game::squares(self, &typed(self, state))
    }

    fn of_squares(&self, own: u64, other: u64) -> Option<WideKey> {
        Some(wide(self, &Game::of_squares(self, own, other)?))
    }

    fn title(&self) -> String {
        Game::title(self)
    }

    fn side_name(&self, side: Side) -> &'static str {
        Game::side_name(self, side)
    }

    fn side_mark(&self, side: Side) -> Option<&'static str> {
        Game::side_mark(self, side)
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        Game::action_name(self, side, action)
    }

    fn diagram(&self, position: &AnyPosition) -> String {
        Game::diagram(self, &typed_position(self, position))
    }

    fn diagram_japanese(&self, position: &AnyPosition) -> Option<String> {
        Game::diagram_japanese(self, &typed_position(self, position))
    }

    fn notation(&self, position: &AnyPosition) -> String {
        Game::notation(self, &typed_position(self, position))
    }

    fn notations(&self, position: &AnyPosition) -> Vec<(&'static str, String)> {
        Game::notations(self, &typed_position(self, position))
    }

    fn parse_line(
        &self,
        text: &str,
        from: &AnyPosition,
    ) -> Result<Vec<AnyPosition>, NotationError> {
        let line = Game::parse_line(self, text, &typed_position(self, from))?;
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

    fn ranked_moves(&self) -> Box<dyn RankedMoves + '_> {
        Box::new(RankedGame(self))
    }

    fn policy(
        self: Arc<Self>,
        spec: &PolicySpec,
    ) -> Result<Option<Box<dyn Policy<AnyGame>>>, PolicyError> {
        let policy = policy::of_rules(spec, &*self)?;
        Ok(policy.map(|policy| Box::new(Typed { game: self, policy }) as Box<dyn Policy<AnyGame>>))
    }

    fn perft(&self, state: WideKey, depth: u32, finished: Finished, plain: bool) -> u64 {
        let count = if plain { perft } else { perft_shared };
        count(self, &typed(self, state), depth, finished)
    }
}

/// A policy of a game whose type is known, asked about positions whose type is not.
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

impl Game for AnyGame {
    type State = AnyState;
    type Key = WideKey;

    fn name(&self) -> String {
        self.rules.name()
    }

    fn start(&self) -> AnyPosition {
        self.rules.start()
    }

    fn action_count(&self) -> usize {
        self.rules.action_count()
    }

    fn for_each_action(&self, state: &AnyState, mut visit: impl FnMut(Action)) {
        self.rules.for_each_action(state.0, &mut visit);
    }

    fn for_each_successor(&self, state: &AnyState, mut visit: impl FnMut(Action, AnyState)) {
        self.rules.successors(state.0, &mut |action, after| visit(action, AnyState(after)));
    }

    fn play(&self, state: &AnyState, action: Action) -> AnyState {
        AnyState(self.rules.play(state.0, action))
    }

    fn result(&self, state: &AnyState) -> Option<Outcome> {
        self.rules.result(state.0)
    }

    fn mobility(&self, state: &AnyState) -> Mobility {
        self.rules.mobility(state.0)
    }

    fn key(&self, state: &AnyState) -> WideKey {
        state.0
    }

    fn state(&self, key: WideKey) -> Option<AnyState> {
        self.rules.state(key).map(AnyState)
    }

    fn layers(&self) -> Option<&'static str> {
        self.rules.layers()
    }

    fn layer(&self, state: &AnyState) -> u32 {
        self.rules.layer(state.0)
    }

    fn max_plies(&self, state: &AnyState) -> Option<u32> {
        self.rules.max_plies(state.0)
    }

    fn max_score(&self) -> Option<Score> {
        self.rules.max_score()
    }

    fn score(&self, state: &AnyState, empties: Empties) -> Score {
        self.rules.score(state.0, empties)
    }

    fn score_unit(&self) -> &'static str {
        self.rules.score_unit()
    }

    fn end(&self, state: &AnyState) -> Option<End> {
        self.rules.end(state.0)
    }

    fn end_in_words(&self, position: &AnyPosition) -> Option<String> {
        self.rules.end_in_words(position)
    }

    fn in_check(&self, state: &AnyState) -> bool {
        self.rules.in_check(state.0)
    }

    fn keeps_sides(&self) -> bool {
        self.rules.keeps_sides()
    }

    fn repetition(&self) -> Repetition {
        self.rules.repetition()
    }

    fn is_small(&self) -> bool {
        self.rules.is_small()
    }

    fn rules_version(&self) -> u32 {
        self.rules.rules_version()
    }

    fn key_bits(&self) -> u32 {
        self.rules.key_bits()
    }

    fn key_words(&self) -> usize {
        self.rules.key_words()
    }

    fn position_key(&self, position: &AnyPosition) -> WideKey {
        self.rules.position_key(position)
    }

    fn position_of(&self, key: WideKey) -> Option<AnyPosition> {
        self.rules.position_of(key)
    }

    fn rank_count(&self) -> Option<u32> {
        self.rules.rank_count()
    }

    fn rank(&self, state: &AnyState) -> Option<u32> {
        self.rules.rank(state.0)
    }

    fn unrank(&self, rank: u32) -> Option<AnyState> {
        self.rules.unrank(rank).map(AnyState)
    }

    fn has_predecessors(&self) -> bool {
        self.rules.has_predecessors()
    }

    fn for_each_predecessor(&self, state: &AnyState, mut visit: impl FnMut(AnyState)) {
        self.rules.predecessors(state.0, &mut |before| visit(AnyState(before)));
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        self.rules.conventions()
    }

    fn group(&self) -> &Group {
        &self.group
    }

    fn with_folding(&self, fold: bool) -> Option<AnyGame> {
        self.rules.with_folding(fold)
    }

    fn transform(&self, state: &AnyState, symmetry: Symmetry) -> AnyState {
        AnyState(self.rules.transform(state.0, symmetry))
    }

    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        self.rules.transform_action(action, symmetry)
    }

    fn canonical(&self, state: &AnyState) -> Canonical<WideKey> {
        self.rules.canonical(state.0)
    }

    fn swapped(&self, state: &AnyState) -> Option<AnyState> {
        self.rules.swapped(state.0).map(AnyState)
    }

    fn is_pass(&self, action: Action) -> bool {
        self.rules.is_pass(action)
    }

    fn material(&self, state: &AnyState) -> i32 {
        self.rules.material(state.0)
    }

    fn shape(&self) -> (usize, usize) {
        self.rules.shape()
    }

    fn planes(&self) -> Planes {
        self.rules.planes()
    }

    fn write_planes(&self, state: &AnyState, out: &mut [u8]) {
        self.rules.write_planes(state.0, out);
    }

    fn read_planes(&self, planes: &[u8]) -> Option<AnyState> {
        self.rules.read_planes(planes).map(AnyState)
    }

    fn squares(&self, state: &AnyState) -> Option<(u64, u64)> {
        self.rules.squares(state.0)
    }

    fn of_squares(&self, own: u64, other: u64) -> Option<AnyState> {
        self.rules.of_squares(own, other).map(AnyState)
    }

    fn title(&self) -> String {
        self.rules.title()
    }

    fn side_name(&self, side: Side) -> &'static str {
        self.rules.side_name(side)
    }

    fn side_mark(&self, side: Side) -> Option<&'static str> {
        self.rules.side_mark(side)
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        self.rules.action_name(side, action)
    }

    fn diagram(&self, position: &AnyPosition) -> String {
        self.rules.diagram(position)
    }

    fn diagram_japanese(&self, position: &AnyPosition) -> Option<String> {
        self.rules.diagram_japanese(position)
    }

    fn notation(&self, position: &AnyPosition) -> String {
        self.rules.notation(position)
    }

    fn notations(&self, position: &AnyPosition) -> Vec<(&'static str, String)> {
        self.rules.notations(position)
    }

    fn parse_line(
        &self,
        text: &str,
        from: &AnyPosition,
    ) -> Result<Vec<AnyPosition>, NotationError> {
        self.rules.parse_line(text, from)
    }
}
