//! How many states play on a board leads to. Figures for the standard starts of small boards are
//! exact (they were counted); others follow from the growth seen on those.

use crate::game::Expected;

/// Canonical states and placing moves from the standard start, as counted by enumeration; see
/// `docs/results/index.md`.
const KNOWN: [((usize, usize), f64, f64); 4] = [
    ((4, 4), 12_351.0, 17_345.0),
    ((4, 5), 2_426_921.0, 4_834_758.0),
    ((4, 6), 121_195_225.0, 311_555_377.0),
    ((5, 5), 361_701_112.0, 1_041_800_172.0),
];

/// Positions grow by this factor with every empty square more (from 4×4, 4×5 and 4×6, whose
/// positions number 62,789, 4,990,592 and 380,298,621).
const GROWTH: f64 = 2.95;

/// What is expected of play on a board of `shape` (its shorter side first) from a root with so many
/// discs, which is the standard start or not.
pub(super) fn expected(
    (short, long): (usize, usize),
    discs: u32,
    is_start: bool,
    folded: bool,
) -> Expected {
    let known = KNOWN.iter().find(|known| known.0 == (short, long));
    if let Some(&(_, states, moves)) = known.filter(|_| is_start && folded) {
        return Expected { states, moves: moves / states, exact: true };
    }
    let squares = (short * long) as f64;
    let positions = 62_789.0 * GROWTH.powf(squares - f64::from(discs) - 12.0);
    // Colours are forgotten; symmetric roots fold their orbits.
    let fold = if folded && is_start { shape_fold((short, long)) } else { 1.0 };
    Expected { states: (positions / fold).max(1.0), moves: 1.2 + squares / 16.0, exact: false }
}

/// By how much folding divides the positions from the standard start.
fn shape_fold((short, long): (usize, usize)) -> f64 {
    match (short == long, short % 2 == 0 && long % 2 == 0) {
        (true, true) => 5.0,
        (true, false) => 2.2,
        (false, true) => 3.1,
        (false, false) => 2.05,
    }
}
