//! Does it matter what became before? Values of tables, which know no history, against those of a
//! game that does: a position that occurs for the fourth time ends it, drawn, but who has given check
//! all the while since it occurred first has lost. Every position's value is found without a search,
//! and a sample's by a search that keeps history. See `docs/results/repetition.md`.
//!
//!     cargo run --release --example repetition

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashMap;

use yomikiri::game::shogi::{ANIMAL_SHOGI, Board, Kind, SMALL_ANIMAL_SHOGI, Shogi, Variant};
use yomikiri::game::{Game, GameExt};

/// The lion, chick, giraffe and hen of animal shogi: its kinds but for the elephant.
const NO_ELEPHANT: [Kind; 4] = {
    let [lion, chick, _, giraffe, hen] = *ANIMAL_SHOGI.kinds.first_chunk().unwrap();
    [lion, Kind { promotes_to: Some(3), ..chick }, Kind { in_hand: 2, ..giraffe }, hen]
};

/// Animal shogi with chicks and giraffes.
const GIRAFFES: Variant = Variant {
    name: "animal-shogi-giraffes",
    title: "Animal shogi with chicks and giraffes",
    kinds: &NO_ELEPHANT,
    start: "gl1/1c1/1C1/1LG b - 1",
    ..ANIMAL_SHOGI
};

/// How many positions a search may look at before it gives up.
const BUDGET: u32 = 1 << 14;
/// How long a line may be before it gives up.
const DEEPEST: usize = 256;
/// How many positions are searched, evenly among those without an end.
const SAMPLE: usize = 1000;

/// A move between positions in which no end can be forced.
struct Edge {
    after: u32,
    check: bool,
}

/// The positions of a game in which no end can be forced, in the order of their keys, and their
/// moves to others of them. All other moves lead to positions that the opponent wins.
pub struct Endless {
    boards: Vec<Board>,
    edges: Vec<Vec<Edge>>,
}

impl Endless {
    /// Finds every position that can be reached, decides what can be decided, and keeps the rest;
    /// tells too how many positions there are, mirror images counted twice.
    pub fn of(game: &Shogi<u64>) -> (Endless, usize) {
        let mut rows = HashMap::from([(game.start().state, 0)]);
        let mut boards = vec![game.start().state];
        let (mut after, mut values) = (Vec::<Vec<u32>>::new(), Vec::new());
        while let Some(&board) = boards.get(after.len()) {
            values.push(game.end(&board).map(|end| end.outcome.value()));
            let mut own = Vec::new();
            game.for_each_successor(&board, |_, next| {
                let row = *rows.entry(next).or_insert_with(|| {
                    boards.push(next);
                    boards.len() as u32 - 1
                });
                own.push(row);
            });
            after.push(own);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for row in (0..boards.len()).filter(|&row| !after[row].is_empty()) {
                let best = after[row].iter().map(|&next| values[next as usize]);
                let value = match best.clone().any(|value| value == Some(-1)) {
                    true => Some(1),
                    false => best
                        .map(|value| value.filter(|&v| v == 1))
                        .reduce(Option::and)
                        .flatten()
                        .map(|_| -1),
                };
                changed |= values[row].is_none() && value.is_some();
                values[row] = values[row].or(value);
            }
        }
        let mut open: Vec<usize> = (0..boards.len()).filter(|&row| values[row].is_none()).collect();
        open.sort_by_key(|&row| game.key(&boards[row]));
        let numbers: HashMap<u32, u32> =
            (0..).zip(&open).map(|(n, &row)| (row as u32, n)).collect();
        let edges = |&row: &usize| {
            let own = after[row].iter().filter_map(|next| Some((*next, *numbers.get(next)?)));
            own.map(|(next, after)| Edge { after, check: game.in_check(&boards[next as usize]) })
                .collect()
        };
        let edges = open.iter().map(edges).collect();
        (Endless { boards: open.iter().map(|&row| boards[row]).collect(), edges }, boards.len())
    }

    /// The value of every position with history, of which there is none yet, found without a search.
    ///
    /// One player is the checker, of whom we ask where the other forces that from some move on all
    /// of the checker's are checks, and not all of the other's. Both have a best move in every
    /// position, whatever came before (a parity game with three priorities: Emerson and Jutla
    /// 1991), so that what holds of play without end holds of every way round from a position back
    /// to itself, and hence where the second, third or fourth occurrence ends the game.
    pub fn values(&self) -> Vec<i8> {
        // Two nodes a position: the checker is to move in the odd one.
        let mut lost = vec![false; 2 * self.edges.len()];
        loop {
            let mut nodes: Vec<usize> = (0..lost.len()).collect();
            let mut again = vec![true; lost.len()];
            loop {
                let forced = self.forced(&lost, &again, &nodes);
                if forced == again {
                    break;
                }
                nodes.retain(|&node| forced[node]);
                again = forced;
            }
            if again == lost {
                break;
            }
            lost = again;
        }
        lost.chunks(2).map(|of| i8::from(of[0]) - i8::from(of[1])).collect()
    }

    /// Searches about as many positions as `sample`, spread evenly: how many are lost, drawn, won,
    /// and not searched to the end.
    ///
    /// # Panics
    ///
    /// When a value is not the one that was found without a search.
    pub fn search(&mut self, values: &[i8], occurrences: usize, sample: usize) -> [usize; 4] {
        // What is best without a search is searched first.
        for edges in &mut self.edges {
            edges.sort_by_key(|edge| values[edge.after as usize]);
        }
        let mut found = [0; 4];
        for row in (0..values.len()).step_by(values.len().div_ceil(sample).max(1)) {
            let line = vec![(row as u32, false)];
            let mut search = Search { endless: self, occurrences, line, left: BUDGET };
            let value = search.value(-1, 1);
            assert!(value.is_none_or(|value| value == values[row]), "{:?}", self.boards[row]);
            found[value.map_or(3, |value| (value + 1) as usize)] += 1;
        }
        found
    }

    /// From which nodes the other player forces, the checker giving nothing but checks, a move of
    /// his own that is none and leads to one of `again`, or what is lost for the checker anyway.
    fn forced(&self, lost: &[bool], again: &[bool], nodes: &[usize]) -> Vec<bool> {
        let mut forced = vec![false; lost.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &node in nodes.iter().rev() {
                let is_checker = node % 2 == 1;
                let leads = |edge: &Edge| {
                    let to = 2 * edge.after as usize + usize::from(!is_checker);
                    lost[to]
                        || match (is_checker, edge.check) {
                            (_, true) => forced[to],
                            (true, false) => false,
                            (false, false) => again[to],
                        }
                };
                let mut edges = self.edges[node / 2].iter();
                let is_forced = if is_checker { edges.all(leads) } else { edges.any(leads) };
                changed |= is_forced && !forced[node];
                forced[node] |= is_forced;
            }
        }
        forced
    }
}

/// A search that keeps history.
struct Search<'a> {
    endless: &'a Endless,
    /// With which occurrence of a position the game is over.
    occurrences: usize,
    /// The positions so far, and whether the move that led to each was a check.
    line: Vec<(u32, bool)>,
    left: u32,
}

impl Search<'_> {
    /// The value of the last position of the line for its mover, as far as it lies between `least`
    /// and `most`; `None` when the budget is spent.
    fn value(&mut self, least: i8, most: i8) -> Option<i8> {
        self.left = self.left.checked_sub(1).filter(|_| self.line.len() < DEEPEST)?;
        let row = self.line.last()?.0;
        let mut best = least;
        for edge in &self.endless.edges[row as usize] {
            self.line.push((edge.after, edge.check));
            let value = match self.ended() {
                Some(value) => Some(value),
                None => self.value(-most, -best),
            };
            self.line.pop();
            best = best.max(-value?);
            if best >= most {
                break;
            }
        }
        Some(best)
    }

    /// The value of the last position for its mover, if it ends the game by having occurred before.
    fn ended(&self) -> Option<i8> {
        let last = self.line.len() - 1;
        // The same side is to move every second time.
        let same = |&at: &usize| self.line[at].0 == self.line[last].0;
        let times = (last % 2..=last).step_by(2).filter(same).count();
        if times < self.occurrences {
            return None;
        }
        let first = (last % 2..=last).step_by(2).find(same)?;
        let checks = |from: usize| (from..=last).step_by(2).all(|at| self.line[at].1);
        // Moves to `first + 1` are the mover's own, those to `first + 2` the opponent's.
        Some(match (checks(first + 1), checks(first + 2)) {
            (true, false) => -1,
            (false, true) => 1,
            _ => 0,
        })
    }
}

fn main() {
    for variant in [SMALL_ANIMAL_SHOGI, GIRAFFES] {
        let game = Shogi::<u64>::new(&variant, false);
        let (mut endless, positions) = Endless::of(&game);
        let count = endless.boards.len();
        let title = variant.title;
        println!("{title}: {positions} positions as the mover sees them, {count} without an end");
        let values = endless.values();
        for (value, name) in [(0, "drawn"), (1, "won"), (-1, "lost")] {
            let rows = || (0..count).filter(|&row| values[row] == value);
            let checked = rows().filter(|&row| game.in_check(&endless.boards[row])).count();
            let all = rows().count();
            println!("  with history {all} are {name}, in {checked} the mover is in check");
        }
        for occurrences in [2, 3, 4] {
            let [lost, drawn, won, unknown] = endless.search(&values, occurrences, SAMPLE);
            println!(
                "  over with occurrence {occurrences}: of {} searched {drawn} are drawn, {won} won, {lost} lost, as \
                 found without; {unknown} not searched to the end",
                drawn + won + lost + unknown
            );
        }
    }
}
