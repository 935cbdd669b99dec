//! Play between policies on a solved table, exactly: by dynamic programming over all positions.
//!
//! A policy is given as move probabilities, one an edge of the [`Unfolded`] table. How often a game between
//! two policies reaches a position, and how it ends, is computed forwards from the roots. The best response
//! to a policy ([`best_response`](Play::best_response)) is computed backwards. Nothing is sampled.
//!
//! If infinite play is possible, a game that is not over after [`Play::PLIES`] plies counts as infinite.
//! Policies see the position without its repetition count, so a repetition alone does not end a game.

use serde::Serialize;

use super::positions::Truth;
use super::unfolded::Unfolded;
use crate::policy::share_best;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::{Outcome, Repetition, Side};
use yomikiri::solve::Value;

/// Expected result of a game.
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
    /// Probability that the game is not over after [`Play::PLIES`] plies and counts as infinite. It is
    /// included in `win`, `draw` or `loss`, whichever infinite play counts as; 0 in games that always end.
    pub endless: f64,
}

impl Expected {
    fn of_end(outcome: Outcome, score: f64) -> Expected {
        let is = |other| if outcome == other { 1.0 } else { 0.0 };
        let [win, draw, loss] = [Outcome::Win, Outcome::Draw, Outcome::Loss].map(is);
        Expected { win, draw, loss, score, endless: 0.0 }
    }

    /// Adds another result with a weight.
    pub fn add(&mut self, other: &Expected, weight: f64) {
        self.win += weight * other.win;
        self.draw += weight * other.draw;
        self.loss += weight * other.loss;
        self.score += weight * other.score;
        self.endless += weight * other.endless;
    }

    /// Returns the result for the other player.
    pub fn reversed(&self) -> Expected {
        Expected { win: self.loss, loss: self.win, score: -self.score, ..*self }
    }

    /// Returns the expected outcome: a win 1, a draw 0, a loss −1.
    pub fn outcome(&self) -> f64 {
        self.win - self.loss
    }
}

/// Positions that games reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Expected number of visits of each position; at most 1 for a terminal position.
    pub visits: Vec<f64>,
    /// Probability that the game is not over after [`Play::PLIES`] plies; 0 in games that always end.
    pub endless: f64,
}

/// Games less likely than this are not followed, and smaller changes of a value are ignored: they are within
/// rounding.
const NEGLIGIBLE: f64 = 1e-15;

/// Games on an unfolded table.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    unfolded: &'a Unfolded,
    table: &'a SolvedTable,
}

impl<'a> Play<'a> {
    /// Number of plies after which a game counts as infinite.
    pub const PLIES: u32 = 512;

    /// Returns the games on an unfolded table.
    pub fn new(unfolded: &'a Unfolded, table: &'a SolvedTable) -> Play<'a> {
        Play { unfolded, table }
    }

    /// Returns the table.
    pub fn table(&self) -> &'a SolvedTable {
        self.table
    }

    fn value(&self, at: usize) -> Value {
        self.table.value(self.unfolded.row(at))
    }

    /// Returns the unfolded table.
    pub fn unfolded(&self) -> &'a Unfolded {
        self.unfolded
    }

    /// Returns the value of a position for its mover.
    pub fn truth(&self, at: usize) -> Option<Truth> {
        Truth::of(self.value(at), self.table.has_scores())
    }

    /// Returns the value of an edge for the player who moves along it.
    pub fn move_truth(&self, edge: usize) -> Option<Truth> {
        let value = self.value(self.unfolded.target(edge)).before();
        Truth::of(value, self.table.has_scores())
    }

    /// Returns the uniform policy.
    pub fn random(&self) -> Vec<f64> {
        self.by_position(|edges, out| out.fill(1.0 / edges.len() as f64))
    }

    /// Returns the table's best moves, shared as [`Player::Perfect`](super::Player::Perfect) does.
    pub fn perfect(&self) -> Vec<f64> {
        self.by_position(|edges, out| {
            let ranks: Vec<Option<i64>> =
                edges.map(|edge| self.move_truth(edge).map(|truth| truth.rank)).collect();
            share_best(&ranks, out);
        })
    }

    pub(super) fn by_position(
        &self,
        fill: impl Fn(std::ops::Range<usize>, &mut [f64]),
    ) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.unfolded.edges()];
        for at in 0..self.unfolded.positions() {
            let edges = self.unfolded.edges_of(at);
            if !edges.is_empty() {
                fill(edges.clone(), &mut probabilities[edges]);
            }
        }
        probabilities
    }

    /// Returns the expected result of games, for the first player.
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

    /// Returns the number of plies after which a game counts as infinite; `None` if games always end.
    pub fn most_plies(&self) -> Option<u32> {
        self.unfolded.layers().is_empty().then_some(Play::PLIES)
    }

    /// Returns the result that infinite play counts as, for the first player.
    pub(super) fn without_end(&self) -> Expected {
        let counted = match self.table.values().repetition() {
            Repetition::SecondPlayerWins => Expected::of_end(Outcome::Loss, -1.0),
            Repetition::Draw | Repetition::Unknown => Expected::of_end(Outcome::Draw, 0.0),
        };
        Expected { endless: 1.0, ..counted }
    }

    /// Returns the result in a terminal position, for the first player.
    pub(super) fn end(&self, at: usize) -> Expected {
        let value = self.value(at).lower;
        let own = Expected::of_end(value.outcome(), f64::from(value.score().0));
        match self.unfolded.side(at) {
            Side::First => own,
            Side::Second => own.reversed(),
        }
    }

    /// Walks games of two policies from starting positions with their probabilities.
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

    /// Returns the positions of a layered game, each after all those with a move to it.
    pub(super) fn in_order(&self) -> impl DoubleEndedIterator<Item = usize> {
        let unfolded = self.unfolded;
        unfolded.layers().iter().flat_map(move |layer| {
            // A pass leads to a position of the same layer that is not a pass, so passes come first.
            [true, false].into_iter().flat_map(move |passes| {
                layer.clone().filter(move |&at| unfolded.is_pass(at, layer) == passes)
            })
        })
    }

    fn walk_by_plies(&self, policies: [&[f64]; 2], from: &[(usize, f64)], plies: u32) -> Walk {
        let mut walk = Walk { visits: vec![0.0; self.unfolded.positions()], endless: 0.0 };
        let share_of = |edge, side: Side| policies[side.index()][edge];
        let steps = Steps::new(self.unfolded, from.iter().map(|&(at, _)| at), &share_of);
        // Probability of each position that goes on, now and after the next ply, and its expected visits.
        let [mut now, mut next, mut visits] = [0, 1, 2].map(|_| vec![0.0; steps.positions.len()]);
        for &(at, p) in from {
            match steps.places[at] {
                Steps::NONE => walk.visits[at] += p,
                place => now[place as usize] += p,
            }
        }
        for ply in 0..=plies {
            let going_on: f64 = now.iter().sum();
            if going_on < NEGLIGIBLE {
                break;
            }
            if ply == plies {
                walk.endless = going_on;
                break;
            }
            for place in 0..now.len() {
                let p = std::mem::take(&mut now[place]);
                if p > 0.0 {
                    visits[place] += p;
                    for (target, share) in steps.of_place(place) {
                        next[target] += p * share;
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        // Ends are met as often as the moves to them are made.
        for (&at, met) in steps.positions.iter().zip(visits) {
            let at = at as usize;
            walk.visits[at] = met;
            for edge in self.unfolded.edges_of(at) {
                let target = self.unfolded.target(edge);
                if self.unfolded.edges_of(target).is_empty() {
                    walk.visits[target] += met * share_of(edge, self.unfolded.side(at));
                }
            }
        }
        walk
    }

    /// Returns the starting positions: every root with the same probability.
    pub fn start(&self) -> Vec<(usize, f64)> {
        let roots = self.unfolded.roots();
        roots.iter().map(|&root| (root, 1.0 / roots.len() as f64)).collect()
    }

    /// Returns the positions after `plies` random plies with their probabilities; a finished game stays where
    /// it is.
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

/// Moves between the positions that games reach and that are not their ends, one after another in memory: a walk by
/// plies and a response take them dozens of times.
struct Steps {
    /// Positions with a move to make, in the order in which they are found.
    positions: Vec<u32>,
    /// Place of each position in this list, or [`Steps::NONE`].
    places: Vec<u32>,
    /// First step of each place, followed by the number of steps.
    offsets: Vec<u32>,
    /// Place to which each step leads.
    targets: Vec<u32>,
    /// Probability of each step.
    shares: Vec<f64>,
}

impl Steps {
    /// Place of a position that is not in the list.
    const NONE: u32 = u32::MAX;

    /// Finds the moves of games from some positions. `share_of` returns the probability of an edge, with the side that
    /// moves along it; edges with 0 are left out.
    fn new(
        unfolded: &Unfolded,
        from: impl Iterator<Item = usize>,
        share_of: &dyn Fn(usize, Side) -> f64,
    ) -> Steps {
        let (mut positions, mut offsets) = (Vec::new(), vec![0]);
        let (mut targets, mut shares) = (Vec::new(), Vec::new());
        let mut places = vec![Steps::NONE; unfolded.positions()];
        // Returns the place of a position, a new one if it has none.
        let mut place_of = |at: usize, positions: &mut Vec<u32>| {
            if places[at] == Steps::NONE {
                places[at] = positions.len() as u32;
                positions.push(at as u32);
            }
            places[at]
        };
        let goes_on = |at: usize| !unfolded.edges_of(at).is_empty();
        from.filter(|&at| goes_on(at)).for_each(|at| _ = place_of(at, &mut positions));
        let mut next = 0;
        while let Some(at) = positions.get(next).map(|&at| at as usize) {
            for edge in unfolded.edges_of(at) {
                let (target, share) = (unfolded.target(edge), share_of(edge, unfolded.side(at)));
                if share > 0.0 && goes_on(target) {
                    targets.push(place_of(target, &mut positions));
                    shares.push(share);
                }
            }
            offsets.push(targets.len() as u32);
            next += 1;
        }
        Steps { positions, places, offsets, targets, shares }
    }

    /// Returns the places to which the steps from a place lead, with their probabilities.
    fn of_place(&self, place: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[place] as usize..self.offsets[place + 1] as usize;
        let targets = self.targets[range.clone()].iter().map(|&target| target as usize);
        targets.zip(self.shares[range].iter().copied())
    }
}

/// Objective of a best response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// The expected outcome.
    Outcome,
    /// The expected final score.
    Score,
}

impl Play<'_> {
    /// Most passes over all positions until the values of a best response no longer change, if games may go on for
    /// ever.
    const PASSES: u32 = 1 << 12;

    /// Computes what the best response of one side to the policy of the other reaches from each position, for the
    /// responder: outcome (−1 to 1) or score. If infinite play is possible, only values of positions that games reach
    /// are valid.
    ///
    /// A response may then repeat a position as often as it likes, waiting for a mistake of a randomised policy. Values
    /// ascend in at most 4,096 passes over all positions, so none is too high.
    pub fn best_response(&self, policy: &[f64], responder: Side, aim: Aim) -> Vec<f64> {
        let one = Against { play: self, policy, responder, aim };
        match self.most_plies() {
            Some(_) => one.by_plies(),
            None => one.by_layers(),
        }
    }
}

/// Returns the value of a position for the responder by its moves' values with their probabilities: the best if the move
/// is its own, else the mean.
fn value_of(is_own: bool, moves: impl Iterator<Item = (f64, f64)>) -> f64 {
    match is_own {
        true => moves.map(|(value, _)| value).fold(f64::NEG_INFINITY, f64::max),
        false => moves.map(|(value, share)| share * value).sum(),
    }
}

/// A best response in the making.
struct Against<'a> {
    play: &'a Play<'a>,
    policy: &'a [f64],
    responder: Side,
    aim: Aim,
}

impl Against<'_> {
    /// Returns the value of the end of a game, or of infinite play (`None`), for the responder.
    fn end(&self, at: Option<usize>) -> f64 {
        let end = at.map_or_else(|| self.play.without_end(), |at| self.play.end(at));
        let end = if self.responder == Side::First { end } else { end.reversed() };
        match self.aim {
            Aim::Outcome => end.outcome(),
            Aim::Score => end.score,
        }
    }

    /// Computes the response layer by layer from the last.
    fn by_layers(&self) -> Vec<f64> {
        let unfolded = self.play.unfolded();
        let mut values = vec![0.0; unfolded.positions()];
        self.play.in_order().rev().for_each(|at| {
            let edges = unfolded.edges_of(at);
            let is_end = edges.is_empty();
            let moves = edges.map(|edge| (values[unfolded.target(edge)], self.policy[edge]));
            let value = value_of(unfolded.side(at) == self.responder, moves);
            values[at] = if is_end { self.end(Some(at)) } else { value };
        });
        values
    }

    /// Returns the worst end for the responder.
    fn worst(&self) -> f64 {
        let most = self.play.table().game().max_score().filter(|_| self.aim == Aim::Score);
        -most.map_or(1.0, |most| f64::from(most.0))
    }

    /// Returns what the ends of games after one move are worth in a position: the best of them, or the sum of their
    /// shares, if it is not the responder's.
    fn ends(&self, at: usize) -> f64 {
        let unfolded = self.play.unfolded();
        let ends = unfolded.edges_of(at).filter_map(|edge| {
            let target = unfolded.target(edge);
            let is_end = unfolded.edges_of(target).is_empty();
            is_end.then(|| (self.end(Some(target)), self.policy[edge]))
        });
        value_of(unfolded.side(at) == self.responder, ends)
    }

    /// Returns the places from which the responder can play on for ever, whatever the policy draws.
    fn endless(&self, steps: &Steps) -> Vec<bool> {
        let unfolded = self.play.unfolded();
        let mut endless = vec![true; steps.positions.len()];
        loop {
            let mut has_changed = false;
            for (place, at) in steps.positions.iter().map(|&at| at as usize).enumerate().rev() {
                if !endless[place] {
                    continue;
                }
                let mut stays = steps.of_place(place).map(|(target, _)| endless[target]);
                let may_end = |edge: usize| {
                    self.policy[edge] > 0.0 && unfolded.edges_of(unfolded.target(edge)).is_empty()
                };
                let goes_on = match unfolded.side(at) == self.responder {
                    true => stays.any(|stays| stays),
                    false => stays.all(|stays| stays) && !unfolded.edges_of(at).any(may_end),
                };
                if !goes_on {
                    (endless[place], has_changed) = (false, true);
                }
            }
            if !has_changed {
                return endless;
            }
        }
    }

    /// Computes the response by value iteration, each value from the newest ones.
    ///
    /// Values ascend from those of a response that plays on for ever where it can, and elsewhere loses; so they come to
    /// the best that any response takes, for one that plays by position alone ends in such play or ends the game.
    fn by_plies(&self) -> Vec<f64> {
        let unfolded = self.play.unfolded();
        let share_of = |edge, side| if side == self.responder { 1.0 } else { self.policy[edge] };
        let steps = Steps::new(unfolded, unfolded.roots().iter().copied(), &share_of);
        let ends: Vec<f64> = steps.positions.iter().map(|&at| self.ends(at as usize)).collect();
        let endless = self.endless(&steps);
        let start = |&endless: &bool| if endless { self.end(None) } else { self.worst() };
        let mut values: Vec<f64> = endless.iter().map(start).collect();
        let is_own = |&at: &u32| unfolded.side(at as usize) == self.responder;
        let is_own: Vec<bool> = steps.positions.iter().map(is_own).collect();
        for _ in 0..Play::PASSES {
            let mut has_changed = false;
            // Positions found later mostly come later in games: from the last, a change comes far in one pass.
            for place in (0..values.len()).rev() {
                let moves = steps.of_place(place).map(|(target, share)| (values[target], share));
                let going_on = value_of(is_own[place], moves);
                let value = match is_own[place] {
                    true => going_on.max(ends[place]),
                    false => going_on + ends[place],
                };
                if (value - values[place]).abs() > NEGLIGIBLE {
                    (values[place], has_changed) = (value, true);
                }
            }
            if !has_changed {
                break;
            }
        }
        let end = |at| if unfolded.edges_of(at).is_empty() { self.end(Some(at)) } else { 0.0 };
        let mut found: Vec<f64> = (0..unfolded.positions()).map(end).collect();
        for (&at, value) in steps.positions.iter().zip(values) {
            found[at as usize] = value;
        }
        found
    }
}
