//! A table is solved in another way while it is read: a reader finds one solution or the other, and
//! keeps the one that it has opened.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::Empties;
use yomikiri::solve::SolveOptions;
use yomikiri::table::Table;
use yomikiri_measure::export::checksum;

use crate::common::solved::{board_4x4, make, opened, solve};
use crate::common::tables::Tables;

/// Score and distance of the position with empty squares uncounted, and with them going to the winner.
const POSITION: &str = "-X---XX-OOO----- X;";
const EITHER: [(i8, u16); 2] = [(9, 9), (12, 11)];

/// Returns the number of solutions, 100 or `YOMIKIRI_RACES`, each with twenty queries beside it.
fn solutions() -> usize {
    std::env::var("YOMIKIRI_RACES").map_or(100, |n| n.parse().unwrap())
}

fn with(empties: Empties) -> SolveOptions {
    SolveOptions { empties: Some(empties), ..SolveOptions::default() }
}

#[test]
fn readers_find_one_solution_or_the_other() {
    let game = board_4x4(true);
    let tables = Tables::new();
    let mut table = make(&*game, &tables.store());
    solve(&*game, &mut table, &with(Empties::Uncounted), &Silent).unwrap();
    let position = game.parse_position(POSITION, &game.start()).unwrap();
    let (is_over, rounds, queries) = (AtomicBool::new(false), solutions(), AtomicUsize::new(0));
    let path = tables.place("othello-4x4");
    let dir = path.as_path();
    thread::scope(|scope| {
        for reader in 0..3 {
            let (game, position, is_over, queries) = (&game, &position, &is_over, &queries);
            scope.spawn(move || {
                let mut seen = [0; 2];
                while !is_over.load(Ordering::Relaxed)
                    || queries.load(Ordering::Relaxed) < 20 * rounds
                {
                    let table = Table::open(dir).unwrap();
                    // As a query does, and as a report does.
                    let solved = SolvedTable::open(game.clone(), table, reader == 0).unwrap();
                    let solved = solved.expect("it is solved at every moment");
                    let row = solved.states().find(position).unwrap();
                    let value = solved.value(row);
                    let found = (value.score().unwrap().0, value.distance().unwrap());
                    let which = EITHER.iter().position(|&one| one == found);
                    seen[which.unwrap_or_else(|| panic!("{found:?} is of neither"))] += 1;
                    queries.fetch_add(1, Ordering::Relaxed);
                }
                assert!(!seen.contains(&0), "both were seen: {seen:?}");
            });
        }
        for round in 0..rounds {
            let mut table = Table::open(dir).unwrap();
            let way = [Empties::ToWinner, Empties::Uncounted][round % 2];
            solve(&*game, &mut table, &with(way), &Silent).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let columns = std::fs::read_dir(dir).unwrap().flatten();
    let columns = columns.filter(|file| file.file_name().to_str().unwrap().contains('-'));
    assert_eq!(columns.count(), 2, "the columns of the last solution alone");
}

/// Commands beside a solver report no table as damaged or unsolved.
#[test]
fn commands_beside_a_solver_work() {
    let tables = Tables::after(&[&["enumerate", "--size", "4", "-q"], &["value-iterate", "-q"]]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let ways = ["to-winner", "uncounted"];
            for way in ways.iter().cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                tables.ok(&["value-iterate", "othello-4x4", "--empties", way, "-q"]);
            }
        });
        for round in 0..solutions().div_ceil(10) {
            let out = tables.place(&format!("out-{round}"));
            for args in [
                &["query", "othello-4x4", POSITION, "--json"][..],
                &["export", "othello-4x4", "--out", out.to_str().unwrap(), "-q"],
                &["report", "--table", "othello-4x4", "--policy", "greedy", "-q"],
                &["verify", "othello-4x4", "-q"],
                &["info", "othello-4x4"],
            ] {
                let ran = tables.run(args);
                is_over.fetch_or(ran.code != 0, Ordering::Relaxed);
                assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_is_open_stays_as_it_was() {
    let game = board_4x4(true);
    let tables = Tables::new();
    let mut table = make(&*game, &tables.store());
    solve(&*game, &mut table, &with(Empties::Uncounted), &Silent).unwrap();
    // One is opened without mapping anything, the other is mapped.
    let held = Table::open(table.dir()).unwrap();
    let before = opened(&Table::open(table.dir()).unwrap());
    let sum = checksum(&before, &Silent).unwrap();
    solve(&*game, &mut table, &with(Empties::ToWinner), &Silent).unwrap();
    assert_ne!(checksum(&opened(&table), &Silent).unwrap(), sum);
    assert_eq!(checksum(&before, &Silent).unwrap(), sum);
    let held = SolvedTable::open(game, held, true).unwrap().unwrap();
    assert_eq!(checksum(&held, &Silent).unwrap(), sum);
}

#[test]
fn a_draft_is_not_opened() {
    let tables = Tables::after(&[&["enumerate", "--size", "4", "-q"]]);
    std::fs::rename(tables.place("othello-4x4"), tables.place("othello-4x4.partial")).unwrap();
    let path = tables.place("othello-4x4.partial");
    for command in ["info", "verify", "value-iterate"] {
        let ran = tables.run(&[command, path.to_str().unwrap()]);
        assert!(ran.refused(command).contains("draft"), "{ran:?}");
    }
}
