//! From what others say of the legal moves to probabilities that sum to 1.

/// How far the sum of given probabilities may be from 1: they may come of 32-bit floats.
const LOOSE: f64 = 1e-3;
/// Sums that are nearer are left as they are, so that a sixth stays a sixth.
const EXACT: f64 = 1e-9;

/// Turns logits into their softmax; says what is wrong where there is none. Minus infinity stands for
/// probability 0.
pub(super) fn softmax(logits: &mut [f64]) -> Result<(), &'static str> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return Err("the logits of all legal moves are minus infinity");
    }
    if most == f64::INFINITY {
        return Err("the logit of a legal move is infinite");
    }
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - most).exp();
        sum += *logit;
    }
    logits.iter_mut().for_each(|p| *p /= sum);
    Ok(())
}

/// Makes probabilities that all but sum to 1 do so; says what is wrong if they do not nearly, or
/// are none.
pub(super) fn normalise(probabilities: &mut [f64]) -> Result<(), String> {
    if let Some(p) = probabilities.iter().find(|p| !(0.0..=1.0 + LOOSE).contains(*p)) {
        return Err(format!("{p} is no probability"));
    }
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() > LOOSE {
        return Err(format!("the probabilities of the legal moves sum to {sum}, not to 1"));
    }
    if (sum - 1.0).abs() > EXACT {
        probabilities.iter_mut().for_each(|p| *p /= sum);
    }
    Ok(())
}

/// How far a value may be beyond −1 and 1: rounded 32-bit floats.
const ROUNDING: f64 = 1e-6;

/// A value as an outcome, −1 to 1; `None` if it is none.
pub(super) fn outcome(value: f64) -> Option<f64> {
    (value.abs() <= 1.0 + ROUNDING).then(|| value.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_logits_share_exactly() {
        let low = f64::NEG_INFINITY;
        let mut out = [700.5, low, 700.5, 700.5];
        softmax(&mut out).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(out, [third, 0.0, third, third]);
        let mut out = [0.0, 2.0_f64.ln(), low, low];
        softmax(&mut out).unwrap();
        assert!((out[1] - 2.0 / 3.0).abs() < 1e-15 && out[2] == 0.0, "{out:?}");
        assert!(softmax(&mut [low, low]).is_err());
        assert!(softmax(&mut [0.0, f64::INFINITY]).is_err());
    }

    #[test]
    fn values_a_hair_beyond_are_rounded() {
        assert_eq!([1.0000001, -1.0000001, 0.25].map(outcome), [1.0, -1.0, 0.25].map(Some));
        assert_eq!([1.00001, -1.5, f64::NAN, f64::INFINITY].map(outcome), [None; 4]);
    }

    #[test]
    fn given_probabilities_are_left_alone_or_made_to_sum_to_one() {
        let mut tenths = [0.1; 10];
        normalise(&mut tenths).unwrap();
        assert_eq!(tenths, [0.1; 10]);
        let mut loose = [f64::from(0.3f32), f64::from(0.7001f32)];
        normalise(&mut loose).unwrap();
        assert!((loose[0] + loose[1] - 1.0).abs() < 1e-15 && loose[0] < 0.3, "{loose:?}");
        for mut wrong in [[0.4, 0.5], [1.1, -0.1], [f64::NAN, 1.0], [f64::INFINITY, 0.0]] {
            assert!(normalise(&mut wrong).is_err(), "{wrong:?}");
        }
    }
}
