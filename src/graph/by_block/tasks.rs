//! What is done with a task of a layer, compiled for the processor's own instructions.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use super::layer::{Layer, reach};
use crate::game::othello::blocks::{Bits, Block, Blocks, Found, Placement, Work};
use crate::game::{Group, Orientations, Side, Symmetry};
use crate::graph::StateKind;
use crate::graph::census::Census;
use crate::table::prefetch;

/// The states of a layer that must pass: block and place.
pub(super) type Passes = Vec<(u32, u32)>;

/// States of one block that are looked at together, placement by placement.
const TOGETHER: usize = 1 << 15;

/// The states of a part of a task, with what is found of them.
#[derive(Default)]
pub struct States {
    /// Where they are in their block, and behind them anything.
    places: Vec<u32>,
    /// Their movers' squares.
    pub movers: Vec<u32>,
    /// How many placements each has.
    pub moves: Vec<u32>,
    /// Those that have one placement.
    found: Found,
    /// By which symmetries that leads them where it does.
    ties: Vec<u8>,
    /// Those whose mover must pass.
    pub passing: Vec<u32>,
}

/// By which symmetries one move of several states leads to canonical forms.
#[derive(Clone, Copy)]
pub enum Ties<'a> {
    /// By the same for all.
    By(Symmetry),
    /// By any of a set for each.
    Each(&'a [u8]),
}

impl Ties<'_> {
    /// The orientations that the `at`th of the states hands on.
    #[inline(always)]
    pub fn carry(self, group: &Group, own: Orientations, at: usize) -> Orientations {
        match self {
            Ties::By(symmetry) => group.orientations_by(own, symmetry),
            Ties::Each(ties) => group.successor_orientations(own, ties[at]),
        }
    }
}

/// Loops call these; closures around vector instructions might not be compiled for the processor with
/// what calls them.
impl States {
    /// Takes some states from words of a block until there are none; tells whether there were words.
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

    /// Begins to count the placements of the movers that are there.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.moves.clear();
        self.moves.resize(self.movers.len(), 0);
    }

    /// Finds those that have a placement, and counts it: of these states the numbers, where in the block
    /// they are led to, and the symmetries that lead there.
    #[inline(always)]
    pub fn place<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        block: &Block<B>,
        placement: &Placement<B>,
    ) -> (&[u32], &[u32], Ties<'_>) {
        let (states, places) =
            block.find(placement, &self.movers, &mut self.moves, &mut self.found);
        rules.places(&placement.to, places, &mut self.ties);
        let ties = placement.to.only_symmetry().map_or(Ties::Each(&self.ties), Ties::By);
        (states, places, ties)
    }

    /// Finds those that must pass, once all placements are counted.
    #[inline(always)]
    pub fn pass<B: Bits>(&mut self, block: &Block<B>) {
        let States { movers, moves, found, passing, .. } = self;
        passing.clear();
        passing.extend((0..movers.len() as u32).filter(|&state| moves[state as usize] == 0));
        if passing.is_empty() {
            return;
        }
        // Those where the opponent could place.
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

/// How many places in the next layer are known before they are looked at. They are far apart in
/// memory, which the processor fetches meanwhile.
const AHEAD: usize = 16;

/// What a task works with: memory that has served before.
#[derive(Default)]
pub struct Workspace {
    states: States,
    edges: Edges,
    /// Of each placement where its edges end, and of each state where its next is put.
    ends: Vec<usize>,
    cursors: Vec<u32>,
    /// The blocks that placements lead to, and the places in one that are yet to be marked.
    targets: Vec<usize>,
    before: Vec<u32>,
}

/// Expands a task of a layer: marks what its placements lead to in a slice of the next, and with the
/// first slice closes it under passes.
pub(super) struct Find<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    /// The blocks of the slice.
    pub slice: Range<usize>,
    pub task: usize,
    pub workspace: &'a mut Workspace,
}

impl<B: Bits> Work for Find<'_, B> {
    /// The states that must pass.
    type Output = Passes;

    #[inline(always)]
    fn run(self) -> Passes {
        let Find { rules, layer, next, slice, task, workspace } = self;
        let Workspace { states: some, targets, before, .. } = workspace;
        let closes = slice.start == 0;
        let mut passes = Vec::new();
        // The block of the places before, which are fetched while those of the next placement are found.
        let mut block_before = 0;
        before.clear();
        for (number, mut words) in layer.pieces(task) {
            let block = &rules.block(layer.blocks[number]);
            targets.clear();
            targets.extend(block.placements.iter().map(|p| next.led_to(p.to.occupied)));
            while some.take(rules, layer, block, &mut words) {
                // Once more for those that passes lead to, where nobody must pass.
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

/// What a task of a layer adds to the table.
#[derive(Default)]
pub struct Rows {
    pub kinds: Vec<u8>,
    /// How many edges each row has: as many as a board has squares, or fewer.
    pub edge_counts: Vec<u8>,
    pub targets: Vec<u32>,
    pub actions: Vec<u8>,
    pub census: Census,
}

/// Makes the rows of a task: with `EDGES` where their moves lead, with `STATES` all else; then it
/// tells the next layer in which orientations it is reached.
pub(super) struct Emit<'a, B: Bits, const EDGES: bool, const STATES: bool>(pub Task<'a, B>);

/// Rows that are to be made.
pub(super) struct Task<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    /// Of the rows of both layers; not looked at without `STATES`.
    pub orientations: [&'a [AtomicU16]; 2],
    /// The ids of the first rows of both layers.
    pub bases: [u32; 2],
    pub task: usize,
    pub workspace: &'a mut Workspace,
    /// Where to put them: memory that has served before.
    pub rows: Rows,
}

impl<B: Bits, const EDGES: bool, const STATES: bool> Work for Emit<'_, B, EDGES, STATES> {
    /// `None` where a move leads to no state of the next layer, which is not that of these rows.
    type Output = Option<Rows>;

    #[inline(always)]
    fn run(self) -> Option<Rows> {
        let Emit(Task {
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
        // Until somebody passes the first player is to move where the discs are even.
        let rarer = Side::ALL[usize::from(layer.number % 2 == 0)];
        let mut row = layer.rows_before(task);
        let mut astray = false;
        for (number, mut words) in layer.pieces(task) {
            let block = &rules.block(layer.blocks[number]);
            while some.take(rules, layer, block, &mut words) {
                edges.clear();
                ends.clear();
                for placement in &block.placements {
                    let (states, places, ties) = some.place(rules, block, placement);
                    edges.states.extend_from_slice(states);
                    edges.rows.extend_from_slice(places);
                    if let Ties::Each(ties) = ties {
                        edges.ties.extend_from_slice(ties);
                    }
                    ends.push(edges.states.len());
                }
                some.pass(block);
                some.passing.iter().for_each(|&state| some.moves[state as usize] = 1);
                if EDGES {
                    // Where the edges of each state begin.
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
                        astray = true;
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
                            astray |= !next.contains(bit);
                        } else if let Some(theirs) = theirs.get(row as usize) {
                            // Whoever writes rows has found them, unless the draft was not ours.
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
                            Some(symmetry) => Ties::By(symmetry),
                            None => {
                                let own = &edges.ties[ties_before..][..states.len()];
                                ties_before += own.len();
                                Ties::Each(own)
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
                        astray |= !STATES && !layer.contains(other);
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
        (!astray).then_some(rows)
    }
}

/// Placements of states.
#[derive(Default)]
struct Edges {
    /// The number of the state of each.
    states: Vec<u32>,
    /// The place of where each leads in its block, and then its row.
    rows: Vec<u32>,
    /// The symmetries that lead to the canonical form of where each leads, where there are several.
    ties: Vec<u8>,
}

impl Edges {
    fn clear(&mut self) {
        self.states.clear();
        self.rows.clear();
        self.ties.clear();
    }
}

/// The keys of a task's rows.
pub(super) struct Keys<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub task: usize,
    pub workspace: &'a mut Workspace,
    /// Where to put them: memory that has served before.
    pub keys: Vec<u64>,
}

impl<B: Bits> Work for Keys<'_, B> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self) -> Vec<u64> {
        let Keys { rules, layer, task, workspace, mut keys } = self;
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

impl Rows {
    /// The same memory without rows.
    pub fn emptied(mut self) -> Rows {
        self.kinds.clear();
        self.edge_counts.clear();
        self.targets.clear();
        self.actions.clear();
        Rows {
            kinds: self.kinds,
            edge_counts: self.edge_counts,
            targets: self.targets,
            actions: self.actions,
            ..Rows::default()
        }
    }
}
