//! Sweeps over a graph: every state's value from its successors', until nothing changes.
//!
//! *Topological*: layers from the last to the first, so that one sweep makes every value final: a
//! second would compute the same from the same. *Natural*: every state from the values before the sweep (Jacobi), as many
//! sweeps as the longest game has plies and one more; the order in which the 2002 thesis swept.
//! Games that may go round in circles are swept in natural order, leaving out what is final.
//! Both run on all threads and give the same bytes whatever their number.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::backup::Backup;
use super::value::Prospect;
use crate::game::blocks::fetch;
use crate::graph::{Graph, LayerMoves, LayerSums, LayerToRead, Sums};
use crate::hint::{Hint, Hinted};
use crate::parallel::{self, GRAIN};
use crate::progress::Progress;
use crate::table::{SweepRecord, TableError};

/// In which order a sweep takes the states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Layers from the end: one sweep.
    #[default]
    Topological,
    /// All states from the values before the sweep: many sweeps.
    Natural,
    /// A policy is evaluated and improved in turn: policy iteration.
    Policies,
}

impl Order {
    /// `topological`, `natural` or `policy-iteration`.
    pub fn name(self) -> &'static str {
        match self {
            Order::Topological => "topological",
            Order::Natural => "natural",
            Order::Policies => "policy-iteration",
        }
    }

    /// The option that asks for it.
    pub(super) fn option(self) -> &'static str {
        match self {
            Order::Topological => "--order topological",
            Order::Natural => "--order natural",
            Order::Policies => "--method policy-iteration",
        }
    }
}

/// A graph that cannot be swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The files.
    #[error(transparent)]
    Table(#[from] TableError),
    /// What was asked for cannot be.
    #[error("{0}")]
    Options(Hinted),
    /// A table without a place for columns.
    #[error("{0} is packed and keeps the solution it has")]
    Packed(String),
    /// A distance for which there is no room.
    #[error(
        "an end is {} plies away or more, for which a table has no room",
        Prospect::MAX_DISTANCE
    )]
    TooLong,
}

impl Hint for SweepError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            SweepError::Table(error) => error.hint(),
            SweepError::Options(what) => what.hint(),
            SweepError::Packed(_) => {
                Some("run 'solver enumerate' for a table that can be solved in another way".into())
            }
            SweepError::TooLong => None,
        }
    }
}

impl SweepError {
    /// The table's error that it is, if it is one; any other is bad input.
    pub fn of_table(&self) -> Option<&TableError> {
        match self {
            SweepError::Table(error) => Some(error),
            _ => None,
        }
    }
}

/// Where the moves of rows lead.
pub(super) trait Successors: Sync {
    /// The rows to which the moves of a row lead; `room` is there to hold them.
    fn of<'a>(&'a self, row: usize, room: &'a mut Vec<u32>) -> &'a [u32];
}

impl Successors for Graph {
    #[inline]
    fn of<'a>(&'a self, row: usize, _room: &'a mut Vec<u32>) -> &'a [u32] {
        &self.edge_targets()[self.edges_of(row)]
    }
}

/// The change that states have seen.
#[derive(Clone, Copy)]
struct Change {
    residual: f64,
    changed: u64,
    decided: u64,
}

impl Change {
    const NONE: Change = Change { residual: 0.0, changed: 0, decided: 0 };

    fn and(self, other: Change) -> Change {
        Change {
            residual: self.residual.max(other.residual),
            changed: self.changed + other.changed,
            decided: self.decided + other.decided,
        }
    }

    fn record(self) -> SweepRecord {
        SweepRecord { residual: self.residual, changed: self.changed, decided: None }
    }

    #[inline(always)]
    fn of<B: Backup>(backup: &B, old: B::Value, new: B::Value) -> Change {
        match old == new {
            true => Change::NONE,
            false => Change { residual: backup.change(old, new), changed: 1, decided: 0 },
        }
    }
}

/// How many moves are known before what they lead to is looked at, which the processor fetches
/// meanwhile.
const AHEAD: usize = 32;
/// Rows whose moves are asked for together.
const GROUP: usize = 16;
/// How many pieces each thread sweeps of a layer before it is told what is done; then more and more, for threads wait
/// for one another each time, and the system reads less far ahead.
const PIECES: usize = 8;
const MORE: usize = 4;
/// How many moves of a row are looked at in any case, the last of them again where it has fewer.
const AT_LEAST: usize = 4;

/// Hears of the rows that are done of a layer: the first that is not, what changed in this sweep so far, and the
/// values of all rows.
pub(super) type OnPart<'a, V> =
    dyn FnMut(usize, SweepRecord, &[V]) -> Result<(), TableError> + Send + 'a;

/// One sweep of a layer in topological order: `values` holds the final values of all later layers, and of the layer's
/// own rows before `done`, but for those that pass. `on_part` hears of it a few times in so long (`rarely`) or more rarely.
/// Other layers' values are not touched. Each piece is checked just before; gives the checksums too.
pub(super) fn sweep_layer<B: Backup>(
    layer: &LayerToRead<'_>,
    backup: &B,
    (values, done): (&mut [B::Value], usize),
    (on_part, rarely): (&mut OnPart<'_, B::Value>, Duration),
) -> Result<(SweepRecord, LayerSums), TableError> {
    let (rows, moves) = (layer.rows.clone(), layer.moves());
    let pieces = moves.pieces();
    let mut next = pieces.partition_point(|piece| rows.start + piece.end <= done);
    let mut found = parallel::map(next, &|piece| {
        let mut passes = Vec::new();
        let sums = moves.visit((piece, &pieces[piece]), &mut |offsets, targets| {
            let pass = |(place, pair): (usize, &[u32])| match targets
                .get(pair[0] as usize..pair[1] as usize)
            {
                Some(&[target]) if (target as usize) < rows.end => Some((place, target as usize)),
                _ => None,
            };
            passes.extend((pieces[piece].start..).zip(offsets.windows(2)).filter_map(pass));
            passes.iter().all(|&(_, target)| target >= rows.start && moves.leads_on(target))
        });
        (sums, Change::NONE, passes)
    });
    let (mut change, mut at_once) = (Change::NONE, PIECES * rayon::current_num_threads());
    while next < pieces.len() {
        let started = Instant::now();
        let some = next..pieces.len().min(next + at_once);
        next = some.end;
        let swept =
            sweep_pieces(&rows, (&moves, &pieces[some.clone()], some.start), backup, values);
        change = swept.iter().fold(change, |change, (_, own, _)| change.and(*own));
        found.extend(swept);
        if started.elapsed() < rarely / MORE as u32 / 2 {
            at_once *= MORE;
        }
        on_part(rows.start + pieces[next - 1].end, change.record(), values)?;
    }
    let own = &mut values[rows.clone()];
    let mut passes = Vec::new();
    let sums = layer.sums(found.into_iter().map(|(sums, _, found)| {
        passes.extend(found);
        sums
    }))?;
    // A pass stays in the layer, and leads to a state whose own moves leave it.
    let renew = |&(place, target): &(usize, usize)| {
        backup.backup(rows.start + place, std::iter::once(own[target - rows.start]))
    };
    let renew = |places: Range<usize>| passes[places].iter().map(renew).collect::<Vec<_>>();
    let renewed = parallel::map_ranges(passes.len(), GRAIN, &renew).concat();
    for ((place, _), new) in passes.into_iter().zip(renewed) {
        change = change.and(Change::of(backup, own[place], new));
        own[place] = new;
    }
    Ok((change.record(), sums))
}

/// What is found of a piece: its checksums, what changed, and the rows that pass, with the rows these lead to.
type Swept = (Result<Sums, TableError>, Change, Vec<(usize, usize)>);

/// Sweeps pieces of a layer that follow one another, all but the rows that pass.
fn sweep_pieces<B: Backup>(
    rows: &Range<usize>,
    (moves, pieces, number): (&LayerMoves<'_>, &[Range<usize>], usize),
    backup: &B,
    values: &mut [B::Value],
) -> Vec<Swept> {
    let (head, later) = values.split_at_mut(rows.end);
    let later = &*later;
    let mut rest = &mut head[rows.start + pieces[0].start..];
    let slots = pieces.iter().map(|piece| {
        let (values, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
        rest = behind;
        Mutex::new(values)
    });
    let slots: Vec<_> = slots.collect();
    parallel::map(pieces.len(), &|piece| {
        let (mut change, mut passes) = (Change::NONE, Vec::new());
        let values = &mut *parallel::lock(&slots[piece]);
        let first = pieces[piece].start;
        let sums = moves.visit((number + piece, &pieces[piece]), &mut |offsets, targets| {
            // Whether all moves lead where they may.
            let fine = Cell::new(true);
            let of_later = |&target: &u32| match later.get((target as usize).wrapping_sub(rows.end))
            {
                Some(value) => *value,
                None => {
                    fine.set(false);
                    later[0]
                }
            };
            let mut fetched = offsets[0] as usize;
            for (group, values) in values.chunks_mut(GROUP).enumerate() {
                let offsets = &offsets[group * GROUP..=group * GROUP + values.len()];
                let soon = targets.len().min(offsets[values.len()] as usize + AHEAD);
                for &target in targets.get(fetched..soon).unwrap_or_default() {
                    let value = later.get((target as usize).wrapping_sub(rows.end));
                    value.into_iter().for_each(fetch);
                }
                fetched = fetched.max(soon);
                for ((place, value), pair) in
                    (first + group * GROUP..).zip(values).zip(offsets.windows(2))
                {
                    let row = rows.start + place;
                    let Some(edges) = targets.get(pair[0] as usize..pair[1] as usize) else {
                        return false;
                    };
                    let new = match *edges {
                        [] if moves.may_end(row) => backup.leaf(row),
                        [] => return false,
                        [target, ..] if (target as usize) < rows.end => {
                            let target = target as usize;
                            if edges.len() > 1 || target < rows.start || !moves.leads_on(target) {
                                return false;
                            }
                            passes.push((place, target));
                            continue;
                        }
                        _ if later.is_empty() => return false,
                        // As many looks whatever their number: a branch would often be foreseen wrong.
                        _ if edges.len() <= AT_LEAST => {
                            let at = |number: usize| of_later(&edges[number.min(edges.len() - 1)]);
                            backup
                                .backup(row, std::array::from_fn::<_, AT_LEAST, _>(at).into_iter())
                        }
                        _ => backup.backup(row, edges.iter().map(of_later)),
                    };
                    change = change.and(Change::of(backup, *value, new));
                    *value = new;
                }
            }
            fine.get()
        });
        (sums, change, passes)
    })
}

/// Sweeps of rows from the values before each sweep (Jacobi).
pub(super) struct Jacobi<'a, B: Backup, S: Successors> {
    pub backup: &'a B,
    pub moves: &'a S,
    pub values: &'a mut [B::Value],
    /// The rows that are swept, ascending; those that have become final are left out.
    pub rows: Vec<u32>,
    /// How many sweeps there were.
    pub sweeps: usize,
}

impl<B: Backup, S: Successors> Jacobi<'_, B, S> {
    /// One sweep of all rows; its record says how many became final in it.
    pub fn sweep(&mut self, progress: &dyn Progress) -> SweepRecord {
        self.sweeps += 1;
        let renew = |places: Range<usize>| self.renew(&self.rows[places], progress);
        let renewed = parallel::map_ranges(self.rows.len(), GRAIN, &renew);
        let (fresh, changes): (Vec<Vec<B::Value>>, Vec<Change>) = renewed.into_iter().unzip();
        let change = changes.into_iter().fold(Change::NONE, Change::and);
        if change.changed > 0 {
            self.replace(&fresh);
        }
        if change.decided > 0 {
            let open = |&row: &u32| !self.backup.is_final(self.values[row as usize], self.sweeps);
            let open = |places: Range<usize>| {
                self.rows[places].iter().copied().filter(open).collect::<Vec<u32>>()
            };
            self.rows = parallel::map_ranges(self.rows.len(), GRAIN, &open).concat();
        }
        let Change { residual, changed, decided } = change;
        SweepRecord { residual, changed, decided: Some(decided) }
    }

    /// The new values of some rows, from the old of all.
    fn renew(&self, rows: &[u32], progress: &dyn Progress) -> (Vec<B::Value>, Change) {
        let (mut change, mut room) = (Change::NONE, Vec::new());
        let renew = |&row: &u32| {
            let row = row as usize;
            let new = match self.moves.of(row, &mut room) {
                [] => self.backup.leaf(row),
                targets => {
                    self.backup.backup(row, targets.iter().map(|&t| self.values[t as usize]))
                }
            };
            let decided = u64::from(self.backup.is_final(new, self.sweeps));
            change = change.and(Change::of(self.backup, self.values[row], new));
            change.decided += decided;
            new
        };
        let fresh = rows.iter().map(renew).collect();
        progress.advance(rows.len() as u64);
        (fresh, change)
    }

    fn replace(&mut self, fresh: &[Vec<B::Value>]) {
        let (mut rest, mut begin) = (&mut *self.values, 0);
        let mut pieces = Vec::with_capacity(fresh.len());
        for (rows, fresh) in self.rows.chunks(GRAIN).zip(fresh) {
            let end = rows[rows.len() - 1] as usize + 1;
            let (own, later) = rest.split_at_mut(end - begin);
            pieces.push(Mutex::new((begin, own, rows, fresh)));
            (rest, begin) = (later, end);
        }
        parallel::each(pieces.len(), &|piece| {
            let (begin, own, rows, fresh) = &mut *parallel::lock(&pieces[piece]);
            for (&row, new) in rows.iter().zip(fresh.iter()) {
                own[row as usize - *begin] = *new;
            }
        });
    }
}
