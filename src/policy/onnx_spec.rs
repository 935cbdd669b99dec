//! What a person writes for a policy in an ONNX file: `onnx:model.onnx?layout=nhwc,value=none`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::encode::{Layout, Plane};
use super::grammar::{Parts, PolicySpecError, YES_NO, name_of, one_of, write_options};
use super::{Policy, PolicyError, TrainedSpec};
use crate::game::Game;
use crate::hint::Hinted;

/// A model's file and how it is to be read. The text form reads back as the same specification.
///
/// What follows the last `?` are options, separated by commas. What is left out is guessed from the
/// model's inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OnnxSpec {
    /// The file.
    pub path: PathBuf,
    /// `layout=`: how positions are laid out.
    pub layout: Option<Layout>,
    /// `planes=`: what the planes of a layout are, if not the mover's and the opponent's discs.
    pub planes: Option<Vec<Plane>>,
    /// `pass=yes|no`: whether the policy has a number for the pass.
    pub pass: Option<bool>,
    /// `policy=`: the name of the output that is the policy; `none` if there is none.
    pub policy: Option<String>,
    /// `value=`: the name of the output that is the value; `none` if it is not to be used.
    pub value: Option<String>,
    /// `output=policy|value`: what chooses the moves.
    pub output: Option<Head>,
    /// `softmax=auto|yes|no`.
    pub softmax: Softmax,
    /// `move=sample|best`.
    pub choice: Option<Choice>,
    /// `range=-11|01|clip|discs`.
    pub range: ValueRange,
    /// How long reading the model, and each of its answers, may take; [`PolicySpec::LIMIT`](super::PolicySpec::LIMIT) if
    /// nothing is given. Not part of the text form.
    pub limit: Option<Duration>,
    /// `trained=train[:SEED]`: which positions it has learned from.
    pub trained: Option<TrainedSpec>,
}

/// What chooses the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// The policy output.
    Policy,
    /// The value output, by one ply of looking ahead.
    Value,
}

/// Whether the policy output is logits, which take a softmax, or probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Softmax {
    /// Probabilities if every row that is tried is in [0, 1] and sums to 1, otherwise logits.
    #[default]
    Auto,
    /// Logits.
    Yes,
    /// Probabilities, or other numbers that are not negative.
    No,
}

/// How moves are chosen by the policy output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// With its probabilities.
    Sample,
    /// The best; for Q values, and for a network's first choice.
    Best,
}

/// What the value output's numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueRange {
    /// −1 a loss of the mover to 1 a win.
    #[default]
    Signed,
    /// 0 a loss to 1 a win.
    Unit,
    /// −1 to 1 but for errors of a regression, which are cut off.
    Clip,
    /// The final disc difference: good for looking ahead, and compared with the exact score, but no
    /// estimate of the outcome.
    Discs,
}

const HEADS: &[(&str, Head)] = &[("policy", Head::Policy), ("value", Head::Value)];
const SOFTMAX: &[(&str, Softmax)] =
    &[("auto", Softmax::Auto), ("yes", Softmax::Yes), ("no", Softmax::No)];
pub(super) const CHOICES: &[(&str, Choice)] = &[("sample", Choice::Sample), ("best", Choice::Best)];
const RANGES: &[(&str, ValueRange)] = &[
    ("-11", ValueRange::Signed),
    ("01", ValueRange::Unit),
    ("clip", ValueRange::Clip),
    ("discs", ValueRange::Discs),
];
const KEYS: &str = "layout, planes, pass, policy, value, output, softmax, move, range, trained";

impl OnnxSpec {
    /// Whether models can be read: with the feature `onnx`.
    pub const IS_BUILT_IN: bool = cfg!(feature = "onnx");
    /// The error where they cannot, and what to do.
    pub const NOT_BUILT_IN: (&'static str, &'static str) =
        ("this program was built without ONNX", "build it with --features onnx");

    /// Reads the model and makes it a policy for a game.
    ///
    /// The error is one line that names the file, what is wrong with it, and what to do.
    #[cfg(feature = "onnx")]
    pub fn load<'a, G: Game>(&self, game: &G) -> Result<Box<dyn Policy<G> + 'a>, PolicyError> {
        let policy = Box::new(super::steady::Steady::model(super::Onnx::load(self, game)?));
        Ok(match self.trained {
            Some(trained) => super::with_training(format!("onnx:{self}"), policy, trained),
            None => policy,
        })
    }

    /// Fails: models cannot be read.
    #[cfg(not(feature = "onnx"))]
    pub fn load<'a, G: Game>(&self, _game: &G) -> Result<Box<dyn Policy<G> + 'a>, PolicyError> {
        let (what, hint) = OnnxSpec::NOT_BUILT_IN;
        Err(PolicyError::new(format!("onnx:{self}: {what}")).with_hint(hint))
    }

    /// Reads what follows `onnx:`, or says in one line what is wrong with it.
    pub fn read(text: &str) -> Result<OnnxSpec, PolicySpecError> {
        let mut spec = OnnxSpec::default();
        let parts = Parts { name: "onnx", argument: Some(text) };
        let form = ("file", "onnx:FILE or 'onnx:FILE?layout=nchw'");
        spec.path = parts.options(form, |key, value| spec.set(key, value))?.into();
        if let Some(layout) = spec.layout.filter(|layout| !layout.takes_planes())
            && spec.planes.is_some()
        {
            return Err(PolicySpecError::of(
                parts,
                Hinted::new(
                    format!(": layout {layout} says what its planes are"),
                    "leave out planes, or name nchw, nhwc, flat or interleaved",
                ),
            ));
        }
        Ok(spec)
    }

    /// Takes an option, or gives what is known in its place.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
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
            "policy" | "value" => return Err("an output's name, none".to_string()),
            "output" => self.output = Some(one_of(HEADS, value)?),
            "softmax" => self.softmax = one_of(SOFTMAX, value)?,
            "move" => self.choice = Some(one_of(CHOICES, value)?),
            "range" => self.range = one_of(RANGES, value)?,
            "trained" => self.trained = Some(value.parse()?),
            _ => return Err(KEYS.to_string()),
        }
        Ok(())
    }
}

impl fmt::Display for OnnxSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |planes: &Vec<Plane>| planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+");
        let (softmax, range) = (self.softmax, self.range);
        // What is left to be guessed, or is so unless told otherwise, is not written.
        let options = [
            ("layout", self.layout.map(|layout| layout.to_string())),
            ("planes", self.planes.as_ref().map(list)),
            ("pass", self.pass.and_then(|pass| name_of(YES_NO, pass))),
            ("policy", self.policy.clone()),
            ("value", self.value.clone()),
            ("output", self.output.and_then(|head| name_of(HEADS, head))),
            ("softmax", name_of(SOFTMAX, softmax).filter(|_| softmax != Softmax::default())),
            ("move", self.choice.and_then(|choice| name_of(CHOICES, choice))),
            ("range", name_of(RANGES, range).filter(|_| range != ValueRange::default())),
            ("trained", self.trained.map(|trained| trained.to_string())),
        ];
        write_options(f, &self.path.to_string_lossy(), &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::Hint as _;

    #[test]
    fn specifications_read_back() {
        let texts = [
            "model.onnx",
            "C:\\nets\\a:b.onnx",
            "why?.onnx?",
            "m.onnx?layout=nhwc,planes=mover+opponent+legal,pass=no,policy=p,value=none,output=value,softmax=no,move=best,range=01",
            "m.onnx?layout=openspiel,range=clip",
        ];
        for text in texts {
            assert_eq!(OnnxSpec::read(text).unwrap().to_string(), text);
        }
        let defaults = OnnxSpec::read("m.onnx?softmax=auto&range=-11").unwrap();
        assert_eq!(defaults.to_string(), "m.onnx");
    }

    #[test]
    fn what_is_not_known_is_answered_with_what_is() {
        let error = |text: &str| OnnxSpec::read(text).unwrap_err().line();
        assert!(error("").contains("names no file"));
        assert!(error("?layout=nchw").contains("names no file"));
        assert!(error("m.onnx?shape=2").ends_with(KEYS));
        assert!(error("m.onnx?layout=hwc").ends_with(&Layout::names()));
        assert!(error("m.onnx?planes=mover,opponent").contains("'opponent' is not known"));
        assert!(error("m.onnx?planes=mover+theirs").ends_with(&Plane::names()));
        assert!(error("m.onnx?pass=maybe").ends_with("known are yes, no"));
        assert!(error("m.onnx?policy=").ends_with("an output's name, none"));
        assert!(error("m.onnx?range=2").contains("'range=2' is not known; known are -11, 01"));
        let planes = error("m.onnx?layout=openspiel,planes=mover");
        assert!(planes.contains("layout openspiel says what its planes are"), "{planes}");
    }
}
