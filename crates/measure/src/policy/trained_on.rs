//! Training positions of a policy, from a network's card or an option.

use std::fmt;
use std::str::FromStr;

use super::{Answers, Batch, Policy};
use yomikiri::error::Error;
use yomikiri::rules::{Division, Rules, Splits};

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

/// A policy whose training positions were declared.
pub struct Trained(pub Box<dyn Policy>, pub TrainedSpec);

impl Policy for Trained {
    fn name(&self) -> String {
        self.0.name()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        self.0.answer(game, batch)
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Part(self.1.division())
    }

    fn reading(&self) -> Option<String> {
        self.0.reading()
    }
}
