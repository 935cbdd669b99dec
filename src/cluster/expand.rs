//! The moves of one block: what a worker does for each of its own.

use rustc_hash::FxHashMap;

use crate::game::blocks::{Bits, Blocks, Work};
use crate::game::{Group, Orientations, Score, Side};
use crate::graph::States;
use crate::solve::value::Prospect;
use crate::table::{Counts, Tally};

/// States that are looked at together.
const TOGETHER: usize = 1 << 12;

/// States of a block, ascending by place, each with its orientations.
pub(super) type Sets = Vec<(u32, u16)>;

/// What places of a block are reached in which orientations, in one number that sorts by place.
pub(super) type Reached = FxHashMap<u32, Vec<u64>>;

/// Sorts what is reached, and joins what is of one place.
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

/// Closes a block under passes and makes all its moves.
pub(super) struct Expand<'a, B: Bits> {
    pub rules: &'a Blocks<B>,
    pub group: &'a Group,
    pub occupied: u32,
    /// The states that placements lead to; afterwards also those that passes lead to.
    pub sets: &'a mut Sets,
    pub reached: &'a mut Reached,
}

impl<B: Bits> Work for Expand<'_, B> {
    type Output = Counts;

    #[inline(always)]
    fn run(self) -> Counts {
        let Expand { rules, group, occupied, sets, reached } = self;
        let (block, order) = (rules.block(occupied), group.order());
        let mut lists: Vec<Vec<u64>> = block.placements.iter().map(|_| Vec::new()).collect();
        let mut passed: Vec<u64> = Vec::new();
        // Moves and whether they are a pass, of every state.
        let mut moves: Vec<(u32, u32, bool)> = Vec::new();
        let mut some = States::default();
        let mut expand = |sets: &[(u32, u16)], passed: Option<&mut Vec<u64>>| {
            let mut passed = passed;
            for sets in sets.chunks(TOGETHER) {
                some.movers.clear();
                some.movers.extend(sets.iter().map(|&(place, _)| rules.mover(&block, place)));
                some.expand(
                    rules,
                    &block,
                    |_| true,
                    |placement, state, (place, ties)| {
                        let own = Orientations(sets[state as usize].1);
                        let to = group.successor_orientations(own, ties).0;
                        lists[placement].push(u64::from(place) << 16 | u64::from(to));
                    },
                );
                let first = moves.len();
                let all = sets.iter().zip(&some.moves).map(|(set, &moves)| (set.0, moves, false));
                moves.extend(all);
                for &state in &some.passing {
                    let state = state as usize;
                    (moves[first + state].1, moves[first + state].2) = (1, true);
                    let Some(passed) = &mut passed else { continue };
                    let (place, ties) = rules.swapped(&block, some.movers[state]);
                    let to = group.successor_orientations(Orientations(sets[state].1), ties).0;
                    passed.push(u64::from(place) << 16 | u64::from(to));
                }
            }
        };
        expand(sets, Some(&mut passed));
        if !passed.is_empty() {
            join(&mut passed);
            let mut again = Vec::new();
            for pair in passed {
                let (place, to) = ((pair >> 16) as u32, pair as u16);
                match sets.binary_search_by_key(&place, |set| set.0) {
                    Ok(at) if sets[at].1 | to == sets[at].1 => {}
                    Ok(at) => again.push((place, sets[at].1 | to)),
                    Err(_) => again.push((place, to)),
                }
            }
            expand(&again, None);
            sets.extend(again);
            sets.sort_unstable();
            sets.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 |= next.1;
                }
                same
            });
            moves.sort_unstable();
            moves.dedup_by_key(|moves| moves.0);
        }
        for (placement, list) in block.placements.iter().zip(lists) {
            if !list.is_empty() {
                reached.entry(placement.to.occupied).or_default().extend(list);
            }
        }
        let (mut table, mut all) = (Tally::default(), Tally::default());
        let (mut mover_relative, mut with_both) = (0, 0);
        for (&(place, own), &(_, moves, passes)) in sets.iter().zip(&moves) {
            let set = Orientations(own);
            let one = Tally {
                states: 1,
                terminals: u64::from(moves == 0),
                passes: u64::from(passes),
                frontier: 0,
                transitions: u64::from(moves),
            };
            table.add(&one);
            all.add(&one.times(u64::from(set.count())));
            let sides = Side::ALL.map(|side| set.with(side, order));
            mover_relative += u64::from((sides[0] | sides[1]).count_ones());
            let (other, ties) = rules.swapped(&block, rules.mover(&block, place));
            let other = sets.binary_search_by_key(&other, |set| set.0);
            if let (true, Ok(other)) = (sides[0] != 0, other) {
                let theirs = Orientations(sets[other].1).with(Side::Second, order);
                with_both += u64::from((group.carry(sides[0], ties) & theirs).count_ones());
            }
        }
        Counts {
            table,
            reachable: Some(all),
            distinct_boards: Some(all.states - with_both),
            mover_relative: Some(mover_relative),
            canonical: Some(table.states),
            terminals_won: None,
        }
    }
}

/// Finds the values of a closed block from those that its moves lead to.
pub(super) struct Settle<'a, B: Bits, F> {
    pub rules: &'a Blocks<B>,
    pub occupied: u32,
    pub sets: &'a Sets,
    /// The score of a finished game, for its mover, by its key.
    pub leaf: F,
    /// Of each block that is led to: places, ascending, and their values.
    pub needed: &'a FxHashMap<u32, (Vec<u32>, Vec<i32>)>,
}

impl<B: Bits, F: Fn(u64) -> Score> Work for Settle<'_, B, F> {
    /// The numbers of the prospects, in the order of the states.
    type Output = Vec<i32>;

    #[inline(always)]
    fn run(self) -> Vec<i32> {
        let Settle { rules, occupied, sets, leaf, needed } = self;
        let block = rules.block(occupied);
        let empty = (Vec::new(), Vec::new());
        let to = block.placements.iter().map(|p| needed.get(&p.to.occupied).unwrap_or(&empty));
        let to: Vec<&(Vec<u32>, Vec<i32>)> = to.collect();
        let (mut values, mut passing) = (Vec::with_capacity(sets.len()), Vec::new());
        let mut some = States::default();
        for sets in sets.chunks(TOGETHER) {
            some.movers.clear();
            some.movers.extend(sets.iter().map(|&(place, _)| rules.mover(&block, place)));
            let mut best = vec![i32::MIN; sets.len()];
            some.expand(
                rules,
                &block,
                |_| true,
                |placement, state, (place, _)| {
                    let (places, values) = to[placement];
                    let at = places.binary_search(&place).expect("every move was asked for");
                    let value = Prospect::of_number(values[at]).before().number();
                    best[state as usize] = best[state as usize].max(value);
                },
            );
            let first = values.len();
            for ((best, &moves), &(place, _)) in best.into_iter().zip(&some.moves).zip(sets) {
                let value = match moves {
                    0 => Prospect::new(leaf(rules.key(&block, place)), Some(0)),
                    _ => Prospect::of_number(best),
                };
                values.push(value.number());
            }
            passing.extend(some.passing.iter().map(|&state| first + state as usize));
        }
        // A pass leads to a state that need not pass.
        for at in passing {
            let (other, _) = rules.swapped(&block, rules.mover(&block, sets[at].0));
            let other =
                sets.binary_search_by_key(&other, |set| set.0).expect("closed under passes");
            values[at] = Prospect::of_number(values[other]).before().number();
        }
        values
    }
}
