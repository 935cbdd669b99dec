//! Selection of the exported rows: splits, decisive positions, samples.

use crate::judge::{Example, drawn};
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::rules::{FoldedWords, Rules, Split, Splits, mix, name_word};
use yomikiri::table::rows::{RowPiece, StateKind};

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

/// Selects rows.
pub(super) struct Selector<'a> {
    selection: Selection,
    words: &'a FoldedWords,
    name: u64,
}

impl<'a> Selector<'a> {
    /// Returns the conditions for the rows of a game.
    pub(super) fn new(
        selection: Selection,
        words: &'a FoldedWords,
        game: &dyn Rules,
    ) -> Selector<'a> {
        Selector { selection, words, name: name_word(&game.name()) }
    }

    /// Returns the split of a row that fulfils the conditions, else `None`.
    pub(super) fn select(&self, row: &Example) -> Option<Split> {
        let Selection { splits, terminals, unproven, decisive, split: part, .. } = self.selection;
        let split = splits.of_hash(splits.hash(self.name, self.words.of(&row.position.state)));
        let is_selected = part.is_none_or(|part| part == split)
            && (terminals || row.kind != StateKind::Terminal)
            && (unproven || row.is_proven() && row.kind != StateKind::Frontier)
            && decisive.is_none_or(|by_score| row.decides(by_score));
        is_selected.then_some(split)
    }

    /// Draws the sample that is asked for, without repetition and evenly among the rows that fulfil the conditions;
    /// returns them in ascending order, or `None` if all rows are asked for. Reads hardly more rows than it draws.
    pub(super) fn sample(
        &self,
        table: &SolvedTable,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<Option<Vec<u32>>, String> {
        let Selection { per_layer, sample, splits, .. } = self.selection;
        let all = table.states().rows() as u32;
        let draw = |from: u32, count: u32, most: u64, seed: u64| {
            let are_selected = |some: &[u32]| {
                let rows = some.iter().map(|place| (from + place) as usize);
                self.are_selected(table, &rows.collect::<Vec<_>>(), advance)
            };
            let rows = drawn(count, most, seed, &are_selected)?;
            Ok::<_, String>(rows.into_iter().map(|place| from + place).collect::<Vec<u32>>())
        };
        let Some(most) = per_layer else {
            return sample.map(|most| draw(0, all, most, splits.seed)).transpose();
        };
        let is_same = |one: &RowPiece, other: &RowPiece| one.layer == other.layer;
        let mut rows = Vec::new();
        for (number, layer) in (1..).zip(table.states().pieces().chunk_by(is_same)) {
            let from = layer[0].rows.start as u32;
            let count = layer.iter().map(|piece| piece.rows.len() as u32).sum();
            rows.extend(draw(from, count, most, mix(splits.seed ^ mix(number)))?);
        }
        let Some(most) = sample else { return Ok(Some(rows)) };
        let any = |some: &[u32]| Ok(vec![true; some.len()]);
        let places = drawn(rows.len() as u32, most, splits.seed, &any)?;
        Ok(Some(places.into_iter().map(|place| rows[place as usize]).collect()))
    }

    /// Returns which of some ascending rows fulfil the conditions. Fails at a value that contradicts those of its
    /// moves: samples are drawn from tables whose checksums were not compared.
    fn are_selected(
        &self,
        table: &SolvedTable,
        rows: &[usize],
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<bool>, String> {
        let parts = parallel::map_ranges(rows.len(), 256, &|part| {
            let mut selected = Vec::with_capacity(part.len());
            Example::visit(table, &mut rows[part.clone()].iter().copied(), &mut |row| {
                row.judged()?;
                selected.push(self.select(&row).is_some());
                Ok(())
            })?;
            advance(part.len() as u64);
            Ok::<_, String>(selected)
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }
}
