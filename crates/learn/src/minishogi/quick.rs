//! Fast inference of a value network on sparse inputs.
//!
//! About 57 of a position's 361 numbers are not 0, so the first layer is a sum of that
//! many columns. Rows are evaluated one by one, with every sum in the order of its inputs: a row's
//! value is the same whatever else is evaluated, on every processor. [`Network`] sums in another order,
//! so that its values agree to about six digits only.

use super::{FEATURES, ValueFunction};
use crate::network::{Activation, Architecture, Head, Network, Parameter};
use crate::onnx::read;

/// Name of the network's only head.
pub const HEAD: &str = "win";

/// Returns the architecture of a value network with hidden layers of these sizes.
pub fn architecture(hidden: &[usize]) -> Architecture {
    let head = Head { name: HEAD.to_string(), outputs: 1, activation: Activation::Sigmoid };
    let (hidden, activation) = (hidden.to_vec(), Activation::Relu);
    Architecture::Mlp { inputs: FEATURES, hidden, activation, heads: vec![head] }
}

/// A layer: the weights of each input for all outputs, input by input.
#[derive(Clone, Debug)]
struct WeightColumns {
    columns: Vec<f32>,
    bias: Vec<f32>,
}

/// A value network, ready for inference.
#[derive(Clone, Debug)]
pub struct Quick {
    layers: Vec<WeightColumns>,
}

impl Quick {
    /// Prepares a network; `None` unless it has an [`architecture`] of this module.
    pub fn of(network: &Network) -> Option<Quick> {
        let layer = |pair: &[Parameter]| {
            let [weight, bias] = pair else { unreachable!("weights come in pairs") };
            let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
            let place = |at: usize| weight.numbers[at % outputs * inputs + at / outputs];
            let columns = (0..inputs * outputs).map(place).collect();
            WeightColumns { columns, bias: bias.numbers.clone() }
        };
        let Architecture::Mlp { hidden, .. } = network.architecture() else { return None };
        let fits = *network.architecture() == architecture(hidden);
        fits.then(|| Quick { layers: network.parameters().chunks(2).map(layer).collect() })
    }

    /// Reads the network of an ONNX model.
    pub fn read(bytes: &[u8]) -> Option<Quick> {
        Quick::of(&read(bytes, architecture)?)
    }
}

impl WeightColumns {
    fn sums(&self, inputs: &[f32], out: &mut Vec<f32>) {
        out.clear();
        out.extend_from_slice(&self.bias);
        for (&input, column) in inputs.iter().zip(self.columns.chunks_exact(self.bias.len())) {
            if input != 0.0 {
                out.iter_mut().zip(column).for_each(|(sum, weight)| *sum += input * weight);
            }
        }
    }
}

impl ValueFunction for Quick {
    fn values(&self, rows: &[f32], out: &mut [f32]) {
        assert_eq!(rows.len(), out.len() * FEATURES, "one row per value");
        let (mut here, mut next) = (Vec::new(), Vec::new());
        let (last, hidden) = self.layers.split_last().expect("a network has a layer");
        for (row, out) in rows.chunks_exact(FEATURES).zip(out) {
            here.clear();
            here.extend_from_slice(row);
            for layer in hidden {
                layer.sums(&here, &mut next);
                next.iter_mut().for_each(|sum| *sum = sum.max(0.0));
                std::mem::swap(&mut here, &mut next);
            }
            last.sums(&here, &mut next);
            *out = (1.0 / (1.0 + libm::exp(-f64::from(next[0])))) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{features, rules, test_positions};
    use super::*;

    #[test]
    fn values_are_those_of_the_network() {
        use crate::backpropagation::Pass;
        let game = rules();
        let positions = test_positions::positions(&game, 200);
        let mut rows = Vec::new();
        features::append(&game, &positions, &mut rows);
        for hidden in [vec![], vec![32], vec![24, 16]] {
            let network = Network::uniform(architecture(&hidden), 3, -0.2, 0.2);
            let mut found = vec![0.0; positions.len()];
            Quick::of(&network).unwrap().values(&rows, &mut found);
            let expected = Pass::new(&network, rows.clone(), None).answers.swap_remove(0);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5));
            assert!(expected.iter().any(|value| (value - expected[0]).abs() > 0.01));
        }
    }

    #[test]
    fn other_networks_are_refused() {
        let other = |change: fn(&mut Vec<Head>)| {
            let mut built = architecture(&[4]);
            let Architecture::Mlp { heads, .. } = &mut built else { unreachable!() };
            change(heads);
            Quick::of(&Network::new(built, 0))
        };
        assert!(other(|_| {}).is_some());
        assert!(other(|heads| heads[0].outputs = 2).is_none());
        assert!(other(|heads| heads[0].activation = Activation::Tanh).is_none());
        assert!(other(|heads| heads.push(heads[0].clone())).is_none());
    }
}
