//! `solver train minishogi-value`, and its network measured on a table.

use std::fs;

use crate::common::tables::Tables;

/// A position whose mover mates in 3 plies by either of two drops.
const MATE_IN_3: &str = "2k1S/4p/1gS2/4b/1KR2 b RGPb 1";

const SMALL: [&str; 16] = [
    "train",
    "minishogi-value",
    "--hidden",
    "24",
    "--mates",
    "4000",
    "--held-out",
    "1000",
    "--mate-epochs",
    "2",
    "--iterations",
    "1",
    "--games",
    "20",
    // Proofs of moves take nearly all the time of a short training: 2 x 40 positions instead of 2 x 200
    // suffice.
    "--test-positions",
    "40",
];

#[test]
fn a_network_is_trained_and_measured() {
    let tables = Tables::new();
    let card = &tables.json(&SMALL)["card"];
    let right = &card["results"]["held out: right"];
    assert!(right.as_f64().unwrap() > 0.75, "{right}");
    assert_eq!(card["results"]["held out: positions"], 1000.0);
    let history = fs::read_to_string(tables.place("policies/value-minishogi.csv")).unwrap();
    assert_eq!(history.lines().count(), 1 + 3);
    super::train::the_models_are_the_networks(&tables, &["policies/value-minishogi".to_string()]);
    let made =
        tables.json(&["enumerate", "--game", "minishogi", "--root", MATE_IN_3, "--max-depth", "3"]);
    tables.ok(&["value-iterate"]);
    let table = made["table"].as_str().unwrap();
    let measured = |policy: &str| {
        let report = tables.json(&["report", "--table", table, "--policy", policy]);
        let policies = report["policies"].as_array().unwrap();
        assert_eq!(policies.len(), 1);
        assert_eq!(policies[0]["policy"], policy);
        policies[0].clone()
    };
    let one = measured("learned:value-minishogi");
    let deep = measured("learned:value-minishogi?depth=3,width=3,mate=3000");
    // All judged positions of this table are lost whatever is played, so all moves keep the outcome.
    for policy in [&one, &deep] {
        assert!(policy["total"]["all"]["positions"].as_u64().unwrap() > 0);
        assert_eq!(policy["total"]["all"]["result_kept"], 1.0);
    }
    // Where moves differ, search helps, and either is better than random play.
    let share = |what: &str| {
        let name = format!("won by force: kept, {what}");
        card["results"][&name].as_f64().unwrap_or_else(|| panic!("{name}"))
    };
    assert!(share("depth=6") > share("depth=1") && share("depth=1") > share("random"));
}

#[test]
fn the_same_settings_give_the_same_files_with_any_number_of_threads() {
    let tables = Tables::new();
    let small = [&SMALL[..14], &["--test-positions", "8"]].concat();
    let mut written = Vec::new();
    for threads in ["1", "3"] {
        let place = tables.place(&format!("threads-{threads}"));
        let out = place.to_str().unwrap();
        tables.ok(&[&small[..], &["--threads", threads, "--out", out]].concat());
        let read = |ending: &str| fs::read(place.with_extension(ending)).unwrap();
        written.push(["json", "csv", "onnx"].map(read));
    }
    assert!(written[0] == written[1]);
}

#[test]
fn invalid_options_are_reported_in_a_line() {
    let tables = Tables::new();
    tables.ok(&[
        &SMALL[..8],
        &["--mate-epochs", "0", "--iterations", "0", "--test-positions", "2"],
    ]
    .concat());
    let animals = ["report", "--game", "animal-shogi-3x3", "--policy", "learned:value-minishogi"];
    let symmetric = "learned:value-minishogi?symmetric=yes";
    let made =
        tables.json(&["enumerate", "--game", "minishogi", "--root", MATE_IN_3, "--max-depth", "1"]);
    tables.ok(&["value-iterate"]);
    let table = made["table"].as_str().unwrap();
    for (args, what) in [
        (&SMALL[..], "exists already; add --force"),
        (&animals, "is for minishogi, not for animal-shogi-3x3"),
        (
            &["report", "--table", table, "--policy", symmetric],
            "symmetric=yes does not apply to minishogi",
        ),
    ] {
        let ran = tables.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
        let lines = ran.stderr.lines().filter(|line| line.starts_with("solver:")).count();
        assert_eq!(lines, 1, "{}", ran.stderr);
    }
}
