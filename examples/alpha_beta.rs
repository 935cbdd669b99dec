//! Values of Othello positions by search alone, without a table: an independent check of a table's values,
//! also on boards without a table.
//!
//!     cargo run --release --example alpha_beta -- 4x7
//!     cargo run --release --example alpha_beta -- 4x7 - < positions.txt   # one position a line, as text

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::cmp::Reverse;
use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, stdin};

use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::{Empties, Game};

/// Alpha-beta search to the end of the game with a transposition table (Knuth and Moore 1975); all moves but
/// the first get a null window, after Pearl's Scout (1980).
pub struct Search<'a> {
    game: &'a Othello,
    /// Lower and upper bound of the mover's score, by state.
    known: HashMap<Board, (i8, i8)>,
    /// Number of visited states.
    pub visited: u64,
}

impl Search<'_> {
    /// Makes a search with an empty transposition table.
    pub fn new(game: &Othello) -> Search<'_> {
        Search { game, known: HashMap::new(), visited: 0 }
    }

    /// Returns the mover's final score under best play.
    pub fn score(&mut self, board: &Board) -> i8 {
        let most = self.game.max_score().map_or(i8::MAX, |most| most.0);
        self.within(board, -most, most)
    }

    /// Returns the score if it is between `low` and `high`; otherwise a bound on the same side of that
    /// window.
    fn within(&mut self, board: &Board, mut low: i8, mut high: i8) -> i8 {
        self.visited += 1;
        if self.game.result(board).is_some() {
            return self.game.score(board, Empties::Uncounted).0;
        }
        let (least, most) = self.known.get(board).copied().unwrap_or((i8::MIN + 1, i8::MAX));
        (low, high) = (low.max(least), high.min(most));
        if low >= high {
            return if least >= high { least } else { most };
        }
        let mut after = Vec::new();
        self.game.moves(board, |_, next| {
            after.push((self.game.placements(&next).count_ones(), next));
        });
        // Moves that leave few replies come first: they are the most likely cut-offs.
        after.sort_by_key(|&(answers, next)| (answers, Reverse(next.opponent.count_ones())));
        let (mut best, mut floor) = (i8::MIN + 1, low);
        for (place, (_, next)) in after.iter().enumerate() {
            let mut found = match place {
                0 => -self.within(next, -high, -floor),
                _ => -self.within(next, -floor - 1, -floor),
            };
            if place > 0 && found > floor && found < high {
                found = -self.within(next, -high, -floor);
            }
            best = best.max(found);
            floor = floor.max(best);
            if floor >= high {
                break;
            }
        }
        let known = self.known.entry(*board).or_insert((i8::MIN + 1, i8::MAX));
        if best > low {
            known.0 = known.0.max(best);
        }
        if best < high {
            known.1 = known.1.min(best);
        }
        best
    }
}

#[allow(dead_code)]
fn main() -> Result<(), Box<dyn Error>> {
    let shape = std::env::args().nth(1).ok_or("missing board: expected one such as 4x7")?;
    let (rows, columns) = shape.split_once('x').ok_or("invalid board: expected one such as 4x7")?;
    let game = Othello::new(rows.parse()?, columns.parse()?, true);
    let mut search = Search::new(&game);
    if std::env::args().nth(2).as_deref() == Some("-") {
        for line in stdin().lock().lines() {
            let line = line?;
            let position = game.parse_position(&line, &game.start())?;
            println!("{line} {:+}", search.score(&position.state));
        }
    } else {
        println!("{:+}", search.score(&game.start().state));
    }
    eprintln!("{} states visited", search.visited);
    Ok(())
}
