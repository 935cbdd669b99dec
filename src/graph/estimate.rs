//! What an enumeration will take, before it is begun.

use super::plan::{Index, Plan};
use crate::game::{Expected, Game};
use crate::table::{NoRoom, Store, fits_disk, fits_memory, room_in_memory};

/// What a table is expected to hold and take.
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
    /// Seconds of one processor that enumerating takes.
    pub seconds: f64,
    /// Whether the number of states is known and not extrapolated.
    pub exact: bool,
    /// Whether states come in blocks, which can be enumerated in less memory too.
    pub in_blocks: bool,
    /// Whether moves are not stored.
    pub derived: bool,
}

/// Estimates the enumeration of a plan; `None` where the game knows nothing of its size.
pub fn estimate<G: Game>(game: &G, plan: &Plan<G::State>) -> Option<Estimate> {
    let Expected { mut states, moves, mut exact } = game.expected(&plan.roots.first()?.state)?;
    exact &= plan.start == "standard";
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
    let edges = states * (moves + 0.1);
    let key = 8.0 * game.key_words() as f64;
    let (in_blocks, derived) = (plan.has_blocks(game), plan.derived);
    // A row: key, orientations, outcome, score, distance; with moves: kind, how many, and of every 64
    // where they begin. An edge: target, action.
    let row = key + 2.0 + 1.0 + 1.0 + 2.0;
    let disk = match derived {
        true => states * row,
        false => states * (row + 1.0 + 1.0 + 8.0 / 64.0) + edges * 5.0,
    };
    // The largest layer holds about a quarter of all states, with its successors as records; the
    // factor is set by the peaks measured on 4×6 (3.7 GB) and 5×5 (11.9 GB).
    let sorting = 0.30 * (2.0 * states * (key + 6.0) + edges * (key + 8.0 + 6.0) * 1.3);
    let memory = match in_blocks {
        true => 400e6 + bitmaps(game, game.layer(&plan.roots.first()?.state)) + 0.30 * states * 4.0,
        false => 64e6 + sorting,
    };
    // As measured on 4×6 and 5×5.
    let seconds = states
        * match (in_blocks, derived) {
            (true, true) => 0.1e-6,
            (true, false) => 0.13e-6,
            (false, _) => 0.65e-6,
        };
    Some(Estimate { states, edges, disk, memory, seconds, exact, in_blocks, derived })
}

impl Estimate {
    /// Bytes that do not fit in the memory that may be taken, and lie in files meanwhile.
    pub fn beyond(&self, memory: Option<u64>) -> f64 {
        let room = room_in_memory(memory).map_or(f64::INFINITY, |room| room as f64);
        if self.in_blocks { (self.memory - room).max(0.0) } else { 0.0 }
    }
}

/// A plan that takes no more memory than there is; or what is expected not to fit, in memory or where
/// the table would lie.
pub fn within_room<G: Game>(
    game: &G,
    mut plan: Plan<G::State>,
    store: &Store,
) -> Result<Plan<G::State>, NoRoom> {
    match (plan.index, game.layers()) {
        (Index::Rank, _) => {
            // The bits, the list of a ply and what it finds, and the bits once more when written.
            let ranks = f64::from(game.rank_count().unwrap_or(0));
            fits_memory(ranks / 2.0 + 2e7, plan.max_memory)?;
        }
        (Index::Keys, Some(_)) if !store.place(&plan.table_name(game)).exists() => {
            if let Some(expected) = estimate(game, &plan) {
                if !expected.in_blocks {
                    fits_memory(expected.memory, plan.max_memory)?;
                }
                fits_disk(expected.disk + expected.beyond(plan.max_memory), store.root())?;
            }
        }
        (Index::Keys, _) => {}
    }
    plan.max_memory = room_in_memory(plan.max_memory);
    Ok(plan)
}

/// Bytes of the bitmaps of three layers that follow each other, which are held together, where they
/// are largest: of every set of occupied squares that contains the root's one image, and in it a
/// bit for every set of the mover's.
fn bitmaps<G: Game>(game: &G, discs: u32) -> f64 {
    let (rows, columns) = game.shape();
    let free = ((rows * columns) as u32).saturating_sub(discs);
    let mut sets = 1.0;
    let mut layers = Vec::new();
    for more in 0..=free {
        layers.push(sets / game.group().order() as f64 * f64::from(discs + more).exp2() / 8.0);
        sets *= f64::from(free - more) / f64::from(more + 1);
    }
    layers.windows(3).map(|three| three.iter().sum()).fold(0.0, f64::max)
}
