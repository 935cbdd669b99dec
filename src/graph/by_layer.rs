//! The order of a layered game: layer by layer.
//!
//! Every layer is expanded in parallel, its successors are sorted into shards, made distinct and
//! closed under passes; then the layer's rows are complete and are appended to the draft. Two
//! layers and the edges between them are all that is held in memory. A state's id is its place in
//! (layer, key) order, so the bytes of a table depend on nothing but its identity.
//!
//! Edges that jump over layers wait in memory until their layer is found, and so do the targets of
//! all edges behind the first of them. Meanwhile no checkpoint is written.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::build::{Found, Order, declare, edge_starts, fits};
use super::expand::{Expansion, Partition, Record, expand};
use super::keys::{BucketIndex, search};
use super::layer::{Bound, Layer, degrees};
use super::plan::Plan;
use super::settle::{Workspaces, settle};
use super::{GraphError, StateKind, census};
use crate::game::{Game, Orientations, StateKey};
use crate::hint::Hinted;
use crate::parallel;
use crate::progress::Progress;
use crate::table::{Counts, Draft, Ints, Lengths};

/// Tells the seconds since it was last asked.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
}

/// What a checkpoint holds besides the arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub first_layer: u32,
    /// Ids at which layers begin, and the end of the last layer known.
    pub offsets: Vec<u64>,
    pub edges: u64,
    /// Of every layer whose rows are complete.
    pub counts: Vec<Counts>,
    pub root_ids: Vec<u64>,
}

impl State {
    /// Nothing but the states of the first layer.
    pub fn begin(first_layer: u32, states: usize, root_ids: Vec<u64>) -> State {
        let offsets = vec![0, states as u64];
        State { first_layer, offsets, edges: 0, counts: Vec::new(), root_ids }
    }

    /// The number of the layer that is to be expanded and how many rows it has, if what a
    /// checkpoint says fits the arrays.
    pub fn last_layer(&self, draft: &Draft) -> Result<(u32, usize), GraphError> {
        let State { first_layer, offsets, edges, counts, root_ids } = self;
        let number = first_layer.checked_add(counts.len() as u32);
        let number = number.filter(|_| fits(draft, offsets, *edges, counts, root_ids));
        let number = number.ok_or_else(|| draft.astray())?;
        let layers = counts.len() + 1;
        Ok((number, (offsets[layers] - offsets[layers - 1]) as usize))
    }

    /// Writes where layers begin; says what the table holds.
    pub fn finish(self, draft: &mut Draft) -> Result<Found, GraphError> {
        let State { first_layer, offsets, counts, root_ids, .. } = self;
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&offsets))])?;
        Ok(Found { first_layer, layers: counts, root_ids })
    }
}

/// A layered game's enumeration.
pub(super) struct ByLayer<'a, G: Game> {
    game: &'a G,
    plan: &'a Plan<G::State>,
    state: State,
    /// The layer whose keys are written and whose edges are not.
    layer: Layer<G::Key>,
    jumps: Jumps<G::Key>,
    workspaces: Workspaces<G::Key>,
}

/// Edges whose targets are not known yet.
struct Jumps<K> {
    /// By the layer to which they lead: each edge's number in the table, and its record.
    edges: BTreeMap<u32, Vec<(u64, Record<K>)>>,
    /// The targets of the last edges of the table, from the first on that leads to one of these.
    targets: VecDeque<u32>,
}

impl<'a, G: Game> Order<'a, G> for ByLayer<'a, G> {
    type State = State;

    fn open(
        game: &'a G,
        plan: &'a Plan<G::State>,
        draft: &mut Draft,
        resumed: Option<(State, Lengths)>,
    ) -> Result<Self, GraphError> {
        let lengths = resumed.as_ref().map(|(_, lengths)| lengths);
        declare(draft, G::Key::WORDS, Some(has_wide_actions(game)), lengths)?;
        Ints::grow(draft, "orientations", has_wide_orientations(game), lengths)?;
        draft.grow::<u16>("plies", true, lengths)?;
        let workspaces = Workspaces::new();
        let jumps = Jumps { edges: BTreeMap::new(), targets: VecDeque::new() };
        if let Some((state, _)) = resumed {
            let layer = reload(game, plan, draft, &state)?;
            return Ok(ByLayer { game, plan, state, layer, jumps, workspaces });
        }
        let (layer, root_ids) = first_layer(game, plan)?;
        let state = State::begin(layer.number, layer.len(), root_ids);
        let work = ByLayer { game, plan, state, layer, jumps, workspaces };
        work.append_states(draft)?;
        Ok(work)
    }

    fn next_layer(&self) -> u32 {
        self.layer.number
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn is_settled(&self) -> bool {
        self.jumps.edges.is_empty()
    }

    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, GraphError> {
        let ByLayer { game, plan, layer, jumps: ahead, .. } = self;
        let started = Instant::now();
        let mut clock = Clock(started);
        let index = BucketIndex::new(&layer.keys, game.key_bits());
        let whole = Bound { max_depth: plan.max_depth, last_layer: false };
        let expansion = expand(*game, layer, &index, whole, &|states| progress.advance(states))?;
        let Expansion { mut shards, mut actions, passes, jumps, partition } = expansion;
        ahead.add(*game, layer.number, self.state.edges, jumps, plan.max_states)?;
        let arriving = ahead.edges.remove(&(layer.number + 1)).unwrap_or_default();
        let mut parts = vec![Vec::new(); shards.len()];
        for &(_, record) in &arriving {
            let shard = partition.shard(record.key, game.key_bits());
            parts[shard].push(Record { edge: u32::MAX, ..record });
        }
        let parts = shards.iter_mut().zip(parts).filter(|(_, part)| !part.is_empty());
        parts.for_each(|(shard, part)| shard.push(part));
        let expanding = clock.lap();
        let settled = settle(
            *game,
            layer.number + 1,
            shards,
            &partition,
            actions.len(),
            plan.max_depth,
            &self.workspaces,
        )?;
        let (next, mut targets) = (settled.layer, settled.targets);
        let settling = clock.lap();

        let base = self.state.offsets[self.state.offsets.len() - 2];
        let next_base = base + layer.len() as u64;
        let total = next_base + next.len() as u64;
        if total > u64::from(u32::MAX) {
            return Err(GraphError::TooManyStates { states: total });
        }
        let last_layer = plan.max_states.is_some_and(|most| total > most);
        let bound = Bound { last_layer, ..whole };
        if last_layer {
            actions = passes.iter().map(|&(edge, _)| actions[edge as usize]).collect();
            targets = passes.iter().map(|&(_, place)| base as u32 + place).collect();
        } else {
            parallel::map_mut(&mut targets, 1 << 16, &|_, targets| {
                targets.iter_mut().for_each(|target| *target += next_base as u32);
            });
            for (edge, place) in passes {
                targets[edge as usize] = base as u32 + place;
            }
        }
        let edges = self.state.edges + targets.len() as u64;
        let found = |record: &Record<_>| next_base as u32 + place_in(&next, record) as u32;
        let arriving = arriving.iter().map(|(edge, record)| (*edge, found(record)));
        let targets = ahead.settle(targets, edges, arriving);
        let (counts, written) = rayon::join(
            || census::count(*game, layer, &index, bound),
            || append_edges(*game, draft, layer, self.state.edges, &targets, &actions, bound),
        );
        self.state.edges = written?;
        self.state.counts.push(counts);
        tracing::info!(
            layer = self.layer.number,
            states = self.layer.len(),
            edges = actions.len(),
            expanding,
            settling,
            writing = clock.lap(),
            seconds = started.elapsed().as_secs_f64(),
            "layer complete"
        );
        if last_layer || next.len() == 0 && self.jumps.edges.is_empty() {
            return Ok(false);
        }
        self.state.offsets.push(total);
        self.layer = next;
        self.append_states(draft)?;
        Ok(true)
    }

    fn finish(self, draft: &mut Draft) -> Result<Found, GraphError> {
        self.state.finish(draft)
    }
}

impl<G: Game> ByLayer<'_, G> {
    /// Appends the keys, orientations and plies of the layer just found.
    fn append_states(&self, draft: &mut Draft) -> Result<(), GraphError> {
        let Layer { keys, orientations, plies, .. } = &self.layer;
        let orientations: Vec<u16> = orientations.iter().map(|o| o.0).collect();
        let orientations = Ints::bytes(&orientations, has_wide_orientations(self.game));
        let plies: &[u8] =
            if self.plan.max_depth.is_some() { bytemuck::cast_slice(plies) } else { &[] };
        draft.append(&[
            ("keys", bytemuck::cast_slice(keys)),
            ("orientations", &orientations),
            ("plies", plies),
        ])?;
        Ok(())
    }
}

impl<K: StateKey> Jumps<K> {
    /// Takes up the edges of a layer that do not lead to the next, the table having `edges` edges
    /// before those of the layer.
    fn add<G: Game>(
        &mut self,
        game: &G,
        layer: u32,
        edges: u64,
        jumps: Vec<(u32, Record<K>)>,
        max_states: Option<u64>,
    ) -> Result<(), GraphError> {
        let unfit = |what: String, hint: &str| {
            Err(GraphError::Unfit { game: game.name(), what: Hinted::new(what, hint) })
        };
        for (to, record) in jumps {
            if to <= layer {
                let what = format!("a move of layer {layer} leads to layer {to}");
                return unfit(what, "without `layers` moves may lead anywhere");
            }
            if max_states.is_some() {
                let what = format!(
                    "a move of layer {layer} leads to layer {to} over others, of which --max-states might leave some out"
                );
                return unfit(what, "bound it with --max-depth");
            }
            self.edges.entry(to).or_default().push((edges + u64::from(record.edge), record));
        }
        Ok(())
    }

    /// Takes up the targets of a layer's edges, the last of `edges`, and those of edges that have
    /// `arrived`; gives all that can be written.
    fn settle(
        &mut self,
        targets: Vec<u32>,
        edges: u64,
        arrived: impl Iterator<Item = (u64, u32)>,
    ) -> Vec<u32> {
        if self.edges.is_empty() && self.targets.is_empty() {
            return targets;
        }
        self.targets.extend(targets);
        let first = edges - self.targets.len() as u64;
        for (edge, target) in arrived {
            self.targets[(edge - first) as usize] = target;
        }
        let open = self.edges.values().flatten().map(|&(edge, _)| edge).min().unwrap_or(edges);
        self.targets.drain(..(open - first) as usize).collect()
    }
}

/// The place of a record's state in its layer.
fn place_in<K: StateKey>(layer: &Layer<K>, record: &Record<K>) -> usize {
    search(&layer.keys, 0..layer.len(), record.key).expect("the layer was made of its records")
}

/// Whether an action, or how many there are in a state, needs more than a byte.
fn has_wide_actions<G: Game>(game: &G) -> bool {
    game.action_count() > 255
}

/// Whether the orientations of either side need more than a byte.
pub(super) fn has_wide_orientations<G: Game>(game: &G) -> bool {
    game.group().order() > 4
}

/// The layer of the roots and the place of each root in it.
type Roots<K> = (Layer<K>, Vec<u64>);

/// Appends the kinds and edges of a layer, before which there are so many edges; gives the number of
/// those with its own.
fn append_edges<G: Game>(
    game: &G,
    draft: &mut Draft,
    layer: &Layer<G::Key>,
    mut edges: u64,
    targets: &[u32],
    actions: &[u16],
    bound: Bound,
) -> Result<u64, GraphError> {
    let mut kinds = Vec::with_capacity(layer.len());
    let mut edge_counts: Vec<u16> = Vec::with_capacity(layer.len());
    for i in 0..layer.len() {
        let expanded = layer.expands(i, bound);
        let kind = match (layer.degrees[i].is_over(), expanded) {
            (true, _) => StateKind::Terminal,
            (false, true) => StateKind::Interior,
            (false, false) => StateKind::Frontier,
        };
        kinds.push(kind as u8);
        edge_counts.push(if expanded { layer.degrees[i].actions() as u16 } else { 0 });
    }
    let counts = edge_counts.iter().map(|&count| u64::from(count));
    let starts = edge_starts(draft, &mut edges, counts);
    let wide = has_wide_actions(game);
    draft.append(&[
        ("kinds", &kinds),
        ("edge_counts", &Ints::bytes(&edge_counts, wide)),
        ("edge_starts", bytemuck::cast_slice(&starts)),
        ("edge_targets", bytemuck::cast_slice(targets)),
        ("edge_actions", &Ints::bytes(actions, wide)),
    ])?;
    Ok(edges)
}

/// The layer of the roots, closed under passes, and the place of each root in it.
fn first_layer<G: Game>(game: &G, plan: &Plan<G::State>) -> Result<Roots<G::Key>, GraphError> {
    let records: Vec<_> = plan
        .roots
        .iter()
        .map(|root| {
            let canonical = game.canonical(&root.state);
            let orientations = game.group().root_orientations(root.side, canonical.ties);
            Record { key: canonical.key, edge: 0, orientations, ply: 0 }
        })
        .collect();
    let number =
        plan.roots.first().map(|root| game.layer(&root.state)).ok_or(GraphError::NoRoot)?;
    let partition = Partition::whole();
    let settled = settle(
        game,
        number,
        vec![vec![records.clone()]],
        &partition,
        1,
        plan.max_depth,
        &Workspaces::new(),
    )?;
    let layer = settled.layer;
    let root_ids = records.iter().map(|record| place_in(&layer, record) as u64).collect();
    Ok((layer, root_ids))
}

/// Reads the layer that was to be expanded when a checkpoint was written.
fn reload<G: Game>(
    game: &G,
    plan: &Plan<G::State>,
    draft: &Draft,
    state: &State,
) -> Result<Layer<G::Key>, GraphError> {
    let (number, length) = state.last_layer(draft)?;
    let keys: Vec<G::Key> = match <G::Key as StateKey>::WORDS {
        1 => bytemuck::allocation::cast_vec(draft.tail::<u64>("keys", length)?),
        _ => bytemuck::allocation::cast_vec(draft.tail::<[u64; 2]>("keys", length)?),
    };
    let orientations = Ints::tail(draft, "orientations", has_wide_orientations(game), length)?;
    let orientations = orientations.into_iter().map(Orientations).collect();
    let plies = if plan.max_depth.is_some() {
        draft.tail::<u16>("plies", length)?
    } else {
        vec![0; length]
    };
    let is_of_layer = |&key: &G::Key| game.state(key).is_some_and(|s| game.layer(&s) == number);
    if !keys.is_sorted_by(|a, b| a < b) || !keys.iter().all(is_of_layer) {
        return Err(GraphError::Table(draft.damaged("keys", "its last keys are of another layer")));
    }
    let degrees = degrees(game, &keys);
    let layer = Layer { number, keys, orientations, plies, degrees };
    let bound = Bound { max_depth: plan.max_depth, last_layer: false };
    // Whatever a pass leads to is there.
    let mut closed = true;
    let index = BucketIndex::new(&layer.keys, game.key_bits());
    for i in (0..length).filter(|&i| layer.degrees[i].is_pass() && layer.expands(i, bound)) {
        let state = game.state(layer.keys[i]).expect("it was unpacked above");
        game.for_each_successor(&state, |_, after| {
            closed &= index.find(&layer.keys, game.canonical(&after).key).is_some();
        });
    }
    closed.then_some(layer).ok_or_else(|| draft.damaged("keys", "a pass leads out of it").into())
}
