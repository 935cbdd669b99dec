//! Effect of history on values: compares the values of tables, which ignore history, with those of a game
//! that the fourth occurrence of a position ends. A player who has given check on every move since the first
//! occurrence then loses; otherwise it is a draw. The values of all positions are found without a search, and
//! those of a sample also by a search with history. See `docs/results/repetition.md`.
//!
//!     cargo run --release --example repetition

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashMap;

use yomikiri::games::shogi::{ANIMAL_SHOGI, Board, Kind, SMALL_ANIMAL_SHOGI, Shogi, Variant};
use yomikiri::rules::Game;

/// Kinds of animal shogi without the elephant: lion, chick, giraffe and hen.
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

/// Maximum number of positions that a search visits.
const BUDGET: u32 = 1 << 14;
/// Maximum number of positions of a line.
const DEEPEST: usize = 256;
/// Approximate number of positions searched, spread evenly over those without a forced end.
const SAMPLE: usize = 1000;

/// Move between positions without a forced end.
struct Edge {
    after: u32,
    check: bool,
}

/// Positions in which neither side can force an end, in the order of their keys, and the moves between them.
/// All their other moves lead to positions that the opponent wins.
pub struct Endless {
    boards: Vec<Board>,
    edges: Vec<Vec<Edge>>,
}

impl Endless {
    /// Enumerates the reachable positions, decides those in which an end can be forced, and keeps the rest.
    /// Also returns the number of positions, with mirror images counted separately.
    pub fn of(game: &Shogi) -> (Endless, usize) {
        let mut rows = HashMap::from([(game.start().state, 0)]);
        let mut boards = vec![game.start().state];
        let (mut after, mut values) = (Vec::<Vec<u32>>::new(), Vec::new());
        while let Some(&board) = boards.get(after.len()) {
            values.push(game.end(&board).map(|end| end.outcome.value()));
            let mut own = Vec::new();
            game.moves(&board, |_, next| {
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

    /// Returns the value of every position at the start of a history, without a search.
    ///
    /// Either player can be the checker, who loses if the other player forces that from some move on all of
    /// the checker's moves are checks and not all of the other's. Both have a best move in every position,
    /// whatever the history (a parity game with three priorities: Emerson and Jutla 1991). Therefore the
    /// result for infinite play holds for every cycle, and also if the second, third or fourth occurrence
    /// ends the game.
    pub fn values(&self) -> Vec<i8> {
        // Two nodes per position; in the odd one the checker is to move.
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

    /// Searches about `sample` positions, spread evenly, and returns how many are lost, drawn, won, and not
    /// searched to the end.
    ///
    /// # Panics
    ///
    /// If a value differs from the one found without a search.
    pub fn search(&mut self, values: &[i8], occurrences: usize, sample: usize) -> [usize; 4] {
        // Best moves found without a search are searched first.
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

    /// Returns the nodes from which the other player forces, while the checker only gives checks, a move that
    /// is no check and leads to a node of `again`, or a node already lost for the checker.
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

/// Search that keeps history.
struct Search<'a> {
    endless: &'a Endless,
    /// Occurrence of a position that ends the game.
    occurrences: usize,
    /// Positions so far, each with `true` if the move that led to it was a check.
    line: Vec<(u32, bool)>,
    left: u32,
}

impl Search<'_> {
    /// Returns the value of the line's last position for its mover, within `least` and `most`; `None` if the
    /// budget is spent.
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

    /// Returns the value of the last position for its mover, if its repetition ends the game.
    fn ended(&self) -> Option<i8> {
        let last = self.line.len() - 1;
        // The same side is to move in every second position.
        let same = |&at: &usize| self.line[at].0 == self.line[last].0;
        let times = (last % 2..=last).step_by(2).filter(same).count();
        if times < self.occurrences {
            return None;
        }
        let first = (last % 2..=last).step_by(2).find(same)?;
        let checks = |from: usize| (from..=last).step_by(2).all(|at| self.line[at].1);
        // Moves to `first + 1` are those of the mover, moves to `first + 2` those of the opponent.
        Some(match (checks(first + 1), checks(first + 2)) {
            (true, false) => -1,
            (false, true) => 1,
            _ => 0,
        })
    }
}

fn main() {
    for variant in [SMALL_ANIMAL_SHOGI, GIRAFFES] {
        let game = Shogi::new(&variant, false);
        let (mut endless, positions) = Endless::of(&game);
        let count = endless.boards.len();
        let title = variant.title;
        println!("{title}: {positions} positions as the mover sees them, {count} of infinite play");
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
