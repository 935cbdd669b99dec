//! Numbers for all actions of a game, as networks give them, made answers.

use super::distribution::{normalise, outcome, softmax};
use super::listed;
use crate::game::Action;
use crate::hint::Hinted;
use crate::policy::{Answers, share_best};

/// What the numbers that decide are, one an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dense {
    /// Probabilities are the softmax over the legal moves.
    Logits,
    /// Probabilities, of which illegal moves have none.
    Probabilities,
    /// One number alone: the move that is chosen with certainty.
    Actions,
    /// The best share.
    Scores,
}

impl Dense {
    /// All of them by the names they go by in files and from Python.
    pub const ALL: [(&'static str, Dense); 4] = [
        ("logits", Dense::Logits),
        ("probabilities", Dense::Probabilities),
        ("actions", Dense::Actions),
        ("scores", Dense::Scores),
    ];

    /// Adds the answer for one position to probabilities and scores; `numbers` has one an action of
    /// the game, or one in all for [`Dense::Actions`]. Numbers that decide are scores too, where
    /// none are given beside them (`scored`) and they are no probabilities. Says what is wrong with them;
    /// `name` writes the position.
    pub fn answer(
        self,
        numbers: &[f64],
        actions: &[Action],
        scored: bool,
        name: &dyn Fn() -> String,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let at = answers.probabilities.len();
        match self {
            Dense::Actions => answers.probabilities.resize(at + actions.len(), 0.0),
            _ => {
                no_nan(numbers)?;
                answers.probabilities.extend(legal(numbers, actions));
            }
        }
        let out = &mut answers.probabilities[at..];
        match self {
            // A position that is over has no moves, and no request is made for it.
            _ if actions.is_empty() => {}
            Dense::Actions => choose(numbers[0], actions, out, name)?,
            Dense::Logits => {
                softmax(out)?;
                if !scored {
                    answers.scores.extend(legal(numbers, actions));
                }
            }
            Dense::Probabilities => {
                nothing_illegal(numbers, actions, name)?;
                normalise(out).map_err(|what| format!("{what} ('{}')", name()))?;
            }
            Dense::Scores => {
                answers.scores.extend_from_slice(out);
                let at = answers.scores.len() - out.len();
                share_best(&answers.scores[at..], out);
            }
        }
        Ok(())
    }

    /// Adds the scores of one position that are given beside what decides.
    pub fn score(numbers: &[f64], actions: &[Action], answers: &mut Answers) -> Result<(), String> {
        no_nan(numbers)?;
        answers.scores.extend(legal(numbers, actions));
        Ok(())
    }

    /// Adds the value of one position, the outcome that its mover is to expect.
    pub fn value(value: f64, answers: &mut Answers) -> Result<(), Hinted> {
        let known = outcome(value).ok_or_else(|| {
            Hinted::new(
                format!("{value} is no value"),
                "write them from -1 (the mover loses) to 1 (wins)",
            )
        })?;
        answers.values.push(known);
        Ok(())
    }
}

fn legal(numbers: &[f64], actions: &[Action]) -> impl Iterator<Item = f64> {
    actions.iter().map(|action| numbers[usize::from(action.0)])
}

fn no_nan(numbers: &[f64]) -> Result<(), String> {
    // All of them, without a branch for each.
    if !numbers.iter().fold(false, |any, number| any | number.is_nan()) {
        return Ok(());
    }
    let action = numbers.iter().position(|number| number.is_nan());
    Err(format!("the number of action {} is NaN", action.unwrap_or_default()))
}

/// Probability 1 for the action that is written as a number.
fn choose(
    number: f64,
    actions: &[Action],
    out: &mut [f64],
    name: &dyn Fn() -> String,
) -> Result<(), String> {
    let at = actions.iter().position(|action| f64::from(action.0) == number).ok_or_else(|| {
        format!("action {number} is no legal move of '{}', which has {}", name(), listed(actions))
    })?;
    out[at] = 1.0;
    Ok(())
}

/// That probabilities are given to legal moves only.
fn nothing_illegal(
    numbers: &[f64],
    actions: &[Action],
    name: &dyn Fn() -> String,
) -> Result<(), Hinted> {
    let legal = |at: usize| actions.binary_search(&Action(at as u16)).is_ok();
    match numbers.iter().enumerate().find(|&(at, &p)| p.abs() > 1e-6 && !legal(at)) {
        None => Ok(()),
        Some((at, p)) => Err(Hinted::new(
            format!(
                "action {at} has probability {p} and is no legal move of '{}', which has {}",
                name(),
                listed(actions)
            ),
            "logits are masked for you",
        )),
    }
}
