//! Check that a table was cut off only where the next layer exceeded the bound on states.

use rayon::prelude::*;

use super::{Proof, Wrong};
use crate::enumerate::Plan;
use crate::parallel::{self, GRAIN};

impl Proof<'_> {
    /// Checks that the last ply had to be cut off, if the bound on the number of states cut it off.
    pub(super) fn room_left(&self, plan: &Plan) -> Wrong {
        let most = plan.max_states? as usize;
        let room = most.checked_sub(self.rows.states());
        let Some(room) = room else {
            return Some((most, "it exceeds --max-states".to_string()));
        };
        let last = self.cut_layer.filter(|&ply| !self.game.is_layered() && ply < self.max_depth)?;
        let rows =
            (0..self.rows.states()).rev().take_while(|&row| self.rows.layer_of(row) == Some(last));
        let begin = rows.last()?;
        let mut beyond: Vec<u128> = Vec::new();
        /// Number of rows followed before their successors are counted.
        const AT_ONCE: usize = 1 << 16;
        for first in (begin..self.rows.states()).step_by(AT_ONCE) {
            let some = AT_ONCE.min(self.rows.states() - first);
            let followed = parallel::map_ranges(some, GRAIN, &|rows| {
                rows.flat_map(|row| self.beyond(first + row, last)).collect::<Vec<_>>()
            });
            beyond.extend(followed.into_iter().flatten());
            beyond.par_sort_unstable();
            beyond.dedup();
            if beyond.len() > room {
                return None;
            }
        }
        Some((begin, "its layer was cut off, but the next would fit in --max-states".to_string()))
    }

    /// Returns the keys of a row's successors that are not in the table.
    fn beyond(&self, row: usize, ply: u32) -> Vec<u128> {
        let mut moves = Vec::new();
        if let Some(at) = self.rows.address(row) {
            self.game.moves_by_key(at, &mut moves);
        }
        moves.retain(|to| self.finder.find(to.key, to.layer, ply, None).is_none());
        moves.iter().map(|to| to.key).collect()
    }
}
