//! The one type of errors: a line on what is wrong and where, with advice, a kind and a cause. Message and advice are
//! separate, and joined only when printed on one line.
//!
//! ```
//! use yomikiri::error::Error;
//!
//! let error = Error::new("no table", "enumerate one first");
//! assert_eq!((error.to_string(), error.line()), ("no table".into(), "no table; enumerate one first".into()));
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

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
    /// Table, game or plan that does not suit the request.
    #[serde(rename = "input")]
    Unfit,
    /// Table that does not exist.
    #[serde(rename = "input")]
    Missing,
    /// Files that another process is writing.
    #[serde(rename = "input")]
    Busy,
    /// Invalid position, or one that is not in a table.
    #[serde(rename = "input")]
    Position,
    /// Invalid policy, or an invalid answer of one.
    #[serde(rename = "input")]
    Answer,
    /// Damaged table: its files are inconsistent, or its values are wrong.
    Damaged,
    /// Failure of an external policy.
    Policy,
    /// Policy below a requested bound.
    Bound,
    /// End by a signal.
    Interrupted,
}

/// An error; its `Display` is the message, with that of the cause and without the hint.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    what: String,
    hint: Option<String>,
    kind: Kind,
    cause: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Makes an error from a message and a hint.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::from(what.into()).with_hint(hint)
    }

    /// Sets the kind.
    pub fn of_kind(mut self, kind: Kind) -> Error {
        self.0.kind = kind;
        self
    }

    /// Appends a hint to any existing one.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        let hint = hint.into();
        self.0.hint = Some(self.0.hint.map_or(hint.clone(), |first| joined(&first, Some(&hint))));
        self
    }

    /// Appends the message of a cause, and keeps it.
    pub fn with_cause(mut self, cause: impl StdError + Send + Sync + 'static) -> Error {
        self.0.what = format!("{}: {cause}", self.0.what);
        self.0.cause = Some(Arc::new(cause));
        self
    }

    /// Rewords the message, for example to prepend `file, line 3: `.
    pub fn map(mut self, wrap: impl FnOnce(String) -> String) -> Error {
        self.0.what = wrap(self.0.what);
        self
    }

    /// Returns the advice, if any.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the error of the system or of a library that is the cause, if any.
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.cause.as_deref()
    }

    /// Returns the message and the hint in one line.
    pub fn line(&self) -> String {
        joined(&self.0.what, self.hint())
    }
}

impl From<String> for Error {
    #[cold]
    fn from(what: String) -> Error {
        Error(Box::new(Parts { what, hint: None, kind: Kind::default(), cause: None }))
    }
}

impl From<&str> for Error {
    fn from(what: &str) -> Error {
        Error::from(what.to_string())
    }
}

/// Errors that nobody is expected to meet, so that they need no words of ours.
macro_rules! failures {
    ($($cause:ty),*) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Error {
                let mut error = Error::from(cause.to_string()).of_kind(Kind::Failure);
                error.0.cause = Some(Arc::new(cause));
                error
            }
        }
    )*};
}

failures!(std::io::Error, serde_json::Error, std::string::FromUtf8Error);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.line())
    }
}

/// The message contains the cause's, so the source is what caused that.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_ref()?.source()
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        let [one, other] = [&self.0, &other.0];
        one.what == other.what && one.hint == other.hint && one.kind == other.kind
    }
}

impl Eq for Error {}

/// Joins a message and a hint into one line.
pub fn joined(message: &str, hint: Option<&str>) -> String {
    hint.map_or(message.to_string(), |hint| format!("{message}; {hint}"))
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
        let hinted = Error::new("a; b", "do c").map(|what| format!("f: {what}"));
        assert_eq!((hinted.to_string(), hinted.line()), ("f: a; b".into(), "f: a; b; do c".into()));
        let plain = Error::from("a; b");
        assert_eq!((plain.line(), plain.hint()), ("a; b".into(), None));
        assert_eq!(
            (plain.kind(), plain.of_kind(Kind::Failure).kind()),
            (Kind::Input, Kind::Failure)
        );
    }

    #[test]
    fn causes_are_named_once() {
        let cause = std::io::Error::from(std::io::ErrorKind::NotFound);
        let text = format!("cannot read t: {cause}");
        let error = Error::from("cannot read t").with_cause(cause);
        assert_eq!((error.to_string(), error.source().is_none()), (text, true));
        assert!(error.cause().is_some_and(|cause| cause.is::<std::io::Error>()));
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
