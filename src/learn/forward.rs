//! What a network answers, by the runtime that runs ONNX models.
//!
//! The runtime gives the sums of the heads. What is made of them is as it is in training, for moves
//! are equally good whose values are rounded to the same number: that of a sure win, as a rule.

use super::network::{Architecture, Head, Network};
use super::onnx;
use crate::policy::PolicyError;
use crate::policy::onnx::session::{Output, Session};

/// A network that is ready to answer.
pub struct Forward {
    architecture: Architecture,
    session: Session,
}

impl Forward {
    /// Makes a network ready.
    pub fn of(network: &Network) -> Result<Forward, PolicyError> {
        let architecture = network.architecture().clone();
        let shape = match architecture {
            Architecture::Mlp { inputs, .. } => vec![inputs],
            Architecture::Residual { planes, rows, columns, .. } => vec![planes, rows, columns],
        };
        let heads = architecture.heads().iter().map(|head| head.name.clone());
        let model = onnx::model(&network.with_linear_heads(), None);
        let session = Session::of_floats(model, shape, heads)?;
        Ok(Forward { architecture, session })
    }

    /// What it is built of.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The place of a head among the [answers](Forward::answers).
    pub fn place(&self, head: &str) -> Option<usize> {
        self.architecture.heads().iter().position(|Head { name, .. }| name == head)
    }

    /// What each head answers to rows of numbers, row by row. The answer to a row does not depend
    /// on the others.
    pub fn answers(&self, rows: &[f32]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let width = self.architecture.inputs();
        let row = |at: usize, out: &mut [f32]| {
            out.copy_from_slice(&rows[at * width..(at + 1) * width]);
        };
        let outputs = self.session.run(rows.len() / width, &row)?;
        let answer = |(output, head): (Output, &Head)| {
            output.numbers.into_iter().map(|sum| head.activation.of_sum(sum)).collect()
        };
        Ok(outputs.into_iter().zip(self.architecture.heads()).map(answer).collect())
    }
}

#[cfg(all(test, feature = "learn"))]
mod tests {
    use super::*;
    use crate::learn::chance::{normal, seeded};
    use crate::learn::network::Activation;
    use crate::learn::trainer;

    #[test]
    fn answers_are_those_of_the_network_that_is_trained() {
        let head =
            |name: &str, outputs, activation| Head { name: name.into(), outputs, activation };
        let heads = vec![
            head("policy", 13, Activation::Linear),
            head("value", 1, Activation::Tanh),
            head("wins", 2, Activation::Sigmoid),
        ];
        let mlp = |hidden, activation| {
            let heads = heads.clone();
            Architecture::Mlp { inputs: 24, hidden, activation, heads }
        };
        let (planes, rows, columns, channels) = (2, 3, 4, 5);
        let all = [
            mlp(vec![], Activation::Linear),
            mlp(vec![9, 7], Activation::Tanh),
            mlp(vec![20], Activation::Relu),
            mlp(vec![20], Activation::Sigmoid),
            Architecture::Residual { planes, rows, columns, channels, blocks: 2, heads },
        ];
        let mut random = seeded(1, &[]);
        let inputs: Vec<f32> = (0..50 * 24).map(|_| normal(&mut random)).collect();
        for architecture in all {
            let network = Network::uniform(architecture, 3, -0.4, 0.4);
            let tensors = trainer::rows(inputs.clone(), 24).unwrap();
            let expected = network.fixed().unwrap().forward(&tensors).unwrap();
            let forward = Forward::of(&network).unwrap();
            let found = forward.answers(&inputs).unwrap();
            assert_eq!(found.len(), 3);
            for (found, expected) in found.iter().zip(expected) {
                let expected = expected.flatten_all().unwrap().to_vec1::<f32>().unwrap();
                assert_eq!(found.len(), expected.len());
                let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4 * (1.0 + b.abs());
                assert!(found.iter().zip(&expected).all(close), "{:?}", network.architecture());
                assert!(expected.iter().any(|number| (number - expected[0]).abs() > 1e-3));
            }
            let alone = forward.answers(&inputs[7 * 24..8 * 24]).unwrap();
            assert!(alone[0] == found[0][7 * 13..8 * 13]);
        }
    }
}
