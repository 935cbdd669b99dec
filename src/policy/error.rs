//! The error of a policy.

use std::borrow::Cow;

use crate::hint::{Hint, Hinted, Kind};

/// Text that names no policy, a policy that cannot answer, or one whose answer makes no sense; one
/// line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PolicyError {
    what: Hinted,
    is_failure: bool,
}

impl PolicyError {
    /// Makes an error of what is wrong, and where.
    pub fn new(what: impl Into<Hinted>) -> PolicyError {
        PolicyError { what: what.into(), is_failure: false }
    }

    /// Appends what would be right.
    pub fn with_hint(self, hint: impl Into<String>) -> PolicyError {
        PolicyError { what: self.what.with_hint(hint), ..self }
    }

    /// The same as the failure of a policy at its work, not of what names or describes it.
    pub fn failed(self) -> PolicyError {
        PolicyError { is_failure: true, ..self }
    }

    /// Rewords the message.
    pub fn map(self, words: impl FnOnce(String) -> String) -> PolicyError {
        PolicyError { what: self.what.map(words), ..self }
    }

    /// Whether a policy failed at its work.
    pub fn is_failure(&self) -> bool {
        self.is_failure
    }
}

impl From<Hinted> for PolicyError {
    fn from(what: Hinted) -> PolicyError {
        PolicyError::new(what)
    }
}

impl From<String> for PolicyError {
    fn from(what: String) -> PolicyError {
        PolicyError::new(what)
    }
}

impl Hint for PolicyError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.what.hint()
    }

    fn kind(&self) -> Kind {
        if self.is_failure { Kind::Policy } else { Kind::Input }
    }
}
