//! Work on a task of a layer, compiled for the processor's instruction set.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use super::layer::{Layer, reach};
use crate::enumerate::census::Census;
use crate::games::othello::blocks::{Bits, Block, Blocks, Placement, PlacementStates, Work};
use crate::mmap::prefetch;
use crate::rules::{Group, Orientations, Side, Symmetry};
use crate::table::rows::StateKind;

/// Block and place of each state of a layer that must pass.
pub(super) type Passes = Vec<(u32, u32)>;

/// Target number of states of a block that are processed together, placement by placement.
const TOGETHER: usize = 1 << 15;

/// States of a part of a task, and the results found for them.
#[derive(Default)]
pub struct TaskStates {
    /// Places in their block; entries beyond the number of states are unspecified.
    places: Vec<u32>,
    /// Squares of their movers.
    pub movers: Vec<u32>,
    /// Number of placements of each state.
    pub moves: Vec<u32>,
    /// States that have the current placement.
    found: PlacementStates,
    /// Symmetries by which that placement leads to canonical forms.
    ties: Vec<u8>,
    /// States whose mover must pass.
    pub passing: Vec<u32>,
}

/// Symmetries by which one move of several states leads to canonical forms.
#[derive(Clone, Copy)]
pub enum TieMode<'a> {
    /// One symmetry for all.
    By(Symmetry),
    /// Any of a set for each.
    Each(&'a [u8]),
}

impl TieMode<'_> {
    /// Returns the orientations in which the successor of the `at`th state, whose own are given, is reached.
    #[inline(always)]
    pub fn carry(self, group: &Group, own: Orientations, at: usize) -> Orientations {
        match self {
            TieMode::By(symmetry) => group.orientations_by(own, symmetry),
            TieMode::Each(ties) => group.successor_orientations(own, ties[at]),
        }
    }
}

/// These methods are not closures, because closures around vector instructions might not be compiled for the
/// processor's instruction set along with their callers.
impl TaskStates {
    /// Takes states from words of a block; returns `false` if no words are left.
    #[inline(always)]
    fn take<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        layer: &Layer,
        block: &Block<B>,
        words: &mut Range<usize>,
    ) -> bool {
        if Range::is_empty(words) {
            return false;
        }
        let places = layer.take_places(words, TOGETHER, &mut self.places);
        self.movers.clear();
        self.movers.extend(places.iter().map(|&place| rules.mover(block, place)));
        self.begin();
        true
    }

    /// Starts to count the placements of the movers.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.moves.clear();
        self.moves.resize(self.movers.len(), 0);
    }

    /// Finds and counts the states that have a placement. Returns their indices, the places of their
    /// successors in the target block, and the symmetries that lead there.
    #[inline(always)]
    pub fn place<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        block: &Block<B>,
        placement: &Placement<B>,
    ) -> (&[u32], &[u32], TieMode<'_>) {
        let (states, places) =
            block.find(placement, &self.movers, &mut self.moves, &mut self.found);
        rules.places(&placement.to, places, &mut self.ties);
        let ties = placement.to.only_symmetry().map_or(TieMode::Each(&self.ties), TieMode::By);
        (states, places, ties)
    }

    /// Finds the states that must pass, after all placements are counted.
    #[inline(always)]
    pub fn pass<B: Bits>(&mut self, block: &Block<B>) {
        let TaskStates { movers, moves, found, passing, .. } = self;
        passing.clear();
        passing.extend((0..movers.len() as u32).filter(|&state| moves[state as usize] == 0));
        if passing.is_empty() {
            return;
        }
        // Keeps states whose opponent can place.
        let others = passing.iter().map(|&state| block.occupied ^ movers[state as usize]);
        let others: Vec<u32> = others.collect();
        let mut can = vec![0; others.len()];
        for placement in &block.placements {
            block.find(placement, &others, &mut can, found);
        }
        let mut can = can.into_iter();
        passing.retain(|_| can.next() != Some(0));
    }
}

/// Prefetch distance in places of the next layer, whose rows are far apart in memory.
const AHEAD: usize = 16;

/// Reused buffers of a task.
#[derive(Default)]
pub struct Workspace {
    states: TaskStates,
    edges: Edges,
    /// End of each placement's edges, and (`cursors`) the slot of each state's next edge.
    ends: Vec<usize>,
    cursors: Vec<u32>,
    /// Blocks that placements lead to, and (`before`) the places in one of them that are yet to be marked.
    targets: Vec<usize>,
    before: Vec<u32>,
}

/// Expands a task: marks successors in a slice of the next layer; the first slice also closes it under
/// passes.
pub(super) struct Find<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    /// Blocks of the slice.
    pub slice: Range<usize>,
    pub task: usize,
    pub workspace: &'a mut Workspace,
}

impl<B: Bits> Work for Find<'_, B> {
    /// States that must pass.
    type Output = Passes;

    #[inline(always)]
    fn run(self) -> Passes {
        let Find { rules, layer, next, slice, task, workspace } = self;
        let Workspace { states: some, targets, before, .. } = workspace;
        let closes = slice.start == 0;
        let mut passes = Vec::new();
        // Block of the previous placement's successors, marked while those of the current one are prefetched.
        let mut block_before = 0;
        before.clear();
        for (number, mut words) in layer.pieces(task) {
            let block = &rules.block(layer.blocks[number]);
            targets.clear();
            targets.extend(block.placements.iter().map(|p| next.led_to(p.to.occupied)));
            while some.take(rules, layer, block, &mut words) {
                // The second round is for the targets of passes, which cannot pass themselves.
                for again in [false, true] {
                    for (placement, &to) in block.placements.iter().zip(&*targets) {
                        let is_in = slice.contains(&to);
                        if !is_in && !closes {
                            continue;
                        }
                        let (_, places, _) = some.place(rules, block, placement);
                        if !is_in {
                            continue;
                        }
                        for (at, &place) in places.iter().enumerate() {
                            prefetch(&next.bits[next.bit(to, place).0]);
                            if let Some(&place) = before.get(at) {
                                next.mark(next.bit(block_before, place));
                            }
                        }
                        for &place in before.get(places.len()..).unwrap_or_default() {
                            next.mark(next.bit(block_before, place));
                        }
                        before.clear();
                        before.extend_from_slice(places);
                        block_before = to;
                    }
                    if again || !closes {
                        break;
                    }
                    some.pass(block);
                    if some.passing.is_empty() {
                        break;
                    }
                    let mut added = Vec::new();
                    for &state in &some.passing {
                        let state = state as usize;
                        passes.push((number as u32, some.places[state]));
                        let (after, _) = rules.swapped(block, some.movers[state]);
                        if layer.mark(layer.bit(number, after)) {
                            added.push(rules.mover(block, after));
                        }
                    }
                    some.movers = added;
                    some.begin();
                }
            }
        }
        for &place in &*before {
            next.mark(next.bit(block_before, place));
        }
        passes
    }
}

/// Rows that a task of a layer adds to the table.
#[derive(Default)]
pub struct TaskRows {
    pub kinds: Vec<u8>,
    /// Number of edges of each row, at most the number of squares.
    pub edge_counts: Vec<u8>,
    pub targets: Vec<u32>,
    pub actions: Vec<u8>,
    pub census: Census,
}

/// Makes the rows of a task: with `EDGES` their moves; with `STATES` their counts, and the orientations in
/// which they reach the next layer; with both, their kinds.
pub(super) struct Emit<'a, B: Bits, const EDGES: bool, const STATES: bool>(pub EmitTask<'a, B>);

/// Input of [`Emit`].
pub(super) struct EmitTask<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    /// Orientations of the rows of both layers; unused without `STATES`.
    pub orientations: [&'a [AtomicU16]; 2],
    /// Ids of the first rows of both layers.
    pub bases: [u32; 2],
    pub task: usize,
    pub workspace: &'a mut Workspace,
    /// Reused buffers for the result.
    pub rows: TaskRows,
}

impl<B: Bits, const EDGES: bool, const STATES: bool> Work for Emit<'_, B, EDGES, STATES> {
    /// `None` if a move leads to no state of `next`, which then is not the layer after these rows.
    type Output = Option<TaskRows>;

    #[inline(always)]
    fn run(self) -> Option<TaskRows> {
        let Emit(EmitTask {
            rules,
            group,
            layer,
            next,
            orientations: [own, theirs],
            bases,
            task,
            workspace,
            mut rows,
        }) = self;
        let Workspace { states: some, edges, ends, cursors, .. } = workspace;
        let (order, pass) = (group.order(), rules.pass().0 as u8);
        let load = |own: &AtomicU16| Orientations(own.load(Ordering::Relaxed));
        // Until a player passes, the first player moves when the number of discs is even.
        let rarer = Side::ALL[usize::from(layer.number % 2 == 0)];
        let mut row = layer.rows_before(task);
        let mut inconsistent = false;
        for (number, mut words) in layer.pieces(task) {
            let block = &rules.block(layer.blocks[number]);
            while some.take(rules, layer, block, &mut words) {
                edges.clear();
                ends.clear();
                for placement in &block.placements {
                    let (states, places, ties) = some.place(rules, block, placement);
                    edges.states.extend_from_slice(states);
                    edges.rows.extend_from_slice(places);
                    if let TieMode::Each(ties) = ties {
                        edges.ties.extend_from_slice(ties);
                    }
                    ends.push(edges.states.len());
                }
                some.pass(block);
                some.passing.iter().for_each(|&state| some.moves[state as usize] = 1);
                if EDGES {
                    // Start of each state's edges.
                    let mut end = rows.targets.len() as u32;
                    cursors.clear();
                    cursors.extend(some.moves.iter().map(|moves| {
                        end += moves;
                        end - moves
                    }));
                    rows.targets.resize(end as usize, 0);
                    rows.actions.resize(end as usize, pass);
                }
                let (mut first, mut ties_before) = (0, 0);
                for (placement, &end) in block.placements.iter().zip(&*ends) {
                    let some = first..end;
                    first = end;
                    if some.is_empty() {
                        continue;
                    }
                    let action = placement.action.0 as u8;
                    let Some(to) = next.index(placement.to.occupied) else {
                        inconsistent = true;
                        break;
                    };
                    let (states, reached) =
                        (&edges.states[some.clone()], &mut edges.rows[some.clone()]);
                    for at in 0..reached.len() {
                        if let Some(&soon) = reached.get(at + AHEAD) {
                            next.fetch(next.bit(to, soon));
                        }
                        let bit = next.bit(to, reached[at]);
                        let row = next.row(bit);
                        reached[at] = row;
                        if !STATES {
                            inconsistent |= !next.contains(bit);
                        } else if let Some(theirs) = theirs.get(row as usize) {
                            // Present whenever rows are written, unless the draft is invalid.
                            prefetch(theirs);
                        }
                        if EDGES {
                            let cursor = &mut cursors[states[at] as usize];
                            rows.targets[*cursor as usize] = bases[1] + row;
                            rows.actions[*cursor as usize] = action;
                            *cursor += 1;
                        }
                    }
                    if STATES {
                        let ties = match placement.to.only_symmetry() {
                            Some(symmetry) => TieMode::By(symmetry),
                            None => {
                                let own = &edges.ties[ties_before..][..states.len()];
                                ties_before += own.len();
                                TieMode::Each(own)
                            }
                        };
                        for (at, (&state, &to)) in states.iter().zip(&*reached).enumerate() {
                            let own = load(&own[row + state as usize]);
                            if let Some(theirs) = theirs.get(to as usize) {
                                reach(theirs, ties.carry(group, own, at));
                            }
                        }
                    }
                }
                if EDGES {
                    for &state in &some.passing {
                        let (other, _) = rules.swapped(block, some.movers[state as usize]);
                        let other = layer.bit(number, other);
                        inconsistent |= !STATES && !layer.contains(other);
                        let cursor = &mut cursors[state as usize];
                        rows.targets[*cursor as usize] = bases[0] + layer.row(other);
                        *cursor += 1;
                    }
                    rows.edge_counts.extend(some.moves.iter().map(|&moves| moves as u8));
                }
                if !STATES {
                    continue;
                }
                let all = own;
                let own = &all[row..row + some.movers.len()];
                row += own.len();
                let passes = some.passing.iter().map(|&state| &own[state as usize]);
                rows.census.table.passes += some.passing.len() as u64;
                rows.census.reachable.passes +=
                    passes.map(|own| u64::from(load(own).count())).sum::<u64>();
                for ((&mover, &moves), own) in some.movers.iter().zip(&some.moves).zip(own) {
                    let set = load(own);
                    let (over, count) = (moves == 0, u64::from(set.count()));
                    if EDGES {
                        let kind = if over { StateKind::Terminal } else { StateKind::Interior };
                        rows.kinds.push(kind as u8);
                    }
                    rows.census.table.terminals += u64::from(over);
                    rows.census.table.transitions += u64::from(moves);
                    rows.census.reachable.states += count;
                    rows.census.reachable.terminals += count * u64::from(over);
                    rows.census.reachable.transitions += count * u64::from(moves);
                    let sides = Side::ALL.map(|side| set.with(side, order));
                    rows.census.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
                    let with_rarer = sides[rarer.index()];
                    if with_rarer == 0 {
                        continue;
                    }
                    let (other, ties) = rules.swapped(block, mover);
                    let other = layer.bit(number, other);
                    if layer.contains(other) {
                        let theirs =
                            load(&all[layer.row(other) as usize]).with(rarer.other(), order);
                        let both = group.carry(with_rarer, ties) & theirs;
                        rows.census.with_both += u64::from(both.count_ones());
                    }
                }
                rows.census.table.states += some.movers.len() as u64;
            }
        }
        (!inconsistent).then_some(rows)
    }
}

/// Placements of states.
#[derive(Default)]
struct Edges {
    /// Index of the state of each placement.
    states: Vec<u32>,
    /// Place of each successor in its block, later replaced by its row.
    rows: Vec<u32>,
    /// Symmetries that lead to each successor's canonical form, for placements with more than one.
    ties: Vec<u8>,
}

impl Edges {
    fn clear(&mut self) {
        self.states.clear();
        self.rows.clear();
        self.ties.clear();
    }
}

/// Collects the keys of a task's rows.
pub(super) struct KeyTask<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub task: usize,
    pub workspace: &'a mut Workspace,
    /// Reused buffer for the result.
    pub keys: Vec<u64>,
}

impl<B: Bits> Work for KeyTask<'_, B> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self) -> Vec<u64> {
        let KeyTask { rules, layer, task, workspace, mut keys } = self;
        for (number, mut words) in layer.pieces(task) {
            let occupied = layer.blocks[number];
            let mask = B::mask(occupied);
            while !words.is_empty() {
                let places = layer.take_places(&mut words, TOGETHER, &mut workspace.states.places);
                keys.extend(places.iter().map(|&place| rules.key_of(occupied, &mask, place)));
            }
        }
        keys
    }
}

impl TaskRows {
    /// Returns the buffers without rows.
    pub fn emptied(mut self) -> TaskRows {
        self.kinds.clear();
        self.edge_counts.clear();
        self.targets.clear();
        self.actions.clear();
        TaskRows {
            kinds: self.kinds,
            edge_counts: self.edge_counts,
            targets: self.targets,
            actions: self.actions,
            ..TaskRows::default()
        }
    }
}
