//! Rows of a cyclic game's table of sorted keys made anew from the rules, and found by key.

use std::ops::Range;

use rayon::prelude::*;

use super::index::BucketIndex;
use super::plan::Plan;
use super::view::Graph;
use crate::game::{Action, End, Game, Position, Side};
use crate::table::{Identity, Table, TableError};

/// A move made from the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemadeMove {
    /// The action.
    pub action: Action,
    /// The row its successor has in the table; `None` if it is in none.
    pub target: Option<usize>,
}

/// What the rules say of a row of a cyclic game's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remade {
    /// How the game has ended for the mover, if it has.
    pub end: Option<End>,
    /// Whether the second player is to move, where the table keeps that.
    pub second_to_move: bool,
    /// Whether the mover may only give check; only such moves are listed then.
    pub restricted: bool,
    /// The moves, in ascending order of actions.
    pub moves: Vec<RemadeMove>,
}

/// [`Remaker`] without its game, for those who work on graphs alone.
pub trait Remake: Sync {
    /// Makes a row anew, its moves only if `follow`; or says why its key is wrong.
    fn row(&self, row: usize, follow: bool, made: &mut Remade) -> Result<(), String>;

    /// The rows of the roots.
    fn roots(&self) -> Vec<Option<usize>>;

    /// Whether the moves of some rows lead to more than `room` states that are not in the table.
    fn leads_beyond(&self, rows: Range<usize>, room: u64) -> bool;

    /// A row in the game's notation; where the table does not keep the side, the mover is shown as
    /// the first player.
    fn describe(&self, row: usize) -> String;

    /// The name of an action in a row, as [`describe`](Remake::describe) shows it.
    fn action_name(&self, row: usize, action: Action) -> String;
}

/// The roots of a cyclic game's table, whose identity must be what these rules make of them.
pub fn roots_of<G: Game>(game: &G, table: &Table) -> Result<Vec<Position<G::State>>, TableError> {
    let identity = &table.manifest().identity;
    let damaged = |what: String| TableError::damaged(&table.dir().join("manifest.json"), what);
    let start = game.start();
    let parse = |root: &String| {
        let parsed = game.parse_position(root, &start);
        parsed.map_err(|error| damaged(format!("its root '{root}' is no position ({error})")))
    };
    let roots = identity.roots.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let named = if roots == [start] { "standard" } else { "custom" };
    let plan = Plan {
        start: named.to_string(),
        roots,
        max_depth: identity.max_depth,
        max_states: identity.max_states,
        checks_only: identity.checks_only,
        ..Plan::from_start(game)
    };
    let made = Identity { index: identity.index.clone(), ..plan.identity(game) };
    match made == *identity {
        true => Ok(plan.roots),
        false => Err(damaged("its identity is not what these rules write".to_string())),
    }
}

/// Makes rows of a graph anew.
///
/// A layer is a ply, which a key does not tell: successors are looked up in every layer.
pub struct Remaker<'a, G: Game> {
    graph: &'a Graph,
    game: &'a G,
    roots: Vec<Position<G::State>>,
    /// The player who may only give check.
    attacker: Option<Side>,
    layers: Vec<Range<usize>>,
    /// By layer.
    indices: Vec<BucketIndex>,
}

/// How many rows are followed before the states they lead to are counted.
const AT_ONCE: usize = 1 << 16;

impl<'a, G: Game> Remaker<'a, G> {
    /// Builds the indices of all layers.
    pub fn new(graph: &'a Graph, game: &'a G, table: &Table) -> Result<Self, TableError> {
        let roots = roots_of(game, table)?;
        let damaged = |what: &str| {
            Err(TableError::damaged(&table.dir().join("manifest.json"), what.to_string()))
        };
        let Some(first) = roots.first().map(|root| root.side) else {
            return damaged("it names no root");
        };
        let checks_only = table.manifest().identity.checks_only;
        if checks_only && (!game.keeps_sides() || roots.iter().any(|root| root.side != first)) {
            return damaged("its roots do not tell whose checks are meant");
        }
        let keys = graph.keys().of::<G::Key>();
        let layers: Vec<Range<usize>> = graph.layers().collect();
        let indices = layers
            .par_iter()
            .map(|rows| BucketIndex::new(&keys[rows.clone()], game.key_bits()))
            .collect();
        let attacker = checks_only.then_some(first);
        Ok(Remaker { graph, game, roots, attacker, layers, indices })
    }

    fn keys(&self) -> &[G::Key] {
        self.graph.keys().of::<G::Key>()
    }

    /// The number of the layer in which a row lies.
    fn layer_of(&self, row: usize) -> usize {
        self.layers.partition_point(|rows| rows.end <= row)
    }

    fn find_in(&self, layer: usize, key: G::Key) -> Option<usize> {
        let rows = self.layers[layer].clone();
        self.indices[layer].find(&self.keys()[rows.clone()], key).map(|place| rows.start + place)
    }

    /// The row of a key, looked for in the layer `near` first, then in those before and behind it.
    fn find(&self, near: usize, key: G::Key) -> Option<usize> {
        let layers = self.layers.len();
        let near = near.min(layers.saturating_sub(1));
        let order = (0..layers.min(near + 1)).rev().chain(near + 1..layers);
        order.into_iter().find_map(|layer| self.find_in(layer, key))
    }

    /// Calls `visit` with the moves that the table follows, and with the keys they lead to.
    fn for_each_move(&self, position: &Position<G::State>, mut visit: impl FnMut(Action, G::Key)) {
        let restricted = self.attacker == Some(position.side);
        self.game.for_each_successor(&position.state, |action, state| {
            if !restricted || self.game.in_check(&state) {
                let after = Position { state, side: position.side.other() };
                visit(action, self.game.position_key(&after));
            }
        });
    }
}

impl<G: Game> Remake for Remaker<'_, G> {
    fn row(&self, row: usize, follow: bool, made: &mut Remade) -> Result<(), String> {
        let keys = self.keys();
        let key = keys[row];
        let position = self.game.position_of(key).ok_or("its key is no position")?;
        if self.game.position_key(&position) != key {
            return Err("its key is not the smallest of its images".to_string());
        }
        let layer = self.layer_of(row);
        if row > self.layers[layer].start && keys[row - 1] >= key {
            return Err("its key is not above the one before it".to_string());
        }
        if let Some(other) = (0..layer).find_map(|earlier| self.find_in(earlier, key)) {
            return Err(format!("its key is that of row {other} too"));
        }
        made.end = self.game.end(&position.state);
        made.second_to_move = position.side == Side::Second;
        made.restricted = self.attacker == Some(position.side);
        made.moves.clear();
        if follow {
            self.for_each_move(&position, |action, key| {
                made.moves.push(RemadeMove { action, target: self.find(layer + 1, key) });
            });
        }
        Ok(())
    }

    fn roots(&self) -> Vec<Option<usize>> {
        self.roots.iter().map(|root| self.find(0, self.game.position_key(root))).collect()
    }

    fn leads_beyond(&self, rows: Range<usize>, room: u64) -> bool {
        let layer = self.layer_of(rows.start);
        let mut beyond: Vec<G::Key> = Vec::new();
        for begin in rows.clone().step_by(AT_ONCE) {
            let some = &self.keys()[begin..rows.end.min(begin + AT_ONCE)];
            let led = some.par_iter().flat_map_iter(|&key| {
                let mut found = Vec::new();
                if let Some(position) = self.game.position_of(key) {
                    self.for_each_move(&position, |_, key| {
                        if self.find(layer, key).is_none() {
                            found.push(key);
                        }
                    });
                }
                found
            });
            beyond.par_extend(led);
            beyond.par_sort();
            beyond.dedup();
            if beyond.len() as u64 > room {
                return true;
            }
        }
        false
    }

    fn describe(&self, row: usize) -> String {
        match self.game.position_of(self.keys()[row]) {
            Some(position) => self.game.notation(&position),
            None => "no position".to_string(),
        }
    }

    fn action_name(&self, row: usize, action: Action) -> String {
        let position = self.game.position_of(self.keys()[row]);
        // What is stored may be no action at all, and have no name.
        match position.filter(|_| usize::from(action.0) < self.game.action_count()) {
            Some(position) => self.game.action_name(position.side, action),
            None => format!("action {}", action.0),
        }
    }
}
