//! `solver perft` for every game, with flags that change the rules.

use crate::common::tables::Tables;
use serde_json::{Value, json};

fn perft(args: &[&str]) -> Value {
    Tables::new().json(&[&["perft"], args].concat())
}

#[test]
fn every_game_is_counted_by_its_name() {
    let cases: [(&[&str], &str, &[u64]); 5] = [
        (&["--game", "minishogi", "--depth", "4"], "minishogi", &[14, 181, 2512, 35401]),
        (&["--game", "animal-shogi", "--depth", "4"], "animal-shogi", &[4, 17, 96, 577]),
        (&["--game", "animal-shogi-3x3", "--depth", "2"], "animal-shogi-3x3", &[5, 10]),
        (&["--game", "othello-4x4", "--depth", "3"], "othello-4x4", &[4, 12, 44]),
        (&["--size", "4x6", "--depth", "2"], "othello-4x6", &[4, 12]),
    ];
    for (args, game, counts) in cases {
        let output = perft(args);
        assert_eq!(output["game"], game, "{args:?}");
        assert_eq!(output["perft"], json!(counts), "{args:?}");
        assert_eq!(output.get("count_drop_mates"), None, "{args:?}");
        assert_eq!(output.get("play_captures"), None, "{args:?}");
    }
    let text = Tables::new().ok(&["perft", "--game", "minishogi", "--depth", "4"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["depth", "lines", "of", "play"]);
    assert_eq!((rows.len(), &rows[4]), (5, &vec!["4", "35,401"]));
}

#[test]
fn shogi_is_counted_to_depth_5_by_default() {
    let output = perft(&["--game", "minishogi"]);
    assert_eq!(output["perft"], json!([14, 181, 2512, 35401, 533_203]));
    assert_eq!(output["root"], "rbsgk/4p/5/P4/KGSBR b - 1");
}

/// A finished game counts 1 beyond its end in Othello and 0 in shogi.
#[test]
fn finished_games_count_by_the_custom_of_the_game() {
    let full = "XXXXXXXXXXXXXXXX X";
    let args = ["--size", "4", "--depth", "3", "--root", full];
    assert_eq!(perft(&args)["perft"], json!([1, 1, 1]));
    let mated = "k4/1G3/1GK2/5/5 w - 1";
    let args = ["--game", "minishogi", "--depth", "3", "--root", mated];
    assert_eq!(perft(&args)["perft"], json!([0, 0, 0]));
}

#[test]
fn flags_change_the_rules() {
    // One drop of White's here would mate with a pawn.
    let root = "+S2k1/2g2/1rb2/K1+b2/2g+r+s w 2p 1";
    let minishogi = ["--game", "minishogi", "--root", root, "--depth", "3"];
    assert_eq!(perft(&minishogi)["perft"], json!([45, 89, 3895]));
    let output = perft(&[&minishogi[..], &["--count-drop-mates"]].concat());
    assert_eq!(output["perft"], json!([46, 89, 3925]));
    assert_eq!((&output["count_drop_mates"], &output["root"]), (&json!(true), &json!(root)));

    let animal = ["--game", "animal-shogi", "--depth", "5"];
    assert_eq!(perft(&animal)["perft"], json!([4, 17, 96, 577, 3199]));
    let output = perft(&[&animal[..], &["--play-captures"]].concat());
    assert_eq!(output["perft"], json!([4, 17, 123, 976, 8122]));
    assert_eq!(output["play_captures"], true);
    let output = perft(&["--game", "animal-shogi-3x3", "--play-captures", "--depth", "1"]);
    assert_eq!(output["perft"], json!([5]));
}

#[test]
fn what_means_nothing_is_refused_in_one_line() {
    let tables = Tables::new();
    let cases: [(&[&str], &[&str]); 10] = [
        (&["--count-drop-mates"], &["--count-drop-mates", "othello-4x4", "only minishogi"]),
        (
            &["--game", "animal-shogi", "--count-drop-mates"],
            &["--count-drop-mates", "animal-shogi:"],
        ),
        (&["--play-captures", "--size", "4"], &["--play-captures", "othello-4x4", "animal shogi"]),
        (&["--game", "minishogi", "--play-captures"], &["--play-captures", "minishogi"]),
        (
            &["--game", "minishogi", "--count-drop-mates", "--play-captures"],
            &["--play-captures", "minishogi"],
        ),
        (
            &["--game", "animal-shogi", "--count-drop-mates", "--play-captures"],
            &["--count-drop-mates", "animal-shogi"],
        ),
        (&["--game", "shogi"], &["`shogi`", "minishogi", "animal-shogi-3x3"]),
        (&["--game", "othello-9x9"], &["`9x9`"]),
        (&["--game", "minishogi", "--root", "1d1c"], &["`1d1c`", "legal move"]),
        (
            &["--game", "minishogi", "--root", "gle/1c1/1C1/ELG b - 1"],
            &["4 ranks", "minishogi has 5"],
        ),
    ];
    for (args, named) in cases {
        let ran = tables.run(&[&["perft"], args].concat());
        let line = ran.refused(&format!("{args:?}"));
        for part in named {
            assert!(line.starts_with("solver: ") && line.contains(part), "{args:?}: {line}");
        }
    }
    let both = tables.run(&["perft", "--game", "minishogi", "--size", "4"]);
    assert_eq!((both.code, both.stdout.as_str()), (2, ""), "{both:?}");
    assert!(both.stderr.contains("--game is given twice"), "{both:?}");
}
