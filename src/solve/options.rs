//! Options and methods of solving a table.

use std::time::Duration;

use crate::error::Error;
use crate::rules::{Empties, Repetition, Rules, Score};
use crate::table::{NoRoom, Solution, SweepRecord, Table, fits_memory};

/// Advice for an option that bounded tables do not allow.
const COMPLETE: &str = "expected a complete table, enumerated without --max-depth and --max-states";

/// Order in which a layered game's states are swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// Layers from the end: one sweep.
    #[default]
    Topological,
    /// All states from the values before the sweep: many sweeps.
    Natural,
    /// Policy iteration: a policy is evaluated and improved in turn.
    Policies,
}

impl RowOrder {
    /// Returns `topological`, `natural` or `policy-iteration`.
    pub fn name(self) -> &'static str {
        match self {
            RowOrder::Topological => "topological",
            RowOrder::Natural => "natural",
            RowOrder::Policies => "policy-iteration",
        }
    }

    /// Returns the command-line option that selects this order.
    pub(super) fn option(self) -> &'static str {
        match self {
            RowOrder::Topological => "--order topological",
            RowOrder::Natural => "--order natural",
            RowOrder::Policies => "--method policy-iteration",
        }
    }
}

/// Options of a solution; the game and the table determine those that are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveOptions {
    /// Order of sweeps; layered games.
    pub order: Option<RowOrder>,
    /// Residual below which sweeping stops; layered games.
    pub theta: Option<f64>,
    /// Counting of empty squares at the end; layered games with scores.
    pub empties: Option<Empties>,
    /// γ, for discounted values; layered games.
    pub discount: Option<f64>,
    /// Value of infinite play; games with cycles.
    pub repetition: Option<Repetition>,
    /// Interval between checkpoints. Does not affect any value.
    pub checkpoint_after: Option<Duration>,
    /// Approximate memory limit in bytes, beyond which mapped files are used; layered games. No effect on
    /// values.
    pub max_memory: Option<u64>,
}

impl SolveOptions {
    /// Returns the first given option that does not apply to a game, if there is one.
    pub(super) fn unfit(&self, game: &dyn Rules) -> Option<&'static str> {
        let (layered, scored) = (game.is_layered(), game.has_scores());
        let options = [
            (self.order.is_some(), self.order.unwrap_or_default().option(), layered),
            (self.theta.is_some(), "--theta", layered),
            (self.empties.is_some(), "--empties", layered && scored && game.has_squares()),
            (self.discount.is_some(), "--discount", layered),
            (self.repetition.is_some(), "--repetition", !layered),
        ];
        options.into_iter().find(|(given, _, fits)| *given && !fits).map(|(_, name, _)| name)
    }

    /// Returns the options with the memory limit (default: the free memory) filled in, or an error if the
    /// table does not fit. In topological order everything fits, because mapped files hold the excess.
    pub fn within_room(self, game: &dyn Rules, table: &Table) -> Result<SolveOptions, NoRoom> {
        if game.is_layered() && self.order.unwrap_or_default() == RowOrder::Topological {
            return Ok(self);
        }
        let states = table.manifest().counts.table.states as f64;
        fits_memory(2e8 + states * 16.0, self.max_memory).map(|()| self)
    }
}

/// Method of solving a table: the options, completed from the game and the table.
pub(super) struct Method {
    /// `true` if the game has layers. Otherwise only `by_rank` and `repetition` apply.
    pub layered: bool,
    pub order: RowOrder,
    pub theta: f64,
    pub empties: Empties,
    /// γ, for discounted values; `None` for exact ones.
    pub discount: Option<f64>,
    /// Largest score that the game can end with; 1 in games without scores.
    pub max_score: Score,
    pub has_scores: bool,
    /// Unit of the score, in the singular.
    score_unit: &'static str,
    /// `true` if rows are found by rank, and (`repetition`) the value of infinite play; games with cycles.
    pub by_rank: bool,
    pub repetition: Repetition,
}

impl Method {
    /// Completes the options. Defaults: exact values, topological order, θ = 0.01, empty squares uncounted.
    pub(super) fn of(game: &dyn Rules, table: &Table, options: &SolveOptions) -> Method {
        Method {
            layered: game.is_layered(),
            order: options.order.unwrap_or_default(),
            theta: options.theta.unwrap_or(0.01),
            empties: options.empties.unwrap_or(Empties::Uncounted),
            discount: options.discount,
            max_score: game.max_score().unwrap_or(Score(1)),
            has_scores: game.has_scores(),
            score_unit: game.score_unit(),
            by_rank: table.manifest().identity.is_by_rank(),
            repetition: options.repetition.unwrap_or(game.repetition()),
        }
    }

    /// Fails if the table cannot be solved by this method.
    pub(super) fn check(&self, table: &Table) -> Result<(), Error> {
        let complete = table.manifest().complete;
        let wrong: Error = match self.layered {
            false => return self.check_cyclic(table),
            true if !(self.theta > 0.0 && self.theta.is_finite()) => {
                format!("invalid theta {}: expected a finite number above 0", self.theta).into()
            }
            true => match self.discount {
                None if self.theta >= 1.0 => Error::new(
                    format!(
                        "invalid theta {}: sweeps could stop before the values are exact",
                        self.theta
                    ),
                    "expected a number below 1, or a --discount",
                ),
                Some(discount) if !(discount > 0.0 && discount <= 1.0) => {
                    format!("invalid discount {discount}: expected a number above 0, at most 1")
                        .into()
                }
                Some(_) if !complete => {
                    Error::new("--discount does not apply to a bounded table", COMPLETE)
                }
                _ if self.order == RowOrder::Policies && !complete => Error::new(
                    "--method policy-iteration does not apply to a bounded table",
                    COMPLETE,
                ),
                _ => return Ok(()),
            },
        };
        Err(wrong)
    }

    fn check_cyclic(&self, table: &Table) -> Result<(), Error> {
        let keeps_sides = table.manifest().identity.sides.is_some();
        if keeps_sides || self.repetition != Repetition::SecondPlayerWins {
            return Ok(());
        }
        Err(Error::new(
            format!(
                "--repetition second-player-wins does not apply: the states of {} do not record the side to move",
                table.name()
            ),
            "expected draw or unknown",
        ))
    }

    /// Returns a text that identifies a run; a checkpoint is resumed only if its text is the same.
    pub(super) fn identity(&self, table: &Table) -> String {
        let arrays = ["reachable", "keys", "edge_targets"];
        let sums = arrays.map(|name| table.manifest().arrays.get(name).map(|array| &array.crc32));
        let Method { order, theta, empties, discount, repetition, .. } = self;
        format!("{order:?} {theta} {empties:?} {discount:?} {repetition:?} {sums:?}")
    }

    /// Returns the sweeps of the table's solution if it was computed by the same method.
    pub(super) fn existing(&self, table: &Table) -> Option<Vec<SweepRecord>> {
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

    /// Returns the record of a solution by this method, without its counts and roots.
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
