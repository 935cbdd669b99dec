//! Othello's notations: output reads back, every documented form is read, and errors name the fault in one
//! line.

use crate::common::Random;
use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::{Game, Position, Side};

fn read(game: &Othello, text: &str) -> Position<Board> {
    game.parse_position(text, &game.start()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Returns the error for invalid text and checks that it is one line.
fn error(game: &Othello, text: &str) -> String {
    match game.parse_position(text, &game.start()) {
        Ok(position) => panic!("{text:?} is read as\n{}", game.diagram(&position)),
        Err(error) => {
            let error = error.line();
            assert!(!error.contains('\n') && !error.is_empty(), "{error:?}");
            error
        }
    }
}

/// Returns the names of the squares held by Black and by White.
fn discs(game: &Othello, position: &Position<Board>) -> [String; 2] {
    let Board { mover, opponent } = position.state;
    let colours = match position.side {
        Side::First => [mover, opponent],
        Side::Second => [opponent, mover],
    };
    let (rows, columns) = game.shape();
    colours.map(|colour| {
        let squares = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let held = squares.filter(|(row, column)| colour >> (8 * row + column) & 1 == 1);
        let name = |(row, column)| format!("{}{}", (b'a' + column as u8) as char, row + 1);
        held.map(name).collect::<Vec<_>>().join(" ")
    })
}

fn small() -> Othello {
    Othello::new(4, 4, true)
}

fn big() -> Othello {
    Othello::new(8, 8, true)
}

/// 4×4 position without symmetry: White to move, three black discs and two white.
const ROWS: [&str; 4] = [".X..", ".XO.", ".OX.", "...."];

fn expected() -> Position<Board> {
    let black = 1 << 1 | 1 << 9 | 1 << 18;
    Position { state: Board { mover: 1 << 10 | 1 << 17, opponent: black }, side: Side::Second }
}

#[test]
fn what_is_printed_reads_back() {
    fn check(game: &Othello, random: &mut Random) {
        let (rows, columns) = game.shape();
        let board = (0..rows).fold(0u64, |all, row| all | ((1 << columns) - 1) << (8 * row));
        for i in 0..60 {
            let taken = board & random.next() & if i % 2 == 0 { random.next() } else { !0 };
            let mover = taken & random.next();
            let state = Board { mover, opponent: taken & !mover };
            for side in Side::ALL {
                let position = Position { state, side };
                let diagram = game.diagram(&position);
                assert!(!diagram.ends_with('\n'));
                let text = format!("{diagram}\n{} to move", game.side_name(side));
                assert_eq!(read(game, &text), position, "{text}");
                let line = game.notation(&position);
                assert!(!line.contains('\n'), "{line}");
                assert_eq!(read(game, &line), position, "{line}");
            }
        }
    }
    let mut random = Random(1);
    check(&small(), &mut random);
    check(&Othello::new(4, 5, true), &mut random);
    check(&Othello::new(8, 4, true), &mut random);
    check(&Othello::new(5, 7, true), &mut random);
    check(&Othello::new(8, 7, true), &mut random);
    check(&big(), &mut random);
}

#[test]
fn the_printed_forms() {
    let game = small();
    assert_eq!(game.diagram(&expected()), "  a b c d\n1 . X . .\n2 . X O .\n3 . O X .\n4 . . . .");
    assert_eq!(game.notation(&expected()), "-X---XO--OX----- O;");
    assert_eq!(
        big().notation(&big().start()),
        "---------------------------OX------XO--------------------------- X;"
    );
}

#[test]
fn every_form_of_a_diagram_is_read() {
    let game = small();
    let [a, b, c, d] = ROWS;
    let spaced = ROWS.map(|row| row.chars().map(String::from).collect::<Vec<_>>().join(" "));
    let [sa, sb, sc, sd] = &spaced;
    let forms = [
        ("one line and a side letter", format!("{a}{b}{c}{d} O")),
        ("one line with the side letter attached", format!("{a}{b}{c}{d}O")),
        ("rows by spaces", format!("{a} {b} {c} {d} O")),
        ("rows by slashes", format!("{a}/{b}/{c}/{d} O")),
        ("rows by lines", format!("{a}\n{b}\n{c}\n{d}\nWhite to move")),
        ("the side first", format!("White to move\n{a}\n{b}\n{c}\n{d}")),
        ("the side's letter in words", format!("{a}\n{b}\n{c}\n{d}\nO to move")),
        ("lines of Windows", format!("{a}\r\n{b}\r\n{c}\r\n{d}\r\nWhite to move\r\n")),
        ("blank lines and indents", format!("\n\n  {a}\n  {b}\n\n  {c}\n  {d}\n\nwhite to move\n")),
        ("coordinates", format!("  a b c d\n1 {sa}\n2 {sb}\n3 {sc}\n4 {sd}\nWhite to move")),
        (
            "coordinates on all sides, upper case",
            format!("  A B C D\n1 {sa} 1\n2 {sb} 2\n3 {sc} 3\n4 {sd} 4\n  A B C D\nWHITE TO MOVE"),
        ),
        ("row numbers alone", format!("1 {a}\n2 {b}\n3 {c}\n4 {d}\nWhite to move")),
    ];
    for (form, text) in forms {
        for text in [text.clone(), text.replace('X', "*"), text.replace('.', "-")] {
            assert_eq!(read(&game, &text), expected(), "{form}: {text:?}");
        }
    }
    let lower = ROWS.concat().to_lowercase() + " o";
    assert_eq!(read(&game, &lower), expected());
}

#[test]
fn a_diagram_without_a_side_is_black_to_move() {
    let game = small();
    let position = read(&game, &ROWS.join("\n"));
    assert_eq!(position.side, Side::First);
    assert_eq!(discs(&game, &position), discs(&game, &expected()));
    assert_eq!(read(&game, &(ROWS.join("\n") + "\nX to move")), position);
    assert_eq!(read(&game, &(ROWS.join("\n") + "\n* to move")), position);
}

#[test]
fn obf_is_read_with_its_scored_moves_and_for_a_smaller_board() {
    let game = small();
    assert_eq!(read(&game, "-X---XO--OX----- O;"), expected());
    assert_eq!(read(&game, "-X---XO--OX----- O; a1:+3; b4:-2"), expected());
    assert_eq!(read(&game, "-*---*O--O*----- O"), expected());
    // OBF's 8×8 grid with the smaller board in its top left corner.
    let on_the_grid = "-X-------XO------OX---------------------------------------------";
    assert_eq!(on_the_grid.len(), 64);
    assert_eq!(read(&game, &format!("{on_the_grid} O;")), expected());
    let oblong = Othello::new(4, 6, true);
    let [black, white] = discs(&oblong, &read(&oblong, &format!("{on_the_grid} O;")));
    assert_eq!([black.as_str(), white.as_str()], ["b1 b2 c3", "c2 b3"]);
}

#[test]
fn digits_are_read() {
    let game = small();
    let position = read(&game, "10000012002100000");
    assert_eq!(position.side, Side::First);
    assert_eq!(discs(&game, &position), ["b2 c3", "c2 b3"]);
    let position = read(&game, "2 0100 0120 0210 0000");
    assert_eq!(position, expected());
}

#[test]
fn no_text_and_start_are_where_play_begins() {
    let game = small();
    for text in ["", " \n", "start", "START"] {
        assert_eq!(read(&game, text), game.start(), "{text:?}");
        assert_eq!(game.parse_position(text, &expected()), Ok(expected()), "{text:?}");
    }
}

#[test]
fn transcripts_are_played_from_the_start_or_the_given_position() {
    let game = big();
    let played = read(&game, "f5d6c3");
    for text in ["F5D6C3", "f5 d6 c3", "F5 d6\nC3", " f5d6 c3 "] {
        assert_eq!(read(&game, text), played, "{text:?}");
    }
    assert_eq!(played.side, Side::Second);
    assert_eq!(discs(&game, &played), ["c3 d4 e4 e5 f5", "d5 d6"]);
    let after_one = read(&game, "f5");
    assert_eq!(game.parse_position("d6c3", &after_one), Ok(played));
}

/// Returns a 4×4 game with passes: its moves, passes included, and its last position.
fn game_with_passes() -> (Vec<String>, Position<Board>) {
    let game = small();
    let mut random = Random(7);
    loop {
        let mut position = game.start();
        let mut names = Vec::new();
        while let actions @ [_, ..] = &game.actions(&position.state)[..] {
            let action = actions[random.below(actions.len())];
            names.push(game.action_name(position.side, action));
            position = game.advance(&position, action);
        }
        if names.iter().filter(|name| *name == "pass").count() >= 2 {
            return (names, position);
        }
    }
}

#[test]
fn passes_may_be_written_or_left_out() {
    let game = small();
    let (names, end) = game_with_passes();
    let written = names.concat();
    assert_eq!(read(&game, &written), end, "{written}");
    for pass in ["--", "pa", "ps", " PASS ", ""] {
        let text = written.replace("pass", pass);
        assert_eq!(read(&game, &text), end, "{text}");
    }
}

/// A transcript may begin with a pass from a position in which the mover must pass.
#[test]
fn a_transcript_may_begin_with_a_pass() {
    let game = small();
    let (names, _) = game_with_passes();
    let at = names.iter().position(|name| name == "pass").unwrap();
    let before = read(&game, &names[..at].concat());
    assert!(game.must_pass(&before.state));
    let passed = game.advance(&before, game.actions(&before.state)[0]);
    for text in ["pass", "--", "PA", "ps"] {
        assert_eq!(game.parse_position(text, &before), Ok(passed), "{text}");
        let more = format!("{text}{}", names[at + 1]);
        let after = game.parse_position(&names[at + 1], &passed);
        assert_eq!(game.parse_position(&more, &before), after, "{more}");
    }
}

/// It is illegal even where a pass is legal.
#[test]
fn a_square_off_the_board_is_never_a_pass() {
    let game = small();
    let (names, _) = game_with_passes();
    let at = names.iter().position(|name| name == "pass").unwrap();
    for square in ["z3", "i1", "e1", "a5", "a0"] {
        let text = names[..at].concat() + square;
        let error = error(&game, &text);
        assert!(error.contains(&format!("`{square}`")), "{error}");
    }
}

#[test]
fn wrong_positions_are_named() {
    let game = small();
    let row = ROWS.concat();
    let cases = [
        (format!("{row}X."), "invalid position: 18 squares; expected 16 for the 4x4 board"),
        (row[1..].to_string(), "invalid position: 15 squares; expected 16 for the 4x4 board"),
        (row.replace('O', "Q"), "invalid square `Q`"),
        (format!("{row}\nRed to move"), "invalid side to move `Red to move`"),
        (format!("{row}\nto move"), "invalid side to move `to move`"),
        (
            format!("{}X{} X", "-".repeat(4), "-".repeat(59)),
            "invalid position: disc at e1, outside",
        ),
        (format!("{}X X", "-".repeat(63)), "invalid position: disc at h8, outside the 4x4 board"),
        (";".to_string(), "invalid square `;`"),
        ("hello".to_string(), "invalid square `h`"),
        ("盤".to_string(), "invalid square `盤`"),
        (
            "100000120021000".to_string(),
            "invalid position `100000120021000`: 15 digits; expected 17",
        ),
        ("00000012002100000".to_string(), "invalid position `00000012002100000`: starts with 0"),
        (
            "10000012003100000".to_string(),
            "invalid position `10000012003100000`: contains the digit 3",
        ),
    ];
    for (text, says) in cases {
        let error = error(&game, &text);
        assert!(error.starts_with(says), "{text:?} gives {error:?}");
    }
}

/// A 17th square of a 4×4 board does not set the side to move.
#[test]
fn a_square_too_many_is_no_side() {
    let game = small();
    for text in [ROWS.concat() + ".", "-".repeat(65)] {
        let error = error(&game, &text);
        assert!(error.contains("after the squares"), "{text:?} gives {error:?}");
    }
}

#[test]
fn wrong_transcripts_are_named() {
    let game = big();
    let cases = [
        ("f5f5", "illegal move 2 `f5`; White can play f4, d6, f6"),
        ("e4", "illegal move 1 `e4`; Black can play d3, c4, f5, e6"),
        ("f5pass", "illegal move 2 `pass`; White can play f4, d6, f6"),
        ("f5 d9", "illegal move 2 `d9`; White can play f4, d6, f6"),
        ("f5 d!", "illegal move 2 `d!`; White can play f4, d6, f6"),
        ("f5d", "illegal move 2 `d`; White can play f4, d6, f6"),
        ("f5é", "illegal move 2 `é`; White can play f4, d6, f6"),
    ];
    for (text, says) in cases {
        assert_eq!(error(&game, text), says);
    }
    let game = small();
    let (names, _) = game_with_passes();
    let over = error(&game, &(names.concat() + "a1"));
    assert!(over.ends_with(" `a1`; the game is over"), "{over}");
}

/// Full texts of the errors that users see first.
#[test]
fn error_texts() {
    let game = small();
    assert_eq!(
        error(&game, "XO"),
        "invalid position: 2 squares; expected 16 for the 4x4 board (. or - for empty, X or * for Black, O for White), then the side to move (X or O)"
    );
    assert_eq!(
        error(&game, "102"),
        "invalid position `102`: 3 digits; expected 17 for the 4x4 board: the side to move (1 Black, 2 White), then 16 squares (0 empty, 1 Black, 2 White)"
    );
    assert_eq!(
        error(&game, "....\n....\n.?..\n...."),
        "invalid square `?`: expected . or - for empty, X or * for Black, O for White (X or O at the end for the side to move)"
    );
}

#[test]
fn every_notation_written_is_read_back() {
    let game = Othello::new(4, 4, true);
    let start = game.start();
    for moves in ["", "c4", "c4b4", "c4d4d3"] {
        let position = game.parse_position(moves, &start).unwrap();
        let names: Vec<_> = game.written(&position).iter().map(|n| n.0).collect();
        assert_eq!(names, ["obf", "digits"]);
        for (name, text) in game.written(&position) {
            assert_eq!(game.parse_position(&text, &start), Ok(position), "{name} {text}");
        }
    }
    let thesis = game.parse_position("10000012002100000", &start).unwrap();
    assert_eq!(game.written(&thesis)[1].1, "10000012002100000");
}
