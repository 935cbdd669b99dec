//! GGF and SGF: trees of nodes in brackets, of which the main line is read.

use std::borrow::Cow;

use super::Form;
use crate::error::Error;
use crate::rules::sheet::{Claim, Misread, MoveText, Sheet};
use crate::rules::{Empties, Side};

/// Property of a node, with the byte at which its value begins.
struct Property<'t> {
    name: &'t str,
    value: &'t str,
    at: usize,
}

/// Returns `true` for the first line of a game.
pub(super) fn is_begin(line: &str) -> bool {
    // GGS numbers the games of a match: `2 (;…;)(;…;)`.
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    line.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(';'))
}

pub(super) fn read(text: &str, form: Form) -> Result<Vec<Sheet<'_>>, Misread> {
    let mut at = 0;
    let mut sheets = Vec::new();
    while let Some(begin) = text[at..].find('(').map(|begin| at + begin) {
        let between = text[at..begin].trim();
        if !between.chars().all(|c| c.is_ascii_digit() || c.is_whitespace()) {
            let what = format!("`{}` between games", first_line(between));
            return Err(Misread::new(at, Error::new(what, "expected ( and a game")));
        }
        let (properties, end) = main_line(text, begin)?;
        sheets.push(match form {
            Form::Ggf => ggf(&properties, begin)?,
            _ => sgf(&properties, begin)?,
        });
        at = end;
    }
    Ok(sheets)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(40).collect()
}

/// Returns the properties of the first variation throughout, and the byte behind the game.
fn main_line(text: &str, begin: usize) -> Result<(Vec<Property<'_>>, usize), Misread> {
    let bytes = text.as_bytes();
    let (mut properties, mut depth, mut at) = (Vec::new(), 0u32, begin);
    // Once a variation has ended, all others are passed over.
    let (mut is_main, mut name) = (true, "");
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                is_main = false;
                if depth == 0 {
                    return Ok((properties, at + 1));
                }
            }
            b'[' => {
                let end = value_end(bytes, at + 1).ok_or_else(|| {
                    Misread::new(at, Error::new(format!("{name}[ without ]"), "close the value"))
                })?;
                if is_main {
                    properties.push(Property { name, value: &text[at + 1..end], at: at + 1 });
                }
                at = end;
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                let length = bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
                name = &text[at..at + length];
                at += length - 1;
            }
            b';' => {}
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                let sign = text[at..].chars().next().unwrap_or_default();
                let error = Error::new(
                    format!("unexpected `{sign}`"),
                    "expected a property, such as B[f5]",
                );
                return Err(Misread::new(at, error));
            }
        }
        at += 1;
    }
    Err(Misread::new(begin, Error::new("the game has no end", "expected ) behind it")))
}

/// Returns the byte of the bracket that ends a value; `\` takes the meaning of the next sign.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b']' => return Some(at),
            _ => at += 1,
        }
    }
}

fn side_of(name: &str) -> Option<Side> {
    match name {
        "B" | "b" => Some(Side::First),
        "W" | "w" => Some(Side::Second),
        _ => None,
    }
}

/// Reads GGF: `BO` is the board, a move is `F5//0.5` or `PA`, `RE` Black's margin, empty squares to the winner.
fn ggf<'t>(properties: &[Property<'t>], at: usize) -> Result<Sheet<'t>, Misread> {
    let mut sheet = Sheet { at, ..Sheet::default() };
    for Property { name, value, at } in properties {
        match &*name.to_ascii_uppercase() {
            "BO" => {
                let squares = value.trim_start();
                let size =
                    squares.len() - squares.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                sheet.text = Cow::Borrowed(squares[size..].trim());
            }
            "PB" => sheet.players[0] = Some(value.to_string()),
            "PW" => sheet.players[1] = Some(value.to_string()),
            "RE" => {
                let (margin, reason) = value.split_once(':').unwrap_or((value, ""));
                // Edax writes games without a result as -127.
                let margin =
                    margin.trim().parse::<f64>().ok().filter(|margin| margin.abs() <= 64.0);
                sheet.claim = margin.map(|margin| match reason {
                    "" => Claim::Margin(margin as i32, Some(Empties::ToWinner)),
                    // Resigned, agreed or lost on time.
                    _ => Claim::Winner(winner(margin)),
                });
            }
            _ => {
                if let Some(side) = side_of(name) {
                    let text = value.split('/').next().unwrap_or_default().trim();
                    sheet.words.push(MoveText {
                        text: Cow::Borrowed(text),
                        at: *at,
                        side: Some(side),
                    });
                }
            }
        }
    }
    Ok(sheet)
}

fn winner(margin: f64) -> Option<Side> {
    match margin {
        _ if margin > 0.0 => Some(Side::First),
        _ if margin < 0.0 => Some(Side::Second),
        _ => None,
    }
}

/// Reads SGF of Othello: points are `f5`, or two letters, the column first; a move without a point is a pass.
fn sgf<'t>(properties: &[Property<'t>], at: usize) -> Result<Sheet<'t>, Misread> {
    let mut sheet = Sheet { at, ..Sheet::default() };
    let mut size = (8, 8);
    let mut stones: Vec<(Side, &str, usize)> = Vec::new();
    let mut to_move = Side::First;
    for Property { name, value, at } in properties {
        let value = value.trim();
        match &*name.to_ascii_uppercase() {
            "GM" if value != "2" => {
                let what = format!("GM[{value}] is another game than Othello");
                return Err(Misread::new(*at, Error::new(what, "expected GM[2]")));
            }
            "SZ" => {
                let (columns, rows) = value.split_once(':').unwrap_or((value, value));
                let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=26).contains(n));
                size = number(columns).zip(number(rows)).ok_or_else(|| {
                    Misread::new(
                        *at,
                        Error::new(format!("invalid size `{value}`"), "expected SZ[8]"),
                    )
                })?;
            }
            "PB" => sheet.players[0] = Some(unescaped(value)),
            "PW" => sheet.players[1] = Some(unescaped(value)),
            "PL" => {
                to_move =
                    if value.starts_with(['W', 'w', '2']) { Side::Second } else { Side::First }
            }
            "AB" => stones.push((Side::First, value, *at)),
            "AW" => stones.push((Side::Second, value, *at)),
            "RE" => sheet.claim = sgf_result(value),
            _ => {
                if let Some(side) = side_of(name) {
                    let is_pass = value.is_empty() || value.eq_ignore_ascii_case("tt");
                    let text = match point(value) {
                        _ if is_pass => Cow::Borrowed("pass"),
                        Some((column, row)) if !has_digit(value) => Cow::Owned(square(column, row)),
                        _ => Cow::Borrowed(value),
                    };
                    sheet.words.push(MoveText { text, at: *at, side: Some(side) });
                }
            }
        }
    }
    if !stones.is_empty() {
        let (columns, rows) = size;
        let mut squares = vec![b'-'; columns * rows];
        for (side, value, at) in stones {
            let place = point(value).filter(|(column, row)| *column < columns && *row < rows);
            let (column, row) = place.ok_or_else(|| {
                let what = format!("invalid point `{value}` of a board of {columns} by {rows}");
                Misread::new(at, Error::new(what, "expected such as d4"))
            })?;
            squares[row * columns + column] = [b'X', b'O'][side.index()];
        }
        let mover = ["X", "O"][to_move.index()];
        sheet.text = Cow::Owned(format!("{} {mover}", String::from_utf8_lossy(&squares)));
    }
    Ok(sheet)
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

fn square(column: usize, row: usize) -> String {
    format!("{}{}", char::from(b'a' + column as u8), row + 1)
}

/// Reads a point of up to 26 columns and rows.
fn point(text: &str) -> Option<(usize, usize)> {
    let letter = |byte: u8| {
        byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
    };
    let (&column, row) = text.as_bytes().split_first()?;
    let row = match row {
        [letter_of_row] if letter_of_row.is_ascii_alphabetic() => letter(*letter_of_row)?,
        _ => text.get(1..)?.parse::<usize>().ok()?.checked_sub(1)?,
    };
    Some((letter(column)?, row))
}

/// Reads `B+12`, `W+R`, `0`, `Draw`.
fn sgf_result(value: &str) -> Option<Claim> {
    let sign = match value.as_bytes().first()?.to_ascii_uppercase() {
        b'B' => 1,
        b'W' => -1,
        b'0' | b'D' => return Some(Claim::Winner(None)),
        _ => return None,
    };
    let winner = [Side::Second, Side::First][usize::from(sign == 1)];
    Some(match value.split_once('+').and_then(|(_, margin)| margin.parse::<u8>().ok()) {
        Some(margin) => Claim::Margin(sign * i32::from(margin), None),
        None => Claim::Winner(Some(winner)),
    })
}

fn unescaped(text: &str) -> String {
    let mut signs = text.chars();
    let mut out = String::new();
    while let Some(sign) = signs.next() {
        out.extend(if sign == '\\' { signs.next() } else { Some(sign) });
    }
    out
}
