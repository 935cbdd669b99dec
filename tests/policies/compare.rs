//! `compare`, `--metrics`, `--fail-if` and `--label`, compared with sums over the rows of a report.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::tables::Tables;

type Row = BTreeMap<String, String>;

/// Returns the answers of each policy, position by position.
fn rows(tables: &Tables, policies: &[&str]) -> Vec<Vec<Row>> {
    let path = tables.place("rows.csv");
    let mut args = vec!["report", "-q", "--no-games", "--csv", path.to_str().unwrap()];
    policies.iter().for_each(|policy| args.extend(["--policy", policy]));
    tables.ok(&args);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let all: Vec<Row> = reader.deserialize().map(|row| row.unwrap()).collect();
    let of = |policy: &&str| all.iter().filter(|row| row["policy"] == *policy).cloned().collect();
    policies.iter().map(of).collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let numbers: Vec<f64> = numbers.collect();
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn close(found: &Value, wanted: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    assert!((found - wanted).abs() < 1e-9, "{what}: {found} for {wanted}");
}

#[test]
fn two_policies_are_compared_position_by_position() {
    let tables = Tables::new();
    let both = ["n-least:1", "random"];
    let [a, b] = &rows(&tables, &both)[..] else { panic!("two policies") };
    let found = tables.json(&["compare", both[0], both[1], "-q", "--worst", "7"]);
    for (set, column) in [("all", None), ("decisive_result", Some("decisive_result"))] {
        let is_of = |row: &Row| column.is_none_or(|column| row[column] == "true");
        let pairs: Vec<(&Row, &Row)> = a.iter().zip(b).filter(|(a, _)| is_of(a)).collect();
        assert!(pairs.iter().all(|(a, b)| a["position"] == b["position"]));
        let found = &found[set];
        assert_eq!(found["positions"], pairs.len());
        for (what, column) in [("outcome", "result_lost"), ("score", "score_lost")] {
            let found = &found[what];
            let lost = |row: &Row| number(row, column);
            let better = |a: &Row, b: &Row| lost(a) < lost(b) - 1e-9;
            let first = pairs.iter().filter(|(a, b)| better(a, b)).count();
            let second = pairs.iter().filter(|(a, b)| better(b, a)).count();
            assert!(first > 100 && second > 100);
            assert_eq!(
                (&found["first_better"], &found["second_better"]),
                (&first.into(), &second.into())
            );
            assert_eq!(found["equal"], pairs.len() - first - second);
            close(&found["first_lost"], mean(pairs.iter().map(|(a, _)| lost(a))), set);
            close(&found["second_lost"], mean(pairs.iter().map(|(_, b)| lost(b))), set);
        }
    }
    let costliest = found["costliest"].as_array().unwrap();
    let gap = |a: &Row, b: &Row| (number(a, "score_lost") - number(b, "score_lost")).abs();
    // The image with the greatest difference counts for its row.
    let mut by_row = BTreeMap::new();
    for (a, b) in a.iter().zip(b) {
        let most: &mut f64 = by_row.entry(&a["row"]).or_default();
        *most = most.max(gap(a, b));
    }
    let mut gaps: Vec<f64> = by_row.into_values().collect();
    gaps.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(costliest.len(), 7);
    for (found, wanted) in costliest.iter().zip(gaps) {
        let lost = |at: usize| found["score_lost"][at].as_f64().unwrap();
        assert!(((lost(0) - lost(1)).abs() - wanted).abs() < 1e-9, "{found} for {wanted}");
        let row = a.iter().find(|row| row["position"] == found["position"].as_str().unwrap());
        assert_eq!(found["moves"][0], row.unwrap()["likeliest"]);
    }
    // Both measures stand in the text, each with its name; they disagree on who is better.
    let text = tables.ok(&["compare", "greedy", "random", "-q"]);
    let line = |measure: &str| {
        let is_of = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.starts_with(&["the", "result"]) && words[3] == measure
        };
        text.lines().find(is_of).unwrap_or_else(|| panic!("{measure}: {text}"))
    };
    assert!(line("result").contains(" 2,524   3,048   2,424 "), "{text}");
    assert!(line("discs").contains(" 2,488   2,996   2,512 "), "{text}");
    let same = tables.json(&["compare", both[0], both[0], "-q"]);
    assert_eq!(same["all"]["positions_apart"], 0);
    assert_eq!(same["costliest"], serde_json::json!([]));
}

#[test]
fn seeds_of_a_recipe_are_compared_by_their_mean() {
    let tables = Tables::new();
    let seeds = ["mcts:5:3", "mcts:5:4"];
    let [first, second, weights] = &rows(&tables, &[seeds[0], seeds[1], "weights"])[..] else {
        panic!("three policies")
    };
    let args = ["compare", "mcts:5:{}", "weights", "--seeds", "3,4", "-q"];
    let found = tables.json(&args);
    let lost = |rows: &[Row]| mean(rows.iter().map(|row| number(row, "score_lost")));
    for (at, rows) in [first, second].into_iter().enumerate() {
        close(&found["all"]["seeds"][at][0]["score"], lost(rows), "a seed");
        close(&found["all"]["seeds"][at][1]["score"], lost(weights), "the other");
    }
    close(&found["all"]["score"]["first_lost"], (lost(first) + lost(second)) / 2.0, "the mean");
    let text = tables.ok(&args);
    let spread = (lost(first) - lost(second)).abs() / 2.0_f64.sqrt();
    let line = text.lines().find(|line| line.starts_with("spread ")).unwrap();
    assert!(line.contains(&format!("  {spread:.3}  ")), "{line} for {spread}");
    for (args, what) in [
        (&["compare", "mcts:5:{}", "weights"][..], "add --seeds"),
        (&["compare", "greedy", "weights", "--seeds", "1"], "no policy contains '{}'"),
    ] {
        assert!(tables.run(args).refused("seeds").contains(what));
    }
}

#[test]
fn a_training_loop_gets_one_line_and_ci_an_exit_code() {
    let tables = Tables::new();
    let report = ["report", "-q", "--policy", "greedy", "--label", "ours=weights"];
    let whole = tables.json(&report);
    let text = tables.ok(&[&report[..], &["--metrics"]].concat());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for (at, (line, name)) in lines.iter().zip(["greedy", "ours"]).enumerate() {
        let (policy, games) = (&whole["policies"][at], &whole["games"]["policies"][at]);
        assert_eq!((&line["policy"], &policy["policy"]), (&name.into(), &name.into()));
        assert_eq!(games["policy"], name);
        let decisive = &policy["total"]["decisive_result"];
        for (number, wanted) in [
            ("positions", &decisive["positions"]),
            ("result_kept", &decisive["result_kept"]),
            ("score_lost", &decisive["score_lost"]),
            ("win_to_loss", &decisive["win_to_loss"]),
            ("all_score_kept", &policy["total"]["all"]["score_kept"]),
            ("random_second_score", &games["against_random"]["second"]["score"]),
        ] {
            close(&line[number], wanted.as_f64().unwrap(), number);
        }
        let lost = |side: &str| games["exploitability"][side]["result_lost"].as_f64().unwrap();
        close(&line["exploited_result"], 0.5 * (lost("first") + lost("second")), "exploited");
        assert!(line["learned_result_kept"].is_null() && line["plies_kept"].is_null());
    }
    let failing = |condition: &str| tables.run(&[&report[..], &["--fail-if", condition]].concat());
    let kept = lines[1]["result_kept"].as_f64().unwrap();
    let ran = failing("result_kept < 0.6");
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(
        ran.stdout.contains("ours") && ran.stderr.starts_with("solver: greedy: result_kept is 0.4")
    );
    assert!(!ran.stderr.contains("ours"), "{kept}");
    assert_eq!(failing("result_kept < 0.4").code, 0);
    assert_eq!(failing("kept < 1").code, 2);
    // Conditions on figures that the report will not have fail before any measuring.
    for (condition, what) in [
        ("value_error > 1", "greedy returns no such value"),
        ("final_score_error > 1", "greedy returns no such value"),
        ("learned_result_kept < 1", "greedy has not learned from these positions"),
        ("plies_kept < 1", "plies are not compared on othello-4x4"),
        ("forced_won > 1", "othello-4x4 is complete"),
    ] {
        let ran = failing(condition);
        assert!(ran.refused(condition).contains(what), "{ran:?}");
    }
    let without = [&report[..], &["--no-games", "--fail-if", "exploited_result > 2"]].concat();
    assert!(tables.run(&without).refused("games").contains("no games are played"));
}

/// A table of two plies proves nothing: no figure is below any bound, and none is above.
#[test]
fn where_nothing_is_judged_that_is_said_first() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2"]);
    let report = ["report", "--policy", "random"];
    let text = tables.ok(&report);
    assert!(text.lines().nth(1).unwrap().starts_with("Nothing    is measured"), "{text}");
    for condition in ["result_kept < 0.9", "positions < 1"] {
        let ran = tables.run(&[&report[..], &["--fail-if", condition]].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("no position of minishogi-depth2 can be judged"), "{ran:?}");
    }
}

#[test]
fn a_card_for_a_model_s_page_has_the_figures_of_the_report() {
    let tables = Tables::new();
    let args = ["report", "-q", "--label", "my net=weights"];
    let (card, json) = (tables.ok(&[&args[..], &["--markdown"]].concat()), tables.json(&args));
    let decisive = &json["policies"][0]["total"]["decisive_result"];
    let kept = 100.0 * decisive["result_kept"].as_f64().unwrap();
    assert!(card.starts_with("## my net on othello-4x4\n\nFigures are exact, of all "), "{card}");
    assert!(card.contains(&format!("| result kept | {kept:.1}% |\n")), "{card}");
    let score = &json["games"]["policies"][0]["against_perfect"];
    let [first, second] = ["first", "second"].map(|side| score[side]["score"].as_f64().unwrap());
    let line = format!("| discs against perfect moves | {first:+.2} | {second:+.2} |\n");
    assert!(card.contains(&line), "{line}{card}");
    assert!(card.contains("solver report -q --label 'my net=weights' --markdown"), "{card}");
}
