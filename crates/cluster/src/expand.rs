//! Moves of the states of one block, compiled for the processor.

use yomikiri::enumerate::{Census, TaskStates};
use yomikiri::games::othello::blocks::{Bits, Block, Blocks, Work};
use yomikiri::rules::{Group, Orientations, Score, Side};
use yomikiri::solve::value::{Prospect, Short, SweepOrder};
use yomikiri::table::Counts;
use yomikiri::table::rows::StateKind;

/// States that are processed together.
pub(super) const TOGETHER: usize = 1 << 12;

/// States of a block, ascending by place, each with its orientations.
pub(super) type Sets = Vec<(u32, u16)>;

/// Packs a place and orientations into a number that sorts by place.
pub(super) fn pair(place: u32, set: u16) -> u64 {
    u64::from(place) << 16 | u64::from(set)
}

/// Returns the place and the orientations of a [`pair`].
pub(super) fn of_pair(pair: u64) -> (u32, u16) {
    ((pair >> 16) as u32, pair as u16)
}

/// Sorts pairs, and joins the orientations of equal places.
pub(super) fn join(found: &mut Vec<u64>) {
    found.sort_unstable();
    found.dedup_by(|next, kept| {
        let same = *next >> 16 == *kept >> 16;
        if same {
            *kept |= *next & 0xffff;
        }
        same
    });
}

/// Generates the successors of some states of a block.
pub(super) struct Expand<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub block: &'a Block<B>,
    pub states: &'a mut TaskStates,
    pub sets: &'a [(u32, u16)],
    /// Pairs that each placement leads to.
    pub lists: &'a mut [Vec<u64>],
    /// Pairs of the same block that passes lead to, if wanted.
    pub passed: Option<&'a mut Vec<u64>>,
    /// Place of each state, number of its moves, and `true` if it must pass.
    pub moves: &'a mut Vec<(u32, u32, bool)>,
}

impl<B: Bits> Work for Expand<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Expand { rules, group, block, states, sets, lists, mut passed, moves } = self;
        states.movers.clear();
        states.movers.extend(sets.iter().map(|&(place, _)| rules.mover(block, place)));
        states.begin();
        for (placement, list) in block.placements.iter().zip(lists) {
            let (states, places, ties) = states.place(rules, block, placement);
            list.extend(states.iter().zip(places).enumerate().map(|(at, (&state, &place))| {
                let own = Orientations(sets[state as usize].1);
                pair(place, ties.carry(group, own, at).0)
            }));
        }
        states.pass(block);
        let first = moves.len();
        moves.extend(sets.iter().zip(&states.moves).map(|(set, &moves)| (set.0, moves, false)));
        for &state in &states.passing {
            let state = state as usize;
            (moves[first + state].1, moves[first + state].2) = (1, true);
            if let Some(passed) = &mut passed {
                let (place, ties) = rules.swapped(block, states.movers[state]);
                let own = Orientations(sets[state].1);
                passed.push(pair(place, group.successor_orientations(own, ties).0));
            }
        }
    }
}

/// Counts the states of a block that is closed under passes.
pub(super) struct Count<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub block: &'a Block<B>,
    pub sets: &'a Sets,
    /// As [`Expand`] leaves them, ascending by place.
    pub moves: &'a [(u32, u32, bool)],
}

impl<B: Bits> Work for Count<'_, B> {
    type Output = Counts;

    #[inline(always)]
    fn run(self) -> Counts {
        let Count { rules, group, block, sets, moves } = self;
        let order = group.order();
        let mut census = Census::default();
        for (&(place, own), &(_, moves, passes)) in sets.iter().zip(moves) {
            let own = Orientations(own);
            let kind = if moves == 0 { StateKind::Terminal } else { StateKind::Interior };
            census.add_row(kind, moves, passes, own, order);
            let first = own.with(Side::First, order);
            if first == 0 {
                continue;
            }
            let (other, ties) = rules.swapped(block, rules.mover(block, place));
            if let Ok(other) = sets.binary_search_by_key(&other, |set| set.0) {
                let theirs = Orientations(sets[other].1).with(Side::Second, order);
                census.with_both += u64::from((group.carry(first, ties) & theirs).count_ones());
            }
        }
        census.counts(census.table.states)
    }
}

/// Appends the keys of places of a block.
pub(super) struct PlaceKeys<'a, B: Bits, P> {
    pub rules: &'a Blocks<B>,
    pub block: u32,
    pub places: P,
    pub keys: &'a mut Vec<u64>,
}

impl<B: Bits, P: Iterator<Item = u32>> Work for PlaceKeys<'_, B, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let PlaceKeys { rules, block, places, keys } = self;
        let mask = B::mask(block);
        for place in places {
            keys.push(rules.key_of(block, &mask, place));
        }
    }
}

/// Finds the successors whose values the states of a block need, and the values of finished games.
pub(super) struct Trace<'a, B: Bits, F> {
    pub rules: &'a Blocks<B>,
    pub block: &'a Block<B>,
    pub states: &'a mut TaskStates,
    pub keys: &'a [u64],
    /// Row of the first state.
    pub row: u32,
    /// Successors of each placement: place in the high half, row of the predecessor in the low half.
    pub lists: &'a mut [Vec<u64>],
    /// Score of a finished game for its mover, by key.
    pub leaf: F,
    /// Rows whose game is over, with their values.
    pub over: &'a mut Vec<(u32, Short)>,
    /// Rows that pass.
    pub passing: &'a mut Vec<u32>,
}

impl<B: Bits, F: Fn(u64) -> Score> Work for Trace<'_, B, F> {
    /// Number of moves of the states.
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Trace { rules, block, states, keys, row, lists, leaf, over, passing } = self;
        states.movers.clear();
        states.movers.extend(keys.iter().map(|&key| key as u32 & block.occupied));
        states.begin();
        for (placement, list) in block.placements.iter().zip(lists) {
            let (states, places, _) = states.place(rules, block, placement);
            let led = |(&state, &place)| u64::from(place) << 32 | u64::from(row + state);
            list.extend(states.iter().zip(places).map(led));
        }
        states.pass(block);
        let mut passes = states.passing.iter().peekable();
        let mut moves = 0;
        for (state, &own) in (0..).zip(&states.moves) {
            moves += u64::from(own);
            if passes.next_if(|&&passing| passing == state).is_some() {
                passing.push(row + state);
                moves += 1;
            } else if own == 0 {
                let score = leaf(keys[state as usize]);
                over.push((row + state, Short::of(Prospect::new(score, Some(0)))));
            }
        }
        moves
    }
}
