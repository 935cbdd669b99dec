//! System calls that fail, one at a time: each causes one line and exit code 1 or 3, or does no harm; no
//! wrong table opens; and the same command run again ends as if nothing had happened.
//!
//! strace injects the failures: the k-th call of a name, by one thread, on one file. Without strace
//! nothing is tested, unless `YOMIKIRI_REQUIRE_ALL=1` forbids that. `YOMIKIRI_IO_ERRORS=1` fails every
//! call; by default calls of a kind that failed on three other files are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::power::{calls::has_strace, opens};
use crate::common::tables::{Ran, Tables};

const CALLS: &str = "openat,read,pread64,mmap,lseek,write,pwrite64,ftruncate,fallocate,fsync,\
    fdatasync,mkdir,rename,renameat,renameat2,unlink,unlinkat,rmdir,statx,getdents64,flock";

/// A call: its name, the file below the directory of tables, and its number among the same calls on it.
type Place = (String, String, usize);

fn strace(tables: &Path, args: &[&str], log: &Path, options: &[&str]) -> Output {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-o"]).arg(log).args(options);
    strace.arg(env!("CARGO_BIN_EXE_solver")).args(args).args(["-q", "--threads", "1"]);
    strace.env("YOMIKIRI_TABLES", tables).output().unwrap()
}

/// Returns the calls of a command on the files of its tables.
fn places(tables: &Path, log: &str, every: bool) -> Vec<Place> {
    let root = tables.to_str().unwrap();
    let (mut seen, mut files) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<String>>::new());
    let (mut all, mut calls) = (Vec::new(), log.lines());
    while let Some((thread, call)) = calls.next().and_then(|line| line.split_once(' ')) {
        let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
        let Some((_, path)) = rest.split_once(root) else { continue };
        let path = path.split(['"', '>']).next().unwrap().trim_start_matches('/').to_string();
        let count: &mut usize = seen.entry((thread, name, path.clone())).or_default();
        *count += 1;
        // Drafts, temporary files and arrays are treated alike, so three of each kind are enough.
        let kind = path.rsplit_once('.').map_or(path.as_str(), |(_, kind)| kind).to_string();
        let others = files.entry((name, kind, *count)).or_default();
        let is_sync = name.starts_with("f") && name.ends_with("sync");
        if every || is_sync || others.len() < 3 || others.contains(&path) {
            others.insert(path.clone());
            all.push((name.to_string(), path, *count));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Fails each call of a command, on tables made by some commands. Returns how many of the failures ended
/// the command.
fn fails_at_each(before: &[&[&str]], args: &[&str], writes: bool) -> usize {
    let every = std::env::var_os("YOMIKIRI_IO_ERRORS").is_some_and(|value| value == "1");
    let (done, logs) = (Tables::after(before), tempfile::tempdir().unwrap());
    let root = done.root().canonicalize().unwrap();
    let was = opens(&root);
    let log = logs.path().join("all");
    let expected = Ran::of(strace(&root, args, &log, &["-e", &format!("trace={CALLS}")]));
    assert_eq!(expected.code, 0, "{args:?}: {expected:?}");
    let is = opens(&root);
    let places = places(&root, &fs::read_to_string(log).unwrap(), every);
    assert!(places.len() > 10, "{args:?}: {places:?}");
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = |(name, file, count): &Place| {
        let tables = Tables::after(before);
        let root = tables.root().canonicalize().unwrap();
        let (path, what) = (root.join(file), format!("{args:?}: {name} {count} of {file}"));
        let log = logs.path().join(format!("{name} {count} {}", file.replace('/', " ")));
        let inject = format!("inject={name}:error=EIO:when={count}");
        // Joining an empty path leaves a trailing slash.
        let path = path.to_str().unwrap().trim_end_matches('/').to_string();
        let options = ["-P", &path, "-e", &format!("trace={name}"), "-e", &inject];
        let ran = Ran::of(strace(&root, args, &log, &options));
        if !fs::read_to_string(&log).unwrap().contains("INJECTED") {
            return;
        }
        let now = opens(&root);
        // Every table that opens is an old one or the new one; LATEST may be older.
        for (name, files) in now.iter().filter(|(name, _)| *name != "LATEST") {
            let known = [&was, &is].iter().any(|tables| tables.get(name) == Some(files));
            assert!(known, "{what}: {name} is wrong after {ran:?}");
        }
        assert!(was.keys().all(|name| now.contains_key(name)), "{what}: something is gone");
        if ran.code == 0 {
            assert!(now == is, "{what}: not all is there");
            assert_eq!(
                ran.stdout,
                expected.stdout.replace(done.root().to_str().unwrap(), &root.to_string_lossy()),
                "{what}"
            );
            assert!(!name.ends_with("sync"), "{what}: no error");
            return;
        }
        failed.fetch_add(1, Ordering::Relaxed);
        assert!([1, 3].contains(&ran.code) || !writes && ran.code == 2, "{what}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{what}: {ran:?}");
        // Results from before the error may have been printed.
        assert!(writes || ran.stdout.is_empty(), "{what}: {ran:?}");
        if name.ends_with("sync") && file.contains('/') {
            assert!(now == was, "{what}: it was committed");
        }
        // No draft resumes from an array whose sync has failed.
        if name == "fdatasync" && file.starts_with("t.partial/") {
            assert_eq!(fs::metadata(&path).unwrap().len(), 0, "{what}");
        }
        tables.ok(args);
        assert!(opens(&root) == is, "{what}: again");
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(place);
                }
            });
        }
    });
    failed.into_inner()
}

const ENUMERATE: &[&str] = &["enumerate", "--root", "----XXX--XO----- O;", "--name", "t"];
const SOLVE: &[&str] = &["value-iterate", "t"];

#[test]
fn writers_that_meet_an_error_harm_nothing() {
    if has_strace() {
        assert!(fails_at_each(&[], ENUMERATE, true) > 20);
        assert!(fails_at_each(&[ENUMERATE], SOLVE, true) > 20);
        let again = ["value-iterate", "t", "--empties", "to-winner"];
        assert!(fails_at_each(&[ENUMERATE, SOLVE], &again, true) > 20);
    }
}

#[test]
fn readers_that_meet_an_error_say_so() {
    if has_strace() {
        let query = ["query", "t", "----XXX--XO----- O;", "--json"];
        assert!(fails_at_each(&[ENUMERATE, SOLVE], &query, false) > 10);
        assert!(fails_at_each(&[ENUMERATE, SOLVE], &["verify", "t"], false) > 10);
    }
}

/// A lack of memory ends the process with one line, or by a signal if Rust's allocator fails.
#[test]
#[cfg(target_os = "linux")]
fn a_lack_of_memory_harms_nothing() {
    let before: [&[&str]; 1] = [ENUMERATE];
    for (before, args) in [(&[][..], ENUMERATE), (&before[..], SOLVE)] {
        let done = Tables::after(before);
        let was = opens(done.root());
        done.ok(args);
        let (is, mut ended) = (opens(done.root()), 0);
        for mebibytes in (30..90).step_by(3).chain([120, 200]) {
            let tables = Tables::after(before);
            let limit = format!("ulimit -c 0; ulimit -v {}; exec \"$0\" \"$@\"", mebibytes << 10);
            let mut command = Command::new("sh");
            command.arg("-c").arg(limit).arg(env!("CARGO_BIN_EXE_solver")).args(args);
            command.args(["-q", "--threads", "2"]).env("YOMIKIRI_TABLES", tables.root());
            let status = command.output().unwrap().status;
            ended += usize::from(!status.success());
            let now = opens(tables.root());
            assert!(now == if status.success() { is.clone() } else { was.clone() }, "{mebibytes}");
            tables.ok(args);
            assert!(opens(tables.root()) == is, "{args:?} again after {mebibytes} MiB");
        }
        assert!(ended > 0, "{args:?}");
    }
}
