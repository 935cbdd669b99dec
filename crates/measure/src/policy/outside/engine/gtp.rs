//! GTP: a program of Othello, which sets positions up by a command of its own.

use std::time::Instant;

use super::super::process::{Process, excerpt};
use super::spec::EngineSpec;
use super::{EngineAnswer, Listing, failed};
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Rules, Side};

/// An engine that speaks GTP.
#[derive(Debug)]
pub(super) struct GtpEngine {
    process: Process,
    spec: EngineSpec,
    name: String,
    /// Command that sets a position up, such as `grhino-setup_board`.
    setup: String,
    /// `true` if it answers without playing.
    has_reg_genmove: bool,
    has_set_game: bool,
}

impl GtpEngine {
    /// Starts an engine on the board of a game; fails if it does not play it or cannot set positions up.
    pub(super) fn start(spec: &EngineSpec, game: &dyn Rules) -> Result<GtpEngine, Error> {
        let process = super::start(spec)?;
        let mut engine = GtpEngine {
            process,
            spec: spec.clone(),
            name: String::new(),
            setup: String::new(),
            has_reg_genmove: false,
            has_set_game: false,
        };
        let name = engine.command("name")?.unwrap_or("engine".to_string());
        let version = engine.command("version")?.unwrap_or_default();
        engine.name = format!("{name} {version}").trim().to_string();
        let commands = engine.command("list_commands")?.unwrap_or_default();
        let commands: Vec<&str> = commands.split_whitespace().collect();
        engine.has_reg_genmove = commands.contains(&"reg_genmove");
        engine.has_set_game = commands.contains(&"set_game");
        let setup = commands.iter().find(|command| command.ends_with("setup_board"));
        engine.setup = setup.map(|command| command.to_string()).ok_or_else(|| {
            let what = format!("{} has no command that sets a position up", engine.name);
            Error::new(what, "expected one whose name ends in setup_board, as of gtp-rhino")
        })?;
        let (rows, _) = game.shape();
        if let Err(what) = engine.command(&format!("boardsize {rows}"))? {
            let what =
                format!("{} does not play on {rows}x{rows}: {}", engine.name, excerpt(&what));
            return Err(Error::from(what));
        }
        if engine.has_set_game && engine.command("set_game Othello")?.is_err() {
            return Err(Error::from(format!("{} does not play Othello", engine.name)));
        }
        engine.demand("clear_board")?;
        Ok(engine)
    }

    pub(super) fn title(&self) -> String {
        self.name.clone()
    }

    /// Sends a command; returns its answer, or the engine's error.
    fn command(&mut self, command: &str) -> Result<Result<String, String>, Error> {
        self.process.send(format!("{command}\n").into_bytes());
        let deadline = Instant::now() + self.spec.limit;
        let mut text = String::new();
        loop {
            let line = self.process.line(deadline.saturating_duration_since(Instant::now()))?;
            let line = String::from_utf8_lossy(&line).trim_end().to_string();
            if line.is_empty() && !text.is_empty() {
                break;
            }
            if !line.is_empty() {
                text += &line;
                text.push('\n');
            }
        }
        let answer = text.trim();
        match answer.strip_prefix('=') {
            Some(answer) => Ok(Ok(answer.trim().to_string())),
            None => Ok(Err(answer.strip_prefix('?').unwrap_or(answer).trim().to_string())),
        }
    }

    /// Sends a command that must not fail.
    fn demand(&mut self, command: &str) -> Result<String, Error> {
        let answer = self.command(command)?;
        answer.map_err(|what| {
            Error::from(format!("{} refuses `{command}`: {}", self.name, excerpt(&what)))
        })
    }

    fn set_up(&mut self, game: &dyn Rules, position: &AnyPosition) -> Result<(), Error> {
        let written = game.written(position);
        let obf = written.iter().find(|(name, _)| *name == "obf").map_or("", |(_, obf)| obf);
        let command = format!("{} {}", self.setup, obf.trim_end_matches(';'));
        self.demand(&command).map(drop)
    }

    /// Returns the moves that the engine accepts, each of which is taken back; passes are never sent. Every other square
    /// must be refused.
    pub(super) fn list(
        &mut self,
        game: &dyn Rules,
        position: &AnyPosition,
    ) -> Result<Option<Listing>, Error> {
        self.set_up(game, position)?;
        let (rows, columns) = game.shape();
        let mut moves = Vec::new();
        for at in 0..(rows * columns) as u16 {
            let name = game.action_name(position.side, Action(at));
            if self.command(&format!("play {} {name}", colour(position.side)))?.is_ok() {
                moves.push(name);
                self.demand("undo")?;
            }
        }
        if moves.is_empty() && game.must_pass(&position.state) {
            moves.push("pass".to_string());
        }
        Ok(Some(Listing { moves }))
    }

    pub(super) fn ask(
        &mut self,
        game: &dyn Rules,
        position: &AnyPosition,
    ) -> Result<EngineAnswer, Error> {
        self.set_up(game, position)?;
        let word = if self.has_reg_genmove { "reg_genmove" } else { "genmove" };
        let text = self.demand(&format!("{word} {}", colour(position.side)))?;
        Ok(EngineAnswer { text: text.to_ascii_lowercase(), value: None })
    }

    pub(super) fn name_of(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        action: Action,
    ) -> String {
        game.action_name(position.side, action)
    }
}

fn colour(side: Side) -> &'static str {
    if side == Side::First { "black" } else { "white" }
}

/// Returns whether a game is one that GTP engines play: Othello on a square board.
pub(super) fn check(game: &dyn Rules) -> Result<(), Error> {
    let (rows, columns) = game.shape();
    let is_othello = game.written(&game.start()).iter().any(|(name, _)| *name == "obf");
    if !is_othello || rows != columns {
        let what = format!("{} is not a game of GTP engines", game.name());
        return Err(failed(Error::new(what, "they play Othello on square boards")));
    }
    Ok(())
}
