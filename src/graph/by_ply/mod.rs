//! The order of a game with cycles whose rows are sorted keys: ply by ply.
//!
//! A layer of the table is a ply: the positions that are first reached in so many moves from a
//! root. The successors of a ply are written down as records, sorted in shards, each a range of
//! keys, and what no earlier ply has is the next ply, already in the order of its rows: the bytes of
//! the table depend on nothing but its identity. No position that is known is held in memory: the
//! sorted keys of the plies before lie in the draft, and each shard is merged with its range of them.
//!
//! Where the records of a ply do not fit in memory they are made in slices, each of some of the
//! shards; every slice makes the ply's moves anew and keeps those that lead into it.
//!
//! With [`Plan::checks_only`] the player to move at the roots gives check with every move, the
//! other plays everything: the tree that a tsume solver searches.

#[cfg(feature = "cluster")]
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::build::{Found, Order, declare, edge_starts, fits};
use super::expand::{MAX_SHARDS, Partition, Record, SHARD_RECORDS, task_ranges};
use super::plan::Plan;
use super::settle::Workspaces;
use super::{GraphError, StateKind};
use crate::game::{Game, Orientations, Position, Side, StateKey};
use crate::parallel::{self, lock};
use crate::progress::Progress;
use crate::table::{Array, Counts, Draft, Lengths, Memory, Tally};

/// What a checkpoint holds besides the arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    /// Rows at which plies begin, and the end of the last ply known.
    offsets: Vec<u64>,
    edges: u64,
    /// Of every ply whose rows are complete.
    counts: Vec<Counts>,
    root_ids: Vec<u64>,
}

/// The enumeration of a game with cycles.
pub(super) struct ByPly<'a, G: Game> {
    game: &'a G,
    plan: &'a Plan<G::State>,
    attacker: Option<Side>,
    state: State,
    workspaces: Workspaces<G::Key>,
}

/// How many rows are written at a time.
const GROUP: usize = 1 << 20;

/// How many shards are sorted and placed at a time.
const AT_ONCE: usize = 128;

/// Bytes that a record takes while its shard waits: itself, what vectors have to spare, and the
/// holes that those leave that had to grow.
const RECORD_BYTES: f64 = 1.6 * size_of::<Record<[u64; 2]>>() as f64;

/// Rows in the order of their numbers, as they are written.
#[derive(Default)]
struct Rows {
    kinds: Vec<u8>,
    /// How many edges each has.
    degrees: Vec<u16>,
    actions: Vec<u16>,
}

/// What comes of the rows of a task.
struct Made<K> {
    rows: Rows,
    /// Records by shard of the slice; edges are numbered from the task's first.
    shards: Vec<Vec<Record<K>>>,
    /// A key that is no position's.
    is_astray: bool,
}

/// Records of one shard: of every task the number of its first edge in the ply, and its records.
type Parts<K> = Vec<(u32, Vec<Record<K>>)>;

/// A shard of distinct keys, ascending.
struct Shard<K> {
    /// Those that no earlier ply has.
    new: Vec<K>,
    /// Of every key how many edges lead to it, and its row if it is known.
    led_to: Vec<(u32, Option<u32>)>,
    /// The edges, in the order of the keys.
    edges: Vec<u32>,
}

/// How a ply is cut.
struct Cut<K> {
    partition: Partition<K>,
    /// About how many edges a row has; 0 where few rows are cut.
    degree: f64,
    slices: usize,
    /// Where the targets of the ply's edges lie.
    memory: Memory,
}

impl<'a, G: Game> Order<'a, G> for ByPly<'a, G> {
    type State = State;

    fn open(
        game: &'a G,
        plan: &'a Plan<G::State>,
        draft: &mut Draft,
        resumed: Option<(State, Lengths)>,
    ) -> Result<Self, GraphError> {
        let lengths = resumed.as_ref().map(|(_, lengths)| lengths);
        declare(draft, G::Key::WORDS, Some(true), lengths)?;
        let state = match resumed {
            Some((state, _)) => checked(game, draft, state)?,
            None => begun(game, plan, draft)?,
        };
        Ok(ByPly { game, plan, attacker: plan.attacker(), state, workspaces: Workspaces::new() })
    }

    fn next_layer(&self) -> u32 {
        self.state.offsets.len() as u32 - 2
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, GraphError> {
        let started = Instant::now();
        let ply = self.next_layer();
        let known = draft.mapped::<G::Key>("keys")?;
        let begun = self.state.offsets[ply as usize] as usize;
        let keys = &known[begun..];
        let mut counts = Tally::default();
        let follow = self.plan.max_depth.is_none_or(|depth| ply < depth);
        let found = match follow {
            true => self.follow(&known, keys, &mut counts, draft, progress)?,
            false => None,
        };
        if found.is_none() {
            // There is no next ply, so this one is the frontier.
            for range in ranges(keys.len(), GROUP) {
                let made = self.expand(&keys[range], None, progress);
                self.write(draft, made.into_iter().map(|made| made.rows), &mut counts)?;
            }
        }
        self.state.counts.push(Counts { table: counts, ..Counts::default() });
        let new = found.unwrap_or(0);
        tracing::info!(
            ply,
            states = keys.len(),
            new,
            seconds = started.elapsed().as_secs_f64(),
            "ply complete"
        );
        if new > 0 {
            self.state.offsets.push(self.states() + new);
        }
        Ok(new > 0)
    }

    fn finish(self, draft: &mut Draft) -> Result<Found, GraphError> {
        let State { offsets, counts, root_ids, .. } = self.state;
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&offsets))])?;
        Ok(Found { first_layer: 0, layers: counts, root_ids })
    }
}

/// Writes the roots, which are the first ply.
fn begun<G: Game>(game: &G, plan: &Plan<G::State>, draft: &mut Draft) -> Result<State, GraphError> {
    let roots: Vec<G::Key> = plan.roots.iter().map(|root| game.position_key(root)).collect();
    let mut keys = roots.clone();
    keys.sort_unstable();
    keys.dedup();
    let row = |root: &G::Key| keys.binary_search(root).map_or(0, |row| row as u64);
    draft.append(&[("keys", bytemuck::cast_slice(&keys))])?;
    let root_ids = roots.iter().map(row).collect();
    Ok(State { offsets: vec![0, keys.len() as u64], edges: 0, counts: Vec::new(), root_ids })
}

/// The state of a checkpoint, if the arrays are what it says, whoever wrote them.
fn checked<G: Game>(game: &G, draft: &mut Draft, state: State) -> Result<State, GraphError> {
    let State { offsets, edges, counts, root_ids } = &state;
    if !fits(draft, offsets, *edges, counts, root_ids) {
        return Err(GraphError::Table(draft.astray()));
    }
    let known = draft.mapped::<G::Key>("keys")?;
    let mut plies = offsets.windows(2).map(|ends| &known[ends[0] as usize..ends[1] as usize]);
    if !plies.all(|keys| keys.is_sorted_by(|a, b| a < b)) {
        return Err(GraphError::Table(draft.damaged("keys", "a ply is not in order")));
    }
    let begun = offsets[offsets.len() - 2] as usize;
    if !known[begun..].iter().all(|&key| game.position_of(key).is_some()) {
        return Err(GraphError::Table(draft.damaged("keys", "a key is no position's")));
    }
    Ok(state)
}

/// Ranges of so many, of which the last may be shorter, that make up `0..len`.
fn ranges(len: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(most).map(move |from| from..len.min(from + most))
}

impl<G: Game> ByPly<'_, G> {
    fn states(&self) -> u64 {
        self.state.offsets.last().copied().unwrap_or(0)
    }

    /// Writes the rows and edges of a ply and the keys of the next; gives how many these are. `None`,
    /// with nothing written, if they are more than the plan allows.
    fn follow(
        &mut self,
        known: &Array<G::Key>,
        keys: &[G::Key],
        counts: &mut Tally,
        draft: &mut Draft,
        progress: &dyn Progress,
    ) -> Result<Option<u64>, GraphError> {
        let cut = self.cut(keys, draft)?;
        let Cut { partition, slices, memory, .. } = &cut;
        // What might turn out to be too much is not written before that is known.
        let hold = self.plan.max_states.is_some();
        let (mut held, mut new_keys) = (Vec::new(), Vec::new());
        let (mut bases, mut new) = (Vec::new(), 0);
        let mut targets = memory.zeros::<AtomicU32>(0)?;
        for slice in 0..*slices {
            let shards = |slice: usize| partition.shards() * slice / *slices;
            let shards = shards(slice)..shards(slice + 1);
            let mut parts: Vec<Parts<G::Key>> = shards.clone().map(|_| Vec::new()).collect();
            let (mut edges, mut task) = (0u64, 0);
            for range in ranges(keys.len(), GROUP.max(keys.len() / 16)) {
                let into = Some((&cut, shards.clone()));
                let mut rows = Vec::new();
                for made in self.expand(&keys[range], into, progress) {
                    if made.is_astray {
                        let what = "a key is no position's";
                        return Err(GraphError::Table(draft.damaged("keys", what)));
                    }
                    if slice == 0 {
                        bases.push(edges as u32);
                        edges += made.rows.actions.len() as u64;
                        rows.push(made.rows);
                    }
                    for (parts, records) in parts.iter_mut().zip(made.shards) {
                        if !records.is_empty() {
                            parts.push((bases[task], records));
                        }
                    }
                    task += 1;
                }
                if edges > u64::from(u32::MAX) {
                    return Err(GraphError::TooManyMoves {
                        layer: self.next_layer(),
                        moves: edges,
                    });
                }
                match hold {
                    true => held.append(&mut rows),
                    false => self.write(draft, rows.into_iter(), counts)?,
                }
            }
            if slice == 0 {
                targets = memory.zeros(edges as usize)?;
            }
            // While some shards are sorted, the keys of those before them are written.
            let mut some = Vec::new();
            let mut parts = parts.into_iter();
            loop {
                let next: Vec<_> = parts.by_ref().take(AT_ONCE).collect();
                let is_last = next.is_empty();
                let (found, written) = rayon::join(
                    || self.distinct(known, next),
                    || some.iter().try_for_each(|keys: &Vec<G::Key>| append_keys(draft, keys)),
                );
                written?;
                if is_last {
                    break;
                }
                let first = (self.states() + new) as u32;
                new += found.iter().map(|shard| shard.new.len() as u64).sum::<u64>();
                let states = self.states() + new;
                if self.plan.max_states.is_some_and(|most| states > most) {
                    return Ok(None);
                }
                if states > u64::from(u32::MAX) {
                    return Err(GraphError::TooManyStates { states });
                }
                place(&found, first, &targets);
                some = found.into_iter().map(|shard| shard.new).collect();
                if hold {
                    new_keys.append(&mut some);
                }
            }
        }
        self.write(draft, held.into_iter(), counts)?;
        new_keys.iter().try_for_each(|keys| append_keys(draft, keys))?;
        for range in ranges(targets.len(), GROUP) {
            let targets: Vec<u32> =
                targets[range].iter().map(|target| target.load(Ordering::Relaxed)).collect();
            draft.append(&[("edge_targets", bytemuck::cast_slice(&targets))])?;
        }
        Ok(Some(new))
    }

    /// How to cut a ply, by a sample of its moves.
    fn cut(&self, keys: &[G::Key], draft: &Draft) -> Result<Cut<G::Key>, GraphError> {
        let memory = draft.memory(self.plan.max_memory);
        if keys.len() < 1 << 11 {
            return Ok(Cut { partition: Partition::whole(), degree: 0.0, slices: 1, memory });
        }
        let stride = (keys.len() >> 14).max(1);
        let (mut sample, mut asked) = (Vec::new(), 0);
        for &key in keys.iter().step_by(stride) {
            asked += 1;
            self.row(key, &mut |_, after| sample.push(after));
        }
        let degree = sample.len() as f64 / f64::from(asked);
        let edges = degree * keys.len() as f64;
        let (left, targets) = (memory.left() as f64, 4.1 * edges);
        // Targets are written here and there, which is slow in a file.
        let (room, memory) = match targets < 0.5 * left {
            true => (left - targets, memory),
            false => (left, draft.memory(Some(0))),
        };
        let slices = (RECORD_BYTES * edges / room).ceil().clamp(1.0, 64.0) as usize;
        let shards = (edges as u64 / slices as u64 / SHARD_RECORDS).clamp(1, MAX_SHARDS);
        let wanted = slices * shards as usize;
        Ok(Cut {
            partition: Partition::by_sample(sample, wanted, self.game.key_bits()),
            degree,
            slices,
            memory,
        })
    }

    /// What a row is, `each` of the edges that are followed being told with the key behind it; `None`
    /// if the key is no position's.
    fn row(&self, key: G::Key, each: &mut dyn FnMut(u16, G::Key)) -> Option<StateKind> {
        let position = self.game.position_of(key)?;
        let restricted = self.attacker == Some(position.side);
        let mut legal = 0;
        self.game.for_each_successor(&position.state, |action, state| {
            legal += 1;
            if !restricted || self.game.in_check(&state) {
                let after = Position { state, side: position.side.other() };
                each(action.0, self.game.position_key(&after));
            }
        });
        Some(match (legal > 0, restricted) {
            (false, _) => StateKind::Terminal,
            (true, true) => StateKind::Restricted,
            (true, false) => StateKind::Interior,
        })
    }

    /// Expands rows, keeping the records of some shards; or only says what the rows are.
    fn expand(
        &self,
        keys: &[G::Key],
        into: Option<(&Cut<G::Key>, Range<usize>)>,
        progress: &dyn Progress,
    ) -> Vec<Made<G::Key>> {
        let tasks = task_ranges(keys.len());
        parallel::map(tasks.len(), &|task| {
            let keys = &keys[tasks[task].clone()];
            let mut made = Made { rows: Rows::default(), shards: Vec::new(), is_astray: false };
            made.rows.kinds.reserve_exact(keys.len());
            match &into {
                Some((cut, shards)) => self.successors(keys, cut, shards, &mut made),
                None => {
                    let unfollowed = |key: &G::Key| self.unfollowed(*key);
                    made.rows.kinds.extend(keys.iter().map(|key| unfollowed(key) as u8));
                    made.rows.degrees = vec![0; keys.len()];
                }
            }
            if into.as_ref().is_none_or(|(_, shards)| shards.start == 0) {
                progress.advance(keys.len() as u64);
            }
            made
        })
    }

    /// What a row is whose moves are not followed.
    fn unfollowed(&self, key: G::Key) -> StateKind {
        let position = self.game.position_of(key);
        match position.is_some_and(|position| self.game.is_terminal(&position.state)) {
            true => StateKind::Terminal,
            false => StateKind::Frontier,
        }
    }

    fn successors(
        &self,
        keys: &[G::Key],
        Cut { partition, degree, .. }: &Cut<G::Key>,
        shards: &Range<usize>,
        made: &mut Made<G::Key>,
    ) {
        let (width, mut edge) = (self.game.key_bits(), 0);
        // What shards take of one task differs little: memory that was never used is dear.
        let room = (degree * keys.len() as f64 / partition.shards() as f64 * 1.2) as usize + 8;
        let Made { rows, shards: records, is_astray } = made;
        records.resize_with(shards.len(), Vec::new);
        rows.degrees.reserve_exact(keys.len());
        for &key in keys {
            let before = edge;
            let kind = self.row(key, &mut |action, key| {
                let shard = partition.shard(key, width);
                if shards.contains(&shard) {
                    let record = Record { key, edge, orientations: Orientations(0), ply: 0 };
                    let records = &mut records[shard - shards.start];
                    if records.capacity() == 0 {
                        records.reserve_exact(room);
                    }
                    records.push(record);
                }
                rows.actions.push(action);
                edge += 1;
            });
            *is_astray |= kind.is_none();
            rows.kinds.push(kind.unwrap_or(StateKind::Terminal) as u8);
            rows.degrees.push((edge - before) as u16);
        }
    }

    /// Sorts the records of shards and finds which keys are new.
    fn distinct(&self, known: &[G::Key], parts: Vec<Parts<G::Key>>) -> Vec<Shard<G::Key>> {
        let parts: Vec<_> = parts.into_iter().map(Mutex::new).collect();
        parallel::map(parts.len(), &|shard| {
            let parts = std::mem::take(&mut *lock(&parts[shard]));
            let number = |(base, mut records): (u32, Vec<Record<G::Key>>)| {
                records.iter_mut().for_each(|record| record.edge += base);
                records
            };
            let parts: Vec<_> = parts.into_iter().map(number).collect();
            self.workspaces.with(|own| {
                let records = own.sorter.sort(&parts);
                drop(parts);
                self.shard(known, records)
            })
        })
    }

    /// The keys of ascending records: which of them the plies so far have, and where.
    fn shard(&self, known: &[G::Key], records: &[Record<G::Key>]) -> Shard<G::Key> {
        let edges = records.iter().map(|record| record.edge).collect();
        let room = records.len() / 2;
        let (new, led_to) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut shard = Shard { new, led_to, edges };
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return shard };
        let plies = self.state.offsets.windows(2).map(|ends| {
            let keys = &known[ends[0] as usize..ends[1] as usize];
            let from = keys.partition_point(|key| *key < first.key);
            let to = keys.partition_point(|key| *key <= last.key);
            (ends[0] as usize + from, &keys[from..to])
        });
        let mut plies: Vec<_> = plies.filter(|(_, keys)| !keys.is_empty()).collect();
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
        }
        // Of memory that was never used no more than it takes.
        shard.new.shrink_to_fit();
        shard.led_to.shrink_to_fit();
        shard
    }

    /// Writes rows; `counts` of their ply take them in.
    fn write(
        &mut self,
        draft: &mut Draft,
        rows: impl Iterator<Item = Rows>,
        counts: &mut Tally,
    ) -> Result<(), GraphError> {
        for Rows { kinds, degrees, actions } in rows {
            let count = |kind: StateKind| kinds.iter().filter(|&&k| k == kind as u8).count() as u64;
            counts.states += kinds.len() as u64;
            counts.terminals += count(StateKind::Terminal);
            counts.frontier += count(StateKind::Frontier);
            counts.transitions += actions.len() as u64;
            let counts = degrees.iter().map(|&degree| u64::from(degree));
            let starts = edge_starts(draft, &mut self.state.edges, counts);
            draft.append(&[
                ("kinds", &kinds),
                ("edge_counts", bytemuck::cast_slice(&degrees)),
                ("edge_starts", bytemuck::cast_slice(&starts)),
                ("edge_actions", bytemuck::cast_slice(&actions)),
            ])?;
        }
        Ok(())
    }
}

/// Gives the new keys of shards their rows from `first` on, and the edges their targets.
fn place<K: StateKey>(shards: &[Shard<K>], first: u32, targets: &[AtomicU32]) {
    let mut bases = Vec::with_capacity(shards.len());
    let mut base = first;
    for shard in shards {
        bases.push(base);
        base += shard.new.len() as u32;
    }
    parallel::each(shards.len(), &|number| {
        let (mut next, mut edges) = (bases[number], shards[number].edges.iter());
        for &(count, row) in &shards[number].led_to {
            let row = row.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            for &edge in edges.by_ref().take(count as usize) {
                targets[edge as usize].store(row, Ordering::Relaxed);
            }
        }
    });
}

fn append_keys<K: StateKey>(draft: &mut Draft, keys: &[K]) -> Result<(), GraphError> {
    Ok(draft.append(&[("keys", bytemuck::cast_slice(keys))])?)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;
    use crate::game::WideKey;
    use crate::game::shogi::{MINISHOGI, Shogi};
    use crate::graph::build;
    use crate::progress::Silent;
    use crate::table::{HEADER_BYTES, Store, Table};

    fn files(table: &Table) -> BTreeMap<String, Vec<u8>> {
        let files = std::fs::read_dir(table.dir()).unwrap().map(|entry| entry.unwrap());
        let named = files.map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, std::fs::read(file.path()).unwrap())
        });
        named.collect()
    }

    /// One slice or many, and no more threads than one: the same bytes, and every ply is what a set
    /// of known positions leaves.
    #[test]
    fn slices_make_the_same_bytes_and_plies_are_what_a_set_finds() {
        let game = Shogi::<WideKey>::new(&MINISHOGI, true);
        let plan = Plan { max_depth: Some(5), ..Plan::from_start(&game) };
        let make = |plan: &Plan<_>| {
            let dir = tempfile::tempdir().unwrap();
            files(&build(&game, plan, &Store::at(dir.path()), &Silent).unwrap().table)
        };
        let whole = make(&plan);
        let sliced = Plan { max_memory: Some(0), ..plan.clone() };
        assert!(whole == make(&sliced), "in slices");
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(whole == one.install(|| make(&sliced)), "on one thread");

        let keys: &[[u64; 2]] = bytemuck::cast_slice(&whole["keys.npy"][HEADER_BYTES..]);
        let (mut keys, mut known, mut ply) = (keys.iter(), HashSet::new(), vec![game.start()]);
        for _ in 0..=5 {
            let key = |position: &Position<_>| game.position_key(position).widen().0;
            ply.retain(|position| !known.contains(&key(position)));
            let mut new: Vec<_> = ply.iter().map(key).collect();
            new.sort_unstable();
            new.dedup();
            assert!(new.iter().eq(keys.by_ref().take(new.len())));
            known.extend(new);
            let after = |position: &Position<_>| {
                let actions = game.actions(&position.state).into_iter();
                actions.map(|action| game.advance(position, action)).collect::<Vec<_>>()
            };
            ply = ply.iter().flat_map(after).collect();
        }
        assert_eq!(keys.next(), None);
    }
}
