//! What to enumerate, and the name and identity of the table that comes of it.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::GraphError;
use super::estimate::estimate;
use super::layer::MOST_ACTIONS;
use crate::game::{Game, NotationError, Position, Side};
use crate::hint::Hint;
use crate::table::{CHECKPOINT_AFTER, Identity, Table, TableError, check_name};

/// How the rows of a table are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Among sorted keys, with stored moves.
    Keys,
    /// By the rank of the state, with moves made from the rules.
    Rank,
}

/// What to enumerate.
#[derive(Clone, Debug)]
pub struct Plan<S> {
    /// `standard`, `both` or `custom`: how the roots came to be.
    pub start: String,
    /// Where to begin; all in one layer.
    pub roots: Vec<Position<S>>,
    /// Expand no state that is at this many plies from a root.
    pub max_depth: Option<u32>,
    /// Begin no layer that would make the table larger than this many states.
    pub max_states: Option<u64>,
    /// How rows are found.
    pub index: Index,
    /// The player to move at the roots plays only checks (cyclic games that keep sides).
    pub checks_only: bool,
    /// Do not store moves: the rules give them whenever they are asked for (games with blocks).
    pub derived: bool,
    /// Take no more bytes of memory than about this: what blocks need beyond it lies in files that
    /// are mapped, and no ply of a cyclic game is begun that is expected to need more. No part of
    /// the table's identity.
    pub max_memory: Option<u64>,
    /// Secure the work at the end of a layer when it has gone on for this long since it last was;
    /// usually [`CHECKPOINT_AFTER`](crate::table::CHECKPOINT_AFTER). No part of the table's
    /// identity.
    pub checkpoint_after: Duration,
    /// What the table is called instead of [`table_name`]. No part of its identity.
    pub name: Option<String>,
}

/// The positions of a text, one a line and each once; empty lines and what follows a # are left out.
/// Never none.
pub fn read_roots<G: Game>(game: &G, text: &str) -> Result<Vec<Position<G::State>>, NotationError> {
    let (mut roots, mut known) = (Vec::new(), HashSet::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let root = game
            .parse_position(line, &game.start())
            .map_err(|error| error.map(|what| format!("line {}: {what}", number + 1)))?;
        if known.insert(root) {
            roots.push(root);
        }
    }
    match roots.is_empty() {
        true => Err(NotationError::new("has no position").with_hint("write one a line")),
        false => Ok(roots),
    }
}

impl<S: Copy + PartialEq> Plan<S> {
    /// Everything that can be reached from where the game starts.
    pub fn from_start<G: Game<State = S>>(game: &G) -> Plan<S> {
        Plan {
            start: "standard".to_string(),
            roots: vec![game.start()],
            max_depth: None,
            max_states: None,
            index: match game.rank_count() {
                Some(_) if game.layers().is_none() => Index::Rank,
                _ => Index::Keys,
            },
            checks_only: false,
            derived: false,
            max_memory: None,
            checkpoint_after: CHECKPOINT_AFTER,
            name: None,
        }
    }

    /// What the table is called.
    pub fn table_name<G: Game<State = S>>(&self, game: &G) -> String {
        self.name.clone().unwrap_or_else(|| table_name(&self.identity(game)))
    }

    /// What the table of this plan is made from.
    pub fn identity<G: Game<State = S>>(&self, game: &G) -> Identity {
        let order = game.group().order() as u8;
        Identity {
            game: game.name(),
            rules_version: game.rules_version(),
            start: self.start.clone(),
            roots: self.roots.iter().map(|root| game.notation(root)).collect(),
            symmetry: if order > 1 { "full" } else { "none" }.to_string(),
            symmetry_order: order,
            max_depth: self.max_depth,
            max_states: self.max_states,
            index: match self.index {
                Index::Rank => Some("rank".to_string()),
                // The table by rank has the plain name.
                Index::Keys if self.is_whole() && game.rank_count().is_some() => {
                    Some("keys".to_string())
                }
                Index::Keys => None,
            },
            sides: game.keeps_sides().then(|| "kept".to_string()),
            checks_only: self.checks_only,
            transitions: self.derived.then(|| "derived".to_string()),
        }
    }

    /// The plan of a table, whose identity must be what these rules make of it.
    pub fn of<G: Game<State = S>>(game: &G, table: &Table) -> Result<Plan<S>, TableError> {
        let identity = &table.manifest().identity;
        let damaged = |what: String| TableError::damaged(&table.dir().join("manifest.json"), what);
        let start = game.start();
        let parse = |root: &String| {
            let parsed = game.parse_position(root, &start);
            parsed.map_err(|error| {
                damaged(format!("its root '{root}' is no position ({})", error.line()))
            })
        };
        let roots = identity.roots.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let other = |state| Position { state, side: start.side.other() };
        let both = game.swapped(&start.state).map(|state| [start, other(state)]);
        let both = both.as_ref().map(|both| &both[..]);
        let plan = Plan {
            start: match identity.start.as_str() {
                _ if roots == [start] => "standard".to_string(),
                "both" if both == Some(&roots[..]) => "both".to_string(),
                _ => "custom".to_string(),
            },
            roots,
            max_depth: identity.max_depth,
            max_states: identity.max_states,
            index: if identity.is_by_rank() { Index::Rank } else { Index::Keys },
            checks_only: identity.checks_only,
            derived: identity.is_derived(),
            ..Plan::from_start(game)
        };
        plan.check(game)
            .map_err(|error| damaged(format!("it tells of no table: {}", error.line())))?;
        match plan.identity(game) == *identity {
            true => Ok(plan),
            false => Err(damaged("its identity is not what these rules write".to_string())),
        }
    }

    /// Whether everything that the start leads to is meant.
    pub fn is_whole(&self) -> bool {
        let bounded = self.max_depth.is_some() || self.max_states.is_some();
        !bounded && !self.checks_only && self.start == "standard"
    }

    /// Whether whole blocks of states can be found at once: the game has blocks, folded, and no
    /// bound cuts them.
    pub fn has_blocks<G: Game<State = S>>(&self, game: &G) -> bool {
        let whole = self.max_depth.is_none() && self.max_states.is_none();
        whole && self.index == Index::Keys && game.group().order() > 1 && game.has_blocks()
    }

    /// The same plan with other roots.
    pub fn map<T>(&self, root: impl Fn(&Position<S>) -> Position<T>) -> Plan<T> {
        Plan {
            start: self.start.clone(),
            roots: self.roots.iter().map(root).collect(),
            max_depth: self.max_depth,
            max_states: self.max_states,
            index: self.index,
            checks_only: self.checks_only,
            derived: self.derived,
            max_memory: self.max_memory,
            checkpoint_after: self.checkpoint_after,
            name: self.name.clone(),
        }
    }

    /// The player who may only give check, if there is one.
    pub fn attacker(&self) -> Option<Side> {
        self.roots.first().filter(|_| self.checks_only).map(|root| root.side)
    }

    /// How many states the first layer has: the roots, and where their passes lead.
    fn first_states<G: Game<State = S>>(&self, game: &G) -> u64 {
        let mut keys = BTreeSet::new();
        for root in &self.roots {
            keys.insert(game.position_key(root));
            game.for_each_successor(&root.state, |action, state| {
                if game.is_pass(action) {
                    keys.insert(game.position_key(&Position { state, side: root.side.other() }));
                }
            });
        }
        keys.len() as u64
    }

    /// How many states to expect, where that can be told.
    pub(super) fn expected_states<G: Game<State = S>>(&self, game: &G) -> Option<u64> {
        estimate(game, self).map(|expected| expected.states as u64)
    }

    /// That the game can be enumerated so.
    pub(super) fn check<G: Game<State = S>>(&self, game: &G) -> Result<(), GraphError> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        let first = self.roots.first().ok_or(GraphError::NoRoot)?;
        let layer = game.layer(&first.state);
        if self.roots.iter().any(|root| game.layer(&root.state) != layer) {
            return Err(GraphError::MixedRoots);
        }
        if self.checks_only && !game.keeps_sides() {
            return Err(GraphError::NoChecks { game: game.name() });
        }
        if self.checks_only && self.roots.iter().any(|root| root.side != first.side) {
            return Err(GraphError::TwoAttackers);
        }
        if game.action_count() > MOST_ACTIONS {
            let what = format!("it has more than {MOST_ACTIONS} actions").into();
            return Err(GraphError::Unfit { game: game.name(), what });
        }
        let ranks = game.rank_count().is_some() && game.layers().is_none() && self.is_whole();
        if self.index == Index::Rank && !ranks {
            return Err(GraphError::NoRanks { game: game.name() });
        }
        if self.derived && !self.has_blocks(game) {
            return Err(GraphError::NoBlocks { game: game.name() });
        }
        let states = self.first_states(game);
        if self.max_states.is_some_and(|most| states > most) {
            return Err(GraphError::NoRoom { states });
        }
        Ok(())
    }
}

/// The name of the table made from `identity`, unless a plan gives another; different identities
/// have different names.
pub fn table_name(identity: &Identity) -> String {
    let mut name = identity.game.clone();
    match identity.start.as_str() {
        "standard" => {}
        "custom" => {
            let roots = identity.roots.join("\n");
            name += &format!("-root-{:08x}", crc32fast::hash(roots.as_bytes()));
        }
        other => name += &format!("-{other}"),
    }
    if identity.checks_only {
        name += "-checks";
    }
    if identity.index.as_deref() == Some("keys") {
        name += "-keys";
    }
    if identity.symmetry == "none" {
        name += "-unfolded";
    }
    if identity.is_derived() {
        name += "-derived";
    }
    if let Some(depth) = identity.max_depth {
        name += &format!("-depth{depth}");
    }
    if let Some(states) = identity.max_states {
        name += &format!("-max{states}");
    }
    name
}
