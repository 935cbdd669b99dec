//! What is done with a task of a layer, compiled for the processor's own instructions.

use std::sync::atomic::Ordering;

use super::layer::{Closed, LINE, Layer, TASK, reach};
use crate::game::blocks::{Bits, Block, Blocks, Work};
use crate::game::{Group, Orientations, Side};
use crate::graph::StateKind;
use crate::table::Tally;

/// The states of a layer that must pass: block and place.
pub(super) type Passes = Vec<(u32, u32)>;

/// Expands a task of a layer: closes it under passes, marks what its placements lead to.
pub(super) struct Find<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub layer: &'a Layer,
    pub next: &'a Layer,
    pub task: usize,
}

impl<B: Bits> Work for Find<'_, B> {
    /// How many states were expanded, and those that must pass.
    type Output = (u64, Passes);

    #[inline(always)]
    fn run(self) -> (u64, Passes) {
        let Find { rules, layer, next, task } = self;
        let (mut states, mut passes, mut added) = (0, Vec::new(), Vec::new());
        let mut ahead = Ahead { next, bits: Vec::with_capacity(AHEAD) };
        for (number, words) in layer.pieces(task) {
            let block = rules.block(layer.blocks[number]);
            let targets: Vec<usize> =
                block.placements.iter().map(|p| next.index(p.to.occupied)).collect();
            for word in words {
                let mut bits = layer.bits[word].load(Ordering::Relaxed);
                states += u64::from(bits.count_ones());
                while bits != 0 {
                    let place = layer.place(word, bits.trailing_zeros());
                    bits &= bits - 1;
                    let mover = rules.mover(&block, place);
                    if ahead.expand(rules, &block, &targets, mover) == 0
                        && rules.passes(&block, mover)
                    {
                        passes.push((number as u32, place));
                        let (after, _) = rules.swapped(&block, mover);
                        if layer.mark(layer.bit(number, after)) {
                            added.push(after);
                        }
                    }
                }
            }
            // Where a pass leads nobody must pass.
            states += added.len() as u64;
            for place in added.drain(..) {
                ahead.expand(rules, &block, &targets, rules.mover(&block, place));
            }
        }
        ahead.flush();
        (states, passes)
    }
}

/// How many places in the next layer are known before they are looked at. They are far apart in
/// memory, which the processor fetches meanwhile.
pub(super) const AHEAD: usize = 64;

/// States of the next layer that are to be marked.
pub(super) struct Ahead<'a> {
    next: &'a Layer,
    bits: Vec<(usize, u32)>,
}

impl Ahead<'_> {
    /// Marks where the placements of a state lead; gives how many there are.
    #[inline(always)]
    pub fn expand<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        block: &Block<B>,
        targets: &[usize],
        mover: u32,
    ) -> u32 {
        rules.for_each_placement(block, mover, |number, _, (place, _)| {
            let bit = self.next.bit(targets[number], place);
            B::fetch(&self.next.bits[bit.0]);
            if self.bits.len() == AHEAD {
                self.flush();
            }
            self.bits.push(bit);
        })
    }

    #[inline(always)]
    pub fn flush(&mut self) {
        for bit in self.bits.drain(..) {
            self.next.mark(bit);
        }
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

/// Makes the rows of a task, and tells the next layer in which orientations it is reached.
pub(super) struct Emit<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub layer: &'a Closed,
    pub next: &'a Closed,
    /// The ids of the first rows of both layers.
    pub bases: [u32; 2],
    pub pass: u8,
    pub task: usize,
    /// Where to put them: memory that has served before.
    pub rows: Rows,
}

impl<B: Bits> Work for Emit<'_, B> {
    type Output = Rows;

    #[inline(always)]
    fn run(self) -> Rows {
        let Emit {
            rules, group, layer: Closed { layer, orientations }, next, bases, mut rows, ..
        } = self;
        let order = group.order();
        let mut ahead: Vec<Edge> = Vec::with_capacity(AHEAD);
        let mut row = layer.counts[self.task * TASK / LINE] as usize;
        for (number, words) in layer.pieces(self.task) {
            let block = rules.block(layer.blocks[number]);
            let targets: Vec<usize> =
                block.placements.iter().map(|p| next.layer.index(p.to.occupied)).collect();
            for word in words {
                let mut bits = layer.bits[word].load(Ordering::Relaxed);
                while bits != 0 {
                    let place = layer.place(word, bits.trailing_zeros());
                    bits &= bits - 1;
                    let mover = rules.mover(&block, place);
                    let own = Orientations(orientations[row].load(Ordering::Relaxed));
                    row += 1;
                    let mut moves = rules.for_each_placement(
                        &block,
                        mover,
                        |number, placement, (place, ties)| {
                            let bit = next.layer.bit(targets[number], place);
                            B::fetch(&next.layer.bits[bit.0]);
                            B::fetch(&next.layer.counts[bit.0 / LINE]);
                            if ahead.len() == AHEAD {
                                next.reach::<B>(group, &mut ahead, bases[1], &mut rows.targets);
                            }
                            ahead.push(Edge { bit, own, ties, row: 0 });
                            rows.actions.push(placement.action.0 as u8);
                        },
                    );
                    let (other, ties) = rules.swapped(&block, mover);
                    let other = layer.bit(number, other);
                    let is_pass = moves == 0 && rules.passes(&block, mover);
                    if is_pass {
                        moves = 1;
                        next.reach::<B>(group, &mut ahead, bases[1], &mut rows.targets);
                        rows.targets.push(bases[0] + layer.row(other));
                        rows.actions.push(self.pass);
                    }
                    let kind = if moves == 0 { StateKind::Terminal } else { StateKind::Interior };
                    rows.kinds.push(kind as u8);
                    rows.ends.push(rows.actions.len() as u64);
                    let one = Tally {
                        states: 1,
                        terminals: u64::from(moves == 0),
                        passes: u64::from(is_pass),
                        frontier: 0,
                        transitions: u64::from(moves),
                    };
                    rows.table.add(&one);
                    rows.reachable.add(&one.times(u64::from(own.count())));
                    let sides = Side::ALL.map(|side| own.with(side, order));
                    rows.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
                    if sides[0] != 0 && layer.contains(other) {
                        let there = &orientations[layer.row(other) as usize];
                        let there = Orientations(there.load(Ordering::Relaxed));
                        let theirs = there.with(Side::Second, order);
                        let both = group.carry(sides[0], ties) & theirs;
                        rows.with_both += u64::from(both.count_ones());
                    }
                }
            }
        }
        next.reach::<B>(group, &mut ahead, bases[1], &mut rows.targets);
        rows
    }
}

/// A placement whose row is to be found.
pub(super) struct Edge {
    bit: (usize, u32),
    /// The orientations of the state it is a move of.
    own: Orientations,
    /// The symmetries that lead to the canonical form of where it leads.
    ties: u8,
    row: u32,
}

impl Closed {
    /// Adds the ids of edges' rows and tells those in which orientations they are reached.
    #[inline(always)]
    pub fn reach<B: Bits>(
        &self,
        group: &Group,
        edges: &mut Vec<Edge>,
        base: u32,
        targets: &mut Vec<u32>,
    ) {
        for edge in &mut *edges {
            edge.row = self.layer.row(edge.bit);
            B::fetch(&self.orientations[edge.row as usize]);
            targets.push(base + edge.row);
        }
        for edge in edges.drain(..) {
            reach(&self.orientations[edge.row as usize], group, edge.own, edge.ties);
        }
    }
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
        let mut keys = Vec::new();
        for (number, words) in layer.pieces(task) {
            let block = rules.block(layer.blocks[number]);
            for word in words {
                let mut bits = layer.bits[word].load(Ordering::Relaxed);
                while bits != 0 {
                    let place = layer.place(word, bits.trailing_zeros());
                    bits &= bits - 1;
                    keys.push(rules.key(&block, place));
                }
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
