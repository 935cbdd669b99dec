//! The reference rules of the shogi family against external figures (`tests/data/README.md`).

use std::collections::{BTreeMap, HashSet};

use crate::common::plain_shogi::{
    ANIMAL_SHOGI, End, MINISHOGI, Position, Rules, THREE_BY_THREE, perft, reachable, solve,
};
use serde_json::Value;

fn minishogi_perft() -> Value {
    serde_json::from_str(include_str!("../data/minishogi-perft.json")).unwrap()
}

fn minishogi_mates() -> Value {
    serde_json::from_str(include_str!("../data/minishogi-mates.json")).unwrap()
}

fn animal_shogi() -> Value {
    serde_json::from_str(include_str!("../data/animal-shogi.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect()
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

fn check_perft(rules: Rules, sfen: &str, counts: &[u64]) {
    let position = Position::read(rules, sfen);
    for (i, &count) in counts.iter().enumerate() {
        assert_eq!(perft(&position, i as u32 + 1), count, "{rules:?} {sfen} depth {}", i + 1);
    }
}

const BOTH: [(Rules, &str); 2] =
    [(Rules::Minishogi, "strict"), (Rules::MinishogiWithDropMates, "counting_uchifuzume")];

#[test]
fn minishogi_perft_from_the_start() {
    let truth = minishogi_perft();
    assert_eq!(truth["start"]["sfen"], MINISHOGI);
    for (rules, field) in BOTH {
        check_perft(rules, MINISHOGI, &numbers(&truth["start"][field])[..4]);
    }
}

/// Depth 2 for all positions, deeper where it is cheap.
#[test]
fn minishogi_perft_from_elsewhere() {
    let truth = minishogi_perft();
    let positions = truth["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 18);
    for position in positions {
        let sfen = position["sfen"].as_str().unwrap();
        for (rules, field) in BOTH {
            assert_eq!(Position::read(rules, sfen).sfen(), sfen);
            let counts = numbers(&position[field]);
            let cheap = counts.iter().take_while(|&&count| count <= 50_000).count();
            assert!(cheap >= 2);
            check_perft(rules, sfen, &counts[..cheap]);
        }
    }
}

#[test]
fn minishogi_positions_by_ply() {
    let truth = &minishogi_perft()["unique_positions_from_start"];
    let new = numbers(&truth["new_at_ply"]);
    let mated = numbers(&truth["checkmated_among_new_at_ply"]);
    let mut layer = vec![Position::read(Rules::Minishogi, MINISHOGI)];
    let mut seen = HashSet::from([layer[0].sfen()]);
    for ply in 0..=4 {
        assert_eq!(layer.len() as u64, new[ply], "ply {ply}");
        let mut next = Vec::new();
        let mut without_moves = 0;
        for position in &layer {
            let moves = position.moves();
            without_moves += u64::from(moves.is_empty());
            let successors = moves.into_iter().map(|legal| position.after(legal));
            next.extend(successors.filter(|successor| seen.insert(successor.sfen())));
        }
        assert_eq!(without_moves, mated[ply], "ply {ply}");
        layer = next;
    }
}

/// Returns the moves, in USI and sorted, after which the opponent loses within `plies - 1` plies.
fn winning_moves(position: &Position, plies: u32) -> Vec<String> {
    let wins = |&legal: &_| loses(&position.after(legal), plies - 1);
    let winning = position.moves().into_iter().filter(wins);
    sorted(winning.map(|legal| position.usi(legal)).collect())
}

fn loses(position: &Position, plies: u32) -> bool {
    let moves = position.moves();
    if plies == 0 {
        return moves.is_empty();
    }
    moves.into_iter().all(|legal| {
        let after = position.after(legal);
        after.moves().into_iter().any(|legal| loses(&after.after(legal), plies - 2))
    })
}

#[test]
fn minishogi_mates_in_1_and_3() {
    let truth = minishogi_mates();
    let (mut in_1, mut in_3, mut by_drop) = (0, 0, 0);
    for entry in truth["positions"].as_array().unwrap() {
        let sfen = entry["sfen"].as_str().unwrap();
        let position = Position::read(Rules::Minishogi, sfen);
        assert_eq!(position.sfen(), sfen);
        let expected = |plies: u64| {
            let found = entry["mate_plies"] == plies;
            let moves = found.then(|| sorted(strings(&entry["optimal_first_moves_usi"])));
            moves.unwrap_or_default()
        };
        assert_eq!(winning_moves(&position, 1), expected(1), "{sfen}");
        in_1 += u32::from(entry["mate_plies"] == 1);
        if entry["mate_plies"] == 3 {
            assert_eq!(winning_moves(&position, 3), expected(3), "{sfen}");
            in_3 += 1;
        }
        // Some have a mate by pawn drop, which would be the shorter one.
        if entry["mate_plies"] != 1 && entry["mate_plies_if_uchifuzume_were_legal"] == 1 {
            let lax = Position::read(Rules::MinishogiWithDropMates, sfen);
            let mates = winning_moves(&lax, 1);
            assert!(!mates.is_empty() && mates.iter().all(|m| m.starts_with("P*")), "{sfen}");
            by_drop += 1;
        }
        if let Some(in_check) = entry["in_check"].as_bool() {
            assert_eq!(position.in_check(position.mover), in_check, "{sfen}");
        }
    }
    assert_eq!((in_1, in_3, by_drop), (4, 6, 5));
}

/// The rule of `Rules::Played` for a lion attacked on the last rank affects depth 7.
#[test]
fn animal_shogi_perft() {
    let truth = animal_shogi();
    let adjudicated = numbers(&truth["perft_tanaka_terminal_rule"]);
    check_perft(Rules::Adjudicated, ANIMAL_SHOGI, &adjudicated[..7]);
    let played = numbers(&truth["perft_try_rule_resolved_at_once"]);
    check_perft(Rules::Played, ANIMAL_SHOGI, &played[..7]);
}

/// Counts normalised positions: all, those ended by a catch, those ended by a try, and others.
fn counts(layer: &[String]) -> Vec<u64> {
    let mut counts = vec![layer.len() as u64, 0, 0, 0];
    for sfen in layer {
        match Position::read(Rules::Adjudicated, sfen).end() {
            Some(End::Catch) => counts[1] += 1,
            Some(End::Try) => counts[2] += 1,
            None => counts[3] += 1,
            Some(end) => panic!("{end:?} in {sfen}"),
        }
    }
    counts
}

#[test]
fn animal_shogi_positions_by_ply() {
    let truth = animal_shogi();
    let expected = truth["new_at_ply_total_catch_try_nonterminal"].as_array().unwrap();
    let layers = reachable(&Position::read(Rules::Adjudicated, ANIMAL_SHOGI), 8);
    assert_eq!(layers.len(), 9);
    for (ply, (layer, expected)) in layers.iter().zip(expected).enumerate() {
        assert_eq!(counts(layer), numbers(expected), "ply {ply}");
    }
}

/// Ends of animal shogi under `Rules::Played`.
#[test]
fn a_lion_wins_on_the_last_rank_only_while_it_is_safe() {
    let end = |sfen| Position::read(Rules::Played, sfen).end();
    assert_eq!(end("L1l/3/3/3 w - 1"), Some(End::Try));
    assert_eq!(end("L1l/3/3/3 b - 1"), Some(End::Safe));
    assert_eq!(end("Ll1/3/3/3 w - 1"), None);
    assert_eq!(end("Ll1/3/3/3 b - 1"), None);
    assert_eq!(end("3/1l1/3/3 b G 1"), Some(End::Caught));

    let attacked = Position::read(Rules::Played, "L1l/1e1/3/G2 w - 1");
    assert_eq!(attacked.end(), None);
    assert_eq!(attacked.apply("2b3a").end(), Some(End::Caught));
    assert_eq!(attacked.apply("2b1c").end(), Some(End::Safe));
    let left_there = attacked.apply("1a1b");
    assert_eq!(left_there.end(), None);
    assert_eq!(left_there.apply("3d3c").end(), None);
    assert_eq!(left_there.apply("3a2b").sfen(), "3/1Ll/3/G2 w E 1");
}

#[test]
fn promotion_drops_and_captures() {
    let moves = |rules, sfen: &str| Position::read(rules, sfen).usi_moves();
    let from = |rules, sfen: &str, start: &str| {
        sorted(moves(rules, sfen).into_iter().filter(|m| m.starts_with(start)).collect())
    };

    // On entering and on leaving the zone, and forced where a pawn could not move again.
    assert_eq!(from(Rules::Minishogi, "k4/4P/5/5/K4 b - 1", "1b"), ["1b1a+"]);
    assert_eq!(from(Rules::Minishogi, "k4/4S/5/5/K4 b - 1", "1b1a"), ["1b1a", "1b1a+"]);
    assert_eq!(from(Rules::Minishogi, "k3S/5/5/5/K4 b - 1", "1a2b"), ["1a2b", "1a2b+"]);
    assert_eq!(from(Rules::Minishogi, "k4/5/4S/5/K4 b - 1", "1c1b"), ["1c1b"]);
    assert_eq!(from(Rules::Minishogi, "k4/5/5/4p/K4 w - 1", "1d"), ["1d1e+"]);

    // No pawn on the last rank or on a file that has one; a promoted one does not count.
    let dropped = from(Rules::Minishogi, "k3+P/5/4P/5/4K b P 1", "P*");
    assert_eq!(dropped.len(), 4 * 4);
    assert!(!dropped.iter().any(|m| m.starts_with("P*1") || m.ends_with('a')));
    let dropped = from(Rules::Minishogi, "k3+P/5/5/5/4K b P 1", "P*");
    assert_eq!(dropped.len(), 4 * 4 + 3);

    // Chicks may be dropped anywhere and promote only by moving; a captured hen is a chick again.
    let start = "l2/2C/2C/2L b C 1";
    assert_eq!(from(Rules::Played, start, "C*").len(), 8);
    assert_eq!(from(Rules::Played, start, "1b"), ["1b1a+"]);
    assert_eq!(from(Rules::Played, "C1l/3/3/L2 b - 1", "3a"), [""; 0]);
    let taken = Position::read(Rules::Played, "l2/1+Ce/3/L2 w - 1");
    assert_eq!(taken.apply("3a2b").sfen(), "3/1le/3/L2 b c 1");
}

#[test]
fn sides_and_mirror_images_are_alike() {
    let truth = minishogi_perft();
    let positions = truth["positions"].as_array().unwrap();
    for sfen in positions.iter().map(|position| position["sfen"].as_str().unwrap()) {
        let position = Position::read(Rules::Minishogi, sfen);
        assert_eq!(position.turned().turned(), position);
        assert_eq!(position.mirrored().mirrored(), position);
        for alike in [position.turned(), position.mirrored(), position.turned().mirrored()] {
            assert_eq!(perft(&alike, 2), perft(&position, 2), "{sfen}");
            assert_eq!(alike.normalised(), position.normalised());
        }
    }
}

/// The whole 3x3 game. No other program has confirmed these figures.
#[test]
fn three_by_three_game() {
    let start = Position::read(Rules::Adjudicated, THREE_BY_THREE);
    assert_eq!(start.sfen(), THREE_BY_THREE);
    let values = solve(&start);
    let sfens: Vec<String> = values.keys().cloned().collect();
    assert_eq!(counts(&sfens), [245_788, 141_293, 9_974, 94_521]);

    let mut outcomes = BTreeMap::new();
    for (outcome, _) in values.values() {
        *outcomes.entry(*outcome).or_insert(0) += 1;
    }
    assert_eq!(outcomes, BTreeMap::from([(-1, 49_830), (0, 302), (1, 195_656)]));
    let longest = values.values().filter_map(|&(_, plies)| plies).max();
    assert_eq!(longest, Some(35));

    assert_eq!(values[&start.normalised()], (1, Some(7)));
    let after = |legal| (start.usi(legal), values[&start.after(legal).normalised()]);
    let moves: BTreeMap<_, _> = start.moves().into_iter().map(after).collect();
    let expected = [
        ("1c2b", (1, Some(5))),
        ("2c1b", (1, Some(1))),
        ("2c2b", (1, Some(1))),
        ("2c3b", (1, Some(1))),
        ("3c3b", (-1, Some(6))),
    ];
    assert_eq!(moves, expected.map(|(usi, value)| (usi.to_string(), value)).into());
}
