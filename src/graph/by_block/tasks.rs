//! What is done with a task of a layer, compiled for the processor's own instructions.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use super::layer::{LINE, Layer, reach};
use crate::game::blocks::{Bits, Block, Blocks, Found, Work, fetch};
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
    /// Those that have one placement.
    found: Found,
    /// Where that leads them, and by which symmetries.
    after: Vec<u32>,
    ties: Vec<u8>,
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

    /// Calls `visit` with each placement that some states have: its number, and of these states the
    /// numbers, where in the block they are led to, and the symmetries that lead there. Leaves out
    /// placements that are not `wanted`. Counts the placements of each state, and finds those that must
    /// pass, if all are wanted.
    #[inline(always)]
    pub(crate) fn expand<B: Bits>(
        &mut self,
        rules: &Blocks<B>,
        block: &Block<B>,
        wanted: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, (&[u32], &[u32], &[u8])),
    ) {
        self.moves.clear();
        self.moves.resize(self.movers.len(), 0);
        let mut all = true;
        for (number, placement) in block.placements.iter().enumerate() {
            if !wanted(number) {
                all = false;
                continue;
            }
            let (states, turned) = placement.find(&self.movers, &mut self.found);
            self.after.resize(states.len(), 0);
            for ((&state, turned), after) in states.iter().zip(turned).zip(&mut self.after) {
                self.moves[state as usize] += 1;
                *after = block.occupied ^ self.movers[state as usize] ^ turned;
            }
            rules.places(&placement.to, &mut self.after, &mut self.ties);
            visit(number, (states, &self.after, &self.ties));
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
            for &state in placement.find(&others, &mut self.found).0 {
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
        // Bits that are to be set, and those of the placement before, which are fetched meanwhile.
        let (mut bits, mut before) = (Vec::<(usize, u32)>::new(), Vec::<(usize, u32)>::new());
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
                    |placement, (_, places, _)| {
                        if !is_in(placement) {
                            return;
                        }
                        bits.resize(places.len(), (0, 0));
                        let to = targets[placement];
                        for (at, (bit, &place)) in bits.iter_mut().zip(places).enumerate() {
                            *bit = next.bit(to, place);
                            fetch(&next.bits[bit.0]);
                            if let Some(&bit) = before.get(at) {
                                next.mark(bit);
                            }
                        }
                        for &bit in before.get(bits.len()..).unwrap_or_default() {
                            next.mark(bit);
                        }
                        std::mem::swap(&mut bits, &mut before);
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
        before.into_iter().for_each(|bit| {
            next.mark(bit);
        });
        (states, passes)
    }
}

/// What a task of a layer adds to the table.
#[derive(Default)]
pub(super) struct Rows {
    pub kinds: Vec<u8>,
    /// How many edges each row has: as many as a board has squares, or fewer.
    pub edge_counts: Vec<u8>,
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
        let load = |own: &AtomicU16| Orientations(own.load(Ordering::Relaxed));
        // Until somebody passes the first player is to move where the discs are even.
        let rarer = Side::ALL[usize::from(layer.number % 2 == 0)];
        let mut row = layer.rows_before(task);
        let mut astray = false;
        let (mut edges, mut ends, mut cursors) = (Edges::default(), Vec::new(), Vec::new());
        States::default().visit(rules, layer, task, |some, number, block| {
            edges.clear();
            ends.clear();
            ends.resize(block.placements.len(), 0);
            some.expand(
                rules,
                block,
                |_| true,
                |placement, (states, places, ties)| {
                    edges.states.extend_from_slice(states);
                    edges.rows.extend_from_slice(places);
                    edges.ties.extend_from_slice(ties);
                    ends[placement] = edges.states.len();
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
                let some = first.min(end)..end;
                first = first.max(end);
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
                        let (word, _) = next.bit(to, soon);
                        fetch(&next.bits[word]);
                        fetch(&next.counts[word / LINE]);
                    }
                    let bit = next.bit(to, reached[at]);
                    let row = next.row(bit);
                    reached[at] = row;
                    if STATES {
                        fetch(&theirs[row as usize]);
                    } else {
                        // Whoever writes rows has found them.
                        astray |= !next.contains(bit);
                    }
                    if EDGES {
                        let cursor = &mut cursors[states[at] as usize];
                        rows.targets[*cursor as usize] = bases[1] + row;
                        rows.actions[*cursor as usize] = action;
                        *cursor += 1;
                    }
                }
                if STATES {
                    for ((&state, &to), &ties) in
                        states.iter().zip(&*reached).zip(&edges.ties[some])
                    {
                        let own = own[row + state as usize].load(Ordering::Relaxed);
                        reach(&theirs[to as usize], group, Orientations(own), ties);
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
                return;
            }
            let all = own;
            let own = &all[row..row + some.movers.len()];
            row += own.len();
            let passes = some.passing.iter().map(|&state| &own[state as usize]);
            rows.table.passes += some.passing.len() as u64;
            rows.reachable.passes += passes.map(|own| u64::from(load(own).count())).sum::<u64>();
            for ((&mover, &moves), own) in some.movers.iter().zip(&some.moves).zip(own) {
                let set = load(own);
                let (over, count) = (moves == 0, u64::from(set.count()));
                if EDGES {
                    let kind = if over { StateKind::Terminal } else { StateKind::Interior };
                    rows.kinds.push(kind as u8);
                }
                rows.table.terminals += u64::from(over);
                rows.table.transitions += u64::from(moves);
                rows.reachable.states += count;
                rows.reachable.terminals += count * u64::from(over);
                rows.reachable.transitions += count * u64::from(moves);
                let sides = Side::ALL.map(|side| set.with(side, order));
                rows.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
                let with_rarer = sides[rarer.index()];
                if with_rarer == 0 {
                    continue;
                }
                let (other, ties) = rules.swapped(block, mover);
                let other = layer.bit(number, other);
                if layer.contains(other) {
                    let theirs = load(&all[layer.row(other) as usize]).with(rarer.other(), order);
                    let both = group.carry(with_rarer, ties) & theirs;
                    rows.with_both += u64::from(both.count_ones());
                }
            }
            rows.table.states += some.movers.len() as u64;
        });
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
    /// The symmetries that lead to the canonical form of where each leads.
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
