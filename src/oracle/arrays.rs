//! Batches of positions as NumPy arrays.
//!
//! Input: `<u8`, either keys as in the table's `keys.npy`, of shape `(n,)` or, with two words, `(n, 2)`;
//! or `(n, 2)` squares of the player to move and of the other, bit `row * columns + column`, in games
//! whose states are no more than that. Output: `<i4`, `(n, 5)`: 1 if the position is in the table, else
//! 0; outcome, score and distance for the player to move; index of a best move. Unknown numbers are
//! -32768.

use std::io::Cursor;

use super::{Oracle, SolvedTable};
use crate::error::Error;
use crate::rules::{Address, AnyPosition, AnyState, Position, Side};
use crate::table::NpyHeader;

/// Columns of the output.
const COLUMNS: [&str; 5] = ["found", "outcome", "score", "distance", "action"];
/// Value of an unknown number.
const UNKNOWN: i32 = -32768;
/// Most rows of an input.
const MOST_ROWS: usize = 1_000_000;

/// Content of the rows of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayRows {
    /// Keys of states.
    Keys,
    /// Squares of both players.
    Squares,
}

impl SolvedTable {
    /// Answers the positions of a `.npy` file by another. If `rows` is `None`, the game and the width of
    /// the rows decide what they contain. Errors fit in one line.
    pub fn answer_array(&self, bytes: &[u8], rows: Option<ArrayRows>) -> Result<Vec<u8>, Error> {
        answer(self, bytes, rows)
    }
}

fn answer(table: &SolvedTable, bytes: &[u8], rows: Option<ArrayRows>) -> Result<Vec<u8>, Error> {
    let game = table.game();
    let mut reader = Cursor::new(bytes);
    let header = NpyHeader::read(&mut reader).map_err(|error| error.to_string())?;
    if header.descr != "<u8" {
        return Err(Error::new(
            format!("invalid dtype {} of the array", header.descr),
            "expected unsigned 64-bit integers, <u8",
        ));
    }
    let has_squares = game.has_squares();
    let words = match header.shape[..] {
        [_] => 1,
        [_, 2] => 2,
        _ => {
            return Err(Error::new(
                format!("invalid shape {:?} of the array", header.shape),
                "expected (n,) or (n, 2)",
            ));
        }
    };
    let rows = rows.unwrap_or(match words == 2 && has_squares && game.facts().key_words() == 1 {
        true => ArrayRows::Squares,
        false => ArrayRows::Keys,
    });
    let fits = match rows {
        ArrayRows::Keys => words == game.facts().key_words(),
        ArrayRows::Squares => words == 2 && has_squares,
    };
    if !fits {
        return Err(format!(
            "invalid rows of {words} words for {} of {}: its keys have {}",
            if rows == ArrayRows::Keys { "keys" } else { "squares" },
            game.name(),
            game.facts().key_words()
        )
        .into());
    }
    if words == 2 && header.fortran_order {
        return Err(Error::new(
            "invalid array in Fortran order",
            "convert it by numpy.ascontiguousarray",
        ));
    }
    let data = &bytes[reader.position() as usize..];
    let count = header.shape[0];
    if count > MOST_ROWS as u64 || data.len() as u64 != count * words as u64 * 8 {
        return Err(format!(
            "invalid length of {} bytes: expected {count} rows of {words} words, at most {MOST_ROWS} rows",
            data.len()
        )
        .into());
    }
    let mut numbers = Vec::with_capacity(count as usize * COLUMNS.len());
    for row in data.chunks_exact(8 * words) {
        let word = |at: usize| {
            let bytes = row[8 * at..8 * at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        let position = match (rows, words) {
            (ArrayRows::Squares, _) => game.of_squares(word(0), word(1)).map(to_move),
            (ArrayRows::Keys, words) => {
                let second = if words == 1 { 0 } else { word(1) };
                game.position_at(Address::Key(game.facts().key([word(0), second])))
            }
        };
        numbers.extend(
            position
                .map_or([0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN], |position| one(table, position)),
        );
    }
    table.table().check_read()?;
    Ok(written(&numbers, count))
}

/// Returns a position with the first player to move, who stands for either if only squares are given.
fn to_move(state: AnyState) -> AnyPosition {
    Position { state, side: Side::First }
}

fn one(table: &SolvedTable, position: AnyPosition) -> [i32; COLUMNS.len()] {
    let Some(row) = table.states().find(&position) else {
        return [0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN];
    };
    let value = table.value(row);
    let score = value.score().filter(|_| table.has_scores());
    let best = table.best_actions(&position).first().map(|action| i32::from(action.0));
    [
        1,
        value.outcome().map_or(UNKNOWN, |outcome| outcome.value().into()),
        score.map_or(UNKNOWN, |score| score.0.into()),
        value.distance().map_or(UNKNOWN, i32::from),
        best.unwrap_or(UNKNOWN),
    ]
}

fn written(numbers: &[i32], rows: u64) -> Vec<u8> {
    let shape = vec![rows, COLUMNS.len() as u64];
    let mut bytes = NpyHeader { descr: "<i4".to_string(), fortran_order: false, shape }.bytes();
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}
