//! Which of a model's outputs is the policy and which the value, and what their numbers mean.
//!
//! An output is known by how many numbers it has for a position: as many as squares, or one more
//! for the pass, is a policy; one is a value. Where that leaves a choice, names decide (`policy`,
//! `prob`; `value`), and where they do not, the person has to.

use super::file::{File, ModelOutput};
use super::session::Output;
use crate::game::Action;
use crate::hint::Hinted;
use crate::policy::onnx_spec::{Choice, Head, OnnxSpec, Softmax, ValueRange};
use crate::policy::share_best;

/// How far numbers may be from what they should be: single precision, summed up.
const SLACK: f64 = 1e-3;

/// What the outputs that are used mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heads {
    /// The output's place, and how it is read.
    pub policy: Option<(usize, PolicyHead)>,
    /// The same for the value.
    pub value: Option<(usize, ValueHead)>,
    /// Which of them chooses the moves; it is there.
    pub decides: Head,
}

/// How the policy output is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PolicyHead {
    /// By action: its column, if it has one.
    columns: Vec<Option<usize>>,
    reading: Reading,
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Logits,
    Probabilities,
    /// Numbers of which only the order counts.
    Worths,
    /// One integer: the action.
    Label,
}

/// How the value output is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueHead {
    range: ValueRange,
    /// For three numbers, win, draw and loss: whether they are logits.
    three: Option<bool>,
}

/// A game's actions and what was found out of a model.
pub(super) struct Found<'a> {
    pub spec: &'a OnnxSpec,
    pub file: &'a File,
    pub kept: &'a [ModelOutput],
    /// What the outputs say of a few positions.
    pub tried: &'a [Output],
    /// How many actions the game has, and whether the last is the pass.
    pub actions: usize,
    pub has_pass: bool,
}

impl Found<'_> {
    /// Decides, or says what the person has to decide.
    pub fn heads(&self) -> Result<Heads, Hinted> {
        let policy = self.policy()?;
        let value = self.value(policy)?;
        let decides = match (self.spec.output, policy, value) {
            (Some(Head::Policy) | None, Some(_), _) => Head::Policy,
            (Some(Head::Value) | None, _, Some(_)) => Head::Value,
            _ => {
                return Err(Hinted::new(
                    format!(
                        "no output is known as {}; for a position a policy has {}, a value 1",
                        match self.spec.output {
                            Some(Head::Policy) => "the policy",
                            Some(Head::Value) => "the value",
                            None => "a policy or a value",
                        },
                        self.numbers()
                    ),
                    "name one with policy=NAME or value=NAME",
                ));
            }
        };
        let policy = policy.filter(|_| decides == Head::Policy);
        Ok(Heads {
            policy: policy.map(|at| Ok::<_, Hinted>((at, self.policy_head(at)?))).transpose()?,
            value: value.map(|at| (at, self.value_head(at))),
            decides,
        })
    }

    /// How many numbers a policy has for a position, in words.
    fn numbers(&self) -> String {
        match self.has_pass {
            true => format!("{}, or {} with the pass", self.actions - 1, self.actions),
            false => self.actions.to_string(),
        }
    }

    fn named(&self, name: &str) -> Result<usize, String> {
        let place = self.kept.iter().position(|kept| kept.name == name || kept.tensor == name);
        place.ok_or_else(|| format!("it has no output '{name}' that can be computed"))
    }

    /// The one output among some whose name has the first of `words` that any has, or the only one.
    fn pick(&self, among: &[usize], words: &[&str], option: &str) -> Result<Option<usize>, String> {
        if among.len() < 2 {
            return Ok(among.first().copied());
        }
        for word in words {
            let has = |at: &&usize| self.kept[**at].name.to_lowercase().contains(word);
            let with: Vec<_> = among.iter().filter(has).collect();
            match with[..] {
                [] => {}
                [&only] => return Ok(Some(only)),
                _ => break,
            }
        }
        let names: Vec<_> = among.iter().map(|&at| self.kept[at].name.as_str()).collect();
        Err(format!(
            "which output is the {option}? Write {option}=NAME with one of {}",
            names.join(", ")
        ))
    }

    fn policy(&self) -> Result<Option<usize>, Hinted> {
        match self.spec.policy.as_deref() {
            Some("none") => return Ok(None),
            Some(name) => return Ok(Some(self.named(name)?)),
            None => {}
        }
        let fits = |&at: &usize| {
            let output = &self.tried[at];
            !output.is_integer && (self.columns(at).is_ok() && output.width > 3)
        };
        let among: Vec<usize> = (0..self.kept.len()).filter(fits).collect();
        Ok(self.pick(&among, &["policy", "prob", "logit"], "policy")?)
    }

    fn value(&self, policy: Option<usize>) -> Result<Option<usize>, Hinted> {
        match self.spec.value.as_deref() {
            Some("none") => return Ok(None),
            Some(name) => {
                let at = self.named(name)?;
                return match self.tried[at].width {
                    1 | 3 => Ok(Some(at)),
                    width => Err(Hinted::new(
                        format!("the output '{name}' has {width} numbers for a position"),
                        "a value has 1, or 3 for win, draw and loss",
                    )),
                };
            }
            None => {}
        }
        let fits = |&at: &usize| {
            let output = &self.tried[at];
            let is_three = output.width == 3 && self.kept[at].name.to_lowercase().contains("wdl");
            Some(at) != policy && !output.is_integer && (output.width == 1 || is_three)
        };
        let among: Vec<usize> = (0..self.kept.len()).filter(fits).collect();
        Ok(self.pick(&among, &["value", "wdl"], "value")?)
    }

    /// By action, the column of an output.
    fn columns(&self, at: usize) -> Result<Vec<Option<usize>>, Hinted> {
        let (actions, width) = (self.actions, self.tried[at].width);
        let name = &self.kept[at].name;
        let mut columns = vec![None; actions];
        if let Some(classes) = self.kept[at].classes.as_ref().filter(|list| list.len() == width) {
            for (column, &class) in classes.iter().enumerate() {
                let place = usize::try_from(class).ok().and_then(|class| columns.get_mut(class));
                *place.ok_or_else(|| {
                    Hinted::new(
                        format!("'{name}' has the class {class}"),
                        format!("classes are actions, 0 to {}", actions - 1),
                    )
                })? = Some(column);
            }
            return Ok(columns);
        }
        let expected = match self.spec.pass {
            Some(false) if self.has_pass => actions - 1..=actions - 1,
            None if self.has_pass => actions - 1..=actions,
            _ => actions..=actions,
        };
        if !expected.contains(&width) {
            let expected = match self.spec.pass.filter(|_| self.has_pass) {
                Some(true) => format!("with pass=yes it should have {actions}"),
                Some(false) => format!("with pass=no it should have {}", actions - 1),
                None => format!("a policy has {}", self.numbers()),
            };
            return Err(Hinted::new(
                format!("'{name}' has {width} numbers for a position"),
                expected,
            ));
        }
        for (action, column) in columns.iter_mut().enumerate().take(width) {
            *column = Some(action);
        }
        Ok(columns)
    }

    fn policy_head(&self, at: usize) -> Result<PolicyHead, Hinted> {
        let output = &self.tried[at];
        if output.is_integer && output.width == 1 {
            let (columns, choice) = (Vec::new(), Choice::Best);
            return Ok(PolicyHead { columns, reading: Reading::Label, choice });
        }
        let columns = self.columns(at)?;
        // What scikit-learn's regressors are exported with; their numbers are no logits.
        let is_regressor = self.file.producer() == "skl2onnx" && self.kept[at].name == "variable";
        let choice = match self.spec.choice {
            Some(choice) => choice,
            None if is_regressor && self.spec.softmax == Softmax::Auto => Choice::Best,
            None => Choice::Sample,
        };
        let reading = match self.spec.softmax {
            _ if choice == Choice::Best => Reading::Worths,
            Softmax::Yes => Reading::Logits,
            Softmax::No => Reading::Probabilities,
            Softmax::Auto if are_probabilities(output) => Reading::Probabilities,
            Softmax::Auto => Reading::Logits,
        };
        Ok(PolicyHead { columns, reading, choice })
    }

    fn value_head(&self, at: usize) -> ValueHead {
        let output = &self.tried[at];
        let is_logits = match self.spec.softmax {
            Softmax::No => false,
            _ => !are_probabilities(output),
        };
        let three = (output.width == 3).then_some(is_logits);
        ValueHead { range: self.spec.range, three }
    }
}

/// Whether every row is in [0, 1] and sums to 1.
fn are_probabilities(output: &Output) -> bool {
    output.numbers.chunks(output.width.max(1)).all(|row| {
        let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
        (sum - 1.0).abs() <= SLACK && row.iter().all(|&p| p >= 0.0)
    })
}

impl PolicyHead {
    /// Writes what a row says of the legal actions of a position: their scores, and their
    /// probabilities, which sum to 1. An action without a column is never chosen where another is
    /// legal that has one. Where nothing legal has any probability, all legal actions share it.
    pub fn read(
        &self,
        row: &[f32],
        actions: &[Action],
        scores: &mut [f64],
        probabilities: &mut [f64],
    ) -> Result<(), Hinted> {
        for (score, action) in scores.iter_mut().zip(actions) {
            let at = usize::from(action.0);
            *score = match self.reading {
                Reading::Label => f64::from(u8::from(row[0] == at as f32)),
                _ => match self.columns[at] {
                    Some(column) => f64::from(row[column]),
                    None if self.reading == Reading::Probabilities => 0.0,
                    None => f64::NEG_INFINITY,
                },
            };
            if score.is_nan() || *score == f64::INFINITY {
                return Err(format!("a number of its policy is {score}").into());
            }
            if self.reading == Reading::Probabilities && *score < -SLACK {
                return Err(Hinted::new(
                    format!("a probability of its policy is {score}"),
                    "write softmax=yes if it gives logits, move=best if it gives Q values",
                ));
            }
        }
        if self.choice == Choice::Best {
            share_best(scores, probabilities);
            return Ok(());
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass = |score: f64| match self.reading {
            Reading::Logits if best > f64::NEG_INFINITY => (score - best).exp(),
            Reading::Logits => 0.0,
            _ => score.max(0.0),
        };
        let sum: f64 = scores.iter().map(|&score| mass(score)).sum();
        let uniform = 1.0 / actions.len() as f64;
        for (probability, &score) in probabilities.iter_mut().zip(scores.iter()) {
            *probability = if sum > 0.0 { mass(score) / sum } else { uniform };
        }
        Ok(())
    }
}

impl ValueHead {
    /// Whether the values estimate the outcome.
    pub fn is_outcome(&self) -> bool {
        self.three.is_some() || self.range != ValueRange::Discs
    }

    /// What a row says the position is worth to its mover: as an outcome −1 to 1 but for errors of
    /// a regression, or in discs.
    pub fn read(&self, row: &[f32]) -> Result<f64, Hinted> {
        if row.iter().any(|number| number.is_nan()) {
            return Err("a number of its value is NaN".into());
        }
        if let (Some(is_logits), &[win, draw, loss]) = (self.three, row) {
            let [win, draw, loss] = [win, draw, loss].map(f64::from);
            if !is_logits {
                return Ok((win - loss).clamp(-1.0, 1.0));
            }
            let most = win.max(draw).max(loss);
            let [win, draw, loss] = [win, draw, loss].map(|logit| (logit - most).exp());
            return Ok((win - loss) / (win + draw + loss));
        }
        let number = f64::from(row[0]);
        let (value, expected) = match self.range {
            ValueRange::Unit => (2.0 * number - 1.0, "0 to 1"),
            ValueRange::Signed => (number, "-1 to 1"),
            ValueRange::Clip | ValueRange::Discs => return Ok(number),
        };
        if value.abs() > 1.0 + SLACK {
            return Err(Hinted::new(
                format!("its value is {number}, not from {expected}"),
                "write range=01 for 0 a loss to 1 a win, range=clip for a regression that errs, or range=discs for a disc difference",
            ));
        }
        Ok(value)
    }
}
