//! What is exactly known of a position and of its moves, as it is exported.

use crate::game::{Action, Game, Orientations, Outcome, Position, Score, Side, Symmetry};
use crate::graph::StateKind;
use crate::solve::Value;
use crate::solve::cyclic::{Interval, Prospect};

/// Proven bounds of a value: a position's for its mover, a move's for who makes it. They are equal
/// where the value is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The least and the most that the outcome can be.
    pub outcome: [Outcome; 2],
    /// The least and the most that the score can be; `None` in games that have none.
    pub score: Option<[i8; 2]>,
    /// Plies to the end of the game, where known exactly.
    pub distance: Option<u16>,
    /// Orders the moves of a position whose values are proven, as `optimal` does: by score, and in
    /// games without scores by outcome and then distance.
    rank: i64,
}

impl Known {
    /// Of a layered game's value.
    pub fn of_value(value: &Value) -> Known {
        Known {
            outcome: [value.lower, value.upper],
            score: Some([value.score_lower.0, value.score_upper.0]),
            distance: value.distance,
            rank: i64::from(value.score_lower.0),
        }
    }

    /// Of a cyclic game's value.
    pub fn of_interval(value: &Interval) -> Known {
        Known {
            outcome: [value.lower.outcome(), value.upper.outcome()],
            score: None,
            distance: value.distance(),
            rank: (i64::from(value.lower.rank()) << 20) + i64::from(value.upper.rank()),
        }
    }

    /// Of a move of a layered game that was not followed.
    pub fn open_score(most: Score) -> Known {
        Known {
            outcome: [Outcome::Loss, Outcome::Win],
            score: Some([-most.0, most.0]),
            distance: None,
            rank: 0,
        }
    }

    /// Of a move of a cyclic game that was not followed.
    pub fn open_prospect() -> Known {
        Known::of_interval(&Interval { lower: Prospect::loss(2), upper: Prospect::win(1) })
    }

    /// The outcome as −1, 0 or 1, where proven.
    pub fn proven_outcome(&self) -> Option<i8> {
        (self.outcome[0] == self.outcome[1]).then(|| self.outcome[0].value())
    }

    /// The score, where there is one and it is proven.
    pub fn proven_score(&self) -> Option<i8> {
        self.score.filter(|[least, most]| least == most).map(|[score, _]| score)
    }

    /// Whether outcome and, where there is one, score are proven.
    pub fn is_proven(&self) -> bool {
        self.outcome[0] == self.outcome[1] && self.score.is_none_or(|[least, most]| least == most)
    }
}

/// A row of a table, or a position that is looked up in it, with its moves.
#[derive(Clone, Debug)]
pub struct Example<S> {
    /// The row of the table.
    pub row: u32,
    /// The position; in a table of a layered game as the row is stored, which need not be reachable.
    pub position: Position<S>,
    /// The layer, where the table tells: discs, or plies from the nearest root.
    pub layer: Option<u32>,
    /// What the row is.
    pub kind: StateKind,
    /// The position's value.
    pub value: Known,
    /// Every legal move, by ascending action, with its value for the mover.
    pub moves: Vec<(Action, Known)>,
    /// In which orientations the row is reachable; `None` if the table does not tell.
    pub orientations: Option<Orientations>,
    /// How many actual positions the example stands for.
    pub weight: f32,
}

impl<S: Copy + Eq> Example<S> {
    /// Whether the position's value and those of all its moves are proven, so that it is known which
    /// moves are best.
    pub fn is_proven(&self) -> bool {
        self.value.is_proven() && self.moves.iter().all(|(_, value)| value.is_proven())
    }

    /// Whether the moves differ in outcome, or in score, where all is proven.
    pub fn decides(&self, by_score: bool) -> bool {
        let of = |value: &Known| match by_score {
            true => value.proven_score().or(value.proven_outcome()),
            false => value.proven_outcome(),
        };
        let mut values = self.moves.iter().map(|(_, value)| of(value));
        let first = values.next();
        self.is_proven() && values.any(|value| Some(value) != first)
    }

    /// Whether a move is as good as any by the full order; meaningful where all is proven.
    pub fn is_optimal(&self, value: &Known) -> bool {
        self.moves.iter().all(|(_, other)| other.rank <= value.rank)
    }

    /// Whether a move keeps the position's outcome; meaningful where all is proven.
    pub fn keeps_outcome(&self, value: &Known) -> bool {
        value.outcome == self.value.outcome
    }

    /// The example seen through a symmetry, with `side` to move and another weight.
    pub fn image<G: Game<State = S>>(
        &self,
        game: &G,
        symmetry: Symmetry,
        side: Side,
        weight: f32,
    ) -> Example<S> {
        let state = game.transform(&self.position.state, symmetry);
        let image =
            |&(action, value): &(Action, Known)| (game.transform_action(action, symmetry), value);
        let mut moves: Vec<(Action, Known)> = self.moves.iter().map(image).collect();
        moves.sort_unstable_by_key(|(action, _)| *action);
        Example { position: Position { state, side }, moves, weight, ..self.clone_without_moves() }
    }

    fn clone_without_moves(&self) -> Example<S> {
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
    pub fn for_each<G: Game>(
        self,
        game: &G,
        row: &Example<G::State>,
        visit: &mut dyn FnMut(&Example<G::State>),
    ) {
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
