//! Training steps, with the work of each shared among threads.
//!
//! A batch is split in a way that does not depend on the number of threads. One thread computes the
//! gradient of a part, and the gradients are added in order: the weights after a step are the same
//! with any number of threads. The library's own threads stay off: on batches of this size they
//! cost more than they save.

use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{Device, Result, Tensor};

use super::LearnError;
use super::equivariance::Ties;
use super::network::Network;
use super::optimiser::{Method, Optimiser};
use super::weights::Weights;

/// Threads of which each runs the library's work alone.
#[derive(Debug)]
pub struct Workers {
    pools: Vec<rayon::ThreadPool>,
}

impl Workers {
    /// As many as the surrounding thread pool has threads.
    pub fn new() -> Workers {
        // Whatever the library shares out is shared within a pool of one.
        let pool = |at| {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(1);
            builder.thread_name(move |_| format!("learn-{at}")).build()
        };
        let pools: Vec<_> =
            (0..rayon::current_num_threads()).filter_map(|at| pool(at).ok()).collect();
        Workers { pools }
    }

    /// The result of `work` for each item, in order.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        if self.pools.len() < 2 || items.len() < 2 {
            let run = || items.into_iter().map(&work).collect();
            return match self.pools.first() {
                Some(pool) => pool.install(run),
                None => run(),
            };
        }
        let slots: Vec<std::sync::Mutex<(Option<T>, Option<R>)>> =
            items.into_iter().map(|item| std::sync::Mutex::new((Some(item), None))).collect();
        let next = AtomicUsize::new(0);
        let run = || {
            while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut held = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let item = held.0.take().expect("every item is taken once");
                held.1 = Some(work(item));
            }
        };
        // The surrounding threads wait meanwhile: new ones for each step would cost as much as the
        // step.
        rayon::scope(|scope| {
            for pool in &self.pools {
                scope.spawn(|_| pool.install(run));
            }
        });
        let done = |slot: std::sync::Mutex<(Option<T>, Option<R>)>| {
            let held = slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
            held.1.expect("every item was worked on")
        };
        slots.into_iter().map(done).collect()
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers::new()
    }
}

/// A network in training.
#[derive(Debug)]
pub struct Trainer {
    /// The network as it is.
    pub network: Network,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// The threads.
    pub workers: Workers,
    /// Which weights stay equal.
    ties: Option<Ties>,
}

impl Trainer {
    /// Before the first step.
    pub fn new(network: Network, method: Method) -> Trainer {
        let optimiser = Optimiser::new(method, &network);
        Trainer { network, optimiser, workers: Workers::new(), ties: None }
    }

    /// The same, with weights that are made equal and stay so.
    pub fn tied(mut self, ties: Ties) -> Trainer {
        ties.tie(&mut self.network);
        Trainer { ties: Some(ties), ..self }
    }

    /// One step against the gradient of the sum of the parts' losses, with `factor` times the
    /// learning rate; gives that sum. A gradient whose norm is above `max_norm` is clipped to it
    /// (Pascanu, Mikolov and Bengio 2013). Fails where the loss is no number.
    pub fn step<T: Send>(
        &mut self,
        parts: Vec<T>,
        factor: f64,
        max_norm: Option<f64>,
        loss: impl Fn(&Weights<'_>, T) -> Result<Tensor> + Sync,
    ) -> std::result::Result<f64, LearnError> {
        let network = &self.network;
        let found =
            self.workers.map(parts, |part| gradient(network, |weights| loss(weights, part)));
        let mut total = 0.0;
        let mut sum: Vec<Vec<f32>> =
            network.parameters().iter().map(|p| vec![0.0; p.numbers.len()]).collect();
        for part in found {
            let (loss, gradient) = part?;
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
            return Err(LearnError::Diverged);
        }
        self.optimiser.step(&mut self.network, &sum, factor);
        Ok(total)
    }
}

/// A loss, and its gradient by the network's weights.
fn gradient<'a>(
    network: &'a Network,
    loss: impl FnOnce(&Weights<'a>) -> Result<Tensor>,
) -> Result<(f64, Vec<Vec<f32>>)> {
    let weights = network.variable()?;
    let loss = loss(&weights)?;
    let gradients = loss.backward()?;
    let of = |tensor: &Tensor| match gradients.get(tensor) {
        Some(gradients) => gradients.flatten_all()?.to_vec1::<f32>(),
        None => Ok(vec![0.0; tensor.elem_count()]),
    };
    let all = weights.tensors.iter().map(of).collect::<Result<_>>()?;
    Ok((f64::from(loss.to_scalar::<f32>()?), all))
}

/// Rows of numbers as a tensor (rows, `width`).
pub fn rows(numbers: Vec<f32>, width: usize) -> Result<Tensor> {
    let count = numbers.len() / width;
    Tensor::from_vec(numbers, (count, width), &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::network::{Activation, Architecture, Head};

    fn network() -> Network {
        let head = Head { name: "value".into(), outputs: 1, activation: Activation::Tanh };
        let (hidden, activation) = (vec![8], Activation::Sigmoid);
        Network::new(Architecture::Mlp { inputs: 3, hidden, activation, heads: vec![head] }, 1)
    }

    fn loss(weights: &Weights<'_>, (inputs, targets): (Vec<f32>, Vec<f32>)) -> Result<Tensor> {
        let answer = &weights.forward(&rows(inputs, 3)?)?[0];
        (answer - rows(targets, 1)?)?.sqr()?.sum_all()
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
        let at = |network: &Network| {
            let loss = loss(&network.fixed().unwrap(), data.clone()).unwrap();
            f64::from(loss.to_scalar::<f32>().unwrap())
        };
        let (value, gradients) = gradient(&network, |weights| loss(weights, data.clone())).unwrap();
        assert!((value - at(&network)).abs() < 1e-6);
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
