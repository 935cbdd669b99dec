//! Exports of targets agree with plain rules, with other programs' own observations, and with `solver query`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;

use crate::common::needs::{python_has, python_runs};
use crate::common::solved::opened;
use crate::common::tables::{Tables, solved_4x4};
use yomikiri::output::temporary;
use yomikiri::progress::Progress;
use yomikiri::rules::Splits;
use yomikiri::rules::encode::Layout;
use yomikiri_measure::export::targets::{Format, Images, Selection, Targets, write_targets};

fn python(script: &str, args: &[&str]) -> Result<String, String> {
    let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/export")
        .join(script);
    let output = Command::new("python3").arg(script).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn path(tables: &Tables, name: &str) -> String {
    tables.place(name).to_str().unwrap().to_string()
}

/// Exports with every column and some options. Returns the data card.
fn export(tables: &Tables, out: &str, options: &[&str]) -> Value {
    tables.json(&[&["export", "--out", out, "-q", "--columns", "all"], options].concat())["card"]
        .clone()
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_format_holds_what_plain_rules_give() {
    if !python_runs("tests/export/check.py") {
        return;
    }
    let tables = Tables::new();
    solved_4x4(&tables);
    let mut files = vec!["a", "a.npz", "a.jsonl", "a.csv", "a.obf"];
    if cfg!(feature = "parquet") && python_has("pyarrow") {
        files.push("a.parquet");
    }
    let files: Vec<String> = files.into_iter().map(|name| path(&tables, name)).collect();
    for file in &files {
        match file.ends_with(".obf") {
            true => drop(tables.ok(&["export", "--out", file, "-q"])),
            false => drop(export(&tables, file, &[])),
        }
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(python("check.py", &files).unwrap(), "11494 rows, 56621 positions\n");

    // One wrong number is found.
    let score = tables.place("a/score.npy");
    let mut bytes = fs::read(&score).unwrap();
    *bytes.last_mut().unwrap() ^= 2;
    fs::write(&score, bytes).unwrap();
    assert!(python("check.py", &files[..1]).unwrap_err().contains("score.npy"));
}

#[test]
fn options_give_what_plain_rules_give() {
    if !python_runs("tests/export/check.py") {
        return;
    }
    let fractions = "0.6,0.2,0.2";
    // Samples of the two large ones: Python takes a minute for all their rows.
    let cases: [(&[&str], &str); 7] = [
        (&["--states-of", "all", "--layout", "signed", "--sample", "1000"], "rows"),
        (&["--expand-symmetry", "--layout", "pgx", "--sample", "1000"], "rows"),
        (&["--split", "test", "--split-seed", "9", "--split-fractions", fractions], "rows"),
        (&["--decisive-only", "--layout", "openspiel"], "1844 rows"),
        (&["--decisive-only", "--decisive-by", "score", "--temperature", "2.5"], "4205 rows"),
        (&["--terminals", "--shard-rows", "5000"], "12351 rows, 62789 positions"),
        (&["--per-layer", "20", "--sample", "100"], "100 rows"),
    ];
    let tables = Tables::new();
    solved_4x4(&tables);
    let places = (0..cases.len()).map(|at| path(&tables, &format!("case{at}")));
    let places: Vec<String> = places.collect();
    for ((options, _), out) in cases.iter().zip(&places) {
        let card = export(&tables, out, options);
        assert!(card["rows"].as_u64().unwrap() > 0, "{options:?}");
    }
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let found = python("check.py", &places.join(" -- ").split(' ').collect::<Vec<_>>()).unwrap();
    assert_eq!(found.lines().count(), cases.len());
    for ((options, printed), found) in cases.iter().zip(found.lines()) {
        assert!(found.contains(printed), "{options:?}: {found}");
    }
    let by_layer = |card: &Value| card["counts"]["by_layer"].as_object().unwrap().clone();
    let card = export(&tables, &path(&tables, "layers"), &["--per-layer", "20"]);
    for (layer, group) in by_layer(&card) {
        let all = [1, 1, 3, 11];
        let expected = all.get(layer.parse::<usize>().unwrap() - 4).copied().unwrap_or(20);
        assert_eq!(group["rows"], expected, "layer {layer}");
    }
    // A larger sample contains the smaller one.
    let rows = |n: &str| {
        let out = path(&tables, &format!("s{n}.jsonl"));
        export(&tables, &out, &["--sample", n]);
        lines(&out).iter().map(|line| line["row"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let (few, more) = (rows("100"), rows("300"));
    assert_eq!((few.len(), more.len()), (100, 300));
    assert!(few.iter().all(|row| more.contains(row)));
}

/// Rows that are read while a sample is chosen.
#[derive(Default)]
struct Chosen(AtomicU64, AtomicBool);

impl Progress for Chosen {
    fn begin(&self, what: &str, _total: Option<u64>) {
        self.1.store(what == "choosing a sample", Ordering::Relaxed);
    }
    fn finish(&self, _summary: &str) {}
    fn advance(&self, rows: u64) {
        if self.1.load(Ordering::Relaxed) {
            self.0.fetch_add(rows, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_sample_reads_few_rows_and_at_most_all() {
    let tables = Tables::new();
    let table = opened(&solved_4x4(&tables));
    let selection = Selection {
        splits: Splits::default(),
        split: None,
        terminals: false,
        unproven: false,
        decisive: Some(false),
        per_layer: None,
        sample: Some(100),
    };
    let targets = Targets {
        format: Format::Jsonl,
        layout: Layout::Nchw,
        selection,
        images: Images::Canonical,
        temperature: None,
        columns: None,
        shard_rows: None,
    };
    let chosen = Chosen::default();
    let card = write_targets(&table, &targets, &tables.place("few.jsonl"), &chosen).unwrap();
    // One row in seven is decisive.
    let read = chosen.0.load(Ordering::Relaxed);
    assert!(card.rows == 100 && (600..1300).contains(&read), "{} of {read} rows", card.rows);

    // As many as there are: all, in their order.
    let whole = path(&tables, "whole.jsonl");
    export(&tables, &whole, &["--decisive-only"]);
    for (at, options) in [["--sample", "1844"], ["--per-layer", "5000"]].iter().enumerate() {
        let out = path(&tables, &format!("all{at}.jsonl"));
        export(&tables, &out, &[&["--decisive-only"], &options[..]].concat());
        assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap(), "{options:?}");
    }
}

#[test]
fn a_small_sample_of_a_damaged_table_is_refused() {
    let tables = Tables::new();
    let score = solved_4x4(&tables).path_of("score");
    let mut bytes = fs::read(&score).unwrap();
    bytes[128..].iter_mut().for_each(|score| *score ^= 2);
    fs::write(&score, bytes).unwrap();
    for (count, said) in [("5", "contradicts those of its moves"), ("5000", "checksum")] {
        let ran = tables.run(&["export", "--sample", count, "--out", &path(&tables, "a.csv")]);
        assert!(ran.code == 3 && ran.stderr.contains(said), "{}: {}", ran.code, ran.stderr);
        assert!(!tables.place("a.csv").exists());
    }
}

#[test]
fn bounded_and_unfolded_tables_are_exported_too() {
    if !python_runs("tests/export/check.py") {
        return;
    }
    let tables = Tables::new();
    // Deep enough for finished games, and so for proven values beside unproven ones.
    tables.ok(&["enumerate", "-q", "--size", "4", "--max-depth", "11"]);
    tables.ok(&["value-iterate", "-q"]);
    let (all, proven) = (path(&tables, "all"), path(&tables, "proven"));
    let whole = export(&tables, &all, &["--unproven", "--terminals"]);
    let part = export(&tables, &proven, &["--terminals"]);
    let unproven: u64 = whole["counts"]["by_split"]
        .as_object()
        .unwrap()
        .values()
        .map(|group| group["unproven"].as_u64().unwrap())
        .sum();
    let rows = |card: &Value| card["rows"].as_u64().unwrap();
    assert!(unproven > 0 && rows(&part) > 0 && rows(&whole) == rows(&part) + unproven);

    let unfolded = Tables::new();
    unfolded.ok(&["enumerate", "-q", "--size", "4", "--symmetry", "none"]);
    unfolded.ok(&["value-iterate", "-q"]);
    let out = path(&unfolded, "unfolded");
    export(&unfolded, &out, &[]);
    let printed = python("check.py", &[&all, "--", &proven, "--", &out]).unwrap();
    assert!(printed.lines().nth(2).unwrap().contains(" 56621 positions"), "{printed}");
    let refused = unfolded.run(&["export", "--out", &out, "--expand-symmetry"]);
    assert!(refused.code == 2 && refused.stderr.contains("folded"), "{}", refused.stderr);
}

/// Returns the actions of a fixed game of 8×8 Othello down to ten empty squares.
fn late_game() -> Vec<u16> {
    use yomikiri::games::othello::Othello;
    use yomikiri::rules::Game;
    let game = Othello::new(8, 8, true);
    let (mut position, mut moves) = (game.start(), Vec::new());
    while position.state.discs() < 54 {
        let legal = game.actions(&position.state);
        assert!(!legal.is_empty(), "the game ends too early");
        let action = legal[(moves.len() * moves.len()) % legal.len()];
        moves.push(action.0);
        position = game.advance(&position, action);
    }
    moves
}

fn root_of(moves: &[u16]) -> String {
    use yomikiri::games::othello::Othello;
    use yomikiri::rules::{Action, Game};
    let game = Othello::new(8, 8, true);
    let play = |position, &action: &u16| game.advance(&position, Action(action));
    game.notation(&moves.iter().fold(game.start(), play))
}

#[test]
fn other_programs_see_the_positions_that_are_exported_in_their_layout() {
    let packages = [("pgx", "pgx"), ("openspiel", "pyspiel")];
    let there: Vec<_> = packages.into_iter().filter(|(_, module)| python_has(module)).collect();
    if there.is_empty() {
        return;
    }
    let moves = late_game();
    let root = root_of(&moves);
    let depths = [(Vec::new(), "6"), (moves, "6")];
    for (opening, depth) in depths {
        let tables = Tables::new();
        let mut args = vec!["enumerate", "-q", "--size", "8", "--max-depth", depth];
        if !opening.is_empty() {
            args.extend(["--root", &root]);
        }
        tables.ok(&args);
        tables.ok(&["value-iterate", "-q"]);
        for (layout, _) in &there {
            let out = path(&tables, layout);
            export(&tables, &out, &["--layout", layout, "--states-of", "all", "--unproven"]);
            fs::write(Path::new(&out).join("depth"), depth).unwrap();
            let opening: Vec<String> = opening.iter().map(u16::to_string).collect();
            let args: Vec<&str> =
                [*layout, &out].into_iter().chain(opening.iter().map(String::as_str)).collect();
            let printed = python("packages.py", &args).unwrap();
            let count: u32 = printed.split(' ').next().unwrap().parse().unwrap();
            assert!(count > 1000, "{layout}: {printed}");
        }
    }
}

#[test]
fn shogi_targets_are_what_queries_say() {
    for (game, bound) in [("minishogi", Some("3")), ("animal-shogi-3x3", None)] {
        let tables = Tables::new();
        let mut args = vec!["enumerate", "-q", "--game", game];
        args.extend(bound.into_iter().flat_map(|depth| ["--max-depth", depth]));
        let table = tables.json(&args)["table"].as_str().unwrap().to_string();
        tables.ok(&["value-iterate", "-q"]);
        let out = path(&tables, "t.jsonl");
        let mut options = vec!["--sample", "25", "--columns", "all"];
        options.extend(bound.map(|_| "--unproven"));
        export(&tables, &out, &options[..2]);
        let card = tables.json(&[&["export", "--out", &out, "-q"][..], &options].concat());
        assert_eq!(card["card"]["rows"], 25, "{game}");
        for line in lines(&out) {
            let printed = tables.json(&["query", &table, line["board"].as_str().unwrap()]);
            agree(&line, &printed);
        }
        if bound.is_none() {
            let boards: Vec<String> =
                lines(&out).iter().map(|l| l["board"].as_str().unwrap().to_string()).collect();
            let own = path(&tables, "own.txt");
            fs::write(&own, boards.join("\n")).unwrap();
            let text = tables.ok(&[
                "export",
                "--positions",
                &own,
                "--columns",
                "board,outcome,distance,legal,q_outcome",
            ]);
            let labelled: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(labelled.len(), 25);
            for (own, line) in labelled.iter().zip(lines(&out)) {
                for name in ["board", "outcome", "distance", "legal", "q_outcome"] {
                    assert_eq!(own[name], line[name], "{name}: {line}");
                }
            }
        }
    }
}

/// Checks that an exported line of a game without scores agrees with a query for its board.
fn agree(line: &Value, printed: &Value) {
    assert_eq!(line["outcome"], printed["outcome"], "{line}");
    assert_eq!(line["distance"], printed["distance"], "{line}");
    let mut moves = BTreeMap::new();
    for one in printed["moves"].as_array().unwrap() {
        moves.insert(one["action"].as_u64().unwrap() as usize, one);
    }
    let column = |name: &str| line[name].as_array().unwrap().clone();
    let (legal, q, optimal) = (column("legal"), column("q_outcome"), column("optimal"));
    // Queries list the best move first, followed by equally good ones.
    let value = |one: &Value| (one["outcome"].clone(), one["distance"].clone());
    let best = printed["moves"].as_array().unwrap().first().map(value);
    let proven = line["proven"] == 1;
    for action in 0..legal.len() {
        let one = moves.get(&action);
        assert_eq!(legal[action], u8::from(one.is_some()), "action {action}: {line}");
        assert_eq!(q[action], one.map_or(Value::Null, |one| one["outcome"].clone()), "{line}");
        let is_best = proven && one.is_some_and(|one| best == Some(value(one)));
        assert_eq!(optimal[action], u8::from(is_best), "action {action}: {line}\n{printed}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let mut names = vec!["a.npz", "a.jsonl", "a.csv"];
    names.extend(cfg!(feature = "parquet").then_some("a.parquet"));
    for name in names {
        let bytes = |threads: &str| {
            let out = path(&tables, name);
            export(&tables, &out, &["--threads", threads, "--sample", "3000", "--expand-symmetry"]);
            let beside = |suffix: &str| fs::read(format!("{out}{suffix}")).unwrap();
            [beside(""), beside(".json"), beside(".md")]
        };
        assert!(bytes("1") == bytes("2"), "{name}");
    }
}

#[test]
fn what_was_not_exported_is_not_replaced() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let out = path(&tables, "mine.jsonl");
    fs::write(&out, "mine").unwrap();
    let refused = tables.run(&["export", "--out", &out]);
    assert!(refused.code == 2 && refused.stderr.contains("was not exported"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    fs::remove_file(&out).unwrap();

    tables.ok(&["export", "--out", &out, "--sample", "5"]);
    tables.ok(&["export", "--out", &out, "--sample", "6"]);
    assert_eq!(lines(&out).len(), 6);
    fs::write(&out, "changed").unwrap();
    let refused = tables.run(&["export", "--out", &out]);
    assert!(
        refused.code == 2 && refused.stderr.contains("has changed since"),
        "{}",
        refused.stderr
    );

    let dir = tables.place("othello-4x4-targets");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    let refused = tables.run(&["export"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(fs::read_to_string(dir.join("notes.txt")).unwrap(), "mine");
    fs::remove_dir_all(&dir).unwrap();
    // A killed process leaves this, and the next one removes it.
    let partial = temporary(&dir).unwrap();
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("score.npy"), "half").unwrap();
    tables.ok(&["export"]);
    assert!(!partial.exists() && dir.join("targets.json").exists());
    tables.ok(&["export", "--sample", "9"]);
}

#[test]
fn bad_requests_are_refused_in_one_line() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let cases: [(&[&str], &str); 8] = [
        (&["--out", "x.txt"], "extension"),
        (&["--columns", "planes,colour"], "`colour`"),
        (&["--split-fractions", "0.5,0.2"], "three numbers"),
        (&["--split-fractions", "0.5,0.2,0.2"], "their sum"),
        (&["--temperature", "0"], "--temperature 0"),
        (&["--sample", "0"], "--sample 0"),
        (&["--out", "x.npz", "--shard-rows", "5"], "--shard-rows"),
        (&["--expand-symmetry", "--states-of", "all"], "--expand-symmetry"),
    ];
    for (args, printed) in cases {
        let ran = tables.run(&[&["export"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(printed) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    let ran = tables.run(&["export", "--states", "--sample", "5"]);
    assert!(ran.code == 2 && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--size", "4"]);
    let ran = tables.run(&["export"]);
    assert!(ran.code == 2 && ran.stderr.contains("not solved"), "{}", ran.stderr);
}

#[test]
fn own_positions_are_labelled() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let file = path(&tables, "own.txt");
    // A transcript of three positions, a board with the second one reflected, and a comment.
    fs::write(&file, "d3 d2 % remark\n# nothing\n\n-----OX--XX---X- O;\n").unwrap();
    let text = tables.ok(&["export", "--positions", &file]);
    let labelled: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(labelled.len(), 4);
    for line in &labelled {
        let printed = tables.json(&["query", "othello-4x4", line["board"].as_str().unwrap()]);
        assert_eq!(line["score"], printed["score"], "{line}");
        assert_eq!(line["distance"], printed["distance"], "{line}");
        for one in printed["moves"].as_array().unwrap() {
            let q = &line["q_score"][one["action"].as_u64().unwrap() as usize];
            assert_eq!(*q, one["score"], "{line}");
        }
    }
    assert_eq!(tables.ok(&["export", "--positions", &file, "--last"]).lines().count(), 2);
    let out = path(&tables, "own.obf");
    tables.ok(&["export", "--positions", &file, "--last", "--out", &out, "-q"]);
    let obf = fs::read_to_string(&out).unwrap();
    assert_eq!(obf.lines().count(), 2);
    // The output can be read again.
    assert_eq!(tables.ok(&["export", "--positions", &out]).lines().count(), 2);
    if cfg!(feature = "parquet") && python_has("pyarrow") {
        let out = path(&tables, "own.parquet");
        tables.ok(&[
            "export",
            "--positions",
            &file,
            "--out",
            &out,
            "-q",
            "--columns",
            "board,score,q_score",
        ]);
        let script = "import sys, pyarrow.parquet as p\nfor row in p.read_table(sys.argv[1]).to_pylist(): \
                      print(row['board'], row['score'], *(-128 if q is None else q for q in row['q_score']))";
        let read = Command::new("python3").args(["-c", script, &out]).output().unwrap();
        let number = |value: &Value| value.as_i64().unwrap_or(-128).to_string();
        let expected = labelled.iter().map(|line| {
            let q = line["q_score"].as_array().unwrap().iter().map(number).collect::<Vec<_>>();
            let board = line["board"].as_str().unwrap();
            format!("{board} {} {}\n", line["score"], q.join(" "))
        });
        assert_eq!(String::from_utf8(read.stdout).unwrap(), expected.collect::<String>());
    }
    assert_eq!(tables.run(&["export", "--positions", &file, "--out", &out]).code, 2);
    assert_eq!(fs::read_to_string(&out).unwrap(), obf);

    fs::write(&file, "d3\nnonsense\nXXXXXXXXXXXXXXXX X;\n").unwrap();
    let csv = path(&tables, "own.csv");
    let ran = tables.run(&["export", "--positions", &file, "--out", &csv]);
    assert!(ran.code == 2 && ran.stderr.contains("line 2"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty() && !Path::new(&csv).exists());
    let ran = tables.run(&["export", "--positions", &file, "--out", &csv, "--skip-bad"]);
    assert!(ran.code == 0 && ran.stderr.contains("2 left out"), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 3"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 3);
}
