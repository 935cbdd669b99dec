//! Training recipes, one file each; [`parts`] and `replay` hold their data.

pub mod discs;
pub mod minishogi_value;
pub mod parts;
pub mod q;
mod replay;
pub mod supervised;
pub mod tabular;
pub mod td;

use super::network::Architecture;
use yomikiri::error::Error;

/// Maximum number of weights of a network: training takes 16 bytes for each, plus more per thread.
const WEIGHTS: u64 = 100_000_000;

/// Checks that a network is small enough for training.
pub fn check_size(architecture: &Architecture) -> Result<(), Error> {
    let shapes = architecture.shapes().into_iter().map(|(_, shape, _)| shape);
    let of = |shape: Vec<usize>| shape.into_iter().fold(1, |all, n| (n as u64).saturating_mul(all));
    let weights = shapes.map(of).fold(0, u64::saturating_add);
    match weights <= WEIGHTS {
        true => Ok(()),
        false => Err(Error::new(
            format!("network too large: {weights} weights, the limit is {WEIGHTS}"),
            "choose fewer or smaller layers",
        )),
    }
}
