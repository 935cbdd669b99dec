//! The positions that a table stands for and in which a move is to be chosen, chunk by chunk.
//!
//! These are the positions in which a report asks policies, and more where not all values are proven:
//! rows that are no ends of the game, no frontier and not restricted to checks.

use std::ops::Range;

use rayon::prelude::*;

use crate::game::{Cyclic, Game, Layered, Position, Side};
use crate::graph::{Graph, Ranked, StateKind, ones_of};

/// Which positions of a table are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatesOf {
    /// Every orientation of every row.
    All,
    /// Every row once, in the first of its orientations.
    Canonical,
}

impl StatesOf {
    /// `all` or `canonical`.
    pub fn name(self) -> &'static str {
        match self {
            StatesOf::All => "all",
            StatesOf::Canonical => "canonical",
        }
    }
}

/// How many rows a chunk has, and how many words of a bitmap of ranks.
const CHUNK: usize = 1 << 10;
const CHUNK_WORDS: usize = 1 << 6;
/// Words of the bitmap that one count covers.
const BLOCK_WORDS: usize = 8;

/// Positions in a fixed order, in chunks that can be visited on several threads.
pub trait Positions<G: Game>: Sync {
    /// How many positions there are.
    fn count(&self) -> u64;

    /// How many chunks.
    fn chunks(&self) -> usize;

    /// How many rows of the table all chunks have.
    fn rows(&self) -> u64;

    /// Calls `visit` with every position of a chunk and its row, in order; gives how many rows the
    /// chunk has, or says what is wrong with one of them.
    fn visit(
        &self,
        chunk: usize,
        visit: &mut dyn FnMut(usize, Position<G::State>),
    ) -> Result<u64, String>;
}

fn rows_of(chunk: usize, size: usize, all: usize) -> Range<usize> {
    chunk * size..all.min((chunk + 1) * size)
}

fn no_position(row: usize) -> String {
    format!("row {row} of its keys is no position")
}

fn interior_rows(graph: &Graph) -> impl IndexedParallelIterator<Item = usize> + '_ {
    let interior = |row| usize::from(graph.kind(row) == StateKind::Interior);
    (0..graph.states()).into_par_iter().with_min_len(CHUNK).map(interior)
}

/// The positions of a layered game's table: by row, then by side and symmetry of its orientations.
#[derive(Clone, Copy, Debug)]
pub struct LayeredPositions<'a, G> {
    /// The rules.
    pub game: &'a G,
    /// The table's rows.
    pub graph: &'a Graph,
    /// Whether all orientations are meant.
    pub of: StatesOf,
}

impl<G: Layered> Positions<G> for LayeredPositions<'_, G> {
    fn count(&self) -> u64 {
        let orientations = |row| match self.of {
            StatesOf::All => u64::from(self.graph.orientations(row).count()),
            StatesOf::Canonical => 1,
        };
        let rows = interior_rows(self.graph).enumerate();
        rows.map(|(row, interior)| if interior == 1 { orientations(row) } else { 0 }).sum()
    }

    fn chunks(&self) -> usize {
        self.graph.states().div_ceil(CHUNK)
    }

    fn rows(&self) -> u64 {
        self.graph.states() as u64
    }

    fn visit(
        &self,
        chunk: usize,
        visit: &mut dyn FnMut(usize, Position<G::State>),
    ) -> Result<u64, String> {
        let LayeredPositions { game, graph, of } = *self;
        let wanted = match of {
            StatesOf::All => usize::MAX,
            StatesOf::Canonical => 1,
        };
        let rows = rows_of(chunk, CHUNK, graph.states());
        let count = rows.len() as u64;
        let keys = graph.keys().of::<G::Key>();
        let order = game.group().order();
        for row in rows.filter(|&row| graph.kind(row) == StateKind::Interior) {
            let state = game.state(keys[row]).ok_or_else(|| no_position(row))?;
            for (symmetry, side) in graph.orientations(row).iter(order).take(wanted) {
                visit(row, Position { state: game.transform(&state, symmetry), side });
            }
        }
        Ok(count)
    }
}

/// The positions of a cyclic game's table whose rows are found among sorted keys: one a row.
#[derive(Clone, Copy, Debug)]
pub struct CyclicPositions<'a, G> {
    /// The rules.
    pub game: &'a G,
    /// The table's rows.
    pub graph: &'a Graph,
}

impl<G: Cyclic> Positions<G> for CyclicPositions<'_, G> {
    fn count(&self) -> u64 {
        interior_rows(self.graph).map(|interior| interior as u64).sum()
    }

    fn chunks(&self) -> usize {
        self.graph.states().div_ceil(CHUNK)
    }

    fn rows(&self) -> u64 {
        self.graph.states() as u64
    }

    fn visit(
        &self,
        chunk: usize,
        visit: &mut dyn FnMut(usize, Position<G::State>),
    ) -> Result<u64, String> {
        let rows = rows_of(chunk, CHUNK, self.graph.states());
        let count = rows.len() as u64;
        let keys = self.graph.keys().of::<G::Key>();
        for row in rows.filter(|&row| self.graph.kind(row) == StateKind::Interior) {
            visit(row, self.game.position_of(keys[row]).ok_or_else(|| no_position(row))?);
        }
        Ok(count)
    }
}

/// The positions of a cyclic game's table whose rows are found by rank: one a row, the first player to
/// move.
#[derive(Clone, Copy, Debug)]
pub struct RankedPositions<'a, G> {
    /// The rules.
    pub game: &'a G,
    /// The table's rows.
    pub ranked: &'a Ranked,
    /// In how many of them the game is over.
    pub terminals: u64,
}

impl<G: Cyclic> Positions<G> for RankedPositions<'_, G> {
    fn count(&self) -> u64 {
        (self.ranked.rows() as u64).saturating_sub(self.terminals)
    }

    fn chunks(&self) -> usize {
        self.ranked.words().len().div_ceil(CHUNK_WORDS)
    }

    fn rows(&self) -> u64 {
        self.ranked.rows() as u64
    }

    fn visit(
        &self,
        chunk: usize,
        visit: &mut dyn FnMut(usize, Position<G::State>),
    ) -> Result<u64, String> {
        let words = rows_of(chunk, CHUNK_WORDS, self.ranked.words().len());
        let first = self.ranked.block_counts()[words.start / BLOCK_WORDS] as usize;
        let mut row = first;
        for at in words {
            for bit in ones_of(self.ranked.words()[at]) {
                let state = self.game.unrank((at * 64) as u32 + bit);
                let state = state.ok_or_else(|| format!("row {row} of its bits is no position"))?;
                if !self.game.is_terminal(&state) {
                    visit(row, Position { state, side: Side::First });
                }
                row += 1;
            }
        }
        Ok((row - first) as u64)
    }
}
