//! Errors of measuring.

use std::borrow::Cow;

use yomikiri::hint::{Hint, Hinted, Kind};
use yomikiri::table::TableError;

/// Error while measuring policies.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The table is damaged.
    #[error("{0}")]
    Damaged(Hinted),
    /// The values of positions are unavailable.
    #[error("{0}")]
    Labels(Hinted),
    /// The positions cannot be judged.
    #[error("{0}")]
    Positions(Hinted),
    /// A file is damaged, or cannot be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A policy failed.
    #[error("policy '{policy}': {error}")]
    Policy {
        /// Name of the policy.
        policy: String,
        /// Cause of the failure.
        error: Hinted,
    },
}

impl MeasureError {
    /// Returns the error of an inconsistent table.
    pub fn damaged(what: String) -> MeasureError {
        MeasureError::Damaged(what.into())
    }
}

impl From<MeasureError> for Hinted {
    fn from(error: MeasureError) -> Hinted {
        Hinted::of(&error)
    }
}

impl Hint for MeasureError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            MeasureError::Damaged(what)
            | MeasureError::Labels(what)
            | MeasureError::Positions(what) => what.hint(),
            MeasureError::Table(error) => error.hint(),
            MeasureError::Policy { error, .. } => error.hint(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            MeasureError::Damaged(_) => Kind::Damaged,
            MeasureError::Table(error) => error.kind(),
            MeasureError::Labels(what) | MeasureError::Positions(what) => what.kind(),
            MeasureError::Policy { error, .. } => error.kind(),
        }
    }
}
