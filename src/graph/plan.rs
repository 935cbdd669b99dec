//! What to enumerate, and the name and identity of the table that comes of it.

use std::time::Duration;

use crate::game::{Cyclic, Game, Position};
use crate::table::{CHECKPOINT_AFTER, Identity};

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
    /// The player to move at the roots plays only checks (cyclic games that keep sides).
    pub checks_only: bool,
    /// Begin no ply that is expected to need more bytes of memory than this (cyclic games). No part
    /// of the table's identity.
    pub max_memory: Option<u64>,
    /// Secure the work at the end of a layer when it has gone on for this long since it last was;
    /// usually [`CHECKPOINT_AFTER`](crate::table::CHECKPOINT_AFTER). No part of the table's identity.
    pub checkpoint_after: Duration,
}

impl<S: Copy> Plan<S> {
    /// Everything that can be reached from where the game starts.
    pub fn from_start<G: Game<State = S>>(game: &G) -> Plan<S> {
        Plan {
            start: "standard".to_string(),
            roots: vec![game.start()],
            max_depth: None,
            max_states: None,
            checks_only: false,
            max_memory: None,
            checkpoint_after: CHECKPOINT_AFTER,
        }
    }

    /// What the table of this plan is made from.
    pub fn identity<G: Game<State = S>>(&self, game: &G) -> Identity {
        let order = game.group().order() as u8;
        Identity {
            game: game.spec().to_string(),
            rules_version: game.rules_version(),
            start: self.start.clone(),
            roots: self.roots.iter().map(|root| game.notation(root)).collect(),
            symmetry: if order > 1 { "full" } else { "none" }.to_string(),
            symmetry_order: order,
            max_depth: self.max_depth,
            max_states: self.max_states,
            index: None,
            sides: None,
            checks_only: self.checks_only,
        }
    }

    /// The same for a cyclic game, whose rows are found among sorted keys.
    pub fn identity_of_cyclic<G: Cyclic<State = S>>(&self, game: &G) -> Identity {
        let sides = game.keeps_sides().then(|| "kept".to_string());
        Identity { sides, ..self.identity(game) }
    }
}

/// The name of the table made from `identity`; different identities have different names.
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
    if let Some(depth) = identity.max_depth {
        name += &format!("-depth{depth}");
    }
    if let Some(states) = identity.max_states {
        name += &format!("-max{states}");
    }
    name
}
