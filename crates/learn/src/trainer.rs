//! Training steps on several threads.
//!
//! The division of a batch does not depend on the number of threads. Each part's gradient is computed
//! by one thread and the gradients are added in order, so that the weights are the same with any
//! number of threads.

use rayon::prelude::*;

use super::backpropagation::Gradient;
use super::equivariance::Ties;
use super::network::Network;
use super::optimiser::{Optimiser, OptimiserMethod};
use yomikiri::error::{Error, Kind};

/// A network in training.
#[derive(Debug)]
pub struct Trainer {
    /// The current network.
    pub network: Network,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// Tied weights.
    ties: Option<Ties>,
}

impl Trainer {
    /// Returns the state before the first step.
    pub fn new(network: Network, method: OptimiserMethod) -> Trainer {
        let optimiser = Optimiser::new(method, &network);
        Trainer { network, optimiser, ties: None }
    }

    /// Ties weights: makes them equal and keeps them so.
    pub fn tied(mut self, ties: Ties) -> Trainer {
        ties.tie(&mut self.network);
        Trainer { ties: Some(ties), ..self }
    }

    /// Makes one step against the gradient of the sum of the parts' losses at `factor` times the learning
    /// rate, and returns that sum. A gradient with a norm above `max_norm` is clipped to it (Pascanu, Mikolov
    /// and Bengio 2013). Fails if the loss is not finite.
    pub fn step<T: Send>(
        &mut self,
        parts: Vec<T>,
        factor: f64,
        max_norm: Option<f64>,
        gradient: impl Fn(&Network, T) -> Gradient + Sync,
    ) -> Result<f64, Error> {
        let network = &self.network;
        let parts = parts.into_par_iter().map(|part| gradient(network, part));
        let found: Vec<Gradient> = parts.collect();
        let mut total = 0.0;
        let mut sum: Vec<Vec<f32>> =
            network.parameters().iter().map(|p| vec![0.0; p.numbers.len()]).collect();
        for (loss, gradient) in found {
            total += loss;
            for (sum, part) in sum.iter_mut().zip(gradient) {
                sum.iter_mut().zip(part).for_each(|(sum, gradient)| *sum += gradient);
            }
        }
        if let Some(ties) = &self.ties {
            ties.average(&mut sum);
        }
        let mut scale = 1.0;
        if let Some(max_norm) = max_norm {
            let squares =
                sum.iter().flatten().map(|&gradient| f64::from(gradient) * f64::from(gradient));
            let norm = squares.sum::<f64>().sqrt();
            if norm > max_norm {
                scale = (max_norm / norm) as f32;
                sum.iter_mut().flatten().for_each(|gradient| *gradient *= scale);
            }
        }
        if !total.is_finite() || !scale.is_finite() {
            let what = "training has diverged: the loss is not finite";
            return Err(Error::new(what, "lower the learning rate").of_kind(Kind::Failure));
        }
        self.optimiser.step(&mut self.network, &sum, factor);
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backpropagation::{Pass, squared_errors};
    use crate::network::{Activation, Architecture, Head};

    fn network() -> Network {
        let head = Head { name: "value".into(), outputs: 1, activation: Activation::Tanh };
        let (hidden, activation) = (vec![8], Activation::Sigmoid);
        Network::new(Architecture::Mlp { inputs: 3, hidden, activation, heads: vec![head] }, 1)
    }

    fn gradient(network: &Network, (inputs, targets): &(Vec<f32>, Vec<f32>)) -> Gradient {
        let pass = Pass::new(network, inputs.clone(), None);
        let (loss, errors) = squared_errors(&pass.answers[0], targets, 1.0);
        pass.backward(loss, vec![errors])
    }

    #[test]
    fn gradients_are_differences() {
        let head = Head { name: "value".into(), outputs: 1, activation: Activation::Tanh };
        let (planes, rows, columns) = (1, 1, 3);
        let (channels, blocks, heads) = (2, 1, vec![head]);
        let residual = Architecture::Residual { planes, rows, columns, channels, blocks, heads };
        differences(network());
        for (seed, most) in [(1, 0.7), (2, 0.7), (3, 0.7), (1, 0.4), (2, 0.4), (3, 0.4)] {
            differences(Network::uniform(residual.clone(), seed, -most, most));
        }
    }

    fn differences(network: Network) {
        let data = (vec![0.3, -1.0, 2.0, 1.0, 0.5, 0.0], vec![0.5, -0.25]);
        let at = |network: &Network| gradient(network, &data).0;
        let (_, gradients) = gradient(&network, &data);
        for (parameter, gradients) in gradients.iter().enumerate() {
            for (place, &gradient) in gradients.iter().enumerate() {
                let moved = |by: f32| {
                    let mut network = network.clone();
                    network.parameters_mut()[parameter].numbers[place] += by;
                    at(&network)
                };
                let difference = (moved(0.001) - moved(-0.001)) / 0.002;
                assert!((difference - f64::from(gradient)).abs() < 1e-3, "{difference} {gradient}");
            }
        }
    }
}
