//! Numbers of the command line, and their limits.

use clap::builder::RangedU64ValueParser;

/// The most units of a layer, and channels of a network.
pub const UNITS: u64 = 1 << 14;
/// The most positions of a batch, and games that are played in parallel.
pub const AT_ONCE: u64 = 1 << 16;
/// The most games that are kept, positions that are made and decisions of a replay buffer.
pub const KEPT: u64 = 10_000_000;
/// The most random plies of an opening.
pub const OPENING: u64 = 100;

/// Reads a whole number of a command line.
pub fn number<T: TryFrom<u64>>(least: u64, most: u64) -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(least..=most)
}

/// Reads a number of a command line.
pub fn real(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("give a number from {least} to {most}"))
}

/// Reads a share or a probability.
pub fn share(text: &str) -> Result<f64, String> {
    real(text, 0.0, 1.0)
}

/// Reads a learning rate; 0 trains nothing.
pub fn rate(text: &str) -> Result<f64, String> {
    real(text, 0.0, 1e9)
}
