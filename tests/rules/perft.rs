//! Perft against the independent counts of `tests/data/othello.json`.

use serde_json::Value;
use yomikiri::games::othello::Othello;
use yomikiri::rules::Game;
use yomikiri::rules::perft::Finished::{Counted, Dropped};
use yomikiri::rules::perft::{perft, perft_shared};

fn published(board: &str, field: &str) -> Vec<u64> {
    let truth: Value = serde_json::from_str(include_str!("../data/othello.json")).unwrap();
    truth[board][field].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn check<G: Game>(game: &G, counts: &[u64], plain_depth: usize) {
    let start = game.start().state;
    for (i, &count) in counts.iter().enumerate() {
        let depth = i as u32 + 1;
        let (name, shared) = (game.name(), perft_shared(game, &start, depth, Counted));
        assert_eq!(shared, count, "{name} depth {depth}");
        if i < plain_depth {
            assert_eq!(perft(game, &start, depth, Counted), count, "{name} plain depth {depth}");
        }
    }
}

const FIELD: &str = "perft_pass_is_a_ply_game_over_counts_1";

#[test]
fn perft_4x4_to_the_end() {
    check(&Othello::new(4, 4, true), &published("4x4", FIELD), 16);
}

#[test]
fn perft_4x6() {
    check(&Othello::new(4, 6, true), &published("4x6", FIELD), 10);
}

#[test]
fn perft_6x6() {
    check(&Othello::new(6, 6, true), &published("6x6", FIELD)[..10], 8);
}

#[test]
fn perft_8x8_to_depth_10() {
    check(&Othello::new(8, 8, true), &published("8x8", "perft")[..10], 9);
}

#[test]
fn perft_does_not_depend_on_folding() {
    let plain = Othello::new(4, 4, false);
    check(&plain, &published("4x4", FIELD), 8);
}

/// The two conventions differ by the games that ended earlier.
#[test]
fn finished_games_count_by_option() {
    let game = Othello::new(4, 4, true);
    let start = game.start().state;
    let (mut level, mut over) = (vec![start], 0);
    for depth in 0..=13 {
        let (lines, all) = (level.len() as u64, (level.len() + over) as u64);
        for (finished, expected) in [(Dropped, lines), (Counted, all)] {
            assert_eq!(perft(&game, &start, depth, finished), expected, "depth {depth}");
            assert_eq!(perft_shared(&game, &start, depth, finished), expected, "depth {depth}");
        }
        over += level.iter().filter(|state| game.is_terminal(state)).count();
        let successors =
            level.iter().flat_map(|s| game.actions(s).into_iter().map(|a| game.play(s, a)));
        level = successors.collect();
    }
    assert!(over > 0, "no game ends so soon");
    assert_eq!(
        (perft(&game, &start, 20, Dropped), perft_shared(&game, &start, 20, Dropped)),
        (0, 0)
    );
}
