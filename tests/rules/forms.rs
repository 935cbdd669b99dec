//! Forms in which other programs keep positions and games; the texts are our own, and each form's source is named.

use proptest::prelude::*;
use yomikiri::registry::Games;
use yomikiri::rules::forms::{self, Form};
use yomikiri::rules::{AnyPosition, Claim, Empties, PlayedGame, Rules, Sheet, Side, write_game};

use std::sync::Arc;

fn game(name: &str) -> Arc<dyn Rules> {
    Games::with(vec![]).named(name).unwrap()
}

/// Returns the last position of a text, in the usual notation.
fn read(name: &str, text: &str) -> String {
    let game = game(name);
    match game.parse_position(text, &game.start()) {
        Ok(position) => game.notation(&position),
        Err(error) => format!("error: {}", error.line()),
    }
}

/// Reads a whole text as a file.
fn games(name: &str, text: &str) -> Vec<(PlayedGame, Option<Claim>, [Option<String>; 2])> {
    let game = game(name);
    let sheets = forms::sheets(text, forms::recognise(text)).unwrap();
    let play = |sheet: &Sheet<'_>| {
        let (played, claim) = PlayedGame::of_sheet(&*game, sheet, &game.start()).unwrap();
        (played, claim, sheet.players.clone())
    };
    sheets.iter().map(play).collect()
}

const START: &str = "---------------------------OX------XO--------------------------- X;";
/// After f5 d6 c5.
const THREE: &str = "---------------------------OX-----XXXX-----O-------------------- O;";

#[test]
fn transcripts_of_othello() {
    let four = read("othello-8x8", "f5 d6 c5 f4");
    for text in [
        "f5d6c5f4",
        "F5D6C5F4",
        "F5 d6, C5 f4",
        "1. f5 d6 2. c5 f4",
        "1.f5 d6 2.c5 f4",
        "1. f5 1... d6 2. c5 2... f4",
        "F5D6C5F4 1-0",
        "F5D6C5F4 *",
        "f5 d6 c5 f4 38-26",
        "f5-d6-c5-f4",
        "f5,d6,c5,f4",
        "\u{feff}f5d6c5f4\r\n",
        // Edax writes a start of its own before the moves.
        "---------------------------OX------XO--------------------------- X;F5D6C5F4",
        "---------------------------OX------XO--------------------------- X; f5 d6 c5 f4",
        "start moves f5 d6 c5 f4",
        // Logistello marks colours.
        "+f5-d6+c5-f4",
    ] {
        assert_eq!(read("othello-8x8", text), four, "{text}");
    }
    // Black has to pass after c1.
    let passed = read("othello-8x8", "d3c3f5d2d1e1b2c1a3");
    for pass in ["pass", "PA", "pa", "ps", "--", "PASS"] {
        let text = format!("d3c3f5d2d1e1b2c1 {pass} a3");
        assert_eq!(read("othello-8x8", &text), passed, "{text}");
        assert_eq!(read("othello-8x8", &text.replace(' ', "")), passed, "{text}");
    }
    // A finished game may have passes behind it.
    let over = read("othello-8x8", "f5d6c5f4e7f6g5e6e3");
    assert!(over.matches('X').count() == 13, "{over}");
    assert_eq!(read("othello-8x8", "f5d6c5f4e7f6g5e6e3 pass pass"), over);
    assert_eq!(read("othello-4x4", "c4 b4 a4 d4 d2 p a1"), read("othello-4x4", "c4b4a4d4d2a1"));
}

#[test]
fn boards_of_othello() {
    let rows = "---------------------------OX------XO---------------------------";
    let alphabet = |signs: [&str; 3]| {
        rows.replace('-', "e")
            .replace('X', "b")
            .replace('O', "w")
            .replace('e', signs[0])
            .replace('b', signs[1])
            .replace('w', signs[2])
    };
    for signs in [
        ["-", "X", "O"],
        [".", "x", "o"],
        ["-", "*", "O"],
        ["-", "b", "w"],
        ["_", "B", "W"],
        [".", "@", "O"],
        ["0", "1", "2"],
        ["-", "X", "0"],
        [".", "0", "1"],
        ["・", "●", "○"],
    ] {
        let board = alphabet(signs);
        for side in ["b", "black", "B", "X", "*", "@", "Black"] {
            assert_eq!(read("othello-8x8", &format!("{board} {side}")), START, "{board} {side}");
            assert_eq!(read("othello-8x8", &format!("{side} {board}")), START, "{side} {board}");
        }
        let white = START.replace(" X;", " O;");
        for side in ["w", "white", "W", "O"] {
            assert_eq!(read("othello-8x8", &format!("{board} {side}")), white, "{board} {side}");
        }
    }
    // Egaroucid's 65 signs.
    assert_eq!(read("othello-8x8", &(alphabet([".", "0", "1"]) + "0")), START);
    assert_eq!(
        read("othello-8x8", &(alphabet([".", "0", "1"]) + "1")),
        START.replace(" X;", " O;")
    );
    // Rows with slashes, and Zebra's file with the side in a line of its own.
    let lines: Vec<&str> = (0..8).map(|row| &rows[8 * row..8 * row + 8]).collect();
    assert_eq!(read("othello-8x8", &lines.join("/")), START);
    assert_eq!(read("othello-8x8", &(lines.join("\n") + "\nBlack to move")), START);
    assert_eq!(read("othello-8x8", &format!("{rows}\nWhite")), START.replace(" X;", " O;"));
    // A line of OBF with scored moves.
    assert_eq!(read("othello-8x8", &format!("{rows} X; d3:+0; c4:+0;")), START);
}

#[test]
fn drawn_boards_of_othello() {
    let spaced = |row: &str| row.chars().map(String::from).collect::<Vec<_>>().join(" ");
    let rows = "---------------------------OX------XO---------------------------";
    let of_row = |row: usize| spaced(&rows[8 * row..8 * row + 8]);
    // Edax (board_print): capital names, figures to the right.
    let beside = [
        "",
        " * to move",
        "",
        " *: discs = 2    moves = 4",
        " O: discs = 2    moves = 4",
        " empties = 60",
        "",
        "",
    ];
    let edax: Vec<String> = (0..8)
        .map(|row| format!("{} {} {}{}", row + 1, of_row(row), row + 1, beside[row]))
        .collect();
    let edax = format!("  A B C D E F G H\n{}\n  A B C D E F G H\n", edax.join("\n"));
    assert_eq!(read("othello-8x8", &edax), START, "{edax}");
    assert_eq!(
        read("othello-8x8", &edax.replace("* to move", "O to move")),
        START.replace(" X;", " O;")
    );
    // OpenSpiel 2: the mover first.
    let small: Vec<String> = (0..8)
        .map(|row| format!("{} {} {}", row + 1, of_row(row).to_lowercase(), row + 1))
        .collect();
    let spiel = format!(
        "Black (x) to play:\n  a b c d e f g h  \n{}\n  a b c d e f g h  ",
        small.join("\n")
    );
    assert_eq!(read("othello-8x8", &spiel), START, "{spiel}");
    assert_eq!(
        read("othello-8x8", &spiel.replace("Black (x)", "White (o)")),
        START.replace(" X;", " O;")
    );
    // Egaroucid: dots, and words to the right.
    let beside = ["", "", " BLACK to move", " ply 1 60 empties", " BLACK: 2 WHITE: 2", "", "", ""];
    let egaroucid: Vec<String> = (0..8)
        .map(|row| format!("{} {}{}", row + 1, of_row(row).replace('-', "."), beside[row]))
        .collect();
    let egaroucid = format!("  a b c d e f g h\n{}\n", egaroucid.join("\n"));
    assert_eq!(read("othello-8x8", &egaroucid), START, "{egaroucid}");
    // A file of two drawn boards.
    let records = games("othello-8x8", &format!("{spiel}\n\n{spiel}\n"));
    assert_eq!(records.len(), 2);
}

#[test]
fn bitboards_say_which_corner_is_bit_0() {
    assert_eq!(read("othello-8x8", "0x0000000810000000 0x0000001008000000 b"), START);
    assert_eq!(read("othello-8x8", "0000000810000000 0000001008000000"), START);
    let two = read("othello-8x8", "f5d6");
    // Edax's bit 0 is a1, Egaroucid's is h8; both give the mover's discs first.
    let edax = "0x0000003010000000 0x0000080808000000";
    let egaroucid = "0x000000080c000000 0x0000001010100000";
    assert_eq!(read("othello-8x8", &format!("{edax} a1=0")), two);
    assert_eq!(read("othello-8x8", &format!("{egaroucid} a1=63 b")), two);
    let asked = read("othello-8x8", edax);
    assert!(
        asked.contains("is bit 0 the square a1 or h8?") && asked.contains("mover's discs"),
        "{asked}"
    );
}

#[test]
fn games_of_ggf() {
    let board = "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]";
    let ggf = format!(
        "(;GM[Othello]PC[here]PB[Ann]PW[Bo]RE[?]TI[5:00]TY[8]{board}B[f5//1.5]W[D6/-0.50]B[C5];)"
    );
    assert_eq!(read("othello-8x8", &ggf), THREE);
    // Edax writes small letters and no blanks.
    let dense = ggf.replace("GM[Othello]", "GM[othello]").replace("-------- ", "--------");
    assert_eq!(read("othello-8x8", &dense), THREE);
    // GGS numbers the games of a match, and several stand in a file.
    let file = format!("2 {ggf}{ggf}\n{ggf}\n");
    let records = games("othello-8x8", &file);
    assert_eq!(records.len(), 3);
    assert_eq!(records[0].2, [Some("Ann".to_string()), Some("Bo".to_string())]);
    assert_eq!(games("othello-8x8", &ggf.to_ascii_lowercase())[0].0, records[0].0);
    let claims = |text: &str| games("othello-8x8", &ggf.replace("RE[?]", text))[0].1;
    assert_eq!(claims("RE[+4.000]"), Some(Claim::Margin(4, Some(Empties::ToWinner))));
    assert_eq!(claims("RE[-2.00:t]"), Some(Claim::Winner(Some(Side::Second))));
    assert_eq!(claims("RE[-127.000]"), None);
    // A written pass, and White's move without one.
    for pass in ["B[PA]", "B[PASS/0.1]", ""] {
        let moves = ["d3", "c3", "f5", "d2", "d1", "e1", "b2", "c1"];
        let moves: String = moves
            .iter()
            .zip([["B"], ["W"]].iter().cycle())
            .map(|(m, [c])| format!("{c}[{m}]"))
            .collect();
        let text = format!("(;GM[Othello]{board}{moves}{pass}W[a3];)");
        assert_eq!(read("othello-8x8", &text), read("othello-8x8", "d3c3f5d2d1e1b2c1a3"), "{text}");
    }
}

#[test]
fn games_of_sgf() {
    // Edax: squares by name, the setup written out, the first move in the root, an empty node at the end.
    let edax = "(;FF[4]GM[2]SZ[8]AB[e4][d5]AW[d4][e5]PL[B]RE[Void]B[f5];W[d6];B[c5];)";
    assert_eq!(read("othello-8x8", edax), THREE);
    // Quarry: points of two letters, variations, no passes.
    assert_eq!(
        read("othello-8x8", "(;GM[2]FF[4]SZ[8];B[fe];W[df];B[ce](;W[fd])(;W[dc]))"),
        read("othello-8x8", "f5d6c5f4")
    );
    let moves = "(;GM[2];B[d3];W[c3];B[f5];W[d2];B[d1];W[e1];B[b2];W[c1];W[a3])";
    assert_eq!(read("othello-8x8", moves), read("othello-8x8", "d3c3f5d2d1e1b2c1a3"));
    assert_eq!(
        read("othello-8x8", &moves.replace("W[a3]", "B[];W[a3]")),
        read("othello-8x8", moves)
    );
    let claim = |text: &str| games("othello-8x8", &format!("(;GM[2]RE[{text}];B[f5])"))[0].1;
    assert_eq!(claim("B+10"), Some(Claim::Margin(10, None)));
    assert_eq!(claim("W+R"), Some(Claim::Winner(Some(Side::Second))));
    assert_eq!(claim("W+-1e30"), Some(Claim::Winner(Some(Side::Second))));
    assert_eq!((claim("0"), claim("Void")), (Some(Claim::Winner(None)), None));
    assert_eq!(read("othello-4x4", "(;GM[2]SZ[4];B[c4])"), read("othello-4x4", "c4"));
    let go = read("othello-8x8", "(;GM[1]SZ[19];B[dd])");
    assert!(go.contains("GM[1] is another game than Othello, read as SGF"), "{go}");
}

#[test]
fn games_of_pgn() {
    // PlayOK: Black before White, the result in discs, passes as `--`.
    let playok = "[Event \"?\"]\n[Site \"PlayOK\"]\n[Date \"2026.11.01\"]\n[Round \"-\"]\n[Black \"ann\"]\n[White \"bo\"]\n[Result \"38-26\"]\n\n\
                  1. d3 c3 2. f5 d2 3. d1 e1 4. b2 c1\n5. -- a3 38-26\n";
    let records = games("othello-8x8", playok);
    let (played, claim, players) = &records[0];
    assert_eq!((played.moves().len(), *claim), (10, Some(Claim::Margin(12, None))));
    assert_eq!(players[0].as_deref(), Some("ann"));
    // Edax: 1-0 is Black's win; comments, variations and marks are passed over.
    let edax = "[Event \"x\"]\n[Site \"edax\"]\n[Black \"a\"]\n[White \"b\"]\n[Result \"1-0\"]\n\n\
                1. f5! d6 {a remark (f4)} 2. c5 (2. f4 $2) f4 {a wins 40-24} 1-0\n";
    let records = games("othello-8x8", &format!("{playok}\n{edax}"));
    assert_eq!(records.len(), 2);
    assert_eq!(records[1].1, Some(Claim::Winner(Some(Side::First))));
    let game = game("othello-8x8");
    assert_eq!(game.notation(records[1].0.position()), read("othello-8x8", "f5d6c5f4"));
}

/// A base of one game: f5 d6 c5 f4 e7 f6 g5 e6 e3, in which Black takes all discs.
fn wthor() -> Vec<u8> {
    let mut bytes = vec![20, 26, 11, 28, 1, 0, 0, 0, 0, 0, 0xea, 0x07, 8, 0, 0, 0];
    bytes.extend([1, 0, 2, 0, 3, 0, 64, 64]);
    bytes.extend([56, 64, 53, 46, 75, 66, 57, 65, 35]);
    bytes.resize(16 + 68, 0);
    bytes
}

#[test]
fn bases_of_wthor() {
    let (bytes, game) = (wthor(), game("othello-8x8"));
    assert!(forms::is_wthor(&bytes) && !forms::is_wthor(&bytes[1..]) && !forms::is_wthor(b"f5d6"));
    assert_eq!(forms::wthor_games(&bytes), Ok(1));
    assert!(forms::wthor_games(&bytes[1..]).unwrap_err().to_string().contains("not a WTHOR base"));
    let sheets = [forms::wthor_sheet(&bytes, 0)];
    let (played, claim) = PlayedGame::of_sheet(&*game, &sheets[0], &game.start()).unwrap();
    assert_eq!(game.notation(played.position()), read("othello-8x8", "f5d6c5f4e7f6g5e6e3"));
    assert_eq!(claim, Some(Claim::Margin(64, Some(Empties::ToWinner))));
    assert_eq!(played.contradiction(&*game, claim.unwrap()), None);
    let wrong = played.contradiction(&*game, Claim::Margin(12, Some(Empties::ToWinner)));
    assert_eq!(wrong.unwrap(), "the text records +12 for Black, the board +64");
    let other = played.contradiction(&*game, Claim::Winner(Some(Side::Second)));
    assert_eq!(other.unwrap(), "the text records White's win, the board Black's win");
    // A move behind a hole.
    let mut hole = bytes.clone();
    hole[16 + 8 + 3] = 0;
    let misread = PlayedGame::of_sheet(&*game, &forms::wthor_sheet(&hole, 0), &game.start());
    assert_eq!(misread.unwrap_err().error.to_string(), "illegal move 4 `code 0`");
    let mut illegal = bytes.clone();
    illegal[16 + 8 + 1] = 11;
    let sheets = [forms::wthor_sheet(&illegal, 0)];
    let misread = PlayedGame::of_sheet(&*game, &sheets[0], &game.start()).unwrap_err();
    assert_eq!((misread.at, misread.error.to_string()), (25, "illegal move 2 `a1`".to_string()));
}

#[test]
fn positions_of_shogi() {
    let start = "rbsgk/4p/5/P4/KGSBR b - 1";
    for text in [
        start,
        "sfen rbsgk/4p/5/P4/KGSBR b - 1",
        "startpos",
        "position startpos",
        "rbsgk/4p/5/P4/KGSBR_b_-_1",
        "rbsgk/4p/5/P4/KGSBR b -",
        "fen rbsgk/4p/5/P4/KGSBR[-] w 0 1",
        "fen rbsgk/4p/5/P4/KGSBR[] w - - 0 1",
    ] {
        assert_eq!(read("minishogi", text), start, "{text}");
    }
    // Fairy-Stockfish's w is the first player.
    let refused = read("minishogi", "rbsgk/4p/5/P4/KGSBR[-] w 0 1");
    assert!(
        refused.contains("w is the first player") && refused.contains("--format fen"),
        "{refused}"
    );
    let held = read("minishogi", "fen rbsgk/5/5/5/KGSBR[Pp] b 0 3");
    assert_eq!(held, read("minishogi", "rbsgk/5/5/5/KGSBR w Pp 5"));
    let moved = read("minishogi", "5d5c");
    for text in [
        "position startpos moves 5d5c",
        "sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 5d5c resign",
        "startpos moves 5d5c",
        "position sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 5d5c",
        "５三歩(54)",
        "+5453FU",
        "▲５三歩(54)",
    ] {
        assert_eq!(read("minishogi", text), moved, "{text}");
    }
    // Animal shogi in the letters of lishogi, and by clausecker's solver.
    let start = "gle/1c1/1C1/ELG b - 1";
    for text in [
        "rkb/1p1/1P1/BKR b -",
        "rkb/1p1/1P1/BKR b - 1",
        "S/gle/-c-/-C-/ELG/-",
        "fen gle/1c1/1C1/ELG[-] w 0 1",
    ] {
        assert_eq!(read("animal-shogi", text), start, "{text}");
    }
    let taken = read("animal-shogi", "2c2b");
    assert_eq!(read("animal-shogi", "G/gle/-C-/---/ELG/C"), taken);
    assert_eq!(read("animal-shogi", "rkb/1P1/3/BKR w P 2"), taken);
}

const KIF: &str = "# ---- a program ----\n手合割：５五将棋\n先手：Ann\n後手：Bo\n手数----指手---------消費時間--\n\
   1 ５三歩(54)   ( 0:01/00:00:01)\n*a remark\n   2 １三歩(12)   ( 0:02/00:00:02)\n   3 同　飛(15)   ( 0:01/00:00:02)\n\
   4 １二金(21)\n   5 １四歩打\n   6 投了\nまで5手で先手の勝ち\n";

#[test]
fn games_of_kif() {
    let after = read("minishogi", "5d5c 1b1c 1e1c 2a1b P*1d");
    assert!(!after.starts_with("error"), "{after}");
    let records = games("minishogi", KIF);
    let (played, claim, players) = &records[0];
    let rules = game("minishogi");
    assert_eq!(rules.notation(played.position()), after);
    assert_eq!(*claim, Some(Claim::Winner(Some(Side::First))));
    assert_eq!(players[1].as_deref(), Some("Bo"));
    assert_eq!(read("minishogi", &KIF.replace('\n', "\r\n")), after);
    // A numbered line that cannot be read is not passed over.
    let ascii = read("minishogi", &KIF.replace("１四歩打", "14歩打?"));
    assert!(ascii.contains("illegal move 5 `14歩打?`, read as KIF"), "{ascii}");
    // The piece is the one that moves.
    let wrong = read("minishogi", &KIF.replace("同　飛(15)", "１四銀(15)"));
    assert!(wrong.contains("illegal move 3 `１四銀(15)`, read as KIF"), "{wrong}");
    // Variations come after the main line, and a new header begins another game.
    let varied = format!("{KIF}\n変化：3手\n   3 ４四銀(35)\n\n{KIF}");
    let records = games("minishogi", &varied);
    assert_eq!(records.iter().map(|record| record.0.moves().len()).collect::<Vec<_>>(), [5, 5]);
    // A board, with hands, of which White is to move.
    let board = "後手の持駒：なし\n  ５ ４ ３ ２ １\n+---------------+\n|v飛v角v銀v金v玉|一\n| ・ ・ ・ ・ ・|二\n| ・ ・ ・ ・ ・|三\n\
                 | 歩 ・ ・ ・ 歩|四\n| 玉 金 銀 角 飛|五\n+---------------+\n先手の持駒：なし\n後手番\n";
    assert_eq!(read("minishogi", board), "rbsgk/5/5/P3P/KGSBR w - 1");
    let played = format!("{board}手数----指手---------消費時間--\n   1 １二玉(11)\n");
    assert_eq!(
        read("minishogi", &played),
        read("minishogi", "rbsgk/5/5/P3P/KGSBR w - 1 moves 1a1b")
    );
    let held = board
        .replace("| 歩 ・ ・ ・ 歩|四", "| ・ ・ 金 ・ ・|四")
        .replace("|v飛v角v銀v金v玉|一", "| ・v角v銀 ・v玉|一");
    let held = held.replace("先手の持駒：なし", "先手の持駒：飛　歩二");
    assert_eq!(read("minishogi", &held), "1bs1k/5/5/2G2/KGSBR w R2P 1");
    // lishogi names animals.
    let animals = "手合割：どうぶつしょうぎ\n先手：\n   1 ２二ひよこ(23)\n";
    assert_eq!(read("animal-shogi", animals), read("animal-shogi", "2c2b"));
}

const CSA: &str = "V2.2\nN+Ann\nN-Bo\nP1-HI-KA-GI-KI-OU\nP2 *  *  *  * -FU\nP3 *  *  *  *  *\nP4+FU *  *  *  *\nP5+OU+KI+GI+KA+HI\n+\n\
    +5453FU,T1\n-1213FU\nT2\n'a remark\n+1513HI\n-2112KI\n+0014FU\n%TORYO\n";

#[test]
fn games_of_csa() {
    let records = games("minishogi", CSA);
    let (played, claim, _) = &records[0];
    let game = game("minishogi");
    assert_eq!(game.notation(played.position()), read("minishogi", "5d5c 1b1c 1e1c 2a1b P*1d"));
    assert_eq!(*claim, Some(Claim::Winner(Some(Side::First))));
    assert_eq!(games("minishogi", &format!("{CSA}/\n{CSA}")).len(), 2);
    // The name is that of the piece after the move: a promotion.
    let promoted = "P1 *  *  *  * -OU\nP2+FU *  *  *  *\nP3 *  *  *  *  *\nP4 *  *  *  *  *\nP5+OU *  *  *  *\nP+00KI\nP-00HI\n+\n+5251TO\n";
    assert_eq!(read("minishogi", promoted), read("minishogi", "4k/P4/5/5/K4 b Gr 1 moves 5b5a+"));
    // The board is read without the line of the side to move too.
    let unsided = promoted.replace("\n+\n", "\n");
    assert_eq!(read("minishogi", &unsided), read("minishogi", promoted));
    let wrong = read("minishogi", &CSA.replace("+0014FU", "+0014KI"));
    assert!(wrong.contains("illegal move 5 `0014KI`, read as CSA"), "{wrong}");
}

#[test]
fn connect_four_and_tic_tac_toe() {
    let moved = read("connect-four", "4435");
    for text in [
        "4,4,3,5",
        "4 4 3 5",
        "4-4-3-5",
        "1. 4 4 2. 3 5",
        "x3 o3 x2 o4",
        "from 0: 3 3 2 4",
        "X3 O3 X2 O4",
    ] {
        assert_eq!(read("connect-four", text), moved, "{text}");
    }
    // Kaggle's flat list of rows from the top; OpenSpiel's rows.
    let flat: Vec<String> = (0..42)
        .map(|at| {
            match at {
                31 | 38 => {
                    if at == 31 {
                        "2"
                    } else {
                        "1"
                    }
                }
                37 => "1",
                39 => "2",
                _ => "0",
            }
            .to_string()
        })
        .collect();
    assert_eq!(read("connect-four", &format!("[{}]", flat.join(", "))), moved);
    let rows: Vec<String> = flat
        .chunks(7)
        .map(|row| row.concat().replace('0', ".").replace('1', "x").replace('2', "o"))
        .collect();
    assert_eq!(read("connect-four", &rows.join("\n")), moved);
    assert_eq!(read("connect-four", "4-4"), read("connect-four", "44"));
    // BitBully's list has columns, the lowest square first; UCI's data set names them with letters.
    let column = "[0, 0, 0, 0, 0, 0]";
    let columns = format!("[[1, 2, 0, 0, 0, 0], {}]", [column; 6].join(", "));
    assert!(read("connect-four", &columns).contains("a list of columns; write rows"));
    assert!(
        read("connect-four", &["b"; 42].join(",")).contains("neither a position nor a legal move")
    );
    let centre = read("tic-tac-toe", "b2 c1");
    for text in
        ["x(1,1) o(0,2)", "X(1,1) O(0,2)", "B2 C1", "1. b2 c1", "..o.x....", "..o\n.x.\n..."]
    {
        assert_eq!(read("tic-tac-toe", text), centre, "{text}");
    }
    for (name, text, words) in [
        ("connect-four", "x3 x2", "of Red: Yellow is to move"),
        ("connect-four", ".......\n.......", "14 squares; expected 42"),
        (
            "connect-four",
            "...X..............................O.......",
            "a disc with a free square below it",
        ),
        ("connect-four", "..................................XXX.....", "3 X and 0 O"),
        ("tic-tac-toe", "..q.x....", "`q` on a square"),
        ("tic-tac-toe", "xxx.ooo..", "no game leads to it"),
        ("connect-four", "4448", "invalid column 8; columns are 1 to 7"),
        ("connect-four", "44444444", "illegal move 7 `4`; Red can play 1, 2, 3, 5, 6, 7"),
    ] {
        let shown = read(name, text);
        assert!(shown.contains(words), "{text}: {shown}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (name, text, words) in [
        ("othello-8x8", "f5d6c5a1", "illegal move 4 `a1`; White can play"),
        ("othello-8x8", "f5d6zz", "illegal move 3 `zz`"),
        (
            "othello-8x8",
            "(;GM[2];B[f5];W[a1])",
            "illegal move 2 `a1`, read as SGF; White can play f4, d6, f6",
        ),
        (
            "othello-8x8",
            "(;GM[2];B[f5];B[d6])",
            "illegal move 2 `d6` of Black: White is to move, read as SGF",
        ),
        ("othello-8x8", "(;GM[2];B[f5]", "the game has no end, read as SGF"),
        ("othello-8x8", "(;GM[2]B[f5", "B[ without ], read as SGF"),
        ("othello-8x8", "(;GM[2];B[f5])(;GM[2];B[f5])", "2 games of SGF, expected one"),
        ("othello-4x4", "(;GM[2];B[f5])", "illegal move 1 `f5`"),
        ("minishogi", "zz", "neither a position nor a legal move of minishogi"),
        ("minishogi", "5d5c 1b1d", "illegal move 2 `1b1d`; White can play 1b1c"),
    ] {
        let shown = read(name, text);
        assert!(shown.contains(words), "{text}: {shown}");
    }
    // Two forms in one file.
    let misread = forms::sheets("f5d6\n(;GM[2];B[f5])\n", Form::Lines).unwrap_err();
    assert_eq!(misread.at, 5);
    assert!(
        misread.error.line().contains("SGF begins here, in a text of lines"),
        "{}",
        misread.error.line()
    );
}

#[test]
fn positions_of_a_game_are_all_there() {
    let game = game("othello-8x8");
    let line = game.parse_line("(;GM[2];B[f5];W[d6])", &game.start()).unwrap();
    let plain: Vec<AnyPosition> = game.parse_line("f5d6", &game.start()).unwrap();
    assert_eq!(line, plain);
}

/// Plays random moves: the numbers choose among the legal ones.
fn played(game: &dyn Rules, choices: &[u16]) -> PlayedGame {
    let mut played = PlayedGame::new(game.start());
    for choice in choices {
        let actions = game.actions(&played.position().state);
        if played.end(game).is_some() || actions.is_empty() {
            break;
        }
        played.play(game, actions[usize::from(*choice) % actions.len()]);
    }
    played
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A game that is written in a form reads back as the same game, from the start and from a position within it.
    #[test]
    fn written_games_are_read_back(choices in prop::collection::vec(any::<u16>(), 0..90), skipped in 0..20usize) {
        for (name, written) in [
            ("othello-8x8", &[Form::Lines, Form::Ggf, Form::Sgf][..]),
            ("othello-4x6", &[Form::Lines, Form::Sgf]),
            ("minishogi", &[Form::Lines, Form::Kif]),
            ("animal-shogi", &[Form::Lines, Form::Kif]),
            ("animal-shogi-3x3", &[Form::Lines, Form::Kif]),
            ("connect-four", &[Form::Lines]),
            ("tic-tac-toe", &[Form::Lines]),
        ] {
            let game = game(name);
            let whole = played(&*game, &choices);
            let first = whole.positions().nth(skipped.min(whole.moves().len())).unwrap();
            let mut late = PlayedGame::new(first);
            whole.moves().iter().skip(skipped).for_each(|(_, action)| late.play(&*game, *action));
            for played in [whole, late] {
                for form in written {
                    let text = write_game(&*game, &played, [Some("Ann]"), None], None, *form).unwrap();
                    let asked = if *form == Form::Lines { Form::Lines } else { forms::recognise(&text) };
                    prop_assert_eq!(asked, *form);
                    let sheets = forms::sheets(&text, asked).unwrap();
                    prop_assert_eq!(sheets.len(), 1, "{}", text);
                    let back = PlayedGame::of_sheet(&*game, &sheets[0], &game.start());
                    let (back, claim) = back.map_err(|misread| TestCaseError::fail(format!("{}: {text}", misread.error.line())))?;
                    prop_assert_eq!(&back, &played, "{}", text);
                    if let Some(claim) = claim {
                        prop_assert_eq!(back.contradiction(&*game, claim), None, "{}", text);
                    }
                }
            }
        }
    }
}

#[test]
fn forms_that_a_game_lacks_are_refused() {
    let refused = |name: &str, form| {
        let game = game(name);
        write_game(&*game, &PlayedGame::new(game.start()), [None, None], None, form)
            .unwrap_err()
            .line()
    };
    assert_eq!(
        refused("minishogi", Form::Ggf),
        "games of minishogi are not written as GGF; choose lines or kif"
    );
    assert_eq!(
        refused("othello-6x6", Form::Ggf),
        "games of othello-6x6 are not written as GGF; choose lines or sgf"
    );
    assert_eq!(
        refused("connect-four", Form::Kif),
        "games of connect-four are not written as KIF; choose lines"
    );
}

#[test]
fn results_that_the_board_does_not_show_are_written() {
    let rewritten = |name: &str, text: &str, form| {
        let rules = game(name);
        let (played, claim, players) = games(name, text).remove(0);
        let players = players.each_ref().map(Option::as_deref);
        let text = write_game(&*rules, &played, players, claim, form).unwrap();
        games(name, &text)[0].1
    };
    let (ann, bo) =
        (Some(Claim::Winner(Some(Side::First))), Some(Claim::Winner(Some(Side::Second))));
    assert_eq!(rewritten("minishogi", CSA, Form::Kif), ann);
    assert_eq!(rewritten("minishogi", &CSA.replace("%TORYO", "%KACHI"), Form::Kif), bo);
    assert_eq!(rewritten("othello-8x8", "(;GM[2]RE[W+R];B[f5])", Form::Sgf), bo);
    assert_eq!(
        rewritten("othello-8x8", "(;GM[2]RE[B+12];B[f5])", Form::Sgf),
        Some(Claim::Margin(12, None))
    );
    let ggf = rewritten("othello-8x8", "(;GM[2]RE[W+12];B[f5])", Form::Ggf);
    assert_eq!(ggf, Some(Claim::Margin(-12, Some(Empties::ToWinner))));
    for claim in [ann, bo, Some(Claim::Winner(None)), Some(Claim::Margin(-3, None))] {
        assert_eq!(Claim::read(&claim.unwrap().to_string()), claim);
    }
}
