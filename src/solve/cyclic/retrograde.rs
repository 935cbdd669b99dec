//! Retrograde analysis: from the ends backwards, one distance after the other.
//!
//! The first distances, at which most of what is fixed lies and most states next to it are decided,
//! are found by looking ahead from every undecided state; the later ones by looking back from what
//! was found last, along the edges that then are left, turned round (the two directions of Beamer,
//! Asanović and Patterson 2012).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::Log;
use super::graph::{CyclicGraph, Start, intervals};
use super::iterate::{CyclicBackup, sweep};
use super::links::{Links, Shared};
use crate::game::Outcome;
use crate::parallel::{self, GRAIN};
use crate::solve::backup::Backup;
use crate::solve::kept::Kept;
use crate::solve::value::{Prospect, Value};
use crate::table::{SweepRecord, TableError};

/// Solves a graph from its ends backwards.
///
/// The same values as by [`iterate`](super::iterate()), in a time that does not grow with the
/// longest distance. A sweep is here one distance, the bounds that end one ply further being found;
/// distances at which there is nothing make no sweep. If draws or the wins of restricted states can
/// be worth more than play without end, sweeps like those of `iterate` over the states left
/// undecided follow. `on_sweep` is called after each, numbered from 1. Works on the threads of the
/// current pool, and gives the same for any number of them. The graph must pass
/// [`CyclicGraph::check`]. What an interrupted process kept is gone on with, and whether there was
/// anything is told with the values.
///
/// Memory: 16 bytes per state, 4 per edge between states not decided in the first plies and 8 per
/// state found at one distance. If that many edges are 2³² or more, or a state has 65,535, they
/// are not turned round, and every distance takes a look at all undecided states.
pub fn retrograde(
    graph: &CyclicGraph<'_>,
    kept: Option<&Kept>,
    mut on_sweep: impl FnMut(usize, &SweepRecord),
) -> Result<(Vec<Value>, bool), TableError> {
    turning_below(SHARE, graph, Log::new(kept, &mut on_sweep))
}

/// [`retrograde`] that turns edges round when less than one bound per `share` undecided
/// states was found.
pub(super) fn turning_below(
    share: u64,
    graph: &CyclicGraph<'_>,
    log: Log<'_>,
) -> Result<(Vec<Value>, bool), TableError> {
    if graph.bounds_coincide() {
        from_ends::<1>(share, graph, log)
    } else {
        from_ends::<2>(share, graph, log)
    }
}

fn from_ends<const BOUNDS: usize>(
    share: u64,
    graph: &CyclicGraph<'_>,
    mut log: Log<'_>,
) -> Result<(Vec<Value>, bool), TableError> {
    let Start { mut values, lead, has_endless_goals } = Start::<BOUNDS>::of(graph);
    let backup = CyclicBackup { graph, lead };
    let resumed = log.resume(graph, &mut values);
    if let Some(from) = resumed.unwrap_or(Some(0)) {
        let search = Retrograde { graph, backup: &backup, values: Shared::new(values) };
        search.find_ends(share, from, &mut log)?;
        values = search.values.into_values();
    }
    if has_endless_goals {
        let undecided = |row: usize| !values[row].iter().all(|bound| bound.is_end());
        let open = |row| graph.has_moves(row) && undecided(row);
        let rows = parallel::select(graph.states(), open);
        sweep(&backup, &mut values, rows, &mut log)?;
    }
    Ok((intervals(values), resumed.is_some()))
}

/// Up to this distance states look ahead in any case, since cut off states end in 1 and 2.
const AHEAD: u16 = 2;

/// After that they do as long as one bound is found at a time for so many undecided states: the
/// fewer are left, the fewer edges there are to be turned round.
const SHARE: u64 = 8;

/// Rows by bound.
struct Found<const BOUNDS: usize>([Vec<u32>; BOUNDS]);

impl<const BOUNDS: usize> Found<BOUNDS> {
    fn none() -> Self {
        Found(std::array::from_fn(|_| Vec::new()))
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|rows| rows.len() as u64).sum()
    }

    fn and(self, other: Self) -> Self {
        let mut others = other.0.into_iter();
        Found(self.0.map(|own| join(own, others.next().unwrap_or_default())))
    }
}

struct Retrograde<'a, const BOUNDS: usize> {
    graph: &'a CyclicGraph<'a>,
    backup: &'a CyclicBackup<'a, BOUNDS>,
    values: Shared<BOUNDS>,
}

impl<const BOUNDS: usize> Retrograde<'_, BOUNDS> {
    /// All bounds that are ends, by increasing distance, those that are `from` plies away and
    /// nearer being known.
    fn find_ends(&self, share: u64, from: u16, log: &mut Log<'_>) -> Result<(), TableError> {
        let with_moves = parallel::count(self.graph.states(), |row| self.graph.has_moves(row));
        let mut fixed = self.fixed_distances();
        let mut links = None;
        let (mut distance, mut latest) = (from, self.at(from, true));
        loop {
            let next = (distance + 1).min(Prospect::MAX_DISTANCE);
            let has_fixed = std::mem::take(&mut fixed[usize::from(distance)]);
            if has_fixed || !latest.is_empty() {
                let few = latest.count() * share < with_moves.saturating_sub(log.decided());
                if distance > AHEAD && few && links.is_none() {
                    links = Some(Links::of(self.graph, &self.values, distance));
                }
                latest = match &links {
                    Some(Some(links)) if has_fixed => {
                        self.look_back(&latest.and(self.at(distance, false)), links, next)
                    }
                    Some(Some(links)) => self.look_back(&latest, links, next),
                    _ => self.look_ahead(next),
                };
                self.tell(&latest, next, log);
            }
            let further = fixed[usize::from(distance)..].iter().position(|&is| is);
            distance = match further {
                _ if !latest.is_empty() => next,
                Some(further) => distance + further as u16,
                None => return Ok(()),
            };
            if !latest.is_empty() {
                log.secure(self.graph, Some(distance), |row| self.values.get(row))?;
            }
        }
    }

    /// At which distances bounds are fixed.
    fn fixed_distances(&self) -> Vec<bool> {
        let count = usize::from(Prospect::MAX_DISTANCE) + 1;
        let fixed: Vec<_> = (0..count).map(|_| AtomicBool::new(false)).collect();
        parallel::map_ranges(self.graph.states(), GRAIN, &|rows| {
            for row in rows.filter(|&row| !self.graph.has_moves(row)) {
                for plies in self.values.get(row).iter().filter_map(|bound| bound.distance()) {
                    // Looking first, so that threads do not take the line from each other.
                    let place = &fixed[usize::from(plies)];
                    if !place.load(Relaxed) {
                        place.store(true, Relaxed);
                    }
                }
            }
        });
        fixed.into_iter().map(AtomicBool::into_inner).collect()
    }

    /// Gathers what `find` adds for every row.
    fn gather(&self, find: impl Fn(usize, &mut Found<BOUNDS>) + Sync) -> Found<BOUNDS> {
        let found = parallel::map_ranges(self.graph.states(), GRAIN, &|rows| {
            let mut found = Found::none();
            rows.for_each(|row| find(row, &mut found));
            found
        });
        found.into_iter().fold(Found::none(), Found::and)
    }

    /// The bounds that end in `distance` plies of rows with moves, or else the fixed ones.
    fn at(&self, distance: u16, with_moves: bool) -> Found<BOUNDS> {
        self.gather(|row, found| {
            for (bound, value) in self.values.get(row).iter().enumerate() {
                let fits = self.graph.has_moves(row) == with_moves;
                if fits && value.distance() == Some(distance) {
                    found.0[bound].push(row as u32);
                }
            }
        })
    }

    /// Finds the bounds that end in `next` plies, all nearer ones being known.
    ///
    /// What other threads find meanwhile is as far off, and hence has no influence: a move to it
    /// is neither as good as one to a loss one ply nearer, nor does it leave a loss in `next`.
    fn look_ahead(&self, next: u16) -> Found<BOUNDS> {
        self.gather(|row, found| {
            if self.values.is_decided(row) || !self.graph.has_moves(row) {
                return;
            }
            let targets = self.graph.edges(row).iter();
            let new =
                self.backup.backup(row, targets.map(|&target| self.values.get(target as usize)));
            for (bound, new) in new.into_iter().enumerate() {
                let known = self.values.bound(row, bound).is_end();
                if !known && new.distance() == Some(next) {
                    self.values.set(row, bound, new);
                    found.0[bound].push(row as u32);
                }
            }
        })
    }

    /// Finds the bounds that end in `next` plies from all that end one ply nearer.
    fn look_back(&self, latest: &Found<BOUNDS>, links: &Links<BOUNDS>, next: u16) -> Found<BOUNDS> {
        let mut found = Found::none();
        for (bound, rows) in latest.0.iter().enumerate() {
            let before = BOUNDS - 1 - bound;
            let look_back = |places: Range<usize>| {
                let mut found = Vec::new();
                for row in rows[places].iter().map(|&row| row as usize) {
                    let lost = self.values.bound(row, bound).outcome() == Outcome::Loss;
                    for source in links.predecessors(row) {
                        if self.is_found(links, source, before, lost, next) {
                            found.push(source as u32);
                        }
                    }
                }
                found
            };
            found.0[before] = parallel::map_ranges(rows.len(), GRAIN / 16, &look_back).concat();
        }
        found
    }

    /// Takes note of a move of `row` that leads to a loss or to a win, and of the end this decides
    /// on; whether it does.
    #[inline]
    fn is_found(
        &self,
        links: &Links<BOUNDS>,
        row: usize,
        bound: usize,
        lost: bool,
        next: u16,
    ) -> bool {
        if lost {
            return self.values.set_once(row, bound, Prospect::win(next));
        }
        let refuted = links.refute(row, bound);
        if refuted {
            self.values.set(row, bound, Prospect::loss(next));
        }
        refuted
    }

    fn tell(&self, found: &Found<BOUNDS>, distance: u16, log: &mut Log<'_>) {
        if found.is_empty() {
            return;
        }
        let count = |rows: &[u32], is: &(dyn Fn(usize) -> bool + Sync)| {
            parallel::count(rows.len(), |place| is(rows[place] as usize))
        };
        let last = &found.0[BOUNDS - 1];
        // A row both of whose bounds were found now counts once.
        let with_first = |row| self.values.bound(row, 0).distance() == Some(distance);
        let twice = if BOUNDS == 1 { 0 } else { count(last, &with_first) };
        let decided = |row| self.values.is_decided(row);
        let decided = found.0.iter().map(|rows| count(rows, &decided)).sum::<u64>() - twice;
        log.add(1.0, found.count() - twice, decided);
    }
}

/// The longer list followed by the shorter: their order is of no account, and joining many is
/// cheap.
fn join(mut a: Vec<u32>, mut b: Vec<u32>) -> Vec<u32> {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    a.append(&mut b);
    a
}
