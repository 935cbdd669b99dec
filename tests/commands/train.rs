//! `solver train`: training runs that are repeated, interrupted and resumed, and their networks as
//! policies, in ONNX and in NumPy.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::needs::python_runs;
use crate::common::tables::{Tables, files};
use serde_json::Value;

/// A short training run of each recipe.
const SMALL: [&[&str]; 5] = [
    &["supervised", "--epochs", "3", "--hidden", "24,16", "--every", "2"],
    &["td", "--games", "300", "--games-per-iteration", "100", "--parallel-games", "16"],
    &["disc-regression", "--games", "10", "--epochs", "2", "--hidden", "12"],
    &["dqn", "--iterations", "6", "--every", "3", "--replay", "500"],
    &["q-mlp", "--iterations", "4", "--games", "20", "--replay", "400"],
];

/// Options of every training run.
const ALSO: [&str; 3] = ["-q", "--seed", "3"];

fn training<'a>(recipe: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let games: &[&str] = if recipe[0] == "supervised" { &[] } else { &["--test-games", "20"] };
    [&["train"], recipe, games, &ALSO, more].concat()
}

/// A resumed training run ends like one that was never interrupted.
#[test]
fn training_ends_the_same_with_any_threads_and_after_an_interruption() {
    let tables = Tables::new();
    for recipe in SMALL {
        let whole = tables.place("whole/net");
        let cut = tables.place("cut/net");
        let [whole, cut] = [&whole, &cut].map(|path| path.to_str().unwrap());
        tables.ok(&training(recipe, &["--out", whole, "--threads", "1"]));
        let words = training(recipe, &["--out", cut, "--threads", "2", "--checkpoint", "0"]);
        // It is killed at the first checkpoint, unless it has ended.
        let mut process = tables.solver(&words).spawn().unwrap();
        let checkpoint = tables.place("cut/net.checkpoint");
        let begin = Instant::now();
        while !checkpoint.exists() && process.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(120), "{recipe:?} does not begin");
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = process.kill();
        process.wait().unwrap();
        if !tables.place("cut/net.json").exists() {
            tables.ok(&words);
        }
        assert!(!checkpoint.exists(), "{recipe:?}");
        let [whole, cut] = ["whole", "cut"].map(|dir| files(&tables.place(dir)));
        // There is a plot if shares were measured twice.
        assert_eq!(whole.len(), 3 + usize::from(recipe[0] == "dqn"), "{recipe:?}");
        assert!(whole == cut, "{recipe:?}: the files differ");
        fs::rename(tables.place("whole"), tables.place(recipe[0])).unwrap();
        fs::remove_dir_all(tables.place("cut")).unwrap();
    }
    the_models_are_the_networks(&tables, &SMALL.map(|recipe| format!("{}/net", recipe[0])));
}

/// Checks that ONNX Runtime and NumPy compute the same from each network.
pub fn the_models_are_the_networks(tables: &Tables, names: &[String]) {
    if !python_runs("tests/learn/models.py") {
        return;
    }
    let script =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/learn/models.py");
    let names = names.iter().map(|name| tables.place(name));
    let run = Command::new("python3").arg(script).args(names).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn what_is_there_is_not_replaced_and_other_settings_are_not_resumed() {
    let tables = Tables::new();
    let recipe = SMALL[1];
    tables.ok(&training(recipe, &[]));
    let card = tables.place("policies/td-othello-4x4.json");
    let before = fs::read(&card).unwrap();
    let line = tables.run(&training(recipe, &[])).refused("there").to_string();
    assert!(line.contains("td-othello-4x4.json exists already; add --force"), "{line}");
    assert_eq!(fs::read(&card).unwrap(), before);
    // A checkpoint of another training run is in the way.
    for file in fs::read_dir(card.parent().unwrap()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let other = training(
        &["td", "--games", "100000"],
        &["--games-per-iteration", "50", "--checkpoint", "0"],
    );
    let mut process = tables.solver(&other).spawn().unwrap();
    let checkpoint = tables.place("policies/td-othello-4x4.checkpoint");
    let begin = Instant::now();
    while !checkpoint.exists() {
        assert!(begin.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(1));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let line = tables.run(&training(recipe, &[])).refused("another run").to_string();
    assert!(line.contains("is a checkpoint with other settings; remove it"), "{line}");
    let bytes = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, &bytes[..bytes.len() - 1]).unwrap();
    let line = tables.run(&training(recipe, &[])).refused("damaged").to_string();
    assert!(line.contains("is damaged; remove it to start again"), "{line}");
    // A tensor whose size overflows.
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let mut head: serde_json::Value = serde_json::from_slice(&bytes[..end]).unwrap();
    head["tensors"][0][1] = [u64::MAX, 2].into();
    fs::write(&checkpoint, [&serde_json::to_vec(&head).unwrap(), &bytes[end..]].concat()).unwrap();
    let line = tables.run(&other).refused("counts").to_string();
    assert!(line.contains("is damaged; remove it to start again"), "{line}");
}

#[test]
fn wrong_settings_and_wrong_networks_get_one_line() {
    let tables = Tables::new();
    let wrong: [(&[&str], &str); 10] = [
        (&["supervised", "--share", "0"], "--share 0"),
        (&["supervised", "--measured", "1.5"], "--measured 1.5"),
        (&["supervised", "--dropout", "1"], "--dropout 1"),
        (&["supervised", "--net", "residual", "--dropout", "0.1"], "--dropout 0.1"),
        (&["supervised", "--hidden", "12"], "a multiple of the board's 8 symmetries"),
        (&["supervised", "--train", "0.9", "--validation", "0.2"], "share"),
        (&["td", "--size", "3"], "3"),
        (&["dqn", "--opponents", "nobody"], "unknown policy `nobody`"),
        (&["disc-regression", "--games", "2"], "at least 10 per pair"),
        (&["dqn", "--epsilon", "0,0.5"], "--epsilon"),
    ];
    for (recipe, what) in wrong {
        let line = tables.run(&training(recipe, &[])).refused(what).to_string();
        assert!(line.contains(what), "{line} for {what}");
    }
    // Settings that would divide by zero, or not fit into memory.
    for (recipe, option) in [
        (["td", "--hidden", "0"], "--hidden"),
        (["td", "--hidden", "99999999999"], "--hidden"),
        (["td", "--parallel-games", "99999999999"], "--parallel-games"),
        (["td", "--learning-rate", "nan"], "--learning-rate"),
        (["disc-regression", "--hidden", "10,0"], "--hidden"),
        (["disc-regression", "--batch", "0"], "--batch"),
        (["dqn", "--hidden", "0"], "--hidden"),
        (["q-mlp", "--replay", "99999999999999"], "--replay"),
        (["q-mlp", "--test-games", "0"], "--test-games"),
        (["supervised", "--channels", "0"], "--channels"),
        (["minishogi-value", "--mates", "99999999999"], "--mates"),
        (["q-mlp", "--gamma", "1.5"], "--gamma"),
        (["minishogi-value", "--alpha", "2"], "--alpha"),
        (["minishogi-value", "--gamma", "nan"], "--gamma"),
        (["tabular", "--every", "0"], "--every"),
    ] {
        let ran = tables.run(&[&["train"], &recipe[..]].concat());
        assert_eq!(ran.code, 2, "{recipe:?}: {ran:?}");
        assert!(ran.stderr.contains(&format!("invalid {option} ")), "{ran:?}");
    }
    let large = tables.run(&["train", "supervised", "--hidden", "16384,16384"]);
    assert!(large.refused("weights").contains("269565987 weights"), "{large:?}");
    tables.ok(&training(SMALL[1], &[]));
    let of = |policy: &str, size: &str| {
        tables.run(&["report", "--policy", policy, "--size", size]).refused(policy).to_string()
    };
    assert!(
        of("learned:nothing", "4").contains("no trained network"),
        "{}",
        of("learned:nothing", "4")
    );
    let line = of("learned:td-othello-4x4", "4x5");
    assert!(line.contains("is for othello-4x4, not for othello-4x5"), "{line}");
    let line = of("learned:td-othello-4x4?width=3", "4");
    assert!(line.contains("width and mate apply to minishogi only"), "{line}");
    let model = tables.place("policies/td-othello-4x4.onnx");
    let mut bytes = fs::read(&model).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&model, bytes).unwrap();
    let line = of("learned:td-othello-4x4", "4");
    assert!(line.contains("differs from the file that"), "{line}");
}

/// ONNX Runtime, NumPy and our own inference agree on the same networks.
#[test]
#[cfg(feature = "onnx")]
fn a_network_is_the_same_policy_in_onnx_and_in_python() {
    let tables = Tables::new();
    tables.ok(&training(SMALL[0], &[]));
    let residual: &[&str] =
        &["supervised", "--net", "residual", "--channels", "8", "--blocks", "1", "--epochs", "2"];
    let plain: &[&str] = &[
        "supervised",
        "--hidden",
        "12",
        "--equivariant",
        "no",
        "--score-weight",
        "0",
        "--epochs",
        "2",
    ];
    for (words, name) in [(residual, "residual"), (plain, "plain")] {
        let place = tables.place(&format!("policies/{name}"));
        tables.ok(&training(words, &["--out", place.to_str().unwrap()]));
    }
    let python = python_runs("tests/learn/answer.py");
    for name in ["supervised-othello-4x4", "residual", "plain"] {
        let model = tables.place(&format!("policies/{name}.onnx"));
        let model = model.to_str().unwrap();
        let (learned, onnx) = (
            format!("learned:{name}"),
            format!("onnx:{model}?policy=policy,value=value,move=best"),
        );
        let mut policies = vec![learned, onnx];
        let states = tables.place("states");
        if python {
            tables.ok(&["export", "-q", "--states", "--out", states.to_str().unwrap()]);
            let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
                .join("tests/learn/answer.py");
            let run = Command::new("python3").arg(script).arg(model).arg(&states).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            policies.push(format!("predictions:{}", states.display()));
        }
        let words = policies.iter().flat_map(|policy| ["--policy", policy]);
        let words: Vec<&str> = ["report", "-q", "--no-games"].into_iter().chain(words).collect();
        let report = tables.json(&words);
        let found = report["policies"].as_array().unwrap();
        let figures = |policy: &Value| {
            ["all", "decisive_result", "decisive_score"].map(|set| {
                let figures = &policy["total"][set];
                ["result_kept", "score_kept"].map(|name| figures[name].as_f64().unwrap())
            })
        };
        let ours = figures(&found[0]);
        for other in &found[1..] {
            let theirs = figures(other);
            for (ours, theirs) in ours.iter().flatten().zip(theirs.iter().flatten()) {
                // A network that finds two moves equal up to the last bits may choose either.
                assert!((ours - theirs).abs() < 1e-3, "{name}: {ours} is not {theirs}");
            }
        }
        // Values too, which predictions leave out.
        let error = |policy: &Value| policy["values"]["value_brier"].as_f64().unwrap();
        let errors = [error(&found[0]), error(&found[1])];
        assert!((errors[0] - errors[1]).abs() < 1e-4, "{name}: {errors:?}");
        fs::remove_dir_all(states).ok();
    }
}

/// Options of the sources in `docs/results/learned.md`, with a table of wins and discs by iteration.
#[test]
fn games_are_counted_by_iteration_and_divergence_is_reported() {
    let tables = Tables::new();
    let options =
        ["--epsilon", "0.05", "--gamma", "0.9", "--optimiser", "sgd", "--output", "sigmoid"];
    let more = ["--every", "9", "--activation", "tanh", "--opponents", "random,n-hand:1"];
    let words = [&["--iterations", "3", "--games", "4"], &options[..], &more].concat();
    let card = tables.json(&training(&[&["dqn"], &words[..]].concat(), &[]))["card"].clone();
    let settings = ["epsilon", "gamma", "optimiser", "activation", "output"];
    let printed = settings.map(|name| card["settings"][name].to_string());
    assert_eq!(printed, ["[0.05,0.05]", "0.9", "\"sgd\"", "\"tanh\"", "\"sigmoid\""]);
    let csv = fs::read_to_string(tables.place("policies/dqn-othello-4x4.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let (names, rows) = rows.split_first().unwrap();
    assert_eq!((names[0], rows.len()), ("iteration", 3));
    for (number, row) in rows.iter().enumerate() {
        let of = |name: &str| -> f64 {
            let at = names.iter().position(|known| *known == name).unwrap();
            row[at].parse().unwrap()
        };
        assert_eq!((of("iteration"), of("epsilon")), (number as f64 + 1.0, 0.05));
        for opponent in ["random", "n-hand:1"] {
            let [games, wins, draws] =
                ["games", "wins", "draws"].map(|what| of(&format!("{what} against {opponent}")));
            assert_eq!(
                (games, of(&format!("points against {opponent}"))),
                (8.0, (wins + draws / 2.0) / 8.0)
            );
            let discs =
                of(&format!("discs against {opponent}")) + of(&format!("discs of {opponent}"));
            // A game may end before the board is full, but not with fewer than ten discs on it.
            assert!(wins + draws <= 8.0 && discs > 80.0 && discs <= 128.0, "{discs}");
        }
    }
    let wild =
        ["--hidden", "192", "--activation", "relu", "--output", "linear", "--optimiser", "sgd"];
    let wild =
        [&["disc-regression", "--games", "10", "--learning-rate", "1e9"], &wild[..]].concat();
    let ran = tables.run(&training(&wild, &["--out", tables.place("wild").to_str().unwrap()]));
    assert!(ran.ended(1, "diverges").contains("training has diverged"), "{ran:?}");
}

/// The example in Python, from the export to the report.
#[test]
#[cfg(feature = "onnx")]
fn the_example_in_python_learns() {
    if !python_runs("examples/learn.py") {
        return;
    }
    let tables = Tables::new();
    let script =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/learn.py");
    let run = Command::new("python3")
        .arg(script)
        .args([tables.place("learned").to_str().unwrap(), "2"])
        .env("SOLVER", env!("CARGO_BIN_EXE_solver"))
        .env("YOMIKIRI_TABLES", tables.root())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    let decisive = |line: &str| -> f64 {
        let percent = line.rsplit(", ").next().unwrap().split('%').next().unwrap();
        percent.parse().unwrap()
    };
    let shares: Vec<f64> = text.lines().map(decisive).collect();
    assert!(shares.len() == 2 && shares[0] > shares[1] + 10.0, "{text}");
}
