//! Plans of enumerations: the identity and name of the resulting table, and its estimated size and time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::enumerate::{no_root, unfit};
use crate::error::Error;
use crate::games::listed::Listed;
use crate::rules::{AnyPosition, ExpectedStates, Position, Rules};
use crate::table::rows::code::has_blocks;
use crate::table::{
    CHECKPOINT_AFTER, Identity, NoRoom, Store, Table, check_name, fits_disk, fits_memory,
};

/// Maximum number of a game's actions: rows store their number of moves in two bytes.
const MOST_ACTIONS: usize = u16::MAX as usize - 1;

/// Way to find the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Search among sorted keys; moves are stored, or derived if [`Plan::derived`].
    Keys,
    /// Rank of the state, with moves derived from the rules.
    Rank,
}

/// Options of an enumeration.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Origin of the roots: `standard`, `both` or `custom`.
    pub start: String,
    /// Positions to start from, all in one layer.
    pub roots: Vec<AnyPosition>,
    /// Number of plies from a root at which states are no longer expanded.
    pub max_depth: Option<u32>,
    /// Maximum number of states: no layer is started that would exceed it.
    pub max_states: Option<u64>,
    /// Index of the rows.
    pub index: Index,
    /// Derives moves from the rules instead of storing them (games with blocks).
    pub derived: bool,
    /// Approximate memory limit in bytes: beyond it blocks lie in mapped files and layers are sorted in
    /// slices. Not part of the table's identity.
    pub max_memory: Option<u64>,
    /// Interval between checkpoints, which are written at the end of a layer; usually
    /// [`CHECKPOINT_AFTER`](crate::table::CHECKPOINT_AFTER). Not part of the table's identity.
    pub checkpoint_after: Duration,
    /// Name of the table instead of [`table_name`]. Not part of its identity.
    pub name: Option<String>,
}

impl Plan {
    /// Returns the plan of everything reachable from the start of the game.
    pub fn from_start(game: &dyn Rules) -> Plan {
        Plan {
            start: "standard".to_string(),
            roots: vec![game.start()],
            max_depth: None,
            max_states: None,
            index: if has_ranks(game) { Index::Rank } else { Index::Keys },
            derived: false,
            max_memory: None,
            checkpoint_after: CHECKPOINT_AFTER,
            name: None,
        }
    }

    /// Returns the name of the table.
    pub fn table_name(&self, game: &dyn Rules) -> String {
        self.name.clone().unwrap_or_else(|| table_name(&self.identity(game)))
    }

    /// Returns the identity of this plan's table.
    pub fn identity(&self, game: &dyn Rules) -> Identity {
        let order = game.group().order() as u8;
        Identity {
            game: game.name(),
            rules_version: game.facts().rules_version,
            start: self.start.clone(),
            roots: self.roots.iter().map(|root| game.notation(root)).collect(),
            symmetry: if is_unfolded(game) { "none" } else { "full" }.to_string(),
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
            transitions: self.derived.then(|| "derived".to_string()),
            part: None,
            listing: game.typed::<Listed>().map(|game| game.checksum().to_string()),
        }
    }

    /// Reconstructs the plan of a table. Fails unless the rules give the plan the table's identity.
    pub fn of(game: &dyn Rules, table: &Table) -> Result<Plan, Error> {
        let identity = &table.manifest().identity;
        let damaged = |what: String| table.damaged_manifest(what);
        let start = game.start();
        let parse = |root: &String| {
            let parsed = game.parse_position(root, &start);
            parsed.map_err(|error| damaged(format!("invalid root `{root}` ({})", error.line())))
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
            derived: identity.is_derived(),
            ..Plan::from_start(game)
        };
        plan.check(game).map_err(|error| damaged(format!("invalid identity: {}", error.line())))?;
        match plan.identity(game) == *identity {
            true => Ok(plan),
            false => Err(damaged("identity differs from what these rules write".to_string())),
        }
    }

    /// Returns `true` if the plan covers everything reachable from the start.
    pub fn is_whole(&self) -> bool {
        let bounded = self.max_depth.is_some() || self.max_states.is_some();
        !bounded && self.start == "standard"
    }

    /// Returns `true` if whole blocks of states can be found at once: a folded game with blocks and no bound.
    pub fn has_blocks(&self, game: &dyn Rules) -> bool {
        let whole = self.max_depth.is_none() && self.max_states.is_none();
        whole && self.index == Index::Keys && game.group().order() > 1 && has_blocks(game)
    }

    /// Returns the number of states in the first layer: the roots and the successors of their passes.
    fn first_states(&self, game: &dyn Rules) -> u64 {
        let mut keys = BTreeSet::new();
        for root in &self.roots {
            keys.insert(game.position_key(root));
            game.moves(&root.state, |action, state| {
                if game.is_pass(action) {
                    keys.insert(game.position_key(&Position { state, side: root.side.other() }));
                }
            });
        }
        keys.len() as u64
    }

    /// Returns the expected number of states, if there is an estimate.
    pub(super) fn expected_states(&self, game: &dyn Rules) -> Option<u64> {
        estimate(game, self).map(|expected| expected.states as u64)
    }

    /// Checks that the game can be enumerated with this plan.
    pub(super) fn check(&self, game: &dyn Rules) -> Result<(), Error> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        let first = self.roots.first().ok_or_else(no_root)?;
        let layer = game.layer(&first.state);
        if self.roots.iter().any(|root| game.layer(&root.state) != layer) {
            return Err(Error::new("roots in different layers", "enumerate each separately"));
        }
        if game.action_count() > MOST_ACTIONS {
            return Err(unfit(game, format!("more than {MOST_ACTIONS} actions")));
        }
        if self.index == Index::Rank && !(has_ranks(game) && self.is_whole()) {
            let what = format!(
                "--index rank does not apply to {}: expected a game with ranks, whole and folded",
                game.name()
            );
            return Err(what.into());
        }
        if self.derived && !self.has_blocks(game) {
            let what = format!(
                "--transitions derived does not apply to {}: expected Othello on up to 32 squares, without --max-depth and --max-states",
                game.name()
            );
            return Err(what.into());
        }
        let states = self.first_states(game);
        if self.max_states.is_some_and(|most| states > most) {
            let what =
                format!("invalid --max-states: expected at least {states}, the number of roots");
            return Err(what.into());
        }
        Ok(())
    }
}

/// Returns `true` if the game has symmetries under which its states are not folded.
fn is_unfolded(game: &dyn Rules) -> bool {
    let folds = |folded: Arc<dyn Rules>| folded.group().order() > 1;
    game.group().order() == 1 && game.with_folding(true).is_some_and(folds)
}

/// Returns `true` if rows may be ranks, which do not contain the side to move.
fn has_ranks(game: &dyn Rules) -> bool {
    game.rank_count().is_some() && !game.keeps_sides()
}

/// Returns the default name of the table with this identity; different identities have different names.
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
    if let Some([number, of]) = identity.part {
        name += &format!("-part-{number}-of-{of}");
    }
    name
}

/// Expected size and cost of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of rows.
    pub states: f64,
    /// Number of moves.
    pub edges: f64,
    /// Bytes on disk, once solved.
    pub disk: f64,
    /// Bytes of memory at the peak of the enumeration.
    pub memory: f64,
    /// CPU time of the enumeration in seconds.
    pub seconds: f64,
    /// `true` if the number of states is known rather than extrapolated.
    pub exact: bool,
    /// `true` if states are found in blocks.
    pub in_blocks: bool,
    /// `true` if moves are not stored.
    pub derived: bool,
}

/// Estimates the enumeration of a plan; returns `None` if the game does not know its size.
pub fn estimate(game: &dyn Rules, plan: &Plan) -> Option<Estimate> {
    let ExpectedStates { mut states, moves, mut exact } =
        game.expected(&plan.roots.first()?.state)?;
    exact &= plan.start == "standard";
    if let Some(most) = plan.max_states.filter(|&most| (most as f64) < states) {
        (states, exact) = (most as f64, false);
    }
    if let Some(depth) = plan.max_depth {
        // The number of lines of play bounds the states; moves are few at first and more later.
        let lines = 8.0 * 4f64.powf(f64::from(depth));
        if lines < states {
            (states, exact) = (lines, false);
        }
    }
    let edges = states * (moves + 0.1);
    let key = 8.0 * game.facts().key_words() as f64;
    let (in_blocks, derived) = (plan.has_blocks(game), plan.derived);
    // A row: key, orientations, outcome, score, distance; with stored moves also kind, edge count and, for
    // every 64th row, an edge offset. An edge: target, action.
    let row = key + 2.0 + 1.0 + 1.0 + 2.0;
    let disk = match derived {
        true => states * row,
        false => states * (row + 1.0 + 1.0 + 8.0 / 64.0) + edges * 5.0,
    };
    // The largest layer holds about a quarter of all states, with its successors as records; the factor is
    // fitted to the peaks on 4×6 (3.7 GB) and 5×5 (11.9 GB).
    let sorting = 0.30 * (2.0 * states * (key + 6.0) + edges * (key + 8.0 + 6.0) * 1.3);
    let memory = match in_blocks {
        true => 400e6 + bitmaps(game, game.layer(&plan.roots.first()?.state)) + 0.30 * states * 4.0,
        false => 64e6 + sorting,
    };
    // Measured on 4×6 and 5×5.
    let seconds = states
        * match (in_blocks, derived) {
            (true, true) => 0.1e-6,
            (true, false) => 0.13e-6,
            (false, _) => 0.65e-6,
        };
    Some(Estimate { states, edges, disk, memory, seconds, exact, in_blocks, derived })
}

impl Estimate {
    /// Returns the bytes beyond the memory limit: bitmaps then lie in files, and layers are sorted in slices.
    pub fn beyond(&self, memory: Option<u64>) -> f64 {
        let room = memory.map_or(f64::INFINITY, |room| room as f64);
        (self.memory - room).max(0.0)
    }
}

/// Returns the plan with its memory limit (default: the free memory) filled in, or an error if memory or the
/// store's disk is expected not to suffice.
pub fn within_room(game: &dyn Rules, plan: Plan, store: &Store) -> Result<Plan, NoRoom> {
    match (plan.index, game.is_layered()) {
        (Index::Rank, _) => {
            // The bitmap, the list of a ply with its successors, and the bitmap again while it is written.
            let ranks = f64::from(game.rank_count().unwrap_or(0));
            fits_memory(ranks / 2.0 + 2e7, plan.max_memory)?;
        }
        (Index::Keys, true) if !store.place(&plan.table_name(game)).exists() => {
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

/// Returns the bytes of the bitmaps of three consecutive layers, which are held at once, where they are
/// largest: one bitmap for each class of sets of occupied squares that contain the root's, with a bit for
/// each subset that the mover may own.
fn bitmaps(game: &dyn Rules, discs: u32) -> f64 {
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
