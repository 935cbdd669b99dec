//! Positions and games: of a file, or as they come.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use super::context::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use yomikiri::error::Error;
use yomikiri::input;
use yomikiri::oracle::{LONGEST_LINE, SolvedTable};
use yomikiri::progress::Silent;
use yomikiri::rules::forms::{self, Form};
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri_measure::records::{Records, text_of_bytes};

/// Most bytes of positions.
const MOST: u64 = 1 << 30;

/// Reads a file of text, which is not large.
pub(super) fn text_of(path: &Path) -> Result<String, Error> {
    let text = File::open(path).and_then(input::text);
    text.map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Form of positions and games.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct FormOption {
    /// Form of the positions or games: lines, boards, ggf, sgf, pgn, kif, csa, wthor, fen or from-0 [default:
    /// recognised]
    ///
    /// fen: FEN of Fairy-Stockfish, in which w is the first player. from-0: columns numbered from 0.
    #[arg(long, value_name = "FORM", value_parser = form_parser(&Form::ALL), ignore_case = true,
        hide_short_help = true, hide_possible_values = true)]
    format: Option<Form>,
}

/// Returns the parser of the names of forms, of either case.
pub(super) fn form_parser(forms: &'static [Form]) -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(forms.iter().map(|form| form.name()))
        .map(|name| Form::of_name(&name).expect("a possible value"))
}

impl FormOption {
    /// Returns a text with the words that ask for its form.
    pub(super) fn asked(self, text: &str) -> Cow<'_, str> {
        forms::asked(text, self.format)
    }

    /// Reads a file whose game is looked for, without a word.
    pub(super) fn read_silently(self, file: &GameFile, game: &dyn Rules) -> Result<Records, Error> {
        Records::read(&file.bytes, game, &game.start(), self.format, &Silent)
    }

    /// Reads a file; `-` is stdin. Games begin in a root of the table, or at the start of the game, where they do not say.
    pub(super) fn read(
        self,
        file: &GameFile,
        game: &dyn Rules,
        table: Option<&SolvedTable>,
        context: &Context,
    ) -> Result<Records, Error> {
        let located = |error: Error| error.map(|what| format!("{}, {what}", file.name));
        let root = root_of(game, table)?;
        let records = Records::read(&file.bytes, game, &root, self.format, &context.bars);
        let records = records.map_err(located)?;
        if let Some(words) = records.words().filter(|_| records.errors.is_empty()) {
            context.remark(format!("{}: read as {words}", file.name));
        }
        let contradictions = records.contradictions(game);
        if let Some((place, words)) = contradictions.first() {
            let count = contradictions.len();
            let name = &file.name;
            context.remark(match count {
                1 => format!("{name}, {place}: the game ends otherwise than it records: {words}"),
                _ => format!("{name}: {count} games end otherwise than they record; the first at {place}: {words}"),
            });
        }
        Ok(records)
    }
}

/// Bytes of a file of positions or games.
pub(super) struct GameFile {
    /// Name for messages.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

impl GameFile {
    /// Returns the text, in any of the encodings of games.
    pub(super) fn text(&self) -> Result<String, Error> {
        let text = text_of_bytes(&self.bytes);
        let text = text.map_err(|wrong| wrong.map(|what| format!("{}: {what}", self.name)))?;
        Ok(text.into_owned())
    }

    /// Reads a file; `-` is stdin.
    pub(super) fn open(file: &Path) -> Result<GameFile, Error> {
        let (name, bytes) = match file.to_str() {
            Some("-") => ("stdin".to_string(), input::all(std::io::stdin(), MOST)),
            _ => (file.display().to_string(), input::file(file, MOST)),
        };
        match bytes {
            Ok(bytes) => Ok(GameFile { name, bytes }),
            Err(error) => Err(format!("cannot read {name}: {error}").into()),
        }
    }
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
