//! Players: policies and the table's best moves, and their answers in single positions.

use super::positions::{Piece, Truth};
use crate::policy::{Answers, Batch, Front, Policy, Trained, TrainedOn, TrainedSpec, share_best};
use yomikiri::error::Error;
use yomikiri::oracle::Oracle;
use yomikiri::rules::{Action, AnyPosition, Divider, Rules};

/// A player to be judged.
pub enum Player {
    /// A policy that goes by the position.
    Policy(Box<dyn Policy>),
    /// The table's best moves, by their exact values. It plays for the score, then for the shortest game when
    /// winning or drawn and for the longest when losing; equally good moves share the probability.
    Perfect,
    /// A player under a name chosen by the user.
    Named(String, Box<Player>),
}

impl Player {
    /// Returns the name shown in reports.
    pub fn name(&self) -> String {
        match self {
            Player::Policy(policy) => policy.name(),
            Player::Perfect => "perfect".to_string(),
            Player::Named(name, _) => name.clone(),
        }
    }

    /// Returns the policy of a player that needs no table.
    pub fn policy(&self) -> Option<&dyn Policy> {
        match self {
            Player::Policy(policy) => Some(policy.as_ref()),
            Player::Perfect => None,
            Player::Named(_, player) => player.policy(),
        }
    }

    /// Returns the positions whose exact values it was trained on.
    pub fn learned_from(&self) -> TrainedOn {
        match self {
            Player::Policy(policy) => policy.learned_from(),
            Player::Perfect => TrainedOn::Nothing,
            Player::Named(_, player) => player.learned_from(),
        }
    }

    /// Returns a divider that assigns positions to the parts of the training split, if that is known.
    pub fn divider(&self, game: &dyn Rules) -> Option<Divider> {
        self.learned_from().division().map(|division| Divider::new(game, division))
    }

    /// Puts a search of some plies in front of a player; perfect moves need none.
    pub fn with_front(self, plies: u32) -> Player {
        match self {
            Player::Policy(policy) => Player::Policy(Box::new(Front::new(policy, plies))),
            Player::Named(name, player) => Player::Named(name, Box::new(player.with_front(plies))),
            Player::Perfect => Player::Perfect,
        }
    }

    /// Sets the training positions of a player if they are unknown.
    pub fn with_training(self, trained: TrainedSpec) -> Player {
        match self {
            Player::Policy(policy) if policy.learned_from() == TrainedOn::Unknown => {
                Player::Policy(Box::new(Trained(policy, trained)))
            }
            Player::Named(name, player) => {
                Player::Named(name, Box::new(player.with_training(trained)))
            }
            other => other,
        }
    }

    /// Answers for the positions of a piece.
    pub(super) fn answer(&self, game: &dyn Rules, piece: &Piece) -> Result<Answers, Error> {
        match self {
            Player::Policy(policy) => {
                let answers = policy.answer(game, &piece.batch)?;
                answers.check(&piece.batch).map(|()| answers)
            }
            Player::Perfect => {
                let mut answers = Answers::default();
                answers.probabilities.resize(piece.truths.len(), 0.0);
                for at in 0..piece.batch.len() {
                    let range = piece.batch.range(at);
                    let ranks: Vec<i64> =
                        piece.truths[range.clone()].iter().map(|truth| truth.rank).collect();
                    share_best(&ranks, &mut answers.probabilities[range]);
                }
                answers.scores.extend(piece.truths.iter().map(|truth| truth.q() as f64));
                let outcomes = piece.cases.iter().map(|case| case.own.outcome);
                answers.values.extend(outcomes.map(|outcome| f64::from(outcome.value())));
                Ok(answers)
            }
            Player::Named(_, player) => player.answer(game, piece),
        }
    }
}

/// Answer of a player in a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Legal actions, in ascending order.
    pub actions: Vec<Action>,
    /// Probability of each action.
    pub probabilities: Vec<f64>,
    /// Score of each action, if the player returns any: on any scale, the higher the better.
    pub scores: Option<Vec<f64>>,
    /// Outcome expected for the player to move, −1 to 1, if the player returns one.
    pub value: Option<f64>,
    /// Final score expected, if the player returns one.
    pub final_score: Option<f64>,
}

impl Choice {
    /// Returns the likeliest action, the first of equals; `None` in terminal positions.
    pub fn likeliest(&self) -> Option<Action> {
        let most = self.probabilities.iter().copied().fold(0.0, f64::max);
        let at = self.probabilities.iter().position(|&p| p == most)?;
        Some(self.actions[at])
    }
}

impl Player {
    /// Returns the player's answer in a position; empty if it is terminal. [`Player::Perfect`] needs an
    /// oracle that proves the values of all moves.
    pub fn choose(
        &self,
        game: &dyn Rules,
        oracle: Option<&dyn Oracle>,
        position: &AnyPosition,
    ) -> Result<Choice, Error> {
        let actions = game.actions(&position.state);
        if actions.is_empty() {
            return Ok(Choice::default());
        }
        match self {
            Player::Named(_, player) => player.choose(game, oracle, position),
            Player::Perfect => {
                oracle.and_then(|oracle| perfect(oracle, position)).ok_or_else(|| {
                    let what = "policy 'perfect': no table proves the values of all moves in this position";
                    Error::from(what)
                })
            }
            Player::Policy(policy) => {
                let mut batch = Batch::default();
                batch.push(*position, actions.iter().copied());
                let answers = policy.answer(game, &batch)?;
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

fn perfect(oracle: &dyn Oracle, position: &AnyPosition) -> Option<Choice> {
    let truth = |value| Truth::of(value, oracle.has_scores());
    let moves = oracle.look_ahead(position).into_iter();
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
