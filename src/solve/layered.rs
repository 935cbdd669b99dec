//! Layered games: layers are swept from the last to the first, so that one sweep makes every value final.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;

use bytemuck::Pod;

use super::backup::{Backup, BoundsBackup, DiscountBackup, ExactBackup, Leaves};
use super::checkpoint::Checkpoint;
use super::columns::extent_of;
use super::options::{Method, RowOrder};
use super::sweep::{Change, done};
use super::textbook::Textbook;
use super::value::{Prospect, Short, SweepOrder, Value};
use super::{SweepLog, columns};
use crate::enumerate::{LayerChecks, LayerSums, LayerToRead, Maker, deriver};
use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel::{self, GRAIN};
use crate::progress::Progress;
use crate::rules::{Rules, Score};
use crate::table::rows::Rows;
use crate::table::{Buffer, Memory, SweepRecord, Table};

/// Layered game's table that is being solved.
pub(super) struct Layered<'a> {
    pub graph: &'a Rows,
    pub method: &'a Method,
    pub memory: &'a Memory,
    pub checkpoint: &'a Checkpoint,
    pub progress: &'a dyn Progress,
}

impl Layered<'_> {
    /// Finds the values and installs their columns; returns `true` if an interrupted run was resumed.
    pub(super) fn solve(
        &self,
        game: &dyn Rules,
        table: &mut Table,
        log: &mut SweepLog<'_>,
    ) -> Result<bool, Error> {
        let Layered { graph, method, .. } = *self;
        let in_blocks = !graph.stores_moves() && graph.ranked().is_none();
        let deriver = in_blocks.then(|| deriver(game));
        let rules = |rows: Range<usize>, offsets: &mut Vec<u32>, targets: &mut Vec<u32>| {
            graph.make_moves(game, rows, (offsets, targets)).is_ok()
        };
        let maker = match &deriver {
            Some(deriver) => Some(Maker::Blocks(&**deriver, self.memory)),
            None if graph.stores_moves() => None,
            None => Some(Maker::Rules(&rules)),
        };
        if maker.is_some() && method.order != RowOrder::Topological {
            let (option, name) = (method.order.option(), table.name());
            let stored = if in_blocks { "--transitions stored" } else { "--index keys" };
            return Err(Error::new(
                format!("{option} needs stored moves, which {name} does not have"),
                format!("leave the option out, or enumerate with {stored}"),
            ));
        }
        let terminal = graph.terminal_scores(game, method.empties);
        let leaves = Leaves { graph, terminal: &terminal };
        if let Some(discount) = method.discount {
            let backup = DiscountBackup { discount: discount as f32, leaves };
            let (values, resumed) = self.find(table, maker, &backup, 0.0, log)?;
            columns::install_discounted(table, method, &values, &log.sweeps)?;
            return Ok(resumed);
        }
        if !table.manifest().complete {
            let max_score = method.max_score;
            let backup = BoundsBackup { max_score, leaves };
            let unknown = BoundsBackup::unknown(max_score);
            let (values, resumed) = self.find(table, maker, &backup, unknown, log)?;
            let bounds = |row: usize| values[row];
            let extent = extent_of(values.len(), &bounds);
            columns::install_values(table, method, values.len(), &bounds, extent, &log.sweeps)?;
            return Ok(resumed);
        }
        // A move leads to a later layer, except a pass, and no pass follows another.
        match graph.layers().len() * 2 <= usize::from(Short::MOST_PLIES) {
            true => self.exact::<Short>(table, maker, leaves, log),
            false => self.exact::<Prospect>(table, maker, leaves, log),
        }
    }

    /// Finds exact values, keeping each as a `T`, and installs them.
    fn exact<T: SweepOrder>(
        &self,
        table: &mut Table,
        maker: Option<Maker<'_>>,
        leaves: Leaves<'_>,
        log: &mut SweepLog<'_>,
    ) -> Result<bool, Error> {
        let (backup, level) = (ExactBackup::<T>::new(leaves), T::of(level()));
        let (values, resumed) = self.find(table, maker, &backup, level, log)?;
        install_exact(table, self.method, &values, &log.sweeps)?;
        Ok(resumed)
    }

    /// Finds values, all of which start at `initial`.
    fn find<B: Backup<Value: Pod>>(
        &self,
        table: &Table,
        maker: Option<Maker<'_>>,
        backup: &B,
        initial: B::Value,
        log: &mut SweepLog<'_>,
    ) -> Result<(Buffer<B::Value>, bool), Error> {
        let Layered { graph, method, memory, progress, .. } = *self;
        let mut values = memory.zeros(graph.states())?;
        values.fill(initial);
        if method.order == RowOrder::Topological {
            let resumed = self.topological((table, maker), backup, initial, &mut values, log)?;
            return Ok((values, resumed));
        }
        LayerChecks::all(graph, table)?;
        let textbook = Textbook { graph, backup, progress };
        match method.order {
            RowOrder::Policies => textbook.policies(&mut values, log),
            _ => textbook.natural(&mut values, method.theta, log),
        }
        Ok((values, false))
    }

    /// Sweeps once, layer by layer; returns `true` if an interrupted run was resumed.
    fn topological<B: Backup<Value: Pod>>(
        &self,
        (table, maker): (&Table, Option<Maker<'_>>),
        backup: &B,
        initial: B::Value,
        values: &mut [B::Value],
        log: &mut SweepLog<'_>,
    ) -> Result<bool, Error> {
        let (states, mut pieces, mut change) = (values.len(), Vec::new(), Change::NONE);
        let saved = self.checkpoint.load::<_, SweepRecord>(values);
        let from = saved.as_ref().and_then(|saved| saved.first()).unwrap_or(states);
        match saved {
            Some(saved) => {
                pieces = saved.pieces;
                change = Change::of_record(saved.place);
            }
            None => values.fill(initial),
        }
        let resumed = !pieces.is_empty();
        self.progress.begin("sweep 1", Some(states as u64));
        let mut checks = LayerChecks::new(self.graph, table, maker);
        let mut unsaved_to = from;
        let mut layers = self.graph.layers().rev();
        let mut next = layers.next().map(|rows| checks.layer(rows)).transpose()?;
        while let Some(layer) = next {
            let start = layer.rows.start;
            // The next layer is opened while this one is swept.
            let (swept, taken_up) = rayon::join(
                || match start >= from {
                    true => Ok((Change::NONE, layer.check()?)),
                    false => sweep_layer(&layer, backup, values, self.progress),
                },
                || layers.next().map(|rows| checks.layer(rows)).transpose(),
            );
            let (own, sums) = swept?;
            next = taken_up?;
            checks.add(sums);
            self.graph.drop_page_cache(layer.rows);
            change = change.and(own);
            if start < unsaved_to && self.checkpoint.is_due() {
                pieces.push(self.checkpoint.write(0, start, &values[start..unsaved_to])?);
                self.checkpoint.save(&log.sweeps, &pieces, change.record())?;
                unsaved_to = start;
            }
        }
        checks.compare()?;
        done(log, change.record(), self.progress);
        Ok(resumed)
    }
}

/// Returns the value of every state before the first sweep, where values are exact.
pub(super) fn level() -> Prospect {
    Prospect::new(Score(0), Some(0))
}

/// Writes exact values as they are kept while they are swept.
pub(super) fn install_exact<T: SweepOrder>(
    table: &mut Table,
    method: &Method,
    kept: &[T],
    sweeps: &[SweepRecord],
) -> Result<(), Error> {
    let exact = |row: usize| Value::exactly(kept[row].prospect());
    let extent = match T::LONGEST {
        Some(longest) => (longest, false),
        None => extent_of(kept.len(), &exact),
    };
    columns::install_values(table, method, kept.len(), &exact, extent, sweeps)
}

/// Prefetch distance in moves.
const AHEAD: usize = 32;
/// Number of rows whose moves are prefetched together.
const GROUP: usize = 16;
/// Minimum number of moves read of each row; a row with fewer has its last move read again.
const AT_LEAST: usize = 4;

/// Sweeps one layer. `values` must hold the final values of all later layers; earlier ones are not touched.
/// Checks each piece just before it is swept, and returns the checksums too.
fn sweep_layer<B: Backup>(
    layer: &LayerToRead<'_>,
    backup: &B,
    values: &mut [B::Value],
    progress: &dyn Progress,
) -> Result<(Change, LayerSums), Error> {
    let (rows, pieces) = (layer.rows.clone(), layer.pieces());
    let (head, later) = values.split_at_mut(rows.end);
    let (own, later) = (&mut head[rows.start..], &*later);
    let mut rest = &mut *own;
    let slots = pieces.iter().map(|piece| {
        let (values, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
        rest = behind;
        Mutex::new(values)
    });
    let slots: Vec<_> = slots.collect();
    let swept = parallel::map(pieces.len(), &|piece| {
        let (mut change, mut passes) = (Change::NONE, Vec::new());
        let values = &mut *parallel::lock(&slots[piece]);
        let first = pieces[piece].start;
        let sums = layer.visit((piece, &pieces[piece]), &mut |offsets, targets| {
            // `false` once a move leads to an invalid row.
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
                    value.into_iter().for_each(prefetch);
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
                        [] if layer.may_end(row) => backup.leaf(row),
                        [] => return false,
                        [target, ..] if (target as usize) < rows.end => {
                            let target = target as usize;
                            if edges.len() > 1 || target < rows.start || !layer.leads_on(target) {
                                return false;
                            }
                            passes.push((place, target));
                            continue;
                        }
                        _ if later.is_empty() => return false,
                        // The same number of reads for every row: a branch would often be mispredicted.
                        _ if edges.len() <= AT_LEAST => {
                            let at = |number: usize| of_later(&edges[number.min(edges.len() - 1)]);
                            backup.backup(std::array::from_fn::<_, AT_LEAST, _>(at).into_iter())
                        }
                        _ => backup.backup(edges.iter().map(of_later)),
                    };
                    change = change.and(Change::of(backup, *value, new));
                    *value = new;
                }
            }
            fine.get()
        });
        progress.advance(pieces[piece].len() as u64);
        (sums, change, passes)
    });
    drop(slots);
    let (mut change, mut passes) = (Change::NONE, Vec::new());
    let sums = layer.sums(swept.into_iter().map(|(sums, own, found)| {
        change = change.and(own);
        passes.extend(found);
        sums
    }))?;
    // A pass stays in the layer and leads to a state whose own moves leave it.
    let renew =
        |&(_, target): &(usize, usize)| backup.backup(std::iter::once(own[target - rows.start]));
    let renew = |places: Range<usize>| passes[places].iter().map(renew).collect::<Vec<_>>();
    let renewed = parallel::map_ranges(passes.len(), GRAIN, &renew).concat();
    for ((place, _), new) in passes.into_iter().zip(renewed) {
        change = change.and(Change::of(backup, own[place], new));
        own[place] = new;
    }
    Ok((change, sums))
}
