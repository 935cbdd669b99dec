//! What is exactly known of a position and of its moves, as it is exported.

use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Action, Empties, Game, GameExt, Orientations, Score, Side, Symmetry};
use yomikiri::graph::{Piece, StateKind};
use yomikiri::solve::Value;
use yomikiri::solved::{Oracle, SolvedTable};

/// A row of a table, or a position that is looked up in it, with its moves.
#[derive(Clone, Debug)]
pub struct Example {
    /// The row of the table; `u32::MAX` where a search found the values.
    pub row: u32,
    /// The position; in a table of a layered game as the row is stored, which need not be
    /// reachable.
    pub position: AnyPosition,
    /// The layer, or plies from the nearest root; `None` where the table does not tell.
    pub layer: Option<u32>,
    /// What the row is.
    pub kind: StateKind,
    /// The position's value.
    pub value: Value,
    /// Whether values have a score.
    pub scored: bool,
    /// Every legal move, by ascending action, with its value for the mover.
    pub moves: Vec<(Action, Value)>,
    /// In which orientations the row is reachable; `None` if the table does not tell.
    pub orientations: Option<Orientations>,
    /// How many actual positions the example stands for.
    pub weight: f32,
}

impl Example {
    /// What a table knows of a position, in whatever orientation, and of its moves if `with_moves`;
    /// `None` if it is not there.
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

    /// Returns the example of a position whose moves a search gave these scores, each for who makes it. Where
    /// there is no move the game is over and its score follows from the rules.
    pub fn searched(
        game: &AnyGame,
        position: &AnyPosition,
        moves: &[(Action, Score)],
        empties: Empties,
    ) -> Example {
        let value = |score| Value::of_scores(score, score, None);
        let best = moves.iter().map(|(_, score)| *score).max();
        Example {
            row: u32::MAX,
            position: *position,
            layer: Some(game.layer(&position.state)),
            kind: if best.is_some() { StateKind::Interior } else { StateKind::Terminal },
            value: value(best.unwrap_or_else(|| game.score(&position.state, empties))),
            scored: game.scores().is_some(),
            moves: moves.iter().map(|&(action, score)| (action, value(score))).collect(),
            orientations: None,
            weight: 1.0,
        }
    }

    /// The outcome as −1, 0 or 1, where proven.
    pub fn outcome_of(value: Value) -> Option<i8> {
        value.outcome().map(|outcome| outcome.value())
    }

    /// The score, where there is one and it is proven.
    pub fn score_of(&self, value: Value) -> Option<i8> {
        value.score().filter(|_| self.scored).map(|score| score.0)
    }

    /// The score, or in games without scores the outcome, where proven.
    pub fn worth_of(&self, value: Value) -> Option<i8> {
        if self.scored { self.score_of(value) } else { Example::outcome_of(value) }
    }

    fn is_known(&self, value: Value) -> bool {
        value.outcome().is_some() && (!self.scored || value.score().is_some())
    }

    /// What orders the moves of a position, as `optimal` does: the score, and in games without
    /// scores the outcome and then the distance.
    fn rank_of(&self, value: Value) -> (i32, i32) {
        match self.scored {
            true => (i32::from(value.lower.score().0), 0),
            false => (value.lower.number(), value.upper.number()),
        }
    }

    /// Whether the position's value and those of all its moves are proven, so that it is known
    /// which moves are best.
    pub fn is_proven(&self) -> bool {
        self.is_known(self.value) && self.moves.iter().all(|&(_, value)| self.is_known(value))
    }

    /// Whether the moves differ in outcome, or in score, where all is proven.
    pub fn decides(&self, by_score: bool) -> bool {
        let of = |value: Value| match by_score {
            true => self.worth_of(value),
            false => Example::outcome_of(value),
        };
        let mut values = self.moves.iter().map(|&(_, value)| of(value));
        let first = values.next();
        self.is_proven() && values.any(|value| Some(value) != first)
    }

    /// Whether a move is as good as any by the full order; meaningful where all is proven.
    pub fn is_optimal(&self, value: Value) -> bool {
        let rank = self.rank_of(value);
        self.moves.iter().all(|&(_, other)| self.rank_of(other) <= rank)
    }

    /// Whether a move keeps the position's outcome; meaningful where all is proven.
    pub fn keeps_outcome(&self, value: Value) -> bool {
        value.outcome() == self.value.outcome()
    }

    /// The example seen through a symmetry, with `side` to move and another weight.
    pub fn image(&self, game: &AnyGame, symmetry: Symmetry, side: Side, weight: f32) -> Example {
        let state = game.transform(&self.position.state, symmetry);
        let image =
            |&(action, value): &(Action, Value)| (game.transform_action(action, symmetry), value);
        let mut moves: Vec<(Action, Value)> = self.moves.iter().map(image).collect();
        moves.sort_unstable_by_key(|(action, _)| *action);
        Example {
            position: AnyPosition { state, side },
            moves,
            weight,
            ..self.clone_without_moves()
        }
    }

    fn clone_without_moves(&self) -> Example {
        Example { moves: Vec::new(), ..*self }
    }
}

/// Which images of a row are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// Every row once, in the first orientation in which it is reachable.
    Canonical,
    /// Every orientation, with every side to move, in which the row is reachable.
    All,
    /// Every image of the row under the board's symmetries, reachable or not.
    Expanded,
}

impl Images {
    /// `canonical`, `all` or `expanded`.
    pub fn name(self) -> &'static str {
        match self {
            Images::Canonical => "canonical",
            Images::All => "all",
            Images::Expanded => "expanded",
        }
    }

    /// Calls `visit` with the images of a row, in a fixed order.
    pub fn for_each(self, game: &AnyGame, row: &Example, visit: &mut dyn FnMut(&Example)) {
        let order = game.group().order();
        let sides = row.orientations.unwrap_or(Orientations(0));
        let stored = (0, row.position.side);
        let (first, side) = sides.iter(order).next().unwrap_or(stored);
        let weight = sides.count().max(1) as f32;
        match self {
            Images::Canonical => visit(&row.image(game, first, side, weight)),
            Images::All if sides.count() > 0 => {
                sides.iter(order).for_each(|(symmetry, side)| {
                    visit(&row.image(game, symmetry, side, 1.0));
                });
            }
            Images::All => visit(&row.image(game, first, side, 1.0)),
            Images::Expanded => {
                let mut symmetries: Vec<Symmetry> = Vec::new();
                for symmetry in 0..order as Symmetry {
                    let state = game.transform(&row.position.state, symmetry);
                    let same = |&g: &Symmetry| game.transform(&row.position.state, g) == state;
                    if !symmetries.iter().any(same) {
                        symmetries.push(symmetry);
                    }
                }
                let share = weight / symmetries.len() as f32;
                symmetries.iter().for_each(|&g| visit(&row.image(game, g, side, share)));
            }
        }
    }
}

/// Calls `visit` with every row of a piece as an example, in order; says what is wrong with one
/// that is none.
pub(super) fn visit_rows(
    table: &SolvedTable,
    piece: &Piece,
    visit: &mut dyn FnMut(Example),
) -> Result<(), String> {
    let (states, game, mut moves) = (table.states(), table.game(), Vec::new());
    states.visit(piece.rows.clone(), |row, position| {
        states.moves(row, &position.state, &mut moves)?;
        let layer = piece.layer.map(|layer| match game.layers() {
            Some(_) => game.layer(&position.state),
            None => layer,
        });
        let moves = moves.iter().map(|&(action, target)| (action, table.move_value(target)));
        visit(Example {
            row: row as u32,
            position,
            layer,
            kind: states.kind(row, &position.state),
            value: table.value(row),
            scored: table.has_scores(),
            moves: moves.collect(),
            orientations: states.orientations(row),
            weight: 1.0,
        });
        Ok(())
    })
}
