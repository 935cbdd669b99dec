//! Rank correlation: whether one list puts things in the same order as another.

/// Spearman's ρ of two lists of the same length: the correlation of their ranks, equal elements
/// sharing the mean of theirs. `None` where one of the lists is constant. Spearman 1904.
pub(super) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    // Ranks are halves of integers and their mean is too, so that these sums are exact.
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let (both, one, other) = (product(&a, &b), product(&a, &a), product(&b, &b));
    (one > 0.0 && other > 0.0).then(|| both / (one * other).sqrt())
}

/// The rank of each element, from 1 for the smallest.
fn ranks(list: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = list.iter().filter(|y| *y < x).count();
        let equal = list.iter().filter(|y| *y == x).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    list.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[-3.0, 0.0, 0.5]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0], &[1.0]), None);
        // Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
        let found = rank_correlation(&[0.0, 5.0, 5.0, 6.0], &[1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((found - 4.5 / 22.5f64.sqrt()).abs() < 1e-15, "{found}");
    }
}
