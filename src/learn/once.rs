//! What answers all images of a position alike is asked about one of them.
//!
//! Of 4×4 Othello's positions that is an eighth as a rule, and images then agree to the last bit.

use std::collections::HashMap;

use crate::game::{Game, Position};
use crate::policy::{Answers, Batch, PolicyError, share_best};

/// Asks about the canonical image of each position of a batch, about each once, and gives every
/// position its image's answer.
pub(super) fn once<G: Game>(
    game: &G,
    batch: &Batch<G::State>,
    answers: &mut Answers,
    ask: impl FnOnce(&Batch<G::State>, &mut Answers) -> Result<(), PolicyError>,
) -> Result<(), PolicyError> {
    let own = game.with_folding(true);
    let folded = own.as_ref().unwrap_or(game);
    let (mut images, mut known) = (Batch::default(), HashMap::new());
    let mut asked = Vec::with_capacity(batch.len());
    for position in batch.positions() {
        let canonical = folded.canonical(&position.state);
        let symmetry = canonical.symmetry();
        let at = *known.entry(canonical.key).or_insert_with(|| {
            let state = folded.transform(&position.state, symmetry);
            images.push(Position { state, ..*position }, game.actions(&state));
            images.len() - 1
        });
        asked.push((at, symmetry));
    }
    let mut all = Answers::default();
    ask(&images, &mut all)?;
    answers.probabilities.resize(batch.actions().len(), 0.0);
    for (at, (there, symmetry)) in asked.into_iter().enumerate() {
        let (own, range) = (batch.range(at), images.range(there));
        for &action in &batch.actions()[own.clone()] {
            let image = folded.transform_action(action, symmetry);
            let place = images.actions()[range.clone()].iter().position(|&other| other == image);
            let place = place.ok_or_else(|| PolicyError::new("a move has no image"))?;
            answers.scores.push(all.scores[range.start + place]);
        }
        share_best(&answers.scores[own.clone()], &mut answers.probabilities[own]);
        answers.values.extend(all.values.get(there));
        answers.final_scores.extend(all.final_scores.get(there));
    }
    Ok(())
}
