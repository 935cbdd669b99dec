//! Rows of a table made anew from the rules: the second road to every edge.

use super::index::BucketIndex;
use super::view::Graph;
use crate::game::{Action, Empties, Game, Mobility, Orientations, Score, Side};

/// A move regenerated from the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The action.
    pub action: Action,
    /// The row its successor has in the table.
    pub target: usize,
    /// The orientations the successor inherits from the row's own.
    pub orientations: Orientations,
}

/// What the rules say of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regenerated {
    /// The moves whose successors are in the table, in ascending order of actions.
    pub moves: Vec<Move>,
    /// The names of the moves whose successors are not.
    pub missing: Vec<String>,
    /// Whether the only move is a pass.
    pub pass: bool,
    /// The mover's final score if the game is over.
    pub end: Option<Score>,
}

/// Regenerates rows of a graph.
pub struct Regenerator<'a, G: Game> {
    graph: &'a Graph,
    game: &'a G,
    empties: Empties,
    /// By layer.
    indices: Vec<BucketIndex>,
}

impl<'a, G: Game> Regenerator<'a, G> {
    /// Builds the indices of all layers.
    pub fn new(graph: &'a Graph, game: &'a G, empties: Empties) -> Self {
        let keys = graph.keys().of::<G::Key>();
        let indices =
            graph.layers().map(|rows| BucketIndex::new(&keys[rows], game.key_bits())).collect();
        Regenerator { graph, game, empties, indices }
    }

    /// What the rules say of a row, or why its key is wrong.
    pub fn row(&self, row: usize) -> Result<Regenerated, String> {
        let keys = self.graph.keys().of::<G::Key>();
        let state =
            self.game.state(keys[row]).ok_or_else(|| "its key is no position".to_string())?;
        if self.game.canonical(&state).key != keys[row] {
            return Err("its key is not the smallest of its images".to_string());
        }
        let layer = self.graph.layer(self.game.layer(&state));
        if !layer.contains(&row) {
            return Err(format!(
                "it lies in the wrong layer (it has {} discs)",
                self.game.layer(&state)
            ));
        }
        if row > layer.start && keys[row - 1] >= keys[row] {
            return Err("its key is not above the one before it".to_string());
        }
        let mobility = self.game.mobility(&state);
        let mut made = Regenerated { pass: mobility == Mobility::Pass, ..Default::default() };
        if mobility == Mobility::Over {
            made.end = Some(self.game.score(&state, self.empties));
        }
        let from = self.graph.orientations(row);
        self.game.for_each_successor(&state, |action, successor| {
            let canonical = self.game.canonical(&successor);
            match self.find(self.game.layer(&successor), canonical.key) {
                Some(target) => made.moves.push(Move {
                    action,
                    target,
                    orientations: self.game.group().successor_orientations(from, canonical.ties),
                }),
                None => made.missing.push(self.action_name(action)),
            }
        });
        Ok(made)
    }

    /// The orientations that the roots give their rows.
    pub fn roots(
        &self,
        roots: &[crate::game::Position<G::State>],
    ) -> Vec<(Option<usize>, Orientations)> {
        roots
            .iter()
            .map(|root| {
                let canonical = self.game.canonical(&root.state);
                let row = self.find(self.game.layer(&root.state), canonical.key);
                (row, self.game.group().root_orientations(root.side, canonical.ties))
            })
            .collect()
    }

    /// A row as a person reads it: the board with the mover as Black.
    pub fn describe(&self, row: usize) -> String {
        match self.game.state(self.graph.keys().of::<G::Key>()[row]) {
            Some(state) => self.game.notation(&crate::game::Position { state, side: Side::First }),
            None => "no position".to_string(),
        }
    }

    /// The name of an action, of the mover as Black.
    pub fn action_name(&self, action: Action) -> String {
        self.game.action_name(Side::First, action)
    }

    fn find(&self, layer: u32, key: G::Key) -> Option<usize> {
        let place = layer.checked_sub(self.graph.first_layer())? as usize;
        let rows = self.graph.layer(layer);
        let keys = &self.graph.keys().of::<G::Key>()[rows.clone()];
        self.indices.get(place)?.find(keys, key).map(|place| rows.start + place)
    }
}

/// [`Regenerator`] without its game, for those who work on graphs alone.
pub trait Regenerate: Sync {
    /// What the rules say of a row, or why its key is wrong.
    fn row(&self, row: usize) -> Result<Regenerated, String>;
    /// A row as a person reads it.
    fn describe(&self, row: usize) -> String;
    /// The name of an action.
    fn action_name(&self, action: Action) -> String;
}

impl<G: Game> Regenerate for Regenerator<'_, G> {
    fn row(&self, row: usize) -> Result<Regenerated, String> {
        Regenerator::row(self, row)
    }

    fn describe(&self, row: usize) -> String {
        Regenerator::describe(self, row)
    }

    fn action_name(&self, action: Action) -> String {
        Regenerator::action_name(self, action)
    }
}
