//! Connect Four 7×6: scores by a plain solver, which shares nothing with the search but the rules of the game.

use std::collections::HashMap;

use crate::common::Random;
use yomikiri::registry::Games;
use yomikiri::rules::{SearchLimits, SearchOptions};
use yomikiri::search::{SearchTask, searcher};

/// Positions in groups by their number of discs: transcript, and score of the player to move, 22 less the winner's discs at
/// the end.
fn known() -> Vec<Vec<(String, i32)>> {
    serde_json::from_str(include_str!("../data/connect-four.json")).unwrap()
}

/// Alpha-beta from the middle outwards, with a memory of bounds. A square is `8 * row + column`.
#[derive(Default)]
struct Plain {
    lines: Vec<u64>,
    bounds: HashMap<[u64; 2], [i32; 2]>,
}

impl Plain {
    fn new() -> Plain {
        let squares = (0..6i32).flat_map(|row| (0..7i32).map(move |column| (row, column)));
        let all = squares.flat_map(|at| [(0, 1), (1, 0), (1, 1), (1, -1)].map(|step| (at, step)));
        let lines = all.filter_map(|((row, column), (up, right))| {
            let line = (0..4).map(|n| (row + n * up, column + n * right));
            let is_there =
                |&(row, column): &(i32, i32)| (0..6).contains(&row) && (0..7).contains(&column);
            let bits = line.clone().map(|(row, column)| 1u64 << (8 * row + column));
            line.clone().all(|at| is_there(&at)).then(|| bits.sum())
        });
        Plain { lines: lines.collect(), ..Plain::default() }
    }

    fn has_line(&self, discs: u64) -> bool {
        self.lines.iter().any(|line| discs & line == *line)
    }

    fn drops(mine: u64, theirs: u64) -> impl Iterator<Item = (usize, u64)> {
        let free = move |column: usize| {
            (0..6)
                .map(|row| 1u64 << (8 * row + column))
                .find(|square| (mine | theirs) & square == 0)
        };
        [3, 2, 4, 1, 5, 0, 6].into_iter().filter_map(move |column| Some((column, free(column)?)))
    }

    fn score(&mut self, mine: u64, theirs: u64, (mut alpha, mut beta): (i32, i32)) -> i32 {
        let placed = (mine | theirs).count_ones() as i32;
        if placed == 42 {
            return 0;
        }
        let won = 22 - (placed / 2 + 1);
        if Plain::drops(mine, theirs).any(|(_, square)| self.has_line(mine | square)) {
            return won;
        }
        beta = beta.min(won - 1);
        let [lower, upper] = *self.bounds.get(&[mine, theirs]).unwrap_or(&[-42, 42]);
        (alpha, beta) = (alpha.max(lower), beta.min(upper));
        if alpha >= beta {
            return beta;
        }
        let (begun, mut best) = (alpha, -42);
        for (_, square) in Plain::drops(mine, theirs) {
            best = best.max(-self.score(theirs, mine | square, (-beta, -alpha.max(best))));
            if best >= beta {
                break;
            }
        }
        let bounds = match (best <= begun, best >= beta) {
            (true, _) => [lower, best.min(upper)],
            (_, true) => [best.max(lower), upper],
            _ => [best, best],
        };
        self.bounds.insert([mine, theirs], bounds);
        best
    }

    /// Plays a transcript: the mover's discs, and the opponent's.
    fn played(moves: &str) -> [u64; 2] {
        moves.bytes().fold([0, 0], |[mine, theirs], column| {
            let column = usize::from(column - b'1');
            let (_, square) = Plain::drops(mine, theirs).find(|drop| drop.0 == column).unwrap();
            [theirs, mine | square]
        })
    }

    fn of(&mut self, moves: &str) -> i32 {
        let [mine, theirs] = Plain::played(moves);
        self.score(mine, theirs, (-42, 42))
    }
}

/// Prints the file of positions.
#[test]
#[ignore = "20 seconds"]
fn positions_are_drawn_and_solved() {
    let (mut random, mut groups) = (Random(75), Vec::new());
    let sizes = [
        (36, 100),
        (32, 100),
        (28, 150),
        (24, 200),
        (22, 150),
        (20, 150),
        (18, 80),
        (16, 40),
        (14, 20),
        (12, 10),
    ];
    for (discs, count) in sizes {
        let mut group: Vec<(String, i32)> = Vec::new();
        while group.len() < count {
            let (mut plain, mut moves, mut is_over) = (Plain::new(), String::new(), false);
            while moves.len() < discs && !is_over {
                let [mine, theirs] = Plain::played(&moves);
                let drops: Vec<(usize, u64)> = Plain::drops(mine, theirs).collect();
                let (column, square) = drops[random.below(drops.len())];
                is_over = plain.has_line(mine | square);
                moves += &(column + 1).to_string();
            }
            if !is_over && group.iter().all(|(known, _)| *known != moves) {
                let score = plain.of(&moves);
                group.push((moves, score));
            }
        }
        groups.push(group);
    }
    println!("{}", serde_json::to_string(&groups).unwrap());
}

#[test]
fn the_search_has_the_scores_of_a_plain_solver() {
    let game = Games::default().named("connect-four").unwrap();
    let options = SearchOptions { memory: 1 << 26, ..SearchOptions::default() };
    let searcher = searcher(&*game, &options).unwrap();
    let groups = known();
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 1000);
    for (moves, score) in groups.iter().flatten() {
        let position = game.parse_position(moves, &game.start()).unwrap();
        let value =
            searcher.search(&position.state, &SearchTask::EXACT, &SearchLimits::default()).value;
        let discs = moves.len() + usize::from(value.distance().unwrap());
        let winners = discs.div_ceil(2) as i32;
        assert_eq!(i32::from(value.outcome().unwrap().value()) * (22 - winners), *score, "{moves}");
    }
    for (moves, score) in groups[..2].iter().flatten() {
        assert_eq!(Plain::new().of(moves), *score, "{moves}");
    }
}
