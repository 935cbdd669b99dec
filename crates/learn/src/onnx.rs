//! Networks as ONNX models for other programs.
//!
//! Models use `Gemm`, `Conv`, `Add`, `Flatten`, `Relu`, `Tanh` and `Sigmoid` of operator set 13,
//! the oldest that has them all in their present form. The input is `board` with an open first
//! dimension: (N, planes, rows, columns) for planes, else (N, numbers). The outputs are named after
//! the network's heads.

use prost::Message;

use yomikiri_measure::policy::onnx::proto::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Shape, Tensor, TensorType, Type,
    ValueInfo,
};

use super::network::{Activation, Architecture, Network, Parameter, Step};

/// Builds the graph in the order of computation.
struct GraphWriter<'a> {
    network: &'a Network,
    /// Number of parameters written so far.
    used: usize,
    graph: Graph,
    /// Name of the last result.
    last: String,
}

impl GraphWriter<'_> {
    /// Adds an operation on the last result and others; its result becomes the last.
    fn add(&mut self, operation: &str, others: &[&str], attributes: Vec<Attribute>) {
        let name = format!("x{}", self.graph.node.len());
        let last = std::mem::replace(&mut self.last, name.clone());
        self.named(operation, &[&[last.as_str()], others].concat(), attributes, &name);
    }

    fn named(&mut self, operation: &str, inputs: &[&str], attribute: Vec<Attribute>, output: &str) {
        self.graph.node.push(Node {
            input: inputs.iter().map(|input| input.to_string()).collect(),
            output: vec![output.to_string()],
            name: format!("n{}", self.graph.node.len() + 1),
            op_type: operation.to_string(),
            attribute,
            domain: String::new(),
        });
    }

    /// Writes the next weight and bias and returns their names.
    fn take(&mut self) -> [String; 2] {
        [0, 1].map(|_| {
            let parameter = &self.network.parameters()[self.used];
            self.used += 1;
            self.graph.initializer.push(Tensor {
                dims: parameter.shape.iter().map(|&length| length as i64).collect(),
                data_type: Tensor::FLOAT,
                name: parameter.name.clone(),
                raw_data: Some(parameter.numbers.iter().flat_map(|n| n.to_le_bytes()).collect()),
                ..Tensor::default()
            });
            parameter.name.clone()
        })
    }

    fn linear(&mut self) {
        let [weight, bias] = self.take();
        self.add("Gemm", &[&weight, &bias], vec![Attribute::int("transB", 1)]);
    }

    fn convolve(&mut self) {
        let [weight, bias] = self.take();
        let attributes = vec![
            Attribute::ints("kernel_shape", &[3, 3]),
            Attribute::ints("strides", &[1, 1]),
            Attribute::ints("pads", &[1, 1, 1, 1]),
        ];
        self.add("Conv", &[&weight, &bias], attributes);
    }

    fn activate(&mut self, activation: Activation) {
        if let Some(operation) = operation(activation) {
            self.add(operation, &[], vec![]);
        }
    }
}

fn operation(activation: Activation) -> Option<&'static str> {
    match activation {
        Activation::Linear => None,
        Activation::Relu => Some("Relu"),
        Activation::Sigmoid => Some("Sigmoid"),
        Activation::Tanh => Some("Tanh"),
    }
}

/// Returns an input or output of floats with an open first dimension.
fn port(name: &str, shape: &[usize]) -> ValueInfo {
    let open = Dimension { dim_value: None, dim_param: Some("N".to_string()) };
    let size = |&length: &usize| Dimension { dim_value: Some(length as i64), dim_param: None };
    let shape = Shape { dim: [open].into_iter().chain(shape.iter().map(size)).collect() };
    let tensor = TensorType { elem_type: Tensor::FLOAT, shape: Some(shape) };
    let r#type = Type { tensor_type: Some(tensor), ..Type::default() };
    ValueInfo { name: name.to_string(), r#type: Some(r#type) }
}

/// Returns the network as a model with input of this shape, without the batch axis.
pub fn model(network: &Network, shape: &[usize]) -> Vec<u8> {
    let architecture = network.architecture();
    let (graph, last) = (Graph::default(), "board".to_string());
    let mut graph = GraphWriter { network, used: 0, graph, last };
    let is_flat = matches!(architecture, Architecture::Mlp { .. });
    if is_flat && shape.len() > 1 {
        graph.add("Flatten", &[], vec![Attribute::int("axis", 1)]);
    }
    let mut given = Vec::new();
    for step in architecture.steps() {
        given.push(graph.last.clone());
        match step {
            Step::Linear => graph.linear(),
            Step::Convolve(_) => graph.convolve(),
            Step::Activate(activation) => graph.activate(activation),
            Step::Add => graph.add("Add", &[&given[given.len() - 1 - Step::BLOCK]], vec![]),
            // ONNX convolutions work on planes.
            Step::Transpose(_) | Step::Drop => {}
        }
    }
    if !is_flat {
        graph.add("Flatten", &[], vec![Attribute::int("axis", 1)]);
    }
    let hidden = graph.last.clone();
    for head in architecture.heads() {
        let [weight, bias] = graph.take();
        let inputs = [hidden.as_str(), &weight, &bias];
        match operation(head.activation) {
            None => graph.named("Gemm", &inputs, vec![Attribute::int("transB", 1)], &head.name),
            Some(operation) => {
                let sums = format!("{}_sums", head.name);
                graph.named("Gemm", &inputs, vec![Attribute::int("transB", 1)], &sums);
                graph.named(operation, &[&sums], vec![], &head.name);
            }
        }
        graph.graph.output.push(port(&head.name, &[head.outputs]));
    }
    let input = vec![port("board", shape)];
    let graph = Graph { name: "policy".to_string(), input, ..graph.graph };
    let operators = OperatorSet { domain: Some(String::new()), version: 13 };
    Model {
        ir_version: Some(8),
        producer_name: "yomikiri".to_string(),
        producer_version: env!("CARGO_PKG_VERSION").to_string(),
        graph: Some(graph),
        opset_import: vec![operators],
        metadata_props: Vec::new(),
    }
    .encode_to_vec()
}

/// Reads the network of a [`model`] of fully connected layers and one head; `architecture` maps the units of
/// its hidden layers to its architecture. `None` for other bytes.
pub fn read(bytes: &[u8], architecture: impl Fn(&[usize]) -> Architecture) -> Option<Network> {
    let graph = Model::decode(bytes).ok()?.graph?;
    let parameter = |tensor: &Tensor| {
        let shape: Vec<usize> =
            tensor.dims.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<_>>()?;
        let numbers: Vec<f32> = tensor.numbers().into_iter().map(|n| n as f32).collect();
        let count = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
        let name = tensor.name.clone();
        (count == Some(numbers.len())).then_some(Parameter { name, shape, numbers })
    };
    let parameters: Vec<Parameter> =
        graph.initializer.iter().map(parameter).collect::<Option<_>>()?;
    let biases = parameters.iter().filter(|parameter| parameter.shape.len() == 1);
    let units: Vec<usize> = biases.map(|bias| bias.shape[0]).collect();
    let network = Network::of(architecture(units.split_last()?.1), parameters)?;
    let own = Model::decode(&model(&network, &[network.architecture().inputs()])[..]).ok()?.graph?;
    let operations = |graph: &Graph| -> Vec<String> {
        graph.node.iter().map(|node| node.op_type.clone()).collect()
    };
    (operations(&own) == operations(&graph)).then_some(network)
}
