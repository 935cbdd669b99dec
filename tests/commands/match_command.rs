//! `solver match`: its choice of the game, and infinite play.

use crate::common::tables::Tables;

#[test]
fn a_game_is_chosen_by_name_by_size_or_by_table() {
    let tables = Tables::new();
    let of = |words: &[&str]| tables.json(&[&["match", "random", "greedy"], words].concat());
    let named = of(&["--openings", "1", "--game", "othello-4x4"]);
    assert_eq!(named["table"], "othello-4x4");
    assert_eq!(named, of(&["--openings", "1", "--size", "4"]));
    assert_eq!(named, of(&["--openings", "1", "--table", "othello-4x4"]));
    let sampled = of(&["--game", "othello-6x6", "--sample", "10"]);
    assert_eq!(sampled["game"], "othello-6x6");
    let score = ["first", "second"].map(|side| sampled[side]["score"].as_i64().unwrap());
    assert_ne!(score, [0, 0]);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let tables = Tables::new();
    for (game, what) in [
        ("minishogi", "minishogi is too large to be enumerated whole"),
        ("chess", "no table, game or size `chess`"),
        ("othello-8x8", "bound it with --max-depth"),
    ] {
        let run = tables.run(&["match", "random", "greedy", "--game", game]);
        let line = run.refused(game);
        assert!(line.contains(what), "{line}");
    }
    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2"]);
    let bounded = ["match", "random", "greedy", "--table", "minishogi-depth2"];
    tables.ok(&["value-iterate", "minishogi-depth2"]);
    let run = tables.run(&bounded);
    let line = run.refused("bounded");
    assert!(line.contains("minishogi-depth2 is bounded: games lead out of the table"), "{line}");
    let open = ["value-iterate", "animal-shogi-3x3", "--repetition", "unknown"];
    tables.ok(&["enumerate", "--game", "animal-shogi-3x3"]);
    tables.ok(&open);
    let run = tables.run(&["match", "random", "greedy", "--table", "animal-shogi-3x3"]);
    let line = run.refused("open");
    assert!(line.contains("does not define the value of infinite play"), "{line}");
    let both = ["match", "random", "greedy", "--game", "othello-4x4", "--size", "4"];
    assert_eq!(tables.run(&both).code, 2);
    let absurd = ["match", "random", "greedy", "--size", "4", "--openings", "4294967295"];
    assert!(tables.run(&absurd).stderr.contains("expected 0 to 100"));
}

/// Deterministic players repeat positions forever unless the game ends. Sampled games end at the fourth
/// occurrence of a position; exact ones count games that do not end.
#[test]
fn games_that_may_go_on_for_ever_are_played() {
    let tables = Tables::new();
    let words = ["match", "random", "greedy", "--game", "animal-shogi-3x3"];
    let exact = tables.json(&words);
    assert_eq!(exact["most_plies"], 512);
    let sampled = tables.json(&[&words[..], &["--sample", "3000"]].concat());
    for side in ["first", "second"] {
        let exact = &exact["openings"][0][side];
        let [win, loss] = ["win", "loss"].map(|name| exact[name].as_f64().unwrap());
        let tally = |name: &str| sampled[side][name].as_f64().unwrap();
        assert_eq!(tally("wins") + tally("draws") + tally("losses"), 3000.0);
        // Four standard errors; few games repeat a position four times.
        let within = |found: f64, p: f64| {
            (found / 3000.0 - p).abs() < 4.0 * (p * (1.0 - p) / 3000.0).sqrt() + 1e-3
        };
        assert!(within(tally("wins"), win) && within(tally("losses"), loss), "{sampled} {exact}");
    }
    let text = tables.ok(&words);
    assert!(text.contains("Games longer than 512 plies count as infinite"), "{text}");
}
