//! From a table's name to its game, and from a person's text to a position in it.

use super::error::UserError;
use crate::game::{Game, GameSpec, NotationError, Position};
use crate::table::Table;

/// The game a table is of.
pub(super) fn spec_of(table: &Table) -> anyhow::Result<GameSpec> {
    Ok(table.manifest().identity.game.parse()?)
}

/// Whether a table's states are folded.
pub(super) fn is_folded(table: &Table) -> bool {
    table.manifest().identity.symmetry_order > 1
}

/// The roots of a table.
pub(super) fn roots<G: Game>(
    game: &G,
    table: &Table,
) -> Result<Vec<Position<G::State>>, NotationError> {
    let start = game.start();
    table.manifest().identity.roots.iter().map(|root| game.parse_position(root, &start)).collect()
}

/// Reads a position; transcripts are played from the table's first root.
pub(super) fn parse<G: Game>(
    game: &G,
    table: &Table,
    text: &str,
) -> anyhow::Result<Position<G::State>> {
    let roots = roots(game, table)?;
    let root = roots.first().ok_or_else(|| UserError::new("the table has no root"))?;
    Ok(game.parse_position(text, root)?)
}
