//! Convolutions of 3 × 3 squares as products of matrices.
//!
//! Boards are stored square by square, (N × squares, planes): the window of a square is a row of
//! nine pieces, and a convolution is one product of those rows with the kernel (im2col). Collecting
//! the rows is our own operation; the product and its gradient are the library's. The library's
//! convolution is made for images and several times slower on boards this small.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};

/// Squares of a window.
const TAPS: usize = 9;

/// A board's windows.
#[derive(Clone, Copy)]
pub(super) struct Windows {
    rows: usize,
    columns: usize,
    /// Whether this is the backward pass: gradients of windows are added up by square.
    backward: bool,
}

impl Windows {
    pub(super) fn of(rows: usize, columns: usize) -> Windows {
        Windows { rows, columns, backward: false }
    }

    /// The convolution of boards (N × squares, inputs) with a kernel (outputs, inputs, 3, 3), zero
    /// beyond the edge, plus a bias for each output: (N × squares, outputs).
    pub(super) fn convolve(self, x: &Tensor, kernel: &Tensor, bias: &Tensor) -> Result<Tensor> {
        let (outputs, inputs, ..) = kernel.dims4()?;
        let kernel = kernel.permute((2, 3, 1, 0))?.reshape((TAPS * inputs, outputs))?;
        x.apply_op1(self)?.matmul(&kernel)?.broadcast_add(bias)
    }

    /// Boards (N, planes × squares) square by square.
    pub(super) fn spread(self, x: &Tensor) -> Result<Tensor> {
        let squares = self.rows * self.columns;
        let (boards, width) = x.dims2()?;
        let x = x.reshape((boards, width / squares, squares))?;
        x.transpose(1, 2)?.reshape((boards * squares, width / squares))
    }

    /// The reverse of [`Windows::spread`].
    pub(super) fn gather(self, x: &Tensor) -> Result<Tensor> {
        let squares = self.rows * self.columns;
        let (all, planes) = x.dims2()?;
        let x = x.reshape((all / squares, squares, planes))?;
        x.transpose(1, 2)?.reshape((all / squares, planes * squares))
    }

    /// Calls `found` with a square, the place of another in its window, and that other, for all
    /// squares of a board that are on it.
    fn each(self, mut found: impl FnMut(usize, usize, usize)) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                for tap in 0..TAPS {
                    let (r, c) = (row + tap / 3, column + tap % 3);
                    if (1..=self.rows).contains(&r) && (1..=self.columns).contains(&c) {
                        let other = (r - 1) * self.columns + c - 1;
                        found(row * self.columns + column, tap, other);
                    }
                }
            }
        }
    }
}

impl CustomOp1 for Windows {
    fn name(&self) -> &'static str {
        "windows"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (begin, end) = match layout.contiguous_offsets() {
            Some(range) => range,
            None => candle_core::bail!("windows of numbers that are not in a row"),
        };
        let x = &storage.as_slice::<f32>()?[begin..end];
        let (all, width) = layout.shape().dims2()?;
        let squares = self.rows * self.columns;
        let planes = if self.backward { width / TAPS } else { width };
        let given = if self.backward { planes } else { TAPS * planes };
        let mut made = vec![0.0; all * given];
        for board in 0..all / squares {
            let first = board * squares;
            self.each(|square, tap, other| {
                let window = ((first + square) * TAPS + tap) * planes;
                let square = (first + other) * planes;
                if self.backward {
                    let gradients = &x[window..window + planes];
                    let sums = &mut made[square..square + planes];
                    sums.iter_mut().zip(gradients).for_each(|(sum, gradient)| *sum += gradient);
                } else {
                    made[window..window + planes].copy_from_slice(&x[square..square + planes]);
                }
            });
        }
        Ok((CpuStorage::F32(made), Shape::from((all, given))))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradients: &Tensor) -> Result<Option<Tensor>> {
        let backward = Windows { backward: true, ..*self };
        gradients.contiguous()?.apply_op1_no_bwd(&backward).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::chance::normal;
    use candle_core::{Device, Var};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn windows_are_the_library_s_convolution_and_have_its_gradients() {
        let (boards, planes, rows, columns, outputs) = (2, 2, 3, 4, 3);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut numbers = |shape: &[usize]| {
            let all: Vec<f32> = (0..shape.iter().product()).map(|_| normal(&mut random)).collect();
            Var::from_vec(all, shape, &Device::Cpu).unwrap()
        };
        let x = numbers(&[boards, planes * rows * columns]);
        let kernel = numbers(&[outputs, planes, 3, 3]);
        let bias = numbers(&[outputs]);
        let counts = numbers(&[boards, outputs * rows * columns]);
        let windows = Windows::of(rows, columns);
        let spread = windows.spread(&x).unwrap();
        let ours = windows.gather(&windows.convolve(&spread, &kernel, &bias).unwrap()).unwrap();
        let images = x.reshape((boards, planes, rows, columns)).unwrap();
        let theirs = images.conv2d(&kernel, 1, 1, 1, 1).unwrap();
        let theirs = theirs.broadcast_add(&bias.reshape((1, outputs, 1, 1)).unwrap()).unwrap();
        let theirs = theirs.reshape(ours.shape()).unwrap();
        let close = |a: &Tensor, b: &Tensor| {
            let worst = (a - b).unwrap().abs().unwrap().flatten_all().unwrap().max(0).unwrap();
            assert!(worst.to_scalar::<f32>().unwrap() < 1e-4, "{a} {b}");
        };
        close(&ours, &theirs);
        let gradients = [&ours, &theirs].map(|answer| {
            let sum = (answer * counts.as_tensor()).unwrap().sum_all().unwrap();
            sum.backward().unwrap()
        });
        for var in [&x, &kernel, &bias] {
            let [ours, theirs] = gradients.each_ref().map(|gradients| gradients.get(var).unwrap());
            close(ours, theirs);
        }
    }
}
