//! Comparison of a network's answers about images of the same positions, which a card may claim to be alike.

use super::Learned;
use crate::game::{Game, Symmetry};
use crate::policy::{Answers, Batch, PolicyError};

/// Positions whose images are compared, at most, and how far answers about them may be apart by
/// rounding, relative to the largest.
const IMAGES_OF: usize = 40;
const IMAGES_APART: f64 = 1e-3;

impl Learned {
    /// Whether the images of some positions get the same answers but for rounding.
    pub(super) fn answers_images_alike<G: Game>(&self, game: &G) -> Result<bool, PolicyError> {
        let Some(folded) = game.with_folding(true) else { return Ok(true) };
        let (mut positions, mut position) = (Vec::new(), game.start());
        for ply in 0..IMAGES_OF {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                position = game.start();
                continue;
            }
            positions.push(position);
            position = game.advance(&position, actions[(ply * ply + ply / 7) % actions.len()]);
        }
        let answers = |symmetry| {
            let (mut batch, mut answers) = (Batch::default(), Answers::default());
            for image in self.image(game, &positions, symmetry) {
                batch.push(image, game.actions(&image.state));
            }
            self.answer_all(game, &batch, &mut answers)?;
            Ok::<_, PolicyError>((batch, answers))
        };
        let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= IMAGES_APART * scale;
        let (batch, own) = answers(0)?;
        for symmetry in 1..folded.group().order() as Symmetry {
            let (images, found) = answers(symmetry)?;
            if own.values.iter().zip(&found.values).any(|(&a, &b)| !close(a, b, 1.0)) {
                return Ok(false);
            }
            for at in 0..batch.len() {
                let (here, there) = (batch.range(at), images.range(at));
                let worths = &own.scores[here.clone()];
                let scale = worths.iter().fold(1.0, |most: f64, worth| most.max(worth.abs()));
                let actions = &images.actions()[there.clone()];
                for (&action, &worth) in batch.actions()[here].iter().zip(worths) {
                    let image = folded.transform_action(action, symmetry);
                    let place = actions.iter().position(|&other| other == image);
                    let worth_there = place.map(|place| found.scores[there.start + place]);
                    if !worth_there.is_some_and(|there| close(worth, there, scale)) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::learn::card;
    use crate::registry::othello;

    #[test]
    fn a_card_that_claims_equivariance_is_compared_with_the_network() {
        let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/policies");
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("claims");
        let from = policies.join("td-othello-4x4");
        std::fs::copy(card::file(&from, "safetensors"), card::file(&copy, "safetensors")).unwrap();
        for (claim, is_read) in [(false, true), (true, false)] {
            let mut card = card::read_card(&from).unwrap();
            card.settings["equivariant"] = claim.into();
            let text = serde_json::to_vec(&card).unwrap();
            std::fs::write(card::file(&copy, "json"), text).unwrap();
            let read = Learned::load("claims".into(), &copy, &othello("4").unwrap());
            assert_eq!(read.is_ok(), is_read);
            if let Err(error) = read {
                let line = error.to_string();
                assert!(
                    line.contains("claims.json says that the network is equivariant"),
                    "{line}"
                );
            }
        }
    }
}
