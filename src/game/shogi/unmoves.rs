//! Moves taken back: the positions from which a position is reached in one move.

use super::board::{Board, Cell, Owner};
use super::moves::{Moves, bits};

impl Moves {
    /// Calls `visit` with every position, as its mover sees it, in which some move (the capture of
    /// a king left out) leads to `board`. Whether that move is legal there, and whether the
    /// position can be reached, is not asked.
    pub fn visit_predecessors(&self, board: &Board, mut visit: impl FnMut(Board)) {
        // As the player who has just moved sees it.
        let after = board.turned(self.squares());
        for to in 0..self.squares() {
            let Some((Owner::Mover, kind)) = after.cells[to].piece() else { continue };
            if kind > 0 && !self.variant().is_promoted(kind) {
                let mut before = after;
                before.cells[to] = Cell::EMPTY;
                before.hands[0][kind - 1] += 1;
                visit(before);
            }
            for (was, promoted) in self.forms_before(kind) {
                for from in bits(self.origins(&after, was, to)) {
                    let (plain, promoting) = self.promotions(was, from, to);
                    let allowed = if promoted { promoting } else { plain };
                    if allowed {
                        self.with_captures(&after, was, from, to, &mut visit);
                    }
                }
            }
        }
    }

    /// What a piece was before it moved, and whether the move promoted it.
    fn forms_before(&self, kind: usize) -> impl Iterator<Item = (usize, bool)> {
        let kinds = self.variant().kinds;
        let promoting = (0..kinds.len()).filter(move |&was| kinds[was].promotes_to == Some(kind));
        std::iter::once((kind, false)).chain(promoting.map(|was| (was, true)))
    }

    /// Visits the positions before a move from `from` to `to` that captured nothing, or one of the
    /// pieces that its player holds now.
    fn with_captures(
        &self,
        after: &Board,
        was: usize,
        from: usize,
        to: usize,
        visit: &mut impl FnMut(Board),
    ) {
        let mut before = *after;
        before.cells[to] = Cell::EMPTY;
        before.put(from, Cell::of(Owner::Mover, was));
        visit(before);
        for held in 1..=self.variant().hand_kinds() {
            if after.hands[0][held - 1] == 0 {
                continue;
            }
            before.hands[0][held - 1] -= 1;
            let promoted = self.variant().kinds[held].promotes_to;
            for kind in std::iter::once(held).chain(promoted) {
                before.cells[to] = Cell::of(Owner::Opponent, kind);
                visit(before);
            }
            before.hands[0][held - 1] += 1;
        }
    }
}
