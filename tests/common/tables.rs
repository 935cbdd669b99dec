//! Tables as files, and runs of the binary on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use yomikiri::progress::Silent;
use yomikiri::solve::SolveOptions;
use yomikiri::table::{HEADER_BYTES, Ints, Manifest, Store, Table, crc32};

use super::solved::{board_4x4, make, solve};

/// Temporary directory of tables of one test.
pub struct Tables(pub tempfile::TempDir);

impl Tables {
    pub fn new() -> Tables {
        Tables(tempfile::tempdir().unwrap())
    }

    /// Returns a new directory with the files that some commands leave. The commands run once in a process,
    /// for all tests that share them.
    pub fn after(commands: &[&[&str]]) -> Tables {
        type Known = BTreeMap<Vec<Vec<String>>, Arc<OnceLock<Files>>>;
        static KNOWN: Mutex<Known> = Mutex::new(Known::new());
        let owned = |words: &&[&str]| words.iter().map(|word| word.to_string()).collect();
        let words: Vec<Vec<String>> = commands.iter().map(owned).collect();
        let known = KNOWN.lock().unwrap().entry(words).or_default().clone();
        let left = known.get_or_init(|| {
            let tables = Tables::new();
            commands.iter().for_each(|command| drop(tables.ok(command)));
            files(tables.root())
        });
        let tables = Tables::new();
        write_files(left, tables.root());
        tables
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn store(&self) -> Store {
        Store::at(self.root())
    }

    pub fn place(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Returns a command that runs the binary on these tables.
    pub fn solver(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_solver"));
        command.args(args).env("YOMIKIRI_TABLES", self.root()).env_remove("NO_COLOR");
        command
    }

    /// Returns the command with default signals: background tests of a script, and their children, ignore
    /// SIGINT.
    pub fn hearing(&self, args: &[&str]) -> Command {
        let run = self.solver(args);
        let mut command = Command::new("env");
        let envs = run.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(envs).args(cfg!(target_os = "linux").then_some("--default-signal=INT,TERM"));
        command.arg(run.get_program()).args(run.get_args());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.solver(args).output().unwrap())
    }

    /// Runs a command that must succeed; returns its stdout.
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran.stdout
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}\n{text}"))
    }
}

/// Result of a process.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let ran = Ran {
            code: output.status.code().expect("ended by itself"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    /// Checks that the input was refused: exit code 2, no data, one line of stderr, which it returns.
    pub fn refused(&self, what: &str) -> &str {
        self.ended(2, what)
    }

    /// Checks that a table's files were refused as damaged or as no table; returns stderr.
    pub fn spoilt(&self, what: &str) -> &str {
        self.ended(if self.code == 2 { 2 } else { 3 }, what)
    }

    /// Checks the exit code, that there is no data, and that stderr is one line, which it returns.
    pub fn ended(&self, code: i32, what: &str) -> &str {
        assert_eq!(self.code, code, "{what}: {self:?}");
        assert_eq!(self.stdout, "", "{what}");
        assert_eq!(self.stderr.lines().count(), 1, "{what}: {}", self.stderr);
        &self.stderr
    }
}

/// Contents of files by their path in a directory.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Reads every file below a directory except lock files, which are empty.
pub fn files(dir: &Path) -> Files {
    fn walk(root: &Path, dir: &Path, all: &mut Files) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                walk(root, &path, all);
            } else if path.extension().is_none_or(|e| e != "lock") {
                all.insert(path.strip_prefix(root).unwrap().into(), fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(dir, dir, &mut all);
    all
}

/// Asserts that two directories contain the same files, naming the first that differs.
pub fn assert_same_files(a: &Path, b: &Path, what: &str) {
    let (a, b) = (files(a), files(b));
    assert!(!a.is_empty(), "{what}: no files");
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{what}");
    for (path, bytes) in a {
        assert!(bytes == b[&path], "{what}: {} differs", path.display());
    }
}

pub fn copy_dir(from: &Path, to: &Path) {
    write_files(&files(from), to);
}

fn write_files(files: &Files, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (path, bytes) in files {
        fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
        fs::write(to.join(path), bytes).unwrap();
    }
}

/// Writes the state of a checkpoint, followed by its checksum.
pub fn write_state(path: &Path, text: &str) {
    fs::write(path, format!("{text}\n{:08x}\n", crc32(text.as_bytes()))).unwrap();
}

/// Makes a 4x4 table with all kinds of columns by the library.
pub fn solved_4x4(tables: &Tables) -> Table {
    let game = board_4x4(true);
    let mut table = make(&*game, &tables.store());
    for discount in [None, Some(0.9)] {
        let options = SolveOptions { discount, ..SolveOptions::default() };
        solve(&*game, &mut table, &options, &Silent).unwrap();
    }
    table
}

/// Returns the start of each row's stored edges, and the end of the last.
pub fn edge_offsets(table: &Table) -> Vec<usize> {
    let counts = Ints::open(table, "edge_counts").unwrap();
    let mut offsets = vec![0];
    offsets.extend((0..counts.count()).scan(0, |end, row| {
        *end += usize::from(counts.get(row));
        Some(*end)
    }));
    offsets
}

/// Changes payload bytes of an array and corrects every checksum as the format defines them: CRC-32 of the
/// payload, and CRC-32 of the manifest's text with its own digits zero.
pub fn forge(dir: &Path, array: &str, change: impl FnOnce(&mut [u8])) {
    let path = Table::open(dir).unwrap().path_of(array);
    let mut bytes = fs::read(&path).unwrap();
    let before = bytes.clone();
    change(&mut bytes[HEADER_BYTES..]);
    assert_ne!(before, bytes, "the forgery of {array} changes something");
    edit_manifest(dir, |manifest| {
        manifest.arrays.get_mut(array).unwrap().crc32 =
            format!("{:08x}", crc32(&bytes[HEADER_BYTES..]));
    });
    // File names of columns contain their checksums.
    fs::remove_file(path).unwrap();
    fs::write(Table::open(dir).unwrap().path_of(array), &bytes).unwrap();
}

/// Changes a manifest and corrects its checksum.
pub fn edit_manifest(dir: &Path, edit: impl FnOnce(&mut Manifest)) {
    let path = dir.join("manifest.json");
    let mut manifest = Table::open(dir).unwrap().manifest().clone();
    edit(&mut manifest);
    fs::write(&path, manifest.to_text()).unwrap();
}
