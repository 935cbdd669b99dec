//! Play between policies on a solved table, exactly: by dynamic programming over all positions.
//!
//! A policy is given as its moves' probabilities, one an edge of the [`Unfolded`] table. What a
//! game between two of them comes to is computed backwards from the ends, how often they meet a
//! position forwards from the roots, and the best response to one of them backwards again, the
//! responder taking the best move. Nothing is drawn at random.

use serde::Serialize;

use super::figures::outcome_lost;
use super::truth::Truth;
use super::unfolded::Unfolded;
use crate::game::{Outcome, Side};
use crate::parallel::{self, GRAIN};
use crate::policy::share_best;
use crate::solve::Value;
use crate::solved::SolvedTable;

/// What a game comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// Probability of a win.
    pub win: f64,
    /// Probability of a draw.
    pub draw: f64,
    /// Probability of a loss.
    pub loss: f64,
    /// Expected final score.
    pub score: f64,
}

impl Expected {
    fn of_end(outcome: Outcome, score: f64) -> Expected {
        let is = |other| if outcome == other { 1.0 } else { 0.0 };
        Expected { win: is(Outcome::Win), draw: is(Outcome::Draw), loss: is(Outcome::Loss), score }
    }

    /// Adds another with a weight.
    pub fn add(&mut self, other: &Expected, weight: f64) {
        self.win += weight * other.win;
        self.draw += weight * other.draw;
        self.loss += weight * other.loss;
        self.score += weight * other.score;
    }

    /// The same for the other player.
    pub fn reversed(&self) -> Expected {
        Expected { win: self.loss, draw: self.draw, loss: self.win, score: -self.score }
    }

    /// The expected outcome: a win 1, a draw 0, a loss −1.
    pub fn outcome(&self) -> f64 {
        self.win - self.loss
    }
}

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
    /// What it reaches from each position, for the responder: outcome (−1 to 1) or score.
    pub values: Vec<f64>,
    /// The edge it takes in each position in which the responder is to move; elsewhere, and at the
    /// end of a game, `u32::MAX`.
    pub choices: Vec<u32>,
}

/// Games on an unfolded table.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    unfolded: &'a Unfolded,
    table: &'a SolvedTable,
}

impl<'a> Play<'a> {
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

    /// What games between two policies come to from every position, for the first player.
    pub fn games(&self, first: &[f64], second: &[f64]) -> Vec<Expected> {
        self.backwards(Expected::default(), |at, values| {
            let edges = self.unfolded.edges_of(at);
            if edges.is_empty() {
                return self.end(at);
            }
            let policy = match self.unfolded.side(at) {
                Side::First => first,
                Side::Second => second,
            };
            let mut expected = Expected::default();
            for edge in edges.filter(|&edge| policy[edge] > 0.0) {
                expected.add(&values[self.unfolded.target(edge)], policy[edge]);
            }
            expected
        })
    }

    /// How a game has ended, for the first player.
    fn end(&self, at: usize) -> Expected {
        let value = self.value(at).lower;
        let own = Expected::of_end(value.outcome(), f64::from(value.score().0));
        match self.unfolded.side(at) {
            Side::First => own,
            Side::Second => own.reversed(),
        }
    }

    /// The best response of one side to a policy that the other side plays.
    pub fn best_response(&self, policy: &[f64], responder: Side, aim: Aim) -> Response {
        let pairs = self.backwards((0.0, u32::MAX), |at, values: &[(f64, u32)]| {
            let edges = self.unfolded.edges_of(at);
            if edges.is_empty() {
                let end = match responder {
                    Side::First => self.end(at),
                    Side::Second => self.end(at).reversed(),
                };
                let value = match aim {
                    Aim::Outcome => end.outcome(),
                    Aim::Score => end.score,
                };
                return (value, u32::MAX);
            }
            let value = |edge: usize| values[self.unfolded.target(edge)].0;
            if self.unfolded.side(at) == responder {
                let mut best = (f64::NEG_INFINITY, u32::MAX);
                for edge in edges {
                    if value(edge) > best.0 {
                        best = (value(edge), edge as u32);
                    }
                }
                return best;
            }
            let likely = edges.filter(|&edge| policy[edge] > 0.0);
            (likely.map(|edge| policy[edge] * value(edge)).sum(), u32::MAX)
        });
        let (values, choices) = pairs.into_iter().unzip();
        Response { values, choices }
    }

    /// Computes something of every position from that of its successors, layer by layer from the
    /// last.
    fn backwards<T: Copy + Send + Sync>(
        &self,
        empty: T,
        of: impl Fn(usize, &[T]) -> T + Sync,
    ) -> Vec<T> {
        let mut values = vec![empty; self.unfolded.positions()];
        for layer in self.unfolded.layers().iter().rev() {
            // A pass leads to a position of the same layer that is none: those come first.
            for passes in [false, true] {
                let is_of_kind = |at: &usize| self.unfolded.is_pass(*at, layer) == passes;
                let found = parallel::map_ranges(layer.len(), GRAIN, &|places| {
                    let places = places.map(|place| layer.start + place).filter(is_of_kind);
                    places.map(|at| (at, of(at, &values))).collect::<Vec<(usize, T)>>()
                });
                found.into_iter().flatten().for_each(|(at, value)| values[at] = value);
            }
        }
        values
    }

    /// With which probability a game between two policies comes to each position, beginning in some
    /// with probabilities.
    pub fn visits(&self, first: &[f64], second: &[f64], from: &[(usize, f64)]) -> Vec<f64> {
        let mut visits = vec![0.0; self.unfolded.positions()];
        from.iter().for_each(|&(at, p)| visits[at] += p);
        for layer in self.unfolded.layers() {
            for passes in [true, false] {
                for at in layer.clone() {
                    if visits[at] == 0.0 || self.unfolded.is_pass(at, layer) != passes {
                        continue;
                    }
                    let policy = match self.unfolded.side(at) {
                        Side::First => first,
                        Side::Second => second,
                    };
                    for edge in self.unfolded.edges_of(at) {
                        visits[self.unfolded.target(edge)] += visits[at] * policy[edge];
                    }
                }
            }
        }
        visits
    }

    /// How often positions are met in games of a policy, half of them on either side; only those in
    /// which it is to move.
    pub fn met(&self, policy: &[f64], opponent: &[f64]) -> Vec<f64> {
        let start = self.start();
        let as_first = self.visits(policy, opponent, &start);
        let as_second = self.visits(opponent, policy, &start);
        let of = |at: usize| match self.unfolded.side(at) {
            Side::First => as_first[at] / 2.0,
            Side::Second => as_second[at] / 2.0,
        };
        (0..self.unfolded.positions()).map(of).collect()
    }

    /// What the moves of a position give away: probabilities of giving away outcome and score, and
    /// how much of each.
    pub(super) fn lost_at(&self, policy: &[f64], at: usize) -> [f64; 4] {
        let mut lost = [0.0; 4];
        let Some(own) = self.truth(at) else { return lost };
        for edge in self.unfolded.edges_of(at).filter(|&edge| policy[edge] > 0.0) {
            let Some(truth) = self.move_truth(edge) else { continue };
            let outcome = outcome_lost(&own, &truth);
            // As games count it: in a game without scores by the outcome.
            let points = [&own, &truth].map(|truth| f64::from(truth.q_score().0));
            let score = points[0] - points[1];
            let p = policy[edge];
            lost[0] += if outcome > 0.0 { p } else { 0.0 };
            lost[1] += if score > 0.0 { p } else { 0.0 };
            lost[2] += p * outcome;
            lost[3] += p * score;
        }
        lost
    }

    /// [`Play::lost_at`] of every position.
    pub(super) fn lost(&self, policy: &[f64]) -> Vec<[f64; 4]> {
        let parts = parallel::map_ranges(self.unfolded.positions(), GRAIN, &|positions| {
            positions.map(|at| self.lost_at(policy, at)).collect::<Vec<_>>()
        });
        parts.concat()
    }

    /// Whether the moves of a position differ in outcome.
    pub(super) fn is_decisive(&self, at: usize) -> bool {
        let edges = self.unfolded.edges_of(at);
        let mut outcomes = edges.filter_map(|edge| Some(self.move_truth(edge)?.outcome));
        let first = outcomes.next();
        outcomes.any(|outcome| Some(outcome) != first)
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

/// The mean over a distribution of positions.
pub fn mean_of(values: &[Expected], from: &[(usize, f64)]) -> Expected {
    let mut mean = Expected::default();
    from.iter().for_each(|&(at, p)| mean.add(&values[at], p));
    mean
}
