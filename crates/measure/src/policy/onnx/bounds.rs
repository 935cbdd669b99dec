//! Bounds the nodes and the weights of a model before anything is computed of them; [`super::prepare`] bounds what the
//! nodes compute.

use super::proto::{Model, Tensor};

/// Maximum number of nodes, including subgraphs: the runtime plans by recursion.
pub(super) const NODES: usize = 10_000;
/// Maximum number of inputs and outputs together.
const PORTS: usize = 100;
/// Maximum number of dimensions of a tensor.
pub(super) const RANK: usize = 16;
/// Maximum number of weights in a tensor, which a file can contain.
const WEIGHTS: u64 = 1 << 29;

/// Rejects a model that is far larger than any that plays, or says so.
pub(super) fn check(model: &mut Model) -> Result<(), String> {
    let mut graphs: Vec<_> = model.graph.iter().collect();
    let mut nodes = 0;
    while let Some(graph) = graphs.pop() {
        nodes += graph.node.len();
        let ports = graph.input.len() + graph.output.len();
        if nodes > NODES {
            return Err(format!("more than {NODES} nodes, the limit"));
        }
        if ports > PORTS + graph.initializer.len() {
            return Err(format!("{ports} inputs and outputs, more than the limit of {PORTS}"));
        }
        let held = graph.node.iter().flat_map(|node| &node.attribute);
        graphs.extend(held.flat_map(|held| held.g.iter().chain(&held.graphs)));
    }
    let bounded = |tensor: &mut Tensor| {
        let sizes = tensor.dims.iter().map(|&size| u64::try_from(size).ok());
        let numbers = sizes.reduce(|all, size| all?.checked_mul(size?)).unwrap_or(Some(1));
        let is_shape = tensor.dims.len() <= RANK && numbers.is_some_and(|n| n <= WEIGHTS);
        match is_shape {
            true if tensor.is_whole() => Ok(()),
            true => Err(format!("weights `{}` are not as many as their shape says", tensor.name)),
            false => {
                let sizes = tensor.dims.iter().take(8).map(i64::to_string).collect::<Vec<_>>();
                Err(format!("invalid shape of weights `{}`: ({})", tensor.name, sizes.join(", ")))
            }
        }
    };
    model.graph.iter_mut().try_for_each(|graph| graph.each_tensor(&mut { bounded }))
}

#[cfg(test)]
mod tests {
    use super::super::proto::{Graph, Node};
    use super::*;

    fn checked(node: Vec<Node>, initializer: Vec<Tensor>) -> Result<(), String> {
        let graph = Graph { node, initializer, ..Graph::default() };
        check(&mut Model { graph: Some(graph), ..Model::default() })
    }

    #[test]
    fn graphs_and_weights_are_bounded() {
        let node = || Node { op_type: "Relu".to_string(), ..Node::default() };
        assert_eq!(checked(vec![node(); NODES], vec![]), Ok(()));
        let error = checked(vec![node(); 100_000], vec![]).unwrap_err();
        assert!(error.contains("more than 10000 nodes"), "{error}");
        for dims in [vec![1 << 32], vec![-1], vec![1 << 40, 1 << 40]] {
            let weights = Tensor { name: "w".into(), dims, ..Tensor::default() };
            assert!(checked(vec![], vec![weights]).unwrap_err().contains("`w`"));
        }
    }
}
