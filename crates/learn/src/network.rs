//! Networks: what they are built of, and their weights as plain numbers.
//!
//! Weights are 32-bit floats in PyTorch's names and shapes (`weight` is outputs × inputs, of a
//! convolution outputs × inputs × 3 × 3), so that the file of weights can be read elsewhere.
//! Initial weights depend on the seed alone.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::chance::{normal, unit};

/// What a network is built of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Architecture {
    /// Layers of which every unit sees all of the layer before.
    Mlp {
        /// How many numbers it is given.
        inputs: usize,
        /// The units of each hidden layer.
        hidden: Vec<usize>,
        /// What each hidden unit makes of its sum.
        activation: Activation,
        /// What it answers.
        heads: Vec<Head>,
    },
    /// Convolutions of 3 × 3 squares, in blocks of two around which their input is led and added
    /// again (He et al. 2016), without normalisation. Its input is planes × rows × columns numbers.
    Residual {
        /// How many planes it is given.
        planes: usize,
        /// The board's rows.
        rows: usize,
        /// The board's columns.
        columns: usize,
        /// How many planes every layer makes.
        channels: usize,
        /// How many blocks follow the first convolution.
        blocks: usize,
        /// What it answers.
        heads: Vec<Head>,
    },
}

/// One of a network's answers: a number of units that see the whole last hidden layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its name, which is that of the ONNX model's output.
    pub name: String,
    /// How many numbers it has.
    pub outputs: usize,
    /// What each unit makes of its sum.
    pub activation: Activation,
}

/// What a unit makes of its weighted sum.
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
    /// The gain of a layer's initial weights (He et al. 2015 for ReLU, Glorot and Bengio 2010 for
    /// the others).
    fn gain(self) -> f32 {
        if self == Activation::Relu { 2f32.sqrt() } else { 1.0 }
    }
}

/// A step from a network's input to what its heads are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A layer of which every unit sees all of the numbers before.
    Linear,
    /// A convolution on boards of so many rows and columns, square by square.
    Convolve([usize; 2]),
    /// Applies the activation.
    Activate(Activation),
    /// Adds the input of the block.
    Add,
    /// The numbers of each board, so many rows of so many, column by column: from planes to squares,
    /// or back.
    Transpose([usize; 2]),
    /// Dropout, in training.
    Drop,
}

impl Step {
    /// The steps of a block before those that it adds: two convolutions, an activation between them.
    pub(crate) const BLOCK: usize = 3;

    /// True for the step of a layer with weights.
    pub(crate) fn has_weights(self) -> bool {
        matches!(self, Step::Linear | Step::Convolve(_))
    }
}

/// Weights of one kind of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, `hidden.0.weight`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers, the last axis the fastest.
    pub numbers: Vec<f32>,
}

/// A network: what it is built of, and its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    architecture: Architecture,
    parameters: Vec<Parameter>,
}

impl Architecture {
    /// How many numbers the network is given for a position.
    pub fn inputs(&self) -> usize {
        match self {
            Architecture::Mlp { inputs, .. } => *inputs,
            Architecture::Residual { planes, rows, columns, .. } => {
                planes.saturating_mul(*rows).saturating_mul(*columns)
            }
        }
    }

    /// What the network answers.
    pub fn heads(&self) -> &[Head] {
        match self {
            Architecture::Mlp { heads, .. } | Architecture::Residual { heads, .. } => heads,
        }
    }

    /// The steps up to the heads.
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

    /// How many layers have weights, two of each; `None` if no number counts them.
    pub(super) fn layers(&self) -> Option<usize> {
        let body = match self {
            Architecture::Mlp { hidden, .. } => hidden.len(),
            Architecture::Residual { blocks, .. } => blocks.checked_mul(2)?.checked_add(1)?,
        };
        body.checked_add(self.heads().len())
    }

    /// The name and shape of all weights in their order, with the gain of their random initial
    /// values; biases and the last layer of each block begin at 0.
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
                    // A block begins as the identity, which keeps deep sums in bounds (Zhang,
                    // Dauphin and Ma 2019).
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
    /// A network with initial weights from the seed.
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

    /// The same, with all weights uniform from `low` to `high`, biases too.
    pub fn uniform(architecture: Architecture, seed: u64, low: f32, high: f32) -> Network {
        let mut network = Network::new(architecture, seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for number in network.parameters.iter_mut().flat_map(|p| &mut p.numbers) {
            *number = low + (high - low) * unit(&mut random) as f32;
        }
        network
    }

    /// A network of these weights; `None` if they are not those of the architecture.
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

    /// What it is built of.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Its weights.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [Parameter] {
        &mut self.parameters
    }

    /// How many numbers its weights are.
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
