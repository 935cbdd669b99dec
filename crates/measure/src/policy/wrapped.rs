//! Amendments to a policy: its training positions, from a network's card or an option, and whether it plays
//! the move it ranks highest.

use std::fmt;
use std::str::FromStr;

use super::{Answers, Batch, Policy, share_best};
use yomikiri::game::{Division, Game, Splits};
use yomikiri::hint::Hinted;

/// Positions whose exact values a policy was trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainedOn {
    /// None: it goes by rules, or was trained on games.
    Nothing,
    /// The training part of a division.
    Part(Division),
    /// Unknown: it is external.
    Unknown,
}

impl TrainedOn {
    /// Returns the division of positions, if known.
    pub fn division(self) -> Option<Division> {
        match self {
            TrainedOn::Part(division) => Some(division),
            TrainedOn::Nothing | TrainedOn::Unknown => None,
        }
    }
}

/// Training part of `solver export` with the default shares: `train` or `train:SEED`. The text form reads
/// back as the same specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TrainedSpec {
    /// `--split-seed` of the export.
    pub seed: u64,
}

impl TrainedSpec {
    /// Returns the division of the export.
    pub fn division(self) -> Division {
        let splits = Splits { seed: self.seed, ..Splits::default() };
        Division { splits, share: 1.0 }
    }
}

impl fmt::Display for TrainedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seed {
            0 => f.write_str("train"),
            seed => write!(f, "train:{seed}"),
        }
    }
}

impl FromStr for TrainedSpec {
    /// List of the valid forms.
    type Err = String;

    fn from_str(text: &str) -> Result<TrainedSpec, String> {
        let seed = match text.split_once(':') {
            None if text == "train" => Some(0),
            Some(("train", seed)) => seed.parse().ok(),
            _ => None,
        };
        seed.map(|seed| TrainedSpec { seed }).ok_or_else(|| {
            "train, train:SEED (--split-seed of 'solver export', with its default shares)".into()
        })
    }
}

/// Options of an external policy: `?move=best,trained=train:7`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amendment {
    /// `true` to play the moves of the highest score, or of the highest probability if the policy returns no
    /// scores; equal moves are equally likely. Scores and values are unchanged.
    pub best: bool,
    /// Positions it was trained on.
    pub trained: Option<TrainedSpec>,
}

/// A policy with a name and an amendment.
pub struct Amended<G> {
    /// Name shown in reports.
    pub name: String,
    /// Policy to amend.
    pub policy: Box<dyn Policy<G>>,
    /// Amendment to the policy.
    pub amendment: Amendment,
}

impl<G: Game> Policy<G> for Amended<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        self.policy.answer(game, batch, answers)?;
        if !self.amendment.best {
            return Ok(());
        }
        answers.check(batch)?;
        if answers.scores.is_empty() {
            // The original probabilities still rank the moves.
            answers.scores.clone_from(&answers.probabilities);
        }
        for at in 0..batch.len() {
            let range = batch.range(at);
            share_best(&answers.scores[range.clone()], &mut answers.probabilities[range]);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        let trained = self.amendment.trained;
        trained.map_or(self.policy.learned_from(), |part| TrainedOn::Part(part.division()))
    }

    fn reading(&self) -> Option<String> {
        self.policy.reading()
    }
}
