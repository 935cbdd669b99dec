//! Policy and value outputs of a model, and the meaning of their numbers.
//!
//! A card defines them, if there is one, or options do. Otherwise names that say what an output is decide, as far as
//! its size for a position fits: as many numbers as squares, or one more for the pass, are a policy; one, or three for
//! win, draw and loss, are a value. Size alone decides where one output fits. The decision is printed.

use super::file::{File, ModelOutput};
use super::session::OutputRows;
use crate::policy::network_spec::{MoveChoice, NetworkSpec, Softmax, ValueRange};
use crate::policy::{card, share_best};
use yomikiri::game::{Action, Empties, Game, GameExt, Outcome, Side};
use yomikiri::hint::Hinted;

/// Meaning of an output by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Policy,
    /// Q-values of the actions.
    Q,
    /// The chosen action.
    Action,
    Value,
    /// Something that is neither a policy nor a value.
    Other,
}

impl Said {
    /// Returns what a name says; `None` if it may be anything.
    fn by(name: &str) -> Option<Said> {
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
            () if has(&["policy", "prob", "logit"]) || has_part("pi") => Said::Policy,
            () if has(&["action", "label", "move"]) => Said::Action,
            () => return None,
        })
    }
}

/// Tolerance of sums of single-precision numbers.
const SLACK: f64 = 1e-3;

/// Tolerance within which logits are equal, relative to the larger of 1 and their size. The runtime adds
/// 32-bit numbers in an order of its own, so in sums of about a thousand products the last few of 24 bits
/// differ between mirror images of a move; 16 bits are compared. Values are compared exactly, because small
/// differences matter when a win is nearly certain.
const ROUNDING: f64 = 1.0 / (1 << 16) as f64;

/// Outputs that are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heads {
    /// Index of the policy output, and its reading.
    pub policy: Option<(usize, PolicyHead)>,
    /// Index of the value output, and its reading.
    pub value: Option<(usize, ValueHead)>,
    /// Depth of the search that chooses the moves; `None` if the policy output chooses.
    pub plies: Option<u32>,
    /// `true` if a position's value is that of the value output, not of its best move.
    pub own_value: bool,
}

/// Reading of the policy output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PolicyHead {
    /// Column of each action, if it has one.
    columns: Vec<Option<usize>>,
    reading: OutputKind,
    choice: MoveChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    Logits,
    Probabilities,
    /// Numbers whose order alone counts.
    Worths,
    /// As `Worths`, but numbers that differ by rounding are equal.
    Tied,
    /// One integer: the chosen action.
    Label,
}

/// Reading of the value output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueHead {
    /// One number.
    One(ValueRange),
    /// Win, draw and loss.
    Three {
        /// `true` for logits.
        is_logits: bool,
    },
    /// The probabilities that Black wins and that White wins.
    Wins,
    /// The share of all squares that the mover will own at the end.
    Share,
}

/// A game's actions, with the outputs of a trial run of the model.
pub(super) struct Tried<'a> {
    pub spec: &'a NetworkSpec,
    pub file: &'a File,
    pub kept: &'a [ModelOutput],
    /// Outputs for a few positions.
    pub tried: &'a [OutputRows],
    /// Number of the game's actions; `has_pass` if the last is the pass.
    pub actions: usize,
    pub has_pass: bool,
}

impl Tried<'_> {
    /// Chooses the outputs by the card or else by their shapes and names. The error asks for the options that
    /// resolve an ambiguity.
    pub(super) fn heads(&self, reading: Option<card::Reading>) -> Result<Heads, Hinted> {
        if let Some(reading) = reading {
            return self.of_card(reading);
        }
        let mut policy = self.policy()?;
        let value = self.value(policy)?;
        let plies = self.spec.plies.or_else(|| policy.is_none().then_some(1));
        if plies.is_some() && value.is_none() {
            return Err(Hinted::new(
                format!(
                    "no output found for {}; per position a policy has {} numbers, a value 1",
                    if self.spec.plies.is_some() { "the value" } else { "a policy or a value" },
                    self.numbers()
                ),
                "name one with policy=NAME or value=NAME",
            ));
        }
        policy = policy.filter(|_| plies.is_none());
        Ok(Heads {
            policy: policy.map(|at| Ok::<_, Hinted>((at, self.policy_head(at)?))).transpose()?,
            value: value.map(|at| (at, self.value_head(at))),
            plies,
            own_value: true,
        })
    }

    /// Finds the outputs that a card requires for its reading.
    fn of_card(&self, reading: card::Reading) -> Result<Heads, Hinted> {
        let output = |name: &str, width: usize| {
            let at = self.named(name).ok().filter(|&at| self.tried[at].width == width);
            let numbers = || format!("missing output `{name}` of {width} numbers (card)");
            at.ok_or_else(|| Hinted::from(numbers()))
        };
        let by_action = |name: &str, reading| {
            let columns = (0..self.actions).map(Some).collect();
            let head = PolicyHead { columns, reading, choice: MoveChoice::Best };
            Ok::<_, Hinted>(Some((output(name, self.actions)?, head)))
        };
        let (mut heads, plies) = (Heads::default(), self.spec.plies);
        match reading {
            card::Reading::Policy => {
                let clipped = ValueHead::One(ValueRange::Clip);
                heads.value = output("value", 1).ok().map(|at| (at, clipped));
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
        let name = |at: usize| format!("`{}`", self.kept[at].name);
        let mut words = Vec::new();
        if let Some((at, head)) = &heads.policy {
            let reading = match head.reading {
                OutputKind::Label => "is the move",
                OutputKind::Logits => "as logits",
                OutputKind::Probabilities => "as probabilities",
                OutputKind::Worths if self.said(*at) == Some(Said::Q) => {
                    "as Q-values, the best move is played"
                }
                OutputKind::Worths | OutputKind::Tied => "as scores, the best move is played",
            };
            words.push(format!("policy {} {reading}", name(*at)));
        }
        if let Some((at, head)) = &heads.value {
            let reading = match head {
                ValueHead::Three { is_logits: true } => "as logits of win, draw, loss",
                ValueHead::Three { is_logits: false } => "as win, draw, loss",
                ValueHead::Wins => "as chances of Black and White",
                ValueHead::Share => "as share of the squares",
                ValueHead::One(ValueRange::Unit) => "from 0 to 1",
                ValueHead::One(ValueRange::Discs) => "in discs",
                ValueHead::One(ValueRange::Signed | ValueRange::Clip) => "from -1 to 1",
            };
            words.push(format!("value {} {reading}", name(*at)));
        }
        if let Some(plies) = heads.plies {
            words.push(format!("moves by the values {plies} plies ahead"));
        }
        let used = [heads.policy.as_ref().map(|(at, _)| *at), heads.value.map(|(at, _)| at)];
        let left = (0..self.kept.len()).filter(|&at| !used.contains(&Some(at))).map(name);
        let left: Vec<String> = left.collect();
        if !left.is_empty() {
            words.push(format!("not used: {}", left.join(", ")));
        }
        words.join("; ")
    }

    /// Describes how many numbers a policy has for a position.
    fn numbers(&self) -> String {
        match self.has_pass {
            true => format!("{}, or {} with the pass", self.actions - 1, self.actions),
            false => self.actions.to_string(),
        }
    }

    fn named(&self, name: &str) -> Result<usize, String> {
        let place = self.kept.iter().position(|kept| kept.name == name || kept.tensor == name);
        place.ok_or_else(|| format!("missing or unsupported output `{name}`"))
    }

    /// Returns the only output of `among`, or the only one whose name contains the first of `words` found in
    /// any.
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
            "ambiguous output for the {option}: expected {option}=NAME with one of {}",
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
        let saying = |said: Option<Said>| -> Vec<usize> {
            among.iter().filter(|&&at| self.said(at) == said).copied().collect()
        };
        for said in [Some(Said::Policy), Some(Said::Q), None, Some(Said::Action), Some(Said::Other)]
        {
            let some = saying(said);
            if !some.is_empty() {
                return Ok(self.pick(&some, &["policy", "prob", "logit"], "policy")?);
            }
        }
        if let [at, ..] = among[..] {
            let (name, numbers) = (&self.kept[at].name, self.tried[at].width);
            let what = format!("the output `{name}` has {numbers} numbers, as many as a policy");
            return Err(Hinted::new(what, format!("set policy={name}, or policy=none")));
        }
        // One integer: the action itself.
        let is_action = |&at: &usize| self.tried[at].is_integer && self.tried[at].width == 1;
        let actions: Vec<usize> = (0..self.kept.len()).filter(is_action).collect();
        let named = |at: &&usize| self.said(**at) == Some(Said::Action);
        let named: Vec<usize> = actions.iter().filter(named).copied().collect();
        let some = if named.is_empty() { actions } else { named };
        Ok(self.pick(&some, &["action"], "policy")?)
    }

    /// Returns what the name of an output says.
    fn said(&self, at: usize) -> Option<Said> {
        Said::by(&self.kept[at].name)
    }

    fn value(&self, policy: Option<usize>) -> Result<Option<usize>, Hinted> {
        match self.spec.value.as_deref() {
            Some("none") => return Ok(None),
            Some(name) => {
                let at = self.named(name)?;
                return match self.tried[at].width {
                    1 | 3 => Ok(Some(at)),
                    width => Err(Hinted::new(
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
                let is_free = Some(at) != policy && !output.is_integer;
                is_free && widths.contains(&output.width) && self.said(at) == said
            };
            (0..self.kept.len()).filter(fits).collect()
        };
        let named = fits(Some(Said::Value), &[1, 3]);
        let among = if named.is_empty() { fits(None, &[1]) } else { named };
        Ok(self.pick(&among, &["value", "wdl"], "value")?)
    }

    /// Returns the column of each action in an output.
    fn columns(&self, at: usize) -> Result<Vec<Option<usize>>, Hinted> {
        let (actions, width) = (self.actions, self.tried[at].width);
        let name = &self.kept[at].name;
        let mut columns = vec![None; actions];
        if let Some(classes) = self.kept[at].classes.as_ref().filter(|list| list.len() == width) {
            for (column, &class) in classes.iter().enumerate() {
                let place = usize::try_from(class).ok().and_then(|class| columns.get_mut(class));
                *place.ok_or_else(|| {
                    Hinted::new(
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
            return Err(Hinted::new(
                format!("invalid output `{name}`: {width} numbers per position"),
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
            let (columns, choice) = (Vec::new(), MoveChoice::Best);
            return Ok(PolicyHead { columns, reading: OutputKind::Label, choice });
        }
        let columns = self.columns(at)?;
        // skl2onnx gives regressors this output; their numbers are not logits.
        let is_regressor = self.file.producer() == "skl2onnx" && self.kept[at].name == "variable";
        let choice = match self.spec.choice {
            Some(choice) => choice,
            None if (is_regressor || self.said(at) == Some(Said::Q))
                && self.spec.softmax == Softmax::Auto =>
            {
                MoveChoice::Best
            }
            None => MoveChoice::Sample,
        };
        let reading = match self.spec.softmax {
            _ if choice == MoveChoice::Best => OutputKind::Worths,
            Softmax::Yes => OutputKind::Logits,
            Softmax::No => OutputKind::Probabilities,
            Softmax::Auto if are_probabilities(output) => OutputKind::Probabilities,
            Softmax::Auto => OutputKind::Logits,
        };
        Ok(PolicyHead { columns, reading, choice })
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

/// Returns `true` if every row is in [0, 1] and sums to 1.
fn are_probabilities(output: &OutputRows) -> bool {
    output.numbers.chunks(output.width.max(1)).all(|row| {
        let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
        (sum - 1.0).abs() <= SLACK && row.iter().all(|&p| p >= 0.0)
    })
}

impl PolicyHead {
    /// Returns a row's number for an action. An action without a column loses to every legal one with a
    /// column.
    pub(super) fn number(&self, row: &[f32], action: Action) -> f64 {
        let at = usize::from(action.0);
        match self.reading {
            OutputKind::Label => f64::from(u8::from(row[0] == at as f32)),
            _ => match self.columns[at] {
                Some(column) => f64::from(row[column]),
                None if self.reading == OutputKind::Probabilities => 0.0,
                None => f64::NEG_INFINITY,
            },
        }
    }

    /// Writes the probabilities of actions from their numbers. If no legal action has any probability, they
    /// are uniform.
    pub(super) fn probabilities(&self, scores: &mut [f64], out: &mut [f64]) -> Result<(), Hinted> {
        if let Some(score) = scores.iter().find(|s| s.is_nan() || **s == f64::INFINITY) {
            return Err(format!("invalid number {score} of the policy").into());
        }
        let is_probability = self.reading == OutputKind::Probabilities;
        if let Some(score) = scores.iter().find(|score| is_probability && **score < -SLACK) {
            return Err(Hinted::new(
                format!("invalid probability {score} of the policy"),
                "set softmax=yes for logits, move=best for Q values",
            ));
        }
        if self.reading == OutputKind::Tied {
            tie(scores);
        }
        if self.choice == MoveChoice::Best {
            share_best(scores, out);
            return Ok(());
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass = |score: f64| match self.reading {
            OutputKind::Logits if best > f64::NEG_INFINITY => (score - best).exp(),
            OutputKind::Logits => 0.0,
            _ => score.max(0.0),
        };
        let sum: f64 = scores.iter().map(|&score| mass(score)).sum();
        let uniform = 1.0 / scores.len() as f64;
        for (probability, &score) in out.iter_mut().zip(scores.iter()) {
            *probability = if sum > 0.0 { mass(score) / sum } else { uniform };
        }
        Ok(())
    }
}

/// Makes logits equal that differ by at most [`ROUNDING`]: those within it of a higher one take its value.
/// Rounding to multiples would not do, since equal moves on both sides of a half would be split.
fn tie(scores: &mut [f64]) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut highest = f64::INFINITY;
    for at in order {
        if highest - scores[at] > ROUNDING * scores[at].abs().max(1.0) {
            highest = scores[at];
        }
        scores[at] = highest;
    }
}

impl ValueHead {
    /// Returns `true` if the values estimate the outcome.
    pub(super) fn is_outcome(self) -> bool {
        !matches!(self, ValueHead::One(ValueRange::Discs) | ValueHead::Share)
    }

    /// Returns the value of a row for the mover: an outcome in −1 to 1 (beyond it by regression errors), in
    /// discs, or twice the share of squares minus 1.
    pub(super) fn read(self, row: &[f32], mover: Side) -> Result<f64, Hinted> {
        if row.iter().any(|number| number.is_nan()) {
            return Err("invalid number NaN of the value".into());
        }
        let number = |at: usize| f64::from(row[at]);
        let (value, expected) = match self {
            ValueHead::Three { is_logits: false } => {
                return Ok((number(0) - number(2)).clamp(-1.0, 1.0));
            }
            ValueHead::Three { is_logits: true } => {
                let most = number(0).max(number(1)).max(number(2));
                let [win, draw, loss] = [0, 1, 2].map(|at| (number(at) - most).exp());
                return Ok((win - loss) / (win + draw + loss));
            }
            ValueHead::Wins => {
                let black = number(0) - number(1);
                return Ok(if mover == Side::First { black } else { -black });
            }
            ValueHead::Share => return Ok(2.0 * number(0) - 1.0),
            ValueHead::One(ValueRange::Clip | ValueRange::Discs) => return Ok(number(0)),
            ValueHead::One(ValueRange::Unit) => (2.0 * number(0) - 1.0, "0 to 1"),
            ValueHead::One(ValueRange::Signed) => (number(0), "-1 to 1"),
        };
        if value.abs() > 1.0 + SLACK {
            return Err(Hinted::new(
                format!("invalid value {}: expected {expected}", row[0]),
                "set range=01 for 0 (loss) to 1 (win), range=clip for regression errors, range=discs for a disc difference",
            ));
        }
        Ok(value)
    }

    /// Returns the value of a terminal position for its mover, on the same scale.
    pub(super) fn at_the_end<G: Game>(self, game: &G, state: &G::State) -> f64 {
        match self {
            ValueHead::One(ValueRange::Discs) => f64::from(game.score(state, Empties::Uncounted).0),
            ValueHead::Share => {
                let squares = (game.action_count() - 1) as f64;
                let held = game.squares(state).unwrap_or_default().0.count_ones();
                2.0 * f64::from(held) / squares - 1.0
            }
            _ => f64::from(game.result(state).unwrap_or(Outcome::Draw).value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_that_differ_by_rounding_are_equal() {
        let mut scores = [3.0, 1.0 + 1e-6, 1.0, -20.0, -20.0 - 1e-4, 1.001];
        tie(&mut scores);
        assert_eq!(scores, [3.0, 1.0 + 1e-6, 1.0 + 1e-6, -20.0, -20.0, 1.001]);
    }
}
