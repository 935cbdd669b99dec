//! GTP 2: Othello on square boards, and any other game whose moves a controller passes on.
//!
//! A controller asks `genmove` for moves; the values of all moves are those of `values`, which `--analyze` offers. Vertices are
//! the game's own names: a1 at the top left in Othello, columns in Connect Four.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::time::{Duration, Instant};

use super::Settings;
use super::clock::{self, Clock, MOVES};
use super::console::{Desk, Flow, Protocol, Urge};
use super::thinking::{By, Question, Thought, Worth};
use yomikiri::error::Error;
use yomikiri::oracle::empty_squares;
use yomikiri::rules::{AnyPosition, Empties, Outcome, PlayedGame, Rules, Side};

const COMMANDS: [&str; 22] = [
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "query_boardsize",
    "clear_board",
    "komi",
    "set_game",
    "list_games",
    "play",
    "genmove",
    "reg_genmove",
    "undo",
    "showboard",
    "final_score",
    "time_settings",
    "time_left",
    "yomikiri-setup_board",
    "yomikiri-source",
];
/// Commands that `--analyze` adds.
const OF_ANALYSIS: [&str; 2] = ["values", "gogui-analyze_commands"];

/// Command that a thought answers.
enum Asked {
    /// `genmove`, which plays the move too, or `reg_genmove`.
    Move {
        plays: bool,
    },
    Values,
}

pub(super) struct Gtp {
    played: PlayedGame,
    /// Plies of the passes that were added where a controller leaves them out.
    added: Vec<usize>,
    /// Passes since the end of the game, which are no moves.
    over: usize,
    /// Time settings, if any were made.
    settings: Option<Clock>,
    /// Time left to each player.
    clocks: BTreeMap<Side, Clock>,
    /// Question that is thought about, the number of its command, and when it was asked.
    asked: Option<(Asked, String, Instant)>,
    /// Source of the last answer.
    source: String,
    analyze: bool,
}

/// Answer of a command: a text, or an error's.
type Answer = Result<String, Error>;

impl Gtp {
    pub(super) fn new(settings: &Settings) -> Gtp {
        Gtp {
            played: PlayedGame::new(settings.game.start()),
            added: Vec::new(),
            over: 0,
            settings: None,
            clocks: BTreeMap::new(),
            asked: None,
            source: "nothing was asked yet".to_string(),
            analyze: settings.analyze,
        }
    }

    fn commands(&self) -> impl Iterator<Item = &'static str> {
        let more: &[&str] = if self.analyze { &OF_ANALYSIS } else { &[] };
        COMMANDS.iter().chain(more).copied()
    }

    /// Answers a command; `None` if the answer takes thought.
    fn command(
        &mut self,
        number: &str,
        word: &str,
        rest: &[&str],
        desk: &mut Desk<'_>,
    ) -> Result<Option<String>, Error> {
        let nothing = Ok(Some(String::new()));
        match (word, rest) {
            ("protocol_version", []) => Ok(Some("2".to_string())),
            ("name", []) => Ok(Some("yomikiri".to_string())),
            ("version", []) => Ok(Some(env!("CARGO_PKG_VERSION").to_string())),
            ("known_command", [name]) => Ok(Some(self.commands().any(|known| known == *name).to_string())),
            ("list_commands", []) => Ok(Some(self.commands().collect::<Vec<_>>().join("\n"))),
            ("quit", []) => nothing,
            ("boardsize", [size]) => {
                self.resize(size, desk)?;
                nothing
            }
            ("query_boardsize", []) => Ok(Some(desk.game().shape().0.to_string())),
            ("clear_board", []) => {
                self.begin(desk);
                nothing
            }
            // There is none, but controllers of Go set it.
            ("komi", [_]) => nothing,
            ("set_game", [_, ..]) => {
                self.choose_game(&rest.join(" "), desk)?;
                nothing
            }
            ("list_games", []) => Ok(Some("Othello\nConnect Four".to_string())),
            ("play", [colour, at]) if self.is_over(desk.game()) && at.eq_ignore_ascii_case("pass") => {
                side(colour)?;
                self.over += 1;
                nothing
            }
            ("play", [colour, at @ ..]) if !at.is_empty() => {
                self.turn_to(side(colour)?, desk.game())?;
                self.play(&at.join(" "), desk.game())?;
                nothing
            }
            ("genmove", [colour]) => self.ask_move(side(colour)?, true, number, desk),
            ("reg_genmove", [colour]) => self.ask_move(side(colour)?, false, number, desk),
            ("undo", []) if self.over > 0 => {
                self.over -= 1;
                nothing
            }
            ("undo", []) => match self.played.undo() {
                Some(_) => {
                    // Passes that were added are taken back with the move after them.
                    while self.added.last().is_some_and(|added| added + 1 == self.played.moves().len())
                    {
                        self.added.pop();
                        self.played.undo();
                    }
                    nothing
                }
                None => Err(Error::from("cannot undo")),
            },
            ("showboard", []) => Ok(Some(self.board(desk.game()))),
            ("final_score", []) => self.final_score(desk.game()).map(Some),
            ("time_settings", [main, byoyomi, stones]) => {
                self.set_time([main, byoyomi, stones])?;
                nothing
            }
            ("time_left", [colour, time, stones]) => {
                let moves = Some(count(stones)?).filter(|stones| *stones > 0);
                let settings = self.settings.unwrap_or_default();
                // A period that has begun is all that there is.
                let byoyomi = if moves.is_some() { Duration::ZERO } else { settings.byoyomi };
                let clock = Clock { left: seconds(time)?, moves, byoyomi, ..settings };
                self.clocks.insert(side(colour)?, clock);
                nothing
            }
            ("yomikiri-setup_board", [_, ..]) => {
                let game = desk.game();
                self.played = PlayedGame::new(game.parse_position(&rest.join(" "), &game.start())?);
                self.added.clear();
                self.over = 0;
                nothing
            }
            ("yomikiri-source", []) => Ok(Some(self.source.clone())),
            ("values", []) if self.analyze => {
                let time = Some(clock::within(desk.settings.time));
                self.ask(Asked::Values, Question::of_values(&self.played, time), number, desk)
            }
            ("gogui-analyze_commands", []) if self.analyze => {
                Ok(Some("string/Values of all moves/values\nstring/Source of the last answer/yomikiri-source".to_string()))
            }
            _ if self.commands().any(|known| known == word) => {
                Err(Error::from(format!("syntax error in {word}")))
            }
            _ => Err(Error::from("unknown command")),
        }
    }

    fn is_over(&self, game: &dyn Rules) -> bool {
        self.played.end(game).is_some()
    }

    fn begin(&mut self, desk: &Desk<'_>) {
        self.over = 0;
        self.played = PlayedGame::new(desk.game().start());
        self.added.clear();
        let clock = self.settings;
        self.clocks =
            clock.into_iter().flat_map(|clock| Side::ALL.map(|side| (side, clock))).collect();
    }

    /// Sets the side of a square board, which in Othello may be another game.
    fn resize(&mut self, size: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        let unacceptable = || Error::from("unacceptable size");
        let side: usize = size.parse().map_err(|_| unacceptable())?;
        if desk.game().shape() != (side, side) {
            if !is_othello(desk.game()) {
                return Err(unacceptable());
            }
            let game =
                desk.game_named(&format!("othello-{side}x{side}")).map_err(|_| unacceptable())?;
            desk.change(|settings| settings.game = game);
        }
        self.begin(desk);
        // Tables are opened before the clock runs.
        desk.engine().map(drop)
    }

    /// Chooses the game: the one that is played, Othello, or one of `solver games`.
    fn choose_game(&mut self, name: &str, desk: &mut Desk<'_>) -> Result<(), Error> {
        let plain = |name: &str| name.to_ascii_lowercase().replace([' ', '_'], "-");
        let name = plain(name);
        let is_same = [desk.game().name(), plain(&desk.game().title())].contains(&name)
            || name == "othello" && is_othello(desk.game());
        if !is_same {
            let named = if name == "othello" { "othello-8x8" } else { &name };
            let game = desk.game_named(named)?;
            desk.change(|settings| settings.game = game);
        }
        self.begin(desk);
        desk.engine().map(drop)
    }

    /// Passes for the other side where it has no other move, as boards of Othello leave passes out; fails if it is not the
    /// turn of `side`.
    fn turn_to(&mut self, side: Side, game: &dyn Rules) -> Result<(), Error> {
        let AnyPosition { state, side: mover } = *self.played.position();
        if mover == side {
            return Ok(());
        }
        if !game.must_pass(&state) {
            let (mover, side) = (game.side_name(mover), game.side_name(side));
            return Err(Error::from(format!(
                "illegal move: it is the turn of {mover}, not of {side}"
            )));
        }
        let pass = game.actions(&state)[0];
        self.added.push(self.played.moves().len());
        self.played.play(game, pass);
        Ok(())
    }

    fn play(&mut self, text: &str, game: &dyn Rules) -> Result<(), Error> {
        let before = self.played.moves().len();
        let illegal = |error: Error| error.map(|what| format!("illegal move: {what}"));
        let mut played = self.played.clone();
        played
            .play_text(game, &text.to_ascii_lowercase())
            .or_else(|_| played.play_text(game, text))
            .map_err(illegal)?;
        if played.moves().len() != before + 1 {
            return Err(Error::from(format!("illegal move: {text} is not one move")));
        }
        self.played = played;
        Ok(())
    }

    fn set_time(&mut self, words: [&&str; 3]) -> Result<(), Error> {
        let [main, byoyomi] = [words[0], words[1]].map(|word| seconds(word));
        let (left, byoyomi, stones) = (main?, byoyomi?, count(words[2])?);
        // Canadian: a number of moves in each period after the main time. A period for no moves is no limit.
        self.settings = match (left.is_zero() && byoyomi.is_zero(), stones) {
            (true, _) => None,
            (_, 0) if !byoyomi.is_zero() => None,
            (_, 0) => Some(Clock { left, ..Clock::default() }),
            (false, stones) => Some(Clock { left, byoyomi: byoyomi / stones, ..Clock::default() }),
        };
        self.clocks.clear();
        let settings = self.settings;
        self.clocks
            .extend(settings.into_iter().flat_map(|clock| Side::ALL.map(|side| (side, clock))));
        Ok(())
    }

    fn ask_move(
        &mut self,
        side: Side,
        plays: bool,
        number: &str,
        desk: &mut Desk<'_>,
    ) -> Result<Option<String>, Error> {
        let game = desk.game();
        if self.is_over(game) {
            self.over += usize::from(plays);
            return Ok(Some("pass".to_string()));
        }
        self.turn_to(side, game)?;
        let moves = empty_squares(game, &self.played.position().state);
        let moves = moves.map_or(MOVES, |empty| empty.div_ceil(2).max(1));
        let time = self.clocks.get(&side).map(|clock| clock.for_a_move(moves));
        let time = time.unwrap_or_else(|| clock::within(desk.settings.time));
        let question = Question::of_move(&self.played, Some(time));
        self.ask(Asked::Move { plays }, question, number, desk)
    }

    fn ask(
        &mut self,
        asked: Asked,
        question: Question,
        number: &str,
        desk: &mut Desk<'_>,
    ) -> Result<Option<String>, Error> {
        self.asked = Some((asked, number.to_string(), Instant::now()));
        desk.think(question).inspect_err(|_| self.asked = None)?;
        Ok(None)
    }

    fn board(&self, game: &dyn Rules) -> String {
        let position = self.played.position();
        let turn = match self.played.end_in_words(game) {
            Some(words) => words,
            None => format!("{} to move", game.side_name(position.side)),
        };
        // A blank line would end the answer.
        let board = game.diagram(position);
        let lines = board.lines().filter(|line| !line.trim().is_empty());
        lines.fold(String::from("\n"), |text, line| text + line.trim_end() + "\n") + &turn
    }

    /// Returns the score of a game that is over: `B+4`, `W+1` or `0`.
    fn final_score(&self, game: &dyn Rules) -> Answer {
        let Some(end) = self.played.end(game) else {
            return Err(Error::from("cannot score: the game is not over"));
        };
        let AnyPosition { state, side } = *self.played.position();
        let margin = match game.has_scores() {
            true => game.score(&state, Empties::default()).0,
            false => end.outcome.value(),
        };
        let winner = if (margin > 0) == (side == Side::First) { "B" } else { "W" };
        Ok(match (margin, game.has_scores()) {
            (0, _) => "0".to_string(),
            (margin, true) => format!("{winner}+{}", margin.unsigned_abs()),
            (_, false) => format!("{winner}+R"),
        })
    }

    /// Returns the values of all moves, a line for each: move, value, and how it is known.
    fn values(&self, thought: &Thought, game: &dyn Rules) -> String {
        let side = self.played.position().side;
        thought.lines.iter().fold(String::new(), |mut text, line| {
            let name = game.action_name(side, line.moves[0]);
            let (value, known) = value_words(line.worth, game.has_scores());
            writeln!(text, "{name} {value} {known}").unwrap_or_default();
            text
        })
    }

    fn reply(&mut self, number: &str, answer: &Answer, desk: &mut Desk<'_>) -> io::Result<()> {
        let (sign, text) = match answer {
            Ok(text) => ('=', text.trim_end().to_string()),
            Err(error) => ('?', error.line()),
        };
        let space = if text.is_empty() || text.starts_with('\n') { "" } else { " " };
        desk.say(format!("{sign}{number}{space}{text}\n"))
    }
}

impl Protocol for Gtp {
    fn waits(&self, _line: &str, _holds: bool) -> bool {
        true
    }

    fn urges(&self, _line: &str) -> Option<Urge> {
        None
    }

    fn read(&mut self, line: &str, desk: &mut Desk<'_>) -> io::Result<Flow> {
        let line: String = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let line = line.split('#').next().unwrap_or_default().replace(|c: char| c.is_control(), "");
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        let (number, words) = match &words[..] {
            [] => return Ok(Flow::Continue),
            [number, rest @ ..] if is_number(number) => (*number, rest),
            all => ("", all),
        };
        let Some((word, rest)) = words.split_first() else {
            self.reply(number, &Err(Error::from("unknown command")), desk)?;
            return Ok(Flow::Continue);
        };
        if let Some(answer) = self.command(number, word, rest, desk).transpose() {
            self.reply(number, &answer, desk)?;
        }
        let quits = *word == "quit" && rest.is_empty();
        Ok(if quits { Flow::Quit } else { Flow::Continue })
    }

    fn show(&mut self, _thought: &Thought, _desk: &mut Desk<'_>) -> io::Result<()> {
        Ok(())
    }

    fn answer(
        &mut self,
        known: Result<Option<Thought>, Error>,
        desk: &mut Desk<'_>,
    ) -> io::Result<()> {
        let Some((asked, number, began)) = self.asked.take() else { return Ok(()) };
        let side = self.played.position().side;
        let known = match known {
            Ok(known) => known,
            Err(error) => return self.reply(&number, &Err(error), desk),
        };
        let answer = match asked {
            Asked::Values => match &known {
                Some(thought) => Ok(self.values(thought, desk.game())),
                None if self.played.end(desk.game()).is_none() => {
                    Err(Error::from("no values in time"))
                }
                None => Err(Error::from("no values: the game is over")),
            },
            Asked::Move { plays } => {
                let game = desk.game();
                if let Some(thought) = &known {
                    self.source = told(thought, game);
                }
                let any = || game.actions(&self.played.position().state).first().copied();
                match known.as_ref().and_then(Thought::action).or_else(any) {
                    None => Ok("pass".to_string()),
                    Some(action) => {
                        let name = game.action_name(side, action);
                        if plays {
                            self.played.play(game, action);
                        }
                        Ok(name)
                    }
                }
            }
        };
        // A controller that sends the time sends it before each move.
        if let Some(clock) = self.clocks.get_mut(&side) {
            clock.left = clock.left.saturating_sub(began.elapsed());
        }
        self.reply(&number, &answer, desk)
    }
}

/// Returns the value of the move to play and its source, in words.
fn told(thought: &Thought, game: &dyn Rules) -> String {
    let source = match &thought.by {
        By::Table(name) => format!("table {name}"),
        By::Stored => "stored solution".to_string(),
        By::Search => "search".to_string(),
        By::Estimate => format!("{} plies", thought.plies),
    };
    match thought.line() {
        Some(line) => {
            let (value, known) = value_words(line.worth, game.has_scores());
            format!("{value} {known}, {source}")
        }
        None => source,
    }
}

/// Returns a value to the player who moves, and how it is known: `+4 exact`, `win in 5 plies exact`, `+1.25 estimate`.
fn value_words(worth: Worth, has_scores: bool) -> (String, &'static str) {
    let forced = |outcome: Outcome, plies: Option<u32>| match plies {
        Some(plies) if outcome != Outcome::Draw => format!("{} in {plies}", outcome.name()),
        _ => outcome.name().to_string(),
    };
    match worth {
        Worth::Proven(value) => {
            let outcome = value.outcome().unwrap_or(Outcome::Draw);
            let text = match value.score().filter(|_| has_scores) {
                Some(score) => format!("{:+}", score.0),
                None => forced(outcome, value.distance().map(u32::from)),
            };
            (text, "exact")
        }
        Worth::Estimated(worth) => match (worth.hundredths(), worth.forced()) {
            (None, Some((outcome, plies))) => (forced(outcome, Some(plies)), "exact"),
            (hundredths, _) => {
                (format!("{:+.2}", f64::from(hundredths.unwrap_or(0)) / 100.0), "estimate")
            }
        },
    }
}

fn side(word: &str) -> Result<Side, Error> {
    match &*word.to_ascii_lowercase() {
        "b" | "black" => Ok(Side::First),
        "w" | "white" => Ok(Side::Second),
        _ => Err(Error::from(format!("syntax error: expected black or white, found {word}"))),
    }
}

fn seconds(word: &str) -> Result<Duration, Error> {
    let number: Option<f64> = word.parse().ok().filter(|number| (0.0..=1e9).contains(number));
    let number = number.ok_or_else(|| format!("syntax error: expected seconds, found {word}"))?;
    Ok(Duration::from_secs_f64(number))
}

fn count(word: &str) -> Result<u32, Error> {
    word.parse().map_err(|_| Error::from(format!("syntax error: expected a number, found {word}")))
}

fn is_othello(game: &dyn Rules) -> bool {
    game.name().starts_with("othello-")
}
