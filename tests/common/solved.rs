//! Tables made for a test, in a directory of their own.
#![allow(dead_code)]

use tempfile::TempDir;
use yomikiri::any::AnyGame;
use yomikiri::game::{Game, Position};
use yomikiri::graph::{Graph, Plan, build};
use yomikiri::progress::Silent;
use yomikiri::solve::{self, Method, SolveOptions, value_iterate};
use yomikiri::solved::SolvedTable;
use yomikiri::table::{Store, Table};

/// The plan of everything that can be reached from the standard start.
pub fn standard<G: Game>(game: &G) -> Plan<G::State> {
    Plan::from_start(game)
}

/// The same with either side to move first.
pub fn both<G: Game>(game: &G) -> Plan<G::State> {
    let start = game.start();
    let state = game.swapped(&start.state).unwrap();
    let other = Position { state, side: start.side.other() };
    Plan { start: "both".to_string(), roots: vec![start, other], ..standard(game) }
}

/// How the commands solve unless told otherwise.
pub fn exactly<G: Game>(game: &G) -> Method {
    Method::exact(game)
}

/// Enumerates a plan into a new directory, which lives as long as the first part of the result.
pub fn enumerated<G: Game>(game: &G, plan: &Plan<G::State>) -> (TempDir, Table) {
    let dir = tempfile::tempdir().unwrap();
    let made = build(game, plan, &Store::at(dir.path()), &Silent).unwrap();
    (dir, made.table)
}

/// Solves a table.
pub fn solve<G: Game>(game: &G, table: &mut Table, method: &Method) {
    let graph = Graph::open_checked(table).unwrap();
    let terminal = graph.terminal_scores(game, method.empties);
    value_iterate(table, &graph, &terminal, method, &Silent, |_, _| {}).unwrap();
}

/// A table as everybody reads it.
pub fn opened(game: impl Game, table: &Table) -> SolvedTable {
    let table = Table::open(table.dir()).unwrap();
    SolvedTable::open(AnyGame::new(game), table, true).unwrap().unwrap()
}

/// Enumerates and solves.
pub fn solved<G: Game>(game: &G, plan: &Plan<G::State>) -> (TempDir, Table) {
    let (dir, mut table) = enumerated(game, plan);
    let options = SolveOptions::default();
    solve::solve(game, &mut table, &options, &Silent, &mut |_, _| {}).unwrap();
    (dir, table)
}
