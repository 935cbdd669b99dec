//! Builder of tables whose rows are sorted keys, layer by layer.
//!
//! The successors of a layer are kept as records and sorted in shards, each a range of keys; the distinct
//! keys are the next layer, already in row order. The bytes of a table thus depend only on its identity. In a
//! layered game states carry orientations and plies, and layers are closed under passes. In a game with
//! cycles a layer is a ply, and keys of earlier plies are dropped.
//!
//! Memory is bounded: rows lie in the draft, and if the records of a layer do not fit, they are made in
//! slices of some shards each. Every slice makes all moves of the layer and keeps those that lead into it.
//!
//! Edges that skip layers wait in memory until their layer is found, and so do the targets of all edges after
//! the first of them. No checkpoint is written meanwhile.

mod jumps;
mod shard;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use rayon::slice::ParallelSliceMut;

use self::jumps::Jumps;
use self::shard::{Shard, place};
use super::builder::{BuildState, Builder, declare, edge_starts, has_wide_orientations};
use super::census::Census;
use super::plan::Plan;
use super::sort::{MAX_SHARDS, Partition, Record, SHARD_RECORDS, Sorter};
use crate::enumerate::{no_root, too_many_moves, too_many_states, unfit};
use crate::error::Error;
use crate::parallel::{self, GRAIN, Spare, lock};
use crate::progress::Progress;
use crate::rules::{
    Address, AnyPosition, Canonical, Empties, Mobility, MoveByKey, Orientations, Rules, Side,
    Standing,
};
use crate::table::rows::StateKind;
use crate::table::rows::keys::BucketIndex;
use crate::table::rows::stored_key::StoredKey;
use crate::table::{Buffer, Counts, Draft, Ints, Lengths, Memory};

/// Enumeration of a game into sorted keys.
pub(super) struct ByKey<'a, K> {
    game: &'a dyn Rules,
    plan: &'a Plan,
    is_layered: bool,
    state: BuildState,
    jumps: Jumps<K>,
    sorters: Spare<Sorter<K>>,
}

const INCONSISTENT: &str = "invalid key, or a move to a state that was not found";

/// Number of rows written at a time.
const GROUP: usize = 1 << 20;

/// Number of shards sorted and placed at a time, where each can be placed at once.
const AT_ONCE: usize = 128;

/// Memory of records over their size: spare capacity of vectors, and holes left by those that grew.
const SPARE_ROOM: f64 = 1.6;

/// Layer whose moves are made.
struct LayerSource<'a, K> {
    number: u32,
    /// Keys of all rows so far, and (`keys`) those of the layer.
    known: &'a [K],
    keys: &'a [K],
    rows: Range<usize>,
    /// Orientations, plies (if depth is bounded) and index of the layer, in a layered game.
    sets: Vec<u16>,
    plies: Vec<u16>,
    index: Option<BucketIndex>,
}

impl<K: StoredKey> LayerSource<'_, K> {
    /// Returns the row of a key of the layer.
    fn find(&self, key: K) -> Option<usize> {
        Some(self.rows.start + self.index.as_ref()?.find(self.keys, key)?)
    }
}

/// Target layer of a move.
enum Lead {
    /// The next layer.
    Next,
    /// Layer of the source itself, by a pass.
    Pass,
    /// The layer with this number.
    Jump(u32),
}

/// Rows in ascending order, as they are written.
#[derive(Default)]
struct KeyRows {
    kinds: Vec<u8>,
    /// Number of edges of each row.
    degrees: Vec<u16>,
    actions: Vec<u16>,
    census: Census,
}

/// Result of a task; edges are numbered from the task's first.
struct TaskResult<K> {
    rows: KeyRows,
    /// Records by shard of the slice.
    records: Vec<Vec<Record<K>>>,
    /// Edges of passes, with their targets.
    passes: Vec<(u32, u32)>,
    jumps: Vec<(u32, Record<K>)>,
    /// `true` if a key is invalid or a pass leads out of the layer.
    is_inconsistent: bool,
}

/// Results of the first slice of a layer, besides records.
struct FirstSlice<K> {
    /// Number in the layer of each task's first edge.
    bases: Vec<u32>,
    edges: u64,
    passes: Vec<(u32, u32)>,
    jumps: Vec<(u32, Record<K>)>,
    /// Rows that are not written yet, and (`census`) the counts of those that are.
    held: Vec<KeyRows>,
    census: Census,
}

impl<K> FirstSlice<K> {
    fn new() -> FirstSlice<K> {
        let (bases, passes, jumps, held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        FirstSlice { bases, edges: 0, passes, jumps, held, census: Census::default() }
    }
}

/// Records of one shard: for each task the number in the layer of its first edge, and its records.
type ShardRecords<K> = Vec<(u32, Vec<Record<K>>)>;

/// Partition of a layer into shards and slices.
struct Cut<K> {
    partition: Partition<K>,
    /// Approximate number of edges of a row; 0 if the layer is too small to be cut.
    degree: f64,
    slices: usize,
    /// Memory for the targets of the layer's edges.
    memory: Memory,
}

impl<'a, K: StoredKey> Builder<'a> for ByKey<'a, K> {
    type State = BuildState;

    fn open(
        game: &'a dyn Rules,
        plan: &'a Plan,
        draft: &mut Draft,
        resumed: Option<(BuildState, Lengths)>,
    ) -> Result<Self, Error> {
        let (lengths, is_layered) =
            (resumed.as_ref().map(|(_, lengths)| lengths), game.is_layered());
        declare(draft, K::WORDS, Some(has_wide_actions(game)), lengths)?;
        if is_layered {
            Ints::grow(draft, "orientations", has_wide_orientations(game), lengths)?;
            draft.grow::<u16>("plies", true, lengths)?;
        }
        let first = plan.roots.first().map(|root| game.layer(&root.state));
        let is_new = resumed.is_none();
        let state = match resumed {
            Some((state, _)) => state,
            None => BuildState::new(first.ok_or_else(no_root)?),
        };
        let mut work = ByKey {
            game,
            plan,
            is_layered,
            state,
            jumps: Jumps::none(),
            sorters: Spare::default(),
        };
        match is_new {
            true => work.begin(draft)?,
            false => work.check(draft)?,
        }
        Ok(work)
    }

    fn next_layer(&self) -> u32 {
        self.state.next_layer()
    }

    fn state(&self) -> &BuildState {
        &self.state
    }

    fn is_settled(&self) -> bool {
        self.jumps.edges.is_empty()
    }

    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, Error> {
        let started = Instant::now();
        let known = draft.mapped::<K>("keys")?;
        let layer = self.layer(draft, &known)?;
        let depth = self.plan.max_depth;
        let follows = self.is_layered || depth.is_none_or(|depth| layer.number < depth);
        let found = match follows {
            true => self.follow(&layer, draft, progress)?,
            false => None,
        };
        let (census, new) = match found {
            Some(found) => found,
            // There is no next layer: only passes, which stay in this one, are followed.
            None => (self.write_last(&layer, draft, progress)?, 0),
        };
        self.state.counts.push(self.counts(&layer, &census, draft)?);
        let (number, states, seconds) =
            (layer.number, layer.rows.len(), started.elapsed().as_secs_f64());
        progress.log(format_args!(
            "layer complete layer={number} states={states} new={new} seconds={seconds:.6}"
        ));
        let goes_on = new > 0 || !self.jumps.edges.is_empty();
        if goes_on {
            self.state.offsets.push(self.state.states() + new);
        }
        Ok(goes_on)
    }

    fn finish(self, draft: &mut Draft) -> Result<BuildState, Error> {
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&self.state.offsets))])?;
        Ok(self.state)
    }
}

/// Splits `0..len` into ranges of `most`, the last of which may be shorter.
fn ranges(len: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(most).map(move |from| from..len.min(from + most))
}

/// Splits states into a range for each task, enough for all threads even if tasks are uneven.
fn task_ranges(states: Range<usize>) -> Vec<Range<usize>> {
    let (first, states) = (states.start, states.len());
    let tasks = (states / 2048).clamp(1, rayon::current_num_threads() * 8);
    (0..tasks).map(|t| first + states * t / tasks..first + states * (t + 1) / tasks).collect()
}

/// Returns `true` if actions and the number of a state's moves take two bytes.
fn has_wide_actions(game: &dyn Rules) -> bool {
    !game.is_layered() || game.action_count() > 255
}

impl<K: StoredKey> ByKey<'_, K> {
    /// Writes the states of the first layer: the roots and the targets of their passes.
    fn begin(&mut self, draft: &mut Draft) -> Result<(), Error> {
        let game = self.game;
        let record = |root: &AnyPosition| {
            let canonical = game.canonical(&root.state);
            let (key, orientations) = match self.is_layered {
                true => (canonical.key, game.group().root_orientations(root.side, canonical.ties)),
                false => (game.position_key(root), Orientations(0)),
            };
            let key = K::narrow(key).expect("keys have the width of the game's");
            Record { key, edge: 0, orientations, ply: 0 }
        };
        let roots: Vec<_> = self.plan.roots.iter().map(record).collect();
        let mut found = self.distinct(&[], vec![vec![(0, roots.clone())]]);
        let mut passed = std::mem::take(&mut found[0].passed);
        self.close(&mut found, &mut passed, &Partition::whole(), 0)?;
        let keys = &found[0].new;
        let row = |root: &Record<_>| keys.binary_search(&root.key).map_or(0, |row| row as u64);
        self.state.root_ids = roots.iter().map(row).collect();
        self.state.offsets.push(keys.len() as u64);
        self.append(draft, &found)
    }

    /// Checks that the arrays match the checkpoint, which may be damaged.
    fn check(&self, draft: &mut Draft) -> Result<(), Error> {
        let first = self.plan.roots.first().map_or(0, |root| self.game.layer(&root.state));
        if !self.state.fits(draft, first) {
            return Err(draft.inconsistent());
        }
        let known = draft.mapped::<K>("keys")?;
        let mut layers = self.state.layers().map(|rows| &known[rows]);
        if !layers.all(|keys| keys.is_sorted_by(|a, b| a < b)) {
            return Err(draft.damaged("keys", "unsorted layer"));
        }
        let number = self.state.next_layer();
        let fits = |&key: &K| {
            let standing = self.standing(key);
            standing.is_some_and(|found| !self.is_layered || found.layer == number)
        };
        if !known[self.state.last_layer()].iter().all(fits) {
            let what = "the last keys belong to another layer";
            return Err(draft.damaged("keys", what));
        }
        Ok(())
    }

    /// Reads the last known layer from the draft.
    fn layer<'k>(&self, draft: &Draft, known: &'k [K]) -> Result<LayerSource<'k, K>, Error> {
        let rows = self.state.last_layer();
        let keys = &known[rows.clone()];
        let (mut sets, mut plies, mut index) = (Vec::new(), Vec::new(), None);
        if self.is_layered {
            let wide = has_wide_orientations(self.game);
            sets = Ints::tail(draft, "orientations", wide, rows.len())?;
            index = Some(BucketIndex::new(keys, self.game.facts().key_bits));
            if self.plan.max_depth.is_some() {
                plies = draft.tail("plies", rows.len())?;
            }
        }
        Ok(LayerSource { number: self.state.next_layer(), known, keys, rows, sets, plies, index })
    }

    /// Writes the rows and edges of a layer and the states of the next. Returns the counts of the former and
    /// the number of the latter; `None`, with nothing written, if they are more than the plan allows.
    fn follow(
        &mut self,
        layer: &LayerSource<'_, K>,
        draft: &mut Draft,
        progress: &dyn Progress,
    ) -> Result<Option<(Census, u64)>, Error> {
        let moves = self.moves(layer);
        if moves > u64::from(u32::MAX) {
            return Err(too_many_moves(layer.number, moves));
        }
        let cut = self.cut(layer, draft)?;
        let Cut { partition, slices, memory, .. } = &cut;
        let (before, mut first, mut new) = (self.state.edges, FirstSlice::new(), 0);
        let (mut held, mut arriving, mut passed) = (Vec::new(), Vec::new(), Vec::new());
        let mut targets: Buffer<AtomicU32> = memory.zeros(0)?;
        // The targets of passes must be known before the first slice is placed.
        let looks = if self.is_layered && *slices > 1 { 2 } else { 1 };
        for number in 0..looks * slices {
            let (is_first, slice) = (number == 0, number % slices);
            let shard = |slice: usize| partition.shards() * slice / slices;
            let shards = shard(slice)..shard(slice + 1);
            let mut parts = self.records(layer, (&cut, &shards), is_first, &mut first, draft)?;
            if is_first {
                progress.advance(layer.rows.len() as u64);
                let jumps = std::mem::take(&mut first.jumps);
                self.jumps.add(self.game, layer.number, before, jumps, self.plan.max_states)?;
                arriving = self.jumps.edges.remove(&(layer.number + 1)).unwrap_or_default();
                targets = memory.zeros(first.edges as usize + arriving.len())?;
                for &(edge, to) in &first.passes {
                    targets[edge as usize].store(to, Ordering::Relaxed);
                }
            }
            // The targets of edges that arrive from earlier layers follow those of the layer.
            let width = self.game.facts().key_bits;
            for (&(_, record), edge) in arriving.iter().zip(first.edges as u32..) {
                let shard = partition.shard(record.key, width);
                if shards.contains(&shard) {
                    parts[shard - shards.start].push((0, vec![Record { edge, ..record }]));
                }
            }
            // States of the previous shards are written while the next are sorted.
            let at_once = if self.is_layered { parts.len().max(1) } else { AT_ONCE };
            let (mut some, mut parts, mut shard) = (Vec::new(), parts.into_iter(), shards.start);
            loop {
                let next: Vec<_> = parts.by_ref().take(at_once).collect();
                let is_last = next.is_empty();
                let (mut found, written) =
                    rayon::join(|| self.distinct(layer.known, next), || self.append(draft, &some));
                written?;
                some = Vec::new();
                if is_last {
                    break;
                }
                if number < *slices {
                    let of = |shard: &mut Shard<_>| std::mem::take(&mut shard.passed);
                    passed.extend(found.iter_mut().flat_map(of));
                }
                if number < (looks - 1) * slices {
                    continue;
                }
                self.close(&mut found, &mut passed, partition, shard)?;
                shard += found.len();
                let row = (self.state.states() + new) as u32;
                new += found.iter().map(|shard| shard.new.len() as u64).sum::<u64>();
                let states = self.state.states() + new;
                if self.plan.max_states.is_some_and(|most| states > most) {
                    return Ok(None);
                }
                if states > u64::from(u32::MAX) {
                    return Err(too_many_states(states));
                }
                place(&found, row, &targets);
                match self.plan.max_states {
                    Some(_) => held.append(&mut found),
                    None => some = found,
                }
            }
        }
        self.write(draft, first.held, &mut first.census)?;
        self.append(draft, &held)?;
        let load = |target: &AtomicU32| target.load(Ordering::Relaxed);
        let (own, theirs) = targets.split_at(first.edges as usize);
        let arrived = arriving.iter().map(|(edge, _)| *edge).zip(theirs.iter().map(load));
        self.jumps.arrive(arrived, before);
        for range in ranges(own.len(), GROUP) {
            let edges = before + range.end as u64;
            let targets = self.jumps.settle(own[range].iter().map(load).collect(), edges);
            draft.append(&[("edge_targets", bytemuck::cast_slice(&targets))])?;
        }
        if own.is_empty() {
            let targets = self.jumps.settle(Vec::new(), before);
            draft.append(&[("edge_targets", bytemuck::cast_slice(&targets))])?;
        }
        Ok(Some((first.census, new)))
    }

    /// Returns a layer's records that lead into some shards, by shard. In the first slice, writes rows and
    /// fills `first`.
    fn records(
        &mut self,
        layer: &LayerSource<'_, K>,
        (cut, shards): (&Cut<K>, &Range<usize>),
        is_first: bool,
        first: &mut FirstSlice<K>,
        draft: &mut Draft,
    ) -> Result<Vec<ShardRecords<K>>, Error> {
        let mut parts: Vec<ShardRecords<K>> = shards.clone().map(|_| Vec::new()).collect();
        let mut task = 0;
        for range in ranges(layer.rows.len(), GROUP.max(layer.rows.len() / 16)) {
            let mut rows = Vec::new();
            for made in self.expand(layer, range, cut, shards) {
                if made.is_inconsistent {
                    return Err(draft.damaged("keys", INCONSISTENT));
                }
                if is_first {
                    let base = first.edges as u32;
                    first.bases.push(base);
                    first.edges += made.rows.actions.len() as u64;
                    first.passes.extend(made.passes.iter().map(|&(edge, to)| (base + edge, to)));
                    first.jumps.extend(made.jumps.into_iter().map(|(to, mut record)| {
                        record.edge += base;
                        (to, record)
                    }));
                    rows.push(made.rows);
                }
                for (parts, records) in parts.iter_mut().zip(made.records) {
                    if !records.is_empty() {
                        parts.push((first.bases[task], records));
                    }
                }
                task += 1;
            }
            if first.edges > u64::from(u32::MAX) {
                return Err(too_many_moves(layer.number, first.edges));
            }
            // With `max_states`, rows are held back until the layer is known to fit.
            match self.plan.max_states {
                Some(_) => first.held.append(&mut rows),
                None => self.write(draft, rows, &mut first.census)?,
            }
        }
        Ok(parts)
    }

    /// Writes the rows of the last layer: only passes, which stay in it, are followed.
    fn write_last(
        &mut self,
        layer: &LayerSource<'_, K>,
        draft: &mut Draft,
        progress: &dyn Progress,
    ) -> Result<Census, Error> {
        let mut census = Census::default();
        for range in ranges(layer.rows.len(), GROUP) {
            let tasks = task_ranges(range);
            let made = parallel::map(tasks.len(), &|task| {
                let (mut rows, mut targets) = (KeyRows::default(), Vec::new());
                let mut moves = Vec::new();
                for at in tasks[task].clone() {
                    let before = rows.actions.len();
                    let kind = self.row(layer, at, false, &mut moves, |action, _, record| {
                        rows.actions.push(action);
                        targets.extend(layer.find(record.key).map(|row| row as u32));
                    })?;
                    self.push(layer, at, kind, before, &mut rows);
                }
                (targets.len() == rows.actions.len()).then_some((rows, targets))
            });
            for made in made {
                let (rows, targets) = made.ok_or_else(|| draft.damaged("keys", INCONSISTENT))?;
                progress.advance(rows.kinds.len() as u64);
                self.write(draft, vec![rows], &mut census)?;
                draft.append(&[("edge_targets", bytemuck::cast_slice(&targets))])?;
            }
        }
        Ok(census)
    }

    /// Returns the number of moves of a layer of a layered game if it may exceed the limit, else 0; counting
    /// moves costs less than making them.
    fn moves(&self, layer: &LayerSource<'_, K>) -> u64 {
        let depth = self.plan.max_depth.unwrap_or(u32::MAX);
        let of = |at: usize| {
            let is_followed = layer.plies.get(at).is_none_or(|&ply| u32::from(ply) < depth);
            match self.mobility(layer.keys[at]).filter(|_| is_followed) {
                Some(Mobility::Moves(moves)) => u64::from(moves),
                Some(Mobility::Pass) => 1,
                _ => 0,
            }
        };
        // No state has more moves than the game has actions.
        let most = u32::MAX as usize / self.game.action_count().max(1);
        let is_counted = self.is_layered && layer.rows.len() > most;
        let rows = if is_counted { layer.rows.len() } else { 0 };
        parallel::map_ranges(rows, GRAIN, &|some| some.map(of).sum::<u64>()).iter().sum()
    }

    /// Chooses the partition of a layer by a sample of its moves.
    fn cut(&self, layer: &LayerSource<'_, K>, draft: &Draft) -> Result<Cut<K>, Error> {
        let memory = draft.memory(self.plan.max_memory);
        let states = layer.rows.len();
        let stride = (states >> 14).max(1);
        let (mut sample, mut asked, mut moves) = (Vec::new(), 0, Vec::new());
        for at in (0..states).step_by(stride).filter(|_| states >= 1 << 11) {
            asked += 1;
            self.row(layer, at, true, &mut moves, |_, _, after| sample.push(after.key));
        }
        if sample.is_empty() {
            return Ok(Cut { partition: Partition::whole(), degree: 0.0, slices: 1, memory });
        }
        let degree = sample.len() as f64 / f64::from(asked);
        let edges = degree * states as f64;
        let (left, targets) = (memory.left() as f64, 4.1 * edges);
        // Targets are written at random, which is slow in a file.
        let (room, memory) = match targets < 0.5 * left {
            true => (left - targets, memory),
            false => (left, draft.memory(Some(0))),
        };
        let record = SPARE_ROOM * size_of::<Record<[u64; 2]>>() as f64;
        let slices = (record * edges / room).ceil().clamp(1.0, 64.0) as usize;
        let shards = (edges as u64 / slices as u64 / SHARD_RECORDS).clamp(1, MAX_SHARDS);
        let wanted = slices * shards as usize;
        Ok(Cut {
            partition: Partition::by_sample(sample, wanted, self.game.facts().key_bits),
            degree,
            slices,
            memory,
        })
    }

    fn mobility(&self, key: K) -> Option<Mobility> {
        self.game.mobility_at(Address::Key(key.widen()))
    }

    /// Returns what the rules say of a key without its moves.
    fn standing(&self, key: K) -> Option<Standing> {
        self.game.standing(Address::Key(key.widen()), Empties::default(), None)
    }

    /// Returns the kind of a row, and whether it passes: by a move that stays in the layer or, if its moves are not
    /// followed, by its only one. Calls `each` with every edge that is followed, without `follows` only with passes.
    /// `None` if the key is invalid. `moves` is a buffer.
    #[inline(always)]
    fn row(
        &self,
        layer: &LayerSource<'_, K>,
        at: usize,
        follows: bool,
        moves: &mut Vec<MoveByKey>,
        mut each: impl FnMut(u16, Lead, Record<K>),
    ) -> Option<(StateKind, bool)> {
        let (game, key) = (self.game, layer.keys[at]);
        let (own, ply) = match self.is_layered {
            true => (Orientations(layer.sets[at]), layer.plies.get(at).copied().unwrap_or(0)),
            false => (Orientations(0), 0),
        };
        let depth = self.plan.max_depth.filter(|_| self.is_layered);
        let is_bound = depth.is_some_and(|depth| u32::from(ply) >= depth);
        if is_bound || !follows {
            let standing = self.standing(key)?;
            // States that are not followed may have to pass too.
            let passes = standing.mobility == Some(Mobility::Pass);
            if is_bound || !passes {
                let is_over = standing.end.is_some();
                let kind = if is_over { StateKind::Terminal } else { StateKind::Frontier };
                return Some((kind, passes));
            }
        }
        if !game.moves_by_key(Address::Key(key.widen()), moves) {
            return None;
        }
        let (group, mut passes) = (game.group(), false);
        for &MoveByKey { key, layer: to, action, ties } in &*moves {
            let key = K::narrow(key)?;
            if !self.is_layered {
                each(action.0, Lead::Next, Record { key, edge: 0, orientations: own, ply });
                continue;
            }
            let orientations = group.successor_orientations(own, ties);
            let lead = match to {
                to if to == layer.number + 1 => Lead::Next,
                _ if game.is_pass(action) => Lead::Pass,
                to => Lead::Jump(to),
            };
            passes |= matches!(lead, Lead::Pass);
            each(action.0, lead, Record { key, edge: 0, orientations, ply: ply + 1 });
        }
        let kind = if moves.is_empty() { StateKind::Terminal } else { StateKind::Interior };
        Some((kind, passes))
    }

    /// Expands rows of a layer, keeping the records of some shards.
    fn expand(
        &self,
        layer: &LayerSource<'_, K>,
        rows: Range<usize>,
        Cut { partition, degree, .. }: &Cut<K>,
        shards: &Range<usize>,
    ) -> Vec<TaskResult<K>> {
        let (tasks, width) = (task_ranges(rows), self.game.facts().key_bits);
        parallel::map(tasks.len(), &|task| {
            let task = tasks[task].clone();
            let (mut rows, mut passes, mut jumps) = (KeyRows::default(), Vec::new(), Vec::new());
            let (mut records, mut moves, mut is_inconsistent) = (Vec::new(), Vec::new(), false);
            // Shards are about equally full, so capacity is reserved exactly: fresh memory is expensive.
            let room = degree * task.len() as f64 / partition.shards() as f64;
            let room = (room * 1.2) as usize + 8;
            records.resize_with(shards.len(), Vec::new);
            rows.kinds.reserve_exact(task.len());
            rows.degrees.reserve_exact(task.len());
            for at in task {
                let before = rows.actions.len();
                let kind = self.row(layer, at, true, &mut moves, |action, lead, record| {
                    let edge = rows.actions.len() as u32;
                    rows.actions.push(action);
                    match lead {
                        Lead::Next => {
                            let shard = partition.shard(record.key, width);
                            if shards.contains(&shard) {
                                let records: &mut Vec<_> = &mut records[shard - shards.start];
                                if records.capacity() == 0 {
                                    records.reserve_exact(room);
                                }
                                records.push(Record { edge, ..record });
                            }
                        }
                        Lead::Pass => {
                            let to = layer.find(record.key);
                            passes.extend(to.map(|to| (edge, to as u32)));
                            is_inconsistent |= to.is_none();
                        }
                        Lead::Jump(to) => jumps.push((to, Record { edge, ..record })),
                    }
                });
                is_inconsistent |= kind.is_none();
                let kind = kind.unwrap_or((StateKind::Terminal, false));
                self.push(layer, at, kind, before, &mut rows);
            }
            TaskResult { rows, records, passes, jumps, is_inconsistent }
        })
    }

    /// Adds a row whose actions are those from `first` on, and counts it. A board reachable with both sides
    /// to move is two rows of a layer; it is counted once, at the row of the side that moves more rarely.
    fn push(
        &self,
        layer: &LayerSource<'_, K>,
        at: usize,
        (kind, passes): (StateKind, bool),
        first: usize,
        KeyRows { kinds, degrees, actions, census }: &mut KeyRows,
    ) {
        let (group, moves) = (self.game.group(), actions.len() - first);
        kinds.push(kind as u8);
        degrees.push(moves as u16);
        if !self.is_layered {
            return census.add_plain(kind, moves as u32);
        }
        let own = Orientations(layer.sets[at]);
        census.add_row(kind, moves as u32, passes, own, group.order());
        let usual = self.plan.roots.first().map_or(Side::First, |root| root.side);
        let is_even = (layer.number - self.state.first_layer).is_multiple_of(2);
        let rarer = if is_even { usual.other() } else { usual };
        let with_rarer = own.with(rarer, group.order());
        if with_rarer == 0 {
            return;
        }
        let Some((key, ties)) = self.swapped(layer.keys[at]) else { return };
        let Some(other) = layer.find(key) else { return };
        let theirs =
            Orientations(layer.sets[other - layer.rows.start]).with(rarer.other(), group.order());
        let both = group.carry(with_rarer, ties) & theirs;
        census.with_both += u64::from(both.count_ones());
    }

    /// Returns the counts of a layer.
    fn counts(
        &self,
        layer: &LayerSource<'_, K>,
        census: &Census,
        draft: &Draft,
    ) -> Result<Counts, Error> {
        if !self.is_layered {
            return Ok(Counts { table: census.table, ..Counts::default() });
        }
        let keys = layer.keys;
        let is_folded = self.game.group().order() > 1;
        let folded = if is_folded { None } else { self.game.with_folding(true) };
        let Some(folded) = folded else { return Ok(census.counts(keys.len() as u64)) };
        // Classes under all symmetries of a layer that is not folded.
        let mut classes: Buffer<K> = draft.memory(self.plan.max_memory).zeros(keys.len())?;
        parallel::map_mut(&mut classes, GRAIN, &|first, classes| {
            for (class, &key) in classes.iter_mut().zip(&keys[first..]) {
                let canonical = folded.canonical_at(Address::Key(key.widen()), false);
                *class = canonical.and_then(|form| K::narrow(form.key)).unwrap_or(key);
            }
        });
        classes.par_sort_unstable();
        Ok(census.counts(classes.chunk_by(|a, b| a == b).count() as u64))
    }

    /// Sorts the records of shards and finds the new keys.
    fn distinct(&self, known: &[K], parts: Vec<ShardRecords<K>>) -> Vec<Shard<K>> {
        let parts: Vec<_> = parts.into_iter().map(Mutex::new).collect();
        parallel::map(parts.len(), &|shard| {
            let parts = std::mem::take(&mut *lock(&parts[shard]));
            let number = |(base, mut records): (u32, Vec<Record<K>>)| {
                records.iter_mut().for_each(|record| record.edge += base);
                records
            };
            let parts: Vec<_> = parts.into_iter().map(number).collect();
            let mut sorter = self.sorters.take();
            let shard = self.shard(known, sorter.sort(&parts));
            drop(parts);
            self.sorters.give(sorter);
            shard
        })
    }

    /// Returns the shard of ascending records; finds the rows of keys that earlier plies have.
    fn shard(&self, known: &[K], records: &[Record<K>]) -> Shard<K> {
        let edges = records.iter().map(|record| record.edge).collect();
        let room = records.len() / 2;
        let (new, led_to) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut shard = Shard { new, reached: Vec::new(), led_to, edges, passed: Vec::new() };
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return shard };
        let mut plies = Vec::new();
        for rows in self.state.layers().filter(|_| !self.is_layered) {
            let keys = &known[rows.clone()];
            let from = keys.partition_point(|key| *key < first.key);
            let to = keys.partition_point(|key| *key <= last.key);
            if from < to {
                plies.push((rows.start + from, &keys[from..to]));
            }
        }
        for same in records.chunk_by(|a, b| a.key == b.key) {
            let key = same[0].key;
            let mut row = None;
            for (at, keys) in &mut plies {
                let before = keys.iter().take_while(|other| **other < key).count();
                *keys = &keys[before..];
                *at += before;
                if keys.first() == Some(&key) {
                    row = Some(*at as u32);
                }
            }
            shard.led_to.push((same.len() as u32, row));
            if row.is_none() {
                shard.new.push(key);
            }
            if self.is_layered {
                let join = |(set, ply): (u16, u16), record: &Record<_>| {
                    (set | record.orientations.0, ply.min(record.ply))
                };
                let (set, ply) = same.iter().fold((0, u16::MAX), join);
                shard.reached.push((set, ply));
                shard.passed.extend(self.pass(key, Orientations(set), ply));
            }
        }
        // Fresh memory is expensive, so none is kept unused.
        shard.new.shrink_to_fit();
        shard.led_to.shrink_to_fit();
        shard
    }

    /// Returns the target of the pass if a state must pass and is to be followed.
    fn pass(&self, key: K, own: Orientations, ply: u16) -> Option<Record<K>> {
        let follows = self.plan.max_depth.is_none_or(|depth| u32::from(ply) < depth);
        if !follows || self.mobility(key) != Some(Mobility::Pass) {
            return None;
        }
        let (key, ties) = self.swapped(key)?;
        let orientations = self.game.group().successor_orientations(own, ties);
        Some(Record { key, edge: 0, orientations, ply: ply + 1 })
    }

    /// Returns the folded key of the board with the other side to move, and the symmetries that lead to it.
    fn swapped(&self, key: K) -> Option<(K, u8)> {
        let Canonical { key, ties } = self.game.canonical_at(Address::Key(key.widen()), true)?;
        Some((K::narrow(key)?, ties))
    }

    /// Closes shards, the first of which is number `first`, under the passes that lead to their layer.
    fn close(
        &self,
        shards: &mut [Shard<K>],
        passed: &mut [Record<K>],
        partition: &Partition<K>,
        first: usize,
    ) -> Result<(), Error> {
        let width = self.game.facts().key_bits;
        passed.par_sort_unstable_by_key(|record| record.key);
        let merged = parallel::map_mut(shards, 1, &|number, shard| {
            let below =
                |end: usize| passed.partition_point(|r| partition.shard(r.key, width) < end);
            let own = &passed[below(first + number)..below(first + number + 1)];
            shard[0].merge(own);
            let mobility = |record: &Record<_>| self.mobility(record.key);
            own.iter().all(|record| mobility(record).is_some_and(|moves| moves != Mobility::Pass))
        });
        if merged.contains(&false) {
            let what = format!("a pass in layer {} is answered by a pass", self.next_layer() + 1);
            let what = Error::new(what, "end the game after two passes");
            return Err(unfit(self.game, what));
        }
        Ok(())
    }

    /// Appends rows, and adds their counts to `census`.
    fn write(
        &mut self,
        draft: &mut Draft,
        rows: Vec<KeyRows>,
        census: &mut Census,
    ) -> Result<(), Error> {
        let wide = has_wide_actions(self.game);
        for KeyRows { kinds, degrees, actions, census: own } in rows {
            census.add(&own);
            let counts = degrees.iter().map(|&degree| u64::from(degree));
            let starts = edge_starts(draft, &mut self.state.edges, counts);
            draft.append(&[
                ("kinds", &kinds),
                ("edge_counts", &Ints::bytes(&degrees, wide)),
                ("edge_starts", bytemuck::cast_slice(&starts)),
                ("edge_actions", &Ints::bytes(&actions, wide)),
            ])?;
        }
        Ok(())
    }

    /// Appends the new states of shards.
    fn append(&self, draft: &mut Draft, shards: &[Shard<K>]) -> Result<(), Error> {
        for Shard { new, reached, .. } in shards {
            draft.append(&[("keys", bytemuck::cast_slice(new))])?;
            if self.is_layered {
                let (sets, plies): (Vec<u16>, Vec<u16>) = reached.iter().copied().unzip();
                let sets = Ints::bytes(&sets, has_wide_orientations(self.game));
                let plies = if self.plan.max_depth.is_some() { &plies[..] } else { &[] };
                draft.append(&[("orientations", &sets), ("plies", bytemuck::cast_slice(plies))])?;
            }
        }
        Ok(())
    }
}
