//! Does it matter what became before? Values of tables, which know no history, against a search that
//! keeps it: a position that occurs for the fourth time ends the game, drawn, but who has given check
//! all the while since it occurred first has lost. See `docs/repetition.md`.
//!
//!     cargo run --release --example repetition

use std::collections::HashMap;

use yomikiri::game::Game;
use yomikiri::game::shogi::{ANIMAL_SHOGI, Board, Kind, SMALL_ANIMAL_SHOGI, Shogi, Variant};

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
    after: Board,
    check: bool,
}

/// The positions of a game in which no end can be forced, as boards, and their moves to others of
/// them. All other moves lead to positions that the opponent wins.
struct Endless(HashMap<Board, Vec<Edge>>);

impl Endless {
    /// Finds every position that can be reached, decides what can be decided, and keeps the rest;
    /// tells too how many positions there are, mirror images counted twice.
    fn of(game: &Shogi<u64>) -> (Endless, usize) {
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
        let open = |row: &usize| values[*row].is_none();
        let edges = |row: usize| {
            let rows = after[row].iter().map(|&next| next as usize).filter(open);
            rows.map(|next| Edge { after: boards[next], check: game.in_check(&boards[next]) })
                .collect()
        };
        let endless = (0..boards.len()).filter(open).map(|row| (boards[row], edges(row)));
        (Endless(endless.collect()), boards.len())
    }

    /// From how many positions one side can give check with every move from there on, if the other
    /// helps.
    fn can_check_for_ever(&self) -> usize {
        // Of either side, whether the mover is that side: what cannot be played on is taken away.
        let mut alive: HashMap<(Board, bool), ()> =
            self.0.keys().flat_map(|&board| [((board, true), ()), ((board, false), ())]).collect();
        loop {
            let goes_on = |&(board, mine): &(Board, bool)| {
                let leads =
                    |edge: &Edge| (edge.check || !mine) && alive.contains_key(&(edge.after, !mine));
                self.0[&board].iter().any(leads)
            };
            let left: HashMap<_, _> =
                alive.keys().filter(|node| goes_on(node)).map(|&node| (node, ())).collect();
            if left.len() == alive.len() {
                let lives = |board: &&Board| {
                    [true, false].iter().any(|&mine| left.contains_key(&(**board, mine)))
                };
                return self.0.keys().filter(lives).count();
            }
            alive = left;
        }
    }
}

/// A search that keeps history.
struct Search<'a> {
    endless: &'a Endless,
    /// With which occurrence of a position the game is over.
    occurrences: usize,
    /// The positions so far, and whether the move that led to each was a check.
    line: Vec<(Board, bool)>,
    left: u32,
}

impl Search<'_> {
    /// The value of the last position of the line for its mover, which stands there for the first
    /// time or may occur again; `None` when the budget is spent.
    fn value(&mut self) -> Option<i8> {
        self.left = self.left.checked_sub(1).filter(|_| self.line.len() < DEEPEST)?;
        let board = self.line.last()?.0;
        let mut best = -1;
        for edge in &self.endless.0[&board] {
            self.line.push((edge.after, edge.check));
            let value = match self.ended() {
                Some(value) => Some(value),
                None => self.value(),
            };
            self.line.pop();
            best = best.max(-value?);
            if best == 1 {
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
        let (endless, positions) = Endless::of(&game);
        let count = endless.0.len();
        println!(
            "{}: {positions} positions as the mover sees them, {count} without an end",
            variant.title
        );
        println!(
            "  {} from which one side might give check with every move",
            endless.can_check_for_ever()
        );
        let mut boards: Vec<&Board> = endless.0.keys().collect();
        boards.sort_by_key(|board| game.key(board));
        let sample: Vec<_> = boards.iter().step_by(count.div_ceil(SAMPLE).max(1)).collect();
        for occurrences in [2, 3, 4] {
            let mut results = [0; 4];
            for &&&board in &sample {
                let line = vec![(board, false)];
                let mut search = Search { endless: &endless, occurrences, line, left: BUDGET };
                results[search.value().map_or(3, |value| (value + 1) as usize)] += 1;
            }
            let [lost, drawn, won, unknown] = results;
            println!(
                "  over with occurrence {occurrences}: of {} searched {drawn} stay drawn, {won} are won, {lost} lost, \
                 {unknown} not searched to the end",
                sample.len()
            );
        }
    }
}
