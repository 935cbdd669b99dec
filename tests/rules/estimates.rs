//! Errors of estimates, against the exact search.

use yomikiri::games::othello::packed_of;
use yomikiri::games::othello::search::random_board;
use yomikiri::registry::othello;
use yomikiri::rules::{Position, Score, SearchLimits, SearchOptions, Side};
use yomikiri::search::estimate::{ESTIMATE_NODES, Wanted, estimate};

/// Estimates are near the exact score on boards with trained weights and with plain ones. `docs/engine.md` has the
/// figures.
#[test]
fn estimates_of_othello_err_by_few_discs() {
    const BOARDS: u32 = 100;
    for (rows, columns, most) in [(8, 8, 5.0), (6, 6, 3.0), (5, 5, 4.0), (7, 7, 6.0)] {
        let game = othello(&format!("{rows}x{columns}")).unwrap();
        let options = SearchOptions { memory: 1 << 24, ..SearchOptions::default() };
        let search = game.score_search(&options).unwrap();
        let limits = SearchLimits { nodes: Some(ESTIMATE_NODES), ..SearchLimits::default() };
        let (mut seed, mut error, mut bias) = (7, 0.0, 0.0);
        for _ in 0..BOARDS {
            let board = random_board(rows, columns, 14, &mut seed);
            let [mover, opponent] =
                [board.mover, board.opponent].map(|set| packed_of(set, columns));
            let state = game.of_squares(mover, opponent).unwrap();
            let all = (Score(-64), Score(64));
            let exact = search.search(&state, all, &SearchLimits::default()).lower.0;
            let position = Position { state, side: Side::First };
            let found = estimate(&*game, &position, &Wanted::best(), &limits, &mut |_| {});
            let estimated = found.moves.first().map(|best| best.worth.hundredths().unwrap());
            let difference = estimated
                .map_or(0.0, |hundredths| f64::from(hundredths) / 100.0 - f64::from(exact));
            error += difference.abs() / f64::from(BOARDS);
            bias += difference / f64::from(BOARDS);
        }
        println!("{rows}x{columns}: error {error:.1} discs, bias {bias:+.1}");
        assert!(error < most && bias.abs() < 3.0, "{rows}x{columns}: {error} {bias}");
    }
}
