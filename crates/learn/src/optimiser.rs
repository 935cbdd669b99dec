//! Optimisers: SGD and AdamW.

use serde::{Deserialize, Serialize};

use super::network::{Network, Parameter};

/// Rule by which weights follow a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OptimiserMethod {
    /// Stochastic gradient descent: a step of `rate` times the gradient.
    Sgd {
        /// Learning rate.
        rate: f64,
    },
    /// Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) with decoupled weight decay if
    /// `weight_decay` is not 0.
    Adam {
        /// Learning rate.
        rate: f64,
        /// Decay rate of the mean of gradients.
        beta1: f64,
        /// Decay rate of the mean of squared gradients.
        beta2: f64,
        /// Term added to the denominator, which bounds steps.
        epsilon: f64,
        /// Weight decay: the share by which a weight shrinks in a step of learning rate 1.
        weight_decay: f64,
    },
}

/// An optimiser by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// Adam, with its published constants.
    Adam,
    /// Gradient descent.
    Sgd,
}

impl OptimiserKind {
    /// Returns the method without weight decay.
    pub fn method(self, rate: f64) -> OptimiserMethod {
        match self {
            OptimiserKind::Adam => OptimiserMethod::adam(rate, 0.0),
            OptimiserKind::Sgd => OptimiserMethod::Sgd { rate },
        }
    }
}

impl OptimiserMethod {
    /// Returns Adam with its published constants and this weight decay.
    pub fn adam(rate: f64, weight_decay: f64) -> OptimiserMethod {
        OptimiserMethod::Adam { rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay }
    }
}

/// A method and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimiser {
    method: OptimiserMethod,
    steps: u64,
    /// Means of gradients and of squared gradients for each parameter; empty for SGD.
    moments: Vec<[Vec<f32>; 2]>,
}

impl Optimiser {
    /// Returns the state before the first step.
    pub fn new(method: OptimiserMethod, network: &Network) -> Optimiser {
        let zeros = |parameter: &Parameter| {
            let zeros = vec![0.0; parameter.numbers.len()];
            [zeros.clone(), zeros]
        };
        let moments = match method {
            OptimiserMethod::Sgd { .. } => Vec::new(),
            OptimiserMethod::Adam { .. } => network.parameters().iter().map(zeros).collect(),
        };
        Optimiser { method, steps: 0, moments }
    }

    /// Moves the weights against a gradient with a list of numbers for each parameter, at `factor` times the
    /// learning rate.
    pub fn step(&mut self, network: &mut Network, gradient: &[Vec<f32>], factor: f64) {
        self.steps += 1;
        let parameters = network.parameters_mut().iter_mut().zip(gradient);
        match self.method {
            OptimiserMethod::Sgd { rate } => {
                let rate = (rate * factor) as f32;
                for (parameter, gradient) in parameters {
                    let pairs = parameter.numbers.iter_mut().zip(gradient);
                    pairs.for_each(|(number, gradient)| *number -= rate * gradient);
                }
            }
            OptimiserMethod::Adam { rate, beta1, beta2, epsilon, weight_decay } => {
                let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
                let first = rate * factor / (1.0 - beta1.powi(steps));
                let second = 1.0 / (1.0 - beta2.powi(steps));
                let (first, second) = (first as f32, second as f32);
                let (beta1, beta2, epsilon) = (beta1 as f32, beta2 as f32, epsilon as f32);
                let kept = 1.0 - (rate * factor * weight_decay) as f32;
                for ((parameter, gradient), [means, squares]) in parameters.zip(&mut self.moments) {
                    // Biases do not decay.
                    let kept = if parameter.shape.len() > 1 { kept } else { 1.0 };
                    let numbers = parameter.numbers.iter_mut().zip(gradient);
                    for ((number, &gradient), (mean, square)) in
                        numbers.zip(means.iter_mut().zip(squares))
                    {
                        *mean = beta1 * *mean + (1.0 - beta1) * gradient;
                        *square = beta2 * *square + (1.0 - beta2) * gradient * gradient;
                        let step = first * *mean / ((second * *square).sqrt() + epsilon);
                        *number = kept * *number - step;
                    }
                }
            }
        }
    }

    /// Returns the number of steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the state as parameters named after the network's.
    pub fn state(&self, network: &Network) -> Vec<Parameter> {
        let pairs = network.parameters().iter().zip(&self.moments);
        let named = |(parameter, moments): (&Parameter, &[Vec<f32>; 2])| {
            [0, 1].map(|at| Parameter {
                name: format!("{}.{}", ["mean", "square"][at], parameter.name),
                shape: parameter.shape.clone(),
                numbers: moments[at].clone(),
            })
        };
        pairs.flat_map(named).collect()
    }

    /// Restores the optimiser after `steps` steps from its state; `None` if that does not fit the network.
    pub fn with_state(
        method: OptimiserMethod,
        network: &Network,
        steps: u64,
        state: Vec<Parameter>,
    ) -> Option<Optimiser> {
        let mut optimiser = Optimiser::new(method, network);
        let expected = optimiser.state(network);
        let fits = |(a, b): (&Parameter, &Parameter)| a.name == b.name && a.shape == b.shape;
        if expected.len() != state.len() || !expected.iter().zip(&state).all(fits) {
            return None;
        }
        let mut numbers = state.into_iter().map(|parameter| parameter.numbers);
        for moments in &mut optimiser.moments {
            for moment in moments {
                *moment = numbers.next()?;
            }
        }
        optimiser.steps = steps;
        Some(optimiser)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Activation, Architecture, Head};

    fn small() -> Network {
        let head = Head { name: "value".into(), outputs: 1, activation: Activation::Linear };
        let activation = Activation::Tanh;
        Network::new(
            Architecture::Mlp { inputs: 2, hidden: vec![], activation, heads: vec![head] },
            1,
        )
    }

    #[test]
    fn first_steps_are_those_worked_out_by_hand() {
        let mut network = small();
        let before = network.parameters()[0].numbers.clone();
        let gradient = vec![vec![0.5, -2.0], vec![0.0]];
        Optimiser::new(OptimiserMethod::Sgd { rate: 0.1 }, &network).step(
            &mut network,
            &gradient,
            1.0,
        );
        let after = &network.parameters()[0].numbers;
        assert_eq!(after[..], [before[0] - 0.1 * 0.5, before[1] + 0.1 * 2.0]);
        // Adam's first step is the learning rate, independent of the gradient's magnitude.
        let mut network = small();
        let method = OptimiserMethod::adam(0.01, 0.0);
        Optimiser::new(method, &network).step(&mut network, &gradient, 1.0);
        let after = &network.parameters()[0].numbers;
        assert!((before[0] - after[0] - 0.01).abs() < 1e-6);
        assert!((after[1] - before[1] - 0.01).abs() < 1e-6);
        assert_eq!(network.parameters()[1].numbers, [0.0]);
    }

    #[test]
    fn an_optimiser_restored_from_its_state_continues_the_same_way() {
        let method = OptimiserMethod::adam(0.01, 0.1);
        let (mut network, gradient) = (small(), vec![vec![0.5, -2.0], vec![1.0]]);
        let mut optimiser = Optimiser::new(method, &network);
        optimiser.step(&mut network, &gradient, 1.0);
        let state = optimiser.state(&network);
        let (mut other, mut copy) = (
            Optimiser::with_state(method, &network, optimiser.steps(), state).unwrap(),
            network.clone(),
        );
        assert_eq!(Optimiser::with_state(method, &network, 1, vec![]), None);
        optimiser.step(&mut network, &gradient, 0.5);
        other.step(&mut copy, &gradient, 0.5);
        assert_eq!((network, optimiser), (copy, other));
    }
}
