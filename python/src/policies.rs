//! Policies: the solver's by name, and Python callables.

use std::sync::mpsc::{Sender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use yomikiri::error::Error;
use yomikiri::rules::encode::Encoding;
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri_measure::judge::Player;
use yomikiri_measure::policy::{
    Answers, Batch, BatchCheck, Front, OutputRows, Outside, Policy, PolicySpec, ReadingSpec,
    Source, TrainedOn,
};

use crate::errors::{policy_error, value_error};
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
const WITHOUT_PLANES: [&str; 4] = ["positions", "keys", "notations", "states"];

/// A policy as the package passes it: a name, a name with another to show, or a callable with its name, its
/// layout, the planes of the layout, whether it takes the legal moves, and the options of [`ReadingSpec`].
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A policy of the solver.
    Named(String),
    /// `(shown name, policy of the solver)`.
    Renamed(String, String),
    /// `(name, callable, layout, planes, legal, options)`.
    Asked(String, Bound<'py, PyAny>, String, Option<String>, bool, Vec<(String, String)>),
}

/// Converts the error of an invalid policy, or of one for another game.
fn refused(error: Error) -> PyErr {
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
    reading: ReadingSpec,
    /// Plies of search in front of it.
    front: Option<u32>,
}

pub(crate) fn hold(game: &dyn Rules, given: Vec<Given<'_>>) -> PyResult<Vec<HeldPolicy>> {
    given.into_iter().map(|given| hold_one(game, given)).collect()
}

pub(crate) fn hold_one(game: &dyn Rules, given: Given<'_>) -> PyResult<HeldPolicy> {
    let spec = |text: String| -> PyResult<PolicySpec> {
        let spec: PolicySpec = text.parse().map_err(refused)?;
        spec.check(game).map_err(refused)?;
        Ok(spec)
    };
    match given {
        Given::Named(text) => Ok(HeldPolicy::Named(spec(text)?)),
        Given::Renamed(name, text) => Ok(HeldPolicy::Renamed(name, spec(text)?)),
        Given::Asked(name, callable, layout, planes, with_legal, options) => {
            let (front, options): (Vec<_>, Vec<_>) =
                options.into_iter().partition(|(key, _)| key == "plies");
            let front = match front.first() {
                None => None,
                Some((_, plies)) => {
                    Some(Front::plies(plies).map_err(|error| value_error(error.line()))?)
                }
            };
            let reading = ReadingSpec::of(&options).map_err(value_error)?;
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
            Ok(HeldPolicy::Asked(Asking { name, callable, form, with_legal, reading, front }))
        }
    }
}

pub(crate) fn players(
    held: Vec<HeldPolicy>,
    game: &dyn Rules,
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
    game: &dyn Rules,
    tables: &std::path::Path,
) -> PyResult<Player> {
    yomikiri_learn::player(spec, game, tables).map_err(|error| policy_error(&error))
}

/// Returns `true` for a policy that may think long about a position.
pub(crate) fn is_search(spec: &PolicySpec) -> bool {
    matches!(
        spec,
        PolicySpec::Reads(..) | PolicySpec::Plays(..) | PolicySpec::Mate(_) | PolicySpec::Front(..)
    )
}

/// A search that ends between two positions if the work is cancelled.
struct Interruptible {
    policy: Box<dyn Policy>,
    state: Arc<WorkState>,
}

impl Policy for Interruptible {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let (mut answers, mut begin, mut size) = (Answers::default(), 0, 1);
        while begin < batch.len() {
            let places: Vec<usize> = (begin..batch.len().min(begin + size)).collect();
            let begun = Instant::now();
            answers.append(self.policy.answer(game, &batch.select(&places))?);
            self.state.answered(places.len());
            begin += places.len();
            if begun.elapsed() < Duration::from_millis(10) {
                size *= 2;
            }
        }
        Ok(answers)
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
        let (name, reading, front) = (self.name.clone(), self.reading.clone(), self.front);
        let policy = Outside::new(Callable { asking: self, asks }, name, &reading, (true, None));
        let player = Player::Policy(Box::new(BatchCheck::callable(policy)));
        match front {
            Some(plies) => player.with_front(plies),
            None => player,
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

/// A Python callable, called for one batch after the other.
struct Callable {
    asking: Asking,
    asks: Asks,
}

impl Source for Callable {
    const MOST: usize = 2048;

    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        let (count, actions) = (positions.len(), game.action_count());
        let shown = BatchInput::new(&self.asking.form, game, positions);
        let legal = self.asking.with_legal.then(|| {
            let mut legal = vec![false; count * actions];
            for (position, legal) in positions.iter().zip(legal.chunks_exact_mut(actions)) {
                for action in game.actions(&position.state) {
                    legal[usize::from(action.0)] = true;
                }
            }
            legal
        });
        self.ask(shown, legal, count, actions)
    }
}

/// A batch in the form that a callable receives.
enum BatchInput {
    Planes(Vec<f32>, usize, Encoding),
    Positions(Positions),
}

impl BatchInput {
    fn new(form: &InputForm, game: &dyn Rules, positions: &[AnyPosition]) -> BatchInput {
        match form {
            InputForm::Planes(encoding) => {
                let planes = planes(encoding, game, positions);
                BatchInput::Planes(planes, positions.len(), encoding.clone())
            }
            InputForm::Positions => BatchInput::Positions(Positions {
                game: game.shared(),
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
    ) -> Result<Vec<OutputRows>, Error> {
        let callable = self.asking.callable.clone();
        let question = move |py: Python<'_>| -> PyResult<Result<Vec<OutputRows>, String>> {
            let legal = legal.map(|legal| legal.into_pyarray(py).reshape([count, actions]));
            let legal = legal.transpose()?;
            let answer = callable.bind(py).call1((shown.into_python(py)?, legal))?;
            let answer: Vec<(String, Bound<'_, PyAny>)> = answer.extract()?;
            Ok(answer.into_iter().map(|(name, array)| output(name, &array, count)).collect())
        };
        let gone = || Error::from("measurement was cancelled");
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
        answer.map_err(Error::from)
    }
}

/// Reads an array that the package makes of an answer: `float32`, `float64` or `int64` in C order, a row for each of
/// `count` positions.
fn output(name: String, found: &Bound<'_, PyAny>, count: usize) -> Result<OutputRows, String> {
    let wrong = || format!("invalid {name}: expected an array of numbers");
    let (shape, numbers, is_integer) = if let Ok(array) =
        found.extract::<PyReadonlyArrayDyn<'_, f32>>()
    {
        let numbers = array.as_slice().map_err(|_| wrong())?.iter().copied().map(f64::from);
        (array.shape().to_vec(), numbers.collect(), false)
    } else if let Ok(array) = found.extract::<PyReadonlyArrayDyn<'_, i64>>() {
        let numbers = array.as_slice().map_err(|_| wrong())?.iter().map(|&number| number as f64);
        (array.shape().to_vec(), numbers.collect(), true)
    } else {
        let array: PyReadonlyArrayDyn<'_, f64> = found.extract().map_err(|_| wrong())?;
        (array.shape().to_vec(), array.as_slice().map_err(|_| wrong())?.to_vec(), false)
    };
    match shape.split_first() {
        Some((&rows, row)) if rows == count => {
            let width = row.iter().product();
            Ok(OutputRows { name, width, is_integer, numbers, ..OutputRows::default() })
        }
        Some((rows, _)) => {
            Err(format!("invalid {name}: {rows} for {count} positions (shape {shape:?})"))
        }
        None => Err(format!("invalid {name}: one number for {count} positions")),
    }
}
