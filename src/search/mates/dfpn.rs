//! Df-pn of one thread: the recursion, the path, and the disproofs that depend on it.
//!
//! Numbers are those of the player to move: `phi` is 0 if the mover reaches their goal (a win, or no loss),
//! `delta` if not. A position's phi is the least delta of its children, its delta the sum of their phi.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::table::{Lookup, MateTable, NEVER, TableKey, UNBOUNDED};
use super::{Call, MateLine, MateSearch, Mating, Role};
use crate::games::shogi::Board;
use crate::rules::Action;

/// Set of positions of the path, by depth.
type Bases = u128;
/// Base of results decided by the limit on the path's length; it is never discharged.
const LIMIT: Bases = 1 << 127;
const LONGEST: usize = 126;
/// Maximum number of bases of a disproof that is kept.
const KEPT_BASES: usize = 4;
/// Number of counters of the path's boards by hash, which let most lookups of the path end at once.
const FILTER: usize = 1024;
/// Number of nodes between two checks of the limits.
const PERIOD: u64 = 256;

/// Knowledge about a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeValue {
    phi: u32,
    delta: u32,
    bases: Bases,
    /// Length of the proof, if there is one.
    pub plies: u8,
    role: Role,
    /// `true` if the table has not been consulted or contained nothing.
    fresh: bool,
}

impl NodeValue {
    fn of(role: Role, proof: u32, disproof: u32) -> NodeValue {
        let (phi, delta) =
            if role == Role::Attacks { (proof, disproof) } else { (disproof, proof) };
        NodeValue { phi, delta, bases: 0, plies: UNBOUNDED, role, fresh: false }
    }

    fn proven(role: Role, plies: u8) -> NodeValue {
        NodeValue { plies, ..NodeValue::of(role, 0, NEVER) }
    }

    fn disproven(role: Role, bases: Bases) -> NodeValue {
        NodeValue { bases, ..NodeValue::of(role, NEVER, 0) }
    }

    fn numbers(&self) -> (u32, u32) {
        if self.role == Role::Attacks { (self.phi, self.delta) } else { (self.delta, self.phi) }
    }

    fn is_solved(&self) -> bool {
        self.phi == 0 || self.delta == 0
    }

    /// Returns `true` if the attacker wins.
    pub(super) fn is_proven(&self) -> bool {
        self.numbers().0 == 0
    }
}

/// Position in the search.
#[derive(Clone, Copy)]
struct Here<N> {
    node: N,
    role: Role,
    place: TableKey,
    hash: u64,
}

#[derive(Clone, Copy)]
struct Child<N> {
    here: Here<N>,
    action: Action,
    value: NodeValue,
}

/// Summary of a position's children.
struct ChildSummary {
    value: NodeValue,
    /// Child to search next, and (`second`) the least delta among the others.
    best: usize,
    second: u32,
    /// Part of delta beside the largest number.
    others: u32,
}

/// Search of one thread.
pub(super) struct Worker<'a, M: Mating> {
    rules: &'a M,
    table: &'a MateTable,
    call: &'a Call<'a>,
    thread: usize,
    nodes: u64,
    /// Maximum number of nodes of this thread.
    most: u64,
    stopped: bool,
    path: Vec<TableKey>,
    filter: [u8; FILTER],
    /// Children of all positions of the path.
    children: Vec<Child<M::Node>>,
    /// Child by which the mover of the root that was expanded last reaches their goal.
    best_child: Option<Child<M::Node>>,
    conditional: FxHashMap<TableKey, Vec<TableKey>>,
    kept: usize,
}

impl<'a, M: Mating> Worker<'a, M> {
    pub(super) fn new(
        rules: &'a M,
        search: &'a MateSearch<'_>,
        call: &'a Call<'a>,
        thread: usize,
    ) -> Self {
        Worker {
            rules,
            table: &search.table,
            call,
            thread,
            nodes: 0,
            most: call.options.nodes.saturating_sub(call.nodes.load(Relaxed)),
            stopped: false,
            path: Vec::new(),
            filter: [0; FILTER],
            children: Vec::new(),
            best_child: None,
            conditional: FxHashMap::default(),
            kept: search.conditional,
        }
    }

    /// Decides a root; `None` if a limit is reached first.
    pub(super) fn root(&mut self, board: &Board, bound: u8) -> Option<NodeValue> {
        let role = self.call.options.role;
        let here = self.here(self.rules.root(board, role), role, bound);
        let value = self.decide(&here);
        self.call.nodes.fetch_add(self.nodes % PERIOD, Relaxed);
        let value = value?;
        self.call.done.store(true, Relaxed);
        Some(value)
    }

    fn decide(&mut self, here: &Here<M::Node>) -> Option<NodeValue> {
        let mut value = self.look_up(here);
        while !value.is_solved() && !self.stopped {
            value = self.expand(here, value.fresh, NEVER, NEVER);
        }
        (value.is_solved() && value.bases & LIMIT == 0).then_some(value)
    }

    fn here(&self, node: M::Node, role: Role, plies: u8) -> Here<M::Node> {
        let mode = (role as u128) << 110 | u128::from(self.call.options.checks_only) << 111;
        let board = self.rules.board(&node) | mode;
        let place = TableKey { board, hand: self.rules.hand(&node), plies };
        Here { node, role, place, hash: place.hash() }
    }

    /// Searches below a position until one of its numbers reaches its threshold.
    fn expand(&mut self, here: &Here<M::Node>, fresh: bool, phi: u32, delta: u32) -> NodeValue {
        self.count_node();
        if self.path.len() == LONGEST {
            return NodeValue::disproven(here.role, LIMIT);
        }
        let (from, before) = (self.children.len(), self.nodes);
        let slot = here.hash as usize % FILTER;
        self.path.push(here.place);
        self.filter[slot] += 1;
        let decided = self.generate(here, fresh, from);
        let (value, best) = loop {
            let ChildSummary { value, best, second, others } = self.summed(here.role, from);
            if decided
                || value.phi >= phi
                || value.delta >= delta
                || value.is_solved()
                || self.stopped
            {
                break (value, best);
            }
            let child = self.children[best];
            // Threshold of the child's number at which this delta reaches its own.
            let child_phi = delta - others;
            let child_delta =
                phi.min(second.saturating_add(second / 4).saturating_add(1)).min(NEVER);
            self.children[best].value = self.visit(&child, child_phi, child_delta);
        };
        if from == 0 {
            self.best_child = (value.phi == 0).then(|| self.children[best]);
        }
        self.children.truncate(from);
        self.filter[slot] -= 1;
        self.path.pop();
        let own = 1 << self.path.len();
        let value = NodeValue { bases: value.bases & !own, ..value };
        self.store(here, &value, (self.nodes - before) as u32 + 1);
        value
    }

    fn visit(&mut self, child: &Child<M::Node>, phi: u32, delta: u32) -> NodeValue {
        if child.value.fresh || self.call.options.threads > 1 {
            // It may be known, or another thread may have solved it by now.
            let known = self.look_up(&child.here);
            if known.is_solved() || (known.phi >= phi || known.delta >= delta) {
                return known;
            }
            return self.expand(&child.here, known.fresh, phi, delta);
        }
        self.expand(&child.here, false, phi, delta)
    }

    fn count_node(&mut self) {
        self.nodes += 1;
        self.stopped |= self.nodes >= self.most;
        if self.nodes.is_multiple_of(PERIOD) || self.nodes == 1 {
            let options = self.call.options;
            let added = if self.nodes == 1 { 0 } else { PERIOD };
            let total = self.call.nodes.fetch_add(added, Relaxed) + added;
            self.stopped |= total >= options.nodes
                || self.call.done.load(Relaxed)
                || options.stop.is_some_and(|stop| stop.load(Relaxed))
                || options.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        }
    }

    /// Pushes a position's children on the stack, up to one that decides it; returns `true` if there is one.
    fn generate(&mut self, here: &Here<M::Node>, fresh: bool, from: usize) -> bool {
        let (rules, role) = (self.rules, here.role);
        let checks_only = self.call.options.checks_only && role == Role::Attacks;
        let left = here.place.plies;
        let plies = if left == UNBOUNDED { UNBOUNDED } else { left.saturating_sub(1) };
        // Children of a new position are mostly new: the table is consulted when they are visited.
        let lazy = fresh && role == Role::Attacks;
        let mut decided = false;
        rules.moves(&here.node, role, checks_only, |action, node| {
            if !decided {
                let child = self.here(node, role.other(), plies);
                let value = if lazy { self.unseen(&child) } else { self.look_up(&child) };
                decided = value.delta == 0 && value.bases == 0;
                self.children.push(Child { here: child, action, value });
            }
        });
        if decided {
            let last = self.children.len() - 1;
            self.children.swap(from, last);
        }
        decided
    }

    /// Returns the knowledge about a position before it is searched.
    fn look_up(&self, here: &Here<M::Node>) -> NodeValue {
        let Here { role, place, hash, .. } = here;
        match self.table.get(place, *hash) {
            Lookup::Proven(plies) => return NodeValue::proven(*role, plies),
            Lookup::Disproven => return NodeValue::disproven(*role, 0),
            Lookup::Numbers(proof, disproof) => {
                let bases = self.repeated(place, *hash).or_else(|| self.rests(place));
                let value = bases.map(|bases| NodeValue::disproven(*role, bases));
                return value.unwrap_or(NodeValue::of(*role, proof, disproof));
            }
            Lookup::Nothing => {}
        }
        self.unseen(here)
    }

    /// Returns the knowledge about a position without the table.
    fn unseen(&self, here: &Here<M::Node>) -> NodeValue {
        let Here { role, place, hash, .. } = here;
        if let Some((won, plies)) = self.rules.over(&here.node, *role) {
            return if won && plies <= place.plies {
                NodeValue::proven(*role, plies)
            } else {
                NodeValue::disproven(*role, 0)
            };
        }
        if let Some(bases) = self.repeated(place, *hash).or_else(|| self.rests(place)) {
            return NodeValue::disproven(*role, bases);
        }
        self.first_value(here)
    }

    fn first_value(&self, here: &Here<M::Node>) -> NodeValue {
        // Threads start with slightly different numbers, so that they explore different branches.
        let noise = if self.thread == 0 {
            0
        } else {
            here.hash.rotate_left(7 * self.thread as u32) as u32 & 1
        };
        match here.role {
            Role::Attacks if here.place.plies == 0 => NodeValue::disproven(here.role, 0),
            Role::Attacks => {
                NodeValue { fresh: true, ..NodeValue::of(here.role, 1 + noise, 1 + noise) }
            }
            Role::Defends => match self.rules.replies(&here.node) {
                0 => NodeValue::proven(here.role, 0),
                _ if here.place.plies == 0 => NodeValue::disproven(here.role, 0),
                count => {
                    NodeValue { fresh: true, ..NodeValue::of(here.role, count + noise, 1 + noise) }
                }
            },
        }
    }

    /// Returns the position of the path that has the same board and at least the means.
    #[inline]
    fn repeated(&self, place: &TableKey, hash: u64) -> Option<Bases> {
        if self.filter[hash as usize % FILTER] == 0 {
            return None;
        }
        let depth = self.path.iter().rposition(|earlier| earlier.dominates(place))?;
        Some(1 << depth)
    }

    /// Returns the bases of a conditional disproof, if all are on the path.
    fn rests(&self, place: &TableKey) -> Option<Bases> {
        let depth = |base: &TableKey| self.path.iter().rposition(|earlier| earlier.dominates(base));
        let bases = self.conditional.get(place)?;
        bases.iter().try_fold(0, |set, base| Some(set | 1 << depth(base)?))
    }

    /// Sums up the children of a position.
    fn summed(&self, role: Role, from: usize) -> ChildSummary {
        let (mut least, mut second, mut best) = (NEVER, NEVER, from);
        let (mut largest, mut unsolved) = (0u32, 0u32);
        let (mut bases, mut longest, mut shortest) = (0, 0, UNBOUNDED);
        let mut unconditional = false;
        for (at, child) in self.children[from..].iter().enumerate() {
            let value = &child.value;
            unsolved += u32::from(value.phi > 0);
            largest = largest.max(value.phi);
            if value.delta < least {
                (second, least, best) = (least, value.delta, from + at);
            } else {
                second = second.min(value.delta);
            }
            if value.is_proven() {
                (longest, shortest) = (longest.max(value.plies), shortest.min(value.plies));
            } else if role == Role::Attacks {
                bases |= value.bases;
            } else if value.delta == 0 && !unconditional {
                unconditional = value.bases == 0;
                bases = value.bases;
            }
        }
        // The largest number stands for all, so that shared subtrees do not count repeatedly.
        let others = unsolved.saturating_sub(1);
        let sum = (largest + others).min(NEVER - 1);
        let delta = if least == 0 { NEVER } else { sum };
        let phi = if sum == 0 { NEVER } else { least };
        let mut value = NodeValue { phi, delta, bases: 0, plies: UNBOUNDED, role, fresh: false };
        if value.is_solved() {
            let plies: u8 = if role == Role::Attacks { shortest } else { longest };
            value.plies = if from == self.children.len() { 0 } else { (plies + 1).min(UNBOUNDED) };
            value.bases = if value.is_proven() { 0 } else { bases };
        }
        ChildSummary { value, best, second, others }
    }

    fn store(&mut self, here: &Here<M::Node>, value: &NodeValue, work: u32) {
        let (proof, disproof) = value.numbers();
        let stored = match (proof, disproof) {
            (0, _) => Lookup::Proven(value.plies),
            (_, 0) if value.bases != 0 => return self.keep(&here.place, value.bases),
            (_, 0) => Lookup::Disproven,
            _ => Lookup::Numbers(proof.min(NEVER - 1), disproof.min(NEVER - 1)),
        };
        self.table.put(&here.place, here.hash, stored, work);
    }

    /// Keeps a conditional disproof with its bases.
    fn keep(&mut self, place: &TableKey, bases: Bases) {
        if bases & LIMIT != 0 || bases.count_ones() as usize > KEPT_BASES {
            return;
        }
        if self.conditional.len() >= self.kept {
            self.conditional.clear();
        }
        let on_path = self.path.iter().enumerate();
        let bases =
            on_path.filter(|(depth, _)| bases >> depth & 1 == 1).map(|(_, base)| *base).collect();
        self.conditional.insert(*place, bases);
    }

    /// Decides a position, and returns its value with the child by which its mover reaches their goal; `None` at
    /// the end of the game or at a limit.
    fn decision(&mut self, here: &Here<M::Node>) -> Option<(NodeValue, Option<Child<M::Node>>)> {
        if self.is_over(here) {
            return None;
        }
        let mut value = self.look_up(here);
        self.best_child = None;
        // The child of a known goal takes one more expansion, and more if the table has lost the child.
        while value.delta > 0 && self.best_child.is_none() && !self.stopped {
            value = self.expand(here, value.fresh, NEVER, NEVER);
        }
        let is_complete = value.delta == 0 || self.best_child.is_some();
        (is_complete && value.bases & LIMIT == 0).then_some((value, self.best_child))
    }

    /// Returns the attacker's first move of a win within `plies`.
    pub(super) fn first(&mut self, board: &Board, plies: u8) -> Option<Action> {
        let here = self.here(self.rules.root(board, Role::Attacks), Role::Attacks, plies);
        self.decision(&here)?.1.map(|child| child.action)
    }

    /// Returns the line of a win within `plies`. Each move of the attacker wins within the plies that are
    /// left, and each of the defender's avoids a win in fewer.
    pub(super) fn line(&mut self, board: &Board, plies: u8) -> MateLine {
        let (mut actions, role) = (Vec::new(), self.call.options.role);
        let mut here = self.here(self.rules.root(board, role), role, plies);
        while let Some(child) = self.next_of_line(&mut here) {
            actions.push(child.action);
            here = child.here;
        }
        let missing_plies = if self.is_over(&here) { 0 } else { here.place.plies.into() };
        MateLine { actions, missing_plies, nodes: self.nodes }
    }

    fn is_over(&self, here: &Here<M::Node>) -> bool {
        self.rules.over(&here.node, here.role).is_some()
            || here.role == Role::Defends && self.rules.replies(&here.node) == 0
    }

    /// Returns the next move of a line; `None` at its end, at a limit, or without a win within the plies left.
    /// Lowers the plies left to those of a defender who loses sooner.
    fn next_of_line(&mut self, here: &mut Here<M::Node>) -> Option<Child<M::Node>> {
        if here.role == Role::Attacks {
            return self.decision(here)?.1;
        }
        while here.place.plies > 0 {
            let mut sooner = *here;
            sooner.place.plies = here.place.plies.saturating_sub(2);
            match self.decision(&sooner)? {
                (value, None) => here.place.plies = value.plies,
                (_, Some(mut child)) => {
                    child.here.place.plies = here.place.plies - 1;
                    return Some(child);
                }
            }
        }
        None
    }
}
