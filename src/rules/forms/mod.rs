//! Forms in which people keep games: how each divides a text into [`Sheet`]s, whose moves a game reads.
//!
//! A form is recognised by signs that no other has; a file has one form.

mod brackets;
mod csa;
mod kif;
mod pgn;
mod wthor;

use std::borrow::Cow;

use super::sheet::{Misread, Sheet};
use crate::error::Error;

/// Form of a text of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A position, a transcript, or a position with moves, in each line.
    Lines,
    /// Drawn boards over several lines, with a blank line between two.
    Drawn,
    /// Games of GGS and NBoard: `(;GM[Othello]…;)`.
    Ggf,
    /// Smart Game Format: `(;GM[2]…)`.
    Sgf,
    /// Portable Game Notation: tags in brackets, then numbered moves.
    Pgn,
    /// KIF, the usual form of shogi programs.
    Kif,
    /// CSA, the form of computer shogi.
    Csa,
    /// Base of games in binary, of Othello.
    Wthor,
    /// FEN of Fairy-Stockfish in each line: hands in brackets, and `w` for the first player.
    Fen,
    /// Columns from 0 in each line, in games whose moves are columns.
    FromZero,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 10] = [
        Form::Lines,
        Form::Drawn,
        Form::Ggf,
        Form::Sgf,
        Form::Pgn,
        Form::Kif,
        Form::Csa,
        Form::Wthor,
        Form::Fen,
        Form::FromZero,
    ];

    /// Returns the word that asks for the form.
    pub fn name(self) -> &'static str {
        match self {
            Form::Lines => "lines",
            Form::Drawn => "boards",
            Form::Ggf => "ggf",
            Form::Sgf => "sgf",
            Form::Pgn => "pgn",
            Form::Kif => "kif",
            Form::Csa => "csa",
            Form::Wthor => "wthor",
            Form::Fen => "fen",
            Form::FromZero => "from-0",
        }
    }

    /// Returns the form of a word, of either case.
    pub fn of_name(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name().eq_ignore_ascii_case(name))
    }

    /// Returns the form as a message names it.
    pub fn title(self) -> &'static str {
        match self {
            Form::Lines => "lines of positions and moves",
            Form::Drawn => "drawn boards",
            Form::Ggf => "GGF",
            Form::Sgf => "SGF",
            Form::Pgn => "PGN",
            Form::Kif => "KIF",
            Form::Csa => "CSA",
            Form::Wthor => "WTHOR",
            Form::Fen => "FEN",
            Form::FromZero => "lines of columns from 0",
        }
    }

    /// Adds the form to an error in one that is not a line.
    pub fn named(self, error: Error) -> Error {
        match self {
            Form::Lines | Form::Drawn => error,
            _ => error.map(|what| format!("{what}, read as {}", self.title())),
        }
    }

    /// Returns `true` for forms that have a game or a position in each line.
    fn is_by_line(self) -> bool {
        matches!(self, Form::Lines | Form::Fen | Form::FromZero)
    }

    /// Returns the form that a line has the sign of, if it is not a line of positions and moves.
    fn of_line(line: &str) -> Option<Form> {
        if brackets::is_begin(line) {
            let is_ggf = line.to_ascii_lowercase().contains("gm[othello]");
            return Some(if is_ggf { Form::Ggf } else { Form::Sgf });
        }
        match line {
            _ if pgn::is_tag(line) => Some(Form::Pgn),
            _ if kif::is_sign(line) => Some(Form::Kif),
            _ if csa::is_sign(line) => Some(Form::Csa),
            _ => None,
        }
    }
}

/// Returns a text without its byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Returns a line without its remark, which begins with `#` or `%`: no notation contains either.
pub fn without_remark(line: &str) -> &str {
    line.split(['%', '#']).next().unwrap_or_default().trim()
}

/// Returns the form of a text by its signs.
pub fn recognise(text: &str) -> Form {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines().find_map(Form::of_line) {
        Some(form) => form,
        None if lines().next().is_some_and(is_drawing) => Form::Drawn,
        None => Form::Lines,
    }
}

/// Returns `true` for the first line of a drawn board: names of columns, a frame, or who is to move.
fn is_drawing(line: &str) -> bool {
    let line = line.trim_matches(['|', '+', ' ']);
    let names = |first: char| {
        let cells = line.split_whitespace();
        cells.clone().count() > 2
            && cells.zip(first..).all(|(cell, name)| {
                cell.len() == 1 && cell.starts_with([name, name.to_ascii_uppercase()])
            })
    };
    let is_frame =
        line.len() > 2 && line.chars().all(|c| "-+=| ".contains(c)) && line.contains("--");
    let is_named = line.ends_with("to play:") || line == "Terminal State:";
    names('a') || names('1') || is_frame && line.len() < 40 || is_named
}

/// Divides a text into games and positions.
pub fn sheets(text: &str, form: Form) -> Result<Vec<Sheet<'_>>, Misread> {
    if let Some((at, other)) = other_form(text, form) {
        let what = format!("{} begins here, in a text of {}", other.title(), form.title());
        return Err(Misread::new(at, Error::new(what, "give each form a file of its own")));
    }
    match form {
        Form::Lines | Form::Fen | Form::FromZero => Ok(by_line(text, form)),
        Form::Drawn => Ok(by_blank_line(text)),
        Form::Ggf | Form::Sgf => brackets::read(text, form),
        Form::Pgn => Ok(pgn::read(text)),
        Form::Kif => kif::read(text),
        Form::Csa => csa::read(text),
        Form::Wthor => Err(Misread::new(0, "WTHOR is a binary form: give the file")),
    }
}

/// Returns the first line that has the sign of another form, and that form.
fn other_form(text: &str, form: Form) -> Option<(usize, Form)> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let begin = at;
        at += line.len();
        let other = Form::of_line(line.trim()).filter(|other| *other != form)?;
        // A comment of one form may look like another.
        let is_inside =
            matches!((form, other), (Form::Ggf | Form::Sgf | Form::Pgn, Form::Kif | Form::Csa));
        (!is_inside).then_some((begin, other))
    })
}

/// Returns the number of games of a WTHOR base; fails for other bytes and other boards than 8×8.
pub fn wthor_games(bytes: &[u8]) -> Result<usize, Error> {
    wthor::games(bytes)
}

/// Returns a game of a WTHOR base, of which there are [`wthor_games`].
pub fn wthor_sheet(bytes: &[u8], index: usize) -> Sheet<'static> {
    wthor::sheet(bytes, index)
}

/// Returns the number of the game of a WTHOR base at a byte, from 1.
pub fn wthor_game(at: usize) -> usize {
    wthor::game_at(at)
}

/// Returns `true` for the bytes of a WTHOR base.
pub fn is_wthor(bytes: &[u8]) -> bool {
    wthor::is_base(bytes)
}

/// Returns a line with the words before it that ask a game for its form.
pub fn asked(line: &str, form: Option<Form>) -> Cow<'_, str> {
    match form {
        Some(Form::Fen) => Cow::Owned(format!("fen {line}")),
        Some(Form::FromZero) => Cow::Owned(format!("from 0: {line}")),
        _ => Cow::Borrowed(line),
    }
}

fn by_line(text: &str, form: Form) -> Vec<Sheet<'_>> {
    let begin = text.as_ptr() as usize;
    let lines = text.lines().map(without_remark).filter(|line| !line.is_empty());
    let at = |line: &str| line.as_ptr() as usize - begin;
    let sheet = |line| Sheet { at: at(line), text: asked(line, Some(form)), ..Sheet::default() };
    lines.map(sheet).collect()
}

fn by_blank_line(text: &str) -> Vec<Sheet<'_>> {
    let (mut sheets, mut begin, mut end) = (Vec::new(), None, 0);
    let mut at = 0;
    for line in text.split_inclusive('\n').chain(["\n"]) {
        if line.trim().is_empty() {
            if let Some(begin) = begin.take() {
                sheets.push(Sheet::line(&text[begin..end], begin));
            }
        } else {
            begin = begin.or(Some(at));
            end = at + line.len();
        }
        at += line.len();
    }
    sheets
}

/// Reads a text of one game or position: a line, a drawn board, or a game in another form.
pub(super) fn one_game(text: &str) -> Result<(Form, Sheet<'_>), Error> {
    let text = without_mark(text);
    let form = recognise(text);
    if form.is_by_line() || form == Form::Drawn {
        return Ok((form, Sheet::line(text, 0)));
    }
    let mut sheets = sheets(text, form).map_err(|misread| form.named(misread.error))?;
    match sheets.len() {
        1 => Ok((form, sheets.swap_remove(0))),
        count => {
            let what = format!("{count} games of {}, expected one", form.title());
            Err(Error::new(what, "measure a file of games with --positions FILE"))
        }
    }
}
