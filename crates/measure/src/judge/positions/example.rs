//! Exact values of a position and its moves, as far as they are known.

use super::judged_positions::JudgedCase;
use super::{Case, Truth};
use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::rules::{Action, AnyPosition, Empties, Orientations, Rules, Side, Symmetry};
use yomikiri::solve::{Prospect, Value};
use yomikiri::table::rows::StateKind;

/// A row of a table, or a position looked up in one, with its moves.
#[derive(Clone, Debug)]
pub struct Example {
    /// Row of the table; `u32::MAX` if a search found the values.
    pub row: u32,
    /// The position; for rows of a layered game as stored, which need not be a reachable orientation.
    pub position: AnyPosition,
    /// Layer, or plies from the nearest root; `None` if the table does not record it.
    pub layer: Option<u32>,
    /// Kind of the row.
    pub kind: StateKind,
    /// Value of the position.
    pub value: Value,
    /// `true` if values have a score.
    pub scored: bool,
    /// Legal moves by ascending action, with their values for the mover.
    pub moves: Vec<(Action, Value)>,
    /// Orientations in which the row is reachable; `None` if the table does not record them.
    pub orientations: Option<Orientations>,
    /// Number of actual positions that the example represents.
    pub weight: f32,
}

impl Example {
    /// Looks up a position in any orientation, and its moves if `with_moves`; `None` if it is not in the
    /// table.
    pub fn look_up(
        table: &SolvedTable,
        position: &AnyPosition,
        with_moves: bool,
    ) -> Option<Example> {
        let row = table.states().find(position)?;
        let moves = if with_moves { table.look_ahead(position) } else { Vec::new() }.into_iter();
        Some(Example {
            row: row as u32,
            position: *position,
            layer: table.states().layer_of(row),
            kind: table.states().kind(row, &position.state),
            value: table.value(row),
            scored: table.has_scores(),
            moves: moves.map(|(action, v)| (action, v.unwrap_or(table.cut_off()))).collect(),
            orientations: None,
            weight: 1.0,
        })
    }

    /// Calls `visit` with some ascending rows of a table. Fails if a row is not a position, and if `visit` fails.
    pub(crate) fn visit(
        table: &SolvedTable,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(Example) -> Result<(), String>,
    ) -> Result<(), String> {
        let (states, mut moves) = (table.states(), Vec::new());
        states.visit(rows, |row, position| {
            states.moves(row, &position.state, &mut moves)?;
            let moves = moves.iter().map(|&(action, target)| (action, table.move_value(target)));
            visit(Example {
                row: row as u32,
                position,
                layer: states.layer_of(row),
                kind: states.kind(row, &position.state),
                value: table.value(row),
                scored: table.has_scores(),
                moves: moves.collect(),
                orientations: states.orientations(row),
                weight: 1.0,
            })
        })
    }

    /// Returns the example of a position from a search: `moves` have values for the mover. Without moves the
    /// game is over and the rules give the value.
    pub fn searched(
        game: &dyn Rules,
        position: &AnyPosition,
        moves: &[(Action, Value)],
        empties: Empties,
    ) -> Example {
        let lower = moves.iter().map(|(_, value)| value.lower).max();
        let upper = moves.iter().map(|(_, value)| value.upper).max();
        let best = lower.zip(upper).map(|(lower, upper)| Value { lower, upper });
        let at_end = || match game.end(&position.state).filter(|_| !game.is_layered()) {
            Some(end) => Value::exactly(Prospect::of_end(end.outcome, end.plies)),
            None => {
                let score = game.score(&position.state, empties);
                Value::of_scores(score, score, None)
            }
        };
        Example {
            row: u32::MAX,
            position: *position,
            layer: game.is_layered().then(|| game.layer(&position.state)),
            kind: if best.is_some() { StateKind::Interior } else { StateKind::Terminal },
            value: best.unwrap_or_else(at_end),
            scored: game.has_scores(),
            moves: moves.to_vec(),
            orientations: None,
            weight: 1.0,
        }
    }

    /// Returns the outcome as −1, 0 or 1, if proven.
    pub fn outcome_of(value: Value) -> Option<i8> {
        value.outcome().map(|outcome| outcome.value())
    }

    /// Returns the score, if there is one and it is proven.
    pub fn score_of(&self, value: Value) -> Option<i8> {
        value.score().filter(|_| self.scored).map(|score| score.0)
    }

    fn truth(&self, value: Value) -> Option<Truth> {
        Truth::of(value, self.scored)
    }

    /// Returns the score, or in games without scores the outcome, if proven.
    pub fn worth_of(&self, value: Value) -> Option<i8> {
        self.truth(value).map(|truth| truth.q_score().0)
    }

    /// Returns `true` if the values of the position and of all its moves are proven, so that the best moves
    /// are known.
    pub fn is_proven(&self) -> bool {
        let is_known = |value| self.truth(value).is_some();
        is_known(self.value) && self.moves.iter().all(|&(_, value)| is_known(value))
    }

    /// Returns `true` if everything is proven and all moves were followed.
    pub fn is_settled(&self) -> bool {
        matches!(self.kind, StateKind::Interior | StateKind::Terminal) && self.is_proven()
    }

    /// Returns `true` if a search found the values.
    pub fn is_searched(&self) -> bool {
        self.row == u32::MAX
    }

    /// Returns the position as policies are judged in it; `None` if its best moves are not known or it has none. Fails
    /// if its value does not follow from those of its moves.
    pub(crate) fn judged(&self) -> Result<Option<JudgedCase>, String> {
        if self.kind != StateKind::Interior {
            return Ok(None);
        }
        let truths: Option<Vec<Truth>> =
            self.moves.iter().map(|&(_, value)| self.truth(value)).collect();
        let Some((own, truths)) = self.truth(self.value).zip(truths) else { return Ok(None) };
        let case = Case::of(self.row as usize, self.layer, own, &truths)
            .ok_or_else(|| format!("value of row {} contradicts those of its moves", self.row))?;
        let actions = self.moves.iter().map(|(action, _)| *action).collect();
        Ok(Some(JudgedCase { case, actions, truths }))
    }

    /// Returns `true` if all values are proven and the moves differ in outcome, or in score if `by_score`.
    pub fn decides(&self, by_score: bool) -> bool {
        let of = |value: Value| match by_score {
            true => self.worth_of(value),
            false => Example::outcome_of(value),
        };
        let mut values = self.moves.iter().map(|&(_, value)| of(value));
        let first = values.next();
        self.is_proven() && values.any(|value| Some(value) != first)
    }

    /// Returns `true` if no move is better: by score, and in games without scores by outcome and then by distance.
    /// Meaningful only if all values are proven.
    pub fn is_optimal(&self, value: Value) -> bool {
        let q = |value| self.truth(value).map(|truth| truth.q());
        self.moves.iter().all(|&(_, other)| q(other) <= q(value))
    }

    /// Returns `true` if a move keeps the position's outcome; meaningful only if all values are proven.
    pub fn keeps_outcome(&self, value: Value) -> bool {
        value.outcome() == self.value.outcome()
    }

    /// Returns the image under a symmetry, with `side` to move and another weight.
    pub fn image(&self, game: &dyn Rules, symmetry: Symmetry, side: Side, weight: f32) -> Example {
        let state = game.transform(&self.position.state, symmetry);
        let image =
            |&(action, value): &(Action, Value)| (game.transform_action(action, symmetry), value);
        let mut moves: Vec<(Action, Value)> = self.moves.iter().map(image).collect();
        moves.sort_unstable_by_key(|(action, _)| *action);
        Example { position: AnyPosition { state, side }, moves, weight, ..*self }
    }
}
