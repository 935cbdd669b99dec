//! From the records of successors to the next layer: sorted, distinct, closed under passes.
//!
//! Each shard is a range of keys and is sorted on its own; shards in their order make the layer.
//! Three steps: distinct keys of each shard; the targets of passes, which stay in the layer, merged
//! in; and, once every key has its place, the targets of the edges.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::GraphError;
use super::expand::{Partition, Record};
use super::layer::{Degree, Layer, degree};
use super::sort::Sorter;
use crate::game::{Game, Mobility, Orientations, StateKey};
use crate::hint::Hinted;
use crate::parallel::{self, lock};

/// The states of one shard, ascending.
struct Shard<K> {
    states: Vec<State<K>>,
    /// The edges that lead to them, in the order of the states.
    edges: Vec<u32>,
}

#[derive(Clone, Copy)]
struct State<K> {
    key: K,
    /// How many edges lead here; none to a state that only a pass leads to.
    edges: u32,
    orientations: Orientations,
    ply: u16,
    degree: Degree,
}

/// The next layer, and the place in it of every edge's target.
pub(crate) struct Settled<K> {
    pub layer: Layer<K>,
    /// By edge; those that lead to no state of the layer, such as passes, keep 0 here.
    pub targets: Vec<u32>,
}

/// Buffers that serve one shard after another: one set a thread, kept from layer to layer, because
/// the system clears fresh memory and that takes longer than using it.
pub(crate) struct Workspaces<K>(Mutex<Vec<Workspace<K>>>);

pub(super) struct Workspace<K> {
    pub(super) sorter: Sorter<K>,
    states: Vec<State<K>>,
}

impl<K: StateKey> Workspaces<K> {
    pub fn new() -> Workspaces<K> {
        Workspaces(Mutex::new(Vec::new()))
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Workspace<K>) -> T) -> T {
        let free = || lock(&self.0);
        let kept = free().pop();
        let mut own =
            kept.unwrap_or_else(|| Workspace { sorter: Sorter::new(), states: Vec::new() });
        let result = work(&mut own);
        free().push(own);
        result
    }
}

/// Makes layer `number` of the records of its states, and finds the targets of `edges` edges;
/// records of other edges have a higher number.
pub(crate) fn settle<G: Game>(
    game: &G,
    number: u32,
    shards: Vec<Vec<Vec<Record<G::Key>>>>,
    partition: &Partition<G::Key>,
    edges: usize,
    max_depth: Option<u32>,
    workspaces: &Workspaces<G::Key>,
) -> Result<Settled<G::Key>, GraphError> {
    let shards: Vec<_> = shards.into_iter().map(Mutex::new).collect();
    let settled = parallel::map(shards.len(), &|shard| {
        let parts = std::mem::take(&mut *lock(&shards[shard]));
        workspaces.with(|own| distinct(game, own, parts, max_depth))
    });
    let (mut shards, passed): (Vec<Shard<_>>, Vec<Vec<Record<_>>>) = settled.into_iter().unzip();

    let mut passed = passed.concat();
    passed.par_sort_unstable_by_key(|record| record.key);
    let (width, passes_twice) = (game.key_bits(), AtomicBool::new(false));
    parallel::map_mut(&mut shards, 1, &|number, shard| {
        let from = passed.partition_point(|r| partition.shard(r.key, width) < number);
        let to = passed.partition_point(|r| partition.shard(r.key, width) <= number);
        if !shard[0].merge(game, &passed[from..to]) {
            passes_twice.store(true, Ordering::Relaxed);
        }
    });
    if passes_twice.into_inner() {
        let what = format!("a pass in layer {number} is answered by a pass");
        let what = Hinted::new(what, "end the game there");
        return Err(GraphError::Unfit { game: game.name(), what });
    }

    let mut bases = Vec::with_capacity(shards.len());
    let mut states = 0;
    for shard in &shards {
        bases.push(states);
        states += shard.states.len();
    }
    if states > u32::MAX as usize {
        return Err(GraphError::TooManyStates { states: states as u64 });
    }

    let slots: Vec<AtomicU32> = bytemuck::zeroed_vec(edges);
    parallel::map_mut(&mut shards, 1, &|number, shard| {
        let (shard, base) = (&mut shard[0], bases[number]);
        let mut edges = shard.edges.iter();
        for (place, state) in shard.states.iter().enumerate() {
            for &edge in edges.by_ref().take(state.edges as usize) {
                if let Some(slot) = slots.get(edge as usize) {
                    slot.store((base + place) as u32, Ordering::Relaxed);
                }
            }
        }
        shard.edges = Vec::new();
    });
    let targets = slots.into_iter().map(AtomicU32::into_inner).collect();
    Ok(Settled { layer: join(number, shards, states), targets })
}

/// Lays the shards' states side by side.
fn join<K: StateKey>(number: u32, shards: Vec<Shard<K>>, states: usize) -> Layer<K> {
    fn column<K: Sync, T: Copy + Send>(
        shards: &[Shard<K>],
        states: usize,
        of: impl Fn(&State<K>) -> T,
    ) -> Vec<T> {
        let mut column = Vec::with_capacity(states);
        for shard in shards {
            column.extend(shard.states.iter().map(&of));
        }
        column
    }
    let ((keys, orientations), (plies, degrees)) = rayon::join(
        || (column(&shards, states, |s| s.key), column(&shards, states, |s| s.orientations)),
        || (column(&shards, states, |s| s.ply), column(&shards, states, |s| s.degree)),
    );
    Layer { number, keys, orientations, plies, degrees }
}

/// Sorts a shard, makes one state of the records that share a key, and finds where the passes
/// among them lead.
fn distinct<G: Game>(
    game: &G,
    workspace: &mut Workspace<G::Key>,
    parts: Vec<Vec<Record<G::Key>>>,
    max_depth: Option<u32>,
) -> (Shard<G::Key>, Vec<Record<G::Key>>) {
    let records = workspace.sorter.sort(&parts);
    drop(parts);
    let states = group(records, &mut workspace.states);
    let mut passed = Vec::new();
    for state in &mut *states {
        state.degree = degree(game, state.key);
        if state.degree.is_pass() && max_depth.is_none_or(|d| u32::from(state.ply) < d) {
            passed.push(pass_record(game, state));
        }
    }
    let edges = records.iter().map(|record| record.edge).collect();
    (Shard { states: states.to_vec(), edges }, passed)
}

/// One state for all records that share a key, the records being ascending; degrees are left open.
fn group<'a, K: StateKey>(
    records: &[Record<K>],
    states: &'a mut Vec<State<K>>,
) -> &'a mut [State<K>] {
    states.clear();
    let blank = State {
        key: K::zeroed(),
        edges: 0,
        orientations: Orientations(0),
        ply: u16::MAX,
        degree: Degree::of(Mobility::Over),
    };
    let Some(first) = records.first() else { return states };
    states.resize(records.len(), blank);
    let (mut place, mut key) = (0, first.key);
    for record in records {
        // Whether a key is new is as good as random, so the place moves on without a branch.
        place += usize::from(record.key != key);
        key = record.key;
        let state = &mut states[place];
        state.key = key;
        state.edges += 1;
        state.orientations.0 |= record.orientations.0;
        state.ply = state.ply.min(record.ply);
    }
    states.truncate(place + 1);
    states
}

/// The state that a pass leads to, as a record without an edge.
fn pass_record<G: Game>(game: &G, state: &State<G::Key>) -> Record<G::Key> {
    let board = game.state(state.key).expect("a key made by the rules unpacks");
    let mut after = board;
    game.for_each_successor(&board, |_, successor| after = successor);
    let canonical = game.canonical(&after);
    Record {
        key: canonical.key,
        edge: u32::MAX,
        orientations: game.group().successor_orientations(state.orientations, canonical.ties),
        ply: state.ply + 1,
    }
}

impl<K: StateKey> Shard<K> {
    /// Merges the ascending targets of passes; false if one of them is a state that must pass too.
    fn merge<G: Game<Key = K>>(&mut self, game: &G, passed: &[Record<K>]) -> bool {
        if passed.is_empty() {
            return true;
        }
        let mut moves_on = true;
        let mut merged: Vec<State<K>> = Vec::with_capacity(self.states.len() + passed.len());
        let mut own = std::mem::take(&mut self.states).into_iter().peekable();
        for record in passed {
            while let Some(state) = own.next_if(|state| state.key <= record.key) {
                merged.push(state);
            }
            match merged.last_mut() {
                Some(state) if state.key == record.key => {
                    state.orientations.0 |= record.orientations.0;
                    state.ply = state.ply.min(record.ply);
                    moves_on &= !state.degree.is_pass();
                }
                _ => {
                    let degree = degree(game, record.key);
                    moves_on &= !degree.is_pass();
                    merged.push(State {
                        key: record.key,
                        edges: 0,
                        orientations: record.orientations,
                        ply: record.ply,
                        degree,
                    });
                }
            }
        }
        merged.extend(own);
        self.states = merged;
        moves_on
    }
}
