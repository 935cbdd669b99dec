//! The program that runs: `solver`, or one with games of its own.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the words of the command line, the program's name first; before they are read.
pub(super) fn set_words(words: Vec<OsString>) {
    // Whoever is later does not count.
    let _ = WORDS.set(words);
}

/// Returns the words of the command line, the program's name first: those of the process if none were set.
pub(super) fn words() -> &'static [OsString] {
    WORDS.get_or_init(|| std::env::args_os().collect())
}

/// Returns the name of the program's file, without its extension.
pub(super) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let stem = words().first().and_then(|program| Path::new(program).file_stem());
        stem.map_or("solver".to_string(), |stem| stem.to_string_lossy().into_owned())
    })
}

/// Returns text in which commands of `solver`, as in `'solver list'`, are those of the program.
pub(super) fn in_its_name(text: &str) -> Cow<'_, str> {
    match name() {
        "solver" => Cow::from(text),
        name => Cow::from(text.replace("'solver ", &format!("'{name} "))),
    }
}
