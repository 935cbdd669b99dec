//! Text notations of Othello.
//!
//! Reads boards: squares row by row in the signs of [`EMPTY`], [`BLACK`] and [`WHITE`], with or without row breaks, frames and
//! coordinates, the side to move before or after them; a string of digits (the side to move, then the squares: `0` empty,
//! `1` Black, `2` White); two bitboards in hexadecimal. Moves are squares and passes, in either case (`c4`, `F5`, `--`),
//! with or without anything between them. Writes OBF (the squares row by row, then the side to move) and the digits.

use super::{Board, Othello};
use crate::error::Error;
use crate::rules::{Action, Game, MoveText, Position, Side};

/// Signs of empty squares, of Black's and of White's discs.
const EMPTY: &str = ".-_·・0";
const BLACK: &str = "Xx*bB@#1●⚫";
const WHITE: &str = "OowW2○⚪";
/// Notations of a pass in a transcript; one that is a prefix of another comes after it.
const PASSES: [&str; 5] = ["pass", "pa", "ps", "--", "p"];

pub(super) fn action_name(game: &Othello, action: Action) -> String {
    if game.is_pass(action) {
        return "pass".to_string();
    }
    let (row, column) = (action.0 as usize / game.columns, action.0 as usize % game.columns);
    format!("{}{}", (b'a' + column as u8) as char, row + 1)
}

/// Returns Black's and White's discs as grid bits.
fn colours(position: &Position<Board>) -> (u64, u64) {
    let Board { mover, opponent } = position.state;
    match position.side {
        Side::First => (mover, opponent),
        Side::Second => (opponent, mover),
    }
}

fn from_colours(black: u64, white: u64, side: Side) -> Position<Board> {
    let state = match side {
        Side::First => Board { mover: black, opponent: white },
        Side::Second => Board { mover: white, opponent: black },
    };
    Position { state, side }
}

pub(super) fn obf(game: &Othello, position: &Position<Board>) -> String {
    let side = match position.side {
        Side::First => "X",
        Side::Second => "O",
    };
    format!("{} {side};", squares(game, position, ['-', 'X', 'O']))
}

/// Writes the side to move (1 Black, 2 White), then the squares: 0 empty, 1 Black, 2 White.
pub(super) fn digits(game: &Othello, position: &Position<Board>) -> String {
    let side = position.side.index() + 1;
    format!("{side}{}", squares(game, position, ['0', '1', '2']))
}

/// Writes the squares row by row, each as one of the signs for empty, Black and White.
fn squares(
    game: &Othello,
    position: &Position<Board>,
    [empty, black_sign, white_sign]: [char; 3],
) -> String {
    let (black, white) = colours(position);
    let sign = |square: usize| {
        let bit = 1u64 << game.bit_of_action(Action(square as u16));
        match (black & bit != 0, white & bit != 0) {
            (true, _) => black_sign,
            (_, true) => white_sign,
            _ => empty,
        }
    };
    (0..game.square_count()).map(sign).collect()
}

/// Reads a position; `None` for a text that begins with a move.
pub(super) fn read_position(game: &Othello, text: &str) -> Result<Option<Position<Board>>, Error> {
    let text = text.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [first, second, rest @ ..] = &words[..]
        && let Some(discs) = bitboard(first).zip(bitboard(second))
    {
        return of_bitboards(game, discs, rest).map(Some);
    }
    let solid: String = words.concat();
    if solid.len() != game.square_count() && solid.chars().all(|c| c.is_ascii_digit()) {
        return read_digits(game, &solid).map(Some);
    }
    let unnumbered = solid.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
    let uncoloured = solid.strip_prefix('+').unwrap_or(unnumbered);
    let begins_with_move = [&solid[..], uncoloured].into_iter().any(starts_like_a_move);
    let lower = solid.to_ascii_lowercase();
    // A diagram may begin with two empty squares, so `--` is a pass only before a move.
    let dashes =
        lower.strip_prefix("--").is_some_and(|rest| rest.is_empty() || starts_like_a_move(rest));
    if begins_with_move || dashes || lower.starts_with('p') {
        return Ok(None);
    }
    read_board(game, text).map(Some)
}

/// Returns `true` for a text that begins with the name of a square.
fn starts_like_a_move(text: &str) -> bool {
    let mut signs = text.chars();
    matches!(
        (signs.next().map(|c| c.to_ascii_lowercase()), signs.next()),
        (Some('a'..='h'), Some('1'..='9'))
    )
}

/// Reads the side to move (1 Black, 2 White), then the squares row by row.
fn read_digits(game: &Othello, digits: &str) -> Result<Position<Board>, Error> {
    let (expected, squares) = (game.square_count() + 1, game.square_count());
    if digits.len() != expected {
        let (rows, columns) = (game.rows, game.columns);
        return Err(Error::from(format!("invalid position `{digits}`: {} digits", digits.len())).with_hint(format!("expected {expected} for the {rows}x{columns} board: the side to move (1 Black, 2 White), then {squares} squares (0 empty, 1 Black, 2 White)")));
    }
    let side = match &digits[..1] {
        "1" => Side::First,
        "2" => Side::Second,
        other => {
            let what = format!("invalid position `{digits}`: starts with {other}");
            return Err(Error::new(what, "expected the side to move first: 1 Black, 2 White"));
        }
    };
    let (mut black, mut white) = (0, 0);
    for (square, digit) in digits[1..].chars().enumerate() {
        let bit = 1u64 << game.bit_of_action(Action(square as u16));
        match digit {
            '1' => black |= bit,
            '2' => white |= bit,
            '0' => {}
            _ => {
                let what = format!("invalid position `{digits}`: contains the digit {digit}");
                return Err(Error::new(what, "expected squares 0 empty, 1 Black, 2 White"));
            }
        }
    }
    Ok(from_colours(black, white, side))
}

/// Reads a set of squares in hexadecimal: `0x` and up to 16 digits, or 16 digits.
fn bitboard(word: &str) -> Option<u64> {
    let digits = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        Some(digits) => digits,
        None => Some(word).filter(|word| word.len() == 16)?,
    };
    u64::from_str_radix(digits, 16).ok()
}

/// Returns the position of the mover's and the opponent's discs on 8×8, as engines order them; behind them stand the side to
/// move, and which bit is a1 where that matters.
fn of_bitboards(
    game: &Othello,
    (mover, opponent): (u64, u64),
    rest: &[&str],
) -> Result<Position<Board>, Error> {
    if (game.rows, game.columns) != (8, 8) {
        return Err("invalid position: two bitboards are a board of 8x8".into());
    }
    if mover & opponent != 0 {
        return Err("invalid position: the two bitboards share squares".into());
    }
    let (mut side, mut corner) = (Side::First, None);
    for word in rest {
        match (side_named(word), *word) {
            (_, "a1=0") => corner = Some(false),
            (_, "a1=63") => corner = Some(true),
            (Some(named), _) => side = named,
            (None, _) => {
                let what = format!("invalid `{word}` behind the bitboards");
                return Err(Error::new(
                    what,
                    "expected b or w for the side to move, or a1=0 or a1=63",
                ));
            }
        }
    }
    let board = Board { mover, opponent };
    let turned = Board { mover: mover.reverse_bits(), opponent: opponent.reverse_bits() };
    // The two orders turn the board by 180°, so a board that this leaves alone is read either way.
    match corner {
        None if turned != board => Err(Error::new(
            "two bitboards: is bit 0 the square a1 or h8?",
            "add a1=0 (as Edax) or a1=63 (as Egaroucid); the first number is the mover's discs",
        )),
        Some(true) => Ok(Position { state: turned, side }),
        _ => Ok(Position { state: board, side }),
    }
}

/// Divides moves that stand together, at the squares and passes of `f5d6--c5` and `f5-d6-c5`.
pub(super) fn split_moves<'t>(words: Vec<MoveText<'t>>) -> Vec<MoveText<'t>> {
    let mut moves = Vec::with_capacity(words.len());
    for word in words {
        let mut at = 0;
        while at < word.text.len() {
            let rest = &word.text[at..];
            let length = match move_length(rest) {
                Some(length) => length,
                // A dash between two moves, or Logistello's signs of Black and White.
                None if rest.len() > 1
                    && (rest.starts_with('+') || rest.starts_with('-') && at > 0) =>
                {
                    at += 1;
                    continue;
                }
                None => rest.len(),
            };
            moves.push(match length == word.text.len() {
                true => word.clone(),
                false => word.part(at, at + length),
            });
            at += length;
        }
    }
    moves
}

/// Returns the length of the move that begins a text.
fn move_length(text: &str) -> Option<usize> {
    let is_pass =
        |pass: &&&str| text.get(..pass.len()).is_some_and(|t| t.eq_ignore_ascii_case(pass));
    match text.as_bytes() {
        [letter, digit, ..] if letter.is_ascii_alphabetic() && digit.is_ascii_digit() => Some(2),
        _ => PASSES.iter().find(is_pass).map(|pass| pass.len()),
    }
}

/// Reads a square such as `c4` or a pass; `None` for any other text and off the board.
pub(super) fn read_move(game: &Othello, text: &str) -> Option<Action> {
    if let [letter, digit] = text.as_bytes() {
        let column = usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'));
        let row = usize::from(digit.wrapping_sub(b'1'));
        if row < game.rows && column < game.columns {
            return Some(Action((row * game.columns + column) as u16));
        }
    }
    PASSES.iter().any(|pass| pass.eq_ignore_ascii_case(text)).then(|| game.pass())
}

/// Reads a board with or without coordinates, frames, breaks and side, as a sign a square.
fn read_board(game: &Othello, text: &str) -> Result<Position<Board>, Error> {
    let mut cells = Vec::new();
    let mut side = None;
    for line in text.split(['\n', '/']) {
        read_line(game, line, &mut cells, &mut side)?;
    }
    // Beside other signs for empty squares 0 is a disc: Egaroucid's Black, whose White is 1; White of Zebra and NBoard.
    let has_empty = cells.iter().any(|&c| c != '0' && EMPTY.contains(c));
    let from_zero = has_empty && cells.contains(&'0') && cells.contains(&'1');
    // OBF is a notation of the 8×8 grid; a smaller board may be in its top left corner.
    let squares = game.square_count();
    if (cells.len() == squares + 1 || cells.len() == 65) && side.is_none() {
        let sign = cells.pop().unwrap_or_default();
        let named = match sign {
            '0' if from_zero => Some(Side::First),
            '1' if from_zero => Some(Side::Second),
            _ => side_named(sign.encode_utf8(&mut [0; 4])),
        };
        side = Some(named.ok_or_else(|| {
            let what = format!("invalid side to move `{sign}` after the squares");
            Error::new(what, "expected X or * for Black, O for White")
        })?);
    }
    let (width, height) = match cells.len() {
        n if n == squares => (game.columns, game.rows),
        64 => (8, 8),
        n => {
            let (rows, columns) = (game.rows, game.columns);
            return Err(Error::from(format!("invalid position: {n} squares")).with_hint(format!("expected {squares} for the {rows}x{columns} board (. or - for empty, X or * for Black, O for White), then the side to move (X or O)")));
        }
    };
    let (mut black, mut white) = (0, 0);
    for (i, &cell) in cells.iter().enumerate().take(width * height) {
        let (row, column) = (i / width, i % width);
        let bit = 1u64 << (8 * row + column);
        let is_black = if from_zero { cell == '0' } else { BLACK.contains(cell) };
        let is_disc = is_black || cell == '0' && has_empty || !EMPTY.contains(cell);
        if !is_disc {
            continue;
        }
        if row >= game.rows || column >= game.columns {
            return Err(Error::from(format!(
                "invalid position: disc at {}{}, outside the {}x{} board",
                (b'a' + column as u8) as char,
                row + 1,
                game.rows,
                game.columns
            )));
        }
        if is_black {
            black |= bit;
        } else {
            white |= bit;
        }
    }
    Ok(from_colours(black, white, side.unwrap_or(Side::First)))
}

/// Returns the side that a word names.
fn side_named(word: &str) -> Option<Side> {
    let word = word.trim_matches(['(', ')', ':', ',']);
    match &word.to_ascii_lowercase()[..] {
        "black" | "b" | "x" | "*" | "@" | "#" | "1" | "●" | "⚫" => Some(Side::First),
        "white" | "w" | "o" | "2" | "○" | "⚪" => Some(Side::Second),
        _ => None,
    }
}

/// Adds one line's squares to `cells`; a phrase such as `Black to move` or a word beside the squares sets `side`.
fn read_line(
    game: &Othello,
    line: &str,
    cells: &mut Vec<char>,
    side: &mut Option<Side>,
) -> Result<(), Error> {
    let mut line = line.trim();
    if line == "Terminal State:" {
        return Ok(());
    }
    // A named row of single signs may have words to its right, as Edax and Egaroucid print them.
    let mut row = line.split_whitespace();
    let is_named = row.next().is_some_and(|word| word.parse::<u8>().is_ok());
    let row: Vec<&str> = row.take(game.columns).collect();
    if is_named && row.len() == game.columns && row.iter().all(|word| word.chars().count() == 1) {
        cells.extend(row.iter().flat_map(|word| word.chars()));
        let last = row[row.len() - 1];
        let end = last.as_ptr() as usize + last.len() - line.as_ptr() as usize;
        line = line[end..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        if !line.to_ascii_lowercase().contains("to move") {
            return Ok(());
        }
    }
    let lower = line.to_ascii_lowercase();
    let phrase = ["to move", "to play"].into_iter().find_map(|phrase| lower.find(phrase));
    if let Some(at) = phrase {
        let who = lower[..at].split_whitespace().rev().find_map(side_named);
        *side = Some(who.ok_or_else(|| {
            let what = format!("invalid side to move `{line}`");
            Error::new(what, "expected 'Black to move' or 'White to move'")
        })?);
        return Ok(());
    }
    let is_frame = |c: char| c == '|' || c == '+' || c == '=';
    let framed = line.replace(is_frame, " ");
    // A frame has dashes, which are squares too, and corners.
    if line.contains(is_frame)
        && !framed.contains(|c: char| !c.is_whitespace() && c != '-')
        && line.contains("--")
    {
        return Ok(());
    }
    let mut words: Vec<&str> = framed.split_whitespace().collect();
    let column_names = words.len() > 2
        && words
            .iter()
            .zip(b'a'..)
            .all(|(word, name)| word.as_bytes().eq_ignore_ascii_case(&[name]));
    if column_names || words == ["a"] {
        return Ok(());
    }
    let squares = game.square_count();
    // Zebra writes the side below the squares.
    if let ([word], true) = (&words[..], [squares, 64].contains(&cells.len()))
        && let Some(named) = side_named(word)
    {
        *side = Some(named);
        return Ok(());
    }
    let signs = |words: &[&str]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    let is_whole = |count: usize| [game.columns, squares, 8, 64].contains(&count);
    if words.len() > 1 && !is_whole(signs(&words)) {
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        // Names of rows stand at the edges, the side to move before or behind the squares.
        if let Some((last, others)) = words.split_last()
            && let count = signs(others)
            && (count == squares || count == 64)
            && let Some(named) = side_named(last)
        {
            *side = Some(named);
            words.pop();
        } else if let Some((first, others)) = words.split_first()
            && let count = signs(others)
            && (count == squares || count == 64)
            && let Some(named) = side_named(first)
        {
            *side = Some(named);
            words.remove(0);
        } else {
            if is_number(words[0]) {
                words.remove(0);
            }
            let last = words.len() - 1;
            if last > 0 && !is_whole(signs(&words)) && is_number(words[last]) {
                words.pop();
            }
        }
    }
    for sign in words.iter().flat_map(|word| word.chars()) {
        if ![EMPTY, BLACK, WHITE].iter().any(|signs| signs.contains(sign)) {
            return Err(Error::from(format!(
                "invalid square `{sign}`: expected . or - for empty, X or * for Black, O for White (X or O at the end for the side to move)"
            )));
        }
        cells.push(sign);
    }
    Ok(())
}
