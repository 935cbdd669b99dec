//! Tables unfolded for games between policies, as `report` and `match` play them.

use crate::evaluate::Unfolded;
use crate::game::{Layered, Position};
use crate::graph::Graph;
use crate::table::{Table, TableError};

/// About how much memory games between so many policies take on a table of so many actual positions
/// and moves, in bytes.
pub(super) fn unfolded_bytes(positions: u64, moves: u64, policies: usize) -> f64 {
    // Probabilities and scores of each policy, those of the baselines, and the values of a game.
    let answers = moves as f64 * 16.0 * (policies + 2) as f64;
    Unfolded::bytes(positions, moves) as f64 * 2.0 + answers + positions as f64 * 100.0
}

/// Unfolds a complete table.
pub(super) fn unfold<G: Layered>(
    game: &G,
    table: &Table,
    graph: &Graph,
) -> Result<Unfolded, TableError> {
    let damaged = |what: String| TableError::damaged(table.dir(), what);
    let root = |text: &String| {
        game.parse_position(text, &game.start()).map_err(|error| damaged(error.to_string()))
    };
    let roots = table.manifest().identity.roots.iter().map(root);
    let roots = roots.collect::<Result<Vec<Position<G::State>>, _>>()?;
    Unfolded::new(game, graph, &roots).map_err(damaged)
}
