//! Files of games.
//!
//! The file is text: remarks behind `#`, the position that the game begins with, and its moves, passes
//! among them. `solver query` and `solver export --positions` read the moves as they stand.

use std::path::Path;

use super::super::lines::text_of;
use super::super::output;
use yomikiri::error::Error;
use yomikiri::rules::{PlayedGame, Rules};

/// Writes a game to a file, which is whole at any time.
pub(super) fn write(
    played: &PlayedGame,
    file: &Path,
    game: &dyn Rules,
    players: [String; 2],
) -> Result<(), Error> {
    let [first, second] = players;
    let text = format!(
        "# {}: {first} against {second}\n{}\n{}\n",
        game.name(),
        game.notation(played.start()),
        played.transcript(game)
    );
    output::write(file, text.as_bytes())
}

/// Reads a game from a file.
pub(super) fn read(file: &Path, game: &dyn Rules) -> Result<PlayedGame, Error> {
    let name = file.display();
    let text = text_of(file)?;
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut lines = lines.filter(|line| !line.trim().is_empty());
    let wrong = |error: Error| error.map(|what| format!("{name}: {what}"));
    let Some(first) = lines.next() else {
        let what = format!("no game in {name}");
        return Err(Error::new(what, "'save' in 'solver play' writes one"));
    };
    let start = game.parse_position(first, &game.start()).map_err(wrong)?;
    let mut played = PlayedGame::new(start);
    let moves = lines.collect::<Vec<_>>().join(" ");
    if !moves.is_empty() {
        played.play_text(game, &moves).map_err(wrong)?;
    }
    Ok(played)
}
