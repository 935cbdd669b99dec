//! How a list ranks things: whether in the same order as another, and what comes first.

/// Spearman's ρ of two lists of the same length: the correlation of their ranks, equal elements
/// sharing the mean of theirs. `None` where one of the lists is constant. Spearman 1904.
pub(super) fn rank_correlation(
    len: usize,
    a: impl Fn(usize) -> f64,
    b: impl Fn(usize) -> f64,
) -> Option<f64> {
    let (mut both, mut one, mut other) = (0, 0, 0);
    for at in 0..len {
        let (a, b) = (rank(len, &a, at), rank(len, &b, at));
        both += a * b;
        one += a * a;
        other += b * b;
    }
    (one > 0 && other > 0).then(|| both as f64 / (one as f64 * other as f64).sqrt())
}

/// Twice the rank of an element less the mean rank: so many are below it less those above. Whole, so that
/// no sum is rounded.
fn rank(len: usize, list: impl Fn(usize) -> f64, at: usize) -> i64 {
    let own = list(at);
    (0..len).map(|at| i64::from(list(at) < own) - i64::from(list(at) > own)).sum()
}

/// The probability that one of the best is among the first one, two or three, the highest first and
/// equal elements in any order, each as likely as the others.
pub(super) fn among_first(list: &[f64], is_best: impl Fn(usize) -> bool) -> [f64; 3] {
    let best = (0..list.len()).filter(|&at| is_best(at)).map(|at| list[at]);
    let first = best.fold(f64::NEG_INFINITY, f64::max);
    let (mut above, mut level, mut others) = (0, 0, 0);
    for (at, &x) in list.iter().enumerate() {
        above += usize::from(x > first);
        level += usize::from(x == first);
        others += usize::from(x == first && !is_best(at));
    }
    if others == 0 {
        return [1, 2, 3].map(|places| f64::from(u8::from(above < places)));
    }
    // That all drawn from those level with the first of the best are others: none above is best.
    let (mut none, mut drawn) = (1.0, 0);
    [1, 2, 3].map(|places: usize| {
        while drawn < places.saturating_sub(above).min(level) {
            none *= others.saturating_sub(drawn) as f64 / (level - drawn) as f64;
            drawn += 1;
        }
        1.0 - none
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared() {
        let of = |a: &[f64], b: &[f64]| rank_correlation(a.len(), |at| a[at], |at| b[at]);
        assert_eq!(of(&[1.0, 2.0, 9.0], &[-3.0, 0.0, 0.5]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(of(&[1.0], &[1.0]), None);
        // Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
        let found = of(&[0.0, 5.0, 5.0, 6.0], &[1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((found - 4.5 / 22.5f64.sqrt()).abs() < 1e-15, "{found}");
    }

    #[test]
    fn the_best_are_among_the_first() {
        let of = |list: &[f64], best: &[usize]| among_first(list, |at| best.contains(&at));
        assert_eq!(of(&[1.0], &[0]), [1.0; 3]);
        assert_eq!(of(&[3.0, 2.0, 1.0, 0.0], &[1, 3]), [0.0, 1.0, 1.0]);
        assert_eq!(of(&[3.0, 2.0, 1.0, 0.0], &[3]), [0.0; 3]);
        // Three are level, one of them best: in a third of the orders it comes first.
        assert_eq!(of(&[0.0, 0.0, 0.0], &[1]), [1.0 - 2.0 / 3.0, 1.0 - 2.0 / 3.0 / 2.0, 1.0]);
        // One above, four level of which two are best, of the two drawn at least one: 1 - 1/6.
        let low = f64::NEG_INFINITY;
        let found = of(&[low, 5.0, low, low, low], &[0, 4]);
        assert_eq!(found[..2], [0.0, 0.5]);
        assert!((found[2] - 5.0 / 6.0).abs() < 1e-15, "{found:?}");
    }
}
