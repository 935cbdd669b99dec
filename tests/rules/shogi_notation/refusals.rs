//! Errors for invalid positions: the fault, its place, and the valid form.

use yomikiri::game::shogi::{ANIMAL_SHOGI, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi};
use yomikiri::game::{Game, GameExt, StateKey};
use yomikiri::hint::Hint;

use super::{animal_shogi, minishogi, rules, sfen_of};

/// Returns the error for invalid text.
fn refusal<K: StateKey>(game: &Shogi<K>, text: &str) -> String {
    match game.parse_position(text, &game.start()) {
        Ok(position) => panic!("{text:?} was read as {}", game.notation(&position)),
        Err(error) => error.line(),
    }
}

fn check_refusals<K: StateKey>(game: &Shogi<K>, cases: &[(&str, &str)]) {
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
                "SFEN 'rbsgk/4p/5/P4/KGSBR' has 1 field where 3 or 4 are expected: the board, b or w to move, the hands (- if empty), the number of the move; such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR b - 1 1",
                "SFEN 'rbsgk/4p/5/P4/KGSBR b - 1 1' has 5 fields where 3 or 4 are expected: the board, b or w to move, the hands (- if empty), the number of the move; such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "sfen",
                "SFEN '' has 0 fields where 3 or 4 are expected: the board, b or w to move, the hands (- if empty), the number of the move; such as 'rbsgk/4p/5/P4/KGSBR b - 1'",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR B - 1",
                "SFEN 'rbsgk/4p/5/P4/KGSBR B - 1' has 'B' where the side to move is: b (Black) or w (White)",
            ),
            (
                "rbsgk/4p/5/P4/KGSBR - b 1",
                "SFEN 'rbsgk/4p/5/P4/KGSBR - b 1' has '-' where the side to move is: b (Black) or w (White)",
            ),
            (
                "rbsgk/4p/P4/KGSBR b - 1",
                "board 'rbsgk/4p/P4/KGSBR' has 4 ranks where minishogi has 5",
            ),
            (
                "rbsgk/4p/5/5/P4/KGSBR b - 1",
                "board 'rbsgk/4p/5/5/P4/KGSBR' has 6 ranks where minishogi has 5",
            ),
            (
                "rbsgk/4p/5/P4/ b - 1",
                "rank 5 of board 'rbsgk/4p/5/P4/', '', has 0 squares where minishogi has 5",
            ),
            (
                "rbsgk/4p/5/P5/KGSBR b - 1",
                "rank 4 of board 'rbsgk/4p/5/P5/KGSBR', 'P5', has 6 squares where minishogi has 5",
            ),
            (
                "rbsgk/3p/5/P4/KGSBR b - 1",
                "rank 2 of board 'rbsgk/3p/5/P4/KGSBR', '3p', has 4 squares where minishogi has 5",
            ),
            (
                "rbsgkk/4p/5/P4/KGSBR b - 1",
                "rank 1 of board 'rbsgkk/4p/5/P4/KGSBR', 'rbsgkk', has 6 squares where minishogi has 5",
            ),
            (
                "rbsgk/4p/0P4/5/KGSBR b - 1",
                "rank 3 of board 'rbsgk/4p/0P4/5/KGSBR', '0P4', has '0', which is no piece of minishogi; its pieces are K R B G S P, small letters for White's, a + before those promoted",
            ),
            (
                "rbsgk/4p/5/P4/KGNBR b - 1",
                "rank 5 of board 'rbsgk/4p/5/P4/KGNBR', 'KGNBR', has 'N', which is no piece of minishogi; its pieces are K R B G S P, small letters for White's, a + before those promoted",
            ),
            (
                "rbsgk/4p/5/P4/K+NSBR b - 1",
                "rank 5 of board 'rbsgk/4p/5/P4/K+NSBR', 'K+NSBR', has '+N', which is no piece of minishogi; its pieces are K R B G S P, small letters for White's, a + before those promoted",
            ),
            (
                "rbsgk/4p/5/P4/+KGSBR b - 1",
                "rank 5 of board 'rbsgk/4p/5/P4/+KGSBR', '+KGSBR', has '+K', but kings do not promote",
            ),
            (
                "rbs+gk/4p/5/P4/KGSBR b - 1",
                "rank 1 of board 'rbs+gk/4p/5/P4/KGSBR', 'rbs+gk', has '+g', but golds do not promote",
            ),
            (
                "rbsgk/4p/5/P4+/KGSBR b - 1",
                "rank 4 of board 'rbsgk/4p/5/P4+/KGSBR', 'P4+', has a + without a piece behind it",
            ),
            (
                "rbsgk/4p/5/P+4/KGSBR b - 1",
                "rank 4 of board 'rbsgk/4p/5/P+4/KGSBR', 'P+4', has a + without a piece behind it",
            ),
            (
                "rbsgk/4p/5/++P4/KGSBR b - 1",
                "rank 4 of board 'rbsgk/4p/5/++P4/KGSBR', '++P4', has a + without a piece behind it",
            ),
            (
                "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
                "board 'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL' has 9 ranks where minishogi has 5",
            ),
            (ANIMAL_SHOGI.start, "board 'gle/1c1/1C1/ELG' has 4 ranks where minishogi has 5"),
        ],
    );
    check_refusals(
        &animal_shogi(),
        &[
            (SMALL_ANIMAL_SHOGI.start, "board 'elc/3/CLE' has 3 ranks where animal-shogi has 4"),
            (MINISHOGI.start, "board 'rbsgk/4p/5/P4/KGSBR' has 5 ranks where animal-shogi has 4"),
            (
                "gle/1c1/1C1/E+LG b - 1",
                "rank 4 of board 'gle/1c1/1C1/E+LG', 'E+LG', has '+L', but lions do not promote",
            ),
            (
                "gle/1c1/1C1/+ELG b - 1",
                "rank 4 of board 'gle/1c1/1C1/+ELG', '+ELG', has '+E', but elephants do not promote",
            ),
            (
                "gle/1c1/1C1/EKG b - 1",
                "rank 4 of board 'gle/1c1/1C1/EKG', 'EKG', has 'K', which is no piece of animal-shogi; its pieces are L G E C, small letters for White's, a + before those promoted",
            ),
        ],
    );
    check_refusals(
        &rules(&SMALL_ANIMAL_SHOGI),
        &[
            (
                ANIMAL_SHOGI.start,
                "board 'gle/1c1/1C1/ELG' has 4 ranks where animal-shogi-3x3 has 3",
            ),
            (
                "elc/3/CLG b - 1",
                "rank 3 of board 'elc/3/CLG', 'CLG', has 'G', which is no piece of animal-shogi-3x3; its pieces are L E C, small letters for White's, a + before those promoted",
            ),
        ],
    );
}

#[test]
fn impossible_hands_are_named() {
    let minishogi = minishogi();
    let with = |hands: &str| refusal(&minishogi, &format!("k4/5/5/5/4K b {hands} 1"));
    let cases = [
        ("3R", "hands '3R' have more of 'R' than the 2 there are in minishogi"),
        ("RRR", "hands 'RRR' have more of 'R' than the 2 there are in minishogi"),
        ("R2R", "hands 'R2R' have more of 'R' than the 2 there are in minishogi"),
        ("99999999999R", "hands '99999999999R' have more of 'R' than the 2 there are in minishogi"),
        ("0P", "hands '0P' have 0 of 'P'; leave out what is not held"),
        (
            "K",
            "hands 'K' have 'K', which cannot be held in minishogi; write R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "2k",
            "hands '2k' have 'k', which cannot be held in minishogi; write R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "+P",
            "hands '+P' have '+', which cannot be held in minishogi; write R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "N",
            "hands 'N' have 'N', which cannot be held in minishogi; write R B G S P, small letters for White's, or - alone if both are empty",
        ),
        (
            "-P",
            "hands '-P' have '-', which cannot be held in minishogi; write R B G S P, small letters for White's, or - alone if both are empty",
        ),
        ("P2", "hands 'P2' end in 2 without a piece behind it"),
        ("12", "hands '12' end in 12 without a piece behind it"),
    ];
    for (hands, expected) in cases {
        assert_eq!(with(hands), expected, "{hands}");
    }
    // More than a `u8` can count.
    assert!(with(&"P".repeat(1000)).contains("have more of 'P'"));
}

#[test]
fn impossible_boards_are_named() {
    check_refusals(
        &minishogi(),
        &[
            ("rbsg1/4p/5/P4/KGSBR b - 1", "White has no king on the board; each side has one"),
            ("rbsgk/4p/5/P4/1GSBR b - 1", "Black has no king on the board; each side has one"),
            ("rbsgk/4p/5/P4/KGSKR b - 1", "Black has 2 kings on the board; each side has one"),
            ("rbsgk/4p/k4/P4/KGSBR b - 1", "White has 2 kings on the board; each side has one"),
            (
                "rbsgk/4p/5/P4/KGSBR b R 1",
                "there are 3 rooks, promoted ones and those in hand among them, where minishogi has 2 in all",
            ),
            (
                "rbsgk/4p/+R4/P4/KGSBR b - 1",
                "there are 3 rooks, promoted ones and those in hand among them, where minishogi has 2 in all",
            ),
            (
                "k4/5/5/5/4K b 2Pp 1",
                "there are 3 pawns, promoted ones and those in hand among them, where minishogi has 2 in all",
            ),
            (
                "k3P/5/5/5/4K b - 1",
                "Black's pawn on 1a stands on the last rank, where it could never move; only a promoted one can be there",
            ),
            (
                "k4/5/5/5/p3K b - 1",
                "White's pawn on 5e stands on the last rank, where it could never move; only a promoted one can be there",
            ),
            (
                "k4/5/3P1/3P1/4K b - 1",
                "Black has unpromoted pawns on 2c and 2d; a file can have but one",
            ),
            (
                "k4/2p2/5/2p2/4K w - 1",
                "White has unpromoted pawns on 3d and 3b; a file can have but one",
            ),
            (
                "k3R/5/5/5/4K b - 1",
                "it is Black's move and White's king is in check, to which no legal move leads; if it is White's move, say so",
            ),
            (
                "k4/5/5/5/r3K w - 1",
                "it is White's move and Black's king is in check, to which no legal move leads; if it is Black's move, say so",
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
            ("g1e/1c1/1C1/ELG b - 1", "White has no lion on the board; each side has one"),
            ("gle/1c1/LC1/ELG b - 1", "Black has 2 lions on the board; each side has one"),
            (
                "gle/1+C1/1c1/ELG b C 1",
                "there are 3 chicks, promoted ones and those in hand among them, where animal-shogi has 2 in all",
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
                "'hello' is neither a position nor a move of minishogi; write a position in SFEN, such as 'rbsgk/4p/5/P4/KGSBR b - 1', or moves, such as 1e1d, 1e1a+ or P*2b",
            ),
            (
                "hello world",
                "'hello' is neither a position nor a move of minishogi; write a position in SFEN, such as 'rbsgk/4p/5/P4/KGSBR b - 1', or moves, such as 1e1d, 1e1a+ or P*2b",
            ),
            (
                "position hello",
                "'hello' is neither a position nor a move of minishogi; write a position in SFEN, such as 'rbsgk/4p/5/P4/KGSBR b - 1', or moves, such as 1e1d, 1e1a+ or P*2b",
            ),
            (
                "c4 a1",
                "'c4' is neither a position nor a move of minishogi; write a position in SFEN, such as 'rbsgk/4p/5/P4/KGSBR b - 1', or moves, such as 1e1d, 1e1a+ or P*2b",
            ),
            (
                "startpos moves 3e2d 7g7f",
                "move 2, '7g7f', is not legal in 'rbsgk/4p/5/P2S1/KG1BR w - 1'; White has no legal move from 7g",
            ),
            (
                "startpos moves 3e2d hello",
                "move 2, 'hello', is not written as a move; moves are 1e1d, 1e1a+ or P*2b",
            ),
            (
                "startpos moves 3e2d 3a3b 4e",
                "move 3, '4e', is not written as a move; moves are 1e1d, 1e1a+ or P*2b",
            ),
            (
                "3e2d 3a3b 1d1c",
                "move 3, '1d1c', is not legal in 'rb1gk/2s1p/5/P2S1/KG1BR b - 1'; Black has no legal move from 1d",
            ),
            (
                "3e2d 3a3b 2d2a",
                "move 3, '2d2a', is not legal in 'rb1gk/2s1p/5/P2S1/KG1BR b - 1'; Black can play 2d3c, 2d2c, 2d1c, 2d3e",
            ),
            (
                "3e2d 3a3b 2d2c+",
                "move 3, '2d2c+', is not legal in 'rb1gk/2s1p/5/P2S1/KG1BR b - 1'; Black can play 2d3c, 2d2c, 2d1c, 2d3e",
            ),
            (
                "3e2d 3a3b P*3c",
                "move 3, 'P*3c', is not legal in 'rb1gk/2s1p/5/P2S1/KG1BR b - 1'; Black has no legal drop of P",
            ),
            (
                "3e2d 3a3b L*3c",
                "move 3, 'L*3c', is not legal in 'rb1gk/2s1p/5/P2S1/KG1BR b - 1'; Black has no legal drop of L",
            ),
            (
                "4k/5/5/g4/K4 b P 1 moves P*4d",
                "move 1, 'P*4d', is not legal in '4k/5/5/g4/K4 b P 1'; Black has no legal drop of P (Black is in check)",
            ),
            (
                "r3k/5/5/3R1/K4 b P 1 moves P*4d",
                "move 1, 'P*4d', is not legal in 'r3k/5/5/3R1/K4 b P 1'; Black can play P*5b, P*5c, P*5d (Black is in check)",
            ),
            (
                "k4/5/1GK2/5/5 b G 1 moves G*4b 5a4b",
                "move 2, '5a4b', is not legal in 'k4/1G3/1GK2/5/5 w - 1'; the game is over there",
            ),
            (
                "k4/5/1GK2/5/5 b G 1 moves G*5d 5a4b",
                "move 2, '5a4b', is not legal in 'k4/5/1GK2/G4/5 w - 1'; White can play 5a4a",
            ),
            (
                "k4/5/5/5/r3K b P 1 moves P*3d",
                "move 1, 'P*3d', is not legal in 'k4/5/5/5/r3K b P 1'; Black can play P*4e, P*3e, P*2e (Black is in check)",
            ),
            (
                "k4/5/5/5/r3K b P 1 moves P*3e 5e3e 1e2e",
                "move 3, '1e2e', is not legal in 'k4/5/5/5/2r1K b p 1'; Black can play 1e2d, 1e1d (Black is in check)",
            ),
            (
                "k4/5/5/3P1/4K b P 1 moves P*2c",
                "move 1, 'P*2c', is not legal in 'k4/5/5/3P1/4K b P 1'; Black can play P*5b, P*4b, P*3b, P*1b, P*5c, P*4c, P*3c, P*1c, P*5d, P*4d, P*3d, P*1d, P*5e, P*4e, P*3e",
            ),
            (
                "k4/5/5/5/K4 b - 1 moves 5e",
                "move 1, '5e', is not written as a move; moves are 1e1d, 1e1a+ or P*2b",
            ),
            (
                "k4/4P/5/5/K4 b - 1 moves 1b1a",
                "move 1, '1b1a', is not legal in 'k4/4P/5/5/K4 b - 1'; Black can play 1b1a+",
            ),
        ],
    );
    check_refusals(
        &animal_shogi(),
        &[
            (
                "hello",
                "'hello' is neither a position nor a move of animal-shogi; write a position in SFEN, such as 'gle/1c1/1C1/ELG b - 1', or moves, such as 2c2b or C*2b",
            ),
            (
                "2c2b 3a3b 2b2a",
                "move 3, '2b2a', is not legal in '1le/gC1/3/ELG b C 1'; the game is over there",
            ),
            (
                "2c2b 1a1b 2b2a",
                "move 2, '1a1b', is not legal in 'gle/1C1/3/ELG w C 1'; White can play 1a2b",
            ),
            (
                "2c2b 1a1b 3d3c 1b1a",
                "move 2, '1a1b', is not legal in 'gle/1C1/3/ELG w C 1'; White can play 1a2b",
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
        ("c  .  .  .  .  .\n", "", "the board has 4 ranks where minishogi has 5"),
        (
            "c  .  .  .  .  .\n",
            "c  .  .  .  .  .\nc  .  .  .  .  .\n",
            "the board has 6 ranks where minishogi has 5",
        ),
        (
            "b  .",
            "c  .",
            "line 'c . . . . p' of the board does not begin with b, the name of its rank",
        ),
        ("b  .", " .", "line '. . . . p' of the board does not begin with b, the name of its rank"),
        (
            "b  .",
            "b  .  .",
            "line 'b . . . . . p' of the board has 6 squares where minishogi has 5",
        ),
        ("b  .  .", "b  .", "line 'b . . . p' of the board has 4 squares where minishogi has 5"),
        (
            " s ",
            " n ",
            "line 'a r b n g k' of the board has 'n', which is no piece of minishogi; its pieces are K R B G S P, small letters for White's, a + before those promoted",
        ),
        (
            " s ",
            " ? ",
            "line 'a r b ? g k' of the board has '?', which is no piece of minishogi; its pieces are K R B G S P, small letters for White's, a + before those promoted",
        ),
        (" s ", " + ", "line 'a r b + g k' of the board has '+g', but golds do not promote"),
        (
            "Black to move",
            "Nobody to move",
            "line 'Nobody to move' does not begin with Black or White",
        ),
        ("Black to move", "to move", "line 'to move' does not begin with Black or White"),
        (
            "Black holds -",
            "Black holds p",
            "line 'Black holds p' has 'p', but Black's pieces are written in capitals",
        ),
        (
            "White holds -",
            "White holds P",
            "line 'White holds P' has 'P', but White's pieces are written in small letters",
        ),
        (
            "White holds -",
            "Sente holds p",
            "line 'Sente holds p' does not begin with Black or White",
        ),
        (
            "Black holds -",
            "Black holds 3P",
            "hands '3P' have more of 'P' than the 2 there are in minishogi",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(broken(from, to), expected, "{from:?} as {to:?}");
    }
    check_refusals(
        &game,
        &[
            ("rbsgk\n....p\n.....\nP....\n", "the board has 4 ranks where minishogi has 5"),
            ("foo\nbar\n", "the board has 2 ranks where minishogi has 5"),
        ],
    );
}
