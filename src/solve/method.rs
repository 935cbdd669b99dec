//! How to solve a table.

use std::time::Duration;

use super::sweep::{Order, SweepError};
use crate::game::{Empties, Game, Repetition, Score};
use crate::hint::Hinted;
use crate::table::{
    CHECKPOINT_AFTER, NoRoom, Solution, SweepRecord, Table, fits_memory, room_in_memory,
};

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
    /// The algorithm; games with cycles.
    pub algorithm: Option<Algorithm>,
    /// What play without end counts as; games with cycles.
    pub repetition: Option<Repetition>,
    /// Secure the work when it has gone on for this long since it last was; layered games. No
    /// influence on any value.
    pub checkpoint_after: Option<Duration>,
    /// Take no more bytes of memory than about this: what is needed beyond it lies in files that are
    /// mapped; layered games. No influence on any value.
    pub max_memory: Option<u64>,
}

impl SolveOptions {
    /// The first option given that means nothing for a game, if there is one.
    pub(super) fn unfit<G: Game>(&self, game: &G) -> Option<&'static str> {
        let (layered, scored) = (game.layers().is_some(), game.max_score().is_some());
        let options = [
            (self.order.is_some(), self.order.unwrap_or_default().option(), layered),
            (self.theta.is_some(), "--theta", layered),
            (self.empties.is_some(), "--empties", layered && scored),
            (self.discount.is_some(), "--discount", layered),
            (self.algorithm.is_some(), self.algorithm.unwrap_or_default().option(), !layered),
            (self.repetition.is_some(), "--repetition", !layered),
        ];
        options.into_iter().find(|(given, _, fits)| *given && !fits).map(|(_, name, _)| name)
    }
}

/// How the table of a layered game is solved: how to sweep, and when to stop.
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
    /// The largest score the game can end with; 1 where it has none.
    pub max_score: Score,
    /// Whether the game has scores.
    pub has_scores: bool,
    /// What the score counts, in the singular.
    pub score_unit: &'static str,
    /// Secure the work when it has gone on for this long since it last was; usually
    /// [`CHECKPOINT_AFTER`](crate::table::CHECKPOINT_AFTER). No influence on any value.
    pub checkpoint_after: Duration,
    /// Take no more bytes of memory than about this. No influence on any value.
    pub max_memory: Option<u64>,
}

impl SolveOptions {
    /// The same in no more memory than there is, or what does not fit: by layers, what does not lies
    /// in files.
    pub fn within_room<G: Game>(self, game: &G, table: &Table) -> Result<SolveOptions, NoRoom> {
        if game.layers().is_some() && self.order.unwrap_or_default() == Order::Topological {
            return Ok(SolveOptions { max_memory: room_in_memory(self.max_memory), ..self });
        }
        let states = table.manifest().counts.table.states as f64;
        fits_memory(2e8 + states * 16.0, self.max_memory).map(|()| self)
    }
}

impl Method {
    /// How the commands solve unless told otherwise: exactly, in topological order, θ 0.01, squares
    /// left empty counting for nobody.
    pub fn exact<G: Game>(game: &G) -> Method {
        Method {
            order: Order::Topological,
            theta: 0.01,
            empties: Empties::Uncounted,
            discount: None,
            max_score: game.max_score().unwrap_or(Score(1)),
            has_scores: game.max_score().is_some(),
            score_unit: game.score_unit(),
            checkpoint_after: CHECKPOINT_AFTER,
            max_memory: None,
        }
    }

    /// What empty squares count for, where there are scores.
    pub(super) fn empties_name(&self) -> Option<&'static str> {
        self.has_scores.then(|| self.empties.name())
    }

    pub(super) fn check(&self, table: &Table) -> Result<(), SweepError> {
        let refuse = |why: Hinted| Err(SweepError::Options(why));
        if !(self.theta > 0.0 && self.theta.is_finite()) {
            return refuse(format!("theta {} must be above 0", self.theta).into());
        }
        match self.discount {
            None if self.theta >= 1.0 => refuse(Hinted::new(
                format!(
                    "theta {} could stop before the values are exact, since they change by whole points and plies",
                    self.theta
                ),
                "give a number below 1, or a --discount",
            )),
            Some(discount) if !(discount > 0.0 && discount <= 1.0) => {
                refuse(format!("discount {discount} must be above 0 and at most 1").into())
            }
            Some(_) if !table.manifest().complete => refuse(Hinted::new(
                "the table has a frontier, whose values are not known",
                "discounted values need a complete table (leave --max-depth and --max-states out)",
            )),
            _ if self.order == Order::Policies && !table.manifest().complete => {
                refuse(Hinted::new(
                    "the table has a frontier, where no policy has a value",
                    "--method policy-iteration needs a complete table (leave --max-depth and --max-states out)",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Identifies an interrupted run: its saved values are used only if this text is the same.
    pub(super) fn identity(&self, table: &Table) -> String {
        let arrays = ["edge_targets", "keys"].map(|name| table.manifest().arrays.get(name));
        let targets = arrays.into_iter().flatten().next().map(|array| array.crc32.clone());
        let Method { order, theta, empties, discount, .. } = self;
        format!("{order:?} {theta} {empties:?} {discount:?} {targets:?}")
    }

    /// The sweeps of a solution that the table has already, computed by the same method.
    pub(super) fn already_there(&self, table: &Table) -> Option<Vec<SweepRecord>> {
        let manifest = table.manifest();
        let same = |empties: Option<&str>, order: Option<&str>, theta: Option<f64>| {
            empties == self.empties_name()
                && order == Some(self.order.name())
                && theta == Some(self.theta)
        };
        match self.discount {
            Some(discount) => manifest
                .discounted
                .as_ref()
                .filter(|d| d.discount == discount)
                .filter(|d| same(d.empties.as_deref(), Some(&d.order), Some(d.theta)))
                .map(|d| d.sweeps.clone()),
            None => manifest
                .solution
                .as_ref()
                .filter(|s| same(s.empties.as_deref(), s.order.as_deref(), s.theta))
                .map(|s| s.sweeps.clone()),
        }
    }

    /// The record of a solution by this method, its counts and roots left open.
    pub(super) fn solution(&self, sweeps: &[SweepRecord]) -> Solution {
        Solution {
            empties: self.empties_name().map(str::to_string),
            order: Some(self.order.name().to_string()),
            theta: Some(self.theta),
            residual_unit: format!(
                "{}s of score or plies of distance, whichever changed more",
                self.score_unit
            ),
            sweeps: sweeps.to_vec(),
            ..Solution::default()
        }
    }
}

/// How a game with cycles is solved; both algorithms give the same values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Backwards from the ends.
    #[default]
    Retrograde,
    /// Sweeps over all undecided states.
    ValueIteration,
}

impl Algorithm {
    /// `retrograde` or `value-iteration`.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Retrograde => "retrograde",
            Algorithm::ValueIteration => "value-iteration",
        }
    }

    /// The option that asks for it.
    fn option(self) -> &'static str {
        match self {
            Algorithm::Retrograde => "--method retrograde",
            Algorithm::ValueIteration => "--method value-iteration",
        }
    }
}

/// How the table of a game with cycles is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CyclicMethod {
    /// By which algorithm.
    pub algorithm: Algorithm,
    /// What play without end counts as.
    pub repetition: Repetition,
}

impl CyclicMethod {
    pub(super) fn check<G: Game>(self, game: &G, table: &Table) -> Result<(), SweepError> {
        let identity = &table.manifest().identity;
        if self.repetition == Repetition::SecondPlayerWins && identity.sides.is_none() {
            return Err(SweepError::Options(Hinted::new(
                format!(
                    "--repetition second-player-wins needs to know whose move it is, which the states of {} do not keep",
                    table.name()
                ),
                "give draw or unknown",
            )));
        }
        if identity.checks_only && self.repetition != Repetition::Unknown {
            return Err(SweepError::Options(Hinted::new(
                format!(
                    "{} was enumerated with --checks-only: the player who gives checks has moves that were not followed, so what play without end counts as is unknown",
                    table.name()
                ),
                "leave --repetition out",
            )));
        }
        if identity.is_by_rank()
            && self.algorithm == Algorithm::Retrograde
            && !game.has_predecessors()
        {
            return Err(SweepError::Options(Hinted::new(
                format!(
                    "{} gives no predecessors, which --method retrograde needs where moves are not stored",
                    game.name()
                ),
                "leave it out, or enumerate with --index keys",
            )));
        }
        Ok(())
    }

    /// What an interrupted computation must have been of to be gone on with.
    pub(super) fn identity(self, table: &Table) -> String {
        let arrays = ["reachable", "keys", "edge_targets"];
        let sums = arrays.map(|name| table.manifest().arrays.get(name).map(|array| &array.crc32));
        format!("{self:?} {sums:?}")
    }

    /// The sweeps of a solution that the table has already, computed in this way.
    pub(super) fn already_there(self, table: &Table) -> Option<Vec<SweepRecord>> {
        let solution = table.manifest().solution.as_ref()?;
        let same = solution.method.as_deref() == Some(self.algorithm.name())
            && solution.repetition.as_deref() == Some(self.repetition.name());
        same.then(|| solution.sweeps.clone())
    }

    /// The record of a solution in this way, its counts and roots left open.
    pub(super) fn solution(self, sweeps: &[SweepRecord]) -> Solution {
        Solution {
            residual_unit: "plies of distance; 1 for any other change".to_string(),
            sweeps: sweeps.to_vec(),
            method: Some(self.algorithm.name().to_string()),
            repetition: Some(self.repetition.name().to_string()),
            ..Solution::default()
        }
    }
}
