//! The costliest mistakes of a policy, and the line by which a best response beats it.

use serde::Serialize;

use super::play::{Aim, Play};
use crate::game::{Game, Side};

/// A position in which a policy gives something away.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mistake {
    /// The position in the game's one-line notation.
    pub position: String,
    /// The board as rows of text.
    pub diagram: String,
    /// The name of the side to move.
    pub mover: String,
    /// How often a game of the policy comes to it, on average over games against itself, random
    /// moves and perfect ones, on either side.
    pub met: f64,
    /// The outcome given away in it, expected over the policy's moves.
    pub outcome_lost: f64,
    /// The score given away.
    pub score_lost: f64,
    /// All moves, the policy's likeliest first.
    pub moves: Vec<MoveFacts>,
}

/// A move of a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveFacts {
    /// As people write it.
    pub name: String,
    /// With which probability the policy chooses it.
    pub probability: f64,
    /// The exact outcome for who makes it.
    pub outcome: i8,
    /// The exact score.
    pub score: Option<i8>,
    /// Whether it keeps the best score.
    pub best: bool,
}

/// A game that a best response wins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeatingLine {
    /// The name of the side that the policy plays.
    pub policy_plays: String,
    /// The moves: the responder's best, the policy's likeliest.
    pub moves: Vec<String>,
    /// The probability that the policy plays so.
    pub probability: f64,
    /// The policy's final score.
    pub score: i8,
    /// What the policy could have had.
    pub score_possible: i8,
}

/// The positions in which a policy gives away the most, by how often it meets them: by outcome
/// first, then by score.
pub fn mistakes(play: &Play<'_>, policy: &[f64], count: usize) -> Vec<Mistake> {
    let unfolded = play.unfolded();
    let (random, perfect) = (play.random(), play.perfect());
    let mut weight = vec![0.0; unfolded.positions()];
    for opponent in [policy, &random, &perfect] {
        let met = play.met(policy, opponent);
        weight.iter_mut().zip(met).for_each(|(sum, met)| *sum += met / 3.0);
    }
    let cost = |at: usize| {
        let lost = play.lost_at(policy, at);
        (weight[at] * lost[2], weight[at] * lost[3], at)
    };
    let met = (0..unfolded.positions()).filter(|&at| weight[at] > 0.0);
    let mut costs: Vec<(f64, f64, usize)> =
        met.map(cost).filter(|(outcome, score, _)| outcome + score > 0.0).collect();
    costs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    let shown = costs.into_iter().take(count);
    shown.filter_map(|(_, _, at)| mistake(play, policy, (at, weight[at]))).collect()
}

fn mistake(play: &Play<'_>, policy: &[f64], (at, met): (usize, f64)) -> Option<Mistake> {
    let game = play.table().game();
    let position = play.unfolded().position(play.table().states(), at)?;
    let own = play.truth(at)?;
    let edges = play.unfolded().edges_of(at);
    let moves = game.actions(&position.state).into_iter().zip(edges).map(|(action, edge)| {
        let truth = play.move_truth(edge)?;
        Some(MoveFacts {
            name: game.action_name(position.side, action),
            probability: policy[edge],
            outcome: truth.outcome.value(),
            score: truth.score.map(|score| score.0),
            best: truth.q_score() == own.q_score(),
        })
    });
    let mut moves = moves.collect::<Option<Vec<MoveFacts>>>()?;
    moves.sort_by(|a, b| {
        b.probability
            .total_cmp(&a.probability)
            .then(b.score.cmp(&a.score))
            .then(a.name.cmp(&b.name))
    });
    let lost = play.lost_at(policy, at);
    Some(Mistake {
        position: game.notation(&position),
        diagram: game.diagram(&position),
        mover: game.side_name(position.side).to_string(),
        met,
        outcome_lost: lost[2],
        score_lost: lost[3],
        moves,
    })
}

/// The line by which a best response after scores beats a policy that plays `side`, from the first
/// root.
pub fn beating_line(play: &Play<'_>, policy: &[f64], side: Side) -> Option<BeatingLine> {
    let (unfolded, game) = (play.unfolded(), play.table().game());
    let response = play.best_response(policy, side.other(), Aim::Score);
    let mut at = *unfolded.roots().first()?;
    let possible = play.truth(at)?.q_score();
    let (mut moves, mut probability) = (Vec::new(), 1.0);
    let own_score = |at: usize| -> Option<i8> {
        let score = play.truth(at)?.q_score();
        Some(if unfolded.side(at) == side { score.0 } else { (-score).0 })
    };
    let score_possible = if unfolded.side(at) == side { possible.0 } else { (-possible).0 };
    while !unfolded.edges_of(at).is_empty() {
        let edges = unfolded.edges_of(at);
        let edge = match response.choices[at] {
            u32::MAX => {
                // Of equally likely moves the one that leaves the least.
                let worse = |a: &usize, b: &usize| {
                    let value = |edge: usize| response.values[unfolded.target(edge)];
                    policy[*a].total_cmp(&policy[*b]).then(value(*a).total_cmp(&value(*b)))
                };
                edges.clone().max_by(worse)?
            }
            edge => edge as usize,
        };
        if unfolded.side(at) == side {
            probability *= policy[edge];
        }
        let position = unfolded.position(play.table().states(), at)?;
        let action = *game.actions(&position.state).get(edge - edges.start)?;
        moves.push(game.action_name(position.side, action));
        at = unfolded.target(edge);
    }
    Some(BeatingLine {
        policy_plays: game.side_name(side).to_string(),
        moves,
        probability,
        score: own_score(at)?,
        score_possible,
    })
}
