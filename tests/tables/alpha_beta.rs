//! Values found by search alone agree with those of tables.

use yomikiri::games::othello::Othello;
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::{AnyPosition, Game, Score, SearchLimits, SearchOptions};
use yomikiri::search::{SearchTask, searcher};
use yomikiri::table::Store;

use crate::common::solved::{board_4x4, named};
use crate::examples::alpha_beta::Search;

#[test]
fn boards_are_worth_what_tables_say() {
    // 4x7 was solved once by several processes; its table is not kept.
    for (rows, columns, score) in [(4, 4, -8), (4, 5, 16), (4, 6, 16), (4, 7, 24)] {
        let game = Othello::new(rows, columns, true);
        assert_eq!(Search::new(&game).score(&game.start().state), score, "{rows}x{columns}");
    }
}

#[test]
fn every_state_is_worth_what_its_table_says() {
    let dir = tempfile::tempdir().unwrap();
    let game = Othello::new(4, 4, true);
    let table = SolvedTable::of_whole(board_4x4(true), &Store::at(dir.path()), &Silent).unwrap();
    let (mut search, states) = (Search::new(&game), table.states());
    let mut rows = 0;
    for piece in states.pieces() {
        let of = |row, position: yomikiri::rules::AnyPosition| {
            rows += 1;
            let (own, other) = states.game().squares(&position.state).unwrap();
            let found = search.score(&game.of_squares(own, other).unwrap());
            assert_eq!(table.value(row).score().map(|score| score.0), Some(found), "row {row}");
            Ok(())
        };
        states.visit(piece.rows.clone(), of).unwrap();
    }
    assert_eq!(rows, 12_351);
}

/// The search of Connect Four has the outcome, the plies to the end and a best move of the table; by outcome alone too.
#[test]
fn connect_four_is_searched_to_the_values_of_its_tables() {
    for (name, step) in
        [("connect-four-4x4", 7), ("connect-four-4x5", 997), ("connect-four-5x4", 499)]
    {
        let dir = tempfile::tempdir().unwrap();
        let table = SolvedTable::of_whole(named(name), &Store::at(dir.path()), &Silent).unwrap();
        let (game, states) = (named(name), table.states());
        let options = SearchOptions { memory: 1 << 24, ..SearchOptions::default() };
        let searcher = searcher(&*game, &options).unwrap();
        let limits = SearchLimits::default();
        let mut compared = 0;
        for piece in states.pieces() {
            let of = |row: usize, position: AnyPosition| {
                if !row.is_multiple_of(step) {
                    return Ok(());
                }
                let known = table.value(row);
                let text = game.notation(&position);
                let found = searcher.search(&position.state, &SearchTask::EXACT, &limits);
                assert_eq!(found.value, known, "{text}");
                let by_outcome = SearchTask::around(Score(0));
                let outcome =
                    searcher.search(&position.state, &by_outcome, &limits).value.outcome();
                assert_eq!(outcome, known.outcome(), "{text}");
                let over = game.is_terminal(&position.state);
                assert_eq!(found.line.is_empty(), over, "{text}");
                if let [best] = found.line[..] {
                    let after = game.play(&position.state, best);
                    let value = searcher.search(&after, &SearchTask::EXACT, &limits).value;
                    assert_eq!(value.outcome().map(|outcome| -outcome), known.outcome(), "{text}");
                    let left = known.distance().map(|plies| plies - 1);
                    assert_eq!(value.distance(), left, "{text}");
                }
                compared += 1;
                Ok(())
            };
            states.visit(piece.rows.clone(), of).unwrap();
        }
        assert!(compared > 1500, "{compared}");
    }
}
