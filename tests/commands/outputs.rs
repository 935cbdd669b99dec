//! Commands that write files where the user says: they take nothing else, follow the user's links and no others, write
//! pipes and devices as such, and say before the work what cannot be written.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::Random;
use crate::common::tables::{Files, Ran, Tables, assert_same_files, files};

/// A command that writes.
struct Writes {
    /// Words, of which `OUT` is the output.
    words: &'static str,
    /// Name of the output.
    out: &'static str,
    /// `true` if one file is written, which may be a pipe or a device.
    streams: bool,
}

/// Fewest positions that a network is trained on and measured in.
const TRAIN: &str =
    "train supervised --epochs 2 --hidden 8 --share 0.02 --measured 0.02 --checkpoint 0 --out OUT";

const WRITERS: [Writes; 14] = [
    writes("report --policy greedy --no-games --html OUT", "r.html", true),
    writes("report --policy greedy --no-games --csv OUT", "r.csv", true),
    writes("report --policy greedy --no-games --parquet OUT", "r.parquet", true),
    writes("export --sample 200 --out OUT", "targets", false),
    writes("export --sample 200 --out OUT", "targets.npz", false),
    writes("export --sample 200 --out OUT", "targets.parquet", false),
    writes("export --sample 200 --out OUT", "targets.jsonl", false),
    writes("export --states --states-of canonical --out OUT", "states", false),
    writes("export --positions LINES --force --out OUT", "lines.csv", true),
    writes("prove 4x4 --leaves 4 --out OUT", "4x4.proof", true),
    writes("prove 4x4 --semi-strong --leaves 4 --out OUT", "4x4.semi", false),
    writes("play --black random --white random --save OUT", "game.txt", true),
    writes(TRAIN, "network", false),
    writes("train evaluation 5x5 --positions 1000 --out OUT", "5x5.eval", false),
];

const fn writes(words: &'static str, out: &'static str, streams: bool) -> Writes {
    Writes { words, out, streams }
}

impl Writes {
    /// Returns the command for an output, on a solved table of 4x4.
    fn to(&self, tables: &Tables, out: &str) -> Command {
        let lines = tables.place("lines.txt");
        fs::write(&lines, "b1\nb1 a1\n").unwrap();
        let word = |word: &str| match word {
            "OUT" => out.to_string(),
            "LINES" => lines.to_str().unwrap().to_string(),
            _ => word.to_string(),
        };
        let words: Vec<String> = self.words.split(' ').map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = tables.solver(&words);
        command.env("SOURCE_DATE_EPOCH", "0").arg("-q").stdin(Stdio::null());
        command
    }

    fn run(&self, tables: &Tables, out: &Path) -> Ran {
        Ran::of(self.to(tables, out.to_str().unwrap()).output().unwrap())
    }
}

fn solved() -> Tables {
    Tables::after(&[&["enumerate", "--size", "4", "-q"], &["value-iterate", "-q"]])
}

/// Returns the directory of the outputs, empty.
fn outputs(tables: &Tables) -> PathBuf {
    let dir = tables.place("outputs");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir(&dir).unwrap();
    dir
}

/// Returns the files of a command with nothing in its way, and its duration.
fn undisturbed(writer: &Writes, tables: &Tables) -> (Files, Duration) {
    let (dir, begun) = (outputs(tables), Instant::now());
    let ran = writer.run(tables, &dir.join(writer.out));
    assert_eq!(ran.code, 0, "{}: {}", writer.words, ran.stderr);
    (files(&dir), begun.elapsed())
}

#[test]
fn names_that_are_taken_are_left() {
    let tables = solved();
    let mine = tables.place("mine");
    for writer in &WRITERS {
        let (whole, _) = undisturbed(writer, &tables);
        for ending in ["part", "partial", "old", "tmp"] {
            for kind in ["a file", "a link", "a dangling link", "a directory"] {
                let dir = outputs(&tables);
                fs::write(&mine, "mine").unwrap();
                let taken = dir.join(format!("{}.{ending}", writer.out));
                match kind {
                    "a file" => fs::write(&taken, "mine").unwrap(),
                    "a link" => symlink(&mine, &taken).unwrap(),
                    "a dangling link" => symlink(tables.place("none"), &taken).unwrap(),
                    _ => {
                        fs::create_dir(&taken).unwrap();
                        fs::write(taken.join("score.npy"), "mine").unwrap();
                    }
                }
                let what = format!("{}, where {ending} is {kind}", writer.words);
                let ran = writer.run(&tables, &dir.join(writer.out));
                match ran.code {
                    0 => {
                        for (name, bytes) in &whole {
                            let same = fs::read(dir.join(name)).unwrap() == *bytes;
                            assert!(same, "{what}: {}", name.display());
                        }
                    }
                    // Only the name that is resumed from.
                    _ => assert!(
                        writer.words.contains("--semi-strong") && ending == "partial",
                        "{what}: {ran:?}"
                    ),
                }
                assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{what}");
                assert!(!tables.place("none").exists(), "{what}");
                let is_kept = match kind {
                    "a file" => fs::read_to_string(&taken).unwrap() == "mine",
                    "a directory" => fs::read_to_string(taken.join("score.npy")).unwrap() == "mine",
                    _ => taken.is_symlink(),
                };
                assert!(is_kept, "{what}");
            }
        }
    }
}

#[test]
fn links_of_the_user_are_followed_and_nothing_is_left_beside_them() {
    let tables = solved();
    for writer in &WRITERS {
        let (whole, _) = undisturbed(writer, &tables);
        let dir = outputs(&tables);
        let far = tables.place("far");
        let _ = fs::remove_dir_all(&far);
        fs::create_dir(&far).unwrap();
        for name in whole.keys() {
            let top = name.iter().next().unwrap();
            let _ = symlink(far.join(top), dir.join(top));
        }
        let what = writer.words;
        // The second time over what the first wrote.
        let trains = what.starts_with("train supervised");
        for _ in 0..if trains { 1 } else { 2 } {
            let ran = writer.run(&tables, &dir.join(writer.out));
            assert_eq!(ran.code, 0, "{what}: {ran:?}");
            for name in whole.keys() {
                let top = name.iter().next().unwrap();
                let is_card = top
                    .to_str()
                    .unwrap()
                    .strip_prefix(writer.out)
                    .is_some_and(|end| [".json", ".md"].contains(&end));
                assert!(is_card || dir.join(top).is_symlink(), "{what}: {}", name.display());
            }
        }
        assert!(files(&far) == whole, "{what}: {:?}", files(&far).keys());
    }
}

#[test]
fn pipes_and_devices_are_written_as_such() {
    let tables = solved();
    for writer in WRITERS.iter().filter(|writer| writer.streams) {
        let (whole, _) = undisturbed(writer, &tables);
        let (what, bytes) = (writer.words, &whole[Path::new(writer.out)]);
        let dir = outputs(&tables);
        let null = fs::symlink_metadata("/dev/null").unwrap();
        let link = |path: &str| fs::read_link(path).unwrap();
        let stdout = link("/dev/stdout");
        if !what.contains("--positions") {
            let ran = writer.run(&tables, Path::new("/dev/null"));
            assert_eq!(ran.code, 0, "{what}: {ran:?}");
            let output = writer.to(&tables, "/dev/stdout").output().unwrap();
            assert!(output.status.success() && is_in(bytes, &output.stdout), "{what}");
            // Where stdout is a file, it is added to.
            let file = dir.join("all");
            let stdout = fs::File::create(&file).unwrap();
            assert!(writer.to(&tables, "/dev/stdout").stdout(stdout).status().unwrap().success());
            assert!(is_in(bytes, &fs::read(&file).unwrap()), "{what}");
            // A device that takes nothing.
            let ran = writer.run(&tables, Path::new("/dev/full"));
            assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{what}: {ran:?}");
            assert!(
                ran.stderr.contains("/dev/full") && ran.stderr.contains("free disk space"),
                "{ran:?}"
            );
        }
        let now = fs::symlink_metadata("/dev/null").unwrap();
        assert!(now.file_type().is_char_device() && now.ino() == null.ino(), "{what}");
        assert_eq!(link("/dev/stdout"), stdout, "{what}");
        let pipe = dir.join(writer.out);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut child =
            writer.to(&tables, pipe.to_str().unwrap()).stdout(Stdio::null()).spawn().unwrap();
        // `cat` can be ended if nobody writes.
        let copy = tables.place("read");
        let mut reader = Command::new("cat");
        reader.arg(&pipe).stdout(fs::File::create(&copy).unwrap());
        let mut reader = reader.spawn().unwrap();
        let status = ended(&mut child);
        if status.is_none_or(|status| !status.success()) {
            reader.kill().unwrap();
        }
        reader.wait().unwrap();
        assert!(status.is_some_and(|status| status.success()), "{what}: {status:?}");
        let read = fs::read(copy).unwrap();
        assert!(read == *bytes, "{what}: {} bytes, expected {}", read.len(), bytes.len());
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "{what}");
        assert_eq!(
            fs::read_dir(&dir).unwrap().count(),
            if what.contains("--positions") { 1 } else { 2 },
            "{what}"
        );
    }
}

/// Waits a minute for the end of a process, then kills it.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    None
}

/// Returns whether a file is part of an output; of a page, which contains its command, the end.
fn is_in(file: &[u8], output: &[u8]) -> bool {
    let file = if file.starts_with(b"<!doctype") { &file[file.len() - 9..] } else { file };
    output.windows(file.len()).any(|part| part == file)
}

/// A command whose output cannot be written ends at once, with one line that names it.
#[test]
fn outputs_are_checked_before_the_work() {
    let tables = solved();
    let lasting = ["prove 6x6 --out OUT", "train evaluation 8x8 --positions 1000000 --out OUT"];
    let lasting = lasting.map(|words| writes(words, "x", true));
    for writer in WRITERS.iter().chain(&lasting) {
        for dir in ["/dev/null", "/proc/none"] {
            let (out, begun) = (Path::new(dir).join(writer.out), Instant::now());
            let ran = writer.run(&tables, &out);
            assert_eq!(ran.code, 1, "{} {dir}: {ran:?}", writer.words);
            let line = ran.ended(1, writer.words);
            assert!(line.contains(dir), "{line}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{}", writer.words);
        }
    }
}

/// A sample of a board without a table needs no place to write.
#[test]
fn samples_are_measured_where_nothing_can_be_written() {
    let tables = Tables::new();
    let words = ["report", "--size", "8", "--sample", "20", "--policy", "greedy", "--metrics"];
    let kept = tables.run(&words);
    for root in ["/dev/null/none", "/proc/none"] {
        let ran = tables.run(&[&words[..], &["--tables", root]].concat());
        assert_eq!((ran.code, &ran.stdout), (0, &kept.stdout), "{ran:?}");
    }
    // A file that is not ours is neither written nor passed over.
    let labels = tables.root().join("labels/othello-8x8-uncounted.labels");
    let whole = fs::read(&labels).unwrap();
    let elsewhere = tables.place("elsewhere");
    fs::rename(&labels, &elsewhere).unwrap();
    symlink(&elsewhere, &labels).unwrap();
    let ran = tables.run(&words);
    assert!(ran.refused("labels at a link").contains("symbolic link"), "{ran:?}");
    assert_eq!(fs::read(&elsewhere).unwrap(), whole);
}

/// A file that cannot be written whole is named, with what to do, and what was there is left.
#[test]
fn a_full_disk_is_named() {
    let tables = solved();
    let sample = writes(
        "report --size 8 --sample 300 --policy greedy --no-games --empty-squares 6..8",
        "labels",
        true,
    );
    for writer in WRITERS.iter().chain([&sample]) {
        let dir = outputs(&tables);
        let out = dir.join(writer.out);
        let command = writer.to(&tables, out.to_str().unwrap());
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]).arg(command.get_program());
        limited.args(command.get_args()).env("YOMIKIRI_TABLES", tables.root()).stdin(Stdio::null());
        let ran = Ran::of(limited.output().unwrap());
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{}: {ran:?}", writer.words);
        assert!(ran.stderr.contains(writer.out), "{ran:?}");
        assert!(ran.stderr.contains("free disk space and run the "), "{ran:?}");
        assert!(
            files(&dir).is_empty() || writer.words.contains("semi"),
            "{:?}",
            files(&dir).keys()
        );
    }
}

/// Number of kills of each command; `YOMIKIRI_KILLS=22` makes 308 in all.
fn kills() -> usize {
    std::env::var("YOMIKIRI_KILLS").map_or(2, |kills| kills.parse().expect("a number of kills"))
}

/// Kills every command at random. Run again, it makes the same files and leaves none of the killed one beside them.
#[test]
fn a_killed_command_leaves_nothing_that_the_next_does_not_remove() {
    let tables = solved();
    let mut random = Random(11);
    for writer in &WRITERS {
        let (whole, time) = undisturbed(writer, &tables);
        for _ in 0..kills() {
            let dir = outputs(&tables);
            let out = dir.join(writer.out);
            let mut after = time.mul_f64(random.below(1000) as f64 / 1000.0);
            let mut command = writer.to(&tables, out.to_str().unwrap());
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(after);
            child.kill().unwrap();
            child.wait().unwrap();
            let what = format!("{} killed after {after:?} of {time:?}", writer.words);
            for (name, bytes) in files(&dir) {
                // A file under its own name is whole; a game is one after each move.
                let is_game = name.ends_with("game.txt");
                let is_whole = whole.get(&name).is_none_or(|known| is_game || *known == bytes);
                assert!(is_whole, "{what}: {}", name.display());
            }
            let ran = writer.run(&tables, &out);
            let is_done = ran.code == 2 && ran.stderr.contains("exists already");
            assert!(ran.code == 0 || is_done, "{what}: {ran:?}");
            assert!(files(&dir) == whole, "{what}: {:?}", files(&dir).keys());
            after = after.max(Duration::from_millis(1));
        }
    }
}

/// Temporary files that no later command for the same output removes, 'remove' does, and no others.
#[test]
fn what_a_killed_command_left_can_be_removed() {
    let tables = solved();
    let dir = outputs(&tables);
    let place = dir.join("r.html");
    let part = |place: &Path| {
        let file = yomikiri::output::OutputFile::create(place).unwrap();
        let path = file.path().unwrap().to_path_buf();
        std::mem::forget(file);
        path
    };
    fs::write(&place, "mine").unwrap();
    // The lock of this process stands for that of one at work.
    let busy = part(&place);
    let ran = tables.run(&["remove", place.to_str().unwrap()]);
    assert!(ran.refused("an output being written").contains("is being written"), "{ran:?}");
    let left = dir.join("left.csv");
    let name = busy.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("r.html."), "{name}");
    assert!(
        tables.run(&["remove", left.to_str().unwrap()]).refused("nothing").contains("left.csv")
    );
    let copy = Tables::new();
    let moved = copy.root().join(name);
    fs::copy(&busy, &moved).unwrap();
    fs::write(copy.root().join("r.html"), "mine").unwrap();
    fs::write(copy.root().join("r.html.part"), "mine").unwrap();
    assert!(copy.ok(&["remove", copy.root().join("r.html").to_str().unwrap()]).contains("removed"));
    assert!(!moved.exists());
    assert_eq!(files(copy.root()).len(), 2);
    assert_same_files(&dir, &dir, "what is being written");
}
