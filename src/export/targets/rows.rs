//! The rows of a solved table as examples, piece by piece.

use super::example::Example;
use crate::game::Game;
use crate::graph::Piece;
use crate::solved::SolvedTable;

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
