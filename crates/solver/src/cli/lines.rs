//! Positions, one per line: of a file, or as they come.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use yomikiri::error::Error;
use yomikiri::input;
use yomikiri::oracle::{LONGEST_LINE, SolvedTable, without_remark};
use yomikiri::rules::{AnyPosition, Rules};

/// Most bytes of positions.
const MOST: u64 = 1 << 34;

/// Reads a file of text, which is not large.
pub(super) fn text_of(path: &Path) -> Result<String, Error> {
    let text = File::open(path).and_then(input::text);
    text.map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Reads a file of positions; `-` is stdin.
pub(super) fn read(file: &Path) -> Result<String, Error> {
    let (name, bytes) = match file.to_str() {
        Some("-") => ("stdin".to_string(), input::all(std::io::stdin(), MOST)),
        _ => (file.display().to_string(), input::file(file, MOST)),
    };
    let bytes = bytes.map_err(|error| Error::from(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes);
    text.map_err(|_| Error::from(format!("{name} is not text: expected one position per line")))
}

/// A position and the number of the line that it comes from.
pub(super) struct Line {
    pub line: usize,
    pub position: AnyPosition,
}

/// Returns the lines that hold positions, without remarks, with their numbers from 1.
pub(super) fn of_positions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(without_remark);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// Returns the positions of all lines; of a transcript from a root all or only the `last`. Invalid lines are added
/// to `bad`.
pub(super) fn positions(
    text: &str,
    (game, root): (&dyn Rules, AnyPosition),
    last: bool,
    bad: &mut Vec<(usize, Error)>,
) -> Vec<Line> {
    let mut all = Vec::new();
    for (number, line) in of_positions(text) {
        match game.parse_line(line, &root) {
            Ok(positions) => {
                let first = if last { positions.len() - 1 } else { 0 };
                let positions = positions[first..].iter();
                all.extend(positions.map(|&position| Line { line: number, position }));
            }
            Err(error) => bad.push((number, error)),
        }
    }
    all
}

/// Returns the position at which transcripts begin: the first root of a table, or the start of a game without one.
pub(super) fn root_of(game: &dyn Rules, table: Option<&SolvedTable>) -> Result<AnyPosition, Error> {
    let roots = table.map_or(Ok(Vec::new()), |table| table.states().roots())?;
    Ok(roots.first().copied().unwrap_or_else(|| game.start()))
}

/// Returns the error for a position that a table lacks.
pub(super) fn missing(position: &AnyPosition, table: &SolvedTable) -> Error {
    let position = table.game().notation(position);
    format!("{position} is not among the states of {}", table.table().name()).into()
}

/// Reads a line, and of one that is too long only the beginning; returns false at the end.
pub(super) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let found = reader.fill_buf()?;
        if found.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = found.iter().position(|&byte| byte == b'\n');
        let part = &found[..end.unwrap_or(found.len())];
        let room = (LONGEST_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let read = part.len() + usize::from(end.is_some());
        reader.consume(read);
        if end.is_some() {
            return Ok(true);
        }
    }
}
