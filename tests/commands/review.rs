//! `solver review`: games of five forms against positions solved one by one, files, limits and Ctrl-C.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use yomikiri::registry::Games;
use yomikiri::rules::forms::Form;
use yomikiri::rules::{AnyState, Empties, PlayedGame, Rules, write_game};

use crate::common::tables::Tables;

/// Most empty squares of a position that the plain solver solves.
const PLAIN: u64 = 8;

/// Plays random moves to the end.
fn random_game(game: &dyn Rules, seed: u64) -> PlayedGame {
    let mut played = PlayedGame::new(game.start());
    let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while played.end(game).is_none() && played.moves().len() < 80 {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let actions = game.actions(&played.position().state);
        played.play(game, actions[(number >> 33) as usize % actions.len()]);
    }
    played
}

/// Returns the bytes of a base of WTHOR with games of 8×8.
fn wthor(game: &dyn Rules, games: &[PlayedGame]) -> Vec<u8> {
    let mut bytes = vec![20, 26, 11, 28];
    bytes.extend((games.len() as u32).to_le_bytes());
    bytes.extend([0, 0, 0xea, 0x07, 8, 0, 0, 0]);
    for played in games {
        let last = played.position();
        let sign = if last.side.index() == 0 { 1 } else { -1 };
        let margin = sign * i32::from(game.score(&last.state, Empties::ToWinner).0);
        let begin = bytes.len();
        bytes.extend([0, 0, 1, 0, 2, 0, ((64 + margin) / 2) as u8, 32]);
        let placed = played.moves().iter().filter(|(_, action)| action.0 < 64);
        bytes.extend(placed.map(|(_, action)| (10 * (action.0 / 8 + 1) + action.0 % 8 + 1) as u8));
        bytes.resize(begin + 68, 0);
    }
    bytes
}

/// Solves a state by trying every move to the end; the score of the mover.
fn plain(game: &dyn Rules, state: &AnyState, known: &mut HashMap<u128, i64>) -> i64 {
    let key = game.key(state);
    if let Some(&score) = known.get(&key) {
        return score;
    }
    let score = match game.result(state) {
        Some(_) if game.has_scores() => i64::from(game.score(state, Empties::Uncounted).0),
        Some(outcome) => i64::from(outcome.value()),
        None => {
            let mut after = Vec::new();
            game.moves(state, |_, state| after.push(state));
            after.iter().map(|state| -plain(game, state, known)).max().unwrap()
        }
    };
    known.insert(key, score);
    score
}

/// Checks the judged moves of a game that always ends by the plain solver. Returns the number of checked moves.
fn check(game: &dyn Rules, review: &Value, games: &[PlayedGame]) -> usize {
    let value = |of: &Value| of["score"].as_i64().or(of["outcome"].as_i64());
    let (mut checked, mut known) = (0, HashMap::new());
    for (reviewed, played) in review["games"].as_array().unwrap().iter().zip(games) {
        let moves = reviewed["moves"].as_array().unwrap();
        assert_eq!(moves.len(), played.moves().len());
        for (at, (before, action)) in moves.iter().zip(played.moves()) {
            if at["empty"].as_u64().unwrap() > PLAIN {
                continue;
            }
            let own = plain(game, &before.state, &mut known);
            let mut each = HashMap::new();
            game.moves(&before.state, |action, state| {
                each.insert(game.action_name(before.side, action), state);
            });
            let each: HashMap<String, i64> = each
                .into_iter()
                .map(|(name, state)| (name, -plain(game, &state, &mut known)))
                .collect();
            let played = game.action_name(before.side, *action);
            assert_eq!(at["move"], *played);
            let texts = [value(&at["before"]), value(&at["after"])];
            assert_eq!(texts, [Some(own), Some(each[&played])], "{at}");
            let lost = own.signum() - each[&played].signum();
            assert_eq!(at["result_lost"].as_i64(), Some(lost), "{at}");
            assert_eq!(at["score_lost"].as_i64(), game.has_scores().then_some(own - each[&played]));
            let mut best: Vec<&str> =
                each.iter().filter(|(_, score)| **score == own).map(|(name, _)| &**name).collect();
            best.sort_unstable();
            let mut found: Vec<&str> =
                at["best"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, best, "{at}");
            checked += 1;
        }
        let turns: Vec<u64> = moves
            .iter()
            .filter(|at| at["result_lost"].as_u64().is_some_and(|lost| lost > 0))
            .map(|at| at["ply"].as_u64().unwrap())
            .collect();
        assert_eq!(reviewed["turning_points"], serde_json::to_value(turns).unwrap());
    }
    checked
}

/// Adds up what moves lose, and compares it with the figures of the players.
fn check_players(review: &Value) {
    for player in review["players"].as_array().unwrap() {
        let (mut judged, mut blunders, mut lost) = (0, 0.0, 0.0);
        for reviewed in review["games"].as_array().unwrap() {
            for at in reviewed["moves"].as_array().unwrap() {
                let side = usize::from(at["side"] != review["words"]["sides"][0]);
                let name = &reviewed["players"][side];
                let name = if name.is_null() { &at["side"] } else { name };
                if *name == player["player"] && !at["result_lost"].is_null() {
                    judged += 1;
                    blunders += f64::from(u8::from(at["result_lost"].as_u64() > Some(0)));
                    lost += at["score_lost"].as_f64().unwrap_or(0.0);
                }
            }
        }
        assert_eq!(player["judged"].as_u64(), Some(judged));
        let figures = &player["figures"];
        assert_eq!(figures["all_positions"].as_u64(), Some(judged), "{player}");
        assert_eq!(figures["all_blunders"].as_f64(), Some(blunders), "{player}");
        if let Some(mean) = figures["all_score_lost"].as_f64().filter(|_| judged > 0) {
            assert!((mean - lost / judged as f64).abs() < 1e-9, "{player}");
        }
        let phases = player["phases"].as_array().unwrap().iter();
        let parts: u64 = phases.map(|of| of["figures"]["all_positions"].as_u64().unwrap()).sum();
        assert_eq!(parts, judged);
    }
}

#[test]
fn twenty_games_of_five_forms_are_judged_as_their_positions_are_solved() {
    let (tables, all) = (Tables::new(), Games::default());
    let othello = all.named("othello-8x8").unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = tables.root().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&tables.ok(&[&["review", "--json", "-q"], args].concat())).unwrap()
    };
    let text = |game: &dyn Rules, games: &[PlayedGame], form: Form| -> String {
        let players = [Some("Ann"), Some("Bo")];
        let write = |played| write_game(game, played, players, None, form).unwrap();
        games.iter().map(write).collect::<Vec<_>>().join("\n")
    };
    let mut checked = 0;
    for (form, name) in [(Form::Ggf, "a.ggf"), (Form::Sgf, "a.sgf"), (Form::Wthor, "a.wtb")] {
        let games: Vec<PlayedGame> =
            (0..4).map(|seed| random_game(&*othello, seed + 10 * form as u64)).collect();
        let bytes = match form {
            Form::Wthor => wthor(&*othello, &games),
            _ => text(&*othello, &games, form).into_bytes(),
        };
        let file = write(name, &bytes);
        // The file names its game, or the only one that reads it is taken.
        let review = json(&[&file, "--time", "4"]);
        assert_eq!(review["game"], "othello-8x8");
        checked += check(&*othello, &review, &games);
        check_players(&review);
        if form != Form::Wthor {
            let names = review["players"].as_array().unwrap().iter().map(|of| &of["player"]);
            assert_eq!(
                names.filter(|name| ["Ann", "Bo"].contains(&name.as_str().unwrap())).count(),
                2
            );
        }
    }
    let four = all.named("connect-four-4x4").unwrap();
    let games: Vec<PlayedGame> = (0..4).map(|seed| random_game(&*four, seed)).collect();
    let file = write("a.txt", text(&*four, &games, Form::Lines).as_bytes());
    let review = json(&["connect-four-4x4", &file]);
    checked += check(&*four, &review, &games);
    check_players(&review);
    let moves: usize = games.iter().map(|game| game.moves().len()).sum();
    assert_eq!(review["judged"].as_u64(), Some(moves as u64), "a table knows every move");
    assert!(checked > 100, "{checked}");

    // Games that may go on for ever, by the table, position by position.
    let name = "animal-shogi-3x3";
    let shogi = all.named(name).unwrap();
    let games: Vec<PlayedGame> = (0..4).map(|seed| random_game(&*shogi, seed)).collect();
    let file = write("a.kif", text(&*shogi, &games, Form::Kif).as_bytes());
    let review = json(&[name, &file]);
    for (reviewed, played) in review["games"].as_array().unwrap().iter().zip(&games) {
        for (at, (before, _)) in reviewed["moves"].as_array().unwrap().iter().zip(played.moves()) {
            let answer = tables.ok(&["query", name, &shogi.notation(before), "--json", "-q"]);
            let answer: Value = serde_json::from_str(&answer).unwrap();
            for key in ["outcome", "distance"] {
                assert_eq!(at["before"][key], answer[key], "{at}");
                let moves = answer["moves"].as_array().unwrap();
                let played = moves.iter().find(|of| of["move"] == at["move"]).unwrap();
                assert_eq!(at["after"][key], played[key], "{at} {played}");
            }
            let best = answer["moves"].as_array().unwrap().iter().filter(|of| of["best"] == true);
            assert_eq!(at["best"].as_array().unwrap().len(), best.count(), "{at}");
        }
    }
    check_players(&review);
}

#[test]
fn a_review_is_printed_and_written_to_files() {
    let tables = Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]]);
    let game = Games::default().named("othello-4x4").unwrap();
    let games: Vec<PlayedGame> = (0..3).map(|seed| random_game(&*game, seed)).collect();
    let lines: Vec<String> = games.iter().map(|played| played.transcript(&*game)).collect();
    let path = |name: &str| tables.root().join(name).to_str().unwrap().to_string();
    let [one, many, page, rows] = ["one.txt", "many.txt", "review.html", "moves.csv"].map(path);
    fs::write(&one, &lines[0]).unwrap();
    fs::write(&many, lines.join("\n")).unwrap();
    let text = tables.ok(&["review", "4x4", &one, "--html", &page, "--csv", &rows, "-q"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in [
        "othello-4x4: 1 game. Values: table othello-4x4",
        "every move is judged",
        "Costliest mistakes",
        "better ",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let html = fs::read_to_string(&page).unwrap();
    for part in
        ["Review of one.txt", "<svg class=\"board othello\"", "<svg class=\"chart\"", "7878"]
    {
        assert!(html.contains(part), "{part}");
    }
    let csv = fs::read_to_string(&rows).unwrap();
    assert_eq!(csv.lines().count(), 1 + games[0].moves().len());
    assert!(csv.starts_with("game,player,opponent,ply,side,move,position,empty,judged,"), "{csv}");
    let players = tables.ok(&["review", "4x4", &many, "--players", "-q"]);
    assert!(players.contains("Black") && !players.contains("Costliest"), "{players}");
    let full = tables.ok(&["review", "4x4", &many, "--full", "--worst", "1", "-q"]);
    assert_eq!(full.matches("against").count(), 3, "{full}");
    assert_eq!(full.matches(" played ").count(), 1, "{full}");
    // Two runs print the same.
    assert_eq!(full, tables.ok(&["review", "4x4", &many, "--full", "--worst", "1", "-q"]));
}

#[test]
fn files_that_cannot_be_reviewed_name_the_place() {
    let tables = Tables::new();
    let file = |name: &str, text: &str| {
        let path = tables.root().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let bad = file("bad.txt", "f5d6c5\nf5f6d6\nf5a1\n");
    let run = tables.run(&["review", "8x8", &bad]);
    let line = run.refused("bad.txt, line 3, column 3: illegal move 2 `a1`");
    assert!(line.contains("correct it or leave it out"), "{line}");
    let empty = file("empty.txt", "# nothing\n");
    tables.run(&["review", "8x8", &empty]).refused("no moves in");
    tables.run(&["review", &empty]).refused("empty.txt has no line to read");
    tables.run(&["review", "8x8"]).refused("8x8 is a game; add a file of games");
    tables.run(&["review", "8x8", "nothing.ggf"]).refused("cannot read nothing.ggf");
    tables.run(&["review", &file("two.txt", "d3")]).refused("name it: 'solver review 8x8 FILE'");
    let good = file("good.txt", "f5d6");
    let twice = tables.run(&["review", "8x8", &good, "--csv", &good]);
    twice.refused("appears twice");
    assert_eq!(fs::read_to_string(&good).unwrap(), "f5d6");
}

/// Ctrl-C shows the games that were reviewed, with an error that says how many; a second run goes on.
#[test]
#[cfg(unix)]
fn an_ended_review_shows_what_it_has() {
    let tables = Tables::new();
    let game = Games::default().named("othello-8x8").unwrap();
    let lines: Vec<String> =
        (0..200).map(|seed| random_game(&*game, seed).transcript(&*game)).collect();
    let path = tables.root().join("games.txt");
    fs::write(&path, lines.join("\n")).unwrap();
    let mut command = tables.hearing(&["review", "8x8", path.to_str().unwrap(), "--time", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let labels = tables.root().join("labels/othello-8x8-uncounted.labels");
    let begun = Instant::now();
    while fs::metadata(&labels).map_or(0, |data| data.len()) < 2000 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (text, errors) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(text.starts_with("othello-8x8: 200 games, "), "{text}");
    assert!(errors.contains("at most 3 min") && errors.contains("ended by Ctrl-C"), "{errors}");
}
