//! Texts in terminals: their width, and their alphabet.

use std::path::Path;
use std::process::Command;

use crate::common::needs::python_has;
use crate::common::tables::Tables;

const COMMANDS: [&[&str]; 6] = [
    &["list"],
    &["info", "4x4", "--values"],
    &["report", "4x4", "--policy", "random,greedy,alphabeta:2", "-q"],
    &["query", "4x4", "b1"],
    &["games"],
    &["report", "--help"],
];

/// Returns what a command shows in a terminal of some columns, without colours.
fn shown(tables: &Tables, columns: usize, args: &[&str]) -> String {
    let script =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/commands/terminal.py"));
    let mut command = Command::new("python3");
    command.arg(script).arg(columns.to_string()).arg(env!("CARGO_BIN_EXE_solver")).args(args);
    let ran = command.env("YOMIKIRI_TABLES", tables.root()).env("NO_COLOR", "1").output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn texts_fit_the_terminal() {
    if !python_has("pty") {
        return;
    }
    let tables = Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]]);
    for args in COMMANDS {
        for columns in [60, 80, 100] {
            let text = shown(&tables, columns, args);
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= columns, "{args:?} in {columns}: {widest}");
            assert!(text.lines().count() > 3, "{text}");
        }
    }
    // No word of a line is lost; a pipe gets the line whole.
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let list = tables.ok(&["list"]);
    assert_eq!(words(&shown(&tables, 60, &["list"])), words(&list));
}

#[test]
fn the_locale_of_c_has_ascii_alone() {
    let tables = Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]]);
    let args = ["report", "4x4", "--label", "a name of thirty letters, or more of them=greedy"];
    let run = |locale: &str| {
        let made = tables.solver(&args).env("LC_ALL", locale).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        (String::from_utf8(made.stdout).unwrap(), made.stderr)
    };
    let (text, remarks) = run("C");
    assert!(text.is_ascii() && remarks.is_ascii() && text.contains("..."), "{text}");
    assert!(run("C.UTF-8").0.contains('…'));
}
