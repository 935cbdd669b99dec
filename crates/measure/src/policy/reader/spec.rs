//! Options that say what a policy's numbers mean: the same words behind `?` for models, files and programs, on
//! cards, and as keywords in Python.

use yomikiri::rules::encode::{Layout, Plane};

use crate::policy::TrainedSpec;
use crate::policy::grammar::{YES_NO, name_of, one_of};

/// Declared meaning of a policy's input and numbers; names and sizes decide the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReadingSpec {
    /// `layout=`: layout of positions.
    pub layout: Option<Layout>,
    /// `planes=`: planes of the layout, by default the mover's and the opponent's discs.
    pub planes: Option<Vec<Plane>>,
    /// `batch=`: number of positions in every question; any number if `None`.
    pub batch: Option<u32>,
    /// `pass=yes|no`: whether the policy output has a number for the pass.
    pub pass: Option<bool>,
    /// `policy=`: name of the policy output; `none` if there is none.
    pub policy: Option<String>,
    /// `value=`: name of the value output; `none` to ignore it.
    pub value: Option<String>,
    /// `softmax=auto|yes|no`.
    pub softmax: Softmax,
    /// `move=sample|best`.
    pub choice: Option<MoveChoice>,
    /// `range=-11|01|clip|discs`.
    pub range: ValueRange,
    /// `trained=train[:SEED]`: positions it was trained on.
    pub trained: Option<TrainedSpec>,
    /// `symmetric=yes`: averages its answers over all images of a position.
    pub symmetric: bool,
    /// `depth=`: plies of its search, including the move itself.
    pub depth: Option<u32>,
}

/// Interpretation of the policy output: logits, which take a softmax, or probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Softmax {
    /// By the output's name; else probabilities if every sampled row is in [0, 1] and sums to 1, otherwise logits.
    #[default]
    Auto,
    /// Logits.
    Yes,
    /// Probabilities, or other nonnegative numbers.
    No,
}

/// Choice of moves by the policy output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveChoice {
    /// Plays with its probabilities.
    Sample,
    /// Plays the highest: for Q values, or for a network's first choice.
    Best,
}

/// Scale of the value output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueRange {
    /// −1 (loss of the mover) to 1 (win).
    #[default]
    Signed,
    /// 0 (loss) to 1 (win).
    Unit,
    /// −1 to 1 but for regression errors, which are clamped.
    Clip,
    /// Final disc difference: used in searches and compared with the exact score, but not an estimate of the
    /// outcome.
    Discs,
}

const SOFTMAX: &[(&str, Softmax)] =
    &[("auto", Softmax::Auto), ("yes", Softmax::Yes), ("no", Softmax::No)];
const CHOICES: &[(&str, MoveChoice)] =
    &[("sample", MoveChoice::Sample), ("best", MoveChoice::Best)];
const RANGES: &[(&str, ValueRange)] = &[
    ("-11", ValueRange::Signed),
    ("01", ValueRange::Unit),
    ("clip", ValueRange::Clip),
    ("discs", ValueRange::Discs),
];

/// Options of the input, which only models and functions have.
const OF_INPUT: [&str; 2] = ["layout", "planes"];
const OF_NUMBERS: [&str; 10] = [
    "batch",
    "pass",
    "policy",
    "value",
    "softmax",
    "move",
    "range",
    "trained",
    "symmetric",
    "depth",
];

impl ReadingSpec {
    /// Returns the names of the options, with those of the input if it `has_input` of planes.
    pub(crate) fn keys(has_input: bool) -> String {
        let input = OF_INPUT.iter().filter(|_| has_input);
        input.chain(&OF_NUMBERS).copied().collect::<Vec<_>>().join(", ")
    }

    /// Returns `true` if a text starts with an option.
    pub(crate) fn is_option(text: &str) -> bool {
        let key = text.split_once('=').map(|(key, _)| key);
        key.is_some_and(|key| OF_INPUT.contains(&key) || OF_NUMBERS.contains(&key))
    }

    /// Sets an option. Returns `false` if there is no such option; the error lists the valid values.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "layout" => self.layout = Some(Layout::named(value).ok_or_else(Layout::names)?),
            "planes" => {
                self.planes = Some(Plane::read_list(value).map_err(|_| {
                    format!("lists such as mover+opponent+legal, of {}", Plane::names())
                })?);
            }
            "batch" => self.batch = Some(number(value, 1024)?),
            "pass" => self.pass = Some(one_of(YES_NO, value)?),
            "policy" if !value.is_empty() => self.policy = Some(value.to_string()),
            "value" if !value.is_empty() => self.value = Some(value.to_string()),
            "policy" | "value" => return Err("the name of an output, none".to_string()),
            "softmax" => self.softmax = one_of(SOFTMAX, value)?,
            "move" => self.choice = Some(one_of(CHOICES, value)?),
            "range" => self.range = one_of(RANGES, value)?,
            "trained" => self.trained = Some(value.parse()?),
            "symmetric" => self.symmetric = one_of(YES_NO, value)?,
            "depth" => self.depth = Some(number(value, 20)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads options of a function; the error names the first that is invalid.
    pub fn of(options: &[(String, String)]) -> Result<ReadingSpec, String> {
        let mut spec = ReadingSpec::default();
        for (key, value) in options {
            let known = match spec.set(key, value) {
                Ok(true) => continue,
                Ok(false) => {
                    return Err(format!(
                        "unknown option `{key}`: expected {}",
                        ReadingSpec::keys(true)
                    ));
                }
                Err(known) => known,
            };
            return Err(format!("invalid {key} `{value}`: expected {known}"));
        }
        Ok(spec)
    }

    /// Returns the options that differ from the defaults, in a form that reads back.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        let list =
            |planes: &Vec<Plane>| planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+");
        let (softmax, range) = (self.softmax, self.range);
        let options = [
            ("layout", self.layout.map(|layout| layout.to_string())),
            ("planes", self.planes.as_ref().map(list)),
            ("batch", self.batch.map(|batch| batch.to_string())),
            ("pass", self.pass.and_then(|pass| name_of(YES_NO, pass))),
            ("policy", self.policy.clone()),
            ("value", self.value.clone()),
            ("softmax", name_of(SOFTMAX, softmax).filter(|_| softmax != Softmax::default())),
            ("move", self.choice.and_then(|choice| name_of(CHOICES, choice))),
            ("range", name_of(RANGES, range).filter(|_| range != ValueRange::default())),
            ("trained", self.trained.map(|trained| trained.to_string())),
            ("symmetric", self.symmetric.then(|| "yes".to_string())),
            ("depth", self.depth.map(|plies| plies.to_string())),
        ];
        options.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// Returns `true` if an option says how input and outputs are read, which overrides a card.
    pub fn defines_reading(&self) -> bool {
        let beside = ["batch", "trained", "symmetric", "depth"];
        self.options().iter().any(|(key, _)| !beside.contains(key))
    }
}

/// Parses a number from 1; the error says so.
pub(crate) fn number(text: &str, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("whole numbers from 1 to {most}"))
}
