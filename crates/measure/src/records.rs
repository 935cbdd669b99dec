//! Games and positions of a file, in any form that people keep them in.
//!
//! ```
//! use yomikiri::progress::Silent;
//! use yomikiri::registry::othello;
//! use yomikiri_measure::records::Records;
//!
//! let game = othello("8")?;
//! let text = b"(;GM[2]SZ[8];B[f5];W[d6])\n(;GM[2]SZ[8];B[fe])";
//! let records = Records::read(text, &*game, &game.start(), None, &Silent)?;
//! assert_eq!((records.form.title(), records.games.len()), ("SGF", 2));
//! assert_eq!(records.positions(false).count(), 3 + 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{SHIFT_JIS, UTF_16BE, UTF_16LE};
use yomikiri::error::Error;
use yomikiri::parallel;
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::forms::{self, Form};
use yomikiri::rules::{AnyPosition, Claim, PlayedGame, Rules, Sheet};

/// Games that a task plays.
const AT_ONCE: usize = 256;

/// Games whose reading is worth a progress bar.
const MANY: usize = 10_000;

/// Place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Line and column of a text, from 1, the column in characters.
    Text {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// Number of a game in a binary file, from 1.
    Game(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text { line, column: 1 } => write!(f, "line {line}"),
            Place::Text { line, column } => write!(f, "line {line}, column {column}"),
            Place::Game(number) => write!(f, "game {number}"),
        }
    }
}

/// A game of a file; a position alone is a game without moves.
#[derive(Clone, Debug)]
pub struct Record {
    /// Place where it begins.
    pub place: Place,
    /// Its moves.
    pub played: PlayedGame,
    /// Names of the first and the second player.
    pub players: [Option<String>; 2],
    /// Result, as the file states it.
    pub claim: Option<Claim>,
}

/// Games of a file, and what could not be read.
#[derive(Clone, Debug)]
pub struct Records {
    /// Form of the file.
    pub form: Form,
    /// Games in the order of the file.
    pub games: Vec<Record>,
    /// Errors, with their places, in the order of the file.
    pub errors: Vec<(Place, Error)>,
}

impl Records {
    /// Reads games played from `from` where they begin with no position of their own. The form is recognised, unless one is
    /// asked for. Fails for bytes that are no text, and for a text of two forms; other errors are among the
    /// [errors](Records::errors).
    pub fn read(
        bytes: &[u8],
        game: &dyn Rules,
        from: &AnyPosition,
        asked: Option<Form>,
        progress: &dyn Progress,
    ) -> Result<Records, Error> {
        if asked.map_or_else(|| forms::is_wthor(bytes), |form| form == Form::Wthor) {
            let count = forms::wthor_games(bytes)?;
            let sheet = |index| Cow::Owned(forms::wthor_sheet(bytes, index));
            let places = |at: usize| Place::Game(forms::wthor_game(at));
            return Ok(played(Form::Wthor, count, &sheet, (game, from), &places, progress));
        }
        let text = text_of_bytes(bytes)?;
        let text = forms::without_mark(&text);
        let form = asked.unwrap_or_else(|| forms::recognise(text));
        let lines = LineStarts::of(text);
        let places = |at: usize| lines.place(text, at);
        let sheets = forms::sheets(text, form).map_err(|misread| {
            let place = places(misread.at);
            form.named(misread.error).map(|what| format!("{place}: {what}"))
        })?;
        let sheet = |index: usize| Cow::Borrowed(&sheets[index]);
        Ok(played(form, sheets.len(), &sheet, (game, from), &places, progress))
    }

    /// Returns all positions with the places of their games; of each game all or only the `last`.
    pub fn positions(&self, last: bool) -> impl Iterator<Item = (Place, AnyPosition)> {
        self.games.iter().flat_map(move |record| {
            let first = if last { record.played.moves().len() } else { 0 };
            record.played.positions().skip(first).map(|position| (record.place, position))
        })
    }

    /// Returns what the games' results contradict on the board, with the places of the games.
    pub fn contradictions(&self, game: &dyn Rules) -> Vec<(Place, String)> {
        let words = |record: &Record| {
            let words = record.played.contradiction(game, record.claim?)?;
            Some((record.place, words))
        };
        self.games.iter().filter_map(words).collect()
    }

    /// Returns how the file was read: `GGF: 12 games, 700 positions`; `None` for lines.
    pub fn words(&self) -> Option<String> {
        let positions: usize =
            self.games.iter().map(|record| record.played.moves().len() + 1).sum();
        let games = match self.games.len() {
            1 => "1 game".to_string(),
            count => format!("{count} games"),
        };
        (self.form != Form::Lines)
            .then(|| format!("{}: {games}, {positions} positions", self.form.title()))
    }
}

/// Plays the games of sheets, each of which is made where it is played.
fn played<'t>(
    form: Form,
    count: usize,
    sheet: &(dyn Fn(usize) -> Cow<'t, Sheet<'t>> + Sync),
    (game, from): (&dyn Rules, &AnyPosition),
    place: &(dyn Fn(usize) -> Place + Sync),
    progress: &dyn Progress,
) -> Records {
    let one = |index: usize| {
        let sheet = sheet(index);
        match PlayedGame::of_sheet(game, &sheet, from) {
            Ok((played, claim)) => {
                let players = sheet.players.clone();
                Ok(Record { place: place(sheet.at), played, players, claim })
            }
            Err(misread) => Err((place(misread.at), form.named(misread.error))),
        }
    };
    let progress: &dyn Progress = if count < MANY { &Silent } else { progress };
    progress.begin_with("reading", Some(count as u64), "games");
    let all = parallel::map(count.div_ceil(AT_ONCE), &|task| {
        let games = task * AT_ONCE..count.min((task + 1) * AT_ONCE);
        progress.advance(games.len() as u64);
        games.map(one).collect::<Vec<_>>()
    });
    progress.finish("games read");
    let mut records = Records { form, games: Vec::with_capacity(count), errors: Vec::new() };
    for result in all.into_iter().flatten() {
        match result {
            Ok(record) => records.games.push(record),
            Err(error) => records.errors.push(error),
        }
    }
    records
}

/// Returns the text of bytes in UTF-8, UTF-16 with a mark, or Shift_JIS. Fails for other bytes and for a text with the byte 0.
pub fn text_of_bytes(bytes: &[u8]) -> Result<Cow<'_, str>, Error> {
    let by_mark = [(&b"\xff\xfe"[..], UTF_16LE), (b"\xfe\xff", UTF_16BE)];
    let marked = by_mark.into_iter().find(|(mark, _)| bytes.starts_with(mark));
    let wrong = match (marked, std::str::from_utf8(bytes)) {
        (None, Ok(text)) if !text.contains('\0') => return Ok(Cow::Borrowed(text)),
        (None, Ok(_)) => {
            let hint = "a WTHOR base has 16 bytes and 68 for each game of its header";
            return Err(Error::new("neither a text nor a WTHOR base: it has the byte 0", hint));
        }
        (None, Err(wrong)) => wrong.valid_up_to(),
        (Some(_), _) => 0,
    };
    let encoding = marked.map_or(SHIFT_JIS, |(_, encoding)| encoding);
    let decoded = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    decoded.filter(|text| !text.contains('\0')).ok_or_else(|| {
        let what = format!("not a text: byte {wrong} is neither UTF-8 nor Shift_JIS");
        Error::new(what, "expected positions or games as text, or a WTHOR base")
    })
}

/// Bytes at which the lines of a text begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> LineStarts {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        LineStarts([0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect())
    }

    fn place(&self, text: &str, at: usize) -> Place {
        let line = self.0.partition_point(|start| *start <= at);
        let start = self.0[line - 1];
        let before = text.get(start..at).unwrap_or_default();
        // Blanks before the first sign are no column of their own.
        let column = if before.trim().is_empty() { 1 } else { before.chars().count() + 1 };
        Place::Text { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::registry::othello;

    #[test]
    fn encodings_are_found() {
        assert_eq!(text_of_bytes("歩".as_bytes()).unwrap(), "歩");
        assert_eq!(text_of_bytes(b"\x95\xe0").unwrap(), "歩");
        assert_eq!(
            text_of_bytes(b"\xff\xfef\x005\x00").unwrap().trim_start_matches('\u{feff}'),
            "f5"
        );
        assert!(text_of_bytes(b"\xff\xff\xff").unwrap_err().to_string().contains("byte 0"));
    }

    #[test]
    fn errors_have_their_places() {
        let game = othello("8").unwrap();
        let text = "f5d6\n# remark\n\n  f5d6c5a1\n";
        let read = Records::read(text.as_bytes(), &*game, &game.start(), None, &Silent).unwrap();
        assert_eq!((read.games.len(), read.errors.len()), (1, 1));
        let (place, error) = &read.errors[0];
        assert_eq!(place.to_string(), "line 4, column 9");
        assert!(error.line().contains("illegal move 4 `a1`"), "{}", error.line());
    }
}
