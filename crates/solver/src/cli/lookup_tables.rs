//! Solved tables in which a position is looked up, if none is named.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::error::not_solved;
use super::table_args::{open_latest, open_whole};
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri::table::Table;

/// Opens the solved tables that `fits` accepts, in the order of their names. Payloads are read only where a row is
/// looked up. `solver list` and `solver verify` report tables that cannot be opened.
pub(super) fn solved_tables(
    context: &Context,
    mut fits: impl FnMut(&Table) -> bool,
) -> Vec<SolvedTable> {
    let names = context.store.names().into_iter();
    let tables = names.filter_map(|name| context.store.open(&name).ok());
    let tables = tables.filter(|table| table.manifest().solution.is_some() && fits(table));
    tables.filter_map(|table| context.solved(table.for_few_rows(), false).ok()).collect()
}

/// Finds the solved tables that contain a position, of the given game or of the only one in which the text fits;
/// complete ones come first.
pub(super) fn containing(
    text: &str,
    of: Option<&dyn Rules>,
    context: &Context,
) -> Result<(Vec<SolvedTable>, AnyPosition), Error> {
    let is_of = |table: &Table| of.is_none_or(|of| of.name() == table.manifest().identity.game);
    let (mut found, mut elsewhere) = (Vec::new(), Vec::new());
    let mut unread = BTreeMap::<String, BTreeSet<String>>::new();
    for table in solved_tables(context, is_of) {
        match table.game().parse_position(text, &table.game().start()) {
            Ok(position) if table.states().find(&position).is_some() => {
                found.push((table, position));
            }
            Ok(_) => elsewhere.push(table.table().name()),
            // Games of one family often reject a text with the same message.
            Err(error) => {
                unread.entry(error.line()).or_default().insert(table.game().name());
            }
        }
    }
    let games: BTreeSet<String> = found.iter().map(|(table, _)| table.game().name()).collect();
    if games.len() > 1 {
        let latest = open_latest(context);
        let latest = latest.map(|table| table.manifest().identity.game.clone());
        let Some(meant) = latest.ok().filter(|latest| games.contains(latest)) else {
            let what = format!("`{text}` fits {}", listed(games));
            return Err(Error::new(what, "name a table before it"));
        };
        found.retain(|(table, _)| table.game().name() == meant);
    }
    found.sort_by_key(|(table, _)| !table.table().manifest().complete);
    if let Some(&(_, position)) = found.first() {
        return Ok((found.into_iter().map(|(table, _)| table).collect(), position));
    }
    let mut tried: Vec<String> =
        unread.into_iter().map(|(error, games)| format!("{}: {error}", listed(games))).collect();
    if !elsewhere.is_empty() {
        tried.push(format!("not among the states of {}", elsewhere.join(", ")));
    }
    if tried.is_empty() {
        let table = of.map_or_else(|| open_latest(context), |game| open_whole(game, context))?;
        if table.manifest().solution.is_none() {
            return Err(not_solved(&table.name()));
        }
        tried.push("none is solved there; see 'solver list'".to_string());
    }
    let (tables, tried) = (context.store.root().display(), tried.join("; "));
    Err(Error::from(format!("no solved table in {tables} contains `{text}` ({tried})")))
}

fn listed(names: BTreeSet<String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
