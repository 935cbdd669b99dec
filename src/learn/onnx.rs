//! Networks as ONNX models, for use elsewhere.
//!
//! Only what our networks are made of is written: `Gemm`, `Conv`, `Add`, `Flatten`, `Relu`, `Tanh` and
//! `Sigmoid` of operator set 13, which is the oldest that has them all as they are today. The input is
//! `board`, its first dimension open; planes come as (N, planes, rows, columns), everything else as
//! (N, numbers). The outputs have the names of the network's heads. The format is that of `onnx.proto`
//! (<https://onnx.ai/onnx/api/classes.html>), written field by field.

use super::network::{Activation, Architecture, Network};

/// A message of Protocol Buffers that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(mut self, field: u32, number: u64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u32, message: Message) -> Message {
        self.bytes(field, &message.0)
    }

    fn numbers(self, field: u32, numbers: &[u64]) -> Message {
        numbers.iter().fold(self, |message, &number| message.number(field, number))
    }
}

/// The only type of number there is.
const FLOAT: u64 = 1;

/// What is calculated, in the order in which it is.
struct Graph<'a> {
    network: &'a Network,
    /// How many of the network's parameters are used up.
    used: usize,
    graph: Message,
    /// The name of what was calculated last, and of how many things there are.
    last: String,
    count: usize,
}

impl Graph<'_> {
    /// Adds an operation on the last result and others; its result is the last from now on.
    fn add(&mut self, operation: &str, others: &[&str], attributes: Vec<Message>) {
        let name = format!("x{}", self.count);
        let last = std::mem::replace(&mut self.last, name.clone());
        self.named(operation, &[&[last.as_str()], others].concat(), attributes, &name);
    }

    fn named(&mut self, operation: &str, inputs: &[&str], attributes: Vec<Message>, output: &str) {
        self.count += 1;
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(3, &format!("n{}", self.count)).text(4, operation);
        let node = attributes.into_iter().fold(node, |node, attribute| node.message(5, attribute));
        self.graph = std::mem::take(&mut self.graph).message(1, node);
    }

    /// The names of the next weight and bias, which are written down.
    fn take(&mut self) -> [String; 2] {
        [0, 1].map(|_| {
            let parameter = &self.network.parameters()[self.used];
            self.used += 1;
            let shape: Vec<u64> = parameter.shape.iter().map(|&length| length as u64).collect();
            let bytes: Vec<u8> = parameter.numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let tensor = Message::default().numbers(1, &shape).number(2, FLOAT);
            let tensor = tensor.text(8, &parameter.name).bytes(9, &bytes);
            self.graph = std::mem::take(&mut self.graph).message(5, tensor);
            parameter.name.clone()
        })
    }

    fn linear(&mut self) {
        let [weight, bias] = self.take();
        self.add("Gemm", &[&weight, &bias], vec![whole("transB", 1)]);
    }

    fn convolve(&mut self) {
        let [weight, bias] = self.take();
        let attributes = vec![
            wholes("kernel_shape", &[3, 3]),
            wholes("strides", &[1, 1]),
            wholes("pads", &[1, 1, 1, 1]),
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

fn whole(name: &str, number: u64) -> Message {
    Message::default().text(1, name).number(3, number).number(20, 2)
}

fn wholes(name: &str, numbers: &[u64]) -> Message {
    Message::default().text(1, name).numbers(8, numbers).number(20, 7)
}

/// An input or output of floats, the first dimension open.
fn port(name: &str, shape: &[usize]) -> Message {
    let open = Message::default().text(2, "N");
    let dimensions = shape.iter().map(|&length| Message::default().number(1, length as u64));
    let shape = dimensions.fold(Message::default().message(1, open), |s, d| s.message(1, d));
    let tensor = Message::default().number(1, FLOAT).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

/// The model; `planes` is the shape (planes, rows, columns) in which it is to take its input, if not
/// as plain numbers.
pub fn model(network: &Network, planes: Option<[usize; 3]>) -> Vec<u8> {
    let architecture = network.architecture();
    let (graph, last) = (Message::default(), "board".to_string());
    let mut graph = Graph { network, used: 0, graph, last, count: 0 };
    let shape = match (architecture, planes) {
        (Architecture::Mlp { hidden, activation, .. }, _) => {
            if planes.is_some() {
                graph.add("Flatten", &[], vec![whole("axis", 1)]);
            }
            for _ in hidden {
                graph.linear();
                graph.activate(*activation);
            }
            planes.map_or_else(|| vec![architecture.inputs()], |shape| shape.to_vec())
        }
        (Architecture::Residual { planes, rows, columns, blocks, .. }, _) => {
            graph.convolve();
            graph.activate(Activation::Relu);
            for _ in 0..*blocks {
                let before = graph.last.clone();
                graph.convolve();
                graph.activate(Activation::Relu);
                graph.convolve();
                graph.add("Add", &[&before], vec![]);
                graph.activate(Activation::Relu);
            }
            graph.add("Flatten", &[], vec![whole("axis", 1)]);
            vec![*planes, *rows, *columns]
        }
    };
    let hidden = graph.last.clone();
    let mut outputs = Vec::new();
    for head in architecture.heads() {
        let [weight, bias] = graph.take();
        let inputs = [hidden.as_str(), &weight, &bias];
        match operation(head.activation) {
            None => graph.named("Gemm", &inputs, vec![whole("transB", 1)], &head.name),
            Some(operation) => {
                let sums = format!("{}_sums", head.name);
                graph.named("Gemm", &inputs, vec![whole("transB", 1)], &sums);
                graph.named(operation, &[&sums], vec![], &head.name);
            }
        }
        outputs.push(port(&head.name, &[head.outputs]));
    }
    let named = graph.graph.text(2, "policy").message(11, port("board", &shape));
    let graph = outputs.into_iter().fold(named, |graph, output| graph.message(12, output));
    let operators = Message::default().text(1, "").number(2, 13);
    let model = Message::default().number(1, 8).text(2, "yomikiri");
    model.text(3, env!("CARGO_PKG_VERSION")).message(7, graph).message(8, operators).0
}
