//! Networks that learn: from solved tables, and by playing.
//!
//! * [`network`]: what networks are built of, and what they answer, with its `convolution`; [`equivariance`]:
//!   how they are made to answer all images of a position alike; [`optimiser`] and [`trainer`]: steps along
//!   a gradient, shared among threads;
//! * [`features`]: positions as numbers;
//! * [`card`]: trained networks as files; [`onnx`]: the same for use elsewhere;
//! * [`player`]: a trained network as a policy;
//! * [`minishogi`]: what a value network for minishogi sees and learns from, and how it plays;
//! * [`recipes`]: the ways of learning; [`course`]: what they have in common: rounds, checkpoints, a
//!   history of what was measured.
//!
//! The same settings give the same weights, with any number of threads, on machines whose processors
//! round alike. `docs/learned.md` says where each recipe comes from and what it reaches.

pub mod card;
pub mod chance;
mod convolution;
pub mod course;
pub mod equivariance;
pub mod features;
pub mod minishogi;
pub mod network;
pub mod onnx;
pub mod optimiser;
pub mod player;
pub mod recipes;
pub mod trainer;

use std::path::{Path, PathBuf};

use crate::evaluate::MeasureError;
use crate::policy::PolicyError;

/// What goes wrong with learning or with learned networks.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not what it should be, or not for this.
    #[error("{} {what}", path.display())]
    Unfit {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What is asked for makes no sense.
    #[error("{0}")]
    Settings(String),
    /// Calculating failed.
    #[error("training failed: {0}")]
    Tensor(#[from] candle_core::Error),
    /// Judging failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A policy that is learned from or played against failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl LearnError {
    pub(super) fn read(path: &Path, source: std::io::Error) -> LearnError {
        LearnError::Read { path: path.to_path_buf(), source }
    }

    pub(super) fn write(path: &Path, source: std::io::Error) -> LearnError {
        LearnError::Write { path: path.to_path_buf(), source }
    }

    /// Whether the cause is what we were given, and not a failure on our side.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, LearnError::Tensor(_) | LearnError::Measure(_) | LearnError::Write { .. })
    }
}
