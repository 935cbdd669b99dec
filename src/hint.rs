//! Errors that know what to do about them: what is wrong and what to do are kept apart, and joined
//! only where one line is printed.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde::Serialize;

/// Kind of an error, for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// We failed, or a file could not be written.
    Failure,
    /// The command line cannot be understood.
    Usage,
    /// Invalid input.
    #[default]
    Input,
    /// A table's files do not hold what they should, or a table was found wrong.
    Damaged,
    /// A policy from outside failed.
    Policy,
    /// A policy is not as good as was asked for.
    Bound,
    /// We were told to end.
    Interrupted,
}

/// An error that may know what to do about it. Its `Display` says what is wrong and no more.
pub trait Hint: Error {
    /// Returns what to do about it.
    fn hint(&self) -> Option<Cow<'_, str>>;

    /// Returns what has gone wrong.
    fn kind(&self) -> Kind {
        Kind::Input
    }

    /// Returns the message and the hint in one line.
    fn line(&self) -> String {
        joined(&self.to_string(), self.hint().as_deref())
    }
}

/// A message and what to do, in one line.
pub fn joined(message: &str, hint: Option<&str>) -> String {
    hint.map_or(message.to_string(), |hint| format!("{message}; {hint}"))
}

/// A message and, if it is known, what to do: the content of errors that are text alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hinted {
    what: String,
    hint: Option<String>,
    kind: Kind,
}

impl Hinted {
    /// Makes an error of a message and a hint.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Hinted {
        Hinted::from(what).with_hint(hint)
    }

    /// An error's message, hint and kind.
    pub fn of(error: &(impl Hint + ?Sized)) -> Hinted {
        let (hint, kind) = (error.hint().map(Cow::into_owned), error.kind());
        Hinted { what: error.to_string(), hint, kind }
    }

    /// Sets the kind.
    pub fn of_kind(self, kind: Kind) -> Hinted {
        Hinted { kind, ..self }
    }

    /// Appends a hint to the one it has.
    pub fn with_hint(self, hint: impl Into<String>) -> Hinted {
        let hint = hint.into();
        let hint = self.hint.map_or(hint.clone(), |first| joined(&first, Some(&hint)));
        Hinted { hint: Some(hint), ..self }
    }

    /// Rewords the message, as with `file, line 3: ` before it.
    pub fn map(self, wrap: impl FnOnce(String) -> String) -> Hinted {
        Hinted { what: wrap(self.what), ..self }
    }
}

impl<T: Into<String>> From<T> for Hinted {
    fn from(what: T) -> Hinted {
        Hinted { what: what.into(), hint: None, kind: Kind::default() }
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for Hinted {}

impl Hint for Hinted {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.hint.as_deref().map(Cow::from)
    }

    fn kind(&self) -> Kind {
        self.kind
    }
}

/// Returns the known word that is nearest to `word`, if one is near: by typing errors, or as its beginning.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let most = word.chars().count() / 3;
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let begins = known.starts_with(&word);
        if begins { most } else { strsim::osa_distance(&word, &known) }
    };
    let known = known.into_iter().map(|known| (distance(known), known));
    known
        .filter(|(far, _)| most > 0 && *far <= most)
        .min_by_key(|(far, _)| *far)
        .map(|(_, known)| known)
}

/// Asks whether the nearest known word was meant; `None` where none is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|known| format!("did you mean `{known}`?"))
}

/// A line without its middle if it is longer than twice `half`: what is no position may be megabytes.
pub fn shortened(line: &str, half: usize) -> String {
    let begin = line.floor_char_boundary(half);
    let end = line.ceil_char_boundary(line.len().saturating_sub(half));
    if end <= begin { line.to_string() } else { [&line[..begin], " … ", &line[end..]].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_join_what_is_kept_apart() {
        let hinted = Hinted::new("a; b", "do c").map(|what| format!("f: {what}"));
        assert_eq!((hinted.to_string(), hinted.line()), ("f: a; b".into(), "f: a; b; do c".into()));
        let plain = Hinted::from("a; b");
        assert_eq!((plain.line(), plain.hint()), ("a; b".into(), None));
        assert_eq!(Hinted::of(&hinted), hinted);
        assert_eq!(
            (hinted.kind(), Hinted::of(&hinted.of_kind(Kind::Failure)).kind()),
            (Kind::Input, Kind::Failure)
        );
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let commands = ["solve", "remove", "report", "result_kept"];
        let cases = [
            ("slove", Some("solve")),
            ("SOLVE", Some("solve")),
            ("reprot", Some("report")),
            ("result", Some("result_kept")),
            ("sol", Some("solve")),
            ("move", None),
            ("so", None),
            ("", None),
        ];
        for (word, found) in cases {
            assert_eq!(nearest(word, commands), found, "{word}");
        }
    }

    #[test]
    fn long_lines_lose_their_middle() {
        let short = "é".repeat(1_000);
        assert_eq!(shortened(&short, 1_000), short);
        let long = shortened(&format!("a{}", "é".repeat(1_000_000)), 1_000);
        assert!(long.len() < 2_100 && long.starts_with("aé") && long.ends_with('é'));
    }
}
