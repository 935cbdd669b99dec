//! Number of states that rows stand for, counted in five ways.

use crate::rules::{Orientations, Side};
use crate::table::rows::StateKind;
use crate::table::{Counts, Tally};

/// Counts of a set of rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Census {
    /// Rows of the table.
    pub table: Tally,
    /// Positions that the rows stand for.
    pub reachable: Tally,
    /// States as their movers see them.
    pub mover_relative: u64,
    /// Boards that are reachable with either side to move.
    pub with_both: u64,
}

impl Census {
    /// Adds a row with `moves` edges, one a pass if `is_pass`, and orientations `own` under `order`
    /// symmetries.
    pub fn add_row(
        &mut self,
        kind: StateKind,
        moves: u32,
        is_pass: bool,
        own: Orientations,
        order: usize,
    ) {
        let one = Tally {
            states: 1,
            terminals: u64::from(kind == StateKind::Terminal),
            passes: u64::from(is_pass),
            frontier: u64::from(kind == StateKind::Frontier),
            transitions: u64::from(moves),
        };
        self.table.add(&one);
        self.reachable.add(&one.times(u64::from(own.count())));
        let sides = Side::ALL.map(|side| own.with(side, order));
        self.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
    }

    /// Adds a row without orientations.
    #[inline]
    pub fn add_plain(&mut self, kind: StateKind, moves: u32) {
        self.table.states += 1;
        self.table.terminals += u64::from(kind == StateKind::Terminal);
        self.table.frontier += u64::from(kind == StateKind::Frontier);
        self.table.transitions += u64::from(moves);
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: &Census) {
        self.table.add(&other.table);
        self.reachable.add(&other.reachable);
        self.mover_relative += other.mover_relative;
        self.with_both += other.with_both;
    }

    /// Returns the counts of rows with orientations that form `canonical` classes under all symmetries.
    pub fn counts(&self, canonical: u64) -> Counts {
        Counts {
            table: self.table,
            reachable: Some(self.reachable),
            distinct_boards: Some(self.reachable.states - self.with_both),
            mover_relative: Some(self.mover_relative),
            canonical: Some(canonical),
            terminals_won: None,
        }
    }
}
