//! Perft of the shogi family against the independent counts of `tests/data`. A game that ends earlier counts
//! nothing.

use serde_json::Value;
use yomikiri::games::shogi::{
    ANIMAL_SHOGI, Board, Drops, Ending, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi, Variant,
};
use yomikiri::rules::Game;
use yomikiri::rules::perft::Finished::{Counted, Dropped};
use yomikiri::rules::perft::{perft, perft_shared};

fn truth(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn minishogi_truth() -> Value {
    truth(include_str!("../data/minishogi-perft.json"))
}

/// Returns minishogi without and with mate by pawn drop, and the name of its counts in the data.
fn both_rules() -> [(Shogi, &'static str); 2] {
    let counting = Variant { drops: Drops { pawn_mate: true, ..MINISHOGI.drops }, ..MINISHOGI };
    let [strict, counting] = [MINISHOGI, counting].map(|variant| Shogi::new(&variant, true));
    [(strict, "strict"), (counting, "counting_uchifuzume")]
}

/// Checks depths from 1; one by one up to `plain` lines.
fn check(game: &Shogi, sfen: &str, counts: &[u64], plain: u64) {
    let state: Board = game.parse_position(sfen, &game.start()).unwrap().state;
    for (depth, &count) in (1..).zip(counts) {
        assert_eq!(perft_shared(game, &state, depth, Dropped), count, "{sfen} depth {depth}");
        if count <= plain {
            assert_eq!(perft(game, &state, depth, Dropped), count, "{sfen} plain depth {depth}");
        }
    }
}

#[test]
fn minishogi_to_depth_7() {
    let truth = &minishogi_truth()["start"];
    for (game, field) in both_rules() {
        let counts = &numbers(&truth[field])[..7];
        check(&game, truth["sfen"].as_str().unwrap(), counts, 1_000_000);
    }
}

#[test]
fn minishogi_from_elsewhere() {
    let truth = minishogi_truth();
    let positions = truth["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 18);
    let mut counted_apart = 0;
    for position in positions {
        for (game, field) in both_rules() {
            let counts = numbers(&position[field]);
            assert!(counts.len() >= 4);
            check(&game, position["sfen"].as_str().unwrap(), &counts, 3_000_000);
        }
        counted_apart += u32::from(position["strict"] != position["counting_uchifuzume"]);
    }
    assert!(counted_apart >= 5, "mates by pawn drop are hardly seen");
}

#[test]
fn animal_shogi_with_either_ending() {
    let truth = truth(include_str!("../data/animal-shogi.json"));
    let played = Variant { ending: Ending::Played, ..ANIMAL_SHOGI };
    for (variant, field) in
        [(ANIMAL_SHOGI, "perft_tanaka_terminal_rule"), (played, "perft_try_rule_resolved_at_once")]
    {
        let counts = &numbers(&truth[field])[..8];
        check(&Shogi::new(&variant, true), "start", counts, 10_000_000);
        check(&Shogi::new(&variant, false), "start", counts, 100_000);
    }
}

/// The two conventions differ by the games that ended earlier, the first of them after one ply.
#[test]
fn finished_games_count_by_option() {
    let game = Shogi::new(&SMALL_ANIMAL_SHOGI, true);
    let start = game.start().state;
    for depth in 1..=6 {
        let (mut lines, mut over) = (vec![start], 0);
        for _ in 0..depth {
            over += lines.iter().filter(|state| game.is_terminal(state)).count();
            let step = |s: &Board| {
                let after = game.actions(s).into_iter().map(|a| game.play(s, a));
                after.collect::<Vec<_>>()
            };
            lines = lines.iter().flat_map(step).collect();
        }
        let (dropped, counted) = (lines.len() as u64, (lines.len() + over) as u64);
        for (finished, expected) in [(Dropped, dropped), (Counted, counted)] {
            assert_eq!(perft(&game, &start, depth, finished), expected, "depth {depth}");
            assert_eq!(perft_shared(&game, &start, depth, finished), expected, "depth {depth}");
        }
        assert_eq!(over > 0, depth > 1, "depth {depth}");
    }
}
