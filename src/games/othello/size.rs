//! Estimated number of states reachable on a board. Figures for the standard starts of small boards are exact
//! counts; others extrapolate their growth.

use crate::rules::ExpectedStates;

/// Canonical states and placements reachable from the standard start, counted by enumeration; see
/// `docs/results/index.md`.
const KNOWN: [((usize, usize), f64, f64); 4] = [
    ((4, 4), 12_351.0, 17_345.0),
    ((4, 5), 2_426_921.0, 4_834_758.0),
    ((4, 6), 121_195_225.0, 311_555_377.0),
    ((5, 5), 361_701_112.0, 1_041_800_172.0),
];

/// Growth factor of positions per additional empty square, from 4×4, 4×5 and 4×6 with 62,789, 4,990,592 and
/// 380,298,621 positions.
const GROWTH: f64 = 2.95;

/// Estimates the states on a board of `shape` (its shorter side first) reachable from a root with `discs`
/// discs; `is_start` marks the standard start.
pub(super) fn expected(
    (short, long): (usize, usize),
    discs: u32,
    is_start: bool,
    folded: bool,
) -> ExpectedStates {
    let known = KNOWN.iter().find(|known| known.0 == (short, long));
    if let Some(&(_, states, moves)) = known.filter(|_| is_start && folded) {
        return ExpectedStates { states, moves: moves / states, exact: true };
    }
    let squares = (short * long) as f64;
    let positions = 62_789.0 * GROWTH.powf(squares - f64::from(discs) - 12.0);
    // States merge positions of both colours; symmetric roots fold their orbits.
    let fold = if folded && is_start { shape_fold((short, long)) } else { 1.0 };
    ExpectedStates {
        states: (positions / fold).max(1.0),
        moves: 1.2 + squares / 16.0,
        exact: false,
    }
}

/// Returns the factor by which folding reduces the positions from the standard start.
fn shape_fold((short, long): (usize, usize)) -> f64 {
    match (short == long, short % 2 == 0 && long % 2 == 0) {
        (true, true) => 5.0,
        (true, false) => 2.2,
        (false, true) => 3.1,
        (false, false) => 2.05,
    }
}
