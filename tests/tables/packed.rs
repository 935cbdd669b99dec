//! Packed tables answer as the original ones do.

use std::fs;
use std::sync::Arc;

use yomikiri::enumerate::{Index, Plan};
use yomikiri::error::Kind;
use yomikiri::oracle::Oracle;
use yomikiri::progress::Silent;
use yomikiri::rules::{Repetition, Rules};
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::rows::pack;
use yomikiri::table::{HEADER_BYTES, Table};

use crate::common::Random;
use crate::common::solved::{
    board_4x4, both, enumerated, named, opened, solve, solved, standard, unfolded,
};
use crate::common::tables::forge;

/// A game and its plan.
type Case = (Arc<dyn Rules>, Plan);

/// Returns the rest of a game after some random plies.
fn late(name: &str, plies: usize) -> Case {
    let (game, mut random) = (named(name), Random(7));
    let mut position = game.start();
    for _ in 0..plies {
        let actions = game.actions(&position.state);
        position = game.advance(&position, actions[random.below(actions.len())]);
    }
    let plan = Plan { start: "custom".to_string(), roots: vec![position], ..standard(&*game) };
    (game, plan)
}

/// Returns a table of every kind that can be packed.
fn cases() -> Vec<Case> {
    let whole = |game: Arc<dyn Rules>| (game.clone(), standard(&*game));
    let animal = named("animal-shogi-3x3");
    vec![
        whole(board_4x4(true)),
        whole(unfolded("othello-4x4")),
        (board_4x4(true), both(&*board_4x4(true))),
        late("othello-5x4", 8),
        // Keys of two words.
        late("othello-6x6", 24),
        whole(animal.clone()),
        (animal.clone(), Plan { index: Index::Keys, ..standard(&*animal) }),
    ]
}

fn packed(game: &dyn Rules, table: &Table, distances: bool) -> Table {
    let place = table.dir().with_added_extension(format!("packed-{distances}"));
    Table::open(&pack(game, table, &place, distances, &Silent).unwrap()).unwrap()
}

#[test]
fn packed_tables_answer_as_the_full_ones_do() {
    for (game, plan) in cases() {
        let (_dir, table) = solved(&*game, &plan);
        let full = opened(&table);
        for distances in [true, false] {
            if !distances && !game.is_layered() {
                // Distances are kept anyway.
                continue;
            }
            let packed = opened(&packed(&*game, &table, distances));
            let (a, b) = (full.states(), packed.states());
            assert_eq!((a.rows(), a.pieces().len()), (b.rows(), b.pieces().len()));
            // Rows are looked up in the keys of every ply, which is slow, so only some are tried.
            let by_ply = !game.is_layered() && plan.index == Index::Keys;
            let every = if by_ply { 101 } else { 1 };
            let (mut of_full, mut of_packed, mut seen) = (Vec::new(), Vec::new(), 0);
            a.visit(0..a.rows(), |row, position| {
                seen += 1;
                if row % every != 0 {
                    return Ok(());
                }
                assert_eq!(b.find(&position), Some(row));
                a.moves(row, &position.state, &mut of_full)?;
                b.moves(row, &position.state, &mut of_packed)?;
                assert_eq!(of_full, of_packed, "row {row}");
                assert_eq!(a.kind(row, &position.state), b.kind(row, &position.state));
                assert_eq!(
                    (a.orientations(row), a.layer_of(row)),
                    (b.orientations(row), b.layer_of(row))
                );
                let (value, found) = (full.value(row), packed.value(row));
                assert_eq!((value.outcome(), value.score()), (found.outcome(), found.score()));
                match distances {
                    true => assert_eq!(value, found),
                    false => assert_eq!(found.distance(), None),
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, b.rows());
            for (piece, other) in a.pieces().iter().zip(b.pieces()) {
                assert_eq!(piece, other);
            }
            if !by_ply {
                let found = solve::prove(&*game, packed.table(), &Silent).unwrap();
                assert_eq!((found.counterexample, found.solved), (None, true));
            }
        }
    }
}

#[test]
fn what_cannot_be_packed_is_refused() {
    let game = board_4x4(true);
    let place = |table: &Table| table.dir().with_added_extension("packed");
    let refused = |game: &dyn Rules, table: &Table, what: &str| {
        let error = pack(game, table, &place(table), true, &Silent).unwrap_err();
        assert!(error.kind() == Kind::Input && error.line().contains(what), "{error}");
        assert!(!place(table).exists());
    };
    let (_dir, mut table) = enumerated(&*game, &standard(&*game));
    refused(&*game, &table, "not solved");
    solve(&*game, &mut table, &SolveOptions::default(), &Silent).unwrap();
    let packed = packed(&*game, &table, false);
    refused(&*game, &packed, "packed already");
    let mut again = Table::open(packed.dir()).unwrap();
    let error = solve(&*game, &mut again, &SolveOptions::default(), &Silent).unwrap_err();
    assert!(error.kind() == Kind::Input && error.line().contains("solver enumerate"), "{error}");
    let cut = Plan { max_depth: Some(5), ..standard(&*game) };
    let (_dir, table) = solved(&*game, &cut);
    refused(&*game, &table, "it is bounded");
    let animal = named("animal-shogi-3x3");
    let (_dir, mut table) =
        enumerated(&*animal, &Plan { index: Index::Keys, ..standard(&*animal) });
    let options = SolveOptions { repetition: Some(Repetition::Unknown), ..Default::default() };
    solve(&*animal, &mut table, &options, &Silent).unwrap();
    refused(&*animal, &table, "unproven");
}

/// Arrays with compressed blocks.
const BLOCKS: [&str; 4] = ["packed_keys", "packed_orientations", "packed_score", "packed_distance"];

#[test]
fn a_block_that_was_written_wrong_is_found_and_not_computed_with() {
    let game = board_4x4(true);
    let (_dir, table) = solved(&*game, &standard(&*game));
    let packed = packed(&*game, &table, true);
    let damaged = |array: &str, change: &dyn Fn(&mut [u8])| {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("othello-4x4.packed");
        crate::common::tables::copy_dir(packed.dir(), &copy);
        forge(&copy, array, change);
        let copy = Table::open(&copy).unwrap();
        copy.check().unwrap();
        match solve::prove(&*game, &copy, &Silent) {
            Ok(found) => assert!(found.counterexample.is_some(), "{array}"),
            Err(error) => assert!(error.kind() == Kind::Damaged, "{array}: {error}"),
        }
    };
    for array in BLOCKS {
        let length = fs::read(packed.path_of(array)).unwrap().len() - HEADER_BYTES;
        // In a block, and in the offsets of blocks.
        for at in [0, 4, 60, length / 2, length - 33, length - 16, length - 8, length - 1] {
            damaged(array, &|bytes| bytes[at] ^= 0x41);
        }
        damaged(array, &|bytes| bytes[length - 32..].fill(0xff));
    }
    for array in ["packed_firsts", "layer_offsets"] {
        damaged(array, &|bytes| bytes[8] ^= 1);
        damaged(array, &|bytes| bytes.fill(0xff));
    }
}

/// Readers that return no `Result` do not unwind: they return placeholders, and the table reports damage.
#[test]
fn readers_of_damaged_blocks_return_and_no_answer_comes_out() {
    let game = board_4x4(true);
    let (_dir, table) = solved(&*game, &standard(&*game));
    let (packed, full) = (packed(&*game, &table, true), opened(&table));
    let start = game.start();
    for array in BLOCKS {
        forge(packed.dir(), array, |bytes| bytes[60] ^= 0x41);
        let damaged = opened(&packed);
        damaged.table().check_read().unwrap();
        let states = damaged.states();
        for row in 0..states.rows() {
            let value = damaged.value(row);
            let is_right = value == full.value(row);
            assert!(is_right || value.outcome().is_none() && value.distance().is_none());
            let _ = (states.orientations(row), states.layer_of(row));
        }
        // A lookup needs only keys; if they are damaged, it finds no position.
        full.states()
            .visit(0..states.rows(), |row, position| {
                assert!(states.find(&position).is_none_or(|found| found == row), "{array}");
                Ok(())
            })
            .unwrap();
        let error = damaged.table().check_read().unwrap_err();
        assert!(
            error.kind() == Kind::Damaged && error.to_string().contains(array),
            "{array}: {error}"
        );
        for error in [
            damaged.answer(start).map(drop).unwrap_err().to_string(),
            damaged.brief(start).map(drop).unwrap_err().to_string(),
        ] {
            assert!(error.contains(array), "{error}");
        }
        // No damage is reported for other tables, nor for this one once it is restored.
        full.table().check_read().unwrap();
        forge(packed.dir(), array, |bytes| bytes[60] ^= 0x41);
        opened(&packed).answer(start).unwrap();
    }
}
