//! The best moves of a solved table.

use crate::game::{Action, Layered, Symmetry};
use crate::graph::{Graph, search};
use crate::policy::{Answers, Batch, Policy, PolicyError, share_best};
use crate::solve::Solved;

/// Plays a table's best moves, equally often those that are equally good.
///
/// The best score comes first; among moves that keep it, ahead and level the shortest game, behind
/// the longest: the order in which the solver ranks moves. Where the table does not prove the score
/// of a position, the moves with the best lower bound of the score share; in a position that is not
/// in the table, or at its frontier, all moves do.
#[derive(Clone, Copy, Debug)]
pub struct Perfect<'a> {
    graph: &'a Graph,
    solved: &'a Solved,
}

/// How good a move is: the lower bound of its score, then its distance if it counts. The higher,
/// the better.
type Worth = (i8, Option<i32>);

impl<'a> Perfect<'a> {
    /// The best moves of a table, given as its graph and its solution.
    pub fn new(graph: &'a Graph, solved: &'a Solved) -> Perfect<'a> {
        Perfect { graph, solved }
    }

    fn row<G: Layered>(&self, game: &G, state: &G::State) -> Option<(usize, Symmetry)> {
        let canonical = game.canonical(state);
        let rows = self.graph.layer(game.layer(state));
        let row = search(self.graph.keys().of::<G::Key>(), rows, canonical.key)?;
        Some((row, canonical.symmetry()))
    }

    /// What an action of a row is worth. Only where the row's score is proven do distances count:
    /// elsewhere the moves' scores are open, and so is what to do with the rest of the game.
    fn worth(&self, row: usize, action: Action, proven: bool) -> Worth {
        let mut edges = self.graph.edges_of(row);
        let Some(edge) = edges.find(|&edge| self.graph.edge_actions().get(edge) == action) else {
            return (i8::MIN, None);
        };
        let value = self.solved.value(self.graph.edge_targets()[edge] as usize).before();
        let lower = value.score_lower.0;
        let distance = value.score().and(value.distance).filter(|_| proven).map(i32::from);
        (lower, if lower < 0 { distance } else { distance.map(|d| -d) })
    }
}

impl<G: Layered> Policy<G> for Perfect<'_> {
    fn name(&self) -> String {
        "perfect".to_string()
    }

    /// # Panics
    ///
    /// When the game's keys have another width than the table's: the table is of another game.
    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for (at, position) in batch.positions().iter().enumerate() {
            let actions = &batch.actions()[batch.range(at)];
            let out = &mut answers.probabilities[batch.range(at)];
            let Some((row, symmetry)) = self.row(game, &position.state) else {
                out.fill(1.0 / actions.len() as f64);
                continue;
            };
            let proven = self.solved.value(row).score().is_some();
            let worth =
                |&action: &Action| self.worth(row, game.transform_action(action, symmetry), proven);
            let worths: Vec<Worth> = actions.iter().map(worth).collect();
            share_best(&worths, out);
        }
        Ok(())
    }
}
