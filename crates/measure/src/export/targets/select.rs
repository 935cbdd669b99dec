//! Selection of the exported rows: splits, decisive positions, samples.

use std::collections::{BTreeMap, BinaryHeap};

use super::example::{Example, visit_rows};
use yomikiri::any::AnyGame;
use yomikiri::game::{FoldedWords, Game, Split, Splits, mix, name_word};
use yomikiri::graph::{RowPiece, StateKind};
use yomikiri::parallel;
use yomikiri::solved::SolvedTable;

/// Conditions on a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Division of the positions into splits.
    pub splits: Splits,
    /// Split to export; `None` for all.
    pub split: Option<Split>,
    /// `true` to include finished games.
    pub terminals: bool,
    /// `true` to include rows whose values, or those of their moves, are not proven.
    pub unproven: bool,
    /// Only positions whose moves differ: `Some(false)` in outcome, `Some(true)` in score.
    pub decisive: Option<bool>,
    /// Maximum number of rows of each layer.
    pub per_layer: Option<u64>,
    /// Maximum number of rows.
    pub sample: Option<u64>,
}

/// Rank of a row in a sample: by hash, then by row.
type SampleRank = (u64, u32);

/// Selects rows. Created once for a table, since sampling needs a pass through all of it.
pub(super) struct Selector<'a> {
    selection: Selection,
    words: &'a FoldedWords<AnyGame>,
    name: u64,
    /// Last sampled place of each layer, after the pass.
    by_layer: Option<BTreeMap<u32, SampleRank>>,
    /// Last sampled place, after the pass.
    last: Option<SampleRank>,
}

impl<'a> Selector<'a> {
    /// Passes through the table if there is a sample to choose.
    pub(super) fn new(
        selection: Selection,
        words: &'a FoldedWords<AnyGame>,
        table: &SolvedTable,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<Selector<'a>, String> {
        let name = name_word(&table.game().name());
        let mut selector = Selector { selection, words, name, by_layer: None, last: None };
        if let Some(most) = selection.per_layer {
            let layers = selector.smallest(table, most, &|row| row.layer.unwrap_or(0), advance)?;
            selector.by_layer = Some(layers);
        }
        if let Some(most) = selection.sample {
            let one = selector.smallest(table, most, &|_| 0, advance)?;
            // An empty table has no last place.
            selector.last = Some(one.get(&0).copied().unwrap_or_default());
        }
        Ok(selector)
    }

    /// Returns the hash of a row, equal for all its images.
    fn hash(&self, row: &Example) -> u64 {
        self.selection.splits.hash(self.name, self.words.of(&row.position.state))
    }

    /// Returns the split of a row that is exported, else `None`.
    pub(super) fn select(&self, row: &Example) -> Option<Split> {
        let hash = self.hash(row);
        let split = self.selection.splits.of_hash(hash);
        let place = (mix(hash), row.row);
        (self.is_selected(row, split) && self.sampled(row, place)).then_some(split)
    }

    fn is_selected(&self, row: &Example, split: Split) -> bool {
        let Selection { terminals, unproven, decisive, split: part, .. } = self.selection;
        part.is_none_or(|part| part == split)
            && (terminals || row.kind != StateKind::Terminal)
            && (unproven || row.is_proven() && row.kind != StateKind::Frontier)
            && decisive.is_none_or(|by_score| row.decides(by_score))
    }

    fn sampled(&self, row: &Example, place: SampleRank) -> bool {
        let layer = row.layer.unwrap_or(0);
        self.by_layer.as_ref().is_none_or(|layers| layers.get(&layer) >= Some(&place))
            && self.last.is_none_or(|last| place <= last)
    }

    /// Returns, for each group of the rows selected so far, the last of the `most` places with the smallest
    /// hashes.
    fn smallest(
        &self,
        table: &SolvedTable,
        most: u64,
        group: &(dyn Fn(&Example) -> u32 + Sync),
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<BTreeMap<u32, SampleRank>, String> {
        const AT_ONCE: usize = 64;
        let mut heaps: BTreeMap<u32, BinaryHeap<SampleRank>> = BTreeMap::new();
        for some in table.states().pieces().chunks(AT_ONCE) {
            let full = |group: u32| {
                let heap = heaps.get(&group)?;
                heap.peek().copied().filter(|_| heap.len() as u64 >= most)
            };
            let of = |piece: &RowPiece| -> Result<Vec<(u32, SampleRank)>, String> {
                let mut places = Vec::new();
                visit_rows(table, piece, &mut |row| {
                    let place = (mix(self.hash(&row)), row.row);
                    let last = full(group(&row));
                    if last.is_none_or(|last| place < last) && self.select(&row).is_some() {
                        places.push((group(&row), place));
                    }
                })?;
                advance(piece.rows.len() as u64);
                Ok(places)
            };
            for places in parallel::map(some.len(), &|place| of(&some[place])) {
                for (group, place) in places? {
                    let heap = heaps.entry(group).or_default();
                    heap.push(place);
                    if heap.len() as u64 > most {
                        heap.pop();
                    }
                }
            }
        }
        let last = |(group, heap): (u32, BinaryHeap<SampleRank>)| Some((group, *heap.peek()?));
        Ok(heaps.into_iter().filter_map(last).collect())
    }
}
