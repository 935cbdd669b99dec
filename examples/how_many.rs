//! Number of states in each layer of an Othello board: counted in small layers, estimated beyond.
//!
//!     cargo run --release --example how_many -- 5x6 > 5x6.csv
//!
//! A sample is a state as its mover sees it: a random set of squares on which discs can be placed one after
//! another, and a random division of them between the two players. Its reachability is decided exactly, by
//! taking moves back, depth first, to the last counted layer. Samples are independent, so the interval of a
//! layer is that of a mean: 95 % of the intervals contain the true number. Sampling ends after a number of
//! hits, not of samples; the last sample is discarded, which makes the mean unbiased (J. B. S. Haldane, *On a
//! method of estimating frequencies*, Biometrika 33, 1945). A search that becomes too long is abandoned, and
//! the interval covers both possible results.
//!
//! All images of a state under the board's symmetries count as one, as in tables: a reachable state has
//! weight one over the number of its reachable images.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::Game;

/// Maximum number of free squares, for which a bit per set of them takes 8 MiB.
const MAX_FREE: usize = 26;

/// Counts the states of the first layers of an Othello board and estimates those of the rest, as CSV.
#[derive(Parser)]
struct Args {
    /// The board, rows x columns, of up to 30 squares.
    #[arg(value_parser = board)]
    size: (usize, usize),
    /// Count layers until one has more states than this, mirror images apart.
    #[arg(long, default_value_t = 10_000_000)]
    exact: usize,
    /// Draw states of a layer until so many were reached.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(2..))]
    hits: u32,
    /// Draw no layer with fewer discs.
    #[arg(long, default_value_t = 0)]
    from: u32,
    /// Give a search up after so many states.
    #[arg(long, default_value_t = 20_000_000)]
    bound: u64,
    /// Another seed draws other states.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn board(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once('x').and_then(|(r, c)| Some((r.parse().ok()?, c.parse().ok()?)));
    let small = |&(rows, columns): &(usize, usize)| {
        (4..=8).contains(&rows) && (4..=8).contains(&columns) && rows * columns <= MAX_FREE + 4
    };
    sides
        .filter(small)
        .ok_or("invalid board: expected rows x columns, such as 5x6, of up to 30 squares".into())
}

/// States of a layer, counted or estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Number of discs on the board.
    pub discs: u32,
    /// Number of states; images under symmetries count once.
    pub states: f64,
    /// 95 % interval of `states`; both bounds equal it if it was counted.
    pub interval: (f64, f64),
    /// Number of moves of these states, without passes.
    pub moves: f64,
    /// Number of sets of squares that may be occupied, not folded: an upper bound of the blocks.
    pub blocks: u64,
    /// Number of samples; 0 if all states were counted.
    pub samples: usize,
    /// Number of samples that are or may be reachable.
    pub hits: usize,
    /// Number of hits with an abandoned search, of their own or of an image.
    pub undecided: usize,
}

/// Tables of a board, independent of any state.
pub struct Rules {
    game: Othello,
    middle: u64,
    /// Squares in each direction from a square, as `rays[square]`, the nearest first; directions with fewer
    /// than two are left out.
    rays: Vec<Vec<Vec<u64>>>,
    /// Squares other than the four in the middle, and the index of each.
    free: Vec<u32>,
    number: [usize; 64],
    /// Bit for every set of free squares: 1 if discs of any colour can be placed on them one after another.
    buildable: Vec<u64>,
    /// For each of the four edges: its shift, `true` for a column, and the colours it may have.
    edges: Vec<(usize, bool, Vec<bool>)>,
}

impl Rules {
    /// Makes the tables of a board of up to 30 squares.
    pub fn new(rows: usize, columns: usize) -> Rules {
        let game = Othello::new(rows, columns, true);
        let Board { mover, opponent } = game.start().state;
        let middle = mover | opponent;
        let at = |row: isize, column: isize| {
            let inside =
                (0..rows as isize).contains(&row) && (0..columns as isize).contains(&column);
            inside.then(|| 1u64 << (8 * row + column))
        };
        let rays = |square: usize| {
            let (row, column) = ((square / 8) as isize, (square % 8) as isize);
            let directions = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)];
            let ray = |(down, right): (isize, isize)| -> Vec<u64> {
                (1..).map_while(|step| at(row + step * down, column + step * right)).collect()
            };
            directions.into_iter().map(ray).filter(|ray| ray.len() > 1).collect()
        };
        let rays: Vec<Vec<Vec<u64>>> = (0..64).map(rays).collect();
        let on_board = |&square: &u32| square as usize / 8 < rows && square as usize % 8 < columns;
        let free: Vec<u32> =
            (0..64).filter(on_board).filter(|square| middle >> square & 1 == 0).collect();
        let mut number = [0; 64];
        for (i, &square) in free.iter().enumerate() {
            number[square as usize] = i;
        }
        let edges = vec![
            (0, false, colours_of_edge(columns)),
            (8 * (rows - 1), false, colours_of_edge(columns)),
            (0, true, colours_of_edge(rows)),
            (columns - 1, true, colours_of_edge(rows)),
        ];
        let buildable = buildable(&free, &rays, middle);
        Rules { game, middle, rays, free, number, buildable, edges }
    }

    /// Returns the index of a set of squares that includes the middle.
    fn set_of(&self, occupied: u64) -> usize {
        let has = |&(_, square): &(usize, &u32)| occupied >> square & 1 == 1;
        self.free.iter().enumerate().filter(has).fold(0, |set, (i, _)| set | 1 << i)
    }

    fn is_buildable(&self, set: usize) -> bool {
        self.buildable[set >> 6] >> (set & 63) & 1 == 1
    }

    fn edges_may_be(&self, board: &Board) -> bool {
        self.edges.iter().all(|(shift, is_column, may_be)| {
            let line = |squares: u64| match is_column {
                false => squares >> shift & 0xff,
                true => {
                    (squares >> shift & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080)
                        >> 56
                }
            };
            may_be[(line(board.mover) | line(board.opponent) << 8) as usize]
        })
    }

    /// Calls `visit` with each board from which a placement leads to this one, its set of squares and the
    /// number of discs that the placement turned; `set` is the set of this board. Boards whose set or edges
    /// cannot occur are left out.
    fn undo(&self, board: &Board, set: usize, mut visit: impl FnMut(Board, usize, u32)) {
        let Board { mover, opponent } = *board;
        let mut placed = opponent & !self.middle;
        'squares: while placed != 0 {
            let square = placed.trailing_zeros() as usize;
            placed &= placed - 1;
            let before = set & !(1 << self.number[square]);
            if !self.is_buildable(before) {
                continue;
            }
            // In each direction, the discs that may have been turned: none, or a run from the nearest to one
            // that has another of its colour behind it.
            let (mut turned, mut count, mut ways) = ([[0; 8]; 8], [0; 8], 0);
            for ray in &self.rays[square] {
                if mover & ray[0] != 0 {
                    // The placement would have turned them.
                    if ray
                        .iter()
                        .find(|&&next| mover & next == 0)
                        .is_some_and(|&end| opponent & end != 0)
                    {
                        continue 'squares;
                    }
                    continue;
                }
                let (mut sum, mut length) = (0, 0);
                for &next in ray.iter().take_while(|&&next| opponent & next != 0) {
                    turned[ways][length] = sum;
                    sum |= next;
                    length += 1;
                }
                if length > 1 {
                    count[ways] = length;
                    ways += 1;
                }
            }
            let choices: usize = count[..ways].iter().product();
            for choice in 1..choices {
                let (mut rest, mut all) = (choice, 0);
                for way in 0..ways {
                    all |= turned[way][rest % count[way]];
                    rest /= count[way];
                }
                let from = Board { mover: opponent & !all & !(1 << square), opponent: mover | all };
                if self.edges_may_be(&from) {
                    visit(from, before, all.count_ones());
                }
            }
        }
    }

    /// Returns the distinct images of a board under the symmetries.
    fn images(&self, board: &Board) -> Vec<Board> {
        let mut images = vec![];
        for symmetry in 0..self.game.group().order() as u8 {
            let image = self.game.transform(board, symmetry);
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }

    fn moves(&self, board: &Board) -> u32 {
        self.game.placements(board).count_ones()
    }
}

/// Returns the colours that an edge may have. Only discs placed on an edge turn discs on it, because every
/// other line ends there, so placing discs on it in any order yields all of them.
fn colours_of_edge(length: usize) -> Vec<bool> {
    let mut may_be = vec![false; 1 << 16];
    may_be[0] = true;
    let mut open = vec![(0usize, 0usize)];
    let turned = |(own, other): (usize, usize), line: &mut dyn Iterator<Item = usize>| {
        let mut run = 0;
        for square in line {
            match (other >> square & 1 == 1, own >> square & 1 == 1) {
                (true, _) => run |= 1 << square,
                (_, true) => return run,
                _ => return 0,
            }
        }
        0
    };
    while let Some((first, second)) = open.pop() {
        for square in (0..length).filter(|square| (first | second) >> square & 1 == 0) {
            for pair in [(first, second), (second, first)] {
                let all =
                    turned(pair, &mut (square + 1..length)) | turned(pair, &mut (0..square).rev());
                // Both orders of the players are entered, so either may be first.
                let next = (pair.0 | all | 1 << square, pair.1 & !all);
                if !std::mem::replace(&mut may_be[next.0 | next.1 << 8], true) {
                    may_be[next.1 | next.0 << 8] = true;
                    open.push(next);
                }
            }
        }
    }
    may_be
}

/// Returns the sets of free squares on which discs can be placed one after another. A disc can be placed last
/// if in some direction its two nearest squares have discs: one to turn and one behind it.
fn buildable(free: &[u32], rays: &[Vec<Vec<u64>>], middle: u64) -> Vec<u64> {
    let set = |squares: u64| {
        let has = |&(_, square): &(usize, &u32)| squares >> square & 1 == 1;
        free.iter().enumerate().filter(has).fold(0usize, |set, (i, _)| set | 1 << i)
    };
    let pair = |ray: &Vec<u64>| set((ray[0] | ray[1]) & !middle);
    let pairs: Vec<Vec<usize>> =
        free.iter().map(|&square| rays[square as usize].iter().map(pair).collect()).collect();
    let mut bits = vec![0u64; (1usize << free.len()).div_ceil(64)];
    bits[0] = 1;
    for set in 1..1usize << free.len() {
        let is_last = |&i: &usize| {
            let before = set & !(1 << i);
            bits[before >> 6] >> (before & 63) & 1 == 1
                && pairs[i].iter().any(|pair| pair & !before == 0)
        };
        let found = (0..free.len()).filter(|i| set >> i & 1 == 1).any(|i| is_last(&i));
        bits[set >> 6] |= u64::from(found) << (set & 63);
    }
    bits
}

/// Reachable states of a layer, each orientation separately.
struct Known {
    discs: u32,
    states: FxHashSet<Board>,
}

impl Known {
    fn next(&self, game: &Othello) -> Known {
        let mut states = FxHashSet::default();
        for board in &self.states {
            if game.placements(board) != 0 {
                game.moves(board, |_, next| _ = states.insert(next));
            }
        }
        let passes =
            |board: &&Board| game.placements(board) == 0 && game.placements(&board.swapped()) != 0;
        let passed: Vec<Board> = states.iter().filter(passes).map(Board::swapped).collect();
        states.extend(passed);
        Known { discs: self.discs + 1, states }
    }

    fn layer(&self, rules: &Rules, blocks: u64) -> Layer {
        // Sums by number of images: integers, so the order of threads does not matter.
        let add = |a: [u64; 18], b: [u64; 18]| std::array::from_fn(|i| a[i] + b[i]);
        let tally = |board: &Board| {
            let images =
                rules.images(board).iter().filter(|&image| self.states.contains(image)).count();
            let mut tally = [0; 18];
            (tally[images], tally[9 + images]) = (1, u64::from(rules.moves(board)));
            tally
        };
        let sums = self.states.par_iter().map(tally).reduce(|| [0; 18], add);
        let folded =
            |sums: &[u64]| (1..9).map(|images| sums[images] / images as u64).sum::<u64>() as f64;
        let (states, moves) = (folded(&sums[..9]), folded(&sums[9..]));
        let interval = (states, states);
        Layer {
            discs: self.discs,
            states,
            interval,
            moves,
            blocks,
            samples: 0,
            hits: 0,
            undecided: 0,
        }
    }
}

/// Search from a state back to the known layer.
struct Search<'a> {
    rules: &'a Rules,
    known: &'a Known,
    refuted: FxHashSet<Board>,
    stack: Vec<(Board, usize, u32)>,
    left: u64,
}

impl Search<'_> {
    /// Returns `true` if a state with this set of squares is reachable; `None` if the search became too long.
    fn reached(&mut self, board: &Board, set: usize) -> Option<bool> {
        if board.discs() == self.known.discs {
            return Some(self.known.states.contains(board));
        }
        if self.refuted.contains(board) {
            return Some(false);
        }
        self.left = self.left.checked_sub(1)?;
        let game = &self.rules.game;
        let swapped = board.swapped();
        let passed = || game.placements(board) != 0 && game.placements(&swapped) == 0;
        let reached = self.placed(board, set)? || passed() && self.placed(&swapped, set)?;
        if !reached {
            self.refuted.insert(*board);
        }
        Some(reached)
    }

    /// Returns `true` if a placement leads to the board from a reachable one; `None` if the search became too
    /// long.
    fn placed(&mut self, board: &Board, set: usize) -> Option<bool> {
        let begin = self.stack.len();
        self.rules.undo(board, set, |from, before, turned| self.stack.push((from, before, turned)));
        // A placement that turned few discs is the more likely one.
        self.stack[begin..].sort_by_key(|&(_, _, turned)| turned);
        let mut found = Some(false);
        for i in begin..self.stack.len() {
            let (from, before, _) = self.stack[i];
            found = self.reached(&from, before);
            if found != Some(false) {
                break;
            }
        }
        self.stack.truncate(begin);
        found
    }
}

/// Returns the least and greatest weight of a sample and its number of moves; `None` if it is unreachable.
fn weigh(rules: &Rules, known: &Known, board: &Board, bound: u64) -> Option<((f64, f64), u32)> {
    let reached = |board: &Board| {
        let occupied = board.mover | board.opponent;
        if occupied & rules.middle != rules.middle || !rules.edges_may_be(board) {
            return Some(false);
        }
        let set = rules.set_of(occupied);
        let (refuted, stack) = (FxHashSet::default(), vec![]);
        let mut search = Search { rules, known, refuted, stack, left: bound };
        if rules.is_buildable(set) { search.reached(board, set) } else { Some(false) }
    };
    let own = reached(board);
    if own == Some(false) {
        return None;
    }
    let others: Vec<Option<bool>> = rules.images(board)[1..].iter().map(reached).collect();
    let sure = 1 + others.iter().filter(|&&other| other == Some(true)).count();
    let most = 1 + others.iter().filter(|&&other| other != Some(false)).count();
    let least = if own.is_some() { 1.0 / most as f64 } else { 0.0 };
    Some(((least, 1.0 / sure as f64), rules.moves(board)))
}

/// Options of sampling.
#[derive(Clone, Copy)]
pub struct Drawing {
    /// Number of hits after which sampling ends, two or more.
    pub hits: usize,
    /// Minimum number of discs of a sampled layer.
    pub from: u32,
    /// Maximum number of states in a search.
    pub bound: u64,
    /// Seed of the random numbers.
    pub seed: u64,
}

fn estimate(rules: &Rules, known: &Known, discs: u32, blocks: u64, drawing: Drawing) -> Layer {
    let seed = SplitMix64::seed_from_u64(drawing.seed).next_u64() ^ u64::from(discs) << 48;
    let draw = |sample: usize| {
        // Each sample has its own generator, so samples do not depend on threads.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ sample as u64);
        let occupied = loop {
            let (mut squares, mut set, mut left) = (rules.middle, 0usize, u64::from(discs) - 4);
            for (i, square) in rules.free.iter().enumerate() {
                let chance =
                    ((u128::from(random.next_u64()) * (rules.free.len() - i) as u128) >> 64) as u64;
                if chance < left {
                    (squares, set, left) = (squares | 1 << square, set | 1 << i, left - 1);
                }
            }
            if rules.is_buildable(set) {
                break squares;
            }
        };
        let mover = random.next_u64() & occupied;
        weigh(rules, known, &Board { mover, opponent: occupied ^ mover }, drawing.bound)
    };
    let mut drawn: Vec<Option<((f64, f64), u32)>> = vec![];
    loop {
        let hits = drawn.iter().flatten().count();
        if hits >= drawing.hits {
            break;
        }
        // Draws the number that will probably suffice, so that few samples are wasted.
        let begin = drawn.len();
        let more = match hits {
            0 => begin.max(drawing.hits),
            _ => (drawing.hits - hits + 1) * begin / hits + 1,
        };
        drawn.par_extend((begin..begin + more).into_par_iter().map(draw));
    }
    let reached = drawn.iter().enumerate().filter(|(_, one)| one.is_some());
    let last = reached.map(|(sample, _)| sample).nth(drawing.hits - 1);
    drawn.truncate(last.unwrap_or(drawn.len()));

    let samples = drawn.len() as f64;
    let space = blocks as f64 * f64::from(discs).exp2();
    let mean = |of: &dyn Fn((f64, f64), u32) -> f64| {
        drawn.iter().flatten().map(|&(weight, moves)| of(weight, moves)).sum::<f64>() / samples
    };
    let bound = |of: &dyn Fn((f64, f64)) -> f64, errors: f64| {
        let (first, second) =
            (mean(&|weight, _| of(weight)), mean(&|weight, _| of(weight).powi(2)));
        space * (first + errors * ((second - first * first) / samples).sqrt())
    };
    let middle = |(least, most): (f64, f64)| f64::midpoint(least, most);
    Layer {
        discs,
        states: space * mean(&|weight, _| middle(weight)),
        interval: (bound(&|weight| weight.0, -1.96), bound(&|weight| weight.1, 1.96)),
        moves: space * mean(&|weight, moves| middle(weight) * f64::from(moves)),
        blocks,
        samples: drawn.len(),
        hits: drawn.iter().flatten().count(),
        undecided: drawn.iter().flatten().filter(|((least, most), _)| least < most).count(),
    }
}

/// Counts layers until one has more than `exact` states, images counted separately, and estimates the rest.
pub fn layers(rules: &Rules, exact: usize, drawing: Drawing, mut tell: impl FnMut(&Layer)) {
    let mut blocks = vec![0; rules.free.len() + 1];
    for set in (0..1usize << rules.free.len()).filter(|&set| rules.is_buildable(set)) {
        blocks[set.count_ones() as usize] += 1;
    }
    let mut known = Known { discs: 4, states: FxHashSet::from_iter([rules.game.start().state]) };
    let last = rules.game.square_count() as u32;
    tell(&known.layer(rules, 1));
    while known.discs < last && known.states.len() <= exact {
        known = known.next(&rules.game);
        tell(&known.layer(rules, blocks[known.discs as usize - 4]));
    }
    for discs in drawing.from.max(known.discs + 1)..=last {
        tell(&estimate(rules, &known, discs, blocks[discs as usize - 4], drawing));
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let (rows, columns) = args.size;
    println!("board,discs,states,low,high,moves,blocks,samples,hits,undecided");
    let drawing =
        Drawing { hits: args.hits as usize, from: args.from, bound: args.bound, seed: args.seed };
    layers(&Rules::new(rows, columns), args.exact, drawing, |layer| {
        let Layer { discs, states, interval: (low, high), moves, blocks, samples, hits, undecided } =
            layer;
        println!(
            "{rows}x{columns},{discs},{states:.0},{low:.0},{high:.0},{moves:.0},{blocks},{samples},{hits},{undecided}"
        );
    });
    ExitCode::SUCCESS
}
