//! Positions of the family as planes: see [`Planes`](crate::rules::Planes).

use super::board::{Board, Cell, Owner};
use super::variant::Variant;
use crate::rules::PlaneKinds;

const OWNERS: [Owner; 2] = [Owner::Mover, Owner::Opponent];

/// Returns the kinds with planes: for each owner all kinds on the board, including promoted ones, and all
/// that can be held.
pub(super) fn of(variant: &Variant) -> PlaneKinds {
    let name = |kind: usize| variant.kinds[kind].name;
    PlaneKinds {
        pieces: (0..variant.kinds.len()).map(name).collect(),
        held: (1..=variant.hand_kinds()).map(name).collect(),
        ..PlaneKinds::default()
    }
}

/// Returns the plane index of an owner's pieces of a kind on the board, and that of those in hand.
fn places(variant: &Variant) -> (impl Fn(Owner, usize) -> usize, impl Fn(Owner, usize) -> usize) {
    let (kinds, held) = (variant.kinds.len(), variant.hand_kinds());
    (
        move |owner: Owner, kind| owner.index() * kinds + kind,
        move |owner: Owner, kind| 2 * kinds + owner.index() * held + kind - 1,
    )
}

pub(super) fn write(variant: &Variant, board: &Board, out: &mut [f32]) {
    let squares = variant.squares();
    let (piece, hand) = places(variant);
    out.fill(0.0);
    for (square, cell) in board.cells[..squares].iter().enumerate() {
        if let Some((owner, kind)) = cell.piece() {
            out[piece(owner, kind) * squares + square] = 1.0;
        }
    }
    for owner in OWNERS {
        for kind in 1..=variant.hand_kinds() {
            let plane = &mut out[hand(owner, kind) * squares..][..squares];
            plane.fill(f32::from(board.hands[owner.index()][kind - 1]));
        }
    }
}

/// Reads planes; `None` if their number is wrong, if a square has two pieces, or if there are more pieces of
/// a kind than the game has.
pub(super) fn read(variant: &Variant, planes: &[f32]) -> Option<Board> {
    let squares = variant.squares();
    if planes.len() != of(variant).count() * squares {
        return None;
    }
    let (piece, hand) = places(variant);
    let mut board = Board::EMPTY;
    let mut counts = vec![0; variant.kinds.len()];
    for owner in OWNERS {
        for kind in 0..variant.kinds.len() {
            for square in 0..squares {
                let number = planes[piece(owner, kind) * squares + square];
                if number == 1.0 && board.cells[square].is_empty() {
                    board.put(square, Cell::of(owner, kind));
                    counts[variant.kinds[kind].in_hand] += 1;
                } else if number != 0.0 {
                    return None;
                }
            }
        }
        for kind in 1..=variant.hand_kinds() {
            let plane = &planes[hand(owner, kind) * squares..][..squares];
            let count = (0..=variant.copies).find(|&count| f32::from(count) == plane[0])?;
            if plane.iter().any(|number| number != &plane[0]) {
                return None;
            }
            board.hands[owner.index()][kind - 1] = count;
            counts[kind] += count;
        }
    }
    // Packing checks for missing kings, because it knows whether they can be captured.
    let fits = counts[0] <= 2 && counts[1..].iter().all(|&count| count <= variant.copies);
    fits.then_some(board)
}
