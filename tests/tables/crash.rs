//! Commands killed at any moment leave either no table or a complete one; the same command run again
//! resumes at the last checkpoint and makes the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::Random;
use crate::common::tables::{Ran, Tables, assert_same_files, copy_dir, files, solved_4x4};
use yomikiri::output::output_of;
use yomikiri::table::Table;

/// Runs a command, kills it after a time, and returns whether it was still running.
fn kill_after(tables: &Tables, args: &[&str], time: Duration) -> bool {
    let mut child =
        tables.solver(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

/// Runs a command on a copy of `before`. Returns the tables and its duration.
fn undisturbed(before: &Tables, args: &[&str]) -> (Tables, Duration) {
    let whole = Tables::new();
    copy_dir(before.root(), whole.root());
    let started = Instant::now();
    whole.ok(args);
    (whole, started.elapsed())
}

/// Runs a command on a copy of `before` and kills it after a time, sooner if it ends before that.
/// Returns the tables and the time.
fn killed(before: &Tables, args: &[&str], mut after: Duration) -> (Tables, Duration) {
    loop {
        let tables = Tables::new();
        copy_dir(before.root(), tables.root());
        if kill_after(&tables, args, after) {
            return (tables, after);
        }
        after /= 2;
    }
}

/// Kills a command at moments spread over its run on a copy of `before`. Each time there must be no
/// table or one that `verify` proves, and the same command must then make the same bytes.
fn killed_and_done_again(before: &Tables, table: &str, args: &[&str], moments: u32) {
    let moments = moments * longer();
    let (whole, time) = undisturbed(before, args);
    for moment in 0..moments {
        let after = time * (2 * moment + 1) / (2 * moments);
        let (tables, after) = killed(before, args, after);
        let what = format!("{args:?} killed after {after:?} of {time:?}");
        let found = tables.run(&["verify", table]);
        if tables.place(table).exists() {
            assert_eq!(found.code, 0, "{what}: {found:?}");
        } else {
            found.refused(&what);
        }
        tables.ok(args);
        assert_same_files(whole.root(), tables.root(), &what);
    }
}

/// A subtree of 4x5 with 140,024 states: large enough to be killed at any step, and small enough for
/// thirty runs and proofs.
const ENUMERATE: [&str; 8] =
    ["enumerate", "--size", "4x5", "--root", "b1 a1 a2", "--threads", "1", "-q"];
const SUBTREE: &str = "othello-4x5-root-63e1ce8a";

#[test]
fn a_killed_enumeration_leaves_no_half_table() {
    killed_and_done_again(&Tables::new(), SUBTREE, &ENUMERATE, 6);
    let minishogi = ["enumerate", "--game", "minishogi", "--max-depth", "5", "-q"];
    killed_and_done_again(&Tables::new(), "minishogi-depth5", &minishogi, 3);
}

#[test]
fn a_killed_solve_leaves_no_half_solution() {
    let unsolved = Tables::new();
    unsolved.ok(&ENUMERATE);
    for order in ["topological", "natural"] {
        let args = ["value-iterate", "--threads", "1", "-q", "--order", order];
        killed_and_done_again(&unsolved, SUBTREE, &args, 3);
    }
    let unsolved = Tables::new();
    unsolved.ok(&["enumerate", "--game", "minishogi", "--max-depth", "5", "-q"]);
    killed_and_done_again(&unsolved, "minishogi-depth5", &["value-iterate", "-q"], 3);
}

/// Number of random kills per command. `YOMIKIRI_KILLS=60` also takes larger tables and kills 324
/// commands in all.
fn kills() -> usize {
    std::env::var("YOMIKIRI_KILLS").map_or(10, |kills| kills.parse().expect("a number of kills"))
}

/// Factor by which `YOMIKIRI_KILLS` lengthens the tests with evenly spread kills.
fn longer() -> u32 {
    kills().div_ceil(10) as u32
}

/// Returns a solved table `large`, beside another.
fn to_kill() -> Tables {
    // 140,024 states, or 30,504 in eight blocks.
    let root = if kills() > 10 { "b1 a1 a2" } else { "b1 a1 a2 a3 c4" };
    let enumerate = ["enumerate", "--size", "4x5", "--root", root, "--name", "large", "-q"];
    Tables::after(&[&["enumerate", "--size", "4", "-q"], &enumerate, &["value-iterate", "-q"]])
}

/// Kills a command at random moments on a copy of `before`. Each time `verify` must prove every table
/// that opens, and the same command must then make the same files as an undisturbed run, with nothing
/// beside them. A removal that is already complete is refused.
fn killed_by_chance(before: &Tables, args: &[&str], kills: usize) {
    let names = |tables: &Tables| -> BTreeSet<_> {
        fs::read_dir(tables.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let (whole, time) = undisturbed(before, args);
    let mut random = Random(7);
    for _ in 0..kills {
        let after = time.mul_f64(random.below(1000) as f64 / 1000.0);
        let (tables, after) = killed(before, args, after);
        let what = format!("{args:?} killed after {after:?} of {time:?}");
        for name in names(&tables) {
            let (name, place) = (name.to_str().unwrap(), tables.root().join(&name));
            // Unchanged tables need not be proven again.
            if place.is_dir() && files(&place) != files(&before.place(name)) {
                let found = tables.run(&["verify", name]);
                match Table::open(&place) {
                    Ok(_) => assert_eq!(found.code, 0, "{what}: {found:?}"),
                    Err(_) => drop(found.refused(&what)),
                }
            }
        }
        let again = tables.run(args);
        if args[0] != "remove" || again.code != 2 {
            assert_eq!(again.code, 0, "{what}: {again:?}");
        }
        assert_same_files(whole.root(), tables.root(), &what);
        assert_eq!(names(&whole), names(&tables), "{what}");
    }
}

#[test]
fn a_killed_packing_leaves_no_half_table() {
    let args = ["pack", "large", "--with", "distance", "--threads", "1", "-q"];
    killed_by_chance(&to_kill(), &args, kills());
}

#[test]
fn a_killed_removal_leaves_no_half_table() {
    killed_by_chance(&to_kill(), &["remove", "large", "-q"], kills());
}

#[test]
fn a_second_writer_fails_with_advice_to_wait() {
    let tables = Tables::new();
    let commands: [&[&str]; 3] = [
        &["enumerate", "--size", "4"],
        &["value-iterate", "othello-4x4"],
        &["value-iterate", "othello-4x4", "--discount", "0.9"],
    ];
    for (i, args) in commands.iter().enumerate() {
        let before = files(tables.root());
        let lock = tables.store().lock("othello-4x4").unwrap();
        let ran: Ran = tables.run(args);
        let line = ran.refused(&format!("{args:?}"));
        let holder = format!("othello-4x4.lock is being written by process {}", std::process::id());
        assert!(line.contains(&holder) && line.contains("wait for it to end"), "{line}");
        assert!(before == files(tables.root()), "command {i} wrote");
        drop(lock);
        tables.ok(args);
    }
}

#[test]
fn writers_of_different_tables_do_not_hinder_each_other() {
    let tables = Tables::new();
    fs::create_dir_all(tables.root()).unwrap();
    let names = ["a", "b", "c", "d"];
    std::thread::scope(|scope| {
        for name in names {
            let store = tables.store();
            scope.spawn(move || (0..20).for_each(|_| store.set_latest(name).unwrap()));
        }
    });
    let latest = fs::read_to_string(tables.place("LATEST")).unwrap();
    assert!(names.contains(&latest.trim()), "{latest}");
}

#[test]
fn a_killed_export_leaves_no_half_data() {
    let tables = Tables::new();
    solved_4x4(&tables);
    for name in ["data", "data.npz"] {
        // Everything that the command makes lies in a directory of its own.
        let place = tables.place("out");
        let clear = || {
            let _ = fs::remove_dir_all(&place);
            fs::create_dir(&place).unwrap();
        };
        let out = place.join(name);
        let args =
            ["export", "--expand-symmetry", "--threads", "1", "-q", "--out", out.to_str().unwrap()];
        clear();
        let started = Instant::now();
        tables.ok(&args);
        let (time, whole) = (started.elapsed(), files(&place));
        let moments = 3 * longer();
        for moment in 0..moments {
            let mut after = time * (2 * moment + 1) / (2 * moments);
            clear();
            while !kill_after(&tables, &args, after) {
                after /= 2;
                clear();
            }
            // A file under its final name is complete, even if the kill came before the card was written
            // or the temporary files were removed.
            let named = files(&place).into_iter();
            let mut named = named.filter(|(path, _)| {
                path.iter().all(|name| output_of(name.to_str().unwrap()).is_none())
            });
            let what = format!("killed after {after:?} of {time:?}");
            assert!(named.all(|(path, bytes)| whole.get(&path) == Some(&bytes)), "{what}");
            assert!(!out.is_dir() || files(&out).len() == whole.len(), "{what}");
            tables.ok(&args);
            assert!(files(&place) == whole, "killed after {after:?}, done again");
        }
    }
}
