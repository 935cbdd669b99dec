//! Search by several threads: after the first move of a node, idle threads share the others.
//!
//! A split is a node whose remaining moves are searched in order by its owner and by helpers. Its owner
//! returns only after all helpers have left; meanwhile it helps with splits below its own.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::kernel::Kernel;
use super::{CHECK_EVERY, Engine, KernelTask, Limits, Search};
use crate::games::othello::Board;

/// Minimum number of empty squares of a position that several threads search.
const PARALLEL_FROM: u32 = 17;

/// Minimum number of empty squares of a split.
const SPLIT_FROM: u32 = 14;

/// Minimum number of empty squares at which a thread checks whether its work has become useless.
const CUT_FROM: u32 = 10;

/// State shared by the threads of one search.
#[derive(Default)]
pub(super) struct Team {
    splits: Mutex<Vec<Arc<SplitPoint>>>,
    /// Signals a new split, a helper that left one, and the end of the search.
    changed: Condvar,
    idle: AtomicUsize,
    stop: AtomicBool,
    finished: AtomicBool,
    /// Number of positions visited by all threads, as of their last check of the limits.
    nodes: AtomicU64,
}

/// Node whose moves several threads search.
pub(super) struct SplitPoint {
    /// Split below which this one lies.
    parent: Option<Arc<SplitPoint>>,
    alpha: i32,
    empties: u32,
    moves: Vec<(Board, u32)>,
    next: AtomicUsize,
    best: Mutex<(i32, u32)>,
    /// `true` once a move beat alpha.
    cut: AtomicBool,
    /// Number of helpers at work; changes under the lock of the team's splits.
    helpers: AtomicUsize,
    /// Number of positions visited by helpers.
    nodes: AtomicU64,
}

impl SplitPoint {
    /// Returns whether this split or one above it has its result.
    fn is_cut(&self) -> bool {
        self.cut.load(Relaxed) || self.parent.as_ref().is_some_and(|parent| parent.is_cut())
    }

    fn is_below(&self, other: &Arc<SplitPoint>) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| Arc::ptr_eq(parent, other) || parent.is_below(other))
    }
}

impl Team {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<SplitPoint>>> {
        self.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a split to help with, below `above` if given, or `None` when `done`.
    fn wait_for_work(
        &self,
        above: Option<&Arc<SplitPoint>>,
        done: impl Fn() -> bool,
    ) -> Option<Arc<SplitPoint>> {
        let mut splits = self.lock();
        self.idle.fetch_add(1, Relaxed);
        let found = loop {
            if done() {
                break None;
            }
            let open = splits.iter().filter(|split| {
                split.next.load(Relaxed) < split.moves.len()
                    && above.is_none_or(|above| split.is_below(above))
                    && !split.is_cut()
            });
            if let Some(split) = open.max_by_key(|split| split.empties) {
                split.helpers.fetch_add(1, Relaxed);
                break Some(split.clone());
            }
            splits = self.changed.wait(splits).unwrap_or_else(PoisonError::into_inner);
        };
        self.idle.fetch_sub(1, Relaxed);
        found
    }

    /// Adds visited positions and returns whether the search has to stop.
    pub(super) fn check(&self, limits: &Limits, reached: bool) -> bool {
        let nodes = self.nodes.fetch_add(CHECK_EVERY, Relaxed);
        if reached || limits.nodes.is_some_and(|most| nodes >= most) {
            self.stop.store(true, Relaxed);
        }
        self.stop.load(Relaxed)
    }
}

/// Ends the work of the helpers when dropped.
struct Finish<'a>(&'a Team);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let _splits = self.0.lock();
        self.0.finished.store(true, Relaxed);
        self.0.changed.notify_all();
    }
}

/// Removes a helper from a split when dropped. A helper that panics stops the search, so that [`run`] ends
/// and panics too.
struct Leave<'a>(&'a Team, &'a SplitPoint);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let Leave(team, split) = *self;
        let _splits = team.lock();
        team.stop.fetch_or(std::thread::panicking(), Relaxed);
        split.helpers.fetch_sub(1, Relaxed);
        team.changed.notify_all();
    }
}

/// Runs a task with the threads of an engine, or with one if the position is small.
pub(super) fn run<K: Kernel, T: KernelTask>(
    engine: &Engine,
    kernel: K,
    limits: &Limits,
    task: T,
    board: Board,
) -> T::Output {
    if engine.near.len() == 1 || engine.shape.empty(board).count_ones() < PARALLEL_FROM {
        return task.run(&mut Search::new(engine, kernel, limits, 0, None), board);
    }
    let team = &Team::default();
    std::thread::scope(|scope| {
        for thread in 1..engine.near.len() {
            scope.spawn(move || Search::new(engine, kernel, limits, thread, Some(team)).serve());
        }
        let _finish = Finish(team);
        task.run(&mut Search::new(engine, kernel, limits, 0, Some(team)), board)
    })
}

impl<K: Kernel> Search<'_, K> {
    /// Helps others until the search is finished.
    fn serve(&mut self) {
        let Some(team) = self.team else {
            return;
        };
        while let Some(split) = team.wait_for_work(None, || team.finished.load(Relaxed)) {
            self.help(team, &split);
        }
    }

    /// Returns `true` if an idle thread waits and the position is large enough to split.
    #[inline(always)]
    pub(super) fn can_split(&self, empties: u32) -> bool {
        empties >= SPLIT_FROM && self.team.is_some_and(|team| team.idle.load(Relaxed) > 0)
    }

    /// Returns whether the result of the current work is no longer needed.
    #[inline(always)]
    pub(super) fn is_cut(&self, empties: u32) -> bool {
        empties >= CUT_FROM && self.split.as_ref().is_some_and(|split| split.is_cut())
    }

    /// Searches moves together with other threads; `best` is the result of the moves already searched.
    #[cold]
    #[inline(never)]
    pub(super) fn search_together(
        &mut self,
        team: &Team,
        moves: Vec<(Board, u32)>,
        alpha: i32,
        empties: u32,
        best: (i32, u32),
    ) -> (i32, u32) {
        let split = Arc::new(SplitPoint {
            parent: self.split.clone(),
            alpha,
            empties,
            moves,
            next: AtomicUsize::new(0),
            best: Mutex::new(best),
            cut: AtomicBool::new(false),
            helpers: AtomicUsize::new(0),
            nodes: AtomicU64::new(0),
        });
        team.lock().push(split.clone());
        team.changed.notify_all();
        self.work(team, &split);
        team.lock().retain(|other| !Arc::ptr_eq(other, &split));
        let done = || split.helpers.load(Relaxed) == 0;
        while let Some(below) = team.wait_for_work(Some(&split), done) {
            self.help(team, &below);
        }
        // A helper may have met a limit, or a cut above, after this thread's last move.
        self.update_stopped(team);
        self.nodes += split.nodes.load(Relaxed);
        *split.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on a split of another thread, which counts the positions visited.
    fn help(&mut self, team: &Team, split: &Arc<SplitPoint>) {
        let _leave = Leave(team, split);
        let nodes = self.nodes;
        self.work(team, split);
        split.nodes.fetch_add(self.nodes - nodes, Relaxed);
        self.next_check = self.next_check.saturating_sub(self.nodes - nodes);
        self.nodes = nodes;
    }

    /// Searches moves of a split until none is left or one beats alpha.
    fn work(&mut self, team: &Team, split: &Arc<SplitPoint>) {
        let outer = self.split.replace(split.clone());
        self.update_stopped(team);
        while !self.stopped {
            let Some(&(child, square)) = split.moves.get(split.next.fetch_add(1, Relaxed)) else {
                break;
            };
            let score = -self.search(child, -split.alpha - 1, split.empties - 1);
            if !self.stopped {
                let mut best = split.best.lock().unwrap_or_else(PoisonError::into_inner);
                if score > best.0 {
                    *best = (score, square);
                }
                if score > split.alpha {
                    split.cut.store(true, Relaxed);
                    self.stopped = true;
                }
            }
        }
        self.split = outer;
        self.update_stopped(team);
    }

    fn update_stopped(&mut self, team: &Team) {
        let cut = self.split.as_ref().is_some_and(|split| split.is_cut());
        self.stopped = cut || team.stop.load(Relaxed);
    }
}
