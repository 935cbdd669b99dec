//! Tables: listing, naming, removing, finding by position, and totals.

use std::fs;

use crate::common::tables::{Tables, edit_manifest, files, write_state};
use serde_json::{Value, json};
use yomikiri::output::{DRAFT, kept_dir, temporary};
use yomikiri::table::Table;

/// A solved table, and an unsolved one of the same game.
fn two() -> Tables {
    Tables::after(&[
        &["enumerate", "--size", "4", "--max-depth", "4"],
        &["enumerate", "--size", "4"],
        &["value-iterate"],
    ])
}

const WHOLE: &str = "othello-4x4";
const SHORT: &str = "othello-4x4-depth4";

/// Returns the line of a table in the list.
fn listed(tables: &Tables, name: &str) -> Value {
    let lines = tables.json(&["list"])["tables"].clone();
    let line = lines.as_array().unwrap().iter().find(|line| line["table"] == name);
    line.unwrap_or_else(|| panic!("{name} is not in {lines}")).clone()
}

fn names(tables: &Tables) -> Vec<String> {
    let lines = tables.json(&["list"])["tables"].clone();
    let name = |line: &Value| line["table"].as_str().unwrap().to_string();
    lines.as_array().unwrap().iter().map(name).collect()
}

/// Leaves a table like a removal that was killed after deleting some of the files.
fn half_removed(tables: &Tables, name: &str) {
    let dir = tables.place(name);
    fs::rename(dir.join("manifest.json"), dir.join("removed.json")).unwrap();
    fs::remove_file(dir.join("keys.npy")).unwrap();
}

#[test]
fn the_list_describes_every_table() {
    let tables = Tables::new();
    let ran = tables.run(&["list"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("solver solve 4x5"), "{ran:?}");
    assert!(names(&tables).is_empty());

    let tables = two();
    let draft = tables.place("mine.partial");
    kept_dir(&draft).unwrap();
    let mark = fs::metadata(draft.join(DRAFT)).unwrap().len();
    fs::write(draft.join("keys.npy"), [0; 200]).unwrap();
    fs::create_dir_all(tables.place("policies")).unwrap();
    let broken = tables.place("broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("manifest.json"), "{").unwrap();
    tables.ok(&["enumerate", "--max-depth", "3"]);
    half_removed(&tables, "othello-4x4-depth3");

    let states = [WHOLE, SHORT, "mine.partial", "broken", "othello-4x4-depth3"]
        .map(|name| listed(&tables, name)["state"].clone());
    assert_eq!(states, ["solved", "enumerated", "unfinished", "unreadable", "half removed"]);
    assert_eq!(names(&tables).len(), states.len(), "networks are no table");
    let whole = listed(&tables, WHOLE);
    assert_eq!((&whole["game"], &whole["states"]), (&WHOLE.into(), &12_351.into()));
    assert_eq!(whole["roots"][0]["score"], -8);
    let length: usize = files(&tables.place(WHOLE)).values().map(Vec::len).sum();
    assert_eq!(whole["bytes"], length);
    assert_eq!(listed(&tables, "mine.partial")["bytes"], 200 + mark);
    // The message names the command that makes the draft.
    let summary = |name: &str| listed(&tables, name)["summary"].as_str().unwrap().to_string();
    assert!(summary("mine.partial").contains("'solver enumerate' to resume"));
    fs::create_dir(tables.place(SHORT).join("solve.partial")).unwrap();
    assert!(summary(SHORT).contains("'solver value-iterate' to resume"));
    fs::remove_dir(tables.place(SHORT).join("solve.partial")).unwrap();
    // `value-iterate` repeats this summary for a solved table.
    let words = whole["summary"].as_str().unwrap();
    assert!(tables.ok(&["value-iterate", WHOLE]).contains(&format!("\n{words}\n")), "{words}");
    let text = tables.ok(&["list"]);
    assert_eq!(text.lines().filter(|line| line.ends_with(words)).count(), 1, "{text}");
    assert!(text.lines().any(|line| line.starts_with(SHORT) && line.ends_with("not solved")));
}

#[test]
fn a_table_is_removed_with_all_that_belongs_to_it() {
    let tables = two();
    let kept = files(&tables.place(SHORT));
    let size = listed(&tables, WHOLE)["bytes"].clone();
    // Remains of a killed solver and a killed enumeration.
    let scratch = tables.place("othello-4x4/solve.partial");
    kept_dir(&scratch).unwrap();
    fs::write(scratch.join("state.json"), "{}").unwrap();
    let table = tables.place(WHOLE);
    for place in
        [temporary(&table.join("score_lower.npy")).unwrap(), table.join("score_lower-0123abcd.npy")]
    {
        fs::write(place, "a column that no manifest names").unwrap();
    }
    let draft = tables.place("othello-4x4.partial");
    kept_dir(&draft).unwrap();
    fs::write(temporary(&draft.join("checkpoint.json")).unwrap(), "{").unwrap();
    let removed = tables.json(&["remove", WHOLE])["removed"][0].clone();
    assert_eq!(removed["table"], WHOLE);
    assert!(removed["bytes"].as_u64() > size.as_u64(), "{removed}");
    assert_eq!(removed["left"], Value::Array(vec![]));
    let left: Vec<_> =
        fs::read_dir(tables.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(
        left.iter().all(|name| !name.to_str().unwrap().starts_with("othello-4x4.")),
        "{left:?}"
    );
    assert!(!tables.place(WHOLE).exists() && files(&tables.place(SHORT)) == kept);
    // It was the latest: now there is none, and the only table left is the default.
    assert_eq!(tables.json(&["info"])["table"], SHORT);
    assert_eq!(tables.json(&["list"])["latest"], Value::Null);
    // By path, in another store.
    let path = tables.place(SHORT);
    let elsewhere = Tables::new();
    elsewhere.ok(&["remove", &format!("{}/", path.to_str().unwrap())]);
    assert!(!path.exists());
    tables.ok(&["enumerate", "--size", "4"]);
}

#[test]
fn what_is_not_exactly_a_table_is_not_removed() {
    let tables = two();
    fs::create_dir(tables.place("notes")).unwrap();
    fs::write(tables.place("notes/manifest.json"), "{\"name\": \"an app\"}").unwrap();
    fs::create_dir(tables.place("mine.partial")).unwrap();
    fs::write(tables.place("mine.partial/film.mkv"), "half").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(tables.place(WHOLE), tables.place("link")).unwrap();
    let before = files(tables.root());
    let root = tables.root().to_str().unwrap();
    let above = format!("{root}/{WHOLE}/..");
    for name in [
        "othello-4x",
        "othello-4x44",
        "Othello-4x4",
        "",
        ".",
        "..",
        "/",
        root,
        &above,
        "notes",
        "LATEST",
        "mine",
        "mine.partial",
        "othello-4x4.partial",
        "othello-4x4.lock",
        "nowhere/x",
        "link",
    ] {
        tables.run(&["remove", name]).refused(name);
        assert!(files(tables.root()) == before, "'{name}' removed something");
    }
    tables.run(&["remove", "mine", "nowhere/x"]).refused("none is there");
    tables.run(&["remove", SHORT, "notes"]).refused("one of two");
    assert!(files(tables.root()) == before, "all or none are removed");
    assert!(tables.place("link").exists() || !cfg!(unix));
}

#[test]
fn a_table_that_is_being_written_is_not_removed() {
    let tables = two();
    let before = files(tables.root());
    let lock = tables.store().lock(WHOLE).unwrap();
    let ran = tables.run(&["remove", SHORT, WHOLE]);
    assert!(ran.refused("locked").contains("is being written by process"), "{ran:?}");
    assert!(files(tables.root()) == before);
    drop(lock);
    tables.ok(&["remove", SHORT, WHOLE]);
    assert!(names(&tables).is_empty());
}

#[test]
fn files_that_are_not_the_tables_stay_and_are_named() {
    let tables = two();
    let victim = tables.place("victim.npy");
    fs::write(&victim, "not in the table").unwrap();
    // A manifest does not cause other files to be deleted.
    edit_manifest(&tables.place(WHOLE), |manifest| {
        let entry = manifest.arrays["keys"].clone();
        manifest.arrays.insert("../victim".to_string(), entry);
    });
    let mine = tables.place("othello-4x4/mine.npy");
    fs::write(&mine, "a person's").unwrap();
    let ran = tables.run(&["remove", WHOLE]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains(mine.to_str().unwrap()), "{ran:?}");
    assert_eq!(fs::read_dir(tables.place(WHOLE)).unwrap().count(), 1);
    assert!(mine.exists() && victim.exists());
}

#[test]
fn a_removal_that_was_killed_leaves_nothing_that_opens_and_is_gone_on_with() {
    let tables = two();
    half_removed(&tables, WHOLE);
    for command in [&["info"][..], &["verify", WHOLE], &["enumerate", "--size", "4"]] {
        let line = tables.run(command);
        assert!(line.refused(command[0]).contains("solver remove"), "{command:?}");
    }
    tables.ok(&["remove", WHOLE]);
    assert_eq!(names(&tables), [SHORT]);
    // One of several had been removed before the kill.
    let output = tables.json(&["remove", WHOLE, SHORT, "-q"]);
    assert_eq!(
        (&output["missing"][0], &output["removed"][0]["table"]),
        (&json!(WHOLE), &json!(SHORT))
    );
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "4", "-q"]);
    let ran = tables.run(&["remove", WHOLE, SHORT]);
    assert!(ran.code == 0 && ran.stderr.contains("othello-4x4 is missing"), "{ran:?}");
    // The directory and the lock are deleted last.
    fs::create_dir(tables.place(WHOLE)).unwrap();
    tables.run(&["remove", WHOLE]).refused("an empty directory");
    let lock = tables.place("othello-4x4.lock");
    for left in [true, false] {
        fs::write(&lock, "").unwrap();
        assert_eq!(tables.place(WHOLE).exists(), left);
        tables.ok(&["remove", WHOLE]);
        assert!(!tables.place(WHOLE).exists() && !lock.exists());
    }
    fs::create_dir(tables.place(WHOLE)).unwrap();
    tables.ok(&["enumerate", "--size", "4"]);
    Table::open(&tables.place(WHOLE)).unwrap().check().unwrap();
}

#[test]
fn a_table_has_the_name_it_is_given() {
    let tables = two();
    let before = files(tables.root());
    let long = "x".repeat(101);
    for name in [
        "",
        ".",
        "..",
        "a/b",
        "../a",
        "a\\b",
        "a b",
        "a\n",
        "-a",
        ".a",
        "a.partial",
        "a.lock",
        "LATEST",
        "policies",
        "start",
        &long,
    ] {
        let ran = tables.run(&["enumerate", "--max-depth", "2", &format!("--name={name}")]);
        assert!(ran.refused(name).contains("invalid table name"), "{ran:?}");
    }
    let other = tables.run(&["enumerate", "--max-depth", "2", "--name", SHORT]);
    assert!(other.refused("another").contains(SHORT), "{other:?}");
    assert!(files(tables.root()) == before);

    let made = tables.json(&["enumerate", "--max-depth", "2", "--name", "mine"]);
    assert_eq!((&made["table"], &made["reused"]), (&"mine".into(), &false.into()));
    let usual = tables.json(&["enumerate", "--max-depth", "2"]);
    assert_eq!((&usual["reused"], &usual["manifest"]), (&false.into(), &made["manifest"]));
    let again = tables.json(&["enumerate", "--max-depth", "2", "--name", "mine"]);
    assert_eq!((&again["table"], &again["reused"]), (&"mine".into(), &true.into()));
    assert_eq!(tables.json(&["value-iterate"])["table"], "mine", "it is the latest");

    // A draft of another table is not restarted.
    let draft = tables.place("yours.partial");
    kept_dir(&draft).unwrap();
    let identity = &made["manifest"]["identity"];
    let checkpoint = json!({
        "format_version": made["manifest"]["format_version"], "identity": identity, "arrays": {}, "state": 0
    });
    write_state(&draft.join("checkpoint.json"), &checkpoint.to_string());
    let before = files(tables.root());
    let refused = tables.run(&["enumerate", "--max-depth", "3", "--name", "yours"]);
    assert!(refused.refused("draft").contains("yours.partial"), "{refused:?}");
    assert!(files(tables.root()) == before);
    tables.ok(&["enumerate", "--max-depth", "2", "--name", "yours"]);
}

#[test]
fn a_position_is_found_in_the_table_that_knows_most_of_it() {
    let tables = Tables::after(&[
        &["enumerate", "--size", "4", "--max-depth", "4", "--name", "a-part"],
        &["value-iterate"],
        &["enumerate", "--game", "minishogi", "--max-depth", "2"],
        &["value-iterate"],
        &["enumerate", "--size", "4"],
        &["value-iterate"],
    ]);
    let start = "-----OX--XO----- X;";
    let whole = tables.json(&["query", WHOLE, start]);
    for words in [&[start][..], &["-----OX--XO-----", "X;"], &["start"], &[WHOLE], &[]] {
        assert_eq!(tables.json(&[&["query"], words].concat()), whole, "{words:?}");
    }
    let ran = tables.run(&["query", start]);
    assert!(
        ran.stderr.contains(WHOLE) && ran.stdout == tables.ok(&["query", WHOLE, start]),
        "{ran:?}"
    );
    assert_eq!(
        tables.json(&["query", "rbsgk/4p/5/P4/KGSBR", "b", "-"])["table"],
        "minishogi-depth2"
    );
    // A bounded table that proves the outcome at its edge is as good as the complete one.
    assert_eq!(tables.json(&["query", "c4", "b4"])["table"], WHOLE);
    // `start` is that of the game enumerated last.
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2"]);
    assert_eq!(tables.json(&["query", "start"])["table"], "minishogi-depth2");
    fs::remove_file(tables.place("LATEST")).unwrap();
    let ran = tables.run(&["query", "start"]);
    assert!(ran.refused("start").contains("fits minishogi, othello-4x4;"), "{ran:?}");
    // Without the complete table a search finds what the other one does not prove.
    tables.ok(&["remove", WHOLE]);
    let part = tables.json(&["query", start]);
    assert_eq!((&part["table"], &part["score"]), (&"search".into(), &whole["score"]));
    assert_eq!(tables.json(&["query", "a-part"]), part);
    // So is a bounded table of a game that has no whole one.
    assert_eq!(tables.json(&["query", "minishogi"])["table"], "minishogi-depth2");
    for (words, named) in [
        (&["animal-shogi", "start"][..], "no table animal-shogi in"),
        (&["a1"], "othello-4x4: illegal move 1 `a1`"),
    ] {
        let ran = tables.run(&[&["query"], words].concat());
        assert!(ran.refused(words[0]).contains(named), "{ran:?}");
    }
    // A mate that no table contains is searched for.
    let mate = tables.json(&["query", "2k1S/4p/1gS2/4b/1KR2 b RGPb 1"]);
    assert_eq!((&mate["table"], &mate["distance"]), (&"search".into(), &3.into()));
    let none = Tables::new().run(&["query", "start"]);
    assert!(none.refused("no tables").contains("make one with"), "{none:?}");
}

/// Every layer of 4×4 agrees with counts of other programs, and with the page in `docs`.
#[test]
fn results_are_those_of_other_programs_and_of_the_page() {
    let tables = two();
    let found = tables.json(&["info", WHOLE, "--values"])["values"].clone();
    let truth: Value = serde_json::from_str(include_str!("../data/othello.json")).unwrap();
    let truth = &truth["4x4"];
    let layers = truth["layers"].as_array().unwrap();
    assert_eq!(found["layers"].as_array().unwrap().len(), layers.len());
    let fields = [
        ("layer", "discs"),
        ("states", "canonical_states"),
        ("moves", "placing_moves"),
        ("losses", "loss"),
        ("draws", "draw"),
        ("wins", "win"),
        ("sum_of_scores", "score_sum"),
    ];
    for (layer, expected) in found["layers"].as_array().unwrap().iter().zip(layers) {
        for (ours, theirs) in fields {
            assert_eq!(layer[ours], expected[theirs], "{ours} of {layer}");
        }
    }
    assert_eq!(found["histogram"], truth["total"]["score_histogram"]);
    assert_eq!(found["moves"], truth["total"]["placing_moves"]);
    for (ours, theirs) in [("losses", "loss"), ("draws", "draw"), ("wins", "win")] {
        assert_eq!(found["all"][ours], truth["total"][theirs]);
    }
    // The game named as longest has the reported length.
    let page = tables.ok(&["info", WHOLE, "--values"]);
    let (_, query) = page.split_once("solver query othello-4x4 '").unwrap();
    let longest = tables.json(&["query", WHOLE, query.split_once('\'').unwrap().0]);
    assert_eq!(longest["distance"], found["longest"]);
    assert!(include_str!("../../docs/results/othello.md").contains(&page), "{page}");
    // A bounded table reports unproven positions.
    tables.ok(&["value-iterate", SHORT]);
    let short = tables.ok(&["info", SHORT, "--values"]);
    assert!(short.contains("| not proven |"), "{short}");
}
