//! USI: boards of the shogi family.
//!
//! Values are `score mate` where a table or a search proves them, `score cp 0` for a proven draw, and `score cp` in hundredths
//! of a pawn for an estimate; an `info string` says which it is.

use std::fmt::Write;
use std::io;
use std::time::Duration;

use super::clock::{self, Clock, MOVES};
use super::console::{Desk, Flow, Protocol, Urge};
use super::thinking::{By, Line, Question, Thought, Worth};
use super::{LEVEL_PLIES, Level, Settings};
use yomikiri::error::Error;
use yomikiri::rules::perft::Finished;
use yomikiri::rules::{Action, AnyPosition, Outcome, PlayedGame, Rules, Sheet, Side};
use yomikiri::search::mates::MateVerdict;

/// Names of the games by which other engines know them.
const VARIANTS: [(&str, &str); 2] = [("minishogi", "minishogi"), ("dobutsu", "animal-shogi")];
/// Most lines that a board may ask for.
const MOST_LINES: usize = 500;
/// Most memory that a board may ask for, in mebibytes.
const MOST_MEBIBYTES: u64 = 1 << 20;
/// Most threads that a board may ask for.
const MOST_THREADS: usize = 1024;
/// Most plies of `go perft`.
const MOST_PERFT: u32 = 12;

pub(super) struct Usi {
    /// Game so far; `None` after a position that could not be read.
    played: Option<PlayedGame>,
    lines: usize,
    /// Source that was printed last.
    told: Option<By>,
    /// Lines that were printed last.
    shown: Vec<Line>,
    is_mate: bool,
}

impl Usi {
    pub(super) fn new(settings: &Settings) -> Usi {
        let played = Some(PlayedGame::new(settings.game.start()));
        Usi { played, lines: 1, told: None, shown: Vec::new(), is_mate: false }
    }

    fn hello(desk: &mut Desk<'_>) -> io::Result<()> {
        let Settings { memory, threads, level, ref table, .. } = desk.settings;
        let name = desk.game().name();
        let variant = VARIANTS.iter().find(|(_, game)| *game == name).map(|(variant, _)| *variant);
        let table = table.as_deref().unwrap_or("<empty>").to_string();
        desk.say(format!("id name yomikiri {}", env!("CARGO_PKG_VERSION")))?;
        desk.say("id author the yomikiri developers")?;
        let hash = memory >> 20;
        desk.say(format!(
            "option name USI_Hash type spin default {hash} min 1 max {MOST_MEBIBYTES}"
        ))?;
        desk.say(format!(
            "option name Threads type spin default {threads} min 1 max {MOST_THREADS}"
        ))?;
        desk.say(format!("option name MultiPV type spin default 1 min 1 max {MOST_LINES}"))?;
        let levels: String = (1..=LEVEL_PLIES.len())
            .fold(String::new(), |levels, level| levels + &format!(" var {level}"));
        desk.say(format!("option name Level type combo default {level} var perfect{levels}"))?;
        desk.say(format!("option name Table type string default {table}"))?;
        if let Some(variant) = variant {
            let known = VARIANTS.map(|(variant, _)| format!(" var {variant}")).concat();
            desk.say(format!("option name USI_Variant type combo default {variant}{known}"))?;
        }
        desk.say("usiok")
    }

    /// Sets an option: `name NAME value VALUE`.
    fn set(&mut self, rest: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        let named = rest.trim().strip_prefix("name ").map(str::trim);
        let (name, value) = match named.and_then(|rest| rest.split_once(" value")) {
            Some((name, value)) if value.is_empty() || value.starts_with(' ') => {
                (name.trim(), value.trim())
            }
            _ => return Err(Error::from("expected setoption name NAME value VALUE")),
        };
        let number = |least: u64, most: u64| {
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| {
                Error::from(format!("{name}: expected {least} to {most}, found {value}"))
            })
        };
        match &*name.to_ascii_lowercase() {
            "usi_hash" | "hash" => {
                let mebibytes = number(1, MOST_MEBIBYTES)?;
                desk.change(|settings| settings.memory = mebibytes << 20);
            }
            "threads" => {
                let threads = number(1, MOST_THREADS as u64)? as usize;
                desk.change(|settings| settings.threads = threads);
            }
            "multipv" | "usi_multipv" => self.lines = number(1, MOST_LINES as u64)? as usize,
            "level" => {
                let level: Level = value.parse().map_err(|what| format!("Level: {what}"))?;
                desk.change(|settings| settings.level = level);
            }
            "table" => {
                let table =
                    Some(value.to_string()).filter(|name| !["", "<empty>"].contains(&&**name));
                let before = desk.settings.table.clone();
                desk.change(|settings| settings.table = table);
                if let Err(wrong) = desk.engine() {
                    desk.change(|settings| settings.table = before);
                    return Err(wrong);
                }
            }
            "usi_variant" | "uci_variant" => {
                let game = VARIANTS.iter().find(|(variant, _)| *variant == value);
                let (_, game) = game.ok_or_else(|| format!("no variant {value}"))?;
                let game = desk.game_named(game)?;
                self.played = Some(PlayedGame::new(game.start()));
                desk.change(|settings| settings.game = game);
            }
            // Boards set it for every engine; there is nothing to do while the other side thinks.
            "usi_ponder" => {}
            _ => return Err(Error::from(format!("no option {name}"))),
        }
        Ok(())
    }

    /// Reads `startpos` or `sfen SFEN`, and the moves after it.
    fn set_up(&mut self, rest: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        self.played = None;
        // Tables are opened before the clock runs.
        desk.engine()?;
        let game = desk.game();
        let (position, moves) = match rest.split_once("moves") {
            Some((position, moves)) => (position.trim(), moves.trim()),
            None => (rest.trim(), ""),
        };
        let start = match position.split_once(char::is_whitespace) {
            None if position == "startpos" => game.start(),
            Some(("sfen", sfen)) => game.parse_position(sfen.trim(), &game.start())?,
            _ => return Err(Error::from("expected position startpos, or position sfen SFEN")),
        };
        let mut played = PlayedGame::new(start);
        if !moves.is_empty() {
            // A board may go on where a repetition has ended the game by our rules.
            let line = PlayedGame::of_sheet(game, &Sheet::line(moves, 0), &start);
            (played, _) = line.map_err(|misread| misread.error)?;
            if *played.start() != start {
                return Err(Error::from("expected moves behind `moves`"));
            }
        }
        self.played = Some(played);
        Ok(())
    }

    fn go(&mut self, rest: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        if desk.is_thinking() {
            return Err(Error::from("still thinking: expected stop"));
        }
        let played = self.played.as_ref().ok_or("no position: the last one could not be read")?;
        let side = played.position().side;
        let mut question = Question::of_move(played, None);
        question.moves = self.lines;
        let (mut clock, mut is_limited) = (Clock::default(), false);
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64, Error> {
                let word = words.next().unwrap_or_default();
                word.parse().map_err(|_| Error::from(format!("expected a number, found `{word}`")))
            };
            let own = |word: &str| word.starts_with(if side == Side::First { 'b' } else { 'w' });
            match word {
                "infinite" | "ponder" => question.holds = true,
                "movetime" => {
                    question.time = Some(clock::within(Duration::from_millis(number()?)));
                }
                "nodes" => question.nodes = Some(number()?),
                "depth" => question.plies = Some(number()?.clamp(1, 1000) as u32),
                "mate" => {
                    question.mates = true;
                    question.time = match words.next() {
                        Some("infinite") => None,
                        Some(limit) => {
                            let limit = limit
                                .parse()
                                .map_err(|_| format!("expected milliseconds, found `{limit}`"));
                            Some(clock::within(Duration::from_millis(limit?)))
                        }
                        None => None,
                    };
                }
                "btime" | "wtime" | "binc" | "winc" => {
                    let time = Duration::from_millis(number()?);
                    let slot =
                        if word.ends_with("time") { &mut clock.left } else { &mut clock.increment };
                    if own(word) {
                        (*slot, is_limited) = (time, true);
                    }
                }
                "byoyomi" => {
                    (clock.byoyomi, is_limited) = (Duration::from_millis(number()?), true);
                }
                "movestogo" => clock.moves = Some(number()?.clamp(1, 10_000) as u32),
                _ => return Err(Error::from(format!("go: no limit `{word}`"))),
            }
        }
        if question.time.is_none() && is_limited && !question.holds {
            question.time = Some(clock.for_a_move(MOVES));
        }
        let is_open =
            question.time.is_none() && question.nodes.is_none() && question.plies.is_none();
        if is_open && !question.holds && !question.mates {
            question.time = Some(desk.settings.time);
        }
        (self.told, self.is_mate) = (None, question.mates);
        self.shown.clear();
        desk.think(question)
    }

    /// Counts the lines of so many plies, by first moves.
    fn perft(&self, rest: &str, desk: &mut Desk<'_>) -> io::Result<()> {
        let plies = rest.trim().parse().ok().filter(|plies| (1..=MOST_PERFT).contains(plies));
        let Some((plies, played)) = plies.zip(self.played.as_ref()) else {
            return error(format!("go perft: expected 1 to {MOST_PERFT} plies"), desk);
        };
        let (mut lines, mut all) = (Vec::new(), 0);
        let (game, position) = (desk.game(), *played.position());
        for action in game.actions(&position.state) {
            let after = game.advance(&position, action).state;
            let count =
                if plies == 1 { 1 } else { game.perft(&after, plies - 1, Finished::Dropped) };
            all += count;
            lines.push(format!("{}: {count}", game.action_name(position.side, action)));
        }
        lines.into_iter().try_for_each(|line| desk.say(line))?;
        desk.say(format!("\nNodes searched: {all}"))
    }

    fn show_board(&self, desk: &mut Desk<'_>) -> io::Result<()> {
        let Some(played) = &self.played else { return error("no position", desk) };
        let board = desk.game().diagram(played.position());
        let sfen = sfen(desk.game(), played.position());
        desk.say(format!("{}\nSfen: {sfen}", board.trim_end()))
    }
}

impl Protocol for Usi {
    /// A script that sends its next question early gets both answers.
    fn waits(&self, line: &str, holds: bool) -> bool {
        let word = line.split_whitespace().next().unwrap_or_default();
        !holds && ["position", "setoption", "go", "usinewgame"].contains(&word)
    }

    fn urges(&self, line: &str) -> Option<Urge> {
        ["stop", "quit", "ponderhit"].contains(&line.trim()).then_some(Urge::Answer)
    }

    fn read(&mut self, line: &str, desk: &mut Desk<'_>) -> io::Result<Flow> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = match word {
            "" | "usinewgame" | "gameover" => Ok(()),
            "usi" => return Usi::hello(desk).map(|()| Flow::Continue),
            "isready" => {
                if let Err(what) = desk.engine() {
                    error(what.line(), desk)?;
                }
                return desk.say("readyok").map(|()| Flow::Continue);
            }
            "setoption" if desk.is_thinking() => Err(Error::from("setoption: still thinking")),
            "setoption" => self.set(rest, desk),
            "position" if desk.is_thinking() => Err(Error::from("position: still thinking")),
            "position" => self.set_up(rest, desk),
            "go" => match rest.trim().strip_prefix("perft") {
                Some(plies) if !desk.is_thinking() => {
                    return self.perft(plies, desk).map(|()| Flow::Continue);
                }
                _ => self.go(rest, desk),
            },
            "stop" | "ponderhit" => {
                desk.hurry();
                Ok(())
            }
            "d" => return self.show_board(desk).map(|()| Flow::Continue),
            "quit" => return Ok(Flow::Quit),
            _ => Err(Error::from(format!("unknown command `{word}`"))),
        };
        match done {
            Ok(()) => Ok(Flow::Continue),
            Err(what) => error(what.line(), desk).map(|()| Flow::Continue),
        }
    }

    fn show(&mut self, thought: &Thought, desk: &mut Desk<'_>) -> io::Result<()> {
        let Some(played) = self.played.as_ref().filter(|_| !self.is_mate) else { return Ok(()) };
        let position = *played.position();
        if self.told.as_ref() != Some(&thought.by) {
            desk.say(format!("info string {}", source(&thought.by)))?;
            self.told = Some(thought.by.clone());
        }
        // A table reports its values before the lines that follow from them, which may be no longer.
        if self.shown == thought.lines {
            return Ok(());
        }
        self.shown.clone_from(&thought.lines);
        let milliseconds = thought.time.as_millis();
        let speed = thought.nodes as f64 / thought.time.as_secs_f64().max(1e-3);
        for (at, line) in thought.lines.iter().enumerate() {
            let depth = match thought.by {
                By::Estimate => thought.plies as usize,
                _ => line.moves.len(),
            };
            let mut text = format!("info depth {depth}");
            if self.lines > 1 {
                write!(text, " multipv {}", at + 1).unwrap_or_default();
            }
            let score = score(line.worth);
            let line = names(desk.game(), &position, line);
            let nodes = thought.nodes;
            desk.say(format!(
                "{text} score {score} time {milliseconds} nodes {nodes} nps {speed:.0} pv {line}"
            ))?;
        }
        Ok(())
    }

    fn answer(
        &mut self,
        known: Result<Option<Thought>, Error>,
        desk: &mut Desk<'_>,
    ) -> io::Result<()> {
        let known = match known {
            Ok(known) => known,
            Err(what) => {
                error(what.line(), desk)?;
                None
            }
        };
        let Some(played) = &self.played else { return Ok(()) };
        let (game, position) = (desk.game(), *played.position());
        if self.is_mate {
            let mate = known.and_then(|known| known.mate);
            let answer = match mate.as_ref().map(|mate| (&mate.verdict, &mate.line)) {
                Some((MateVerdict::Mate { .. }, line)) if line.missing_plies == 0 => {
                    names_of(game, &position, &line.actions)
                }
                Some((MateVerdict::NoMate, _)) => "nomate".to_string(),
                _ => "timeout".to_string(),
            };
            return desk.say(format!("checkmate {answer}"));
        }
        // Without any thought in time, the first move is as good as another.
        let any = || game.actions(&position.state).first().copied();
        let action = known.as_ref().and_then(Thought::action).or_else(any);
        let answer = match action {
            Some(action) => game.action_name(position.side, action),
            // The lion can be taken, or has come through.
            None if game.result(&position.state) == Some(Outcome::Win) => "win".to_string(),
            None => "resign".to_string(),
        };
        desk.say(format!("bestmove {answer}"))
    }
}

fn error(what: impl std::fmt::Display, desk: &mut Desk<'_>) -> io::Result<()> {
    desk.say(format!("info string error: {what}"))
}

/// Returns in words by what the values are known.
fn source(by: &By) -> String {
    match by {
        By::Table(name) => format!("exact, by table {name}"),
        By::Stored => "exact, by the stored solution".to_string(),
        By::Search => "exact, by search".to_string(),
        By::Estimate => "estimate".to_string(),
    }
}

fn score(worth: Worth) -> String {
    let mate = |outcome: Outcome, plies: Option<u32>| {
        let sign = if outcome == Outcome::Win { "" } else { "-" };
        match plies {
            Some(plies) => format!("mate {sign}{plies}"),
            None => format!("mate {}", if sign.is_empty() { "+" } else { "-" }),
        }
    };
    match worth {
        Worth::Proven(value) => match value.outcome() {
            None | Some(Outcome::Draw) => "cp 0".to_string(),
            Some(outcome) => mate(outcome, value.distance().map(u32::from)),
        },
        Worth::Estimated(worth) => match (worth.hundredths(), worth.forced()) {
            (None, Some((outcome, plies))) => mate(outcome, Some(plies)),
            (hundredths, _) => format!("cp {}", hundredths.unwrap_or(0)),
        },
    }
}

fn names(game: &dyn Rules, position: &AnyPosition, line: &Line) -> String {
    names_of(game, position, &line.moves)
}

fn names_of(game: &dyn Rules, position: &AnyPosition, moves: &[Action]) -> String {
    let sides = [position.side, position.side.other()].into_iter().cycle();
    let names = moves.iter().zip(sides).map(|(&action, side)| game.action_name(side, action));
    names.collect::<Vec<_>>().join(" ")
}

fn sfen(game: &dyn Rules, position: &AnyPosition) -> String {
    let written = game.written(position);
    written.into_iter().find(|(name, _)| *name == "sfen").map_or(String::new(), |(_, sfen)| sfen)
}
