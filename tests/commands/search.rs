//! `solver solve` and reports by search.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::needs::all_cases;
use crate::common::plain_shogi::{Position, Rules, three_by_three};
use crate::common::tables::Tables;

/// An endgame with 7 empty squares.
const ENDGAME: &str = "XXXXXXXXXOOOOOOXXOOOOOOXXOOOOOOXXOOOOOOXXOOOOOOXXOOOO---XXXX---- X;";

#[test]
fn a_size_a_game_and_a_position_are_solved() {
    let tables = Tables::new();
    let by_search = tables.json(&["solve", "4x4", "--search"]);
    assert_eq!((&by_search["by"], &by_search["score"]), (&"search".into(), &(-8).into()));
    let by_table = tables.json(&["solve", "othello-4x4"]);
    assert_eq!((&by_table["by"], &by_table["score"]), (&"table".into(), &(-8).into()));
    assert_eq!(by_table["distance"], 10);
    // The table now exists and answers for the positions it contains.
    let after = tables.json(&["solve", "4", "b1a1"]);
    assert_eq!((&after["by"], &after["table"]), (&"table".into(), &"othello-4x4".into()));
    let searched = tables.json(&["solve", "4", "b1a1", "--search", "--all-moves"]);
    let values = |answer: &Value| {
        let mut values: Vec<(String, i64)> = (answer["moves"].as_array().unwrap().iter())
            .map(|m| (m["move"].as_str().unwrap().to_string(), m["score"].as_i64().unwrap()))
            .collect();
        values.sort();
        values
    };
    assert_eq!(values(&searched), values(&after));
    // With another rule for empty squares the table does not apply.
    let winner = tables.json(&["solve", "4x4", "--empties", "to-winner"]);
    assert_eq!((&winner["by"], &winner["empties"]), (&"search".into(), &"to-winner".into()));
    // A board implies its size.
    let alone = tables.json(&["solve", "-----OX--XO----- X;", "--search"]);
    assert_eq!(alone["score"], -8);
}

/// The stored solution of 6×6 agrees with search for each move, after good and bad ones.
#[test]
fn the_stored_solution_agrees_with_search() {
    let tables = Tables::new();
    let start = tables.json(&["solve", "6x6"]);
    assert_eq!((&start["by"], &start["score"]), (&"stored".into(), &(-4).into()));
    let best = start["principal_variation"].as_array().unwrap();
    let best: Vec<&str> = best.iter().map(|name| name.as_str().unwrap()).collect();
    assert!(best.len() >= 32, "{best:?}");
    for plies in if all_cases() { 15..=17 } else { 17..=17 } {
        let line = best[..plies].join(" ");
        let searched = tables.json(&["solve", "6x6", &line, "--search", "--all-moves"]);
        for of in searched["moves"].as_array().unwrap() {
            let after = format!("{line} {}", of["move"].as_str().unwrap());
            let stored = tables.json(&["solve", "6x6", &after]);
            assert_eq!(
                -stored["score"].as_i64().unwrap(),
                of["score"].as_i64().unwrap(),
                "{after}"
            );
            // Positions after best moves of both sides are stored.
            assert!(stored["by"] == "stored" || of["move"] != best[plies], "{after}");
        }
    }
    assert_eq!(tables.json(&["solve", "6x6", "--search", "--nodes", "1000"])["by"], "search");
    let winner = ["solve", "6x6", "--empties", "to-winner", "--nodes", "1000"];
    assert_eq!(tables.json(&winner)["by"], "search");
}

#[test]
fn limits_leave_proven_bounds() {
    let tables = Tables::new();
    let answer = tables.json(&["solve", "5x6", "--nodes", "3000"]);
    assert_eq!((&answer["by"], &answer["score"]), (&"search".into(), &Value::Null));
    let bound = |name: &str| answer[name].as_i64().unwrap();
    assert!(bound("score_lower") <= 10 && 10 <= bound("score_upper"));
    // A bounded table that leaves the position open does not replace the search.
    tables.ok(&["enumerate", "--size", "5x6", "--max-depth", "2"]);
    tables.ok(&["value-iterate", "othello-5x6-depth2"]);
    assert_eq!(tables.json(&["solve", "5x6", "--nodes", "3000"])["by"], "search");
    let shown = tables.ok(&["solve", "5x6", "--nodes", "3000"]);
    assert!(!shown.contains("Best move"), "{shown}");
    assert!(shown.contains("not proven") && shown.contains("By search: "), "{shown}");
}

#[test]
fn lines_are_answered_one_by_one() {
    let tables = Tables::new();
    let file = tables.root().join("games.txt");
    fs::write(&file, "b1a1 # a remark\n\n-----OX--XO----- X;\n").unwrap();
    let text = tables.ok(&["solve", "--size", "4", file.to_str().unwrap()]);
    let scores: Vec<&str> = text.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(scores, ["-8", "-8"]);
    let lines = tables.ok(&["solve", "--size", "4", file.to_str().unwrap(), "--json"]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["score"], -8);
}

/// The table answers for the lines of a file as it does for one position, here for every long win of the 3×3 game.
#[test]
fn a_file_is_solved_by_the_table_that_knows_it() {
    let tables = Tables::after(&[&["solve", "animal-shogi-3x3"]]);
    let wins = three_by_three().iter().filter(|(_, (outcome, _))| *outcome == 1);
    let mut wins: Vec<(&String, u16)> = wins
        .filter_map(|(sfen, (_, plies))| Some((sfen, plies.filter(|&plies| plies >= 9)?)))
        .collect();
    wins.sort();
    assert!(wins.len() > 200, "{}", wins.len());
    let file = tables.root().join("wins.txt");
    fs::write(&file, wins.iter().map(|(sfen, _)| format!("{sfen}\n")).collect::<String>()).unwrap();
    for table in [None, Some(["--table", "animal-shogi-3x3"])] {
        let words = match &table {
            None => vec!["solve", "animal-shogi-3x3", file.to_str().unwrap()],
            Some([option, name]) => vec!["solve", option, name, file.to_str().unwrap()],
        };
        let rows = tables.ok(&words);
        assert_eq!(rows.lines().count(), wins.len());
        for (row, (sfen, plies)) in rows.lines().zip(&wins) {
            let verdict = row.split('\t').next().unwrap();
            assert_eq!(verdict, format!("win {plies}"), "{sfen}: {row}");
        }
    }
    // A named table answers alone, and a file with the start makes the table, as the start does.
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "2", "-q"]);
    tables.ok(&["value-iterate", "-q"]);
    for (option, value) in [("--search", None), ("--empties", Some("to-winner"))] {
        let words = ["solve", "othello-4x4-depth2", option].into_iter().chain(value);
        let run = tables.run(&words.collect::<Vec<_>>());
        let line = run.refused(option);
        assert!(line.contains("does not apply to the table othello-4x4-depth2"), "{line}");
    }
    let fresh = Tables::new();
    let starts = fresh.root().join("starts.txt");
    fs::write(&starts, "start\n").unwrap();
    let row = fresh.ok(&["solve", "animal-shogi-3x3", starts.to_str().unwrap()]);
    assert!(row.starts_with("win 7\t3c3b\t"), "{row}");
    // Options of the search are obeyed, and what it finds agrees with the values: short wins exactly, others within
    // bounds.
    let all = three_by_three().iter().filter(|(_, (outcome, _))| *outcome == 1);
    let mut all: Vec<(&String, u16)> =
        all.filter_map(|(sfen, (_, plies))| Some((sfen, (*plies)?))).collect();
    all.sort();
    let sample: Vec<_> = all.iter().step_by(all.len() / 150).collect();
    fs::write(&file, sample.iter().map(|(sfen, _)| format!("{sfen}\n")).collect::<String>())
        .unwrap();
    let words = ["solve", "animal-shogi-3x3", file.to_str().unwrap(), "--plies", "7", "--json"];
    let searched = tables.ok(&words);
    assert_eq!(searched.lines().count(), sample.len());
    for (line, &&(sfen, plies)) in searched.lines().zip(&sample) {
        let found: Value = serde_json::from_str(line).unwrap();
        let least = found["distance_lower"].as_u64().unwrap_or(9);
        let most = found["distance_upper"].as_u64().unwrap_or(u64::MAX);
        assert!((least..=most).contains(&plies.into()), "{sfen}: {found}");
        assert!(plies <= 1 || found["by"] == "search", "{sfen}: {found}");
        assert!(plies > 7 || found["distance"] == plies, "{sfen}: {found}");
    }
}

/// A finished game has its winner, with a table or without.
#[test]
fn finished_positions_of_shogi_are_over() {
    let tables = Tables::new();
    let mates: Value = serde_json::from_str(include_str!("../data/minishogi-mates.json")).unwrap();
    let mut lines = vec!["4k/2G2/3K1/5/5 w - 1".to_string()];
    for mate in mates["positions"].as_array().unwrap() {
        let line = mate["pv_usi"].as_array().into_iter().flatten();
        let start = Position::read(Rules::Minishogi, mate["sfen"].as_str().unwrap());
        let end = line.fold(start, |at, name| at.apply(name.as_str().unwrap()));
        lines.extend(end.end().map(|_| end.sfen()));
    }
    assert!(lines.len() > 10, "{}", lines.len());
    let file = tables.root().join("over.txt");
    fs::write(&file, lines.join("\n")).unwrap();
    let rows = tables.ok(&["solve", "minishogi", file.to_str().unwrap()]);
    let json = tables.ok(&["solve", "minishogi", file.to_str().unwrap(), "--json"]);
    assert_eq!(rows.lines().count(), lines.len());
    for ((row, json), sfen) in rows.lines().zip(json.lines()).zip(&lines) {
        assert_eq!(*row, format!("loss 0\t-\t{sfen}"));
        let json: Value = serde_json::from_str(json).unwrap();
        let winner = if sfen.contains(" b ") { "White" } else { "Black" };
        assert_eq!((&json["by"], &json["winner"]), (&"rules".into(), &winner.into()), "{json}");
    }
    let shown = tables.ok(&["solve", "minishogi", &lines[0]]);
    assert!(shown.contains("The game is over, Black has won: White has no legal move"), "{shown}");
    // So it is for a lion that can be captured, and beside a table that does not have the position.
    let caught = tables.ok(&["solve", "animal-shogi", "3/1l1/1L1/3 b - 1"]);
    assert!(caught.contains("Black has won: Black can capture the lion"), "{caught}");
    let over = "The game is over, Black has won: White has no legal move";
    assert!(tables.ok(&["query", "minishogi", &lines[0]]).contains(over));
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "3", "-q"]);
    tables.ok(&["value-iterate", "-q"]);
    assert!(tables.ok(&["query", "minishogi", &lines[0]]).contains(over));
    // At the edge of the table a move that mates proves the position.
    let edge = "1bsgk/4p/2K2/r4/1GSBR w p 1";
    let mated = tables.json(&["query", "minishogi-depth3", edge]);
    assert_eq!((&mated["kind"], &mated["outcome"]), (&"frontier".into(), &1.into()), "{mated}");
    assert_eq!((&mated["distance"], &mated["moves"][0]["move"]), (&1.into(), &"2a3b".into()));
    assert!(tables.ok(&["query", "minishogi", edge]).contains("White, to move, wins in 1 ply"));
    let beside = tables.ok(&["query", "minishogi-depth3", &lines[0]]);
    assert!(
        beside.contains("The game is over, Black has won: White has no legal move"),
        "{beside}"
    );
}

/// `query --batch` searches what no table contains, as `query` does.
#[test]
fn batches_are_searched_and_keep_remarks_and_hints() {
    let tables = Tables::new();
    let judged = |answer: &Value| (answer["position"].clone(), answer["score"].clone());
    let mut expected = Vec::new();
    let mut at = tables.json(&["solve", "8x8", ENDGAME, "--all-moves"]);
    for _ in 0..3 {
        expected.push(judged(&at));
        let after = at["moves"].as_array().unwrap().iter();
        expected.extend(after.map(|one| {
            let score = -one["score"].as_i64().unwrap();
            (one["position"].clone(), score.into())
        }));
        let next = at["moves"][0]["position"].as_str().unwrap().to_string();
        at = tables.json(&["solve", "8x8", &next, "--all-moves"]);
    }
    assert!(expected.len() > 10);
    let lines = expected.iter().map(|(position, _)| position.as_str().unwrap());
    let lines = lines.collect::<Vec<_>>().join(" # a remark\n");
    let input = format!("# positions\n\n{lines}\n% end\nz9\n");
    let mut command = tables.solver(&["query", "8x8", "--batch"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let answers: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A batch of a game asks its bounded tables, as a single query does.
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2", "-q"]);
    tables.ok(&["value-iterate", "-q"]);
    let mut command = tables.solver(&["query", "minishogi", "--batch"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"start\n").unwrap();
    let line: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(line["kind"], "interior", "{line}");
    let (last, answers) = answers.split_last().unwrap();
    assert_eq!(answers.iter().map(judged).collect::<Vec<_>>(), expected);
    let error = last["error"].as_str().unwrap();
    assert!(error.contains("invalid square `z`: expected . or - for empty"), "{error}");
    // The error of a file names the file, the line and what to do.
    let file = tables.root().join("bad.txt");
    fs::write(&file, format!("# one\n{ENDGAME}\nnonsense\n")).unwrap();
    let run = tables.run(&["solve", "minishogi", file.to_str().unwrap()]);
    let line = run.refused("bad line");
    assert!(
        line.contains("bad.txt, line 2: ") && line.contains("a position is written 'rbsgk/"),
        "{line}"
    );
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let tables = Tables::new();
    for (words, what) in [
        (&["solve", "nothing"][..], "invalid `nothing`: expected a game, size, table or position"),
        (&["solve", "start"], "name the game before it"),
        (&["solve", "4x4", "z9"], "invalid square `z`"),
        (&["solve", "4x4", "--time", "0"], "invalid --time `0`"),
        (
            &["solve", "minishogi", "--empties", "to-winner"],
            "--empties does not apply to minishogi",
        ),
        (&["solve", "4x4", "--plies", "3"], "--plies does not apply to othello-4x4"),
        (&["solve", "minishogi", "--outcome-only"], "--outcome-only does not apply to minishogi"),
        (
            &["report", "--size", "4", "--sample", "5", "--canonical"],
            "--canonical is for all positions of a table",
        ),
        (&["report", "--size", "8", "--empty-squares", "60..64"], "the start has 60"),
        (&["report", "--game", "minishogi", "--sample", "5"], "cannot be sampled by empty squares"),
        (
            &[
                "report",
                "--game",
                "animal-shogi",
                "--games-of",
                "random",
                "--empty-squares",
                "1..4",
            ],
            "cannot be sampled by empty squares",
        ),
    ] {
        let run = tables.run(words);
        let line = run.refused(words[1]);
        assert!(line.contains(what), "{line}");
    }
}

/// The line of play mates, by rules written for the tests, after `plies` plies.
fn mates(sfen: &str, line: &Value, plies: u64) -> bool {
    let names = line.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let start = Position::read(Rules::Minishogi, sfen);
    let last = names.clone().fold(start, |at, name| at.apply(name));
    last.end().is_some() && names.count() as u64 == plies
}

#[test]
fn mates_are_those_of_the_ground_truth() {
    let tables = Tables::new();
    let truth: Value = serde_json::from_str(include_str!("../data/minishogi-mates.json")).unwrap();
    let truth = truth["positions"].as_array().unwrap();
    let has = |names: &Value, name: &Value| names.as_array().unwrap().contains(name);
    let file = tables.root().join("mates.txt");
    let lines = |of: &[&Value]| {
        let lines: Vec<&str> = of.iter().map(|mate| mate["sfen"].as_str().unwrap()).collect();
        fs::write(&file, lines.join("\n")).unwrap();
    };
    let name = file.to_str().unwrap();
    // The shortest win with every move, and the shortest by checks, one after the other and both in a line of a file.
    lines(&truth.iter().collect::<Vec<_>>());
    let solved = tables.ok(&["solve", "minishogi", name, "--json"]);
    assert_eq!(solved.lines().count(), truth.len());
    for (line, mate) in solved.lines().zip(truth) {
        let (found, sfen) =
            (serde_json::from_str::<Value>(line).unwrap(), mate["sfen"].as_str().unwrap());
        let least = found["distance_lower"].as_u64();
        match (mate["mate_plies"].as_u64(), mate["no_mate_within"].as_u64()) {
            (Some(plies @ ..=9), _) => {
                assert_eq!(
                    (&found["outcome"], &found["distance"]),
                    (&1.into(), &plies.into()),
                    "{sfen}"
                );
                assert!(mates(sfen, &found["principal_variation"], plies), "{found}");
                assert!(has(&mate["optimal_first_moves_usi"], &found["principal_variation"][0]));
            }
            (Some(plies), _) => {
                let most = found["distance_upper"].as_u64();
                assert!(least.is_some_and(|least| least > 9) && most >= Some(plies), "{found}");
            }
            (None, within) => {
                // A longer win may be found by checks.
                let is_open =
                    found["outcome"].is_null() || least > within.map(|plies| plies.min(9));
                assert!(is_open, "{found}");
            }
        }
        let checks = &found["by_checks"];
        match (mate["tsume_checks_only_plies"].as_u64(), mate["tsume_none_within"].as_u64()) {
            (Some(plies), _) => {
                assert_eq!(
                    (&checks["plies"], &checks["is_shortest"]),
                    (&plies.into(), &true.into())
                );
                assert!(mates(sfen, &checks["line"], plies), "{found}");
                assert!(has(&mate["tsume_first_moves"], &checks["line"][0]), "{found}");
            }
            (None, within) => {
                assert!(checks["verdict"] == "no_mate" || checks["plies"].as_u64() > within);
            }
        }
    }
    // Positions of a list have the same values, here with the moves that win soonest.
    let short = |mate: &&Value| matches!(mate["mate_plies"].as_u64(), Some(3..=5));
    let short: Vec<&Value> = truth.iter().filter(short).collect();
    lines(&short);
    let columns = "board,outcome,distance,moves";
    let words = ["export", "minishogi", "--positions", name, "--plies", "4", "--columns", columns];
    let exported = tables.ok(&words);
    assert_eq!(exported.lines().count(), short.len());
    for (line, mate) in exported.lines().zip(&short) {
        let found: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&found["outcome"], &found["distance"]),
            (&1.into(), &mate["mate_plies"]),
            "{found}"
        );
        let won = found["moves"].as_str().unwrap();
        for name in mate["optimal_first_moves_usi"].as_array().unwrap() {
            assert!(won.contains(&format!("{}:+1", name.as_str().unwrap())), "{found}");
        }
    }
    // A report counts them as won by force; their values are read from the labels, none is searched again.
    let words = [
        "report",
        "minishogi",
        "--positions",
        name,
        "--plies",
        "4",
        "--policy",
        "random,mate:5000",
    ];
    let report = tables.json(&words);
    let won = report["metrics"][0]["forced_won"].as_f64().unwrap();
    assert_eq!(won, short.len() as f64, "{report}");
    let kept = |at: usize| report["metrics"][at]["forced_won_kept"].as_f64().unwrap();
    assert!(kept(0) < 0.3 && kept(1) > 0.7, "{report}");
}

#[test]
fn limits_and_tables_decide_what_solve_knows_of_mates() {
    let tables = Tables::new();
    let mate = "2k1S/4p/1gS2/4b/1KR2 b RGPb 1";
    let shown = tables.ok(&["solve", mate]);
    for part in ["wins in 3 plies", "\nBy checks alone: mate in 3 plies: ", "\nBy search: "] {
        assert!(shown.contains(part), "{shown}");
    }
    for (words, sentence) in [
        (&["solve", "minishogi"][..], "By checks alone: no mate, proven"),
        (
            &["solve", "minishogi", "--plies", "3"],
            "a win takes at least 5 plies, a loss takes at least 4",
        ),
        (&["solve", "animal-shogi", "--plies", "5"], "a win takes at least 7 plies"),
        (
            // Each of more threads would have 20 nodes, and together they find the mate in some runs.
            &["solve", "1kg2/3rp/PB1S1/5/KG2R b BS 1", "--nodes", "20", "--threads", "1"],
            "By checks alone: not decided",
        ),
    ] {
        let shown = tables.ok(words);
        assert!(shown.contains(sentence) && shown.contains("By search: "), "{shown}");
    }
    for (position, plies) in
        [("4R/3KG/k1p2/3P1/4s b BGSrb 1", 15), ("K4/3+S1/5/2k2/1b3 b 2RBGSPgp 1", 9)]
    {
        let output = tables.json(&["solve", "minishogi", position, "--plies", "0"]);
        let checks = &output["by_checks"];
        assert_eq!((&checks["plies"], &output["distance_upper"]), (&plies.into(), &plies.into()));
        assert!(mates(position, &checks["line"], plies), "{output}");
        assert_eq!(checks.get("missing_plies"), None);
    }
    // A mate whose longest defence is not known within the limit.
    let cut = ["solve", "4k/r4/SKp1g/4b/SG1B1 w Pr 1", "--nodes", "50000", "--threads", "1"];
    let shown = tables.ok(&cut);
    assert!(shown.contains(" … (30 plies missing)\n"), "{shown}");
    let output = tables.json(&cut);
    assert_eq!(
        (&output["by_checks"]["plies"], &output["by_checks"]["missing_plies"]),
        (&31.into(), &30.into())
    );
    assert_eq!((&output["outcome"], &output["distance_upper"]), (&1.into(), &31.into()));
    // White has an equal mate on the rotated board, and the output has a line for each position of a file.
    let file = tables.root().join("mates.txt");
    fs::write(&file, format!("{mate}\n2rk1/B4/2sG1/P4/s1K2 w Brgp 1\n")).unwrap();
    let rows = tables.ok(&["solve", "--game", "minishogi", file.to_str().unwrap()]);
    let verdicts: Vec<&str> = rows.lines().map(|row| row.split('\t').next().unwrap()).collect();
    assert_eq!(verdicts, ["win 3", "win 3"]);
    // A table that contains the position has precedence.
    tables.ok(&["enumerate", "--game", "minishogi", "--root", mate, "--max-depth", "3", "-q"]);
    tables.ok(&["value-iterate", "-q"]);
    let by_table = tables.json(&["solve", "--game", "minishogi", mate]);
    assert_eq!((&by_table["by"], &by_table["distance"]), (&"table".into(), &3.into()));
    assert_eq!(tables.json(&["solve", mate, "--search"])["by"], "search");
}

/// The figures of a policy by search equal those by table, position for position.
#[test]
fn a_report_by_search_judges_as_a_table_does() {
    let tables = Tables::new();
    let judged = |words: &[&str]| {
        let file = tables.root().join("judged.csv");
        tables.ok(&[words, &["--policy", "greedy", "--csv", file.to_str().unwrap()]].concat());
        fs::read_to_string(file).unwrap()
    };
    let sample = ["report", "--size", "4", "--sample", "300", "--empty-squares", "3..8"];
    let games = ["report", "--size", "4", "--games-of", "greedy", "--games", "5", "--seed", "3"];
    let [sampled, met] = [&sample[..], &games].map(judged);
    let late = judged(&[&games[..], &["--empty-squares", "1..4"]].concat());
    let columns: Vec<&str> = sampled.lines().next().unwrap().split(',').collect();
    let weight = columns.iter().position(|column| *column == "weight").unwrap();
    // Columns that search does not know, and how often and in which order positions occur.
    let left_out = ["row", "weight", "distance", "plies_kept", "best_distance"];
    let kept: Vec<usize> =
        (0..columns.len()).filter(|&at| !left_out.contains(&columns[at])).collect();
    let cells = |text: &str| -> Vec<String> {
        let of_line = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            kept.iter().map(|&at| cells[at]).collect::<Vec<_>>().join(",")
        };
        text.lines().map(of_line).collect()
    };
    // From here on there is a table.
    let by_table = cells(&judged(&["report", "--size", "4", "--no-games"]));
    let as_by_table = |searched: &str| -> u64 {
        let missing: Vec<String> =
            cells(searched).into_iter().filter(|line| !by_table.contains(line)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let weight = |line: &str| line.split(',').nth(weight).unwrap().parse::<u64>().unwrap();
        searched.lines().skip(1).map(weight).sum()
    };
    assert_eq!(as_by_table(&sampled), 300);
    // Positions of the policy's own games: it is to move in each, first as Black and then as White.
    let count = as_by_table(&met);
    let movers: Vec<bool> = met.lines().skip(1).map(|line| line.contains(",Black,")).collect();
    assert!(50 < count && count < 70 && movers.is_sorted_by(|a, b| a >= b), "{count} {movers:?}");
    let start = met.lines().find(|line| line.contains("-----OX--XO----- X;")).unwrap();
    assert_eq!(start.split(',').nth(weight), Some("5"));
    assert!(late.lines().skip(1).all(|line| met.contains(line.split(',').nth(4).unwrap())));
    assert!((5..30).contains(&as_by_table(&late)), "{late}");
    let other = [&games[..], &["--policy", "random", "--opponent", "weights"]].concat();
    let words = tables.json(&other)["table"]["chosen"].as_str().unwrap().to_string();
    assert!(words.starts_with("those of greedy in 10 games against weights, "), "{words}");
    let run = tables.run(&["report", "--size", "4", "--games-of", "perfect"]);
    assert!(run.refused("it needs a table").contains("the perfect policy needs a table"));
    // Again with cached labels: the figures are the same.
    let figures = |words: &[&str]| tables.json(&[words, &["--policy", "greedy"]].concat());
    assert_eq!(figures(&sample), figures(&sample));
    assert!(figures(&sample)["policies"][0]["intervals"]["result_kept"]["lower"].is_number());
}

/// Boards too large for a table are played and measured by search.
#[test]
fn a_large_board_needs_no_table() {
    let tables = Tables::new();
    let file = tables.root().join("positions.txt");
    fs::write(&file, ENDGAME).unwrap();
    let words = ["report", "--size", "8", "--policy", "greedy", "--positions"];
    let report = tables.json(&[&words[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(report["table"]["judged_states"], 1);
    assert!(report["policies"][0].get("intervals").is_none());
    let mut play = tables.solver(&["play", "--size", "8", "--white", "random", "--from", ENDGAME]);
    let mut child = play.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hint\nquit\n").unwrap();
    let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(printed.contains("from 14 empty squares on, by search"), "{printed}");
    assert!(printed.contains("Each move, best first; values are Black's"), "{printed}");
}

#[test]
fn a_query_searches_what_no_table_contains() {
    let tables = Tables::new();
    let solved = tables.json(&["solve", "8x8", ENDGAME, "--all-moves"]);
    for words in [
        &["8x8", ENDGAME][..],
        &["othello-8x8", ENDGAME],
        &["--game", "othello-8x8", ENDGAME],
        &[ENDGAME, "--size", "8"],
        &[ENDGAME],
    ] {
        let answer = tables.json(&[&["query"], words].concat());
        assert_eq!(
            (&answer["schema"], &answer["table"]),
            (&"yomikiri-query".into(), &"search".into())
        );
        assert!(answer["score"].is_i64() && answer["score"] == solved["score"], "{words:?}");
        assert_eq!(answer["moves"], solved["moves"], "{words:?}");
    }
    let shown = tables.ok(&["query", "8x8", ENDGAME]);
    assert!(shown.lines().last().unwrap().starts_with("By search: "), "{shown}");
    let ran = tables.run(&["query", "animal-shogi", "start"]);
    assert!(ran.refused("play without end").contains("no table animal-shogi in"), "{ran:?}");

    // A position that a bounded table does not prove is searched, by its rule for empty squares.
    let line = tables.json(&["query", "4x4"])["principal_variation"].clone();
    let line: Vec<&str> = line.as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "3"]);
    tables.ok(&["value-iterate", "--empties", "to-winner"]);
    let bounded = "othello-4x4-depth3";
    let start = tables.json(&["query", "4x4"]);
    let to_winner = tables.json(&["solve", "4x4", "--search", "--empties", "to-winner"]);
    assert_eq!((&start["table"], &start["score"]), (&"search".into(), &to_winner["score"]));
    let after = line[..6].concat();
    let to_winner = ["solve", "4x4", &after, "--search", "--empties", "to-winner"];
    let outside = tables.json(&["query", "--size", "4", &after]);
    assert_eq!(outside["score"], tables.json(&to_winner)["score"]);
    for (position, source) in
        [(&line[..6].concat()[..], "search"), ("XXX------------- X;", bounded)]
    {
        let answer = tables.json(&["query", bounded, position]);
        assert_eq!(answer["table"], source);
        let to_winner = ["solve", "4x4", position, "--search", "--empties", "to-winner"];
        assert_eq!(answer["score"], tables.json(&to_winner)["score"], "{position}");
    }
    let shown = tables.ok(&["query", bounded, "XXX------------- X;"]);
    assert!(shown.contains("won by 16 discs"), "{shown}");
    let shown = tables.ok(&["query", bounded, &line[..6].concat()]);
    assert!(shown.contains("count for the winner"), "{shown}");
}

/// The columns of positions equal those of a table, except columns that only a table has.
#[test]
fn positions_are_exported_without_a_table() {
    let tables = Tables::new();
    let file = |name: &str| tables.root().join(name).to_str().unwrap().to_string();
    let positions = file("positions.txt");
    fs::write(&positions, "b1a1a2\n-----OX--XX---X- O;\nXXXXXXXXXXXXXXXO X;\n").unwrap();
    let export = |words: &[&str]| {
        let begin = ["export", "--size", "4", "--positions", &positions, "--skip-bad"];
        tables.ok(&[&begin[..], words].concat())
    };
    let searched = export(&[]);
    assert_eq!(searched.lines().count(), 6);
    assert!(tables.root().join("labels/othello-4x4-uncounted.labels").exists());
    export(&["--out", &file("searched.obf")]);
    if cfg!(feature = "parquet") {
        export(&["--out", &file("searched.parquet")]);
    }
    let csv = export(&["--out", &file("searched.csv")])
        + &fs::read_to_string(file("searched.csv")).unwrap();
    assert!(
        csv.starts_with("mover,opponent,board,side,layer,outcome,score,proven,moves\n"),
        "{csv}"
    );
    let run =
        tables.run(&["export", "--size", "4", "--positions", &positions, "--columns", "distance"]);
    assert!(run.refused("of a table").contains("unknown column `distance`"));
    // The board without a move is not reachable: the table leaves it out.
    tables.ok(&["enumerate", "--size", "4"]);
    tables.ok(&["value-iterate"]);
    let by_table = export(&[]);
    let rows = |text: &str| -> Vec<Value> {
        let row = |line: &str| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row.as_object_mut().unwrap().retain(|name, _| !["row", "distance"].contains(&&**name));
            row
        };
        text.lines().map(row).collect()
    };
    assert!(by_table.contains("\"distance\"") && !searched.contains("\"distance\""));
    let (searched, by_table) = (rows(&searched), rows(&by_table));
    assert_eq!((&searched[..5], &searched[5]["score"]), (&by_table[..], &14.into()));
    export(&["--out", &file("table.obf")]);
    let [a, b] = ["searched.obf", "table.obf"].map(|name| fs::read_to_string(file(name)).unwrap());
    assert!(!b.is_empty() && a.starts_with(&b), "{a}{b}");
    // The opening of 8x8 is beyond any search, which is limited by a time.
    fs::write(&positions, format!("d3\n{ENDGAME}\n")).unwrap();
    let words =
        ["export", "--game", "othello-8x8", "--positions", &positions, "--search-time", "1", "-q"];
    let run = tables.run(&words);
    let line = run.refused("an opening");
    assert!(line.contains("line 1: ") && line.contains("not searched within"), "{line}");
    let rest = rows(&tables.ok(&[&words[..], &["--skip-bad"]].concat()));
    assert_eq!((rest.len(), &rest[0]["score"]), (1, &tables.json(&["query", ENDGAME])["score"]));
}

#[test]
fn damaged_labels_are_reported() {
    let tables = Tables::new();
    let words = ["report", "--size", "4", "--sample", "50", "--policy", "greedy", "--metrics"];
    let figures = tables.ok(&words);
    let file = tables.root().join("labels/othello-4x4-uncounted.labels");
    let whole = fs::read(&file).unwrap();
    // A record cut off by a kill is searched again.
    fs::write(&file, &whole[..whole.len() - 3]).unwrap();
    assert_eq!(tables.ok(&words), figures);
    assert_eq!(fs::read(&file).unwrap().len(), whole.len());
    let mut damaged = whole.clone();
    damaged[90] ^= 1;
    fs::write(&file, &damaged).unwrap();
    let run = tables.run(&words);
    let path = file.display();
    let line = run.ended(3, "a damaged record");
    assert!(line.starts_with(&format!("solver: {path} is damaged: record at byte 64: ")), "{line}");
    assert!(line.contains("wrong checksum; delete the file"), "{line}");
    assert!(!line.contains("table"), "{line}");
    fs::write(&file, b"something else altogether, which is longer than the head of such a file is")
        .unwrap();
    assert_eq!(tables.run(&words).code, 3);
}

#[test]
fn proofs_are_made_and_checked() {
    let tables = Tables::new();
    let file = tables.root().join("4x5.proof");
    let path = file.to_str().unwrap();
    let made = tables.json(&["prove", "4x5", "--out", path, "--leaves", "5"]);
    assert_eq!((&made["score"], &made["kind"]), (&16.into(), &"certificate".into()));
    let checked = tables.json(&["check", path]);
    assert_eq!((&checked["score"], &checked["moves"]), (&16.into(), &made["moves"]));
    assert!(checked["searched"][0].as_u64().unwrap() > 0);
    assert!(tables.ok(&["check", path]).contains("Black, to move, wins by 16 discs\nProven: "));
    is_checked_by_python(&file, 40);
    for damage in [Some(20), Some(40), Some(60), None] {
        let damaged = damaged(&file, damage);
        let run = tables.run(&["check", damaged.to_str().unwrap()]);
        assert_eq!(run.code, 3, "{damage:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let table = tables.root().join("4x4.semi");
    let path = table.to_str().unwrap();
    let made = tables.json(&["prove", "4x4", "--semi-strong", "--leaves", "3", "--out", path]);
    assert_eq!((&made["score"], &made["kind"]), (&(-8).into(), &"semi-strong".into()));
    let checked = tables.run(&["check", path]);
    assert!(checked.stdout.contains("each stored move reaches the score"), "{checked:?}");
    assert!(
        checked.stderr.contains(" positions of at most 4 empty squares, about "),
        "{checked:?}"
    );
    is_checked_by_python(&table, 40);
    let run = tables.run(&["prove", "minishogi", "--out", path]);
    assert!(run.refused("a game without proofs").contains("cannot prove minishogi"));
}

/// A file of 147 bytes whose leaves would be searched for hours is refused before the search.
#[test]
fn long_checks_are_refused() {
    let tables = Tables::new();
    let deep = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/proof/8x8-deep-leaves");
    let run = tables.run(&["check", deep]);
    let line = run.refused("leaves of 20 empty squares");
    assert!(line.contains("of at most 20 empty squares visits about 506"), "{line}");
    assert!(line.contains("; add --force to check it anyway"), "{line}");
    let file = tables.root().join("4x4.proof");
    let path = file.to_str().unwrap();
    tables.ok(&["prove", "4x4", "--leaves", "12", "--out", path]);
    assert!(tables.ok(&["check", path, "--force"]).contains("Proven: 0 moves"));
}

/// Labels are read by an independent reader, which searches a sample of them.
#[test]
fn labels_are_checked_by_python() {
    let tables = Tables::new();
    tables.ok(&["report", "--size", "4", "--sample", "50", "--policy", "greedy"]);
    is_checked_by_python(&tables.root().join("labels/othello-4x4-uncounted.labels"), 200);
}

/// Runs the checker in plain Python on a file, and on damaged copies, one of them with a changed byte at `at`.
fn is_checked_by_python(file: &Path, at: usize) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/check_proof.py");
    let python = |file: &Path| {
        let output = Command::new("python3").arg(script).arg(file).arg("--all").output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(python(file), (true, String::new()));
    for damage in [4, 20, at, 60] {
        let (is_accepted, errors) = python(&damaged(file, Some(damage)));
        assert!(!is_accepted && errors.starts_with("REFUSED: "), "byte {damage}: {errors}");
    }
}

/// Writes a damaged copy of a file: with a changed byte, or one too many.
fn damaged(file: &Path, at: Option<usize>) -> PathBuf {
    let mut bytes = fs::read(file).unwrap();
    match at {
        Some(at) => bytes[at] ^= 4,
        None => bytes.push(0),
    }
    let damaged = file.with_added_extension("damaged");
    fs::write(&damaged, &bytes).unwrap();
    damaged
}

/// The stored proofs hold: an endgame is won by 38 (27,811 moves), White wins 6×6 by 4 (784,172 moves, before a
/// release).
#[test]
fn kept_proofs_hold() {
    let tables = Tables::new();
    let proofs = [("ffo-40", 38, 27_811), ("othello-6x6", -4, 784_172)];
    for &(name, score, moves) in &proofs[..if all_cases() { 2 } else { 1 }] {
        let file =
            format!("{}/tests/data/{name}.proof", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let checked = tables.json(&["check", &file]);
        assert_eq!(checked["score"], score);
        let counts = checked["moves"].as_array().unwrap();
        assert_eq!(counts.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), moves);
    }
}
