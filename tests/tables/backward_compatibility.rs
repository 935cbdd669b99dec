//! Tables of every released version of the format open and are right: `tests/fixtures/vN`.
//!
//! A fixture of a released version never changes. A change of the format raises the version, keeps the
//! old fixture and adds one of the new version (with the commands in each test's `how`). Before the
//! first release the new version's fixture replaces the old one.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(version: &str, name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/fixtures")
        .join(version)
        .join(name)
}

fn solver(args: &[&str], tables: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_solver"))
        .arg("--tables")
        .arg(tables)
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Opens, verifies and queries the fixture, and makes the same table again: as long as the version
/// stays, the bytes do too.
fn check(name: &str, how: &[&[&str]], position: &str, expected: &str) {
    let old = fixture("v6", name);
    let nowhere = tempfile::tempdir().unwrap();
    let old_path = old.to_str().unwrap();
    assert!(solver(&["info", old_path], nowhere.path()).contains(name));
    let verified = solver(&["verify", old_path], nowhere.path());
    assert!(verified.contains("every value follows"), "{verified}");
    let answer = solver(&["query", old_path, position], nowhere.path());
    assert!(answer.contains(expected), "{answer}");

    for args in how {
        solver(args, nowhere.path());
    }
    for entry in std::fs::read_dir(&old).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap();
        let fresh = std::fs::read(nowhere.path().join(name).join(file)).unwrap();
        assert!(std::fs::read(&path).unwrap() == fresh, "{file:?} is no longer written as it was");
    }
}

#[test]
fn version_6_complete() {
    let root = "-----OX--XOXXOOX X;";
    let how: [&[&str]; 3] = [
        &["enumerate", "--root", root],
        &["value-iterate"],
        &["value-iterate", "--discount", "0.9"],
    ];
    check("othello-4x4-root-50fa6e21", &how, root, "Black, to move,");
}

#[test]
fn version_6_bounded_with_wide_keys() {
    let how: [&[&str]; 2] = [&["enumerate", "--size", "6", "--max-depth", "4"], &["value-iterate"]];
    check("othello-6x6-depth4", &how, "start", "loses by 4 discs");
}

#[test]
fn version_6_with_cycles_bounded() {
    let root = "2k2/5/2S2/5/2K2 b G 1";
    let bounded = ["enumerate", "--game", "minishogi", "--root", root, "--max-depth", "2"];
    let how: [&[&str]; 2] = [&bounded, &["value-iterate"]];
    check("minishogi-root-b1d77ad8-depth2", &how, root, "wins in 1 ply");
}

#[test]
fn version_6_ranked() {
    let how: [&[&str]; 2] = [&["enumerate", "--game", "animal-shogi-3x3"], &["value-iterate"]];
    check("animal-shogi-3x3", &how, "start", "wins in 7 plies");
}
