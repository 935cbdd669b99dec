//! Tests against a naive mover and plain minimax.

use super::kernel::{HalfRowParts, Kernel, LANES, Lanes, Scalar};
use super::patterns::Patterns;
use super::*;

const SHAPES: [(usize, usize); 6] = [(4, 4), (8, 8), (6, 6), (5, 7), (8, 4), (4, 8)];

/// Naive rules: one step at a time on rows and columns.
struct Naive {
    rows: i32,
    columns: i32,
}

impl Naive {
    fn turned(&self, board: Board, square: i32) -> u64 {
        let mut all = 0;
        for (dr, dc) in (-1..2).flat_map(|dr| (-1..2).map(move |dc| (dr, dc))) {
            let (mut r, mut c, mut run) = (square / 8 + dr, square % 8 + dc, 0);
            while (0..self.rows).contains(&r) && (0..self.columns).contains(&c) {
                let bit = 1u64 << (8 * r + c);
                if board.mover & bit != 0 {
                    all |= run;
                }
                if board.opponent & bit == 0 || (dr, dc) == (0, 0) {
                    break;
                }
                run |= bit;
                (r, c) = (r + dr, c + dc);
            }
        }
        all
    }

    fn children(&self, board: Board) -> Vec<(u32, Board)> {
        let squares = (0..self.rows).flat_map(|r| (0..self.columns).map(move |c| 8 * r + c));
        let free = squares.filter(|&s| (board.mover | board.opponent) >> s & 1 == 0);
        let moves = free.map(|s| (s, self.turned(board, s))).filter(|&(_, turned)| turned != 0);
        moves
            .map(|(s, turned)| {
                let mover = board.opponent ^ turned;
                (s as u32, Board { mover, opponent: board.mover | turned | 1 << s })
            })
            .collect()
    }

    fn is_over(&self, board: Board) -> bool {
        self.children(board).is_empty() && self.children(board.swapped()).is_empty()
    }

    fn score(&self, shape: &BoardShape, board: Board, alpha: i32, beta: i32) -> i32 {
        let children = self.children(board);
        if children.is_empty() {
            if self.is_over(board) {
                return shape.final_score(board);
            }
            return -self.score(shape, board.swapped(), -beta, -alpha);
        }
        let mut best = -100;
        for (_, child) in children {
            best = best.max(-self.score(shape, child, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
        best
    }
}

fn naive((rows, columns): (usize, usize)) -> Naive {
    Naive { rows: rows as i32, columns: columns as i32 }
}

fn engine((rows, columns): (usize, usize), empties: Empties, scalar: bool) -> Engine {
    let mut engine = Engine::new(&EngineOptions {
        rows,
        columns,
        empties,
        memory: 1 << 20,
        threads: 1,
        evaluation: None,
    });
    engine.scalar = scalar;
    engine
}

fn with_threads((rows, columns): (usize, usize), empties: Empties) -> Engine {
    let threads = 3;
    Engine::new(&EngineOptions {
        rows,
        columns,
        empties,
        memory: 1 << 20,
        threads,
        evaluation: None,
    })
}

/// Returns positions of random games and, in every third, discs strewn at random.
fn positions((rows, columns): (usize, usize), empties: u32, count: usize) -> Vec<Board> {
    let mut seed = u64::from(empties) << 8 | (rows * columns) as u64;
    let one = |i: usize| {
        let played = random_board(rows, columns, empties, &mut seed);
        let noise = seed.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ seed >> 7;
        if i % 3 != 2 {
            return played;
        }
        let occupied = played.mover | played.opponent;
        Board { mover: occupied & noise, opponent: occupied & !noise }
    };
    (0..count).map(one).collect()
}

/// Checks moves, flips and last flips of a kernel along random games.
fn check_kernel<K: Kernel>(kernel: K) {
    for size in SHAPES {
        let (rules, shape) = (naive(size), BoardShape::new(size.0, size.1, Empties::Uncounted));
        let squares = (size.0 * size.1) as u32;
        for empties in 1..squares - 4 {
            for board in positions(size, empties, 30) {
                let children = rules.children(board);
                let moves = children.iter().fold(0, |set, &(square, _)| set | 1u64 << square);
                assert_eq!(kernel.moves(board) & shape.board, moves, "{size:?} {board:?}");
                let mut rest = shape.empty(board);
                while rest != 0 {
                    let square = rest.trailing_zeros();
                    rest &= rest - 1;
                    let turned = rules.turned(board, square as i32);
                    assert_eq!(kernel.flips(square, board), turned, "{board:?} {square}");
                    if empties == 1 {
                        let last = kernel.last_flips(square, board.mover, board.opponent);
                        assert_eq!(last, turned.count_ones() as i32, "{board:?} {square}");
                    }
                }
            }
        }
    }
}

#[test]
fn kernels_agree_with_the_naive_rules() {
    check_kernel(Scalar);
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = kernel::Vector::detect() {
        check_kernel(kernel);
    }
}

/// Checks sums of pattern weights against the indices used in training, with weights of any size.
fn check_sums<K: Kernel>(kernel: K) {
    for size in SHAPES {
        let shape = BoardShape::new(size.0, size.1, Empties::Uncounted);
        let patterns = Patterns::new(&shape);
        let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 40;
        let weights: Vec<i16> = (0..patterns.weights()).map(|i| mixed(i) as i16).collect();
        for empties in 0..=(size.0 * size.1) as u32 - 4 {
            for board in positions(size, empties, 10) {
                let indices = patterns.indices(&shape, board);
                let sum: i32 = indices.iter().map(|&i| i32::from(weights[i as usize])).sum();
                assert_eq!(patterns.sum(kernel, &shape, board, &weights), sum, "{board:?}");
            }
        }
    }
}

#[test]
fn kernels_agree_on_sums_of_weights() {
    check_sums(Scalar);
    #[cfg(target_arch = "x86_64")]
    if let Some(kernel) = kernel::Vector::detect() {
        check_sums(kernel);
    }
}

#[test]
fn perft_of_the_start_position() {
    fn perft(shape: &BoardShape, board: Board, depth: u32, passed: bool) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut moves = Scalar.moves(board) & shape.board;
        if moves == 0 {
            return if passed { 1 } else { perft(shape, board.swapped(), depth - 1, true) };
        }
        let mut sum = 0;
        while moves != 0 {
            sum += perft(shape, play(board, moves.trailing_zeros()), depth - 1, false);
            moves &= moves - 1;
        }
        sum
    }
    let start = Board { mover: 1 << 28 | 1 << 35, opponent: 1 << 27 | 1 << 36 };
    let shape = BoardShape::new(8, 8, Empties::Uncounted);
    assert_eq!(perft(&shape, start, 8, false), 390_216);
}

#[test]
fn scores_equal_minimax() {
    for size in SHAPES {
        let rules = naive(size);
        for convention in [Empties::Uncounted, Empties::ToWinner] {
            let mut engine = engine(size, convention, false);
            let whole = (-engine.shape.squares, engine.shape.squares);
            for empties in 0..=9 {
                for board in positions(size, empties, if empties < 8 { 12 } else { 4 }) {
                    let score = rules.score(&engine.shape, board, -100, 100);
                    let found = engine.solve(&board, whole, &Limits::default());
                    assert_eq!((found.lower, found.upper), (score, score), "{size:?} {board:?}");
                    check_best(&rules, &engine.shape, board, &found);
                }
            }
        }
    }
}

fn check_best(rules: &Naive, shape: &BoardShape, board: Board, found: &EngineResult) {
    let children = rules.children(board);
    let best = found.best.and_then(|best| children.iter().find(|child| child.0 == best));
    assert_eq!(best.is_none(), children.is_empty(), "{board:?}");
    if let Some(&(_, child)) = best {
        assert_eq!(-rules.score(shape, child, -100, 100), found.lower, "{board:?}");
    }
}

#[test]
fn best_moves_lead_to_the_score() {
    for size in SHAPES {
        let mut engine = engine(size, Empties::Uncounted, false);
        for board in positions(size, 10, 6) {
            let mut solve = |board| engine.solve(&board, (-64, 64), &Limits::default());
            let (score, mut end, mut sign) = (solve(board).lower, board, 1);
            while !naive(size).is_over(end) {
                end = solve(end).best.map_or(end.swapped(), |square| play(end, square));
                sign = -sign;
            }
            assert_eq!(sign * engine.shape.final_score(end), score, "{board:?}");
        }
    }
}

#[test]
fn kernels_visit_the_same_nodes() {
    for size in [(8, 8), (6, 6), (5, 7)] {
        let mut engines = [true, false].map(|scalar| engine(size, Empties::ToWinner, scalar));
        for board in positions(size, 13, 6) {
            let found = engines.each_mut().map(|e| e.solve(&board, (-64, 64), &Limits::default()));
            assert_eq!(found[0], found[1], "{board:?}");
        }
    }
}

#[test]
fn limits_leave_proven_bounds() {
    let mut whole = engine((8, 8), Empties::Uncounted, false);
    for board in positions((8, 8), 14, 4) {
        let score = whole.solve(&board, (-64, 64), &Limits::default()).lower;
        for nodes in [1, 100, 1_000, 10_000] {
            let mut fresh = engine((8, 8), Empties::Uncounted, false);
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let found = fresh.solve(&board, (-64, 64), &limits);
            assert!((found.lower..=found.upper).contains(&score), "{board:?} {found:?}");
        }
        let found = whole.solve(&board, (0, 1), &Limits::default());
        assert!(if score > 0 { found.lower > 0 } else { found.upper <= 0 }, "{board:?}");
    }
}

#[test]
fn stable_discs_are_never_turned() {
    for size in SHAPES {
        let (rules, shape) = (naive(size), BoardShape::new(size.0, size.1, Empties::Uncounted));
        for board in positions(size, 5, 40) {
            check_stable(&rules, board, shape.stable(board.opponent, board.mover), true);
            check_stable(&rules, board, shape.stable(board.mover, board.opponent), false);
        }
    }
}

/// Checks that all plays keep a set of discs, which the opponent holds if `of_opponent`.
fn check_stable(rules: &Naive, board: Board, stable: u64, of_opponent: bool) {
    let owner = if of_opponent { board.opponent } else { board.mover };
    assert_eq!(stable & !owner, 0, "{board:?}");
    let children = rules.children(board);
    for &(_, child) in &children {
        check_stable(rules, child, stable, !of_opponent);
    }
    if children.is_empty() && !rules.children(board.swapped()).is_empty() {
        check_stable(rules, board.swapped(), stable, !of_opponent);
    }
}

#[test]
fn canonical_boards_are_images_of_each_other() {
    for size in SHAPES {
        let shape = BoardShape::new(size.0, size.1, Empties::Uncounted);
        for board in positions(size, 9, 10) {
            let smallest = shape.canonical(board);
            assert_eq!(shape.canonical(smallest), smallest);
            assert_eq!((smallest.mover | smallest.opponent) & !shape.board, 0);
            let sizes = |b: Board| (b.mover.count_ones(), b.opponent.count_ones());
            assert_eq!(sizes(smallest), sizes(board));
            assert_eq!(naive(size).children(smallest).len(), naive(size).children(board).len());
        }
    }
}

/// Reads a board written row by row with the mover's mark.
fn parse(text: &str, own: char) -> Board {
    let set = |test: &dyn Fn(char) -> bool| {
        text.chars().enumerate().filter(|&(_, c)| test(c)).fold(0, |set, (i, _)| set | 1 << i)
    };
    Board { mover: set(&|c| c == own), opponent: set(&|c| c != own && c != '-') }
}

#[test]
fn ffo_40_and_41() {
    let positions = [
        ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------", 38, 8),
        ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O-", 0, 31),
    ];
    for (text, score, best) in positions {
        let mut engine = engine((8, 8), Empties::ToWinner, false);
        engine.memory = 256 << 20;
        let found = engine.solve(&parse(text, 'X'), (-64, 64), &Limits::default());
        assert_eq!((found.lower, found.upper, found.best), (score, score, Some(best)));
    }
}

fn trained((rows, columns): (usize, usize)) -> Evaluation {
    let options = TrainOptions { seed: 1, positions: 120 };
    Evaluation::train(rows, columns, options, &mut |_| ())
}

#[test]
fn training_is_reproducible_and_keeps_scores() {
    for size in SHAPES {
        let evaluation = trained(size);
        assert_eq!(evaluation.to_bytes(), trained(size).to_bytes());
        let read = Evaluation::read(&evaluation.to_bytes()).expect("valid file");
        assert_eq!(read.to_bytes(), evaluation.to_bytes());
        let mut plain = engine(size, Empties::Uncounted, false);
        let mut engines = [true, false].map(|scalar| engine(size, Empties::Uncounted, scalar));
        let read = Arc::new(read);
        engines.iter_mut().for_each(|engine| engine.evaluation = read.clone());
        let most = (size.0 * size.1 - 5).min(13) as u32;
        for board in positions(size, most, 6) {
            let score = plain.solve(&board, (-64, 64), &Limits::default()).lower;
            let found = engines.each_mut().map(|e| e.solve(&board, (-64, 64), &Limits::default()));
            assert_eq!(found[0], found[1], "{board:?}");
            assert_eq!((found[0].lower, found[0].upper), (score, score), "{board:?}");
        }
    }
}

#[test]
fn images_of_a_board_have_the_same_value() {
    let evaluation = trained((6, 6));
    for board in positions((6, 6), 14, 20) {
        let image = evaluation.shape.canonical(board);
        assert_eq!(evaluation.value(Scalar, board), evaluation.value(Scalar, image));
    }
}

#[test]
fn damaged_evaluations_are_refused() {
    let bytes = trained((4, 4)).to_bytes();
    for at in (0..64).chain((64..bytes.len()).step_by(7)) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        // A changed bit that leaves the content unchanged is harmless.
        if let Ok(read) = Evaluation::read(&damaged) {
            assert_eq!(read.to_bytes(), bytes, "byte {at}");
        }
        assert!(Evaluation::read(&bytes[..at]).is_err(), "cut to {at}");
    }
}

#[test]
fn searches_that_prove_nothing_name_no_move() {
    let board = positions((8, 8), 20, 1)[0];
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let found = engine((8, 8), Empties::Uncounted, false).solve(&board, (-64, 64), &limits);
    assert_eq!((found.lower, found.upper, found.best), (-64, 64, None));
}

#[test]
fn threads_find_the_same_scores() {
    for size in [(8, 8), (6, 6), (5, 7)] {
        let mut one = engine(size, Empties::ToWinner, false);
        for board in positions(size, 18, 4) {
            let found = one.solve(&board, (-64, 64), &Limits::default());
            let mut many = with_threads(size, Empties::ToWinner);
            let shared = many.solve(&board, (-64, 64), &Limits::default());
            assert_eq!((shared.lower, shared.upper), (found.lower, found.upper), "{board:?}");
            let legal = Scalar.moves(board) & many.shape.board;
            assert_eq!(shared.best.is_none(), legal == 0, "{board:?}");
            assert!(shared.best.is_none_or(|square| legal >> square & 1 == 1), "{board:?}");
        }
    }
}

#[test]
fn limits_stop_all_threads() {
    for (i, board) in positions((8, 8), 18, 6).into_iter().enumerate() {
        let score = engine((8, 8), Empties::Uncounted, false)
            .solve(&board, (-64, 64), &Limits::default())
            .lower;
        let mut many = with_threads((8, 8), Empties::Uncounted);
        let limits = match i % 2 {
            0 => Limits { nodes: Some(100_000 << i), ..Limits::default() },
            _ => Limits {
                deadline: Some(Instant::now() + std::time::Duration::from_millis(5 << i)),
                ..Limits::default()
            },
        };
        let found = many.solve(&board, (-64, 64), &limits);
        assert!((found.lower..=found.upper).contains(&score), "{board:?} {found:?}");
        let again = many.solve(&board, (-64, 64), &Limits::default());
        assert_eq!((again.lower, again.upper), (score, score), "{board:?}");
    }
}

/// Zeroing a table of 4 GiB would take the whole second. Its memory is not allocated before it is used.
#[test]
fn a_deadline_limits_the_size_of_the_table() {
    let mut engine = engine((8, 8), Empties::Uncounted, false);
    engine.memory = 4 << 30;
    let soon = |seconds: u64| {
        Some(Instant::now() + std::time::Duration::from_millis(1000 * seconds + 500))
    };
    engine.prepare_table(30, soon(1));
    assert_eq!(engine.table.bytes(), 512 << 20);
    engine.prepare_table(30, soon(8));
    assert_eq!(engine.table.bytes(), 2 << 30);
    engine.prepare_table(30, None);
    assert_eq!(engine.table.bytes(), 4 << 30);
}

/// Portable kernel that panics on all threads but one.
#[derive(Clone, Copy)]
struct Panicking(std::thread::ThreadId);

impl Kernel for Panicking {
    fn moves(self, board: Board) -> u64 {
        assert_eq!(std::thread::current().id(), self.0, "wanted");
        Scalar.moves(board)
    }

    fn flips(self, square: u32, board: Board) -> u64 {
        Scalar.flips(square, board)
    }

    fn last_flips(self, square: u32, own: u64, other: u64) -> i32 {
        Scalar.last_flips(square, own, other)
    }

    fn pattern_indices(self, parts: &[HalfRowParts], board: Board) -> Lanes {
        Scalar.pattern_indices(parts, board)
    }

    fn sum_weights(self, weights: &[i16], offsets: &[u32; LANES], indices: &Lanes) -> i32 {
        Scalar.sum_weights(weights, offsets, indices)
    }

    fn call<R: kernel::Recursion<S, A>, S, A>(
        self,
        search: &mut S,
        board: Board,
        arguments: A,
    ) -> i32 {
        R::run(search, board, arguments)
    }
}

#[test]
fn a_panic_of_a_helper_ends_the_search() {
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut engine = with_threads((8, 8), Empties::Uncounted);
        let board = positions((8, 8), 20, 1)[0];
        engine.prepare_table(20, None);
        let kernel = Panicking(std::thread::current().id());
        let search = || {
            parallel::run(&engine, kernel, &Limits::default(), Solve { window: (-64, 64) }, board)
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(search));
        send.send(ended.is_err())
    });
    let panicked = ended.recv_timeout(std::time::Duration::from_secs(60));
    assert_eq!(panicked, Ok(true), "the owner waits for its helper");
}
