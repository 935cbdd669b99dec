//! A table whose rows are found by ranking: a bitmap of the ranks that are reachable, with counts.
//!
//! The row of a rank is the number of reachable ranks before it. Moves are not stored but made from
//! the rules whenever they are asked for, since making one costs less than fetching it from a file
//! larger than the memory of the machine.

use crate::game::{End, Game, Outcome, RankedMoves};
use crate::table::{Array, Table, TableError, or_record};

/// Ranks that one count covers: a cache line of the bitmap.
pub(super) const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// The reachable ranks of a table.
#[derive(Debug)]
pub struct Ranked {
    /// Bit `r % 64` of word `r / 64`: rank `r` is reachable.
    reachable: Array<u64>,
    /// Of every [`BLOCK`] ranks how many reachable ones come before them.
    counts: Array<u32>,
    rows: usize,
    /// In how many rows the game is over.
    terminals: u64,
}

impl Ranked {
    /// Maps the arrays of a table whose rows are found by rank, comparing their checksums if
    /// `checked`; `None` for any other table.
    pub fn of(table: &Table, checked: bool) -> Result<Option<Ranked>, TableError> {
        if !table.manifest().identity.is_by_rank() {
            return Ok(None);
        }
        let counts = &table.manifest().counts.table;
        let (rows, terminals) = (counts.states as usize, counts.terminals);
        let ranked = Ranked {
            reachable: table.array_checked("reachable", checked)?,
            counts: table.array_checked("rank_counts", checked)?,
            rows,
            terminals,
        };
        ranked.check(table).map(Some)
    }

    fn check(self, table: &Table) -> Result<Ranked, TableError> {
        let roots = &table.manifest().root_ids;
        if self.counts.len() != self.reachable.len().div_ceil(WORDS)
            || roots.iter().any(|&row| row >= self.rows as u64)
            || self.reachable.len() > u32::MAX as usize / 64
        {
            let manifest = table.dir().join("manifest.json");
            return Err(TableError::damaged(
                &manifest,
                "its arrays' lengths do not fit each other",
            ));
        }
        // What is left is whether a block has the bits that its count and the next one say, which
        // is looked at with the block.
        let rises = |pair: &[u32]| pair[0] <= pair[1] && (pair[1] - pair[0]) as usize <= BLOCK;
        let last = self.counts.last().map(|&count| self.rows.wrapping_sub(count as usize));
        match self.counts.first().is_none_or(|&first| first == 0)
            && self.counts.windows(2).all(rises)
            && last.map_or(self.rows == 0, |last| last <= BLOCK)
        {
            true => Ok(self),
            false => Err(self.damaged()),
        }
    }

    fn damaged(&self) -> TableError {
        TableError::damaged(self.counts.path(), "its counts are not those of the bits")
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// In how many rows the game is over.
    pub fn terminals(&self) -> u64 {
        self.terminals
    }

    /// The bitmap's words.
    pub fn words(&self) -> &[u64] {
        &self.reachable
    }

    /// How many rows come before each block of [`Ranked::words`]; a block is eight words.
    pub fn block_counts(&self) -> &[u32] {
        &self.counts
    }

    /// Whether a rank is reachable.
    #[inline]
    pub fn contains(&self, rank: u32) -> bool {
        let word = self.reachable.get(rank as usize / 64);
        word.is_some_and(|word| word >> (rank % 64) & 1 == 1)
    }

    /// Returns the row of a rank; `None` if it is not reachable, or if the counts of its block are not
    /// those of the bits, which [`or_record`] records.
    #[inline]
    pub fn row(&self, rank: u32) -> Option<usize> {
        if !self.contains(rank) {
            return None;
        }
        let rank = rank as usize;
        let (block, word) = (rank / BLOCK, rank / 64);
        let words = &self.reachable[block * WORDS..self.reachable.len().min((block + 1) * WORDS)];
        let ones = |words: &[u64]| words.iter().map(|w| w.count_ones() as usize).sum::<usize>();
        let (before, rest) = words.split_at(word - block * WORDS);
        let below = ones(before) + (rest[0] & ((1 << (rank % 64)) - 1)).count_ones() as usize;
        let first = self.counts[block] as usize;
        let end = self.counts.get(block + 1).map_or(self.rows, |&count| count as usize);
        if first + ones(words) != end {
            return or_record(Err(self.damaged()));
        }
        Some(first + below)
    }

    /// The ranks of ascending rows.
    pub fn ranks(&self) -> Ranks<'_> {
        Ranks { ranked: self, at: 0, row: 0, rest: self.reachable.first().copied().unwrap_or(0) }
    }
}

/// Goes through the ranks of a table in order.
pub struct Ranks<'a> {
    ranked: &'a Ranked,
    /// The word that is read, and the row of the first bit in `rest`, those not read yet.
    at: usize,
    row: usize,
    rest: u64,
}

impl Ranks<'_> {
    /// The rank of a row, which must be above the one asked for before; `None` if there are not so
    /// many.
    #[inline]
    pub fn seek(&mut self, row: usize) -> Option<u32> {
        let Ranked { reachable, counts, .. } = self.ranked;
        // Bits in a damaged file may be others than were counted.
        if row.checked_sub(self.row)? > BLOCK {
            let block = counts.partition_point(|&count| count as usize <= row).checked_sub(1)?;
            (self.at, self.row) = (block * WORDS, counts[block] as usize);
            self.rest = *reachable.get(self.at)?;
        }
        while row.checked_sub(self.row)? >= self.rest.count_ones() as usize {
            self.row += self.rest.count_ones() as usize;
            self.at += 1;
            self.rest = *reachable.get(self.at)?;
        }
        for _ in self.row..row {
            self.rest &= self.rest - 1;
        }
        let rank = (self.at * 64) as u32 + self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        self.row = row + 1;
        Some(rank)
    }
}

/// How many reachable ranks come before each block of a bitmap.
pub(super) fn block_counts(words: &[u64]) -> Vec<u32> {
    let mut before = 0;
    words
        .chunks(WORDS)
        .map(|block| {
            let own: u32 = block.iter().map(|word| word.count_ones()).sum();
            before += own;
            before - own
        })
        .collect()
}

/// The distance that stands for the end of a game, for its mover; `None` where none does: its parity
/// tells the outcome, so the last ply must be the winner's.
pub fn distance_of_end(end: End) -> Option<u8> {
    match (end.outcome, end.plies) {
        (Outcome::Loss, 0) => Some(0),
        (Outcome::Win, 1) => Some(1),
        _ => None,
    }
}

/// The numbers of the bits set in a word, ascending.
#[inline]
pub(crate) fn ones_of(mut word: u64) -> impl Iterator<Item = u32> + Clone {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}

/// [`RankedMoves`] of a game: its own, or else made from the rules state by state.
///
/// A damaged table may have ranks of no position that can be reached: these have no moves, and
/// [`or_record`] records them.
///
/// # Panics
///
/// Where there are such ranks without a table, which is a fault of the rules.
pub struct RankedGame<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The table whose ranks they are, where there is one already.
    pub ranked: Option<&'a Ranked>,
}

impl<G: Game> RankedGame<'_, G> {
    fn state(&self, rank: u32) -> Option<G::State> {
        or_record(self.game.unrank(rank).ok_or_else(|| self.astray()))
    }

    fn rank(&self, state: &G::State) -> Option<u32> {
        or_record(self.game.rank(state).ok_or_else(|| self.astray()))
    }

    fn astray(&self) -> TableError {
        let what = "its bits are not those of positions that can be reached";
        let ranked = self.ranked.expect("what can be reached has a rank");
        TableError::damaged(ranked.reachable.path(), what)
    }
}

impl<G: Game> RankedMoves for RankedGame<'_, G> {
    fn ranks(&self) -> u32 {
        self.game.rank_count().unwrap_or(0)
    }

    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>) {
        if let Some(moves) = self.game.ranks().and_then(|ranks| ranks.moves()) {
            return moves.successors(rank, after);
        }
        after.clear();
        let Some(state) = self.state(rank) else { return };
        self.game.for_each_successor(&state, |_, next| {
            after.extend(self.rank(&next).map(|rank| (rank, self.game.end(&next))));
        });
    }

    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End> {
        if let Some(moves) = self.game.ranks().and_then(|ranks| ranks.moves()) {
            return moves.ends(rank, ends);
        }
        ends.clear();
        let mut after = Vec::new();
        self.successors(rank, &mut after);
        after.sort_unstable_by_key(|&(rank, _)| rank);
        after.dedup_by_key(|&mut (rank, _)| rank);
        ends.extend(after.into_iter().map(|(_, end)| end));
        if ends.is_empty() { self.game.end(&self.state(rank)?) } else { None }
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        if let Some(ranks) = self.game.ranks() {
            ranks.predecessors(rank, before);
        }
    }
}
