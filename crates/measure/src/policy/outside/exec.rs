//! A program that answers requests in lines of JSON: see `docs/your-policy.md`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::process::{Process, excerpt};
use crate::policy::reader::is_value;
use crate::policy::{OutputRows, Outside, ReadingSpec, Source};
use yomikiri::error::{Error, Kind};
use yomikiri::rules::{Action, AnyPosition, Rules, Side};

/// Value of `schema` in every line sent to the program.
pub const PROTOCOL: &str = "yomikiri-policy";
/// Version of the protocol; raised when a field changes its meaning or is removed.
pub const PROTOCOL_VERSION: u32 = 1;

/// A program that has numbers for positions. It receives one request at a time.
#[derive(Debug)]
pub struct Exec {
    /// The program, or the error of every further request; and the number of requests.
    state: Mutex<(Result<Process, Error>, u64)>,
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

/// A line that the program answers with: a list with an entry for each position by the name of each output.
#[derive(Deserialize)]
#[serde(expecting = "an object with id and a list for each output")]
struct Reply {
    id: Option<u64>,
    error: Option<String>,
    #[serde(flatten)]
    outputs: BTreeMap<String, Value>,
}

impl Exec {
    /// Starts the program of a command line, split into words as a shell does, and sends the first line;
    /// `limit` applies to each answer. The error names the policy.
    pub fn start(
        game: &dyn Rules,
        name: String,
        command: &str,
        reading: &ReadingSpec,
        limit: Duration,
    ) -> Result<Outside<Exec>, Error> {
        let named = |wrong: Error| wrong.map(|what| format!("policy '{name}': {what}"));
        let failed = |wrong: Error| named(wrong).of_kind(Kind::Policy);
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| named("missing command".into()))?;
        let process = Process::start(&words, limit)
            .map_err(|error| failed(format!("cannot start '{}': {error}", words[0]).into()))?;
        let exec = Exec { state: Mutex::new((Ok(process), 0)) };
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
        Ok(Outside::new(exec, name.clone(), reading, (true, None)))
    }

    /// Reads an answer about some positions; lets tests check lines without running a program.
    #[doc(hidden)]
    pub fn read_line(
        game: &dyn Rules,
        positions: &[AnyPosition],
        line: &[u8],
    ) -> Result<Vec<OutputRows>, Error> {
        outputs(game, positions, reply_of(line, 1)?)
    }

    /// Sends the line that `line` makes of the request's number and passes the reply to `take`. After a
    /// failure the program is stopped, and further requests return the same error.
    fn exchange<T>(
        &self,
        line: impl FnOnce(u64) -> Vec<u8>,
        take: impl FnOnce(Reply) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (process, requests) = &mut *state;
        let id = *requests;
        *requests += 1;
        let answer = process.as_mut().map_err(|error| error.clone())?.ask(line(id));
        let read = answer.and_then(|answer| Ok(reply_of(&answer, id)?)).and_then(take);
        read.inspect_err(|what| *process = Err(what.clone()))
    }
}

impl Source for Exec {
    const MOST: usize = 1 << 10;

    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        let request = |position| request_of(game, position, &game.actions(&position.state));
        let requests = positions.iter().map(request).collect();
        let line = |id| {
            let (schema, version) = (PROTOCOL, PROTOCOL_VERSION);
            let positions = requests;
            line_of(&BatchRequest { schema, version, id, game: game.name(), positions })
        };
        self.exchange(line, |reply| outputs(game, positions, reply))
    }
}

fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("a line is plain data");
    line.push(b'\n');
    line
}

fn request_of(game: &dyn Rules, position: &AnyPosition, legal: &[Action]) -> PositionRequest {
    let planes = game.plane_kinds();
    let (rows, columns) = game.shape();
    let squares = rows * columns;
    let mut numbers = vec![0.0; planes.count() * squares];
    game.write_planes(&position.state, &mut numbers);
    let (kinds, held) = (planes.pieces.len(), planes.held.len());
    let mut board = vec![0; if kinds > 0 { squares } else { 0 }];
    for plane in 0..2 * kinds {
        let kind = (plane % kinds) as i8 + 1;
        let sign = if plane < kinds { kind } else { -kind };
        let plane = &numbers[plane * squares..][..squares];
        board.iter_mut().zip(plane).for_each(|(square, &piece)| *square += sign * piece as i8);
    }
    // Each of these planes contains one number throughout.
    let hands = 2 * kinds..2 * (kinds + held);
    let counts: Vec<u8> = hands.map(|plane| numbers[plane * squares] as u8).collect();
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

/// Reads the outputs of a reply about some positions. Lists of numbers for the legal actions become rows of all
/// actions.
fn outputs(
    game: &dyn Rules,
    positions: &[AnyPosition],
    reply: Reply,
) -> Result<Vec<OutputRows>, Error> {
    let mut all = Vec::new();
    for (name, output) in reply.outputs {
        let wrong = || format!("invalid answer: expected JSON of the protocol, numbers in {name}");
        let rows = match output {
            Value::Array(rows) => rows,
            Value::Number(_) => return Err(wrong().into()),
            _ => continue,
        };
        if rows.len() != positions.len() {
            let (found, count) = (rows.len(), positions.len());
            return Err(format!("invalid answer: {found} {name} for {count} positions").into());
        }
        let is_list = rows.iter().any(Value::is_array);
        let is_integer = rows.iter().all(Value::is_i64);
        let row = |row: &Value| {
            let mut numbers = Vec::new();
            flatten(row, &mut numbers).map(|()| numbers)
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(row).collect::<Option<_>>().ok_or_else(wrong)?;
        let rows = match is_list {
            true => by_action(game, positions, &name, rows)?,
            false => rows,
        };
        if rows.iter().any(|row| row.len() != rows[0].len()) {
            return Err(format!("invalid answer: lists of different lengths in {name}").into());
        }
        let width = rows.first().map_or(0, Vec::len);
        let numbers = rows.concat();
        all.push(OutputRows { name, width, is_integer, numbers, ..OutputRows::default() });
    }
    Ok(all)
}

/// Appends the numbers of a list of lists; `None` if it contains anything else.
fn flatten(value: &Value, numbers: &mut Vec<f64>) -> Option<()> {
    match value {
        Value::Array(values) => values.iter().try_for_each(|value| flatten(value, numbers)),
        one => one.as_f64().map(|one| numbers.push(one)),
    }
}

/// Makes lists for the legal actions of positions to rows with a number for each action, 0 for the others; lists for all
/// actions, or all but the pass, and of values remain.
fn by_action(
    game: &dyn Rules,
    positions: &[AnyPosition],
    name: &str,
    mut rows: Vec<Vec<f64>>,
) -> Result<Vec<Vec<f64>>, Error> {
    let (width, actions) = (rows.first().map_or(0, Vec::len), game.action_count());
    let legal = |position: &AnyPosition| game.actions(&position.state);
    let wrong = positions.iter().zip(&rows).find(|(at, row)| legal(at).len() != row.len());
    if let Some((position, row)) = wrong {
        let is_whole = is_value(name) || width + 1 >= actions;
        if is_whole && rows.iter().all(|row| row.len() == width) {
            return Ok(rows);
        }
        let listed: Vec<String> =
            legal(position).iter().map(|action| action.0.to_string()).collect();
        let (found, listed) = (row.len(), listed.join(", "));
        return Err(Error::from(format!(
            "invalid answer: {found} {name} for '{}', expected one each for {listed}",
            game.notation(position)
        )));
    }
    for (position, row) in positions.iter().zip(&mut rows).filter(|_| !is_value(name)) {
        let mut whole = vec![0.0; actions];
        let numbers = legal(position).into_iter().zip(row.iter());
        numbers.for_each(|(action, number)| whole[usize::from(action.0)] = *number);
        *row = whole;
    }
    Ok(rows)
}
