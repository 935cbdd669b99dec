//! Features of a minishogi position: attacks, occupied squares and pieces in hand.
//!
//! Squares `s` are `row * 5 + column` as the mover sees the board (row 0 is farthest from the mover).
//! Kinds `k` are 0 king, 1 pawn, 2 silver, 3 gold, 4 bishop, 5 rook; a promoted piece counts as its
//! unpromoted kind.
//!
//! | from | count | features |
//! |---|---|---|
//! | 0 | 150 | `25 k + s`: number of the mover's pieces of kind `k` that attack square `s` |
//! | 150 | 150 | `150 + 25 k + s`: number of the opponent's pieces that do |
//! | 300 | 25 | `300 + s`: 1 if a piece of the mover is there |
//! | 325 | 25 | `325 + s`: 1 if a piece of the opponent is there |
//! | 350 | 5 | `350 + k - 1`: number of pieces of kind `k` in the mover's hand |
//! | 355 | 5 | `355 + k - 1`: number of pieces of kind `k` in the opponent's hand |
//! | 360 | 1 | 1 if the mover is the first player, who loses by repetition |
//!
//! A piece attacks the squares it could move to if an opposing piece stood there, so that defended
//! pieces count too; sliding pieces attack up to the first piece.

use super::Minishogi;
use yomikiri::games::shogi::{Board, MINISHOGI, Owner};
use yomikiri::rules::{Position, Side};

/// Number of features.
pub const FEATURES: usize = 361;

const SQUARES: usize = MINISHOGI.squares();
/// Number of kinds of pieces, promoted ones counted as their unpromoted kind.
const KINDS: usize = 6;
const OCCUPIED: usize = 2 * KINDS * SQUARES;
const HELD: usize = OCCUPIED + 2 * SQUARES;
const FIRST: usize = HELD + 2 * (KINDS - 1);

/// Writes the features of a position.
///
/// # Panics
///
/// If `out` is not [`FEATURES`] long.
pub fn write(game: &Minishogi, position: &Position<Board>, out: &mut [f32]) {
    assert_eq!(out.len(), FEATURES, "one index per number");
    out.fill(0.0);
    let board = &position.state;
    for (square, cell) in board.cells[..SQUARES].iter().enumerate() {
        let Some((owner, kind)) = cell.piece() else { continue };
        let base = MINISHOGI.kinds[kind].in_hand;
        let counts = &mut out[(owner.index() * KINDS + base) * SQUARES..][..SQUARES];
        let mut attacked = game.attacks(board, square);
        while attacked != 0 {
            counts[attacked.trailing_zeros() as usize] += 1.0;
            attacked &= attacked - 1;
        }
        out[OCCUPIED + owner.index() * SQUARES + square] = 1.0;
    }
    for owner in [Owner::Mover, Owner::Opponent] {
        let held = &mut out[HELD + owner.index() * (KINDS - 1)..][..KINDS - 1];
        for (number, &count) in held.iter_mut().zip(&board.hands[owner.index()]) {
            *number = f32::from(count);
        }
    }
    out[FIRST] = if position.side == Side::First { 1.0 } else { 0.0 };
}

/// Appends the features of positions to `rows`, one position after the other.
pub fn append<'a>(
    game: &Minishogi,
    positions: impl IntoIterator<Item = &'a Position<Board>>,
    rows: &mut Vec<f32>,
) {
    for position in positions {
        let from = rows.len();
        rows.resize(from + FEATURES, 0.0);
        write(game, position, &mut rows[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rules, test_positions};
    use super::*;
    use yomikiri::rules::Game;

    /// Returns the steps (row, column) of a piece as its owner sees the board, and `true` for those it
    /// repeats, written by hand.
    fn goes(name: &str) -> Vec<((i32, i32), bool)> {
        let straight = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let diagonal = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
        let all = |steps: &[(i32, i32)], slides| steps.iter().map(|&s| (s, slides)).collect();
        let both = |slides: &[(i32, i32)], steps: &[(i32, i32)]| {
            let slides = slides.iter().map(|&s| (s, true));
            slides.chain(steps.iter().map(|&s| (s, false))).collect()
        };
        match name {
            "king" => both(&[], &[straight, diagonal].concat()),
            "pawn" => all(&[(-1, 0)], false),
            "silver" => both(&[], &[&diagonal[..], &[(-1, 0)]].concat()),
            "gold" | "promoted pawn" | "promoted silver" => {
                both(&[], &[&straight[..], &[(-1, -1), (-1, 1)]].concat())
            }
            "bishop" => all(&diagonal, true),
            "rook" => all(&straight, true),
            "horse" => both(&diagonal, &straight),
            "dragon" => both(&straight, &diagonal),
            _ => panic!("invalid piece {name}"),
        }
    }

    fn recount(position: &Position<Board>) -> Vec<f32> {
        let mut numbers = vec![0.0; 361];
        let cells = &position.state.cells;
        for square in 0..25i32 {
            let Some((owner, kind)) = cells[square as usize].piece() else { continue };
            let (side, facing) = if owner == Owner::Mover { (0, 1) } else { (1, -1) };
            let name = MINISHOGI.kinds[kind].name;
            let base = match name {
                "king" => 0,
                "pawn" | "promoted pawn" => 1,
                "silver" | "promoted silver" => 2,
                "gold" => 3,
                "bishop" | "horse" => 4,
                "rook" | "dragon" => 5,
                _ => panic!("invalid piece {name}"),
            };
            for ((down, right), slides) in goes(name) {
                let (mut row, mut column) = (square / 5, square % 5);
                loop {
                    row += facing * down;
                    column += facing * right;
                    if !(0..5).contains(&row) || !(0..5).contains(&column) {
                        break;
                    }
                    let reached = (row * 5 + column) as usize;
                    numbers[side * 150 + base * 25 + reached] += 1.0;
                    if !slides || !cells[reached].is_empty() {
                        break;
                    }
                }
            }
            numbers[300 + side * 25 + square as usize] = 1.0;
        }
        for side in 0..2 {
            for kind in 0..5 {
                numbers[350 + 5 * side + kind] = f32::from(position.state.hands[side][kind]);
            }
        }
        numbers[360] = if position.side == Side::First { 1.0 } else { 0.0 };
        numbers
    }

    fn numbers(game: &Minishogi, position: &Position<Board>) -> Vec<f32> {
        let mut rows = Vec::new();
        append(game, [position], &mut rows);
        rows
    }

    #[test]
    fn numbers_are_those_counted_square_by_square() {
        let game = rules();
        let positions = test_positions::positions(&game, 3_000);
        let mut kinds = [0; 20];
        for position in &positions {
            for cell in position.state.cells.iter().filter(|cell| !cell.is_empty()) {
                let (owner, kind) = cell.piece().unwrap();
                kinds[owner.index() * 10 + kind] += 1;
            }
            assert_eq!(numbers(&game, position), recount(position), "{}", game.notation(position));
        }
        assert!(kinds.iter().all(|&count| count > 50), "too few of some kind: {kinds:?}");
    }
}
