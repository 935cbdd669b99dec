//! Floor ratio: time of the whole pipeline (enumerate to disk, solve, write the columns) over that of
//! generating and canonicalising every successor once, on the same threads in the same run.
//!
//! `cargo bench --bench floor` runs 4×4 and 4×5; `YOMIKIRI_BENCH_BOARDS="4x6 5x5"` selects others (5×5 needs
//! 12 GB of disk and 8 of memory). `YOMIKIRI_BENCH_RUNS` sets the number of runs; the best counts.

#![allow(unreachable_pub)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod common;

use std::time::Duration;

use common::{COUNTS, PlainKernel, solve, table_in, timed};
use rayon::prelude::*;
use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::Game;
use yomikiri::solve::RowOrder;
use yomikiri::table::rows::Rows;

fn main() {
    let runs = std::env::var("YOMIKIRI_BENCH_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(7);
    let boards = std::env::var("YOMIKIRI_BENCH_BOARDS").unwrap_or("4x4 4x5".to_string());
    for board in boards.split_whitespace() {
        let known = COUNTS.iter().find(|known| format!("{}x{}", known.0, known.1) == board);
        measure(*known.unwrap_or_else(|| panic!("{board} is none of {COUNTS:?}")), runs);
    }
}

/// Returns the number of successors of all boards, and the exclusive or of their canonical keys.
fn generate(game: &Othello, boards: &[Board]) -> (u64, u64) {
    let (mut count, mut digest) = (0, 0);
    for board in boards {
        game.moves(board, |action, successor| {
            if !game.is_pass(action) {
                count += 1;
                digest ^= game.canonical(&successor).key as u64;
            }
        });
    }
    (count, digest)
}

fn measure((rows, columns, states, moves, best): (usize, usize, u64, u64, i8), runs: usize) {
    let game = Othello::new(rows, columns, true);
    let plain = PlainKernel::new(&game);
    let scratch = tempfile::tempdir().expect("a directory for tables");
    let table = table_in(&scratch.path().join("first"), (rows, columns));
    let graph = Rows::open(&*game.clone().into_rules(), &table).expect("the table opens");
    let board = |row: usize| game.state(graph.keys().get(row)?);
    let boards: Vec<Board> = (0..graph.states()).filter_map(board).collect();
    drop(graph);
    std::fs::remove_dir_all(table.dir()).expect("our own directory");
    assert_eq!(boards.len() as u64, states);

    let [mut own, mut other, mut floor, mut enumerated, mut solved] = [Duration::MAX; 5];
    for run in 0..runs {
        let (time, made) = timed(|| generate(&game, &boards));
        assert_eq!(made.0, moves);
        own = own.min(time);
        let (time, compared) = timed(|| {
            boards.iter().fold((0, 0), |(count, digest), b| {
                let (n, d) = plain.expand(b.mover, b.opponent);
                (count + n, digest ^ d)
            })
        });
        assert_eq!(compared, made, "both kernels make the same successors");
        other = other.min(time);
        let (time, shared) = timed(|| {
            boards
                .par_chunks(4096)
                .map(|chunk| generate(&game, chunk))
                .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 ^ b.1))
        });
        assert_eq!(shared, made);
        floor = floor.min(time);
        let dir = scratch.path().join(run.to_string());
        let (time, mut table) = timed(|| table_in(&dir, (rows, columns)));
        assert_eq!(table.manifest().counts.canonical(), states);
        enumerated = enumerated.min(time);
        let (time, score) = timed(|| solve(&mut table, (rows, columns), RowOrder::Topological));
        assert_eq!(score, Some(best));
        solved = solved.min(time);
        std::fs::remove_dir_all(&dir).expect("our own directory");
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / moves as f64;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let threads = rayon::current_num_threads();
    println!(
        "{rows}x{columns}: {states} states, {moves} placements, {threads} threads, best of {runs}"
    );
    println!("  kernel, one thread     {:8.1} ns a successor", each(own));
    println!(
        "  plain kernel           {:8.1} ns a successor; ours takes {:.2} of it",
        each(other),
        own.as_secs_f64() / other.as_secs_f64()
    );
    println!("  floor, all threads     {:8.2} ms", ms(floor));
    println!("  enumerate              {:8.2} ms", ms(enumerated));
    println!("  value-iterate          {:8.2} ms", ms(solved));
    println!(
        "  floor ratio            {:8.2}",
        (enumerated + solved).as_secs_f64() / floor.as_secs_f64()
    );
}
