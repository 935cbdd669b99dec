//! Notation of the shogi family: SFEN, moves in USI, drawn boards, and errors for broken ones.

mod refusals;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use yomikiri::games::shogi::{
    ANIMAL_SHOGI, Board, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi, VARIANTS, Variant,
};
use yomikiri::rules::{Game, Position};

fn rules(variant: &Variant) -> Shogi {
    Shogi::new(variant, true)
}

fn minishogi() -> Shogi {
    rules(&MINISHOGI)
}

fn animal_shogi() -> Shogi {
    rules(&ANIMAL_SHOGI)
}

/// Reads text and writes the position in SFEN.
fn sfen_of(game: &Shogi, text: &str) -> String {
    match game.parse_position(text, &game.start()) {
        Ok(position) => game.notation(&position),
        Err(error) => panic!("{text:?}: {error}"),
    }
}

const AFTER_TWO: &str = "rb1gk/4p/2s2/P2S1/KG1BR b - 1";

#[test]
fn the_start_has_its_names() {
    for variant in VARIANTS {
        let game = rules(variant);
        for name in
            ["start", "startpos", "START", " startpos\n", "position startpos", variant.start, ""]
        {
            assert_eq!(sfen_of(&game, name), variant.start, "{name:?}");
        }
    }
}

#[test]
fn sfen_is_read_with_and_without_its_trimmings() {
    let game = minishogi();
    let sfen = "+R2kg/1R+B2/3+bs/P2P1/K1S2 w G 1";
    let without = sfen.strip_suffix(" 1").unwrap();
    for text in [
        sfen.to_string(),
        without.to_string(),
        format!("{without} 37"),
        format!("sfen {sfen}"),
        format!("position sfen {sfen}"),
        format!("position sfen {sfen} moves"),
        format!("  {}  ", sfen.replace(' ', "\t ")),
        sfen.replace(' ', "\n"),
    ] {
        assert_eq!(sfen_of(&game, &text), sfen, "{text:?}");
    }
    // Hands in any order, each piece alone or counted.
    for hands in ["2Pbs", "PPbs", "sbPP", "PsPb", "1P1b1s1P"] {
        assert_eq!(sfen_of(&game, &format!("k4/5/5/5/4K b {hands}")), "k4/5/5/5/4K b 2Pbs 1");
    }
    assert_eq!(sfen_of(&game, "k1111/5/23/311/4K b -"), "k4/5/5/5/4K b - 1");
}

#[test]
fn moves_are_played_from_where_they_begin() {
    let game = minishogi();
    for text in [
        "startpos moves 3e2d 3a3b 4e4d",
        "position startpos moves 3e2d 3a3b 4e4d",
        "start moves 3e2d 3a3b 4e4d",
        "startpos 3e2d 3a3b 4e4d",
        "3e2d 3a3b 4e4d",
        "moves 3E2D 3A3b 4E4d",
        "3e2d\n3a3b\n4e4d\n",
        "position sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 3e2d 3a3b 4e4d",
        "rbsgk/4p/5/P4/KGSBR b - 1 moves 3e2d 3a3b 4e4d",
        "rbsgk/4p/5/P4/KGSBR b - moves 3e2d 3a3b 4e4d",
    ] {
        assert_eq!(sfen_of(&game, text), "rb1gk/2s1p/5/PG1S1/K2BR w - 1", "{text:?}");
    }
    // Bare moves and `start` begin at the given root, `startpos` at the start of the game.
    let root = game.parse_position(AFTER_TWO, &game.start()).unwrap();
    let from_root = |text: &str| game.notation(&game.parse_position(text, &root).unwrap());
    for text in ["start", "", "start moves", "moves"] {
        assert_eq!(from_root(text), AFTER_TWO, "{text:?}");
    }
    for text in ["4e4d", "start moves 4e4d", "moves 4e4d", "start 4e4d"] {
        assert_eq!(from_root(text), "rb1gk/4p/2s2/PG1S1/K2BR w - 1", "{text:?}");
    }
    assert_eq!(from_root("startpos"), MINISHOGI.start);
    assert_eq!(from_root("startpos moves 3e2d 3a3b"), "rb1gk/2s1p/5/P2S1/KG1BR b - 1");
}

#[test]
fn moves_may_be_written_in_any_case() {
    let game = minishogi();
    let drop = "k4/5/5/5/4K b P moves ";
    for text in ["P*3c", "p*3c", "P*3C"] {
        assert_eq!(sfen_of(&game, &format!("{drop}{text}")), "k4/5/2P2/5/4K w - 1", "{text}");
    }
    let choice = "k4/4S/5/5/K4 b - moves ";
    assert_eq!(sfen_of(&game, &format!("{choice}1B1A+")), "k3+S/5/5/5/K4 w - 1");
    assert_eq!(sfen_of(&game, &format!("{choice}1b1a")), "k3S/5/5/5/K4 w - 1");
    // Where promotion is forced its sign may be left out.
    let animal = animal_shogi();
    for text in ["1b1a", "1b1a+", "1B1A"] {
        let text = format!("l2/2C/3/2L b - moves {text}");
        assert_eq!(sfen_of(&animal, &text), "l1+C/3/3/2L w - 1", "{text}");
    }
}

#[test]
fn drawn_boards_are_read_as_people_write_them() {
    let game = minishogi();
    let sfen = "r2gk/2+B2/5/P3+s/KG2R w Sbp 1";
    let diagram = format!("{}White to move", game.diagram(&at(&game, sfen)));
    for text in [
        diagram.as_str(),
        "r . . g k\n. . +B . .\n. . . . .\nP . . . +s\nK G . . R\nBlack holds S\nWhite holds b p\nWhite to move",
        "r..gk\n..+B..\n.....\nP...+s\nKG..R\nBlack holds S\nWhite holds pb\nwhite to move",
        "r2gk\n2+B2\n5\nP3+s\nKG2R\nwhite holds pb\nblack holds S\n\nWHITE TO MOVE",
        "White to move\n\nA r . . g k\nB . . +B . .\nC . . . . .\nD P . . . +s\nE K G . . R\nWhite holds b p\nBlack holds S",
    ] {
        assert_eq!(sfen_of(&game, text), sfen, "{text}");
    }
    // Without a side to move Black is to move.
    assert_eq!(sfen_of(&game, &game.diagram(&game.start())), MINISHOGI.start);
    let animal = animal_shogi();
    assert_eq!(
        sfen_of(&animal, "a g l e\r\nb . c .\r\nc . C .\r\nd E L G\r\n"),
        ANIMAL_SHOGI.start
    );
    assert_eq!(sfen_of(&animal, "g l e\n. c .\n. C .\nE L G"), ANIMAL_SHOGI.start);
}

fn at(game: &Shogi, sfen: &str) -> Position<Board> {
    game.parse_position(sfen, &game.start()).unwrap()
}

#[test]
fn boards_are_drawn() {
    let game = minishogi();
    let sfen = "r2gk/2+B2/5/P3+s/KG2R w Sbp 1";
    let drawn = concat!(
        "White holds bp\n",
        "   5  4  3  2  1\n",
        "a  r  .  .  g  k\n",
        "b  .  . +B  .  .\n",
        "c  .  .  .  .  .\n",
        "d  P  .  .  . +s\n",
        "e  K  G  .  .  R\n",
        "Black holds S\n",
    );
    assert_eq!(game.diagram(&at(&game, sfen)), drawn);
    assert_eq!(game.written(&at(&game, sfen)), [("sfen", sfen.to_string())]);
}

#[test]
fn boards_are_drawn_in_japanese() {
    let draw = |game: &Shogi, sfen: &str| game.diagram_japanese(&at(game, sfen)).unwrap();
    let game = minishogi();
    let drawn = concat!(
        "White holds なし\n",
        "   ５  ４  ３  ２  １\n",
        "a v飛 v角 v銀 v金 v玉\n",
        "b  ・  ・  ・  ・ v歩\n",
        "c  ・  ・  ・  ・  ・\n",
        "d  歩  ・  ・  ・  ・\n",
        "e  玉  金  銀  角  飛\n",
        "Black holds なし\n",
    );
    assert_eq!(draw(&game, MINISHOGI.start), drawn);
    let drawn = concat!(
        "White holds 飛\n",
        "   ５  ４  ３  ２  １\n",
        "a  龍  ・  ・  ・ v玉\n",
        "b  ・  ・  と  馬  ・\n",
        "c  ・  ・  ・ v馬 v全\n",
        "d  歩  ・  ・  ・  ・\n",
        "e  玉  ・  銀  ・  ・\n",
        "Black holds 金金\n",
    );
    assert_eq!(draw(&game, "+R3k/2+P+B1/3+b+s/P4/K1S2 w 2Gr 1"), drawn);
    let drawn = concat!(
        "White holds 雛\n",
        "   ３  ２  １\n",
        "a v麒  ・ v象\n",
        "b  ・ v獅  ・\n",
        "c  ・  鶏  ・\n",
        "d  象  獅  麒\n",
        "Black holds なし\n",
    );
    assert_eq!(draw(&animal_shogi(), "g1e/1l1/1+C1/ELG w c 1"), drawn);
    let small = rules(&SMALL_ANIMAL_SHOGI);
    let drawn = concat!(
        "White holds なし\n",
        "   ３  ２  １\n",
        "a  ・ v獅  ・\n",
        "b  ・  ・  ・\n",
        "c  雛  獅 v鶏\n",
        "Black holds 象象\n",
    );
    assert_eq!(draw(&small, "1l1/3/CL+c b 2E 1"), drawn);
}

/// Checks that reading never panics, and that any result is a position.
fn reads_or_refuses(variant: &Variant, text: &str) -> Result<(), TestCaseError> {
    let game = rules(variant);
    match game.parse_position(text, &game.start()) {
        Ok(position) => {
            let sfen = game.notation(&position);
            prop_assert_eq!(game.parse_position(&sfen, &game.start()), Ok(position), "{}", sfen);
            let side = game.side_name(position.side);
            let drawn = format!("{}\n{side} to move", game.diagram(&position));
            prop_assert_eq!(game.parse_position(&drawn, &game.start()), Ok(position), "{}", drawn);
            prop_assert_eq!(game.state(game.key(&position.state)), Some(position.state));
            game.actions(&position.state);
        }
        Err(error) => {
            let what = error.to_string();
            prop_assert!(!what.is_empty() && what.lines().count() == 1, "{:?}", what);
        }
    }
    Ok(())
}

const POSITIONS: [&str; 8] = [
    "rbsgk/4p/5/P4/KGSBR b - 1",
    "+R2kg/1R+B2/3+bs/P2P1/K1S2 w G 1",
    "2k1b/3s1/g4/2K2/5 b 2RSPbgp 1",
    "position sfen 1bs1k/p2Pg/1R1r1/G1S1B/K4 w - 1 moves 5b5c 5d5c",
    "gle/1c1/1C1/ELG b - 1",
    "startpos moves 2c2b 2a2b",
    "White holds b\n  3 2 1\na e l .\nb . . c\nc C L +C\nBlack holds E\nBlack to move",
    "elc/3/CLE b - 1",
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", drawn in "(\\PC{0,12}\\n){0,6}") {
        for variant in VARIANTS {
            reads_or_refuses(variant, &text)?;
            reads_or_refuses(variant, &drawn)?;
        }
    }

    #[test]
    fn text_of_the_right_letters_is_read_or_refused(
        text in "[kprbgslceKPRBGSLCE1-9+/]{1,30} [bw] [kprbgslcePRBGSLCE1-9+-]{1,10} [0-9]{0,3}",
        moves in "[1-5a-eKPRBGSLCE*+ \\n]{0,30}",
    ) {
        for variant in VARIANTS {
            reads_or_refuses(variant, &text)?;
            reads_or_refuses(variant, &moves)?;
            reads_or_refuses(variant, &format!("startpos moves {moves}"))?;
        }
    }

    /// Positions with some characters replaced, inserted or removed.
    #[test]
    fn damaged_positions_are_read_or_refused(
        which in 0..POSITIONS.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..3, "[a-zA-Z0-9+*/\\- \\n]"), 1..4),
    ) {
        let mut signs: Vec<char> = POSITIONS[which].chars().collect();
        for (place, how, sign) in damage {
            let sign = sign.chars().next().unwrap();
            let at = place.index(signs.len());
            match how {
                0 => signs[at] = sign,
                1 => signs.insert(at, sign),
                _ => drop(signs.remove(at)),
            }
        }
        let text: String = signs.into_iter().collect();
        for variant in VARIANTS {
            reads_or_refuses(variant, &text)?;
        }
    }
}
