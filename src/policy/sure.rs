//! A policy that plays what another ranks highest.

use super::{Answers, Batch, Policy, PolicyError, TrainedOn, share_best};
use crate::game::Game;

/// Plays the moves with the highest score of a policy, or with the highest probability if it gives
/// no scores; equal ones equally often. What else the policy says stays as it is.
pub struct Sure<P>(pub P);

impl<G: Game> Policy<G> for Sure<Box<dyn Policy<G>>> {
    fn name(&self) -> String {
        format!("{}?move=best", self.0.name())
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        self.0.answer(game, batch, answers)?;
        answers.check(batch)?;
        if answers.scores.is_empty() {
            // They go on to say how the policy ranks moves.
            answers.scores.clone_from(&answers.probabilities);
        }
        for at in 0..batch.len() {
            let range = batch.range(at);
            share_best(&answers.scores[range.clone()], &mut answers.probabilities[range]);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        self.0.learned_from()
    }
}
