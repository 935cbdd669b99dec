//! One layer of states while a game is enumerated.

use std::ops::Range;

use crate::game::{Game, Mobility, Orientations};
use crate::parallel::{self, GRAIN};

/// How many actions a game may have.
pub(super) const MOST_ACTIONS: usize = u16::MAX as usize - 1;

/// States of one layer, sorted by key, with what is known of each.
#[derive(Clone, Debug)]
pub(crate) struct Layer<K> {
    /// The layer's number.
    pub number: u32,
    /// Canonical keys, ascending.
    pub keys: Vec<K>,
    /// In which orientations each state is reachable.
    pub orientations: Vec<Orientations>,
    /// The fewest plies in which each is reached from a root.
    pub plies: Vec<u16>,
    /// What the mover can do in each: see [`Degree`].
    pub degrees: Vec<Degree>,
}

/// The number of a state's actions: a pass is marked, since it stays in the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Degree(u16);

impl Degree {
    const PASS: u16 = u16::MAX;

    /// # Panics
    ///
    /// With more moves than [`MOST_ACTIONS`], which a plan refuses.
    pub fn of(mobility: Mobility) -> Degree {
        match mobility {
            Mobility::Over => Degree(0),
            Mobility::Pass => Degree(Degree::PASS),
            Mobility::Moves(n) => {
                assert!(n as usize <= MOST_ACTIONS, "{n} moves in one state");
                Degree(n as u16)
            }
        }
    }

    pub fn is_over(self) -> bool {
        self.0 == 0
    }

    pub fn is_pass(self) -> bool {
        self.0 == Degree::PASS
    }

    /// How many actions there are, the pass being one.
    pub fn actions(self) -> u32 {
        if self.is_pass() { 1 } else { u32::from(self.0) }
    }
}

/// Which states of a layer are expanded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bound {
    /// Only states fewer plies than this from a root.
    pub max_depth: Option<u32>,
    /// The layer is the last that there is room for: only passes, which stay in it, are followed.
    pub last_layer: bool,
}

impl<K: Copy + Send + Sync> Layer<K> {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether state `i` is to be expanded: the game goes on and the bound is not reached.
    pub fn expands(&self, i: usize, bound: Bound) -> bool {
        let degree = self.degrees[i];
        !degree.is_over()
            && (degree.is_pass() || !bound.last_layer)
            && bound.max_depth.is_none_or(|depth| u32::from(self.plies[i]) < depth)
    }

    /// The number of actions of each expanded state in a range, summed.
    pub fn edges(&self, range: std::ops::Range<usize>, bound: Bound) -> u64 {
        if bound.max_depth.is_none() && !bound.last_layer {
            return self.degrees[range].iter().map(|d| u64::from(d.actions())).sum();
        }
        range
            .filter(|&i| self.expands(i, bound))
            .map(|i| u64::from(self.degrees[i].actions()))
            .sum()
    }
}

/// The degrees of states given by their keys.
pub(crate) fn degrees<G: Game>(game: &G, keys: &[G::Key]) -> Vec<Degree> {
    let of = |places: Range<usize>| -> Vec<Degree> {
        keys[places].iter().map(|&key| degree(game, key)).collect()
    };
    parallel::map_ranges(keys.len(), GRAIN, &of).concat()
}

/// # Panics
///
/// When the key is no state's; keys come from the rules, so that is a fault of the rules.
pub(crate) fn degree<G: Game>(game: &G, key: G::Key) -> Degree {
    let state = game.state(key).expect("a key made by the rules unpacks");
    Degree::of(game.mobility(&state))
}
