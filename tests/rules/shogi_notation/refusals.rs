//! Errors for invalid positions: the fault, its place, and the valid form.

use yomikiri::games::shogi::{ANIMAL_SHOGI, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi};
use yomikiri::rules::Game;

use super::{animal_shogi, minishogi, rules, sfen_of};

/// Returns the error for invalid text.
fn refusal(game: &Shogi, text: &str) -> String {
    match game.parse_position(text, &game.start()) {
        Ok(position) => panic!("{text:?} was read as {}", game.notation(&position)),
        Err(error) => error.line(),
    }
}

fn check_refusals(game: &Shogi, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(refusal(game, text), *expected, "{text:?}");
    }
}

#[test]
fn broken_sfen_is_named() {
    check_refusals(
        &minishogi(),
        &[
            (
                "rbsgk/4p/5/P4/KGSBR",
                "invalid SFEN `rbsgk/4p/5/P4/KGSBR`: 1 field, expected 3 or 4 (board, b or w to move, hands or -, move number); such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR b - 1 1",
                "invalid SFEN `rbsgk/4p/5/P4/KGSBR b - 1 1`: 5 fields, expected 3 or 4 (board, b or w to move, hands or -, move number); such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "sfen",
                "invalid SFEN ``: 0 fields, expected 3 or 4 (board, b or w to move, hands or -, move number); such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR B - 1",
                "invalid SFEN `rbsgk/4p/5/P4/KGSBR B - 1`: side to move `B`, expected b (Black) or w (White)",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR - b 1",
                "invalid SFEN `rbsgk/4p/5/P4/KGSBR - b 1`: side to move `-`, expected b (Black) or w (White)",
            ),
            (
                "rbsgk/4p/P4/KGSBR b - 1",
                "invalid board `rbsgk/4p/P4/KGSBR`: 4 ranks, but minishogi has 5",
            ),
            (
                "rbsgk/4p/5/5/P4/KGSBR b - 1",
                "invalid board `rbsgk/4p/5/5/P4/KGSBR`: 6 ranks, but minishogi has 5",
            ),
            (
                "rbsgk/4p/5/P4/ b - 1",
                "invalid board `rbsgk/4p/5/P4/`: rank 5 (``): 0 squares, but minishogi has 5",
            ),
            (
                "rbsgk/4p/5/P5/KGSBR b - 1",
                "invalid board `rbsgk/4p/5/P5/KGSBR`: rank 4 (`P5`): 6 squares, but minishogi has 5",
            ),
            (
                "rbsgk/3p/5/P4/KGSBR b - 1",
                "invalid board `rbsgk/3p/5/P4/KGSBR`: rank 2 (`3p`): 4 squares, but minishogi has 5",
            ),
            (
                "rbsgkk/4p/5/P4/KGSBR b - 1",
                "invalid board `rbsgkk/4p/5/P4/KGSBR`: rank 1 (`rbsgkk`): 6 squares, but minishogi has 5",
            ),
            (
                "rbsgk/4p/0P4/5/KGSBR b - 1",
                "invalid board `rbsgk/4p/0P4/5/KGSBR`: rank 3 (`0P4`): `0` is not a piece of minishogi; expected K R B G S P, small letters for White's, + before promoted ones",
            ),
            (
                "rbsgk/4p/5/P4/KGNBR b - 1",
                "invalid board `rbsgk/4p/5/P4/KGNBR`: rank 5 (`KGNBR`): `N` is not a piece of minishogi; expected K R B G S P, small letters for White's, + before promoted ones",
            ),
            (
                "rbsgk/4p/5/P4/K+NSBR b - 1",
                "invalid board `rbsgk/4p/5/P4/K+NSBR`: rank 5 (`K+NSBR`): `+N` is not a piece of minishogi; expected K R B G S P, small letters for White's, + before promoted ones",
            ),
            (
                "rbsgk/4p/5/P4/+KGSBR b - 1",
                "invalid board `rbsgk/4p/5/P4/+KGSBR`: rank 5 (`+KGSBR`): `+K`, but kings do not promote",
            ),
            (
                "rbs+gk/4p/5/P4/KGSBR b - 1",
                "invalid board `rbs+gk/4p/5/P4/KGSBR`: rank 1 (`rbs+gk`): `+g`, but golds do not promote",
            ),
            (
                "rbsgk/4p/5/P4+/KGSBR b - 1",
                "invalid board `rbsgk/4p/5/P4+/KGSBR`: rank 4 (`P4+`): + without a piece",
            ),
            (
                "rbsgk/4p/5/P+4/KGSBR b - 1",
                "invalid board `rbsgk/4p/5/P+4/KGSBR`: rank 4 (`P+4`): + without a piece",
            ),
            (
                "rbsgk/4p/5/++P4/KGSBR b - 1",
                "invalid board `rbsgk/4p/5/++P4/KGSBR`: rank 4 (`++P4`): + without a piece",
            ),
            (
                "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
                "invalid board `lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL`: 9 ranks, but minishogi has 5",
            ),
            (ANIMAL_SHOGI.start, "invalid board `gle/1c1/1C1/ELG`: 4 ranks, but minishogi has 5"),
        ],
    );
    check_refusals(
        &animal_shogi(),
        &[
            (
                SMALL_ANIMAL_SHOGI.start,
                "invalid board `elc/3/CLE`: 3 ranks, but animal-shogi has 4",
            ),
            (
                MINISHOGI.start,
                "invalid board `rbsgk/4p/5/P4/KGSBR`: 5 ranks, but animal-shogi has 4",
            ),
            (
                "gle/1c1/1C1/E+LG b - 1",
                "invalid board `gle/1c1/1C1/E+LG`: rank 4 (`E+LG`): `+L`, but lions do not promote",
            ),
            (
                "gle/1c1/1C1/+ELG b - 1",
                "invalid board `gle/1c1/1C1/+ELG`: rank 4 (`+ELG`): `+E`, but elephants do not promote",
            ),
            (
                "gle/1c1/1C1/EKG b - 1",
                "invalid board `gle/1c1/1C1/EKG`: rank 4 (`EKG`): `K` is not a piece of animal-shogi; expected L G E C, small letters for White's, + before promoted ones",
            ),
        ],
    );
    check_refusals(
        &rules(&SMALL_ANIMAL_SHOGI),
        &[
            (
                ANIMAL_SHOGI.start,
                "invalid board `gle/1c1/1C1/ELG`: 4 ranks, but animal-shogi-3x3 has 3",
            ),
            (
                "elc/3/CLG b - 1",
                "invalid board `elc/3/CLG`: rank 3 (`CLG`): `G` is not a piece of animal-shogi-3x3; expected L E C, small letters for White's, + before promoted ones",
            ),
        ],
    );
}

#[test]
fn impossible_hands_are_named() {
    let minishogi = minishogi();
    let with = |hands: &str| refusal(&minishogi, &format!("k4/5/5/5/4K b {hands} 1"));
    let cases = [
        ("3R", "invalid hands `3R`: more than 2 of `R`, the number in minishogi"),
        ("RRR", "invalid hands `RRR`: more than 2 of `R`, the number in minishogi"),
        ("R2R", "invalid hands `R2R`: more than 2 of `R`, the number in minishogi"),
        (
            "99999999999R",
            "invalid hands `99999999999R`: more than 2 of `R`, the number in minishogi",
        ),
        ("0P", "invalid hands `0P`: 0 of `P`; leave out pieces that neither side has in hand"),
        (
            "K",
            "invalid hands `K`: `K` cannot be in hand in minishogi; expected R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "2k",
            "invalid hands `2k`: `k` cannot be in hand in minishogi; expected R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "+P",
            "invalid hands `+P`: `+` cannot be in hand in minishogi; expected R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "N",
            "invalid hands `N`: `N` cannot be in hand in minishogi; expected R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "-P",
            "invalid hands `-P`: `-` cannot be in hand in minishogi; expected R B G S P, small letters for White's, or - alone if both are empty",
        ),
        ("P2", "invalid hands `P2`: 2 without a piece at the end"),
        ("12", "invalid hands `12`: 12 without a piece at the end"),
    ];
    for (hands, expected) in cases {
        assert_eq!(with(hands), expected, "{hands}");
    }
    // More than a `u8` can count.
    assert!(with(&"P".repeat(1000)).contains("more than 2 of `P`"));
}

#[test]
fn impossible_boards_are_named() {
    check_refusals(
        &minishogi(),
        &[
            (
                "rbsg1/4p/5/P4/KGSBR b - 1",
                "invalid position: White has no king on the board; expected one for each side",
            ),
            (
                "rbsgk/4p/5/P4/1GSBR b - 1",
                "invalid position: Black has no king on the board; expected one for each side",
            ),
            (
                "rbsgk/4p/5/P4/KGSKR b - 1",
                "invalid position: Black has 2 kings on the board; expected one for each side",
            ),
            (
                "rbsgk/4p/k4/P4/KGSBR b - 1",
                "invalid position: White has 2 kings on the board; expected one for each side",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR b R 1",
                "invalid position: 3 rooks with promoted ones and those in hand, but minishogi has 2",
            ),
            (
                "rbsgk/4p/+R4/P4/KGSBR b - 1",
                "invalid position: 3 rooks with promoted ones and those in hand, but minishogi has 2",
            ),
            (
                "k4/5/5/5/4K b 2Pp 1",
                "invalid position: 3 pawns with promoted ones and those in hand, but minishogi has 2",
            ),
            (
                "k3P/5/5/5/4K b - 1",
                "invalid position: Black's pawn on 1a is on the last rank, where it has no move; expected a promoted one",
            ),
            (
                "k4/5/5/5/p3K b - 1",
                "invalid position: White's pawn on 5e is on the last rank, where it has no move; expected a promoted one",
            ),
            (
                "k4/5/3P1/3P1/4K b - 1",
                "invalid position: Black has unpromoted pawns on 2c and 2d; expected at most one per file",
            ),
            (
                "k4/2p2/5/2p2/4K w - 1",
                "invalid position: White has unpromoted pawns on 3d and 3b; expected at most one per file",
            ),
            (
                "k3R/5/5/5/4K b - 1",
                "invalid position: Black to move, White's king in check; set White to move, or change the board",
            ),
            (
                "k4/5/5/5/r3K w - 1",
                "invalid position: White to move, Black's king in check; set Black to move, or change the board",
            ),
        ],
    );
    // Valid: the side to move in check, and promoted pawns anywhere.
    let game = minishogi();
    for sfen in [
        "k3R/5/5/5/4K w - 1",
        "k4/5/5/5/r3K b - 1",
        "k2+P1/5/3P1/5/4K b - 1",
        "1k1+P1/5/3+P1/5/4K b - 1",
    ] {
        assert_eq!(sfen_of(&game, sfen), sfen);
    }
    // In animal shogi chicks may be anywhere, and a lion may be left to be captured.
    let animal = animal_shogi();
    for sfen in ["C1l/3/3/L1c b - 1", "2l/C2/C2/L2 b - 1", "l1G/3/3/2L b - 1", "lL1/3/3/3 w - 1"] {
        assert_eq!(sfen_of(&animal, sfen), sfen);
    }
    check_refusals(
        &animal,
        &[
            (
                "g1e/1c1/1C1/ELG b - 1",
                "invalid position: White has no lion on the board; expected one for each side",
            ),
            (
                "gle/1c1/LC1/ELG b - 1",
                "invalid position: Black has 2 lions on the board; expected one for each side",
            ),
            (
                "gle/1+C1/1c1/ELG b C 1",
                "invalid position: 3 chicks with promoted ones and those in hand, but animal-shogi has 2",
            ),
        ],
    );
}

#[test]
fn broken_moves_are_named_with_their_number() {
    check_refusals(
        &minishogi(),
        &[
            (
                "hello",
                "`hello` is neither a position nor a legal move of minishogi; Black can play 5d5c, 5e4d, 4e4d, 4e3d, 3e4d, 3e3d, 3e2d, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d; a position is written 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "hello world",
                "`hello` is neither a position nor a legal move of minishogi; Black can play 5d5c, 5e4d, 4e4d, 4e3d, 3e4d, 3e3d, 3e2d, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d; a position is written 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "position hello",
                "`position` is neither a position nor a legal move of minishogi; Black can play 5d5c, 5e4d, 4e4d, 4e3d, 3e4d, 3e3d, 3e2d, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d; a position is written 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "c4 a1",
                "`c4` is neither a position nor a legal move of minishogi; Black can play 5d5c, 5e4d, 4e4d, 4e3d, 3e4d, 3e3d, 3e2d, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d; a position is written 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "startpos moves 3e2d 7g7f",
                "illegal move 2 `7g7f`; White can play 1b1c, 1a2b, 2a2b, 2a3b, 3a2b, 3a3b, 3a4b, 4a1d, 4a2c, 4a3b, 4a5b, 5a5d, 5a5c, 5a5b",
            ),
            (
                "startpos moves 3e2d hello",
                "illegal move 2 `hello`; White can play 1b1c, 1a2b, 2a2b, 2a3b, 3a2b, 3a3b, 3a4b, 4a1d, 4a2c, 4a3b, 4a5b, 5a5d, 5a5c, 5a5b",
            ),
            ("startpos moves 3e2d 3a3b 4e", "illegal move 3 `4e`; Black can play 4e4d, 4e3d, 4e3e"),
            (
                "3e2d 3a3b 1d1c",
                "illegal move 3 `1d1c`; Black can play 5d5c, 2d3c, 2d2c, 2d1c, 2d3e, 5e4d, 4e4d, 4e3d, 4e3e, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d",
            ),
            ("3e2d 3a3b 2d2a", "illegal move 3 `2d2a`; Black can play 2d3c, 2d2c, 2d1c, 2d3e"),
            ("3e2d 3a3b 2d2c+", "illegal move 3 `2d2c+`; Black can play 2d3c, 2d2c, 2d1c, 2d3e"),
            (
                "3e2d 3a3b P*3c",
                "illegal move 3 `P*3c`; Black can play 5d5c, 2d3c, 2d2c, 2d1c, 2d3e, 5e4d, 4e4d, 4e3d, 4e3e, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d",
            ),
            (
                "3e2d 3a3b L*3c",
                "illegal move 3 `L*3c`; Black can play 5d5c, 2d3c, 2d2c, 2d1c, 2d3e, 5e4d, 4e4d, 4e3d, 4e3e, 2e5b, 2e4c, 2e3d, 2e1d, 1e1b, 1e1c, 1e1d",
            ),
            (
                "4k/5/5/g4/K4 b P 1 moves P*4d",
                "illegal move 1 `P*4d`; Black can play 5e5d (Black is in check)",
            ),
            (
                "r3k/5/5/3R1/K4 b P 1 moves P*4d",
                "illegal move 1 `P*4d`; Black can play P*5b, P*5c, P*5d (Black is in check)",
            ),
            ("k4/5/1GK2/5/5 b G 1 moves G*4b 5a4b", "illegal move 2 `5a4b`; the game is over"),
            ("k4/5/1GK2/5/5 b G 1 moves G*5d 5a4b", "illegal move 2 `5a4b`; White can play 5a4a"),
            (
                "k4/5/5/5/r3K b P 1 moves P*3d",
                "illegal move 1 `P*3d`; Black can play P*4e, P*3e, P*2e (Black is in check)",
            ),
            (
                "k4/5/5/5/r3K b P 1 moves P*3e 5e3e 1e2e",
                "illegal move 3 `1e2e`; Black can play 1e2d, 1e1d (Black is in check)",
            ),
            (
                "k4/5/5/3P1/4K b P 1 moves P*2c",
                "illegal move 1 `P*2c`; Black can play P*5b, P*4b, P*3b, P*1b, P*5c, P*4c, P*3c, P*1c, P*5d, P*4d, P*3d, P*1d, P*5e, P*4e, P*3e",
            ),
            ("k4/5/5/5/K4 b - 1 moves 5e", "illegal move 1 `5e`; Black can play 5e5d, 5e4d, 5e4e"),
            ("k4/4P/5/5/K4 b - 1 moves 1b1a", "illegal move 1 `1b1a`; Black can play 1b1a+"),
        ],
    );
    check_refusals(
        &animal_shogi(),
        &[
            (
                "hello",
                "`hello` is neither a position nor a legal move of animal-shogi; Black can play 2c2b, 2d3c, 2d1c, 1d1c; a position is written 'gle/1c1/1C1/ELG b - 1'",
            ),
            ("2c2b 3a3b 2b2a", "illegal move 3 `2b2a`; the game is over"),
            ("2c2b 1a1b 2b2a", "illegal move 2 `1a1b`; White can play 1a2b (White is in check)"),
            (
                "2c2b 1a1b 3d3c 1b1a",
                "illegal move 2 `1a1b`; White can play 1a2b (White is in check)",
            ),
        ],
    );
}

#[test]
fn broken_drawn_boards_are_named() {
    let game = minishogi();
    let drawn = format!("{}Black to move\n", game.diagram(&game.start()));
    assert_eq!(sfen_of(&game, &drawn), MINISHOGI.start);
    let broken = |from: &str, to: &str| {
        assert!(drawn.contains(from), "{from:?} is not in\n{drawn}");
        refusal(&game, &drawn.replacen(from, to, 1))
    };
    let cases: [(&str, &str, &str); 15] = [
        ("c  .  .  .  .  .\n", "", "invalid board: 4 ranks, but minishogi has 5"),
        (
            "c  .  .  .  .  .\n",
            "c  .  .  .  .  .\nc  .  .  .  .  .\n",
            "invalid board: 6 ranks, but minishogi has 5",
        ),
        ("b  .", "c  .", "invalid board line `c . . . . p`: expected the name b of the rank first"),
        ("b  .", " .", "invalid board line `. . . . p`: expected the name b of the rank first"),
        ("b  .", "b  .  .", "invalid board line `b . . . . . p`: 6 squares, but minishogi has 5"),
        ("b  .  .", "b  .", "invalid board line `b . . . p`: 4 squares, but minishogi has 5"),
        (
            " s ",
            " n ",
            "invalid board line `a r b n g k`: `n` is not a piece of minishogi; expected K R B G S P, small letters for White's, + before promoted ones",
        ),
        (
            " s ",
            " ? ",
            "invalid board line `a r b ? g k`: `?` is not a piece of minishogi; expected K R B G S P, small letters for White's, + before promoted ones",
        ),
        (" s ", " + ", "invalid board line `a r b + g k`: `+g`, but golds do not promote"),
        (
            "Black to move",
            "Nobody to move",
            "invalid line `Nobody to move`: expected Black or White first",
        ),
        ("Black to move", "to move", "invalid line `to move`: expected Black or White first"),
        (
            "Black holds -",
            "Black holds p",
            "invalid line `Black holds p`: contains `p`, expected Black's pieces in capitals",
        ),
        (
            "White holds -",
            "White holds P",
            "invalid line `White holds P`: contains `P`, expected White's pieces in small letters",
        ),
        (
            "White holds -",
            "Sente holds p",
            "invalid line `Sente holds p`: expected Black or White first",
        ),
        (
            "Black holds -",
            "Black holds 3P",
            "invalid hands `3P`: more than 2 of `P`, the number in minishogi",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(broken(from, to), expected, "{from:?} as {to:?}");
    }
    check_refusals(
        &game,
        &[
            ("rbsgk\n....p\n.....\nP....\n", "invalid board: 4 ranks, but minishogi has 5"),
            ("foo\nbar\n", "invalid board: 2 ranks, but minishogi has 5"),
        ],
    );
}
