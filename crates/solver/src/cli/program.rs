//! The program that runs: `solver`, or one with games of its own; its words and its environment.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

use yomikiri::error::Error;

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

/// Returns the number in a variable of the environment; `None` if it is not set.
pub(super) fn number_in<T: FromStr>(variable: &str) -> Result<Option<T>, Error> {
    let Some(text) = std::env::var_os(variable) else { return Ok(None) };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| {
        let what = format!("invalid {variable} `{}`: expected a number", text.display());
        Error::new(what, "set it to one, or unset it")
    })
}

static DEFAULT_GAME: OnceLock<String> = OnceLock::new();

/// Sets the name of the game that is meant if none is named.
pub(super) fn set_default_game(name: String) {
    let _ = DEFAULT_GAME.set(name);
}

/// Returns text in which commands of `solver`, as in `'solver list'`, are those of the program.
pub(super) fn in_its_name(text: &str) -> Cow<'_, str> {
    match name() {
        "solver" => Cow::from(text),
        name => Cow::from(text.replace("'solver ", &format!("'{name} "))),
    }
}

/// Returns a help text in the program's name, with its own default game.
pub(super) fn help_in_its_name(text: &str) -> String {
    let text = in_its_name(text);
    match DEFAULT_GAME.get() {
        Some(game) => text.replace(" 4x4]", &format!(" {game}]")),
        None => text.into_owned(),
    }
}
