//! From a layer's states to the records of their successors, partitioned by key.
//!
//! [`expand`] is a pure function of the layer: which thread did what shows neither in the records
//! of a shard, once they are sorted, nor in the actions, which stand in the order of the edges.

use std::ops::Range;
use std::sync::Mutex;

use super::GraphError;
use super::keys::BucketIndex;
use super::layer::{Bound, Layer};
use crate::game::{Action, Game, Orientations, StateKey};
use crate::parallel::{self, lock};

/// A successor as it is found: by which edge, in which orientations and how soon.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Record<K> {
    pub key: K,
    /// The edge's number in its layer.
    pub edge: u32,
    pub orientations: Orientations,
    /// The fewest plies from a root by this edge.
    pub ply: u16,
}

/// What comes of expanding a layer.
pub(crate) struct Expansion<K> {
    /// Records of successors in the next layer, by shard and by task, in no order.
    pub shards: Vec<Vec<Vec<Record<K>>>>,
    /// Of every edge its action.
    pub actions: Vec<u16>,
    /// Of every pass its edge and the place of its target in the same layer.
    pub passes: Vec<(u32, u32)>,
    /// Records of successors in other layers than the next, with the number of their layer.
    pub jumps: Vec<(u32, Record<K>)>,
    /// The ranges of keys that make the shards.
    pub partition: Partition<K>,
}

/// Expands every state that is to be, passes within the layer being looked up in `index`.
///
/// `tick` is told how many states are done.
pub(crate) fn expand<G: Game>(
    game: &G,
    layer: &Layer<G::Key>,
    index: &BucketIndex,
    bound: Bound,
    tick: &(impl Fn(u64) + Sync),
) -> Result<Expansion<G::Key>, GraphError> {
    let tasks = task_ranges(layer.len());
    let counts: Vec<u64> =
        parallel::map(tasks.len(), &|task| layer.edges(tasks[task].clone(), bound));
    let total: u64 = counts.iter().sum();
    if total > u64::from(u32::MAX) {
        return Err(GraphError::TooManyMoves { layer: layer.number, moves: total });
    }
    let partition = partition_of(game, layer, total);

    let mut actions = vec![0u16; total as usize];
    let mut slices = Vec::with_capacity(tasks.len());
    let (mut rest, mut base) = (&mut actions[..], 0);
    for &count in &counts {
        let (mine, others) = rest.split_at_mut(count as usize);
        slices.push(Mutex::new((mine, base as u32)));
        base += count;
        rest = others;
    }
    let made = parallel::map(tasks.len(), &|number| {
        let (actions, base) = &mut *lock(&slices[number]);
        let task = Task { game, layer, index, partition: &partition, bound };
        let made = task.run(tasks[number].clone(), actions, *base);
        tick(tasks[number].len() as u64);
        made
    });

    let mut shards: Vec<Vec<_>> =
        (0..partition.shards()).map(|_| Vec::with_capacity(made.len())).collect();
    let (mut passes, mut jumps) = (Vec::new(), Vec::new());
    for Made { records, passes: own_passes, jumps: own_jumps } in made {
        passes.extend(own_passes);
        jumps.extend(own_jumps);
        for (shard, records) in shards.iter_mut().zip(records) {
            if !records.is_empty() {
                shard.push(records);
            }
        }
    }
    Ok(Expansion { shards, actions, passes, jumps, partition })
}

/// Ranges of states for one task each; many enough for all threads, however uneven they are.
pub(crate) fn task_ranges(states: usize) -> Vec<Range<usize>> {
    let most = rayon::current_num_threads() * 8;
    let tasks = (states / 2048).clamp(1, most);
    (0..tasks).map(|t| states * t / tasks..states * (t + 1) / tasks).collect()
}

struct Task<'a, G: Game> {
    game: &'a G,
    layer: &'a Layer<G::Key>,
    index: &'a BucketIndex,
    partition: &'a Partition<G::Key>,
    bound: Bound,
}

/// What a task makes, as in [`Expansion`]; records by shard.
struct Made<K> {
    records: Vec<Vec<Record<K>>>,
    passes: Vec<(u32, u32)>,
    jumps: Vec<(u32, Record<K>)>,
}

impl<G: Game> Task<'_, G> {
    fn run(&self, range: Range<usize>, actions: &mut [u16], base: u32) -> Made<G::Key> {
        let Task { game, layer, partition, .. } = self;
        let room = actions.len() / partition.shards();
        let mut records: Vec<Vec<Record<G::Key>>> =
            (0..partition.shards()).map(|_| Vec::with_capacity(room + room / 8)).collect();
        let (mut passes, mut jumps) = (Vec::new(), Vec::new());
        let width = game.key_bits();
        let mut edge = 0;
        for i in range.filter(|&i| layer.expands(i, self.bound)) {
            let key = layer.keys[i];
            let state = game.state(key).expect("a key made by the rules unpacks");
            let from = layer.orientations[i];
            let ply = layer.plies[i] + 1;
            let pass = layer.degrees[i].is_pass();
            game.for_each_successor(&state, |Action(action), successor| {
                let canonical = game.canonical(&successor);
                actions[edge] = action;
                let number = base + edge as u32;
                edge += 1;
                if pass {
                    let target = self
                        .index
                        .find(&layer.keys, canonical.key)
                        .expect("a layer is closed under passes");
                    passes.push((number, target as u32));
                    return;
                }
                let orientations = game.group().successor_orientations(from, canonical.ties);
                let record = Record { key: canonical.key, edge: number, orientations, ply };
                match game.layer(&successor) {
                    to if to == layer.number + 1 => {
                        records[partition.shard(canonical.key, width)].push(record);
                    }
                    to => jumps.push((to, record)),
                }
            });
        }
        Made { records, passes, jumps }
    }
}

/// Consecutive ranges of keys, about equally full.
#[derive(Clone, Debug)]
pub(crate) struct Partition<K> {
    /// The first key of every range but the first.
    cuts: Vec<K>,
    /// By the highest bits of a key: how many cuts have lower ones. Empty if there are no cuts.
    cuts_below: Vec<u16>,
}

/// How many records a shard is meant to hold: what sorts within a second-level cache.
pub(crate) const SHARD_RECORDS: u64 = 1 << 15;
pub(crate) const MAX_SHARDS: u64 = 1 << 11;
const PREFIX_BITS: u32 = 14;

impl<K: StateKey> Partition<K> {
    /// One shard that holds everything.
    pub fn whole() -> Partition<K> {
        Partition { cuts: Vec::new(), cuts_below: Vec::new() }
    }

    /// At most so many shards, cut by a sample of the keys, of `width` bits. What is enumerated does
    /// not depend on the cuts, only the speed does.
    pub fn by_sample(mut sample: Vec<K>, wanted: usize, width: u32) -> Partition<K> {
        sample.sort_unstable();
        let wanted = wanted.min(sample.len() + 1).min(usize::from(u16::MAX));
        let mut cuts: Vec<K> =
            (1..wanted).map(|shard| sample[shard * sample.len() / wanted]).collect();
        cuts.dedup();
        if cuts.is_empty() {
            return Partition::whole();
        }
        let below = |prefix| cuts.partition_point(|cut| cut.prefix(width, PREFIX_BITS) < prefix);
        let cuts_below = (0..=1 << PREFIX_BITS).map(|prefix| below(prefix) as u16).collect();
        Partition { cuts, cuts_below }
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The shard of a key of `width` bits; monotone in the key.
    #[inline]
    pub fn shard(&self, key: K, width: u32) -> usize {
        if self.cuts.is_empty() {
            return 0;
        }
        let prefix = key.prefix(width, PREFIX_BITS);
        let from = usize::from(self.cuts_below[prefix]);
        let to = usize::from(self.cuts_below[prefix + 1]);
        from + self.cuts[from..to].partition_point(|cut| *cut <= key)
    }
}

/// The shards for the successors of a layer.
fn partition_of<G: Game>(game: &G, layer: &Layer<G::Key>, edges: u64) -> Partition<G::Key> {
    let wanted = (edges / SHARD_RECORDS).clamp(1, MAX_SHARDS) as usize;
    if wanted == 1 {
        return Partition::whole();
    }
    let stride = (layer.len() / (1 << 13)).max(1);
    let mut sample = Vec::new();
    for &key in layer.keys.iter().step_by(stride) {
        let state = game.state(key).expect("a key made by the rules unpacks");
        game.for_each_successor(&state, |_, successor| sample.push(game.canonical(&successor).key));
    }
    Partition::by_sample(sample, wanted, game.key_bits())
}
