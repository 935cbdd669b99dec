//! Training of networks: on solved tables, and by self-play.
//!
//! Trained networks:
//!
//! * [`network`]: architectures and weights; [`onnx`]: the same as ONNX models;
//! * [`card`]: trained networks as files, which [`player`] makes policies;
//! * [`minishogi`]: a value network for minishogi: its features, its data, its search.
//!
//! Training:
//!
//! * `passes`: forward and backward pass; `equivariance`: weight tying, so that all images of a
//!   position get the same answer; `optimiser` and `trainer`: training steps, shared among threads;
//! * `recipes`: the ways of training; `training`: what they share: iterations, checkpoints,
//!   history.
//!
//! The same settings give the same weights, with any number of threads, on machines whose
//! processors round alike. `docs/learned.md` says where each recipe comes from and what it reaches.

pub mod card;
pub mod chance;
pub mod equivariance;
pub mod minishogi;
pub mod network;
pub mod onnx;
pub mod optimiser;
pub mod options;
pub mod passes;
pub mod recipes;
pub mod trainer;
pub mod training;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::any::AnyGame;
use crate::evaluate::{MeasureError, Player, build};
use crate::hint::{Hint, Hinted, Kind};
use crate::policy::{NetworkSpec, PolicyError, PolicySpec};

use card::{Card, Reading};

/// Where networks lie that were trained beside the tables of a directory.
pub fn policies_dir(tables: &Path) -> PathBuf {
    tables.join("policies")
}

/// The files of a network: those that a path leads to, or those of a name among the ones that were
/// trained beside the tables of a directory.
pub fn place_of(network: &NetworkSpec, tables: &Path) -> PathBuf {
    let path = &network.path;
    let is_path = path.components().count() > 1 || card::file(path, "json").is_file();
    match network.kept && !is_path {
        true => policies_dir(tables).join(path),
        false => path.clone(),
    }
}

/// Makes the player that is meant: a network, which may have been trained beside the tables of a
/// directory, or what needs none.
pub fn player(spec: &PolicySpec, game: &AnyGame, tables: &Path) -> Result<Player, LearnError> {
    let PolicySpec::Network(network) = spec else { return Ok(build(spec, game)?) };
    spec.check(game)?;
    let name = spec.to_string();
    let there = NetworkSpec { path: place_of(network, tables), ..network.clone() };
    Ok(Player::Policy(match Card::beside(&there.path)? {
        Some(card) if card.reading == Reading::Win => {
            Box::new(minishogi::player::load(name, &there, &card, game)?)
        }
        _ => there.load(name, game)?,
    }))
}

/// Errors of training and of trained networks.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A file that cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that is not what it should be, or not for this.
    #[error("{} {what}", path.display())]
    Unfit {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: Hinted,
    },
    /// Settings that make no sense.
    #[error("{0}")]
    Settings(Hinted),
    /// A loss is no number any more.
    #[error("training has diverged: the loss is no number")]
    Diverged,
    /// Judging failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A policy that is learned from or played against failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl Hint for LearnError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            LearnError::Unfit { what, .. } | LearnError::Settings(what) => what.hint(),
            LearnError::Measure(error) => error.hint(),
            LearnError::Policy(error) => error.hint(),
            LearnError::Diverged => Some("lower the learning rate".into()),
            LearnError::Read { .. } | LearnError::Write { .. } => None,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            LearnError::Measure(error) => error.kind(),
            LearnError::Policy(error) => error.kind(),
            LearnError::Diverged | LearnError::Write { .. } => Kind::Failure,
            LearnError::Read { .. } | LearnError::Unfit { .. } | LearnError::Settings(_) => {
                Kind::Input
            }
        }
    }
}

impl LearnError {
    pub(super) fn read(path: &Path, error: std::io::Error) -> LearnError {
        LearnError::Read { path: path.to_path_buf(), error }
    }

    pub(super) fn write(path: &Path, error: std::io::Error) -> LearnError {
        LearnError::Write { path: path.to_path_buf(), error }
    }
}
