//! Tables that are made on the way: enumerated and solved if they are missing.

use super::context::Context;
use super::enumerate::make;
use super::value_iterate::solve_table;
use yomikiri::enumerate::Plan;
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::Rules;
use yomikiri::solve::SolveOptions;
use yomikiri::table::Table;

/// Returns the table that is given, solved if it is not yet, or the solved table of a whole game.
pub(super) fn ensure_solved(
    game: &dyn Rules,
    table: Option<Table>,
    force: bool,
    context: &Context,
) -> Result<SolvedTable, Error> {
    let mut table = match table {
        Some(table) => table,
        None => whole(game, context, force)?,
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve_table(&mut table, &SolveOptions::default(), force, context)?;
    }
    context.solved(table, true)
}

/// Returns the table of a whole game, enumerated if it is missing.
fn whole(game: &dyn Rules, context: &Context, force: bool) -> Result<Table, Error> {
    if !game.facts().is_small {
        let name = game.name();
        return Err(Error::new(
            format!("{name} is too large to be enumerated whole"),
            format!(
                "make a bounded table with 'solver enumerate {name} --max-depth 6' and name that"
            ),
        ));
    }
    let plan = Plan::from_start(game);
    // A finished table needs no lock.
    let there = context.store.open(&plan.table_name(game)).ok();
    let is_done = |table: &Table| {
        let manifest = table.manifest();
        let is_meant = manifest.identity == plan.identity(game) && !manifest.is_packed();
        is_meant && manifest.solution.is_some()
    };
    if let Some(table) = there.filter(is_done) {
        return Ok(table);
    }
    let made = make(game, plan, context, force)?;
    if !made.reused {
        context.remark(format!("{}: enumerated", made.table.name()));
    }
    Ok(made.table)
}
