//! Feeds arbitrary bytes to everything that reads text and files: every file of `fuzz/corpus`, and
//! random changes of them.
//!
//! For longer runs set `YOMIKIRI_FUZZ=20000`, for one target `YOMIKIRI_FUZZ=notation:20000`, and to
//! repeat one input `YOMIKIRI_FUZZ=notation:17..18`. A failing input is written to a file, which belongs
//! in the corpus once the fault is fixed.

mod change;
#[path = "../../fuzz/targets.rs"]
mod targets;

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use change::Corpus;
use targets::TARGETS;

/// Default numbers of inputs of a target, and of a slow target, which takes milliseconds per input.
const INPUTS: usize = 2_000;
const FEWER: usize = 200;
const SLOW: [&str; 12] = [
    "arguments",
    "board",
    "card",
    "draft",
    "engine",
    "export",
    "manifest",
    "network",
    "outputs",
    "predictions",
    "solution",
    "table",
];
/// Limits of an input: time in seconds, and address space in kilobytes.
const SECONDS: u64 = 10;
const KILOBYTES: u32 = 2 << 20;
/// Number of failing inputs after which a target is given up.
const ENOUGH: usize = 5;

/// Environment variable with the work of a child process: `TARGET:FROM..TO`.
const ORDER: &str = "YOMIKIRI_FUZZ_ORDER";
/// Environment variable with the file to which a child process writes the number of its input.
const AT: &str = "YOMIKIRI_FUZZ_AT";

fn corpus_of(target: &str) -> Corpus {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("fuzz");
    Corpus::read(target, &dir.join("corpus").join(target), &dir.join("words"))
}

#[test]
fn no_input_breaks_a_reader() {
    match std::env::var(ORDER) {
        Ok(order) => obey(&order),
        Err(_) => watch(),
    }
}

/// Runs some inputs of a target in this process, which dies at the first failure.
fn obey(order: &str) {
    let (name, range) = asked(order);
    let at = std::env::var_os(AT).expect("the parent process sets it");
    let (_, target) = TARGETS.iter().find(|(target, _)| Some(*target) == name).unwrap();
    let corpus = corpus_of(name.unwrap());
    for number in range {
        fs::write(&at, number.to_string()).unwrap();
        target(&corpus.input(number));
    }
}

/// Runs every target in a process of its own, so that its memory limit and its death concern no other,
/// and reports failures.
fn watch() {
    let order = std::env::var("YOMIKIRI_FUZZ").ok();
    let (only, range) = order.as_deref().map(asked).unzip();
    let only = only.flatten();
    let mut left: Vec<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
    left.retain(|target| only.is_none_or(|only| only == *target));
    assert!(!left.is_empty(), "unknown target {only:?}");
    let (left, failures) = (Mutex::new(left), Mutex::new(Vec::new()));
    let next = || left.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(target) = next() {
                    let (begun, few) = (Instant::now(), SLOW.contains(&target));
                    let usual = 0..if few { FEWER } else { INPUTS };
                    let range = range.clone().unwrap_or(usual);
                    let found = run(target, range.clone());
                    eprintln!("{target}: {range:?} in {:.1} s", begun.elapsed().as_secs_f64());
                    failures.lock().unwrap().extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// Parses `[TARGET:]NUMBER` or `[TARGET:]FROM..TO`.
fn asked(order: &str) -> (Option<&str>, Range<usize>) {
    let (target, range) = match order.split_once(':') {
        Some((target, range)) => (Some(target), range),
        None => (None, order),
    };
    let (from, to) = range.split_once("..").unwrap_or(("0", range));
    (target, from.parse().unwrap()..to.parse().unwrap())
}

/// Runs a target on some inputs and returns the failures.
fn run(target: &str, range: Range<usize>) -> Vec<String> {
    let (mut failures, mut from) = (Vec::new(), range.start);
    while from < range.end && failures.len() < ENOUGH {
        let place = tempfile::tempdir_in(place()).unwrap();
        let order = format!("{target}:{from}..{}", range.end);
        let [at, printed] = ["at", "said"].map(|file| place.path().join(file));
        let child = started(&order, place.path(), &at, File::create(&printed).unwrap());
        let Some(how) = end_of(child, &at) else { break };
        let printed = fs::read(&printed).unwrap();
        let printed =
            String::from_utf8_lossy(&printed[printed.len().saturating_sub(1500)..]).into_owned();
        let number = number_in(&at).unwrap_or_else(|| panic!("{target} has not begun: {printed}"));
        let input = corpus_of(target).input(number);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-{number}"));
        fs::write(&kept, &input).unwrap();
        failures.push(format!(
            "{target}: {how}; see it again with YOMIKIRI_FUZZ={target}:{number}..{}, it is in {}\n{:?}\n{}",
            number + 1,
            kept.display(),
            String::from_utf8_lossy(&input[..input.len().min(300)]),
            printed.trim(),
        ));
        from = number + 1;
    }
    failures
}

/// Returns a directory for files that are written thousands of times, in memory if possible.
fn place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// Starts this program with an order, and on Linux with a memory limit.
fn started(order: &str, place: &Path, at: &PathBuf, printed: File) -> Child {
    let this = std::env::current_exe().unwrap();
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let mut command = Command::new("sh");
            let limited = format!("ulimit -v {KILOBYTES} && exec \"$@\"");
            command.args(["-c", &limited, "sh"]).arg(this);
            command
        }
        false => Command::new(this),
    };
    command.args(["--exact", "malformed::no_input_breaks_a_reader", "--nocapture"]);
    command.env(ORDER, order).env(AT, at).env("TMPDIR", place).env("RAYON_NUM_THREADS", "2");
    command.stdout(Stdio::null()).stderr(printed).spawn().unwrap()
}

fn number_in(at: &Path) -> Option<usize> {
    fs::read_to_string(at).ok()?.parse().ok()
}

/// Waits for a process. Returns how it ended, unless it succeeded.
fn end_of(mut child: Child, at: &Path) -> Option<String> {
    let (mut number, mut since) = (None, Instant::now());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (!status.success()).then(|| status.to_string());
        }
        let now = number_in(at);
        if now != number {
            (number, since) = (now, Instant::now());
        } else if since.elapsed() > Duration::from_secs(SECONDS) {
            child.kill().unwrap();
            child.wait().unwrap();
            return Some(format!("no end after {SECONDS} s"));
        }
        thread::sleep(Duration::from_millis(10));
    }
}
