//! What is done with a task of a layer, compiled for the processor's own instructions.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use super::layer::{LINE, Layer, reach};
use crate::game::blocks::{Bits, Block, Blocks, Work, fetch};
use crate::game::{Group, Orientations, Side};
use crate::graph::StateKind;
use crate::table::Tally;

/// The states of a layer that must pass: block and place.
pub(super) type Passes = Vec<(u32, u32)>;

/// States of one block that are looked at together, placement by placement: what that takes of
/// memory stays in the processor's cache.
const TOGETHER: usize = 1 << 12;

/// The states of a part of a task, with what is found of them.
#[derive(Default)]
pub(crate) struct States {
    /// Where they are in their block.
    places: Vec<u32>,
    /// Their movers' squares.
    pub(crate) movers: Vec<u32>,
    /// How many placements each has.
    pub(crate) moves: Vec<u32>,
    /// Those that have one placement, and what it turns.
    found: Vec<(u32, u32)>,
    /// Those whose mover must pass.
    pub(crate) passing: Vec<u32>,
}

impl States {
    /// Calls `visit` with the states of a task, some of one block at a time.
    #[inline(always)]
    fn visit<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        layer: &Layer,
        task: usize,
        mut visit: impl FnMut(&mut States, usize, &Block<B>),
    ) {
        for (number, mut words) in layer.pieces(task) {
            let block = rules.block(layer.blocks[number]);
            while !words.is_empty() {
                layer.take_places(&mut words, TOGETHER, &mut self.places);
                self.movers.clear();
                self.movers.extend(self.places.iter().map(|&place| rules.mover(&block, place)));
                visit(self, number, &block);
            }
        }
    }

    /// Calls `visit` with each placement that some states have, its number, the number of the state,
    /// and where in the block that it leads to, with the symmetries that lead there: placement by
    /// placement, leaving out those that are not `wanted`. Counts the placements of each state, and
    /// finds those that must pass, if all are wanted.
    #[inline(always)]
    pub(crate) fn expand<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        block: &Block<B>,
        wanted: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, u32, (u32, u8)),
    ) {
        self.moves.clear();
        self.moves.resize(self.movers.len(), 0);
        let mut all = true;
        for (number, placement) in block.placements.iter().enumerate() {
            if !wanted(number) {
                all = false;
                continue;
            }
            for &(state, turned) in placement.find(&self.movers, &mut self.found) {
                self.moves[state as usize] += 1;
                let after = block.occupied ^ self.movers[state as usize] ^ turned;
                visit(number, state, rules.place(&placement.to, after));
            }
        }
        let stuck = (0..self.movers.len() as u32).filter(|&state| self.moves[state as usize] == 0);
        self.passing.clear();
        self.passing.extend(stuck.filter(|_| all));
        if self.passing.is_empty() {
            return;
        }
        // Those where the opponent could place.
        let others = self.passing.iter().map(|&state| block.occupied ^ self.movers[state as usize]);
        let others: Vec<u32> = others.collect();
        let mut can = vec![false; others.len()];
        for placement in &block.placements {
            for &(state, _) in placement.find(&others, &mut self.found) {
                can[state as usize] = true;
            }
        }
        let mut can = can.into_iter();
        self.passing.retain(|_| can.next() == Some(true));
    }
}

/// How many places in the next layer are known before they are looked at. They are far apart in
/// memory, which the processor fetches meanwhile.
const AHEAD: usize = 16;

/// Expands a task of a layer: marks what its placements lead to in a slice of the next, and with the
/// first slice closes it under passes.
pub(super) struct Find<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    /// The blocks of the slice.
    pub slice: Range<usize>,
    pub task: usize,
}

impl<B: Bits> Work for Find<'_, B> {
    /// How many states were expanded, and those that must pass.
    type Output = (u64, Passes);

    #[inline(always)]
    fn run(self) -> (u64, Passes) {
        let Find { rules, layer, next, slice, task } = self;
        let closes = slice.start == 0;
        let (mut states, mut passes) = (0, Vec::new());
        let mut targets: Vec<usize> = Vec::new();
        // Where bits are to be set, a ring.
        let (mut ahead, mut at) = ([(0, 0); AHEAD], 0usize);
        States::default().visit(rules, layer, task, |some, number, block| {
            targets.clear();
            targets.extend(block.placements.iter().map(|p| next.led_to(p.to.occupied)));
            // Once more for those that passes lead to, where nobody must pass.
            for again in [false, true] {
                states += some.movers.len() as u64;
                let is_in = |placement: usize| slice.contains(&targets[placement]);
                some.expand(
                    rules,
                    block,
                    |p| closes || is_in(p),
                    |placement, _, (place, _)| {
                        if !is_in(placement) {
                            return;
                        }
                        let bit = next.bit(targets[placement], place);
                        fetch(&next.bits[bit.0]);
                        let before = std::mem::replace(&mut ahead[at % AHEAD], bit);
                        if at >= AHEAD {
                            next.mark(before);
                        }
                        at += 1;
                    },
                );
                if again || !closes || some.passing.is_empty() {
                    break;
                }
                let mut added = Vec::new();
                for &state in &some.passing {
                    let (place, mover) = (some.places[state as usize], some.movers[state as usize]);
                    passes.push((number as u32, place));
                    let (after, _) = rules.swapped(block, mover);
                    if layer.mark(layer.bit(number, after)) {
                        added.push(rules.mover(block, after));
                    }
                }
                some.movers = added;
            }
        });
        ahead[..at.min(AHEAD)].iter().for_each(|&bit| {
            next.mark(bit);
        });
        (states, passes)
    }
}

/// What a task of a layer adds to the table.
#[derive(Default)]
pub(super) struct Rows {
    pub kinds: Vec<u8>,
    /// How many edges there are up to and with each row's.
    pub ends: Vec<u64>,
    pub targets: Vec<u32>,
    pub actions: Vec<u8>,
    pub table: Tally,
    pub reachable: Tally,
    pub mover_relative: u64,
    /// How many boards are there with both sides to move.
    pub with_both: u64,
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
            mut rows,
        }) = self;
        let (order, pass) = (group.order(), rules.pass().0 as u8);
        let mut row = layer.rows_before(task);
        let mut astray = false;
        let (mut edges, mut ends, mut cursors) = (Vec::<Edge>::new(), Vec::new(), Vec::new());
        States::default().visit(rules, layer, task, |some, number, block| {
            edges.clear();
            ends.clear();
            ends.resize(block.placements.len(), 0);
            some.expand(
                rules,
                block,
                |_| true,
                |placement, state, (place, ties)| {
                    edges.push(Edge { state, place, ties });
                    ends[placement] = edges.len();
                },
            );
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
            let mut first = 0;
            for (placement, &end) in block.placements.iter().zip(&ends) {
                let edges = &mut edges[first.min(end)..end];
                first = first.max(end);
                if edges.is_empty() {
                    continue;
                }
                let action = placement.action.0 as u8;
                let Some(to) = next.index(placement.to.occupied) else {
                    astray = true;
                    break;
                };
                for at in 0..edges.len() {
                    if let Some(soon) = edges.get(at + AHEAD) {
                        let (word, _) = next.bit(to, soon.place);
                        fetch(&next.bits[word]);
                        fetch(&next.counts[word / LINE]);
                    }
                    let edge = &mut edges[at];
                    let bit = next.bit(to, edge.place);
                    let row = next.row(bit);
                    edge.place = row;
                    if STATES {
                        fetch(&theirs[row as usize]);
                    } else {
                        // Whoever writes rows has found them.
                        astray |= !next.contains(bit);
                    }
                    if EDGES {
                        let cursor = &mut cursors[edge.state as usize];
                        rows.targets[*cursor as usize] = bases[1] + row;
                        rows.actions[*cursor as usize] = action;
                        *cursor += 1;
                    }
                }
                if STATES {
                    for edge in edges {
                        let own = own[row + edge.state as usize].load(Ordering::Relaxed);
                        let to = &theirs[edge.place as usize];
                        reach(to, group, Orientations(own), edge.ties);
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
                rows.ends.extend(cursors.iter().map(|&end| u64::from(end)));
            }
            if !STATES {
                return;
            }
            rows.table.passes += some.passing.len() as u64;
            for &state in &some.passing {
                let own = own[row + state as usize].load(Ordering::Relaxed);
                rows.reachable.passes += u64::from(Orientations(own).count());
            }
            for (&mover, &moves) in some.movers.iter().zip(&some.moves) {
                let set = Orientations(own[row].load(Ordering::Relaxed));
                row += 1;
                if EDGES {
                    let kind = if moves == 0 { StateKind::Terminal } else { StateKind::Interior };
                    rows.kinds.push(kind as u8);
                }
                let one = Tally {
                    states: 1,
                    terminals: u64::from(moves == 0),
                    passes: 0,
                    frontier: 0,
                    transitions: u64::from(moves),
                };
                rows.table.add(&one);
                rows.reachable.add(&one.times(u64::from(set.count())));
                let sides = Side::ALL.map(|side| set.with(side, order));
                rows.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
                let (other, ties) = rules.swapped(block, mover);
                let other = layer.bit(number, other);
                if sides[0] != 0 && layer.contains(other) {
                    let there = own[layer.row(other) as usize].load(Ordering::Relaxed);
                    let theirs = Orientations(there).with(Side::Second, order);
                    let both = group.carry(sides[0], ties) & theirs;
                    rows.with_both += u64::from(both.count_ones());
                }
            }
        });
        (!astray).then_some(rows)
    }
}

/// A placement of a state.
struct Edge {
    /// The number of the state.
    state: u32,
    /// The place of where it leads in its block, and then its row.
    place: u32,
    /// The symmetries that lead to the canonical form of where it leads.
    ties: u8,
}

/// The keys of a task's rows.
pub(super) struct Keys<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub task: usize,
}

impl<B: Bits> Work for Keys<'_, B> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self) -> Vec<u64> {
        let Keys { rules, layer, task } = self;
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        for (number, mut words) in layer.pieces(task) {
            let occupied = layer.blocks[number];
            let mask = B::mask(occupied);
            while !words.is_empty() {
                layer.take_places(&mut words, TOGETHER, &mut places);
                keys.extend(places.iter().map(|&place| rules.key_of(occupied, &mask, place)));
            }
        }
        keys
    }
}

impl Rows {
    /// Adds the counts of others.
    pub fn add(&mut self, other: &Rows) {
        self.table.add(&other.table);
        self.reachable.add(&other.reachable);
        self.mover_relative += other.mover_relative;
        self.with_both += other.with_both;
    }

    /// The same memory without rows.
    pub fn emptied(mut self) -> Rows {
        self.kinds.clear();
        self.ends.clear();
        self.targets.clear();
        self.actions.clear();
        Rows {
            kinds: self.kinds,
            ends: self.ends,
            targets: self.targets,
            actions: self.actions,
            ..Rows::default()
        }
    }
}
