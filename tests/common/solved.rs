//! Games as commands use them, and tables made for a test in a directory of their own.
//!
//! The library contains rules, solver and proof for these games; naming the types of rules would compile them
//! again.
#![allow(dead_code)]

use std::sync::Arc;
use tempfile::TempDir;
use yomikiri::enumerate::{self, Plan};
use yomikiri::error::Error;
use yomikiri::oracle::{SolvedTable, States};
use yomikiri::progress::{Progress, Silent};
use yomikiri::registry::Games;
use yomikiri::rules::{AnyState, Game, Position, Rules};
use yomikiri::solve::{self, Run, SolveOptions};
use yomikiri::table::{Store, Table};

/// Returns a game by its name, with states folded under all symmetries.
pub fn named(name: &str) -> Arc<dyn Rules> {
    Games::default().named(name).unwrap()
}

/// Returns a game by its name, without folding.
pub fn unfolded(name: &str) -> Arc<dyn Rules> {
    named(name).with_folding(false).unwrap()
}

/// Returns a board of four by four, folded or not.
pub fn board_4x4(fold: bool) -> Arc<dyn Rules> {
    if fold { named("othello-4x4") } else { unfolded("othello-4x4") }
}

/// Returns the plan of everything reachable from the standard start.
pub fn standard(game: &dyn Rules) -> Plan {
    Plan::from_start(game)
}

/// Returns the plan of everything reachable from the start with either side to move first.
pub fn both(game: &dyn Rules) -> Plan {
    let start = game.start();
    let state = game.swapped(&start.state).unwrap();
    let other = Position { state, side: start.side.other() };
    Plan { start: "both".to_string(), roots: vec![start, other], ..standard(game) }
}

/// Enumerates everything reachable from the standard start.
pub fn make(game: &dyn Rules, store: &Store) -> Table {
    enumerate::build(game, &standard(game), store, &Silent).unwrap().table
}

/// Enumerates a plan into a new directory, which lives as long as the first part of the result.
pub fn enumerated(game: &dyn Rules, plan: &Plan) -> (TempDir, Table) {
    let dir = tempfile::tempdir().unwrap();
    let made = enumerate::build(game, plan, &Store::at(dir.path()), &Silent).unwrap();
    (dir, made.table)
}

pub fn solve(
    game: &dyn Rules,
    table: &mut Table,
    options: &SolveOptions,
    progress: &dyn Progress,
) -> Result<Run, Error> {
    solve::solve(game, table, options, progress, &mut |_, _| {})
}

/// Enumerates and solves a plan.
pub fn solved(game: &dyn Rules, plan: &Plan) -> (TempDir, Table) {
    let (dir, mut table) = enumerated(game, plan);
    solve(game, &mut table, &SolveOptions::default(), &Silent).unwrap();
    (dir, table)
}

/// Opens the rows of a table without values.
pub fn rows(table: &Table) -> States {
    let table = Table::open(table.dir()).unwrap();
    States::open(Games::default().of_table(&table).unwrap(), table, false).unwrap()
}

/// Opens a solved table with its values.
pub fn opened(table: &Table) -> SolvedTable {
    let table = Table::open(table.dir()).unwrap();
    let game = Games::default().of_table(&table).unwrap();
    SolvedTable::open(game, table, true).unwrap().unwrap()
}
