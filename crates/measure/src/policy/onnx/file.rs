//! Parses ONNX files and removes nodes that no output needs.
//!
//! scikit-learn's classifiers have outputs that are not tensors, and nodes of the domain `ai.onnx.ml` that
//! name the class of each row. The probabilities need neither, so only nodes that lead to computable outputs
//! are kept. A `ZipMap`, which turns rows of probabilities into dictionaries, is skipped, and its class names
//! are kept.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use prost::Message;
use yomikiri::error::Error;

use super::bounds;
use super::half::widen;
use super::proto::{Dimension, Graph, Model, Node, Tensor, Type, ValueInfo};
use super::weights::inline;

/// An input or output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Port {
    pub name: String,
    pub kind: PortKind,
    /// Sizes, each `None` if open; `None` if the file contains no shape.
    pub shape: Option<Vec<Option<usize>>>,
}

/// Type of an input or output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PortKind {
    /// Numbers of one of ONNX's types.
    Tensor(i32),
    /// A list or a dictionary.
    Other,
    /// Not in the file.
    Untold,
}

impl Port {
    /// Formats the port, as `policy float32 (N, 17)`.
    pub(super) fn describe(&self) -> String {
        let kind = match self.kind {
            PortKind::Tensor(1) => "float32",
            PortKind::Tensor(2) => "uint8",
            PortKind::Tensor(3) => "int8",
            PortKind::Tensor(6) => "int32",
            PortKind::Tensor(7) => "int64",
            PortKind::Tensor(8) => "text",
            PortKind::Tensor(9) => "bool",
            PortKind::Tensor(10) => "float16",
            PortKind::Tensor(11) => "float64",
            PortKind::Tensor(_) => "tensor",
            PortKind::Other => "list of dictionaries",
            PortKind::Untold => "",
        };
        let sizes = |shape: &Vec<Option<usize>>| {
            let size = |(at, size): (usize, &Option<usize>)| match (at, size) {
                (_, Some(size)) => size.to_string(),
                (0, None) => "N".to_string(),
                _ => "?".to_string(),
            };
            format!("({})", shape.iter().enumerate().map(size).collect::<Vec<_>>().join(", "))
        };
        let shape = self.shape.as_ref().filter(|_| self.kind != PortKind::Other).map(sizes);
        let parts = [self.name.clone(), kind.to_string(), shape.unwrap_or_default()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn of(info: &ValueInfo) -> Port {
        let kind = info.r#type.as_ref();
        let tensor = kind.and_then(|kind| kind.tensor_type.as_ref());
        let is_other = |kind: &Type| kind.sequence_type.is_some() || kind.map_type.is_some();
        let kind = match tensor.map_or(0, |tensor| tensor.elem_type) {
            _ if kind.is_some_and(is_other) => PortKind::Other,
            0 => PortKind::Untold,
            kind => PortKind::Tensor(kind),
        };
        let size = |dimension: &Dimension| {
            dimension.dim_value.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0)
        };
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref());
        let shape = shape.map(|shape| shape.dim.iter().map(size).collect());
        Port { name: info.name.clone(), kind, shape }
    }
}

impl Node {
    /// Returns the inputs of the node and of its subgraphs.
    pub fn reads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.input.iter().map(String::as_str).collect();
        for graph in self.attribute.iter().flat_map(|held| held.g.iter().chain(&held.graphs)) {
            names.extend(graph.node.iter().flat_map(Node::reads));
            names.extend(graph.output.iter().map(|output| output.name.as_str()));
        }
        names
    }

    /// Returns the attribute `classlabels_int64s`.
    fn classes(&self) -> Option<Vec<i64>> {
        let classes = self.attribute.iter().find(|held| held.name == "classlabels_int64s");
        classes.map(|classes| classes.ints.clone())
    }

    /// Returns `true` for operators that only the full runtime supports.
    fn is_foreign(&self) -> bool {
        self.domain == "ai.onnx.ml"
    }

    fn is_zip_map(&self) -> bool {
        self.is_foreign() && self.op_type == "ZipMap"
    }
}

impl Tensor {
    /// Returns the numbers of a tensor of integers or floats stored in the file; empty for others.
    pub fn numbers(&self) -> Vec<f64> {
        let raw = self.raw_data.as_deref().unwrap_or_default();
        match self.data_type {
            Tensor::FLOAT if raw.is_empty() => self.float_data.iter().map(|&x| x.into()).collect(),
            Tensor::FLOAT => {
                raw.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word).into()).collect()
            }
            Tensor::DOUBLE if raw.is_empty() => self.double_data.clone(),
            Tensor::DOUBLE => {
                raw.as_chunks().0.iter().map(|&word| f64::from_le_bytes(word)).collect()
            }
            _ => self.integers().into_iter().map(|n| n as f64).collect(),
        }
    }

    /// Returns the numbers of a tensor of integers or booleans stored in the file; empty for others.
    fn integers(&self) -> Vec<i64> {
        let raw = self.raw_data.as_deref().unwrap_or_default();
        match self.data_type {
            Tensor::INT64 if raw.is_empty() => self.int64_data.clone(),
            Tensor::INT64 => {
                raw.as_chunks().0.iter().map(|&word| i64::from_le_bytes(word)).collect()
            }
            Tensor::INT32 | Tensor::UINT8 | Tensor::INT8 | Tensor::BOOL if raw.is_empty() => {
                self.int32_data.iter().map(|&n| i64::from(n)).collect()
            }
            Tensor::INT32 => {
                raw.as_chunks().0.iter().map(|&word| i32::from_le_bytes(word).into()).collect()
            }
            Tensor::UINT8 | Tensor::BOOL => raw.iter().map(|&n| i64::from(n)).collect(),
            Tensor::INT8 => raw.iter().map(|&n| i64::from(n as i8)).collect(),
            _ => Vec::new(),
        }
    }
}

/// An output that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelOutput {
    /// Name of the file's output.
    pub name: String,
    /// Name of the tensor.
    pub tensor: String,
    /// Class of each column, if the file contains them.
    pub classes: Option<Vec<i64>>,
    /// Activation to apply to the tensor's numbers.
    pub activation: Option<Squash>,
}

/// Activations of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Squash {
    Sigmoid,
    Tanh,
}

impl Squash {
    pub(super) fn of(self, sum: f32) -> f32 {
        match self {
            Squash::Sigmoid => (sum * 0.5).tanh() * 0.5 + 0.5,
            Squash::Tanh => sum.tanh(),
        }
    }
}

/// A parsed ONNX file.
#[derive(Clone, Debug)]
pub(super) struct File {
    model: Model,
    /// Index of the node that makes each tensor.
    makers: HashMap<String, usize>,
    /// CRC-32 of the file and its weights in other files.
    pub crc32: u32,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

impl File {
    /// Parses a file, with its weights in files beside `path`; fails if it is not an ONNX model, or exceeds the bounds.
    pub(super) fn read(bytes: &[u8], path: Option<&Path>) -> Result<File, Error> {
        let none = || match bytes.starts_with(b"PK") {
            true => Error::new(
                "not an ONNX model but an archive, as of PyTorch",
                "export it: torch.onnx.export(model.eval(), example_planes, 'model.onnx')",
            ),
            false => "not an ONNX model".into(),
        };
        let mut model = Model::decode(bytes).map_err(|_| none())?;
        bounds::check(&mut model)?;
        let crc32 = inline(&mut model, bytes, path)?;
        widen(&mut model);
        File::of(model, crc32).ok_or_else(none)
    }

    fn of(model: Model, crc32: u32) -> Option<File> {
        let graph = model.graph.as_ref().filter(|graph| !graph.node.is_empty())?;
        let constants: HashSet<&str> =
            graph.initializer.iter().map(|constant| constant.name.as_str()).collect();
        // Old files list constants among the inputs.
        let inputs = graph.input.iter().filter(|input| !constants.contains(input.name.as_str()));
        let inputs = inputs.map(Port::of).collect();
        let outputs = graph.output.iter().map(Port::of).collect();
        let nodes = graph.node.iter().enumerate();
        let made = nodes.flat_map(|(at, node)| node.output.iter().map(move |name| (name, at)));
        // If several nodes make a tensor, the first counts.
        let makers = made.rev().map(|(name, at)| (name.clone(), at)).collect();
        Some(File { inputs, outputs, crc32, makers, model })
    }

    fn graph(&self) -> &Graph {
        self.model.graph.as_ref().expect("a file has a graph")
    }

    fn constant(&self, name: &str) -> Option<&Tensor> {
        self.graph().initializer.iter().find(|constant| constant.name == name)
    }

    /// Formats inputs and outputs: `inputs: x float32 (N, 32); outputs: policy float32 (N, 17)`.
    pub(super) fn describe(&self) -> String {
        let list = |ports: &[Port]| ports.iter().map(Port::describe).collect::<Vec<_>>().join(", ");
        format!("inputs: {}; outputs: {}", list(&self.inputs), list(&self.outputs))
    }

    /// Returns the outputs that can be computed, and the nodes they need. Fails if there is no such output, naming the
    /// obstacle.
    pub(super) fn computable(&self) -> Result<(Vec<ModelOutput>, HashSet<usize>), Error> {
        let mut needed = HashSet::new();
        let mut kept = Vec::new();
        let mut obstacle = None;
        for output in &self.outputs {
            let maker = self.maker(&output.name).map(|at| &self.graph().node[at]);
            let (tensor, classes) = match maker.filter(|maker| maker.is_zip_map()) {
                Some(map) => (map.input.first().cloned().unwrap_or_default(), map.classes()),
                None => (output.name.clone(), None),
            };
            match self.ancestors(&tensor) {
                Ok(nodes) => {
                    needed.extend(nodes);
                    let classes = classes.or_else(|| self.classes());
                    kept.push(ModelOutput {
                        name: output.name.clone(),
                        tensor,
                        classes,
                        activation: None,
                    });
                }
                Err(what) => obstacle = obstacle.or(Some(what)),
            }
        }
        if kept.is_empty() {
            return Err(obstacle.unwrap_or_else(|| "no outputs".into()));
        }
        Ok((kept, needed))
    }

    /// Separates an output's sums from its activation, if it has one. Sums are compared, as in training;
    /// activated values of a sure win, for example, may be rounded to the same number.
    pub(super) fn before_activation(&self, output: &mut ModelOutput) {
        let Some(maker) = self.maker(&output.tensor).map(|at| &self.graph().node[at]) else {
            return;
        };
        let activation = match maker.op_type.as_str() {
            "Sigmoid" => Squash::Sigmoid,
            "Tanh" => Squash::Tanh,
            _ => return,
        };
        (output.tensor, output.activation) = (maker.input.concat(), Some(activation));
    }

    fn maker(&self, tensor: &str) -> Option<usize> {
        self.makers.get(tensor).copied()
    }

    /// Returns the nodes that a tensor depends on; fails if one of them is not supported.
    fn ancestors(&self, tensor: &str) -> Result<HashSet<usize>, Error> {
        let given = |name: &str| {
            self.constant(name).is_some() || self.inputs.iter().any(|input| input.name == name)
        };
        let mut found = HashSet::new();
        let mut open = vec![tensor.to_string()];
        while let Some(name) = open.pop() {
            let Some(at) = self.maker(&name) else {
                if name == tensor && !given(&name) {
                    return Err(format!("no node computes the output `{name}`").into());
                }
                continue;
            };
            let node = &self.graph().node[at];
            if node.is_foreign() {
                return Err(Error::new(
                    format!("unknown operator {}.{}", node.domain, node.op_type),
                    "expected a network of standard operators, such as scikit-learn's MLPClassifier and MLPRegressor without a pipeline, PyTorch's or TensorFlow's",
                ));
            }
            if found.insert(at) {
                let reads = node.reads().into_iter().filter(|name| !name.is_empty());
                open.extend(reads.map(str::to_string));
            }
        }
        Ok(found)
    }

    /// Returns the classes of scikit-learn's columns, from which the label of a row is selected.
    fn classes(&self) -> Option<Vec<i64>> {
        let takes = |node: &&Node| node.is_foreign() && node.op_type == "ArrayFeatureExtractor";
        let list = |node: &Node| Some(self.constant(node.input.first()?)?.integers());
        let lists = self.graph().node.iter().filter(takes).filter_map(list);
        let mut lists = lists.filter(|list| !list.is_empty());
        let list = lists.next()?;
        lists.next().is_none().then_some(list)
    }

    /// Returns the model reduced to some nodes and outputs.
    pub(super) fn into_model(self, nodes: &HashSet<usize>, kept: &[ModelOutput]) -> Model {
        let mut model = self.model;
        if let Some(graph) = &mut model.graph {
            let mut at = 0..;
            graph.node.retain(|_| at.next().is_some_and(|at| nodes.contains(&at)));
            let output = |kept: &ModelOutput| ValueInfo { name: kept.tensor.clone(), r#type: None };
            graph.output = kept.iter().map(output).collect();
            // Shapes of the file are not trusted; the runtime infers its own.
            graph.value_info.clear();
        }
        model
    }
}
