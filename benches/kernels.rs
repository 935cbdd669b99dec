//! Kernels one by one: moves, canonical forms, enumeration, sweeps, and the ways to make the records of a
//! layer distinct. Every bench asserts its result.
//!
//! `cargo bench --bench kernels`; add `-- --sample-count 3` for a short run.

#![allow(unreachable_pub)]

mod common;

use std::hint::black_box;

use common::{COUNTS, solve, table_in};
use dashmap::DashSet;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashSet};
use yomikiri::games::othello::{Board, Othello};
use yomikiri::progress::Silent;
use yomikiri::registry::othello;
use yomikiri::rules::{Game, PlayedGame, Position, Side};
use yomikiri::solve::RowOrder;
use yomikiri::table::rows::Rows;
use yomikiri_measure::policy::{Batch, PolicySpec, of_rules};
use yomikiri_measure::records::Records;

fn main() {
    divan::main();
}

/// Games of 8×8 in 1 MB of transcripts; the items are bytes.
#[divan::bench]
fn games_of_a_file(bencher: Bencher) {
    let game = othello("8").expect("a board");
    let mut lines = String::new();
    let (mut games, mut positions) = (0, 0);
    while lines.len() < 1_000_000 {
        // The move in the middle of the legal ones, but for one ply that differs from game to game.
        let mut played = PlayedGame::new(game.start());
        while let actions = game.actions(&played.position().state)
            && !actions.is_empty()
        {
            let ply = played.moves().len();
            let choice = if ply == games % 60 { games / 60 } else { actions.len() / 2 };
            played.play(&*game, actions[choice % actions.len()]);
        }
        (games, positions) = (games + 1, positions + played.moves().len() + 1);
        lines += &(played.transcript(&*game).replace(' ', "") + "\n");
    }
    bencher.counter(BytesCount::new(lines.len())).bench(|| {
        let read = Records::read(lines.as_bytes(), &*game, &game.start(), None, &Silent);
        let read = read.expect("lines of moves");
        assert_eq!((read.games.len(), read.positions(false).count()), (games, positions));
    });
}

/// Boards, as indices of `COUNTS`.
const BOARDS: [usize; 2] = [0, 1];

/// Returns the rules and every canonical state of the board.
fn states(board: usize) -> (Othello, Vec<Board>) {
    let (rows, columns, count, ..) = COUNTS[board];
    let game = Othello::new(rows, columns, true);
    let dir = tempfile::tempdir().expect("a directory for tables");
    let table = table_in(dir.path(), (rows, columns));
    let graph = Rows::open(&*game.clone().into_rules(), &table).expect("the table opens");
    let board = |row: usize| game.state(graph.keys().get(row)?);
    let boards: Vec<Board> = (0..graph.states()).filter_map(board).collect();
    assert_eq!(boards.len() as u64, count);
    (game, boards)
}

/// Returns the canonical keys of all successors by placement.
fn successors(game: &Othello, boards: &[Board]) -> Vec<u64> {
    let mut keys = Vec::new();
    for board in boards {
        game.moves(board, |action, successor| {
            if !game.is_pass(action) {
                keys.push(game.canonical(&successor).key as u64);
            }
        });
    }
    keys
}

#[divan::bench(args = BOARDS)]
fn move_generation(bencher: Bencher, board: usize) {
    let (game, boards) = states(board);
    let moves = COUNTS[board].3;
    bencher.counter(ItemsCount::new(moves)).bench_local(|| {
        let placements = boards.iter().map(|b| u64::from(game.placements(b).count_ones()));
        assert_eq!(placements.sum::<u64>(), moves);
    });
}

#[divan::bench(args = BOARDS)]
fn successor_boards(bencher: Bencher, board: usize) {
    let (game, boards) = states(board);
    let moves = COUNTS[board].3;
    bencher.counter(ItemsCount::new(moves)).bench_local(|| {
        let mut count = 0;
        for board in &boards {
            game.moves(board, |action, successor| {
                black_box(successor);
                count += u64::from(!game.is_pass(action));
            });
        }
        assert_eq!(count, moves);
    });
}

#[divan::bench(args = BOARDS)]
fn canonical_form(bencher: Bencher, board: usize) {
    let (game, boards) = states(board);
    bencher.counter(ItemsCount::new(boards.len())).bench_local(|| {
        // Canonical states are their own canonical form.
        let own = boards.iter().filter(|b| game.canonical(b).ties & 1 == 1).count();
        assert_eq!(own, boards.len());
    });
}

#[divan::bench(args = BOARDS, sample_count = 10)]
fn enumerate_to_disk(bencher: Bencher, board: usize) {
    let (rows, columns, count, ..) = COUNTS[board];
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let dir = tempfile::tempdir().expect("a directory for tables");
        let table = table_in(dir.path(), (rows, columns));
        assert_eq!(table.manifest().counts.canonical(), count);
    });
}

#[divan::bench(args = BOARDS, sample_count = 10)]
fn sweep_topological(bencher: Bencher, board: usize) {
    sweep(bencher, board, RowOrder::Topological);
}

#[divan::bench(args = BOARDS, sample_count = 5)]
fn sweep_natural(bencher: Bencher, board: usize) {
    sweep(bencher, board, RowOrder::Natural);
}

fn sweep(bencher: Bencher, board: usize, order: RowOrder) {
    let (rows, columns, count, ..) = COUNTS[board];
    bencher
        .counter(ItemsCount::new(count))
        .with_inputs(|| {
            let dir = tempfile::tempdir().expect("a directory for tables");
            let table = table_in(dir.path(), (rows, columns));
            (dir, table)
        })
        .bench_local_values(|(_dir, mut table)| {
            let score = solve(&mut table, (rows, columns), order);
            assert_eq!(score, Some([-8, 16][board]));
        });
}

/// Policies, each with the number of actions it chooses in all boards of 4×4 and their mirror images.
const RULES: [(&str, usize); 6] = [
    ("n-hand:2", 102_432),
    ("n-least:2", 127_232),
    ("n-most:2", 137_944),
    ("minimax:2", 98_872),
    ("alphabeta:6", 114_928),
    ("montecarlo:10", 122_016),
];

#[divan::bench(args = 0..RULES.len(), sample_count = 5)]
fn policy(bencher: Bencher, rule: usize) {
    let (name, wanted) = RULES[rule];
    let (game, boards) = states(0);
    let (any, mut batch) = (game.clone().into_rules(), Batch::default());
    for board in &boards {
        for symmetry in 0..8 {
            let state = any.state(game.key(&game.transform(board, symmetry))).expect("a key");
            if !any.is_terminal(&state) {
                batch.push(Position { state, side: Side::First }, any.actions(&state));
            }
        }
    }
    let spec: PolicySpec = name.parse().expect("it is known");
    let policy = of_rules(&spec, &*any).expect("it needs no file").expect("it is a rule");
    bencher.counter(ItemsCount::new(batch.len())).bench_local(|| {
        let answers = policy.answer(&*any, &batch).expect("rules have answers");
        assert_eq!(answers.probabilities.iter().filter(|&&p| p > 0.0).count(), wanted, "{name}");
    });
}

/// Counts the distinct keys of all 4×5 successors by shards of a local hash set; the next benches, by a
/// parallel sort and by one concurrent set. The enumeration sorts shards, which also gives the order of ids.
#[divan::bench(sample_count = 5)]
fn distinct_by_sharded_sets(bencher: Bencher) {
    distinct(bencher, |keys| {
        let shards: Vec<FxHashSet<u64>> = (0..64)
            .into_par_iter()
            .map(|shard| {
                let own = |key: &&u64| (*key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58 == shard;
                keys.iter().filter(own).copied().collect()
            })
            .collect();
        shards.iter().map(FxHashSet::len).sum()
    });
}

#[divan::bench(sample_count = 5)]
fn distinct_by_parallel_sort(bencher: Bencher) {
    distinct(bencher, |keys| {
        let mut keys = keys.to_vec();
        keys.par_sort_unstable();
        keys.dedup();
        keys.len()
    });
}

#[divan::bench(sample_count = 5)]
fn distinct_by_concurrent_set(bencher: Bencher) {
    distinct(bencher, |keys| {
        let set = DashSet::with_hasher(FxBuildHasher);
        keys.par_iter().for_each(|&key| {
            set.insert(key);
        });
        set.len()
    });
}

fn distinct(bencher: Bencher, of: impl Fn(&[u64]) -> usize + Sync) {
    let (game, boards) = states(1);
    let keys = successors(&game, &boards);
    let mut expected = keys.clone();
    expected.sort_unstable();
    expected.dedup();
    let expected = expected.len();
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| assert_eq!(of(&keys), expected));
}
