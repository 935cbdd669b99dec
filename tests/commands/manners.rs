//! Behaviour of the commands towards people, pipes and other programs.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::tables::{Ran, Tables, copy_dir, files, forge, solved_4x4};
use serde_json::Value;

const START: &str = "-----OX--XO----- X;";

/// Every command, in an order in which each finds what it needs.
const COMMANDS: [&[&str]; 16] = [
    &["enumerate", "--size", "4"],
    &["value-iterate"],
    &["value-iterate", "--discount", "0.9"],
    &["query", "othello-4x4", "start"],
    &["info"],
    &["verify"],
    &["perft", "--size", "4", "--depth", "6"],
    &["report", "--size", "4"],
    &["compare", "greedy", "random"],
    &["export", "--states", "othello-4x4"],
    &["verify", "--checksum"],
    &["info", "othello-4x4", "--values"],
    &["list"],
    &["completions", "fish"],
    &["man"],
    &["--help"],
];

/// Returns the names of the commands listed by `--help`.
pub fn command_names(tables: &Tables) -> Vec<String> {
    let help = tables.ok(&["--help"]);
    let (groups, _) = help.split_once("Options of every command:").unwrap();
    let lines = groups.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    lines.map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
}

/// Returns the commands that a page of help lists.
pub fn names_in(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap().lines();
    let names = list.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
}

#[test]
fn quiet_commands_write_nothing_but_data() {
    let tables = Tables::new();
    for args in COMMANDS {
        let ran = tables.run(&[args, &["-q"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!ran.stdout.is_empty() && !ran.stdout.contains('\x1b'), "{args:?}");
    }
}

#[test]
fn remarks_and_logs_keep_off_stdout() {
    let tables = Tables::new();
    // The same commands in the same order, so that each does the same in both directories.
    let plain = Tables::new();
    for args in COMMANDS {
        let quiet = plain.ok(&[args, &["-q"]].concat());
        let ran = tables.run(&[args, &["-vv"]].concat());
        let here = |text: &str, t: &Tables| text.replace(t.root().to_str().unwrap(), "tables");
        assert_eq!(here(&ran.stdout, &tables), here(&quiet, &plain), "{args:?}");
        assert!(!ran.stderr.contains('\x1b'), "{args:?}: colours and bars are for terminals");
    }
}

fn expect_fields(json: &Value, fields: &[&str], what: &str) {
    for path in fields {
        let found = json.pointer(path).unwrap_or_else(|| panic!("{what}: no {path} in {json}"));
        assert!(!found.is_null(), "{what}: {path} is null");
    }
}

#[test]
fn json_of_every_command_has_what_a_reader_needs() {
    let tables = Tables::new();
    let counts = ["/counts/reachable/states", "/layers/0/table/states", "/identity/game"];
    let of_manifest: Vec<String> = counts.iter().map(|path| format!("/manifest{path}")).collect();
    let mut of_manifest: Vec<&str> = of_manifest.iter().map(String::as_str).collect();
    of_manifest.extend(["/table", "/directory", "/bytes", "/reused"]);
    of_manifest.push("/manifest/conventions/perspective");
    let expected: [&[&str]; 13] = [
        &of_manifest,
        &["/table", "/perspective", "/solution/roots/0/score", "/solution/sweeps/0/residual"],
        &["/table", "/perspective", "/discounted/roots/0", "/discounted/discount"],
        &[
            "/perspective",
            "/mover",
            "/reachable",
            "/kind",
            "/outcome",
            "/score",
            "/distance",
            "/moves/3/move",
            "/moves/3/score",
            "/principal_variation/0",
        ],
        &["/manifest/conventions/keys", "/manifest/arrays/score/dtype", "/manifest/checksum"],
        &["/table", "/states", "/edges", "/proven", "/solved"],
        &["/game", "/root", "/perft/5"],
        &[],
        &["/perspective", "/policies/1", "/all/score/first_lost", "/costliest/0/moves/1"],
        &["/table", "/directory", "/positions", "/actions", "/planes/1", "/bytes", "/reused"],
        &["/checksums/0/table", "/checksums/0/checksum"],
        &["/values/perspective", "/values/layers/12/sum_of_scores", "/values/longest"],
        &["/directory", "/latest", "/tables/0/table", "/tables/0/bytes", "/tables/0/roots/0/score"],
    ];
    for (args, fields) in COMMANDS.iter().zip(expected) {
        let json = tables.json(args);
        assert!(json.is_object(), "{args:?}");
        expect_fields(&json, fields, args[0]);
        if let Some(perspective) = json.get("perspective").and_then(Value::as_str) {
            assert_eq!(perspective, "mover", "{args:?}");
        }
    }
    let query = tables.json(&["query", "othello-4x4", "start"]);
    assert_eq!((&query["score"], &query["mover"]), (&(-8).into(), &"Black".into()));
    assert_eq!(query["position"], START);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let tables = Tables::new();
    for args in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = tables.solver(args);
        let child = command.arg("-q").stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    }
}

/// Also where clap writes it: help and version.
#[cfg(target_os = "linux")]
#[test]
fn a_stdout_that_cannot_be_written_is_an_error() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let commands: [&[&str]; 9] = [
        &["--help"],
        &["-h"],
        &["--version"],
        &["query", "--help"],
        &["help", "query"],
        &["completions", "fish"],
        &["man"],
        &["list"],
        &["query", "othello-4x4", "start", "--json"],
    ];
    for args in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(tables.solver(args).stdout(full).output().unwrap());
        let line = ran.ended(1, args[0]);
        assert!(line.contains("cannot write stdout: No space left"), "{args:?}: {line}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = Ran::of(tables.solver(args).stdout(writer).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn errors_are_one_short_line_whatever_the_input() {
    let tables = Tables::new();
    let word = "é\"".repeat(30_000);
    let option = format!("--z{word}");
    let commands: [&[&str]; 7] = [
        &[&word],
        &["query", &option],
        &["list", &option],
        &["list", &word],
        &["list", "--color", &word],
        &["enumerate", "--max-depth", &word],
        &["info", &word],
    ];
    for args in commands {
        let ran = tables.run(args);
        let line = ran.refused(args[0]);
        assert!(line.len() < 2_100 && line.contains('…'), "{args:?}: {} bytes", line.len());
        let ran = tables.run(&[args, &["--json"]].concat());
        let json: Value = serde_json::from_str(ran.refused(args[0])).unwrap();
        let [message, hint] = ["message", "hint"].map(|part| json["error"][part].as_str());
        let joined = hint.map_or(String::new(), |hint| format!("; {hint}"));
        assert_eq!(line, format!("solver: {}{joined}\n", message.unwrap()));
    }
}

#[test]
fn variables_without_a_value_are_named() {
    let tables = Tables::new();
    let cases = [
        ("YOMIKIRI_TABLES", "", "YOMIKIRI_TABLES is empty"),
        ("YOMIKIRI_PROGRESS", "", "invalid YOMIKIRI_PROGRESS ``: expected a number"),
        ("YOMIKIRI_PROGRESS", "often", "invalid YOMIKIRI_PROGRESS `often`: expected a number"),
        ("RAYON_NUM_THREADS", "-1", "invalid RAYON_NUM_THREADS `-1`: expected a number"),
        ("SOURCE_DATE_EPOCH", "today", "invalid SOURCE_DATE_EPOCH `today`: expected a number"),
    ];
    for (variable, value, message) in cases {
        let words: &[&str] = if variable == "SOURCE_DATE_EPOCH" { &["report"] } else { &["list"] };
        let ran = Ran::of(tables.solver(words).env(variable, value).output().unwrap());
        let line = ran.refused(variable);
        assert!(line.starts_with(&format!("solver: {message}")), "{line}");
        assert!(line.contains("unset it"), "{line}");
    }
    let mut command = tables.solver(&["list", "--tables", ""]);
    let ran = Ran::of(command.env("YOMIKIRI_TABLES", "").output().unwrap());
    assert!(ran.refused("option").starts_with("solver: --tables needs a value"), "{ran:?}");
    assert!(files(tables.root()).is_empty());
}

#[test]
fn a_table_of_many_roots_has_a_short_page() {
    let tables = Tables::new();
    let letters =
        |number: usize| (0..8).map(move |at| ['-', 'X', 'O'][number / 3_usize.pow(at) % 3]);
    let has_four = |number: &usize| letters(*number).filter(|letter| *letter != '-').count() == 4;
    let roots = (0..3_usize.pow(8)).filter(has_four).map(|number| {
        let outer: String = letters(number).collect();
        format!("{}OX{}XO{}---- X;", &outer[..5], &outer[5..7], &outer[7..])
    });
    let roots: Vec<String> = roots.collect();
    let file = tables.place("roots.txt");
    fs::write(&file, roots.join("\n")).unwrap();
    let file = file.to_str().unwrap();
    tables.ok(&["enumerate", "4x4", "--roots", file, "--max-depth", "1", "--name", "many"]);
    let solved = tables.ok(&["value-iterate", "many"]);
    let all = tables.json(&["info", "many"])["manifest"]["identity"]["roots"].clone();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 1_120);
    let text = tables.ok(&["info", "many"]);
    for text in [&text, &tables.ok(&["info", "many", "--values"]), &solved] {
        assert!(text.len() < 4_000 && text.contains("roots"), "{text}");
    }
    assert!(text.contains("from 1,120 roots, all of them in manifest.json:\n"), "{text}");
    assert!(text.contains(all[0].as_str().unwrap()), "{text}");
}

/// The maximum depends on the machine.
#[test]
fn the_number_of_threads_is_bounded() {
    let tables = Tables::new();
    for count in ["0", "70000"] {
        let ran = tables.run(&["list", "--threads", count]);
        assert!(ran.refused(count).contains("for each core"), "{ran:?}");
    }
    let mut command = tables.solver(&["list"]);
    let ran = Ran::of(command.env("RAYON_NUM_THREADS", "70000").output().unwrap());
    assert!(ran.refused("the environment").contains("RAYON_NUM_THREADS 70000"), "{ran:?}");
}

/// A table that is complete but wrong is a result, not an error.
#[test]
fn a_wrong_table_is_found_and_has_an_exit_code() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let forged = tables.place("forged");
    copy_dir(&tables.place("othello-4x4"), &forged);
    forge(&forged, "score", |scores| scores[0] ^= 2);
    let found = tables.run(&["verify", "forged", "--json"]);
    assert_eq!((found.code, found.stderr.as_str()), (3, ""));
    assert!(found.stdout.contains("\"proven\": false"), "{found:?}");
    let sums = tables.ok(&["verify", "--checksum", "othello-4x4"]);
    fs::write(tables.place("sums"), sums.replace("othello-4x4", "forged")).unwrap();
    let sums = tables.place("sums").display().to_string();
    assert_eq!(tables.run(&["verify", "--check", &sums]).code, 3);
    for page in ["--help", "man"] {
        assert!(tables.ok(&[page]).contains("policy from outside"), "{page}");
    }
    // With several tables and none enumerated by the command there is no default.
    assert!(!tables.place("LATEST").exists());
    let ran = tables.run(&["query"]);
    let printed = "solver: no default table in ";
    assert!(ran.ended(2, "query").starts_with(printed), "{ran:?}");
    assert!(ran.stderr.ends_with("; expected one of forged, othello-4x4\n"), "{ran:?}");
}

/// This refusal is for the memory of the stacks; other refusals of the system end the same way.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_the_system_refuses_are_one_line() {
    let tables = Tables::new();
    let mut list = tables.solver(&["list", "--threads", "2"]);
    // No process can address a stack of this size.
    let ran = Ran::of(list.env("RUST_MIN_STACK", (1_u64 << 47).to_string()).output().unwrap());
    assert!(ran.ended(1, "threads").contains("cannot start threads: "), "{ran:?}");
}

#[test]
fn bytes_that_are_no_text_are_bad_input() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let mut command = tables.solver(&["query", "othello-4x4", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"----\xff").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert!(ran.refused("no UTF-8").contains("byte 4"), "{ran:?}");
}

/// Commands that only read a solved table take no lock, so that they work on read-only file systems.
#[test]
fn reports_and_matches_on_a_solved_table_take_no_lock() {
    let tables = Tables::new();
    solved_4x4(&tables);
    // A directory cannot be locked.
    let lock = tables.place("othello-4x4.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(&lock).unwrap();
    let before = files(tables.root());
    tables.ok(&["report", "-q", "--policy", "greedy"]);
    tables.ok(&["match", "-q", "greedy", "random"]);
    assert!(files(tables.root()) == before);
    let ran = tables.run(&["enumerate", "-q"]);
    assert!(ran.refused("a lock to be taken").contains("is not a regular file"), "{ran:?}");
}

/// Losing stderr (remarks, logs, errors) changes neither the work nor the exit code.
#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_cannot_be_written_changes_nothing_else() {
    let commands: [(&[&str], i32); 6] = [
        (&["enumerate", "-v"], 0),
        (&["value-iterate", "-vv"], 0),
        (&["query", "start"], 0),
        (&["query", "nonsense"], 2),
        (&["query", "start", "--json", "--nonsense"], 2),
        (&["enumerate", "--size", "99"], 2),
    ];
    let usual = Tables::new();
    let wanted = commands.map(|(args, code)| {
        let ran = usual.run(args);
        assert_eq!(ran.code, code, "{ran:?}");
        ran.stdout
    });
    for stderr in ["2>/dev/full", "2>&-"] {
        let tables = Tables::new();
        for ((args, code), wanted) in commands.iter().zip(&wanted) {
            let run = tables.solver(args);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("exec \"$0\" \"$@\" {stderr}")]).arg(run.get_program());
            shell.args(run.get_args()).env("YOMIKIRI_TABLES", tables.root());
            let ran = Ran::of(shell.output().unwrap());
            let place = |root: &Tables, text: &str| text.replace(root.root().to_str().unwrap(), "");
            assert_eq!(ran.code, *code, "{args:?} {stderr}: {ran:?}");
            assert_eq!(place(&tables, &ran.stdout), place(&usual, wanted), "{args:?} {stderr}");
        }
    }
}

/// SIGINT and SIGTERM print one line on resuming, and end the process.
#[cfg(unix)]
#[test]
fn a_run_that_receives_a_signal_reports_how_to_resume() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number, json) in [("INT", 2, false), ("TERM", 15, true)] {
        let tables = Tables::new();
        let mut command = tables.hearing(&["enumerate", "--size", "4x5", "--threads", "1", "-q"]);
        command.args(json.then_some("--json")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let draft = tables.place("othello-4x5.partial");
        for _ in 0..6000 {
            if draft.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success() && draft.exists(), "{signal}");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{output:?}");
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed.lines().count(), 1, "{printed}");
        assert!(
            printed.contains(&format!("SIG{signal}")) && printed.contains("to go on"),
            "{printed}"
        );
        assert_eq!(serde_json::from_str::<Value>(&printed).is_ok(), json, "{printed}");
    }
}

/// A shell that starts a command in the background makes it ignore SIGINT, which is meant for the foreground.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_so() {
    let tables = Tables::new();
    let mut command = Command::new("sh");
    let script = r#"trap '' INT; "$0" enumerate --size 4x5 -q & p=$!
        until test -d "$YOMIKIRI_TABLES/othello-4x5.partial"; do kill -0 $p || exit 9; done
        kill -s INT $p; wait $p"#;
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_solver")])
        .env("YOMIKIRI_TABLES", tables.root());
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.code == 0 && ran.stderr.is_empty(), "{ran:?}");
    assert!(tables.place("othello-4x5").exists());
}

#[test]
fn what_cannot_fit_is_refused_before_any_work() {
    let tables = Tables::new();
    let mut command = tables.solver(&["enumerate", "--size", "8"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // If it started the work, it would fill the memory.
    let refused = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        child.try_wait().unwrap().is_some()
    });
    child.kill().unwrap();
    assert!(refused, "it began");
    let ran = Ran::of(child.wait_with_output().unwrap());
    let line = ran.refused("8x8");
    assert!(line.contains("othello-8x8") && line.contains("--max-depth"), "{line}");
    assert_eq!(fs::read_dir(tables.root()).unwrap().count(), 0);
}

#[test]
fn a_system_error_is_reported_once_and_is_not_an_input_error() {
    let tables = Tables::new();
    let file = tables.place("file");
    fs::write(&file, "").unwrap();
    let ran = tables.run(&["enumerate", "--tables", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{ran:?}");
    assert_eq!(ran.stderr.matches("not a directory").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(file.to_str().unwrap()), "{}", ran.stderr);
}

#[test]
fn no_tables_at_all_is_said_in_one_line() {
    let tables = Tables::new();
    for command in ["info", "verify", "value-iterate"] {
        let ran = tables.run(&[command]);
        assert!(ran.refused(command).contains("solver enumerate"), "{ran:?}");
    }
    assert!(files(tables.root()).is_empty());
}

#[test]
fn without_a_name_the_table_enumerated_last_is_meant() {
    let tables = Tables::new();
    for (args, name) in [
        (&["enumerate", "--size", "4"][..], "othello-4x4"),
        (&["enumerate", "--size", "4", "--max-depth", "5"], "othello-4x4-depth5"),
        (&["enumerate", "--size", "4"], "othello-4x4"),
    ] {
        tables.ok(args);
        assert_eq!(tables.json(&["value-iterate"])["table"], name);
        assert_eq!(tables.json(&["verify"])["table"], name);
        let depth = if name.ends_with("depth5") { Value::from(5) } else { Value::Null };
        assert_eq!(tables.json(&["info"])["manifest"]["identity"]["max_depth"], depth);
    }
}

/// Tables that a report builds do not become the default of the next command.
#[test]
fn only_an_enumeration_changes_which_table_is_meant() {
    let tables = Tables::new();
    let report = |args: &[&str]| {
        let words = ["report", "-q", "--policy", "random", "--no-games"];
        let text = tables.ok(&[&words, args].concat());
        text.lines().next().unwrap().trim_start_matches("Table ").trim().to_string()
    };
    assert_eq!(report(&[]), "othello-4x4 (the default, built for this report)");
    assert_eq!(report(&[]), "othello-4x4 (the only table here)");
    assert_eq!(tables.json(&["info"])["table"], "othello-4x4");
    assert_eq!(tables.json(&["list"])["latest"], Value::Null);
    tables.ok(&["remove", "othello-4x4"]);
    let short = "othello-4x4-depth3";
    tables.ok(&["enumerate", "--max-depth", "3"]);
    assert_eq!(report(&["--size", "4"]), "othello-4x4 (from `4`, built for this report)");
    assert_eq!(report(&["--size", "4"]), "othello-4x4 (from `4`)");
    assert_eq!(report(&[]), format!("{short} (enumerated last)"));
    let named = tables.json(&["report", "-q", "--policy", "random", "--table", "othello-4x4"]);
    assert_eq!(named["table"]["taken"], "as named");
    // With several tables there is no default.
    tables.ok(&["enumerate", "--max-depth", "2"]);
    tables.ok(&["remove", "othello-4x4-depth2"]);
    let ran = tables.run(&["report", "--policy", "random"]);
    let line = ran.refused("several");
    assert!(line.contains(&format!("expected one of othello-4x4, {short}")), "{line}");
}

/// Queries the solved 4x4 table.
fn query(tables: &Tables, position: &str) -> Value {
    tables.json(&["query", "othello-4x4", position])
}

#[test]
fn images_of_a_position_have_its_value() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let squares = |text: &str| text[..16].to_string();
    let after = query(&tables, "b1");
    let board = squares(after["position"].as_str().unwrap());
    let transposed: String = (0..16).map(|i| board.as_bytes()[i % 4 * 4 + i / 4] as char).collect();
    let turned: String = board.chars().rev().collect();
    let mirrored: String =
        (0..16).map(|i| board.as_bytes()[i / 4 * 4 + 3 - i % 4] as char).collect();
    let colours = |board: &str| board.replace('X', "?").replace('O', "X").replace('?', "O");
    let images = [
        // The two diagonals of the start are axes of the game; a mirror image swaps its colours.
        (format!("{board} O;"), true, "White"),
        (format!("{transposed} O;"), true, "White"),
        (format!("{turned} O;"), true, "White"),
        (format!("{mirrored} O;"), false, "White"),
        (format!("{} X;", colours(&board)), false, "Black"),
        (format!("{} X;", colours(&mirrored)), false, "Black"),
    ];
    for (text, reachable, mover) in images {
        let image = query(&tables, &text);
        for field in ["outcome", "score", "distance", "kind"] {
            assert_eq!(image[field], after[field], "{field} of {text}");
        }
        assert_eq!(image["reachable"], reachable, "{text}");
        assert_eq!(image["mover"], mover, "{text}");
        let printed = tables.ok(&["query", "othello-4x4", &text]);
        assert_eq!(printed.contains("cannot be reached"), !reachable, "{text}");
    }
}

#[test]
fn positions_are_read_in_every_notation_and_from_stdin() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let start = query(&tables, "start");
    let diagram = "  a b c d\n1 . . . .\n2 . O X .\n3 . X O .\n4 . . . .\nBlack to move\n";
    let texts = [START, "10000021001200000", diagram, "-----ox--xo-----X", "start", ""];
    for text in texts {
        if !text.is_empty() {
            assert_eq!(query(&tables, text), start, "{text}");
        }
        let mut command = tables.solver(&["query", "othello-4x4", "-", "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(found, start, "{text} from stdin");
    }
    let white = query(&tables, "20000021001200000");
    assert_eq!((&white["mover"], &white["reachable"]), (&"White".into(), &false.into()));
}

#[test]
fn options_may_stand_before_and_after_a_position() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let start = query(&tables, "start");
    let words: [&[&str]; 8] = [
        &["--json", "query", "othello-4x4", "start"],
        &["query", "--json", "othello-4x4", "start"],
        &["query", "othello-4x4", "--json", START],
        &["query", "othello-4x4", START, "--json", "-q"],
        &["query", "othello-4x4", "-----OX--XO-----", "X;", "--json"],
        &["query", "othello-4x4", "1", "0000", "0210", "0120", "0000", "--json"],
        &["query", "othello-4x4", "----", "-OX-", "-XO-", "---- X", "--json"],
        &["query", "--table", "othello-4x4", "--json", "--", "-----OX--XO-----", "X;"],
    ];
    for args in words {
        let found: Value = serde_json::from_str(&tables.ok(args)).unwrap();
        assert_eq!(found, start, "{args:?}");
    }
    let proof = tables.place("4x4.proof").display().to_string();
    let empties = ["--empties", "to-winner", "--out", &proof, "--leaves", "5"];
    tables.ok(&[&["prove", "4x4", START], &empties[..]].concat());
    let behind = fs::read(&proof).unwrap();
    tables.ok(&[&["prove"], &empties[..], &["4x4", START]].concat());
    assert!(behind == fs::read(&proof).unwrap(), "the rule for empty squares is part of a proof");
}

/// Networks with unreadable cards are skipped with a warning.
#[cfg(feature = "onnx")]
#[test]
fn what_is_left_out_is_said() {
    let tables = Tables::new();
    solved_4x4(&tables);
    fs::create_dir(tables.place("policies")).unwrap();
    fs::write(tables.place("policies/cut.json"), "{\"name\":").unwrap();
    let ran = tables.run(&["report", "--no-games"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("cut.json") && ran.stderr.contains("left out"), "{ran:?}");
}

/// The message for a missing feature names the feature.
#[cfg(not(feature = "onnx"))]
#[test]
fn what_was_not_built_in_is_named() {
    let printed = Tables::new().run(&["train", "value"]);
    assert!(printed.refused("no network").contains("--features onnx"), "{printed:?}");
}

/// Bidirectional marks and colour sequences in an argument, a table name or a file name never reach a
/// terminal unchanged; JSON keeps them.
#[test]
fn nothing_that_a_terminal_acts_on_is_shown() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let evil = "a\u{202e}b\u{2066}c\u{9b}31m";
    copy_dir(&tables.place("othello-4x4"), &tables.place(evil));
    let weights = tables.place(&format!("{evil}.txt"));
    fs::write(&weights, "1 ".repeat(16)).unwrap();
    let weights = format!("weights:{}", weights.display());
    let absent = format!("weights:{evil}");
    let cases: [(&[&str], i32); 8] = [
        (&["report\u{202e}"], 2),
        (&["report", "\u{202e}\x1b[31m", "--color=always"], 2),
        (&["enumerate", "--max-depth", evil], 2),
        (&["query", evil, evil], 2),
        (&["report", "-q", "--table", "othello-4x4", "--policy", &absent], 2),
        (&["report", "-q", "--table", "othello-4x4", "--no-games", "--policy", &weights], 0),
        (&["list"], 0),
        (&["info", evil], 0),
    ];
    for (args, code) in cases {
        let ran = tables.run(args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        let shown = ran.stdout + &ran.stderr.replace("\x1b[31msolver:", "solver:");
        let bad = ['\u{202e}', '\u{2066}', '\u{9b}'];
        assert!(!shown.contains(bad) && !shown.contains("\x1b[31m"), "{args:?}: {shown:?}");
    }
    assert!(tables.json(&["list"]).to_string().contains(evil));
}
