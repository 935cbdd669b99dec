//! Exact solution of graphs with cycles: winner and number of plies, or proven bounds where a subtree is cut
//! off.
//!
//! A game with cycles may never end, so one walk backwards over layers does not find its values. [`iterate`]
//! sweeps all states until nothing changes (value iteration: Bellman 1957; Shapley 1953). It knows no rules:
//! the [`CyclicGraph`] provides the ends of finished games and, where it matters, the side to move.
//!
//! # Values
//!
//! A [`Prospect`] is an outcome that the mover can expect: a win or loss with its distance, a draw, or a win
//! or loss by infinite play. A state has an interval of them, and
//!
//! ```text
//! lower(s) = max over successors t of before(upper(t))
//! upper(s) = max over successors t of before(lower(t))
//! ```
//!
//! where `before` reverses the sign and moves the end one ply further away. Fixed values are:
//!
//! | kind | lower | upper |
//! |---|---|---|
//! | terminal | its end | its end |
//! | frontier: moves not followed | loss in 2 | win in 1 |
//!
//! All others start at the value of infinite play ([`Repetition`](crate::rules::Repetition)); the solution is
//! the fixed point that sweeps reach from there.
//!
//! # Why this is exact
//!
//! *One player against the other.* A bound depends only on bounds of the other kind, so the pairs (state,
//! bound) form a graph of their own, with an ordinary game on it between a hero, who moves in every `lower`,
//! and an opponent, who moves in every `upper`. Infinite play has one value h for the hero, −1, 0 or +1,
//! throughout a play: 0 if it is a draw, −1 if it is unknown, and if the second player wins it, +1 or −1
//! depending on whether the hero is that player, since the players alternate.
//!
//! *Horizon.* After n sweeps a value is that of the game stopped after n plies, with h at the stop and the
//! fixed values where they are met earlier.
//!
//! *Convergence.* A sweep is monotone, and `before` maps h to h, so sweeping commutes with clipping all
//! values at h from below, and from above. Clipped from below, values start at their minimum and only rise;
//! clipped from above, they only fall. So a value that has left h never returns and keeps moving in one
//! direction. There are finitely many values, so some sweep changes nothing, and its values are those of the
//! infinite game: the best that either player can force in any number of plies, and h if neither can.
//!
//! *Ends known early stay.* Let a value be a win in d after n sweeps, and let it later become a win in d' <
//! d. The play that forces it takes at most d' plies. If d' ≤ n, it would have been found after n sweeps. So
//! d ≥ d' + 1 ≥ n + 2: **an end at most n + 1 plies away is final after n sweeps.** Where, as usual, games
//! are lost in an even and won in an odd number of plies, d ≥ d' + 2, and an end at most n + 2 plies away is
//! final. No fixed value above is more than 2 plies further away than its path, so unless the given ends are,
//! each bound becomes an end at most once and is final then. Losses are wins of the other player. A state
//! both of whose bounds are final is *decided* and is not swept again.

use std::ops::Range;

use super::SweepLog;
use super::backup::Backup;
use super::checkpoint::Checkpoint;
use super::sweep::{Jacobi, StoredMoves};
use super::value::{Prospect, Value};
use crate::error::Error;
use crate::parallel;
use crate::progress::Progress;
use crate::rules::{Empties, Outcome, Repetition, Rules, Side};
use crate::table::rows::{Rows, StateKind};
use crate::table::{SweepRecord, Table};

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

/// Solves a table of sorted keys of a game with cycles. Returns its values, and `true` if a run was resumed.
pub(super) fn solve(
    game: &dyn Rules,
    table: &Table,
    graph: &Rows,
    repetition: Repetition,
    (checkpoint, progress): (&Checkpoint, &dyn Progress),
    log: &mut SweepLog<'_>,
) -> Result<(Vec<Value>, bool), Error> {
    // An invalid key that passed its checksum was written wrong; `verify` reports it.
    let end = |row: usize| {
        let standing =
            graph.address(row).and_then(|at| game.standing(at, Empties::default(), None));
        let end = standing.and_then(|standing| standing.end);
        end.map_or((Outcome::Loss, 0), |end| (end.outcome, end.plies))
    };
    let is_second =
        |row: usize| graph.keys().get(row).is_some_and(|key| game.side_of(key) == Side::Second);
    // Every edge needs the sides of both ends: they are found once.
    let rows = if repetition == Repetition::SecondPlayerWins { graph.states() } else { 0 };
    let second: Vec<u8> = parallel::column(rows, |row| u8::from(is_second(row)));
    let edges_of = |row| graph.edges_of(row);
    let graph = CyclicGraph {
        kinds: graph.kinds(),
        moves: StoredMoves { edges_of: &edges_of, targets: graph.edge_targets() },
        end: &end,
        second_to_move: &|row| second[row] == 1,
        repetition,
    };
    graph.check().map_err(|wrong| Error::damaged(table.dir(), wrong))?;
    progress.begin(&format!("solving {}", table.name()), Some(graph.states() as u64));
    iterate(&graph, checkpoint, progress, log)
}

const INTERIOR: u8 = StateKind::Interior as u8;
const TERMINAL: u8 = StateKind::Terminal as u8;

/// Function that returns a terminal row's outcome for its mover, and the plies to that end: 0 if it is over.
type GameEnd<'a> = dyn Fn(usize) -> (Outcome, u16) + Sync + 'a;

/// Function that returns `true` if the player to move in a row is the one who did not open the game.
type SecondToMove<'a> = dyn Fn(usize) -> bool + Sync + 'a;

/// Rows that may have cycles.
///
/// Rows are numbered below 2³². Nothing is copied: the slices may be mapped files.
#[derive(Clone, Copy)]
pub(super) struct CyclicGraph<'a> {
    /// Kind of each row: 0 interior, 1 terminal, 2 frontier.
    pub kinds: &'a [u8],
    /// Target rows of edges; duplicates are harmless.
    pub moves: StoredMoves<'a>,
    /// Ends of terminal rows.
    pub end: &'a GameEnd<'a>,
    /// Side to move; used only if the second player wins by repetition. Every edge must then change it.
    pub second_to_move: &'a SecondToMove<'a>,
    /// Value of infinite play.
    pub repetition: Repetition,
}

impl CyclicGraph<'_> {
    /// Returns the number of rows.
    fn states(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the target rows of a row's edges.
    #[inline]
    fn edges(&self, row: usize) -> &[u32] {
        self.moves.of(row)
    }

    /// Checks that the graph can be solved: edges lead to rows, interior rows have edges, terminal and
    /// frontier rows have none, and every edge changes the side to move if that matters. Offsets must be
    /// valid.
    ///
    /// The solvers rely on this: on other graphs they may panic or not terminate.
    fn check(&self) -> Result<(), String> {
        let wrong = |row| self.fault(row).map(|what| format!("row {row}: {what}"));
        parallel::find_map(self.states(), wrong).map_or(Ok(()), Err)
    }

    fn fault(&self, row: usize) -> Option<&'static str> {
        let edges = self.edges(row);
        match self.kinds[row] {
            INTERIOR if edges.is_empty() => return Some("interior without edges"),
            INTERIOR => {}
            3.. => return Some("invalid kind"),
            _ if !edges.is_empty() => return Some("not interior, but with edges"),
            _ => return None,
        }
        if edges.iter().any(|&target| target as usize >= self.states()) {
            return Some("an edge leads out of the graph");
        }
        if self.repetition == Repetition::SecondPlayerWins {
            let side = (self.second_to_move)(row);
            if edges.iter().any(|&target| (self.second_to_move)(target as usize) == side) {
                return Some("an edge leads to a state with the same player to move");
            }
        }
        None
    }

    /// Returns `true` if lower and upper bounds coincide: nothing is cut off and infinite play has a value.
    fn bounds_coincide(&self) -> bool {
        let cut = |row: usize| (!matches!(self.kinds[row], INTERIOR | TERMINAL)).then_some(row);
        self.repetition != Repetition::Unknown && parallel::find_map(self.states(), cut).is_none()
    }

    /// Returns a row's bounds before the first sweep.
    fn at_first<const BOUNDS: usize>(&self, row: usize) -> Bounds<BOUNDS> {
        let Value { lower, upper } = match self.kinds[row] {
            INTERIOR => self.without_end(row),
            TERMINAL => {
                let (outcome, plies) = (self.end)(row);
                Value::exactly(Prospect::of_end(outcome, plies))
            }
            _ => Value::CUT_OFF,
        };
        std::array::from_fn(|bound| if bound == 0 { lower } else { upper })
    }

    fn without_end(&self, row: usize) -> Value {
        match self.repetition {
            Repetition::Draw => Value::exactly(Prospect::DRAW),
            Repetition::SecondPlayerWins if (self.second_to_move)(row) => {
                Value::exactly(Prospect::ENDLESS_WIN)
            }
            Repetition::SecondPlayerWins => Value::exactly(Prospect::ENDLESS_LOSS),
            Repetition::Unknown => {
                Value { lower: Prospect::ENDLESS_LOSS, upper: Prospect::ENDLESS_WIN }
            }
        }
    }
}

/// Bounds kept of a state: lower and upper, or only one of them where they coincide.
///
/// Bound `i` of a state depends on bound `BOUNDS − 1 − i` of its successors.
type Bounds<const BOUNDS: usize> = [Prospect; BOUNDS];

/// Solves a graph by sweeps, each from the values before it (Jacobi), until one changes nothing. Decided
/// states are left out of later sweeps.
///
/// The n-th sweep finds the ends that are n plies away, so there are as many sweeps as the longest forced
/// game has plies, and one to confirm. In the record of a sweep `residual` is the largest change of a bound:
/// the difference in plies between two ends with the same winner, 1 for any other change, 0 for none.
/// `changed` is the number of states with a changed bound, and `decided` the number of states with moves
/// whose bounds are, so far, both ends and final. The graph must pass [`CyclicGraph::check`].
///
/// Returns one interval per state, its mover's, and `true` if an interrupted run was resumed. Takes 8 bytes
/// of memory per state and up to 16 per state with moves.
fn iterate(
    graph: &CyclicGraph<'_>,
    checkpoint: &Checkpoint,
    progress: &dyn Progress,
    log: &mut SweepLog<'_>,
) -> Result<(Vec<Value>, bool), Error> {
    match graph.bounds_coincide() {
        true => sweep::<1>(graph, checkpoint, progress, log),
        false => sweep::<2>(graph, checkpoint, progress, log),
    }
}

fn sweep<const BOUNDS: usize>(
    graph: &CyclicGraph<'_>,
    checkpoint: &Checkpoint,
    progress: &dyn Progress,
    log: &mut SweepLog<'_>,
) -> Result<(Vec<Value>, bool), Error> {
    let states = graph.states();
    let at_first = || parallel::column(states, |row| graph.at_first::<BOUNDS>(row));
    let mut values = at_first();
    // The winner makes the last move: wins take an odd number of plies, losses an even one.
    let uneven = |row: usize| {
        let end = values[row][0];
        let odd = u16::from(end.outcome() == Outcome::Win);
        let uneven = end.distance().is_some_and(|plies| plies % 2 != odd);
        (graph.kinds[row] == TERMINAL && uneven).then_some(row)
    };
    let lead = if parallel::find_map(states, uneven).is_some() { 1 } else { 2 };
    // Rows without moves are known before the first sweep, and most of them come last.
    let has_moves = |row: usize| graph.kinds[row] == INTERIOR;
    let unknown = (0..states).rev().find(|&row| has_moves(row)).map_or(0, |row| row + 1);
    let saved = checkpoint.load::<_, ()>(&mut values[..unknown]);
    let saved = saved.filter(|saved| saved.first() == Some(0));
    let resumed = saved.is_some();
    match saved {
        Some(saved) => saved.sweeps.into_iter().for_each(|sweep| log.add(sweep)),
        None if checkpoint.exists() => values = at_first(),
        None => {}
    }
    let (backup, sweeps) = (CyclicBackup { graph, lead }, log.sweeps.len());
    let open = |row: usize| has_moves(row) && !backup.is_final(values[row], sweeps);
    let rows = parallel::select(states, open);
    let (backup, moves) = (&backup, graph.moves);
    let mut jacobi = Jacobi { backup, moves, values: &mut values, rows, sweeps };
    loop {
        let swept = jacobi.sweep();
        progress.advance(swept.decided);
        let decided = Some(log.decided() + swept.decided);
        log.add(SweepRecord { decided, ..swept.record() });
        if swept.changed == 0 {
            break;
        }
        if checkpoint.is_due() {
            let of = |rows: Range<usize>| jacobi.values[rows].to_vec();
            checkpoint.save_all(unknown, of, &log.sweeps, ())?;
        }
    }
    let interval = |value: Bounds<BOUNDS>| Value { lower: value[0], upper: value[BOUNDS - 1] };
    // Sequential, so that the vector is reused where the sizes are the same.
    Ok((values.into_iter().map(interval).collect(), resumed))
}

/// Bounds of prospects in a graph that may have cycles.
struct CyclicBackup<'a, const BOUNDS: usize> {
    graph: &'a CyclicGraph<'a>,
    /// After `n` sweeps an end at most `n + lead` plies away is final.
    lead: usize,
}

impl<const BOUNDS: usize> Backup for CyclicBackup<'_, BOUNDS> {
    type Value = Bounds<BOUNDS>;

    fn leaf(&self, row: usize) -> Bounds<BOUNDS> {
        self.graph.at_first(row)
    }

    #[inline]
    fn backup(&self, successors: impl Iterator<Item = Bounds<BOUNDS>> + Clone) -> Bounds<BOUNDS> {
        // The best move is the one to the worst prospect, since `before` never rises.
        let mut worst = [Prospect::BEST; BOUNDS];
        for value in successors {
            for bound in 0..BOUNDS {
                worst[bound] = worst[bound].min(value[bound]);
            }
        }
        std::array::from_fn(|bound| worst[BOUNDS - 1 - bound].before())
    }

    /// Returns the difference in plies between two ends with the same winner, and 1 for any other change.
    fn change(&self, old: Bounds<BOUNDS>, new: Bounds<BOUNDS>) -> f64 {
        let apart = |(old, new): (Prospect, Prospect)| match (old.distance(), new.distance()) {
            (Some(a), Some(b)) if old.outcome() == new.outcome() => a.abs_diff(b),
            _ => u16::from(old != new),
        };
        old.into_iter().zip(new).map(apart).max().map_or(0.0, f64::from)
    }

    fn is_final(&self, value: Bounds<BOUNDS>, sweep: usize) -> bool {
        // The longest distance also stands for longer ones, and may still become shorter.
        let last = (sweep + self.lead).min(usize::from(Prospect::MAX_DISTANCE) - 1);
        value.iter().all(|bound| bound.distance().is_some_and(|plies| usize::from(plies) <= last))
    }
}
