//! How to solve a table.

use std::time::Duration;

use super::sweep::{Order, SweepError};
use crate::game::{Empties, Score};
use crate::table::{CHECKPOINT_AFTER, Table};

/// How to sweep, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// In which order.
    pub order: Order,
    /// Stop after a sweep whose residual is below this.
    pub theta: f64,
    /// What empty squares count for at the end.
    pub empties: Empties,
    /// γ, for discounted values; without, values are exact.
    pub discount: Option<f64>,
    /// The largest score the game can end with.
    pub max_score: Score,
    /// Secure the work when it has gone on for this long since it last was; usually
    /// [`CHECKPOINT_AFTER`](crate::table::CHECKPOINT_AFTER). No influence on any value.
    pub checkpoint_after: Duration,
}

impl Method {
    /// How the commands solve unless told otherwise: exactly, in topological order, θ 0.01, squares
    /// left empty counting for nobody.
    pub fn exact(max_score: Score) -> Method {
        Method {
            order: Order::Topological,
            theta: 0.01,
            empties: Empties::Uncounted,
            discount: None,
            max_score,
            checkpoint_after: CHECKPOINT_AFTER,
        }
    }

    pub(super) fn check(&self, table: &Table) -> Result<(), SweepError> {
        let refuse = |why: String| Err(SweepError::Options(why));
        if !(self.theta > 0.0 && self.theta.is_finite()) {
            return refuse(format!("theta {} must be above 0", self.theta));
        }
        match self.discount {
            None if self.theta >= 1.0 => refuse(format!(
                "theta {} could stop before the values are exact, since they change by whole discs and plies; give a number below 1, or a --discount",
                self.theta
            )),
            Some(discount) if !(discount > 0.0 && discount <= 1.0) => {
                refuse(format!("discount {discount} must be above 0 and at most 1"))
            }
            Some(_) if !table.manifest().complete => refuse(
                "the table has a frontier, whose values are not known; discounted values need a complete table (leave --max-depth and --max-states out)".to_string(),
            ),
            _ => Ok(()),
        }
    }

    /// What a scratch must have been made for to be gone on with.
    pub(super) fn identity(&self, table: &Table) -> String {
        let targets = table.manifest().arrays.get("edge_targets").map(|a| a.crc32.clone());
        let Method { order, theta, empties, discount, .. } = self;
        format!("{order:?} {theta} {empties:?} {discount:?} {targets:?}")
    }
}
