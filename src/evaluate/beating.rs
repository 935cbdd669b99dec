//! The line by which a best response beats a policy.

use std::collections::HashSet;

use serde::Serialize;

use super::play::Play;
use super::response::Response;
use crate::game::{Game, Side};

/// A game that a best response wins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeatingLine {
    /// The name of the side that the policy plays.
    pub policy_plays: String,
    /// The moves: the responder's best, the policy's likeliest; of a game that goes round in circles
    /// up to where a position comes back.
    pub moves: Vec<String>,
    /// The probability that the policy plays so.
    pub probability: f64,
    /// The policy's final score.
    pub score: i8,
    /// What the policy could have had.
    pub score_possible: i8,
}

/// The line by which a best response after scores beats the policy that it is one to and that plays
/// `side`, from the first root.
pub fn beating_line(
    play: &Play<'_>,
    policy: &[f64],
    side: Side,
    response: &Response,
) -> Option<BeatingLine> {
    let (unfolded, game) = (play.unfolded(), play.table().game());
    let mut at = *unfolded.roots().first()?;
    let possible = play.truth(at)?.q_score();
    let (mut moves, mut probability) = (Vec::new(), 1.0);
    let own_score = |at: usize| -> Option<i8> {
        let score = play.truth(at)?.q_score();
        Some(if unfolded.side(at) == side { score.0 } else { (-score).0 })
    };
    let score_possible = if unfolded.side(at) == side { possible.0 } else { (-possible).0 };
    let (mut passed, mut endless) = (HashSet::new(), None);
    while !unfolded.edges_of(at).is_empty() {
        if !passed.insert(at) {
            // Both do as they did before: the game goes round in circles.
            let end = play.without_end();
            let end = if side == Side::First { end } else { end.reversed() };
            endless = Some(end.score as i8);
            break;
        }
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
        score: endless.or_else(|| own_score(at))?,
        score_possible,
    })
}
