//! Values found by search alone agree with those of tables.

use yomikiri::games::othello::Othello;
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::Game;
use yomikiri::table::Store;

use crate::common::solved::board_4x4;
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
