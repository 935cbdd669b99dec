//! How many states a layer has, in every sense people count them.

use rayon::prelude::*;

use super::expand::task_ranges;
use super::index::BucketIndex;
use super::layer::{Bound, Layer};
use crate::game::{Game, Side};
use crate::table::{Counts, Tally};

/// Counts a layer of which the states within `bound` were expanded.
pub(crate) fn count<G: Game>(
    game: &G,
    layer: &Layer<G::Key>,
    index: &BucketIndex,
    bound: Bound,
) -> Counts {
    let mut counts = task_ranges(layer.len())
        .into_par_iter()
        .map(|range| {
            let mut counts = Counts::default();
            for i in range {
                count_state(game, layer, index, i, bound, &mut counts);
            }
            counts
        })
        .reduce(Counts::default, |mut a, b| {
            a.add(&b);
            a
        });
    counts.canonical =
        if game.group().order() > 1 { layer.len() as u64 } else { count_classes(game, layer) };
    counts
}

fn count_state<G: Game>(
    game: &G,
    layer: &Layer<G::Key>,
    index: &BucketIndex,
    i: usize,
    bound: Bound,
    counts: &mut Counts,
) {
    let order = game.group().order();
    let own = layer.orientations[i];
    let positions = u64::from(own.count());
    let degree = layer.degrees[i];
    let expanded = layer.expands(i, bound);
    let one = Tally {
        states: 1,
        terminals: u64::from(degree.is_over()),
        passes: u64::from(degree.is_pass()),
        frontier: u64::from(!degree.is_over() && !expanded),
        transitions: if expanded { u64::from(degree.actions()) } else { 0 },
    };
    counts.table.add(&one);
    counts.reachable.add(&Tally {
        states: positions,
        terminals: one.terminals * positions,
        passes: one.passes * positions,
        frontier: one.frontier * positions,
        transitions: one.transitions * positions,
    });
    let (first, second) = (own.with(Side::First, order), own.with(Side::Second, order));
    counts.mover_relative += u64::from((first | second).count_ones());
    counts.distinct_boards += positions - seen_with_both(game, layer, index, i);
}

/// How many boards of state `i` with the first player to move are also there with the second to
/// move. The same board with the other side to move is another canonical state, of the same layer.
fn seen_with_both<G: Game>(game: &G, layer: &Layer<G::Key>, index: &BucketIndex, i: usize) -> u64 {
    let group = game.group();
    let first = layer.orientations[i].with(Side::First, group.order());
    if first == 0 {
        return 0;
    }
    let state = game.state(layer.keys[i]).expect("a key made by the rules unpacks");
    let canonical = game.canonical(&game.swapped(&state));
    let Some(other) = index.find(&layer.keys, canonical.key) else { return 0 };
    let second = layer.orientations[other].with(Side::Second, group.order());
    u64::from((group.carry(first, canonical.ties) & second).count_ones())
}

/// The number of classes under all symmetries in a layer that is not folded.
fn count_classes<G: Game>(game: &G, layer: &Layer<G::Key>) -> u64 {
    let folded = game.with_folding(true);
    let mut keys: Vec<_> = layer
        .keys
        .par_iter()
        .map(|&key| {
            let state = game.state(key).expect("a key made by the rules unpacks");
            folded.canonical(&state).key
        })
        .collect();
    keys.par_sort_unstable();
    keys.dedup();
    keys.len() as u64
}
