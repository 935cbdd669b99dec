//! `solver query` and `solver info --values` for games with infinite play, compared
//! with plain rules and a plain solver.

use std::collections::HashMap;

use crate::common::plain_shogi::{
    End, MINISHOGI, Position, Rules, Side, THREE_BY_THREE, Values, three_by_three,
};
use crate::common::solved::opened;
use crate::common::tables::{Tables, solved_4x4};
use serde_json::Value;
use yomikiri::rules::Outcome;
use yomikiri::table::Table;

const RANKED: &str = "animal-shogi-3x3";
const KEYED: &str = "animal-shogi-3x3-keys";

fn both() -> Tables {
    let args = |index| ["enumerate", "--game", "animal-shogi-3x3", "--index", index];
    Tables::after(&[&args("rank"), &["value-iterate"], &args("keys"), &["value-iterate"]])
}

/// Enumerates from a root and solves; returns the table's name.
fn from_root(tables: &Tables, sfen: &str, options: &[&str]) -> String {
    let args = [&["enumerate", "--game", "minishogi", "--root", sfen], options].concat();
    let made = tables.json(&args);
    tables.ok(&["value-iterate"]);
    made["table"].as_str().unwrap().to_string()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect()
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// Returns the moves of an answer with this result.
fn moves_with(answer: &Value, result: Value) -> Vec<&str> {
    let moves = answer["moves"].as_array().unwrap().iter();
    moves.filter(|m| m["result"] == result).map(|m| m["move"].as_str().unwrap()).collect()
}

#[test]
fn both_sorts_of_tables_hold_the_same_values() {
    let tables = both();
    let open = |name| opened(&Table::open(&tables.place(name)).unwrap());
    let [by_rank, by_key] = [RANKED, KEYED].map(open);
    let rows = by_rank.states().rows();
    assert_eq!((rows, by_key.states().rows()), (245_788, 245_788));
    let same = |row, position| {
        assert_eq!(by_rank.states().find(&position), Some(row));
        let other = by_key.states().find(&position).unwrap();
        assert_eq!(by_rank.value(row), by_key.value(other), "{position:?}");
        Ok(())
    };
    by_rank.states().visit(0..rows, same).unwrap();
}

fn outcome_name(value: i8) -> &'static str {
    ["loss", "draw", "win"][(value + 1) as usize]
}

/// Returns a number that is higher for a better (outcome, plies).
fn rank((outcome, plies): (i8, Option<u16>)) -> i32 {
    i32::from(outcome) * (1000 - plies.map_or(0, i32::from))
}

/// Checks an answer for a position and all its moves against the plain solver.
fn check_answer(values: &Values, position: &Position, answer: &Value) {
    let sfen = position.sfen();
    assert_eq!(answer["position"], sfen);
    let (outcome, plies) = values[&position.normalised()];
    assert_eq!(
        (&answer["outcome"], &answer["result"]),
        (&outcome.into(), &outcome_name(outcome).into()),
        "{sfen}"
    );
    assert_eq!(answer["distance"], Value::from(plies), "{sfen}");
    assert_eq!(answer["mover"], if position.mover == Side::First { "Black" } else { "White" });
    assert_eq!(answer["in_check"], position.in_check(position.mover), "{sfen}");
    assert_eq!(answer["kind"], if position.end().is_some() { "terminal" } else { "interior" });

    // Every move on this very board, named as on it, with its value for its mover.
    let before = |(outcome, plies): (i8, Option<u16>)| (-outcome, plies.map(|n| n + 1));
    let value = |legal| before(values[&position.after(legal).normalised()]);
    let expected = position.moves().into_iter().map(|legal| (position.usi(legal), value(legal)));
    let expected: HashMap<String, _> = expected.collect();
    let moves = answer["moves"].as_array().unwrap();
    assert_eq!(moves.len(), expected.len(), "{sfen}");
    let mut last = (i32::MAX, 0);
    let kept = expected.values().map(|(outcome, _)| *outcome).max();
    for found in moves {
        let name = found["move"].as_str().unwrap();
        let (outcome, plies) = expected[name];
        assert_eq!(found["outcome"], outcome, "{sfen} {name}");
        assert_eq!(found["distance"], Value::from(plies), "{sfen} {name}");
        assert_eq!(
            (&found["distance_lower"], &found["distance_upper"]),
            (&plies.into(), &plies.into())
        );
        assert_eq!(found["followed"], true, "{sfen} {name}");
        // The best moves keep the result, however soon they win.
        assert_eq!(found["best"], Some(outcome) == kept, "{sfen} {name}");
        let (best, action) = (rank((outcome, plies)), found["action"].as_u64().unwrap());
        assert!(
            best < last.0 || best == last.0 && action > last.1,
            "{sfen}: {name} is out of order"
        );
        last = (best, action);
    }
    check_line(values, position, answer);
}

/// Checks that the principal variation keeps the value and ends as announced.
fn check_line(values: &Values, from: &Position, answer: &Value) {
    let line = strings(&answer["principal_variation"]);
    let (outcome, plies) = values[&from.normalised()];
    let mut positions = vec![from.clone()];
    for name in &line {
        positions.push(positions[positions.len() - 1].apply(name));
    }
    for (ply, position) in positions.iter().enumerate() {
        let sign = if ply % 2 == 0 { outcome } else { -outcome };
        let left = plies.map(|plies| plies - ply as u16);
        assert_eq!(values[&position.normalised()], (sign, left), "{} {line:?}", from.sfen());
    }
    let last = &positions[positions.len() - 1];
    match answer["repeats_from"].as_u64() {
        Some(place) => assert_eq!(*last, positions[place as usize]),
        None => assert!(last.end().is_some(), "{} {line:?} just ends", from.sfen()),
    }
    assert_eq!(answer["repeats_from"].is_u64(), outcome == 0, "{}", from.sfen());
}

#[test]
fn answers_agree_with_a_plain_solver() {
    let tables = both();
    let values = three_by_three();
    let all = sorted(values.keys().cloned().collect());
    let some = |n: usize, wanted: &dyn Fn((i8, Option<u16>)) -> bool| -> Vec<String> {
        let found: Vec<&String> = all.iter().filter(|&sfen| wanted(values[sfen])).collect();
        (0..n).map(|i| found[i * (found.len() - 1) / (n - 1)].clone()).collect()
    };
    let sample = [
        some(12, &|(outcome, _)| outcome == 0),
        some(6, &|(_, plies)| plies.is_some_and(|n| n < 2)),
        some(12, &|(_, plies)| plies.is_some_and(|n| (2..12).contains(&n))),
        some(12, &|(_, plies)| plies.is_some_and(|n| n >= 12)),
    ];
    for sfen in sample.iter().flatten() {
        let position = Position::read(Rules::Adjudicated, sfen);
        let (mirrored, turned) = (position.mirrored(), position.turned());
        let both = turned.mirrored();
        for image in [position, mirrored, turned, both] {
            let mut answer = tables.json(&["query", RANKED, &image.sfen()]);
            check_answer(values, &image, &answer);
            answer["table"] = KEYED.into();
            assert_eq!(tables.json(&["query", KEYED, &image.sfen()]), answer, "{}", image.sfen());
        }
    }
}

#[test]
fn the_words_say_what_the_values_are() {
    let tables = both();
    assert_eq!(
        tables.ok(&["query", RANKED, "start"]),
        "White holds -
   3  2  1
a  e  l  c
b  .  .  .
c  C  L  E
Black holds -
Black to move

Black, to move, wins in 7 plies

Each move, best first; outcomes are Black's, infinite play counts as a draw:

move  outcome  plies to the end
3c3b      win                 7
1c2b     loss                 6
2c3b     loss                 2
2c2b     loss                 2
2c1b     loss                 2

Best play: 3c3b 1a1b 3b3a+ 2a1a 1c2b 1b1c+: Black can capture the lion
"
    );
    let japanese = tables.ok(&["query", KEYED, "1c2b", "--japanese"]);
    assert!(japanese.starts_with("White holds なし\n   ３  ２  １\na v象 v獅 v雛\n"), "{japanese}");
    assert!(japanese.contains("White to move\n\nWhite, to move, wins in 5 plies"), "{japanese}");

    let caught = "The game is over, White has won: White can capture the lion\n";
    assert!(tables.ok(&["query", RANKED, "2c2b"]).ends_with(caught));
    let tried = tables.json(&["query", RANKED, "L2/2l/3 w CEce"]);
    let why = ["terminal", "loss", "Black", "Black's lion has reached the last rank"];
    assert_eq!(["kind", "result", "winner", "end"].map(|field| &tried[field]), why);
    assert_eq!((&tried["moves"], &tried["distance"]), (&Value::Array(vec![]), &0.into()));
}

#[test]
fn positions_are_written_in_several_ways() {
    let tables = both();
    let start = tables.json(&["query", RANKED, "start"]);
    let diagram = tables.ok(&["query", RANKED, "start"]);
    let drawn = diagram.split("\n\n").next().unwrap();
    let texts: [&[&str]; 6] = [
        &[THREE_BY_THREE],
        &["elc/3/CLE", "b", "-", "1"],
        &["elc/3/CLE", "b", "-"],
        &["position", "startpos"],
        &["startpos", "moves"],
        &[drawn],
    ];
    for text in texts {
        assert_eq!(tables.json(&[&["query", RANKED], text].concat()), start, "{text:?}");
    }
    let played = tables.json(&["query", RANKED, "3c3b", "1a1b"]);
    assert_eq!(played["position"], "el1/C1c/1LE b - 1");
    let words = ["query", RANKED, "start", "moves", "3c3b", "1a1b"];
    assert_eq!(tables.json(&words), played);
}

#[test]
fn bounded_tables_say_what_they_do_not_know() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "3"]);
    let name = "minishogi-depth3";
    let refused = tables.run(&["query", name, "start"]);
    assert!(refused.refused("unsolved").contains("solver value-iterate minishogi-depth3"));
    tables.ok(&["value-iterate"]);

    let start = Position::read(Rules::Minishogi, MINISHOGI);
    let answer = tables.json(&["query", name, "start"]);
    assert_eq!(sorted(moves_with(&answer, Value::Null)), sorted(start.usi_moves()));
    assert_eq!(
        ["outcome", "result", "distance", "distance_lower"].map(|field| &answer[field]),
        [&Value::Null; 4]
    );
    assert_eq!((&answer["outcome_lower"], &answer["outcome_upper"]), (&(-1).into(), &1.into()));
    assert_eq!(answer["principal_variation"], Value::Array(vec![]));
    let printed = tables.ok(&["query", name, "start"]);
    let verdict = "Black, to move, has an outcome that is not proven; a win takes at least 5 plies, a loss takes at least 4 plies\n\nNot proven: 5d5c 5e4d";
    assert!(printed.contains(verdict), "{printed}");

    let edge = tables.json(&["query", name, "1e1c", "1b1c", "5d5c"]);
    assert_eq!((&edge["kind"], &edge["mover"]), (&"frontier".into(), &"White".into()));
    assert!(edge["moves"].as_array().unwrap().iter().any(|m| m["followed"] == false), "{edge}");
    let printed = tables.ok(&["query", name, "1e1c", "1b1c", "5d5c"]);
    let frontier = "At the table's frontier: its moves were not followed, its value is not known\n\nNot followed: ";
    assert!(printed.contains(frontier), "{printed}");

    // The same board with the other player to move is another state, and the table ends at the frontier: what it does
    // not contain is searched.
    let elsewhere = MINISHOGI.replace(" b ", " w ");
    for position in ["1e1c 1b1c 5d5c 5a5b", elsewhere.as_str()] {
        let answer = tables.json(&["query", name, position]);
        assert_eq!(
            (&answer["table"], &answer["by_checks"]["verdict"]),
            (&"search".into(), &"no_mate".into())
        );
    }
}

#[test]
fn what_cannot_be_answered_is_one_line() {
    let tables = both();
    solved_4x4(&tables);
    let ran = tables.run(&["query", RANKED, "1l1/3/2L b -"]);
    let elsewhere =
        "1l1/3/2L b - 1 is not among the states of animal-shogi-3x3: unreachable from the root\n";
    assert!(ran.refused("not there").ends_with(elsewhere), "{ran:?}");
    let cases: [(&[&str], &str); 4] = [
        (
            &["query", "othello-4x4", "start", "--japanese"],
            "--japanese does not apply to othello-4x4",
        ),
        (&["query", RANKED, "1a1b"], "`1a1b`"),
        (&["query", RANKED, "elc/3/CL b -"], "invalid board `elc/3/CL`: rank 3 (`CL`): 2 squares"),
        (&["query", RANKED, "elc/3/CLE", "x", "-"], "`x`"),
    ];
    for (args, named) in cases {
        let ran = tables.run(args);
        let line = ran.refused(&format!("{args:?}"));
        assert!(line.contains(named), "{args:?}: {line}");
    }
}

fn mates_in_3() -> Vec<Value> {
    let truth: Value = serde_json::from_str(include_str!("../data/minishogi-mates.json")).unwrap();
    let positions = truth["positions"].as_array().unwrap();
    positions.iter().filter(|entry| entry["mate_plies"] == 3).cloned().collect()
}

#[test]
fn mates_are_found_with_all_their_first_moves() {
    let tables = Tables::new();
    let mates = mates_in_3();
    assert_eq!(mates.len(), 6);
    for entry in mates {
        let sfen = entry["sfen"].as_str().unwrap();
        let name = from_root(&tables, sfen, &["--max-depth", "3"]);
        let answer = tables.json(&["query", &name, sfen]);
        assert_eq!((&answer["outcome"], &answer["distance"]), (&1.into(), &3.into()), "{sfen}");
        let best = sorted(strings(&entry["optimal_first_moves_usi"]));
        assert_eq!(sorted(moves_with(&answer, "win".into())), best, "{sfen}");
        let printed = tables.ok(&["query", &name, sfen]);
        assert!(printed.contains(", wins in 3 plies\n"), "{printed}");
        assert!(printed.contains(" is mated\n"), "{printed}");

        // The mirror image has the same mate, which is followed to the end.
        let position = Position::read(Rules::Minishogi, sfen);
        let mirrored = position.mirrored();
        let image = tables.json(&["query", &name, &mirrored.sfen()]);
        let legal = position.moves().into_iter();
        let kept = legal.filter(|&m| best.contains(&position.usi(m).as_str()));
        let kept = kept.map(|m| position.after(m).mirrored());
        let wins = moves_with(&image, "win".into());
        let reached: Vec<Position> = wins.iter().map(|name| mirrored.apply(name)).collect();
        assert_eq!(reached.len(), best.len(), "{sfen}");
        assert!(kept.into_iter().all(|after| reached.contains(&after)), "{sfen}");
        let line = strings(&answer["principal_variation"]);
        assert_eq!(line.len(), 3, "{sfen}");
        let mut last = position.clone();
        line.iter().for_each(|name| last = last.apply(name));
        assert_eq!(last.end(), Some(End::Stuck), "{sfen}");
        let over = tables.json(&["query", &name, &last.sfen()]);
        assert_eq!((&over["kind"], &over["outcome"]), (&"terminal".into(), &(-1).into()));
        assert_eq!(over["winner"], answer["mover"], "{sfen}");
    }
}

/// With two lone kings the game never ends.
#[test]
fn infinite_play_is_reported_as_it_counts() {
    let tables = Tables::new();
    let sfen = "4k/5/5/5/K4 b - 1";
    let name = from_root(&tables, sfen, &[]);
    let printed = tables.ok(&["query", &name, sfen]);
    assert!(printed.contains("Black, to move, loses by infinite play\n"), "{printed}");
    assert!(printed.contains("counts as a win of the second player:"), "{printed}");
    assert!(printed.contains("\n5e5d     loss          infinite\n"), "{printed}");
    assert!(printed.contains(", then again from "), "{printed}");
    let answer = tables.json(&["query", &name, "5e5d"]);
    assert_eq!((&answer["outcome"], &answer["distance"]), (&1.into(), &Value::Null));
    assert!(answer["repeats_from"].is_u64(), "{answer}");

    for (repetition, verdict) in [
        ("draw", "Black, to move, draws: neither side can force a win\n"),
        (
            "unknown",
            "has an outcome that is not proven; it could be won only by infinite play, it could be lost only by infinite play\n",
        ),
    ] {
        tables.ok(&["value-iterate", &name, "--repetition", repetition]);
        let printed = tables.ok(&["query", &name, sfen]);
        assert!(printed.contains(verdict), "{printed}");
        let counted = tables.json(&["info", &name, "--values"])["values"].clone();
        let field = if repetition == "draw" { "/drawn/without_end" } else { "/not_proven" };
        assert_eq!(counted.pointer(field), Some(&counted["all"]["states"]), "{counted}");
    }
}

#[test]
fn states_are_counted_by_distance() {
    let tables = both();
    let values = |name: &str| tables.json(&["info", name, "--values"])["values"].clone();
    let counted = values(RANKED);
    let at = |counted: &Value, field: &str, plies: usize| {
        counted[field]["by_distance"][plies].as_u64().unwrap()
    };
    let sum = |field: &str| (0..36).map(|plies| at(&counted, field, plies)).sum::<u64>();
    assert_eq!((sum("won"), sum("lost"), sum("drawn")), (195_656, 49_830, 0));
    assert_eq!(counted["drawn"]["without_end"], 302);
    assert_eq!(counted["all"]["states"], 245_788);
    assert_eq!((at(&counted, "won", 35), at(&counted, "lost", 0)), (3, 9_974));
    let text = tables.ok(&["info", RANKED, "--values"]);
    assert!(text.contains("\n| 0 | 0 | 0 | 9,974 | 9,974 |\n"), "{text}");
    let below =
        "\n| without end | 0 | 302 | 0 | 302 |\n| all | 195,656 | 302 | 49,830 | 245,788 |\n";
    assert!(text.ends_with(below), "{text}");
    let keyed = values(KEYED);
    for field in ["won", "drawn", "lost", "not_proven", "longest", "histogram"] {
        assert_eq!(keyed[field], counted[field], "{field}");
    }

    let name = from_root(&tables, "2k1S/4p/1gS2/4b/1KR2 b RGPb 1", &["--max-depth", "3"]);
    let bounded = values(&name);
    let manifest = &tables.json(&["info", &name])["manifest"];
    assert_eq!(bounded["frontier"], manifest["counts"]["table"]["frontier"]);
    assert_eq!(bounded["all"]["states"], manifest["counts"]["table"]["states"]);
    assert_eq!((at(&bounded, "won", 3), at(&bounded, "lost", 0)), (1, 773));
    let proven: u64 = ["won", "lost"]
        .iter()
        .flat_map(|field| bounded[field]["by_distance"].as_array().unwrap())
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(manifest["solution"]["exact_distances"], proven);
}

#[test]
fn othello_is_counted_by_distance_too() {
    let tables = Tables::new();
    let table = solved_4x4(&tables);
    let solved = opened(&table);
    let counted = tables.json(&["info", "othello-4x4", "--values"])["values"].clone();
    let mut states = 0;
    for (field, outcome) in
        [("won", Outcome::Win), ("drawn", Outcome::Draw), ("lost", Outcome::Loss)]
    {
        for (plies, found) in counted[field]["by_distance"].as_array().unwrap().iter().enumerate() {
            let wanted = (Some(outcome), Some(plies as u16));
            let rows = (0..solved.states().rows()).map(|row| solved.value(row));
            let here = rows.filter(|v| (v.outcome(), v.distance()) == wanted).count() as u64;
            assert_eq!(*found, here, "{field} in {plies}");
            states += here;
        }
    }
    assert_eq!((states, &counted["repetition"]), (12_351, &Value::Null));

    tables.ok(&["enumerate", "--size", "4", "--max-depth", "5"]);
    let unsolved = tables.run(&["info", "--values"]);
    assert!(unsolved.refused("unsolved").contains("value-iterate othello-4x4-depth5"));
    tables.ok(&["value-iterate"]);
    let bounded = tables.json(&["info", "--values"])["values"].clone();
    let manifest = &tables.json(&["info"])["manifest"];
    assert_eq!(bounded["frontier"], manifest["counts"]["table"]["frontier"]);
}

#[test]
fn info_reports_how_a_cyclic_table_was_solved() {
    let tables = both();
    let text = tables.ok(&["info", RANKED]);
    let printed = ", solved by retrograde analysis, 35 sweeps\nof 245,788 states 245,788 have proven outcomes, 245,486 exact distances; infinite play counts as a draw\n";
    assert!(text.ends_with(printed), "{text}");
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2"]);
    tables.ok(&["value-iterate"]);
    let text = tables.ok(&["info"]);
    let printed = ", solved with bounds by value iteration, 3 sweeps\nof 196 states 0 have proven outcomes, 0 exact distances; infinite play counts as a win of the second player\n";
    assert!(text.ends_with(printed), "{text}");
}

/// A frontier that may hide a shorter game leaves bounds of the distance.
#[test]
fn distances_that_are_not_exact_are_reported_as_bounds() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "--game", "animal-shogi", "--max-depth", "8"]);
    tables.ok(&["value-iterate"]);
    let name = "animal-shogi-depth8";
    let table = Table::open(&tables.place(name)).unwrap();
    let solved = opened(&table);
    let mut rows = Vec::new();
    let add = |row, position| {
        let value = solved.value(row);
        if value.outcome().is_some() && value.distance().is_none() {
            rows.push((solved.game().notation(&position), value));
        }
        Ok(())
    };
    solved.states().visit(0..solved.states().rows(), add).unwrap();
    let counted = tables.json(&["info", name, "--values"])["values"].clone();
    let reported = ["won", "lost"].map(|field| counted[field]["inexact"].as_u64().unwrap());
    assert_eq!(reported.iter().sum::<u64>(), rows.len() as u64);
    assert!(!rows.is_empty());
    for (sfen, value) in rows {
        let answer = tables.json(&["query", name, &sfen]);
        assert_eq!(answer["distance"], Value::Null, "{sfen}");
        assert_eq!(answer["distance_lower"], Value::from(value.distance_lower()), "{sfen}");
        assert_eq!(answer["distance_upper"], Value::from(value.distance_upper()), "{sfen}");
        assert_eq!(answer["principal_variation"], Value::Array(vec![]), "{sfen}");
        let bounds = match (value.distance_lower().unwrap(), value.distance_upper()) {
            (..=2, Some(most)) => format!("in at most {most} plies\n"),
            (least, Some(most)) => format!("in {least} to {most} plies\n"),
            (least, None) => format!("in {least} plies or more, or by infinite play\n"),
        };
        let printed = tables.ok(&["query", name, &sfen]);
        assert!(printed.contains(&bounds), "{bounds} {printed}");
    }
}
