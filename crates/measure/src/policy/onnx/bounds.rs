//! Bounds the resources of a model by its file, before any are allocated.
//!
//! Sizes computed while the model runs are not visible; time limits and the operating system bound those.

use std::collections::HashMap;

use super::proto::{Graph, Model, Node, Tensor};

/// Maximum number of nodes, including subgraphs: the runtime plans by recursion.
const NODES: usize = 10_000;
/// Maximum number of inputs and outputs together.
const PORTS: usize = 100;
/// Maximum number of weights in a tensor, which a file can contain.
const WEIGHTS: u64 = 1 << 29;
/// Maximum of numbers that nodes make by sizes in the file, and of numbers in an input.
pub(super) const MADE: u64 = 1 << 28;
/// Maximum length of constants that are read as sizes.
const SIZES: usize = 64;

/// Rejects a model that would allocate far more than its file justifies.
pub(super) fn check(model: &Model) -> Result<(), String> {
    let Some(graph) = &model.graph else { return Ok(()) };
    let mut graphs = vec![graph];
    let mut found = Constants::default();
    let (mut nodes, mut made) = (0, 0u64);
    // Constants come first, because a subgraph may use those around it.
    let mut all = Vec::new();
    while let Some(graph) = graphs.pop() {
        nodes += graph.node.len();
        let ports = graph.input.len() + graph.output.len();
        if nodes > NODES {
            return Err(format!("more than {NODES} nodes, the limit"));
        }
        if ports > PORTS + graph.initializer.len() {
            return Err(format!("{ports} inputs and outputs, more than the limit of {PORTS}"));
        }
        found.read(graph)?;
        let held = graph.node.iter().flat_map(|node| &node.attribute);
        graphs.extend(held.flat_map(|held| held.g.iter().chain(&held.graphs)));
        all.push(graph);
    }
    for node in all.iter().flat_map(|graph| &graph.node) {
        let numbers = found.made_by(node);
        made = made.saturating_add(numbers);
        if made > MADE {
            let name = if node.name.is_empty() { "without a name" } else { &node.name };
            return Err(format!(
                "model too large: node {name} ({}) computes {numbers} numbers; the limit of all nodes is {MADE}",
                node.op_type
            ));
        }
    }
    Ok(())
}

/// Constants that may be sizes, by name.
#[derive(Default)]
struct Constants<'a>(HashMap<&'a str, Vec<f64>>);

impl<'a> Constants<'a> {
    fn read(&mut self, graph: &'a Graph) -> Result<(), String> {
        for constant in &graph.initializer {
            self.add(&constant.name, constant)?;
        }
        for node in &graph.node {
            for held in &node.attribute {
                let name = match node.output.first() {
                    Some(output) if node.op_type == "Constant" => output,
                    _ => "",
                };
                if let Some(tensor) = &held.t {
                    self.add(name, tensor)?;
                }
                let ints = held.ints.iter().chain(&held.i).map(|&n| n as f64);
                let floats = held.floats.iter().chain(&held.f).map(|&x| f64::from(x));
                let numbers: Vec<f64> = ints.chain(floats).take(SIZES + 1).collect();
                if held.name.starts_with("value_") && numbers.len() <= SIZES {
                    self.0.insert(name, numbers);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &'a str, tensor: &Tensor) -> Result<(), String> {
        let sizes = tensor.dims.iter().map(|&size| u64::try_from(size).ok());
        let numbers = sizes.reduce(|all, size| all?.checked_mul(size?)).unwrap_or(Some(1));
        let numbers = numbers.filter(|&numbers| numbers <= WEIGHTS);
        let numbers = numbers.ok_or_else(|| {
            let sizes = tensor.dims.iter().take(8).map(i64::to_string).collect::<Vec<_>>();
            format!("invalid shape of weights `{}`: ({})", tensor.name, sizes.join(", "))
        })?;
        if numbers <= SIZES as u64 {
            self.0.insert(name, tensor.numbers());
        }
        Ok(())
    }

    /// Returns a bound on the numbers a node makes for each input: the product of its sizes in the file. Open
    /// or invalid sizes count as 1.
    fn made_by(&self, node: &Node) -> u64 {
        let places = SIZED.iter().find(|(name, _)| *name == node.op_type);
        let inputs = places.map_or(&[][..], |&(_, places)| places).iter();
        let inputs = inputs.filter_map(|&at| self.0.get(node.input.get(at)?.as_str()));
        let held = node.attribute.iter().filter(|held| SIZES_HELD.contains(&held.name.as_str()));
        let held = held.flat_map(|held| held.ints.iter().map(|&size| size as f64));
        let made: f64 = inputs.flatten().copied().chain(held).map(|size| size.max(1.0)).product();
        // Most operators make no more than they are given, so a file cannot inflate them.
        if made <= 1.0 { 0 } else { made as u64 }
    }
}

/// Operators whose inputs are sizes, with the indices of these inputs.
const SIZED: [(&str, &[usize]); 8] = [
    ("ConstantOfShape", &[0]),
    ("Expand", &[1]),
    ("OneHot", &[1]),
    ("Pad", &[1]),
    ("Range", &[0, 1, 2]),
    ("Resize", &[2, 3]),
    ("Tile", &[1]),
    ("Upsample", &[1]),
];
/// Attributes that are sizes: of padding, of transposed convolutions and of random numbers.
const SIZES_HELD: [&str; 5] = ["pads", "shape", "output_shape", "output_padding", "strides"];

#[cfg(test)]
mod tests {
    use super::super::proto::Attribute;
    use super::*;

    fn ints(name: &str, numbers: &[i64]) -> Tensor {
        let (dims, int64_data) = (vec![numbers.len() as i64], numbers.to_vec());
        Tensor { name: name.to_string(), dims, int64_data, data_type: 7, ..Tensor::default() }
    }

    fn node(op_type: &str, input: &[&str]) -> Node {
        let input = input.iter().map(|name| name.to_string()).collect();
        Node { op_type: op_type.to_string(), input, output: vec!["y".into()], ..Node::default() }
    }

    fn checked(node: Vec<Node>, initializer: Vec<Tensor>) -> Result<(), String> {
        let graph = Graph { node, initializer, ..Graph::default() };
        check(&Model { graph: Some(graph), ..Model::default() })
    }

    #[test]
    fn sizes_that_no_board_needs_are_refused() {
        let huge = 1i64 << 32;
        let range = vec![ints("a", &[0]), ints("b", &[huge]), ints("c", &[1])];
        let attribute = |name: &str, ints: &[i64]| Attribute {
            name: name.to_string(),
            ints: ints.to_vec(),
            r#type: Attribute::INTS,
            ..Attribute::default()
        };
        let with = |op: &str, held: Attribute| Node { attribute: vec![held], ..node(op, &["x"]) };
        let cases = [
            (node("ConstantOfShape", &["s"]), vec![ints("s", &[huge])]),
            (node("ConstantOfShape", &["s"]), vec![ints("s", &[1 << 20, 1 << 20])]),
            (node("Expand", &["x", "s"]), vec![ints("s", &[huge])]),
            (node("Tile", &["x", "s"]), vec![ints("s", &[1, huge])]),
            (node("OneHot", &["x", "s", "v"]), vec![ints("s", &[huge])]),
            (node("Resize", &["x", "", "", "s"]), vec![ints("s", &[1, 1, huge, 1])]),
            (node("Pad", &["x", "s"]), vec![ints("s", &[0, huge, 0, 0])]),
            (node("Range", &["a", "b", "c"]), range),
            (with("Pad", attribute("pads", &[0, huge, 0, 0])), vec![]),
            (with("MaxPool", attribute("pads", &[1 << 20, 1 << 20, 0, 0])), vec![]),
            (with("RandomNormal", attribute("shape", &[huge])), vec![]),
        ];
        for (node, constants) in cases {
            let op = node.op_type.clone();
            let error = checked(vec![node], constants).unwrap_err();
            assert!(error.contains(&format!("({op}) computes")), "{error}");
        }
        // Each of them passes, all together do not.
        let many = |count: usize| {
            let some = ints("s", &[1 << 20]);
            checked(vec![node("ConstantOfShape", &["s"]); count], vec![some])
        };
        assert_eq!(many(256), Ok(()));
        assert!(many(257).is_err());
        let made = with("Constant", attribute("value_ints", &[huge]));
        let uses = node("ConstantOfShape", &["y"]);
        assert!(checked(vec![made, uses], vec![]).is_err(), "a node's constant is one too");
    }

    #[test]
    fn graphs_and_weights_are_bounded() {
        assert_eq!(checked(vec![node("Relu", &["x"]); NODES], vec![]), Ok(()));
        let error = checked(vec![node("Relu", &["x"]); 100_000], vec![]).unwrap_err();
        assert!(error.contains("more than 10000 nodes"), "{error}");
        for dims in [vec![1 << 32], vec![-1], vec![1 << 40, 1 << 40]] {
            let weights = Tensor { name: "w".into(), dims, ..Tensor::default() };
            assert!(checked(vec![], vec![weights]).unwrap_err().contains("`w`"));
        }
    }
}
