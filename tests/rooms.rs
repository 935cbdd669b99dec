//! Checks the structure of each crate: no import cycles between top-level modules, `unsafe` in three files
//! only, no file beyond 900 lines. Cargo checks dependencies between crates, and a lint printing.

#![allow(unreachable_pub)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Files with `unsafe`: memory maps, and instructions that not every processor has.
const UNSAFE: [&str; 3] =
    ["src/game/othello/blocks/bits.rs", "src/game/othello/search/kernel.rs", "src/table/mmap.rs"];

const LONGEST_FILE: usize = 900;

/// Top-level modules of a crate, each with the modules that it names.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// Returns the names after `crate::` in a text, including all of a list in braces; comments are ignored.
fn imports(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or("")).collect();
    let code = code.join(" ");
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(word(rest));
            continue;
        };
        let (mut depth, mut begin) = (0, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    found.insert(word(&list[begin..at]));
                    begin = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    // Nothing follows the last comma of a list.
    found.remove("");
    found
}

/// Returns the rooms that import one another in a cycle; none if each can be removed after those it names.
fn circle(mut rooms: Rooms) -> Vec<String> {
    loop {
        let known: BTreeSet<String> = rooms.keys().cloned().collect();
        let is_free = |room: &String| {
            let below = &rooms[room];
            below.iter().all(|name| name == room || !known.contains(name))
        };
        let free: Vec<String> = known.iter().filter(|room| is_free(room)).cloned().collect();
        if free.is_empty() {
            return rooms.into_keys().collect();
        }
        free.iter().for_each(|room| drop(rooms.remove(room)));
    }
}

/// Visits the sources below a folder with their path from the folder and their text.
fn visit(folder: &Path, inside: &str, see: &mut dyn FnMut(&str, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{inside}{}", entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            visit(&entry.path(), &format!("{name}/"), see);
        } else if name.ends_with(".rs") {
            see(&name, &fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn rooms_have_no_circle_and_files_keep_their_places() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let crates = ["", "crates/measure/", "crates/learn/", "crates/cluster/", "crates/solver/"];
    let mut files = 0;
    for place in crates {
        let mut rooms = Rooms::new();
        visit(&root.join(place).join("src"), "", &mut |file, text| {
            let (path, lines) = (format!("{place}src/{file}"), text.lines().count());
            assert!(lines <= LONGEST_FILE, "{path}: {lines} lines");
            let allows =
                text.contains("allow(unsafe_code)") || text.contains("expect(unsafe_code)");
            assert_eq!(allows, UNSAFE.contains(&path.as_str()), "{path}: unsafe code");
            let room = file.split(['/', '.']).next().unwrap_or("").to_string();
            rooms.entry(room).or_default().extend(imports(text));
            files += 1;
        });
        // The root module of a crate names all of its rooms, and its program names the root.
        rooms.retain(|room, _| room != "lib" && room != "main");
        assert_eq!(circle(rooms), [""; 0], "{place}src");
    }
    assert!(files > 200, "{files} files");
}

/// A check that never finds anything would always pass.
#[test]
fn imports_and_circles_are_found() {
    let names = |text: &str| imports(text).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(names("use crate::table::Manifest; // crate::solve"), "table");
    assert_eq!(
        names("use crate::{\n table::{self, X},\n graph, solve::{a, b},\n};"),
        "graph solve table"
    );
    assert_eq!(names("fn f() { crate::solve::run() }"), "solve");
    let rooms = |arrows: &[(&str, &str)]| -> Rooms {
        let of = |(from, to): &(&str, &str)| (from.to_string(), names(&format!("crate::{to}")));
        arrows.iter().map(of).map(|(from, to)| (from, BTreeSet::from([to]))).collect()
    };
    assert!(circle(rooms(&[("a", "b"), ("b", "c"), ("c", "c")])).is_empty());
    assert_eq!(circle(rooms(&[("a", "b"), ("b", "c"), ("c", "b")])), ["a", "b", "c"]);
}
