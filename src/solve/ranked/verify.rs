//! The proof of a table found by rank, from moves made anew from the rules.
//!
//! *The states.* From the start all moves are followed, through states of the table alone; each must
//! lead to a state of the table, and at the end every state must have been met. So the bits are
//! exactly the states that can be reached, a circle that nothing leads into being none of them, and
//! on the way they are counted by plies.
//!
//! *The values.* Every distance is compared with what the rules say of an end, or with those of the
//! successors. That is enough. An end in the table can be forced, by induction on its distance: a win
//! in d has a move to a loss in d − 1; of a loss in d every move leads to a win in at most d − 1. An
//! end that can be forced is in the table, by induction on the distance of best play: the state has
//! a move to a loss, or only moves to wins, that are in the table. Where neither player can force an
//! end both can go on for ever, and leaving off would lose: there play without end decides, and the
//! convention says what it is worth. No end is drawn here, or it would not have a distance.
//!
//! *Not proven*: the rules, among them that a rank and its state belong together; the record of
//! sweeps; the conventions in words.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{ENDLESS, LONGEST, byte_of, outcome_of};
use crate::game::{Outcome, Repetition};
use crate::graph::{Ranked, RankedMove, RankedMoves, ones_of};
use crate::progress::Progress;
use crate::solve::Values;
use crate::solve::{Counterexample, Verified};
use crate::table::{Counts, RootValue, Table, TableError};

/// Words of the bitmap that one count covers.
const BLOCK: usize = 8;
/// How many words of the bitmap a task takes.
const WORDS: usize = 1 << 7;

/// Proves a ranked table whose checksums have been checked; `moves` are made from the rules. The
/// counterexample is the lowest state that is wrong by itself; if there is none, the lowest that
/// cannot be reached.
pub fn verify_ranked(
    table: &Table,
    ranked: &Ranked,
    moves: &dyn RankedMoves,
    progress: &dyn Progress,
) -> Result<Verified, TableError> {
    let damaged = |name: &str, what: &str| Err(TableError::damaged(&table.dir().join(name), what));
    let manifest = table.manifest();
    let identity = &manifest.identity;
    let bounded = identity.max_depth.is_some() || identity.max_states.is_some();
    if identity.start != "standard" || bounded || identity.checks_only {
        return damaged("manifest.json", "it is found by rank, but not the whole game");
    }
    let words = ranked.words();
    if words.len() != (moves.ranks() as usize).div_ceil(64) {
        return damaged("manifest.json", "its bits are not as many as the ranks");
    }
    let solved = Values::open(table, false)?;
    if solved.as_ref().is_some_and(|s| s.repetition() == Repetition::SecondPlayerWins) {
        return damaged("manifest.json", "its states do not tell who the second player is");
    }
    let rows = count(words);
    let counted = (rows == ranked.rows()) && counts_are_right(ranked);
    // Rows that are counted wrong have no distances to be looked up.
    let distances = solved.as_ref().and_then(Values::ranked_distances);
    let distances = distances.filter(|_| counted);
    progress.begin("proving", Some(rows as u64));
    let proof = Proof {
        ranked,
        moves,
        distances,
        reached: words.iter().map(|_| AtomicU64::new(0)).collect(),
    };
    let (plies, wrong) = proof.run(progress);
    progress.finish(if wrong.is_none() { "proven" } else { "refuted" });
    if wrong.is_none() && rows != ranked.rows() {
        return damaged("manifest.json", "its counts are not those of the rows");
    }
    if wrong.is_none() && !counted {
        return damaged("rank_counts.npy", "its counts are not those of the bits");
    }
    let mut all = Counts::default();
    plies.iter().for_each(|ply| all.add(ply));
    if wrong.is_none()
        && let Some(what) = proof.manifest(table, &plies, &all, solved.as_ref())
    {
        return damaged("manifest.json", what);
    }
    Ok(Verified {
        states: rows as u64,
        edges: all.table.transitions,
        solved: solved.is_some(),
        counterexample: wrong.map(|(rank, what)| proof.counterexample(rank, what)),
    })
}

fn count(words: &[u64]) -> usize {
    words.par_iter().with_min_len(1 << 14).map(|word| word.count_ones() as usize).sum()
}

/// Whether every count is the number of bits before its block.
fn counts_are_right(ranked: &Ranked) -> bool {
    let mut before = 0u64;
    ranked.words().chunks(BLOCK).zip(ranked.block_counts()).all(|(block, &count)| {
        let right = u64::from(count) == before;
        before += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        right
    })
}

/// A rank and what is wrong with its state.
type Wrong = Option<(u32, String)>;

struct Proof<'a> {
    ranked: &'a Ranked,
    moves: &'a dyn RankedMoves,
    distances: Option<&'a [u8]>,
    /// A bit a rank: whether it has been met on the way from the start.
    reached: Vec<AtomicU64>,
}

impl Proof<'_> {
    /// Follows all moves from the start; gives the counts of every ply.
    fn run(&self, progress: &dyn Progress) -> (Vec<Counts>, Wrong) {
        let (mut plies, mut wrong) = (Vec::new(), self.beyond());
        let Some(start) = self.moves.start().filter(|&rank| self.ranked.contains(rank)) else {
            let start = self.moves.start().unwrap_or(0);
            return (plies, earlier(wrong, Some((start, "the start is not in the table".into()))));
        };
        self.reach(start);
        let mut done = vec![0u64; self.reached.len()];
        loop {
            // The ply that has been reached and not been followed.
            let mut found = 0;
            let mut open = vec![0u64; done.len()];
            for ((open, done), reached) in open.iter_mut().zip(&mut done).zip(&self.reached) {
                let reached = reached.load(Ordering::Relaxed);
                *open = reached & !*done;
                *done = reached;
                found |= *open;
            }
            if found == 0 {
                break;
            }
            let (ply, first) = self.ply(&open, progress);
            plies.push(ply);
            wrong = earlier(wrong, first);
        }
        if wrong.is_none() {
            let words = self.ranked.words().par_iter().zip(&done).enumerate();
            let missed = |(at, (word, done)): (usize, (&u64, &u64))| {
                let bit = ones_of(word & !done).next()?;
                Some((at as u32 * 64 + bit, "no moves from the start lead to it".to_string()))
            };
            wrong = words.with_min_len(1 << 14).find_map_first(missed);
        }
        (plies, wrong)
    }

    /// The first bit set that is no rank's.
    fn beyond(&self) -> Wrong {
        let ranks = self.moves.ranks();
        let (at, word) = (ranks / 64, self.ranked.words().last().copied().unwrap_or(0));
        let bit = ones_of(word).map(|bit| at * 64 + bit).find(|&rank| rank >= ranks)?;
        (!ranks.is_multiple_of(64)).then(|| (bit, "no state has this rank".to_string()))
    }

    fn reach(&self, rank: u32) {
        let (word, bit) = (&self.reached[rank as usize / 64], 1 << (rank % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Proves the states of a ply, marking where their moves lead.
    fn ply(&self, open: &[u64], progress: &dyn Progress) -> (Counts, Wrong) {
        let prove = |(chunk, words): (usize, &[u64])| {
            let (mut counts, mut wrong, mut room) = (Counts::default(), None, Vec::new());
            for (at, &word) in words.iter().enumerate() {
                let first = ((chunk * WORDS + at) * 64) as u32;
                for bit in ones_of(word) {
                    if let Err(what) = self.state(first + bit, &mut room, &mut counts) {
                        wrong = earlier(wrong, Some((first + bit, what)));
                    }
                }
            }
            progress.advance(counts.table.states);
            (counts, wrong)
        };
        open.par_chunks(WORDS).enumerate().map(prove).reduce(
            || (Counts::default(), None),
            |mut a, b| {
                a.0.add(&b.0);
                (a.0, earlier(a.1, b.1))
            },
        )
    }

    /// Proves one state and counts it.
    fn state(
        &self,
        rank: u32,
        room: &mut Vec<RankedMove>,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let end = self.moves.expand(rank, room);
        counts.table.states += 1;
        counts.terminals_won.get_or_insert(0);
        counts.table.transitions += room.len() as u64;
        if let Some(end) = end {
            counts.table.terminals += 1;
            *counts.terminals_won.get_or_insert(0) += u64::from(end.outcome == Outcome::Win);
        } else if room.is_empty() {
            return Err("it has neither a move nor an end".to_string());
        }
        let mut out = false;
        for m in room.iter() {
            match m.rank.filter(|&rank| self.ranked.contains(rank)) {
                Some(rank) => self.reach(rank),
                None => out = true,
            }
        }
        if out {
            return Err("one of its moves leads out of the table".to_string());
        }
        let Some(distances) = self.distances else { return Ok(()) };
        let of = |rank: u32| self.ranked.row(rank).map_or(ENDLESS, |row| distances[row]);
        let wanted = match end {
            Some(end) => byte_of(end).map_err(|error| error.to_string())?,
            None => backed_up(room.iter().filter_map(|m| m.rank).map(of)),
        };
        let found = of(rank);
        if found > LONGEST && found != ENDLESS {
            return Err(format!("its distance is {found}, where there is room for {LONGEST}"));
        }
        if found != wanted {
            return Err(format!(
                "its value is {}, the rules and its successors give {}",
                name_of(found),
                name_of(wanted)
            ));
        }
        Ok(())
    }

    /// What the manifest says that was not found.
    fn manifest(
        &self,
        table: &Table,
        plies: &[Counts],
        all: &Counts,
        solved: Option<&Values>,
    ) -> Option<&'static str> {
        let manifest = table.manifest();
        if manifest.counts != *all || manifest.layers != plies || manifest.first_layer != 0 {
            return Some("its counts are not those of the rows");
        }
        let root = self.moves.start().and_then(|rank| self.ranked.row(rank));
        if manifest.root_ids.iter().map(|&id| Some(id as usize)).ne([root]) {
            return Some("its root_ids are not the rows of its roots");
        }
        if !manifest.complete || manifest.discounted.is_some() {
            return Some("it is not what a whole table's is");
        }
        let (solution, solved) = (manifest.solution.as_ref()?, solved?);
        let distances = self.distances?;
        let ended = distances.par_iter().with_min_len(1 << 16).filter(|&&d| d != ENDLESS).count();
        let known = solved.repetition() != Repetition::Unknown;
        let proven = if known { distances.len() } else { ended };
        if (solution.proven_outcomes, solution.exact_distances) != (proven as u64, ended as u64) {
            return Some("its solution does not prove as much as it says");
        }
        let distance = distances[root?];
        let unforced = if known { Some(Outcome::Draw) } else { None };
        let value = RootValue {
            outcome: outcome_of(distance).or(unforced).map(Outcome::value),
            score: None,
            distance: (distance != ENDLESS).then(|| u16::from(distance)),
        };
        (solution.roots != [value])
            .then_some("the value it gives its root is not that of the root's row")
    }

    fn counterexample(&self, rank: u32, what: String) -> Counterexample {
        let (words, at) = (self.ranked.words(), rank as usize / 64);
        let below = words[at] & ((1 << (rank % 64)) - 1);
        let state = match rank < self.moves.ranks() {
            true => self.moves.describe(rank),
            false => "no position".to_string(),
        };
        Counterexample { row: count(&words[..at]) + below.count_ones() as usize, state, what }
    }
}

/// The distance that those of the successors give: one more than the shortest loss there, or than
/// the longest win if there are only wins.
fn backed_up(successors: impl Iterator<Item = u8>) -> u8 {
    let (mut loss, mut win, mut open) = (None::<u8>, 0, false);
    for distance in successors {
        match outcome_of(distance) {
            Some(Outcome::Loss) => loss = Some(loss.map_or(distance, |known| known.min(distance))),
            Some(_) => win = win.max(distance),
            None => open = true,
        }
    }
    match (loss, open) {
        (Some(loss), _) => loss.saturating_add(1),
        (None, true) => ENDLESS,
        (None, false) => win.saturating_add(1),
    }
}

fn name_of(distance: u8) -> String {
    match outcome_of(distance) {
        Some(outcome) => format!("a {} in {distance}", outcome.name()),
        None => "open, no end being forced".to_string(),
    }
}

fn earlier(a: Wrong, b: Wrong) -> Wrong {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}
