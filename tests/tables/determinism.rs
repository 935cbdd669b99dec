//! Bytes do not depend on threads, the order of sweeps, or repetition.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::common::tables::{Files, Tables, assert_same_files, files};

/// Makes and solves a table with a number of threads.
fn solved_with(threads: &str, enumerate: &[&str]) -> Tables {
    let tables = Tables::new();
    let with = ["-q", "--threads", threads];
    tables.ok(&[&["enumerate"], enumerate, &with].concat());
    tables.ok(&[&["value-iterate"], &with[..]].concat());
    if !enumerate.contains(&"--max-depth") && enumerate.contains(&"--size") {
        tables.ok(&[&["value-iterate", "--discount", "0.97"], &with[..]].concat());
    }
    tables
}

fn same_for_all_threads(enumerate: &[&str]) {
    let one = solved_with("1", enumerate);
    for threads in ["2", "7"] {
        let many = solved_with(threads, enumerate);
        let what = format!("{enumerate:?} with {threads} threads");
        assert_same_files(one.root(), many.root(), &what);
    }
}

#[test]
fn threads_change_no_byte_of_small_tables() {
    same_for_all_threads(&["--size", "4"]);
    same_for_all_threads(&["--size", "4", "--symmetry", "none"]);
    same_for_all_threads(&["--size", "4", "--start", "both"]);
    same_for_all_threads(&["--size", "4", "--transitions", "derived"]);
    same_for_all_threads(&["--size", "4", "--max-states", "5000", "--max-depth", "9"]);
    same_for_all_threads(&["--size", "6", "--max-depth", "8"]);
}

#[test]
fn threads_change_no_byte_of_tables_of_games_with_cycles() {
    same_for_all_threads(&["--game", "minishogi", "--max-depth", "5"]);
    same_for_all_threads(&["--game", "minishogi", "--max-states", "20000", "--symmetry", "none"]);
    same_for_all_threads(&["--game", "animal-shogi-3x3"]);
    same_for_all_threads(&["--game", "animal-shogi-3x3", "--index", "keys"]);
}

#[test]
fn threads_change_no_byte_of_a_table_of_many_tasks() {
    // Three layers have more than one task. All of 4x5 would show no more in ten times the time.
    same_for_all_threads(&["--size", "4x5", "--max-depth", "10"]);
    // Complete, so in blocks, and many of them.
    same_for_all_threads(&["--size", "4x5", "--root", "b1 a1 a2"]);
    same_for_all_threads(&["--size", "4x5", "--root", "b1 a1 a2", "--transitions", "derived"]);
}

#[test]
fn the_order_of_sweeps_changes_no_value() {
    for enumerate in [&["--size", "4"][..], &["--size", "4", "--max-depth", "10"]] {
        let [mut topological, mut natural] = ["topological", "natural"].map(|order| {
            let tables = Tables::new();
            tables.ok(&[&["enumerate", "-q"], enumerate].concat());
            tables.ok(&["value-iterate", "-q", "--order", order]);
            files(tables.root())
        });
        // The manifests record the sweeps, which differ.
        for all in [&mut topological, &mut natural] {
            let before = all.len();
            all.retain(|path, _| path.extension().is_some_and(|e| e == "npy"));
            assert_eq!(all.len() + 2, before, "a manifest and LATEST are no arrays");
        }
        assert!(topological == natural, "{enumerate:?}");
    }
}

/// Returns every file with its bytes and modification time.
fn dated(tables: &Tables) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let date = |path: &PathBuf| fs::metadata(tables.root().join(path)).unwrap().modified().unwrap();
    let all = files(tables.root()).into_iter();
    all.map(|(path, bytes)| (path.clone(), (bytes, date(&path)))).collect()
}

#[test]
fn doing_it_again_writes_nothing() {
    let commands: [&[&str]; 4] = [
        &["enumerate", "--size", "4"],
        &["value-iterate"],
        &["value-iterate", "--discount", "0.5", "--order", "natural"],
        &["enumerate", "--size", "4"],
    ];
    let tables = Tables::new();
    for args in commands {
        let first = tables.ok(args);
        let before = dated(&tables);
        let second = tables.json(args);
        assert!(before == dated(&tables), "{args:?} wrote again");
        let known = second["reused"] == true || second["already_solved"] == true;
        assert!(known && !first.is_empty(), "{args:?} says that it was there: {second}");
    }
    assert_eq!(tables.json(&["value-iterate"])["already_solved"], true, "after the discounted");
}

#[test]
fn counting_empties_otherwise_changes_scores_and_back_again() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "--size", "4", "-q"]);
    let solve = |empties: &str| {
        tables.ok(&["value-iterate", "--empties", empties, "-q"]);
        files(&tables.place("othello-4x4"))
    };
    let (plain, winner, again) = (solve("uncounted"), solve("to-winner"), solve("uncounted"));
    let column = |files: &Files, name: &str| {
        let is_named = |file: &&PathBuf| file.to_str().unwrap().starts_with(name);
        let found: Vec<_> = files.keys().filter(is_named).collect();
        assert_eq!(found.len(), 1, "one file of {name}");
        files[found[0]].clone()
    };
    assert!(column(&plain, "score-") != column(&winner, "score-"), "empties count in scores");
    let signs = |files: &Files| -> Vec<i8> {
        column(files, "score-").iter().map(|&score| (score as i8).signum()).collect()
    };
    assert!(signs(&plain) == signs(&winner), "and not in outcomes");
    assert!(plain == again);
    tables.ok(&["verify"]);
}
