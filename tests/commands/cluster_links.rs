//! Several processes over links that are slow, fragment data and break, and processes that are killed and
//! restarted. A job gives the bytes of one process or ends with one line per process, and the same command
//! resumes.
//!
//! Random choices follow from a seed, and links break after a number of bytes instead of seconds; only the
//! threads of the system are not reproducible. Longer runs by hand: `YOMIKIRI_LINKS=200`, or
//! `YOMIKIRI_LINKS=17..18` to repeat one seed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use super::cluster::{ended, gathered, plain, run, solver};
use crate::common::Random;

/// Default number of seeds.
const SEEDS: u64 = 6;

/// Bytes of the greeting by which a process identifies itself.
const GREETING: usize = 24;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("YOMIKIRI_LINKS") else { return 0..SEEDS };
    let number = |text: &str| text.parse().unwrap_or_else(|e| panic!("YOMIKIRI_LINKS: {e}"));
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

/// Failure after all links together have carried a number of bytes.
#[derive(Clone, Copy, Debug)]
enum Break {
    Never,
    /// The link that carries the last of them is cut.
    Cut(u64),
    /// The link shuts down that direction.
    Half(u64),
    /// A process is killed.
    Kill(u64, usize),
}

/// State shared by all links of a job.
struct Links {
    carried: AtomicU64,
    /// `true` after the failure.
    broken: AtomicBool,
    breaks: Break,
    /// `true` when the job is over.
    over: AtomicBool,
}

impl Links {
    fn new(breaks: Break) -> Arc<Links> {
        let [broken, over] = [false, false].map(AtomicBool::new);
        Arc::new(Links { carried: AtomicU64::new(0), broken, breaks, over })
    }

    /// Forwards data in one direction until it ends or breaks.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, mut random: Random) {
        let mut buffer = [0; 1 << 14];
        loop {
            let most = if random.below(4) == 0 { 1 + random.below(64) } else { buffer.len() };
            let count = match from.read(&mut buffer[..most]) {
                Ok(count @ 1..) => count,
                _ => return drop(to.shutdown(Shutdown::Write)),
            };
            if random.below(16) == 0 {
                sleep(Duration::from_micros(random.below(4000) as u64));
            }
            let carried = self.carried.fetch_add(count as u64, Relaxed) + count as u64;
            let at = match self.breaks {
                Break::Never => u64::MAX,
                Break::Cut(at) | Break::Half(at) | Break::Kill(at, _) => at,
            };
            let is_here = carried >= at && !self.broken.swap(true, Relaxed);
            // A breaking link forwards what came before; a killed process leaves the links intact.
            let cuts = is_here && !matches!(self.breaks, Break::Kill(..));
            let count =
                if cuts { count - (carried - at).min(count as u64) as usize } else { count };
            let written = to.write_all(&buffer[..count]);
            match self.breaks {
                Break::Cut(_) if is_here => {
                    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                    return;
                }
                Break::Half(_) if is_here => return drop(to.shutdown(Shutdown::Write)),
                _ => {}
            }
            if written.is_err() {
                return drop(from.shutdown(Shutdown::Read));
            }
        }
    }

    /// Opens a link to an address and returns the address of its near end.
    fn to(self: &Arc<Links>, address: &str, seed: u64) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (near, far, links) = (listener.local_addr(), address.to_string(), Arc::clone(self));
        spawn(move || {
            let mut calls = 0;
            while !links.over.load(Relaxed) {
                let Ok((from, _)) = listener.accept() else {
                    sleep(Duration::from_millis(1));
                    continue;
                };
                calls += 1;
                from.set_nonblocking(false).unwrap();
                let (links, far) = (Arc::clone(&links), far.clone());
                spawn(move || {
                    // The far process may not listen yet.
                    let to = loop {
                        match TcpStream::connect(&far) {
                            Ok(to) => break to,
                            Err(_) if links.over.load(Relaxed) => return,
                            Err(_) => sleep(Duration::from_millis(5)),
                        }
                    };
                    let (back, forth) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let [one, other] = [0, 1].map(|way| Random(seed << 16 | calls << 1 | way));
                    let other_way = Arc::clone(&links);
                    spawn(move || other_way.carry(forth, back, other));
                    links.carry(from, to, one);
                });
            }
        });
        near.unwrap().to_string()
    }
}

/// Writes a file of hosts for each process, in which it is linked to those it calls.
fn linked(dir: &Path, links: &Arc<Links>, count: usize, seed: u64) -> Vec<PathBuf> {
    let free = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let free: Vec<TcpListener> = free.collect();
    let all: Vec<String> = free.iter().map(|own| own.local_addr().unwrap().to_string()).collect();
    let hosts = |own: usize| {
        let link = |other: usize| links.to(&all[other], seed << 8 | (own << 4 | other) as u64);
        let lines =
            (0..count).map(|other| if other < own { link(other) } else { all[other].clone() });
        let path = dir.join(format!("hosts-{own}"));
        fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        path
    };
    (0..count).map(hosts).collect()
}

fn start(tables: &Path, command: &str, workers: usize, (own, hosts): (usize, &Path)) -> Child {
    let (own, workers) = (own.to_string(), workers.to_string());
    let args = [command, "--size", "4x4", "--threads", &workers, "--process", &own, "--hosts"];
    let mut command = solver(tables, &args);
    command.arg(hosts).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a job over links once; returns `true` if it was completed.
fn is_done(
    (tables, command): (&Path, &str),
    (count, workers): (usize, usize),
    breaks: Break,
    seed: u64,
) -> bool {
    let links = Links::new(breaks);
    let hosts = linked(tables, &links, count, seed);
    let numbered = hosts.iter().enumerate();
    let mut all: Vec<Child> =
        numbered.map(|(own, path)| start(tables, command, workers, (own, path))).collect();
    let until = Instant::now() + Duration::from_secs(60);
    while all.iter_mut().any(|one| one.try_wait().unwrap().is_none()) && Instant::now() < until {
        if let Break::Kill(_, who) = breaks
            && links.broken.load(Relaxed)
        {
            all[who].kill().unwrap();
        }
        sleep(Duration::from_millis(2));
    }
    links.over.store(true, Relaxed);
    let broken = links.broken.load(Relaxed);
    let all: Vec<_> = all.into_iter().map(ended).collect();
    for (own, (code, printed)) in all.iter().enumerate() {
        let what = format!("seed {seed}: {command}, {breaks:?}: {own} of {all:?}");
        match (code, breaks) {
            (Some(0), _) => assert_eq!(printed, "", "{what}"),
            (None, Break::Kill(_, who)) => assert!(who == own && printed.is_empty(), "{what}"),
            (code, _) => {
                assert!(broken && *code == Some(1) && printed.lines().count() == 1, "{what}");
                assert!(printed.contains("process"), "{what}");
            }
        }
    }
    println!("seed {seed}: {command}, {breaks:?}: {} bytes, {all:?}", links.carried.load(Relaxed));
    all.iter().all(|one| one.0 == Some(0))
}

#[test]
fn slow_and_broken_links_and_lost_processes_change_no_byte() {
    let (wanted, mut ends) = (plain("4x4"), BTreeMap::new());
    for seed in seeds() {
        let mut random = Random(seed);
        let dir = tempfile::tempdir().unwrap();
        let (count, workers) = (2 + random.below(2), 1 + random.below(2));
        for command in ["enumerate", "value-iterate"] {
            for last in [false, false, true] {
                // Log-uniform, because early failures matter as much as late ones: a job has some 100,000
                // bytes.
                let at = 1 + random.next() % (1 << (3 + random.below(15)));
                // A process that loses another during the greeting waits half a minute for it: the first
                // seeds break later.
                let at = if seed < SEEDS {
                    at + (GREETING * count * (count - 1) / 2) as u64
                } else {
                    at
                };
                let breaks = match random.below(3) {
                    _ if last => Break::Never,
                    0 => Break::Cut(at),
                    1 => Break::Half(at),
                    _ => Break::Kill(at, random.below(count)),
                };
                let done = is_done((dir.path(), command), (count, workers), breaks, seed);
                assert!(done || !last, "seed {seed}: {command} does not go on");
                *ends.entry((last, done)).or_insert(0) += 1;
            }
        }
        assert!(gathered(dir.path(), "4x4") == wanted, "seed {seed}");
        run(dir.path(), &["verify", "othello-4x4-derived"]);
    }
    println!("(the last try, done): {ends:?}");
    assert!(ends.contains_key(&(false, false)) || seeds().end - seeds().start < SEEDS, "{ends:?}");
}

/// A process that is restarted while the others still wait for one takes its own place again.
#[test]
fn a_process_that_is_started_again_while_others_gather_is_taken_in() {
    let (wanted, dir) = (plain("4x4"), tempfile::tempdir().unwrap());
    let links = Links::new(Break::Never);
    let hosts = linked(dir.path(), &links, 3, 1);
    let start = |own: usize| start(dir.path(), "enumerate", 1, (own, &hosts[own]));
    let (first, mut killed) = (start(0), start(1));
    // It has sent its greeting.
    while links.carried.load(Relaxed) < GREETING as u64 {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(300));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let second = start(1);
    while links.carried.load(Relaxed) < 2 * GREETING as u64 {
        sleep(Duration::from_millis(1));
    }
    // On a busy machine the bytes that the link has carried may not have been read yet.
    sleep(Duration::from_millis(300));
    for one in [first, second, start(2)] {
        assert_eq!(ended(one), (Some(0), String::new()));
    }
    links.over.store(true, Relaxed);
    run(dir.path(), &["value-iterate", "--size", "4x4", "--processes", "3"]);
    assert!(gathered(dir.path(), "4x4") == wanted);
}
