//! Tables as read by other programs: `numpy/rederive.py` opens them and derives every value.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::needs::python_runs;
use crate::common::solved::{board_4x4, make, named, solve, solved, standard};
use crate::common::tables::{Tables, forge, solved_4x4};
use yomikiri::enumerate::Plan;
use yomikiri::progress::Silent;
use yomikiri::rules::Empties;
use yomikiri::solve::SolveOptions;

fn rederive(table: &Path) -> Result<String, String> {
    run("rederive.py", table)
}

/// Runs a script on a table. Returns its output, or its error.
fn run(script: &str, table: &Path) -> Result<String, String> {
    let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/numpy")
        .join(script);
    let output = Command::new("python3").arg(script).arg(table).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn bounded(name: &str, max_depth: u32) -> String {
    let game = named(name);
    let plan = Plan { max_depth: Some(max_depth), ..standard(&*game) };
    let (_dir, table) = solved(&*game, &plan);
    rederive(table.dir()).unwrap()
}

#[test]
fn numpy_derives_every_value_of_a_whole_game() {
    if !python_runs("tests/numpy/rederive.py") {
        return;
    }
    let tables = Tables::new();
    let printed = rederive(solved_4x4(&tables).dir()).unwrap();
    assert_eq!(printed, "keys (12351,): 12351 rows, 62789 positions, all derived again\n");

    let tables = Tables::new();
    let game = board_4x4(true);
    let mut table = make(&*game, &tables.store());
    let options = SolveOptions { empties: Some(Empties::ToWinner), ..SolveOptions::default() };
    solve(&*game, &mut table, &options, &Silent).unwrap();
    rederive(table.dir()).unwrap();
}

#[test]
fn numpy_derives_the_bounds_of_bounded_tables() {
    if !python_runs("tests/numpy/rederive.py") {
        return;
    }
    let printed = bounded("othello-6x6", 6);
    let rows = printed.split(['(', ',']).nth(1).unwrap();
    assert!(printed.starts_with(&format!("keys ({rows}, 2): {rows} rows, ")), "{printed}");
    // Deep enough for finished games, and so for proven scores.
    bounded("othello-4x4", 11);
}

#[test]
fn numpy_derives_every_value_of_games_with_cycles() {
    if !python_runs("tests/numpy/rederive_cyclic.py") {
        return;
    }
    let mate = "4k/2gb1/P1+B1p/1R3/KG1S1 b RS 1";
    let cases: [(&[&str], &[&str]); 5] = [
        (&["minishogi", "--max-depth", "4"], &["second-player-wins", "draw", "unknown"]),
        (&["minishogi", "--root", mate, "--max-depth", "3"], &["second-player-wins", "unknown"]),
        (&["animal-shogi", "--max-depth", "7"], &["draw", "unknown"]),
        (&["animal-shogi-3x3", "--index", "keys"], &["draw", "unknown"]),
        (&["animal-shogi-3x3"], &["draw"]),
    ];
    for (args, conventions) in cases {
        let tables = Tables::new();
        let made = tables.json(&[&["enumerate", "-q", "--game"], args].concat());
        let table = tables.place(made["table"].as_str().unwrap());
        for repetition in conventions {
            tables.ok(&["value-iterate", "-q", "--repetition", repetition]);
            let printed = run("rederive_cyclic.py", &table);
            assert!(printed.is_ok(), "{args:?}, {repetition}: {printed:?}");
        }
    }
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--game", "minishogi", "--max-depth", "4"]);
    tables.ok(&["value-iterate", "-q"]);
    let table = tables.place("minishogi-depth4");
    forge(&table, "distance_upper", |bytes| bytes[777] ^= 2);
    let error = run("rederive_cyclic.py", &table).unwrap_err();
    assert!(error.contains("distance_upper of row 777"), "{error}");
}

#[test]
fn numpy_predicts_what_is_exported() {
    if !python_runs("examples/predictions.py") {
        return;
    }
    let tables = Tables::new();
    solved_4x4(&tables);
    tables.ok(&["export", "--states", "-q"]);
    let states = tables.place("othello-4x4-states");
    let example =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/predictions.py");
    let output = Command::new("python3").arg(example).arg(&states).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let policy = format!("predictions:{}", states.display());
    let args = ["report", "--table", "othello-4x4", "--policy", &policy, "--policy", "random"];
    let report = tables.json(&args);
    let kept = |at: usize| {
        let figures = &report["policies"][at]["total"]["decisive_result"];
        figures["result_kept"].as_f64().unwrap()
    };
    // Corners are valuable: better than chance, but no more than a rule of thumb.
    assert!(kept(0) > kept(1) + 0.02 && kept(0) < 0.8, "{} {}", kept(0), kept(1));
}

#[test]
fn numpy_counts_as_many_lines_in_a_table_as_there_are_by_the_rules() {
    if !python_runs("examples/paths.py") {
        return;
    }
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--game", "minishogi", "--max-depth", "5"]);
    let example =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/paths.py");
    let table = tables.place("minishogi-depth5");
    let output = Command::new("python3").arg(example).arg(table).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap().replace(',', "");
    let counts: Vec<u64> =
        printed.lines().map(|line| line.split_once(' ').unwrap().1.parse().unwrap()).collect();
    let truth = include_str!("../data/minishogi-perft.json");
    let truth: serde_json::Value = serde_json::from_str(truth).unwrap();
    assert_eq!(counts.len(), 5);
    assert!(counts.iter().zip(truth["start"]["strict"].as_array().unwrap()).all(|(a, b)| a == b));
}

#[test]
fn numpy_contradicts_a_forged_table() {
    if !python_runs("tests/numpy/rederive.py") {
        return;
    }
    for (array, width) in [("score", 1), ("distance", 1), ("value", 4)] {
        let tables = Tables::new();
        let table = solved_4x4(&tables);
        forge(table.dir(), array, |bytes| bytes[777 * width] ^= 2);
        let error = rederive(table.dir()).unwrap_err();
        assert!(error.contains(&format!("{array} of row 777")), "{error}");
    }
}

#[test]
fn numpy_works_out_what_a_report_says_of_its_predictions() {
    if !python_runs("tests/numpy/predicted.py") {
        return;
    }
    let tables = Tables::new();
    solved_4x4(&tables);
    let at = |name: &str| tables.place(name).to_str().unwrap().to_string();
    let [states, targets, csv, json] = ["states", "targets", "r.csv", "r.json"].map(at);
    tables.ok(&["export", "--states", "-q", "--out", &states]);
    tables.ok(&["export", "-q", "--states-of", "all", "--out", &targets]);
    let python = |args: &[&str]| {
        let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("tests/numpy/predicted.py");
        let output = Command::new("python3").arg(script).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    python(&[&states]);
    let policy = format!("predictions:{states}");
    let args = ["report", "-q", "--json", "--table", "othello-4x4", "--csv", &csv];
    let report = tables.ok(&[&args[..], &["--policy", &policy]].concat());
    std::fs::write(&json, report).unwrap();
    let printed = python(&[&states, &targets, &csv, &json]);
    assert!(printed.starts_with("56621 positions, "), "{printed}");
}

#[cfg(feature = "parquet")]
#[test]
fn every_metric_is_found_again_from_the_results_by_position() {
    if !python_runs("tests/numpy/metrics.py") {
        return;
    }
    let tables = Tables::new();
    let at = |name: &str| tables.place(name).to_str().unwrap().to_string();
    let (csv, parquet, json) = (at("r.csv"), at("r.parquet"), at("r.json"));
    let mut args = vec!["report", "-q", "--json", "--csv", &csv, "--parquet", &parquet];
    let again = |rows: usize| {
        let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("tests/numpy/metrics.py");
        let files = [&csv, &parquet, &json];
        let output = Command::new("python3").arg(script).args(files).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.starts_with(&format!("{rows} rows, ")), "{printed}");
    };
    // Without games there are still mistakes. A model trained for something else serves as an estimate
    // of the score.
    let model = concat!(
        "onnx:",
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/onnx/value.onnx?range=discs"
    );
    let once = if cfg!(feature = "onnx") { model } else { "weights" };
    for (alone, policy, rows) in [("--canonical", once, 11_494), ("--no-games", "mcts:5", 56_621)] {
        let more = [alone, "--mistakes", "5", "--policy", policy];
        std::fs::write(&json, tables.ok(&[&args[..], &more].concat())).unwrap();
        again(rows);
    }
    let mut policies = vec!["random", "mcts:20", "perfect"];
    if crate::common::needs::all_cases() {
        policies.extend(["weights", "n-most:2", "montecarlo:5"]);
    }
    if cfg!(feature = "onnx") {
        let kept =
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies");
        crate::common::tables::copy_dir(&kept, &tables.place("policies"));
        policies.push("learned:supervised-othello-4x4");
    }
    policies.iter().for_each(|policy| args.extend(["--policy", policy]));
    std::fs::write(&json, tables.ok(&args)).unwrap();
    again(56_621 * policies.len());
}
