//! What to enumerate, the name and identity of the table that comes of it, and what it will take.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::GraphError;
use crate::game::{Expected, Game, GameExt, NotationError, Position, Side};
use crate::hint::Hint;
use crate::table::{
    CHECKPOINT_AFTER, Identity, NoRoom, Store, Table, TableError, check_name, fits_disk,
    fits_memory,
};

/// How many actions a game may have: rows store their number in two bytes.
pub(super) const MOST_ACTIONS: usize = u16::MAX as usize - 1;

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
    /// are mapped, and sorted layers are made in slices. No part of the table's identity.
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
            index: if has_ranks(game) { Index::Rank } else { Index::Keys },
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
            rules_version: game.facts().rules_version,
            start: self.start.clone(),
            roots: self.roots.iter().map(|root| game.notation(root)).collect(),
            symmetry: if order > 1 { "full" } else { "none" }.to_string(),
            symmetry_order: order,
            max_depth: self.max_depth,
            max_states: self.max_states,
            index: match self.index {
                Index::Rank => Some("rank".to_string()),
                // The table by rank has the plain name.
                Index::Keys if self.is_whole() && game.ranks().is_some() => {
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
        let damaged = |what: String| table.damaged_manifest(what);
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
        whole && self.index == Index::Keys && game.group().order() > 1 && game.facts().has_blocks
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
        if self.index == Index::Rank && !(has_ranks(game) && self.is_whole()) {
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

/// Whether rows may be ranks, which do not tell who is to move.
fn has_ranks<G: Game>(game: &G) -> bool {
    game.ranks().is_some() && !game.keeps_sides()
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

/// What a table is expected to hold and take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Rows of the table.
    pub states: f64,
    /// Moves.
    pub edges: f64,
    /// Bytes on disk, once solved.
    pub disk: f64,
    /// Bytes of memory at the peak of the enumeration.
    pub memory: f64,
    /// Seconds of one processor that enumerating takes.
    pub seconds: f64,
    /// Whether the number of states is known and not extrapolated.
    pub exact: bool,
    /// Whether states come in blocks.
    pub in_blocks: bool,
    /// Whether moves are not stored.
    pub derived: bool,
}

/// Estimates the enumeration of a plan; `None` where the game knows nothing of its size.
pub fn estimate<G: Game>(game: &G, plan: &Plan<G::State>) -> Option<Estimate> {
    let Expected { mut states, moves, mut exact } = game.expected(&plan.roots.first()?.state)?;
    exact &= plan.start == "standard";
    if let Some(most) = plan.max_states.filter(|&most| (most as f64) < states) {
        (states, exact) = (most as f64, false);
    }
    if let Some(depth) = plan.max_depth {
        // No more than lines of play: few moves at first, more in the middle of the game.
        let lines = 8.0 * 4f64.powf(f64::from(depth));
        if lines < states {
            (states, exact) = (lines, false);
        }
    }
    let edges = states * (moves + 0.1);
    let key = 8.0 * game.facts().key_words as f64;
    let (in_blocks, derived) = (plan.has_blocks(game), plan.derived);
    // A row: key, orientations, outcome, score, distance; with moves: kind, how many, and of every 64
    // where they begin. An edge: target, action.
    let row = key + 2.0 + 1.0 + 1.0 + 2.0;
    let disk = match derived {
        true => states * row,
        false => states * (row + 1.0 + 1.0 + 8.0 / 64.0) + edges * 5.0,
    };
    // The largest layer holds about a quarter of all states, with its successors as records; the
    // factor is set by the peaks measured on 4×6 (3.7 GB) and 5×5 (11.9 GB).
    let sorting = 0.30 * (2.0 * states * (key + 6.0) + edges * (key + 8.0 + 6.0) * 1.3);
    let memory = match in_blocks {
        true => 400e6 + bitmaps(game, game.layer(&plan.roots.first()?.state)) + 0.30 * states * 4.0,
        false => 64e6 + sorting,
    };
    // As measured on 4×6 and 5×5.
    let seconds = states
        * match (in_blocks, derived) {
            (true, true) => 0.1e-6,
            (true, false) => 0.13e-6,
            (false, _) => 0.65e-6,
        };
    Some(Estimate { states, edges, disk, memory, seconds, exact, in_blocks, derived })
}

impl Estimate {
    /// Bytes that do not fit in the memory that may be taken: bitmaps lie in files meanwhile, sorted
    /// layers are made in slices.
    pub fn beyond(&self, memory: Option<u64>) -> f64 {
        let room = memory.map_or(f64::INFINITY, |room| room as f64);
        (self.memory - room).max(0.0)
    }
}

/// Returns the plan if it is expected to fit in [`Plan::max_memory`] and on the disk of the tables.
pub fn within_room<G: Game>(
    game: &G,
    plan: Plan<G::State>,
    store: &Store,
) -> Result<Plan<G::State>, NoRoom> {
    match (plan.index, game.layers()) {
        (Index::Rank, _) => {
            // The bits, the list of a ply and what it finds, and the bits once more when written.
            let ranks = f64::from(game.ranks().map_or(0, |ranks| ranks.count()));
            fits_memory(ranks / 2.0 + 2e7, plan.max_memory)?;
        }
        (Index::Keys, Some(_)) if !store.place(&plan.table_name(game)).exists() => {
            if let Some(expected) = estimate(game, &plan) {
                let in_files =
                    if expected.in_blocks { expected.beyond(plan.max_memory) } else { 0.0 };
                fits_disk(expected.disk + in_files, store.root())?;
            }
        }
        (Index::Keys, _) => {}
    }
    Ok(plan)
}

/// Bytes of the bitmaps of three layers that follow each other, which are held together, where they
/// are largest: of every set of occupied squares that contains the root's one image, and in it a
/// bit for every set of the mover's.
fn bitmaps<G: Game>(game: &G, discs: u32) -> f64 {
    let (rows, columns) = game.shape();
    let free = ((rows * columns) as u32).saturating_sub(discs);
    let mut sets = 1.0;
    let mut layers = Vec::new();
    for more in 0..=free {
        layers.push(sets / game.group().order() as f64 * f64::from(discs + more).exp2() / 8.0);
        sets *= f64::from(free - more) / f64::from(more + 1);
    }
    layers.windows(3).map(|three| three.iter().sum()).fold(0.0, f64::max)
}
