//! NBoard's protocol: Othello on square boards, with hints.
//!
//! The depth of a hint says how it is known: `100%` for an exact score, `100%W` for an exact outcome, plies for an estimate.

use std::io;
use std::time::Instant;

use super::console::{Desk, Flow, Protocol, Urge};
use super::thinking::{Line, Question, Thought, Worth};
use super::{Level, Settings, clock};
use yomikiri::error::Error;
use yomikiri::rules::forms::{Form, sheets};
use yomikiri::rules::{AnyPosition, Outcome, PlayedGame, Rules};

pub(super) struct NBoard {
    /// Game so far; `None` after one that could not be read.
    played: Option<PlayedGame>,
    /// Most plies of estimates.
    depth: Option<u32>,
    /// `true` while the question is a move, and not a hint.
    is_go: bool,
    began: Instant,
}

impl NBoard {
    pub(super) fn new(settings: &Settings) -> NBoard {
        let played = Some(PlayedGame::new(settings.game.start()));
        NBoard { played, depth: None, is_go: false, began: Instant::now() }
    }

    fn set_game(&mut self, ggf: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        self.played = None;
        let size = ggf.split_once("BO[").map(|(_, rest)| rest.trim_start());
        let size = size.map_or("", |rest| {
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
        });
        let side: usize = size.parse().unwrap_or(8);
        if desk.game().shape() != (side, side) || !desk.game().name().starts_with("othello-") {
            let game = desk.game_named(&format!("othello-{side}x{side}"))?;
            desk.change(|settings| settings.game = game);
        }
        // Tables are opened before the clock runs.
        desk.engine()?;
        let game = desk.game();
        let sheets = sheets(ggf, Form::Ggf).map_err(|misread| misread.error)?;
        let sheet = sheets.first().ok_or("expected a game in GGF")?;
        let (played, _) =
            PlayedGame::of_sheet(game, sheet, &game.start()).map_err(|misread| misread.error)?;
        self.played = Some(played);
        Ok(())
    }

    /// Plays `F5`, `F5/1.5` or `F5/1.5/20`.
    fn play(&mut self, text: &str, desk: &Desk<'_>) -> Result<(), Error> {
        let played = self.played.as_mut().ok_or_else(no_game)?;
        let name = text.split('/').next().unwrap_or_default().trim().to_ascii_lowercase();
        let name = if name == "pa" { "pass" } else { &name };
        played.play_text(desk.game(), name)
    }

    fn think(&mut self, hints: Option<usize>, desk: &mut Desk<'_>) -> Result<(), Error> {
        let played = self.played.as_ref().ok_or_else(no_game)?;
        let time = Some(clock::within(desk.settings.time));
        let question = match hints {
            Some(moves) => Question { moves, ..Question::of_values(played, time) },
            None => Question::of_move(played, time),
        };
        (self.is_go, self.began) = (hints.is_none(), Instant::now());
        desk.think(Question { plies: self.depth, ..question })
    }

    fn act(&mut self, word: &str, rest: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match (word, first) {
            ("set", "game") => self.set_game(second, desk),
            ("set", "depth") => {
                let depth = second.trim().parse().map_err(|_| "expected set depth N")?;
                self.depth = Some(depth);
                Ok(())
            }
            ("move", _) => self.play(rest, desk),
            ("hint", _) => {
                let moves: usize = rest.trim().parse().map_err(|_| "expected hint N")?;
                self.think(Some(moves.max(1)), desk)
            }
            ("go", _) => self.think(None, desk),
            // A command that is not known is passed over, as the protocol asks.
            _ if !is_move(word) => Ok(()),
            _ => self.play(word, desk),
        }
    }
}

fn no_game() -> Error {
    Error::from("no game: the last one could not be read")
}

/// Returns whether a line is a move without the word before it, as version 1 of the protocol has it.
fn is_move(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_square = bytes.len() == 2 && bytes[0].is_ascii_alphabetic() && bytes[1].is_ascii_digit();
    is_square || word.eq_ignore_ascii_case("pa")
}

impl Protocol for NBoard {
    fn waits(&self, line: &str, _holds: bool) -> bool {
        self.urges(line).is_none()
    }

    /// The position is about to change.
    fn urges(&self, line: &str) -> Option<Urge> {
        let word = line.split_whitespace().next().unwrap_or_default();
        let ends = ["ping", "quit", "move"].contains(&word) || line.trim().starts_with("set game");
        (ends || is_move(word)).then_some(Urge::Discard)
    }

    fn read(&mut self, line: &str, desk: &mut Desk<'_>) -> io::Result<Flow> {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let done = match word {
            "nboard" => {
                let name = match desk.settings.level {
                    Level::Perfect => "yomikiri".to_string(),
                    level => format!("yomikiri level {level}"),
                };
                desk.say(format!("set myname {name}"))?;
                desk.engine().map(drop)
            }
            "ping" => return desk.say(format!("pong {rest}")).map(|()| Flow::Continue),
            "learn" => return desk.say("learned").map(|()| Flow::Continue),
            "quit" => return Ok(Flow::Quit),
            _ => self.act(word, rest, desk),
        };
        match done {
            Ok(()) if desk.is_thinking() => desk.say("status yomikiri is thinking")?,
            Ok(()) => {}
            Err(error) => desk.say(format!("status error: {}", error.line()))?,
        }
        Ok(Flow::Continue)
    }

    fn show(&mut self, thought: &Thought, desk: &mut Desk<'_>) -> io::Result<()> {
        let Some(played) = &self.played else { return Ok(()) };
        let position = *played.position();
        for line in &thought.lines {
            let (eval, depth) = (eval(line.worth), depth(line.worth, thought.plies));
            let text = format!("search {} {eval} 0 {depth}", names(desk.game(), &position, line));
            desk.say(text)?;
        }
        let (nodes, seconds) = (thought.nodes, thought.time.as_secs_f64());
        desk.say(format!("nodestats {nodes} {seconds:.2}"))
    }

    fn answer(
        &mut self,
        known: Result<Option<Thought>, Error>,
        desk: &mut Desk<'_>,
    ) -> io::Result<()> {
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                desk.say(format!("status error: {}", error.line()))?;
                None
            }
        };
        if let Some(played) = self.played.as_ref().filter(|_| self.is_go) {
            let (game, position) = (desk.game(), *played.position());
            let any = || game.actions(&position.state).first().copied();
            if let Some(action) = known.as_ref().and_then(Thought::action).or_else(any) {
                let name = square(game, &position, action);
                let eval = known.as_ref().and_then(Thought::line).map(|line| eval(line.worth));
                let eval = eval.unwrap_or_default();
                let seconds = self.began.elapsed().as_secs_f64();
                desk.say(format!("=== {name}/{eval}/{seconds:.2}"))?;
            }
        }
        desk.say("status")
    }
}

/// Returns the discs that the mover wins by.
fn eval(worth: Worth) -> String {
    let hundredths = match worth {
        Worth::Proven(value) => match value.outcome() {
            Some(Outcome::Win) => 100 * i32::from(value.lower.score().0),
            Some(Outcome::Loss) => 100 * i32::from(value.upper.score().0),
            _ => 0,
        },
        Worth::Estimated(worth) => worth.hundredths().unwrap_or(0),
    };
    format!("{:.2}", f64::from(hundredths) / 100.0)
}

fn depth(worth: Worth, plies: u32) -> String {
    match (worth, plies) {
        (Worth::Proven(value), _) if value.score().is_some() => "100%".to_string(),
        (Worth::Proven(_), _) => "100%W".to_string(),
        (Worth::Estimated(_), plies) => plies.to_string(),
    }
}

fn square(game: &dyn Rules, position: &AnyPosition, action: yomikiri::rules::Action) -> String {
    match game.is_pass(action) {
        true => "PA".to_string(),
        false => game.action_name(position.side, action).to_ascii_uppercase(),
    }
}

fn names(game: &dyn Rules, position: &AnyPosition, line: &Line) -> String {
    line.moves.iter().map(|&action| square(game, position, action)).collect()
}
