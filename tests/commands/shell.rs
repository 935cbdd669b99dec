//! Shell and terminal: completions, manual pages, examples, colours and progress bars.

use std::fs;
use std::process::{Command, Stdio};

use super::manners::{command_names, names_in};
use crate::common::tables::{Tables, files, solved_4x4};

#[test]
fn completions_are_there_for_every_shell() {
    let tables = Tables::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = tables.ok(&["completions", shell]);
        assert!(script.contains("YOMIKIRI_COMPLETE"), "{script}");
        if shell == "bash" {
            let file = tables.place("completions.bash");
            fs::write(&file, script).unwrap();
            let check = Command::new("bash").arg("-n").arg(file).output().unwrap();
            assert!(check.status.success() && check.stderr.is_empty(), "{check:?}");
        }
    }
}

/// Returns fish's completions of the last word of a command line.
fn completed(tables: &Tables, line: &str) -> Vec<String> {
    let mut command = tables.solver(&["--"]);
    let offered = command.args(line.split(' ')).env("YOMIKIRI_COMPLETE", "fish").output().unwrap();
    assert!(offered.status.success(), "{offered:?}");
    let text = String::from_utf8(offered.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_string()).collect()
}

#[test]
fn names_are_completed() {
    let tables = Tables::new();
    solved_4x4(&tables);
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "3"]);
    let names = ["othello-4x4", "othello-4x4-depth3"];
    assert_eq!(completed(&tables, "solver query oth"), names);
    assert_eq!(completed(&tables, "solver report --table oth"), names);
    assert_eq!(completed(&tables, "solver remove othello-4x4-"), names[1..]);
    let games = ["animal-shogi", "animal-shogi-3x3"];
    assert_eq!(completed(&tables, "solver enumerate --game anim"), games);
    assert_eq!(completed(&tables, "solver report --policy random,mini"), ["random,minimax:"]);
    assert!(completed(&tables, "solver re").contains(&"report".to_string()));
}

/// Returns the lines below a heading of a page of help.
fn below<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| line.starts_with("  ")).collect()
}

#[test]
fn examples_are_commands_and_the_manual_has_them() {
    let tables = Tables::new();
    let mut known = 0;
    for name in command_names(&tables).iter().filter(|name| *name != "help") {
        let help = tables.ok(&[name, "--help"]);
        for example in below(&help, "Examples:") {
            let line = example.trim().split("  ").next().unwrap();
            let line =
                line.strip_prefix("source <(").map_or(line, |line| line.trim_end_matches(')'));
            let line = line.split(" > ").next().unwrap();
            let line = line.strip_suffix(" < games.txt").unwrap_or(line);
            let shell = format!("set -- {line}; printf '%s\\n' \"$@\"");
            let words = Command::new("sh").args(["-c", &shell]).output().unwrap().stdout;
            let words = String::from_utf8(words).unwrap();
            let words: Vec<&str> = words.lines().collect();
            assert_eq!(words[..2], ["solver", name]);
            yomikiri_solver::understand(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
            known += 1;
        }
    }
    assert!(known > 25, "{known}");
    let dir = tables.place("man");
    tables.ok(&["man", "--dir", dir.to_str().unwrap()]);
    let page = fs::read_to_string(dir.join("solver-query.1")).unwrap();
    for section in ["EXAMPLES", "\"EXIT STATUS\"", "FILES"] {
        assert!(page.contains(&format!(".SH {section}")), "{section}: {page}");
    }
    assert!(page.contains("solver query othello\\-4x4 b1a1"), "{page}");
}

#[test]
fn colours_are_as_asked_for() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let plain = tables.ok(&["query", "othello-4x4"]);
    assert!(!plain.contains('\x1b'));
    let coloured = tables.ok(&["query", "othello-4x4", "--color", "always"]);
    assert!(coloured.contains("\x1b[31mb1 "), "{coloured}");
    assert!(coloured.contains("\x1b[1mmove  outcome"), "{coloured}");
    let bare = ["\x1b[1m", "\x1b[31m", "\x1b[0m"]
        .iter()
        .fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(bare, plain);
    let refused = tables.run(&["--color=always", "query", "nothing"]);
    assert!(refused.stderr.starts_with("\x1b[1m\x1b[31msolver:\x1b[0m"), "{refused:?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let tables = Tables::new();
    let page = tables.ok(&["man"]);
    assert!(page.starts_with(".ie") || page.starts_with(".TH"), "{}", &page[..40]);
    let dir = tables.place("man");
    assert_eq!(tables.ok(&["man", "--dir", dir.to_str().unwrap()]), "");
    let names = command_names(&tables).into_iter().filter(|name| name != "help");
    let mut wanted: Vec<String> = names.map(|name| format!("solver-{name}.1")).collect();
    if cfg!(feature = "onnx") {
        let recipes = names_in(&tables.ok(&["train", "--help"]));
        assert!(recipes.len() > 6, "{recipes:?}");
        let recipes = recipes.iter().filter(|name| *name != "help");
        wanted.extend(recipes.map(|name| format!("solver-train-{name}.1")));
    }
    wanted.push("solver.1".to_string());
    wanted.sort();
    let pages = files(&dir);
    let found: Vec<_> = pages.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(found, wanted);
    assert!(pages.values().all(|page| page.windows(4).any(|four| four == b".TH ")));
}

/// Runs a command with a terminal as its output; `None` if `script` is not installed.
fn on_a_terminal(tables: &Tables, args: &[&str], no_color: bool) -> Option<String> {
    if !Command::new("script").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("NOT TESTED: there is no 'script' to make a terminal");
        return None;
    }
    let words = [&[env!("CARGO_BIN_EXE_solver")], args].concat();
    let mut command = Command::new("script");
    command.args(["-qec", &words.join(" "), "/dev/null"]).env("YOMIKIRI_TABLES", tables.root());
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdin(Stdio::null());
    if no_color {
        command.env("NO_COLOR", "1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_terminal_is_shown_a_bar_unless_quiet() {
    let tables = Tables::new();
    let args = ["enumerate", "--size", "4x5", "--threads", "1"];
    let Some(seen) = on_a_terminal(&tables, &args, false) else { return };
    assert!(seen.contains("/2,426,921 states"), "{seen}");
    let tables = Tables::new();
    // A tenth of it would still be long enough for a bar.
    let args = [&args[..], &["-q", "--max-depth", "10"]].concat();
    let seen = on_a_terminal(&tables, &args, false).unwrap();
    let seen = seen.replace("\x1b[1m", "").replace("\x1b[0m", "");
    assert!(!seen.contains('\x1b') && !seen.contains("to go"), "{seen}");
}

#[test]
fn no_color_is_respected() {
    let colours = |no_color| {
        let tables = Tables::new();
        let args = ["enumerate", "--size", "4", "-q", "-v"];
        on_a_terminal(&tables, &args, no_color).map(|seen| {
            assert!(seen.contains("layer complete"), "{seen}");
            seen.contains("\x1b[3") || seen.contains("\x1b[2m")
        })
    };
    assert!(colours(false) != Some(false), "a terminal is shown colours");
    assert!(colours(true) != Some(true), "and none with NO_COLOR");
}
