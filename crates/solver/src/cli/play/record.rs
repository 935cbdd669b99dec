//! Files of games: a line with the position that the game begins with and its moves, or the form of the extension.

use std::path::Path;

use super::super::context::Context;
use super::super::lines::{FormOption, GameFile};
use super::super::output;
use yomikiri::error::Error;
use yomikiri::rules::forms::Form;
use yomikiri::rules::{PlayedGame, Rules, write_game_file};

/// Writes a game to a file, which is whole at any time.
pub(super) fn write(
    played: &PlayedGame,
    file: &Path,
    game: &dyn Rules,
    players: [String; 2],
) -> Result<(), Error> {
    let extension = file.extension().map(|extension| extension.to_ascii_lowercase());
    let form = match extension.as_deref().and_then(|extension| extension.to_str()) {
        Some("ggf") => Form::Ggf,
        Some("sgf") => Form::Sgf,
        Some("kif" | "kifu") => Form::Kif,
        Some("csa") => Form::Csa,
        Some("pgn") => Form::Pgn,
        Some("wtb") => Form::Wthor,
        _ => Form::Lines,
    };
    let [first, second] = &players;
    let text = write_game_file(game, played, [first, second], form)?;
    output::write(file, text.as_bytes())
}

/// Reads a game from a file.
pub(super) fn read(file: &Path, game: &dyn Rules, context: &Context) -> Result<PlayedGame, Error> {
    let file = GameFile::open(file)?;
    let records = FormOption::default().read(&file, game, None, context)?;
    if let Some((place, error)) = records.errors.into_iter().next() {
        return Err(error.map(|what| format!("{}, {place}: {what}", file.name)));
    }
    let count = records.games.len();
    match records.games.into_iter().next() {
        Some(record) if count == 1 => Ok(record.played),
        Some(_) => Err(format!("{count} games in {}, expected one", file.name).into()),
        None => {
            let what = format!("no game in {}", file.name);
            Err(Error::new(what, "'save' in 'solver play' writes one"))
        }
    }
}
