//! Images of rows.

use crate::judge::Example;
use yomikiri::rules::{Orientations, Rules, Symmetry};

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
    pub fn for_each(self, game: &dyn Rules, row: &Example, visit: &mut dyn FnMut(&Example)) {
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
