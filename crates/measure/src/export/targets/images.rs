//! Rows of a table as examples, and their images.

use crate::judge::Example;
use yomikiri::any::AnyGame;
use yomikiri::game::{GameExt, Orientations, Symmetry};
use yomikiri::solved::SolvedTable;

/// Images of a row to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// One image, in the first orientation in which the row is reachable.
    Canonical,
    /// Every reachable orientation with every side to move.
    All,
    /// Every distinct image under the board's symmetries, reachable or not.
    Expanded,
}

impl Images {
    /// Returns `canonical`, `all` or `expanded`.
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

/// Calls `visit` with some ascending rows as examples. Fails if a row is not a position, and if `visit` fails.
pub(super) fn visit_rows(
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
