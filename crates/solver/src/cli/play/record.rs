//! A game so far, and its file.
//!
//! The file is text: remarks behind `#`, the position that the game begins with, and its moves, passes
//! among them. `solver query` and `solver export --positions` read the moves as they stand.

use std::path::Path;

use anyhow::bail;

use super::super::lines::text_of;
use super::super::report::write_whole;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Action, Game, GameExt, NotationError};
use yomikiri::hint::Hinted;

/// A game so far.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub start: AnyPosition,
    /// Each move with the position before it.
    pub moves: Vec<(AnyPosition, Action)>,
    pub position: AnyPosition,
}

impl Record {
    /// A game that begins.
    pub(super) fn new(start: AnyPosition) -> Record {
        Record { start, moves: Vec::new(), position: start }
    }

    /// Makes a legal move.
    pub(super) fn play(&mut self, game: &AnyGame, action: Action) {
        self.moves.push((self.position, action));
        self.position = game.advance(&self.position, action);
    }

    /// Takes the last move back; returns false if there is none.
    pub(super) fn undo(&mut self) -> bool {
        let last = self.moves.pop();
        if let Some((before, _)) = last {
            self.position = before;
        }
        last.is_some()
    }

    /// Returns how often the position has occurred, now included.
    pub(super) fn times(&self) -> usize {
        1 + self.moves.iter().filter(|(before, _)| *before == self.position).count()
    }

    /// The moves in text.
    pub(super) fn transcript(&self, game: &AnyGame) -> String {
        let name =
            |(before, action): &(AnyPosition, Action)| game.action_name(before.side, *action);
        self.moves.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Plays moves given in text from where the game stands; nothing is played if one is wrong.
    pub(super) fn play_text(&mut self, game: &AnyGame, text: &str) -> Result<usize, NotationError> {
        let line = game.parse_line(text, &self.position)?;
        let is_played = line.first() == Some(&self.position) && line.len() > 1;
        let mut played = self.clone();
        for next in line.iter().skip(1) {
            let actions = game.actions(&played.position.state).into_iter();
            let mut leading =
                actions.filter(|&action| game.advance(&played.position, action) == *next);
            let Some(action) = leading.next() else { break };
            played.play(game, action);
        }
        if !is_played || played.position != line[line.len() - 1] {
            return Err(NotationError::new(format!("invalid move `{text}`")));
        }
        let count = played.moves.len() - self.moves.len();
        *self = played;
        Ok(count)
    }

    /// Writes the game to a file, which is whole at any time.
    pub(super) fn write(
        &self,
        file: &Path,
        game: &AnyGame,
        players: [String; 2],
    ) -> anyhow::Result<()> {
        let [first, second] = players;
        let text = format!(
            "# {}: {first} against {second}\n{}\n{}\n",
            game.name(),
            game.notation(&self.start),
            self.transcript(game)
        );
        write_whole(file, text.as_bytes())
    }

    /// Reads a game from a file.
    pub(super) fn read(file: &Path, game: &AnyGame) -> anyhow::Result<Record> {
        let name = file.display();
        let text = text_of(file)?;
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let mut lines = lines.filter(|line| !line.trim().is_empty());
        let wrong = |error: NotationError| error.map(|what| format!("{name}: {what}"));
        let Some(first) = lines.next() else {
            let what = format!("no game in {name}");
            bail!(Hinted::new(what, "'save' in 'solver play' writes one"));
        };
        let start = game.parse_position(first, &game.start()).map_err(wrong)?;
        let mut record = Record::new(start);
        let moves = lines.collect::<Vec<_>>().join(" ");
        if !moves.is_empty() {
            record.play_text(game, &moves).map_err(wrong)?;
        }
        Ok(record)
    }
}
