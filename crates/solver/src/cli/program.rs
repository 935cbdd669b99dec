//! The program that runs: `solver`, or one with games of its own.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

/// Returns the name of the program's file, without its extension.
pub(super) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let program = std::env::args_os().next().unwrap_or_default();
        let stem = Path::new(&program).file_stem();
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
