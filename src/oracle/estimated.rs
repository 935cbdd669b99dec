//! Estimates beside an answer, where nothing is proven.

use super::answer::{Answer, Estimated, MoveAnswer, PositionEstimate};
use crate::rules::{AnyPosition, Empties, Outcome, Rules, SearchLimits};
use crate::search::estimate::{ESTIMATE_NODES, Estimate, Wanted, Worth, estimate};
use crate::solve::{Prospect, Value};

impl Estimated {
    /// Returns a worth within the bounds that are proven.
    fn of(worth: Worth, proven: Value, has_scores: bool) -> Estimated {
        let forced = worth.forced();
        let bound = |bound: Prospect| match (has_scores, bound.outcome()) {
            (true, _) => f64::from(bound.score().0),
            (false, Outcome::Draw) => 0.0,
            (false, outcome) => f64::from(outcome.value()) * f64::INFINITY,
        };
        let within = |advantage: f64| advantage.clamp(bound(proven.lower), bound(proven.upper));
        let advantage = worth.hundredths().map(|hundredths| f64::from(hundredths) / 100.0);
        Estimated {
            advantage: advantage.map(within),
            outcome: forced.map(|(outcome, _)| outcome.value()),
            distance: forced.map(|(_, plies)| plies),
        }
    }
}

impl Answer {
    /// Adds estimates to the position and its moves where their outcomes are not proven. Without an evaluation of the game
    /// there are only forced outcomes.
    pub fn add_estimates(&mut self, game: &dyn Rules, position: &AnyPosition, empties: Empties) {
        let is_open = |answer: &MoveAnswer| answer.value.outcome.is_none();
        if self.kind == "terminal"
            || !self.moves.iter().any(is_open) && self.value.outcome.is_some()
        {
            return;
        }
        let limits = SearchLimits { nodes: Some(ESTIMATE_NODES), ..SearchLimits::default() };
        let wanted = Wanted { moves: usize::MAX, empties, ..Wanted::best() };
        let found = estimate(game, position, &wanted, &limits, &mut |_| {});
        let has_scores = game.has_scores();
        let has_evaluation = game.evaluation(&position.state).is_some();
        let is_known = |worth: &Worth| has_evaluation || worth.forced().is_some();
        let Estimate { moves, plies, nodes, .. } = found;
        for answer in self.moves.iter_mut().filter(|answer| is_open(answer)) {
            let worth = moves.iter().find(|one| one.line[0].0 == answer.action);
            let worth = worth.map(|one| one.worth).filter(is_known);
            let value = answer.value.value;
            answer.estimate = worth.map(|worth| Estimated::of(worth, value, has_scores));
        }
        // Moves that are proven to lose are no best ones.
        let loses = |action: u16| {
            let answer = self.moves.iter().find(|answer| answer.action == action);
            answer.is_some_and(|answer| answer.value.outcome == Some(-1))
        };
        let best = moves.iter().find(|one| !loses(one.line[0].0));
        let best = best.map(|one| one.worth).filter(is_known);
        if self.value.outcome.is_none() {
            let expected = |worth| Estimated::of(worth, self.value.value, has_scores);
            self.estimate =
                best.map(|worth| PositionEstimate { nodes, plies, expected: expected(worth) });
        }
    }
}
