//! Changes of a report against an earlier one.

use std::collections::BTreeMap;

use serde::Serialize;

/// Changes of a report's policies against an earlier report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Name of the earlier report's file.
    pub file: String,
    /// Changes of each policy, in the order of the report; `None` if the earlier report has no such policy, or
    /// measured it in other positions.
    pub policies: Vec<Option<PolicyChanges>>,
}

/// Changes of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PolicyChanges {
    /// Name of the policy in the earlier report.
    pub earlier: String,
    /// Figures now minus figures then, by the names of `--metrics`.
    pub metrics: BTreeMap<String, f64>,
    /// Result kept in decisive positions, by layer, or by plies to the end without layers; only groups in which
    /// it changed.
    pub groups: Vec<GroupChange>,
    /// Positions among the costliest mistakes of the report that were not among those of the earlier one.
    pub new_mistakes: Vec<String>,
    /// Positions among the costliest mistakes of the earlier report that are not among those of the report.
    pub gone_mistakes: Vec<String>,
}

/// Change of the result kept in a group of positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GroupChange {
    /// Layer, or plies to the end.
    pub group: i32,
    /// Number of decisive positions.
    pub positions: u64,
    /// Result kept in the earlier report.
    pub before: f64,
    /// Result kept in the report.
    pub now: f64,
}
