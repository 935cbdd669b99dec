//! Code shared by the benches: a plain kernel for comparison, and tables to work on.
#![allow(dead_code)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use yomikiri::enumerate::{self, Plan};
use yomikiri::games::othello::Othello;
use yomikiri::progress::Silent;
use yomikiri::registry;
use yomikiri::rules::{Game, Rules};
use yomikiri::solve::{self, RowOrder, SolveOptions};
use yomikiri::table::{Store, Table};

/// Canonical states, placements from the standard start (`tests/data/othello.json`) and score of best play,
/// by board.
pub const COUNTS: [(usize, usize, u64, u64, i8); 4] = [
    (4, 4, 12_351, 17_345, -8),
    (4, 5, 2_426_921, 4_834_758, 16),
    (4, 6, 121_195_225, 311_555_377, 16),
    (5, 5, 361_701_112, 1_041_800_172, 13),
];

/// Returns a board's rules as commands use them: compiled in the library, and so as fast as there.
fn rules(board: (usize, usize)) -> Arc<dyn Rules> {
    registry::othello(&format!("{}x{}", board.0, board.1)).expect("the board is none too large")
}

/// Enumerates a board into `dir`.
pub fn table_in(dir: &Path, board: (usize, usize)) -> Table {
    let game = rules(board);
    let plan = Plan::from_start(&*game);
    enumerate::build(&*game, &plan, &Store::at(dir), &Silent).expect("the board fits").table
}

/// Solves a table; returns the root's score.
pub fn solve(table: &mut Table, board: (usize, usize), order: RowOrder) -> Option<i8> {
    let options = SolveOptions { order: Some(order), ..SolveOptions::default() };
    let solved = solve::solve(&*rules(board), table, &options, &Silent, &mut |_, _| {});
    solved.expect("it can be solved");
    table.manifest().solution.as_ref().and_then(|s| s.roots[0].score)
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed(), result)
}

/// Plain kernel for comparison: one direction after another, disc by disc, boards' images assembled from
/// bytes.
pub struct PlainKernel {
    squares: usize,
    board: u64,
    /// Images of the squares of a byte of the grid, packed: `images[symmetry][byte][value]`.
    images: Vec<[[u32; 256]; 8]>,
}

impl PlainKernel {
    pub fn new(game: &Othello) -> PlainKernel {
        let (rows, columns) = game.shape();
        let order = game.group().order();
        let mut images = vec![[[0; 256]; 8]; order];
        let mut board = 0;
        for row in 0..rows {
            for column in 0..columns {
                let action = yomikiri::rules::Action((row * columns + column) as u16);
                board |= 1 << (8 * row + column);
                for (symmetry, bytes) in images.iter_mut().enumerate() {
                    let image = game.transform_action(action, symmetry as u8).0;
                    for (value, entry) in bytes[row].iter_mut().enumerate() {
                        *entry |= ((value >> column & 1) as u32) << image;
                    }
                }
            }
        }
        PlainKernel { squares: rows * columns, board, images }
    }

    /// Returns the number of placements, and the exclusive or of the successors' canonical keys.
    pub fn expand(&self, mover: u64, opponent: u64) -> (u64, u64) {
        let (mut count, mut digest) = (0, 0);
        let mut empty = self.board & !(mover | opponent);
        while empty != 0 {
            let bit = empty & empty.wrapping_neg();
            empty ^= bit;
            let turned = self.turned(mover, opponent, bit);
            if turned != 0 {
                count += 1;
                digest ^= self.canonical(opponent ^ turned, mover | turned | bit);
            }
        }
        (count, digest)
    }

    fn turned(&self, mover: u64, opponent: u64, bit: u64) -> u64 {
        const LEFT: u64 = 0xfefe_fefe_fefe_fefe;
        const RIGHT: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let steps: [(i32, u64); 8] = [
            (1, LEFT),
            (-1, RIGHT),
            (8, u64::MAX),
            (-8, u64::MAX),
            (9, LEFT),
            (7, RIGHT),
            (-7, LEFT),
            (-9, RIGHT),
        ];
        let mut all = 0;
        for (shift, mask) in steps {
            let step = |x: u64| mask & if shift > 0 { x << shift } else { x >> -shift };
            let (mut run, mut at) = (0, step(bit));
            while at & opponent != 0 {
                run |= at;
                at = step(at);
            }
            if at & mover != 0 {
                all |= run;
            }
        }
        all
    }

    fn canonical(&self, mover: u64, opponent: u64) -> u64 {
        let image = |bytes: &[[u32; 256]; 8], x: u64| {
            (0..8).fold(0, |image, b| image | bytes[b][(x >> (8 * b) & 0xff) as usize])
        };
        self.images
            .iter()
            .map(|bytes| {
                u64::from(image(bytes, mover | opponent)) << self.squares
                    | u64::from(image(bytes, mover))
            })
            .min()
            .unwrap_or(0)
    }
}
