//! Runs a model on many rows, on as many threads as ask at the same time.
//!
//! The runtime has threads of its own, and a thread of rayon that waits for them takes up other
//! work meanwhile, so that ever more models would run at once. Therefore each call runs its model
//! on one thread of the runtime and waits for it without doing anything else: as many threads
//! compute as call.

use std::sync::{Arc, Mutex, PoisonError};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::AsView;

use super::file::ModelOutput;

/// How many rows are run at once where the model takes any number.
const ROWS: usize = 1024;
/// Rows are filled up to a multiple of this, because few rows may take another way through the
/// arithmetic, and the answer for a row must not depend on how many there are.
const GRAIN: usize = 16;

/// A model that is ready to run, with one input.
pub(crate) struct Session {
    model: Model,
    input: NodeId,
    /// ONNX's number for the type of the input's elements.
    kind: i32,
    /// The shape of one row of the input.
    shape: Vec<usize>,
    /// How many rows the model takes, if it takes just so many.
    batch: Option<usize>,
    /// The outputs that are computed.
    outputs: Vec<NodeId>,
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

/// What an output says of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Output {
    /// How many numbers it has for a row; 0 if their number is no multiple of that of the rows.
    pub width: usize,
    /// Whether they are integers.
    pub is_integer: bool,
    /// The numbers, row by row.
    pub numbers: Vec<f32>,
}

impl Output {
    /// The numbers of a row.
    pub fn row(&self, at: usize) -> &[f32] {
        &self.numbers[at * self.width..(at + 1) * self.width]
    }
}

/// Writes the numbers of the row at a place.
pub(crate) type Fill<'a> = dyn Fn(usize, &mut [f32]) + Sync + 'a;

/// The type of floats of 32 bits.
const FLOAT: i32 = 1;
/// The types of input that can be filled.
pub(super) const INPUT_KINDS: [i32; 6] = [FLOAT, 2, 3, 6, 7, 9];

/// Reads a model: from `bytes`, or from the file at `path`, whose weights may lie in files beside
/// it.
pub(super) fn load(path: &std::path::Path, bytes: Vec<u8>, is_own: bool) -> Result<Model, String> {
    let options = ModelOptions::with_all_ops();
    let is_named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("onnx"));
    let model = if is_own && is_named { options.load_file(path) } else { options.load(bytes) };
    model.map_err(|error| format!("it cannot be run: {error}"))
}

impl Session {
    /// A model of our own, which takes floats in rows of a shape; with these outputs.
    pub fn of_floats(
        model: Vec<u8>,
        shape: Vec<usize>,
        outputs: impl Iterator<Item = String>,
    ) -> Result<Session, String> {
        let model = ModelOptions::with_all_ops().load(model);
        let model = model.map_err(|error| format!("it cannot be run: {error}"))?;
        let kept = |name: String| ModelOutput { tensor: name.clone(), name, classes: None };
        Session::new(model, &outputs.map(kept).collect::<Vec<_>>(), FLOAT, shape, None)
    }

    /// `kind` is one of [`INPUT_KINDS`].
    pub(super) fn new(
        model: Model,
        kept: &[ModelOutput],
        kind: i32,
        shape: Vec<usize>,
        batch: Option<usize>,
    ) -> Result<Session, String> {
        let &[input] = model.input_ids() else {
            return Err("it has more than one input".to_string());
        };
        let id =
            |kept: &ModelOutput| model.node_id(&kept.tensor).map_err(|error| error.to_string());
        let outputs = kept.iter().map(id).collect::<Result<_, _>>()?;
        Ok(Session { model, input, kind, shape, batch, outputs, idle: Mutex::default() })
    }

    /// Computes only some of the outputs from now on.
    pub fn select(&mut self, outputs: &[usize]) {
        self.outputs = outputs.iter().map(|&at| self.outputs[at]).collect();
    }

    /// Runs the model on `count` rows that `fill` writes.
    pub fn run(&self, count: usize, fill: &Fill<'_>) -> Result<Vec<Output>, String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop();
        let pool = pool.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let ran = std::thread::scope(|scope| {
            let work = || pool.run(|| self.run_here(count, fill, &pool));
            let thread = std::thread::Builder::new().spawn_scoped(scope, work);
            let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
            thread.join().map_err(|_| "the model's runtime failed".to_string())?
        });
        idle().push(pool);
        ran
    }

    fn run_here(
        &self,
        count: usize,
        fill: &Fill<'_>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Vec<Output>, String> {
        let mut outputs = vec![Output::default(); self.outputs.len()];
        let length = self.shape.iter().product::<usize>();
        let mut first = 0;
        while first < count {
            let expected = (count - first).min(self.batch.unwrap_or(ROWS));
            let rows = self.batch.unwrap_or(expected.next_multiple_of(GRAIN));
            let mut numbers = vec![0.0; rows * length];
            for (at, row) in numbers.chunks_exact_mut(length).enumerate() {
                fill(first + at.min(expected - 1), row);
            }
            let input = self.value(rows, numbers)?;
            let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
            let values =
                self.model.run(vec![(self.input, input.into())], &self.outputs, Some(options));
            let values = values.map_err(|error| format!("it cannot be run: {error}"))?;
            for (output, value) in outputs.iter_mut().zip(values) {
                output.append(value, rows, expected)?;
            }
            first += expected;
        }
        Ok(outputs)
    }

    /// Numbers as the model wants to have them.
    fn value(&self, rows: usize, numbers: Vec<f32>) -> Result<Value, String> {
        let shape = [&[rows], self.shape.as_slice()].concat();
        let wrong = |error: &dyn std::fmt::Display| format!("its input cannot be made: {error}");
        match self.kind {
            FLOAT => Value::from_shape(shape, numbers).map_err(|e| wrong(&e)),
            2 => {
                let numbers: Vec<u8> = numbers.iter().map(|&n| n as u8).collect();
                Value::from_shape(shape, numbers).map_err(|e| wrong(&e))
            }
            3 => {
                let numbers: Vec<i8> = numbers.iter().map(|&n| n as i8).collect();
                Value::from_shape(shape, numbers).map_err(|e| wrong(&e))
            }
            // The runtime holds integers of 64 bits, and truth values, as 32 bits.
            _ => {
                let numbers: Vec<i32> = numbers.iter().map(|&n| n as i32).collect();
                Value::from_shape(shape, numbers).map_err(|e| wrong(&e))
            }
        }
    }
}

impl Output {
    /// Adds the first `expected` of some rows.
    fn append(&mut self, value: Value, rows: usize, expected: usize) -> Result<(), String> {
        let (numbers, is_integer): (Vec<f32>, bool) = match value {
            Value::FloatTensor(tensor) => (tensor.to_vec(), false),
            Value::Int32Tensor(tensor) => (tensor.iter().map(|&n| n as f32).collect(), true),
            Value::Int8Tensor(tensor) => (tensor.iter().map(|&n| f32::from(n)).collect(), true),
            Value::UInt8Tensor(tensor) => (tensor.iter().map(|&n| f32::from(n)).collect(), true),
            _ => return Err("one of its outputs is a list, not a tensor".to_string()),
        };
        let width = if numbers.len() % rows == 0 { numbers.len() / rows } else { 0 };
        if !self.numbers.is_empty() && width != self.width {
            return Err("one of its outputs changes its shape from batch to batch".to_string());
        }
        (self.width, self.is_integer) = (width, is_integer);
        self.numbers.extend_from_slice(&numbers[..expected * width]);
        Ok(())
    }
}
