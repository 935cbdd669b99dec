//! Text form of networks: `onnx:model.onnx?layout=nhwc,value=none`, or `learned:td-othello-4x4?depth=3` for a
//! stored one.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::ReadingSpec;
use super::grammar::{SpecParts, refused, write_options};
use super::reader::number;
use yomikiri::error::Error;

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
    /// Reading of its input and outputs.
    pub reading: ReadingSpec,
    /// `width=`: number of moves per position that the search of minishogi keeps.
    pub width: Option<u32>,
    /// `mate=`: number of positions in minishogi's search for mates.
    pub mate: Option<u32>,
    /// Time limit for loading the model and for each answer; by default
    /// [`PolicySpec::LIMIT`](super::PolicySpec::LIMIT). Not part of the text form.
    pub limit: Option<Duration>,
}

impl NetworkSpec {
    /// `true` if models can be read: with the feature `onnx`.
    pub const IS_BUILT_IN: bool = cfg!(feature = "onnx");
    /// Error if models cannot be read, with its hint.
    pub const NOT_BUILT_IN: (&'static str, &'static str) =
        ("this build does not include ONNX", "build it with the feature `onnx`");

    /// Parses the text behind `onnx:`.
    pub fn onnx(text: &str) -> Result<NetworkSpec, Error> {
        let form = ("file", "onnx:FILE or 'onnx:FILE?layout=nchw'");
        NetworkSpec::default().read("onnx", text, form)
    }

    /// Parses the text behind `learned:`.
    pub fn learned(text: &str) -> Result<NetworkSpec, Error> {
        let spec = NetworkSpec { kept: true, ..NetworkSpec::default() };
        spec.read("learned", text, ("network", "learned:NAME"))
    }

    fn read(mut self, name: &str, text: &str, form: (&str, &str)) -> Result<NetworkSpec, Error> {
        let parts = SpecParts { name, argument: Some(text) };
        self.path = parts.options(form, |key, value| self.set(key, value))?.into();
        let reading = &self.reading;
        if let Some(layout) = reading.layout.filter(|layout| !layout.takes_planes())
            && reading.planes.is_some()
        {
            return Err(refused(
                parts,
                Error::new(
                    format!(": layout {layout} defines its planes"),
                    "leave planes out, or use nchw, nhwc, flat or interleaved",
                ),
            ));
        }
        Ok(self)
    }

    /// Sets an option; the error lists the valid values.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "width" => self.width = Some(number(value, 100)?),
            "mate" => self.mate = Some(number(value, 100_000_000)?),
            _ if self.reading.set(key, value)? => {}
            _ => return Err(NetworkSpec::keys()),
        }
        Ok(())
    }

    fn keys() -> String {
        ReadingSpec::keys(true) + ", width, mate"
    }
}

impl fmt::Display for NetworkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let search = [("width", self.width), ("mate", self.mate)].into_iter();
        let search = search.filter_map(|(key, number)| Some((key, number?.to_string())));
        let options: Vec<_> = self.reading.options().into_iter().chain(search).collect();
        f.write_str(if self.kept { "learned:" } else { "onnx:" })?;
        write_options(f, &self.path.display().to_string(), &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use yomikiri::rules::encode::{Layout, Plane};

    #[test]
    fn text_reads_back() {
        let texts = [
            "m.onnx",
            "dir/m.onnx?layout=nhwc,planes=mover+opponent+legal,pass=no",
            "m.onnx?policy=p,value=none,softmax=no,move=best,range=01,trained=train:7",
            "m.onnx?layout=openspiel,range=clip,symmetric=yes,depth=3",
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
        assert!(error("m.onnx?shape=2").ends_with(&NetworkSpec::keys()));
        assert!(error("m.onnx?layout=hwc").ends_with(&Layout::names()));
        assert!(error("m.onnx?planes=mover,opponent").contains("unknown option `opponent`"));
        assert!(error("m.onnx?planes=mover+theirs").ends_with(&Plane::names()));
        assert!(error("m.onnx?pass=maybe").ends_with("expected yes, no"));
        assert!(error("m.onnx?policy=").ends_with("the name of an output, none"));
        assert!(error("m.onnx?range=2").contains("unknown option `range=2`; expected -11, 01"));
        assert!(error("m.onnx?depth=21").ends_with("whole numbers from 1 to 20"));
        let planes = error("m.onnx?layout=signed,planes=mover");
        assert!(planes.contains("layout signed defines its planes"), "{planes}");
        let none = NetworkSpec::learned("").unwrap_err().line();
        assert_eq!(none, "policy 'learned:': missing network; expected learned:NAME");
    }
}
