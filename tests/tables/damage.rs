//! Tables damaged at random, with wrong checksums or with matching ones.
//!
//! Whatever the files contain, a command ends soon, by itself, in little memory, and with one line if it
//! fails; and a table that `verify` proves has the same values as before. For longer runs set
//! `YOMIKIRI_DAMAGES=5000`, and to repeat one `YOMIKIRI_DAMAGES=17..18`.

mod places;

use std::fs;
use std::ops::Range;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::{Value, json};
use yomikiri::error::Error;
use yomikiri::progress::Silent;
use yomikiri::registry::Games;
use yomikiri::solve;
use yomikiri::table::{HEADER_BYTES, Table, crc32};

use crate::common::Random;
use crate::common::tables::{Tables, copy_dir, forge};
use places::{HOLES, UNPROVEN};

/// Default number of damages.
const DAMAGES: usize = 24;
/// Limits of a command: time in seconds, and address space in kilobytes, of which a query maps a third.
const SECONDS: u32 = 20;
const KILOBYTES: u32 = 1 << 20;

/// Commands that make a small table of every kind.
const MADE: [&[&str]; 15] = [
    &["enumerate"],
    &["value-iterate"],
    &["value-iterate", "--discount", "0.9"],
    &["pack"],
    &["enumerate", "--transitions", "derived"],
    &["value-iterate"],
    &["enumerate", "--max-depth", "5"],
    &["value-iterate"],
    &["enumerate", "--game", "animal-shogi-3x3"],
    &["value-iterate"],
    &["pack"],
    &["enumerate", "--game", "animal-shogi-3x3", "--index", "keys"],
    &["value-iterate"],
    &["enumerate", "--game", "minishogi", "--max-depth", "3"],
    &["value-iterate"],
];
const NAMES: [&str; 8] = [
    "othello-4x4",
    "othello-4x4.packed",
    "othello-4x4-derived",
    "othello-4x4-depth5",
    "animal-shogi-3x3",
    "animal-shogi-3x3.packed",
    "animal-shogi-3x3-keys",
    "minishogi-depth3",
];

/// Commands that are run on a damaged table `T`.
const READERS: [&[&str]; 9] = [
    &["query", "T", "start", "--json"],
    &["query", "T", "start"],
    &["info", "T"],
    &["info", "T", "--values"],
    &["list"],
    &["report", "--table", "T", "--policy", "random", "--json"],
    &["match", "--table", "T", "random", "greedy"],
    &["export", "T", "--out", "OUT"],
    &["verify", "--checksum", "T"],
];
const WRITERS: [&[&str]; 2] = [&["value-iterate", "T"], &["pack", "T"]];

/// Result of a command on a damaged table.
struct Ended {
    command: String,
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a command within the limits, where the system can set them.
fn run(tables: &Path, words: &[&str], name: &str) -> Ended {
    let out = tables.join("out.parquet");
    let out = out.to_str().unwrap();
    let words: Vec<&str> = words
        .iter()
        .map(|&w| match w {
            "T" => name,
            "OUT" => out,
            w => w,
        })
        .collect();
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let limits = format!("ulimit -v {KILOBYTES} && exec timeout {SECONDS} \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_solver")]);
            command
        }
        false => Command::new(env!("CARGO_BIN_EXE_solver")),
    };
    command.args(&words).args(["--quiet", "--threads", "2"]);
    let Output { status, stdout, stderr } =
        command.env("YOMIKIRI_TABLES", tables).env_remove("RUST_BACKTRACE").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr) = (text(stdout), text(stderr));
    Ended { command: words.join(" "), code: status.code(), stdout, stderr }
}

impl Ended {
    /// Returns the reason why a command ended badly, if it did.
    fn wrong(&self) -> Option<String> {
        let refused = self.stderr.lines().count() == 1;
        let fits = match self.code {
            Some(0) => self.stderr.is_empty(),
            // A failed proof is reported on stdout.
            Some(1 | 3) => refused || (self.stderr.is_empty() && self.stdout.contains("wrong")),
            Some(2) => refused,
            _ => false,
        };
        let reported: String = self.stderr.chars().take(600).collect();
        (!fits).then(|| format!("'{}' ended with {:?}: {reported}", self.command, self.code))
    }
}

/// Returns another value than the given one: a number near some limit, or another name.
fn other_value(random: &mut Random, was: &Value) -> Value {
    let strings = [
        "",
        "othello-4x4",
        "othello-8x8",
        "othello-4x5",
        "othello-3x3",
        "minishogi",
        "animal-shogi",
        "animal-shogi-3x3",
        "rank",
        "keys",
        "derived",
        "both",
        "custom",
        "kept",
        "none",
        "full",
        "standard",
        "to-winner",
        "uncounted",
        "value-iteration",
        "retrograde",
        "draw",
        "unknown",
        "second-player-wins",
        "|u1",
        "<u4",
        "<u8",
        "|i1",
        "<i2",
        "00000000",
        "../../x",
        "\n",
        "-----OX--XO----- X;",
    ];
    let far = [
        0,
        1,
        2,
        3,
        7,
        255,
        65_535,
        1 << 31,
        u64::from(u32::MAX) - 1,
        u64::from(u32::MAX),
        1 << 32,
        1_000_000_000_000,
        1 << 62,
        u64::MAX - 1,
        u64::MAX,
    ];
    match was {
        Value::Number(number) => match (number.as_u64(), random.below(4)) {
            (Some(n), 0) => json!(n.wrapping_add(1)),
            (Some(n), 1) => json!(n.wrapping_sub(1)),
            (_, 2) => json!(-1),
            _ => json!(far[random.below(far.len())]),
        },
        Value::Bool(was) => json!(!was),
        Value::Null if random.below(2) == 0 => json!(random.below(9)),
        Value::String(_) | Value::Null => json!(strings[random.below(strings.len())]),
        // Longer, shorter, or empty.
        Value::Array(some) => {
            let mut some = some.clone();
            let copy = some.get(random.below(some.len().max(1))).cloned();
            match random.below(4) {
                0 => some.clear(),
                1 => drop(some.pop()),
                2 => some.extend(copy),
                _ => some = copy.map_or(some, |one| vec![one; 20_000]),
            }
            json!(some)
        }
        Value::Object(some) => {
            let mut some = some.clone();
            let names: Vec<String> = some.keys().cloned().collect();
            match names.get(random.below(names.len().max(1))) {
                Some(name) if random.below(2) == 0 => drop(some.remove(name)),
                Some(name) => drop(some.insert(format!("{name}s"), json!(1))),
                None => drop(some.insert("new".to_string(), json!(1))),
            }
            json!(some)
        }
    }
}

/// Returns a random value of a manifest, and its path in `way`.
fn any_value<'a>(random: &mut Random, mut at: &'a mut Value, way: &mut String) -> &'a mut Value {
    loop {
        let entries = match &*at {
            Value::Array(some) => some.len(),
            Value::Object(some) => some.len(),
            _ => 0,
        };
        if entries == 0 || (!way.is_empty() && random.below(8) == 0) {
            return at;
        }
        let entry = random.below(entries);
        at = match at {
            Value::Array(some) => {
                *way += &format!("/{entry}");
                &mut some[entry]
            }
            Value::Object(some) => {
                let (name, value) = some.iter_mut().nth(entry).unwrap();
                *way += &format!("/{name}");
                value
            }
            _ => unreachable!(),
        };
    }
}

/// Edits a manifest as JSON, even to an invalid one, and corrects its checksum.
fn edit_text(dir: &Path, edit: impl FnOnce(&mut Value)) {
    let path = dir.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut manifest);
    if let Some(checksum) = manifest.get_mut("checksum") {
        *checksum = json!("00000000");
    }
    let blank = serde_json::to_string_pretty(&manifest).unwrap();
    let sum = format!("\"checksum\": \"{:08x}\"", crc32(blank.as_bytes()));
    fs::write(&path, blank.replace("\"checksum\": \"00000000\"", &sum)).unwrap();
}

/// Makes the manifest match an array's file, as far as possible.
fn make_fit(dir: &Path, array: &str, file: &Path) {
    let bytes = fs::read(file).unwrap();
    let sum = format!("{:08x}", crc32(bytes.get(HEADER_BYTES..).unwrap_or_default()));
    edit_text(dir, |manifest| manifest["arrays"][array]["crc32"] = json!(sum));
    // The names of columns contain their checksums.
    if file.file_name().unwrap().to_str().unwrap().contains('-') {
        fs::rename(file, dir.join(format!("{array}-{sum}.npy"))).unwrap();
    }
}

/// Changes one thing in a table and describes it.
fn damage(random: &mut Random, dir: &Path) -> String {
    let table = Table::open(dir).unwrap();
    let arrays: Vec<String> = table.manifest().arrays.keys().cloned().collect();
    let array = &arrays[random.below(arrays.len())];
    let path = table.path_of(array);
    let mut bytes = fs::read(&path).unwrap();
    let fits = random.below(2) == 0;
    let what = match random.below(10) {
        0..=3 => {
            let mut way = String::new();
            edit_text(dir, |manifest| {
                let at = any_value(random, manifest, &mut way);
                let was = at.to_string();
                *at = other_value(random, at);
                let short = |text: &str| text.chars().take(60).collect::<String>();
                way = format!("manifest {way}: {} for {}", short(&at.to_string()), short(&was));
            });
            return way;
        }
        4 | 5 => {
            let at = random.below(bytes.len());
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        6 => {
            let most = bytes.len().saturating_sub(HEADER_BYTES + 8).max(1);
            let at = (HEADER_BYTES + random.below(most)) & !7;
            let (byte, end) = ([0, 0xff, 0x7f, 0x80][random.below(4)], bytes.len().min(at + 8));
            bytes[at..end].fill(byte);
            format!("bytes {at}..{end} set to {byte}")
        }
        7 => {
            let byte = [0, 1, 0xff, 0x7f, 0x80][random.below(5)];
            bytes[HEADER_BYTES..].fill(byte);
            format!("all bytes set to {byte}")
        }
        8 => {
            let length = random.below(bytes.len());
            bytes.truncate(length);
            format!("cut off at {length}")
        }
        _ => {
            bytes.extend(vec![0xa5; 1 + random.below(20_000)]);
            "made longer".to_string()
        }
    };
    fs::write(&path, &bytes).unwrap();
    if fits {
        make_fit(dir, array, &path);
    }
    format!("{array}: {what}{}", if fits { ", checksum made to fit" } else { "" })
}

/// Runs some commands on a damaged table and returns what is wrong with their results.
fn try_out(random: &mut Random, tables: &Path, name: &str, printed: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for _ in 0..2 {
        wrong.extend(run(tables, READERS[random.below(READERS.len())], name).wrong());
    }
    let verified = run(tables, &["verify", "T"], name);
    wrong.extend(verified.wrong());
    if verified.code == Some(0) {
        let found = run(tables, &["verify", "--checksum", "T"], name);
        // A table without values has no checksum to compare.
        let solved = !verified.stdout.contains("no values");
        if solved && found.stdout != printed {
            wrong.push(format!("verified, but it says {}{}", found.stdout, found.stderr));
        }
    }
    if random.below(3) == 0 {
        wrong.extend(run(tables, WRITERS[random.below(WRITERS.len())], name).wrong());
    }
    wrong
}

#[test]
fn no_place_that_is_damaged_makes_a_command_panic() {
    let (made, _) = all_kinds();
    let every = match std::env::var_os("YOMIKIRI_DAMAGES") {
        Some(_) => [&READERS[..], &[&["verify", "T"]], &WRITERS].concat(),
        None => vec![READERS[0], READERS[5], READERS[6], READERS[7], &["verify", "T"], WRITERS[0]],
    };
    let mut wrong = Vec::new();
    for (name, what, damage) in HOLES {
        let tables = tempfile::tempdir().unwrap();
        let dir = tables.path().join(name);
        copy_dir(&made.place(name), &dir);
        damage(&dir);
        for words in &every {
            let ended = run(tables.path(), words, name);
            wrong.extend(ended.wrong().map(|found| format!("{name}: {what}: {found}")));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the numbers of the damages to try.
fn asked() -> Range<usize> {
    let Ok(text) = std::env::var("YOMIKIRI_DAMAGES") else { return 0..DAMAGES };
    let number = |text: &str| text.parse().unwrap_or_else(|e| panic!("YOMIKIRI_DAMAGES: {e}"));
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

/// Returns a table of each kind, and its checksum.
fn all_kinds() -> (Tables, Vec<String>) {
    let made = Tables::after(&MADE);
    let printed = NAMES.map(|name| made.ok(&["verify", "--checksum", name])).into();
    (made, printed)
}

#[test]
fn no_damage_makes_a_command_panic_hang_or_say_what_is_wrong_after_verify() {
    let ((made, printed), started) = (all_kinds(), Instant::now());
    let (mut wrong, asked) = (Vec::new(), asked());
    for number in asked.clone() {
        let mut random = Random(number as u64);
        let kind = number % NAMES.len();
        let tables = tempfile::tempdir().unwrap();
        let dir: PathBuf = tables.path().join(NAMES[kind]);
        copy_dir(&made.place(NAMES[kind]), &dir);
        let what = damage(&mut random, &dir);
        let found = try_out(&mut random, tables.path(), NAMES[kind], &printed[kind]);
        wrong.extend(found.iter().map(|f| format!("{number}: {}: {what}: {f}", NAMES[kind])));
    }
    println!("{} damages in {:.0} s", asked.len(), started.elapsed().as_secs_f64());
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Fields of a manifest that no proof checks: how the values were found, descriptions, and the arrays
/// before packing.
const REPORTED: [&str; 8] = [
    "/conventions",
    "/discounted",
    "/packed",
    "/solution/sweeps",
    "/solution/method",
    "/solution/order",
    "/solution/theta",
    "/solution/residual_unit",
];

/// Returns whether a table is proven.
fn is_proven(dir: &Path) -> Result<bool, Error> {
    let table = Table::open(dir)?;
    table.check()?;
    let game = Games::default().of_table(&table)?;
    Ok(solve::prove(&*game, &table, &Silent)?.counterexample.is_none())
}

/// Collects the paths of all values of a manifest that are neither lists nor maps.
fn leaves(value: &Value, way: &str, all: &mut Vec<String>) {
    match value {
        Value::Array(some) => {
            some.iter().enumerate().for_each(|(at, one)| leaves(one, &format!("{way}/{at}"), all));
        }
        Value::Object(some) => {
            some.iter().for_each(|(name, one)| leaves(one, &format!("{way}/{name}"), all));
        }
        _ => all.push(way.to_string()),
    }
}

#[test]
fn verify_proves_what_sums_do_not_tell() {
    let made = Tables::after(&MADE);
    made.ok(&["enumerate", "--root", "----XXX--XO----- O;", "--name", "later"]);
    for (name, what, change) in UNPROVEN {
        let tables = tempfile::tempdir().unwrap();
        let dir = tables.path().join(name);
        copy_dir(&made.place(name), &dir);
        assert!(is_proven(&dir).unwrap(), "{name}");
        change(&dir);
        assert!(!is_proven(&dir).unwrap_or(false), "{name}: {what} is proven");
    }
}

#[test]
fn verify_proves_every_number_of_a_manifest_and_every_byte_of_an_array() {
    let (made, _) = all_kinds();
    let mut unproven = Vec::new();
    for number in asked() {
        let (name, mut random) = (NAMES[number % NAMES.len()], Random(number as u64));
        let tables = tempfile::tempdir().unwrap();
        let dir = tables.path().join(name);
        copy_dir(&made.place(name), &dir);
        let what = if random.below(2) == 0 {
            let manifest: Value =
                serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
            let mut all = Vec::new();
            leaves(&manifest, "", &mut all);
            all.retain(|way| {
                !REPORTED.iter().any(|reported| way.starts_with(reported)) && way != "/checksum"
            });
            let way = &all[random.below(all.len())];
            let was = manifest.pointer(way).unwrap().clone();
            let now = std::iter::repeat_with(|| other_value(&mut random, &was));
            let now = now.into_iter().find(|now| *now != was).unwrap();
            edit_text(&dir, |manifest| *manifest.pointer_mut(way).unwrap() = now.clone());
            format!("{way}: {now} for {was}")
        } else {
            let table = Table::open(&dir).unwrap();
            let arrays: Vec<&String> = table.manifest().arrays.keys().collect();
            let (array, byte) = (arrays[random.below(arrays.len())], 1 + random.below(255) as u8);
            let mut what = String::new();
            forge(&dir, array, |payload| {
                let at = random.below(payload.len());
                what = format!("{array}: byte {at} {} xor {byte}", payload[at]);
                payload[at] ^= byte;
            });
            what
        };
        let proven = catch_unwind(|| is_proven(&dir));
        if matches!(proven, Ok(Ok(true))) {
            eprintln!("{number}: {name}: {what}");
            unproven.push(format!("{number}: {name}: {what}"));
        }
    }
    assert!(unproven.is_empty(), "{} are proven:\n{}", unproven.len(), unproven.join("\n"));
}
