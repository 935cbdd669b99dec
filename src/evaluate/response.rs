//! Best responses to policies: what an opponent reaches who knows them.

use serde::Serialize;

use super::play::Play;
use crate::game::Side;
use crate::parallel::{self, GRAIN};

/// What a best response is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// The expected outcome.
    Outcome,
    /// The expected final score.
    Score,
}

/// A best response to a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// What it reaches from each position, for the responder: outcome (−1 to 1) or score. Where
    /// games may go on for ever only positions that it may come to are told.
    pub values: Vec<f64>,
    /// The edge it takes in each position in which the responder is to move; elsewhere, and at the
    /// end of a game, `u32::MAX`.
    pub choices: Vec<u32>,
}

/// By how much a move must be better for a response to change its mind, where it weighs its moves
/// again ply by ply: rounding is no reason.
const BETTER: f64 = 1e-12;
/// What changes less does not change: rounding loses as much.
const NEGLIGIBLE: f64 = 1e-15;

impl Play<'_> {
    /// The best response of one side to a policy that the other side plays.
    ///
    /// Where play may go on for ever it may come back to a position as often as it likes, within
    /// [`Play::PLIES`] plies, and wait there for a mistake of a policy that plays at random.
    pub fn best_response(&self, policy: &[f64], responder: Side, aim: Aim) -> Response {
        let one = Against { play: self, policy, responder, aim };
        match self.most_plies() {
            Some(plies) => one.by_plies(plies),
            None => one.by_layers(),
        }
    }
}

/// Whom a response is against, and what it is after.
struct Against<'a> {
    play: &'a Play<'a>,
    policy: &'a [f64],
    responder: Side,
    aim: Aim,
}

impl Against<'_> {
    /// What the response to the moves of a position reaches that is not over, and which one it
    /// takes, if it is to move: among equal ones `kept`, or else the first.
    fn step(&self, at: usize, values: &[f64], kept: u32) -> (f64, u32) {
        let unfolded = self.play.unfolded();
        let edges = unfolded.edges_of(at);
        let value = |edge: usize| values[unfolded.target(edge)];
        if unfolded.side(at) != self.responder {
            let likely = edges.filter(|&edge| self.policy[edge] > 0.0);
            return (likely.map(|edge| self.policy[edge] * value(edge)).sum(), u32::MAX);
        }
        let mut best = (f64::NEG_INFINITY, u32::MAX);
        for edge in edges {
            if value(edge) > best.0 {
                best = (value(edge), edge as u32);
            }
        }
        if kept != u32::MAX && value(kept as usize) > best.0 - BETTER {
            best.1 = kept;
        }
        best
    }

    /// What the end of a game, or its going on for ever, is worth.
    fn end(&self, at: Option<usize>) -> f64 {
        let end = at.map_or_else(|| self.play.without_end(), |at| self.play.end(at));
        let end = if self.responder == Side::First { end } else { end.reversed() };
        match self.aim {
            Aim::Outcome => end.outcome(),
            Aim::Score => end.score,
        }
    }

    /// Layer by layer from the last.
    fn by_layers(&self) -> Response {
        let unfolded = self.play.unfolded();
        let none = (vec![0.0; unfolded.positions()], vec![u32::MAX; unfolded.positions()]);
        let mut response = Response { values: none.0, choices: none.1 };
        self.play.in_order().rev().for_each(|at| {
            (response.values[at], response.choices[at]) = match unfolded.edges_of(at).is_empty() {
                true => (self.end(Some(at)), u32::MAX),
                false => self.step(at, &response.values, u32::MAX),
            };
        });
        response
    }

    /// With ever more plies to go, the sides in turn: a side's positions lead to the other's.
    fn by_plies(&self, plies: u32) -> Response {
        let (play, unfolded) = (self.play, self.play.unfolded());
        let policies = |side| (side != self.responder).then_some(self.policy);
        let reached = play.reached(Side::ALL.map(policies));
        let is_over = |at: usize| unfolded.edges_of(at).is_empty();
        let of = |at: usize| if is_over(at) && reached[at] { Some(at) } else { None };
        let mut response = Response {
            values: (0..unfolded.positions()).map(|at| self.end(of(at))).collect(),
            choices: vec![u32::MAX; unfolded.positions()],
        };
        let open = Side::ALL.map(|side| {
            parallel::select(unfolded.positions(), |at| {
                reached[at] && !is_over(at) && unfolded.side(at) == side
            })
        });
        // The last turn is that of who begins.
        let begins = unfolded.roots().first().map_or(Side::First, |&root| unfolded.side(root));
        let sides = [begins.other(), begins].into_iter().cycle();
        let mut still = 0;
        for side in sides.skip((plies % 2) as usize).take(plies as usize) {
            let open = &open[side.index()];
            let found = parallel::map_ranges(open.len(), GRAIN, &|places| {
                let places = open[places].iter().map(|&at| at as usize);
                let Response { values, choices } = &response;
                let of = |at: usize| (at, self.step(at, values, choices[at]));
                let has_changed = |&(at, (value, choice)): &(usize, (f64, u32))| {
                    (value - values[at]).abs() > NEGLIGIBLE || choice != choices[at]
                };
                places.map(of).filter(has_changed).collect::<Vec<_>>()
            });
            let found = found.concat();
            // Once neither side has changed anything nothing will ever change.
            still = if found.is_empty() { still + 1 } else { 0 };
            for (at, (value, choice)) in found {
                (response.values[at], response.choices[at]) = (value, choice);
            }
            if still == 2 {
                break;
            }
        }
        response
    }
}
