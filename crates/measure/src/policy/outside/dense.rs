//! Checks the answer of an external policy for one position. Files, programs and Python callables share it.

use crate::policy::{Answers, share_best};
use yomikiri::game::Action;
use yomikiri::hint::Hinted;

/// Meaning of the numbers that choose the move, one for each action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dense {
    /// Logits; probabilities are their softmax over the legal moves.
    Logits,
    /// Probabilities; those of illegal moves are 0.
    Probabilities,
    /// A single number: the action that is played with certainty.
    Actions,
    /// Scores; the best actions share the probability.
    Scores,
}

/// Legal actions of a position, and a function that formats the position.
#[derive(Clone, Copy)]
pub struct Legal<'a> {
    /// Legal actions in ascending order.
    pub actions: &'a [Action],
    /// Formats the position for a message.
    pub position: &'a dyn Fn() -> String,
}

/// Optional parts of an answer for one position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Score of each of the game's actions, the higher the better.
    pub scores: Option<&'a [f64]>,
    /// Outcome expected for the mover.
    pub value: Option<f64>,
}

impl Dense {
    /// All kinds with their names in files and Python.
    pub const ALL: [(&'static str, Dense); 4] = [
        ("logits", Dense::Logits),
        ("probabilities", Dense::Probabilities),
        ("actions", Dense::Actions),
        ("scores", Dense::Scores),
    ];

    /// Adds the answer for one position; `numbers` has one for each of the game's actions, or a single one
    /// for [`Dense::Actions`]. Logits and scores also serve as the policy's scores if `beside` has none. The
    /// error comes with the name of the invalid array.
    pub fn answer(
        self,
        numbers: &[f64],
        beside: Beside<'_>,
        legal: Legal<'_>,
        answers: &mut Answers,
    ) -> Result<(), (&'static str, Hinted)> {
        let name = Dense::ALL[self as usize].0;
        // Whatever stands at illegal actions is a mask.
        let of_legal = |numbers: &[f64]| {
            let number = |action: &Action| match numbers[usize::from(action.0)] {
                number if number.is_nan() => {
                    Err(format!("invalid number NaN of action {}", action.0))
                }
                number => Ok(number),
            };
            legal.actions.iter().map(number).collect::<Result<Vec<f64>, String>>()
        };
        let scored = beside.scores.is_some();
        let decided = match self {
            Dense::Actions => self.answer_legal(numbers, scored, legal, answers),
            _ => of_legal(numbers).map_err(Hinted::from).and_then(|of_legal| {
                if self == Dense::Probabilities {
                    nothing_illegal(numbers, legal)?;
                }
                self.answer_legal(&of_legal, scored, legal, answers)
            }),
        };
        decided.map_err(|what| (name, what))?;
        if let Some(scores) = beside.scores {
            answers.scores.extend(of_legal(scores).map_err(|what| ("scores", what.into()))?);
        }
        beside
            .value
            .map_or(Ok(()), |value| Dense::value(value, answers).map_err(|what| ("values", what)))
    }

    /// Adds probabilities for one position; `numbers` has one for each legal action, or a single one for
    /// [`Dense::Actions`]. Adds logits and scores as the policy's scores too, but logits only unless
    /// `scored`.
    pub(super) fn answer_legal(
        self,
        numbers: &[f64],
        scored: bool,
        legal: Legal<'_>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let Legal { actions, position } = legal;
        let at = answers.probabilities.len();
        answers.probabilities.resize(at + actions.len(), 0.0);
        let out = &mut answers.probabilities[at..];
        if self == Dense::Scores || self == Dense::Logits && !scored {
            answers.scores.extend_from_slice(numbers);
        }
        match self {
            // Terminal positions have no moves, and no request is made for them.
            _ if actions.is_empty() => {}
            Dense::Actions => {
                let number = numbers[0];
                let at = actions.iter().position(|action| f64::from(action.0) == number);
                let illegal = || {
                    let (position, legal) = (position(), listed(actions));
                    format!("illegal action {number} in '{position}': expected one of {legal}")
                };
                out[at.ok_or_else(illegal)?] = 1.0;
            }
            Dense::Logits => {
                out.copy_from_slice(numbers);
                softmax(out)?;
            }
            Dense::Probabilities => {
                out.copy_from_slice(numbers);
                normalise(out).map_err(|what| format!("{what} ('{}')", position()))?;
            }
            Dense::Scores => share_best(numbers, out),
        }
        Ok(())
    }

    /// Adds the value of one position, the outcome expected for its mover.
    pub(super) fn value(value: f64, answers: &mut Answers) -> Result<(), Hinted> {
        // Tolerance beyond −1 and 1, for rounded 32-bit floats.
        const ROUNDING: f64 = 1e-6;
        if value.is_nan() || value.abs() > 1.0 + ROUNDING {
            let hint = "expected -1 (the mover loses) to 1 (wins)";
            return Err(Hinted::new(format!("invalid value {value}"), hint));
        }
        answers.values.push(value.clamp(-1.0, 1.0));
        Ok(())
    }
}

/// Formats actions for a message: `1, 4, 11`.
pub(super) fn listed(actions: &[Action]) -> String {
    let numbers: Vec<String> = actions.iter().map(|action| action.0.to_string()).collect();
    numbers.join(", ")
}

/// Rejects probabilities of illegal moves.
fn nothing_illegal(numbers: &[f64], legal: Legal<'_>) -> Result<(), Hinted> {
    let Legal { actions, position } = legal;
    let is_legal = |at: usize| actions.binary_search(&Action(at as u16)).is_ok();
    match numbers.iter().enumerate().find(|&(at, &p)| p.abs() > 1e-6 && !is_legal(at)) {
        None => Ok(()),
        Some((at, p)) => {
            let (position, legal) = (position(), listed(actions));
            let what = format!(
                "probability {p} of the illegal action {at} in '{position}': legal are {legal}"
            );
            Err(Hinted::new(what, "expected 0, or logits, which are masked"))
        }
    }
}

/// Replaces logits by their softmax; minus infinity stands for probability 0. Fails if it is undefined.
fn softmax(logits: &mut [f64]) -> Result<(), &'static str> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return Err("invalid logits: minus infinity for all legal moves");
    }
    if most == f64::INFINITY {
        return Err("invalid logits: infinite for a legal move");
    }
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - most).exp();
        sum += *logit;
    }
    logits.iter_mut().for_each(|p| *p /= sum);
    Ok(())
}

/// Normalises probabilities whose sum is nearly 1. Fails if the sum is off, or one of them is invalid.
fn normalise(probabilities: &mut [f64]) -> Result<(), String> {
    // Tolerance of a sum, because probabilities may come from 32-bit floats; and the tolerance within which
    // they are left unchanged, so that a sixth remains a sixth.
    const LOOSE: f64 = 1e-3;
    const EXACT: f64 = 1e-9;
    if let Some(p) = probabilities.iter().find(|p| !(0.0..=1.0 + LOOSE).contains(*p)) {
        return Err(format!("invalid probability {p}"));
    }
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() > LOOSE {
        return Err(format!(
            "invalid probabilities: their sum over the legal moves is {sum}, expected 1"
        ));
    }
    if (sum - 1.0).abs() > EXACT {
        probabilities.iter_mut().for_each(|p| *p /= sum);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_logits_share_exactly_and_given_probabilities_are_left_alone() {
        let low = f64::NEG_INFINITY;
        let mut out = [700.5, low, 700.5, 700.5];
        softmax(&mut out).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(out, [third, 0.0, third, third]);
        assert!(softmax(&mut [low, low]).is_err());
        assert!(softmax(&mut [0.0, f64::INFINITY]).is_err());
        let mut tenths = [0.1; 10];
        normalise(&mut tenths).unwrap();
        assert_eq!(tenths, [0.1; 10]);
        let mut loose = [f64::from(0.3f32), f64::from(0.7001f32)];
        normalise(&mut loose).unwrap();
        assert!((loose[0] + loose[1] - 1.0).abs() < 1e-15 && loose[0] < 0.3, "{loose:?}");
        for mut wrong in [[0.4, 0.5], [1.1, -0.1], [f64::NAN, 1.0], [f64::INFINITY, 0.0]] {
            assert!(normalise(&mut wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn values_a_hair_beyond_are_rounded() {
        let mut answers = Answers::default();
        for value in [1.0000001, -1.0000001, 0.25] {
            Dense::value(value, &mut answers).unwrap();
        }
        assert_eq!(answers.values, [1.0, -1.0, 0.25]);
        for wrong in [1.00001, -1.5, f64::NAN, f64::INFINITY] {
            assert!(Dense::value(wrong, &mut answers).is_err());
        }
    }
}
