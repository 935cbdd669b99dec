//! Whole games solved over the ranks of their positions, moves being made from the rules.
//!
//! One byte a rank holds all that is known of a state: how far the end is, or how many of its moves
//! have not yet been found to lose. The parity of the distance tells who wins: in these games the
//! last ply is the winner's, so a state whose end is an odd number of plies away is won by its
//! mover.
//!
//! * [`retrograde`] works back from the ends (Bellman 1965; Thompson 1986): by rising distance,
//!   every predecessor of a lost state is won, and a state all of whose moves lead to won states is
//!   lost. Ends themselves are never taken back: the first pass counts only moves that do not lose
//!   at once.
//! * [`iterate`] sweeps the states that are undecided, forwards (Jacobi value iteration): after
//!   sweep n it knows every end that can be forced in n plies.
//!
//! What neither decides can be played on for ever.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use crate::game::{End, Outcome};
use crate::graph::{Ranked, RankedMoves, ones_of};
use crate::parallel;
use crate::progress::Progress;
use crate::solve::backup::Backup;
use crate::solve::sweep::{Jacobi, Successors};
use crate::table::SweepRecord;

/// What `distance` holds in a ranked table where no end can be forced.
pub const ENDLESS: u8 = u8::MAX;

/// The longest distance there is room for.
pub const LONGEST: u8 = 200;

/// A state that is undecided with `n` moves left has the byte `LONGEST + n`.
const MOST_MOVES: usize = (ENDLESS - 1 - LONGEST) as usize;

/// A game that does not fit in the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RankedError {
    /// More plies than a byte holds.
    #[error("an end is more than {LONGEST} plies away, which this way of solving has no room for")]
    TooLong,
    /// More moves than a byte counts.
    #[error("a state has more than {MOST_MOVES} moves, which this way of solving has no room for")]
    TooManyMoves,
    /// The last ply is not the winner's.
    #[error("a game ends in a way that this way of solving has no room for: {0}")]
    Ending(String),
}

/// What a state's distance says of its outcome, for its mover; `None` where no end can be forced.
pub fn outcome_of(distance: u8) -> Option<Outcome> {
    match distance {
        ENDLESS => None,
        d if d % 2 == 1 => Some(Outcome::Win),
        _ => Some(Outcome::Loss),
    }
}

/// The byte of a finished game.
fn byte_of(end: End) -> Result<u8, RankedError> {
    let byte = u8::try_from(end.plies).ok().filter(|&plies| plies <= 1);
    byte.filter(|&byte| outcome_of(byte) == Some(end.outcome))
        .ok_or_else(|| RankedError::Ending(format!("{} in {}", end.outcome.name(), end.plies)))
}

/// The bytes of all ranks while a game is solved.
struct Bytes<'a> {
    ranked: &'a Ranked,
    moves: &'a dyn RankedMoves,
    of: Vec<AtomicU8>,
}

/// How many words of the bitmap a task takes.
const WORDS: usize = 1 << 8;
/// How many ranks a task takes.
const GRAIN: usize = 1 << 10;

impl<'a> Bytes<'a> {
    fn new(ranked: &'a Ranked, moves: &'a dyn RankedMoves) -> Bytes<'a> {
        let of = parallel::column(moves.ranks() as usize, |_| AtomicU8::new(ENDLESS));
        Bytes { ranked, moves, of }
    }

    #[inline]
    fn get(&self, rank: u32) -> u8 {
        self.of[rank as usize].load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, rank: u32, byte: u8) {
        self.of[rank as usize].store(byte, Ordering::Relaxed);
    }

    fn is_undecided(byte: u8) -> bool {
        byte > LONGEST && byte != ENDLESS
    }

    /// Calls `visit` with pieces of the reachable ranks, on all threads, and joins what it gives.
    fn each_reachable<T: Send>(
        &self,
        none: impl Fn() -> T + Sync,
        visit: impl Fn(u32, &mut T) -> Result<(), RankedError> + Sync,
        join: impl Fn(T, T) -> T,
        progress: &dyn Progress,
    ) -> Result<T, RankedError> {
        let words = self.ranked.words();
        let found = parallel::try_map(words.len().div_ceil(WORDS), &|task| {
            let mut found = none();
            let mut count = 0;
            let own = words.iter().enumerate().skip(task * WORDS).take(WORDS);
            for (place, &word) in own {
                count += u64::from(word.count_ones());
                for bit in ones_of(word) {
                    visit((place * 64) as u32 + bit, &mut found)?;
                }
            }
            progress.advance(count);
            Ok(found)
        });
        Ok(found?.into_iter().fold(none(), join))
    }

    /// The distances of the reachable states, in the order of rows.
    fn distances(self) -> Vec<u8> {
        let words = self.ranked.words();
        let of = |places: Range<usize>| {
            let mut out = Vec::with_capacity(WORDS * 16);
            for place in places {
                out.extend(ones_of(words[place]).map(
                    |bit| match self.get((place * 64) as u32 + bit) {
                        byte if byte > LONGEST => ENDLESS,
                        byte => byte,
                    },
                ));
            }
            out
        };
        parallel::map_ranges(words.len(), WORDS, &of).concat()
    }
}

/// The distance of every reachable state by retrograde analysis, in the order of rows;
/// [`outcome_of`] says what it means.
pub fn retrograde(
    ranked: &Ranked,
    moves: &dyn RankedMoves,
    progress: &dyn Progress,
    mut each: impl FnMut(usize, &SweepRecord),
) -> Result<Vec<u8>, RankedError> {
    let bytes = Bytes::new(ranked, moves);
    progress.begin("counting moves", Some(ranked.rows() as u64));
    let started = Instant::now();
    let Ends { won, lost, undecided } = bytes.count_moves(progress)?;
    tracing::info!(seconds = started.elapsed().as_secs_f64(), undecided, "moves counted");
    progress.begin("working back", Some(undecided));
    // By distance: won in 1 besides the ends, lost in 2, and so on.
    let mut level = won;
    let mut next_level = lost;
    let mut decided = ranked.rows() as u64 - undecided;
    // The first pass has found the ends, and what is one move away from them alone.
    each(1, &SweepRecord { residual: 1.0, changed: decided, decided: Some(decided) });
    let mut distance = 1u8;
    while !level.is_empty() || !next_level.is_empty() {
        let started = Instant::now();
        let mut found = bytes.take_back(&level, distance);
        let changed = found.len() as u64;
        decided += changed;
        progress.advance(changed);
        tracing::debug!(distance, states = level.len(), seconds = started.elapsed().as_secs_f64());
        if distance == 1 {
            found.append(&mut next_level);
        }
        if changed > 0 {
            let sweep = usize::from(distance) + 1;
            each(sweep, &SweepRecord { residual: 1.0, changed, decided: Some(decided) });
        }
        level = found;
        distance += 1;
        if distance == LONGEST && !level.is_empty() {
            return Err(RankedError::TooLong);
        }
    }
    Ok(bytes.distances())
}

/// What the first pass finds.
#[derive(Default)]
struct Ends {
    /// States won in 1 whose end is still to be played.
    won: Vec<u32>,
    /// States lost in 2.
    lost: Vec<u32>,
    undecided: u64,
}

impl Bytes<'_> {
    /// Gives every reachable state its end, or the number of moves that do not lose at once.
    fn count_moves(&self, progress: &dyn Progress) -> Result<Ends, RankedError> {
        let visit = |rank: u32, (found, ends): &mut (Ends, Vec<Option<End>>)| {
            if let Some(end) = self.moves.ends(rank, ends) {
                self.set(rank, byte_of(end)?);
                return Ok(());
            }
            let after =
                |outcome| move |end: &Option<End>| end.is_some_and(|e| e.outcome == outcome);
            if ends.iter().any(after(Outcome::Loss)) {
                self.set(rank, 1);
                found.won.push(rank);
                return Ok(());
            }
            let left = ends.iter().filter(|end| !after(Outcome::Win)(end)).count();
            if left > MOST_MOVES {
                return Err(RankedError::TooManyMoves);
            }
            if left == 0 {
                self.set(rank, 2);
                found.lost.push(rank);
            } else {
                self.set(rank, LONGEST + left as u8);
                found.undecided += 1;
            }
            Ok(())
        };
        let join = |mut a: (Ends, _), mut b: (Ends, _)| {
            a.0.won.append(&mut b.0.won);
            a.0.lost.append(&mut b.0.lost);
            a.0.undecided += b.0.undecided;
            a
        };
        let (found, _) =
            self.each_reachable(|| (Ends::default(), Vec::new()), visit, join, progress)?;
        Ok(found)
    }

    /// The states that are decided, one ply farther from the end, because those in `level` are.
    fn take_back(&self, level: &[u32], distance: u8) -> Vec<u32> {
        let won = distance % 2 == 1;
        let take_back = |places: Range<usize>| {
            let (mut found, mut predecessors) = (Vec::new(), Vec::new());
            for &rank in &level[places] {
                self.moves.predecessors(rank, &mut predecessors);
                for &before in &predecessors {
                    if !Bytes::is_undecided(self.get(before)) {
                        continue;
                    }
                    if won && self.loses_a_move(before) {
                        self.set(before, distance + 1);
                        found.push(before);
                    } else if !won && self.wins(before, distance + 1) {
                        found.push(before);
                    }
                }
            }
            found
        };
        parallel::map_ranges(level.len(), GRAIN, &take_back).concat()
    }

    /// Takes one move off an undecided state; tells whether it was the last.
    fn loses_a_move(&self, rank: u32) -> bool {
        self.of[rank as usize].fetch_sub(1, Ordering::Relaxed) == LONGEST + 1
    }

    /// Decides a state; tells whether it was undecided.
    fn wins(&self, rank: u32, distance: u8) -> bool {
        Bytes::is_undecided(self.of[rank as usize].swap(distance, Ordering::Relaxed))
    }
}

/// The distance of every reachable state by value iteration, in the order of rows.
pub fn iterate(
    ranked: &Ranked,
    moves: &dyn RankedMoves,
    progress: &dyn Progress,
    mut each: impl FnMut(usize, &SweepRecord),
) -> Result<Vec<u8>, RankedError> {
    let mut bytes = Bytes::new(ranked, moves);
    progress.begin("finding ends", Some(ranked.rows() as u64));
    let end = |rank: u32, (left, ends): &mut (Vec<u32>, Vec<Option<End>>)| {
        match moves.ends(rank, ends) {
            Some(end) => bytes.set(rank, byte_of(end)?),
            None => {
                bytes.set(rank, LONGEST + 1);
                left.push(rank);
            }
        }
        Ok(())
    };
    let join = |mut a: (Vec<u32>, _), mut b: (Vec<u32>, _)| {
        a.0.append(&mut b.0);
        a
    };
    let (rows, _) = bytes.each_reachable(|| (Vec::new(), Vec::new()), end, join, progress)?;
    // Not in parallel, here and back: so the vector is reused.
    let mut values: Vec<u8> = bytes.of.into_iter().map(AtomicU8::into_inner).collect();
    let mut jacobi =
        Jacobi { backup: &ByteBackup, moves: &moves, values: &mut values, rows, sweeps: 0 };
    loop {
        let name = format!("sweep {}", jacobi.sweeps + 1);
        progress.begin(&name, Some(jacobi.rows.len() as u64));
        let swept = jacobi.sweep(progress);
        let decided = Some((ranked.rows() - jacobi.rows.len()) as u64);
        each(jacobi.sweeps, &SweepRecord { decided, ..swept });
        // The ends are 0 and 1 plies away, so the first sweep may find nothing yet.
        if swept.changed == 0 && jacobi.sweeps > 1 {
            break;
        }
        if jacobi.sweeps == usize::from(LONGEST) {
            return Err(RankedError::TooLong);
        }
    }
    bytes.of = values.into_iter().map(AtomicU8::new).collect();
    Ok(bytes.distances())
}

impl Successors for &dyn RankedMoves {
    fn of<'a>(&'a self, row: usize, room: &'a mut Vec<u32>) -> &'a [u32] {
        self.successors(row as u32, room);
        room
    }
}

/// Distances as bytes.
struct ByteBackup;

impl Backup for ByteBackup {
    type Value = u8;

    /// Finished games are not swept.
    fn leaf(&self, _row: usize) -> u8 {
        ENDLESS
    }

    fn backup(&self, _row: usize, successors: impl Iterator<Item = u8> + Clone) -> u8 {
        let decided = |byte: &u8| *byte <= LONGEST;
        if let Some(lost) = successors.clone().filter(|byte| decided(byte) && byte % 2 == 0).min() {
            return lost + 1;
        }
        let mut all = successors;
        match all.clone().all(|byte| decided(&byte)) {
            true => all.by_ref().max().map_or(ENDLESS, |won| won + 1),
            false => LONGEST + 1,
        }
    }

    fn change(&self, old: u8, new: u8) -> f64 {
        f64::from(u8::from(old != new))
    }

    fn is_final(&self, value: u8, _sweep: usize) -> bool {
        value <= LONGEST
    }
}
