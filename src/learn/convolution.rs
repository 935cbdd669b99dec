//! Convolutions of 3 × 3 squares as products with one matrix.
//!
//! On a board this small a convolution is one product with the matrix of all squares by all squares, which
//! is several times faster than sliding the window. The matrix is made of the kernel before the library
//! sees it, and slopes by the matrix are added up to slopes by the kernel after: to let the library
//! differentiate that as well would take most of the time of a step.

/// Which weight of a kernel leads from a square to another.
struct Tap {
    from: usize,
    to: usize,
    weight: usize,
}

/// All taps of a board.
pub(super) struct Taps {
    squares: usize,
    all: Vec<Tap>,
}

impl Taps {
    pub(super) fn of(rows: usize, columns: usize) -> Taps {
        let squares = rows * columns;
        let pairs = (0..squares).flat_map(|from| (0..squares).map(move |to| (from, to)));
        let tap = |(from, to): (usize, usize)| {
            let row = (from / columns + 1).checked_sub(to / columns).filter(|row| *row < 3)?;
            let column = (from % columns + 1).checked_sub(to % columns).filter(|c| *c < 3)?;
            Some(Tap { from, to, weight: 3 * row + column })
        };
        Taps { squares, all: pairs.filter_map(tap).collect() }
    }

    /// How many squares the board has.
    pub(super) fn squares(&self) -> usize {
        self.squares
    }

    /// Calls `found` with the places of every weight in a kernel of (outputs, inputs, 3, 3) and in its
    /// matrix of (inputs × squares, outputs × squares).
    fn each(&self, [outputs, inputs]: [usize; 2], mut found: impl FnMut(usize, usize)) {
        let width = outputs * self.squares;
        for input in 0..inputs {
            for tap in &self.all {
                let begin = (input * self.squares + tap.from) * width + tap.to;
                for output in 0..outputs {
                    let weight = (output * inputs + input) * 9 + tap.weight;
                    found(weight, begin + output * self.squares);
                }
            }
        }
    }

    /// The matrix of a kernel.
    pub(super) fn matrix(&self, kernel: &[f32], shape: [usize; 2]) -> Vec<f32> {
        let mut matrix = vec![0.0; shape[0] * shape[1] * self.squares * self.squares];
        self.each(shape, |weight, place| matrix[place] = kernel[weight]);
        matrix
    }

    /// The slopes by a kernel, from those by its matrix.
    pub(super) fn kernel_slopes(&self, slopes: &[f32], shape: [usize; 2]) -> Vec<f32> {
        let mut kernel = vec![0.0; shape[0] * shape[1] * 9];
        self.each(shape, |weight, place| kernel[weight] += slopes[place]);
        kernel
    }

    /// The bias of each output, square by square.
    pub(super) fn biases(&self, bias: &[f32]) -> Vec<f32> {
        bias.iter().flat_map(|&number| vec![number; self.squares]).collect()
    }

    /// The slopes by each output's bias.
    pub(super) fn bias_slopes(&self, slopes: &[f32]) -> Vec<f32> {
        slopes.chunks(self.squares).map(|some| some.iter().sum()).collect()
    }
}
