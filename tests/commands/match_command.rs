//! `solver match`: which game it plays.

use crate::common::tables::Tables;

#[test]
fn a_game_is_chosen_by_name_by_size_or_by_table() {
    let tables = Tables::new();
    let of = |words: &[&str]| {
        tables.json(&[&["match", "random", "greedy", "--openings", "1"], words].concat())
    };
    let named = of(&["--game", "othello-4x4"]);
    assert_eq!(named["table"], "othello-4x4");
    assert_eq!(named, of(&["--size", "4"]));
    assert_eq!(named, of(&["--table", "othello-4x4"]));
    let sampled = of(&["--game", "othello-6x6", "--sample", "10"]);
    assert_eq!(sampled["game"], "othello-6x6");
    let score = ["first", "second"].map(|side| sampled[side]["score"].as_i64().unwrap());
    assert_ne!(score, [0, 0]);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let tables = Tables::new();
    for (game, what) in [
        ("animal-shogi-3x3", "games of animal-shogi-3x3 may go on for ever"),
        ("chess", "'chess' is no game"),
        ("othello-8x8", "bound it with --max-depth"),
    ] {
        let run = tables.run(&["match", "random", "greedy", "--game", game]);
        let line = run.refused(game);
        assert!(line.contains(what), "{line}");
    }
    let both = ["match", "random", "greedy", "--game", "othello-4x4", "--size", "4"];
    assert_eq!(tables.run(&both).code, 2);
}
