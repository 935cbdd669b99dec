//! Asks an equivariant network about one image of each position.
//!
//! In 4×4 Othello that usually saves seven of eight evaluations, and images agree to the last bit.

use std::collections::HashMap;
use std::ops::Range;

use super::{Outside, Source};
use crate::policy::{Answers, Batch, share_best};
use yomikiri::error::Error;
use yomikiri::rules::{Position, Rules};

/// Asks about the canonical image of each position of a batch, once each, and maps the answers back.
pub(super) fn ask_each_once(
    game: &dyn Rules,
    batch: &Batch,
    ask: impl FnOnce(&Batch) -> Result<Answers, Error>,
) -> Result<Answers, Error> {
    let own = game.with_folding(true);
    let folded = own.as_deref().unwrap_or(game);
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
    let (all, mut answers) = (ask(&images)?, Answers::default());
    answers.probabilities.resize(batch.actions().len(), 0.0);
    for (at, (there, symmetry)) in asked.into_iter().enumerate() {
        let (own, range) = (batch.range(at), images.range(there));
        for &action in &batch.actions()[own.clone()] {
            let image = folded.transform_action(action, symmetry);
            let place = images.actions()[range.clone()].iter().position(|&other| other == image);
            let place = place.ok_or_else(|| Error::from("moves have images"))?;
            answers.scores.push(all.scores[range.start + place]);
        }
        share_best(&answers.scores[own.clone()], &mut answers.probabilities[own]);
        answers.values.extend(all.values.get(there));
        answers.final_scores.extend(all.final_scores.get(there));
    }
    Ok(answers)
}

/// Number of positions compared, and tolerance of their answers relative to the largest.
const COMPARED: usize = 40;
const ROUNDING: f64 = 1e-3;

/// Returns `true` if a network's answers for some positions equal those for their canonical images.
pub(super) fn answers_alike<S: Source>(
    policy: &Outside<S>,
    game: &dyn Rules,
) -> Result<bool, Error> {
    let (mut batch, mut position) = (Batch::default(), game.start());
    for ply in 0..COMPARED {
        let actions = game.actions(&position.state);
        if actions.is_empty() {
            position = game.start();
            continue;
        }
        batch.push(position, actions.iter().copied());
        position = game.advance(&position, actions[(ply * ply + ply / 7) % actions.len()]);
    }
    let own = policy.answer_all(game, &batch)?;
    let of_images = ask_each_once(game, &batch, |some| policy.answer_all(game, some))?;
    let alike = |a: &[f64], b: &[f64]| {
        let scale = a.iter().fold(1.0, |most: f64, number| most.max(number.abs()));
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= ROUNDING * scale)
    };
    let scores = |range: Range<usize>| (&own.scores[range.clone()], &of_images.scores[range]);
    let mut scores = (0..batch.len()).map(|at| scores(batch.range(at)));
    Ok(scores.all(|(a, b)| alike(a, b)) && alike(&own.values, &of_images.values))
}

#[cfg(all(test, feature = "onnx"))]
mod tests {
    use std::path::Path;

    use crate::policy::test_positions::four;
    use crate::policy::{Card, NetworkSpec, Onnx};

    #[test]
    fn a_card_that_claims_equivariance_is_compared_with_the_network() {
        let kept = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("tables/policies/td-othello-4x4.onnx");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claims.onnx");
        std::fs::copy(&kept, &path).unwrap();
        for claim in [false, true] {
            let card = Card { equivariant: claim, ..Card::read(&kept).unwrap() };
            let text = serde_json::to_vec(&card).unwrap();
            std::fs::write(path.with_extension("json"), text).unwrap();
            let spec = NetworkSpec { path: path.clone(), ..NetworkSpec::default() };
            let read = Onnx::load(&spec, "claims".to_string(), &*four());
            assert_eq!(read.is_err(), claim);
            let what = "claims.json marks the network equivariant";
            assert!(read.err().is_none_or(|error| error.to_string().contains(what)));
        }
    }
}
