//! What can be wrong with a policy that comes from outside.

use super::{PolicySpecError, WeightsError};

/// A policy that cannot answer, or whose answer makes no sense; one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PolicyError {
    what: String,
    is_failure: bool,
}

impl PolicyError {
    /// What is wrong, where, and what would be right.
    pub fn new(what: impl Into<String>) -> PolicyError {
        PolicyError { what: what.into(), is_failure: false }
    }

    /// The same as the failure of a policy at its work, not of what names or describes it.
    pub fn failed(self) -> PolicyError {
        PolicyError { is_failure: true, ..self }
    }

    /// The same in other words.
    pub fn map(self, words: impl FnOnce(String) -> String) -> PolicyError {
        PolicyError { what: words(self.what), ..self }
    }

    /// Whether a policy failed at its work.
    pub fn is_failure(&self) -> bool {
        self.is_failure
    }
}

impl From<String> for PolicyError {
    fn from(what: String) -> PolicyError {
        PolicyError::new(what)
    }
}

impl From<WeightsError> for PolicyError {
    fn from(error: WeightsError) -> PolicyError {
        PolicyError::new(error.to_string())
    }
}

impl From<PolicySpecError> for PolicyError {
    fn from(error: PolicySpecError) -> PolicyError {
        PolicyError::new(error.to_string())
    }
}
