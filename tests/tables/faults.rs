//! Failed writes anywhere print one line and harm no existing file, and the same command resumes once
//! there is space.

use std::path::Path;
use std::process::Command;

use crate::common::tables::{Ran, Tables, assert_same_files, files};

/// Root of a subtree of 30,504 states.
const ROOT: &str = "b1 a1 a2 a3 c4";

/// Runs a command whose files are limited to `blocks` blocks of 512 bytes: a write beyond them fails, as
/// on a full disk.
fn with_room(tables: &Tables, args: &[&str], blocks: usize) -> Ran {
    let limit = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(limit).arg(env!("CARGO_BIN_EXE_solver")).args(args);
    command.env("YOMIKIRI_TABLES", tables.root());
    Ran::of(command.output().unwrap())
}

/// Runs a command after `before` with ever higher limits until it succeeds. Returns the number of failures.
fn fails_until_there_is_room(before: &[&[&str]], args: &[&str]) -> usize {
    let done = Tables::after(before);
    let kept = files(done.root());
    done.ok(args);
    let mut failures = 0;
    for blocks in [0, 1, 3, 9, 30, 90, 200, 400, 800, 1600, 1 << 20] {
        let tables = Tables::after(before);
        let ran = with_room(&tables, args, blocks);
        if ran.code == 0 {
            assert_same_files(done.root(), tables.root(), &format!("{args:?}, {blocks} blocks"));
            continue;
        }
        failures += 1;
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{args:?}, {blocks}: {ran:?}");
        let now = files(tables.root());
        for (path, bytes) in &kept {
            assert!(now.get(path) == Some(bytes), "{args:?}, {blocks}: {} is gone", path.display());
        }
        // The message names what is kept, and what to do.
        let is_kept = |path: &Path| path.to_str().unwrap().contains(".partial/");
        let draft = now.iter().find(|(path, bytes)| is_kept(path) && !bytes.is_empty());
        let advice = match draft {
            None => "nothing was kept: free disk space and run the command again",
            Some(_) => "free disk space and run the same command again to resume, or delete ",
        };
        assert!(
            ran.stderr.contains(advice),
            "{args:?}, {blocks}, {:?}: {ran:?}",
            draft.map(|(path, _)| path)
        );
        // A draft is listed with its command.
        if draft.is_some() && ["enumerate", "pack"].contains(&args[0]) {
            let list = tables.ok(&["list"]);
            assert!(list.contains(&format!("the same 'solver {}' ", args[0])), "{list}");
        }
        tables.ok(args);
        assert_same_files(done.root(), tables.root(), &format!("{args:?} after {blocks} blocks"));
    }
    failures
}

#[test]
fn a_full_disk_keeps_the_checkpoint_of_a_proof() {
    let tables = Tables::new();
    let file = tables.root().join("4x5.semi");
    let args = ["prove", "4x5", "--semi-strong", "--leaves", "4", "--out", file.to_str().unwrap()];
    let ran = with_room(&tables, &args, 1);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.contains("4x5.semi.partial: "), "{last}");
    assert!(last.ends_with("; free disk space and run the command again"), "{last}");
    // Other leaves neither resume nor harm it.
    let other = [&args[..3], &["--leaves", "5"], &args[5..]].concat();
    let partial = std::fs::read(file.with_added_extension("partial")).unwrap();
    let refused = tables.run(&other);
    assert!(refused.refused("other leaves").contains("give --leaves 4, or delete "), "{refused:?}");
    assert_eq!(std::fs::read(file.with_added_extension("partial")).unwrap(), partial);
    tables.ok(&args);
    assert!(!file.with_added_extension("partial").exists());
}

#[test]
fn a_full_disk_harms_nothing() {
    let enumerate = ["enumerate", "--size", "4x5", "--root", ROOT, "--name", "t", "-q"];
    assert!(fails_until_there_is_room(&[], &enumerate) > 4);
    assert!(fails_until_there_is_room(&[&enumerate], &["value-iterate", "-q"]) > 4);
    let solve = ["value-iterate", "--discount", "0.9", "-q"];
    let solved: [&[&str]; 2] = [&enumerate, &["value-iterate", "-q"]];
    assert!(fails_until_there_is_room(&solved, &solve) > 3);
    assert!(fails_until_there_is_room(&solved, &["pack", "t", "-q"]) > 3);
}
