//! Graphs with cycles, solved exactly: who wins and in how many plies, or proven bounds of both
//! where a subtree is cut off.
//!
//! A game with cycles may never end, so its values are not found by walking the layers backwards
//! once. [`iterate()`] sweeps all states until nothing changes (value iteration: Bellman 1957;
//! Shapley 1953); [`retrograde()`] works backwards from the ends by distance (Ströhlein 1970;
//! Thompson 1986). Both give the same [`Value`](crate::solve::Value)s. Neither knows any rules: how
//! a finished game ended and, where it matters, who is to move is handed in with the
//! [`CyclicGraph`].
//!
//! # Values
//!
//! A [`Prospect`] is what the mover may look forward to: a win or loss with
//! its distance, a draw, or a win or loss by play without end. A state has an interval of them, and
//!
//! ```text
//! lower(s) = max over successors t of before(upper(t))
//! upper(s) = max over successors t of before(lower(t))
//! ```
//!
//! where `before` turns the sign and puts the end one ply further off. What is fixed:
//!
//! | kind | lower | upper |
//! |---|---|---|
//! | terminal | its end | its end |
//! | frontier: moves not followed | loss in 2 | win in 1 |
//! | restricted: some left out | as above, loss in 2 without edges | at least a win without end |
//!
//! All others begin at the value of play without end ([`Repetition`](crate::game::Repetition)), and
//! the fixed point that sweeps reach from there is the answer.
//!
//! # Why this is exact
//!
//! *One player against the other.* A bound leads only to bounds of the other sort, so the pairs
//! (state, bound) form a graph of their own, and on it a plain game between a hero, who moves in
//! every `lower`, and an opponent, who moves in every `upper`. Play without end has one value h for
//! the hero, −1, 0 or +1, throughout a play: 0 if it is a draw, −1 if it is not known, and if the
//! second player wins it, +1 or −1 as the hero is that player or not, who moves in turn.
//!
//! *Horizon.* After n sweeps a value is that of the game stopped after n plies, with h where it is
//! stopped and what is fixed where that is met before.
//!
//! *Convergence.* A sweep is monotone, and `before` keeps h on its place, so that sweeping commutes
//! with cutting all values off at h from below, and from above. Cut off from below the values
//! begin at their least and only rise; cut off from above they only fall. So a value that has left
//! h never comes back and moves on in the same direction only; there are finitely many values,
//! so a sweep that changes nothing comes, and what it leaves is the value of the endless game: all
//! that either can force in any number of plies, and h where neither can force better.
//!
//! *Ends known early stay.* Let a value be a win in d after n sweeps, and let it later become a win
//! in d' < d. The play that forces it takes at most d' plies. Were d' ≤ n, it would have been there
//! after n sweeps. So d ≥ d' + 1 ≥ n + 2: **an end at most n + 1 plies away is final after n
//! sweeps.** Where, as usual, games are lost in an even and won in an odd number of plies,
//! d ≥ d' + 2, and an end at most n + 2 plies away is final. Nothing in the table above is further
//! off than its path by more than 2 plies, so unless the ends handed in are, each bound becomes
//! an end at most once and is final then. Losses are wins of the other. A state both of whose
//! bounds are final is *decided* and is not swept again.
//!
//! *Backwards.* Bounds that are ends of d plies determine all those of d + 1: a win is one move
//! before the shortest loss, a loss is one move before the longest win, with every move leading
//! to a win. Taken by increasing d each is found with its own distance. Of the rest, which no one
//! can force to an end, all keep h, unless draws or wins without end are fixed somewhere and
//! are better than h for who can reach them; then sweeps over the rest alone reach the same
//! fixed point, because they begin between the values of n = 0 and the answer, and a sweep is
//! monotone.

mod graph;
mod iterate;
mod links;
mod retrograde;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use graph::{CyclicGraph, GameEnd, MalformedGraph, SecondToMove};
pub use iterate::iterate;
pub(super) use links::RowSet;
pub use retrograde::retrograde;

use serde::{Deserialize, Serialize};

use super::kept::Kept;
use super::value::Prospect;
use crate::table::{SweepRecord, TableError};
use graph::Bounds;

/// Tells of sweeps. In a record `residual` is the largest change of a bound: the difference in
/// plies between two ends with the same winner, 1 for any other change, 0 if there was none.
/// `changed` says how many states had a bound changed, and `decided` how many with moves have,
/// since the beginning, bounds that are both ends and final.
struct Log<'a> {
    sweeps: Vec<SweepRecord>,
    on_sweep: &'a mut dyn FnMut(usize, &SweepRecord),
    kept: Option<&'a Kept>,
}

/// How far the work has come that is secured after a sweep.
#[derive(Serialize, Deserialize)]
struct Place {
    sweeps: Vec<SweepRecord>,
    /// Retrograde analysis: the distance found last. None: sweeps over what is undecided.
    distance: Option<u16>,
}

/// Of how many rows the values are secured as one piece.
const PIECE: usize = 1 << 21;

impl<'a> Log<'a> {
    fn new(kept: Option<&'a Kept>, on_sweep: &'a mut dyn FnMut(usize, &SweepRecord)) -> Self {
        Log { sweeps: Vec::new(), on_sweep, kept }
    }

    fn decided(&self) -> u64 {
        self.sweeps.last().and_then(|sweep| sweep.decided).unwrap_or(0)
    }

    /// Adds a sweep in which so many states were decided.
    fn add(&mut self, residual: f64, changed: u64, decided: u64) {
        let decided = Some(self.decided() + decided);
        self.sweeps.push(SweepRecord { residual, changed, decided });
        (self.on_sweep)(self.sweeps.len(), &self.sweeps[self.sweeps.len() - 1]);
    }

    /// Secures the values of rows with moves, if it is time; all others are known before the first
    /// sweep.
    fn secure<const BOUNDS: usize>(
        &self,
        graph: &CyclicGraph<'_>,
        distance: Option<u16>,
        value: impl Fn(usize) -> Bounds<BOUNDS>,
    ) -> Result<(), TableError> {
        let Some(kept) = self.kept.filter(|kept| kept.is_due()) else { return Ok(()) };
        let pieces = (0..graph.states()).step_by(PIECE).map(|from| {
            let rows = (from..).take(PIECE).take_while(|&row| row < graph.states());
            rows.filter(|&row| graph.has_moves(row)).flat_map(&value).collect()
        });
        kept.save(Place { sweeps: self.sweeps.clone(), distance }, pieces)
    }

    /// Goes on from what another process secured, if there is anything: puts the values in their
    /// places and gives the distance found last, if it was finding them.
    fn resume<const BOUNDS: usize>(
        &mut self,
        graph: &CyclicGraph<'_>,
        values: &mut [Bounds<BOUNDS>],
    ) -> Option<Option<u16>> {
        let mut saved = self.kept?.load::<Place>()?;
        let mut found = Vec::with_capacity(graph.states().div_ceil(PIECE));
        for from in (0..graph.states()).step_by(PIECE) {
            let rows = from..graph.states().min(from + PIECE);
            let with_moves = rows.filter(|&row| graph.has_moves(row)).count();
            let mut piece = vec![[Prospect::DRAW; BOUNDS]; with_moves];
            saved.read(&mut piece)?;
            found.push(piece);
        }
        let Place { sweeps, distance } = saved.place()?;
        distance.is_none_or(|plies| plies <= Prospect::MAX_DISTANCE).then_some(())?;
        let rows = (0..graph.states()).filter(|&row| graph.has_moves(row));
        rows.zip(found.into_iter().flatten()).for_each(|(row, value)| values[row] = value);
        (1..).zip(&sweeps).for_each(|(number, sweep)| (self.on_sweep)(number, sweep));
        self.sweeps = sweeps;
        Some(distance)
    }
}
