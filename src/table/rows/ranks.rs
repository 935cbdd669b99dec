//! Rows indexed by rank: a bitmap of the reachable ranks with counts, mapped or in compressed blocks.
//!
//! The row of a rank is the number of reachable ranks before it. Moves are derived from the rules, because
//! making one costs less than reading it from a file larger than memory.

use std::ops::Range;
use std::path::Path;

use super::UNFIT;
use crate::bits::ones_of;
use crate::error::Error;
use crate::parallel;
use crate::rules::{Address, Empties, End, Outcome, RankedMoves, Rules};
use crate::table::{Array, Damage, Packed, Table, of_planes};

/// Ranks that one count covers: a cache line of the bitmap.
pub(crate) const BLOCK: usize = 512;
/// Ranks of a compressed block.
pub(crate) const PACKED_BLOCK: usize = 1 << 13;
/// Ranks of the rows that are read together. Constant, because sums are grouped by pieces.
const PIECE: usize = 1 << 15;

/// Reachable ranks of a table.
pub struct Ranked {
    bits: RankBits,
    /// Number of reachable ranks before each unit of [`RankBits`].
    counts: Array<u32>,
    ranks: usize,
    rows: usize,
    damage: Damage,
}

/// Bitmap: bit `r % 64` of word `r / 64` is set if rank `r` is reachable.
enum RankBits {
    /// Units of [`BLOCK`] ranks.
    Mapped(Array<u64>),
    /// Units of [`PACKED_BLOCK`] ranks, each decoded to its words and then the number of reachable ranks
    /// before each [`BLOCK`] of them.
    Packed(Packed<u64>),
}

impl Ranked {
    /// Maps the ranks of a table with `rows` rows.
    pub(crate) fn open(game: &dyn Rules, table: &Table, rows: usize) -> Result<Ranked, Error> {
        let ranks = game.rank_count().unwrap_or(0) as usize;
        let (bits, counts, unit) = if table.manifest().is_packed() {
            let (words, units) = (PACKED_BLOCK / 64, ranks.div_ceil(PACKED_BLOCK));
            let bits = Packed::open(table, "packed_reachable", units, words, false)?;
            (RankBits::Packed(bits), table.array::<u32>("packed_counts")?, PACKED_BLOCK)
        } else {
            let bits = table.array::<u64>("reachable")?;
            if bits.len() != ranks.div_ceil(64) {
                let what = "number of bits differs from the game's ranks";
                return Err(Error::damaged(bits.path(), what));
            }
            (RankBits::Mapped(bits), table.array::<u32>("rank_counts")?, BLOCK)
        };
        if counts.len() != ranks.div_ceil(unit) {
            return Err(table.damaged_manifest(UNFIT));
        }
        // `read` compares the bits of each unit with the counts.
        let ends = counts.iter().skip(1).map(|&count| count as usize).chain([rows]);
        let fit = |(&begin, end): (&u32, usize)| {
            end.checked_sub(begin as usize).is_some_and(|rows| rows <= unit)
        };
        let fits = counts.iter().zip(ends).all(fit) && counts.first().is_none_or(|&rows| rows == 0);
        let ranked = Ranked { bits, counts, ranks, rows, damage: table.damage().clone() };
        if fits { Ok(ranked) } else { Err(ranked.damaged()) }
    }

    fn damaged(&self) -> Error {
        Error::damaged(self.counts.path(), "counts differ from the bits")
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the words of the bitmap; empty if it is packed.
    pub fn words(&self) -> &[u64] {
        match &self.bits {
            RankBits::Mapped(words) => words,
            RankBits::Packed(_) => &[],
        }
    }

    /// Returns the number of rows before each block of [`Ranked::words`]; a block is eight words.
    pub(crate) fn block_counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the number of ranks that a count covers.
    fn unit_length(&self) -> usize {
        match &self.bits {
            RankBits::Mapped(_) => BLOCK,
            RankBits::Packed(_) => PACKED_BLOCK,
        }
    }

    fn rows_of(&self, unit: usize) -> Range<usize> {
        let begin = |unit: usize| self.counts.get(unit).map_or(self.rows, |&rows| rows as usize);
        begin(unit)..begin(unit + 1)
    }

    /// Calls `read` with the words of a unit, the number of its rows before each [`BLOCK`] of its ranks, and
    /// its rows. Fails if the bits contradict the counts.
    #[inline]
    fn read<T>(
        &self,
        unit: usize,
        read: impl FnOnce(&[u64], &[u64], Range<usize>) -> T,
    ) -> Result<T, Error> {
        let rows = self.rows_of(unit);
        let ones = |words: &[u64]| words.iter().map(|w| w.count_ones() as usize).sum::<usize>();
        match &self.bits {
            RankBits::Mapped(words) => {
                const WORDS: usize = BLOCK / 64;
                let words = &words[unit * WORDS..words.len().min((unit + 1) * WORDS)];
                match ones(words) == rows.len() {
                    true => Ok(read(words, &[0], rows)),
                    false => Err(self.damaged()),
                }
            }
            RankBits::Packed(bits) => {
                let words = (self.ranks - unit * PACKED_BLOCK).min(PACKED_BLOCK).div_ceil(64);
                let kept = bits.block(unit, words * 8, |bytes| {
                    let mut kept = of_planes::<u64>(bytes, words)?;
                    let right = ones(&kept) == rows.len();
                    let counts = block_counts(&kept).into_iter().map(u64::from);
                    kept.extend(counts);
                    right.then_some(kept)
                })?;
                let (words, counts) = kept.split_at(words);
                Ok(read(words, counts, rows))
            }
        }
    }

    /// Returns the row of a rank; `None` if it is not reachable, or if the bits of its unit contradict the
    /// counts, which is recorded.
    #[inline]
    pub fn row(&self, rank: u32) -> Option<usize> {
        let rank = rank as usize;
        if rank >= self.ranks {
            return None;
        }
        let (unit, bit) = (rank / self.unit_length(), rank % self.unit_length());
        let row = self.read(unit, |words, counts, rows| {
            let (word, block) = (words[bit / 64], bit / BLOCK);
            let before = &words[block * (BLOCK / 64)..bit / 64];
            let before: u32 = before.iter().map(|word| word.count_ones()).sum();
            let below = before + (word & ((1 << (bit % 64)) - 1)).count_ones();
            let row = rows.start + counts[block] as usize + below as usize;
            (word >> (bit % 64) & 1 == 1).then_some(row)
        });
        self.damage.or_record(row)?
    }

    /// Returns a reader of the ranks of rows, fastest for ascending rows. It returns `None` for a row out of
    /// range or damaged; damage is recorded.
    pub fn reader(&self) -> impl FnMut(usize) -> Option<u32> + '_ {
        let (mut ranks, mut of) = (Vec::new(), 0..0);
        move |row| {
            if !of.contains(&row) {
                let unit = self.counts.partition_point(|&before| before as usize <= row);
                let unit = unit.checked_sub(1)?;
                let first = (unit * self.unit_length()) as u32;
                of = self.damage.or_record(self.read(unit, |words, _, rows| {
                    ranks.clear();
                    for (bits, first) in words.iter().zip((first..).step_by(64)) {
                        ranks.extend(ones_of(*bits).map(|bit| first + bit as u32));
                    }
                    rows
                }))?;
            }
            ranks.get(row.checked_sub(of.start)?).copied()
        }
    }

    /// Returns all rows in pieces that are read together.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let every = PIECE / self.unit_length();
        let begin = |unit: usize| self.rows_of(unit).start;
        (0..self.counts.len()).step_by(every).map(move |unit| begin(unit)..begin(unit + every))
    }

    /// Checks that all bits belong to ranks and agree with the counts.
    pub fn check_whole(&self) -> Result<(), Error> {
        let beyond = (self.ranks % 64) as u32;
        let check = |mut units: Range<usize>| {
            units.try_for_each(|unit| {
                let last = self.read(unit, |words, _, _| words.last().copied().unwrap_or(0))?;
                match unit + 1 == self.counts.len() && beyond > 0 && last >> beyond != 0 {
                    true => Err(Error::damaged(self.path(), "a bit lies beyond the game's ranks")),
                    false => Ok(()),
                }
            })
        };
        parallel::map_ranges(self.counts.len(), 1 << 6, &check).into_iter().collect()
    }

    /// Returns the path of the bitmap.
    fn path(&self) -> &Path {
        match &self.bits {
            RankBits::Mapped(words) => words.path(),
            RankBits::Packed(bits) => bits.path(),
        }
    }
}

/// Returns the number of reachable ranks before each block of a bitmap.
pub(crate) fn block_counts(words: &[u64]) -> Vec<u32> {
    let mut before = 0;
    words
        .chunks(BLOCK / 64)
        .map(|block| {
            let own: u32 = block.iter().map(|word| word.count_ones()).sum();
            before += own;
            before - own
        })
        .collect()
}

/// Entry of `distance` in a table by rank for positions in which neither player can force a win.
pub const ENDLESS: u8 = u8::MAX;

/// Returns the distance that represents the end of a game without layers, for its mover. `None` if no
/// distance does: its parity decides the winner, so the winner must make the last ply.
pub fn distance_of_end(end: End) -> Option<u8> {
    match (end.outcome, end.plies) {
        (Outcome::Draw, _) => Some(ENDLESS),
        (Outcome::Loss, 0) => Some(0),
        (Outcome::Win, 1) => Some(1),
        _ => None,
    }
}

/// [`RankedMoves`] of a game: its own, or derived from the rules state by state.
///
/// A damaged table may have ranks of unreachable positions: these have no moves, and are
/// recorded as damage.
///
/// # Panics
///
/// Panics at such a rank if there is no table, because then the rules are at fault.
pub struct RankedGame<'a> {
    game: &'a dyn Rules,
    /// Table that the ranks come from, if it exists already.
    ranked: Option<&'a Ranked>,
    /// Moves of the game's own.
    own: Option<&'a dyn RankedMoves>,
}

impl<'a> RankedGame<'a> {
    /// Returns the moves of a game between the ranks of a table, if it exists already.
    pub fn new(game: &'a dyn Rules, ranked: Option<&'a Ranked>) -> RankedGame<'a> {
        RankedGame { game, ranked, own: game.ranked_moves() }
    }

    /// Records that some rank belongs to no state.
    #[cold]
    fn record_inconsistent(&self) {
        let ranked = self.ranked.expect("reachable states have ranks");
        ranked.damage.record_in(ranked.path(), "bits of unreachable positions");
    }
}

impl RankedMoves for RankedGame<'_> {
    fn ranks(&self) -> u32 {
        self.game.rank_count().unwrap_or(0)
    }

    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>) {
        if let Some(moves) = self.own {
            return moves.successors(rank, after);
        }
        let mut moves = Vec::new();
        let is_valid = self.game.moves_by_rank(Address::Rank(rank), true, &mut moves);
        after.clear();
        after.extend(moves.iter().filter_map(|to| Some((to.rank?, to.end))));
        if !is_valid || after.len() < moves.len() {
            self.record_inconsistent();
        }
    }

    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End> {
        if let Some(moves) = self.own {
            return moves.ends(rank, ends);
        }
        ends.clear();
        let mut after = Vec::new();
        self.successors(rank, &mut after);
        after.sort_unstable_by_key(|&(rank, _)| rank);
        after.dedup_by_key(|&mut (rank, _)| rank);
        ends.extend(after.into_iter().map(|(_, end)| end));
        if !ends.is_empty() {
            return None;
        }
        self.game.standing(Address::Rank(rank), Empties::default(), None)?.end
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        self.game.predecessors(rank, before);
    }
}
