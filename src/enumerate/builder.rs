//! Builders of tables: the part of an enumeration that differs between indices, and what builders share.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::error::Error;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::table::rows::START_EVERY;
use crate::table::rows::stored_key::WideKey;
use crate::table::{Counts, Draft, Ints, Lengths};

/// Enumerator that finds the rows of a table step by step. A step is a layer or a ply.
pub(super) trait Builder<'a>: Sized {
    /// Contents of a checkpoint besides the arrays.
    type State: Serialize + DeserializeOwned;

    /// Declares the arrays and starts at the roots or at the checkpoint in `resumed`.
    fn open(
        game: &'a dyn Rules,
        plan: &'a Plan,
        draft: &mut Draft,
        resumed: Option<(Self::State, Lengths)>,
    ) -> Result<Self, Error>;

    /// Returns the number of the next layer.
    fn next_layer(&self) -> u32;

    /// Completes one layer; returns `false` if it was the last.
    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, Error>;

    /// Returns `true` if [`state`](Builder::state) suffices to resume from.
    fn is_settled(&self) -> bool {
        true
    }

    /// Returns the contents of a checkpoint taken after this step.
    fn state(&self) -> &Self::State;

    /// Writes the remaining arrays and returns the final state.
    fn finish(self, draft: &mut Draft) -> Result<BuildState, Error>;
}

/// State between two layers: the checkpoint of a builder by keys, and the final result of any builder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BuildState {
    /// Number of the first layer.
    pub first_layer: u32,
    /// First rows of the layers, and the end of the last known layer.
    pub offsets: Vec<u64>,
    /// Number of edges written.
    pub edges: u64,
    /// Counts of each layer whose rows are complete.
    pub counts: Vec<Counts>,
    /// Rows of the roots.
    pub root_ids: Vec<u64>,
}

impl BuildState {
    /// Returns the state before the first layer.
    pub(super) fn new(first_layer: u32) -> BuildState {
        let (counts, root_ids) = (Vec::new(), Vec::new());
        BuildState { first_layer, offsets: vec![0], edges: 0, counts, root_ids }
    }

    /// Returns the number of the last known layer, the next to be expanded.
    pub(super) fn next_layer(&self) -> u32 {
        self.first_layer + self.counts.len() as u32
    }

    /// Returns the number of known states.
    pub(super) fn states(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Returns the rows of each known layer.
    pub(super) fn layers(&self) -> impl Iterator<Item = Range<usize>> {
        self.offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Returns the rows of the last known layer.
    pub(super) fn last_layer(&self) -> Range<usize> {
        self.layers().last().unwrap_or(0..0)
    }

    /// Checks that this state, possibly from a damaged checkpoint, matches the arrays and the roots' layer.
    pub(super) fn fits(&self, draft: &Draft, first: u32) -> bool {
        let BuildState { first_layer, offsets, edges, counts, root_ids } = self;
        let &[begin, .., end] = &offsets[..] else { return false };
        let rows = offsets[offsets.len() - 2];
        let lengths = [
            ("keys", end),
            ("orientations", end),
            ("kinds", rows),
            ("edge_counts", rows),
            ("edge_starts", rows.div_ceil(START_EVERY as u64)),
            ("edge_targets", *edges),
            ("edge_actions", *edges),
        ];
        let fits = |&(name, rows): &(_, u64)| draft.rows(name).is_none_or(|there| there == rows);
        let mut layers = counts.iter().zip(offsets.windows(2));
        *first_layer == first
            && begin == 0
            && offsets.is_sorted()
            && end <= u64::from(u32::MAX)
            && lengths.iter().all(fits)
            && counts.len() + 2 == offsets.len()
            && layers.all(|(counts, ends)| counts.table.states == ends[1] - ends[0])
            && root_ids.iter().all(|&row| row < offsets[1])
    }
}

/// Returns `true` if the orientations of both sides need more than a byte.
pub(super) fn has_wide_orientations(game: &dyn Rules) -> bool {
    game.group().order() > 4
}

/// Declares the arrays of every table of sorted keys and, if moves are stored (`wide_actions` is given),
/// those of the moves, with actions and edge counts of two bytes if wide, else one.
pub(super) fn declare(
    draft: &mut Draft,
    key_words: usize,
    wide_actions: Option<bool>,
    lengths: Option<&Lengths>,
) -> Result<(), Error> {
    match key_words {
        1 => draft.grow::<u64>("keys", false, lengths)?,
        _ => draft.grow::<WideKey>("keys", false, lengths)?,
    }
    if let Some(wide) = wide_actions {
        draft.grow::<u8>("kinds", false, lengths)?;
        Ints::grow(draft, "edge_counts", wide, lengths)?;
        draft.grow::<u64>("edge_starts", false, lengths)?;
        draft.grow::<u32>("edge_targets", false, lengths)?;
        Ints::grow(draft, "edge_actions", wide, lengths)?;
    }
    draft.grow::<u64>("layer_offsets", false, None)?;
    Ok(())
}

/// Returns the edge offset of every row divisible by [`START_EVERY`] among the rows about to be appended,
/// whose edge counts are `counts`. `edges` is the number of edges so far; the new ones are added to it.
pub(super) fn edge_starts(
    draft: &Draft,
    edges: &mut u64,
    counts: impl IntoIterator<Item = u64>,
) -> Vec<u64> {
    let (mut starts, first) = (Vec::new(), draft.rows("kinds").unwrap_or(0));
    for (row, count) in (first..).zip(counts) {
        if row % START_EVERY as u64 == 0 {
            starts.push(*edges);
        }
        *edges += count;
    }
    starts
}
