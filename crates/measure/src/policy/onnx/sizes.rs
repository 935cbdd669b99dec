//! Shapes of what the nodes of a model compute, by the rules of ONNX's operators (<https://onnx.ai/onnx/operators/>).
//!
//! An operator without a rule here is refused: what it computes has not been compared with ONNX Runtime, and its size
//! is unknown. The runtime infers shapes as well, but it also computes what depends on constants alone, of any size,
//! while it loads a model.

use std::collections::HashMap;

use super::proto::{Attribute, Node, Tensor};

/// Shape of a tensor, and its numbers if they are known before the model is run.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub shape: Vec<i64>,
    /// Its numbers, if they are few and known.
    pub numbers: Option<Tensor>,
}

impl Known {
    pub(super) fn without_numbers(self) -> Known {
        Known { numbers: None, ..self }
    }
}

/// Returns the number of elements, saturated.
pub(super) fn count(shape: &[i64]) -> u64 {
    shape.iter().map(|&size| size.max(0) as u64).fold(1, u64::saturating_mul)
}

/// A node with what is known of its inputs.
pub(super) struct Op<'a> {
    pub node: &'a Node,
    pub inputs: Vec<Option<&'a Known>>,
    /// Version of the set of operators.
    pub version: i64,
}

/// Up to this size, 32-bit floats are exact for all integers.
const EXACT: f64 = (1 << 24) as f64;

/// Shapes of the outputs, and how many numbers are computed on the way.
pub(super) type OutputSizes = (Vec<Vec<i64>>, u64);

impl Op<'_> {
    fn held(&self, name: &str) -> Option<&Attribute> {
        self.node.attribute.iter().find(|held| held.name == name)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.held(name).and_then(|held| held.i).unwrap_or(default)
    }

    pub(super) fn text(&self, name: &str) -> String {
        let held = self.held(name).and_then(|held| held.s.as_deref());
        String::from_utf8_lossy(held.unwrap_or_default()).into_owned()
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.held(name).map(|held| held.ints.clone())
    }

    /// Returns what is known of an optional input.
    pub(super) fn known(&self, at: usize) -> Option<&Known> {
        self.inputs.get(at).copied().flatten()
    }

    pub(super) fn shape(&self, at: usize) -> Result<&[i64], String> {
        let known = self.known(at).ok_or_else(|| format!("no input {}", at + 1))?;
        Ok(&known.shape)
    }

    /// Returns the numbers of an optional input, which are known before the model is run.
    fn numbers(&self, at: usize) -> Result<Option<Vec<f64>>, String> {
        let Some(known) = self.known(at) else { return Ok(None) };
        let numbers = known.numbers.as_ref().map(Tensor::numbers);
        let what = || format!("its size depends on numbers that are computed (input {})", at + 1);
        numbers.map(Some).ok_or_else(what)
    }

    /// Returns the first number of the first input, if it is known.
    pub(super) fn first(&self) -> Option<f64> {
        self.known(0)?.numbers.as_ref()?.numbers().first().copied()
    }

    /// Returns the integers of an attribute or, in newer operators, of an optional input.
    pub(super) fn list(&self, name: &str, at: usize) -> Result<Option<Vec<i64>>, String> {
        match self.held(name) {
            Some(held) => Ok(Some(held.ints.iter().copied().chain(held.i).collect())),
            None => Ok(self.numbers(at)?.map(|list| list.iter().map(|&n| n as i64).collect())),
        }
    }

    fn required(&self, name: &str, at: usize) -> Result<Vec<i64>, String> {
        self.list(name, at)?.ok_or_else(|| format!("no {name}"))
    }

    /// Shapes of the outputs.
    pub(super) fn output_sizes(&self) -> Result<OutputSizes, String> {
        let shape = match self.node.op_type.as_str() {
            "Abs"
            | "Acos"
            | "Acosh"
            | "Asin"
            | "Asinh"
            | "Atan"
            | "Atanh"
            | "Cast"
            | "Ceil"
            | "Clip"
            | "Cos"
            | "Cosh"
            | "CumSum"
            | "DequantizeLinear"
            | "Elu"
            | "Erf"
            | "Exp"
            | "EyeLike"
            | "Floor"
            | "Gelu"
            | "HardSigmoid"
            | "HardSwish"
            | "Identity"
            | "InstanceNormalization"
            | "IsInf"
            | "IsNaN"
            | "LayerNormalization"
            | "LeakyRelu"
            | "Log"
            | "LogSoftmax"
            | "LpNormalization"
            | "Neg"
            | "Not"
            | "QuantizeLinear"
            | "RMSNormalization"
            | "Reciprocal"
            | "Relu"
            | "ReverseSequence"
            | "Round"
            | "ScatterElements"
            | "ScatterND"
            | "Sigmoid"
            | "Sign"
            | "Sin"
            | "Sinh"
            | "Softmax"
            | "Softplus"
            | "Softsign"
            | "Sqrt"
            | "Tan"
            | "Tanh"
            | "Trilu"
            | "BatchNormalization" => self.shape(0)?.to_vec(),
            "Add" | "And" | "Div" | "Equal" | "Greater" | "GreaterOrEqual" | "Less"
            | "LessOrEqual" | "Max" | "Mean" | "Min" | "Mod" | "Mul" | "Or" | "PRelu" | "Pow"
            | "Sub" | "Sum" | "Where" | "Xor" => {
                let shapes = (0..self.inputs.len()).map(|at| self.shape(at));
                shapes.into_iter().try_fold(vec![], |all, shape| broadcast(&all, shape?))?
            }
            "ArgMax" | "ArgMin" => self.reduced(vec![self.int("axis", 0)])?,
            "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax"
            | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => {
                self.reduced(self.list("axes", 1)?.unwrap_or_default())?
            }
            "AveragePool" | "MaxPool" => self.windows(self.ints("kernel_shape"), 1)?,
            "Concat" => self.joined()?,
            "ConstantOfShape" => self.required("", 0)?,
            "Conv" => self.windows(None, self.shape(1)?.first().copied().unwrap_or(0))?,
            "ConvTranspose" => return self.spread(),
            "DepthToSpace" => self.deep()?,
            "DynamicQuantizeLinear" => {
                return Ok((vec![self.shape(0)?.to_vec(), vec![], vec![]], 0));
            }
            "Einsum" => return self.einsum(),
            "Expand" => broadcast(self.shape(0)?, &self.required("shape", 1)?)?,
            "Flatten" => {
                let (shape, axis) = (self.shape(0)?, self.int("axis", 1));
                // All dimensions may be in the first.
                let axis = if axis < 0 { self.axis(axis, shape.len())? as i64 } else { axis };
                let (rows, columns) = shape.split_at(self.axis(axis, shape.len() + 1)?);
                vec![count(rows) as i64, count(columns) as i64]
            }
            "Gather" => {
                let mut shape = self.shape(0)?.to_vec();
                let axis = self.axis(self.int("axis", 0), shape.len())?;
                shape.splice(axis..=axis, self.shape(1)?.iter().copied());
                shape
            }
            "GatherElements" => self.shape(1)?.to_vec(),
            "GatherND" => {
                let (data, indices) = (self.shape(0)?, self.shape(1)?);
                let (last, shape) = indices.split_last().ok_or("no indices")?;
                let within = self.int("batch_dims", 0).saturating_add(*last);
                let rest = usize::try_from(within).ok().and_then(|within| data.get(within..));
                [shape, rest.ok_or("indices that are too long")?].concat()
            }
            "Gemm" => {
                let side = |at: usize, name: &str| match *self.shape(at)? {
                    [rows, columns] if self.int(name, 0) == 0 => Ok([rows, columns]),
                    [rows, columns] => Ok([columns, rows]),
                    _ => Err("not matrices".to_string()),
                };
                product(&side(0, "transA")?, &side(1, "transB")?)?
            }
            "GlobalAveragePool" | "GlobalMaxPool" => {
                let whole = |(at, &size): (usize, &i64)| if at < 2 { size } else { 1 };
                self.shape(0)?.iter().enumerate().map(whole).collect()
            }
            "GRU" | "LSTM" => return self.steps(),
            "MatMul" | "MatMulInteger" => product(self.shape(0)?, self.shape(1)?)?,
            "OneHot" => {
                let mut shape = self.shape(0)?.to_vec();
                let depth = self.required("", 1)?;
                let axis = self.axis(self.int("axis", -1), shape.len() + 1)?;
                shape.insert(axis, *depth.first().ok_or("no depth")?);
                shape
            }
            "Pad" => {
                let (shape, pads) = (self.shape(0)?, self.required("pads", 1)?);
                if self.known(3).is_some() || pads.len() != 2 * shape.len() {
                    return Err("expected two pads for each dimension, without axes".into());
                }
                let ends = pads[shape.len()..].iter();
                let pads = pads.iter().zip(ends).map(|(start, end)| start.saturating_add(*end));
                shape.iter().zip(pads).map(|(size, pad)| size.saturating_add(pad)).collect()
            }
            "Range" => {
                let number = |at: usize| {
                    let number = self.numbers(at)?.and_then(|list| list.first().copied());
                    number.ok_or_else(|| "no number".to_string())
                };
                let [start, limit, delta] = [number(0)?, number(1)?, number(2)?];
                // The runtime adds step by step in 32 bits: exact for these numbers, and an end is reached.
                let is_exact = |scale: f64| {
                    [start, limit, delta].into_iter().all(|number| {
                        (number * scale).fract() == 0.0 && (number * scale).abs() <= EXACT
                    })
                };
                if delta == 0.0 || !(is_exact(1.0) || is_exact(1024.0)) {
                    return Err(format!("from {start} to {limit} by {delta} is not supported"));
                }
                vec![((limit - start) / delta).ceil().max(0.0) as i64]
            }
            "Reshape" => self.reshaped()?,
            "Resize" | "Upsample" => self.resized()?,
            "Shape" => vec![self.sizes()?.len() as i64],
            "Size" => vec![],
            "Slice" => self.sliced()?,
            "Split" => return Ok((self.split()?, 0)),
            "Squeeze" => {
                let shape = self.shape(0)?;
                let axes = self.axes(self.list("axes", 1)?.unwrap_or_default(), shape.len())?;
                let is_kept = |&(at, &size): &(usize, &i64)| match axes.is_empty() {
                    true => size != 1,
                    false => !axes.contains(&at),
                };
                shape.iter().enumerate().filter(is_kept).map(|(_, &size)| size).collect()
            }
            "Tile" => {
                let times = self.required("", 1)?;
                let sizes = self.shape(0)?.iter().zip(&times);
                sizes.map(|(size, times)| size.saturating_mul(*times)).collect()
            }
            "TopK" => {
                let mut shape = self.shape(0)?.to_vec();
                let axis = self.axis(self.int("axis", -1), shape.len())?;
                let most = *self.required("k", 1)?.first().ok_or("no k")?;
                if most > shape[axis] {
                    return Err(format!("k={most} of {} numbers", shape[axis]));
                }
                shape[axis] = most;
                return Ok((vec![shape; 2], 0));
            }
            "Transpose" => {
                let shape = self.shape(0)?;
                let order = self.ints("perm").unwrap_or((0..shape.len() as i64).rev().collect());
                self.axes(order, shape.len())?.iter().map(|&at| shape[at]).collect()
            }
            "Unsqueeze" => {
                let (shape, axes) = (self.shape(0)?, self.required("axes", 1)?);
                let mut axes = self.axes(axes.clone(), shape.len() + axes.len())?;
                axes.sort_unstable();
                let mut shape = shape.to_vec();
                axes.iter().for_each(|&at| shape.insert(at.min(shape.len()), 1));
                shape
            }
            _ => return Err("unknown operator".into()),
        };
        Ok((vec![shape; self.node.output.len()], 0))
    }

    fn axis(&self, axis: i64, rank: usize) -> Result<usize, String> {
        let at = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        let found = usize::try_from(at).ok().filter(|&at| at < rank);
        found.ok_or_else(|| format!("axis {axis} of {rank} dimensions"))
    }

    fn axes(&self, axes: Vec<i64>, rank: usize) -> Result<Vec<usize>, String> {
        axes.into_iter().map(|axis| self.axis(axis, rank)).collect()
    }

    /// Shape without some dimensions, or with 1 for each; all if none is given.
    fn reduced(&self, axes: Vec<i64>) -> Result<Vec<i64>, String> {
        let shape = self.shape(0)?;
        let axes = self.axes(axes, shape.len())?;
        let is_reduced = |at: usize| axes.is_empty() || axes.contains(&at);
        let keeps = self.int("keepdims", 1) != 0;
        let sizes = shape.iter().enumerate().map(|(at, &size)| (is_reduced(at), size));
        let sizes = sizes.filter(|(is_reduced, _)| keeps || !is_reduced);
        Ok(sizes.map(|(is_reduced, size)| if is_reduced { 1 } else { size }).collect())
    }

    fn joined(&self) -> Result<Vec<i64>, String> {
        let mut shape = self.shape(0)?.to_vec();
        let axis =
            self.axis(self.held("axis").and_then(|held| held.i).ok_or("no axis")?, shape.len())?;
        for at in 1..self.inputs.len() {
            let more = self.shape(at)?.get(axis).ok_or("inputs of different ranks")?;
            shape[axis] = shape[axis].saturating_add(*more);
        }
        Ok(shape)
    }

    fn deep(&self) -> Result<Vec<i64>, String> {
        let [rows, depth, height, width] = *self.shape(0)? else { return Err("not planes".into()) };
        let block = self.int("blocksize", 1).max(1);
        let area = block.saturating_mul(block);
        if depth % area != 0 {
            return Err(format!("a depth of {depth} by blocks of {area}"));
        }
        let [height, width] = [height, width].map(|size| size.saturating_mul(block));
        Ok(vec![rows, depth / area, height, width])
    }

    fn reshaped(&self) -> Result<Vec<i64>, String> {
        let (shape, wanted) = (self.shape(0)?, self.required("shape", 1)?);
        let copies = self.int("allowzero", 0) == 0;
        let copied = |(at, &size): (usize, &i64)| match size {
            0 if copies => shape.get(at).copied().ok_or("a size of no dimension"),
            size => Ok(size),
        };
        let mut new = wanted.iter().enumerate().map(copied).collect::<Result<Vec<_>, _>>()?;
        if let Some(open) = new.iter().position(|&size| size == -1) {
            new[open] = 1;
            new[open] = count(shape).checked_div(count(&new)).unwrap_or(0) as i64;
        }
        match count(shape) == count(&new) {
            true => Ok(new),
            false => Err(format!("{} do not reshape to {}", sizes(shape), sizes(&wanted))),
        }
    }

    fn resized(&self) -> Result<Vec<i64>, String> {
        let shape = self.shape(0)?;
        let is_old = self.node.op_type == "Upsample";
        let scales = match self.held("scales") {
            Some(held) => Some(held.floats.iter().map(|&scale| f64::from(scale)).collect()),
            None => self.numbers(if is_old { 1 } else { 2 })?,
        };
        if let Some(scales) = scales.filter(|scales| !scales.is_empty()) {
            let sizes = shape.iter().zip(scales);
            // In 32 bits, as it is computed.
            let scaled = |size: i64, scale: f64| (size as f32 * scale as f32).floor() as i64;
            return Ok(sizes.map(|(&size, scale)| scaled(size, scale)).collect());
        }
        self.list("", 3)?.ok_or_else(|| "no sizes".to_string())
    }

    /// The part of a shape that the operator `Shape` has.
    pub(super) fn sizes(&self) -> Result<Vec<i64>, String> {
        let shape = self.shape(0)?;
        let rank = shape.len() as i64;
        let at = |name: &str, default: i64| {
            let at = self.int(name, default);
            (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize
        };
        Ok(shape.get(at("start", 0)..at("end", rank)).unwrap_or_default().to_vec())
    }

    fn sliced(&self) -> Result<Vec<i64>, String> {
        let mut shape = self.shape(0)?.to_vec();
        let (starts, ends) = (self.required("starts", 1)?, self.required("ends", 2)?);
        let axes = self.list("axes", 3)?.unwrap_or((0..starts.len() as i64).collect());
        let axes = self.axes(axes, shape.len())?;
        let steps = self.list("steps", 4)?.unwrap_or(vec![1; axes.len()]);
        if [starts.len(), ends.len(), steps.len()] != [axes.len(); 3] {
            return Err("starts, ends, axes and steps of different lengths".into());
        }
        for (at, axis) in axes.into_iter().enumerate() {
            let (size, step) = (shape[axis], steps[at]);
            let place = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
            let (low, high) = if step < 0 { (-1, size - 1) } else { (0, size) };
            let start = place(starts[at]).max(0).min(high);
            let span = place(ends[at]).max(low).min(high) - start;
            shape[axis] = match step {
                0 => return Err("a step of 0".into()),
                step if (span < 0) != (step < 0) => 0,
                step => span.unsigned_abs().div_ceil(step.unsigned_abs()) as i64,
            };
        }
        Ok(shape)
    }

    fn split(&self) -> Result<Vec<Vec<i64>>, String> {
        let shape = self.shape(0)?;
        let axis = self.axis(self.int("axis", 0), shape.len())?;
        let parts = self.node.output.len().max(1) as i64;
        let sizes = self.list("split", 1)?.unwrap_or_else(|| {
            let each = shape[axis].unsigned_abs().div_ceil(parts as u64) as i64;
            (0..parts).map(|at| each.min(shape[axis] - each * at).max(0)).collect()
        });
        if sizes.iter().fold(0, |sum: i64, &size| sum.saturating_add(size)) != shape[axis] {
            return Err("parts that are not the whole".into());
        }
        let part = |size: &i64| {
            let mut shape = shape.to_vec();
            shape[axis] = *size;
            shape
        };
        Ok(sizes.iter().map(part).collect())
    }

    /// Shape of recurrent operators: all steps, then the last state, and the memory.
    fn steps(&self) -> Result<OutputSizes, String> {
        let [steps, rows, _] = *self.shape(0)? else { return Err("not a sequence".into()) };
        let weights = self.shape(2)?;
        let [ways, all, hidden] = *weights else {
            return Err("not three dimensions of weights".into());
        };
        if self.int("layout", 0) != 0 {
            return Err("layout=1 is not supported".into());
        }
        let state = vec![ways, rows, hidden];
        let sums = count(&[steps, rows, ways, all]);
        Ok((vec![vec![steps, ways, rows, hidden], state.clone(), state], sums))
    }

    fn einsum(&self) -> Result<OutputSizes, String> {
        let text: String = self.text("equation").replace(' ', "");
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output.to_string())),
            None => (text.as_str(), None),
        };
        let mut found: HashMap<char, i64> = HashMap::new();
        let mut rest: Vec<i64> = Vec::new();
        for (at, term) in inputs.split(',').enumerate() {
            let shape = self.shape(at)?;
            let named = term.replace("...", "").len();
            let open = shape.len().checked_sub(named).ok_or("too many letters")?;
            let before = term.split("...").next().unwrap_or_default().len();
            let (first, last) = shape.split_at(before.min(shape.len()));
            let (middle, last) = last.split_at(if term.contains("...") { open } else { 0 });
            if !term.contains("...") && open > 0 {
                return Err("too few letters".into());
            }
            rest = broadcast(&rest, middle)?;
            let letters = term.chars().filter(|letter| *letter != '.');
            for (letter, &size) in letters.zip(first.iter().chain(last)) {
                let known = found.entry(letter).or_insert(size);
                *known = (*known).max(size);
            }
        }
        // Without an output, its letters are those that occur once, in order.
        let output = output.unwrap_or_else(|| {
            let mut once: Vec<char> =
                found.keys().copied().filter(|&c| inputs.matches(c).count() == 1).collect();
            once.sort_unstable();
            let start = if inputs.contains("...") { "..." } else { "" };
            start.chars().chain(once).collect()
        });
        let mut shape = Vec::new();
        let mut parts = output.split("...");
        let letters = |part: &str| {
            part.chars()
                .map(|c| found.get(&c).copied().ok_or("an unknown letter"))
                .collect::<Result<Vec<i64>, _>>()
        };
        shape.extend(letters(parts.next().unwrap_or_default())?);
        if let Some(last) = parts.next() {
            shape.extend(&rest);
            shape.extend(letters(last)?);
        }
        let all: Vec<i64> = found.values().copied().chain(rest).collect();
        Ok((vec![shape], count(&all)))
    }

    /// Shape of what windows on planes give, with a depth unless it is 1.
    fn windows(&self, kernel: Option<Vec<i64>>, depth: i64) -> Result<Vec<i64>, String> {
        let windows = Windows::of(self, kernel.is_none())?;
        let shape = self.shape(0)?;
        let depth = if kernel.is_none() { depth } else { shape[1] };
        Ok([&[shape[0], depth], &windows.sizes[..]].concat())
    }

    /// Shape of a transposed convolution, which computes the share of each input in each place of the kernel.
    fn spread(&self) -> Result<OutputSizes, String> {
        let windows = Windows::of(self, true)?;
        let (shape, weights) = (self.shape(0)?, self.shape(1)?);
        let depth = weights[1].saturating_mul(self.int("group", 1));
        let shares = count(&shape[2..]).saturating_mul(count(&weights[1..]));
        Ok((vec![[&[shape[0], depth], &windows.sizes[..]].concat()], shares))
    }
}

/// Windows of a convolution or pooling, with all attributes.
pub(super) struct Windows {
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    pub pads: Vec<i64>,
    /// Sizes of the result.
    sizes: Vec<i64>,
}

impl Windows {
    /// Kernels are those of the weights, or of an attribute.
    pub(super) fn of(op: &Op<'_>, has_weights: bool) -> Result<Windows, String> {
        let sizes = op.shape(0)?.get(2..).filter(|sizes| !sizes.is_empty()).ok_or("not planes")?;
        let rank = sizes.len();
        let kernel = match has_weights {
            true => op.shape(1)?.get(2..).unwrap_or_default().to_vec(),
            false => op.ints("kernel_shape").unwrap_or_default(),
        };
        let list = |name: &str, default: i64, length: usize| {
            op.ints(name).filter(|list| !list.is_empty()).unwrap_or(vec![default; length])
        };
        let (strides, dilations) = (list("strides", 1, rank), list("dilations", 1, rank));
        let (mut pads, more) = (list("pads", 0, 2 * rank), list("output_padding", 0, rank));
        let lengths = [kernel.len(), strides.len(), dilations.len(), pads.len() / 2, more.len()];
        let all = kernel.iter().chain(&strides).chain(&dilations);
        if lengths != [rank; 5] || pads.len() % 2 == 1 || all.into_iter().any(|&n| n < 1) {
            return Err("sizes of the kernel, strides, dilations or pads that do not fit".into());
        }
        let automatic = op.text("auto_pad");
        let is_transposed = op.node.op_type == "ConvTranspose";
        let given = op.ints("output_shape");
        if automatic == "VALID" {
            pads = vec![0; 2 * rank];
        }
        let mut found = Vec::new();
        for at in 0..rank {
            let (size, stride) = (sizes[at], strides[at]);
            let span = (kernel[at] - 1).saturating_mul(dilations[at]).saturating_add(1);
            // Covered by the windows without pads.
            let whole =
                stride.saturating_mul(size - 1).saturating_add(more[at]).saturating_add(span);
            // Sizes of planes may be among those wanted.
            let wanted = given.as_ref().and_then(|given| given.iter().rev().nth(rank - 1 - at));
            let wanted = match wanted {
                Some(&wanted) => Some(wanted),
                None if !automatic.starts_with("SAME") => None,
                None if is_transposed => Some(size.saturating_mul(stride)),
                None => Some(size.unsigned_abs().div_ceil(stride.unsigned_abs()) as i64),
            };
            if let Some(wanted) = wanted {
                let pad = match is_transposed {
                    true => whole - wanted,
                    false => (stride.saturating_mul(wanted - 1).saturating_add(span) - size).max(0),
                };
                if pad < 0 {
                    return Err("an output that is larger than what is computed".into());
                }
                // The odd one is last if `SAME_UPPER`; of a transposed convolution's, which is cut, if not so.
                let is_last =
                    (automatic == "SAME_UPPER") || (!is_transposed && automatic != "SAME_LOWER");
                let less = pad / 2;
                let (start, end) = if is_last { (less, pad - less) } else { (pad - less, less) };
                (pads[at], pads[at + rank]) = (start, end);
            }
            let padding = pads[at].saturating_add(pads[at + rank]);
            found.push(if is_transposed {
                whole.saturating_sub(padding)
            } else {
                let room = size.saturating_add(padding).saturating_sub(span);
                let mut count = room.div_euclid(stride) + 1;
                if op.int("ceil_mode", 0) != 0 && room.rem_euclid(stride) > 0 {
                    // A window that begins after the end has nothing to cover.
                    let begins = count.saturating_mul(stride);
                    count += i64::from(begins < size.saturating_add(pads[at]));
                }
                count
            });
        }
        Ok(Windows { kernel, strides, dilations, pads, sizes: found })
    }
}

/// Shape of a product of matrices; a list counts as one of one row, or one column.
fn product(left: &[i64], right: &[i64]) -> Result<Vec<i64>, String> {
    let (mut rows, mut columns) = (None, None);
    let (mut outer, mut inner) = (vec![], vec![]);
    if let [rest @ .., row, _] = left {
        (rows, outer) = (Some(*row), rest.to_vec());
    }
    if let [rest @ .., _, column] = right {
        (columns, inner) = (Some(*column), rest.to_vec());
    }
    let shared = [left.last(), right.get(right.len().saturating_sub(2))];
    if shared[0].is_none() || shared[0] != shared[1] {
        return Err(format!("{} times {}", sizes(left), sizes(right)));
    }
    let mut shape = broadcast(&outer, &inner)?;
    shape.extend(rows.into_iter().chain(columns));
    Ok(shape)
}

/// Shape of a pair that is repeated along sizes of 1.
fn broadcast(left: &[i64], right: &[i64]) -> Result<Vec<i64>, String> {
    let rank = left.len().max(right.len());
    let size = |shape: &[i64], at: usize| match (at + shape.len()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    let pair = |at: usize| match (size(left, at), size(right, at)) {
        (1, size) | (size, 1) => Ok(size),
        (left, right) if left == right => Ok(left),
        _ => Err(format!("{} and {}", sizes(left), sizes(right))),
    };
    (0..rank).map(pair).collect()
}

/// Formats a shape.
fn sizes(shape: &[i64]) -> String {
    let sizes = shape.iter().take(8).map(i64::to_string).collect::<Vec<_>>();
    format!("({})", sizes.join(", "))
}
