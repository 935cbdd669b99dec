//! Packed tables: the rows of a complete table in compressed blocks, with their values and without
//! their moves, which are made from the rules.
//!
//! Keys stand in blocks of rows, each found by its first key ([`code`]); ranks in blocks of bits,
//! each found by its number. Nothing is unpacked but the blocks that are asked for.

pub(in crate::graph) mod code;
mod space;
mod write;

use std::ops::Range;
use std::sync::Arc;

use self::code::{Code, Coding};
use super::ranked::{BLOCK as BITS, block_counts};
use crate::game::{Game, WideKey};
use crate::table::{
    Array, BLOCK, Counts, Packed as Blocks, PackedColumn, Table, TableError, of_planes, or_record,
};

pub use write::{PackError, check_packable, is_packed_of, pack};

/// How many ranks, and words of bits, a block has.
const RANKS: usize = 1 << 13;
const WORDS: usize = RANKS / 64;

/// The rows of a packed table.
#[derive(Debug)]
pub struct Packed {
    index: Index,
    /// Only layered games are enumerated with them.
    orientations: Option<PackedColumn<u16>>,
    counts: Counts,
}

#[derive(Debug)]
enum Index {
    Keys(KeyBlocks),
    Ranks(RankBlocks),
}

impl Packed {
    /// Maps the arrays of a packed table, comparing their checksums if `checked`; `None` for any
    /// other table.
    pub fn of<G: Game>(
        game: &G,
        table: &Table,
        checked: bool,
    ) -> Result<Option<Packed>, TableError> {
        let manifest = table.manifest();
        if !manifest.is_packed() {
            return Ok(None);
        }
        let damaged =
            |what: &str| Err(TableError::damaged(&table.dir().join("manifest.json"), what));
        let counts = manifest.counts;
        let Some(rows) =
            usize::try_from(counts.table.states).ok().filter(|&n| n <= u32::MAX as usize)
        else {
            return damaged("it has more rows than can be numbered");
        };
        if manifest.root_ids.iter().any(|&row| row >= rows as u64) || !manifest.complete {
            return damaged("its roots or bounds are not those of a packed table");
        }
        let index = match manifest.identity.is_by_rank() {
            true => Index::Ranks(RankBlocks::open(game, table, rows, checked)?),
            false => Index::Keys(KeyBlocks::open(game, table, rows, checked)?),
        };
        let orientations = match game.layers() {
            None => None,
            Some(_) => Some(PackedColumn::open(table, "packed_orientations", rows, checked)?),
        };
        Ok(Some(Packed { index, orientations, counts }))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.counts.table.states as usize
    }
}

/// Rows that are sorted keys, in blocks of [`BLOCK`].
#[derive(Debug)]
struct KeyBlocks {
    coding: Coding,
    /// The code of each block's first row.
    firsts: Array<[u64; 2]>,
    codes: Blocks<Code>,
    layers: Vec<Range<usize>>,
    first_layer: u32,
    rows: usize,
}

impl KeyBlocks {
    fn open<G: Game>(
        game: &G,
        table: &Table,
        rows: usize,
        checked: bool,
    ) -> Result<KeyBlocks, TableError> {
        let offsets = table.array_checked::<u64>("layer_offsets", true)?;
        let firsts = table.array_checked::<[u64; 2]>("packed_firsts", checked)?;
        let blocks = rows.div_ceil(BLOCK);
        let ends = (offsets.first(), offsets.last()) == (Some(&0), Some(&(rows as u64)));
        if !ends || !offsets.is_sorted() || firsts.len() != blocks {
            let manifest = table.dir().join("manifest.json");
            return Err(TableError::damaged(
                &manifest,
                "its arrays' lengths do not fit each other",
            ));
        }
        Ok(KeyBlocks {
            coding: Coding::of(game),
            firsts,
            codes: Blocks::open(table, "packed_keys", blocks, BLOCK, checked)?,
            layers: offsets.windows(2).map(|o| o[0] as usize..o[1] as usize).collect(),
            first_layer: table.manifest().first_layer,
            rows,
        })
    }

    fn block(&self, block: usize) -> Result<Arc<[Code]>, TableError> {
        let rows = self.rows.saturating_sub(block * BLOCK).min(BLOCK);
        let unpack = |bytes: &[u8]| code::decode(*self.firsts.get(block)?, rows, bytes);
        self.codes.block(block, code::most_bytes(rows), unpack)
    }

    /// The rows of the layer with a number; empty if there is none.
    fn layer(&self, number: u32) -> Range<usize> {
        let place = number.checked_sub(self.first_layer).map(|place| place as usize);
        place.and_then(|place| self.layers.get(place)).cloned().unwrap_or(0..0)
    }

    /// The row of a code within those of a layer.
    fn find(&self, rows: Range<usize>, code: Code) -> Option<usize> {
        if rows.is_empty() {
            return None;
        }
        let last = (rows.end - 1) / BLOCK;
        // Of the blocks that begin within the layer, the last that does not begin behind the code.
        let (first, begun) = (rows.start / BLOCK, rows.start.div_ceil(BLOCK));
        let later = self.firsts.get(begun..=last).unwrap_or_default();
        let block = match later.partition_point(|first| !is_before(&code, first)) {
            0 => first,
            n => begun + n - 1,
        };
        let codes = or_record(self.block(block))?;
        let from = rows.start.saturating_sub(block * BLOCK);
        let some = &codes[from..codes.len().min(rows.end - block * BLOCK)];
        let at = some.partition_point(|other| is_before(other, &code));
        (some.get(at) == Some(&code)).then_some(block * BLOCK + from + at)
    }

    fn find_key(&self, rows: Range<usize>, key: WideKey) -> Option<usize> {
        self.find(rows, self.coding.code(key))
    }
}

/// The order of codes; that of arrays calls for a comparison of slices.
#[inline]
fn is_before(a: &Code, b: &Code) -> bool {
    (a[0], a[1]) < (b[0], b[1])
}

/// Rows that are the reachable ranks, in blocks of [`RANKS`] bits.
#[derive(Debug)]
struct RankBlocks {
    bits: Blocks<u64>,
    /// How many rows come before each block.
    counts: Array<u32>,
    words: usize,
    rows: usize,
}

impl RankBlocks {
    fn open<G: Game>(
        game: &G,
        table: &Table,
        rows: usize,
        checked: bool,
    ) -> Result<RankBlocks, TableError> {
        let words = (game.rank_count().unwrap_or(0) as usize).div_ceil(64);
        let counts = table.array_checked::<u32>("packed_counts", checked)?;
        let rises = counts.is_sorted() && counts.first().is_none_or(|&first| first == 0);
        let within = counts.last().is_none_or(|&last| last as usize <= rows);
        if counts.len() != words.div_ceil(WORDS) || !rises || !within {
            let what = "its counts are not those of the game's ranks";
            return Err(TableError::damaged(&table.path_of("packed_counts"), what));
        }
        let bits = Blocks::open(table, "packed_reachable", counts.len(), WORDS, checked)?;
        Ok(RankBlocks { bits, counts, words, rows })
    }

    /// The words of a block, with as many bits set as it has rows, and behind them how many come
    /// before each [`BITS`] of them.
    fn block(&self, block: usize) -> Result<Arc<[u64]>, TableError> {
        let words = self.words_of(block);
        self.bits.block(block, words * 8, |bytes| {
            let mut words = of_planes::<u64>(bytes, words)?;
            let rows: usize = words.iter().map(|word| word.count_ones() as usize).sum();
            let counts = block_counts(&words).into_iter().map(u64::from);
            words.extend(counts);
            (rows == self.rows_of(block).len()).then_some(words)
        })
    }

    /// How many words a block has.
    fn words_of(&self, block: usize) -> usize {
        self.words.saturating_sub(block * WORDS).min(WORDS)
    }

    fn rows_of(&self, block: usize) -> Range<usize> {
        let begin = |block: usize| self.counts.get(block).map_or(self.rows, |&rows| rows as usize);
        begin(block)..begin(block + 1)
    }

    /// The row of a rank; `None` if it is not reachable.
    fn row(&self, rank: u32) -> Option<usize> {
        let (block, bit) = (rank as usize / RANKS, rank as usize % RANKS);
        if block >= self.counts.len() {
            return None;
        }
        let kept = or_record(self.block(block))?;
        let (words, counts) = kept.split_at(self.words_of(block));
        let word = *words.get(bit / 64)?;
        let from = bit / BITS * (BITS / 64);
        let before: u32 = words[from..bit / 64].iter().map(|word| word.count_ones()).sum();
        let below = before + (word & ((1 << (bit % 64)) - 1)).count_ones();
        let row = self.rows_of(block).start + counts[bit / BITS] as usize + below as usize;
        (word >> (bit % 64) & 1 == 1).then_some(row)
    }

    /// The block of a row.
    fn block_of(&self, row: usize) -> Option<usize> {
        self.counts.partition_point(|&before| before as usize <= row).checked_sub(1)
    }
}
