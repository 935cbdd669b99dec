//! Prepares a model for the runtime: predicts the size of all that it computes, and writes nodes that the runtime reads in
//! another way than ONNX Runtime, or not at all, as others that it computes alike.
//!
//! `tests/onnx/operators.py` has the cases that show the differences.

use std::collections::HashMap;

use super::bounds::{NODES, RANK};
use super::fold::compute;
use super::proto::{Attribute, Graph, Model, Node, OperatorSet, Tensor, ValueInfo};
use super::sizes::{Known, Op, Windows, count};

/// Maximum of numbers that a model computes in a run, and of numbers in an input.
pub(super) const MOST_NUMBERS: u64 = 1 << 28;
/// Maximum of numbers of a constant that is computed beforehand.
pub(super) const FOLDED: u64 = 1024;
/// Maximum number of outputs of a node.
const OUTPUTS: usize = 256;

/// Why a model cannot be run.
#[derive(Debug)]
pub(super) struct Unfit {
    pub what: String,
    /// `true` if fewer rows at a time may help.
    pub is_too_large: bool,
}

impl From<String> for Unfit {
    fn from(what: String) -> Unfit {
        Unfit { what, is_too_large: false }
    }
}

/// Nodes that are run instead of a model.
#[derive(Default)]
pub(super) struct Prepared {
    pub nodes: Vec<Node>,
    /// Shapes of the outputs.
    pub shapes: Vec<Vec<i64>>,
}

/// Prepares a model whose inputs have certain shapes; fails if an operator is unknown, or if what is computed is too large.
pub(super) fn prepare(model: &Model, inputs: &[(String, Vec<usize>)]) -> Result<Prepared, Unfit> {
    let Some(graph) = &model.graph else { return Ok(Prepared::default()) };
    let opsets = model.opset_import.clone();
    let is_main = |set: &&OperatorSet| is_main(set.domain.as_deref().unwrap_or_default());
    let version = opsets.iter().find(is_main).map_or(1, |set| set.version);
    let mut walk =
        Walk { opsets, version, known: HashMap::new(), scope: vec![], names: 0, numbers: 0 };
    for (name, shape) in inputs {
        let shape = shape.iter().map(|&size| size as i64).collect();
        walk.define(name, Known { shape, ..Known::default() })?;
    }
    let nodes = walk.graph(graph)?;
    let shapes = walk.results(graph)?.into_iter().map(|known| known.shape).collect();
    Ok(Prepared { nodes, shapes })
}

fn is_main(domain: &str) -> bool {
    domain.is_empty() || domain == "ai.onnx"
}

struct Walk {
    opsets: Vec<OperatorSet>,
    version: i64,
    /// Known shapes and numbers of the tensors so far, of this graph and those around it.
    known: HashMap<String, Known>,
    /// Names of these tensors in the order in which they were defined.
    scope: Vec<String>,
    /// Number of tensors named here.
    names: usize,
    /// Number of numbers computed so far. All count, because the runtime has an order of its own, keeps constants, and
    /// frees nothing before the end of a run.
    numbers: u64,
}

impl Walk {
    /// Returns the nodes to run for those of a graph.
    fn graph(&mut self, graph: &Graph) -> Result<Vec<Node>, Unfit> {
        for constant in &graph.initializer {
            self.constant(&constant.name, constant)?;
        }
        let mut nodes = Vec::new();
        for node in &graph.node {
            let named = |what: String| format!("node {} ({}): {what}", label(node), node.op_type);
            let unfit = |unfit: Unfit| Unfit { what: named(unfit.what), ..unfit };
            self.node(node, &mut nodes).map_err(unfit)?;
            if nodes.len() > NODES {
                return Err(format!("more than {NODES} nodes, the limit").into());
            }
        }
        Ok(nodes)
    }

    /// Returns what is known of the outputs of a graph.
    fn results(&self, graph: &Graph) -> Result<Vec<Known>, String> {
        let known = |output: &ValueInfo| self.known.get(&output.name).cloned();
        let results = graph.output.iter().map(known).collect::<Option<_>>();
        results.ok_or_else(|| "an output that nothing computes".to_string())
    }

    /// Returns a graph of a node with the nodes to run, and its results. Its tensors are not known outside.
    fn inner(
        &mut self,
        graph: &Graph,
        inputs: Vec<(String, Known)>,
    ) -> Result<(Graph, Vec<Known>), Unfit> {
        let outside = self.scope.len();
        for (name, known) in inputs {
            self.define(&name, known)?;
        }
        let node = self.graph(graph)?;
        let results = self.results(graph)?;
        for name in self.scope.drain(outside..) {
            self.known.remove(&name);
        }
        Ok((Graph { node, ..graph.clone() }, results))
    }

    /// Notes what is known of a tensor; fails if another has its name, because the runtime might take either.
    fn define(&mut self, name: &str, known: Known) -> Result<(), String> {
        if known.shape.len() > RANK {
            return Err(format!("{} dimensions, more than the limit of {RANK}", known.shape.len()));
        }
        if known.shape.iter().any(|&size| size < 0) {
            return Err(format!("computes a shape of {:?}", known.shape));
        }
        if name.is_empty() {
            return Ok(());
        }
        self.scope.push(name.to_string());
        match self.known.insert(name.to_string(), known) {
            Some(_) => Err(format!("two tensors named `{name}`")),
            None => Ok(()),
        }
    }

    /// Notes a constant.
    fn constant(&mut self, name: &str, tensor: &Tensor) -> Result<(), String> {
        let numbers = (count(&tensor.dims) <= FOLDED).then(|| tensor.clone());
        self.define(name, Known { shape: tensor.dims.clone(), numbers })
    }

    /// Adds what is computed for a node.
    fn node(&mut self, node: &Node, nodes: &mut Vec<Node>) -> Result<(), Unfit> {
        if node.output.len() > OUTPUTS {
            return Err(format!("more than {OUTPUTS} outputs").into());
        }
        if !is_main(&node.domain) {
            return Err(format!("unknown operator {}.{}", node.domain, node.op_type).into());
        }
        match node.op_type.as_str() {
            "Constant" => {
                let tensor =
                    constant_of(node).ok_or("a constant that is not a tensor".to_string())?;
                self.constant(node.output.first().map_or("", String::as_str), &tensor)?;
                nodes.push(node.clone());
                Ok(())
            }
            "If" => self.branch(node, nodes),
            "Loop" => self.repeat(node, nodes),
            _ => {
                for node in self.rewritten(node)? {
                    match node.op_type.as_str() {
                        "Constant" => self.node(&node, nodes)?,
                        _ => self.add(node, nodes)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn op<'a>(&'a self, node: &'a Node) -> Result<Op<'a>, String> {
        let input = |name: &String| match self.known.get(name) {
            _ if name.is_empty() => Ok(None),
            Some(known) => Ok(Some(known)),
            None => Err(format!("nothing computes its input `{name}`")),
        };
        let inputs = node.input.iter().map(input).collect::<Result<_, _>>()?;
        Ok(Op { node, inputs, version: self.version })
    }

    /// Adds a node that is run as it is.
    fn add(&mut self, mut node: Node, nodes: &mut Vec<Node>) -> Result<(), Unfit> {
        // The runtime names it in its errors.
        node.name = format!("{} {}", node.op_type, label(&node));
        let op = self.op(&node)?;
        let (shapes, scratch) = op.output_sizes()?;
        let are_known = op.inputs.iter().flatten().all(|known| known.numbers.is_some());
        let is_small = scratch <= FOLDED && shapes.iter().all(|shape| count(shape) <= FOLDED);
        let numbers = match node.op_type.as_str() {
            "Shape" => vec![Tensor::of_sizes(&op.sizes()?)],
            "Size" => {
                vec![Tensor { dims: vec![], ..Tensor::of_sizes(&[count(op.shape(0)?) as i64]) }]
            }
            _ if are_known && is_small && !node.input.is_empty() => self.folded(&op),
            _ => Vec::new(),
        };
        let mut numbers = numbers.into_iter();
        let known = shapes.into_iter().map(|shape| Known { shape, numbers: numbers.next() });
        self.outputs(&node.output, known.collect(), scratch)?;
        nodes.push(node);
        Ok(())
    }

    /// Notes the outputs of a node, and fails if all that is computed is too large.
    fn outputs(&mut self, names: &[String], known: Vec<Known>, scratch: u64) -> Result<(), Unfit> {
        let numbers =
            known.iter().map(|known| count(&known.shape)).fold(scratch, u64::saturating_add);
        self.numbers = self.numbers.saturating_add(numbers);
        if self.numbers > MOST_NUMBERS {
            let what =
                format!("computes {numbers} numbers; the limit of all nodes is {MOST_NUMBERS}");
            return Err(Unfit { what, is_too_large: true });
        }
        for (name, known) in names.iter().zip(known) {
            self.define(name, known)?;
        }
        Ok(())
    }

    /// Computes a node of constants; empty if the runtime cannot.
    fn folded(&self, op: &Op<'_>) -> Vec<Tensor> {
        let constants = op.node.input.iter().zip(&op.inputs).filter_map(|(name, known)| {
            Some(Tensor { name: name.clone(), ..known.as_ref()?.numbers.clone()? })
        });
        let outputs = op.node.output.iter().filter(|name| !name.is_empty());
        let graph = Graph {
            node: vec![op.node.clone()],
            initializer: constants.collect(),
            output: outputs.map(|name| ValueInfo { name: name.clone(), r#type: None }).collect(),
            ..Graph::default()
        };
        let opset_import = self.opsets.clone();
        let model =
            Model { ir_version: Some(8), graph: Some(graph), opset_import, ..Model::default() };
        compute(&model).unwrap_or_default()
    }

    /// Adds the branch that is taken, in place of both, if the condition is known. Else both have the same shapes.
    fn branch(&mut self, node: &Node, nodes: &mut Vec<Node>) -> Result<(), Unfit> {
        let condition = self.op(node)?.first();
        let mut branch = |name: &str| {
            let held = node.attribute.iter().find(|held| held.name == name);
            let graph =
                held.and_then(|held| held.g.as_ref()).ok_or_else(|| format!("no {name}"))?;
            self.inner(graph, vec![])
        };
        let (chosen, other) = match condition {
            Some(0.0) => (branch("else_branch")?, None),
            Some(_) => (branch("then_branch")?, None),
            None => (branch("then_branch")?, Some(branch("else_branch")?)),
        };
        let (then_branch, results) = chosen;
        let shapes: Vec<Known> = results.into_iter().map(Known::without_numbers).collect();
        let else_branch = match other {
            None => then_branch.clone(),
            Some((graph, others)) => {
                let others = others.iter().map(|known| &known.shape);
                if !shapes.iter().map(|known| &known.shape).eq(others) {
                    let what = "its size depends on numbers that are computed (its condition)";
                    return Err(what.to_string().into());
                }
                graph
            }
        };
        self.outputs(&node.output, shapes, 0)?;
        let mut node = node.clone();
        for held in &mut node.attribute {
            let is_then = held.name == "then_branch";
            held.g = Some(if is_then { then_branch.clone() } else { else_branch.clone() });
        }
        nodes.push(node);
        Ok(())
    }

    /// Adds a loop whose state keeps its shape, and whose number of steps is known if it collects results, also those
    /// that nothing reads.
    fn repeat(&mut self, node: &Node, nodes: &mut Vec<Node>) -> Result<(), Unfit> {
        let op = self.op(node)?;
        let steps = op.first();
        let carried = |at: usize| op.known(at).cloned().unwrap_or_default().without_numbers();
        let state: Vec<Known> = (2..node.input.len()).map(carried).collect();
        let held = node.attribute.iter().find(|held| held.name == "body");
        let body = held.and_then(|held| held.g.as_ref()).ok_or("no body".to_string())?;
        let inputs = [Known::default(), Known::default()].into_iter().chain(state.iter().cloned());
        let names = body.input.iter().map(|input| input.name.clone());
        let (graph, results) = self.inner(body, names.zip(inputs).collect())?;
        let mut known = Vec::new();
        for (at, result) in results.into_iter().skip(1).enumerate() {
            let shape = match (state.get(at), steps) {
                (Some(state), _) if state.shape == result.shape => result.shape,
                (None, Some(steps)) => [&[steps as i64], &result.shape[..]].concat(),
                _ => return Err("its size depends on the number of steps".to_string().into()),
            };
            known.push(Known { shape, numbers: None });
        }
        self.outputs(&node.output, known, 0)?;
        let mut node = node.clone();
        for held in &mut node.attribute {
            held.g = Some(graph.clone());
        }
        nodes.push(node);
        Ok(())
    }

    /// Names a tensor.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("yomikiri.{}", self.names)
    }

    /// Returns the nodes that compute the same as a node does in ONNX Runtime.
    fn rewritten(&mut self, node: &Node) -> Result<Vec<Node>, String> {
        let [a, b, c, d] = [(); 4].map(|()| self.name());
        let op = self.op(node)?;
        let input = |at: usize| node.input.get(at).map_or("", String::as_str);
        let output = node.output.first().map_or("", String::as_str);
        let with = |name: &str| Node { name: name.to_string(), ..node.clone() };
        Ok(match node.op_type.as_str() {
            // The runtime keeps the numbers of booleans.
            "Cast" if op.int("to", 0) == 9 => vec![
                Node {
                    attribute: vec![Attribute::int("to", 1)],
                    ..simple("Cast", &[input(0)], &a)
                },
                constant_node(&Tensor {
                    name: b.clone(),
                    data_type: Tensor::FLOAT,
                    float_data: vec![0.0],
                    ..Tensor::default()
                }),
                simple("Equal", &[&a, &b], &c),
                simple("Not", &[&c], output),
            ],
            // The runtime takes the last of equal numbers.
            "ArgMax" | "ArgMin" if op.int("select_last_index", 0) == 0 => {
                let axis = op.int("axis", 0);
                let keeps = op.int("keepdims", 1) != 0;
                let largest = i64::from(node.op_type == "ArgMax");
                let found = if keeps { output } else { &b };
                let mut nodes = vec![
                    constant_node(&Tensor { name: c.clone(), ..Tensor::of_sizes(&[1]) }),
                    Node {
                        output: vec![a, found.to_string()],
                        attribute: vec![
                            Attribute::int("axis", axis),
                            Attribute::int("largest", largest),
                        ],
                        ..simple("TopK", &[input(0), &c], "")
                    },
                ];
                if !keeps {
                    nodes.push(constant_node(&Tensor {
                        name: d.clone(),
                        ..Tensor::of_sizes(&[axis])
                    }));
                    nodes.push(simple("Squeeze", &[&b, &d], output));
                }
                nodes
            }
            // Before version 13, all dimensions from the axis on were one.
            "Softmax" | "LogSoftmax" if op.version < 13 => {
                let (axis, rank) = (op.int("axis", 1), op.shape(0)?.len() as i64);
                let flat = Node {
                    attribute: vec![Attribute::int("axis", axis)],
                    ..simple("Flatten", &[input(0)], &a)
                };
                let last = Node { attribute: vec![Attribute::int("axis", -1)], ..node.clone() };
                match axis == -1 || axis == rank - 1 {
                    true => vec![last],
                    false => vec![
                        flat,
                        Node { input: vec![a.clone()], output: vec![b.clone()], ..last },
                        simple("Shape", &[input(0)], &c),
                        simple("Reshape", &[&b, &c], output),
                    ],
                }
            }
            "Mish" => vec![
                simple("Softplus", &[input(0)], &a),
                simple("Tanh", &[&a], &b),
                simple("Mul", &[input(0), &b], output),
            ],
            "Dropout" if op.version < 7 || is_training(&op) => {
                return Err("training_mode".to_string());
            }
            "Dropout" if node.output.len() == 1 => {
                vec![simple("Identity", &[input(0)], output)]
            }
            "Slice" if op.list("axes", 3)?.is_none() => {
                let count = op.list("starts", 1)?.map_or(0, |starts| starts.len() as i64);
                let axes: Vec<i64> = (0..count).collect();
                let mut sliced = with("");
                if op.version < 10 {
                    sliced.attribute.push(Attribute::ints("axes", &axes));
                    return Ok(vec![sliced]);
                }
                sliced.input.resize(3, String::new());
                sliced.input.push(a.clone());
                sliced.input.extend(node.input.get(4).cloned());
                vec![constant_node(&Tensor { name: a, ..Tensor::of_sizes(&axes) }), sliced]
            }
            "Conv" | "ConvTranspose" | "MaxPool" | "AveragePool" => vec![explicit(node, &op)?],
            // The runtime's is wrong with kernels larger than 1 and with groups.
            "ConvInteger"
                if (2..4).any(|at| op.known(at).is_some_and(|zero| count(&zero.shape) != 1)) =>
            {
                return Err("a zero point for each channel is not supported".to_string());
            }
            "ConvInteger" => {
                let mut nodes = Vec::new();
                let mut float = |at: usize, name: &str, name_of_zero: String| {
                    let cast = |from: &str, to: &str| Node {
                        attribute: vec![Attribute::int("to", 1)],
                        ..simple("Cast", &[from], to)
                    };
                    let zero = input(at + 2);
                    match zero.is_empty() {
                        true => nodes.push(cast(input(at), name)),
                        false => nodes.extend([
                            cast(input(at), &format!("{name}.q")),
                            cast(zero, &name_of_zero),
                            simple("Sub", &[&format!("{name}.q"), &name_of_zero], name),
                        ]),
                    }
                };
                float(0, &a, format!("{a}.z"));
                float(1, &b, format!("{b}.z"));
                let conv = Node {
                    op_type: "Conv".to_string(),
                    input: vec![a, b],
                    output: vec![c.clone()],
                    ..explicit(node, &op)?
                };
                nodes.push(conv);
                nodes.push(Node {
                    attribute: vec![Attribute::int("to", i64::from(Tensor::INT32))],
                    ..simple("Cast", &[&c], output)
                });
                nodes
            }
            "Resize" if op.text("mode") == "cubic" => {
                return Err("mode=cubic is not supported".to_string());
            }
            name if name.starts_with("Reduce")
                && op.int("noop_with_empty_axes", 0) != 0
                && op.list("axes", 1)?.is_none_or(|axes| axes.is_empty()) =>
            {
                return Err("noop_with_empty_axes=1 is not supported".to_string());
            }
            _ => vec![with(&node.name)],
        })
    }
}

/// Returns `true` if a `Dropout` may be in training mode.
fn is_training(op: &Op<'_>) -> bool {
    let mode = op.known(2).map(|known| known.numbers.as_ref().map(Tensor::numbers));
    mode.is_some_and(|mode| mode.is_none_or(|mode| mode != [0.0]))
}

/// Returns a convolution or pooling with all attributes.
fn explicit(node: &Node, op: &Op<'_>) -> Result<Node, String> {
    let is_pool = node.op_type.ends_with("Pool");
    let windows = Windows::of(op, !is_pool)?;
    let written = ["kernel_shape", "strides", "dilations", "pads", "auto_pad", "output_shape"];
    let is_kept = |held: &&Attribute| !written.contains(&held.name.as_str());
    let mut attribute: Vec<Attribute> = node.attribute.iter().filter(is_kept).cloned().collect();
    attribute.push(Attribute::ints("kernel_shape", &windows.kernel));
    attribute.push(Attribute::ints("strides", &windows.strides));
    attribute.push(Attribute::ints("pads", &windows.pads));
    // The runtime has no dilated pooling.
    if !is_pool || windows.dilations.iter().any(|&n| n != 1) {
        attribute.push(Attribute::ints("dilations", &windows.dilations));
    }
    Ok(Node { attribute, ..node.clone() })
}

/// Returns what names a node: its name, or its output.
fn label(node: &Node) -> &str {
    let output = node.output.first().map_or("", String::as_str);
    if node.name.is_empty() { output } else { &node.name }
}

fn simple(op_type: &str, inputs: &[&str], output: &str) -> Node {
    Node {
        op_type: op_type.to_string(),
        input: inputs.iter().map(|input| input.to_string()).collect(),
        output: vec![output.to_string()],
        ..Node::default()
    }
}

fn constant_node(tensor: &Tensor) -> Node {
    let held = Attribute {
        name: "value".to_string(),
        t: Some(tensor.clone()),
        r#type: Attribute::TENSOR,
        ..Attribute::default()
    };
    Node { attribute: vec![held], ..simple("Constant", &[], &tensor.name) }
}

/// Returns the tensor of a node that is a constant.
fn constant_of(node: &Node) -> Option<Tensor> {
    let held = node.attribute.first()?;
    let numbers = |is_list: bool, length: usize| if is_list { vec![length as i64] } else { vec![] };
    Some(match held.name.as_str() {
        "value" => held.t.clone()?,
        "value_int" | "value_ints" => {
            let list: Vec<i64> = held.i.into_iter().chain(held.ints.iter().copied()).collect();
            Tensor { dims: numbers(held.i.is_none(), list.len()), ..Tensor::of_sizes(&list) }
        }
        "value_float" | "value_floats" => {
            let list: Vec<f32> = held.f.into_iter().chain(held.floats.iter().copied()).collect();
            let dims = numbers(held.f.is_none(), list.len());
            Tensor { dims, data_type: Tensor::FLOAT, float_data: list, ..Tensor::default() }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::proto::OperatorSet;
    use super::*;

    fn model(node: Vec<Node>, initializer: Vec<Tensor>, version: i64) -> Model {
        let output = node.last().map_or("", |node| node.output[0].as_str()).to_string();
        let output = vec![ValueInfo { name: output, r#type: None }];
        let graph = Graph { node, initializer, output, ..Graph::default() };
        let opset_import = vec![OperatorSet { domain: None, version }];
        Model { graph: Some(graph), opset_import, ..Model::default() }
    }

    /// Prepares a node `y` of constants and of `x`, which has the shape (1, 1, 4, 4).
    fn prepared(node: Node, constants: &[(&str, &[i64])], version: i64) -> Result<Prepared, Unfit> {
        let constant = |(name, sizes): &(&str, &[i64])| {
            let dims = if name.starts_with("one") { vec![] } else { vec![sizes.len() as i64] };
            Tensor { name: name.to_string(), dims, ..Tensor::of_sizes(sizes) }
        };
        let constants = constants.iter().map(constant).collect();
        let x = ("x".to_string(), vec![1, 1, 4, 4]);
        prepare(&model(vec![node], constants, version), &[x])
    }

    fn with(op: &str, inputs: &[&str], attribute: Attribute) -> Node {
        Node { attribute: vec![attribute], ..simple(op, inputs, "y") }
    }

    /// Every operator that makes more than it is given, or gets sizes.
    #[test]
    fn what_is_far_larger_than_a_board_is_refused_before_it_is_computed() {
        const HUGE: i64 = 1 << 32;
        let named = |op: &str, inputs: &[&str]| simple(op, inputs, "y");
        let pads = |pads: &[i64]| Attribute::ints("pads", pads);
        let floats = |name: &str, floats: &[f32]| {
            let (name, floats) = (name.to_string(), floats.to_vec());
            Attribute { name, floats, r#type: 6, ..Attribute::default() }
        };
        let kernel = ("k", &[1i64, 1, 3, 3][..]);
        // A node, its constants, and the version of the operators.
        type Case<'a> = (Node, Vec<(&'a str, &'a [i64])>, i64);
        let cases: Vec<Case<'_>> = vec![
            (named("ConstantOfShape", &["s"]), vec![("s", &[HUGE])], 17),
            (named("ConstantOfShape", &["s"]), vec![("s", &[1 << 20, 1 << 20])], 17),
            (named("ConstantOfShape", &["s"]), vec![("s", &[i64::MAX, i64::MAX])], 17),
            (named("Expand", &["x", "s"]), vec![("s", &[HUGE, 1, 1, 1, 1])], 17),
            (named("Tile", &["x", "s"]), vec![("s", &[1, HUGE, 1, 1])], 17),
            (named("OneHot", &["x", "s", "v"]), vec![("s", &[HUGE]), ("v", &[0, 1])], 17),
            (named("Resize", &["x", "", "", "s"]), vec![("s", &[1, 1, HUGE, 1])], 17),
            (with("Upsample", &["x"], floats("scales", &[1.0, 1.0, 1e6, 1e6])), vec![], 7),
            (named("Pad", &["x", "s"]), vec![("s", &[0, 0, HUGE, 0, 0, 0, 0, 0])], 17),
            (with("Pad", &["x"], pads(&[0, 0, HUGE, 0, 0, 0, 0, 0])), vec![], 10),
            (with("MaxPool", &["x"], pads(&[1 << 20, 1 << 20, 0, 0])), vec![], 17),
        ];
        for (mut node, constants, version) in cases {
            let op = node.op_type.clone();
            if op == "MaxPool" {
                node.attribute.push(Attribute::ints("kernel_shape", &[1, 1]));
            }
            let unfit = prepared(node, &constants, version).err().unwrap_or_else(|| panic!("{op}"));
            assert!(unfit.is_too_large, "{op}: {}", unfit.what);
            assert!(unfit.what.starts_with(&format!("node y ({op}): computes ")), "{}", unfit.what);
        }
        // The kernel, of which only the shape matters.
        for op in ["Conv", "ConvTranspose"] {
            let mut node = with(op, &["x", "k"], pads(&[1 << 20, 1 << 20, 0, 0]));
            if op == "ConvTranspose" {
                node.attribute = vec![Attribute::ints("strides", &[1 << 20, 1 << 20])];
            }
            let constant =
                Tensor { name: "k".to_string(), dims: kernel.1.to_vec(), ..Tensor::default() };
            let unfit = prepare(
                &model(vec![node], vec![constant], 17),
                &[("x".to_string(), vec![1, 1, 4, 4])],
            );
            assert!(unfit.err().is_some_and(|unfit| unfit.is_too_large), "{op}");
        }
        // An outer product, and k of a list that is shorter.
        let outer = with(
            "Einsum",
            &["x", "x"],
            Attribute {
                name: "equation".into(),
                s: Some(b"abcd,efgh->abcdefgh".to_vec()),
                ..Attribute::default()
            },
        );
        let x = ("x".to_string(), vec![1, 1 << 5, 1 << 5, 1 << 5]);
        assert!(prepare(&model(vec![outer], vec![], 17), &[x]).err().unwrap().is_too_large);
        let most = prepared(named("TopK", &["x", "s"]), &[("s", &[1 << 29])], 17).err().unwrap();
        assert_eq!(most.what, "node y (TopK): k=536870912 of 4 numbers");
    }

    #[test]
    fn sizes_that_are_not_known_before_are_refused() {
        let cast = |to: &str| Node {
            attribute: vec![Attribute::int("to", 7)],
            ..simple("Cast", &["x"], to)
        };
        for op in ["ConstantOfShape", "Expand", "Reshape", "Tile", "TopK"] {
            let inputs = if op == "ConstantOfShape" { vec!["s"] } else { vec!["x", "s"] };
            let model = model(vec![cast("s"), simple(op, &inputs, "y")], vec![], 17);
            let unfit = prepare(&model, &[("x".to_string(), vec![2])]).err().unwrap();
            let what = format!("node y ({op}): its size depends on numbers that are computed");
            assert!(unfit.what.starts_with(&what), "{}", unfit.what);
        }
        let loops = model(vec![simple("NonZero", &["x"], "y")], vec![], 17);
        let unfit = prepare(&loops, &[("x".to_string(), vec![2])]).err().unwrap();
        assert_eq!(unfit.what, "node y (NonZero): unknown operator");
    }

    /// Each of them passes, all together do not.
    #[test]
    fn all_that_is_computed_is_bounded() {
        let many = |count: usize| {
            let node = |at: usize| simple("ConstantOfShape", &["s"], &format!("t{at}"));
            let size = Tensor { name: "s".to_string(), ..Tensor::of_sizes(&[1 << 20]) };
            prepare(&model((0..count).map(node).collect(), vec![size], 17), &[])
        };
        assert!(many(256).is_ok());
        assert!(many(257).err().unwrap().is_too_large);
        // The rank doubles with each node, while there is one number.
        let zeros = Tensor { name: "t0".into(), dims: vec![1, 1], ..Tensor::of_sizes(&[0]) };
        let gather = |at: usize| {
            let from = format!("t{at}");
            simple("Gather", &[&from, &from], &format!("t{}", at + 1))
        };
        let what = prepare(&model((0..40).map(gather).collect(), vec![zeros], 17), &[]);
        assert!(what.err().unwrap().what.contains("dimensions, more than the limit of 16"));
        let outputs = Node { output: vec![String::new(); 1 << 20], ..simple("Relu", &["x"], "") };
        let what = prepared(outputs, &[], 17).err().unwrap().what;
        assert!(what.contains("more than 256 outputs"), "{what}");
    }

    /// The runtime adds step by step, which need not get on, in 32 bits.
    #[test]
    fn ranges_that_would_not_end_are_refused() {
        for (start, limit, delta) in [
            (16_777_216.0, 16_777_220.0, 1.0f32),
            (2_147_483_000.0, 2_147_483_647.0, 1000.0),
            (0.0, 1.0, 0.1),
            (0.0, 4_294_967_296.0, 1.0),
            (0.0, 1.0, 0.0),
        ] {
            let one = |(name, number): (&str, f32)| Tensor {
                name: name.to_string(),
                data_type: Tensor::FLOAT,
                float_data: vec![number],
                ..Tensor::default()
            };
            let constants = [("a", start), ("b", limit), ("c", delta)].map(one).to_vec();
            let range = model(vec![simple("Range", &["a", "b", "c"], "y")], constants, 17);
            let what = prepare(&range, &[]).err().unwrap().what;
            assert!(what.contains("not supported"), "{what}");
        }
    }

    #[test]
    fn tensors_of_one_name_are_refused() {
        let graph = |constant: Tensor, result: &str| Graph {
            node: vec![simple("Identity", &[&constant.name], result)],
            output: vec![ValueInfo { name: result.to_string(), r#type: None }],
            initializer: vec![constant],
            ..Graph::default()
        };
        let sizes =
            |name: &str, size: i64| Tensor { name: name.into(), ..Tensor::of_sizes(&[size]) };
        let held = |name: &str, graph: Graph| Attribute {
            name: name.to_string(),
            g: Some(graph),
            ..Attribute::default()
        };
        let choose = |inner: &str, output: &str| Node {
            attribute: vec![
                held("then_branch", graph(sizes(inner, 1), "r")),
                held("else_branch", graph(sizes(inner, 2), "r")),
            ],
            ..simple("If", &["on"], output)
        };
        let on = || Tensor {
            dims: vec![],
            data_type: 9,
            int32_data: vec![1],
            name: "on".into(),
            ..Tensor::default()
        };
        // Outside, `s` is another.
        let shadows = vec![choose("s", "y"), simple("ConstantOfShape", &["s"], "z")];
        let shadows = prepare(&model(shadows, vec![on(), sizes("s", 1 << 40)], 17), &[]);
        assert!(shadows.err().unwrap().what.contains("two tensors named `s`"));
        let twice =
            prepare(&model(vec![simple("Identity", &["s"], "s")], vec![sizes("s", 1)], 17), &[]);
        assert!(twice.err().unwrap().what.contains("two tensors named `s`"));
        // Names of branches are their own.
        let siblings = vec![choose("s", "y"), choose("s", "z")];
        let chosen = prepare(&model(siblings, vec![on()], 17), &[]).unwrap();
        let branches: Vec<_> = chosen.nodes[1].attribute.iter().map(|held| &held.g).collect();
        assert_eq!(branches[0], branches[1], "the branch that is taken, in place of both");
        assert_eq!(chosen.nodes.len(), 2);
    }

    #[test]
    fn a_loop_keeps_its_bounds_where_nothing_reads_the_result() {
        let port = |name: &str| ValueInfo { name: name.to_string(), r#type: None };
        let body = Graph {
            node: vec![
                Node {
                    attribute: vec![Attribute::int("axis", 0)],
                    ..simple("Concat", &["v", "v"], "w")
                },
                simple("Identity", &["go"], "on"),
                simple("Identity", &["u"], "t"),
            ],
            input: ["i", "go", "u", "v"].map(port).to_vec(),
            output: ["on", "t", "w"].map(port).to_vec(),
            ..Graph::default()
        };
        let held = Attribute { name: "body".to_string(), g: Some(body), ..Attribute::default() };
        let node = Node { attribute: vec![held], ..simple("Loop", &["one", "", "x", "x"], "y") };
        let unfit = prepared(node, &[("one", &[40])], 17).err().unwrap();
        assert!(unfit.what.contains("its size depends on the number of steps"), "{}", unfit.what);
    }
}
