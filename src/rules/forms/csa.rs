//! CSA: the form of computer shogi. `P1` to `P9`, `P+` and `P-` are the board, `+5453FU` a move, `%TORYO` the end.

use std::borrow::Cow;

use crate::error::Error;
use crate::rules::Side;
use crate::rules::sheet::{Claim, Misread, MoveText, Sheet};

/// Returns `true` for a line that no other form has.
pub(super) fn is_sign(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_version =
        line.starts_with('V') && line.len() <= 5 && line[1..].starts_with(['1', '2', '3']);
    let is_rank = bytes.len() >= 5
        && bytes[0] == b'P'
        && bytes[1].is_ascii_digit()
        && (bytes[2..].starts_with(b" * ")
            || matches!(bytes[2], b'+' | b'-') && bytes[3].is_ascii_uppercase());
    is_version
        || is_rank
        || line.starts_with("N+")
        || line.starts_with("N-")
        || line.starts_with("PI")
        || is_move(line)
}

fn is_move(statement: &str) -> bool {
    let bytes = statement.as_bytes();
    bytes.len() == 7
        && matches!(bytes[0], b'+' | b'-')
        && bytes[1..5].iter().all(u8::is_ascii_digit)
        && bytes[5..].iter().all(u8::is_ascii_uppercase)
}

pub(super) fn read(text: &str) -> Result<Vec<Sheet<'_>>, Misread> {
    let mut sheets: Vec<Sheet> = Vec::new();
    let mut board: Vec<&str> = Vec::new();
    let mut is_new = true;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let mut at = begin;
        begin += line.len();
        // `'` begins a remark, and `,` divides statements.
        if line.starts_with('\'') {
            continue;
        }
        let names = line.starts_with(['N', '$', 'V']);
        for part in line.split(if names { '\n' } else { ',' }) {
            let (place, statement) = (at, part.trim());
            at += part.len() + 1;
            if statement.is_empty() {
                continue;
            }
            // A slash alone divides games.
            if statement == "/" {
                is_new = true;
                continue;
            }
            if std::mem::take(&mut is_new) {
                sheets.push(Sheet { at: place, ..Sheet::default() });
                board.clear();
            }
            read_statement(
                statement,
                place,
                sheets.last_mut().expect("one was begun"),
                &mut board,
            )?;
        }
    }
    Ok(sheets)
}

fn read_statement<'t>(
    statement: &'t str,
    at: usize,
    sheet: &mut Sheet<'t>,
    board: &mut Vec<&'t str>,
) -> Result<(), Misread> {
    let side = match statement.as_bytes()[0] {
        b'+' => Some(Side::First),
        b'-' => Some(Side::Second),
        _ => None,
    };
    match statement {
        _ if is_move(statement) => {
            sheet.words.push(MoveText { text: Cow::Borrowed(&statement[1..]), at, side });
        }
        _ if matches!(statement, "+" | "-") || statement.starts_with('P') => {
            board.push(statement);
            // The usual start is that of the game.
            let is_start = board.iter().all(|line| matches!(*line, "+" | "PI"));
            sheet.text = if is_start { Cow::Borrowed("") } else { Cow::Owned(board.join("\n")) };
        }
        _ if statement.starts_with("N+") => sheet.players[0] = Some(statement[2..].to_string()),
        _ if statement.starts_with("N-") => sheet.players[1] = Some(statement[2..].to_string()),
        _ if statement.starts_with('%') => {
            let first = if sheet.text.ends_with('-') { Side::Second } else { Side::First };
            let mover = sheet.words.last().and_then(|word| word.side).map_or(first, Side::other);
            sheet.claim = match statement {
                "%TORYO" | "%TSUMI" | "%TIME_UP" | "%ILLEGAL_MOVE" => {
                    Some(Claim::Winner(Some(mover.other())))
                }
                "%KACHI" => Some(Claim::Winner(Some(mover))),
                "%+ILLEGAL_ACTION" => Some(Claim::Winner(Some(Side::Second))),
                "%-ILLEGAL_ACTION" => Some(Claim::Winner(Some(Side::First))),
                "%SENNICHITE" | "%JISHOGI" | "%HIKIWAKE" => Some(Claim::Winner(None)),
                _ => None,
            };
        }
        _ if statement.starts_with(['T', 'V', '$', '\'']) => {}
        _ => {
            let error = Error::new(
                format!("unknown statement `{statement}`"),
                "expected such as +5453FU or %TORYO",
            );
            return Err(Misread::new(at, error));
        }
    }
    Ok(())
}
