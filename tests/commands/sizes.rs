//! Options that take a size, a count or a time: each value up to a limit is accepted, each above is refused, and neither
//! panics. The lines are read, and nothing is begun.

use std::collections::BTreeMap;
use std::process::Command;

use yomikiri_measure::machine_memory;
use yomikiri_solver::{reference, understand};

use crate::common::tables::{Ran, Tables};

/// Names of the values of such options. Others are shares and rates, which have no sizes.
const SIZES: [&str; 10] =
    ["N", "K", "PLIES", "SECONDS", "STATES", "UNITS", "SEED", "PORT", "FROM..TO", "BYTES"];

/// Returns the words that a command needs before its options.
fn needed(command: &str) -> &'static [&'static str] {
    match command {
        "check" | "remove" => &["file"],
        "match" | "compare" => &["random", "greedy"],
        "prove" => &["6x6", "--out=file"],
        "train evaluation" => &["--out=file"],
        "completions" => &["bash"],
        _ => &[],
    }
}

/// Returns every option of a size, with its command and the name of its value, as the reference lists them.
fn options() -> Vec<(String, String, String)> {
    let text = reference();
    let (mut command, mut all) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### solver ") {
            command = name.to_string();
        }
        let Some((option, _)) = line.strip_prefix("- `--").and_then(|line| line.split_once('`'))
        else {
            continue;
        };
        let Some((name, value)) = option.split_once(' ') else { continue };
        if SIZES.contains(&value) {
            all.push((command.clone(), format!("--{name}"), value.to_string()));
        }
    }
    all
}

/// Returns why a value is refused, if it is.
fn refused(command: &str, option: &str, value: &str) -> Option<String> {
    let given = format!("{option}={value}");
    let words =
        ["solver"].into_iter().chain(command.split(' ')).chain(needed(command).iter().copied());
    let words: Vec<&str> = words.chain([&*given]).collect();
    let error = understand(&words).err()?;
    // Another option may be missing.
    error.starts_with("invalid --").then_some(error)
}

/// Returns the last number of a message.
fn last_number(message: &str) -> Option<u64> {
    let numbers = message.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.filter_map(|digits| digits.parse().ok()).next_back()
}

#[test]
fn each_size_has_a_limit_that_holds() {
    let options = options();
    assert!(options.len() > 80, "{}", options.len());
    let mut limits = BTreeMap::new();
    for (command, option, kind) in &options {
        let what = format!("{command} {option}");
        let is_range = kind == "FROM..TO";
        let shown = |value: u128| if is_range { format!("0..{value}") } else { value.to_string() };
        let refused = |value: u128| refused(command, option, &shown(value));
        let mut limit = u128::from(u64::MAX);
        for value in [0, 1, 1 << 31, 1 << 32, 1 << 63, 1 << 64].into_iter().rev() {
            let Some(why) = refused(value) else { continue };
            assert!(!why.contains("panicked"), "{what} {value}: {why}");
            let number = why.split_once(": expected ").and_then(|(_, range)| last_number(range));
            if let Some(most) = number.filter(|&most| u128::from(most) < value) {
                limit = most.into();
            }
        }
        assert!(refused(1 << 64).is_some(), "{what} accepts 2^64");
        if kind != "BYTES" {
            assert_eq!(refused(limit), None, "{what} refuses its limit");
            assert!(refused(limit + 1).is_some(), "{what} accepts {limit} + 1");
            limits.insert(what, limit);
        }
    }
    assert_eq!(limits["solve --time"], 1_000_000_000);
    assert_eq!(limits["enumerate --max-depth"], u32::MAX.into());
    assert_eq!(limits["report --sample"], 10_000_000);
}

/// Memory is limited by what the machine has, wherever an option takes it.
#[test]
fn memory_is_that_of_the_machine() {
    let there = machine_memory().expect("the system says how much memory there is");
    let mut count = 0;
    for (command, option, _) in options().iter().filter(|(_, _, kind)| kind == "BYTES") {
        count += 1;
        for value in ["0", "1", "299999999", "x", "15E", "18446744073709551615", "99999999E"] {
            assert!(refused(command, option, value).is_some(), "{command} {option} {value}");
        }
        for value in [300_000_000, there] {
            assert_eq!(refused(command, option, &value.to_string()), None, "{command}");
        }
        let why = refused(command, option, &(there + 1).to_string()).expect(command);
        assert!(why.contains("the machine has"), "{why}");
        let words =
            [&["solver", command][..], needed(command), &["--memory=15E", "--force"]].concat();
        understand(&words).unwrap();
    }
    assert_eq!(count, 7);
}

/// A search takes as much of the forced memory as the system gives.
#[test]
fn more_memory_than_there_is_ends_in_an_answer() {
    let tables = Tables::new();
    for memory in ["140G", "275G", "4T", "15E"] {
        let words = ["solve", "8x8", "--memory", memory, "--time", "1", "start"];
        let ran = tables.run(&words);
        assert!(ran.refused(memory).contains("add --force"), "{ran:?}");
        let ran = tables.run(&[&words[..], &["--force"]].concat());
        assert_eq!(ran.code, 0, "{memory}: {ran:?}");
        let mate = ["solve", "minishogi", "--memory", memory, "--force", "--time", "1", "start"];
        let ran = tables.run(&mate);
        assert_eq!(ran.code, 0, "{memory}: {ran:?}");
    }
}

/// A file without an end is refused with its limit, and not read to the end of memory.
#[test]
fn endless_files_are_refused_with_their_limit() {
    let tables = Tables::after(&[&["enumerate", "--size", "4", "-q"], &["value-iterate", "-q"]]);
    let zero = "/dev/zero";
    let weights = format!("weights:{zero}");
    let lines: [&[&str]; 6] = [
        &["enumerate", "--roots", zero, "--name", "x"],
        &["report", "--policy", &weights],
        &["report", "--against", zero],
        &["report", "-q", "--positions", zero],
        &["verify", "--check", zero],
        &["check", zero],
    ];
    for words in lines {
        let limit = "ulimit -v 3000000; exec \"$0\" \"$@\"";
        let command = tables.solver(words);
        let mut limited = Command::new("sh");
        limited.args(["-c", limit]).arg(command.get_program()).args(command.get_args());
        let ran = Ran::of(limited.env("YOMIKIRI_TABLES", tables.root()).output().unwrap());
        let line = ran.refused(words[1]);
        assert!(line.contains(zero), "{words:?}: {line}");
    }
}
