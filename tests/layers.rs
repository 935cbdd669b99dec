//! Keeps the layers of the crate: who imports whom, where unsafe code and printing live, and how
//! long a file may be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use proc_macro2::TokenTree::{self, Group, Ident, Punct};

/// Every top-level module and what it may import besides itself.
const LAYERS: [(&str, &[&str]); 22] = [
    ("hint", &[]),
    ("progress", &[]),
    ("parallel", &[]),
    ("input", &[]),
    ("game", &["hint", "parallel"]),
    ("table", &["hint", "input", "progress", "parallel"]),
    ("graph", &["hint", "game", "table", "progress", "parallel"]),
    ("solve", &["hint", "game", "graph", "table", "progress", "parallel"]),
    ("search", &["hint", "game", "solve", "progress", "parallel"]),
    ("policy", &["hint", "input", "game", "search"]),
    ("any", &["hint", "game", "graph", "solve", "search", "policy", "table", "progress"]),
    ("registry", &["hint", "game", "any", "table"]),
    ("cluster", &["hint", "game", "any", "graph", "solve", "table", "progress"]),
    (
        "solved",
        &[
            "hint", "input", "game", "any", "graph", "solve", "search", "table", "progress",
            "parallel",
        ],
    ),
    (
        "evaluate",
        &[
            "hint", "game", "any", "graph", "solve", "search", "solved", "policy", "table",
            "progress", "parallel",
        ],
    ),
    (
        "export",
        &["hint", "game", "any", "graph", "solve", "solved", "table", "progress", "parallel"],
    ),
    (
        "learn",
        &[
            "hint", "input", "game", "search", "any", "registry", "policy", "evaluate", "export",
            "table", "progress",
        ],
    ),
    ("render", &["evaluate", "game", "solve", "table"]),
    ("serve", ALL_BUT_CLI),
    ("cli", ALL),
    // The crate's page, and the binary, which only calls the commands.
    ("lib", ALL),
    ("main", &["cli"]),
];

const ALL: &[&str] = &[
    "hint", "progress", "parallel", "input", "game", "table", "graph", "solve", "search", "policy",
    "any", "registry", "cluster", "solved", "evaluate", "export", "learn", "render", "serve",
    "cli",
];
const ALL_BUT_CLI: &[&str] = ALL.split_last().unwrap().1;

const LONGEST_FILE: usize = 900;

/// A file below `src`, with its path inside and its tokens: comments are none, and text in quotes
/// is one.
struct Source {
    path: String,
    lines: usize,
    tokens: Vec<TokenTree>,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        let tokens = text.parse::<TokenStream>().unwrap_or_else(|e| panic!("{path}: {e}"));
        Source {
            path: path.to_string(),
            lines: text.lines().count(),
            tokens: tokens.into_iter().collect(),
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

    /// The top-level modules (or other names of the crate's root) that the file names.
    fn imports(&self) -> BTreeSet<String> {
        let root = self.path == "lib.rs" || self.path == "main.rs";
        let mut found = BTreeSet::new();
        imports(&self.tokens, if root { 0 } else { self.module().len() }, &mut found);
        found
    }
}

/// What the paths among `tokens` name at the crate's root, from `depth` modules below it. Read from
/// tokens rather than from items, for paths also stand in the arguments of macros.
fn imports(tokens: &[TokenTree], depth: usize, found: &mut BTreeSet<String>) {
    for (at, token) in tokens.iter().enumerate() {
        let before =
            |n: usize| at.checked_sub(n).map_or(String::new(), |at| tokens[at].to_string());
        match token {
            Group(group) => {
                let inside = group.stream().into_iter().collect::<Vec<_>>();
                imports(&inside, depth + usize::from(before(2) == "mod"), found);
            }
            Ident(_) if before(1) != ":" || before(2) != ":" => {
                path(&tokens[at..], None, depth, found);
            }
            _ => {}
        }
    }
}

/// Follows one path, and all of its branches in braces. `above` is how many modules lie between
/// what was read of it and the root; nothing was read yet if it is none.
fn path(tokens: &[TokenTree], above: Option<usize>, depth: usize, found: &mut BTreeSet<String>) {
    let above = match (tokens.first(), above) {
        (Some(Ident(word)), None) if word == "crate" || word == "yomikiri" => 0,
        (Some(Ident(word)), _) if word == "super" => match above.unwrap_or(depth).checked_sub(1) {
            Some(above) => above,
            None => return,
        },
        (Some(Group(group)), Some(_)) => {
            let inside: Vec<_> = group.stream().into_iter().collect();
            let comma = |token: &TokenTree| matches!(token, Punct(mark) if mark.as_char() == ',');
            return inside.split(comma).for_each(|branch| path(branch, above, depth, found));
        }
        (Some(name), Some(0)) if name.to_string() != "self" => {
            found.insert(name.to_string());
            return;
        }
        _ => return,
    };
    if let [_, Punct(a), Punct(b), rest @ ..] = tokens
        && (a.as_char(), b.as_char()) == (':', ':')
    {
        path(rest, Some(above), depth, found);
    }
}

/// Whether `seen` says so of a token, or of one in any group, and of the token behind it.
fn any(tokens: &[TokenTree], seen: &impl Fn(&[TokenTree]) -> bool) -> bool {
    (0..tokens.len()).any(|at| match &tokens[at] {
        Group(group) => any(&group.stream().into_iter().collect::<Vec<_>>(), seen),
        _ => seen(&tokens[at..]),
    })
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

/// Maps of files; instructions that not every processor has.
const UNSAFE: [&str; 3] =
    ["table/mmap.rs", "game/othello/blocks/bits.rs", "game/othello/search/kernel.rs"];

/// What a file holds that belongs elsewhere, one line each.
fn place_violations(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let holds = |seen: &dyn Fn(&[TokenTree]) -> bool| any(&source.tokens, &seen);
    let is = |token: &TokenTree, word: &str| matches!(token, Ident(other) if other == word);
    if holds(&|at| is(&at[0], "unsafe")) && !UNSAFE.contains(&source.path.as_str()) {
        found.push(format!("src/{}: unsafe code outside {}", source.path, UNSAFE.join(", ")));
    }
    for name in ["println", "eprintln", "print", "eprint", "dbg"] {
        let speaks = ["cli", "render", "main"].contains(&source.module()[0]) && name != "dbg";
        let called = |at: &[TokenTree]| {
            is(&at[0], name) && matches!(at.get(1), Some(Punct(mark)) if mark.as_char() == '!')
        };
        if holds(&called) && !speaks {
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
