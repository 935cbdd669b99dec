//! Forward and backward pass of a network.
//!
//! Numbers are 32-bit floats in rows. A row is a position for fully connected layers, and a square with
//! one number for each plane for convolutions. A convolution is one product of the kernel with the windows
//! of all squares (im2col). The products use the kernels of the ONNX runtime, whose summation order does
//! not depend on the number of threads.

use rand_xoshiro::Xoshiro256PlusPlus;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::{Matrix, MatrixLayout};

use super::chance::unit;
use super::network::{Activation, Network, Step};

/// Number of squares in a window.
const TAPS: usize = 9;

/// Dropout of hidden units (Srivastava et al. 2014).
pub struct Dropout {
    /// Probability that a unit is dropped.
    pub rate: f64,
    /// Source of the choice of units.
    pub random: Xoshiro256PlusPlus,
}

impl Dropout {
    /// Returns the factors of some units: 0 for dropped ones, 1 / (1 − rate) for the others.
    fn mask(&mut self, units: usize) -> Vec<f32> {
        let kept = (1.0 / (1.0 - self.rate)) as f32;
        let one = |_| if unit(&mut self.random) < self.rate { 0.0 } else { kept };
        (0..units).map(one).collect()
    }
}

/// A loss and its gradient: a list of numbers for each parameter of a network.
pub type Gradient = (f64, Vec<Vec<f32>>);

/// A forward pass.
pub struct Pass<'a> {
    network: &'a Network,
    steps: Vec<Step>,
    /// Inputs of each step, and last the input of the heads.
    given: Vec<Vec<f32>>,
    /// Factors of each dropout.
    masks: Vec<Vec<f32>>,
    /// Answers of each head, position by position.
    pub answers: Vec<Vec<f32>>,
}

impl<'a> Pass<'a> {
    /// Evaluates positions whose inputs are concatenated; in training with dropout after each hidden
    /// layer, if given.
    pub fn new(network: &'a Network, inputs: Vec<f32>, dropout: Option<Dropout>) -> Pass<'a> {
        let mut dropout = dropout.filter(|dropout| dropout.rate > 0.0);
        let steps = network.architecture().steps().into_iter().flat_map(|step| match step {
            Step::Activate(_) if dropout.is_some() => vec![step, Step::Drop],
            _ => vec![step],
        });
        let (steps, given, masks) = (steps.collect::<Vec<_>>(), vec![inputs], Vec::new());
        let mut pass = Pass { network, steps, given, masks, answers: Vec::new() };
        let mut layer = 0;
        for at in 0..pass.steps.len() {
            let x = &pass.given[at];
            let made = match pass.steps[at] {
                Step::Transpose(shape) => transposed(x, shape),
                Step::Linear => pass.linear(layer, x),
                Step::Convolve(board) => pass.linear(layer, &windows(x, board, pass.planes(layer))),
                Step::Activate(activation) => x.iter().map(|&x| activation.of(x)).collect(),
                Step::Add => sum(x, &pass.given[at - Step::BLOCK]),
                Step::Drop => {
                    let mask = dropout.as_mut().map(|dropout| dropout.mask(x.len()));
                    let mask = mask.expect("dropout applies only to networks with a dropout step");
                    let made = product(x, &mask);
                    pass.masks.push(mask);
                    made
                }
            };
            layer += usize::from(pass.steps[at].has_weights());
            pass.given.push(made);
        }
        for (head, layer) in network.architecture().heads().iter().zip(layer..) {
            let sums = pass.linear(layer, &pass.given[pass.steps.len()]);
            pass.answers.push(sums.into_iter().map(|sum| head.activation.of(sum)).collect());
        }
        pass
    }

    /// Returns the gradient of a loss with respect to the weights, given that with respect to each head's
    /// answers.
    pub fn backward(mut self, loss: f64, errors: Vec<Vec<f32>>) -> Gradient {
        let zeros = self.network.parameters().iter().map(|p| vec![0.0; p.numbers.len()]);
        let mut gradient: Vec<Vec<f32>> = zeros.collect();
        let heads = self.network.architecture().heads();
        let mut layer = gradient.len() / 2 - heads.len();
        let last = &self.given[self.steps.len()];
        let mut x = vec![0.0; last.len()];
        for (at, (head, error)) in heads.iter().zip(errors).enumerate() {
            let error = head.activation.backward(&self.answers[at], error);
            self.by_weights(layer + at, last, &error, &mut gradient);
            x = sum(&x, &self.by_inputs(layer + at, &error));
        }
        // The gradient with respect to a block's output is added to that of its input.
        let mut around = Vec::new();
        for (at, step) in self.steps.iter().enumerate().rev() {
            layer -= usize::from(step.has_weights());
            x = match *step {
                Step::Transpose([rows, columns]) => transposed(&x, [columns, rows]),
                Step::Linear => {
                    self.by_weights(layer, &self.given[at], &x, &mut gradient);
                    self.by_inputs(layer, &x)
                }
                Step::Convolve(board) => {
                    let planes = self.planes(layer);
                    let rows = windows(&self.given[at], board, planes);
                    self.by_weights(layer, &rows, &x, &mut gradient);
                    squares(&self.by_inputs(layer, &x), board, planes)
                }
                Step::Activate(activation) => activation.backward(&self.given[at + 1], x),
                Step::Drop => product(&x, &self.masks.pop().unwrap_or_default()),
                Step::Add => {
                    around.clone_from(&x);
                    x
                }
            };
            if self.steps.get(at + Step::BLOCK) == Some(&Step::Add) {
                x = sum(&x, &around);
            }
        }
        (loss, gradient)
    }

    /// Returns the input planes of a convolution.
    fn planes(&self, layer: usize) -> usize {
        self.weights(layer).cols() / TAPS
    }

    /// Returns the number of outputs of a layer for a row.
    fn width(&self, layer: usize) -> usize {
        self.network.parameters()[2 * layer + 1].numbers.len()
    }

    /// Returns a layer's weights, a row for each output.
    fn weights(&self, layer: usize) -> Matrix<'_> {
        let numbers = &self.network.parameters()[2 * layer].numbers;
        matrix(numbers, self.width(layer))
    }

    fn linear(&self, layer: usize, x: &[f32]) -> Vec<f32> {
        let (weights, bias) = (self.weights(layer), &self.network.parameters()[2 * layer + 1]);
        let rows = x.len() / weights.cols();
        let mut sums = bias.numbers.repeat(rows);
        add_product(matrix(x, rows), weights.transposed(), &mut sums);
        sums
    }

    /// Adds the gradient with respect to a layer's weights, given that with respect to its outputs for
    /// `rows`.
    fn by_weights(&self, layer: usize, rows: &[f32], errors: &[f32], out: &mut [Vec<f32>]) {
        let width = self.width(layer);
        let count = errors.len() / width;
        let errors_by_row = matrix(errors, count).transposed();
        add_product(errors_by_row, matrix(rows, count), &mut out[2 * layer]);
        for row in errors.chunks_exact(width) {
            out[2 * layer + 1].iter_mut().zip(row).for_each(|(sum, error)| *sum += error);
        }
    }

    /// Returns the gradient with respect to a layer's inputs, given that with respect to its outputs; empty
    /// for the first layer.
    fn by_inputs(&self, layer: usize, errors: &[f32]) -> Vec<f32> {
        if layer == 0 {
            return Vec::new();
        }
        let (weights, rows) = (self.weights(layer), errors.len() / self.width(layer));
        let mut found = vec![0.0; rows * weights.cols()];
        add_product(matrix(errors, rows), weights, &mut found);
        found
    }
}

impl Activation {
    fn of(self, sum: f32) -> f32 {
        match self {
            Activation::Linear => sum,
            Activation::Relu => sum.max(0.0),
            Activation::Sigmoid => (sum * 0.5).tanh() * 0.5 + 0.5,
            Activation::Tanh => sum.tanh(),
        }
    }

    /// Returns the gradient with respect to the sums, given that with respect to the activations.
    fn backward(self, made: &[f32], mut errors: Vec<f32>) -> Vec<f32> {
        for (error, &made) in errors.iter_mut().zip(made) {
            *error *= match self {
                Activation::Linear => 1.0,
                Activation::Relu => f32::from(made > 0.0),
                Activation::Sigmoid => made * (1.0 - made),
                Activation::Tanh => 1.0 - made * made,
            };
        }
        errors
    }
}

/// Views numbers as a matrix with this many rows.
fn matrix(numbers: &[f32], rows: usize) -> Matrix<'_> {
    Matrix::from_data([rows, numbers.len() / rows.max(1)], numbers)
}

/// Adds a product of matrices to `out`.
fn add_product(a: Matrix<'_>, b: Matrix<'_>, out: &mut [f32]) {
    // The runtime would split a single row into as many pieces as there are threads.
    let (a, b) = if a.rows() == 1 { (b.transposed(), a.transposed()) } else { (a, b) };
    let (a, b) = (GemmInputA::Unpacked(a), GemmInputB::Unpacked(b));
    let options = GemmOptions { beta: 1.0, ..GemmOptions::default() };
    GemmExecutor::new().gemm(out, a, b, options).expect("matrices of matching sizes");
}

/// Adds numbers element by element.
fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Multiplies numbers element by element.
fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Transposes the numbers of each board, given as a matrix of this shape.
fn transposed(numbers: &[f32], [rows, columns]: [usize; 2]) -> Vec<f32> {
    let boards = numbers.chunks_exact(rows * columns);
    let place = |at: usize| at % rows * columns + at / rows;
    boards.flat_map(|board| (0..board.len()).map(move |at| board[place(at)])).collect()
}

/// Returns the windows of all squares: for each plane the square and its neighbours, 0 beyond the edge.
fn windows(numbers: &[f32], board: [usize; 2], planes: usize) -> Vec<f32> {
    let mut made = vec![0.0; TAPS * numbers.len()];
    each_tap(numbers.len(), board, planes, |number, tap| made[tap] = numbers[number]);
    made
}

/// Sums the contributions of each square over the windows: the backward pass of [`windows`].
fn squares(windows: &[f32], board: [usize; 2], planes: usize) -> Vec<f32> {
    let mut made = vec![0.0; windows.len() / TAPS];
    each_tap(made.len(), board, planes, |number, tap| made[number] += windows[tap]);
    made
}

/// Calls `found` with the index of a number on boards and its index in each window that contains it.
fn each_tap(
    count: usize,
    [rows, columns]: [usize; 2],
    planes: usize,
    mut found: impl FnMut(usize, usize),
) {
    for first in (0..count / planes).step_by(rows * columns) {
        for at in 0..rows * columns * TAPS {
            let (square, tap) = (at / TAPS, at % TAPS);
            let (row, column) = (square / columns + tap / 3, square % columns + tap % 3);
            if (1..=rows).contains(&row) && (1..=columns).contains(&column) {
                let other = (first + (row - 1) * columns + column - 1) * planes;
                let window = (first + square) * planes;
                (0..planes).for_each(|plane| found(other + plane, (window + plane) * TAPS + tap));
            }
        }
    }
}

/// Returns the sum of squared errors times `weight`, and its gradient with respect to the answers.
pub fn squared_errors(answers: &[f32], targets: &[f32], weight: f64) -> (f64, Vec<f32>) {
    let errors = answers.iter().zip(targets).map(|(answer, target)| answer - target);
    let squares = errors.clone().map(|error| f64::from(error) * f64::from(error));
    (weight * squares.sum::<f64>(), errors.map(|error| (2.0 * weight) as f32 * error).collect())
}

#[cfg(test)]
mod tests {
    use rten_tensor::AsView;

    use super::*;
    use crate::chance::{normal, seeded};
    use crate::network::{Architecture, Head};
    use crate::onnx::model;

    /// The runtime has its own convolution, and planes where the pass has squares.
    #[test]
    fn a_pass_answers_as_the_model_does() {
        let head =
            |name: &str, outputs, activation| Head { name: name.into(), outputs, activation };
        let heads = [head("q", 3, Activation::Linear), head("value", 1, Activation::Sigmoid)];
        let (planes, rows, columns) = (2, 3, 4);
        let (inputs, hidden, activation) = (planes * rows * columns, vec![6, 5], Activation::Tanh);
        let (channels, blocks, heads) = (3, 2, heads.to_vec());
        for (architecture, shape) in [
            (Architecture::Mlp { inputs, hidden, activation, heads: heads.clone() }, vec![inputs]),
            (
                Architecture::Residual { planes, rows, columns, channels, blocks, heads },
                vec![planes, rows, columns],
            ),
        ] {
            let network = Network::uniform(architecture, 1, -0.5, 0.5);
            let (count, mut random) = (2, seeded(1, &[]));
            let numbers: Vec<f32> = (0..count * inputs).map(|_| normal(&mut random)).collect();
            let own = Pass::new(&network, numbers.clone(), None).answers;
            let runtime = rten::ModelOptions::with_all_ops().load(model(&network, &shape)).unwrap();
            let given = rten::Value::from_shape([&[count], &shape[..]].concat(), numbers).unwrap();
            let ids = ["q", "value"].map(|name| runtime.node_id(name).unwrap());
            let found = runtime.run(vec![(runtime.input_ids()[0], given.into())], &ids, None);
            for (own, found) in own.iter().zip(found.unwrap()) {
                let rten::Value::FloatTensor(found) = found else { panic!("{found:?}") };
                let found = found.to_vec();
                assert_eq!(own.len(), found.len());
                assert!(
                    own.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5),
                    "{own:?} {found:?}"
                );
            }
        }
    }

    #[test]
    fn units_left_out_have_no_gradient() {
        let head = Head { name: "value".into(), outputs: 1, activation: Activation::Linear };
        let (hidden, activation) = (vec![40], Activation::Tanh);
        let architecture = Architecture::Mlp { inputs: 2, hidden, activation, heads: vec![head] };
        let network = Network::uniform(architecture, 1, 0.1, 0.5);
        let dropout = Dropout { rate: 0.5, random: seeded(2, &[]) };
        let pass = Pass::new(&network, vec![1.0, -0.5], Some(dropout));
        let mask = pass.masks[0].clone();
        let (_, gradient) = pass.backward(0.0, vec![vec![1.0]]);
        for (unit, factor) in mask.iter().enumerate() {
            let of_unit =
                [&gradient[0][2 * unit..2 * unit + 2], &gradient[1][unit..=unit]].concat();
            assert!(of_unit.iter().all(|&number| (number == 0.0) == (*factor == 0.0)));
        }
        assert!(mask.contains(&0.0) && mask.contains(&2.0));
    }
}
