//! Engines that speak USI, UCI and GTP: what they play is measured, and what differs is named.

use std::path::Path;

use serde_json::Value;
use yomikiri::registry::Games;

use crate::common::tables::Tables;

/// Names a small engine with rules of its own.
fn engine(protocol: &str, modes: &str, options: &str) -> String {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/policies/outside/engine.py");
    let script = script.canonicalize().unwrap();
    let options = if options.is_empty() { String::new() } else { format!("?{options}") };
    format!("{protocol}:python3 '{}' {protocol} {modes}{options}", script.display())
}

const SHOGI: &str = "animal-shogi-3x3";
/// A sample of its positions.
const SAMPLE: [&str; 6] = ["--sample", "300", "--weight", "uniform", "--seed", "1"];

fn shogi() -> Tables {
    Tables::after(&[&["enumerate", "--game", SHOGI], &["value-iterate"]])
}

fn othello() -> Tables {
    Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]])
}

/// Measures an engine; returns the report and the likeliest move of each position.
fn measured(tables: &Tables, policy: &str, more: &[&str]) -> (Value, Vec<(String, String)>) {
    let rows = tables.place("rows.csv");
    let args = ["report", "-q", "--no-games", "--policy", policy, "--csv", rows.to_str().unwrap()];
    let report = tables.json(&[&args[..], more].concat());
    let rows = std::fs::read_to_string(rows).unwrap();
    let mut lines = rows.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let (position, likeliest, share) =
        (at("position"), at("likeliest"), at("likeliest_probability"));
    let row = |line: &str| {
        // The name of the policy may contain commas.
        let cells: Vec<&str> = line.rsplitn(names.len(), ',').collect();
        let cell = |at: usize| cells[names.len() - 1 - at].to_string();
        assert_eq!(cell(share), "1.0", "{line}");
        (cell(position), cell(likeliest))
    };
    (report, lines.map(row).collect())
}

fn reading(report: &Value) -> String {
    report["policies"][0]["reading"].as_str().unwrap().to_string()
}

#[test]
fn an_engine_of_usi_and_of_uci_plays_its_move_in_every_position() {
    let tables = shogi();
    let game = Games::default().named(SHOGI).unwrap();
    let policy = engine("usi", "", "variant=small,depth=1");
    let (report, rows) = measured(&tables, &policy, &SAMPLE);
    assert_eq!(rows.len(), 300);
    for (text, likeliest) in &rows {
        let position = game.parse_position(text, &game.start()).unwrap();
        let actions = game.actions(&position.state).into_iter();
        let names = actions.map(|action| game.action_name(position.side, action));
        assert_eq!(names.min().as_ref(), Some(likeliest), "{text}");
    }
    let words = reading(&report);
    for part in [
        "Small Engine 1, variant small: ",
        " moves of 200 positions compared, all equal; 20 of 20 answers the same when asked again",
        "centipawns as expected outcome",
    ] {
        assert!(words.contains(part), "{words}");
    }
    // Its score is a value: 100 centipawns are worth 0.28.
    let values = &report["policies"][0]["values"];
    assert!(values["value_error"].as_f64().unwrap() > 0.5, "{values}");
    // Two processes, and the other protocol, give the same figures.
    for other in [
        engine("usi", "", "variant=small,depth=1,processes=2"),
        engine("uci", "", "variant=small,depth=1"),
    ] {
        let (same, moves) = measured(&tables, &other, &SAMPLE);
        assert_eq!(same["policies"][0]["total"], report["policies"][0]["total"]);
        assert_eq!(moves, rows);
    }
}

#[test]
fn an_engine_of_gtp_plays_its_move_in_every_position() {
    let tables = othello();
    let game = Games::default().named("othello-4x4").unwrap();
    let (report, rows) = measured(&tables, &engine("gtp", "", ""), &["--canonical"]);
    assert!(rows.len() > 1000, "{}", rows.len());
    for (text, likeliest) in &rows {
        let position = game.parse_position(text, &game.start()).unwrap();
        let actions = game.actions(&position.state).into_iter();
        let names = actions.map(|action| game.action_name(position.side, action));
        assert_eq!(names.min().as_ref(), Some(likeliest), "{text}");
    }
    let words = reading(&report);
    assert!(words.starts_with("Small GTP 1: ") && words.contains("all equal"), "{words}");
}

#[test]
fn rules_that_differ_are_named_and_refused() {
    let tables = shogi();
    let refused = |policy: &str| {
        let run = tables.run(&["report", "-q", "--policy", policy]);
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        run.stderr
    };
    // Moves into check lose at once: their absence is counted and allowed.
    let strict = engine("usi", "strict", "variant=small,failures=0");
    let report = tables.json(&[&["report", "-q", "--policy", &strict][..], &SAMPLE].concat());
    let words = reading(&report);
    assert!(words.contains(" that lose at once are not legal there;"), "{words}");
    let line = refused(&engine("usi", "added", "variant=small"));
    for part in [
        "its rules differ: ",
        " are legal there alone",
        "for example `",
        "which it alone lists",
        "?rules=differ",
    ] {
        assert!(line.contains(part), "{line}");
    }
    let differing = engine("usi", "added", "variant=small,rules=differ,failures=300");
    let report = tables.json(&[&["report", "-q", "--policy", &differing][..], &SAMPLE].concat());
    assert!(reading(&report).contains("are legal there alone;"), "{report}");
    let line = refused(&engine("usi", "other", "variant=small"));
    assert!(line.contains("does not offer the variant small; it offers big, far"), "{line}");
    let line = refused(&engine("usi", "", ""));
    assert!(
        line.contains("the variant of animal-shogi-3x3 has no usual name; name it: ?variant=NAME"),
        "{line}"
    );
    let line = refused(&engine("usi", "board", "variant=small"));
    assert!(line.contains("prints another board for "), "{line}");
    let line = refused(&engine("usi", "", "variant=small,Hush=3"));
    assert!(line.contains("Small Engine 1 has no option Hush"), "{line}");
    let line = refused("usi:/no/such/engine?variant=small");
    assert!(line.contains("cannot start '/no/such/engine'"), "{line}");
    let tables = othello();
    for (modes, part) in [
        ("other", "does not play on 4x4: unacceptable size"),
        ("deaf", "has no command that sets a position up"),
        ("added", "are legal there alone; for example `a1`"),
    ] {
        let run = tables.run(&["report", "-q", "--policy", &engine("gtp", modes, "")]);
        assert!(run.code == 4 && run.stderr.contains(part), "{}", run.stderr);
    }
    let run = tables.run(&["report", "-q", "--policy", &engine("usi", "", "")]);
    assert!(run.stderr.contains("othello-4x4 is not a game of usi"), "{}", run.stderr);
    for (options, expected) in [
        ("processes=0", "a number of processes from 1 to 64"),
        ("nodes=many", "nodes=N, a number above 0"),
        ("rules=same", "rules=differ"),
        ("failures=x", "the most answers that may fail"),
    ] {
        let run = tables.run(&["report", "-q", "--policy", &engine("usi", "", options)]);
        assert!(run.code == 2 && run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn answers_that_fail_are_counted_and_named() {
    let tables = shogi();
    for (modes, parts) in [
        ("illegal", ["answers failed and count as random moves", "`9i9h`, which is not legal in "]),
        (
            "resign",
            ["answers failed and count as random moves", "`resign`, which is not legal in "],
        ),
        (
            "dying",
            ["answers failed and count as random moves", "the program ended before it answered"],
        ),
        ("slow", ["answers failed and count as random moves", "no answer within 1 s; stopped in "]),
    ] {
        let policy = engine("usi", modes, "variant=small,failures=100000");
        let args =
            ["report", "--json", "-q", "--no-games", "--policy-timeout", "1", "--policy", &policy];
        let run = tables.run(&[&args[..], &SAMPLE].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let words = reading(&serde_json::from_str(&run.stdout).unwrap());
        assert!(parts.iter().all(|part| words.contains(part)), "{words}");
    }
    // Beyond a number of failures the report is refused.
    for (modes, part) in
        [("illegal", "`9i9h`, which is not legal"), ("silent", "no answer within 1 s")]
    {
        let policy = engine("usi", modes, "variant=small,failures=1");
        let args = ["report", "-q", "--policy-timeout", "1", "--policy", &policy];
        let run = tables.run(&[&args[..], &SAMPLE].concat());
        assert_eq!(run.code, 4, "{}", run.stderr);
        assert!(
            run.stderr.contains("2 answers failed; the first: ") && run.stderr.contains(part),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("?failures=N allows N of them"), "{}", run.stderr);
    }
    let tables = othello();
    let run = tables.run(&["report", "-q", "--policy", &engine("gtp", "illegal", "failures=0")]);
    assert!(run.code == 4 && run.stderr.contains("`pass`, which is not legal"), "{}", run.stderr);
    // Engines that do not list their moves are measured with a remark.
    let tables = shogi();
    let (report, _) = measured(&tables, &engine("usi", "deaf", "variant=small"), &SAMPLE);
    assert!(reading(&report).contains("its rules were not compared"), "{report}");
}

/// Fairy-Stockfish and GRhino, where `.ci/frameworks` has installed them and set `YOMIKIRI_ENGINES`.
#[test]
fn engines_of_debian_are_measured() {
    if std::env::var_os("YOMIKIRI_ENGINES").is_none() {
        return;
    }
    let tables = Tables::after(&[
        &["enumerate", "--game", "animal-shogi", "--max-depth", "5"],
        &["value-iterate"],
        &["enumerate", "--game", "minishogi", "--max-depth", "3"],
        &["value-iterate"],
    ]);
    let report = |table: &str, more: &[&str], policy: &str| -> String {
        let args = [&["report", "-q", "--no-games", table, "--policy", policy][..], more].concat();
        reading(&tables.json(&args))
    };
    let fish = "/usr/games/fairy-stockfish?depth=3,rules=differ";
    for protocol in ["usi", "uci"] {
        let words = report("animal-shogi-depth5", &[], &format!("{protocol}:{fish}"));
        assert!(
            words.contains("variant dobutsu: ") && words.contains(" that lose at once"),
            "{words}"
        );
        assert!(words.contains("20 of 20 answers the same"), "{words}");
        let words = report("minishogi-depth3", &[], &format!("{protocol}:{fish}"));
        assert!(
            words.contains("variant minishogi: ") && !words.contains("others are not"),
            "{words}"
        );
    }
    let sample = ["--sample", "20", "--empty-squares", "6..8"];
    let words = report("8x8", &sample, "gtp:/usr/games/gtp-rhino -l 1 -b 0");
    assert!(words.contains("compared, all equal") && !words.contains("failed"), "{words}");
}
