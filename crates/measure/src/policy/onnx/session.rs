//! Runs a model on many rows, on as many threads as call it.
//!
//! The runtime has its own thread pool, and a rayon thread waiting for it would take up other work meanwhile,
//! starting ever more models. So each call runs its model on one runtime thread and blocks ([`apart`]): as
//! many threads compute as call.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::AsView;

use super::apart::apart;
use super::file::{ModelOutput, Squash};
use yomikiri::hint::Hinted;

/// Number of rows per run, if the model accepts any number.
const ROWS: usize = 1024;
/// Batches are padded to a multiple of this: small batches may take another code path, and the answer for a
/// row must not depend on their size.
const GRAIN: usize = 16;

/// A model ready to run, with one input.
pub(super) struct Session {
    model: Arc<Model>,
    input: NodeId,
    /// ONNX's number of the input's element type.
    kind: i32,
    /// Shape of one row of the input.
    shape: Vec<usize>,
    /// Number of rows, if the model fixes it.
    batch: Option<usize>,
    /// Outputs to compute, with their activations.
    outputs: Vec<(NodeId, Option<Squash>)>,
    /// Time limit for up to [`ROWS`] rows.
    limit: Duration,
    /// Error that ended the use of the model.
    failed: OnceLock<Hinted>,
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

/// Numbers of one output for some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OutputRows {
    /// Numbers per row; 0 if the output is not divisible by the number of rows.
    pub width: usize,
    /// `true` for integers.
    pub is_integer: bool,
    /// Numbers, row by row.
    pub numbers: Vec<f32>,
}

impl OutputRows {
    /// Returns the numbers of a row.
    pub(super) fn row(&self, at: usize) -> &[f32] {
        &self.numbers[at * self.width..(at + 1) * self.width]
    }
}

/// Writes the input of the row at an index.
pub(super) type Fill<'a> = dyn Fn(usize, &mut [f32]) + Sync + 'a;

/// ONNX's number of 32-bit floats.
const FLOAT: i32 = 1;
/// Supported element types of the input.
pub(super) const INPUT_KINDS: [i32; 6] = [FLOAT, 2, 3, 6, 7, 9];

/// Loads a model within a time limit: from the file, which may refer to files of weights beside it, or from
/// `bytes`.
pub(super) fn load(
    file: Option<PathBuf>,
    bytes: Vec<u8>,
    limit: Duration,
) -> Result<Model, Hinted> {
    let loaded = apart(limit, move || {
        let options = ModelOptions::with_all_ops();
        file.map_or_else(|| options.load(bytes), |path| options.load_file(path))
    });
    loaded?.map_err(cannot_run)
}

/// Returns the runtime's error with what mends it.
fn cannot_run(error: impl Display) -> Hinted {
    let error = error.to_string();
    let what = format!("cannot run the model: {error}");
    let is_training = ["training_mode", "Dropout operator"].iter().any(|word| error.contains(word));
    if is_training {
        return Hinted::new(
            what,
            "it was exported in training mode: call eval() before the export",
        );
    }
    match error.contains("not supported or not enabled") {
        true => Hinted::new(what, "measure it from Python, or export it with opset 17"),
        false => what.into(),
    }
}

impl Session {
    /// Prepares a model; `kind` is one of [`INPUT_KINDS`].
    pub(super) fn new(
        model: Model,
        kept: &[ModelOutput],
        kind: i32,
        (shape, batch): (Vec<usize>, Option<usize>),
        limit: Duration,
    ) -> Result<Session, String> {
        let &[input] = model.input_ids() else {
            return Err("more than one input".to_string());
        };
        let id = |kept: &ModelOutput| {
            let id = model.node_id(&kept.tensor).map_err(|error| error.to_string())?;
            Ok::<_, String>((id, kept.activation))
        };
        let outputs = kept.iter().map(id).collect::<Result<_, _>>()?;
        let (model, failed, idle) = (Arc::new(model), OnceLock::new(), Mutex::default());
        Ok(Session { model, input, kind, shape, batch, outputs, limit, failed, idle })
    }

    /// Restricts the outputs to compute.
    pub(super) fn select(&mut self, outputs: &[usize]) {
        self.outputs = outputs.iter().map(|&at| self.outputs[at]).collect();
    }

    /// Runs the model on `count` rows written by `fill`. After a panic or timeout it is not run again.
    pub(super) fn run(&self, count: usize, fill: &Fill<'_>) -> Result<Vec<OutputRows>, Hinted> {
        let mut outputs = vec![OutputRows::default(); self.outputs.len()];
        for first in (0..count).step_by(ROWS) {
            self.run_some(first..count.min(first + ROWS), fill, &mut outputs)?;
        }
        Ok(outputs)
    }

    fn run_some(
        &self,
        places: std::ops::Range<usize>,
        fill: &Fill<'_>,
        outputs: &mut [OutputRows],
    ) -> Result<(), Hinted> {
        if let Some(failed) = self.failed.get() {
            return Err(failed.clone());
        }
        let length = self.shape.iter().product::<usize>();
        let (mut inputs, mut parts) = (Vec::new(), Vec::new());
        let mut first = places.start;
        while first < places.end {
            let expected = (places.end - first).min(self.batch.unwrap_or(ROWS));
            let rows = self.batch.unwrap_or(expected.next_multiple_of(GRAIN));
            let mut numbers = vec![0.0; rows * length];
            for (at, row) in numbers.chunks_exact_mut(length).enumerate() {
                fill(first + at.min(expected - 1), row);
            }
            inputs.push(self.value(rows, numbers)?);
            parts.push((rows, expected));
            first += expected;
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop();
        let pool = pool.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let (model, input) = (self.model.clone(), self.input);
        let wanted: Vec<NodeId> = self.outputs.iter().map(|&(id, _)| id).collect();
        let ran = apart(self.limit, {
            let pool = pool.clone();
            let run = move |value: Value| {
                let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
                model.run(vec![(input, value.into())], &wanted, Some(options))
            };
            move || inputs.into_iter().map(run).collect::<Result<Vec<_>, _>>()
        });
        let ran = ran.inspect_err(|error| drop(self.failed.set(error.clone())))?;
        idle().push(pool);
        let ran = ran.map_err(cannot_run)?;
        for (values, (rows, expected)) in ran.into_iter().zip(parts) {
            for ((output, value), (_, activation)) in
                outputs.iter_mut().zip(values).zip(&self.outputs)
            {
                output.append(value, rows, expected, *activation)?;
            }
        }
        Ok(())
    }

    /// Converts numbers to the input's element type.
    fn value(&self, rows: usize, numbers: Vec<f32>) -> Result<Value, String> {
        let shape = [&[rows], self.shape.as_slice()].concat();
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

impl OutputRows {
    /// Appends the first `expected` of the rows.
    fn append(
        &mut self,
        value: Value,
        rows: usize,
        expected: usize,
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
        if !self.numbers.is_empty() && width != self.width {
            return Err("invalid output: its shape depends on the batch".to_string());
        }
        (self.width, self.is_integer) = (width, is_integer);
        let numbers = numbers[..expected * width].iter();
        self.numbers.extend(numbers.map(|&sum| activation.map_or(sum, |of| of.of(sum))));
        Ok(())
    }
}
