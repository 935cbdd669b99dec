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
    /// The table is damaged, in a known file.
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
    /// The results could not be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
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
            MeasureError::Output(_) => None,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            MeasureError::Damaged(_) | MeasureError::Table(_) => Kind::Damaged,
            MeasureError::Labels(what) | MeasureError::Positions(what) => what.kind(),
            MeasureError::Policy { error, .. } => error.kind(),
            MeasureError::Output(_) => Kind::Failure,
        }
    }
}
