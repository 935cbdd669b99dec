//! Tables made by several processes: the bytes of one machine's, whatever ends a process, and one line where they
//! cannot work together.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn solver(tables: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solver"));
    command.arg("--tables").arg(tables).arg("-q").args(args).stdin(Stdio::null());
    command
}

fn run(tables: &Path, args: &[&str]) -> Output {
    let output = solver(tables, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
}

/// The files of the table that one process makes.
fn plain(size: &str) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["enumerate", "--size", size, "--transitions", "derived"]);
    run(dir.path(), &["value-iterate"]);
    let files = files(&dir.path().join(format!("othello-{size}-derived")));
    assert!(files.contains_key("keys.npy") && files.len() > 5);
    files
}

fn gathered(tables: &Path, size: &str) -> BTreeMap<String, Vec<u8>> {
    run(tables, &["gather", "--size", size]);
    files(&tables.join(format!("othello-{size}-derived")))
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
        }
    }
}

/// A file of hosts with ports that were free, and the addresses.
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

/// Waits for a process to end, but not for ever; gives its code and what it said.
fn ended(mut child: Child) -> (Option<i32>, String) {
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
            let (code, said) = ended(other);
            match code {
                Some(0) => assert_eq!(said, ""),
                code => {
                    assert_eq!(code, Some(1), "{said}");
                    assert_eq!(said.lines().count(), 1, "{said}");
                    assert!(said.contains("process"), "{said}");
                }
            }
            hosts(dir.path(), 2);
            let both = [0, 1].map(|process| start(dir.path(), command, "4x5", process));
            both.into_iter().for_each(|one| assert_eq!(ended(one), (Some(0), String::new())));
        }
        assert!(gathered(dir.path(), "4x5") == wanted, "killed after {moment} ms");
    }
}

#[test]
fn processes_that_do_not_fit_together_say_so() {
    let dir = tempfile::tempdir().unwrap();
    hosts(dir.path(), 2);
    let both = [start(dir.path(), "enumerate", "4x4", 0), start(dir.path(), "enumerate", "4x5", 1)];
    for one in both {
        let (code, said) = ended(one);
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("not asked for the same"), "{said}");
    }
    // Not the same number of workers: who is called says it, the other loses its connection.
    let all = hosts(dir.path(), 2);
    let listed = dir.path().join("hosts");
    let args = |process: &str, threads: &str| {
        let hosts = listed.to_str().unwrap();
        let args = ["enumerate", "--threads", threads, "--hosts", hosts, "--process", process];
        solver(dir.path(), &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [args("0", "1"), args("1", "2")].map(ended);
    assert_eq!((both[0].0, both[0].1.lines().count()), (Some(2), 1), "{both:?}");
    assert!(both[0].1.contains("process 1 has 2 workers and this one 1"), "{both:?}");
    assert_eq!((both[1].0, both[1].1.lines().count()), (Some(1), 1), "{both:?}");
    drop(all);
    // Somebody else writes there.
    let parts = dir.path().join("othello-4x4-derived.parts");
    fs::create_dir_all(&parts).unwrap();
    let lock = fs::File::create(parts.join("part-0.lock")).unwrap();
    lock.lock().unwrap();
    let output = solver(dir.path(), &["enumerate", "--processes", "1"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("part-0.lock"), "{said}");
    drop(lock);
    // States first.
    hosts(dir.path(), 2);
    let both = [0, 1].map(|process| start(dir.path(), "value-iterate", "4x4", process));
    for one in both {
        let (code, said) = ended(one);
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("run 'solver enumerate'"), "{said}");
    }
    let all = hosts(dir.path(), 2);
    let taken = TcpListener::bind(&all[0]).unwrap();
    let (code, said) = ended(start(dir.path(), "enumerate", "4x4", 0));
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("give it another port"), "{said}");
    drop(taken);
    for (text, what) in
        [("here\n", "is no host:port"), ("a:1\na:1\n", "is there twice"), ("a:1\n", "there is no")]
    {
        fs::write(dir.path().join("hosts"), text).unwrap();
        let (code, said) = ended(start(dir.path(), "enumerate", "4x4", 1));
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(what), "{said}");
    }
    // A part that is not there, and one that is damaged.
    run(dir.path(), &["enumerate", "--size", "4x4", "--processes", "2"]);
    let layer = dir.path().join("othello-4x4-derived.parts/part-1/layer-09");
    let mut bytes = fs::read(&layer).unwrap();
    bytes[100] ^= 1;
    fs::write(&layer, bytes).unwrap();
    let output = solver(dir.path(), &["gather", "--size", "4x4"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("layer-09: is damaged"), "{said}");
    fs::remove_dir_all(dir.path().join("othello-4x4-derived.parts/part-0")).unwrap();
    let output = solver(dir.path(), &["gather", "--size", "4x4"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("part-0 is in none of the directories"), "{said}");
}
