//! Text notations of Othello.
//!
//! Reads a board diagram (`.` or `-` empty, `X` or `*` Black, `O` White; with or without row breaks,
//! coordinates and a side), the OBF line (the squares row by row, then the side to move), a string of digits
//! (the side to move, then the squares: `0` empty, `1` Black, `2` White) and transcripts (`c4c3…`, passes
//! left out or written `pass` or `--`). Writes a diagram with coordinates, OBF, and the digits.

use super::{Board, Othello};
use crate::error::Error;
use crate::rules::{Action, Game, Position, Side};

const EMPTY: [char; 2] = ['.', '-'];
const BLACK: [char; 3] = ['X', 'x', '*'];
const WHITE: [char; 2] = ['O', 'o'];
/// Notations of a pass in a transcript; one that is a prefix of another comes after it.
const PASSES: [&str; 4] = ["pass", "pa", "ps", "--"];

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

pub(super) fn parse_line(
    game: &Othello,
    text: &str,
    from: &Position<Board>,
) -> Result<Vec<Position<Board>>, Error> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.eq_ignore_ascii_case("start") {
        return Ok(vec![*from]);
    }
    let solid: String = trimmed.chars().filter(|c| !c.is_whitespace()).collect();
    if solid.chars().all(|c| c.is_ascii_digit()) {
        return Ok(vec![read_digits(game, &solid)?]);
    }
    let starts_like_a_move = |word: &str| {
        let mut chars = word.chars();
        matches!(
            (chars.next().map(|c| c.to_ascii_lowercase()), chars.next()),
            (Some('a'..='h'), Some('1'..='9'))
        )
    };
    let lower = solid.to_ascii_lowercase();
    // A diagram may begin with two empty squares, so `--` is a pass only before a move.
    let dashes =
        lower.strip_prefix("--").is_some_and(|rest| rest.is_empty() || starts_like_a_move(rest));
    if starts_like_a_move(&solid) || dashes || ["pa", "ps"].iter().any(|p| lower.starts_with(p)) {
        return play_transcript(game, &lower, from);
    }
    Ok(vec![diagram_or_obf(game, trimmed)?])
}

/// Reads the side to move (1 Black, 2 White), then the squares row by row.
fn read_digits(game: &Othello, digits: &str) -> Result<Position<Board>, Error> {
    let expected = game.square_count() + 1;
    if digits.len() != expected {
        return Err(Error::from(format!("invalid position `{digits}`: {} digits", digits.len())).with_hint(format!("expected {expected} for the {}x{} board: the side to move (1 Black, 2 White), then {} squares (0 empty, 1 Black, 2 White)", game.rows, game.columns, game.square_count())));
    }
    let side = match &digits[..1] {
        "1" => Side::First,
        "2" => Side::Second,
        _ => {
            return Err(Error::from(format!(
                "invalid position `{digits}`: starts with {}",
                &digits[..1]
            ))
            .with_hint("expected the side to move first: 1 Black, 2 White"));
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
                return Err(Error::from(format!(
                    "invalid position `{digits}`: contains the digit {digit}"
                ))
                .with_hint("expected squares 0 empty, 1 Black, 2 White"));
            }
        }
    }
    Ok(from_colours(black, white, side))
}

/// Plays a transcript and returns its positions, starting with `from`.
fn play_transcript(
    game: &Othello,
    moves: &str,
    from: &Position<Board>,
) -> Result<Vec<Position<Board>>, Error> {
    let mut position = *from;
    let mut all = vec![position];
    let mut rest = moves;
    let mut ply = 0;
    while !rest.is_empty() {
        ply += 1;
        let (word, tail) = split_move(rest).ok_or_else(|| {
            Error::from(format!("transcript: invalid move {ply} `{rest}`"))
                .with_hint("expected squares such as c4, and pass or -- for passes")
        })?;
        rest = tail;
        let legal = game.actions(&position.state);
        let expected = square_action(game, word);
        if expected.is_some() && legal.len() == 1 && game.is_pass(legal[0]) {
            // Most transcripts leave passes out.
            position = game.advance(&position, legal[0]);
            all.push(position);
        }
        let legal = game.actions(&position.state);
        let action = expected.unwrap_or(game.pass());
        if !legal.contains(&action) {
            let names: Vec<_> = legal.iter().map(|&a| game.action_name(position.side, a)).collect();
            let can = if names.is_empty() {
                "the game is over".to_string()
            } else {
                format!("{} can play {}", game.side_name(position.side), names.join(", "))
            };
            let what = format!("transcript: illegal move {ply} `{word}`");
            return Err(Error::from(what).with_hint(can));
        }
        position = game.advance(&position, action);
        all.push(position);
    }
    Ok(all)
}

/// Splits the first move off a lower-case transcript without spaces.
fn split_move(text: &str) -> Option<(&str, &str)> {
    for pass in PASSES {
        if let Some(rest) = text.strip_prefix(pass) {
            return Some((pass, rest));
        }
    }
    let bytes = text.as_bytes();
    (bytes.len() >= 2 && bytes[0].is_ascii_lowercase() && bytes[1].is_ascii_digit())
        .then(|| text.split_at(2))
}

/// Returns the action of a square such as `c4`, or `None` for a pass. A square off the board has an action
/// that is never legal.
fn square_action(game: &Othello, word: &str) -> Option<Action> {
    if PASSES.contains(&word) {
        return None;
    }
    let bytes = word.as_bytes();
    let (column, row) =
        ((bytes[0] - b'a') as usize, (bytes[1] as usize).wrapping_sub(b'1' as usize));
    if row >= game.rows || column >= game.columns {
        // Never legal, so the caller reports the square as written.
        return Some(Action(u16::MAX));
    }
    Some(Action((row * game.columns + column) as u16))
}

/// Reads a diagram with or without coordinates, breaks and side, or an OBF line.
fn diagram_or_obf(game: &Othello, text: &str) -> Result<Position<Board>, Error> {
    let mut cells = Vec::new();
    let mut side = None;
    for line in text.split(['\n', '/']) {
        read_line(line, &mut cells, &mut side)?;
    }
    // OBF is a notation of the 8×8 grid; a smaller board may be in its top left corner.
    let squares = game.square_count();
    if (cells.len() == squares + 1 || cells.len() == 65) && side.is_none() {
        side = match cells.pop() {
            Some(c) if EMPTY.contains(&c) => {
                return Err(Error::from(format!(
                    "invalid side to move `{c}` after the squares: expected X or * for Black, O for White"
                )));
            }
            Some(c) if WHITE.contains(&c) => Some(Side::Second),
            _ => Some(Side::First),
        };
    }
    let (width, height) = match cells.len() {
        n if n == squares => (game.columns, game.rows),
        64 => (8, 8),
        n => {
            return Err(Error::from(format!("invalid position: {n} squares")).with_hint(format!("expected {squares} for the {}x{} board (. or - for empty, X or * for Black, O for White), then the side to move (X or O)", game.rows, game.columns)));
        }
    };
    let (mut black, mut white) = (0, 0);
    for (i, &cell) in cells.iter().enumerate().take(width * height) {
        let (row, column) = (i / width, i % width);
        let bit = 1u64 << (8 * row + column);
        if EMPTY.contains(&cell) {
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
        if BLACK.contains(&cell) {
            black |= bit;
        } else {
            white |= bit;
        }
    }
    Ok(from_colours(black, white, side.unwrap_or(Side::First)))
}

/// Returns the side that a letter behind a board names, as some write it: B or W.
fn side_letter(word: &str) -> Option<Side> {
    match word {
        "B" => Some(Side::First),
        "W" => Some(Side::Second),
        _ => None,
    }
}

/// Adds one line's squares to `cells`; a phrase such as `Black to move` sets `side`.
fn read_line(line: &str, cells: &mut Vec<char>, side: &mut Option<Side>) -> Result<(), Error> {
    let line = line.trim();
    // Scored moves may follow the semicolon of an OBF line; they are not part of the position.
    let line = line.split(';').next().unwrap_or("").trim();
    let lower = line.to_ascii_lowercase();
    if let Some(at) = lower.find("to move") {
        let who = &lower[..at];
        *side = Some(match who {
            w if w.contains("black") || w.trim() == "x" || w.trim() == "*" => Side::First,
            w if w.contains("white") || w.trim() == "o" => Side::Second,
            _ => {
                return Err(Error::from(format!("invalid side to move `{line}`"))
                    .with_hint("expected 'Black to move' or 'White to move'"));
            }
        });
        return Ok(());
    }
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if let [_, .., last] = words[..]
        && let Some(named) = side_letter(last)
    {
        *side = Some(named);
        words.pop();
    }
    let column_names = words
        .iter()
        .enumerate()
        .all(|(i, w)| w.len() == 1 && w.as_bytes()[0].to_ascii_lowercase() == b'a' + i as u8);
    if column_names {
        return Ok(());
    }
    let is_number = |w: &str| w.chars().all(|c| c.is_ascii_digit());
    let squares = words.iter().enumerate().filter(|(i, w)| {
        let at_edge = *i == 0 || *i == words.len() - 1;
        !(at_edge && is_number(w))
    });
    for (_, word) in squares {
        for c in word.chars() {
            if !(EMPTY.contains(&c) || BLACK.contains(&c) || WHITE.contains(&c)) {
                return Err(Error::from(format!(
                    "invalid square `{c}`: expected . or - for empty, X or * for Black, O for White (X or O at the end for the side to move)"
                )));
            }
            cells.push(c);
        }
    }
    Ok(())
}
