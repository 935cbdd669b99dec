//! What the arrays of a table mean, for the reader of its manifest.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::ranked::BLOCK;
use crate::game::{Cyclic, Layered};

const PERSPECTIVE: &str = "all values are those of the player to move (the mover)";

/// Of a layered game's table.
pub(super) fn of_layered<G: Layered>(game: &G) -> BTreeMap<String, String> {
    let squares = game.action_count() - 1;
    let keys = if squares <= 32 {
        format!("mover's squares << {squares} | opponent's squares; bit = row * columns + column")
    } else {
        "column 0: mover's squares, column 1: opponent's squares; bit = row * columns + column"
            .to_string()
    };
    let order = game.group().order();
    [
        ("perspective", PERSPECTIVE.to_string()),
        ("keys", keys),
        ("actions", format!("row * columns + column, a1 at the top left being 0; {squares} is the pass")),
        ("passes", "a pass is a move and a ply of its own, the only one of a mover who cannot place".to_string()),
        ("kinds", "0 interior, 1 terminal, 2 frontier (moves not followed, value unknown)".to_string()),
        ("orientations", format!("bit side * {order} + g: the image of the row under symmetry g is reachable with side 0 (Black) or 1 (White) to move; bit 2 of g transposes first, then bit 0 reverses columns and bit 1 rows")),
        ("layers", "the number of discs".to_string()),
    ]
    .map(|(name, text)| (name.to_string(), text))
    .into()
}

/// Of a cyclic game's table whose rows are found among sorted keys.
pub(super) fn of_cyclic<G: Cyclic>(game: &G, plan: &Plan<G::State>) -> BTreeMap<String, String> {
    let mut kinds =
        "0 interior, 1 terminal, 2 frontier (moves not followed, value unknown)".to_string();
    if plan.checks_only {
        kinds += ", 3 restricted (the player to move at the root gives check with every move; other moves not followed)";
    }
    let mut named = vec![("kinds", kinds), ("layers", "plies from the nearest root".to_string())];
    if plan.checks_only {
        named.push(("distances", "a win of the player who gives checks: plies of the shortest mate in which every move of that player is a check; a shorter one with other moves may exist".to_string()));
    }
    common(game, named)
}

/// Of a cyclic game's table whose rows are found by rank.
pub(super) fn of_ranked<G: Cyclic>(game: &G, _plan: &Plan<G::State>) -> BTreeMap<String, String> {
    let mut named = common(game, vec![
        ("reachable", "bit r % 64 of word r / 64: the state of rank r is reachable; the rows of the table are the reachable ranks, ascending".to_string()),
        ("rank_counts", format!("element b: how many reachable ranks are below {BLOCK} b")),
        ("distance", "plies to the end; an odd number is a win of the mover, an even one a loss; 255: no end can be forced".to_string()),
        ("layers", "plies from the start".to_string()),
    ]);
    // There are no keys or edges here.
    named.remove("keys");
    named
}

fn common<G: Cyclic>(game: &G, named: Vec<(&'static str, String)>) -> BTreeMap<String, String> {
    let fold = match game.group().order() {
        1 => "a row for every state",
        _ => "left-right mirror images share a row",
    };
    let sides = match game.keeps_sides() {
        true => "the player to move is part of a state",
        false => "a state stands for either player's being to move",
    };
    let all = [
        ("perspective", PERSPECTIVE.to_string()),
        ("states", format!("as the mover sees them; {fold}; {sides}")),
    ];
    let all = all.into_iter().chain(game.conventions()).chain(named);
    all.map(|(name, text)| (name.to_string(), text)).collect()
}
