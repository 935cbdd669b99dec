//! The way back: who leads to a state, and how many of a state's moves are not yet refuted.

use std::ops::Range;
use std::sync::atomic::{AtomicI32, AtomicU16, AtomicU32, Ordering::Relaxed};

use super::graph::CyclicGraph;
use crate::parallel::{self, GRAIN};
use crate::solve::value::Prospect;

/// The bounds of all states while several threads write them.
pub(super) struct Shared<const BOUNDS: usize>(pub Vec<[AtomicI32; BOUNDS]>);

impl<const BOUNDS: usize> Shared<BOUNDS> {
    pub fn new(values: Vec<[Prospect; BOUNDS]>) -> Self {
        let shared = |value: [Prospect; BOUNDS]| value.map(|bound| AtomicI32::new(bound.number()));
        // Not in parallel, here and back: so the vector is reused.
        Shared(values.into_iter().map(shared).collect())
    }

    pub fn into_values(self) -> Vec<[Prospect; BOUNDS]> {
        let plain = |value: [AtomicI32; BOUNDS]| value.map(|b| Prospect::of_number(b.into_inner()));
        self.0.into_iter().map(plain).collect()
    }

    #[inline]
    pub fn get(&self, row: usize) -> [Prospect; BOUNDS] {
        std::array::from_fn(|bound| self.bound(row, bound))
    }

    #[inline]
    pub fn bound(&self, row: usize, bound: usize) -> Prospect {
        Prospect::of_number(self.0[row][bound].load(Relaxed))
    }

    pub fn set(&self, row: usize, bound: usize, prospect: Prospect) {
        self.0[row][bound].store(prospect.number(), Relaxed);
    }

    /// Sets a bound that is no end yet; whether it was this call that did.
    #[inline]
    pub fn set_once(&self, row: usize, bound: usize, prospect: Prospect) -> bool {
        let place = &self.0[row][bound];
        let old = place.load(Relaxed);
        !Prospect::of_number(old).is_end()
            && place.compare_exchange(old, prospect.number(), Relaxed, Relaxed).is_ok()
    }

    /// Whether all bounds of a row are ends.
    #[inline]
    pub fn is_decided(&self, row: usize) -> bool {
        self.get(row).iter().all(|bound| bound.is_end())
    }
}

/// A set of rows, one bit each.
pub(in crate::solve) struct RowSet(Vec<u64>);

impl RowSet {
    pub fn of(rows: usize, holds: impl Fn(usize) -> bool + Sync) -> RowSet {
        let word = |word: usize| {
            let rows = word * 64..rows.min(word * 64 + 64);
            rows.filter(|&row| holds(row)).fold(0, |bits, row| bits | 1 << (row % 64))
        };
        RowSet(parallel::column(rows.div_ceil(64), word))
    }

    #[inline]
    pub fn has(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 == 1
    }
}

/// Predecessors and counters for what is left to be done after all ends nearer than `from`.
pub(super) struct Links<const BOUNDS: usize> {
    /// Where each row's predecessors begin among the sources, and where the last's end.
    begins: Vec<AtomicU32>,
    sources: Vec<AtomicU32>,
    /// For every bound of a row with moves, how many of its moves are not known to lead to a win
    /// of the other.
    open: Vec<[AtomicU16; BOUNDS]>,
}

impl<const BOUNDS: usize> Links<BOUNDS> {
    /// Links between undecided rows with moves and all rows that may yet be found, or are, to end
    /// in `from` plies or more. All bounds that end in fewer must be known, and none in more but
    /// those that are fixed.
    ///
    /// `None` if there are too many edges for 32 bits or for the counters.
    pub fn of(graph: &CyclicGraph<'_>, values: &Shared<BOUNDS>, from: u16) -> Option<Self> {
        let states = graph.states();
        let many = |row| graph.edges(row).len() >= usize::from(u16::MAX);
        if parallel::find_map(states, |row| many(row).then_some(row)).is_some() {
            return None;
        }
        let live = RowSet::of(states, |row| is_live(graph, values, row, from));
        let turning = Turning { graph, values, live, from };
        let mut begins: Vec<AtomicU32> = bytemuck::zeroed_vec(states + 1);
        let open = parallel::column(states, |row| turning.count(row, &begins));
        let edges = begins.iter_mut().try_fold(0u32, |sum, count| {
            *count.get_mut() = sum.checked_add(*count.get_mut())?;
            Some(*count.get_mut())
        })?;
        let sources: Vec<AtomicU32> = bytemuck::zeroed_vec(edges as usize);
        let file = |rows: Range<usize>| rows.for_each(|row| turning.file(row, &begins, &sources));
        parallel::map_ranges(states, GRAIN, &file);
        Some(Links { begins, sources, open })
    }

    /// The rows with an edge to a row, as often as they have one.
    #[inline]
    pub fn predecessors(&self, row: usize) -> impl Iterator<Item = usize> {
        let place = |row: usize| self.begins[row].load(Relaxed) as usize;
        self.sources[place(row)..place(row + 1)].iter().map(|row| row.load(Relaxed) as usize)
    }

    /// Notes that one more move of a row is refuted; whether it was the last for this bound.
    #[inline]
    pub fn refute(&self, row: usize, bound: usize) -> bool {
        self.open[row][bound].fetch_sub(1, Relaxed) == 1
    }
}

/// Whether a row may be found, or is fixed, to end in `from` plies or more.
fn is_live<const BOUNDS: usize>(
    graph: &CyclicGraph<'_>,
    values: &Shared<BOUNDS>,
    row: usize,
    from: u16,
) -> bool {
    let unknown = graph.has_moves(row);
    values.get(row).iter().any(|bound| bound.distance().map_or(unknown, |plies| plies >= from))
}

/// What is needed to turn edges round.
struct Turning<'a, const BOUNDS: usize> {
    graph: &'a CyclicGraph<'a>,
    values: &'a Shared<BOUNDS>,
    live: RowSet,
    from: u16,
}

impl<const BOUNDS: usize> Turning<'_, BOUNDS> {
    /// The moves of a row if it is undecided.
    #[inline]
    fn moves(&self, row: usize) -> &[u32] {
        let sought = !self.values.is_decided(row) && self.graph.has_moves(row);
        if sought { self.graph.edges(row) } else { &[] }
    }

    /// Counts a row's edges at the live rows they lead to, and its open moves.
    fn count(&self, row: usize, into: &[AtomicU32]) -> [AtomicU16; BOUNDS] {
        let longest_open = Prospect::win(self.from);
        let mut open = [0; BOUNDS];
        for &target in self.moves(row) {
            if self.live.has(target) {
                into[target as usize].fetch_add(1, Relaxed);
            }
            let value = self.values.get(target as usize);
            for bound in 0..BOUNDS {
                open[BOUNDS - 1 - bound] += u16::from(value[bound] <= longest_open);
            }
        }
        if BOUNDS == 2 && self.graph.is_restricted(row) {
            // The moves that were not followed are never refuted.
            open[1] += 1;
        }
        open.map(AtomicU16::new)
    }

    /// Enters a row among the predecessors of the live rows its edges lead to. `begins` holds the
    /// ends of these lists at first, which are filled backwards.
    fn file(&self, row: usize, begins: &[AtomicU32], sources: &[AtomicU32]) {
        for &target in self.moves(row).iter().filter(|&&target| self.live.has(target)) {
            let place = begins[target as usize].fetch_sub(1, Relaxed) - 1;
            sources[place as usize].store(row as u32, Relaxed);
        }
    }
}
