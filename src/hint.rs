//! Errors that carry advice. Message and hint are separate, and joined only when printed on one line.
//!
//! ```
//! use yomikiri::hint::{Hint, Hinted};
//!
//! let error = Hinted::new("no table", "enumerate one first");
//! assert_eq!((error.to_string(), error.line()), ("no table".into(), "no table; enumerate one first".into()));
//! ```

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde::Serialize;

/// Kind of an error, for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Failure of the program, or a file that could not be written.
    Failure,
    /// Invalid command line.
    Usage,
    /// Invalid input.
    #[default]
    Input,
    /// Damaged table: its files are inconsistent, or its values are wrong.
    Damaged,
    /// Failure of an external policy.
    Policy,
    /// Policy below a requested bound.
    Bound,
    /// End by a signal.
    Interrupted,
}

/// Error that may carry advice. Its `Display` is the message without the hint.
pub trait Hint: Error {
    /// Returns the advice, if any.
    fn hint(&self) -> Option<Cow<'_, str>>;

    /// Returns the kind of error.
    fn kind(&self) -> Kind {
        Kind::Input
    }

    /// Returns the message and the hint in one line.
    fn line(&self) -> String {
        joined(&self.to_string(), self.hint().as_deref())
    }
}

/// Joins a message and a hint into one line.
pub fn joined(message: &str, hint: Option<&str>) -> String {
    hint.map_or(message.to_string(), |hint| format!("{message}; {hint}"))
}

/// Message with an optional hint: the content of errors that consist of text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hinted {
    what: String,
    hint: Option<String>,
    kind: Kind,
}

impl Hinted {
    /// Makes an error from a message and a hint.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Hinted {
        Hinted::from(what).with_hint(hint)
    }

    /// Copies an error's message, hint and kind.
    pub fn of(error: &(impl Hint + ?Sized)) -> Hinted {
        let (hint, kind) = (error.hint().map(Cow::into_owned), error.kind());
        Hinted { what: error.to_string(), hint, kind }
    }

    /// Sets the kind.
    pub fn of_kind(self, kind: Kind) -> Hinted {
        Hinted { kind, ..self }
    }

    /// Appends a hint to any existing one.
    pub fn with_hint(self, hint: impl Into<String>) -> Hinted {
        let hint = hint.into();
        let hint = self.hint.map_or(hint.clone(), |first| joined(&first, Some(&hint)));
        Hinted { hint: Some(hint), ..self }
    }

    /// Rewords the message, for example to prepend `file, line 3: `.
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

/// Longest word, in bytes, for which a near one is looked for.
const LONGEST_WORD: usize = 100;

/// Returns the number of letters to insert, remove, replace or swap with a neighbour that turn one word into
/// the other (optimal string alignment).
fn edits(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|word| word.chars().collect::<Vec<_>>());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            rows[i][j] = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows[one.len()][other.len()]
}

/// Returns the known word that is nearest to `word`, if one is near: by typing errors, or as its beginning.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let word = word.to_lowercase();
    let most = word.chars().count() / 3;
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let begins = known.starts_with(&word);
        if begins { most } else { edits(&word, &known) }
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

/// Cuts the middle out of a line longer than twice `half` bytes: invalid input may be megabytes long.
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
