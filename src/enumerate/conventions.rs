//! Conventions of a table's arrays, written to its manifest for readers.

use std::collections::BTreeMap;

use super::plan::{Index, Plan};
use crate::rules::Rules;
use crate::table::rows::ranks::BLOCK;

const KINDS: &str = "0 interior, 1 terminal, 2 frontier (moves not followed, value unknown)";

/// Returns the conventions of a plan's table, by the names of arrays and ideas.
pub(super) fn of(game: &dyn Rules, plan: &Plan) -> BTreeMap<String, String> {
    let perspective = "all values are those of the player to move (the mover)".to_string();
    let mut all = vec![("perspective", perspective)];
    all.extend(game.conventions());
    match (plan.index, game.layer_unit()) {
        (Index::Rank, unit) => {
            // There are no keys or edges.
            all.retain(|(name, _)| *name != "keys");
            all.extend([
                ("states", states(game)),
                ("reachable", "bit r % 64 of word r / 64: the state of rank r is reachable; the rows of the table are the reachable ranks, ascending".to_string()),
                ("rank_counts", format!("element b: how many reachable ranks are below {BLOCK} b")),
            ]);
            all.extend(match unit {
                Some(unit) => vec![("layers", format!("the number of {unit}"))],
                None => vec![
                    ("distance", "plies to the end; an odd number is a win of the mover, an even one a loss; 255: no end can be forced".to_string()),
                    ("layers", "plies from the start".to_string()),
                ],
            });
        }
        (Index::Keys, Some(unit)) => {
            let order = game.group().order();
            let [first, second] = crate::rules::Side::ALL.map(|side| game.side_name(side));
            all.push(match plan.derived {
                true => ("transitions", "not stored: the rules give the moves of a row, and its key the row that a move leads to".to_string()),
                false => ("kinds", KINDS.to_string()),
            });
            all.extend([
                ("orientations", format!("bit side * {order} + g: the image of the row under symmetry g is reachable with side 0 ({first}) or 1 ({second}) to move; bit 2 of g transposes first, then bit 0 reverses columns and bit 1 rows")),
                ("layers", format!("the number of {unit}")),
            ]);
        }
        (Index::Keys, None) => {
            all.extend([
                ("states", states(game)),
                ("kinds", KINDS.to_string()),
                ("layers", "plies from the nearest root".to_string()),
            ]);
        }
    }
    all.into_iter().map(|(name, text)| (name.to_string(), text)).collect()
}

fn states(game: &dyn Rules) -> String {
    let fold = match game.group().order() {
        1 => "a row for every state",
        2 => "left-right mirror images share a row",
        _ => "images under the board's symmetries share a row",
    };
    let sides = match game.keeps_sides() {
        true => "the player to move is part of a state",
        false => "a state stands for positions with either player to move",
    };
    format!("as the mover sees them; {fold}; {sides}")
}
