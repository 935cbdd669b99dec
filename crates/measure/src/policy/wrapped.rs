//! Amendments to a policy: which positions of solved tables it has learned from, by
//! a network's card or by what is written behind it, and whether it plays what it ranks highest.

use std::fmt;
use std::str::FromStr;

use super::{Answers, Batch, Policy, share_best};
use yomikiri::game::{Division, Game, Splits};
use yomikiri::hint::Hinted;

/// Which positions' exact values a policy has learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainedOn {
    /// None: it goes by rules, or has learned from games.
    Nothing,
    /// The training part of a division.
    Part(Division),
    /// Not known: it comes from outside.
    Unknown,
}

impl TrainedOn {
    /// Returns how positions were divided, where that is known.
    pub fn division(self) -> Option<Division> {
        match self {
            TrainedOn::Part(division) => Some(division),
            TrainedOn::Nothing | TrainedOn::Unknown => None,
        }
    }
}

/// `train` or `train:SEED`: the training part of `solver export` with the default shares. The text
/// form reads back as the same specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TrainedSpec {
    /// `--split-seed` of the export.
    pub seed: u64,
}

impl TrainedSpec {
    /// The division of the export.
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
    /// The forms that are known.
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

/// Options behind a policy from outside: `?move=best,trained=train:7`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amendment {
    /// It plays the moves with the highest score, or with the highest probability if it gives no
    /// scores; equal ones equally often. What else it says stays as it is.
    pub best: bool,
    /// Which positions it has learned from.
    pub trained: Option<TrainedSpec>,
}

/// A policy under a name, as it is amended.
pub struct Amended<G> {
    /// The name under which reports show it.
    pub name: String,
    /// The policy.
    pub policy: Box<dyn Policy<G>>,
    /// Amendment.
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
        let trained = self.amendment.trained;
        trained.map_or(self.policy.learned_from(), |part| TrainedOn::Part(part.division()))
    }
}
