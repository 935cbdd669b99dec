//! A program that answers requests in lines of JSON: see `docs/your-policy.md`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::dense::{Dense, Legal, listed};
use super::process::{Process, excerpt};
use crate::policy::{Answers, Batch, Policy, TrainedOn};
use yomikiri::game::{Action, Game, GameExt, Position, Side};
use yomikiri::hint::{Hinted, Kind};

/// Value of `schema` in every line sent to the program.
pub const PROTOCOL: &str = "yomikiri-policy";
/// Version of the protocol; raised when a field changes its meaning or is removed.
pub const PROTOCOL_VERSION: u32 = 1;

/// Maximum number of positions in one line.
const MOST_POSITIONS: usize = 1 << 10;

/// A policy that is a program. It receives one request at a time.
#[derive(Debug)]
pub struct Exec {
    command: String,
    /// The program, or the error of every further request; and the number of requests.
    state: Mutex<(Result<Process, Hinted>, u64)>,
}

/// First line sent to the program.
#[derive(Serialize)]
struct Hello {
    schema: &'static str,
    version: u32,
    id: u64,
    hello: bool,
    game: String,
    rows: usize,
    columns: usize,
    actions: usize,
    /// Action of the pass; `None` in games without passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<usize>,
    pieces: Vec<&'static str>,
    held: Vec<&'static str>,
}

#[derive(Serialize)]
struct BatchRequest {
    schema: &'static str,
    version: u32,
    id: u64,
    game: String,
    positions: Vec<PositionRequest>,
}

#[derive(Serialize)]
struct PositionRequest {
    position: String,
    side: &'static str,
    /// Squares as the mover sees them: 0 is empty, k + 1 the mover's piece of kind k, −(k + 1) the
    /// opponent's.
    board: Vec<i8>,
    /// Number of pieces of each kind held by the mover and by the opponent.
    #[serde(skip_serializing_if = "Option::is_none")]
    hands: Option<[Vec<u8>; 2]>,
    legal: Vec<u16>,
}

/// A line that the program answers with.
#[derive(Deserialize)]
struct Reply {
    id: Option<u64>,
    error: Option<String>,
    policies: Option<Vec<Vec<f64>>>,
    actions: Option<Vec<i64>>,
    scores: Option<Vec<Vec<f64>>>,
    values: Option<Vec<f64>>,
}

impl Exec {
    /// Starts the program of a command line, split into words as a shell does, and sends the first line;
    /// `limit` applies to each answer. The error names the policy.
    pub fn start<G: Game>(game: &G, command: &str, limit: Duration) -> Result<Exec, Hinted> {
        let named = |wrong: Hinted| wrong.map(|what| format!("policy 'exec:{command}': {what}"));
        let failed = |wrong: Hinted| named(wrong).of_kind(Kind::Policy);
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| named("missing command".into()))?;
        let process = Process::start(&words, limit)
            .map_err(|error| failed(format!("cannot start '{}': {error}", words[0]).into()))?;
        let exec = Exec { command: command.to_string(), state: Mutex::new((Ok(process), 0)) };
        let pass = (0..game.action_count()).find(|&a| game.is_pass(Action(a as u16)));
        let (rows, columns) = game.shape();
        let planes = game.plane_kinds();
        let hello = Hello {
            schema: PROTOCOL,
            version: PROTOCOL_VERSION,
            id: 0,
            hello: true,
            game: game.name(),
            rows,
            columns,
            actions: game.action_count(),
            pass,
            pieces: planes.pieces,
            held: planes.held,
        };
        let greeted = exec.exchange(|_| line_of(&hello), |_| Ok(()));
        greeted.map_err(failed)?;
        Ok(exec)
    }

    /// Checks an answer about a whole batch and adds it to `answers`; lets tests check lines without running
    /// a program.
    #[doc(hidden)]
    pub fn take_line<G: Game>(
        game: &G,
        batch: &Batch<G::State>,
        line: &[u8],
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        take(game, batch, 0..batch.len(), reply_of(line, 1)?, answers)
    }

    /// Sends the line that `line` makes of the request's number and passes the reply to `take`. After a
    /// failure the program is stopped, and further requests return the same error.
    fn exchange(
        &self,
        line: impl FnOnce(u64) -> Vec<u8>,
        take: impl FnOnce(Reply) -> Result<(), Hinted>,
    ) -> Result<(), Hinted> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (process, requests) = &mut *state;
        let id = *requests;
        *requests += 1;
        let answer = process.as_mut().map_err(|error| error.clone())?.ask(line(id));
        let taken = answer.and_then(|answer| Ok(reply_of(&answer, id)?)).and_then(take);
        taken.inspect_err(|what| *process = Err(what.clone()))
    }

    /// Asks about some positions of a batch.
    fn ask_about<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        places: std::ops::Range<usize>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let requests = places
            .clone()
            .map(|at| request_of(game, &batch.positions()[at], &batch.actions()[batch.range(at)]));
        let positions = requests.collect();
        let line = |id| {
            let (schema, version) = (PROTOCOL, PROTOCOL_VERSION);
            line_of(&BatchRequest { schema, version, id, game: game.name(), positions })
        };
        self.exchange(line, |reply| take(game, batch, places, reply, answers))
    }
}

impl<G: Game> Policy<G> for Exec {
    fn name(&self) -> String {
        format!("exec:{}", self.command)
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        for start in (0..batch.len()).step_by(MOST_POSITIONS) {
            let places = start..batch.len().min(start + MOST_POSITIONS);
            self.ask_about(game, batch, places, answers)?;
        }
        // All positions of a batch must have scores, or none; likewise values.
        match () {
            _ if ![0, batch.actions().len()].contains(&answers.scores.len()) => {
                Err("scores in some of its answers only".into())
            }
            _ if ![0, batch.len()].contains(&answers.values.len()) => {
                Err("values in some of its answers only".into())
            }
            _ => Ok(()),
        }
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Unknown
    }
}

fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("a line is plain data");
    line.push(b'\n');
    line
}

fn request_of<G: Game>(
    game: &G,
    position: &Position<G::State>,
    legal: &[Action],
) -> PositionRequest {
    let planes = game.plane_kinds();
    let (rows, columns) = game.shape();
    let squares = rows * columns;
    let mut numbers = vec![0; planes.count() * squares];
    game.write_planes(&position.state, &mut numbers);
    let (kinds, held) = (planes.pieces.len(), planes.held.len());
    let (pieces, hands) = numbers.split_at(2 * kinds * squares);
    let mut board = vec![0; squares];
    for (plane, numbers) in pieces.chunks_exact(squares).enumerate() {
        let kind = (plane % kinds) as i8 + 1;
        let sign = if plane < kinds { kind } else { -kind };
        board.iter_mut().zip(numbers).for_each(|(square, &there)| *square += sign * there as i8);
    }
    // Each of these planes contains one number throughout.
    let counts: Vec<u8> = hands.iter().step_by(squares).copied().collect();
    let hands = (held > 0).then(|| [counts[..held].to_vec(), counts[held..].to_vec()]);
    PositionRequest {
        position: game.notation(position),
        side: if position.side == Side::First { "first" } else { "second" },
        board,
        hands,
        legal: legal.iter().map(|action| action.0).collect(),
    }
}

/// Parses a reply, which must have the id of its request.
fn reply_of(line: &[u8], id: u64) -> Result<Reply, String> {
    let text = String::from_utf8_lossy(line);
    let reply: Reply = serde_json::from_slice(line).map_err(|error| {
        format!("invalid answer: expected JSON of the protocol ({error}): {}", excerpt(&text))
    })?;
    if let Some(error) = reply.error {
        return Err(format!("error of the program: {}", excerpt(&error)));
    }
    match reply.id {
        Some(found) if found == id => Ok(reply),
        Some(found) => Err(format!("invalid answer: id {found}, expected {id}")),
        None => Err(format!("invalid answer: missing id {id}: {}", excerpt(&text))),
    }
}

/// Checks a reply about some positions of a batch and adds it to `answers`.
fn take<G: Game>(
    game: &G,
    batch: &Batch<G::State>,
    places: std::ops::Range<usize>,
    reply: Reply,
    answers: &mut Answers,
) -> Result<(), Hinted> {
    let Reply { policies, actions, scores, values, .. } = reply;
    let count = places.len();
    for (what, found) in [
        ("lists in policies", policies.as_ref().map(Vec::len)),
        ("actions", actions.as_ref().map(Vec::len)),
        ("lists in scores", scores.as_ref().map(Vec::len)),
        ("values", values.as_ref().map(Vec::len)),
    ] {
        if let Some(found) = found.filter(|&found| found != count) {
            let what = format!("invalid answer: {found} {what} for {count} positions");
            return Err(what.into());
        }
    }
    let (kind, deciding) = match (policies, actions) {
        (Some(_), Some(_)) => {
            let what = "invalid answer: both policies and actions";
            return Err(Hinted::new(what, "expected one of them"));
        }
        (Some(policies), None) => (Dense::Probabilities, Some(policies)),
        (None, Some(actions)) => {
            let one = |action| vec![action as f64];
            (Dense::Actions, Some(actions.into_iter().map(one).collect()))
        }
        (None, None) if scores.is_none() => {
            return Err("invalid answer: neither policies, actions nor scores".into());
        }
        (None, None) => (Dense::Scores, None),
    };
    for (i, at) in places.enumerate() {
        let actions = &batch.actions()[batch.range(at)];
        let position = || game.notation(&batch.positions()[at]);
        let fits = |what: &str, found: &[f64]| {
            let (found, legal) = (found.len(), listed(actions));
            let what = || {
                format!(
                    "invalid answer: {found} {what} for '{}', expected one each for {legal}",
                    position()
                )
            };
            if found == actions.len() { Ok(()) } else { Err(what()) }
        };
        let scores = scores.as_ref().map(|scores| &scores[i][..]);
        scores.map_or(Ok(()), |scores| fits("scores", scores))?;
        let deciding = deciding.as_ref().map(|deciding| &deciding[i][..]);
        if kind == Dense::Probabilities {
            fits("probabilities", deciding.unwrap_or_default())?;
        }
        let numbers = deciding.or(scores).unwrap_or_default();
        let legal = Legal { actions, position: &position };
        kind.answer_legal(numbers, true, legal, answers)
            .and_then(|()| {
                values.as_ref().map_or(Ok(()), |values| Dense::value(values[i], answers))
            })
            .map_err(|wrong| {
                wrong.map(|what| format!("invalid answer for '{}': {what}", position()))
            })?;
        if deciding.is_some() {
            answers.scores.extend(scores.into_iter().flatten());
        }
    }
    Ok(())
}
