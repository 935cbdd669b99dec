//! Tables without stored moves have the same states and values as those with moves, however little
//! memory they may use.

use std::fs;
use std::sync::Arc;

use yomikiri::enumerate::Plan;

use yomikiri::progress::Silent;
use yomikiri::rules::{Empties, Rules};
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::HEADER_BYTES;
use yomikiri::table::rows::Rows;
use yomikiri_measure::export::checksum;

use crate::common::solved::{board_4x4, both, enumerated, named, opened, solve, standard};
use crate::common::tables::{Tables, assert_same_files, forge};

/// Returns boards with and without symmetric images, and one whose orientations take a byte per state.
fn cases() -> Vec<(Arc<dyn Rules>, Plan)> {
    let square = board_4x4(true);
    let oblong = named("othello-4x5");
    let line = oblong.parse_line("b1 a1 a2", &oblong.start()).unwrap();
    let late = Plan {
        start: "custom".to_string(),
        roots: vec![*line.last().unwrap()],
        ..standard(&*oblong)
    };
    vec![(square.clone(), standard(&*square)), (square.clone(), both(&*square)), (oblong, late)]
}

fn derived(plan: &Plan) -> Plan {
    Plan { derived: true, ..plan.clone() }
}

#[test]
fn states_and_values_are_those_of_a_table_with_moves() {
    for (game, plan) in cases() {
        let (_a, mut stored) = enumerated(&*game, &plan);
        let (_b, mut bare) = enumerated(&*game, &derived(&plan));
        assert!(!bare.has_array("edge_targets") && !bare.has_array("kinds"));
        let options = [
            SolveOptions::default(),
            SolveOptions { empties: Some(Empties::ToWinner), ..SolveOptions::default() },
            SolveOptions { discount: Some(0.9), ..SolveOptions::default() },
        ];
        for options in options {
            let sweeps = solve(&*game, &mut stored, &options, &Silent).unwrap().sweeps;
            assert_eq!(solve(&*game, &mut bare, &options, &Silent).unwrap().sweeps, sweeps);
        }
        assert_eq!(stored.manifest().counts, bare.manifest().counts);
        assert_eq!(stored.manifest().layers, bare.manifest().layers);
        let names = ["keys", "orientations", "layer_offsets", "score", "distance", "value"];
        for name in names {
            let [a, b] = [&stored, &bare].map(|table| fs::read(table.path_of(name)).unwrap());
            assert!(a == b, "{}: {name}", bare.name());
        }
        bare.check().unwrap();
        assert_eq!(solve::prove(&*game, &bare, &Silent).unwrap().counterexample, None);
        let sums = [stored, bare].map(|table| checksum(&opened(&table), &Silent).unwrap());
        assert_eq!(sums[0], sums[1]);
    }
}

#[test]
fn moves_are_those_of_a_table_with_moves() {
    for (game, plan) in cases() {
        let (_a, stored) = enumerated(&*game, &plan);
        let (_b, bare) = enumerated(&*game, &derived(&plan));
        let [stored, bare] =
            [&stored, &bare].map(|table| Rows::open_checked(&*game, table).unwrap());
        assert_eq!(stored.states(), bare.states());
        assert_eq!(stored.open_positions(1), bare.open_positions(1));
        assert_eq!(stored.open_positions(usize::MAX), bare.open_positions(usize::MAX));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let visited = stored.visit(&*game, &mut (0..stored.states()), &mut |row, position| {
            let is_over = || game.is_terminal(&position.state);
            assert_eq!(stored.kind(row, &is_over), bare.kind(row, &is_over));
            assert_eq!(bare.find(&*game, &position), Some(row));
            stored.moves(&*game, row, &position.state, &mut a)?;
            bare.moves(&*game, row, &position.state, &mut b)?;
            assert_eq!(a, b, "row {row}");
            Ok(())
        });
        visited.unwrap();
    }
}

#[test]
fn memory_changes_no_byte() {
    for (game, plan) in cases() {
        for plan in [plan.clone(), derived(&plan)] {
            let (a, mut one) = enumerated(&*game, &plan);
            let (b, mut other) = enumerated(&*game, &Plan { max_memory: Some(0), ..plan.clone() });
            let little = SolveOptions { max_memory: Some(0), ..SolveOptions::default() };
            solve(&*game, &mut one, &SolveOptions::default(), &Silent).unwrap();
            solve(&*game, &mut other, &little, &Silent).unwrap();
            assert_same_files(a.path(), b.path(), &one.name());
        }
    }
}

/// Keys that are invalid or incomplete are found by their checksums, or, if these match, by where moves lead.
#[test]
fn wrong_keys_are_refused() {
    let game = board_4x4(true);
    let (_dir, table) = enumerated(&*game, &derived(&standard(&*game)));
    let last = table.manifest().counts.table.states as usize - 1;
    // Another state of the same block; an additional disc; a swapped order; an invalid key.
    let damages: [(usize, &dyn Fn(u64) -> u64); 4] = [
        (last / 2, &|key| key ^ 1 << (key >> 16).trailing_zeros()),
        (last / 2, &|key| key | 0xffff << 16),
        (last, &|key| key - 1),
        (last, &|_| u64::MAX),
    ];
    for (row, damage) in damages {
        for fits in [false, true] {
            let tables = Tables::new();
            let place = tables.place(&table.name());
            crate::common::tables::copy_dir(table.dir(), &place);
            let change = |bytes: &mut [u8]| {
                let key = bytes[8 * row..].first_chunk_mut().unwrap();
                *key = damage(u64::from_le_bytes(*key)).to_le_bytes();
            };
            match fits {
                true => forge(&place, "keys", change),
                false => {
                    let path = place.join("keys.npy");
                    let mut bytes = fs::read(&path).unwrap();
                    change(&mut bytes[HEADER_BYTES..]);
                    fs::write(&path, bytes).unwrap();
                }
            }
            let ran = tables.run(&["value-iterate", &table.name()]);
            assert!(ran.code != 0 && ran.stderr.contains("keys"), "row {row}, {fits}: {ran:?}");
            assert!(!place.join("score.npy").exists());
        }
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let tables = Tables::new();
    for args in [
        &["--size", "4", "--max-depth", "5"][..],
        &["--size", "4", "--symmetry", "none"],
        &["--size", "6", "--max-states", "1000"],
        &["--game", "animal-shogi-3x3"],
    ] {
        let ran = tables.run(&[&["enumerate", "--transitions", "derived"], args].concat());
        assert!(ran.refused(&args.join(" ")).contains("--transitions"), "{ran:?}");
    }
    tables.ok(&["enumerate", "--size", "4", "--transitions", "derived", "-q"]);
    for way in [["--order", "natural"], ["--method", "policy-iteration"]] {
        let ran = tables.run(&[&["value-iterate"], &way[..], &["othello-4x4-derived"]].concat());
        let line = ran.refused(way[1]);
        assert!(line.contains(&way.join(" ")) && line.contains("--transitions stored"), "{line}");
    }
    for memory in ["1M", "much", "-4G"] {
        let ran = tables.run(&["enumerate", "--size", "4", &format!("--memory={memory}")]);
        assert!(ran.code == 2 && ran.stderr.contains("--memory"), "{ran:?}");
    }
    tables.ok(&["enumerate", "--size", "4", "--memory", "0.3GB", "-q"]);
}
