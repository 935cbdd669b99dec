//! Policies: the solver's by name, and Python callables.

use std::sync::mpsc::{Sender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use yomikiri::any::{AnyGame, AnyPosition, AnyState};
use yomikiri::game::encode::Encoding;
use yomikiri::game::{Game as _, GameExt as _};
use yomikiri::hint::{Hint as _, Hinted};
use yomikiri_measure::judge::Player;
use yomikiri_measure::policy::{
    Amended, Amendment, Answers, Batch, Beside, Dense, Legal, Policy, PolicySpec, Steady, TrainedOn,
};

use crate::errors::{PolicyError as PyPolicyError, value_error};
use crate::games::{Positions, array, encoding, planes};
use crate::work::{self, WorkState, lock};

/// Form in which a callable receives positions.
#[derive(Clone)]
enum InputForm {
    /// Array of planes.
    Planes(Encoding),
    /// [`Positions`], which the package converts to the requested layout.
    Positions,
}

/// Layouts without planes, available for every game.
const WITHOUT_PLANES: [&str; 3] = ["positions", "keys", "notations"];

/// A policy as the package passes it: a name, a name with another to show, or a callable with its name, its
/// layout, the planes of the layout, whether it takes the legal moves, and whether it plays the move it ranks
/// highest.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A policy of the solver.
    Named(String),
    /// `(shown name, policy of the solver)`.
    Renamed(String, String),
    /// `(name, callable, layout, planes, legal, best)`.
    Asked(String, Bound<'py, PyAny>, String, Option<String>, bool, bool),
}

/// Converts the error of an invalid policy, or of one for another game.
fn refused(error: Hinted) -> PyErr {
    value_error(error.line())
}

/// A policy without references to the interpreter, for the measuring thread.
pub(crate) enum HeldPolicy {
    Named(PolicySpec),
    Renamed(String, PolicySpec),
    Asked(Asking),
}

/// A callable and its calling convention.
pub(crate) struct Asking {
    name: String,
    callable: Arc<Py<PyAny>>,
    form: InputForm,
    /// `true` if it also receives the legal moves.
    with_legal: bool,
    /// `true` if it plays the move it ranks highest.
    is_best: bool,
}

pub(crate) fn hold(game: &AnyGame, given: Vec<Given<'_>>) -> PyResult<Vec<HeldPolicy>> {
    given.into_iter().map(|given| hold_one(game, given)).collect()
}

pub(crate) fn hold_one(game: &AnyGame, given: Given<'_>) -> PyResult<HeldPolicy> {
    let spec = |text: String| -> PyResult<PolicySpec> {
        let spec: PolicySpec = text.parse().map_err(refused)?;
        spec.check(game).map_err(refused)?;
        Ok(spec)
    };
    match given {
        Given::Named(text) => Ok(HeldPolicy::Named(spec(text)?)),
        Given::Renamed(name, text) => Ok(HeldPolicy::Renamed(name, spec(text)?)),
        Given::Asked(name, callable, layout, planes, with_legal, is_best) => {
            let form = match WITHOUT_PLANES.contains(&&*layout) {
                true => InputForm::Positions,
                false => InputForm::Planes(encoding(game, &layout, planes.as_deref()).map_err(
                    |what| {
                        let others = WITHOUT_PLANES.join(", ");
                        value_error(format!("{what}; or, without planes, {others}"))
                    },
                )?),
            };
            let callable = Arc::new(callable.unbind());
            Ok(HeldPolicy::Asked(Asking { name, callable, form, with_legal, is_best }))
        }
    }
}

pub(crate) fn players(
    held: Vec<HeldPolicy>,
    game: &AnyGame,
    tables: &std::path::Path,
    (state, asks): (&Arc<WorkState>, &Sender<work::PythonRequest>),
) -> PyResult<Vec<Player>> {
    let by_name = |spec: &PolicySpec| {
        Ok(match named(spec, game, tables)? {
            Player::Policy(policy) if is_search(spec) => {
                Player::Policy(Box::new(Interruptible { policy, state: state.clone() }))
            }
            player => player,
        })
    };
    let one = |held| match held {
        HeldPolicy::Named(spec) => by_name(&spec),
        HeldPolicy::Renamed(name, spec) => Ok(Player::Named(name, Box::new(by_name(&spec)?))),
        HeldPolicy::Asked(asking) => Ok(asking.player(Asks::Sent(Mutex::new(asks.clone())))),
    };
    held.into_iter().map(one).collect()
}

pub(crate) fn named(
    spec: &PolicySpec,
    game: &AnyGame,
    tables: &std::path::Path,
) -> PyResult<Player> {
    yomikiri_learn::player(spec, game, tables).map_err(|error| PyPolicyError::new_err(error.line()))
}

/// Returns `true` for a policy that may think long about a position.
pub(crate) fn is_search(spec: &PolicySpec) -> bool {
    match spec {
        PolicySpec::Reads(..) | PolicySpec::Plays(..) | PolicySpec::Mate(_) => true,
        PolicySpec::Amended(spec, _) => is_search(spec),
        _ => false,
    }
}

/// A search that ends between two positions if the work is cancelled.
struct Interruptible {
    policy: Box<dyn Policy<AnyGame>>,
    state: Arc<WorkState>,
}

impl Policy<AnyGame> for Interruptible {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn answer(
        &self,
        game: &AnyGame,
        batch: &Batch<AnyState>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let (mut begin, mut size) = (0, 1);
        while begin < batch.len() {
            let places: Vec<usize> = (begin..batch.len().min(begin + size)).collect();
            let (begun, mut some) = (Instant::now(), Answers::default());
            self.policy.answer(game, &batch.of(&places), &mut some)?;
            answers.append(&mut some);
            self.state.answered(places.len());
            begin += places.len();
            if begun.elapsed() < Duration::from_millis(10) {
                size *= 2;
            }
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        self.policy.learned_from()
    }

    fn reading(&self) -> Option<String> {
        self.policy.reading()
    }
}

impl Asking {
    pub(crate) fn player(self, asks: Asks) -> Player {
        let (name, is_best) = (self.name.clone(), self.is_best);
        let callable = Callable { asking: self, asks, spare: Mutex::default() };
        let steady: Box<dyn Policy<AnyGame>> = Box::new(Steady::callable(callable));
        match is_best {
            false => Player::Policy(steady),
            true => {
                let amendment = Amendment { best: true, ..Amendment::default() };
                Player::Policy(Box::new(Amended { name, policy: steady, amendment }))
            }
        }
    }
}

/// Route of calls to a callable, which always runs on the Python thread that started the measurement.
pub(crate) enum Asks {
    /// From worker threads, as requests to that thread.
    Sent(Mutex<Sender<work::PythonRequest>>),
    /// Directly, on that thread; stores the exception of the callable.
    Here(Arc<Raised>),
}

/// Exception of a callable.
pub(crate) type Raised = Mutex<Option<PyErr>>;

/// A Python callable as a policy, called for one batch after the other.
struct Callable {
    asking: Asking,
    asks: Asks,
    /// Reused buffers for its answers: fresh pages cost as much as a small network.
    spare: Mutex<Vec<Vec<f64>>>,
}

/// Answer of a callable in the order of the batch, its shapes checked.
struct CallableAnswer {
    kind: Dense,
    /// One row per position.
    numbers: Vec<f64>,
    width: usize,
    scores: Option<Vec<f64>>,
    values: Option<Vec<f64>>,
    final_scores: Option<Vec<f64>>,
}

impl Policy<AnyGame> for Callable {
    fn name(&self) -> String {
        self.asking.name.clone()
    }

    fn answer(
        &self,
        game: &AnyGame,
        batch: &Batch<AnyState>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let (count, actions) = (batch.len(), game.action_count());
        let shown = BatchInput::new(&self.asking.form, game, batch.positions());
        let legal_at = |at: usize| &batch.actions()[batch.range(at)];
        let legal = self.asking.with_legal.then(|| {
            let mut legal = vec![false; count * actions];
            for at in 0..count {
                for action in legal_at(at) {
                    legal[at * actions + usize::from(action.0)] = true;
                }
            }
            legal
        });
        let answer = self.ask(shown, legal, count, actions)?;
        for (at, position) in batch.positions().iter().enumerate() {
            let name = || game.notation(position);
            let legal = Legal { actions: legal_at(at), position: &name };
            let scores = answer.scores.as_ref().map(|scores| &scores[at * actions..][..actions]);
            let beside = Beside { scores, value: answer.values.as_ref().map(|values| values[at]) };
            let numbers = &answer.numbers[at * answer.width..][..answer.width];
            answer
                .kind
                .answer(numbers, beside, legal, answers)
                .map_err(|(_, wrong)| wrong.map(|what| format!("batch row {at}: {what}")))?;
        }
        answers.final_scores.extend(answer.final_scores.into_iter().flatten());
        lock(&self.spare).push(answer.numbers);
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Unknown
    }
}

/// A batch in the form that a callable receives.
enum BatchInput {
    Planes(Vec<f32>, usize, Encoding),
    Positions(Positions),
}

impl BatchInput {
    fn new(form: &InputForm, game: &AnyGame, positions: &[AnyPosition]) -> BatchInput {
        match form {
            InputForm::Planes(encoding) => {
                let planes = planes(encoding, game, positions);
                BatchInput::Planes(planes, positions.len(), encoding.clone())
            }
            InputForm::Positions => BatchInput::Positions(Positions {
                game: game.clone(),
                all: Arc::new(positions.to_vec()),
            }),
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            BatchInput::Planes(planes, count, encoding) => {
                Ok(array(py, planes, count, &encoding)?.into_any())
            }
            BatchInput::Positions(positions) => Ok(Bound::new(py, positions)?.into_any()),
        }
    }
}

impl Callable {
    /// Calls the callable on the Python thread and waits for its answer.
    fn ask(
        &self,
        shown: BatchInput,
        legal: Option<Vec<bool>>,
        count: usize,
        actions: usize,
    ) -> Result<CallableAnswer, Hinted> {
        let callable = self.asking.callable.clone();
        let memory = lock(&self.spare).pop().unwrap_or_default();
        let question = move |py: Python<'_>| -> PyResult<Result<CallableAnswer, String>> {
            let legal = legal.map(|legal| legal.into_pyarray(py).reshape([count, actions]));
            let legal = legal.transpose()?;
            let answer = callable.bind(py).call1((shown.into_python(py)?, legal))?;
            Ok(read(&answer, count, actions, memory))
        };
        let gone = || Hinted::from("measurement was cancelled");
        let answer = match &self.asks {
            Asks::Sent(asks) => {
                let (send, receive) = sync_channel(1);
                // An exception ends the measurement; an invalid answer is an error of the policy.
                let request: work::PythonRequest = Box::new(move |py| {
                    let _ = send.send(question(py)?);
                    Ok(())
                });
                asks.lock().map_err(|_| gone())?.send(request).map_err(|_| gone())?;
                receive.recv().map_err(|_| gone())?
            }
            Asks::Here(raised) => Python::attach(question).map_err(|error| {
                *lock(raised) = Some(error);
                gone()
            })?,
        };
        answer.map_err(Hinted::from)
    }
}

/// Reads the dictionary of arrays that the package makes of an answer, the largest array into `memory`.
fn read(
    answer: &Bound<'_, PyAny>,
    count: usize,
    actions: usize,
    memory: Vec<f64>,
) -> Result<CallableAnswer, String> {
    let answer = answer
        .cast::<PyDict>()
        .map_err(|_| "invalid answer: expected a dictionary of arrays".to_string())?;
    let item = |name: &str| answer.get_item(name).ok().flatten();
    let given = Dense::ALL.into_iter();
    let given = given.filter_map(|(name, kind)| item(name).map(|found| (name, kind, found)));
    // Scores may stand beside what chooses the move.
    let mut given: Vec<_> = given.collect();
    let deciding = given.iter().filter(|(_, kind, _)| *kind != Dense::Scores).count();
    if deciding > 1 {
        let [first, second] = [given[0].0, given[1].0];
        return Err(format!("invalid answer: both {first} and {second}, expected one of them"));
    }
    if given.is_empty() {
        return Err("invalid answer: expected logits, probabilities, actions or scores".to_string());
    }
    let (_, kind, deciding) = given.swap_remove(0);
    let row = |name: &str| match item(name) {
        None => Ok(None),
        Some(found) => line(&found, name, count).map(Some),
    };
    let (numbers, width) = match kind {
        Dense::Actions => (line(&deciding, "actions", count)?, 1),
        _ => (table(&deciding, count, actions, memory)?, actions),
    };
    let scores = match (kind, item("scores")) {
        (Dense::Scores, _) | (_, None) => None,
        (_, Some(scores)) => Some(table(&scores, count, actions, Vec::new())?),
    };
    Ok(CallableAnswer {
        kind,
        numbers,
        width,
        scores,
        values: row("values")?,
        final_scores: row("final_scores")?,
    })
}

fn line(found: &Bound<'_, PyAny>, name: &str, count: usize) -> Result<Vec<f64>, String> {
    let wrong = || format!("invalid {name}: expected an array of one number per position");
    let (shape, numbers) = floats(found, Vec::new()).ok_or_else(wrong)?;
    match shape[..] {
        [len] if len == count => Ok(numbers),
        [len] => Err(format!("invalid {name}: {len} for {count} positions")),
        _ => Err(wrong()),
    }
}

fn table(
    found: &Bound<'_, PyAny>,
    count: usize,
    actions: usize,
    memory: Vec<f64>,
) -> Result<Vec<f64>, String> {
    let wrong = || {
        format!(
            "invalid answer: expected an array of shape ({count}, {actions}), a row per position and a number per action"
        )
    };
    let (shape, numbers) = floats(found, memory).ok_or_else(wrong)?;
    match shape[..] {
        [rows, columns] if (rows, columns) == (count, actions) => Ok(numbers),
        [_, _] => {
            Err(format!("invalid answer: array of shape {shape:?}, expected ({count}, {actions})"))
        }
        _ => Err(wrong()),
    }
}

/// Returns the shape and the numbers of a `float32` or `float64` array in C order.
fn floats(found: &Bound<'_, PyAny>, mut memory: Vec<f64>) -> Option<(Vec<usize>, Vec<f64>)> {
    memory.clear();
    if let Ok(array) = found.extract::<PyReadonlyArrayDyn<'_, f32>>() {
        memory.extend(array.as_slice().ok()?.iter().copied().map(f64::from));
        return Some((array.shape().to_vec(), memory));
    }
    let array: PyReadonlyArrayDyn<'_, f64> = found.extract().ok()?;
    memory.extend_from_slice(array.as_slice().ok()?);
    Some((array.shape().to_vec(), memory))
}
