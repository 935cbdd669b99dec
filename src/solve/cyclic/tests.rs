use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;

use super::reference::{Kind, Toy, ToyState, Value, by_attractors, by_sweeps, classes, spelled};
use super::*;
use crate::progress::Silent;
use crate::solve::value;
use crate::table::Scratch;

/// Values of a graph, its sweeps, and `true` if a checkpoint was resumed.
type Solution = (Vec<value::Value>, Vec<SweepRecord>, bool);

/// Solves a graph with its checkpoint in a directory; simulates a kill after the sweep `stop`.
fn swept_in(dir: &Path, after: Duration, toy: &Toy, stop: usize) -> Solution {
    let checkpoint = Checkpoint::at(Scratch::of(dir), "it".to_string(), after);
    let mut each = |number: usize, _: &SweepRecord| {
        if number == stop {
            // Unwinds without a message on stderr.
            resume_unwind(Box::new("interrupted"));
        }
    };
    let mut log = SweepLog { sweeps: Vec::new(), each: &mut each };
    let solved = toy.with_graph(|graph| {
        graph.check().expect("a valid graph");
        iterate(graph, &checkpoint, &Silent, &mut log)
    });
    let (values, resumed) = solved.unwrap();
    (values, log.sweeps, resumed)
}

fn swept(toy: &Toy) -> Solution {
    swept_in(Path::new("nowhere"), Duration::from_secs(3600), toy, usize::MAX)
}

fn spelled_out(values: &[value::Value]) -> Vec<(Value, Value)> {
    values.iter().map(|&interval| spelled(interval)).collect()
}

/// Stops the sweeps after the `at`th, as a kill would, and resumes from the checkpoint.
fn interrupted(toy: &Toy, at: usize) {
    let (values, sweeps, _) = swept(toy);
    let dir = tempfile::tempdir().unwrap();
    let solve = |stop| swept_in(dir.path(), Duration::ZERO, toy, stop);
    let ended = catch_unwind(AssertUnwindSafe(|| solve(at))).is_ok();
    assert_eq!(ended, sweeps.len() < at);
    let saved = dir.path().join("solve.partial").exists();
    // The results of an interrupted sweep are not saved yet.
    assert!(saved || at == 1 || sweeps.len() < 2, "no checkpoint of {toy:?}");
    assert_eq!(solve(usize::MAX), (values, sweeps, saved), "{toy:?}");
}

/// Solves by all means and returns the values.
fn solve(toy: &Toy) -> Vec<(Value, Value)> {
    let expected = by_sweeps(toy);
    assert_eq!(classes(&expected), by_attractors(toy), "the references agree on {toy:?}");
    assert_eq!(spelled_out(&swept(toy).0), expected, "{toy:?}");
    expected
}

fn state(kind: Kind, moves: &[u32]) -> ToyState {
    ToyState { kind, moves: moves.to_vec(), second_to_move: false }
}

fn interior(moves: &[u32]) -> ToyState {
    state(Kind::Interior, moves)
}

fn end(outcome: Outcome, plies: u16) -> ToyState {
    state(Kind::Terminal(outcome, plies), &[])
}

fn toy(repetition: Repetition, states: Vec<ToyState>) -> Toy {
    Toy { states, repetition }
}

fn win(plies: u32) -> Value {
    Value::Win(Reverse(plies))
}

fn exactly(values: &[Value]) -> Vec<(Value, Value)> {
    values.iter().map(|&value| (value, value)).collect()
}

#[test]
fn two_states_for_ever() {
    let cycle = |repetition| {
        let mut toy = toy(repetition, vec![interior(&[1]), interior(&[0])]);
        toy.states[1].second_to_move = true;
        solve(&toy)
    };
    assert_eq!(cycle(Repetition::Draw), exactly(&[Value::Draw, Value::Draw]));
    let open = (Value::EndlessLoss, Value::EndlessWin);
    assert_eq!(cycle(Repetition::Unknown), [open, open]);
    let second_wins = exactly(&[Value::EndlessLoss, Value::EndlessWin]);
    assert_eq!(cycle(Repetition::SecondPlayerWins), second_wins);
}

#[test]
fn a_win_out_of_a_cycle_has_the_shortest_distance() {
    // 0 and 1 form a cycle; 0 may also leave for the other player's loss in 2, which 1 prefers to put off.
    let states = vec![
        interior(&[1, 2]),
        interior(&[0, 4]),
        interior(&[3]),
        end(Outcome::Win, 1),
        interior(&[2]),
    ];
    let expected = [win(3), Value::Loss(4), Value::Loss(2), win(1), win(3)];
    assert_eq!(solve(&toy(Repetition::Draw, states)), exactly(&expected));
}

#[test]
fn a_win_beside_a_cut_off_state_is_proven_but_its_distance_only_bounded() {
    let states = vec![
        interior(&[1, 5]),
        interior(&[2]),
        interior(&[3]),
        interior(&[4]),
        end(Outcome::Win, 1),
        state(Kind::Frontier, &[]),
    ];
    let toy = toy(Repetition::Draw, states);
    assert_eq!(solve(&toy)[0], (win(5), win(3)));
    let root = swept(&toy).0[0];
    assert_eq!((root.outcome(), root.distance()), (Some(Outcome::Win), None));
    assert_eq!((root.distance_lower(), root.distance_upper()), (Some(3), Some(5)));
}

#[test]
fn the_second_player_wins_what_does_not_end_and_the_first_flees_into_a_draw() {
    let side = |second_to_move, moves: &[u32]| ToyState { second_to_move, ..interior(moves) };
    // 0 and 1 form a cycle that only the second player can leave for a draw; 2 and 3 one for the first.
    let states = vec![
        side(false, &[1]),
        side(true, &[0, 5]),
        side(false, &[3, 4]),
        side(true, &[2]),
        ToyState { second_to_move: true, ..end(Outcome::Draw, 0) },
        end(Outcome::Draw, 0),
    ];
    let values = solve(&toy(Repetition::SecondPlayerWins, states));
    use Value::{Draw, EndlessLoss, EndlessWin};
    assert_eq!(values, exactly(&[EndlessLoss, EndlessWin, Draw, Draw, Draw, Draw]));
}

#[test]
fn ends_beyond_the_longest_distance_count_as_that_far() {
    let last = Prospect::MAX_DISTANCE;
    let mut states: Vec<_> = (0..20).map(|row| interior(&[row + 1])).collect();
    states.push(end(Outcome::Win, last - 9));
    let (values, ..) = swept(&toy(Repetition::Draw, states));
    assert_eq!(values[19], value::Value::exactly(Prospect::loss(last - 8)));
    assert_eq!(values[11], value::Value::exactly(Prospect::loss(last)));
    assert_eq!(values[10], value::Value::exactly(Prospect::win(last)));
    assert_eq!(values[0], value::Value::exactly(Prospect::win(last)));
}

#[test]
fn an_empty_graph_has_no_values() {
    assert_eq!(solve(&toy(Repetition::Unknown, vec![])), []);
}

#[test]
fn malformed_graphs_are_named() {
    let fault = |repetition, states| {
        toy(repetition, states).with_graph(|graph| graph.check().expect_err("a fault"))
    };
    assert!(fault(Repetition::Draw, vec![interior(&[7])]).starts_with("row 0: "));
    assert!(fault(Repetition::Draw, vec![interior(&[0]), interior(&[])]).starts_with("row 1: "));
    let finished = state(Kind::Terminal(Outcome::Draw, 0), &[0]);
    assert!(fault(Repetition::Draw, vec![interior(&[0]), finished]).starts_with("row 1: "));
    let same_side = vec![interior(&[1]), end(Outcome::Draw, 0)];
    assert!(fault(Repetition::SecondPlayerWins, same_side).starts_with("row 0: "));
}

/// Parts of a random state: kind, moves, end, side.
type Parts = (u8, Vec<Index>, (usize, u16), bool);

fn any_toy(plies: std::ops::Range<u16>) -> impl Strategy<Value = Toy> {
    let moves = prop::collection::vec(any::<Index>(), 0..5);
    let parts = (0..12u8, moves, (0..3usize, plies), any::<bool>());
    let repetition = prop::sample::select(&[
        Repetition::Draw,
        Repetition::SecondPlayerWins,
        Repetition::Unknown,
    ]);
    // Nearby moves make long games; without cut-off states both bounds are equal.
    let shape = (1..9usize, any::<bool>(), any::<bool>());
    (repetition, prop::collection::vec(parts, 1..40), shape)
        .prop_map(|(repetition, parts, shape)| assemble(repetition, parts, shape))
}

fn assemble(
    repetition: Repetition,
    parts: Vec<Parts>,
    (reach, near, whole): (usize, bool, bool),
) -> Toy {
    let count = parts.len();
    let sides: Vec<bool> = parts.iter().map(|part| part.3).collect();
    let states = parts.into_iter().enumerate().map(|(row, (kind, moves, end, second_to_move))| {
        let target = |index: Index| {
            if near {
                (row + 10 * count + 2 - index.index(reach + 2)) % count
            } else {
                index.index(count)
            }
        };
        let turns = |&target: &usize| {
            repetition != Repetition::SecondPlayerWins || sides[target] != second_to_move
        };
        let moves: Vec<u32> =
            moves.into_iter().map(target).filter(turns).map(|target| target as u32).collect();
        let finished = Kind::Terminal(Outcome::ALL[end.0], ending(end));
        let (kind, moves) = match kind {
            0 | 1 if !whole => (Kind::Frontier, vec![]),
            2 => (finished, vec![]),
            _ if moves.is_empty() => (finished, vec![]),
            _ => (Kind::Interior, moves),
        };
        ToyState { kind, moves, second_to_move }
    });
    Toy { states: states.collect(), repetition }
}

/// Returns the drawn number of plies, or the usual one for the outcome if it is 0.
fn ending((outcome, plies): (usize, u16)) -> u16 {
    if plies == 0 { u16::from(outcome == Outcome::Win.index()) } else { plies - 1 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn values_are_those_of_plain_references(toy in any_toy(0..1)) {
        solve(&toy);
        let (values, sweeps, _) = swept(&toy);
        let last = sweeps.last().expect("a sweep");
        prop_assert_eq!((last.changed, last.residual), (0, 0.0));
        let both = |(lower, upper): &(Value, Value)| {
            [lower, upper].into_iter().all(|bound| matches!(bound, Value::Win(_) | Value::Loss(_)))
        };
        let rows = toy.states.iter().zip(spelled_out(&values));
        let decided = rows.filter(|(row, value)| !row.moves.is_empty() && both(value)).count();
        prop_assert_eq!(last.decided, Some(decided as u64));
    }

    #[test]
    fn ends_of_any_distance_agree_with_plain_references(toy in any_toy(0..12)) {
        solve(&toy);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sweeps_go_on_from_what_was_saved(toy in any_toy(0..12), at in 1..9usize) {
        interrupted(&toy, at);
    }
}

/// Returns a graph large enough for many threads.
fn large(repetition: Repetition, whole: bool) -> Toy {
    let mut seed = 2002u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let count = 60_000;
    let states = (0..count).map(|row| {
        let second_to_move = row % 2 == 1;
        // An odd number of rows away, so that the side changes.
        let moves = (0..1 + draw(4)).map(|_| (row + count - 21 + 2 * draw(16)) % count);
        let moves: Vec<u32> = moves.map(|target| target as u32).collect();
        let (kind, moves) = match draw(40) {
            0 => (Kind::Terminal(Outcome::Win, 1), vec![]),
            1..4 => (Kind::Terminal(Outcome::Loss, 0), vec![]),
            4 => (Kind::Terminal(Outcome::Draw, 0), vec![]),
            5 | 6 if !whole => (Kind::Frontier, vec![]),
            _ => (Kind::Interior, moves),
        };
        ToyState { kind, moves, second_to_move }
    });
    Toy { states: states.collect(), repetition }
}

#[test]
fn one_thread_and_four_give_the_same() {
    for (repetition, whole) in [
        (Repetition::Draw, true),
        (Repetition::SecondPlayerWins, true),
        (Repetition::SecondPlayerWins, false),
        (Repetition::Unknown, false),
    ] {
        let toy = large(repetition, whole);
        let solved = [1, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| swept(&toy))
        });
        assert_eq!(solved[0], solved[1], "{repetition:?}");
        assert_eq!(spelled_out(&solved[0].0), by_sweeps(&toy));
    }
}
