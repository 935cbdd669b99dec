//! Changes of a report against an earlier one.

use serde::Serialize;

use super::comparison::Comparison;

/// Changes of a report's policies against an earlier report on the same positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Name of the earlier report's file.
    pub file: String,
    /// Changes of each policy, in the order of the report; `None` if the earlier report has no policy of this name,
    /// or has held-out figures of other positions.
    pub policies: Vec<Option<Comparison>>,
}
