//! What an ONNX file says of its model, and the file without what cannot be run.
//!
//! scikit-learn's classifiers come with outputs that are not tensors and with nodes of the domain
//! `ai.onnx.ml` that name the class of each row. The probabilities need none of them. So only those
//! nodes are kept that lead to outputs which can be computed; a `ZipMap`, which turns rows of
//! probabilities into dictionaries, is passed over, and the classes it names are kept.

use std::collections::{HashMap, HashSet};
use yomikiri::hint::Hinted;

use prost::Message;

use super::bounds;
use super::half::widen;
use super::proto::{Dimension, Graph, Model, Node, Tensor, Type, ValueInfo};

/// An input or output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Port {
    pub name: String,
    pub kind: Kind,
    /// Its sizes, `None` those that are left open; `None` if the file does not say.
    pub shape: Option<Vec<Option<usize>>>,
}

/// What an input or output holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers of one of ONNX's types.
    Tensor(i32),
    /// A list or a dictionary.
    Other,
    /// The file does not say.
    Untold,
}

impl Port {
    /// `policy float32 (N, 17)`.
    pub(super) fn describe(&self) -> String {
        let kind = match self.kind {
            Kind::Tensor(1) => "float32",
            Kind::Tensor(2) => "uint8",
            Kind::Tensor(3) => "int8",
            Kind::Tensor(6) => "int32",
            Kind::Tensor(7) => "int64",
            Kind::Tensor(8) => "text",
            Kind::Tensor(9) => "bool",
            Kind::Tensor(10) => "float16",
            Kind::Tensor(11) => "float64",
            Kind::Tensor(_) => "tensor",
            Kind::Other => "list of dictionaries",
            Kind::Untold => "",
        };
        let sizes = |shape: &Vec<Option<usize>>| {
            let size = |(at, size): (usize, &Option<usize>)| match (at, size) {
                (_, Some(size)) => size.to_string(),
                (0, None) => "N".to_string(),
                _ => "?".to_string(),
            };
            format!("({})", shape.iter().enumerate().map(size).collect::<Vec<_>>().join(", "))
        };
        let shape = self.shape.as_ref().filter(|_| self.kind != Kind::Other).map(sizes);
        let parts = [self.name.clone(), kind.to_string(), shape.unwrap_or_default()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn of(info: &ValueInfo) -> Port {
        let kind = info.r#type.as_ref();
        let tensor = kind.and_then(|kind| kind.tensor_type.as_ref());
        let is_other = |kind: &Type| kind.sequence_type.is_some() || kind.map_type.is_some();
        let kind = match tensor.map_or(0, |tensor| tensor.elem_type) {
            _ if kind.is_some_and(is_other) => Kind::Other,
            0 => Kind::Untold,
            kind => Kind::Tensor(kind),
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
    /// What it reads, and what the graphs read that it holds.
    fn reads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.input.iter().map(String::as_str).collect();
        for graph in self.attribute.iter().flat_map(|held| held.g.iter().chain(&held.graphs)) {
            names.extend(graph.node.iter().flat_map(Node::reads));
            names.extend(graph.output.iter().map(|output| output.name.as_str()));
        }
        names
    }

    /// The attribute `classlabels_int64s`.
    fn classes(&self) -> Option<Vec<i64>> {
        let classes = self.attribute.iter().find(|held| held.name == "classlabels_int64s");
        classes.map(|classes| classes.ints.clone())
    }

    /// Whether no runtime but the full one has it.
    fn is_foreign(&self) -> bool {
        self.domain == "ai.onnx.ml"
    }

    fn is_zip_map(&self) -> bool {
        self.is_foreign() && self.op_type == "ZipMap"
    }
}

impl Tensor {
    /// Its numbers as floats, if they are integers or floats of 32 bits and in the file.
    pub fn numbers(&self) -> Vec<f64> {
        let raw = self.raw_data.as_deref().unwrap_or_default();
        match self.data_type {
            Tensor::FLOAT if raw.is_empty() => self.float_data.iter().map(|&x| x.into()).collect(),
            Tensor::FLOAT => {
                raw.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word).into()).collect()
            }
            _ => self.integers().into_iter().map(|n| n as f64).collect(),
        }
    }

    /// Its numbers, if they are integers and in the file.
    fn integers(&self) -> Vec<i64> {
        let raw = self.raw_data.as_deref().unwrap_or_default();
        let narrow = || self.int32_data.iter().map(|&n| i64::from(n));
        match self.data_type {
            Tensor::INT32 if raw.is_empty() => narrow().collect(),
            Tensor::INT32 => {
                raw.as_chunks().0.iter().map(|&word| i32::from_le_bytes(word).into()).collect()
            }
            Tensor::INT64 if raw.is_empty() => self.int64_data.clone(),
            Tensor::INT64 => {
                raw.as_chunks().0.iter().map(|&word| i64::from_le_bytes(word)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// An output that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelOutput {
    /// Its name for people.
    pub name: String,
    /// The name of the tensor.
    pub tensor: String,
    /// Which class each of its columns is, where the file says.
    pub classes: Option<Vec<i64>>,
    /// What is made of the tensor's numbers.
    pub activation: Option<Squash>,
}

/// What is made of the sums of a head.
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

/// What an ONNX file says of its model.
#[derive(Clone, Debug)]
pub(super) struct File {
    model: Model,
    /// By tensor the place of the node that makes it.
    makers: HashMap<String, usize>,
    /// Whether the model is not as the file has it, its numbers having been widened.
    is_widened: bool,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

impl File {
    /// Reads a file's bytes; fails if they are no ONNX model that can be read.
    pub(super) fn read(bytes: &[u8]) -> Result<File, Hinted> {
        let none = || "not an ONNX model".into();
        let mut model = Model::decode(bytes).map_err(|_| none())?;
        bounds::check(&model)?;
        let is_widened = widen(&mut model)?;
        File::of(model, is_widened).ok_or_else(none)
    }

    fn of(model: Model, is_widened: bool) -> Option<File> {
        let graph = model.graph.as_ref().filter(|graph| !graph.node.is_empty())?;
        let constants: HashSet<&str> =
            graph.initializer.iter().map(|constant| constant.name.as_str()).collect();
        // Old files list their constants among the inputs.
        let inputs = graph.input.iter().filter(|input| !constants.contains(input.name.as_str()));
        let inputs = inputs.map(Port::of).collect();
        let outputs = graph.output.iter().map(Port::of).collect();
        let nodes = graph.node.iter().enumerate();
        let made = nodes.flat_map(|(at, node)| node.output.iter().map(move |name| (name, at)));
        // The first that makes it counts.
        let makers = made.rev().map(|(name, at)| (name.clone(), at)).collect();
        Some(File { inputs, outputs, is_widened, makers, model })
    }

    /// The program that wrote it.
    pub(super) fn producer(&self) -> &str {
        &self.model.producer_name
    }

    fn graph(&self) -> &Graph {
        self.model.graph.as_ref().expect("a file has a graph")
    }

    fn constant(&self, name: &str) -> Option<&Tensor> {
        self.graph().initializer.iter().find(|constant| constant.name == name)
    }

    /// `inputs: x float32 (N, 32); outputs: policy float32 (N, 17)`.
    pub(super) fn describe(&self) -> String {
        let list = |ports: &[Port]| ports.iter().map(Port::describe).collect::<Vec<_>>().join(", ");
        format!("inputs: {}; outputs: {}", list(&self.inputs), list(&self.outputs))
    }

    /// The outputs that can be computed, and the bytes of the model that does so: `None` if they
    /// are the file's own. Fails if there is no such output, with what stands in the way.
    pub(super) fn computable(&self) -> Result<(Vec<ModelOutput>, Option<Vec<u8>>), Hinted> {
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
            return Err(obstacle.unwrap_or_else(|| "it has no outputs".into()));
        }
        let same = kept.iter().map(|kept| &kept.tensor).eq(self.outputs.iter().map(|o| &o.name));
        let whole = same && needed.len() == self.graph().node.len();
        let changed = self.is_widened || !whole;
        Ok((kept.clone(), changed.then(|| self.with_only(&needed, &kept))))
    }

    /// Takes an output's sums and the activation apart, where there is one. Sums are made what they are
    /// in training, so that moves are equally good whose values are rounded to the same number: that
    /// of a sure win, as a rule.
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

    /// The nodes that a tensor needs, or what cannot be run of them.
    fn ancestors(&self, tensor: &str) -> Result<HashSet<usize>, Hinted> {
        let given = |name: &str| {
            self.constant(name).is_some() || self.inputs.iter().any(|input| input.name == name)
        };
        let mut found = HashSet::new();
        let mut open = vec![tensor.to_string()];
        while let Some(name) = open.pop() {
            let Some(at) = self.maker(&name) else {
                if name == tensor && !given(&name) {
                    return Err(format!("nothing in it makes its output '{name}'").into());
                }
                continue;
            };
            let node = &self.graph().node[at];
            if node.is_foreign() {
                return Err(Hinted::new(
                    format!(
                        "it needs the operator {}.{}, which is not known",
                        node.domain, node.op_type
                    ),
                    "networks (scikit-learn's MLPClassifier and MLPRegressor without a pipeline before them, PyTorch's, TensorFlow's) do without",
                ));
            }
            if found.insert(at) {
                let reads = node.reads().into_iter().filter(|name| !name.is_empty());
                open.extend(reads.map(str::to_string));
            }
        }
        Ok(found)
    }

    /// The classes of scikit-learn's columns: what the label of a row is taken from.
    fn classes(&self) -> Option<Vec<i64>> {
        let takes = |node: &&Node| node.is_foreign() && node.op_type == "ArrayFeatureExtractor";
        let list = |node: &Node| Some(self.constant(node.input.first()?)?.integers());
        let lists = self.graph().node.iter().filter(takes).filter_map(list);
        let mut lists = lists.filter(|list| !list.is_empty());
        let list = lists.next()?;
        lists.next().is_none().then_some(list)
    }

    /// The model with some of the nodes, and with these outputs.
    fn with_only(&self, nodes: &HashSet<usize>, kept: &[ModelOutput]) -> Vec<u8> {
        let mut model = self.model.clone();
        let graph = model.graph.as_mut().expect("a file has a graph");
        let mut at = 0..;
        graph.node.retain(|_| at.next().is_some_and(|at| nodes.contains(&at)));
        let output = |kept: &ModelOutput| ValueInfo { name: kept.tensor.clone(), r#type: None };
        graph.output = kept.iter().map(output).collect();
        model.encode_to_vec()
    }
}
