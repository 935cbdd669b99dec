//! Play between policies on a solved table, exactly: by dynamic programming over all positions.
//!
//! A policy is given as its moves' probabilities, one an edge of the [`Unfolded`] table. How often
//! a game between two of them comes to a position, and how it ends, is computed forwards from the
//! roots; the best response to one of them backwards, the responder taking the best move
//! ([`best_response`](Play::best_response)). Nothing is drawn at random.
//!
//! Where play may go on for ever, a game that is not over after [`Play::PLIES`] plies counts as one
//! that does. Policies see a position and not how often it was there: no position is counted, and a
//! game is no draw because one comes back, but because it goes on coming back.

use serde::Serialize;

use super::source::Truth;
use super::unfolded::Unfolded;
use crate::policy::share_best;
use yomikiri::game::{Outcome, Repetition, Side};
use yomikiri::parallel::{self, GRAIN};
use yomikiri::solve::Value;
use yomikiri::solved::SolvedTable;

/// What a game comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Expected {
    /// Probability of a win.
    pub win: f64,
    /// Probability of a draw.
    pub draw: f64,
    /// Probability of a loss.
    pub loss: f64,
    /// Expected final score.
    pub score: f64,
    /// Probability that it is not over after [`Play::PLIES`] plies and counts as play without end,
    /// as which it is among the others; 0 where games end.
    pub endless: f64,
}

impl Expected {
    fn of_end(outcome: Outcome, score: f64) -> Expected {
        let is = |other| if outcome == other { 1.0 } else { 0.0 };
        let [win, draw, loss] = [Outcome::Win, Outcome::Draw, Outcome::Loss].map(is);
        Expected { win, draw, loss, score, endless: 0.0 }
    }

    /// Adds another with a weight.
    pub fn add(&mut self, other: &Expected, weight: f64) {
        self.win += weight * other.win;
        self.draw += weight * other.draw;
        self.loss += weight * other.loss;
        self.score += weight * other.score;
        self.endless += weight * other.endless;
    }

    /// The same for the other player.
    pub fn reversed(&self) -> Expected {
        Expected { win: self.loss, loss: self.win, score: -self.score, ..*self }
    }

    /// The expected outcome: a win 1, a draw 0, a loss −1.
    pub fn outcome(&self) -> f64 {
        self.win - self.loss
    }
}

/// How games go.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// How often a game comes to each position; to an end at most once.
    pub visits: Vec<f64>,
    /// The probability that it is not over after [`Play::PLIES`] plies; 0 where games end.
    pub endless: f64,
}

/// Games that are still going on are followed until they are less likely than this, and what changes
/// less does not change: rounding loses as much.
const NEGLIGIBLE: f64 = 1e-15;

/// Games on an unfolded table.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    unfolded: &'a Unfolded,
    table: &'a SolvedTable,
}

impl<'a> Play<'a> {
    /// After how many plies a game that may go on for ever is taken to do so.
    pub const PLIES: u32 = 512;

    /// Games on a table that was unfolded.
    pub fn new(unfolded: &'a Unfolded, table: &'a SolvedTable) -> Play<'a> {
        Play { unfolded, table }
    }

    /// The table.
    pub fn table(&self) -> &'a SolvedTable {
        self.table
    }

    fn value(&self, at: usize) -> Value {
        self.table.value(self.unfolded.row(at))
    }

    /// The positions.
    pub fn unfolded(&self) -> &'a Unfolded {
        self.unfolded
    }

    /// The value of a position for its mover.
    pub fn truth(&self, at: usize) -> Option<Truth> {
        Truth::of(self.value(at), self.table.has_scores())
    }

    /// The value of an edge for who moves along it.
    pub fn move_truth(&self, edge: usize) -> Option<Truth> {
        let value = self.value(self.unfolded.target(edge)).before();
        Truth::of(value, self.table.has_scores())
    }

    /// The uniform policy.
    pub fn random(&self) -> Vec<f64> {
        self.by_position(|edges, out| out.fill(1.0 / edges.len() as f64))
    }

    /// The table's best moves, as [`Player::Perfect`](super::Player::Perfect) shares them.
    pub fn perfect(&self) -> Vec<f64> {
        self.by_position(|edges, out| {
            let ranks: Vec<Option<i64>> =
                edges.map(|edge| self.move_truth(edge).map(|truth| truth.rank)).collect();
            share_best(&ranks, out);
        })
    }

    fn by_position(&self, fill: impl Fn(std::ops::Range<usize>, &mut [f64])) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.unfolded.edges()];
        for at in 0..self.unfolded.positions() {
            let edges = self.unfolded.edges_of(at);
            if !edges.is_empty() {
                fill(edges.clone(), &mut probabilities[edges]);
            }
        }
        probabilities
    }

    /// What games come to, for the first player.
    pub fn result(&self, walk: &Walk) -> Expected {
        let mut expected = Expected::default();
        for (at, &visits) in walk.visits.iter().enumerate().filter(|(_, visits)| **visits > 0.0) {
            if self.unfolded.edges_of(at).is_empty() {
                expected.add(&self.end(at), visits);
            }
        }
        if walk.endless > 0.0 {
            expected.add(&self.without_end(), walk.endless);
        }
        expected
    }

    /// After how many plies a game is taken to go on for ever; `None` where games end.
    pub fn most_plies(&self) -> Option<u32> {
        self.unfolded.layers().is_empty().then_some(Play::PLIES)
    }

    /// What play without end counts as, for the first player.
    pub(super) fn without_end(&self) -> Expected {
        let counted = match self.table.values().repetition() {
            Repetition::SecondPlayerWins => Expected::of_end(Outcome::Loss, -1.0),
            Repetition::Draw | Repetition::Unknown => Expected::of_end(Outcome::Draw, 0.0),
        };
        Expected { endless: 1.0, ..counted }
    }

    /// How a game has ended, for the first player.
    pub(super) fn end(&self, at: usize) -> Expected {
        let value = self.value(at).lower;
        let own = Expected::of_end(value.outcome(), f64::from(value.score().0));
        match self.unfolded.side(at) {
            Side::First => own,
            Side::Second => own.reversed(),
        }
    }

    /// How games between two policies go that begin in some positions with probabilities.
    pub fn walk(&self, first: &[f64], second: &[f64], from: &[(usize, f64)]) -> Walk {
        match self.most_plies() {
            Some(plies) => self.walk_by_plies([first, second], from, plies),
            None => self.walk_by_layers([first, second], from),
        }
    }

    fn walk_by_layers(&self, policies: [&[f64]; 2], from: &[(usize, f64)]) -> Walk {
        let mut visits = vec![0.0; self.unfolded.positions()];
        from.iter().for_each(|&(at, p)| visits[at] += p);
        self.in_order().for_each(|at| {
            let met = visits[at];
            if met > 0.0 {
                let policy = policies[self.unfolded.side(at).index()];
                for edge in self.unfolded.edges_of(at) {
                    visits[self.unfolded.target(edge)] += met * policy[edge];
                }
            }
        });
        Walk { visits, endless: 0.0 }
    }

    /// The positions of a layered game, each after all those with a move to it.
    pub(super) fn in_order(&self) -> impl DoubleEndedIterator<Item = usize> {
        let unfolded = self.unfolded;
        unfolded.layers().iter().flat_map(move |layer| {
            // A pass leads to a position of the same layer that is none: those come first.
            [true, false].into_iter().flat_map(move |passes| {
                layer.clone().filter(move |&at| unfolded.is_pass(at, layer) == passes)
            })
        })
    }

    fn walk_by_plies(&self, policies: [&[f64]; 2], from: &[(usize, f64)], plies: u32) -> Walk {
        let none = vec![0.0; self.unfolded.positions()];
        let mut walk = Walk { visits: none.clone(), endless: 0.0 };
        // Where games are now with which probability, and after the next ply.
        let (mut now, mut next) = (none.clone(), none);
        let (mut places, mut places_next) = (Vec::new(), Vec::new());
        let reach = |at: usize, p: f64, all: &mut [f64], places: &mut Vec<usize>| {
            if all[at] == 0.0 {
                places.push(at);
            }
            all[at] += p;
        };
        from.iter().for_each(|&(at, p)| reach(at, p, &mut now, &mut places));
        for ply in 0..=plies {
            let mut going_on = 0.0;
            for at in places.drain(..) {
                let p = std::mem::take(&mut now[at]);
                let edges = self.unfolded.edges_of(at);
                going_on += if edges.is_empty() { 0.0 } else { p };
                if ply == plies && !edges.is_empty() {
                    continue;
                }
                walk.visits[at] += p;
                let policy = policies[self.unfolded.side(at).index()];
                for edge in edges.filter(|&edge| policy[edge] > 0.0) {
                    let target = self.unfolded.target(edge);
                    reach(target, p * policy[edge], &mut next, &mut places_next);
                }
            }
            if going_on < NEGLIGIBLE {
                break;
            }
            if ply == plies {
                walk.endless = going_on;
            }
            std::mem::swap(&mut now, &mut next);
            std::mem::swap(&mut places, &mut places_next);
            if places.len() > now.len() / 16 {
                // Many are faster to go through as they lie in memory.
                places.clear();
                places.extend((0..now.len()).filter(|&at| now[at] > 0.0));
            }
        }
        walk
    }

    /// To which positions games may come, a policy of `None` making any move.
    pub fn reached(&self, policies: [Option<&[f64]>; 2]) -> Vec<bool> {
        let mut reached = vec![false; self.unfolded.positions()];
        let made = |at: usize| {
            let policy = policies[self.unfolded.side(at).index()];
            let edges = self.unfolded.edges_of(at);
            edges.filter(move |&edge| policy.is_none_or(|policy| policy[edge] > 0.0))
        };
        let mut waiting = self.unfolded.roots().to_vec();
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut reached[at], true) {
                continue;
            }
            waiting.extend(made(at).map(|edge| self.unfolded.target(edge)));
        }
        reached
    }

    /// Where games begin: every root with the same probability.
    pub fn start(&self) -> Vec<(usize, f64)> {
        let roots = self.unfolded.roots();
        roots.iter().map(|&root| (root, 1.0 / roots.len() as f64)).collect()
    }

    /// Where games are after so many plies at random; a game that is over stays where it is.
    pub fn after_random_plies(&self, plies: u32) -> Vec<(usize, f64)> {
        let mut now: std::collections::BTreeMap<usize, f64> = self.start().into_iter().collect();
        for _ in 0..plies {
            let mut next = std::collections::BTreeMap::new();
            for (at, p) in now {
                let edges = self.unfolded.edges_of(at);
                if edges.is_empty() {
                    *next.entry(at).or_default() += p;
                }
                let share = p / edges.len().max(1) as f64;
                for edge in edges {
                    *next.entry(self.unfolded.target(edge)).or_default() += share;
                }
            }
            now = next;
        }
        now.into_iter().collect()
    }
}

/// What a best response is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
