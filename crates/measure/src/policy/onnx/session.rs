//! Runs a model on many rows, on as many threads as call it.
//!
//! The runtime has its own thread pool, and a rayon thread waiting for it would take up other work meanwhile,
//! starting ever more models. So each call runs its model on one runtime thread and blocks ([`apart`]): as
//! many threads compute as call.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt::Display;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use prost::Message as _;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::AsView as _;

use super::file::{ModelOutput, Squash};
use super::isolated::isolated;
use super::prepare::{FOLDED, Prepared, Unfit, prepare};
use super::proto::{self, Tensor};
use super::sizes::count;
use crate::policy::OutputRows;
use yomikiri::error::{Error, Kind};

/// Largest number of rows per run, if what a model computes for them is within its limit.
pub(super) const ROWS: usize = 1024;
/// Batches are padded to a multiple of this: small batches may take another code path, and the answer for a
/// row must not depend on their size.
const GRAIN: usize = 16;

/// An input of a model.
pub(super) struct Input {
    pub name: String,
    /// ONNX's number of the element type: one of [`INPUT_KINDS`].
    pub kind: i32,
    /// Shape of one row.
    pub shape: Vec<usize>,
    /// `true` if rows have a dimension; otherwise the model takes one position.
    pub has_rows: bool,
}

/// A model ready to run.
pub(super) struct Session {
    model: Arc<Model>,
    inputs: Vec<(NodeId, Input)>,
    /// Number of rows, if the model fixes it.
    batch: Option<usize>,
    /// Largest number of rows per run.
    most: usize,
    plan: Arc<Plan>,
    /// Outputs to compute.
    outputs: Vec<(NodeId, ModelOutput)>,
    /// Predicted shapes of all outputs, for the largest number of rows.
    pub shapes: Vec<Vec<i64>>,
    /// Time limit for up to [`ROWS`] rows.
    limit: Duration,
    /// Error that ended the use of the model.
    failed: OnceLock<Error>,
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

/// Writes the row at the second index of the input at the first.
pub(super) type Fill<'a> = dyn Fn(usize, usize, &mut [f32]) + Sync + 'a;

/// ONNX's number of 32-bit floats.
const FLOAT: i32 = 1;
/// Supported element types of the input.
pub(super) const INPUT_KINDS: [i32; 6] = [FLOAT, 2, 3, 6, 7, 9];

/// A loaded model.
struct Loaded {
    model: Model,
    plan: Plan,
    /// Number of rows that it takes at a time: as many as a model fixes, or as its limit allows.
    rows: usize,
    /// Shapes of the outputs for that many rows.
    shapes: Vec<Vec<i64>>,
}

/// Computation of a model, with the numbers of rows for which it is known to be within its limit.
struct Plan {
    /// The model without its weights.
    outline: proto::Model,
    inputs: Vec<(String, bool, Vec<usize>)>,
    nodes: Vec<proto::Node>,
    checked: Mutex<HashSet<usize>>,
}

impl Plan {
    fn prepare(&self, model: &proto::Model, rows: usize) -> Result<Prepared, Unfit> {
        let of_rows = |(name, has_rows, shape): &(String, bool, Vec<usize>)| {
            let rows = if *has_rows { &[rows][..] } else { &[] };
            (name.clone(), [rows, shape].concat())
        };
        prepare(model, &self.inputs.iter().map(of_rows).collect::<Vec<_>>())
    }

    /// Fails if a number of rows is too large, or needs other nodes than those that were loaded.
    fn check(&self, rows: usize) -> Result<(), Error> {
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked().contains(&rows) {
            return Ok(());
        }
        let prepared = self.prepare(&self.outline, rows).map_err(|unfit| cannot_run(unfit.what))?;
        if prepared.nodes != self.nodes {
            let what = format!("it computes otherwise for {rows} positions than for more");
            return Err(cannot_run(what).with_hint("batch=1 asks about one at a time"));
        }
        checked().insert(rows);
        Ok(())
    }
}

/// Prepares and loads a model within a time limit.
fn load(
    mut model: proto::Model,
    inputs: &[Input],
    batch: Option<usize>,
    limit: Duration,
) -> Result<Loaded, Error> {
    let inputs = inputs.iter().map(Input::sizes).collect();
    let loaded = isolated(limit, move || {
        let mut rows = batch.unwrap_or(ROWS);
        let outline = outline(&mut model);
        let mut plan = Plan { outline, inputs, nodes: Vec::new(), checked: Mutex::default() };
        plan.nodes = loop {
            match plan.prepare(&plan.outline, rows) {
                Err(Unfit { is_too_large: true, .. }) if batch.is_none() && rows > GRAIN => {
                    rows /= 2
                }
                Err(unfit) => return Err(cannot_run(unfit.what)),
                Ok(prepared) => break prepared.nodes,
            }
        };
        plan.checked = Mutex::new(HashSet::from([rows]));
        let whole = plan.prepare(&model, rows).map_err(|unfit| cannot_run(unfit.what))?;
        if let Some(graph) = &mut model.graph {
            graph.node = whole.nodes;
        }
        let bytes = model.encode_to_vec();
        drop(model);
        let model = ModelOptions::with_all_ops().load(bytes).map_err(failed)?;
        Ok(Loaded { model, plan, rows, shapes: whole.shapes })
    });
    loaded?
}

/// Returns a model without the numbers of its large constants, which decide nothing.
fn outline(model: &mut proto::Model) -> proto::Model {
    let is_large = |tensor: &Tensor| count(&tensor.dims) > FOLDED;
    let mut aside = Vec::new();
    let mut lay_aside = |tensor: &mut Tensor| {
        if is_large(tensor) {
            let (dims, data_type, name) =
                (tensor.dims.clone(), tensor.data_type, tensor.name.clone());
            let bare = Tensor { dims, data_type, name, ..Tensor::default() };
            aside.push(mem::replace(tensor, bare));
        }
        Ok::<(), Infallible>(())
    };
    let Ok(()) = model.graph.iter_mut().try_for_each(|graph| graph.each_tensor(&mut lay_aside));
    let outline = model.clone();
    let mut aside = aside.into_iter();
    let mut put_back = |tensor: &mut Tensor| {
        if is_large(tensor)
            && let Some(whole) = aside.next()
        {
            *tensor = whole;
        }
        Ok::<(), Infallible>(())
    };
    let Ok(()) = model.graph.iter_mut().try_for_each(|graph| graph.each_tensor(&mut put_back));
    outline
}

/// Returns why a model cannot be run, with what mends it.
fn cannot_run(error: impl Display) -> Error {
    let error = error.to_string();
    let what = format!("cannot run the model: {error}");
    if error.contains("training_mode") {
        return Error::new(what, "it was exported in training mode: call eval() before the export");
    }
    let is_unknown = ["unknown operator", "not supported", "depends on"];
    match is_unknown.iter().any(|word| error.contains(word)) {
        true => Error::new(what, "measure it from Python, or export it with opset 17"),
        false => what.into(),
    }
}

/// Returns the error of a model that the runtime does not load or run.
fn failed(error: impl Display) -> Error {
    cannot_run(error).of_kind(Kind::Policy)
}

impl Session {
    /// Loads a model, which takes `batch` rows at a time if it is given.
    pub(super) fn new(
        model: proto::Model,
        inputs: Vec<Input>,
        kept: &[ModelOutput],
        batch: Option<usize>,
        limit: Duration,
    ) -> Result<Session, Error> {
        let Loaded { model, plan, rows: most, shapes } = load(model, &inputs, batch, limit)?;
        let id = |name: &str| model.node_id(name).map_err(|error| error.to_string());
        let with_id = |input: Input| Ok::<_, String>((id(&input.name)?, input));
        let inputs = inputs.into_iter().map(with_id).collect::<Result<_, _>>()?;
        let with_id = |kept: &ModelOutput| Ok::<_, String>((id(&kept.tensor)?, kept.clone()));
        let outputs = kept.iter().map(with_id).collect::<Result<_, _>>()?;
        let (model, plan) = (Arc::new(model), Arc::new(plan));
        let (failed, idle) = (OnceLock::new(), Mutex::default());
        Ok(Session { model, inputs, batch, most, plan, outputs, shapes, limit, failed, idle })
    }

    /// Describes the input of the legal moves, if there is one.
    pub(super) fn mask(&self) -> String {
        let mask = self.inputs.get(1);
        mask.map_or(String::new(), |(_, mask)| format!("; legal moves as `{}`", mask.name))
    }

    /// Restricts the outputs to compute.
    pub(super) fn select(&mut self, names: &[String]) {
        self.outputs.retain(|(_, output)| names.contains(&output.name));
    }

    /// Runs the model on `count` rows written by `fill`. After a panic or timeout it is not run again.
    pub(super) fn run(&self, count: usize, fill: &Fill<'_>) -> Result<Vec<OutputRows>, Error> {
        if let Some(failed) = self.failed.get() {
            return Err(failed.clone());
        }
        let (mut inputs, mut parts) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < count {
            let expected = (count - first).min(self.most);
            let rows = self.batch.unwrap_or(expected.next_multiple_of(GRAIN));
            let mut values = Vec::new();
            for (which, (id, input)) in self.inputs.iter().enumerate() {
                let length = input.shape.iter().product::<usize>();
                let mut numbers = vec![0.0; rows * length];
                for (at, row) in numbers.chunks_exact_mut(length).enumerate() {
                    fill(which, first + at.min(expected - 1), row);
                }
                values.push((*id, input.value(rows, numbers)?));
            }
            inputs.push(values);
            parts.push((rows, expected));
            first += expected;
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop();
        let pool = pool.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let (model, plan) = (self.model.clone(), self.plan.clone());
        let sizes: Vec<usize> = parts.iter().map(|&(rows, _)| rows).collect();
        let wanted: Vec<NodeId> = self.outputs.iter().map(|&(id, _)| id).collect();
        let ran = isolated(self.limit, {
            let pool = pool.clone();
            let run = move |values: Vec<(NodeId, Value)>| {
                let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
                let values = values.into_iter().map(|(id, value)| (id, value.into()));
                model.run(values.collect(), &wanted, Some(options)).map_err(failed)
            };
            move || {
                sizes.into_iter().try_for_each(|rows| plan.check(rows))?;
                inputs.into_iter().map(run).collect::<Result<Vec<_>, Error>>()
            }
        });
        let ran = ran.inspect_err(|error| drop(self.failed.set(error.clone())))?;
        idle().push(pool);
        let ran = ran?;
        let named = |(_, output): &(NodeId, ModelOutput)| OutputRows {
            name: output.name.clone(),
            classes: output.classes.clone(),
            ..OutputRows::default()
        };
        let mut outputs: Vec<OutputRows> = self.outputs.iter().map(named).collect();
        for (values, (rows, expected)) in ran.into_iter().zip(parts) {
            for ((output, value), (_, kept)) in outputs.iter_mut().zip(values).zip(&self.outputs) {
                append(output, value, (rows, expected), kept.activation)?;
            }
        }
        match outputs.iter().all(|output| output.numbers.len() == count * output.width) {
            true => Ok(outputs),
            false => Err("invalid output: its shape depends on the batch".into()),
        }
    }
}

impl Input {
    /// Returns the name, whether there are rows, and the shape of one.
    fn sizes(&self) -> (String, bool, Vec<usize>) {
        (self.name.clone(), self.has_rows, self.shape.clone())
    }

    /// Converts numbers to the element type.
    fn value(&self, rows: usize, numbers: Vec<f32>) -> Result<Value, String> {
        let rows = if self.has_rows { &[rows][..] } else { &[] };
        let shape = [rows, self.shape.as_slice()].concat();
        let whole = numbers.iter().map(|&number| number as i32);
        fn wrong(error: impl std::fmt::Display) -> String {
            format!("cannot create the input: {error}")
        }
        match self.kind {
            FLOAT => Value::from_shape(shape, numbers).map_err(wrong),
            2 => {
                Value::from_shape(shape, whole.map(|n| n as u8).collect::<Vec<_>>()).map_err(wrong)
            }
            3 => {
                Value::from_shape(shape, whole.map(|n| n as i8).collect::<Vec<_>>()).map_err(wrong)
            }
            // The runtime stores 64-bit integers and booleans as 32 bits.
            _ => Value::from_shape(shape, whole.collect::<Vec<_>>()).map_err(wrong),
        }
    }
}

/// Appends the first `expected` of some rows to those of an output.
fn append(
    output: &mut OutputRows,
    value: Value,
    (rows, expected): (usize, usize),
    activation: Option<Squash>,
) -> Result<(), String> {
    let (numbers, is_integer): (Vec<f32>, bool) = match value {
        Value::FloatTensor(tensor) => (tensor.to_vec(), false),
        Value::Int32Tensor(tensor) => (tensor.iter().map(|&n| n as f32).collect(), true),
        Value::Int8Tensor(tensor) => (tensor.iter().map(|&n| f32::from(n)).collect(), true),
        Value::UInt8Tensor(tensor) => (tensor.iter().map(|&n| f32::from(n)).collect(), true),
        _ => return Err("invalid output: a list, expected a tensor".to_string()),
    };
    let width = if numbers.len() % rows == 0 { numbers.len() / rows } else { 0 };
    if !output.numbers.is_empty() && width != output.width {
        return Err("invalid output: its shape depends on the batch".to_string());
    }
    (output.width, output.is_integer) = (width, is_integer);
    let numbers = numbers[..expected * width].iter();
    let squash = |&sum: &f32| f64::from(activation.map_or(sum, |of| of.of(sum)));
    output.numbers.extend(numbers.map(squash));
    Ok(())
}
