//! Chooses the outputs that are used, and the meaning of their numbers.
//!
//! A card defines them, if there is one, or options do. Otherwise names that say what an output is decide, as far as
//! its size for a position fits: as many numbers as squares, or one more for the pass, are a policy; one, or three for
//! win, draw and loss, are a value. Size alone decides where one output fits. The decision is printed.

use super::OutputRows;
use super::numbers::{OutputKind, PolicyHead, SLACK, ValueHead};
use super::spec::{MoveChoice, ReadingSpec, Softmax, ValueRange};
use crate::policy::card;
use yomikiri::error::Error;

/// Meaning of an output by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Logits,
    Probabilities,
    /// Logits or probabilities.
    Policy,
    /// Q-values of the actions.
    Q,
    /// Numbers whose order alone counts.
    Scores,
    /// The chosen action.
    Action,
    Value,
    /// The final score, in discs.
    FinalScore,
    /// Something else.
    Other,
}

impl Said {
    /// Returns what a name says; `None` if it may be anything.
    pub(super) fn by(name: &str) -> Option<Said> {
        if let Some(exact) = Said::exactly(name) {
            return Some(exact);
        }
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let has_part =
            |word: &str| name.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
        Some(match () {
            () if has_part("pass") || has(&["log_prob", "logprob", "left", "score", "entropy"]) => {
                Said::Other
            }
            () if has_part("q") || has(&["qvalue"]) => Said::Q,
            () if has(&["value", "wdl", "outcome"]) || has_part("v") => Said::Value,
            () if has(&["policy", "policies", "prob", "logit"]) || has_part("pi") => Said::Policy,
            () if has(&["action", "label", "move"]) => Said::Action,
            () => return None,
        })
    }

    /// Returns the meaning of a name that is documented for all policies.
    fn exactly(name: &str) -> Option<Said> {
        Some(match name {
            "logits" => Said::Logits,
            "probabilities" | "policies" => Said::Probabilities,
            "q_values" => Said::Q,
            "scores" => Said::Scores,
            "actions" => Said::Action,
            "values" => Said::Value,
            "final_scores" => Said::FinalScore,
            _ => return None,
        })
    }
}

/// Outputs that are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heads {
    pub policy: Option<PolicyHead>,
    /// Name of the output that orders the moves, beside one that chooses them.
    pub scores: Option<String>,
    /// Name of the value output, and its reading.
    pub value: Option<(String, ValueHead)>,
    /// Name of the output of final scores, beside a value.
    pub final_score: Option<String>,
    /// Depth of the search that chooses the moves; `None` if the policy output chooses.
    pub plies: Option<u32>,
    /// `true` if a position's value is that of the value output, not of its best move.
    pub own_value: bool,
}

impl Heads {
    /// Returns the names of the outputs that are used.
    pub(super) fn used(&self) -> Vec<&str> {
        let policy = self.policy.as_ref().map(|head| &head.output);
        let value = self.value.as_ref().map(|(name, _)| name);
        let used = [policy, self.scores.as_ref(), value, self.final_score.as_ref()];
        used.into_iter().flatten().map(String::as_str).collect()
    }
}

/// A game's actions, with the outputs for a few positions.
pub(super) struct Tried<'a> {
    pub spec: &'a ReadingSpec,
    pub tried: &'a [OutputRows],
    /// Number of the game's actions; `has_pass` if the last is the pass.
    pub actions: usize,
    pub has_pass: bool,
    /// `true` unless the numbers are a model's, see [`PolicyHead::is_strict`].
    pub is_strict: bool,
}

impl Tried<'_> {
    /// Chooses the outputs by the card or else by their shapes and names. The error asks for the options that
    /// resolve an ambiguity.
    pub(super) fn heads(&self, reading: Option<card::Reading>) -> Result<Heads, Error> {
        if let Some(reading) = reading {
            return self.of_card(reading);
        }
        let mut policy = self.policy()?;
        let value = self.value(policy)?;
        let plies = self.spec.depth.or_else(|| policy.is_none().then_some(1));
        if self.tried.is_empty() {
            return Err(Error::new(
                "neither a policy nor a value",
                "expected one of logits, probabilities, q_values, scores, actions, values",
            ));
        }
        if plies.is_some() && value.is_none() {
            let expected = match self.spec.depth {
                Some(_) => "the value",
                None => "a policy or a value",
            };
            return Err(Error::new(
                format!(
                    "no output found for {expected}; per position a policy has {}, and a value 1 number",
                    self.numbers()
                ),
                "name one with policy=NAME or value=NAME",
            ));
        }
        policy = policy.filter(|_| plies.is_none());
        let wide = |at: &usize| self.tried[*at].width == self.actions;
        let scores = self.saying(Said::Scores).find(|at| Some(*at) != policy && wide(at));
        // A model may have scores of another kind.
        let scores = scores.filter(|_| policy.is_some() && self.is_strict);
        let finals = self.saying(Said::FinalScore).find(|&at| self.tried[at].width == 1);
        Ok(Heads {
            policy: policy.map(|at| self.policy_head(at, scores)).transpose()?,
            scores: scores
                .filter(|_| self.spec.choice != Some(MoveChoice::Best))
                .map(|at| self.name(at)),
            value: value.map(|at| (self.name(at), self.value_head(at))),
            final_score: finals.map(|at| self.name(at)),
            plies,
            own_value: true,
        })
    }

    /// Finds the outputs that a card requires for its reading.
    fn of_card(&self, reading: card::Reading) -> Result<Heads, Error> {
        let output = |name: &str, width: usize| {
            let at = self.named(name).ok().filter(|&at| self.tried[at].width == width);
            let numbers = || format!("missing output `{name}` of {width} numbers (card)");
            at.map(|at| self.name(at)).ok_or_else(|| Error::from(numbers()))
        };
        let by_action = |name: &str, reading| {
            let columns = (0..self.actions).map(Some).collect();
            let (choice, output) = (MoveChoice::Best, output(name, self.actions)?);
            let is_strict = self.is_strict;
            Ok::<_, Error>(Some(PolicyHead { output, columns, reading, choice, is_strict }))
        };
        let (mut heads, plies) = (Heads::default(), self.spec.depth);
        match reading {
            card::Reading::Policy => {
                let clipped = ValueHead::One(ValueRange::Clip);
                heads.value = output("value", 1).ok().map(|name| (name, clipped));
                heads.own_value = plies.is_none();
                if plies.is_none() {
                    heads.policy = by_action("policy", OutputKind::Tied)?;
                } else if heads.value.is_none() {
                    return Err("missing output `value`, which the search needs".into());
                }
            }
            card::Reading::Q => heads.policy = by_action("q", OutputKind::Worths)?,
            card::Reading::Wins => heads.value = Some((output("wins", 2)?, ValueHead::Wins)),
            card::Reading::Discs => heads.value = Some((output("discs", 1)?, ValueHead::Share)),
            card::Reading::Win => return Err("invalid card: of a network for minishogi".into()),
        }
        heads.plies = match heads.policy {
            // The policy output already looks one ply ahead.
            Some(_) => plies.filter(|&plies| plies > 1),
            None => plies.or(Some(1)),
        };
        Ok(heads)
    }

    /// Describes how the outputs are read, and which are not.
    pub(super) fn words(&self, heads: &Heads) -> String {
        let mut words = Vec::new();
        if let Some(head) = &heads.policy {
            let reading = match head.reading {
                OutputKind::Label => "is the move",
                OutputKind::Logits => "as logits",
                OutputKind::Probabilities => "as probabilities",
                OutputKind::Weights => "as probabilities by proportion",
                OutputKind::Worths if Said::by(&head.output) == Some(Said::Q) => {
                    "as Q-values, the best move is played"
                }
                OutputKind::Worths | OutputKind::Tied => "as scores, the best move is played",
            };
            words.push(format!("policy `{}` {reading}", head.output));
        }
        if let Some((name, head)) = &heads.value {
            words.push(format!("value `{name}` {}", head.words()));
        }
        if let Some(plies) = heads.plies {
            let ahead = if plies == 1 { "a ply".to_string() } else { format!("{plies} plies") };
            words.push(format!("moves by the values {ahead} ahead"));
        }
        let used = heads.used();
        let left = self.tried.iter().filter(|output| !used.contains(&&*output.name));
        let left: Vec<String> = left.map(|output| format!("`{}`", output.name)).collect();
        if !left.is_empty() {
            words.push(format!("not used: {}", left.join(", ")));
        }
        words.join("; ")
    }

    /// Returns `true` if every output is used as its name, documented for all policies, says.
    pub(super) fn is_declared(&self, heads: &Heads) -> bool {
        let names = self.tried.iter().map(|output| output.name.as_str());
        let mut names = names.filter(|name| heads.used().contains(name));
        heads.used().len() == self.tried.len()
            && heads.policy.as_ref().is_some_and(|head| head.output != "answer")
            && names.all(|name| Said::exactly(name).is_some())
            && *self.spec == ReadingSpec { trained: self.spec.trained, ..ReadingSpec::default() }
    }

    fn name(&self, at: usize) -> String {
        self.tried[at].name.clone()
    }

    /// Describes how many numbers a policy has for a position.
    fn numbers(&self) -> String {
        match self.has_pass {
            true => format!("{}, or {} with the pass", self.actions - 1, self.actions),
            false => self.actions.to_string(),
        }
    }

    fn named(&self, name: &str) -> Result<usize, String> {
        let place = self.tried.iter().position(|output| output.name == name);
        place.ok_or_else(|| format!("missing or unsupported output `{name}`"))
    }

    /// Returns what the name of an output says.
    fn said(&self, at: usize) -> Option<Said> {
        Said::by(&self.tried[at].name)
    }

    fn saying(&self, said: Said) -> impl Iterator<Item = usize> {
        (0..self.tried.len()).filter(move |&at| self.said(at) == Some(said))
    }

    /// Returns the only output of `among`, or the only one whose name contains the first of `words` found in
    /// any.
    fn pick(&self, among: &[usize], words: &[&str], option: &str) -> Result<Option<usize>, String> {
        if among.len() < 2 {
            return Ok(among.first().copied());
        }
        for word in words {
            let has = |at: &&usize| self.tried[**at].name.to_lowercase().contains(word);
            let with: Vec<_> = among.iter().filter(has).collect();
            match with[..] {
                [] => {}
                [&only] => return Ok(Some(only)),
                _ => break,
            }
        }
        let names: Vec<_> = among.iter().map(|&at| self.tried[at].name.as_str()).collect();
        Err(format!(
            "ambiguous output for the {option}: expected {option}=NAME with one of {}",
            names.join(", ")
        ))
    }

    fn policy(&self) -> Result<Option<usize>, Error> {
        match self.spec.policy.as_deref() {
            Some("none") => return Ok(None),
            Some(name) => return Ok(Some(self.named(name)?)),
            None => {}
        }
        let fits = |&at: &usize| {
            let output = &self.tried[at];
            let may_be = !output.is_integer || self.said(at).is_some();
            // A function returns its policy without a name, however few the actions.
            let is_known = self.said(at).is_some() && self.actions <= 3
                || output.name == "answer" && output.width > 1;
            let is_wide = output.width > 3 || is_known;
            may_be && self.columns(at).is_ok() && is_wide
        };
        let among: Vec<usize> = (0..self.tried.len()).filter(fits).collect();
        let is_action = |&at: &usize| {
            let output = &self.tried[at];
            let is_whole = output.is_integer || output.name == "actions";
            let may_be = matches!(self.said(at), None | Some(Said::Action));
            is_whole && output.width == 1 && may_be
        };
        let actions: Vec<usize> = (0..self.tried.len()).filter(is_action).collect();
        let named = |at: &&usize| self.said(**at) == Some(Said::Action);
        let named: Vec<usize> = actions.iter().filter(named).copied().collect();
        if self.is_strict {
            // People write down one thing; a model's other outputs are by the way.
            let chooses = |&&at: &&usize| self.said(at).is_some_and(|said| said != Said::Scores);
            let chosen: Vec<usize> = among.iter().filter(chooses).chain(&named).copied().collect();
            if let [one, other, ..] = chosen[..] {
                let what = format!("both {} and {}", self.name(one), self.name(other));
                return Err(Error::new(what, "expected one of them"));
            }
        }
        let is_policy =
            |said| matches!(said, Some(Said::Policy | Said::Logits | Said::Probabilities));
        let by = |wanted: &dyn Fn(Option<Said>) -> bool| -> Vec<usize> {
            among.iter().filter(|&&at| wanted(self.said(at))).copied().collect()
        };
        let groups = [
            by(&is_policy),
            by(&|said| said == Some(Said::Q)),
            by(&|said| said.is_none()),
            if self.is_strict { named.clone() } else { Vec::new() },
            by(&|said| said == Some(Said::Scores)),
            by(&|said| matches!(said, Some(Said::Action | Said::Other | Said::FinalScore))),
        ];
        if let Some(some) = groups.iter().find(|some| !some.is_empty()) {
            return Ok(self.pick(some, &["policy", "prob", "logit"], "policy")?);
        }
        if let [at, ..] = among[..] {
            let (name, numbers) = (&self.tried[at].name, self.tried[at].width);
            let what = format!("the output `{name}` has {numbers} numbers, as many as a policy");
            return Err(Error::new(what, format!("set policy={name}, or policy=none")));
        }
        // One integer: the action itself.
        let some = if named.is_empty() { actions } else { named };
        Ok(self.pick(&some, &["action"], "policy")?)
    }

    fn value(&self, policy: Option<usize>) -> Result<Option<usize>, Error> {
        match self.spec.value.as_deref() {
            Some("none") => return Ok(None),
            Some(name) => {
                let at = self.named(name)?;
                return match self.tried[at].width {
                    1 | 3 => Ok(Some(at)),
                    width => Err(Error::new(
                        format!("invalid output `{name}`: {width} numbers per position"),
                        "expected 1, or 3 for win, draw and loss",
                    )),
                };
            }
            None => {}
        }
        let fits = |said: Option<Said>, widths: &[usize]| -> Vec<usize> {
            let fits = |&at: &usize| {
                let output = &self.tried[at];
                let is_free = Some(at) != policy && (!output.is_integer || said.is_some());
                is_free && widths.contains(&output.width) && self.said(at) == said
            };
            (0..self.tried.len()).filter(fits).collect()
        };
        let named = fits(Some(Said::Value), &[1, 3]);
        // Numbers of another name that people add are not a value.
        let is_value = named.is_empty() && !(self.is_strict && policy.is_some());
        let among = if is_value { fits(None, &[1]) } else { named };
        Ok(self.pick(&among, &["value", "wdl"], "value")?)
    }

    /// Returns the column of each action in an output.
    fn columns(&self, at: usize) -> Result<Vec<Option<usize>>, Error> {
        let OutputRows { name, width, classes, .. } = &self.tried[at];
        let (actions, width) = (self.actions, *width);
        let mut columns = vec![None; actions];
        if let Some(classes) = classes.as_ref().filter(|list| list.len() == width) {
            for (column, &class) in classes.iter().enumerate() {
                let place = usize::try_from(class).ok().and_then(|class| columns.get_mut(class));
                *place.ok_or_else(|| {
                    Error::new(
                        format!("invalid class {class} of `{name}`"),
                        format!("expected actions, 0 to {}", actions - 1),
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
                Some(true) => format!("expected {actions} with pass=yes"),
                Some(false) => format!("expected {} with pass=no", actions - 1),
                None => format!("expected {}", self.numbers()),
            };
            return Err(Error::new(
                format!("invalid output `{name}`: {width} numbers per position"),
                expected,
            ));
        }
        for (action, column) in columns.iter_mut().enumerate().take(width) {
            *column = Some(action);
        }
        Ok(columns)
    }

    /// Returns the reading of a policy output, beside one of scores if there is any.
    fn policy_head(&self, at: usize, scores: Option<usize>) -> Result<PolicyHead, Error> {
        let (output, is_strict) = (&self.tried[at], self.is_strict);
        let spec = self.spec;
        if output.width == 1 && (output.is_integer || output.name == "actions") {
            let (columns, choice, reading) = (Vec::new(), MoveChoice::Best, OutputKind::Label);
            let output = output.name.clone();
            return Ok(PolicyHead { output, columns, reading, choice, is_strict });
        }
        // The move of the highest score is played, then.
        let is_best = spec.choice == Some(MoveChoice::Best) && spec.policy.is_none();
        if let Some(scores) = scores.filter(|_| is_best) {
            return self.policy_head(scores, None);
        }
        let columns = self.columns(at)?;
        let said = self.said(at);
        // skl2onnx gives regressors this output; their numbers are not logits.
        let ranks = matches!(said, Some(Said::Q | Said::Scores)) || output.name == "variable";
        let choice = match spec.choice {
            Some(choice) => choice,
            None if ranks && spec.softmax == Softmax::Auto => MoveChoice::Best,
            None => MoveChoice::Sample,
        };
        let reading = match spec.softmax {
            _ if choice == MoveChoice::Best => OutputKind::Worths,
            Softmax::Yes => OutputKind::Logits,
            Softmax::No => OutputKind::Weights,
            Softmax::Auto if said == Some(Said::Logits) => OutputKind::Logits,
            Softmax::Auto if said == Some(Said::Probabilities) => OutputKind::Probabilities,
            Softmax::Auto if are_probabilities(output) => OutputKind::Probabilities,
            Softmax::Auto => OutputKind::Logits,
        };
        let output = output.name.clone();
        Ok(PolicyHead { output, columns, reading, choice, is_strict })
    }

    fn value_head(&self, at: usize) -> ValueHead {
        let output = &self.tried[at];
        let is_logits = match self.spec.softmax {
            Softmax::No => false,
            _ => !are_probabilities(output),
        };
        match output.width {
            3 => ValueHead::Three { is_logits },
            _ => ValueHead::One(self.spec.range),
        }
    }
}

/// Returns `true` if numbers look like probabilities, and no documented name says what they are.
pub(super) fn may_be_probabilities(output: &OutputRows) -> bool {
    output.width > 1 && Said::exactly(&output.name).is_none() && are_probabilities(output)
}

/// Returns `true` if every row is in [0, 1] and sums to 1.
fn are_probabilities(output: &OutputRows) -> bool {
    output.numbers.chunks(output.width.max(1)).all(|row| {
        // NaN is a mask.
        let told = || row.iter().filter(|p| !p.is_nan());
        (told().sum::<f64>() - 1.0).abs() <= SLACK && told().all(|&p| p >= 0.0)
    })
}
