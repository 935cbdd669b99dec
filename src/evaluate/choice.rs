//! What a player does in one position of a solved table.

use super::accuracy::Player;
use super::truth::Truth;
use crate::any::{AnyGame, AnyPosition};
use crate::game::{Action, Game};
use crate::policy::{Answers, Batch, PolicyError, share_best};
use crate::solved::SolvedTable;

/// What a player does in a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The legal actions, in ascending order.
    pub actions: Vec<Action>,
    /// The probability of each.
    pub probabilities: Vec<f64>,
    /// How good the player finds each, if it says: on any scale, the higher the better.
    pub scores: Option<Vec<f64>>,
    /// The outcome that it expects for the player to move, −1 to 1, if it says.
    pub value: Option<f64>,
    /// The final score that it expects, if it says.
    pub final_score: Option<f64>,
}

impl Choice {
    /// The likeliest action, the first of several; `None` where the game is over.
    pub fn likeliest(&self) -> Option<Action> {
        let most = self.probabilities.iter().copied().fold(0.0, f64::max);
        let at = self.probabilities.iter().position(|&p| p == most)?;
        Some(self.actions[at])
    }
}

impl Player {
    /// What the player does in a position; nothing where the game is over. The perfect one needs a
    /// table that proves the values of all moves.
    pub fn choose(
        &self,
        game: &AnyGame,
        table: Option<&SolvedTable>,
        position: &AnyPosition,
    ) -> Result<Choice, PolicyError> {
        let actions = game.actions(&position.state);
        if actions.is_empty() {
            return Ok(Choice::default());
        }
        match self {
            Player::Named(_, player) => player.choose(game, table, position),
            Player::Perfect => table.and_then(|table| perfect(table, position)).ok_or_else(|| {
                let what = "policy 'perfect': no table proves the values of all moves here";
                PolicyError::new(what)
            }),
            Player::Policy(policy) => {
                let (mut batch, mut answers) = (Batch::default(), Answers::default());
                batch.push(*position, actions.iter().copied());
                policy.answer(game, &batch, &mut answers)?;
                answers.check(&batch)?;
                let answer = answers.at(0, batch.range(0));
                Ok(Choice {
                    scores: (!answers.scores.is_empty()).then(|| answer.scores.to_vec()),
                    value: answer.value,
                    final_score: answer.final_score,
                    probabilities: answers.probabilities,
                    actions,
                })
            }
        }
    }
}

fn perfect(table: &SolvedTable, position: &AnyPosition) -> Option<Choice> {
    let truth = |value| Truth::of(value, table.has_scores());
    let moves = table.look_ahead(position).into_iter();
    let moves = moves.map(|(action, value)| Some((action, truth(value?)?)));
    let moves = moves.collect::<Option<Vec<(Action, Truth)>>>()?;
    let ranks: Vec<i64> = moves.iter().map(|(_, truth)| truth.rank).collect();
    let mut probabilities = vec![0.0; moves.len()];
    share_best(&ranks, &mut probabilities);
    let best = moves.iter().map(|(_, truth)| truth).max_by_key(|truth| truth.rank);
    Some(Choice {
        value: best.map(|best| f64::from(best.outcome.value())),
        final_score: best.and_then(|best| best.score).map(|score| f64::from(score.0)),
        scores: Some(moves.iter().map(|(_, truth)| truth.q() as f64).collect()),
        actions: moves.into_iter().map(|(action, _)| action).collect(),
        probabilities,
    })
}
