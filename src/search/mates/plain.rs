//! Games of the shogi family for the mate search, by the game's own rules.

use super::{Mating, Role};
use crate::games::shogi::{Board, Cell, Ending, Owner, Shogi, Variant};
use crate::rules::{Action, Game, Outcome};

/// Rules of any game of the family: slower than specialized rules, and a check of them.
#[derive(Clone, Debug)]
pub struct PlainMates(Shogi);

impl PlainMates {
    /// Returns the rules of a variant.
    pub fn new(variant: &Variant) -> PlainMates {
        PlainMates(Shogi::new(variant, false))
    }
}

/// Board as its mover sees it, with the mover's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    board: Board,
    role: Role,
}

impl Mating for PlainMates {
    type Node = Seen;

    fn root(&self, board: &Board, role: Role) -> Seen {
        Seen { board: *board, role }
    }

    fn board(&self, node: &Seen) -> u128 {
        let digit = |cell: &Cell| match cell.piece() {
            None => 0,
            Some((Owner::Mover, kind)) => 1 + kind as u128,
            Some((Owner::Opponent, kind)) => 11 + kind as u128,
        };
        node.board.cells.iter().fold(0, |key, cell| 21 * key + digit(cell))
    }

    fn hand(&self, node: &Seen) -> u16 {
        let held = node.board.hands[node.role as usize].iter().rev();
        held.fold(0, |hand, &count| hand << 3 | u16::from(count))
    }

    fn moves(
        &self,
        node: &Seen,
        role: Role,
        checks_only: bool,
        mut visit: impl FnMut(Action, Seen),
    ) {
        let mates_end = self.0.variant().ending == Ending::Mate;
        self.0.moves(&node.board, |action, board| {
            // A lion that reaches the last rank counts as a check; a stalemate does not.
            let reaches = || !mates_end && self.0.result(&board) == Some(Outcome::Loss);
            if !checks_only || self.0.in_check(&board) || reaches() {
                visit(action, Seen { board, role: role.other() });
            }
        });
    }

    fn replies(&self, node: &Seen) -> u32 {
        let mut count = 0;
        self.0.for_each_action(&node.board, |_| count += 1);
        count
    }

    fn over(&self, node: &Seen, role: Role) -> Option<(bool, u8)> {
        let end = self.0.end(&node.board)?;
        let attacker = if role == Role::Attacks { Outcome::Win } else { Outcome::Loss };
        Some((end.outcome == attacker, end.plies as u8))
    }
}
