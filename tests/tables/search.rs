//! Search and tables agree.

use std::sync::Arc;
use yomikiri::enumerate::{self, Plan};
use yomikiri::games::othello::Othello;
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::{
    Action, AnyPosition, Empties, Facts, Game, Outcome, Position, Rules, Score, SearchLimits,
    SearchOptions,
};
use yomikiri::search::{SearchTask, searcher};
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::Store;

use crate::common::Random;
use crate::common::solved::named;

/// Othello without its own search.
#[derive(Clone, Debug)]
struct Plainly(Othello);

impl Game for Plainly {
    type State = <Othello as Game>::State;

    fn name(&self) -> String {
        self.0.name()
    }

    fn start(&self) -> Position<Self::State> {
        self.0.start()
    }

    fn action_count(&self) -> usize {
        self.0.action_count()
    }

    fn moves(&self, state: &Self::State, each: impl FnMut(Action, Self::State)) {
        self.0.moves(state, each);
    }

    fn result(&self, state: &Self::State) -> Option<Outcome> {
        self.0.result(state)
    }

    fn key(&self, state: &Self::State) -> u128 {
        self.0.key(state)
    }

    fn state(&self, key: u128) -> Option<Self::State> {
        self.0.state(key)
    }

    fn facts(&self) -> Facts {
        self.0.facts()
    }

    fn is_pass(&self, action: Action) -> bool {
        self.0.is_pass(action)
    }

    fn layer_unit(&self) -> Option<&'static str> {
        self.0.layer_unit()
    }

    fn layer(&self, state: &Self::State) -> u32 {
        self.0.layer(state)
    }

    fn max_score(&self) -> Option<Score> {
        self.0.max_score()
    }

    fn score(&self, state: &Self::State, empties: Empties) -> Score {
        self.0.score(state, empties)
    }
}

fn board(rows: usize, columns: usize) -> Arc<dyn Rules> {
    named(&format!("othello-{rows}x{columns}"))
}

/// Compares every `step`th row of a table with both searches.
fn compare(rows: usize, columns: usize, empties: Empties, step: usize) {
    let dir = tempfile::tempdir().unwrap();
    let game = board(rows, columns);
    let options = SolveOptions { empties: Some(empties), ..SolveOptions::default() };
    let store = Store::at(dir.path());
    let mut made =
        enumerate::build(&*game, &Plan::from_start(&*game), &store, &Silent).unwrap().table;
    solve::solve(&*game, &mut made, &options, &Silent, &mut |_, _| ()).unwrap();
    let table = SolvedTable::open(game.clone(), made, false).unwrap().unwrap();
    let options = SearchOptions { empties, ..SearchOptions::default() };
    let quick = searcher(&*game, &options).unwrap();
    // Its keys are those of Othello.
    let plainly = Plainly(Othello::new(rows, columns, true)).into_rules();
    let plain = searcher(&*plainly, &options).unwrap();
    let mut compared = 0;
    for piece in table.states().pieces() {
        let each = |row: usize, position: AnyPosition| {
            if !row.is_multiple_of(step) {
                return Ok(());
            }
            let score = table.value(row).score().unwrap();
            for searcher in [&quick, &plain] {
                let limits = SearchLimits::default();
                let found = searcher.search(&position.state, &SearchTask::EXACT, &limits);
                assert_eq!(found.value.score(), Some(score), "row {row}");
                let best =
                    found.line.first().copied().filter(|_| !game.is_terminal(&position.state));
                if let Some(action) = best {
                    let after = game.advance(&position, action);
                    let after = table.value(table.states().find(&after).unwrap());
                    assert_eq!(after.score(), Some(-score), "best move of row {row}");
                }
            }
            compared += 1;
            Ok(())
        };
        table.states().visit(piece.rows.clone(), each).unwrap();
    }
    assert!(compared > 10_000, "{compared}");
}

/// Compares every `step`th row of a table with Othello's own search.
fn compare_quickly(rows: usize, columns: usize, step: usize) {
    let dir = tempfile::tempdir().unwrap();
    let game = board(rows, columns);
    let table = SolvedTable::of_whole(game.clone(), &Store::at(dir.path()), &Silent).unwrap();
    let search = searcher(&*game, &SearchOptions::default()).unwrap();
    let mut compared = 0;
    for piece in table.states().pieces() {
        let each = |row: usize, position: AnyPosition| {
            if row.is_multiple_of(step) {
                let limits = SearchLimits::default();
                let found = search.search(&position.state, &SearchTask::EXACT, &limits);
                assert_eq!(found.value.score(), table.value(row).score(), "row {row}");
                compared += 1;
            }
            Ok(())
        };
        table.states().visit(piece.rows.clone(), each).unwrap();
    }
    assert!(compared > 100_000, "{compared}");
}

#[test]
fn every_state_of_4x4_has_the_value_of_its_table() {
    compare(4, 4, Empties::Uncounted, 1);
    compare(4, 4, Empties::ToWinner, 1);
}

#[test]
fn states_of_4x5_have_the_value_of_their_table() {
    compare(4, 5, Empties::Uncounted, 24);
}

/// Takes minutes and 12 GB of disk.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn states_of_4x6_and_5x5_have_the_value_of_their_table() {
    compare_quickly(4, 6, 1_201);
    compare_quickly(5, 5, 3_607);
}

/// Narrow windows and limits give bounds that hold; windows that contain the score give the score.
#[test]
fn bounds_hold() {
    let game = board(4, 5);
    let options = SearchOptions::default();
    let mut random = Random(7);
    for _ in 0..200 {
        let mut position = game.start();
        for _ in 0..6 + random.below(4) {
            let actions = game.actions(&position.state);
            let Some(&action) = actions.get(random.below(actions.len().max(1))) else { break };
            position = game.advance(&position, action);
        }
        let search = |task: &SearchTask, limits: &SearchLimits| {
            let searcher = searcher(&*game, &options).unwrap();
            searcher.search(&position.state, task, limits).value
        };
        let exact = search(&SearchTask::EXACT, &SearchLimits::default()).score().unwrap();
        let holds = |value: yomikiri::solve::Value| {
            value.lower.score() <= exact && exact <= value.upper.score()
        };
        let around = search(&SearchTask::around(exact), &SearchLimits::default());
        assert_eq!(around.score(), Some(exact));
        for aside in [-3, 3] {
            let aside = Score(exact.0 + aside);
            let value = search(&SearchTask::around(aside), &SearchLimits::default());
            assert!(holds(value), "{value:?}");
            let is_below = value.upper.score() < aside;
            assert_eq!(is_below, exact < aside);
        }
        for nodes in [1, 10, 100, 1000] {
            let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
            assert!(holds(search(&SearchTask::EXACT, &limits)));
        }
    }
}
