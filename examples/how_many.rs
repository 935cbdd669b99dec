//! How many states each layer of an Othello board has: counted where they are few, estimated beyond.
//!
//!     cargo run --release --example how_many -- 5x6 > 5x6.csv
//!
//! A state as its mover sees it is drawn at random from all sets of so many squares that discs can be placed on one
//! after another, and all ways to share them between the two. Whether play leads to it is decided exactly, by taking
//! moves back, depth first, as far as the last layer that was counted. States are drawn independently, so a layer's
//! interval is that of a mean: 95 % of them hold the true number. Drawing ends with a number of hits, not of samples;
//! the sample that ends it is left out, which makes the mean unbiased (J. B. S. Haldane, *On a method of estimating
//! frequencies*, Biometrika 33, 1945). A search that becomes too long is given up, and the interval holds both of its
//! answers.
//!
//! States count once for all images under the board's symmetries, as in tables: a state that is reached weighs one
//! over the number of its images that are.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use yomikiri::game::othello::{Board, Othello};
use yomikiri::game::{Game, GameExt};

/// Boards of which a bit for every set of free squares fits in 8 MiB.
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
    sides.filter(small).ok_or("no board of up to 30 squares; give rows x columns, as 5x6".into())
}

/// A layer's states, counted or estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// How many discs lie on the board.
    pub discs: u32,
    /// States, images under symmetries counted once.
    pub states: f64,
    /// The bounds of the 95 % interval; both the number itself where it was counted.
    pub interval: (f64, f64),
    /// Moves of these states, passes left out.
    pub moves: f64,
    /// Sets of squares that may be occupied, not folded: blocks at the most.
    pub blocks: u64,
    /// How many states were drawn; none where all were counted.
    pub samples: usize,
    /// How many of them are reached, or may be.
    pub hits: usize,
    /// How many of those have a search that was given up, their own or an image's.
    pub undecided: usize,
}

/// What is known of a board before any state is looked at.
pub struct Rules {
    game: Othello<u64>,
    middle: u64,
    /// `rays[square]`: the squares in each direction, the nearest first, where there are two or more.
    rays: Vec<Vec<Vec<u64>>>,
    /// The squares other than the four in the middle, and the number of each.
    free: Vec<u32>,
    number: [usize; 64],
    /// For every set of free squares a bit: whether discs can be placed on them one after another, whatever their
    /// colours.
    buildable: Vec<u64>,
    /// Where the four edges lie (the shift, and whether they are columns) and which colours they may have.
    edges: Vec<(usize, bool, Vec<bool>)>,
}

impl Rules {
    /// Of a board of up to 30 squares.
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

    /// The number of a set of squares that includes the middle.
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

    /// The boards from which a placement leads to this one, whose occupied squares are the set: each with its
    /// set and how many discs the placement turned. Left out are boards that no play leads to, by their set or edges.
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
            // In each direction the discs that may have been turned: none, or those as far as one that has another
            // of its colour behind it.
            let (mut turned, mut count, mut ways) = ([[0; 8]; 8], [0; 8], 0);
            for ray in &self.rays[square] {
                if mover & ray[0] != 0 {
                    // They would have been turned.
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

    /// The distinct images of a board under the symmetries.
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

/// What colours an edge may have. Only discs placed on it turn others on it, for every other line ends there: so these
/// are all that come of placing discs on it in any order.
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
                // Who is first does not matter: both orders are entered.
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

/// A disc can be placed last where two others lie side by side in some direction: one to turn, one behind it.
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

/// The states of a layer, as they are reached from the start, its images apart.
struct Known {
    discs: u32,
    states: FxHashSet<Board>,
}

impl Known {
    fn next(&self, game: &Othello<u64>) -> Known {
        let mut states = FxHashSet::default();
        for board in &self.states {
            if game.placements(board) != 0 {
                game.for_each_successor(board, |_, next| _ = states.insert(next));
            }
        }
        let passes =
            |board: &&Board| game.placements(board) == 0 && game.placements(&board.swapped()) != 0;
        let passed: Vec<Board> = states.iter().filter(passes).map(Board::swapped).collect();
        states.extend(passed);
        Known { discs: self.discs + 1, states }
    }

    fn layer(&self, rules: &Rules, blocks: u64) -> Layer {
        // States and moves by the number of images: whole numbers, whatever thread adds them.
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

/// A search from a state back to those that are known.
struct Search<'a> {
    rules: &'a Rules,
    known: &'a Known,
    refuted: FxHashSet<Board>,
    stack: Vec<(Board, usize, u32)>,
    left: u64,
}

impl Search<'_> {
    /// Whether play leads to a state with this set of squares; `None` where the search became too long.
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

    /// Whether a placement leads to it.
    fn placed(&mut self, board: &Board, set: usize) -> Option<bool> {
        let begin = self.stack.len();
        self.rules.undo(board, set, |from, before, turned| self.stack.push((from, before, turned)));
        // A placement that turned little is the more likely one.
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

/// What a state that was drawn weighs, at least and at most, and its moves; nothing where it is not reached.
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

/// How a layer's states are drawn.
#[derive(Clone, Copy)]
pub struct Drawing {
    /// Until so many are reached, two or more.
    pub hits: usize,
    /// Not those of layers with fewer discs.
    pub from: u32,
    /// A search is given up after so many states.
    pub bound: u64,
    /// What the random numbers come from.
    pub seed: u64,
}

fn estimate(rules: &Rules, known: &Known, discs: u32, blocks: u64, drawing: Drawing) -> Layer {
    let seed = SplitMix64::seed_from_u64(drawing.seed).next_u64() ^ u64::from(discs) << 48;
    let draw = |sample: usize| {
        // A generator for each, so that samples do not depend on threads.
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
        // As many as will probably do, so that little is drawn in vain.
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

/// Counts layers until one has more than `exact` states, images apart, and estimates the rest.
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
