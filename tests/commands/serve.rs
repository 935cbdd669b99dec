//! `solver serve`: its answers, its refusals and its robustness.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Random;
use crate::common::http::{Got, Served, escaped, parted};
use crate::common::needs::python_has;
use crate::common::tables::Tables;

const SHOGI: &str = "animal-shogi-3x3-depth6";
const MINISHOGI: &str = "minishogi-depth3";

/// 4×4 Othello, and two bounded tables.
fn tables() -> Tables {
    Tables::after(&[
        &["enumerate", "--game", "minishogi", "--max-depth", "3"],
        &["value-iterate"],
        &["enumerate", "--game", "animal-shogi-3x3", "--max-depth", "6"],
        &["value-iterate"],
        &["enumerate", "--size", "4"],
        &["value-iterate"],
    ])
}

/// Positions of each table: starts, ends, the frontier, one that is only a mirror image.
const POSITIONS: [(&str, &str); 8] = [
    ("othello-4x4", "start"),
    ("othello-4x4", "b1a1a2"),
    ("othello-4x4", "OX---OX--XO----- X;"),
    ("othello-4x4", "XXXXXXXXXXXXXXXO X;"),
    (SHOGI, "start"),
    (SHOGI, "3c3b"),
    (MINISHOGI, "start"),
    (MINISHOGI, "5d5c 1b1c 5e4d 1c1d"),
];

/// Each request is logged; a failure to write the log drops no connection.
#[cfg(target_os = "linux")]
#[test]
fn a_log_that_cannot_be_written_drops_no_request() {
    let tables = Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let served = Served::speaking(&tables, &["-v", "--port", "0"], full.into());
    for _ in 0..3 {
        assert_eq!(served.position("othello-4x4", "start").status, 200);
    }
}

#[test]
fn what_is_served_is_what_query_prints() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let (mut known, mut outside) = (0, 0);
    for (table, position) in POSITIONS {
        let got = served.position(table, position);
        let asked = tables.run(&["query", table, position, "--json"]);
        let mut printed: Value = serde_json::from_str(&asked.stdout).unwrap_or_default();
        for key in ["schema", "schema_version"] {
            printed.as_object_mut().map(|fields| fields.remove(key).unwrap());
        }
        if got.status == 404 {
            got.refused(404, position);
            // It can be played on: by the rules alone, or by search in games that always end. A query searches both.
            let answer = &got.json()["answer"];
            let path = format!("/api/v1/{table}?anywhere=true&position={}", escaped(position));
            let anywhere = served.get(&path);
            let expected = if table == "othello-4x4" { &printed } else { answer };
            assert_eq!((anywhere.status, &anywhere.json()), (200, expected), "{position}");
            assert_eq!(printed["table"], "search");
            assert_eq!((&answer["kind"], &answer["outcome"]), (&json!("outside"), &Value::Null));
            let squares = if table == MINISHOGI { 25 } else { 16 };
            assert_eq!(answer["board"]["cells"].as_array().unwrap().len(), squares, "{answer}");
            let moves = answer["moves"].as_array().unwrap().len();
            assert_eq!(moves > 5, table == MINISHOGI, "{answer}");
            outside += 1;
            continue;
        }
        assert_eq!((got.status, &got.json()), (200, &printed), "{table} {position}");
        known += 1;
    }
    assert_eq!((known, outside), (7, 1));
    let start = served.get("/api/v1/othello-4x4").json();
    assert_eq!(start, served.position("othello-4x4", "start").json());
    let line: Vec<&str> = start["principal_variation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m.as_str().unwrap())
        .collect();
    let end = served.position("othello-4x4", &line.concat()).json();
    assert_eq!((&end["kind"], &end["distance"]), (&json!("terminal"), &json!(0)));
    assert_eq!(end["score"].as_i64().map(i64::abs), Some(8));
    // The value of a move is that of the position after it, seen from the other side.
    for child in start["moves"].as_array().unwrap() {
        let after = served.position("othello-4x4", child["position"].as_str().unwrap()).json();
        assert_eq!(after["score"].as_i64().unwrap(), -child["score"].as_i64().unwrap());
        assert_eq!(after["board"]["cells"][child["to"].as_u64().unwrap() as usize], "X");
    }
    let shogi = served.get(&format!("/api/v1/{SHOGI}")).json();
    let cells = &shogi["board"]["cells"];
    assert_eq!(cells, &json!(["e", "l", "c", "", "", "", "C", "L", "E"]));
    for child in shogi["moves"].as_array().unwrap() {
        let from = child["from"].as_u64().unwrap() as usize;
        assert_ne!(cells[from], "", "{child}");
        let after = served.position(SHOGI, child["position"].as_str().unwrap()).json();
        let to = child["to"].as_u64().unwrap() as usize;
        assert_eq!(after["board"]["cells"][to], cells[from], "{child}");
    }
}

#[test]
fn every_answer_is_as_described() {
    let tables = tables();
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "2", "--name", "unsolved"]);
    let served = Served::new(&tables, &[]);
    let mut met: Vec<Value> = Vec::new();
    let mut keep = |path: &str, method: &str, got: &Got| {
        let body: Vec<Value> = match got.head.contains("x-ndjson") {
            true => got.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            false => vec![got.json()],
        };
        met.extend(body.into_iter().map(
            |body| json!({"path": path, "method": method, "status": got.status, "body": body}),
        ));
    };
    keep("/api/v1/openapi.json", "get", &served.get("/api/v1/openapi.json"));
    keep("/api/v1/tables", "get", &served.get("/api/v1/tables"));
    for (table, position) in POSITIONS {
        keep("/api/v1/{table}", "get", &served.position(table, position));
        let body = format!("{position}\n{{\"position\":\"nothing\",\"id\":[1]}}\n\"");
        let lines = served.post(&format!("/api/v1/{table}"), body.as_bytes());
        assert_eq!(lines.text().lines().count(), 3);
        keep("/api/v1/{table}", "post", &lines);
        let position = escaped(position);
        for policy in ["greedy", "perfect", "mcts:20", "nothing", "exec:true", "usi:true"] {
            let path = format!("/api/v1/{table}/policy?policy={policy}&position={position}");
            keep("/api/v1/{table}/policy", "get", &served.get(&path));
        }
        keep("/api/v1/{table}/counts", "get", &served.get(&format!("/api/v1/{table}/counts")));
        keep("/api/v1/{table}/about", "get", &served.get(&format!("/api/v1/{table}/about")));
        let path = format!("/api/v1/{table}/mistakes?policy=greedy&count=3");
        keep("/api/v1/{table}/mistakes", "get", &served.get(&path));
        let path = format!("/api/v1/{table}/differences?policy=greedy&other=random&count=3");
        keep("/api/v1/{table}/differences", "get", &served.get(&path));
    }
    for asked in ["form=sgf&moves=b1+a1&first=A", "form=kif", "form=x", "form=lines&moves=z9"] {
        let path = format!("/api/v1/othello-4x4/game?{asked}");
        keep("/api/v1/{table}/game", "get", &served.get(&path));
    }
    let huge = "b1\n".repeat(100_001);
    for (asked, text) in [
        ("", &huge[..]),
        ("", "b1a1"),
        ("?form=sgf", "b1"),
        ("?seconds=1&position=b1", "a1\nc1"),
        ("", ""),
    ] {
        let path = format!("/api/v1/othello-4x4/review{asked}");
        keep("/api/v1/{table}/review", "post", &served.post(&path, text.as_bytes()));
    }
    keep("/api/v1/{table}/about", "get", &served.get("/api/v1/minishogi/about"));
    for game in ["minishogi", "othello-8x8", "connect-four"] {
        let path = format!("/api/v1/{game}?anywhere=true&estimate=true");
        keep("/api/v1/{table}", "get", &served.get(&path));
    }
    let searched = "/api/v1/othello-4x4?anywhere=true&position=XX---OX--XO-----";
    keep("/api/v1/{table}", "get", &served.get(searched));
    keep("/api/v1/{table}", "get", &served.get("/api/v1/nothing"));
    keep("/api/v1/{table}", "get", &served.get("/api/v1/unsolved"));
    keep("/api/v1/{table}", "get", &served.get("/api/v1/othello-4x4?position=x"));
    let statuses: Vec<u64> = met.iter().map(|one| one["status"].as_u64().unwrap()).collect();
    for status in [200, 400, 404, 409, 422] {
        assert!(statuses.contains(&status), "{status}");
    }
    let file = tables.place("met.json");
    std::fs::write(&file, serde_json::to_string(&met).unwrap()).unwrap();
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    if !python_has("jsonschema") {
        return;
    }
    let mut python = Command::new("python3");
    python.arg(root.join("tests/commands/openapi.py")).arg(root.join("docs/openapi.json"));
    let checked = python.arg(file).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

/// Games are reviewed as `solver review` does it; without seconds nothing is searched, and nothing is left on disk.
#[test]
fn games_are_reviewed_as_the_command_does() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let text = "(;FF[4]GM[2]SZ[4]PB[A]PW[B];B[a2];W[a3];B[a4];W[c1];B[d1])";
    let file = tables.place("game.sgf");
    std::fs::write(&file, text).unwrap();
    let asked = tables.run(&["review", "othello-4x4", file.to_str().unwrap(), "--json"]);
    let mut printed: Value = serde_json::from_str(&asked.stdout).unwrap();
    printed.as_object_mut().unwrap().retain(|key, _| !key.starts_with("schema"));
    for made in printed["games"][0]["moves"].as_array_mut().unwrap() {
        made.as_object_mut().unwrap().remove("better_line");
    }
    let got = served.post("/api/v1/othello-4x4/review", text.as_bytes());
    assert_eq!((got.status, got.json()), (200, printed.clone()));
    assert!(printed["worst"].as_array().unwrap().len() > 2, "{printed}");
    // Moves from a position, a game in each line.
    let lines =
        served.post("/api/v1/othello-4x4/review?position=a2&form=lines", b"a3 a4\na1").json();
    assert_eq!((&lines["moves"], &lines["judged"]), (&json!(3), &json!(3)));
    // The bounded table proves nothing deep; a search does.
    let deep = "1r2k/5/5/5/KG3 b - 1 moves 4e4d 1a1b";
    let values = |seconds: &str| {
        let path = format!("/api/v1/{MINISHOGI}/review?seconds={seconds}");
        let got = served.post(&path, deep.as_bytes());
        assert_eq!(got.status, 200, "{got:?}");
        got.json()["values"].clone()
    };
    assert_eq!(values("0"), json!(format!("table {MINISHOGI}")));
    assert_eq!(values("1"), json!(format!("table {MINISHOGI} and search")));
    assert!(!tables.place("labels").exists());
    // A body that would be more games is refused before they are read.
    let huge = "b1\n".repeat(100_001);
    served.post("/api/v1/othello-4x4/review", huge.as_bytes()).refused(413, "lines");
    for (text, what) in [("b1 b1".to_string(), "line 1"), ("b1\n".repeat(1001), "1001 games")] {
        let error = served.post("/api/v1/othello-4x4/review", text.as_bytes()).refused(400, what);
        assert!(error.contains(what), "{error}");
    }
}

/// The server writes a game as `save` in `play` does, in the forms that a table names and in no other.
#[test]
fn games_are_written_in_the_forms_of_other_programs() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let listing = served.get("/api/v1/tables").json();
    let forms = |table: &str| -> Vec<String> {
        let all = listing["tables"].as_array().unwrap();
        let line = all.iter().find(|line| line["table"] == table).unwrap();
        serde_json::from_value(line["forms"].clone()).unwrap()
    };
    assert_eq!(forms("othello-4x4"), ["lines", "sgf"]);
    assert_eq!(forms(SHOGI), ["lines", "kif"]);
    let written = |table: &str, asked: &str| served.get(&format!("/api/v1/{table}/game?{asked}"));
    let sgf = written("othello-4x4", "form=SGF&moves=b1+a1&first=A%5D&second=B").json();
    assert_eq!(sgf["form"], "sgf");
    let text = sgf["text"].as_str().unwrap();
    assert!(text.starts_with("(;FF[4]GM[2]") && text.contains("PB[A ]PW[B]"), "{text}");
    assert!(text.ends_with(";B[b1];W[a1])\n"), "{text}");
    let lines = written("othello-4x4", "form=lines&moves=b1&first=A%0AB&second=C").json();
    let text = lines["text"].as_str().unwrap();
    assert!(
        text.starts_with("# othello-4x4: A B against C\n-----OX--XO----- X; moves b1"),
        "{text}"
    );
    let kif = written(SHOGI, "form=kif").json();
    assert!(kif["text"].as_str().unwrap().contains("手数----指手"), "{kif}");
    written("othello-4x4", "form=kif").refused(400, "not written as KIF; choose lines or sgf");
    written("othello-4x4", "form=x").refused(400, "expected one of lines, sgf");
    written("othello-4x4", "form=lines&moves=z9").refused(400, "z9");
}

#[test]
fn lines_are_answered_in_order_and_as_query_does() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let long = "a".repeat(5000);
    let blanks = format!("b1{}a1", " ".repeat(5000));
    let input = format!(
        "start\r\n\n\"b1a1\"\n{{\"position\": \"b1\", \"id\": \"x\"}}\nzz\n{{\"a\": 1}}\n{long}\n{blanks}\nb1"
    );
    let got = served.post("/api/v1/othello-4x4", input.as_bytes());
    assert_eq!(got.status, 200);
    let lines: Vec<Value> =
        got.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8);
    let scores: Vec<&Value> = lines.iter().map(|line| &line["score"]).collect();
    assert_eq!(json!(scores), json!([-8, -8, 8, null, null, null, null, 8]));
    assert_eq!(lines[0]["best"], json!(["b1", "a2", "d3", "c4"]));
    assert_eq!((&lines[2]["id"], lines[0].get("id")), (&json!("x"), None));
    assert!(lines[3..7].iter().all(|line| line["error"].is_string()), "{lines:?}");
    let mut child = tables
        .solver(&["query", "othello-4x4", "--batch"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), got.text());
    tables.run(&["query", "b1a1", "--batch"]).refused("no table");
}

/// Outside a table, positions near the end of a game are searched, also for policies; earlier ones get the
/// rules only.
#[test]
fn positions_outside_a_table_are_searched_where_that_is_quick() {
    let tables = Tables::after(&[
        &["enumerate", "--size", "4", "--max-depth", "3"],
        &["value-iterate"],
        &["enumerate", "--size", "5x6", "--max-depth", "2"],
        &["value-iterate"],
    ]);
    let served = Served::new(&tables, &[]);
    let at = |table: &str, position: &str| {
        served.get(&format!("/api/v1/{table}?anywhere=true&position={position}")).json()
    };
    let start = tables.json(&["solve", "4x4", "--search"]);
    let line: Vec<&str> = (start["principal_variation"].as_array().unwrap().iter())
        .map(|name| name.as_str().unwrap())
        .collect();
    let end = line[..6].concat();
    let answer = at("othello-4x4-depth3", &end);
    assert_eq!((&answer["table"], &answer["score"]), (&json!("search"), &json!(-8)), "{answer}");
    assert!(answer["moves"].as_array().unwrap().iter().all(|m| m["score"].is_i64()), "{answer}");
    let path = format!("/api/v1/othello-4x4-depth3/policy?policy=perfect&position={end}");
    let decision = served.get(&path).json();
    assert_eq!(
        (&decision["table"], &decision["move"]),
        (&json!("search"), &answer["moves"][0]["move"])
    );
    // So are those at the edge of a table, which it does not prove.
    let edge = line[..3].concat();
    assert_eq!(served.position("othello-4x4-depth3", &edge).json()["kind"], "frontier");
    assert_eq!(at("othello-4x4-depth3", &edge)["score"], json!(8));
    // Far from the end nothing is searched.
    let mut position = "start".to_string();
    for _ in 0..3 {
        let words = ["solve", "5x6", &position, "--search", "--nodes", "9", "--all-moves"];
        position = tables.json(&words)["moves"][0]["position"].as_str().unwrap().to_string();
    }
    assert_eq!(at("othello-5x6-depth2", &escaped(&position))["kind"], "outside");
}

/// The rules know the moves at the edge of a table and beyond, and how a game ends there.
#[test]
fn games_go_on_beyond_a_table() {
    let tables = Tables::after(&[
        &["enumerate", "--game", "minishogi", "--max-depth", "2"],
        &["value-iterate"],
        &["enumerate", "--size", "6", "--max-depth", "2"],
        &["value-iterate"],
    ]);
    let served = Served::new(&tables, &[]);
    let asked = |table: &str, position: &str, moves: &str| {
        let (position, moves) = (escaped(position), escaped(moves));
        let path = format!("/api/v1/{table}?anywhere=true&position={position}&moves={moves}");
        served.get(&path).json()
    };
    let mut random = Random(3);
    for (table, games, plies) in [("othello-6x6-depth2", 4, 80), ("minishogi-depth2", 6, 30)] {
        for _ in 0..games {
            let mut moves = String::new();
            for _ in 0..plies {
                let answer = asked(table, "", &moves);
                let legal = answer["moves"].as_array().unwrap();
                if answer["kind"] == "terminal" {
                    assert!(legal.is_empty() && answer["outcome"].is_i64(), "{answer}");
                    break;
                }
                assert!(!legal.is_empty(), "{moves}: {answer}");
                let chosen = &legal[random.below(legal.len())]["move"];
                moves = format!("{moves} {}", chosen.as_str().unwrap());
            }
            if table.starts_with("othello") {
                assert_eq!(asked(table, "", &moves)["kind"], "terminal", "{moves}");
            }
        }
    }
    let rook = "1r2k/5/5/5/K4 w - 1";
    let round = "4a5a 5e4e 5a4a 4e5e ";
    assert_eq!(asked("minishogi-depth2", rook, &round.repeat(2))["kind"], "outside");
    let ended = asked("minishogi-depth2", rook, &round.repeat(3));
    assert_eq!((&ended["kind"], &ended["outcome"]), (&json!("terminal"), &json!(-1)), "{ended}");
    assert_eq!((&ended["winner"], &ended["moves"]), (&json!("Black"), &json!([])), "{ended}");
    assert!(ended["end"].as_str().unwrap().starts_with("perpetual check by White"), "{ended}");
    let after = format!("{}4a5a", round.repeat(3));
    let path =
        format!("/api/v1/minishogi-depth2?position={}&moves={}", escaped(rook), escaped(&after));
    served.get(&path).refused(400, "the game is over");
    // A mate that no table has is announced.
    let mated = asked("minishogi-depth2", "2s2/K2gk/2b2/1g3/5 w RBS2Pr 1", "R*5a");
    assert_eq!(
        (&mated["kind"], &mated["winner"]),
        (&json!("terminal"), &json!("White")),
        "{mated}"
    );
    assert_eq!(mated["end"], "Black is mated");
}

/// With a time limit, positions with more empty squares are searched, and those that the table does not prove.
#[test]
fn positions_are_searched_for_the_requested_time() {
    let tables =
        Tables::after(&[&["enumerate", "--size", "6", "--max-depth", "1"], &["value-iterate"]]);
    let served = Served::new(&tables, &[]);
    let at = |asked: &str| served.get(&format!("/api/v1/othello-6x6-depth1?{asked}")).json();
    for position in ["start", "c2b4"] {
        let quick = at(&format!("anywhere=true&position={position}"));
        assert_eq!((&quick["outcome"], &quick["score"]), (&Value::Null, &Value::Null), "{quick}");
        let found = at(&format!("anywhere=true&seconds=60&position={position}"));
        let source = found["table"].as_str().unwrap();
        assert_eq!((&source[..15], &found["score"]), ("stored solution", &json!(-4)), "{found}");
    }
    // Without `anywhere` the answer is that of the table; without time there are only bounds.
    assert_eq!(at("seconds=60")["table"], "othello-6x6-depth1");
    let hard = escaped("--------------XX----OX-------------- O;");
    let bounded = at(&format!("anywhere=true&seconds=0&position={hard}"));
    assert_eq!((&bounded["table"], &bounded["score"]), (&json!("search"), &Value::Null));
}

/// Every game answers without a table; estimates are the same each time, stand where nothing is proven, and are never proofs.
#[test]
fn games_without_a_table_have_estimates() {
    let tables =
        Tables::after(&[&["enumerate", "--size", "4", "--max-depth", "2"], &["value-iterate"]]);
    let served = Served::new(&tables, &[]);
    let at = |game: &str, asked: &str| {
        served.get(&format!("/api/v1/{game}?anywhere=true&{asked}")).json()
    };
    let plain = at("othello-8x8", "position=start");
    assert_eq!((&plain["estimate"], &plain["outcome"]), (&Value::Null, &Value::Null));
    let one = at("othello-8x8", "estimate=true");
    assert_eq!(one, at("othello-8x8", "estimate=true"));
    assert_eq!((&one["outcome"], &one["estimate"]["nodes"]), (&Value::Null, &json!(20_000)));
    let best = one["moves"].as_array().unwrap().iter();
    let best = best.map(|one| one["estimate"]["advantage"].as_f64().unwrap()).fold(-99.0, f64::max);
    assert_eq!(one["estimate"]["advantage"], json!(best));
    // Proven values have none.
    let proven = at("othello-4x4-depth2", "estimate=true&position=b1a1a2");
    assert_eq!((&proven["table"], &proven["estimate"]), (&json!("search"), &Value::Null));
    assert!(proven["moves"].as_array().unwrap().iter().all(|one| one["estimate"].is_null()));
    // Where a game has nothing to go by there is nothing, but for a win that is forced soon.
    let nothing = at("connect-four", "estimate=true");
    assert!(nothing["estimate"].is_null() && nothing["moves"][0]["estimate"].is_null());
    let forced = at("connect-four", "estimate=true&position=4433");
    let expected = &forced["estimate"];
    assert_eq!((&expected["outcome"], &expected["distance"]), (&json!(1), &json!(3)), "{forced}");
    // The start of 6x6 has its value by the solution that is part of the program.
    let about = served.get("/api/v1/othello-6x6/about").json();
    assert_eq!((&about["states"], &about["roots"][0]["score"]), (&Value::Null, &json!(-4)));
    served.get("/api/v1/othello-8x8/counts").refused(404, "no table of othello-8x8");
    served.get("/api/v1/othello-9x9").refused(404, "no table and no game");
    let level = served.get("/api/v1/minishogi/policy?policy=alphabeta:2&position=start").json();
    assert!(level["move"].is_string(), "{level}");
}

/// Two policies are compared where their likeliest moves differ.
#[test]
fn policies_are_compared_where_they_differ() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let differences = |one: &str, other: &str| {
        let path = "/api/v1/othello-4x4/differences";
        served.get(&format!("{path}?policy={one}&other={other}&count=5")).json()
    };
    let found = differences("greedy", "perfect");
    let worst = served.get("/api/v1/othello-4x4/mistakes?policy=greedy&count=5").json();
    let all = found["differences"].as_array().unwrap();
    assert_eq!((all.len(), &found["judged"]), (5, &worst["judged"]));
    for one in all {
        let policy = |name: &str| {
            let position = escaped(one["position"].as_str().unwrap());
            let path = format!("/api/v1/othello-4x4/policy?policy={name}&position={position}");
            served.get(&path).json()["move"].clone()
        };
        assert_eq!(one["by"], "greedy", "perfect makes no mistake");
        assert_eq!(
            (&one["moves"][0]["move"], &one["other_move"]),
            (&policy("greedy"), &policy("perfect"))
        );
        assert_ne!(one["moves"][0]["move"], one["other_move"]);
    }
    let lost = |one: &Value| one["score_lost"].as_f64().unwrap();
    assert!(all.windows(2).all(|two| lost(&two[0]) >= lost(&two[1])), "{found}");
    // The positions are those of the command, which asks about all images.
    let compared = tables.json(&["compare", "othello-4x4", "greedy", "perfect", "--worst", "5"]);
    let most: Vec<f64> = compared["costliest"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["score_lost"][0].as_f64().unwrap())
        .collect();
    assert!(all.iter().map(lost).zip(most).all(|(here, there)| here <= there), "{found}");
    let same = differences("greedy", "greedy");
    assert_eq!((&same["differing"], &same["differences"]), (&json!(0), &json!([])));
}

/// In a game with scores every move that keeps the score is a best move; the distance only orders them.
#[test]
fn a_best_move_keeps_the_score_whatever_its_distance() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let answer = served.position("othello-4x4", "b1a1c4").json();
    let moves: Vec<Value> = answer["moves"].as_array().unwrap().to_vec();
    let reported = |one: &Value| json!([one["move"], one["score"], one["distance"], one["best"]]);
    assert_eq!(
        moves.iter().map(reported).collect::<Vec<_>>(),
        [
            json!(["d4", 14, 11, true]),
            json!(["c1", 14, 13, true]),
            json!(["d2", 4, 9, false]),
            json!(["b4", 4, 9, false]),
        ]
    );
    let line = served.post("/api/v1/othello-4x4", b"b1a1c4").json();
    assert_eq!(line["best"], json!(["d4", "c1"]));
    let decision = served.get("/api/v1/othello-4x4/policy?policy=random&position=b1a1c4").json();
    let best = |one: &Value| one["best"].clone();
    let decided = decision["moves"].as_array().unwrap().iter().map(best);
    assert!(decided.eq(moves.iter().map(best)), "{decision}");
}

/// A page of another site can make a browser send requests, but they start no program and take no slot from
/// legitimate clients.
#[test]
fn a_page_of_another_site_starts_nothing() {
    let tables = tables();
    let mark = tables.place("started");
    let script = tables.place("mark.sh");
    std::fs::write(&script, format!("touch '{}'\nread line\n", mark.display())).unwrap();
    let program = format!("exec:sh '{}'", script.display());
    let served = Served::new(&tables, &["--policy", &program]);
    let policy = format!("/api/v1/othello-4x4/policy?policy={}", escaped(&program));
    let ours = format!("origin: http://{}", served.address);
    let foreign: [&[&str]; 5] = [
        &["sec-fetch-site: cross-site"],
        &["sec-fetch-site: same-site"],
        &["origin: https://evil.example"],
        &["origin: null"],
        &["sec-fetch-site: cross-site", &ours],
    ];
    for headers in foreign {
        served.send("GET", &policy, headers, b"").refused(403, "a program");
        served.send("POST", "/api/v1/othello-4x4", headers, b"start").refused(403, "a batch");
        assert_eq!(served.send("GET", "/", headers, b"").status, 200, "a link to the page");
    }
    assert!(!mark.exists());
    let page = ["sec-fetch-site: same-origin", &ours];
    assert_eq!(served.send("POST", "/api/v1/othello-4x4", &page, b"start").status, 200);
    served.send("GET", &policy, &["sec-fetch-site: none"], b"").refused(502, "it says nothing");
    assert!(mark.exists());
    let evil = b"GET /api/v1/tables HTTP/1.1\r\nhost: [::1]evil.com\r\nconnection: close\r\n\r\n";
    parted(&served.raw(evil)).refused(403, "a name that begins like ours");
    let origin = "https://example.org";
    let served = Served::new(&tables, &["--cors", origin]);
    let header = format!("origin: {origin}");
    let theirs = ["sec-fetch-site: cross-site", &header];
    assert_eq!(served.send("GET", "/api/v1/tables", &theirs, b"").status, 200);
    served.send("GET", "/api/v1/tables", &theirs[..1], b"").refused(403, "not by its scripts");
}

/// A program that takes too long or dies is a gateway failure: 502 in time, and the next request restarts it.
#[test]
fn programs_that_fail_are_a_bad_gateway() {
    let tables = tables();
    let path = tables.place("policy.sh");
    let program = format!("exec:sh '{}'", path.display());
    let served = Served::new(&tables, &["--policy", &program, "--policy-timeout", "0.7"]);
    let ask = |kind: &str| {
        let begun = Instant::now();
        let got = served.get(&format!("/api/v1/othello-4x4/{kind}?policy={}", escaped(&program)));
        assert!(begun.elapsed() < Duration::from_secs(8), "{kind}");
        got
    };
    let greet = "read line; echo '{\"id\": 0}'; read line";
    let scripts = [
        ("exit 3".to_string(), "ended before it answered"),
        (format!("{greet}; exit 3"), "ended before it answered"),
        ("sleep 100".to_string(), "within 0.7 s"),
        (format!("{greet}; sleep 100"), "within 0.7 s"),
    ];
    for (script, what) in scripts {
        std::fs::write(&path, &script).unwrap();
        for kind in ["policy", "mistakes"] {
            let error = ask(kind).refused(502, &script);
            assert!(error.contains(what), "{kind}, {script}: {error}");
        }
    }
    let answer = r#"{"id": 1, "actions": [1]}"#;
    std::fs::write(&path, format!("{greet}; echo '{answer}'; read line")).unwrap();
    assert_eq!(ask("policy").json()["move"], "b1");
    well(&served);
}

/// A model that never ends frees its slot at the time limit, and few of them keep running.
#[cfg(feature = "onnx")]
#[test]
fn models_without_end_take_no_places() {
    let tables = tables();
    let model = format!(
        "onnx:{}/tests/fixtures/onnx/endless.onnx",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../..")
    );
    let served = Served::new(&tables, &["--policy", &model, "--policy-timeout", "0.3"]);
    let path = format!("/api/v1/othello-4x4/policy?policy={}", escaped(&model));
    for asked in 0..6 {
        let error = served.get(&path).refused(502, "a model without end");
        let what = if asked < 4 { "within 0.3 s" } else { "4 answers of models" };
        assert!(error.contains(what), "{asked}: {error}");
    }
    let random = served.get("/api/v1/othello-4x4/policy?policy=random");
    assert_eq!(random.status, 200);
    well(&served);
}

/// Returns a `.npy` file as NumPy writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{dict:<117}\n");
    let head = [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..]].concat();
    [&head, text.as_bytes(), data].concat()
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn arrays_are_answered_row_by_row() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let numbers = |got: &Got| -> Vec<i32> {
        assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
        assert!(got.body.starts_with(b"\x93NUMPY"));
        let header = usize::from(u16::from_le_bytes([got.body[8], got.body[9]])) + 10;
        let text = String::from_utf8_lossy(&got.body[..header]);
        assert!(text.contains("'<i4'") && text.contains(", 5"), "{text}");
        let numbers = got.body[header..].chunks_exact(4);
        numbers.map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect()
    };
    // Black to move at the start has c2 and b3, White b2 and c3; the other row is invalid.
    let (own, other) = (1 << 6 | 1 << 9, 1 << 5 | 1 << 10);
    let body = npy("<u8", "(2, 2)", &words(&[own, other, 1, 1]));
    let unknown = -32768;
    let start = [1, -1, -8, 10, 1];
    let nothing = [0, unknown, unknown, unknown, unknown];
    let got = served.post("/api/v1/othello-4x4", &body);
    assert_eq!(numbers(&got), [start, nothing].concat());
    // All keys of the table, read from its file.
    let keys = std::fs::read(tables.place("othello-4x4/keys.npy")).unwrap();
    let all = numbers(&served.post("/api/v1/othello-4x4", &keys));
    assert_eq!(all.len(), 5 * 12_351);
    let lost = all.chunks(5).filter(|row| row[..2] == [1, -1]).count();
    let counts = served.get("/api/v1/othello-4x4/counts").json();
    assert_eq!(json!(lost), counts["all"]["losses"]);
    let sum: i32 = all.chunks(5).map(|row| row[2]).sum();
    assert_eq!(json!(sum), counts["all"]["sum_of_scores"]);
    for (body, what) in [
        (npy("<i8", "(1,)", &words(&[1])), "<i8"),
        (npy("<u8", "(3,)", &words(&[1])), "3 rows"),
        (npy("<u8", "(1, 3)", &words(&[1, 2, 3])), "shape"),
        (npy("<u8", "(18446744073709551615,)", &words(&[1])), "rows"),
        (npy("<u8", "(((((1,)", &words(&[1])), "header"),
        (b"\x93NUMPY\x01".to_vec(), ""),
    ] {
        let error = served.post("/api/v1/othello-4x4", &body).refused(400, what);
        assert!(error.contains(what), "{error}");
    }
    let squares = npy("<u8", "(1, 2)", &words(&[own, other]));
    served.post(&format!("/api/v1/{SHOGI}"), &squares).refused(400, "keys have 1 word");
}

#[test]
fn a_thousand_bad_requests_are_refused_and_nothing_breaks() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let mut random = Random(1);
    let parts = [
        "..",
        "%2e%2e",
        "%2f",
        "/",
        "othello-4x4",
        "tables",
        "%00",
        "%ff",
        "policies",
        "LATEST",
        "manifest.json",
        "\\",
        "~",
        "é",
        "policy",
        "?position=",
        "?policy=exec:ls",
        "&",
        "start",
        "99",
        "?rows=keys",
        "mistakes?count=-1",
        "counts?x",
    ];
    let garbage: Vec<u8> = (0..=255).collect();
    for _ in 0..1000 {
        let mut path = "/api/v1/".to_string();
        for _ in 0..1 + random.below(4) {
            path += parts[random.below(parts.len())];
        }
        let method = ["GET", "POST", "PUT", "DELETE", "BREW"][random.below(5)];
        let body = &garbage[random.below(256)..];
        let got = served.send(method, &path, &[], body);
        match got.status {
            // Some are valid: the table's name alone, or no position.
            200 => assert!(path.contains("tables") || path.contains("othello-4x4"), "{path}"),
            status => drop(got.refused(status, &path)),
        }
        assert!(got.status < 500, "{path}: {got:?}");
    }
    for bytes in [&garbage[..], b"\r\n\r\n", b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01"] {
        let mut stream = served.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        // A client that hangs up in the middle of a request gets no answer.
        if !(all.is_empty() && [&b"GET"[..], b"\r\n\r\n"].contains(&bytes)) {
            assert_eq!(parted(&all).status, 400, "what is no HTTP");
        }
    }
    let long = format!("/api/v1/othello-4x4?position={}", "a".repeat(60_000));
    let got = served.get(&long);
    assert!([414, 431].contains(&got.status), "{got:?}");
    let header = format!("x: {}", "a".repeat(60_000));
    assert_eq!(served.send("GET", "/", &[&header], b"").status, 431, "a long header");
    let longish = format!("/api/v1/othello-4x4?position={}", "a".repeat(6_000));
    served.get(&longish).refused(400, "a position of 6000 bytes");
    let evil = served.raw(b"GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    parted(&evil).refused(403, "a name that is not ours");
    well(&served);
}

/// Checks that the server still answers correctly and fast.
fn well(served: &Served) {
    let begun = Instant::now();
    assert_eq!(served.get("/api/v1/othello-4x4").json()["score"], -8);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn bodies_are_bounded_in_size_and_time() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    let post = |length: &str| {
        format!(
            "POST /api/v1/othello-4x4 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{length}\r\n\r\n"
        )
    };
    let mut slow = served.connect();
    slow.write_all(post("content-length: 100").as_bytes()).unwrap();
    slow.write_all(b"start\n").unwrap();
    let begun = Instant::now();
    let huge = post("content-length: 1000000000000");
    parted(&served.raw(huge.as_bytes())).refused(413, "a body that says it is huge");
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    let chunked = [post("transfer-encoding: chunked"), chunk.repeat(17), "0\r\n\r\n".into()];
    let got = served.raw(chunked.concat().as_bytes());
    assert!(got.is_empty() || parted(&got).status == 413);
    let lines = "start\n".repeat(100_001);
    served.post("/api/v1/othello-4x4", lines.as_bytes()).refused(413, "too many lines");
    served.post("/api/v1/othello-4x4", b"\xff\xff").refused(400, "no text");
    // Only the slow client waits.
    well(&served);
    let mut all = Vec::new();
    slow.read_to_end(&mut all).unwrap();
    parted(&all).refused(408, "a slow body");
    assert!(begun.elapsed() > Duration::from_secs(8) && begun.elapsed() < Duration::from_secs(30));
    well(&served);
}

#[test]
fn policies_answer_beside_the_truth_and_only_those_that_may() {
    let tables = tables();
    let script = tables.place("policy.sh");
    std::fs::write(&script, "").unwrap();
    let served = Served::new(&tables, &["--policy", "alphabeta:7,minimax:8"]);
    let ask = |policy: &str, position: &str| {
        let (policy, position) = (escaped(policy), escaped(position));
        served.get(&format!("/api/v1/othello-4x4/policy?policy={policy}&position={position}"))
    };
    let perfect = ask("perfect", "b1a1").json();
    assert_eq!(perfect["move"], "a2");
    assert_eq!((&perfect["expected_outcome"], &perfect["outcome"]), (&json!(-1.0), &json!(-1)));
    for policy in ["random", "greedy", "weights", "mcts:50", "alphabeta:7"] {
        let answer = ask(policy, "b1a1").json();
        let moves = answer["moves"].as_array().unwrap();
        let sum: f64 = moves.iter().map(|one| one["probability"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{policy}: {answer}");
        let exact = served.position("othello-4x4", "b1a1").json();
        for (one, truth) in moves.iter().zip(exact["moves"].as_array().unwrap()) {
            assert_eq!((&one["move"], &one["score"]), (&truth["move"], &truth["score"]));
        }
    }
    let files = [
        "weights:/etc/passwd",
        "onnx:x.onnx",
        "predictions:.",
        "exec:touch owned",
        "usi:touch owned",
    ];
    let more = [
        "alphabeta:8",
        "mcts:1000000",
        "mate:1000000",
        "learned:../../x",
        "minimax:3:/etc/passwd",
        "",
    ];
    for policy in files.into_iter().chain(more) {
        ask(policy, "start").refused(400, policy);
    }
    assert!(!tables.place("owned").exists());
    let listed = served.get("/api/v1/tables").json();
    let tables_there = listed["tables"].as_array().unwrap();
    let names: Vec<&str> = tables_there.iter().map(|one| one["table"].as_str().unwrap()).collect();
    assert_eq!(names, [SHOGI, MINISHOGI, "othello-4x4"]);
    let offered = tables_there[2]["policies"].as_array().unwrap();
    assert_eq!(offered[..2], [json!("alphabeta:7"), json!("minimax:8")]);
    for policy in offered.iter().map(|name| name.as_str().unwrap()) {
        assert_eq!(ask(policy, "start").status, 200, "{policy}");
    }
    // Policies are created once and mistakes searched once, so both stay the same.
    let path = "/api/v1/othello-4x4/mistakes?policy=greedy&count=2";
    let worst = served.get(path).json();
    assert_eq!(worst["mistakes"].as_array().unwrap().len(), 2);
    assert_eq!(worst["judged"], 56_621);
    assert_eq!(worst, served.get(path).json());
    let report = tables.json(&["report", "--policy", "greedy", "--mistakes", "2", "--no-games"]);
    let reported = &report["policies"][0]["costliest"];
    for (one, other) in
        worst["mistakes"].as_array().unwrap().iter().zip(reported.as_array().unwrap())
    {
        assert_eq!(one["result_lost"], other["result_lost"]);
        assert_eq!(one["score_lost"], other["score_lost"]);
    }
}

#[test]
fn a_table_that_changes_is_noticed() {
    let tables = tables();
    let served = Served::new(&tables, &[]);
    well(&served);
    tables.ok(&["remove", "othello-4x4"]);
    served.get("/api/v1/othello-4x4").refused(404, "removed");
    tables.ok(&["enumerate", "--size", "4", "--max-depth", "2", "--name", "othello-4x4"]);
    served.get("/api/v1/othello-4x4").refused(409, "not solved");
    tables.ok(&["value-iterate", "othello-4x4"]);
    assert_eq!(served.get("/api/v1/othello-4x4").json()["outcome"], Value::Null);
    let refused = tables.run(&["enumerate", "--size", "4", "--name", "tables"]);
    refused.refused("an address");
}

#[test]
fn it_takes_a_free_port_and_ends_at_a_signal() {
    let tables = tables();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = tables.run(&["serve", "--port", &port]);
    assert!(refused.refused("a port that is taken").contains("--port"), "{refused:?}");
    tables.run(&["serve", "--cors", "nonsense"]).refused("no origin");
    tables.run(&["serve", "--policy", "nothing"]).refused("no policy");
    // Two servers without a given port get different ones.
    let (first, second) = (Served::new(&tables, &[]), Served::new(&tables, &[]));
    assert_ne!(first.address, second.address);
    for (mut served, signal) in [(first, "INT"), (second, "TERM")] {
        // A client that repeats its request until the server is gone gets complete answers or none.
        let mut kept = served.connect();
        let request =
            format!("GET /api/v1/othello-4x4 HTTP/1.1\r\nhost: {}\r\n\r\n", served.address);
        kept.write_all(request.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(300));
        let id = served.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let begun = Instant::now();
        let ended = served.child.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{signal}");
        assert!(begun.elapsed() < Duration::from_secs(3));
        let mut all = Vec::new();
        kept.read_to_end(&mut all).unwrap();
        assert_eq!(parted(&all).json()["score"], -8);
    }
}

#[test]
fn the_page_is_ours_alone() {
    let tables = Tables::new();
    let served = Served::new(&tables, &["--cors", "https://example.org"]);
    let page = served.get("/");
    assert!(page.head.contains("text/html") && page.head.contains("content-security-policy"));
    assert!(page.head.contains("access-control-allow-origin: https://example.org"));
    let tag = page.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let again = served.send("GET", "/", &[&format!("if-none-match: {tag}")], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    for part in page.text().split(['"', '\'']).filter(|part| part.starts_with("/assets/")) {
        assert_eq!(served.get(part).status, 200, "{part}");
    }
    served.get("/assets/nothing").refused(404, "no file");
    served.get("/assets/..%2f..%2fmod.rs").refused(404, "a way out");
    let plain = Served::new(&tables, &[]);
    assert!(!plain.get("/").head.contains("access-control"));
    let all = plain.get("/api/v1/tables").json();
    assert_eq!((&all["tables"], &all["unavailable"]), (&json!([]), &json!([])));
    let names: Vec<&Value> =
        all["games"].as_array().unwrap().iter().map(|one| &one["game"]).collect();
    assert!(names.contains(&&json!("othello-8x8")) && names.contains(&&json!("connect-four")));
}
