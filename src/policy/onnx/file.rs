//! What an ONNX file says of its model, and the file without what cannot be run.
//!
//! scikit-learn's classifiers come with outputs that are not tensors and with nodes of the domain
//! `ai.onnx.ml` that name the class of each row. The probabilities need none of them. So only those
//! nodes are kept that lead to outputs which can be computed; a `ZipMap`, which turns rows of
//! probabilities into dictionaries, is passed over, and the classes it names are kept.
//!
//! Field numbers are those of `onnx.proto`.

use std::collections::{HashMap, HashSet};

use super::wire::{Field, fields, write_bytes};

mod field {
    pub const PRODUCER: u64 = 2;
    pub const GRAPH: u64 = 7;
    pub const NODE: u64 = 1;
    pub const INITIALIZER: u64 = 5;
    pub const INPUT: u64 = 11;
    pub const OUTPUT: u64 = 12;
    pub const NODE_INPUT: u64 = 1;
    pub const NODE_OUTPUT: u64 = 2;
    pub const NODE_OPERATOR: u64 = 4;
    pub const NODE_ATTRIBUTE: u64 = 5;
    pub const NODE_DOMAIN: u64 = 7;
    pub const ATTRIBUTE_NAME: u64 = 1;
    pub const ATTRIBUTE_GRAPH: u64 = 6;
    pub const ATTRIBUTE_INTS: u64 = 8;
    pub const ATTRIBUTE_GRAPHS: u64 = 11;
    pub const TENSOR_INTS: [u64; 2] = [5, 7];
    pub const TENSOR_TYPE: u64 = 2;
    pub const TENSOR_NAME: u64 = 8;
    pub const TENSOR_RAW: u64 = 9;
    pub const PORT_NAME: u64 = 1;
    pub const PORT_TYPE: u64 = 2;
    pub const TYPE_TENSOR: u64 = 1;
    pub const TYPE_SEQUENCE: u64 = 4;
    pub const TYPE_MAP: u64 = 5;
}

/// An input or output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Port {
    pub name: String,
    pub kind: Kind,
    /// Its sizes, `None` those that are left open; `None` if the file does not tell.
    pub shape: Option<Vec<Option<usize>>>,
}

/// What an input or output holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers of one of ONNX's types.
    Tensor(i64),
    /// A list or a dictionary.
    Other,
    /// The file does not tell.
    Untold,
}

impl Port {
    /// `policy float32 (N, 17)`.
    pub fn describe(&self) -> String {
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

    fn read(bytes: &[u8]) -> Option<Port> {
        let mut port = Port { name: String::new(), kind: Kind::Untold, shape: None };
        for field in fields(bytes)? {
            match field.number {
                field::PORT_NAME => port.name = field.text(),
                field::PORT_TYPE => {
                    for kind in fields(field.bytes())? {
                        match kind.number {
                            field::TYPE_TENSOR => port.read_tensor(kind.bytes())?,
                            field::TYPE_SEQUENCE | field::TYPE_MAP => port.kind = Kind::Other,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Some(port)
    }

    fn read_tensor(&mut self, bytes: &[u8]) -> Option<()> {
        for field in fields(bytes)? {
            if field.number == 1 {
                self.kind = Kind::Tensor(*field.integers()?.first()?);
            } else if field.number == 2 {
                let size = |dimension: Field<'_>| {
                    let told = fields(dimension.bytes())?;
                    let told = told.iter().find(|field| field.number == 1);
                    let number = told.and_then(|field| field.integers()).unwrap_or_default();
                    Some(number.first().and_then(|&n| usize::try_from(n).ok()).filter(|&n| n > 0))
                };
                self.shape =
                    Some(fields(field.bytes())?.into_iter().map(size).collect::<Option<_>>()?);
            }
        }
        Some(())
    }
}

/// A node of the graph.
#[derive(Clone, Debug, Default)]
struct Node {
    operator: String,
    domain: String,
    /// What it reads; of a node with graphs of its own all that those read too.
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// The attribute `classlabels_int64s`.
    classes: Option<Vec<i64>>,
}

impl Node {
    fn read(bytes: &[u8]) -> Option<Node> {
        let mut node = Node::default();
        for field in fields(bytes)? {
            match field.number {
                field::NODE_INPUT => node.inputs.push(field.text()),
                field::NODE_OUTPUT => node.outputs.push(field.text()),
                field::NODE_OPERATOR => node.operator = field.text(),
                field::NODE_DOMAIN => node.domain = field.text(),
                field::NODE_ATTRIBUTE => node.read_attribute(field.bytes())?,
                _ => {}
            }
        }
        Some(node)
    }

    fn read_attribute(&mut self, bytes: &[u8]) -> Option<()> {
        let attribute = fields(bytes)?;
        let name = attribute.iter().find(|field| field.number == field::ATTRIBUTE_NAME);
        let is_classes = name.is_some_and(|name| name.text() == "classlabels_int64s");
        for field in &attribute {
            match field.number {
                field::ATTRIBUTE_INTS if is_classes => {
                    self.classes.get_or_insert_default().extend(field.integers()?);
                }
                field::ATTRIBUTE_GRAPH | field::ATTRIBUTE_GRAPHS => {
                    for inner in fields(field.bytes())? {
                        if inner.number == field::NODE {
                            self.inputs.extend(Node::read(inner.bytes())?.inputs);
                        } else if inner.number == field::OUTPUT {
                            self.inputs.push(Port::read(inner.bytes())?.name);
                        }
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    /// The operator's name as people write it, its domain before it unless it is ONNX's own.
    fn name(&self) -> String {
        match self.domain.as_str() {
            "" | "ai.onnx" => self.operator.clone(),
            domain => format!("{domain}.{}", self.operator),
        }
    }

    /// Whether no runtime but the full one has it.
    fn is_foreign(&self) -> bool {
        self.domain == "ai.onnx.ml"
    }

    fn is_zip_map(&self) -> bool {
        self.is_foreign() && self.operator == "ZipMap"
    }
}

/// An output that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    /// Its name for people.
    pub name: String,
    /// The name of the tensor.
    pub tensor: String,
    /// Which class each of its columns is, where the file tells.
    pub classes: Option<Vec<i64>>,
}

/// What an ONNX file says of its model.
#[derive(Clone, Debug)]
pub(super) struct File {
    bytes: Vec<u8>,
    /// The program that wrote it.
    pub producer: String,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    nodes: Vec<Node>,
    /// The integers of those constants that are some.
    constants: HashMap<String, Vec<i64>>,
}

impl File {
    /// Reads a file's bytes; `None` if they are no ONNX model.
    pub fn read(bytes: Vec<u8>) -> Option<File> {
        let (mut producer, mut graph) = (String::new(), None);
        for field in fields(&bytes)? {
            match field.number {
                field::PRODUCER => producer = field.text(),
                field::GRAPH => graph = Some(fields(field.bytes())?),
                _ => {}
            }
        }
        let (mut inputs, mut outputs, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut constants = HashMap::new();
        for field in graph? {
            match field.number {
                field::NODE => nodes.push(Node::read(field.bytes())?),
                field::INITIALIZER => {
                    let (name, integers) = constant(field.bytes())?;
                    constants.insert(name, integers);
                }
                field::INPUT => inputs.push(Port::read(field.bytes())?),
                field::OUTPUT => outputs.push(Port::read(field.bytes())?),
                _ => {}
            }
        }
        // Old files list their constants among the inputs.
        inputs.retain(|input: &Port| !constants.contains_key(&input.name));
        (!nodes.is_empty()).then_some(File { bytes, producer, inputs, outputs, nodes, constants })
    }

    /// `inputs: x float32 (N, 32); outputs: policy float32 (N, 17)`.
    pub fn describe(&self) -> String {
        let list = |ports: &[Port]| ports.iter().map(Port::describe).collect::<Vec<_>>().join(", ");
        format!("inputs: {}; outputs: {}", list(&self.inputs), list(&self.outputs))
    }

    /// The outputs that can be computed, and the bytes of the model that does so: `None` if they are
    /// the file's own. Fails if there is no such output, with what stands in the way.
    pub fn computable(&self) -> Result<(Vec<Kept>, Option<Vec<u8>>), String> {
        let mut needed = HashSet::new();
        let mut kept = Vec::new();
        let mut obstacle = None;
        for output in &self.outputs {
            let maker = self.maker(&output.name).map(|at| &self.nodes[at]);
            let (tensor, classes) = match maker.filter(|maker| maker.is_zip_map()) {
                Some(map) => (map.inputs.first().cloned().unwrap_or_default(), map.classes.clone()),
                None => (output.name.clone(), None),
            };
            match self.ancestors(&tensor) {
                Ok(nodes) => {
                    needed.extend(nodes);
                    let classes = classes.or_else(|| self.classes());
                    kept.push(Kept { name: output.name.clone(), tensor, classes });
                }
                Err(what) => obstacle = obstacle.or(Some(what)),
            }
        }
        if kept.is_empty() {
            return Err(obstacle.unwrap_or_else(|| "it has no outputs".to_string()));
        }
        let same = kept.iter().map(|kept| &kept.tensor).eq(self.outputs.iter().map(|o| &o.name));
        let changed = !(same && needed.len() == self.nodes.len());
        Ok((kept.clone(), changed.then(|| self.with_only(&needed, &kept))))
    }

    fn maker(&self, tensor: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.outputs.iter().any(|output| output == tensor))
    }

    /// The nodes that a tensor needs, or what cannot be run of them.
    fn ancestors(&self, tensor: &str) -> Result<HashSet<usize>, String> {
        let given = |name: &str| {
            self.constants.contains_key(name) || self.inputs.iter().any(|input| input.name == name)
        };
        let mut found = HashSet::new();
        let mut open = vec![tensor.to_string()];
        while let Some(name) = open.pop() {
            let Some(at) = self.maker(&name) else {
                if name == tensor && !given(&name) {
                    return Err(format!("nothing in it makes its output '{name}'"));
                }
                continue;
            };
            let node = &self.nodes[at];
            if node.is_foreign() {
                let what = node.name();
                return Err(format!(
                    "it needs the operator {what}, which is not known; networks (scikit-learn's MLPClassifier and MLPRegressor without a pipeline before them, PyTorch's, TensorFlow's) do without"
                ));
            }
            if found.insert(at) {
                open.extend(node.inputs.iter().filter(|name| !name.is_empty()).cloned());
            }
        }
        Ok(found)
    }

    /// The classes of scikit-learn's columns: what the label of a row is taken from.
    fn classes(&self) -> Option<Vec<i64>> {
        let takes = |node: &&Node| node.is_foreign() && node.operator == "ArrayFeatureExtractor";
        let mut lists = self.nodes.iter().filter(takes).filter_map(|node| {
            self.constants.get(node.inputs.first()?).filter(|list| !list.is_empty())
        });
        let list = lists.next()?;
        lists.next().is_none().then(|| list.clone())
    }

    /// The file's bytes with some of the nodes, and with these outputs.
    fn with_only(&self, nodes: &HashSet<usize>, kept: &[Kept]) -> Vec<u8> {
        let mut model = Vec::new();
        for outer in fields(&self.bytes).unwrap_or_default() {
            if outer.number != field::GRAPH {
                model.extend_from_slice(outer.raw);
                continue;
            }
            let (mut graph, mut at) = (Vec::new(), 0);
            for inner in fields(outer.bytes()).unwrap_or_default() {
                let keeps = match inner.number {
                    field::NODE => {
                        at += 1;
                        nodes.contains(&(at - 1))
                    }
                    number => number != field::OUTPUT,
                };
                if keeps {
                    graph.extend_from_slice(inner.raw);
                }
            }
            for output in kept {
                let mut port = Vec::new();
                write_bytes(field::PORT_NAME, output.tensor.as_bytes(), &mut port);
                write_bytes(field::OUTPUT, &port, &mut graph);
            }
            write_bytes(field::GRAPH, &graph, &mut model);
        }
        model
    }
}

/// A constant's name and, if it is a list of integers, those.
fn constant(bytes: &[u8]) -> Option<(String, Vec<i64>)> {
    const INT32: i64 = 6;
    const INT64: i64 = 7;
    let (mut name, mut kind, mut integers, mut raw) = (String::new(), 0, Vec::new(), &[][..]);
    for field in fields(bytes)? {
        match field.number {
            field::TENSOR_NAME => name = field.text(),
            field::TENSOR_TYPE => kind = *field.integers()?.first()?,
            field::TENSOR_RAW => raw = field.bytes(),
            number if field::TENSOR_INTS.contains(&number) => integers.extend(field.integers()?),
            _ => {}
        }
    }
    let words = |width| raw.chunks_exact(width);
    match kind {
        INT32 if integers.is_empty() => {
            integers =
                words(4).map(|w| i32::from_le_bytes([w[0], w[1], w[2], w[3]]).into()).collect();
        }
        INT64 if integers.is_empty() => {
            let word = |w: &[u8]| i64::from_le_bytes(w.try_into().unwrap_or_default());
            integers = words(8).map(word).collect();
        }
        INT32 | INT64 => {}
        _ => integers.clear(),
    }
    Some((name, integers))
}
