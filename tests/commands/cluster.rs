//! Tables built by several processes: equal bytes to those of one process, whatever ends a process, and a
//! one-line error if they cannot work together.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use yomikiri::enumerate::{self, Parts, Plan};
use yomikiri::error::Error;
use yomikiri::progress::Silent;
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::Store;
use yomikiri_cluster::{Job, gather, parts_dir};

use crate::common::solved::named;
use crate::common::tables::{Tables, assert_same_files};

pub fn solver(tables: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solver"));
    command.arg("--tables").arg(tables).arg("-q").args(args).stdin(Stdio::null());
    command
}

pub fn run(tables: &Path, args: &[&str]) -> Output {
    let output = solver(tables, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
}

/// Returns the files of the table that one process builds.
pub fn plain(size: &str) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["enumerate", "--size", size, "--transitions", "derived"]);
    run(dir.path(), &["value-iterate"]);
    let files = files(&dir.path().join(format!("othello-{size}-derived")));
    assert!(files.contains_key("keys.npy") && files.len() > 5);
    files
}

pub fn gathered(tables: &Path, size: &str) -> BTreeMap<String, Vec<u8>> {
    run(tables, &["gather", "--size", size]);
    files(&tables.join(format!("othello-{size}-derived")))
}

/// Returns the start and every position within three plies, one per line.
fn positions(tables: &Path, table: &str) -> String {
    let mut all = vec!["start".to_string()];
    let mut last = all.clone();
    for _ in 0..3 {
        let answers = last.iter().map(|position| {
            let output = run(tables, &["query", table, position, "--json"]);
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        });
        let moves = answers.flat_map(|answer| answer["moves"].as_array().unwrap().clone());
        let after = moves.map(|one| one["position"].as_str().unwrap().to_string());
        last = after.collect();
        all.extend(last.iter().cloned());
    }
    all.join("\n")
}

fn batch(tables: &Path, args: &[&str], lines: &str) -> String {
    let file = tables.join("lines");
    fs::write(&file, lines).unwrap();
    let args = [&["query", "--batch"], args].concat();
    let output = solver(tables, &args).stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn from_table(tables: &Path, size: &str) -> String {
    let table = format!("othello-{size}-derived");
    let answers = batch(tables, &[&table], &positions(tables, &table));
    assert!(answers.lines().count() > 20 && !answers.contains("error"), "{answers}");
    answers
}

/// Returns the same answers, from the parts alone.
fn in_place(tables: &Path, size: &str) -> String {
    let table = format!("othello-{size}-derived");
    let parts = tables.join(format!("{table}.parts"));
    batch(tables, &["--parts", parts.to_str().unwrap()], &positions(tables, &table))
}

#[test]
fn processes_make_the_bytes_of_one() {
    for size in ["4x4", "4x5"] {
        let wanted = plain(size);
        for processes in ["1", "2", "4"] {
            let dir = tempfile::tempdir().unwrap();
            run(dir.path(), &["enumerate", "--size", size, "--processes", processes]);
            run(dir.path(), &["value-iterate", "--size", size, "--processes", processes]);
            assert!(gathered(dir.path(), size) == wanted, "{size} with {processes}");
            assert_eq!(in_place(dir.path(), size), from_table(dir.path(), size));
        }
    }
}

#[test]
fn what_several_processes_cannot_do_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (args, what) in [
        (&["enumerate", "--game", "animal-shogi"][..], "whole Othello board"),
        (&["value-iterate", "--size", "8"], "up to 32 squares"),
    ] {
        let output = solver(dir.path(), &[args, &["--processes", "2"]].concat()).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && printed.lines().count() == 1, "{printed}");
        assert!(printed.contains(what), "{printed}");
    }
    for args in [&["enumerate", "--max-states", "9"][..], &["value-iterate", "--theta", "0.1"]] {
        let output = solver(dir.path(), &[args, &["--processes", "2"]].concat()).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains("cannot be used with"), "{printed}");
    }
}

/// Writes a file of hosts with free ports and returns the addresses.
fn hosts(dir: &Path, count: usize) -> Vec<String> {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let all: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    fs::write(dir.join("hosts"), all.join("\n")).unwrap();
    all
}

fn start(dir: &Path, command: &str, size: &str, process: usize) -> Child {
    let (hosts, process) = (dir.join("hosts"), process.to_string());
    let hosts = hosts.to_str().unwrap();
    let args = [command, "--size", size, "--hosts", hosts, "--process", &process];
    let mut command = solver(dir, &args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits up to a minute for a process to end; returns its exit code and stderr.
pub fn ended(mut child: Child) -> (Option<i32>, String) {
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("a process hangs");
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_killed_process_ends_the_others_and_the_work_goes_on() {
    let wanted = plain("4x5");
    for moment in [0, 250] {
        let dir = tempfile::tempdir().unwrap();
        for command in ["enumerate", "value-iterate"] {
            hosts(dir.path(), 2);
            let (mut killed, other) =
                (start(dir.path(), command, "4x5", 0), start(dir.path(), command, "4x5", 1));
            // Once the other listens they are connected soon; the work takes longer.
            sleep(Duration::from_millis(100 + moment));
            killed.kill().unwrap();
            killed.wait().unwrap();
            let (code, printed) = ended(other);
            match code {
                Some(0) => assert_eq!(printed, ""),
                code => {
                    assert_eq!(code, Some(1), "{printed}");
                    assert_eq!(printed.lines().count(), 1, "{printed}");
                    assert!(printed.contains("process"), "{printed}");
                }
            }
            hosts(dir.path(), 2);
            let both = [0, 1].map(|process| start(dir.path(), command, "4x5", process));
            both.into_iter().for_each(|one| assert_eq!(ended(one), (Some(0), String::new())));
        }
        assert!(gathered(dir.path(), "4x5") == wanted, "killed after {moment} ms");
    }
}

/// Starts a process whose files are limited to this size.
#[cfg(unix)]
fn start_cramped(dir: &Path, command: &str, size: &str, process: usize, bytes: u32) -> Child {
    let blocks = bytes / 512;
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let (hosts, process) = (dir.join("hosts"), process.to_string());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_solver"));
    shell.arg("--tables").arg(dir).args(["-q", command, "--size", size, "--hosts"]).arg(hosts);
    shell.arg("--process").arg(process).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn a_disk_without_room_ends_all_and_the_work_goes_on() {
    let wanted = plain("4x4");
    let dir = tempfile::tempdir().unwrap();
    for (command, bytes) in [("enumerate", 4096), ("value-iterate", 1024)] {
        hosts(dir.path(), 2);
        let cramped = start_cramped(dir.path(), command, "4x4", 1, bytes);
        let (code, printed) = ended(start(dir.path(), command, "4x4", 0));
        assert_eq!((code, printed.lines().count()), (Some(1), 1), "{printed}");
        assert!(printed.contains("another process has ended"), "{printed}");
        let (code, printed) = ended(cramped);
        assert_eq!((code, printed.lines().count()), (Some(1), 1), "{printed}");
        assert!(printed.contains("part-1") && printed.contains("cannot write"), "{printed}");
        hosts(dir.path(), 2);
        let both = [0, 1].map(|process| start(dir.path(), command, "4x4", process));
        both.into_iter().for_each(|one| assert_eq!(ended(one), (Some(0), String::new())));
    }
    assert!(gathered(dir.path(), "4x4") == wanted);
}

#[test]
fn processes_that_do_not_fit_together_say_so() {
    let dir = tempfile::tempdir().unwrap();
    hosts(dir.path(), 2);
    let both = [start(dir.path(), "enumerate", "4x4", 0), start(dir.path(), "enumerate", "4x5", 1)];
    for one in both {
        let (code, printed) = ended(one);
        assert_eq!((code, printed.lines().count()), (Some(2), 1), "{printed}");
        assert!(printed.contains("has another job"), "{printed}");
    }
    // Different numbers of workers: the called process reports it, the other loses its connection.
    let all = hosts(dir.path(), 2);
    let listed = dir.path().join("hosts");
    let args = |process: &str, threads: &str| {
        let hosts = listed.to_str().unwrap();
        let args = ["enumerate", "--threads", threads, "--hosts", hosts, "--process", process];
        solver(dir.path(), &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [args("0", "1"), args("1", "2")].map(ended);
    assert_eq!((both[0].0, both[0].1.lines().count()), (Some(2), 1), "{both:?}");
    assert!(both[0].1.contains("process 1 has 2 workers, this one 1"), "{both:?}");
    assert_eq!((both[1].0, both[1].1.lines().count()), (Some(1), 1), "{both:?}");
    drop(all);
    // Another process writes to the part.
    let parts = dir.path().join("othello-4x4-derived.parts");
    let lock = Store::at(&parts).lock("part-0-of-1").unwrap();
    let one = ["enumerate", "--processes", "1", "--threads", "1"];
    let output = solver(dir.path(), &one).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && printed.lines().count() == 1, "{printed}");
    let holder = format!("part-0-of-1.lock is being written by process {}", std::process::id());
    assert!(printed.contains(&holder), "{printed}");
    drop(lock);
    // Values need states first.
    hosts(dir.path(), 2);
    let both = [0, 1].map(|process| start(dir.path(), "value-iterate", "4x4", process));
    for one in both {
        let (code, printed) = ended(one);
        assert_eq!((code, printed.lines().count()), (Some(2), 1), "{printed}");
        assert!(printed.contains("run 'solver enumerate'"), "{printed}");
    }
    let all = hosts(dir.path(), 2);
    let taken = TcpListener::bind(&all[0]).unwrap();
    let (code, printed) = ended(start(dir.path(), "enumerate", "4x4", 0));
    assert_eq!((code, printed.lines().count()), (Some(1), 1), "{printed}");
    assert!(printed.contains("choose another port"), "{printed}");
    drop(taken);
    for (text, what) in [
        ("here\n", "expected host:port"),
        ("a:1\na:1\n", "appears twice"),
        ("a:1\n", "there is no"),
    ] {
        fs::write(dir.path().join("hosts"), text).unwrap();
        let (code, printed) = ended(start(dir.path(), "enumerate", "4x4", 1));
        assert_eq!((code, printed.lines().count()), (Some(2), 1), "{printed}");
        assert!(printed.contains(what), "{printed}");
    }
    // A part that is missing, one without values, and a damaged one.
    run(dir.path(), &of_processes("enumerate", "2"));
    let asked = ["query", "--parts", parts.to_str().unwrap(), "start"];
    let output = solver(dir.path(), &asked).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && printed.contains("part-0-of-2 has no values"), "{printed}");
    let keys = parts.join("part-1-of-2/keys.npy");
    let mut bytes = fs::read(&keys).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&keys, bytes).unwrap();
    let output = solver(dir.path(), &["gather", "--size", "4x4"]).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && printed.contains("keys.npy is damaged"), "{printed}");
    fs::remove_dir_all(parts.join("part-0-of-2")).unwrap();
    let output = solver(dir.path(), &["gather", "--size", "4x4"]).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("missing part-0-of-2"), "{printed}");
}

/// Returns the words of a command on 4×4 for so many processes of one worker each.
fn of_processes<'a>(command: &'a str, count: &'a str) -> [&'a str; 7] {
    [command, "--size", "4x4", "--processes", count, "--threads", "1"]
}

/// Builds the parts of 4×4 by some processes, with values.
fn solved_parts(count: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for command in ["enumerate", "value-iterate"] {
        run(dir.path(), &of_processes(command, count));
    }
    dir
}

/// Each file has a checksum and each part says which it is, so that one in another's place is found out.
#[test]
fn a_part_in_the_place_of_another_is_refused() {
    let (dir, wanted) = (solved_parts("2"), plain("4x4"));
    let parts = dir.path().join("othello-4x4-derived.parts");
    let [first, second] = ["part-0-of-2", "part-1-of-2"].map(|name| parts.join(name));
    let exchange = |one: &Path, other: &Path| {
        let aside = parts.join("aside");
        fs::rename(one, &aside).unwrap();
        fs::rename(other, one).unwrap();
        fs::rename(&aside, other).unwrap();
    };
    let gather = ["gather", "--size", "4x4"];
    let refused = |code: i32, what: &str| {
        let output = solver(dir.path(), &gather).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), printed.lines().count()), (Some(code), 1), "{printed}");
        assert!(printed.contains("part-") && printed.contains(what), "{what}: {printed}");
    };
    // A column has its checksum in its name.
    let column = |dir: &Path, name: &str| {
        let of_name = |file: &String| file.starts_with(name) && file.ends_with(".npy");
        dir.join(files(dir).into_keys().find(of_name).unwrap())
    };
    for name in ["keys", "orientations", "score", "distance"] {
        let [one, other] = [&first, &second].map(|dir| column(dir, name));
        exchange(&one, &other);
        refused(3, "is damaged");
        exchange(&one, &other);
    }
    exchange(&first, &second);
    refused(2, "is a part of another table");
    let query = ["query", "--parts", parts.to_str().unwrap(), "start"];
    assert_eq!(solver(dir.path(), &query).output().unwrap().status.code(), Some(2));
    let solve = of_processes("value-iterate", "2");
    assert_eq!(solver(dir.path(), &solve).output().unwrap().status.code(), Some(2));
    exchange(&first, &second);
    // A part alone is not a table.
    let alone = ["query", first.to_str().unwrap(), "start"];
    let output = solver(dir.path(), &alone).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("only part 0 of 2") && printed.contains("solver gather"), "{printed}");
    // Follow the advice of the message: the part is removed and made again.
    let keys = first.join("keys.npy");
    fs::write(&keys, &fs::read(&keys).unwrap()[..1000]).unwrap();
    run(dir.path(), &["remove", first.to_str().unwrap()]);
    run(dir.path(), &of_processes("enumerate", "2"));
    run(dir.path(), &solve);
    assert!(gathered(dir.path(), "4x4") == wanted);
}

/// Parts of runs with other numbers of workers lie beside each other; the newest complete run is read, and the others are
/// named and removed.
#[test]
fn the_newest_complete_run_counts() {
    let (dir, wanted) = (solved_parts("4"), plain("4x4"));
    let parts = dir.path().join("othello-4x4-derived.parts");
    let query = ["query", "--parts", parts.to_str().unwrap(), "start"];
    let answer = run(dir.path(), &query).stdout;
    // The newer run has no values yet: parts that have them answer, with a remark.
    run(dir.path(), &of_processes("enumerate", "2"));
    let loud = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_solver"));
        command.arg("--tables").arg(dir.path()).args(args).stdin(Stdio::null()).output().unwrap()
    };
    let output = loud(&query);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout == answer && printed.contains("part-*-of-2"), "{printed}");
    run(dir.path(), &of_processes("value-iterate", "2"));
    // A third run is incomplete.
    fs::create_dir(parts.join("part-0-of-3.partial")).unwrap();
    let printed = String::from_utf8(loud(&["gather", "--size", "4x4"]).stderr).unwrap();
    assert!(printed.contains("part-*-of-4") && printed.contains("part-*-of-3"), "{printed}");
    assert!(gathered(dir.path(), "4x4") == wanted);
    fs::remove_dir(parts.join("part-0-of-3.partial")).unwrap();
    let old = (0..4).map(|number| parts.join(format!("part-{number}-of-4")));
    let old: Vec<String> = old.map(|part| part.to_str().unwrap().to_string()).collect();
    run(
        dir.path(),
        &[&["remove"], &old.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
    );
    assert!(fs::read_dir(&parts).unwrap().count() > 0 && !Path::new(&old[0]).exists());
    run(dir.path(), &["remove", "othello-4x4-derived.parts"]);
    assert!(!parts.exists() && gathered_before(dir.path()) == wanted);
}

/// Returns the files of the table of 4×4 that is there.
fn gathered_before(tables: &Path) -> BTreeMap<String, Vec<u8>> {
    files(&tables.join("othello-4x4-derived"))
}

/// A worker that was stopped outlives its launcher and holds its part: the message names it.
#[cfg(target_os = "linux")]
#[test]
fn a_stopped_worker_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["enumerate", "--size", "4x7", "--processes", "2", "--threads", "1"];
    let args = [&args[..], &["--memory", "300M"]].concat();
    let mut launcher = solver(dir.path(), &args);
    let mut launcher = launcher.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = dir.path().join("othello-4x7-derived.parts/part-1-of-2.lock");
    let worker = loop {
        match fs::read_to_string(&lock) {
            Ok(process) if !process.is_empty() => break process,
            _ => sleep(Duration::from_millis(1)),
        }
    };
    let kill = |signal: &str| {
        assert!(Command::new("kill").args(["-s", signal, &worker]).status().unwrap().success());
    };
    kill("STOP");
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    let output = solver(dir.path(), &args).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    kill("KILL");
    let named = format!("part-1-of-2.lock is being written by process {worker}");
    assert!(!output.status.success() && printed.contains(&named), "{printed}");
}

/// Processes that gather hang up on strangers who connect.
#[test]
fn strangers_who_call_end_nothing() {
    use std::io::{Read, Write};
    let dir = tempfile::tempdir().unwrap();
    let address = hosts(dir.path(), 2).remove(0);
    let first = start(dir.path(), "enumerate", "4x4", 0);
    let call = || loop {
        match std::net::TcpStream::connect(&address) {
            Ok(stream) => return stream,
            Err(_) => sleep(Duration::from_millis(5)),
        }
    };
    drop(call());
    let _silent = call();
    let mut loud = call();
    loud.write_all(b"GET / HTTP/1.1\r\nHost: somebody.example\r\n\r\n").unwrap();
    // There is no reply.
    assert_eq!(loud.read(&mut [0; 8]).unwrap_or(0), 0);
    // The greeting of process 1 with one worker, without the name.
    call().write_all(&[0u64, 1, 1].map(u64::to_be_bytes).concat()).unwrap();
    let both = [first, start(dir.path(), "enumerate", "4x4", 1)];
    both.into_iter().for_each(|one| assert_eq!(ended(one), (Some(0), String::new())));
}

/// Counts the processes of this machine that work on these tables.
#[cfg(target_os = "linux")]
fn at_work(tables: &Path) -> usize {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let word = tables.to_str().unwrap();
    lines.filter(|line| String::from_utf8_lossy(line).split('\0').any(|own| own == word)).count()
}

/// A launcher that is ended by any signal ends its workers, and the same command resumes at once.
#[cfg(target_os = "linux")]
#[test]
fn a_launcher_that_receives_a_signal_leaves_no_process_behind() {
    use std::os::unix::process::ExitStatusExt;
    let wanted = plain("4x5");
    for (signal, number, lines) in [("TERM", 15, 1), ("INT", 2, 1), ("KILL", 9, 0)] {
        let (dir, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let args = |command| [command, "--size", "4x5", "--processes", "3", "--threads", "1"];
        for (command, begun) in [
            ("enumerate", "part-0-of-3.partial/checkpoint.json"),
            ("value-iterate", "part-0-of-3/solve.partial/state.json"),
        ] {
            let run_it = solver(dir.path(), &args(command));
            let mut launcher = Command::new("env");
            launcher.arg("--default-signal=INT,TERM").arg(run_it.get_program());
            launcher.args(run_it.get_args()).env("TMPDIR", temporary.path());
            launcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut launcher = launcher.spawn().unwrap();
            let begun = dir.path().join("othello-4x5-derived.parts").join(begun);
            while !begun.exists() && launcher.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
            let pid = launcher.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
            let status = launcher.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{signal} {command}");
            run(dir.path(), &args(command));
            let printed = std::io::read_to_string(launcher.stderr.take().unwrap()).unwrap();
            assert_eq!(printed.lines().count(), lines, "{signal} {command}: {printed}");
            assert_eq!(printed.contains("run the same command again"), lines > 0, "{printed}");
        }
        assert_eq!(at_work(dir.path()), 0, "{signal}");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{signal}");
        assert!(gathered(dir.path(), "4x5") == wanted, "{signal}");
    }
}

/// Workers end within a moment after their launcher.
#[cfg(target_os = "linux")]
#[test]
fn workers_end_a_moment_after_their_launcher() {
    let dir = tempfile::tempdir().unwrap();
    // The run would take minutes.
    let args = ["enumerate", "--size", "4x7", "--processes", "2", "--threads", "1"];
    let args = [&args[..], &["--memory", "300M"]].concat();
    let mut launcher = solver(dir.path(), &args);
    let mut launcher = launcher.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = dir.path().join("othello-4x7-derived.parts/part-1-of-2.partial/checkpoint.json");
    while !begun.exists() {
        assert!(launcher.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(5));
    }
    assert_eq!(at_work(dir.path()), 3);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(2);
    while at_work(dir.path()) > 0 {
        assert!(Instant::now() < until, "a worker is left");
        sleep(Duration::from_millis(10));
    }
}

/// With the least memory, layers are received in files, and processed, sent and requested in many shares.
#[test]
fn little_memory_and_a_stop_between_change_no_byte() {
    let [one, all] = [(); 2].map(|()| Tables::new());
    let game = named("othello-4x5");
    let plan = Plan { derived: true, ..Plan::from_start(&*game) };
    let mut table = enumerate::build(&*game, &plan, &one.store(), &Silent).unwrap().table;
    solve::solve(&*game, &mut table, &SolveOptions::default(), &Silent, &mut |_, _| {}).unwrap();
    let parts = parts_dir(&all.store(), &plan.table_name(&*game));
    let hosts = vec!["localhost:1".to_string()];
    let (process, workers, memory) = (0, 2, Some(0));
    let job =
        Job { game, plan, parts, solves: false, hosts, process, workers, memory, plies: Some(9) };
    let fail = |error: &Error| panic!("{}", error.line());
    let first = yomikiri_cluster::run(&job, fail).unwrap();
    let rest = yomikiri_cluster::run(&Job { plies: None, ..job.clone() }, fail).unwrap();
    assert!(first.states > 1000 && rest.sent > 1 << 20, "{first:?} {rest:?}");
    let again = Job { plies: None, solves: true, ..job.clone() };
    let solved = yomikiri_cluster::run(&again, fail).unwrap();
    assert_eq!(solved.states, table.manifest().counts.table.states);
    let parts = Parts::open(std::slice::from_ref(&job.parts), true).unwrap().tables;
    let whole = gather(&*job.game, &job.plan, &parts, &all.store(), &Silent).unwrap();
    assert_same_files(whole.dir(), table.dir(), "one process and two workers");
}
