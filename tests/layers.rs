//! Keeps the layers of the crate: who imports whom, where unsafe code and printing live, and how
//! long a file may be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every top-level module and what it may import besides itself.
const LAYERS: [(&str, &[&str]); 17] = [
    ("progress", &[]),
    ("game", &[]),
    ("table", &["progress"]),
    ("graph", &["game", "table", "progress"]),
    ("solve", &["game", "graph", "table", "progress"]),
    ("policy", &["game"]),
    ("any", &["game", "graph", "solve", "policy", "table", "progress"]),
    ("registry", &["game", "any", "table"]),
    ("solved", &["game", "any", "graph", "solve", "table", "progress"]),
    ("evaluate", &["game", "any", "graph", "solve", "solved", "policy", "table", "progress"]),
    ("export", &["game", "any", "graph", "solve", "solved", "table", "progress"]),
    ("learn", &["game", "any", "registry", "policy", "evaluate", "export", "table", "progress"]),
    ("render", &["evaluate", "game", "solve", "table"]),
    ("serve", ALL_BUT_CLI),
    ("cli", ALL),
    // The crate's page, and the binary, which only calls the commands.
    ("lib", ALL),
    ("main", &["cli"]),
];

const ALL: &[&str] = &[
    "progress", "game", "table", "graph", "solve", "policy", "any", "registry", "solved",
    "evaluate", "export", "learn", "render", "serve", "cli",
];
const ALL_BUT_CLI: &[&str] = ALL.split_last().unwrap().1;

const LONGEST_FILE: usize = 600;

/// A file below `src`, with its path inside and what of it is neither comment nor text.
struct Source {
    path: String,
    lines: usize,
    tokens: Vec<String>,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        Source {
            path: path.to_string(),
            lines: text.lines().count(),
            tokens: tokens(&code_only(text)),
        }
    }

    /// The file's module path: `game/othello/mod.rs` is `[game, othello]`.
    fn module(&self) -> Vec<&str> {
        let mut path: Vec<_> = self.path.trim_end_matches(".rs").split('/').collect();
        if path.len() > 1 && path.last() == Some(&"mod") {
            path.pop();
        }
        path
    }

    fn has(&self, token: &str) -> bool {
        self.tokens.iter().any(|other| other == token)
    }

    fn calls_macro(&self, name: &str) -> bool {
        self.tokens.windows(2).any(|pair| pair[0] == name && pair[1] == "!")
    }

    /// The top-level modules (or other names of the crate's root) that the file names.
    fn imports(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // How many `super` lead to the root: more inside `mod name { … }`.
        let file_depth =
            if self.path == "lib.rs" || self.path == "main.rs" { 0 } else { self.module().len() };
        let mut braces = 0;
        let mut inline = Vec::new();
        let mut i = 0;
        while i < self.tokens.len() {
            let before = i.checked_sub(1).map_or("", |i| self.tokens[i].as_str());
            match self.tokens[i].as_str() {
                "{" => {
                    braces += 1;
                    if i >= 2 && self.tokens[i - 2] == "mod" {
                        inline.push(braces);
                    }
                }
                "}" => {
                    if inline.last() == Some(&braces) {
                        inline.pop();
                    }
                    braces -= 1;
                }
                "crate" if before != "::" => self.heads(i + 1, 0, &mut found),
                "yomikiri" if before != "::" => self.heads(i + 1, 0, &mut found),
                "super" if before != "::" => {
                    self.heads(i + 1, file_depth + inline.len() - 1, &mut found)
                }
                _ => {}
            }
            i += 1;
        }
        found
    }

    /// Reads on behind a path's first word, with `depth` modules between it and the root.
    fn heads(&self, mut at: usize, depth: usize, found: &mut BTreeSet<String>) {
        let token = |at: usize| self.tokens.get(at).map_or("", String::as_str);
        if token(at) != "::" {
            return;
        }
        at += 1;
        match token(at) {
            "super" if depth > 0 => self.heads(at + 1, depth - 1, found),
            "{" => {
                let mut open = 0;
                loop {
                    match token(at) {
                        "{" => open += 1,
                        "}" => open -= 1,
                        _ => {}
                    }
                    if open == 0 || at >= self.tokens.len() {
                        break;
                    }
                    at += 1;
                    let first = open == 1 && ["{", ","].contains(&token(at - 1));
                    if first && token(at) == "super" && depth > 0 {
                        self.heads(at + 1, depth - 1, found);
                    } else if first && depth == 0 && !["}", "self"].contains(&token(at)) {
                        found.insert(token(at).to_string());
                    }
                }
            }
            name if depth == 0 => {
                found.insert(name.to_string());
            }
            _ => {}
        }
    }
}

/// The text with comments, strings and characters blanked out.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut code = String::new();
    let mut i = 0;
    while i < chars.len() {
        let in_word = i > 0 && (at(i - 1).is_alphanumeric() || at(i - 1) == '_');
        // A raw string's hashes, if one begins here: r"…", r#"…"#, br"…".
        let prefix = if at(i) == 'b' && at(i + 1) == 'r' { 2 } else { usize::from(at(i) == 'r') };
        let hashes = chars[i.min(chars.len())..].iter().skip(prefix);
        let hashes = hashes.take_while(|&&c| c == '#').count();
        if at(i) == '/' && at(i + 1) == '/' {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
        } else if at(i) == '/' && at(i + 1) == '*' {
            let mut open = 0;
            loop {
                if at(i) == '/' && at(i + 1) == '*' {
                    open += 1;
                    i += 2;
                } else if at(i) == '*' && at(i + 1) == '/' {
                    open -= 1;
                    i += 2;
                } else {
                    i += 1;
                }
                if open == 0 || i >= chars.len() {
                    break;
                }
            }
            code.push(' ');
        } else if prefix > 0 && !in_word && at(i + prefix + hashes) == '"' {
            i += prefix + hashes + 1;
            let closes = |i: usize| at(i) == '"' && (1..=hashes).all(|n| at(i + n) == '#');
            while i < chars.len() && !closes(i) {
                i += 1;
            }
            i += 1 + hashes;
            code.push(' ');
        } else if at(i) == '"' {
            i += 1;
            while i < chars.len() && at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
            code.push(' ');
        } else if at(i) == '\'' && at(i + 1) == '\\' {
            // An escaped character; its end is the next quote behind the escape.
            i += 3;
            while i < chars.len() && at(i) != '\'' {
                i += 1;
            }
            i += 1;
        } else if at(i) == '\'' && at(i + 2) == '\'' {
            i += 3;
        } else {
            code.push(at(i));
            i += 1;
        }
    }
    code
}

/// Words, `::`, and every other mark by itself.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = ' ';
    for c in code.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            match (previous, c) {
                (':', ':') => *tokens.last_mut().unwrap() = "::".to_string(),
                _ if c.is_whitespace() => {}
                _ => tokens.push(c.to_string()),
            }
        }
        previous = c;
    }
    tokens
}

fn sources() -> Vec<Source> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(files.len() > 5, "only {} files below src", files.len());
    let read = |path: &PathBuf| {
        let inside = path.strip_prefix(&root).unwrap().components();
        let inside: Vec<_> = inside.map(|part| part.as_os_str().to_string_lossy()).collect();
        Source::new(&inside.join("/"), &fs::read_to_string(path).unwrap())
    };
    files.iter().map(read).collect()
}

/// What a file imports against the layers, one line each.
fn layer_violations(source: &Source) -> Vec<String> {
    let module = source.module()[0];
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
        return vec![format!("src/{}: module `{module}` has no layer", source.path)];
    };
    let wrong = |import: &String| import != module && !allowed.contains(&import.as_str());
    let imports = source.imports().into_iter().filter(wrong);
    imports.map(|import| format!("src/{}: `{module}` imports `{import}`", source.path)).collect()
}

/// What a file holds that belongs elsewhere, one line each.
fn place_violations(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    if source.has("unsafe") && !["table/mmap.rs", "cli/threads.rs"].contains(&source.path.as_str())
    {
        found.push(format!(
            "src/{}: unsafe code outside table/mmap.rs and cli/threads.rs",
            source.path
        ));
    }
    for name in ["println", "eprintln", "print", "eprint", "dbg"] {
        let speaks = ["cli", "render", "main"].contains(&source.module()[0]) && name != "dbg";
        if source.calls_macro(name) && !speaks {
            found.push(format!("src/{}: {name}! outside cli, render and main", source.path));
        }
    }
    if source.lines > LONGEST_FILE {
        let lines = source.lines;
        found.push(format!("src/{}: {lines} lines, more than {LONGEST_FILE}", source.path));
    }
    found
}

#[test]
fn modules_import_only_what_their_layer_allows() {
    let found: Vec<_> = sources().iter().flat_map(layer_violations).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn unsafe_code_printing_and_length_keep_their_places() {
    let found: Vec<_> = sources().iter().flat_map(place_violations).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_layers_have_no_cycle() {
    for (at, (name, allowed)) in LAYERS.iter().enumerate() {
        for import in allowed.iter().filter(|import| *import != name) {
            let below = LAYERS.iter().position(|(other, _)| other == import);
            assert!(
                below.is_some_and(|below| below < at) || *name == "lib",
                "{name} may import {import}, which is not below it"
            );
        }
    }
}

/// The scanner itself: a check that never finds anything would pass for ever.
#[test]
fn the_scanner_sees_every_form_of_import() {
    let imports = |path: &str, text: &str| {
        Source::new(path, text).imports().into_iter().collect::<Vec<_>>().join(" ")
    };
    let deep = "game/othello/moves.rs";
    assert_eq!(imports(deep, "use crate::table::Manifest;"), "table");
    assert_eq!(
        imports(deep, "use crate::{table::{self, X}, graph, solve::{a, b}};"),
        "graph solve table"
    );
    assert_eq!(imports(deep, "let x = crate::solve::run();"), "solve");
    assert_eq!(imports(deep, "use crate::*;"), "*");
    assert_eq!(imports(deep, "pub(crate) fn f() {} pub(in crate::game) fn g() {}"), "game");
    assert_eq!(imports(deep, "use super::super::super::table::Manifest;"), "table");
    assert_eq!(imports(deep, "use super::super::super::{table, graph::X};"), "graph table");
    assert_eq!(imports(deep, "use super::{super::super::table};"), "table");
    assert_eq!(imports(deep, "use super::{Board, Othello}; use super::super::Game;"), "");
    assert_eq!(imports("game/mod.rs", "use super::table;"), "table");
    assert_eq!(imports("game/mod.rs", "mod tests { use super::*; use super::super::cli; }"), "cli");
    assert_eq!(imports("game/mod.rs", "mod tests { fn f() {} } use super::cli;"), "cli");
    assert_eq!(imports("main.rs", "fn main() { yomikiri::solve::run() }"), "solve");
    assert_eq!(imports("main.rs", "use yomikiri::{cli, solve};"), "cli solve");
    let silent = r##"//! [`crate::table`]
        /* crate::table /* crate::solve */ */
        const A: (&str, char, &str) = ("crate::table \" crate::x", '"', r#"crate::"solve"#);
        fn f<'a>(x: &'a str) -> char { '\'' } // crate::graph"##;
    assert_eq!(imports(deep, silent), "");
    assert_eq!(imports(deep, &format!("{silent}\nuse crate::graph;")), "graph");
}

#[test]
fn violations_are_found() {
    let layer = |path: &str, text: &str| layer_violations(&Source::new(path, text));
    assert_eq!(
        layer("game/a.rs", "use crate::table::X;"),
        ["src/game/a.rs: `game` imports `table`"]
    );
    assert_eq!(layer("new.rs", ""), ["src/new.rs: module `new` has no layer"]);
    assert_eq!(layer("serve.rs", "use crate::cli;").len(), 1);
    assert_eq!(layer("cli/mod.rs", "use crate::{serve, game};").len(), 0);
    assert_eq!(layer("solve/sweep.rs", "use crate::{solve::x, graph};").len(), 0);
    let place = |path: &str, text: &str| place_violations(&Source::new(path, text)).len();
    assert_eq!(place("game/a.rs", "fn f() { unsafe { g() } }"), 1);
    assert_eq!(place("table/mmap.rs", "#![allow(unsafe_code)] fn f() { unsafe { g() } }"), 0);
    assert_eq!(place("game/a.rs", "#![forbid(unsafe_code)] // unsafe, println!()"), 0);
    assert_eq!(place("game/a.rs", "fn f() { println!(); eprintln!(); }"), 2);
    assert_eq!(place("render/a.rs", "fn f() { println!() }"), 0);
    assert_eq!(place("game/a.rs", &"\n".repeat(LONGEST_FILE)), 0);
    assert_eq!(place("game/a.rs", &"\n".repeat(LONGEST_FILE + 1)), 1);
}
