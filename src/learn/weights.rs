//! Networks as tensors, by which a loss can be differentiated.

use candle_core::{D, Device, Result, Tensor, Var};

use super::convolution::Windows;
use super::network::{Activation, Architecture, Network};

impl Activation {
    pub(super) fn of(self, sums: Tensor) -> Result<Tensor> {
        match self {
            Activation::Linear => Ok(sums),
            Activation::Relu => sums.relu(),
            // By the tangent, whose derivative the library knows without a graph of its own.
            Activation::Sigmoid => ((sums * 0.5)?.tanh()? * 0.5)? + 0.5,
            Activation::Tanh => sums.tanh(),
        }
    }
}

impl Network {
    /// The weights as tensors that answer.
    pub(super) fn fixed(&self) -> Result<Weights<'_>> {
        self.weights(|numbers, shape| Tensor::from_slice(numbers, shape, &Device::Cpu))
    }

    /// The weights as tensors by which a loss can be differentiated.
    pub(super) fn variable(&self) -> Result<Weights<'_>> {
        self.weights(|numbers, shape| {
            Ok(Var::from_slice(numbers, shape, &Device::Cpu)?.into_inner())
        })
    }

    fn weights(&self, tensor: impl Fn(&[f32], &[usize]) -> Result<Tensor>) -> Result<Weights<'_>> {
        let all = self.parameters().iter().map(|p| tensor(&p.numbers, &p.shape));
        Ok(Weights { architecture: self.architecture(), tensors: all.collect::<Result<_>>()? })
    }
}

/// A network's weights as tensors, in the order of its parameters.
pub struct Weights<'a> {
    architecture: &'a Architecture,
    pub(super) tensors: Vec<Tensor>,
}

impl Weights<'_> {
    /// What each head answers, (N, its outputs), for N positions of `inputs` numbers.
    pub fn forward(&self, inputs: &Tensor) -> Result<Vec<Tensor>> {
        self.forward_masked(inputs, |_| Ok(None))
    }

    /// The same with what the hidden layers of an MLP answer multiplied by numbers, (N, its units),
    /// that `mask` gives for that many units, if it does.
    pub fn forward_masked(
        &self,
        inputs: &Tensor,
        mut mask: impl FnMut(usize) -> Result<Option<Tensor>>,
    ) -> Result<Vec<Tensor>> {
        let mut rest = &self.tensors[..];
        let mut take = || -> (&Tensor, &Tensor) {
            let (pair, others) = rest.split_at(2);
            rest = others;
            (&pair[0], &pair[1])
        };
        let last = match self.architecture {
            Architecture::Mlp { hidden, activation, .. } => {
                let mut x = inputs.clone();
                for &units in hidden {
                    x = activation.of(linear(&x, take())?)?;
                    if let Some(mask) = mask(units)? {
                        x = (x * mask)?;
                    }
                }
                x
            }
            Architecture::Residual { rows, columns, blocks, .. } => {
                let windows = Windows::of(*rows, *columns);
                let mut convolved = |x: &Tensor| {
                    let (kernel, bias) = take();
                    windows.convolve(x, kernel, bias)
                };
                let mut x = convolved(&windows.spread(inputs)?)?.relu()?;
                for _ in 0..*blocks {
                    let one = convolved(&x)?.relu()?;
                    let two = convolved(&one)?;
                    x = (x + two)?.relu()?;
                }
                windows.gather(&x)?
            }
        };
        let heads = self.architecture.heads();
        heads.iter().map(|head| head.activation.of(linear(&last, take())?)).collect()
    }
}

fn linear(x: &Tensor, (weight, bias): (&Tensor, &Tensor)) -> Result<Tensor> {
    // The weight comes first, so that its gradient comes out in its own order.
    weight.matmul(&x.t()?)?.t()?.contiguous()?.broadcast_add(bias)
}

/// The logarithm of the sum of eˣ along the last axis, (N, 1).
pub(super) fn log_sum_exp(x: &Tensor) -> Result<Tensor> {
    let most = x.max_keepdim(D::Minus1)?.detach();
    x.broadcast_sub(&most)?.exp()?.sum_keepdim(D::Minus1)?.log()? + most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_powers_are_taken_without_overflow() {
        let x = Tensor::new(&[[1f32, 2.0, 500.0], [0.0, 0.0, 0.0]], &Device::Cpu).unwrap();
        let sums = log_sum_exp(&x).unwrap().to_vec2::<f32>().unwrap();
        assert_eq!(sums[0], [500.0]);
        assert!((sums[1][0] - 3f32.ln()).abs() < 1e-6);
    }
}
