//! Commands that write files where the user says: files of others are left, links of the user alone are followed, pipes
//! and devices are written directly, and an output that cannot be written is refused before the work.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::Random;
use crate::common::tables::{Files, Ran, Tables, files};

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

const WRITERS: [Writes; 16] = [
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
    writes(
        "train tabular 4x4 --games 1000 --every 1000 --method td --force --out OUT",
        "curves",
        false,
    ),
    writes("man --dir OUT", "man", false),
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
    // The others make up the names of their files.
    let makes_up = |words: &str| {
        ["train supervised", "train tabular", "man", "train evaluation"]
            .iter()
            .any(|name| words.starts_with(name))
    };
    for writer in WRITERS.iter().filter(|writer| !makes_up(writer.words)) {
        let (whole, _) = undisturbed(writer, &tables);
        let dir = outputs(&tables);
        let far = tables.place("far");
        let _ = fs::remove_dir_all(&far);
        fs::create_dir(&far).unwrap();
        symlink(far.join(writer.out), dir.join(writer.out)).unwrap();
        let what = writer.words;
        // The second time over the files of the first.
        for _ in 0..2 {
            let ran = writer.run(&tables, &dir.join(writer.out));
            assert_eq!(ran.code, 0, "{what}: {ran:?}");
            assert!(dir.join(writer.out).is_symlink(), "{what}");
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

/// Number of kills of each command; `YOMIKIRI_KILLS=22` makes 352 in all.
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
            let after = time.mul_f64(random.below(1000) as f64 / 1000.0);
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
    assert!(busy.exists());
}

/// Files of the user beside or within an output, under names that a command makes up or lists.
#[test]
fn files_beside_an_output_are_kept() {
    let tables = solved();
    let dir = outputs(&tables);
    let at = |name: &str| dir.join(name).to_str().unwrap().to_string();
    let mine = |name: &str| fs::write(at(name), "mine").unwrap();
    let is_mine = |name: &str| fs::read_to_string(at(name)).unwrap() == "mine";
    let refused = |words: &[&str]| {
        let ran = tables.run(words);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{words:?}: {ran:?}");
    };
    // An array in a directory of arrays, and a card with remarks.
    let again = |out: &str| refused(&["export", "--temperature", "1", "--out", &at(out), "-q"]);
    tables.ok(&["export", "--sample", "50", "--out", &at("arrays"), "-q"]);
    mine("arrays/logits.npy");
    again("arrays");
    assert!(is_mine("arrays/logits.npy"));
    tables.ok(&["export", "--sample", "50", "--out", &at("e.csv"), "-q"]);
    for card in ["e.csv.md", "e.csv.json"] {
        let whole = fs::read(at(card)).unwrap();
        mine(card);
        again("e.csv");
        assert!(is_mine(card));
        fs::remove_file(at(card)).unwrap();
        symlink("none", at(card)).unwrap();
        again("e.csv");
        assert!(fs::symlink_metadata(at(card)).unwrap().is_symlink());
        fs::remove_file(at(card)).unwrap();
        fs::write(at(card), whole).unwrap();
    }
    tables.ok(&["export", "--temperature", "1", "--out", &at("e.csv"), "-q"]);
    // Files of a network, beside a checkpoint that is none.
    let train = ["train", "tabular", "4x4", "--games", "1000", "--every", "1000", "--method", "td"];
    let net = at("net");
    for (recipe, ending) in
        [(&train[..], "csv"), (&["train", "supervised", "--epochs", "1"], "onnx")]
    {
        let name = format!("net.{ending}");
        mine(&name);
        mine("net.checkpoint");
        refused(&[recipe, &["--out", &net]].concat());
        assert!(is_mine(&name) && is_mine("net.checkpoint"));
        fs::remove_file(at(&name)).unwrap();
    }
    fs::remove_file(at("net.checkpoint")).unwrap();
    assert!(Command::new("mkfifo").arg(at("net.checkpoint")).status().unwrap().success());
    refused(&["train", "supervised", "--epochs", "1", "--out", &net]);
    // Inputs, and one output under two names.
    fs::write(at("positions.txt"), "b1\n").unwrap();
    let positions = at("positions.txt");
    let report = ["report", "--policy", "greedy", "--no-games"];
    refused(&[&report[..], &["--positions", &positions, "--csv", &positions]].concat());
    refused(&["export", "--positions", &positions, "--out", &positions, "--force"]);
    let other = format!("{}/./r.x", dir.to_str().unwrap());
    refused(&[&report[..], &["--csv", &at("r.x"), "--html", &other]].concat());
    assert_eq!(fs::read_to_string(&positions).unwrap(), "b1\n");
    // Links at names of manual pages and of directories that a command makes up.
    fs::create_dir(at("man")).unwrap();
    mine("victim");
    symlink("../victim", at("man/solver.1")).unwrap();
    tables.ok(&["man", "--dir", &at("man")]);
    fs::create_dir(at("labels")).unwrap();
    symlink(at("labels"), tables.place("labels")).unwrap();
    refused(&["report", "--size", "8", "--sample", "5", "--policy", "greedy", "--no-games", "-q"]);
    assert!(is_mine("victim") && fs::read_dir(at("labels")).unwrap().next().is_none());
    // A page that only its owner may read.
    mine("private.html");
    let mode = |name: &str| fs::metadata(at(name)).unwrap().mode() & 0o777;
    fs::set_permissions(at("private.html"), fs::Permissions::from_mode(0o600)).unwrap();
    tables.ok(&[&report[..], &["--html", &at("private.html"), "-q"]].concat());
    assert_eq!(mode("private.html"), 0o600);
}

/// Drafts under names that are taken by a link or by files of another program are refused.
#[test]
fn drafts_of_others_are_refused() {
    let tables = solved();
    let far = tables.place("far");
    fs::create_dir(&far).unwrap();
    let enumerate: &[&str] = &["enumerate", "--max-depth", "3", "--name", "t"];
    let drafts =
        [("t.partial", enumerate), ("othello-4x4.packed.partial", &["pack", "othello-4x4"])];
    for (draft, words) in drafts {
        let draft = tables.place(draft);
        symlink(&far, &draft).unwrap();
        let ran = tables.run(words);
        assert!(ran.refused("a link").contains("symbolic link; move it away"), "{ran:?}");
        fs::remove_file(&draft).unwrap();
        fs::create_dir(&draft).unwrap();
        fs::write(draft.join("weights.npy"), "mine").unwrap();
        let ran = tables.run(words);
        assert!(ran.refused("files of others").contains("no command of ours left"), "{ran:?}");
        assert_eq!(fs::read_to_string(draft.join("weights.npy")).unwrap(), "mine");
        fs::remove_dir_all(&draft).unwrap();
        tables.ok(words);
    }
    assert!(fs::read_dir(&far).unwrap().next().is_none());
}
