//! Packed rows as a space, with moves from the rules.

use std::ops::Range;
use std::sync::Arc;

use super::super::StateKind;
use super::super::ranked::ones_of;
use super::super::space::{
    CHUNK_RANKS, Finder, Piece, RowMove, Space, Transitions, check_key, check_rank, kind_by_rules,
    moves_by_rules, open_positions, pieces_of,
};
use super::code::Code;
use super::{Index, Packed, RANKS, is_before};
use crate::game::{Game, Orientations, Position, Side, StateKey};
use crate::parallel;
use crate::table::{BLOCK, Table, TableError};

impl<G: Game> Space<G> for Packed {
    fn rows(&self) -> usize {
        Packed::rows(self)
    }

    fn find(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        Some(self.look_up(game, position, u32::MAX)?.0)
    }

    fn pieces(&self) -> Vec<Piece> {
        match &self.index {
            Index::Keys(keys) => pieces_of(keys.layers.iter().cloned(), keys.first_layer),
            Index::Ranks(ranks) => {
                let (blocks, every) = (ranks.counts.len(), CHUNK_RANKS / RANKS);
                let begin = |block: usize| ranks.rows_of(block).start;
                let firsts = (0..blocks).step_by(every);
                let rows = firsts.map(|first| begin(first)..begin(first + every));
                rows.map(|rows| Piece { rows, layer: None }).collect()
            }
        }
    }

    fn visit(
        &self,
        game: &G,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, Position<G::State>) -> Result<(), String>,
    ) -> Result<(), String> {
        match &self.index {
            Index::Keys(keys) => {
                let mut at: Option<(usize, Arc<[Code]>)> = None;
                for row in rows {
                    let block = row / BLOCK;
                    if at.as_ref().is_none_or(|(there, _)| *there != block) {
                        at = Some((block, keys.block(block).map_err(|e| e.to_string())?));
                    }
                    let code = at.as_ref().and_then(|(_, codes)| codes.get(row % BLOCK));
                    let key = code.and_then(|&code| G::Key::narrow(keys.coding.key(code)));
                    let position = key.and_then(|key| game.position_of(key));
                    visit(
                        row,
                        position.ok_or_else(|| format!("row {row} of its keys is no position"))?,
                    )?;
                }
            }
            Index::Ranks(ranks) => {
                // The rows of a block and their ranks.
                let mut at: (Range<usize>, Vec<u32>) = (0..0, Vec::new());
                for row in rows {
                    if !at.0.contains(&row) {
                        let block = ranks.block_of(row).unwrap_or(0);
                        let words = ranks.block(block).map_err(|e| e.to_string())?;
                        let first = |word: usize| (block * RANKS + word * 64) as u32;
                        let ones = |(word, &bits): (usize, &u64)| {
                            ones_of(bits).map(move |bit| first(word) + bit)
                        };
                        let words = words.iter().take(ranks.words_of(block)).enumerate();
                        at = (ranks.rows_of(block), words.flat_map(ones).collect());
                    }
                    let rank = row.checked_sub(at.0.start).and_then(|place| at.1.get(place));
                    let state = rank.and_then(|&rank| game.unrank(rank));
                    let state =
                        state.ok_or_else(|| format!("row {row} of its bits is no position"))?;
                    visit(row, Position { state, side: Side::First })?;
                }
            }
        }
        Ok(())
    }

    fn finder<'a>(&'a self, game: &'a G) -> Box<Finder<'a, G::State>> {
        Box::new(move |position, ply, _| self.look_up(game, position, ply))
    }

    fn check_whole(&self, game: &G, table: &Table) -> Result<(), TableError> {
        if let Some(sets) = &self.orientations {
            let blocks = self.rows().div_ceil(BLOCK);
            parallel::try_map(blocks, &|block| sets.block(block).map(drop))?;
        }
        match &self.index {
            Index::Keys(keys) => {
                parallel::try_map(keys.firsts.len(), &|block| keys.block(block).map(drop))?;
                let lengths = keys.layers.iter().map(|rows| rows.len() as u64);
                if !lengths.eq(table.manifest().layers.iter().map(|layer| layer.table.states)) {
                    let what = "its layers are not those of layer_offsets";
                    return Err(TableError::damaged(&table.dir().join("manifest.json"), what));
                }
            }
            Index::Ranks(ranks) => {
                // Each block has been found to have as many rows as its counts say.
                let blocks = ranks.counts.len();
                parallel::try_map(blocks, &|block| ranks.block(block).map(drop))?;
                let word = match blocks.checked_sub(1) {
                    Some(last) => ranks.block(last)?[ranks.words_of(last) - 1],
                    None => 0,
                };
                let beyond = game.rank_count().unwrap_or(0) % 64;
                let from = ranks.rows_of(0).start;
                if from != 0 || (beyond > 0 && word >> beyond != 0) {
                    let what = "its bits are not as many as the game's ranks";
                    return Err(TableError::damaged(&table.path_of("packed_reachable"), what));
                }
            }
        }
        Ok(())
    }

    fn check(&self, game: &G, row: usize, position: &Position<G::State>) -> Result<(), String> {
        let keys = match &self.index {
            Index::Keys(keys) => keys,
            Index::Ranks(ranks) => {
                let rank = game.rank(&position.state);
                return check_rank(row, rank.and_then(|rank| ranks.row(rank)));
            }
        };
        let code_of = |row: usize| {
            let codes = keys.block(row / BLOCK).map_err(|error| error.to_string())?;
            Ok::<Code, String>(codes[row % BLOCK])
        };
        let code = code_of(row)?;
        let layer = match game.layers() {
            Some(_) => keys.layer(game.layer(&position.state)),
            None => keys.layers.iter().find(|rows| rows.contains(&row)).cloned().unwrap_or(0..0),
        };
        let follows = row <= layer.start || is_before(&code_of(row - 1)?, &code);
        check_key(game, row, position, (layer, follows))
    }

    fn kind(&self, _row: usize, is_over: &dyn Fn() -> bool) -> StateKind {
        kind_by_rules(is_over)
    }

    fn orientations(&self, row: usize) -> Option<Orientations> {
        self.orientations.as_ref().map(|sets| Orientations(sets.get(row).unwrap_or_default()))
    }

    fn layer_of(&self, row: usize) -> Option<u32> {
        let Index::Keys(keys) = &self.index else { return None };
        let place = keys.layers.iter().position(|rows| rows.contains(&row))?;
        Some(keys.first_layer + place as u32)
    }

    fn open_positions(&self, most: usize) -> u64 {
        open_positions(&self.counts, most)
    }
}

impl Packed {
    /// The row of a position and the symmetries to its canonical form; where layers are plies, in
    /// those up to `ply`.
    fn look_up<G: Game>(
        &self,
        game: &G,
        position: &Position<G::State>,
        ply: u32,
    ) -> Option<(usize, u8)> {
        match &self.index {
            Index::Ranks(ranks) => Some((ranks.row(game.rank(&position.state)?)?, 1)),
            Index::Keys(keys) if game.layers().is_some() => {
                let canonical = game.canonical(&position.state);
                let rows = keys.layer(game.layer(&position.state));
                Some((keys.find_key(rows, canonical.key.widen())?, canonical.ties))
            }
            Index::Keys(keys) => {
                let key = game.position_key(position).widen();
                let layers = keys.layers.iter().take((ply as usize).saturating_add(1));
                layers.cloned().find_map(|rows| keys.find_key(rows, key)).map(|row| (row, 1))
            }
        }
    }
}

impl<G: Game> Transitions<G> for Packed {
    fn moves(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        let mut side = Side::First;
        if game.keeps_sides() {
            self.visit(game, &mut std::iter::once(row), &mut |_, position| {
                side = position.side;
                Ok(())
            })?;
        }
        let find = |after: &Position<G::State>| Some(self.look_up(game, after, u32::MAX)?.0);
        moves_by_rules(game, row, (state, side), &find, moves)
    }
}
