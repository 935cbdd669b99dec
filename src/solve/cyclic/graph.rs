//! The graph to be solved, as slices, and what is fixed in it before the first sweep.

use std::ops::Range;

use crate::game::{Outcome, Repetition};
use crate::graph::StateKind;
use crate::parallel;
use crate::solve::value::{Prospect, Value};

const INTERIOR: u8 = StateKind::Interior as u8;
const TERMINAL: u8 = StateKind::Terminal as u8;
const RESTRICTED: u8 = StateKind::Restricted as u8;

/// How the game of a terminal row ended for its mover, and the plies to that end: 0 where it is
/// already over.
pub type GameEnd<'a> = dyn Fn(usize) -> (Outcome, u16) + Sync + 'a;

/// Whether the player to move in a row is the one who did not open the game.
pub type SecondToMove<'a> = dyn Fn(usize) -> bool + Sync + 'a;

/// Where a row's edges lie among the targets.
pub type EdgesOf<'a> = dyn Fn(usize) -> Range<usize> + Sync + 'a;

/// A graph that may have cycles.
///
/// Rows are numbered below 2³². Nothing is copied: the slices may be mapped files.
#[derive(Clone, Copy)]
pub struct CyclicGraph<'a> {
    /// What each row is: 0 interior, 1 terminal, 2 frontier, 3 restricted. One per row.
    pub kinds: &'a [u8],
    /// The edges of rows.
    pub edges_of: &'a EdgesOf<'a>,
    /// The rows that edges lead to. The same one twice is harmless.
    pub edge_targets: &'a [u32],
    /// The ends of terminal rows.
    pub end: &'a GameEnd<'a>,
    /// Who is to move; asked only if the second player wins by repetition. Every edge must then
    /// turn it.
    pub second_to_move: &'a SecondToMove<'a>,
    /// What play without end counts as.
    pub repetition: Repetition,
}

/// A graph that is not what [`CyclicGraph`] asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} {what}")]
pub struct MalformedGraph {
    /// The first row that is wrong.
    pub row: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl CyclicGraph<'_> {
    /// How many rows there are.
    pub fn states(&self) -> usize {
        self.kinds.len()
    }

    /// The rows that a row's edges lead to.
    #[inline]
    pub fn edges(&self, row: usize) -> &[u32] {
        &self.edge_targets[(self.edges_of)(row)]
    }

    /// That the graph can be solved: edges lead to rows, interior rows have edges and finished and
    /// unfollowed ones none, and every edge turns the side to move if that matters. The offsets
    /// must have been checked.
    ///
    /// The solvers rely on it; on a graph that fails it they may panic or not come to an end.
    pub fn check(&self) -> Result<(), MalformedGraph> {
        let wrong = |row| self.fault(row).map(|what| MalformedGraph { row, what });
        parallel::find_map(self.states(), wrong).map_or(Ok(()), Err)
    }

    fn fault(&self, row: usize) -> Option<&'static str> {
        let edges = self.edges(row);
        match self.kinds[row] {
            INTERIOR if edges.is_empty() => return Some("is interior and has no edge"),
            INTERIOR | RESTRICTED => {}
            4.. => return Some("is of no known kind"),
            _ if !edges.is_empty() => return Some("is not interior and has edges"),
            _ => return None,
        }
        if edges.iter().any(|&target| target as usize >= self.states()) {
            return Some("has an edge that leads nowhere");
        }
        if self.repetition == Repetition::SecondPlayerWins {
            let side = (self.second_to_move)(row);
            if edges.iter().any(|&target| (self.second_to_move)(target as usize) == side) {
                return Some("has an edge to a state in which the same player moves");
            }
        }
        None
    }

    /// Whether a row's value comes from its moves.
    #[inline]
    pub(super) fn has_moves(&self, row: usize) -> bool {
        matches!(self.kinds[row], INTERIOR | RESTRICTED) && !self.edges(row).is_empty()
    }

    #[inline]
    pub(super) fn is_restricted(&self, row: usize) -> bool {
        self.kinds[row] == RESTRICTED
    }

    /// Whether lower and upper bounds are the same everywhere: nothing is cut off and play without
    /// end has a value.
    pub(super) fn bounds_coincide(&self) -> bool {
        let cut = |row: usize| (!matches!(self.kinds[row], INTERIOR | TERMINAL)).then_some(row);
        self.repetition != Repetition::Unknown && parallel::find_map(self.states(), cut).is_none()
    }

    /// A row's bounds before the first sweep.
    pub(super) fn at_first<const BOUNDS: usize>(&self, row: usize) -> Bounds<BOUNDS> {
        let cut_off = Value::CUT_OFF;
        let Value { lower, upper } = match self.kinds[row] {
            INTERIOR => self.without_end(row),
            TERMINAL => {
                let (outcome, plies) = (self.end)(row);
                Value::exactly(Prospect::of_end(outcome, plies))
            }
            RESTRICTED if self.edges(row).is_empty() => {
                Value { upper: Prospect::ENDLESS_WIN, ..cut_off }
            }
            RESTRICTED => Value { upper: Prospect::ENDLESS_WIN, ..self.without_end(row) },
            _ => cut_off,
        };
        std::array::from_fn(|bound| if bound == 0 { lower } else { upper })
    }

    fn without_end(&self, row: usize) -> Value {
        match self.repetition {
            Repetition::Draw => Value::exactly(Prospect::DRAW),
            Repetition::SecondPlayerWins if (self.second_to_move)(row) => {
                Value::exactly(Prospect::ENDLESS_WIN)
            }
            Repetition::SecondPlayerWins => Value::exactly(Prospect::ENDLESS_LOSS),
            Repetition::Unknown => {
                Value { lower: Prospect::ENDLESS_LOSS, upper: Prospect::ENDLESS_WIN }
            }
        }
    }
}

/// The bounds kept of a state: lower and upper, or only one of them where they coincide.
///
/// Bound `i` of a state depends on bound `BOUNDS − 1 − i` of its successors.
pub(super) type Bounds<const BOUNDS: usize> = [Prospect; BOUNDS];

/// A graph's values before the first sweep, and what follows from them.
pub(super) struct Start<const BOUNDS: usize> {
    pub values: Vec<Bounds<BOUNDS>>,
    /// After `n` sweeps an end at most `n + lead` plies away is final.
    pub lead: usize,
    /// Draws or endless wins are fixed somewhere and may be better than play without end.
    pub has_endless_goals: bool,
}

impl<const BOUNDS: usize> Start<BOUNDS> {
    pub fn of(graph: &CyclicGraph<'_>) -> Self {
        let values = parallel::column(graph.states(), |row| graph.at_first(row));
        let any_row = |is: &(dyn Fn(u8, Prospect) -> bool + Sync)| {
            let is = |row: usize| is(graph.kinds[row], values[row][0]).then_some(row);
            parallel::find_map(graph.states(), is).is_some()
        };
        // The winner makes the last move: wins are in an odd number of plies, losses in an even.
        let uneven = any_row(&|kind, end| {
            let odd = u16::from(end.outcome() == Outcome::Win);
            kind == TERMINAL && end.distance().is_some_and(|plies| plies % 2 != odd)
        });
        let draws = graph.repetition != Repetition::Draw
            && any_row(&|kind, end| kind == TERMINAL && !end.is_end());
        let restricted = any_row(&|kind, _| kind == RESTRICTED);
        let lead = if uneven { 1 } else { 2 };
        Start { values, lead, has_endless_goals: draws || restricted }
    }
}

/// The values as intervals.
pub(super) fn intervals<const BOUNDS: usize>(values: Vec<Bounds<BOUNDS>>) -> Vec<Value> {
    let interval = |value: Bounds<BOUNDS>| Value { lower: value[0], upper: value[BOUNDS - 1] };
    // Not in parallel: so the vector is reused where the sizes are the same.
    values.into_iter().map(interval).collect()
}
