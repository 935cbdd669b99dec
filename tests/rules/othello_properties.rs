//! Othello's bitboards against a square-by-square reference, on random positions of every shape.

use std::collections::HashSet;

use crate::common::plain::{Cell, Plain, Reference};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;
use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::{Action, Canonical, Empties, Game, Symmetry};

/// Returns random discs on a board of any shape, from nearly empty to full.
fn scattered() -> impl Strategy<Value = Plain> {
    (4usize..=8, 4usize..=8, 0u32..=100).prop_flat_map(|(rows, columns, fill)| {
        vec((0u32..100, any::<bool>()), rows * columns).prop_map(move |squares| {
            let cell = |(at, mine)| match (at < fill, mine) {
                (false, _) => Cell::Empty,
                (true, true) => Cell::Mine,
                (true, false) => Cell::Theirs,
            };
            Plain { rows, columns, cells: squares.into_iter().map(cell).collect() }
        })
    })
}

/// Returns a position of a random game from the start.
fn played() -> impl Strategy<Value = Plain> {
    (4usize..=8, 4usize..=8, vec(any::<Index>(), 0..70)).prop_map(|(rows, columns, choices)| {
        let mut position = Plain::start(rows, columns);
        for choice in choices {
            let mut successors = position.successors();
            if successors.is_empty() {
                break;
            }
            position = successors.swap_remove(choice.index(successors.len())).1;
        }
        position
    })
}

fn positions() -> impl Strategy<Value = Plain> {
    prop_oneof![scattered(), played()]
}

fn same_rules(game: &Othello, plain: &Plain) -> Result<(), TestCaseError> {
    let board = plain.to_board();
    let expected: Vec<_> = plain
        .successors()
        .into_iter()
        .map(|(action, after)| (Action(action), after.to_board()))
        .collect();
    let actions: Vec<_> = expected.iter().map(|&(action, _)| action).collect();
    prop_assert_eq!(game.actions(&board), actions);
    let mut successors = Vec::new();
    game.moves(&board, |action, after| successors.push((action, after)));
    prop_assert_eq!(&successors, &expected);
    for &(action, after) in &expected {
        prop_assert_eq!(game.play(&board, action), after);
        prop_assert_eq!(game.is_pass(action), action.0 == plain.pass());
    }
    prop_assert_eq!(game.must_pass(&board), plain.must_pass());
    prop_assert_eq!(game.is_terminal(&board), plain.is_over());

    let grid = |(row, column)| 1u64 << (8 * row + column);
    let placements = plain.placements().into_iter().map(grid).fold(0, |all, bit| all | bit);
    prop_assert_eq!(game.placements(&board), placements);
    Ok(())
}

fn same_counts(game: &Othello, plain: &Plain) -> Result<(), TestCaseError> {
    let board = plain.to_board();
    let difference = plain.final_score();
    prop_assert_eq!(game.material(&board), Some(difference));
    prop_assert_eq!(i32::from(game.score(&board, Empties::Uncounted).0), difference);
    let with_empties = difference + difference.signum() * plain.empties();
    prop_assert_eq!(i32::from(game.score(&board, Empties::ToWinner).0), with_empties);
    let discs = plain.cells.len() as i32 - plain.empties();
    prop_assert_eq!(game.layer(&board), discs as u32);

    let held = |wanted| {
        let squares = plain.cells.iter().enumerate().filter(|&(_, &cell)| cell == wanted);
        squares.fold(0u64, |bits, (i, _)| bits | 1 << i)
    };
    prop_assert_eq!(game.squares(&board), Some((held(Cell::Mine), held(Cell::Theirs))));
    Ok(())
}

/// Returns the image of a position under a symmetry: bit 2 transposes, then bit 0 reverses the columns and
/// bit 1 the rows.
fn image(plain: &Plain, symmetry: Symmetry) -> Plain {
    let mut rows: Vec<Vec<Cell>> = plain.cells.chunks(plain.columns).map(<[_]>::to_vec).collect();
    if symmetry & 4 != 0 {
        rows = (0..plain.columns).map(|c| rows.iter().map(|row| row[c]).collect()).collect();
    }
    if symmetry & 1 != 0 {
        rows.iter_mut().for_each(|row| row.reverse());
    }
    if symmetry & 2 != 0 {
        rows.reverse();
    }
    Plain { cells: rows.concat(), ..*plain }
}

fn symmetries_commute(game: &Othello, plain: &Plain) -> Result<(), TestCaseError> {
    let board = plain.to_board();
    let actions = game.actions(&board);
    let foldable = if plain.rows == plain.columns { 8 } else { 4 };
    prop_assert_eq!(game.group().order(), foldable);
    for symmetry in 0..game.group().order() as Symmetry {
        let mirrored = game.transform(&board, symmetry);
        prop_assert_eq!(mirrored, image(plain, symmetry).to_board(), "symmetry {}", symmetry);
        for &action in &actions {
            let there = game.transform_action(action, symmetry);
            prop_assert_eq!(
                game.transform(&game.play(&board, action), symmetry),
                game.play(&mirrored, there),
                "symmetry {} action {:?}",
                symmetry,
                action
            );
        }
        let mut there: Vec<_> =
            actions.iter().map(|&action| game.transform_action(action, symmetry)).collect();
        there.sort();
        prop_assert_eq!(game.actions(&mirrored), there, "symmetry {}", symmetry);
    }
    Ok(())
}

/// Computes a canonical key from one image after the other, as the trait's default does.
fn canonical_one_by_one<G: Game>(game: &G, state: &G::State) -> Canonical {
    let images = 0..game.group().order() as Symmetry;
    let keys: Vec<_> = images.map(|g| game.key(&game.transform(state, g))).collect();
    let key = *keys.iter().min().unwrap();
    let ties = keys.iter().enumerate().filter(|&(_, other)| *other == key);
    Canonical { key, ties: ties.fold(0, |set, (g, _)| set | 1 << g) }
}

fn same_canonical(game: &Othello, plain: &Plain) -> Result<(), TestCaseError> {
    // Also a board that the half turn leaves unchanged, so that there are ties.
    let symmetric = {
        let mut cells = plain.cells.clone();
        let last = cells.len() - 1;
        (0..=last / 2).for_each(|i| cells[last - i] = cells[i]);
        Plain { cells, ..*plain }
    };
    for board in [plain.to_board(), symmetric.to_board()] {
        let canonical = game.canonical(&board);
        prop_assert_eq!(canonical, canonical_one_by_one(game, &board));
        let form = game.transform(&board, canonical.symmetry());
        prop_assert_eq!(game.key(&form), canonical.key);
        prop_assert_eq!(game.canonical(&form).key, canonical.key);
    }
    if game.group().order() > 1 {
        // The half turn is symmetry 3 of both groups.
        let ties = game.canonical(&symmetric.to_board()).ties;
        prop_assert!(ties.count_ones() >= 2, "ties {:#b} of {:?}", ties, symmetric);
    }
    Ok(())
}

fn keys_round_trip(game: &Othello, plain: &Plain) -> Result<(), TestCaseError> {
    let board = plain.to_board();
    prop_assert_eq!(game.state(game.key(&board)), Some(board));
    let swapped = plain.swapped().to_board();
    prop_assert_eq!(game.swapped(&board), Some(swapped));
    prop_assert_eq!(game.swapped(&swapped), Some(board));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn moves_are_those_of_the_plain_rules(plain in positions(), fold: bool) {
        same_rules(&Othello::new(plain.rows, plain.columns, fold), &plain)?;
    }

    #[test]
    fn discs_are_counted_as_on_the_plain_board(plain in positions(), fold: bool) {
        same_counts(&Othello::new(plain.rows, plain.columns, fold), &plain)?;
    }

    #[test]
    fn symmetries_commute_with_moves(plain in positions()) {
        symmetries_commute(&Othello::new(plain.rows, plain.columns, true), &plain)?;
    }

    #[test]
    fn canonical_keys_are_the_smallest_of_all_images(plain in positions(), fold: bool) {
        same_canonical(&Othello::new(plain.rows, plain.columns, fold), &plain)?;
    }

    #[test]
    fn keys_unpack_to_what_was_packed(plain in positions(), fold: bool) {
        keys_round_trip(&Othello::new(plain.rows, plain.columns, fold), &plain)?;
    }
}

/// Calls `check` with every shape.
fn every_shape(mut check: impl FnMut(usize, usize)) {
    for rows in 4..=8 {
        for columns in 4..=8 {
            check(rows, columns);
        }
    }
}

#[test]
fn every_shape_starts_in_its_middle() {
    every_shape(|rows, columns| {
        let expected = Plain::start(rows, columns).to_board();
        assert_eq!(Othello::new(rows, columns, true).start().state, expected);
    });
}

#[test]
fn keys_of_no_board_are_refused() {
    let game = Othello::new(4, 5, true);
    let at = |mover: u64, opponent: u64| game.state(u128::from((mover | opponent) << 20 | mover));
    assert_eq!(at(1, 2), Some(Board { mover: 1, opponent: 2 }));
    assert_eq!(game.state(2 << 20 | 3), None, "a disc where no square is occupied");
    assert_eq!(at(1 << 20, 2), None, "a disc off the board");
    let game = Othello::new(6, 6, true);
    assert_eq!(game.state((1 | 1 << 35) << 64 | 1), Some(Board { mover: 1, opponent: 1 << 45 }));
    assert_eq!(game.state(1 << 64 | 2), None, "a disc where no square is occupied");
    assert_eq!(game.state(1 << 36 << 64), None, "a disc off the board");
}

/// Checks the reference solver itself on all of 4×4: 12351 states up to symmetry, White wins by 8.
#[test]
fn the_reference_solver_keeps_its_definition() {
    let mut reference = Reference::new();
    assert_eq!(reference.solve(&Plain::start(4, 4)).0, -8);
    let game = Othello::new(4, 4, true);
    let known = reference.known();
    let folded: HashSet<u128> =
        known.keys().map(|plain| game.canonical(&plain.to_board()).key).collect();
    assert_eq!(folded.len(), 12351);
    for (plain, &(score, distance)) in known {
        let moves: Vec<_> = plain.successors().iter().map(|(_, after)| known[after]).collect();
        if moves.is_empty() {
            assert_eq!((score, distance), (plain.final_score(), 0), "{plain:?}");
            continue;
        }
        assert_eq!(moves.iter().map(|(score, _)| -score).max(), Some(score), "{plain:?}");
        let kept = moves.iter().filter(|kept| -kept.0 == score).map(|kept| kept.1 + 1);
        let expected = if score < 0 { kept.max() } else { kept.min() };
        assert_eq!(expected, Some(distance), "{plain:?}");
    }
}

/// If a key had fewer bits than the game says, every key would have prefix 0.
#[test]
fn keys_use_all_their_bits() {
    every_shape(|rows, columns| {
        let game = Othello::new(rows, columns, true);
        let full = Plain { rows, columns, cells: vec![Cell::Mine; rows * columns] };
        let bits = game.key(&full.to_board()).ilog2() + 1;
        assert_eq!(bits, game.facts().key_bits, "{}", game.name());
        let words = if rows * columns <= 32 { 1 } else { 2 };
        assert_eq!(game.facts().key_words(), words, "{}", game.name());
    });
}
