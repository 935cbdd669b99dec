//! Tic-tac-toe and Connect Four: against plain rules on lists of squares, by the texts that people have, and by `conform`.

use std::collections::{BTreeMap, HashMap};

use crate::common::Random;
use yomikiri::games::connect_four::ConnectFour;
use yomikiri::games::in_line::Stones;
use yomikiri::games::tictactoe::TicTacToe;
use yomikiri::rules::{
    Action, Game, Outcome, Position, SearchLimits, SearchOptions, Side, conform,
};
use yomikiri::search::{SearchTask, searcher};

/// Rules of both games by rows and columns; a board is a text of its squares, of the first player `X`.
#[derive(Clone, Copy)]
struct Plain {
    rows: usize,
    columns: usize,
    line: usize,
    falls: bool,
}

impl Plain {
    fn start(&self) -> String {
        ".".repeat(self.rows * self.columns)
    }

    fn at(&self, board: &str, row: isize, column: isize) -> Option<char> {
        let (row, column) = (usize::try_from(row).ok()?, usize::try_from(column).ok()?);
        let is_there = row < self.rows && column < self.columns;
        is_there.then(|| board.as_bytes()[row * self.columns + column].into())
    }

    fn has_line(&self, board: &str, player: char) -> bool {
        let squares = (0..self.rows as isize)
            .flat_map(|row| (0..self.columns as isize).map(move |column| (row, column)));
        squares.flat_map(|square| [(0, 1), (1, 0), (1, 1), (1, -1)].map(|step| (square, step))).any(
            |((row, column), (down, right))| {
                (0..self.line as isize)
                    .all(|n| self.at(board, row + n * down, column + n * right) == Some(player))
            },
        )
    }

    fn mover(&self, board: &str) -> char {
        if board.matches('X').count() == board.matches('O').count() { 'X' } else { 'O' }
    }

    /// Returns 1 if the mover has won, -1 if it has lost, 0 for a full board; `None` while the game goes on.
    fn result(&self, board: &str) -> Option<i32> {
        let last = if self.mover(board) == 'X' { 'O' } else { 'X' };
        match self.has_line(board, last) {
            true => Some(-1),
            false => (!board.contains('.')).then_some(0),
        }
    }

    fn moves(&self, board: &str) -> Vec<(u16, String)> {
        let placed = |square: usize| {
            let mut after = board.to_string();
            after.replace_range(square..=square, &self.mover(board).to_string());
            after
        };
        let is_free = |square: &usize| board.as_bytes()[*square] == b'.';
        if self.result(board).is_some() {
            return Vec::new();
        }
        if !self.falls {
            let free = (0..self.rows * self.columns).filter(is_free);
            return free.map(|square| (square as u16, placed(square))).collect();
        }
        let landing = |column: usize| {
            (0..self.rows).rev().map(|row| row * self.columns + column).find(is_free)
        };
        let columns = (0..self.columns).filter_map(|column| Some((column, landing(column)?)));
        columns.map(|(column, square)| (column as u16, placed(square))).collect()
    }

    /// Returns the boards that can arise, by the number of stones.
    fn layers(&self) -> Vec<Vec<String>> {
        let mut layers = vec![vec![self.start()]];
        while let Some(last) = layers.last().filter(|last| !last.is_empty()) {
            let next = last.iter().flat_map(|board| self.moves(board));
            let mut next: Vec<String> = next.map(|(_, after)| after).collect();
            next.sort_unstable();
            next.dedup();
            layers.push(next);
        }
        layers.pop();
        layers
    }

    /// Counts the boards that can arise, by the number of stones: with 8 bytes for a board, so that larger ones have room.
    fn counts(&self) -> Vec<u64> {
        let sign = |digit: u64| [".", "X", "O"][digit as usize];
        let packed = |board: &str| {
            board.bytes().rev().fold(0, |all, cell| {
                3 * all + [b'.', b'X', b'O'].iter().position(|&c| c == cell).unwrap() as u64
            })
        };
        let unpacked = |mut board: u64| {
            let squares = (0..self.rows * self.columns).map(|_| {
                let digit = board % 3;
                board /= 3;
                sign(digit)
            });
            squares.collect::<String>()
        };
        let (mut layer, mut counts) = (vec![packed(&self.start())], Vec::new());
        while !layer.is_empty() {
            counts.push(layer.len() as u64);
            let next = layer.iter().flat_map(|&board| self.moves(&unpacked(board)));
            let mut next: Vec<u64> = next.map(|(_, after)| packed(&after)).collect();
            next.sort_unstable();
            next.dedup();
            layer = next;
        }
        counts
    }

    /// Returns the mover's result and the plies to the end: wins as soon, losses as late as possible.
    fn outlook(&self, board: &str) -> (i32, i32) {
        if let Some(result) = self.result(board) {
            return (result, 0);
        }
        let after = self.moves(board).into_iter().map(|(_, after)| self.outlook(&after));
        let mine = after.map(|(result, plies)| (-result, plies + 1));
        mine.max_by_key(|&(result, plies)| (result, -result.signum() * plies)).unwrap()
    }

    /// Returns the value of each board for its mover.
    fn values(&self, layers: &[Vec<String>]) -> HashMap<String, i32> {
        let mut values: HashMap<String, i32> = HashMap::new();
        for board in layers.iter().rev().flatten() {
            let after = self.moves(board).into_iter().map(|(_, after)| -values[&after]);
            let value = self.result(board).or_else(|| after.max()).unwrap();
            values.insert(board.clone(), value);
        }
        values
    }
}

fn four(rows: usize, columns: usize) -> (ConnectFour, Plain) {
    let plain = Plain { rows, columns, line: 4, falls: true };
    (ConnectFour::new((rows, columns), true).unwrap(), plain)
}

fn marks(rows: usize, columns: usize, line: usize) -> (TicTacToe, Plain) {
    let plain = Plain { rows, columns, line, falls: false };
    (TicTacToe::new((rows, columns), line, true).unwrap(), plain)
}

fn text(game: &impl Game<State = Stones>, state: &Stones) -> String {
    let side = game.side_of(game.key(state));
    game.notation(&Position { state: *state, side })
}

/// Plays random games by both rules.
fn plays_alike(game: &impl Game<State = Stones>, plain: &Plain) {
    let mut random = Random(7);
    for _ in 0..200 {
        let mut position = game.start();
        let mut board = plain.start();
        loop {
            assert_eq!(game.notation(&position), board);
            assert_eq!(game.parse_position(&board, &game.start()), Ok(position));
            let mut moves = Vec::new();
            game.moves(&position.state, |Action(action), after| {
                moves.push((action, text(game, &after)))
            });
            let expected = plain.moves(&board);
            assert_eq!(moves, expected, "{board}");
            let result = game.result(&position.state).map(|outcome| i32::from(outcome.value()));
            assert_eq!(result, plain.result(&board), "{board}");
            let Some((action, after)) = expected.get(random.below(expected.len().max(1))) else {
                break;
            };
            position = game.advance(&position, Action(*action));
            board.clone_from(after);
        }
    }
}

#[test]
fn both_games_are_played_by_plain_rules() {
    for (rows, columns) in [(4, 4), (4, 5), (5, 4), (6, 7), (7, 8), (8, 7), (4, 8)] {
        let (game, plain) = four(rows, columns);
        plays_alike(&game, &plain);
    }
    for (rows, columns, line) in [(3, 3, 3), (3, 5, 3), (4, 4, 4), (4, 4, 3), (5, 3, 4), (7, 7, 5)]
    {
        let (game, plain) = marks(rows, columns, line);
        plays_alike(&game, &plain);
    }
}

#[test]
fn both_games_conform_folded_and_not() {
    for fold in [true, false] {
        for shape in [(4, 4), (4, 5), (6, 7), (7, 8), (8, 7)] {
            assert_eq!(
                conform(&ConnectFour::new(shape, fold).unwrap()),
                Ok(()),
                "{shape:?} {fold}"
            );
        }
        for (shape, line) in [((3, 3), 3), ((3, 4), 3), ((4, 4), 3), ((7, 7), 5)] {
            assert_eq!(
                conform(&TicTacToe::new(shape, line, fold).unwrap()),
                Ok(()),
                "{shape:?} {fold}"
            );
        }
    }
    let none = [(3, 4), (4, 9), (8, 8)].map(|shape| ConnectFour::new(shape, true).is_none());
    assert_eq!(none, [true; 3]);
    assert!(TicTacToe::new((3, 3), 4, true).is_none() && TicTacToe::new((2, 3), 3, true).is_none());
}

#[test]
fn texts_that_people_have_are_read() {
    let (game, _) = four(6, 7);
    let read = |text: &str| game.parse_position(text, &game.start()).map(|it| game.notation(&it));
    let expected = read("4 4 3 2 7").unwrap();
    assert_eq!(expected, format!("{}...O...{}", ".".repeat(28), ".OXX..X"));
    // Columns from 1, from 0 by a column 0 or by the players' marks or as asked; OpenSpiel's board, PettingZoo's array.
    let same = [
        "44327",
        "4,4,3,2,7",
        "4-4-3-2-7",
        "from 0: 33216",
        "from 1: 44327",
        "x3 o3 x2 o1 x6",
        "x3, o3, x2, o1, x6",
        ".......\n.......\n.......\n.......\n...o...\n.oxx..x\n",
        "[[0 0 0 0 0 0 0]\n [0 0 0 0 0 0 0]\n [0 0 0 0 0 0 0]\n [0 0 0 0 0 0 0]\n [0 0 0 2 0 0 0]\n [0 2 1 1 0 0 1]]",
        "  1 2 3 4 5 6 7\n6 . . . . . . .\n5 . . . . . . .\n4 . . . . . . .\n3 . . . . . . .\n2 . . . O . . .\n1 . O X X . . X\nYellow (O) to move",
        "|_|_|_|_|_|_|_|\n|_|_|_|_|_|_|_|\n|_|_|_|_|_|_|_|\n|_|_|_|_|_|_|_|\n|_|_|_|O|_|_|_|\n|_|O|X|X|_|_|X|",
        ".../..../......./......./......./...O.../.OXX..X",
    ];
    for text in same {
        assert_eq!(read(text).as_deref(), Ok(&*expected), "{text}");
    }
    assert_eq!(read("3 0 3"), read("4 1 4"));
    let refused = [
        ("30347", "invalid column 7"),
        ("448", "invalid column 8"),
        ("from 0: 37", "invalid column 7"),
        ("4444444", "illegal move 7 `4`; Red can play 1, 2, 3, 5, 6, 7"),
        (&"X".repeat(42), "42 X and 0 O"),
        (&format!("X{}", ".".repeat(41)), "a free square below"),
        (&format!("{}Red to move", expected), "invalid side to move"),
        (&format!("{expected}\nRed to move"), "Yellow is to move"),
    ];
    for (text, what) in refused {
        let line = read(text).unwrap_err().line();
        assert!(line.contains(what), "{text}: {line}");
    }
    let (game, _) = marks(3, 3, 3);
    let read = |text: &str| game.parse_position(text, &game.start()).map(|it| game.notation(&it));
    for text in [
        "b2 a1",
        ".../.../...X",
        "  a b c\n1 O . .\n2 . X .\n3 . . .",
        "200010000",
        "o..\n.x.\n...\n",
    ] {
        assert_eq!(read(text).is_ok(), text != ".../.../...X", "{text}");
    }
    assert_eq!(read("o..\n.x.\n...\n").unwrap(), read("b2 a1").unwrap());
}

/// Prints the file, or compares what is counted with it: small boards always, all with `YOMIKIRI_ALL_CASES=1`.
#[test]
fn the_counted_boards_are_those_of_the_file() {
    let file: BTreeMap<String, Vec<u64>> =
        serde_json::from_str(include_str!("../data/in-line-layers.json")).unwrap();
    let fours = [(4, 4), (4, 5), (5, 4), (6, 4), (4, 6), (5, 5)].map(|(rows, columns)| {
        let (game, plain) = four(rows, columns);
        (game.name(), plain)
    });
    let marked =
        [(3, 3, 3), (3, 4, 3), (3, 5, 3), (4, 4, 3), (4, 4, 4)].map(|(rows, columns, line)| {
            let (game, plain) = marks(rows, columns, line);
            (game.name(), plain)
        });
    let is_small =
        |name: &str| ["connect-four-4x4", "tic-tac-toe", "tic-tac-toe-3x4-3"].contains(&name);
    for (name, plain) in fours.into_iter().chain(marked) {
        if is_small(&name) || std::env::var_os("YOMIKIRI_ALL_CASES").is_some() {
            let counts = plain.counts();
            println!("\"{name}\": {counts:?}");
            assert_eq!(file.get(&name), Some(&counts), "{name}");
        }
    }
}

/// Every state of a table, by layer, and its value.
#[test]
fn every_state_has_the_value_of_the_plain_rules() {
    fn check(game: &(impl Game<State = Stones> + Clone), plain: &Plain, value: i32, count: usize) {
        let layers = plain.layers();
        assert_eq!(layers.iter().map(Vec::len).sum::<usize>(), count);
        let values = plain.values(&layers);
        assert_eq!(values[&plain.start()], value);
        let mut by_key: BTreeMap<u128, i32> = BTreeMap::new();
        for (board, &value) in &values {
            let position = game.parse_position(board, &game.start()).unwrap();
            let known = by_key.entry(game.canonical(&position.state).key).or_insert(value);
            assert_eq!(*known, value, "{board}");
        }
        let dir = tempfile::tempdir().unwrap();
        let store = yomikiri::table::Store::at(dir.path());
        let solution = yomikiri::solution::Solution::of(game.clone(), &store).unwrap();
        let mut solved = BTreeMap::new();
        for found in solution.positions() {
            let (position, value) = found.unwrap();
            let outcome = i32::from(value.outcome().map_or(0, Outcome::value));
            solved.insert(game.canonical(&position.state).key, outcome);
            assert_eq!(position.side, game.side_of(game.key(&position.state)));
        }
        assert!(solved == by_key);
    }
    let (game, plain) = four(4, 4);
    check(&game, &plain, 0, 161_029);
    let (game, plain) = marks(3, 3, 3);
    check(&game, &plain, 0, 5_478);
    let (game, plain) = marks(3, 4, 3);
    check(&game, &plain, 1, 111_973);
}

#[test]
fn ends_of_games_on_every_board_are_searched_to_the_last_ply() {
    let mut random = Random(11);
    for (rows, columns) in [(5, 5), (5, 7), (7, 7), (6, 7), (7, 5), (4, 8), (8, 7), (6, 6)] {
        let (game, plain) = four(rows, columns);
        let rules = game.clone().into_rules();
        let options = SearchOptions { memory: 1 << 20, ..SearchOptions::default() };
        let searcher = searcher(&*rules, &options).unwrap();
        let mut compared = 0;
        while compared < 60 {
            let mut board = plain.start();
            while board.matches('.').count() > 8 && plain.result(&board).is_none() {
                let mut moves = plain.moves(&board);
                board = moves.swap_remove(random.below(moves.len())).1;
            }
            if board.matches('.').count() > 8 {
                continue;
            }
            let position = rules.parse_position(&board, &rules.start()).unwrap();
            let limits = SearchLimits::default();
            let value = searcher.search(&position.state, &SearchTask::EXACT, &limits).value;
            let found = (value.outcome().unwrap().value(), value.distance().unwrap());
            let (result, plies) = plain.outlook(&board);
            assert_eq!((i32::from(found.0), i32::from(found.1)), (result, plies), "{board}");
            compared += 1;
        }
    }
}

#[test]
fn sides_follow_from_the_discs() {
    let (game, _) = four(4, 5);
    let start = game.start();
    let position = game.parse_position("33", &start).unwrap();
    assert_eq!(position.side, Side::First);
    let key = format!("{:x} Yellow", game.key(&position.state));
    let line = game.parse_position(&key, &start).unwrap_err().line();
    assert!(line.contains("Red is to move"), "{line}");
}
