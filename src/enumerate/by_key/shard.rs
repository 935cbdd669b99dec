//! Distinct keys of a range, with the edges that lead to them.

use std::sync::atomic::{AtomicU32, Ordering};

use super::super::sort::Record;
use crate::parallel;
use crate::table::rows::stored_key::StoredKey;

/// Shard of distinct keys, ascending.
pub(super) struct Shard<K> {
    /// New keys.
    pub new: Vec<K>,
    /// Orientations and plies of the new keys, in a layered game.
    pub reached: Vec<(u16, u16)>,
    /// Number of edges that lead to each key, and its row if it is known.
    pub led_to: Vec<(u32, Option<u32>)>,
    /// Edges in the order of the keys.
    pub edges: Vec<u32>,
    /// States that passes of the new ones lead to.
    pub passed: Vec<Record<K>>,
}

impl<K: StoredKey> Shard<K> {
    /// Merges the ascending targets of passes.
    pub(super) fn merge(&mut self, passed: &[Record<K>]) {
        if passed.is_empty() {
            return;
        }
        let (new, reached) = (std::mem::take(&mut self.new), std::mem::take(&mut self.reached));
        let led_to = std::mem::take(&mut self.led_to);
        let mut own = new.into_iter().zip(reached).zip(led_to).peekable();
        let mut passed = passed.iter().peekable();
        loop {
            let is_next = |((key, _), _): &((K, _), _)| passed.peek().is_none_or(|p| *key <= p.key);
            let (key, (mut set, mut ply), led_to) = match (own.next_if(is_next), passed.peek()) {
                (Some(((key, reached), led_to)), _) => (key, reached, led_to),
                (None, Some(record)) => (record.key, (0, u16::MAX), (0, None)),
                (None, None) => break,
            };
            while let Some(record) = passed.next_if(|record| record.key == key) {
                (set, ply) = (set | record.orientations.0, ply.min(record.ply));
            }
            self.new.push(key);
            self.reached.push((set, ply));
            self.led_to.push(led_to);
        }
    }
}

/// Assigns rows from `first` on to the new keys of shards, and targets to the edges.
pub(super) fn place<K: StoredKey>(shards: &[Shard<K>], first: u32, targets: &[AtomicU32]) {
    let mut bases = Vec::with_capacity(shards.len());
    let mut base = first;
    for shard in shards {
        bases.push(base);
        base += shard.new.len() as u32;
    }
    parallel::each(shards.len(), &|number| {
        let (mut next, mut edges) = (bases[number], shards[number].edges.iter());
        for &(count, row) in &shards[number].led_to {
            let row = row.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            for &edge in edges.by_ref().take(count as usize) {
                targets[edge as usize].store(row, Ordering::Relaxed);
            }
        }
    });
}
