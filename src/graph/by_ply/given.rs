//! A table whose plies were found elsewhere: keys are given, and where moves lead is looked up among them.

use super::super::index::search;
use super::{ByPly, GROUP, Rows, append_keys, ranges, task_ranges};
use crate::game::Game;
use crate::graph::GraphError;
use crate::graph::build::Order;
use crate::parallel;
use crate::progress::Progress;
use crate::table::{Counts, Draft, Tally};

impl<G: Game> ByPly<'_, G> {
    /// Completes a ply where the next is given, ascending; none if moves are no longer followed. Gives whether there is a
    /// next.
    pub(in crate::graph) fn step_given(
        &mut self,
        next: Option<Vec<G::Key>>,
        draft: &mut Draft,
        progress: &dyn Progress,
    ) -> Result<bool, GraphError> {
        let known = draft.mapped::<G::Key>("keys")?;
        let begun = self.state.offsets[self.next_layer() as usize] as usize;
        let (known, states) = (&known[..], self.states());
        let new = next.as_deref().unwrap_or_default();
        let all = states + new.len() as u64;
        if all > u64::from(u32::MAX) {
            return Err(GraphError::TooManyStates { states: all });
        }
        let wrong = |draft: &Draft, what: &str| GraphError::Table(draft.damaged("keys", what));
        if !new.is_sorted_by(|a, b| a < b) {
            return Err(wrong(draft, "a ply that was given is not in order"));
        }
        let offsets = self.state.offsets.clone();
        let plies = || offsets.windows(2).map(|two| two[0] as usize..two[1] as usize);
        let row_of = |key: G::Key| {
            let found = search(new, 0..new.len(), key).map(|row| row + states as usize);
            found.or_else(|| plies().rev().find_map(|rows| search(known, rows, key)))
        };
        let mut counts = Tally::default();
        for range in ranges(known.len() - begun, GROUP) {
            let keys = &known[begun..][range];
            let tasks = task_ranges(keys.len());
            let made = parallel::map(tasks.len(), &|task| {
                let (mut rows, mut targets) = (Rows::default(), Vec::new());
                for &key in &keys[tasks[task].clone()] {
                    let before = rows.actions.len();
                    let kind = match &next {
                        None => Some(self.unfollowed(key)),
                        Some(_) => self.row(key, &mut |action, after| {
                            rows.actions.push(action);
                            targets.extend(row_of(after).map(|row| row as u32));
                        }),
                    };
                    rows.kinds.push(kind? as u8);
                    rows.degrees.push((rows.actions.len() - before) as u16);
                }
                (targets.len() == rows.actions.len()).then_some((rows, targets))
            });
            for made in made {
                let what = "a move leads to what no ply that was given has";
                let (rows, targets) = made.ok_or_else(|| wrong(draft, what))?;
                progress.advance(rows.kinds.len() as u64);
                self.write(draft, std::iter::once(rows), &mut counts)?;
                draft.append(&[("edge_targets", bytemuck::cast_slice(&targets))])?;
            }
        }
        self.state.counts.push(Counts { table: counts, ..Counts::default() });
        append_keys(draft, new)?;
        if !new.is_empty() {
            self.state.offsets.push(all);
        }
        Ok(!new.is_empty())
    }
}
