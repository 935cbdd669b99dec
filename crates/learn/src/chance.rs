//! Random numbers from seeds, equal on every machine and with any number of threads.

use rand_xoshiro::Xoshiro256PlusPlus;

pub use yomikiri_measure::policy::chance::{below, sample, seeded, unit};

/// Draws from the normal distribution with mean 0 and variance 1 (Box and Muller 1958).
pub fn normal(random: &mut Xoshiro256PlusPlus) -> f32 {
    let radius = (-2.0 * libm::log(1.0 - unit(random))).sqrt();
    (radius * libm::cos(2.0 * std::f64::consts::PI * unit(random))) as f32
}

/// Shuffles items.
pub fn shuffle<T>(random: &mut Xoshiro256PlusPlus, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::Rng;

    use super::*;

    #[test]
    fn numbers_depend_on_seed_and_purpose_and_have_their_moments() {
        let first = |seed, purpose: &[u64]| seeded(seed, purpose).next_u64();
        assert_eq!(first(1, &[2, 3]), first(1, &[2, 3]));
        let others = [first(1, &[2, 3]), first(1, &[3, 2]), first(2, &[2, 3]), first(1, &[2])];
        assert!((1..4).all(|at| !others[..at].contains(&others[at])));
        let mut random = seeded(5, &[]);
        let numbers: Vec<f64> = (0..20_000).map(|_| f64::from(normal(&mut random))).collect();
        let mean = numbers.iter().sum::<f64>() / 2e4;
        let variance = numbers.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 2e4;
        // Four standard errors.
        assert!(mean.abs() < 0.029 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
        let mut items: Vec<usize> = (0..100).collect();
        shuffle(&mut random, &mut items);
        assert!(items.iter().enumerate().any(|(at, &item)| at != item));
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(at, &item)| at == item));
    }
}
