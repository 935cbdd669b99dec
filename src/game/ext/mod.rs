//! Methods derived from the rules and the capabilities of a game.

mod drawn;
mod generic;

pub use drawn::{BoardLayout, Drawn, Held, MoveSquares, PieceKind};

use super::{
    Action, Empties, End, Game, Group, Mobility, NotationError, Outcome, PlaneKinds, Position,
    Repetition, Score, Side, Symmetry,
};

/// Methods of every [`Game`], each answered by the capability concerned, or by a default if the game lacks
/// it.
pub trait GameExt: Game {
    /// Returns the rows and columns of the board; 0 × 0 without a board.
    #[inline]
    fn shape(&self) -> (usize, usize) {
        self.facts().shape
    }

    // ---- moves ----

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

    /// Returns `true` if the game is over.
    #[inline]
    fn is_terminal(&self, state: &Self::State) -> bool {
        self.result(state).is_some()
    }

    /// Returns the end of the game for the mover, with the plies still to be played.
    #[inline]
    fn end(&self, state: &Self::State) -> Option<End> {
        match self.ends() {
            Some(ends) => ends.end_of(state),
            None => self.result(state).map(|outcome| End { outcome, plies: 0 }),
        }
    }

    /// Returns why the game has ended, such as `Black is mated`; `None` while it goes on.
    fn end_in_words(&self, position: &Position<Self::State>) -> Option<String> {
        if let Some(ends) = self.ends() {
            return ends.words_of(position);
        }
        let [mover, other] = [position.side, position.side.other()].map(|s| self.side_name(s));
        Some(match self.result(&position.state)? {
            Outcome::Win => format!("{mover} has won"),
            Outcome::Draw => "it is drawn".to_string(),
            Outcome::Loss => format!("{other} has won"),
        })
    }

    /// Returns `true` if the mover's king is attacked.
    #[inline]
    fn in_check(&self, state: &Self::State) -> bool {
        self.ends().is_some_and(|ends| ends.is_check(state))
    }

    /// Returns the layer of a state; 0 in a game without layers.
    #[inline]
    fn layer(&self, state: &Self::State) -> u32 {
        self.layers().map_or(0, |layers| layers.layer_of(state))
    }

    /// Returns the mover's score if the game ended in `state`. A game without [scores](Game::scores) scores
    /// its outcome as −1, 0 or +1.
    fn score(&self, state: &Self::State, empties: Empties) -> Score {
        match self.scores() {
            Some(scores) => scores.score_of(state, empties),
            None => Score(self.result(state).map_or(0, Outcome::value)),
        }
    }

    // ---- symmetries and sides ----

    /// Returns the symmetries under which states are folded.
    #[inline]
    fn group(&self) -> &Group {
        match self.symmetries() {
            Some(symmetries) => symmetries.all(),
            None => Group::identity(),
        }
    }

    /// Returns the image of a state under a symmetry of [`GameExt::group`].
    #[inline]
    fn transform(&self, state: &Self::State, symmetry: Symmetry) -> Self::State {
        self.symmetries().map_or(*state, |symmetries| symmetries.image_of(state, symmetry))
    }

    /// Returns the action that corresponds to `action` in the image of a state.
    #[inline]
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        self.symmetries().map_or(action, |symmetries| symmetries.image_of_action(action, symmetry))
    }

    /// Returns `true` if keys contain the side to move.
    fn keeps_sides(&self) -> bool {
        self.sides().is_some()
    }

    /// Returns the game's convention for infinite play.
    fn repetition(&self) -> Repetition {
        self.repetition_rule().result
    }

    /// Returns the canonical key of a position; it contains the side to move if the game has
    /// [sides](Game::sides).
    #[inline]
    fn position_key(&self, position: &Position<Self::State>) -> Self::Key {
        let key = self.canonical(&position.state).key;
        self.sides().map_or(key, |sides| sides.tag(key, position.side))
    }

    /// Returns the canonical position of a key, or `None` if no position has it. The side is the first player
    /// in games whose keys contain no side.
    #[inline]
    fn position_of(&self, key: Self::Key) -> Option<Position<Self::State>> {
        let state = self.state(key)?;
        Some(Position { state, side: self.sides().map_or(Side::First, |sides| sides.side_of(key)) })
    }

    // ---- the board ----

    /// Returns the squares of the mover and of the opponent, as bits `row * columns + column`; `None` if
    /// squares alone do not determine a state.
    #[inline]
    fn squares(&self, state: &Self::State) -> Option<(u64, u64)> {
        self.bitboards().map(|bitboards| bitboards.held(state))
    }

    /// Returns the state in which mover and opponent hold these squares; `None` if there is none.
    fn of_squares(&self, own: u64, other: u64) -> Option<Self::State> {
        self.bitboards()?.state_with(own, other)
    }

    /// Returns the kinds of pieces that have planes; none unless the game has [planes](Game::planes).
    fn plane_kinds(&self) -> PlaneKinds {
        self.planes().map_or_else(PlaneKinds::default, |planes| planes.kinds())
    }

    /// Writes a state as [planes](Game::planes), as its mover sees it; nothing if the game has none.
    fn write_planes(&self, state: &Self::State, out: &mut [u8]) {
        if let Some(planes) = self.planes() {
            planes.write(state, out);
        }
    }

    /// Returns the state that has these [planes](Game::planes); `None` if none has.
    fn read_planes(&self, planes: &[u8]) -> Option<Self::State> {
        self.planes()?.read(planes)
    }

    /// Returns the contents of each square; empty if the game neither draws its board nor has
    /// [`Bitboards`](super::Bitboards).
    fn drawn(&self, position: &Position<Self::State>) -> Drawn {
        let drawn = self.drawing().and_then(|drawing| drawing.drawn_of(position));
        drawn.unwrap_or_else(|| drawn::by_squares(self, position))
    }

    /// Returns the kinds of pieces on the board; empty if there is only one.
    fn piece_kinds(&self) -> Vec<PieceKind> {
        self.drawing().map_or_else(Vec::new, |drawing| drawing.kinds())
    }

    /// Returns the squares of an action of `side`, numbered as in [`GameExt::drawn`]. The default for a board
    /// is that the action is the number of its target square.
    fn move_squares(&self, side: Side, action: Action) -> MoveSquares {
        let squares = self.drawing().and_then(|drawing| drawing.squares_of(side, action));
        squares.unwrap_or_else(|| {
            let (rows, columns) = self.shape();
            let to = Some(action.0).filter(|&square| usize::from(square) < rows * columns);
            MoveSquares { from: None, to: to.filter(|_| !self.is_pass(action)) }
        })
    }

    /// Returns the names of the columns from the left and of the rows from the top, as the first player sees
    /// the board; by default `a`, `b`… and `1`, `2`….
    fn coordinates(&self) -> [Vec<String>; 2] {
        self.drawing().and_then(|drawing| drawing.axes()).unwrap_or_else(|| {
            let (rows, columns) = self.shape();
            let letters = ('a'..='z').map(String::from);
            [letters.take(columns).collect(), (1..=rows).map(|row| row.to_string()).collect()]
        })
    }

    /// Returns the board as rows of text with its coordinates.
    fn diagram(&self, position: &Position<Self::State>) -> String {
        let text = self.drawing().and_then(|drawing| drawing.text_of(position));
        text.unwrap_or_else(|| drawn::diagram(self, position))
    }

    /// Returns the [diagram](GameExt::diagram) with the Japanese names of the pieces, if the game has them.
    fn diagram_japanese(&self, position: &Position<Self::State>) -> Option<String> {
        drawn::diagram_japanese(self, position)
    }

    // ---- names and notation ----

    /// Returns the name of the game for headings.
    fn title(&self) -> String {
        self.names().map_or_else(|| self.name(), |names| names.title())
    }

    /// Returns the name of a side: `Black`, `White`.
    fn side_name(&self, side: Side) -> &'static str {
        self.names().map_or(["First", "Second"], |names| names.sides())[side.index()]
    }

    /// Returns the mark of a side in diagrams, if it has one: `X`.
    fn side_mark(&self, side: Side) -> Option<&'static str> {
        self.names()?.marks().map(|marks| marks[side.index()])
    }

    /// Returns the usual name of an action of `side`, such as `c4` or `pass`; by default its number.
    fn action_name(&self, side: Side, action: Action) -> String {
        self.names().map_or_else(|| action.0.to_string(), |names| names.of_action(side, action))
    }

    /// Returns the position in every one-line notation of the game, each with its name, the usual one first.
    fn written(&self, position: &Position<Self::State>) -> Vec<(&'static str, String)> {
        match self.notations() {
            Some(notations) => notations.written(position),
            None => vec![("line", generic::notation(self, position))],
        }
    }

    /// Returns the position in the usual notation of the game (Othello: OBF).
    fn notation(&self, position: &Position<Self::State>) -> String {
        self.written(position).swap_remove(0).1
    }

    /// Reads a position in any notation of the game, or a transcript played from `from`. Returns all
    /// positions of a transcript: its start and the position after each move, including passes that it leaves
    /// out. Never empty.
    fn parse_line(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Vec<Position<Self::State>>, NotationError> {
        match self.notations() {
            Some(notations) => notations.read(text, from),
            None => generic::parse_line(self, text, from),
        }
    }

    /// Reads a position in any notation of the game; a transcript, played from `from`, gives its last
    /// position.
    fn parse_position(
        &self,
        text: &str,
        from: &Position<Self::State>,
    ) -> Result<Position<Self::State>, NotationError> {
        let positions = self.parse_line(text, from)?;
        Ok(positions.last().copied().unwrap_or(*from))
    }
}

impl<G: Game> GameExt for G {}
