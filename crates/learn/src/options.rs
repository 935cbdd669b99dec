//! Parsers and limits of numeric command-line options.

use clap::builder::RangedU64ValueParser;

/// Maximum number of games, epochs and iterations: the product of two fits in 64 bits.
pub const COUNT: u64 = 1_000_000_000;
/// Maximum number of units of a layer and of channels.
pub const UNITS: u64 = 1 << 14;
/// Maximum number of positions of a batch and of parallel games.
pub const AT_ONCE: u64 = 1 << 16;
/// Maximum number of kept games, generated positions and decisions in a replay buffer.
pub const KEPT: u64 = 10_000_000;
/// Maximum number of random plies of an opening.
pub const OPENING: u64 = 100;

/// Parses an integer of an option.
pub fn number<T: TryFrom<u64>>(least: u64, most: u64) -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(least..=most)
}

/// Parses a number of an option.
pub fn real(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

/// Parses a share or a probability.
pub fn share(text: &str) -> Result<f64, String> {
    real(text, 0.0, 1.0)
}

/// Parses a learning rate; 0 trains nothing.
pub fn rate(text: &str) -> Result<f64, String> {
    real(text, 0.0, 1e9)
}
