//! How to solve a table.

use std::time::Duration;

use super::SweepError;
use crate::game::{Empties, Game, GameExt, Repetition, Score};
use crate::hint::Hinted;
use crate::table::{NoRoom, Solution, SweepRecord, Table, fits_memory};

/// In which order a layered game's states are swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Layers from the end: one sweep.
    #[default]
    Topological,
    /// All states from the values before the sweep: many sweeps.
    Natural,
    /// A policy is evaluated and improved in turn: policy iteration.
    Policies,
}

impl Order {
    /// `topological`, `natural` or `policy-iteration`.
    pub fn name(self) -> &'static str {
        match self {
            Order::Topological => "topological",
            Order::Natural => "natural",
            Order::Policies => "policy-iteration",
        }
    }

    /// The option that asks for it.
    pub(super) fn option(self) -> &'static str {
        match self {
            Order::Topological => "--order topological",
            Order::Natural => "--order natural",
            Order::Policies => "--method policy-iteration",
        }
    }
}

/// What is asked of a solution; what is `None` follows from the game and the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveOptions {
    /// The order of sweeps; layered games.
    pub order: Option<Order>,
    /// Stop after a sweep whose residual is below this; layered games.
    pub theta: Option<f64>,
    /// What empty squares count for at the end; layered games with scores.
    pub empties: Option<Empties>,
    /// γ, for discounted values; layered games.
    pub discount: Option<f64>,
    /// What play without end counts as; games with cycles.
    pub repetition: Option<Repetition>,
    /// Save the work when it has gone on for this long since it last was. No influence on any value.
    pub checkpoint_after: Option<Duration>,
    /// Take no more bytes of memory than about this: what is needed beyond it lies in files that are
    /// mapped; layered games. No influence on any value.
    pub max_memory: Option<u64>,
}

impl SolveOptions {
    /// The first option given that means nothing for a game, if there is one.
    pub(super) fn unfit<G: Game>(&self, game: &G) -> Option<&'static str> {
        let (layered, scored) = (game.layers().is_some(), game.scores().is_some());
        let options = [
            (self.order.is_some(), self.order.unwrap_or_default().option(), layered),
            (self.theta.is_some(), "--theta", layered),
            (self.empties.is_some(), "--empties", layered && scored),
            (self.discount.is_some(), "--discount", layered),
            (self.repetition.is_some(), "--repetition", !layered),
        ];
        options.into_iter().find(|(given, _, fits)| *given && !fits).map(|(_, name, _)| name)
    }

    /// Returns the options if the table is expected to be solved in [`max_memory`](Self::max_memory): by
    /// layers always, with files for what does not fit.
    pub fn within_room<G: Game>(self, game: &G, table: &Table) -> Result<SolveOptions, NoRoom> {
        if game.layers().is_some() && self.order.unwrap_or_default() == Order::Topological {
            return Ok(self);
        }
        let states = table.manifest().counts.table.states as f64;
        fits_memory(2e8 + states * 16.0, self.max_memory).map(|()| self)
    }
}

/// How a table is solved: what was asked for, and what follows from the game and the table.
pub(super) struct Method {
    /// Whether the game has layers; all of a layered game but the last of these fields.
    pub layered: bool,
    pub order: Order,
    pub theta: f64,
    pub empties: Empties,
    /// γ, for discounted values; without, values are exact.
    pub discount: Option<f64>,
    /// The largest score the game can end with; 1 where it has none.
    pub max_score: Score,
    pub has_scores: bool,
    /// What the score counts, in the singular.
    score_unit: &'static str,
    /// Whether rows are found by rank, and play without end counts so: of a game with cycles.
    by_rank: bool,
    pub repetition: Repetition,
}

impl Method {
    /// Solves exactly unless told otherwise, in topological order, θ 0.01, squares left empty counting for nobody.
    pub(super) fn of<G: Game>(game: &G, table: &Table, options: &SolveOptions) -> Method {
        let identity = &table.manifest().identity;
        let repetition = match identity.checks_only {
            true => Repetition::Unknown,
            false => game.repetition(),
        };
        Method {
            layered: game.layers().is_some(),
            order: options.order.unwrap_or_default(),
            theta: options.theta.unwrap_or(0.01),
            empties: options.empties.unwrap_or(Empties::Uncounted),
            discount: options.discount,
            max_score: game.scores().map_or(Score(1), |scores| scores.most()),
            has_scores: game.scores().is_some(),
            score_unit: game.scores().map_or("point", |scores| scores.unit()),
            by_rank: identity.is_by_rank(),
            repetition: options.repetition.unwrap_or(repetition),
        }
    }

    /// Fails where the table cannot be solved so.
    pub(super) fn check(&self, table: &Table) -> Result<(), SweepError> {
        let complete = table.manifest().complete;
        let wrong: Hinted = match self.layered {
            false => return self.check_cyclic(table),
            true if !(self.theta > 0.0 && self.theta.is_finite()) => {
                format!("theta {} must be above 0", self.theta).into()
            }
            true => match self.discount {
                None if self.theta >= 1.0 => Hinted::new(
                    format!(
                        "theta {} could stop before the values are exact, since they change by whole points and plies",
                        self.theta
                    ),
                    "give a number below 1, or a --discount",
                ),
                Some(discount) if !(discount > 0.0 && discount <= 1.0) => {
                    format!("discount {discount} must be above 0 and at most 1").into()
                }
                Some(_) if !complete => Hinted::new(
                    "the table has a frontier, whose values are not known",
                    "discounted values need a complete table (leave --max-depth and --max-states out)",
                ),
                _ if self.order == Order::Policies && !complete => Hinted::new(
                    "the table has a frontier, where no policy has a value",
                    "--method policy-iteration needs a complete table (leave --max-depth and --max-states out)",
                ),
                _ => return Ok(()),
            },
        };
        Err(SweepError::Options(wrong))
    }

    fn check_cyclic(&self, table: &Table) -> Result<(), SweepError> {
        let (identity, name) = (&table.manifest().identity, table.name());
        let wrong = if self.repetition == Repetition::SecondPlayerWins && identity.sides.is_none() {
            Hinted::new(
                format!(
                    "--repetition second-player-wins needs to know whose move it is, which the states of {name} do not keep"
                ),
                "give draw or unknown",
            )
        } else if identity.checks_only && self.repetition != Repetition::Unknown {
            Hinted::new(
                format!(
                    "{name} was enumerated with --checks-only: the player who gives checks has moves that were not followed, so what play without end counts as is unknown"
                ),
                "leave --repetition out",
            )
        } else {
            return Ok(());
        };
        Err(SweepError::Options(wrong))
    }

    /// Identifies an interrupted run: what it saved is used only if this text is the same.
    pub(super) fn identity(&self, table: &Table) -> String {
        let arrays = ["reachable", "keys", "edge_targets"];
        let sums = arrays.map(|name| table.manifest().arrays.get(name).map(|array| &array.crc32));
        let Method { order, theta, empties, discount, repetition, .. } = self;
        format!("{order:?} {theta} {empties:?} {discount:?} {repetition:?} {sums:?}")
    }

    /// The sweeps of a solution that the table has already, computed by the same method.
    pub(super) fn already_there(&self, table: &Table) -> Option<Vec<SweepRecord>> {
        let own = self.record(&[]);
        if let Some(discount) = self.discount {
            let found = table.manifest().discounted.as_ref()?;
            let same = found.discount == discount
                && found.empties == own.empties
                && Some(&found.order) == own.order.as_ref()
                && found.theta == self.theta;
            return same.then(|| found.sweeps.clone());
        }
        let found = table.manifest().solution.as_ref()?;
        let same = found.method == own.method
            && found.repetition == own.repetition
            && found.empties == own.empties
            && found.order == own.order
            && found.theta == own.theta;
        same.then(|| found.sweeps.clone())
    }

    /// The record of a solution by this method, its counts and roots left open.
    pub(super) fn record(&self, sweeps: &[SweepRecord]) -> Solution {
        let sweeps = sweeps.to_vec();
        if !self.layered {
            let method = if self.by_rank { "retrograde" } else { "value-iteration" };
            return Solution {
                residual_unit: "plies of distance; 1 for any other change".to_string(),
                sweeps,
                method: Some(method.to_string()),
                repetition: Some(self.repetition.name().to_string()),
                ..Solution::default()
            };
        }
        Solution {
            empties: self.has_scores.then(|| self.empties.name().to_string()),
            order: Some(self.order.name().to_string()),
            theta: Some(self.theta),
            residual_unit: format!(
                "{}s of score or plies of distance, whichever changed more",
                self.score_unit
            ),
            sweeps,
            ..Solution::default()
        }
    }
}
