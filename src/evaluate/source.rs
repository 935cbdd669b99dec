//! Where the positions come from in which policies are judged: a table, piece by piece.

use crate::game::Game;
use crate::policy::Batch;

use super::truth::{Case, Truth};

/// A piece of a table, ready to be put to policies.
#[derive(Clone, Debug)]
pub struct Piece<S> {
    /// The positions.
    pub batch: Batch<S>,
    /// What is known of each.
    pub cases: Vec<Case>,
    /// What is known of each action of the batch.
    pub truths: Vec<Truth>,
}

impl<S> Default for Piece<S> {
    fn default() -> Piece<S> {
        Piece { batch: Batch::default(), cases: Vec::new(), truths: Vec::new() }
    }
}

impl<S> Piece<S> {
    /// Takes everything out and keeps the room.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.cases.clear();
        self.truths.clear();
    }
}

/// A solved table as pieces of judged positions, always the same in the same order.
///
/// A position is judged if it is not over, and its own value and those of all its moves are proven:
/// elsewhere it is not known what the best move is.
pub trait Source<G: Game>: Sync {
    /// How many pieces there are.
    fn pieces(&self) -> usize;

    /// How many rows the table has.
    fn rows(&self) -> u64;

    /// Puts the judged positions of a piece into `out`, which comes cleared; tells how many rows the
    /// piece has, or what is wrong with the table.
    fn fill(&self, piece: usize, out: &mut Piece<G::State>) -> Result<u64, String>;
}
