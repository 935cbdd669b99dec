//! Whole games solved over the ranks of their positions, with moves derived from the rules.
//!
//! One byte a rank holds the state of knowledge: the distance of the end, or the number of moves that have
//! not yet been found to lose. The parity of the distance determines the winner: in these games the winner
//! makes the last ply, so a state with an odd distance is won by its mover. A drawn end is worth the same as
//! infinite play, and a move to one never loses.
//!
//! [`retrograde`] analysis works back from the ends (Ströhlein 1970; Thompson 1986): by ascending distance,
//! every predecessor of a lost state is won, and a state all of whose moves lead to won states is lost. Ends
//! themselves are not processed: the first pass counts only moves that do not lose at once. In states that
//! stay undecided neither player can force a win: play can go on for ever or to a draw.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::SweepLog;
use super::checkpoint::Checkpoint;
use crate::bits::{ones_of, set_bit};
use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel;
use crate::progress::Progress;
use crate::rules::{End, Outcome, RankedMoves, Repetition};
use crate::table::SweepRecord;
use crate::table::rows::{ENDLESS, Ranked, distance_of_end};

/// Longest distance that a byte can hold.
pub(super) const LONGEST: u8 = 200;

/// Largest number of moves: an undecided state with `n` moves left has the byte `LONGEST + n`.
const MOST_MOVES: usize = (ENDLESS - 1 - LONGEST) as usize;

/// Returns the error for a game that tables by rank cannot store.
#[cold]
fn by_keys(what: impl Into<String>) -> Error {
    Error::new(what, "enumerate with --index keys")
}

/// Returns the byte of a finished game.
fn byte_of(end: End, repetition: Repetition) -> Result<u8, Error> {
    match distance_of_end(end) {
        Some(ENDLESS) if repetition != Repetition::Draw => Err(Error::new(
            "a game ends in a draw, which tables by rank cannot distinguish from infinite play",
            "leave --repetition out, or enumerate with --index keys",
        )),
        Some(distance) => Ok(distance),
        None => Err(by_keys(format!(
            "a game ends in a way that tables by rank cannot store: {} in {}",
            end.outcome.name(),
            end.plies
        ))),
    }
}

/// Bytes of all ranks while a game is solved.
struct Bytes<'a> {
    ranked: &'a Ranked,
    moves: &'a dyn RankedMoves,
    of: Vec<AtomicU8>,
}

/// Words of a bitmap that a task takes.
const WORDS: usize = 1 << 10;

/// Bitmap of the ranks with one distance. Ranks are processed in ascending order, because the predecessors of
/// neighbours are close together.
struct Level(Vec<AtomicU64>);

impl Level {
    fn new(ranks: u32) -> Level {
        Level((0..(ranks as usize).div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn add(&self, rank: u32) {
        set_bit(&self.0[rank as usize / 64], rank % 64);
    }

    /// Takes a word of the level and clears it.
    #[inline]
    fn take(&self, place: usize) -> u64 {
        let word = self.0[place].load(Ordering::Relaxed);
        if word != 0 {
            self.0[place].store(0, Ordering::Relaxed);
        }
        word
    }
}

impl<'a> Bytes<'a> {
    fn new(ranked: &'a Ranked, moves: &'a dyn RankedMoves) -> Bytes<'a> {
        let of = parallel::column(moves.ranks() as usize, |_| AtomicU8::new(ENDLESS));
        Bytes { ranked, moves, of }
    }

    fn of(ranked: &'a Ranked, moves: &'a dyn RankedMoves, of: Vec<u8>) -> Bytes<'a> {
        // Sequential, here and in `distances`, so that the vector is reused.
        Bytes { ranked, moves, of: of.into_iter().map(AtomicU8::new).collect() }
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

    /// Calls `visit` with every reachable rank, on all threads, and joins the tasks' results.
    fn each_reachable<T: Send>(
        &self,
        none: impl Fn() -> T + Sync,
        visit: impl Fn(u32, &mut T) -> Result<(), Error> + Sync,
        join: impl Fn(T, T) -> T,
        progress: &dyn Progress,
    ) -> Result<T, Error> {
        let words = self.ranked.words();
        let found: Result<Vec<T>, Error> =
            parallel::try_map(words.len().div_ceil(WORDS), &|task| {
                let mut found = none();
                let mut count = 0;
                let own = words.iter().enumerate().skip(task * WORDS).take(WORDS);
                for (place, &word) in own {
                    count += u64::from(word.count_ones());
                    for bit in ones_of(word) {
                        visit((place * 64 + bit) as u32, &mut found)?;
                    }
                }
                progress.advance(count);
                Ok(found)
            });
        Ok(found?.into_iter().fold(none(), join))
    }

    /// Returns the distances of the reachable states, in row order.
    fn distances(self) -> Vec<u8> {
        // In place, because a second vector would double the memory.
        let mut bytes: Vec<u8> = self.of.into_iter().map(AtomicU8::into_inner).collect();
        let mut row = 0;
        for (place, &word) in self.ranked.words().iter().enumerate() {
            for bit in ones_of(word) {
                let byte = bytes[place * 64 + bit];
                bytes[row] = if byte > LONGEST { ENDLESS } else { byte };
                row += 1;
            }
        }
        bytes.truncate(row);
        bytes.shrink_to_fit();
        bytes
    }
}

/// Finds the distance of every reachable state, in row order; its parity determines the outcome. Also returns
/// `true` if an interrupted run was resumed.
pub(super) fn retrograde(
    ranked: &Ranked,
    moves: &dyn RankedMoves,
    repetition: Repetition,
    (checkpoint, progress): (&Checkpoint, &dyn Progress),
    log: &mut SweepLog<'_>,
) -> Result<(Vec<u8>, bool), Error> {
    let (mut level, mut next) = (Level::new(moves.ranks()), Level::new(moves.ranks()));
    let rows = ranked.rows() as u64;
    let saved = load(checkpoint, moves);
    let resumed = saved.is_some();
    let (bytes, mut place, mut later) = match saved {
        Some((of, sweeps, place)) => {
            let has_it = |rank: &usize| of[*rank] == place.distance;
            (0..of.len()).filter(has_it).for_each(|rank| level.add(rank as u32));
            sweeps.into_iter().for_each(|sweep| log.add(sweep));
            progress.begin("working back", Some(rows.saturating_sub(log.decided())));
            (Bytes::of(ranked, moves, of), place, 0)
        }
        None => {
            let bytes = Bytes::new(ranked, moves);
            progress.begin("counting moves", Some(rows));
            let started = Instant::now();
            let RankedEnds { won, lost, undecided } =
                bytes.count_moves([&level, &next], repetition, progress)?;
            let seconds = started.elapsed().as_secs_f64();
            progress.log(format_args!("moves counted undecided={undecided} seconds={seconds:.6}"));
            progress.begin("working back", Some(undecided));
            // The first pass decides the ends, wins in 1 and losses in 2.
            decided(log, rows - undecided);
            (bytes, LevelProgress { distance: 1, states: won }, lost)
        }
    };
    // By ascending distance: wins in 1, losses in 2, and so on; the ends are done.
    while place.states + later > 0 {
        let LevelProgress { distance, .. } = place;
        let changed = bytes.take_back(&level, &next, distance);
        progress.advance(changed);
        if changed > 0 {
            decided(log, changed);
        }
        place = LevelProgress { distance: distance + 1, states: changed + later };
        later = 0;
        std::mem::swap(&mut level, &mut next);
        if place.distance == LONGEST && place.states > 0 {
            let most =
                format!("a game lasts more than {LONGEST} plies, the limit of tables by rank");
            return Err(by_keys(most));
        }
        if place.states > 0 && checkpoint.is_due() {
            let of = |ranks: Range<usize>| -> Vec<u8> {
                bytes.of[ranks].iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
            };
            checkpoint.save_all(bytes.of.len(), of, &log.sweeps, place)?;
        }
    }
    Ok((bytes.distances(), resumed))
}

/// Progress of the work. From distance 2 on the bytes show which states have the distance.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct LevelProgress {
    /// Distance of the level to be processed, and (`states`) the number of its states.
    distance: u8,
    states: u64,
}

/// Records a level at which `changed` states were decided.
fn decided(log: &mut SweepLog<'_>, changed: u64) {
    let decided = Some(log.decided() + changed);
    log.add(SweepRecord { residual: 1.0, changed, decided });
}

/// Loads an intact checkpoint: the bytes of all ranks, the sweeps and the progress.
fn load(
    checkpoint: &Checkpoint,
    moves: &dyn RankedMoves,
) -> Option<(Vec<u8>, Vec<SweepRecord>, LevelProgress)> {
    if !checkpoint.exists() {
        return None;
    }
    let mut bytes = vec![0; moves.ranks() as usize];
    let saved = checkpoint.load::<_, LevelProgress>(&mut bytes)?;
    let fits = saved.first() == Some(0) && (2..LONGEST).contains(&saved.place.distance);
    fits.then_some((bytes, saved.sweeps, saved.place))
}

/// Numbers of states that the first pass finds.
#[derive(Default)]
struct RankedEnds {
    /// Wins in 1, with the last ply still to be played.
    won: u64,
    /// Losses in 2.
    lost: u64,
    undecided: u64,
}

impl Bytes<'_> {
    /// Sets the byte of every reachable state to its end or to the number of moves that do not lose at once;
    /// adds wins in 1 and losses in 2 to their levels.
    fn count_moves(
        &self,
        [won, lost]: [&Level; 2],
        repetition: Repetition,
        progress: &dyn Progress,
    ) -> Result<RankedEnds, Error> {
        let visit = |rank: u32, (found, ends): &mut (RankedEnds, Vec<Option<End>>)| {
            if let Some(end) = self.moves.ends(rank, ends) {
                self.set(rank, byte_of(end, repetition)?);
                return Ok(());
            }
            let after =
                |outcome| move |end: &Option<End>| end.is_some_and(|e| e.outcome == outcome);
            if ends.iter().any(after(Outcome::Loss)) {
                self.set(rank, 1);
                won.add(rank);
                found.won += 1;
                return Ok(());
            }
            let left = ends.iter().filter(|end| !after(Outcome::Win)(end)).count();
            if left > MOST_MOVES {
                let most = format!(
                    "a state has more than {MOST_MOVES} moves, the limit of tables by rank"
                );
                return Err(by_keys(most));
            }
            if left == 0 {
                self.set(rank, 2);
                lost.add(rank);
                found.lost += 1;
            } else {
                self.set(rank, LONGEST + left as u8);
                found.undecided += 1;
            }
            Ok(())
        };
        let join = |mut a: (RankedEnds, _), b: (RankedEnds, _)| {
            a.0.won += b.0.won;
            a.0.lost += b.0.lost;
            a.0.undecided += b.0.undecided;
            a
        };
        let (found, _) =
            self.each_reachable(|| (RankedEnds::default(), Vec::new()), visit, join, progress)?;
        Ok(found)
    }

    /// Adds to `next` the states that are decided, one ply farther from the end, by those in `level`, and
    /// empties `level`. Returns their number.
    fn take_back(&self, level: &Level, next: &Level, distance: u8) -> u64 {
        let won = distance % 2 == 1;
        let take_back = |places: Range<usize>| {
            let (mut found, mut before) = (0, Vec::new());
            for place in places {
                let word = level.take(place);
                for bit in ones_of(word) {
                    self.moves.predecessors((place * 64 + bit) as u32, &mut before);
                }
                before.iter().for_each(|&rank| prefetch(&self.of[rank as usize]));
                for rank in before.drain(..) {
                    if !Bytes::is_undecided(self.get(rank)) {
                        continue;
                    }
                    if won && self.loses_a_move(rank) {
                        self.set(rank, distance + 1);
                    } else if won || !self.wins(rank, distance + 1) {
                        continue;
                    }
                    next.add(rank);
                    found += 1;
                }
            }
            found
        };
        parallel::map_ranges(level.0.len(), WORDS, &take_back).iter().sum()
    }

    /// Removes one move of an undecided state; returns `true` if it was the last.
    fn loses_a_move(&self, rank: u32) -> bool {
        self.of[rank as usize].fetch_sub(1, Ordering::Relaxed) == LONGEST + 1
    }

    /// Decides a state; returns `true` if it was undecided.
    fn wins(&self, rank: u32, distance: u8) -> bool {
        Bytes::is_undecided(self.of[rank as usize].swap(distance, Ordering::Relaxed))
    }
}
