//! Networks: architecture and weights.
//!
//! Weights are 32-bit floats with PyTorch's names and shapes (`weight` is outputs × inputs, for
//! convolutions outputs × inputs × 3 × 3), so that other programs can read the file of weights.
//! Initial weights depend only on the seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::chance::{normal, unit};

/// Architecture of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Architecture {
    /// Fully connected layers.
    Mlp {
        /// Number of inputs.
        inputs: usize,
        /// Number of units of each hidden layer.
        hidden: Vec<usize>,
        /// Activation of the hidden units.
        activation: Activation,
        /// Output heads.
        heads: Vec<Head>,
    },
    /// Convolutions of 3 × 3 squares in residual blocks of two (He et al. 2016), without normalisation.
    /// The input is planes × rows × columns numbers.
    Residual {
        /// Number of input planes.
        planes: usize,
        /// Rows of the board.
        rows: usize,
        /// Columns of the board.
        columns: usize,
        /// Number of planes of every layer.
        channels: usize,
        /// Number of blocks after the first convolution.
        blocks: usize,
        /// Output heads.
        heads: Vec<Head>,
    },
}

/// An output of a network: a layer fully connected to the last hidden layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Name, also of the output of the ONNX model.
    pub name: String,
    /// Number of units.
    pub outputs: usize,
    /// Activation of the units.
    pub activation: Activation,
}

/// Activation function of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The sum itself.
    Linear,
    /// The sum, or 0 if it is negative.
    Relu,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// Returns the gain of a layer's initial weights (He et al. 2015 for ReLU, Glorot and Bengio 2010 for
    /// the others).
    fn gain(self) -> f32 {
        if self == Activation::Relu { 2f32.sqrt() } else { 1.0 }
    }
}

/// A step from a network's input to the input of its heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A fully connected layer.
    Linear,
    /// A convolution on boards of these rows and columns.
    Convolve([usize; 2]),
    /// An activation.
    Activate(Activation),
    /// Addition of the block's input.
    Add,
    /// Transposition of the numbers of each board, given as a matrix of this shape: from planes to squares,
    /// or back.
    Transpose([usize; 2]),
    /// Dropout, in training only.
    Drop,
}

impl Step {
    /// Number of steps of a block before the addition: two convolutions with an activation between them.
    pub(crate) const BLOCK: usize = 3;

    /// Returns `true` for layers with weights.
    pub(crate) fn has_weights(self) -> bool {
        matches!(self, Step::Linear | Step::Convolve(_))
    }
}

/// Weights or biases of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, such as `hidden.0.weight`.
    pub name: String,
    /// Shape.
    pub shape: Vec<usize>,
    /// Numbers, with the last axis fastest.
    pub numbers: Vec<f32>,
}

/// A network: architecture and weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    architecture: Architecture,
    parameters: Vec<Parameter>,
}

impl Architecture {
    /// Returns the number of inputs for a position.
    pub fn inputs(&self) -> usize {
        match self {
            Architecture::Mlp { inputs, .. } => *inputs,
            Architecture::Residual { planes, rows, columns, .. } => {
                planes.saturating_mul(*rows).saturating_mul(*columns)
            }
        }
    }

    /// Returns the output heads.
    pub fn heads(&self) -> &[Head] {
        match self {
            Architecture::Mlp { heads, .. } | Architecture::Residual { heads, .. } => heads,
        }
    }

    /// Returns the steps before the heads.
    pub(super) fn steps(&self) -> Vec<Step> {
        let relu = Step::Activate(Activation::Relu);
        match *self {
            Architecture::Mlp { ref hidden, activation, .. } => {
                [Step::Linear, Step::Activate(activation)].repeat(hidden.len())
            }
            Architecture::Residual { planes, rows, columns, channels, blocks, .. } => {
                let convolve = Step::Convolve([rows, columns]);
                let block = [convolve, relu, convolve, Step::Add, relu];
                let [begin, end] = [[planes, rows * columns], [rows * columns, channels]];
                [
                    &[Step::Transpose(begin), convolve, relu][..],
                    &block.repeat(blocks),
                    &[Step::Transpose(end)],
                ]
                .concat()
            }
        }
    }

    /// Returns the number of layers with weights, each of which has two parameters; `None` on overflow.
    pub(super) fn layers(&self) -> Option<usize> {
        let body = match self {
            Architecture::Mlp { hidden, .. } => hidden.len(),
            Architecture::Residual { blocks, .. } => blocks.checked_mul(2)?.checked_add(1)?,
        };
        body.checked_add(self.heads().len())
    }

    /// Returns name, shape and gain of the random initial values of all parameters in order; biases and the
    /// last layer of each block start at 0.
    pub(super) fn shapes(&self) -> Vec<(String, Vec<usize>, f32)> {
        let mut shapes = Vec::new();
        let mut add = |name: String, shape: &[usize], gain: f32| {
            shapes.push((format!("{name}.weight"), shape.to_vec(), gain));
            shapes.push((format!("{name}.bias"), vec![shape[0]], 0.0));
        };
        let width = match self {
            Architecture::Mlp { inputs, hidden, activation, .. } => {
                let mut width = *inputs;
                for (at, &units) in hidden.iter().enumerate() {
                    add(format!("hidden.{at}"), &[units, width], activation.gain());
                    width = units;
                }
                width
            }
            Architecture::Residual { planes, rows, columns, channels, blocks, .. } => {
                let gain = Activation::Relu.gain();
                add("first".to_string(), &[*channels, *planes, 3, 3], gain);
                for block in 0..*blocks {
                    let shape = [*channels, *channels, 3, 3];
                    add(format!("blocks.{block}.one"), &shape, gain);
                    // A block starts as the identity, which keeps deep sums bounded (Zhang, Dauphin and Ma
                    // 2019).
                    add(format!("blocks.{block}.two"), &shape, 0.0);
                }
                channels.saturating_mul(*rows).saturating_mul(*columns)
            }
        };
        for head in self.heads() {
            add(format!("heads.{}", head.name), &[head.outputs, width], 0.1);
        }
        shapes
    }
}

impl Network {
    /// Returns a network with initial weights from the seed.
    pub fn new(architecture: Architecture, seed: u64) -> Network {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let parameters = architecture.shapes().into_iter().map(|(name, shape, gain)| {
            let count = shape.iter().product();
            let inputs: usize = shape[1..].iter().product();
            let scale = gain / (inputs as f32).sqrt();
            let mut number = || if gain == 0.0 { 0.0 } else { scale * normal(&mut random) };
            let numbers = (0..count).map(|_| number()).collect();
            Parameter { name, shape, numbers }
        });
        let parameters = parameters.collect();
        Network { architecture, parameters }
    }

    /// Returns a network with all weights and biases uniform from `low` to `high`.
    pub fn uniform(architecture: Architecture, seed: u64, low: f32, high: f32) -> Network {
        let mut network = Network::new(architecture, seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for number in network.parameters.iter_mut().flat_map(|p| &mut p.numbers) {
            *number = low + (high - low) * unit(&mut random) as f32;
        }
        network
    }

    /// Returns a network with these weights; `None` if they do not fit the architecture.
    pub fn of(architecture: Architecture, parameters: Vec<Parameter>) -> Option<Network> {
        if architecture.layers()?.checked_mul(2) != Some(parameters.len()) {
            return None;
        }
        let shapes = architecture.shapes();
        let fits = |(parameter, (name, shape, _)): (&Parameter, &(String, Vec<usize>, f32))| {
            parameter.name == *name
                && parameter.shape == *shape
                && parameter.numbers.len() == shape.iter().product::<usize>()
                && parameter.numbers.iter().all(|number| number.is_finite())
        };
        let all = parameters.iter().zip(&shapes).all(fits);
        all.then_some(Network { architecture, parameters })
    }

    /// Returns the architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Returns the weights and biases.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [Parameter] {
        &mut self.parameters
    }

    /// Returns the total number of weights and biases.
    pub fn size(&self) -> usize {
        self.parameters.iter().map(|parameter| parameter.numbers.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, outputs: usize) -> Head {
        Head { name: name.to_string(), outputs, activation: Activation::Linear }
    }

    #[test]
    fn weights_depend_on_the_seed_alone_and_must_fit() {
        let architecture = Architecture::Mlp {
            inputs: 5,
            hidden: vec![4],
            activation: Activation::Relu,
            heads: vec![head("policy", 3), head("value", 1)],
        };
        let network = Network::new(architecture.clone(), 3);
        assert_eq!(network, Network::new(architecture.clone(), 3));
        assert_ne!(network, Network::new(architecture.clone(), 4));
        assert_eq!(network.size(), 5 * 4 + 4 + 4 * 3 + 3 + 4 + 1);
        let parameters = network.parameters().to_vec();
        assert_eq!(Network::of(architecture.clone(), parameters.clone()), Some(network));
        assert_eq!(Network::of(architecture.clone(), parameters[1..].to_vec()), None);
        let mut wild = parameters;
        wild[0].numbers[0] = f32::NAN;
        assert_eq!(Network::of(architecture, wild), None);
    }
}
