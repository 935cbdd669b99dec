//! Builder of tables by rank: enumerates a whole game ply by ply, whether it has layers or not.
//!
//! The search is breadth first from the start, with one bitmap of the reached ranks and others of those to
//! expand in this ply and the next. Ranks are expanded in ascending order: neighbours differ little, so their
//! successors lie close together too. A ply's result is a set, so it does not depend on the order in which
//! threads find its members. Every rank found is appended to a scratch array of the draft, from which a
//! resuming process rebuilds the bits.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::builder::{BuildState, Builder};
use super::plan::Plan;
use crate::bits::{ones_of, set_bit};
use crate::enumerate::{no_root, unfit};
use crate::error::Error;
use crate::parallel::{self, GRAIN};
use crate::progress::Progress;
use crate::rules::{Address, Empties, End, Mobility, Outcome, RankedMoves, Rules};
use crate::table::rows::ranks::{RankedGame, block_counts, distance_of_end};
use crate::table::{Counts, Draft, Lengths};

/// Contents of a checkpoint besides the arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankState {
    /// Number of ranks of each ply found; the last has not been expanded.
    plies: Vec<u64>,
    /// Counts by layer, numbered from the start's; in games with cycles a layer is a ply.
    layers: BTreeMap<usize, Counts>,
}

/// Enumeration of a game that ranks its states.
pub(super) struct ByRank<'a> {
    game: &'a dyn Rules,
    /// First rank of each layer, ascending; empty in games with cycles.
    firsts: Vec<u32>,
    state: RankState,
    reached: AtomicBits,
    /// Non-terminal ranks of the last ply, and (in `next`) those found while they are expanded.
    open: AtomicBits,
    next: AtomicBits,
}

/// Bitmap of ranks.
type AtomicBits = Vec<AtomicU64>;

/// Adds a rank; returns `true` if it is new.
#[inline]
fn mark(ranks: &AtomicBits, rank: u32) -> bool {
    set_bit(&ranks[rank as usize / 64], rank % 64)
}

/// Words of a bitmap that a task expands.
const WORDS: usize = 1 << 10;

/// Ranks found by a task.
#[derive(Default)]
struct FoundRanks {
    ranks: Vec<u32>,
    layers: BTreeMap<usize, Counts>,
    /// End of a game that no distance represents.
    misfit: Option<End>,
}

fn counts_of(layers: &mut BTreeMap<usize, Counts>, layer: usize) -> &mut Counts {
    layers.entry(layer).or_insert(Counts { terminals_won: Some(0), ..Counts::default() })
}

impl FoundRanks {
    fn add(&mut self, layer: usize, rank: u32, end: Option<End>) {
        self.ranks.push(rank);
        let counts = counts_of(&mut self.layers, layer);
        counts.table.states += 1;
        if let Some(end) = end {
            counts.table.terminals += 1;
            *counts.terminals_won.get_or_insert(0) += u64::from(end.outcome == Outcome::Win);
            if distance_of_end(end).is_none() {
                self.misfit = Some(end);
            }
        }
    }

    fn join(mut self, mut other: FoundRanks) -> FoundRanks {
        self.ranks.append(&mut other.ranks);
        for (layer, counts) in other.layers {
            counts_of(&mut self.layers, layer).add(&counts);
        }
        self.misfit = self.misfit.or(other.misfit);
        self
    }
}

impl<'a> Builder<'a> for ByRank<'a> {
    type State = RankState;

    fn open(
        game: &'a dyn Rules,
        _plan: &'a Plan,
        draft: &mut Draft,
        resumed: Option<(RankState, Lengths)>,
    ) -> Result<Self, Error> {
        let lengths = resumed.as_ref().map(|(_, lengths)| lengths);
        draft.grow::<u32>("found", true, lengths)?;
        draft.grow::<u64>("reachable", false, None)?;
        draft.grow::<u32>("rank_counts", false, None)?;
        let ranks = game.rank_count().unwrap_or(0) as usize;
        let none = || (0..ranks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let state = RankState { plies: Vec::new(), layers: BTreeMap::new() };
        let (reached, open, next) = (none(), none(), none());
        let mut work = ByRank { game, firsts: firsts(game), state, reached, open, next };
        match resumed {
            Some((state, _)) => work.reload(draft, state)?,
            None => work.begin(draft)?,
        }
        Ok(work)
    }

    fn next_layer(&self) -> u32 {
        self.state.plies.len() as u32 - 1
    }

    fn state(&self) -> &RankState {
        &self.state
    }

    /// Expands the last ply; returns `false` if it led to nothing new.
    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, Error> {
        let started = Instant::now();
        let expanded = parallel::map_ranges(self.open.len(), WORDS, &|words| self.expand(words));
        let found = expanded.into_iter().fold(FoundRanks::default(), FoundRanks::join);
        // Advances once a ply: ranks expanded are no measure of ranks found.
        progress.advance(found.ranks.len() as u64);
        let (ply, count, seconds) =
            (self.state.plies.len(), found.ranks.len(), started.elapsed().as_secs_f64());
        progress.log(format_args!("ply complete ply={ply} found={count} seconds={seconds:.6}"));
        std::mem::swap(&mut self.open, &mut self.next);
        self.take(draft, found)
    }

    /// Writes the bitmap and its counts.
    fn finish(mut self, draft: &mut Draft) -> Result<BuildState, Error> {
        let words: Vec<u64> =
            std::mem::take(&mut self.reached).into_iter().map(AtomicU64::into_inner).collect();
        let counts = block_counts(&words);
        draft.append(&[
            ("reachable", bytemuck::cast_slice(&words)),
            ("rank_counts", bytemuck::cast_slice(&counts)),
        ])?;
        let root = self.start().map(|rank| {
            let (word, bit) = (rank as usize / 64, rank % 64);
            let before: u64 = words[..word].iter().map(|w| u64::from(w.count_ones())).sum();
            before + u64::from((words[word] & ((1 << bit) - 1)).count_ones())
        });
        let root_ids = root.into_iter().collect();
        let first_layer = self.game.layer(&self.game.start().state);
        let layers = &mut self.state.layers;
        let last = layers.last_key_value().map_or(0, |(&layer, _)| layer);
        let counts = (0..=last).map(|layer| *counts_of(layers, layer)).collect();
        Ok(BuildState { counts, root_ids, ..BuildState::new(first_layer) })
    }
}

impl ByRank<'_> {
    fn start(&self) -> Option<u32> {
        self.game.rank(&self.game.start().state)
    }

    fn begin(&mut self, draft: &mut Draft) -> Result<(), Error> {
        let start = self.start().ok_or_else(no_root)?;
        let end = self.game.end(&self.game.start().state);
        mark(&self.reached, start);
        if end.is_none() {
            mark(&self.open, start);
        }
        let mut found = FoundRanks::default();
        found.add(0, start, end);
        self.take(draft, found).map(drop)
    }

    /// Returns the layer of a rank reached at `ply`, numbered from the start's.
    #[inline]
    fn layer_of(&self, rank: u32, ply: usize) -> usize {
        match self.firsts.is_empty() {
            true => ply,
            false => self.firsts.partition_point(|&first| first <= rank).saturating_sub(1),
        }
    }

    /// Marks the ranks found before a checkpoint, and opens those of the last ply.
    fn reload(&mut self, draft: &Draft, state: RankState) -> Result<(), Error> {
        let states = state.plies.iter().try_fold(0u64, |sum, &ply| sum.checked_add(ply));
        if state.plies.is_empty() || states != draft.rows("found") {
            return Err(draft.inconsistent());
        }
        let found = draft.tail::<u32>("found", states.unwrap_or(0) as usize)?;
        let ranks = self.game.rank_count().unwrap_or(0);
        if found.iter().any(|&rank| u64::from(rank) >= u64::from(ranks)) {
            return Err(draft.damaged("found", "invalid rank"));
        }
        parallel::map_ranges(found.len(), GRAIN, &|places| {
            found[places].iter().for_each(|&rank| {
                mark(&self.reached, rank);
            });
        });
        let last = state.plies.last().map_or(0, |&ply| ply as usize);
        let last = &found[found.len() - last..];
        parallel::map_ranges(last.len(), GRAIN, &|places| {
            for &rank in &last[places] {
                let standing = self.game.standing(Address::Rank(rank), Empties::default(), None);
                if standing.is_some_and(|standing| standing.end.is_none()) {
                    mark(&self.open, rank);
                }
            }
        });
        self.state = state;
        Ok(())
    }

    /// Returns `true` if the only move of a rank is a pass.
    fn passes(&self, rank: u32) -> bool {
        !self.firsts.is_empty()
            && self.game.mobility_at(Address::Rank(rank)) == Some(Mobility::Pass)
    }

    /// Appends `found` as the last ply; returns `false` if it is empty. Fails at an end without a distance.
    fn take(&mut self, draft: &mut Draft, found: FoundRanks) -> Result<bool, Error> {
        if let Some(End { outcome, plies }) = found.misfit.filter(|_| self.firsts.is_empty()) {
            let what = format!(
                "a game ends with a {} in {plies} for the mover; in a table by rank only the last to move wins",
                outcome.name()
            );
            let what = Error::new(what, "use --index keys");
            return Err(unfit(self.game, what));
        }
        for (layer, counts) in found.layers {
            counts_of(&mut self.state.layers, layer).add(&counts);
        }
        if found.ranks.is_empty() {
            return Ok(false);
        }
        draft.append(&[("found", bytemuck::cast_slice(&found.ranks))])?;
        self.state.plies.push(found.ranks.len() as u64);
        Ok(true)
    }

    /// Expands and closes the open ranks of some words; returns the ranks first reached, and counts of moves.
    fn expand(&self, words: Range<usize>) -> FoundRanks {
        let moves = RankedGame::new(self.game, None);
        let (mut found, mut after) = (FoundRanks::default(), Vec::new());
        let ply = self.state.plies.len();
        for place in words {
            let word = self.open[place].load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            self.open[place].store(0, Ordering::Relaxed);
            for bit in ones_of(word) {
                let rank = (place * 64 + bit) as u32;
                moves.successors(rank, &mut after);
                let layer = self.layer_of(rank, ply - 1);
                let own = &mut counts_of(&mut found.layers, layer).table;
                own.transitions += after.len() as u64;
                own.passes += u64::from(after.len() == 1 && self.passes(rank));
                for &(rank, end) in &after {
                    if mark(&self.reached, rank) {
                        found.add(self.layer_of(rank, ply), rank, end);
                        if end.is_none() {
                            mark(&self.next, rank);
                        }
                    }
                }
            }
        }
        found
    }
}

/// Returns the first rank of each layer, from the start's on; empty in games without layers.
fn firsts(game: &dyn Rules) -> Vec<u32> {
    let Some(count) = game.rank_count().filter(|_| game.is_layered()) else { return Vec::new() };
    let layer = |rank: u32| Some(game.layer(&game.state_of_rank(rank)?));
    let first_of = |number: u32| {
        (0..32).rev().fold(0u32, |rank, bit| match layer(rank + ((1 << bit) - 1)) {
            Some(layer) if layer < number => rank + (1 << bit),
            _ => rank,
        })
    };
    let last = layer(count.saturating_sub(1)).unwrap_or(0);
    (game.layer(&game.start().state)..=last).map(first_of).collect()
}
