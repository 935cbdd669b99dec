//! Fuzz targets: readers of text and files, each as a function of arbitrary bytes.
//!
//! A target fails by a panic, by not terminating, or by taking memory far beyond its input; refusing bytes is
//! correct. Accepted input must read back from the form in which it is written.
//!
//! If a reader needs several files, one input contains them all, each after a line `@@NAME`; the text before
//! the first names their game, or the table to lay them over.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Component, Path, PathBuf};
use std::str::from_utf8;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

use yomikiri::error::Error;
use yomikiri::games::othello::proof::check::{BoardRules, CheckLimits};
use yomikiri::games::othello::proof::{Header, check_file};
use yomikiri::oracle::{ArrayRows, Oracle, Orienting, SolvedTable, States};
use yomikiri::progress::Silent;
use yomikiri::registry::Games;
use yomikiri::rules::encode::Layout;
use yomikiri::rules::{AnyPosition, Group, Rules, SearchLimits, Side, Splits};
use yomikiri::solve;
use yomikiri::table::rows::pack;
use yomikiri::table::{HEADER_BYTES, Manifest, Store, Table, check_name, crc32};
use yomikiri_measure::export::targets::{Format, Images, Selection, Targets, write_targets};
use yomikiri_measure::export::write_states;
use yomikiri_measure::export::{checksum, read_checksums};
use yomikiri_measure::judge::KnownValues;
use yomikiri_measure::policy::{
    Batch, Card, Exec, MICRO, NetworkSpec, OutputRows, Outside, Policy, PolicySpec, Predictions,
    ReadingSpec, Source, Weights,
};
use yomikiri_measure::records::Records;

#[path = "outputs.rs"]
mod outputs;
#[path = "resumed.rs"]
mod resumed;

/// Reader of arbitrary bytes.
pub type Target = fn(&[u8]);

/// All targets by name; the names are those of their directories in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 24] = [
    ("arguments", arguments),
    ("batch", batch),
    ("card", card),
    ("checksums", checksums),
    ("board", board),
    ("draft", resumed::draft),
    ("engine", engine),
    ("exec", exec),
    ("export", export),
    ("labels", labels),
    ("manifest", manifest),
    ("name", name),
    ("network", network),
    ("notation", notation),
    ("onnx", onnx),
    ("outputs", outputs::outputs),
    ("policy", policy),
    ("predictions", predictions),
    ("proof", proof),
    ("records", records),
    ("solution", resumed::solution),
    ("squares", squares),
    ("store", store),
    ("table", table),
];

/// Name and content of a file in an input.
type Part<'a> = (&'a str, &'a [u8]);

/// Result of reading an input; only panics matter.
type Read = Result<(), Box<dyn StdError>>;

const ROOM: &str = "there is room for files";

/// Root directory of the repository.
static ROOT: LazyLock<&Path> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|dir| dir.join("tests/fixtures").is_dir());
    root.expect("this runs in the repository")
});

/// Scratch directory of this process.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("yomikiri-fuzz-{}", std::process::id()));
    fs::create_dir_all(&place).expect(ROOM);
    place
});

/// Returns a game by its name, including one without a notation of its own.
fn game(name: &str) -> Option<Arc<dyn Rules>> {
    thread_local! {
        static KNOWN: RefCell<BTreeMap<String, Arc<dyn Rules>>> = RefCell::default();
        static GAMES: Games = Games::with(yomikiri::games![crate::noughts::Noughts(
            Group::of_board(3, 3)
        )]);
    }
    KNOWN.with_borrow_mut(|known| {
        if !known.contains_key(name) {
            let game = GAMES.with(|games| games.named(name)).ok()?;
            known.insert(name.to_string(), game);
        }
        known.get(name).cloned()
    })
}

/// Splits off the first line, which must be text.
fn headed(data: &[u8]) -> Option<(&str, &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((from_utf8(&data[..end]).ok()?, &data[end + 1..]))
}

/// Splits an input of text into the game that its first line names, and the rest.
fn game_named_in(data: &[u8]) -> Option<(Arc<dyn Rules>, &str)> {
    let (name, text) = headed(data)?;
    Some((game(name)?, from_utf8(text).ok()?))
}

/// Splits an input into the text before all files, and the files.
fn files(data: &[u8]) -> Option<(&str, Vec<Part<'_>>)> {
    const MARK: &[u8] = b"\n@@";
    let mut begins: Vec<usize> =
        (0..data.len()).filter(|&at| data[at..].starts_with(MARK)).collect();
    let head = from_utf8(&data[..*begins.first()?]).ok()?;
    begins.push(data.len());
    let parts = begins.windows(2).map(|pair| &data[pair[0] + MARK.len()..pair[1]]);
    // No file lies outside the intended directory.
    let plain = |name: &str| {
        let byte = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        !name.starts_with('.') && !name.is_empty() && name.len() < 100 && name.bytes().all(byte)
    };
    Some((head, parts.filter_map(headed).filter(|(name, _)| plain(name)).collect()))
}

/// Runs a reader on a directory with some files written over existing ones, and restores the directory.
fn with_files(dir: &Path, files: &[(impl AsRef<str>, Vec<u8>)], read: impl FnOnce(&Path) -> Read) {
    fs::create_dir_all(dir).expect(ROOM);
    let mut before = BTreeMap::new();
    for (name, bytes) in files {
        let path = dir.join(name.as_ref());
        before.entry(path.clone()).or_insert_with(|| fs::read(&path).ok());
        fs::write(&path, bytes).expect(ROOM);
    }
    let ended = catch_unwind(AssertUnwindSafe(|| read(dir).is_ok()));
    for (path, bytes) in before {
        let _ = match bytes {
            Some(bytes) => fs::write(&path, bytes),
            None => fs::remove_file(&path),
        };
    }
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
}

fn owned<'a>(files: &[(&'a str, &[u8])]) -> Vec<(Cow<'a, str>, Vec<u8>)> {
    files.iter().map(|&(name, bytes)| (name.into(), bytes.to_vec())).collect()
}

/// Returns the start and the positions after it.
fn first_positions(game: &dyn Rules) -> Batch {
    let start = game.start();
    let mut batch = Batch::default();
    let after = game.actions(&start.state).into_iter().map(|action| game.advance(&start, action));
    for position in [start].into_iter().chain(after) {
        batch.push(position, game.actions(&position.state));
    }
    batch
}

/// Checks that a policy's answers for the first positions are valid or refused.
fn ask(policy: &dyn Policy, game: &dyn Rules) -> Read {
    let batch = first_positions(game);
    Ok(policy.answer(game, &batch)?.check(&batch)?)
}

/// Target: a game's name and a position or moves.
fn notation(data: &[u8]) {
    let Some((game, text)) = game_named_in(data) else { return };
    let Ok(line) = game.parse_line(text, &game.start()) else { return };
    let position = *line.last().expect("a line is never empty");
    for (name, text) in game.written(&position) {
        assert_eq!(game.parse_position(&text, &game.start()), Ok(position), "{name} '{text}'");
    }
    if game.shape() != (0, 0) && game.side_mark(Side::First).is_some() {
        let side = game.side_name(position.side);
        let text = format!("{}\n{side} to move", game.diagram(&position));
        assert_eq!(game.parse_position(&text, &game.start()), Ok(position), "{text}");
    }
    assert_eq!(game.state(game.key(&position.state)), Some(position.state));
    for action in game.actions(&position.state) {
        let name = game.action_name(position.side, action);
        let after = game.advance(&position, action);
        assert_eq!(game.parse_position(&name, &position), Ok(after), "{name}");
    }
}

/// Target: a game's name and a file of games in any form.
fn records(data: &[u8]) {
    let Some((name, bytes)) = headed(data) else { return };
    let Some(game) = game(name) else { return };
    let read = |bytes: &[u8]| Records::read(bytes, &*game, &game.start(), None, &Silent);
    let Ok(records) = read(bytes) else { return };
    records.contradictions(&*game);
    let last: Vec<AnyPosition> = records.positions(true).map(|(_, position)| position).collect();
    let text: Vec<String> = last.iter().map(|position| game.notation(position)).collect();
    let again = read(text.join("\n").as_bytes()).expect("notations are lines");
    assert!(again.positions(true).map(|(_, position)| position).eq(last), "{text:?}");
}

/// Target: the text form of a policy.
fn policy(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let Ok(spec) = text.parse::<PolicySpec>() else { return };
    let text = spec.to_string();
    assert_eq!(text.parse::<PolicySpec>(), Ok(spec.clone()), "{text}");
    for name in ["othello-4x4", "minishogi"] {
        let _ = spec.check(&*game(name).expect("it is a game"));
    }
}

/// Target: a file of square weights.
fn squares(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let read = |text: &str| Weights::from_text((4, 4), text, Path::new("w"));
    let Ok(weights) = read(text) else { return };
    let decimal = |&micro: &i64| {
        let (sign, all) = (if micro < 0 { "-" } else { "" }, micro.abs());
        format!("{sign}{}.{:06}", all / MICRO, all % MICRO)
    };
    let text: Vec<String> = weights.micro().iter().map(decimal).collect();
    assert_eq!(read(&text.join(" ")).ok(), Some(weights));
}

/// Target: lines of `tables/CHECKSUMS`.
fn checksums(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let Ok(found) = read_checksums(text) else { return };
    let lines: Vec<String> = found.iter().map(|(sum, name)| format!("{sum}  {name}")).collect();
    assert_eq!(read_checksums(&lines.join("\n")), Ok(found));
}

/// Target: the name of a table, which must not lead to another directory if it is valid.
fn name(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    if check_name(text).is_ok() {
        let parts: Vec<_> = Path::new(text).components().collect();
        assert_eq!(parts, [Component::Normal(text.as_ref())]);
    }
}

/// Target: a command line, a word a line.
fn arguments(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let words: Vec<&str> = ["solver"].into_iter().chain(text.lines()).collect();
    let _ = yomikiri_solver::understand(&words);
}

/// Target: a game's name and a line of a program's answer.
fn exec(data: &[u8]) {
    let Some((name, line)) = headed(data) else { return };
    let Some(game) = game(name) else { return };
    let reading = ReadingSpec::default();
    let policy = Outside::new(Line(line), name.to_string(), &reading, (true, None));
    let batch = first_positions(&*game);
    if let Ok(answers) = policy.answer(&*game, &batch) {
        answers.check(&batch).expect("what is taken makes sense");
    }
}

/// Target: a language and a game, and the lines that a board sends to the engine. Every command of GTP gets one answer.
fn board(data: &[u8]) {
    let Some((head, lines)) = headed(data) else { return };
    let Some((language, name)) = head.split_once(' ') else { return };
    let Some(game) = game(name) else { return };
    let lines = String::from_utf8_lossy(lines);
    let lines: Vec<&str> = lines.lines().filter(|line| is_quick(line)).collect();
    let answers = yomikiri_solver::answers_of(language, game, lines.join("\n").into_bytes());
    let answers = String::from_utf8(answers).expect("answers are text");
    if language == "gtp" && !answers.is_empty() {
        let is_answer = |line: &&str| line.starts_with(['=', '?']);
        let given = answers.split("\n\n").filter(is_answer).count();
        let is_command = |line: &&&str| {
            let line = line.split('#').next().unwrap_or_default();
            !line.chars().all(|c| c.is_control() || c.is_whitespace())
        };
        let is_quit = |line: &&str| {
            let line = line
                .split('#')
                .next()
                .unwrap_or_default()
                .replace(|c: char| c.is_control() && c != '\t', "");
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = words.first().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
            words[usize::from(number)..] == ["quit"]
        };
        let before = lines.iter().position(is_quit).map_or(lines.len(), |at| at + 1);
        assert_eq!(given, lines[..before].iter().filter(is_command).count(), "{answers}");
    }
}

/// Returns whether a line asks for no more than a moment's thought.
fn is_quick(line: &str) -> bool {
    let most = match line.to_ascii_lowercase() {
        line if line.contains("time") => 0.02,
        line if line.contains("perft") => 2.0,
        line if line.contains("mate") => return false,
        line if line.contains("go") => 9.0,
        _ => return true,
    };
    let mut numbers = line.split(|c: char| !c.is_ascii_digit() && c != '.' && c != 'e');
    !line.contains("go")
        || numbers.all(|number| {
            number.parse().is_ok_and(|number: f64| number <= most) || number.is_empty()
        })
}

/// Target: a language and a game, and whatever an engine prints before it ends.
fn engine(data: &[u8]) {
    let Some((head, printed)) = headed(data) else { return };
    let Some((language, name)) = head.split_once(' ') else { return };
    let Some(game) = game(name) else { return };
    let file = PLACE.join("printed");
    fs::write(&file, printed).expect(ROOM);
    let Ok(spec) = format!("{language}:cat {}", file.display()).parse::<PolicySpec>() else {
        return;
    };
    let spec = spec.within(Duration::from_millis(200));
    if !matches!(spec, PolicySpec::Engine(..)) {
        return;
    }
    let Ok(player) = yomikiri_measure::judge::build(&spec, &*game) else { return };
    let batch = first_positions(&*game);
    if let Some(Ok(answers)) = player.policy().map(|policy| policy.answer(&*game, &batch)) {
        answers.check(&batch).expect("what is taken makes sense");
    }
}

/// A program that always answers this line.
struct Line<'a>(&'a [u8]);

impl Source for Line<'_> {
    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        Exec::read_line(game, positions, self.0)
    }
}

/// Target: a game's name and a directory of predictions.
fn predictions(data: &[u8]) {
    let Some((name, files)) = files(data) else { return };
    let Some(game) = game(name) else { return };
    with_files(&PLACE.join("predictions"), &owned(&files), |dir| {
        let (name, reading) = ("predictions".to_string(), ReadingSpec::default());
        ask(&Predictions::read(&*game, name, dir, &reading)?, &*game)
    });
}

/// Target: a game's name, a network's card and its model, whose checksum replaces `CRC`.
fn network(data: &[u8]) {
    let Some((name, files)) = files(data) else { return };
    let Some(game) = game(name) else { return };
    let mut files = owned(&files);
    let model = files.iter().find(|(name, _)| *name == "net.onnx");
    let sum = format!("{:08x}", model.map_or(0, |(_, bytes)| crc32(bytes)));
    for (_, bytes) in files.iter_mut().filter(|(name, _)| *name == "net.json") {
        if let Ok(text) = from_utf8(bytes) {
            *bytes = text.replace("\"CRC\"", &format!("\"{sum}\"")).into_bytes();
        }
    }
    with_files(&PLACE.join("network"), &files, |dir| {
        let path = dir.join("net");
        let read = Card::read(&path)?;
        let text = serde_json::to_vec(&read)?;
        assert_eq!(serde_json::from_slice::<Card>(&text)?, read);
        let (name, spec) = ("net".to_string(), NetworkSpec { path, ..NetworkSpec::default() });
        if game.has_squares() {
            return ask(&*NetworkSpec { kept: true, ..spec }.load(name, &*game)?, &*game);
        }
        let one = Some(1);
        let reading = ReadingSpec { depth: one, ..ReadingSpec::default() };
        let spec = NetworkSpec { reading, width: one, mate: one, ..spec };
        let load = yomikiri_learn::minishogi::player::load;
        ask(&load(name, &spec, &read, &*game)?, &*game)
    });
}

/// Target: options for reading a model, and the model.
fn onnx(data: &[u8]) {
    let Some((options, model)) = headed(data) else { return };
    let game = game("othello-4x4").expect("it is a game");
    with_files(&PLACE.join("onnx"), &[("model.onnx", model.to_vec())], |dir| {
        let path = dir.join("model.onnx");
        let spec = NetworkSpec::onnx(&format!("{}?{options}", path.display()))?;
        let policy: Box<dyn Policy> = spec.load("onnx".to_string(), &*game)?;
        ask(&*policy, &*game)
    });
}

/// Target: the name of a fixture table, and a manifest for it.
fn manifest(data: &[u8]) {
    let Some((base, text)) = headed(data) else { return };
    read_table(base, &[("manifest.json", text)]);
}

/// Target: the name of a table and files to lay over it; `NAME.block` becomes a packed array of one block.
fn table(data: &[u8]) {
    let Some((base, files)) = files(data) else { return };
    read_table(base, &files);
}

/// Number of rows of a table that are read.
const ROWS: usize = 1 << 10;

fn read_table(base: &str, files: &[Part<'_>]) {
    let Some(dir) = table_to_change(base) else { return };
    with_files(&dir, &completed(&dir, files), |dir| {
        let table = Table::open(dir)?;
        let text = table.manifest().to_text();
        assert_eq!(Manifest::from_text(&text, dir)?.to_text(), text);
        let game = Games::default().of_table(&table)?;
        let is_small = States::open(game.clone(), Table::open(dir)?, false)?.rows() <= ROWS;
        if let Some(solved) = SolvedTable::open(game.clone(), Table::open(dir)?, false)? {
            read_rows(&solved)?;
            if is_small {
                checksum(&solved, &Silent)?;
            }
        }
        if is_small {
            solve::prove(&*game, &table, &Silent)?;
        }
        Ok(())
    });
}

fn read_rows(solved: &SolvedTable) -> Read {
    let (states, game) = (solved.states(), solved.game());
    for root in states.roots()? {
        if let Some(row) = states.find(&root) {
            solved.value(row);
        }
        solved.look_ahead(&root);
    }
    states.visit(0..states.rows().min(ROWS), |row, position| {
        solved.value(row);
        states.orientations(row);
        states.layer_of(row);
        states.is_frontier(row);
        states.find(&position);
        game.notation(&position);
        Ok(())
    })?;
    Ok(())
}

/// Returns a copy of a fixture, or the result of `pack` on it, to be changed; each is made once.
fn table_to_change(name: &str) -> Option<PathBuf> {
    const FIXTURES: [&str; 4] = [
        "animal-shogi-3x3",
        "minishogi-root-b1d77ad8-depth2",
        "othello-4x4-root-50fa6e21",
        "othello-6x6-depth4",
    ];
    let place = PLACE.join(name);
    let fixture = FIXTURES.into_iter().find(|&known| known == name.trim_end_matches(".packed"))?;
    let from = ROOT.join("tests/fixtures/v6").join(fixture);
    if place.exists() {
        return Some(place);
    }
    if name != fixture {
        let table = Table::open(&from).ok()?;
        return pack(&*Games::default().of_table(&table).ok()?, &table, &place, true, &Silent).ok();
    }
    fs::create_dir_all(&place).expect(ROOM);
    for entry in fs::read_dir(from).expect("a fixture is there").flatten() {
        fs::copy(entry.path(), place.join(entry.file_name())).expect(ROOM);
    }
    Some(place)
}

/// Completes files of a table: packs blocks into arrays, and fills in the manifest's checksum if it is zeros.
fn completed<'a>(dir: &Path, files: &[(&'a str, &[u8])]) -> Vec<(Cow<'a, str>, Vec<u8>)> {
    const MANIFEST: &str = "manifest.json";
    let mut all = owned(files);
    let given = files.iter().find(|(name, _)| *name == MANIFEST).map(|(_, text)| text.to_vec());
    let text = given.or_else(|| fs::read(dir.join(MANIFEST)).ok()).map(String::from_utf8);
    let Some(Ok(text)) = text else { return all };
    let sum = format!("\"checksum\": \"{:08x}\"", crc32(text.as_bytes()));
    let mut text = text.replace("\"checksum\": \"00000000\"", &sum);
    if let Ok(mut manifest) = Manifest::from_text(&text, dir) {
        for (name, block) in files {
            let Some(name) = name.strip_suffix(".block") else { continue };
            let Some(entry) = manifest.arrays.get_mut(name) else { continue };
            let array = packed_array(block);
            entry.shape = vec![(array.len() - HEADER_BYTES) as u64];
            all.push((format!("{name}.npy").into(), array));
            text = manifest.to_text();
        }
    }
    all.push((MANIFEST.into(), text.into_bytes()));
    all
}

/// Returns a packed array of one block.
fn packed_array(block: &[u8]) -> Vec<u8> {
    let mut payload = zstd::bulk::compress(block, 1).expect("there is room");
    let ends = [0, payload.len() as u64];
    payload.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    let about = format!("'descr': '|u1', 'fortran_order': False, 'shape': ({},), ", payload.len());
    let mut array = b"\x93NUMPY\x01\0\x76\0".to_vec();
    array.extend(format!("{{{about}}}{:1$}\n", "", 115 - about.len()).bytes());
    assert_eq!(array.len(), HEADER_BYTES);
    array.extend(payload);
    array
}

/// Target: files in a store, some in the directory of its one table: the record of the latest table, and the
/// manifest that a removal follows.
fn store(data: &[u8]) {
    let Some((_, files)) = files(data) else { return };
    let place = PLACE.join("store");
    let (outer, inner): (Vec<_>, Vec<_>) = owned(&files).into_iter().partition(|f| f.0 == "LATEST");
    let _ = fs::remove_dir_all(&place);
    with_files(&place, &outer, |root| {
        with_files(&root.join("t"), &inner, |_| {
            let store = Store::at(root);
            let latest = store.latest().map(|latest| store.open(&latest).map(drop));
            store.entries()?;
            store.removal("t")?.remove()?;
            assert!(store.open("t").is_err());
            latest??;
            Ok(())
        });
        Ok(())
    });
}

/// Target: files laid over an export of targets and its data card, which is then written again.
fn card(data: &[u8]) {
    let Some((_, files)) = files(data) else { return };
    let place = PLACE.join("card");
    let write = || {
        let table = Table::open(&ROOT.join("tests/fixtures/v6/othello-4x4-root-50fa6e21"))?;
        let game = Games::default().of_table(&table)?;
        let Some(solved) = SolvedTable::open(game, table, false)? else { return Ok(()) };
        let targets = Targets {
            format: Format::Jsonl,
            layout: Layout::Nchw,
            selection: Selection {
                splits: Splits::default(),
                split: None,
                terminals: false,
                unproven: false,
                decisive: None,
                per_layer: None,
                sample: None,
            },
            images: Images::Canonical,
            temperature: None,
            columns: None,
            shard_rows: None,
        };
        write_targets(&solved, &targets, &place.join("a.jsonl"), &Silent)?;
        Ok(())
    };
    if !place.exists() {
        fs::create_dir_all(&place).expect(ROOM);
        drop::<Read>(write());
    }
    with_files(&place, &owned(&files), |_| write());
}

/// Target: many positions at once, as an array or as lines.
fn batch(data: &[u8]) {
    thread_local! {
        static SOLVED: SolvedTable = {
            let dir = ROOT.join("tests/fixtures/v6/othello-4x4-root-50fa6e21");
            let table = Table::open(&dir).expect("it is a table");
            let game = Games::default().of_table(&table).expect("it is of a game");
            SolvedTable::open(game, table, false).expect("it is whole").expect("it is solved")
        };
    }
    SOLVED.with(|table| match std::str::from_utf8(data) {
        Ok(text) => text.lines().for_each(|line| {
            let Some(answer) = table.answer_line(line) else { return };
            let json: serde_json::Value = serde_json::from_str(&answer).expect("it is JSON");
            assert!(json["error"].is_string() != json["kind"].is_string(), "{answer}");
        }),
        Err(_) => {
            let rows = [None, Some(ArrayRows::Keys), Some(ArrayRows::Squares)];
            let answers = rows.into_iter().filter_map(|rows| table.answer_array(data, rows).ok());
            answers.for_each(|answer| assert_eq!((answer.len() - 128) % 20, 0));
        }
    });
}

/// Target: files laid over an export of states, which is then written again.
fn export(data: &[u8]) {
    let Some((_, files)) = files(data) else { return };
    let fixture = ROOT.join("tests/fixtures/v6/othello-4x4-root-50fa6e21");
    let place = PLACE.join("export");
    let write = || {
        let table = Table::open(&fixture)?;
        let states = States::open(Games::default().of_table(&table)?, table, false)?;
        write_states(&states, Orienting::All, &place, &Silent)?;
        Ok(())
    };
    if !place.exists() {
        drop::<Read>(write());
    }
    with_files(&place, &owned(&files), |_| write());
}

/// Target: labels of 4×4 found by search, as given and with the checksums of their records corrected.
fn labels(data: &[u8]) {
    let game = game("othello-4x4").expect("it is a game");
    let mut mended = data.to_vec();
    let mut at = 64;
    while let Some(&[low, high]) = mended.get(at + 16..at + 18) {
        let end = at + 18 + 8 * usize::from(u16::from_le_bytes([low, high]));
        let Some(record) = mended.get(at..end) else { break };
        let sum = crc32(record).to_le_bytes();
        let Some(kept) = mended.get_mut(end..end + 4) else { break };
        kept.copy_from_slice(&sum);
        at = end + 4;
    }
    let name = "othello-4x4-uncounted.labels";
    for bytes in [data.to_vec(), mended] {
        let whole = bytes.clone();
        with_files(&PLACE.join("labels"), &[(name, bytes)], |dir| {
            let positions = first_positions(&*game);
            let mut values = KnownValues::new(&*game, None, 0);
            values.search(
                positions.positions(),
                dir,
                &SearchLimits::within(Some(Duration::ZERO)),
                &Silent,
            )?;
            let kept = fs::read(dir.join(name))?;
            assert!(whole.len() < 64 || whole.starts_with(&kept));
            for position in positions.positions() {
                let known = values.of(position, true)?;
                let mut moves = known.iter().flat_map(|known| &known.moves);
                assert!(moves.all(|(_, value)| (-16..=16).contains(&value.lower.score().0)));
            }
            Ok(())
        });
    }
}

/// Target: a proof of an Othello score, as given, and with content compressed and length and checksum filled
/// in.
fn proof(data: &[u8]) {
    read_proof(data);
    if let Some((head, content)) = data.split_at_checked(48) {
        let mut bytes = head[..40].to_vec();
        bytes.extend(crc32(&[&head[..40], content].concat()).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(miniz_oxide::deflate::compress_to_vec_zlib(content, 1));
        read_proof(&bytes);
    }
}

fn read_proof(bytes: &[u8]) {
    // Lower limits than those of `solver check`, for the time that an input takes.
    let limits =
        CheckLimits { positions: 20_000, search: 1_000_000, ..CheckLimits::of_file(bytes.len()) };
    let Ok(report) = check_file(bytes, &limits, &mut |_| ()) else { return };
    let Header { rows, columns, empties, root, score, .. } = report.header;
    let rules = BoardRules::new(rows, columns, empties);
    if rules.empties(root) <= 10 {
        assert_eq!(rules.search(root, -64, 64), score);
    }
}
