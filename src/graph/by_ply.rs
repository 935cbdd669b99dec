//! The order of a game with cycles whose rows are sorted keys: ply by ply.
//!
//! A layer of the table is a ply: the positions that are first reached in so many moves from a
//! root. All threads expand a layer's positions and meet in one concurrent map from keys to numbers
//! of arrival. Arrival is a matter of chance, so when the layer is done its new keys are sorted,
//! and what was written down as arrivals becomes rows: the bytes of the table depend on nothing but
//! its identity.
//!
//! With [`Plan::checks_only`] the player to move at the roots gives check with every move, the
//! other plays everything: the tree that a tsume solver searches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::build::{Found, Order, declare, fits};
use super::plan::Plan;
use super::{GraphError, StateKind};
use crate::game::{Game, Position, Side, StateKey};
use crate::parallel;
use crate::progress::Progress;
use crate::table::{Counts, Draft, Lengths, Tally};

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

/// From keys to the order of their arrival.
type Arrivals<K> = DashMap<K, u32, FxBuildHasher>;

/// More shards than threads, so that few threads meet in one and none is large when it grows.
const SHARDS: usize = 256;

/// How many rows a task expands.
const GRAIN: usize = 1 << 9;

/// The enumeration of a game with cycles.
pub(super) struct ByPly<'a, G: Game> {
    game: &'a G,
    plan: &'a Plan<G::State>,
    attacker: Option<Side>,
    state: State,
    arrivals: Arrivals<G::Key>,
    /// The row of each arrival.
    row_of: Vec<u32>,
    /// The keys of the ply that is to be expanded, ascending.
    keys: Vec<G::Key>,
}

/// A piece of a ply, expanded.
struct Piece<K> {
    kinds: Vec<u8>,
    /// How many edges each row has.
    degrees: Vec<u32>,
    /// The arrivals that the edges lead to.
    targets: Vec<u32>,
    actions: Vec<u16>,
    /// Keys that this piece was the first to reach, with their arrivals.
    new: Vec<(K, u32)>,
    /// Whether a key was no position's.
    astray: bool,
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
        let arrivals =
            DashMap::with_capacity_and_hasher_and_shard_amount(SHARDS << 6, FxBuildHasher, SHARDS);
        let mut work = ByPly {
            game,
            plan,
            attacker: plan.attacker(),
            state: State { offsets: vec![0], edges: 0, counts: Vec::new(), root_ids: Vec::new() },
            arrivals,
            row_of: Vec::new(),
            keys: Vec::new(),
        };
        match resumed {
            Some((state, _)) => work.reload(draft, state)?,
            None => {
                draft.append(&[("edge_offsets", bytemuck::bytes_of(&0u64))])?;
                work.begin(draft)?;
            }
        }
        Ok(work)
    }

    fn next_layer(&self) -> u32 {
        self.state.offsets.len() as u32 - 2
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn step(&mut self, draft: &mut Draft, progress: &dyn Progress) -> Result<bool, GraphError> {
        let started = Instant::now();
        let ply = self.state.offsets.len() as u32 - 2;
        let follow = self.plan.max_depth.is_none_or(|depth| ply < depth);
        if follow {
            self.check_memory(ply)?;
        }
        let mut pieces = self.expand(draft, follow, progress)?;
        let arrived = self.arrivals.len() as u64;
        let too_many = self.plan.max_states.is_some_and(|most| arrived > most);
        if follow && too_many {
            // There is no room for the next ply, so this one is the frontier.
            pieces = self.expand(draft, false, progress)?;
        }
        let new = if too_many { Vec::new() } else { self.number(&mut pieces) };
        self.append_edges(draft, &pieces)?;
        tracing::info!(
            ply,
            states = self.keys.len(),
            new = new.len(),
            seconds = started.elapsed().as_secs_f64(),
            "ply complete"
        );
        if new.is_empty() {
            return Ok(false);
        }
        self.append_keys(draft, new)?;
        Ok(true)
    }

    fn finish(self, draft: &mut Draft) -> Result<Found, GraphError> {
        let State { offsets, counts, root_ids, .. } = self.state;
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&offsets))])?;
        Ok(Found { first_layer: 0, layers: counts, root_ids })
    }
}

impl<G: Game> ByPly<'_, G> {
    fn states(&self) -> u64 {
        self.state.offsets.last().copied().unwrap_or(0)
    }

    /// Makes the roots the first ply.
    fn begin(&mut self, draft: &mut Draft) -> Result<(), GraphError> {
        let roots: Vec<G::Key> =
            self.plan.roots.iter().map(|root| self.game.position_key(root)).collect();
        let mut keys = roots.clone();
        keys.sort_unstable();
        keys.dedup();
        for (row, &key) in keys.iter().enumerate() {
            self.arrivals.insert(key, row as u32);
            self.row_of.push(row as u32);
        }
        let row = |root: &G::Key| keys.binary_search(root).map_or(0, |row| row as u64);
        self.state.root_ids = roots.iter().map(row).collect();
        self.append_keys(draft, keys)
    }

    /// Takes up the work at a checkpoint: rows are their own arrivals.
    fn reload(&mut self, draft: &Draft, state: State) -> Result<(), GraphError> {
        let State { offsets, edges, counts, root_ids } = &state;
        if !fits(draft, offsets, *edges, counts, root_ids) {
            return Err(GraphError::Table(draft.astray()));
        }
        let total = state.offsets[state.offsets.len() - 1] as usize;
        let begun = state.offsets[state.offsets.len() - 2] as usize;
        let keys: Vec<G::Key> = match <G::Key as StateKey>::WORDS {
            1 => bytemuck::allocation::cast_vec(draft.tail::<u64>("keys", total)?),
            _ => bytemuck::allocation::cast_vec(draft.tail::<[u64; 2]>("keys", total)?),
        };
        if !keys[begun..].iter().all(|&key| self.game.position_of(key).is_some()) {
            return Err(GraphError::Table(draft.damaged("keys", "a key is no position's")));
        }
        parallel::map_ranges(keys.len(), GRAIN, &|rows| {
            rows.for_each(|row| {
                self.arrivals.insert(keys[row], row as u32);
            });
        });
        self.row_of = (0..total as u32).collect();
        self.keys = keys[begun..].to_vec();
        self.state = state;
        Ok(())
    }

    /// Appends the keys of a new ply.
    fn append_keys(&mut self, draft: &mut Draft, keys: Vec<G::Key>) -> Result<(), GraphError> {
        draft.append(&[("keys", bytemuck::cast_slice(&keys))])?;
        self.state.offsets.push(self.states() + keys.len() as u64);
        self.keys = keys;
        Ok(())
    }

    /// Refuses a ply that is not expected to fit in the memory that the plan allows.
    fn check_memory(&self, ply: u32) -> Result<(), GraphError> {
        let Some(most) = self.plan.max_memory else { return Ok(()) };
        let sizes: Vec<u64> = self.state.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let growth = match sizes[..] {
            [.., before, last] if before > 0 => last as f64 / before as f64,
            _ => 1.0,
        };
        let next = self.keys.len() as f64 * growth;
        // What is there already, the next ply in the map (whose tables double) and as a list to
        // sort, and its edges, which are about three times as many.
        let bytes = memory(self.states() as f64, next, size_of::<G::Key>());
        if bytes > most as f64 && next > 1e6 {
            return Err(GraphError::NoMemory {
                ply: ply + 1,
                states: next as u64,
                bytes: bytes as u64,
            });
        }
        Ok(())
    }

    /// Expands the ply, or only says what its rows are.
    fn expand(
        &self,
        draft: &Draft,
        follow: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Piece<G::Key>>, GraphError> {
        let counter = AtomicU64::new(self.row_of.len() as u64);
        let most = self.plan.max_states.unwrap_or(u64::MAX).min(u64::from(u32::MAX));
        let pieces = parallel::map_ranges(self.keys.len(), GRAIN, &|rows| {
            let keys = &self.keys[rows];
            let mut piece = Piece {
                kinds: Vec::with_capacity(keys.len()),
                degrees: Vec::with_capacity(keys.len()),
                targets: Vec::new(),
                actions: Vec::new(),
                new: Vec::new(),
                astray: false,
            };
            for &key in keys {
                // Once there are too many the ply will be a frontier, whatever else is found.
                let follow = follow && counter.load(Ordering::Relaxed) <= most;
                self.row(key, follow, &counter, &mut piece);
            }
            progress.advance(keys.len() as u64);
            piece
        });
        // The rules lead from positions to positions, but a draft may hold some that cannot be.
        if pieces.iter().any(|piece| piece.astray) {
            return Err(GraphError::Table(draft.damaged("keys", "a key is no position's")));
        }
        let arrived = counter.into_inner();
        if arrived > u64::from(u32::MAX) && self.plan.max_states.is_none_or(|most| most >= arrived)
        {
            return Err(GraphError::TooManyStates { states: arrived });
        }
        Ok(pieces)
    }

    /// Adds one row to a piece.
    fn row(&self, key: G::Key, follow: bool, counter: &AtomicU64, piece: &mut Piece<G::Key>) {
        let Some(position) = self.game.position_of(key) else {
            piece.astray = true;
            return;
        };
        let (mut legal, mut degree) = (0, 0);
        let restricted = self.attacker == Some(position.side);
        if follow {
            self.game.for_each_successor(&position.state, |action, state| {
                legal += 1;
                if restricted && !self.game.in_check(&state) {
                    return;
                }
                degree += 1;
                let after = Position { state, side: position.side.other() };
                let arrival = self.arrive(self.game.position_key(&after), counter, &mut piece.new);
                piece.targets.push(arrival);
                piece.actions.push(action.0);
            });
        } else {
            legal = u32::from(!self.game.is_terminal(&position.state));
        }
        let kind = match (legal > 0, follow, restricted) {
            (false, ..) => StateKind::Terminal,
            (true, false, _) => StateKind::Frontier,
            (true, true, true) => StateKind::Restricted,
            (true, true, false) => StateKind::Interior,
        };
        piece.kinds.push(kind as u8);
        piece.degrees.push(degree);
    }

    /// The number of a key's arrival, now or before.
    fn arrive(&self, key: G::Key, counter: &AtomicU64, new: &mut Vec<(G::Key, u32)>) -> u32 {
        // Most keys are known, and looking them up needs no lock for writing.
        if let Some(known) = self.arrivals.get(&key) {
            return *known;
        }
        match self.arrivals.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let arrival = counter.fetch_add(1, Ordering::Relaxed) as u32;
                vacant.insert(arrival);
                new.push((key, arrival));
                arrival
            }
        }
    }

    /// Gives the new keys their rows, in order, and turns the pieces' arrivals into rows. Gives the
    /// new keys.
    fn number(&mut self, pieces: &mut [Piece<G::Key>]) -> Vec<G::Key> {
        let mut new: Vec<(G::Key, u32)> = Vec::new();
        for piece in pieces.iter_mut() {
            new.append(&mut piece.new);
        }
        new.par_sort_unstable();
        let base = self.row_of.len();
        self.row_of.resize(base + new.len(), 0);
        for (place, (_, arrival)) in new.iter().enumerate() {
            self.row_of[*arrival as usize] = (base + place) as u32;
        }
        let row_of = &self.row_of;
        parallel::map_mut(pieces, 1, &|_, pieces| {
            let targets = pieces.iter_mut().flat_map(|piece| &mut piece.targets);
            targets.for_each(|target| *target = row_of[*target as usize]);
        });
        parallel::column(new.len(), |place| new[place].0)
    }

    /// Appends the kinds and edges of the ply.
    fn append_edges(
        &mut self,
        draft: &mut Draft,
        pieces: &[Piece<G::Key>],
    ) -> Result<(), GraphError> {
        let mut counts = Tally::default();
        let (mut kinds, mut offsets) = (Vec::new(), Vec::new());
        let mut edge = self.state.edges;
        for piece in pieces {
            kinds.extend_from_slice(&piece.kinds);
            for &degree in &piece.degrees {
                edge += u64::from(degree);
                offsets.push(edge);
            }
        }
        let count = |kind: StateKind| kinds.iter().filter(|&&k| k == kind as u8).count() as u64;
        counts.states = kinds.len() as u64;
        counts.terminals = count(StateKind::Terminal);
        counts.frontier = count(StateKind::Frontier);
        counts.transitions = edge - self.state.edges;
        draft.append(&[("kinds", &kinds), ("edge_offsets", bytemuck::cast_slice(&offsets))])?;
        for some in pieces.chunks(1 << 10) {
            let targets: Vec<u32> = some.iter().flat_map(|p| p.targets.iter().copied()).collect();
            let actions: Vec<u16> = some.iter().flat_map(|p| p.actions.iter().copied()).collect();
            draft.append(&[
                ("edge_targets", bytemuck::cast_slice(&targets)),
                ("edge_actions", bytemuck::cast_slice(&actions)),
            ])?;
        }
        self.state.edges = edge;
        self.state.counts.push(Counts { table: counts, ..Counts::default() });
        Ok(())
    }
}

/// Bytes of memory for `known` rows and a ply of `next` more whose edges lead to them: about 30 a
/// row in the map at its fullest, a list of keys to sort, and three edges a new row.
pub(super) fn memory(known: f64, next: f64, key: usize) -> f64 {
    let key = key as f64;
    (known + next) * ((key + 5.0) * 2.3 + 4.0) + next * (key + 4.0 + 3.0 * 6.0)
}
