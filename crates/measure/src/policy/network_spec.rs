//! Text form of networks: `onnx:model.onnx?layout=nhwc,value=none`, or `learned:td-othello-4x4?plies=3` for a
//! stored one.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::TrainedSpec;
use super::grammar::{SpecParts, YES_NO, name_of, one_of, refused, write_options};
use yomikiri::game::encode::{Layout, Plane};
use yomikiri::hint::Hinted;

/// A network, how it is read and how it plays. The text form reads back as the same specification.
///
/// Options follow the last `?`, separated by commas. Defaults come from the card beside the model, or are
/// guessed from the model's inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NetworkSpec {
    /// Path of the file; for a stored network its name, or its path with or without an extension.
    pub path: PathBuf,
    /// `true` for a stored network, `learned:NAME`.
    pub kept: bool,
    /// `layout=`: layout of positions.
    pub layout: Option<Layout>,
    /// `planes=`: planes of the layout, by default the mover's and the opponent's discs.
    pub planes: Option<Vec<Plane>>,
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
    /// `plies=`: depth of its search, including the move itself.
    pub plies: Option<u32>,
    /// `width=`: number of moves per position that the search of minishogi keeps.
    pub width: Option<u32>,
    /// `mate=`: number of positions in minishogi's search for mates.
    pub mate: Option<u32>,
    /// Time limit for loading the model and for each answer; by default
    /// [`PolicySpec::LIMIT`](super::PolicySpec::LIMIT). Not part of the text form.
    pub limit: Option<Duration>,
}

/// Interpretation of the policy output: logits, which take a softmax, or probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Softmax {
    /// Probabilities if every sampled row is in [0, 1] and sums to 1, otherwise logits.
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
pub(super) const CHOICES: &[(&str, MoveChoice)] =
    &[("sample", MoveChoice::Sample), ("best", MoveChoice::Best)];
const RANGES: &[(&str, ValueRange)] = &[
    ("-11", ValueRange::Signed),
    ("01", ValueRange::Unit),
    ("clip", ValueRange::Clip),
    ("discs", ValueRange::Discs),
];
const KEYS: &str = "layout, planes, pass, policy, value, softmax, move, range, trained, symmetric, plies, width, mate";

impl NetworkSpec {
    /// `true` if models can be read: with the feature `onnx`.
    pub const IS_BUILT_IN: bool = cfg!(feature = "onnx");
    /// Error if models cannot be read, with its hint.
    pub const NOT_BUILT_IN: (&'static str, &'static str) =
        ("this build does not include ONNX", "build with --features onnx");

    /// Parses the text behind `onnx:`.
    pub fn onnx(text: &str) -> Result<NetworkSpec, Hinted> {
        let form = ("file", "onnx:FILE or 'onnx:FILE?layout=nchw'");
        NetworkSpec::default().read("onnx", text, form)
    }

    /// Parses the text behind `learned:`.
    pub fn learned(text: &str) -> Result<NetworkSpec, Hinted> {
        let spec = NetworkSpec { kept: true, ..NetworkSpec::default() };
        spec.read("learned", text, ("network", "learned:NAME"))
    }

    fn read(mut self, name: &str, text: &str, form: (&str, &str)) -> Result<NetworkSpec, Hinted> {
        let parts = SpecParts { name, argument: Some(text) };
        self.path = parts.options(form, |key, value| self.set(key, value))?.into();
        if let Some(layout) = self.layout.filter(|layout| !layout.takes_planes())
            && self.planes.is_some()
        {
            return Err(refused(
                parts,
                Hinted::new(
                    format!(": layout {layout} defines its planes"),
                    "leave planes out, or use nchw, nhwc, flat or interleaved",
                ),
            ));
        }
        Ok(self)
    }

    /// Sets an option; the error lists the valid values.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |most: u32| {
            let number = value.parse().ok().filter(|n| (1..=most).contains(n));
            number.map(Some).ok_or_else(|| format!("whole numbers from 1 to {most}"))
        };
        match key {
            "layout" => self.layout = Some(Layout::named(value).ok_or_else(Layout::names)?),
            "planes" => {
                self.planes = Some(Plane::read_list(value).map_err(|_| {
                    format!("lists such as mover+opponent+legal, of {}", Plane::names())
                })?);
            }
            "pass" => self.pass = Some(one_of(YES_NO, value)?),
            "policy" if !value.is_empty() => self.policy = Some(value.to_string()),
            "value" if !value.is_empty() => self.value = Some(value.to_string()),
            "policy" | "value" => return Err("the name of an output, none".to_string()),
            "softmax" => self.softmax = one_of(SOFTMAX, value)?,
            "move" => self.choice = Some(one_of(CHOICES, value)?),
            "range" => self.range = one_of(RANGES, value)?,
            "trained" => self.trained = Some(value.parse()?),
            "symmetric" => self.symmetric = one_of(YES_NO, value)?,
            "plies" => self.plies = number(20)?,
            "width" => self.width = number(100)?,
            "mate" => self.mate = number(100_000_000)?,
            _ => return Err(KEYS.to_string()),
        }
        Ok(())
    }

    /// Returns `true` if an option defines how outputs are read, which overrides the card.
    pub fn defines_reading(&self) -> bool {
        let Self { layout, planes, pass, policy, value, softmax, choice, range, .. } = self;
        let given = [layout.is_some(), planes.is_some(), pass.is_some(), policy.is_some()];
        let also = [value.is_some(), *softmax != Softmax::Auto, choice.is_some()];
        given.into_iter().chain(also).any(|given| given) || *range != ValueRange::Signed
    }
}

impl fmt::Display for NetworkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |planes: &Vec<Plane>| planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+");
        let number = |n: Option<u32>| n.map(|n| n.to_string());
        let (softmax, range) = (self.softmax, self.range);
        // Defaults are omitted.
        let options = [
            ("layout", self.layout.map(|layout| layout.to_string())),
            ("planes", self.planes.as_ref().map(list)),
            ("pass", self.pass.and_then(|pass| name_of(YES_NO, pass))),
            ("policy", self.policy.clone()),
            ("value", self.value.clone()),
            ("softmax", name_of(SOFTMAX, softmax).filter(|_| softmax != Softmax::default())),
            ("move", self.choice.and_then(|choice| name_of(CHOICES, choice))),
            ("range", name_of(RANGES, range).filter(|_| range != ValueRange::default())),
            ("trained", self.trained.map(|trained| trained.to_string())),
            ("symmetric", self.symmetric.then(|| "yes".to_string())),
            ("plies", number(self.plies)),
            ("width", number(self.width)),
            ("mate", number(self.mate)),
        ];
        f.write_str(if self.kept { "learned:" } else { "onnx:" })?;
        write_options(f, &self.path.display().to_string(), &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::hint::Hint as _;

    #[test]
    fn text_reads_back() {
        let texts = [
            "m.onnx",
            "dir/m.onnx?layout=nhwc,planes=mover+opponent+legal,pass=no",
            "m.onnx?policy=p,value=none,softmax=no,move=best,range=01,trained=train:7",
            "m.onnx?layout=openspiel,range=clip,symmetric=yes,plies=3",
            "why?m.onnx?",
        ];
        for text in texts {
            let spec = NetworkSpec::onnx(text).unwrap();
            assert_eq!(spec.to_string(), format!("onnx:{text}"));
            assert_eq!(NetworkSpec::learned(text).unwrap().to_string(), format!("learned:{text}"));
        }
        let defaults = NetworkSpec::onnx("m.onnx?softmax=auto&range=-11").unwrap();
        assert_eq!(defaults.to_string(), "onnx:m.onnx");
    }

    #[test]
    fn unknown_options_are_answered_with_the_known_ones() {
        let error = |text: &str| NetworkSpec::onnx(text).unwrap_err().line();
        assert!(error("").contains("missing file"));
        assert!(error("?layout=nchw").contains("missing file"));
        assert!(error("m.onnx?shape=2").ends_with(KEYS));
        assert!(error("m.onnx?layout=hwc").ends_with(&Layout::names()));
        assert!(error("m.onnx?planes=mover,opponent").contains("unknown option `opponent`"));
        assert!(error("m.onnx?planes=mover+theirs").ends_with(&Plane::names()));
        assert!(error("m.onnx?pass=maybe").ends_with("expected yes, no"));
        assert!(error("m.onnx?policy=").ends_with("the name of an output, none"));
        assert!(error("m.onnx?range=2").contains("unknown option `range=2`; expected -11, 01"));
        assert!(error("m.onnx?plies=21").ends_with("whole numbers from 1 to 20"));
        let planes = error("m.onnx?layout=openspiel,planes=mover");
        assert!(planes.contains("layout openspiel defines its planes"), "{planes}");
        let none = NetworkSpec::learned("").unwrap_err().line();
        assert_eq!(none, "policy 'learned:': missing network; expected learned:NAME");
    }
}
