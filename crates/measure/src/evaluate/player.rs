//! Who is judged, and what a player does in one position of a solved table.

use super::source::{Piece, Truth, Wanted};
use crate::policy::{
    Amended, Amendment, Answers, Batch, Policy, TrainedOn, TrainedSpec, share_best,
};
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Action, Divider, Division, GameExt, Split, Splits};
use yomikiri::hint::Hinted;
use yomikiri::solved::Oracle;

/// Who is judged.
pub enum Player {
    /// A policy that goes by the position.
    Policy(Box<dyn Policy<AnyGame>>),
    /// The table's best moves, whose values are at hand in every position. It plays for the score
    /// and then, ahead and level, for the shortest game, behind for the longest; equally good moves
    /// share.
    Perfect,
    /// A player under a name that a person gave it.
    Named(String, Box<Player>),
}

impl Player {
    /// The name under which reports show it.
    pub fn name(&self) -> String {
        match self {
            Player::Policy(policy) => policy.name(),
            Player::Perfect => "perfect".to_string(),
            Player::Named(name, _) => name.clone(),
        }
    }

    /// The policy, of a player that needs no table.
    pub fn policy(&self) -> Option<&dyn Policy<AnyGame>> {
        match self {
            Player::Policy(policy) => Some(policy.as_ref()),
            Player::Perfect => None,
            Player::Named(_, player) => player.policy(),
        }
    }

    /// Which positions' exact values it has learned from.
    pub fn learned_from(&self) -> TrainedOn {
        match self {
            Player::Policy(policy) => policy.learned_from(),
            Player::Perfect => TrainedOn::Nothing,
            Player::Named(_, player) => player.learned_from(),
        }
    }

    /// Tells the part of a position when it learned, where that is known.
    pub fn divider(&self, game: &AnyGame) -> Option<Divider<AnyGame>> {
        self.learned_from().division().map(|division| Divider::new(game, division))
    }

    /// The same player, which has learned from these positions if it is not known from which.
    pub fn with_training(self, trained: TrainedSpec) -> Player {
        match self {
            Player::Policy(policy) if policy.learned_from() == TrainedOn::Unknown => {
                let amendment = Amendment { trained: Some(trained), ..Amendment::default() };
                Player::Policy(Box::new(Amended { name: policy.name(), policy, amendment }))
            }
            other => other,
        }
    }

    /// What it answers for a piece.
    pub(super) fn answer(
        &self,
        game: &AnyGame,
        piece: &Piece,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        match self {
            Player::Policy(policy) => {
                policy.answer(game, &piece.batch, answers)?;
                answers.check(&piece.batch)
            }
            Player::Perfect => {
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
                Ok(())
            }
            Player::Named(_, player) => player.answer(game, piece, answers),
        }
    }
}

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
    /// Returns what the player does in a position; nothing where the game is over. The perfect one needs
    /// an oracle that proves the values of all moves.
    pub fn choose(
        &self,
        game: &AnyGame,
        oracle: Option<&dyn Oracle>,
        position: &AnyPosition,
    ) -> Result<Choice, Hinted> {
        let actions = game.actions(&position.state);
        if actions.is_empty() {
            return Ok(Choice::default());
        }
        match self {
            Player::Named(_, player) => player.choose(game, oracle, position),
            Player::Perfect => {
                oracle.and_then(|oracle| perfect(oracle, position)).ok_or_else(|| {
                    let what = "policy 'perfect': no table proves the values of all moves here";
                    Hinted::from(what)
                })
            }
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

/// Selects the positions of a part, divided as when the players learned, or else as `solver export`
/// does by default, and returns what they are in words. Fails where players learned by different
/// divisions.
pub fn of_split(
    split: Split,
    players: &[Player],
    game: &AnyGame,
) -> Result<(Box<Wanted<'static>>, String), Hinted> {
    let mut divisions: Vec<Division> = Vec::new();
    for division in players.iter().filter_map(|player| player.learned_from().division()) {
        if !divisions.contains(&division) {
            divisions.push(division);
        }
    }
    let division = match divisions[..] {
        [] => TrainedSpec::default().division(),
        [division] => division,
        _ => {
            let what = "the networks were trained by different splits";
            return Err(Hinted::new(what, "measure one of them at a time"));
        }
    };
    let Splits { seed, train, validation } = division.splits;
    let words = format!(
        "the {} part (seed {seed}: {train} to train, {validation} to validate, {} to test)",
        split.name(),
        division.splits.test()
    );
    let divider = Divider::new(game, division);
    let wanted = move |piece: &Piece, at: usize| {
        divider.of(&piece.batch.positions()[at].state) == Some(split)
    };
    Ok((Box::new(wanted), words))
}
