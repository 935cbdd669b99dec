//! Edges that skip layers.

use std::collections::{BTreeMap, VecDeque};

use super::super::sort::Record;
use crate::enumerate::unfit;
use crate::error::Error;
use crate::rules::Rules;
use crate::table::rows::stored_key::StoredKey;

/// Edges whose targets are not known yet.
pub(super) struct Jumps<K> {
    /// Number in the table and record of each edge, by the layer it leads to.
    pub edges: BTreeMap<u32, Vec<(u64, Record<K>)>>,
    /// Targets of the table's last edges, starting at the first edge in `edges`.
    targets: VecDeque<u32>,
}

impl<K: StoredKey> Jumps<K> {
    pub(super) fn none() -> Jumps<K> {
        Jumps { edges: BTreeMap::new(), targets: VecDeque::new() }
    }

    /// Adds the edges of a layer that do not lead to the next; `edges` is the number of edges in the table
    /// before the layer's. Fails if one leads to no later layer.
    pub(super) fn add(
        &mut self,
        game: &dyn Rules,
        layer: u32,
        edges: u64,
        jumps: Vec<(u32, Record<K>)>,
        max_states: Option<u64>,
    ) -> Result<(), Error> {
        let unfit = |what: String, hint: &str| Err(unfit(game, Error::new(what, hint)));
        for (to, record) in jumps {
            if to <= layer {
                let what = format!("a move of layer {layer} leads to layer {to}");
                return unfit(what, "leave out `layers`, so that moves may lead anywhere");
            }
            if max_states.is_some() {
                let what = format!(
                    "--max-states may leave out layers between {layer} and {to}, which a move skips"
                );
                return unfit(what, "bound the enumeration with --max-depth");
            }
            self.edges.entry(to).or_default().push((edges + u64::from(record.edge), record));
        }
        Ok(())
    }

    /// Sets the targets of edges that reach the current layer; `edges` is the number of edges before that
    /// layer's.
    pub(super) fn arrive(&mut self, arrived: impl Iterator<Item = (u64, u32)>, edges: u64) {
        let first = edges - self.targets.len() as u64;
        for (edge, target) in arrived {
            self.targets[(edge - first) as usize] = target;
        }
    }

    /// Appends the targets of a layer's edges, the last of `edges`; returns all targets that can be written.
    pub(super) fn settle(&mut self, targets: Vec<u32>, edges: u64) -> Vec<u32> {
        if self.edges.is_empty() && self.targets.is_empty() {
            return targets;
        }
        self.targets.extend(targets);
        let first = edges - self.targets.len() as u64;
        let open = self.edges.values().flatten().map(|&(edge, _)| edge).min();
        let open = open.map_or(edges, |open| open.min(edges));
        self.targets.drain(..(open - first) as usize).collect()
    }
}
