//! Engines that speak USI, UCI or GTP, as policies.
//!
//! Before the first answer the legal moves of 200 positions are compared with ours, and some positions are asked
//! twice. Each position is asked from a clean state and without its history; an engine that answers differently in
//! another orientation is measured so.

mod gtp;
mod spec;
mod usi;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::process::Process;
use crate::policy::{Answers, Batch, Policy};
use gtp::GtpEngine;
pub use spec::{EngineSpec, Protocol};
use usi::UsiEngine;
use yomikiri::error::{Error, Kind};
use yomikiri::rules::{Action, AnyPosition, Outcome, Rules, mix};

/// Positions whose moves are compared.
const COMPARED: usize = 200;
/// Positions that are asked twice.
const TWICE: usize = 20;
/// Starts of a process in a row that may fail.
const STARTS: usize = 3;

/// Moves of a position as an engine lists them.
struct Listing {
    moves: Vec<String>,
}

/// Answer of an engine.
#[derive(Clone, Debug, PartialEq)]
struct EngineAnswer {
    /// The move as it writes it, or what it answers in place of one.
    text: String,
    /// Outcome that it expects for the player to move.
    value: Option<f64>,
}

#[derive(Debug)]
enum Session {
    Usi(UsiEngine),
    Gtp(GtpEngine),
}

impl Session {
    fn start(spec: &EngineSpec, game: &dyn Rules) -> Result<Session, Error> {
        Ok(match spec.protocol {
            Protocol::Gtp => Session::Gtp(GtpEngine::start(spec, game)?),
            Protocol::Usi | Protocol::Uci => Session::Usi(UsiEngine::start(spec, game)?),
        })
    }

    fn title(&self) -> String {
        match self {
            Session::Usi(engine) => engine.title(),
            Session::Gtp(engine) => engine.title(),
        }
    }

    fn list(&mut self, game: &dyn Rules, at: &AnyPosition) -> Result<Option<Listing>, Error> {
        match self {
            Session::Usi(engine) => engine.list(game, at),
            Session::Gtp(engine) => engine.list(game, at),
        }
    }

    fn ask(&mut self, game: &dyn Rules, at: &AnyPosition) -> Result<EngineAnswer, Error> {
        match self {
            Session::Usi(engine) => engine.ask(game, at),
            Session::Gtp(engine) => engine.ask(game, at),
        }
    }

    fn name_of(&self, game: &dyn Rules, at: &AnyPosition, action: Action) -> String {
        match self {
            Session::Usi(engine) => engine.name_of(game, at, action),
            Session::Gtp(engine) => engine.name_of(game, at, action),
        }
    }
}

/// Starts the program of an engine.
fn start(spec: &EngineSpec) -> Result<Process, Error> {
    let words = shlex::split(&spec.command).unwrap_or_default();
    Process::start(&words, spec.limit).map_err(|error| {
        let program = words.first().map_or("", |word| word);
        let what = format!("cannot start '{program}': {error}");
        // Debian installs engines there, which PATH may lack.
        let games = format!("/usr/games/{program}");
        match std::path::Path::new(&games).exists() && !program.contains('/') {
            true => Error::new(what, format!("give its path, {games}")),
            false => Error::from(what),
        }
    })
}

fn failed(error: Error) -> Error {
    error.of_kind(Kind::Policy)
}

/// Move of an engine in a position.
#[derive(Clone, Copy, Debug)]
struct ChosenMove {
    /// Its place among the legal ones.
    place: usize,
    /// Outcome that the engine expects.
    value: Option<f64>,
}

/// Answers that failed: their number, and the first in words.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    first: Option<String>,
    /// Positions given up in which every move loses at once: to the engine the game is over.
    resigned: u64,
}

/// An engine as a policy: its move has probability 1, and the score of its search is its value.
#[derive(Debug)]
pub struct Engine {
    spec: EngineSpec,
    name: String,
    /// Comparison of its rules with ours, in words.
    compared: String,
    /// Processes; one that failed is started again when it is needed.
    sessions: Vec<Mutex<Option<Session>>>,
    failures: Mutex<Failures>,
    /// `true` if it gives scores.
    has_values: bool,
}

/// Differences of rules in the compared positions.
#[derive(Default)]
struct Differences {
    positions: usize,
    moves: usize,
    /// Moves that lose at once, which the engine does not list.
    losing: usize,
    /// Other moves that it does not list.
    missing: usize,
    added: usize,
    example: Option<String>,
}

impl Engine {
    /// Starts an engine and compares its rules with those of the game. The error names the policy.
    pub fn start(game: &dyn Rules, spec: &EngineSpec) -> Result<Engine, Error> {
        let name = spec.to_string();
        let named = |wrong: Error| failed(wrong.map(|what| format!("policy '{name}': {what}")));
        match spec.protocol {
            Protocol::Gtp => gtp::check(game),
            Protocol::Usi | Protocol::Uci => usi::check(game, spec),
        }
        .map_err(named)?;
        let mut session = Session::start(spec, game).map_err(named)?;
        let positions = random_positions(game, COMPARED);
        let (compared, has_values) =
            compared(&mut session, game, &positions, spec).map_err(named)?;
        let sessions = (1..spec.processes).map(|_| Mutex::new(None));
        Ok(Engine {
            spec: spec.clone(),
            compared: format!("{}: {compared}", session.title()),
            sessions: [Mutex::new(Some(session))].into_iter().chain(sessions).collect(),
            failures: Mutex::default(),
            has_values,
            name,
        })
    }

    /// Asks for a position; `None` if the answer failed, which is counted. Fails if a process cannot be started
    /// again, or if too many answers failed.
    fn ask(
        &self,
        session: &mut Option<Session>,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
    ) -> Result<Option<ChosenMove>, Error> {
        let mut starts = 0;
        while session.is_none() {
            match Session::start(&self.spec, game) {
                Ok(started) => *session = Some(started),
                Err(error) if starts + 1 == STARTS => return Err(error),
                Err(_) => starts += 1,
            }
        }
        let Some(engine) = session else { return Ok(None) };
        let what = match engine.ask(game, position) {
            Ok(answer) => {
                let names = actions.iter().map(|&action| engine.name_of(game, position, action));
                if let Some(at) = names.into_iter().position(|name| name == answer.text) {
                    return Ok(Some(ChosenMove { place: at, value: answer.value }));
                }
                let loses = |action: &Action| {
                    let after = game.advance(position, *action);
                    game.result(&after.state) == Some(Outcome::Win)
                };
                if ["resign", "(none)"].contains(&&*answer.text) && actions.iter().all(loses) {
                    self.failures.lock().unwrap_or_else(PoisonError::into_inner).resigned += 1;
                    return Ok(None);
                }
                match answer.text.as_str() {
                    "" => "no move".to_string(),
                    text => format!("`{}`, which is not legal", super::process::excerpt(text)),
                }
            }
            Err(error) => {
                *session = None;
                error.to_string()
            }
        };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.count += 1;
        let place = format!("{what} in {}", game.notation(position));
        failures.first.get_or_insert(place.clone());
        if failures.count > self.spec.failures {
            let first = failures.first.clone().unwrap_or_default();
            let what = format!("{} answers failed; the first: {first}", failures.count);
            return Err(Error::new(what, "?failures=N allows N of them"));
        }
        Ok(None)
    }

    /// Answers for every `step`-th position of a batch from `first` on, by one process.
    fn answer_part(
        &self,
        game: &dyn Rules,
        batch: &Batch,
        (first, step): (usize, usize),
    ) -> Result<Vec<Option<ChosenMove>>, Error> {
        let places = (first..batch.len()).step_by(step);
        let ask = |at: usize| {
            let mut session = self.sessions[first].lock().unwrap_or_else(PoisonError::into_inner);
            self.ask(&mut session, game, &batch.positions()[at], &batch.actions()[batch.range(at)])
        };
        places.map(ask).collect()
    }
}

impl Policy for Engine {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let step = self.sessions.len();
        let parts: Vec<Result<_, Error>> = std::thread::scope(|scope| {
            let part = |first| scope.spawn(move || self.answer_part(game, batch, (first, step)));
            let threads: Vec<_> = (0..step).map(part).collect();
            let ended = |error| Err(Error::from(format!("a thread failed: {error:?}")));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
        });
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut answers = Answers::default();
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for at in 0..batch.len() {
            let range = batch.range(at);
            let chosen = parts[at % step][at / step];
            match chosen {
                Some(chosen) => answers.probabilities[range.start + chosen.place] = 1.0,
                // A failed answer counts as a random move.
                None => {
                    let each = 1.0 / range.len().max(1) as f64;
                    answers.probabilities[range].fill(each);
                }
            }
            if self.has_values {
                answers.values.push(chosen.and_then(|chosen| chosen.value).unwrap_or(0.0));
            }
        }
        Ok(answers)
    }

    fn reading(&self) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = failures.first.as_ref().map_or(String::new(), |first| {
            let count = failures.count;
            match count {
                1 => format!("; 1 answer failed and counts as a random move: {first}"),
                _ => format!(
                    "; {count} answers failed and count as random moves, the first: {first}"
                ),
            }
        });
        let resigned = match failures.resigned {
            0 => String::new(),
            count => format!("; {count} times it resigned where every move loses at once"),
        };
        let value = if self.has_values {
            "; centipawns as expected outcome, 400 being 10 to 1"
        } else {
            ""
        };
        Some(format!("{}{value}{resigned}{failed}", self.compared))
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} moves of {} positions compared", self.moves, self.positions)?;
        let counts = [
            (self.losing, "that lose at once are not legal there"),
            (self.missing, "others are not legal there"),
            (self.added, "are legal there alone"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match words.is_empty() {
            true => f.write_str(", all equal"),
            false => write!(f, ", {}", words.join(", ")),
        }
    }
}

/// Compares the moves of positions, and asks some positions twice. Returns the result in words, and whether the engine
/// gives scores.
fn compared(
    session: &mut Session,
    game: &dyn Rules,
    positions: &[AnyPosition],
    spec: &EngineSpec,
) -> Result<(String, bool), Error> {
    let mut differences = Differences::default();
    for position in positions {
        let Some(listing) = session.list(game, position)? else { break };
        differences.positions += 1;
        differences.compare(session, game, position, &listing);
    }
    let is_equal = differences.missing + differences.added == 0;
    if !is_equal && !spec.rules_differ {
        let example = differences.example.clone().unwrap_or_default();
        let what = format!("its rules differ: {differences}; {example}");
        return Err(Error::new(what, "?rules=differ measures it all the same"));
    }
    let rules = match differences.positions {
        0 => "its moves cannot be listed, so its rules were not compared".to_string(),
        _ => differences.to_string(),
    };
    let twice = &positions[..TWICE.min(positions.len())];
    let ask = |session: &mut Session, at: &AnyPosition| session.ask(game, at);
    let first = twice.iter().map(|at| ask(session, at)).collect::<Result<Vec<_>, _>>()?;
    let again = twice.iter().rev().map(|at| ask(session, at)).collect::<Result<Vec<_>, _>>()?;
    let equal = first.iter().zip(again.iter().rev()).filter(|(a, b)| a.text == b.text).count();
    let has_values = first.iter().all(|answer| answer.value.is_some());
    Ok((
        format!("{rules}; {equal} of {} answers the same when asked again", twice.len()),
        has_values,
    ))
}

impl Differences {
    fn compare(
        &mut self,
        session: &Session,
        game: &dyn Rules,
        position: &AnyPosition,
        listing: &Listing,
    ) {
        let theirs: BTreeSet<&str> = listing.moves.iter().map(String::as_str).collect();
        let mut ours = BTreeSet::new();
        let place = |name: &str, what: &str| {
            format!("for example `{name}` in {}, {what}", game.notation(position))
        };
        game.moves(&position.state, |action, after| {
            let name = session.name_of(game, position, action);
            self.moves += 1;
            if !theirs.contains(&*name) {
                match game.result(&after) {
                    Some(Outcome::Win) => self.losing += 1,
                    _ => {
                        self.missing += 1;
                        self.example.get_or_insert_with(|| place(&name, "which it does not list"));
                    }
                }
            }
            ours.insert(name);
        });
        for name in theirs.iter().filter(|name| !ours.contains(**name)) {
            self.added += 1;
            self.example.get_or_insert_with(|| place(name, "which it alone lists"));
        }
    }
}

/// Returns positions with a choice of moves from random games, the same each time.
fn random_positions(game: &dyn Rules, count: usize) -> Vec<AnyPosition> {
    let (mut positions, mut seed) = (Vec::new(), 0);
    for number in 0..50 * count {
        // Short games do not give enough where every position but a few is passed over.
        let step = if number < count { 7 } else { 1 };
        let mut position = game.start();
        for ply in 0u64..200 {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                break;
            }
            seed = mix(seed + 1);
            if seed % step == 0 && actions.len() > 1 && !positions.contains(&position) && ply > 0 {
                positions.push(position);
                if positions.len() == count {
                    return positions;
                }
            }
            position = game.advance(&position, actions[(seed >> 8) as usize % actions.len()]);
        }
    }
    positions
}
