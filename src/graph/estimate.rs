//! What an enumeration will take, before it is begun.

use super::plan::Plan;
use crate::game::Game;

/// What a table is expected to hold and take. Figures for the standard starts of small boards are
/// exact (they were counted); others follow from the growth seen on those.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Rows of the table.
    pub states: f64,
    /// Moves.
    pub edges: f64,
    /// Bytes on disk, once solved.
    pub disk: f64,
    /// Bytes of memory at the peak of the enumeration.
    pub memory: f64,
    /// Whether the number of states is known and not extrapolated.
    pub exact: bool,
}

/// Canonical states and placing moves from the standard start, as counted by enumeration; see
/// `docs/results.md`.
const KNOWN: [((usize, usize), f64, f64); 4] = [
    ((4, 4), 12_351.0, 17_345.0),
    ((4, 5), 2_426_921.0, 4_834_758.0),
    ((4, 6), 121_195_225.0, 311_555_377.0),
    ((5, 5), 361_701_112.0, 1_041_800_172.0),
];

/// Positions grow by this factor with every empty square more (from 4×4, 4×5 and 4×6, whose
/// positions number 62,789, 4,990,592 and 380,298,621).
const GROWTH: f64 = 2.95;

/// Estimates the enumeration of a plan.
pub fn estimate<G: Game>(game: &G, plan: &Plan<G::State>) -> Estimate {
    let (rows, columns) = game.shape();
    let shape = (rows.min(columns), rows.max(columns));
    let folded = game.group().order() > 1;
    let known = KNOWN.iter().find(|known| known.0 == shape);
    let (mut states, moves_a_state, mut exact) = match known {
        Some(&(_, states, moves)) if plan.start == "standard" && folded => {
            (states, moves / states, true)
        }
        _ => {
            let squares = (rows * columns) as f64;
            let discs = plan.roots.first().map_or(4, |root| game.layer(&root.state));
            let positions = 62_789.0 * GROWTH.powf(squares - f64::from(discs) - 12.0);
            // Colours are forgotten; symmetric roots fold their orbits.
            let fold = if folded && plan.start != "custom" { shape_fold(shape) } else { 1.0 };
            ((positions / fold).max(1.0), 1.2 + squares / 16.0, false)
        }
    };
    if let Some(most) = plan.max_states.filter(|&most| (most as f64) < states) {
        (states, exact) = (most as f64, false);
    }
    if let Some(depth) = plan.max_depth {
        // No more than lines of play: few moves at first, more in the middle of the game.
        let lines = 8.0 * 4f64.powf(f64::from(depth));
        if lines < states {
            (states, exact) = (lines, false);
        }
    }
    let edges = states * (moves_a_state + 0.1);
    let key = 8.0 * game.key_words() as f64;
    // A row: key, kind, orientations, offset, outcome, score, distance. An edge: target, action.
    let disk = states * (key + 1.0 + 2.0 + 8.0 + 1.0 + 1.0 + 2.0) + edges * 5.0;
    // The largest layer holds about a quarter of all states, with its successors as records; the
    // factor is set by the peaks measured on 4×6 (3.7 GB) and 5×5 (11.9 GB).
    let memory = 64e6 + 0.30 * (2.0 * states * (key + 6.0) + edges * (key + 8.0 + 6.0) * 1.3);
    Estimate { states, edges, disk, memory, exact }
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
