//! Games in which a player may move again: the other player passes in between.

use super::default_notation;
use super::{
    Action, Canonical, Drawn, Empties, End, Facts, Game, Group, MoveSquares, Outcome, PieceKind,
    Position, RepetitionRule, Score, Side, Symmetry,
};
use crate::error::Error;

/// Rules in which some moves give their player another turn, as a box does in dots and boxes.
///
/// [`Game::moves`] gives each successor as the player who moves next in it sees it: the same player after a move for
/// which [`moves_again`](MovesAgain::moves_again) returns `true`. The rules have no passes. They become a game as
/// [`ForcedPasses`].
pub trait MovesAgain: Game {
    /// Returns `true` if the player moves again after this legal action.
    fn moves_again(&self, state: &Self::State, action: Action) -> bool;
}

/// Game in which the other player passes whenever a player moves again, so that sides alternate.
///
/// A pass is an action of its own, the last one, and counts as a ply in distances. Ranks, squares, planes and a
/// search of the inner rules are not used.
#[derive(Clone, Debug)]
pub struct ForcedPasses<G: MovesAgain>(pub G);

/// Text behind a position whose mover can only pass.
const WAITS: &str = " pass";

/// State of a game with [`ForcedPasses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn<S> {
    /// State of the inner rules, as the player who makes the next real move sees it.
    pub state: S,
    /// `true` if that player is the opponent: the mover can only pass.
    pub waits: bool,
}

impl<G: MovesAgain> ForcedPasses<G> {
    fn pass(&self) -> Action {
        Action(self.0.action_count() as u16)
    }

    /// Returns the position of the inner rules.
    fn inner(&self, position: &Position<Turn<G::State>>) -> Position<G::State> {
        let Position { state: Turn { state, waits }, side } = *position;
        Position { state, side: if waits { side.other() } else { side } }
    }
}

impl<G: MovesAgain> Game for ForcedPasses<G> {
    type State = Turn<G::State>;

    fn name(&self) -> String {
        self.0.name()
    }
    fn start(&self) -> Position<Turn<G::State>> {
        let Position { state, side } = self.0.start();
        Position { state: Turn { state, waits: false }, side }
    }
    fn action_count(&self) -> usize {
        self.0.action_count() + 1
    }
    fn moves(
        &self,
        &Turn { state, waits }: &Turn<G::State>,
        mut each: impl FnMut(Action, Turn<G::State>),
    ) {
        if !waits {
            self.0.moves(&state, |action, after| {
                assert!(action < self.pass(), "an action is not below `action_count`: {action:?}");
                let waits = self.0.moves_again(&state, action);
                each(action, Turn { state: after, waits });
            });
        } else if !self.0.is_terminal(&state) {
            each(self.pass(), Turn { state, waits: false });
        }
    }
    fn result(&self, turn: &Turn<G::State>) -> Option<Outcome> {
        self.0.result(&turn.state).map(|result| if turn.waits { -result } else { result })
    }
    fn key(&self, turn: &Turn<G::State>) -> u128 {
        self.0.key(&turn.state) << 1 | u128::from(turn.waits)
    }
    fn state(&self, key: u128) -> Option<Turn<G::State>> {
        Some(Turn { state: self.0.state(key >> 1)?, waits: key & 1 == 1 })
    }
    fn facts(&self) -> Facts {
        let facts = self.0.facts();
        Facts { key_bits: facts.key_bits + 1, ..facts }
    }

    // ---- moves ----
    fn is_pass(&self, action: Action) -> bool {
        action == self.pass()
    }
    fn swapped(&self, &Turn { state, waits }: &Turn<G::State>) -> Option<Turn<G::State>> {
        (!self.0.is_terminal(&state)).then_some(Turn { state, waits: !waits })
    }

    // ---- ends ----
    fn end(&self, turn: &Turn<G::State>) -> Option<End> {
        let end = self.0.end(&turn.state)?;
        Some(End { outcome: if turn.waits { -end.outcome } else { end.outcome }, ..end })
    }
    fn end_in_words(&self, position: &Position<Turn<G::State>>) -> Option<String> {
        self.0.end_in_words(&self.inner(position))
    }
    fn in_check(&self, turn: &Turn<G::State>) -> bool {
        !turn.waits && self.0.in_check(&turn.state)
    }
    fn repetition_rule(&self) -> RepetitionRule {
        self.0.repetition_rule()
    }

    // ---- layers ----
    fn layer_unit(&self) -> Option<&'static str> {
        self.0.layer_unit()
    }
    fn layer(&self, turn: &Turn<G::State>) -> u32 {
        self.0.layer(&turn.state)
    }

    // ---- scores ----
    fn max_score(&self) -> Option<Score> {
        self.0.max_score()
    }
    fn score(&self, turn: &Turn<G::State>, empties: Empties) -> Score {
        let score = self.0.score(&turn.state, empties);
        if turn.waits { -score } else { score }
    }
    fn score_unit(&self) -> &'static str {
        self.0.score_unit()
    }
    fn material(&self, turn: &Turn<G::State>) -> Option<i32> {
        let material = self.0.material(&turn.state)?;
        Some(if turn.waits { -material } else { material })
    }

    fn evaluation(&self, turn: &Turn<G::State>) -> Option<i32> {
        let evaluation = self.0.evaluation(&turn.state)?;
        Some(if turn.waits { -evaluation } else { evaluation })
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        self.0.group()
    }
    fn transform(&self, turn: &Turn<G::State>, symmetry: Symmetry) -> Turn<G::State> {
        Turn { state: self.0.transform(&turn.state, symmetry), ..*turn }
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        if self.is_pass(action) { action } else { self.0.transform_action(action, symmetry) }
    }
    fn with_folding(&self, fold: bool) -> Option<ForcedPasses<G>> {
        self.0.with_folding(fold).map(ForcedPasses)
    }
    fn canonical(&self, turn: &Turn<G::State>) -> Canonical {
        let Canonical { key, ties } = self.0.canonical(&turn.state);
        Canonical { key: key << 1 | u128::from(turn.waits), ties }
    }

    // ---- sides ----
    fn keeps_sides(&self) -> bool {
        self.0.keeps_sides()
    }
    fn tag(&self, key: u128, side: Side) -> u128 {
        self.0.tag(key >> 1, side) << 1 | key & 1
    }
    fn side_of(&self, key: u128) -> Side {
        let (key, waits) = (key >> 1, key & 1 == 1);
        let (side, [first, second]) =
            (self.0.side_of(key), Side::ALL.map(|side| self.0.tag(key, side)));
        // A state that contains a side contains the one that makes the next real move; a tag is that of the mover.
        if waits && first == second && self.0.keeps_sides() { side.other() } else { side }
    }

    // ---- notation: that of the inner rules, with a word behind it where the mover can only pass ----
    fn written(&self, position: &Position<Turn<G::State>>) -> Vec<(&'static str, String)> {
        let (own, inner) = (self.0.written(&self.inner(position)), self.inner(position));
        // The library reads keys.
        if own.iter().all(|(_, text)| self.0.read_position(text) != Ok(Some(inner))) {
            return vec![("line", default_notation::notation(self, position))];
        }
        let waits = if position.state.waits { WAITS } else { "" };
        own.into_iter().map(|(name, text)| (name, text + waits)).collect()
    }
    fn read_position(&self, text: &str) -> Result<Option<Position<Turn<G::State>>>, Error> {
        let own = text.trim_end().strip_suffix(WAITS);
        let Some(Position { state, side }) = self.0.read_position(own.unwrap_or(text))? else {
            return Ok(None);
        };
        let (state, side) = match own {
            Some(_) => (Turn { state, waits: true }, side.other()),
            None => (Turn { state, waits: false }, side),
        };
        Ok(Some(Position { state, side }))
    }

    // ---- drawing and names ----
    fn drawn(&self, position: &Position<Turn<G::State>>) -> Drawn {
        self.0.drawn(&self.inner(position))
    }
    fn piece_kinds(&self) -> Vec<PieceKind> {
        self.0.piece_kinds()
    }
    fn move_squares(&self, position: &Position<Turn<G::State>>, action: Action) -> MoveSquares {
        match self.is_pass(action) {
            true => MoveSquares::default(),
            false => self.0.move_squares(&self.inner(position), action),
        }
    }
    fn coordinates(&self) -> [Vec<String>; 2] {
        self.0.coordinates()
    }
    fn diagram_with(&self, position: &Position<Turn<G::State>>, signs: &[(u16, char)]) -> String {
        self.0.diagram_with(&self.inner(position), signs)
    }
    fn diagram_japanese(&self, position: &Position<Turn<G::State>>) -> Option<String> {
        self.0.diagram_japanese(&self.inner(position))
    }
    fn title(&self) -> String {
        self.0.title()
    }
    fn side_names(&self) -> [&'static str; 2] {
        self.0.side_names()
    }
    fn side_marks(&self) -> Option<[&'static str; 2]> {
        self.0.side_marks()
    }
    fn action_name(&self, side: Side, action: Action) -> String {
        if self.is_pass(action) { "pass".to_string() } else { self.0.action_name(side, action) }
    }
    fn conventions(&self) -> Vec<(&'static str, String)> {
        let waits = "bit 0 of a key: the mover passes, because the opponent moves again";
        let mut all = self.0.conventions();
        all.push(("passes", waits.to_string()));
        all
    }
}
