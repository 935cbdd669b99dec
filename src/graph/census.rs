//! How many states a layer has, in every sense people count them.

use rayon::slice::ParallelSliceMut;

use super::expand::task_ranges;
use super::keys::BucketIndex;
use super::layer::{Bound, Layer};
use crate::game::{Game, Side};
use crate::parallel;
use crate::table::{Counts, Tally};

/// Counts a layer of which the states within `bound` were expanded.
pub(crate) fn count<G: Game>(
    game: &G,
    layer: &Layer<G::Key>,
    index: &BucketIndex,
    bound: Bound,
) -> Counts {
    let tally = |range: std::ops::Range<usize>| {
        let mut tally = LayerTally::default();
        range.for_each(|i| tally.add_state(game, layer, bound, i));
        tally
    };
    let tasks = task_ranges(layer.len());
    let tallies = parallel::map(tasks.len(), &|task| tally(tasks[task].clone()));
    let found = tallies.into_iter().fold(LayerTally::default(), |mut a, b| {
        a.table.add(&b.table);
        a.reachable.add(&b.reachable);
        a.mover_relative += b.mover_relative;
        a.with_side[0] += b.with_side[0];
        a.with_side[1] += b.with_side[1];
        a
    });
    // Each board that is there with both sides to move is found from either; take the rarer.
    let side = if found.with_side[0] <= found.with_side[1] { Side::First } else { Side::Second };
    let both = |range: std::ops::Range<usize>| {
        range.map(|i| seen_with_both(game, layer, index, side, i)).sum::<u64>()
    };
    let both = parallel::map(tasks.len(), &|task| both(tasks[task].clone()));
    let seen_twice = both.into_iter().sum::<u64>();
    let folded = game.group().order() > 1;
    Counts {
        table: found.table,
        reachable: Some(found.reachable),
        distinct_boards: Some(found.reachable.states - seen_twice),
        mover_relative: Some(found.mover_relative),
        canonical: Some(if folded { layer.len() as u64 } else { count_classes(game, layer) }),
        terminals_won: None,
    }
}

#[derive(Default)]
struct LayerTally {
    table: Tally,
    reachable: Tally,
    mover_relative: u64,
    /// How many states are reachable with each side to move.
    with_side: [u64; 2],
}

impl LayerTally {
    fn add_state<G: Game>(&mut self, game: &G, layer: &Layer<G::Key>, bound: Bound, i: usize) {
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
        self.table.add(&one);
        self.reachable.add(&one.times(positions));
        let sides = Side::ALL.map(|side| own.with(side, order));
        self.mover_relative += u64::from((sides[0] | sides[1]).count_ones());
        self.with_side[0] += u64::from(sides[0] != 0);
        self.with_side[1] += u64::from(sides[1] != 0);
    }
}

/// How many boards of state `i` with `side` to move are also there with the other side to move.
/// The same board with the other side to move is another canonical state, of the same layer.
fn seen_with_both<G: Game>(
    game: &G,
    layer: &Layer<G::Key>,
    index: &BucketIndex,
    side: Side,
    i: usize,
) -> u64 {
    let group = game.group();
    let own = layer.orientations[i].with(side, group.order());
    if own == 0 {
        return 0;
    }
    let state = game.state(layer.keys[i]).expect("a key made by the rules unpacks");
    let Some(swapped) = game.swapped(&state) else { return 0 };
    let canonical = game.canonical(&swapped);
    let Some(other) = index.find(&layer.keys, canonical.key) else { return 0 };
    let theirs = layer.orientations[other].with(side.other(), group.order());
    u64::from((group.carry(own, canonical.ties) & theirs).count_ones())
}

/// The number of classes under all symmetries in a layer that is not folded.
fn count_classes<G: Game>(game: &G, layer: &Layer<G::Key>) -> u64 {
    let Some(folded) = game.with_folding(true) else { return layer.len() as u64 };
    let mut keys = parallel::column(layer.len(), |place| {
        let state = game.state(layer.keys[place]).expect("a key made by the rules unpacks");
        folded.canonical(&state).key
    });
    keys.par_sort_unstable();
    keys.dedup();
    keys.len() as u64
}
