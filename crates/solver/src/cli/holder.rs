//! Table in which a position is looked up, if none is named.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;

use super::context::Context;
use super::table_args::open_whole;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Game, GameExt};
use yomikiri::hint::{Hint, Hinted};
use yomikiri::solved::SolvedTable;

/// Finds the solved table that knows most of a position, among those of a game or all. Payloads are read only where
/// a row is looked up.
pub(super) fn holder(
    text: &str,
    of: Option<&AnyGame>,
    context: &Context,
) -> anyhow::Result<(SolvedTable, AnyPosition)> {
    let mut found = Vec::new();
    let (mut unread, mut elsewhere) = (BTreeMap::<String, BTreeSet<String>>::new(), Vec::new());
    for name in context.store.names() {
        // 'solver list' and 'solver verify' report tables that cannot be opened.
        let Ok(table) = context.store.open(&name) else { continue };
        let Ok(game) = context.games.of_table(&table) else { continue };
        if table.manifest().solution.is_none() || of.is_some_and(|of| of.name() != game.name()) {
            continue;
        }
        let position = match game.parse_position(text, &game.start()) {
            Ok(position) => position,
            Err(error) => {
                // Games of one family often reject a text with the same message.
                unread.entry(error.line()).or_default().insert(game.name());
                continue;
            }
        };
        let Ok(table) = context.solved(table.for_few_rows(), false) else { continue };
        match table.states().find(&position).map(|row| table.value(row)) {
            Some(value) => found.push((value.lower != value.upper, table, position)),
            None => elsewhere.push(name),
        }
    }
    let games: BTreeSet<String> = found.iter().map(|(_, table, _)| table.game().name()).collect();
    if games.len() > 1 {
        let latest = context.latest();
        let latest = latest.map(|table| table.manifest().identity.game.clone());
        let Some(meant) = latest.ok().filter(|latest| games.contains(latest)) else {
            let what = format!("`{text}` fits {}", listed(games));
            bail!(Hinted::new(what, "name a table before it"));
        };
        found.retain(|(_, table, _)| table.game().name() == meant);
    }
    // The tables are in the order of their names.
    let best = found
        .into_iter()
        .min_by_key(|(open, table, _)| (*open, !table.table().manifest().complete));
    if let Some((_, table, position)) = best {
        return Ok((table, position));
    }
    let mut tried: Vec<String> =
        unread.into_iter().map(|(error, games)| format!("{}: {error}", listed(games))).collect();
    if !elsewhere.is_empty() {
        tried.push(format!("not among the states of {}", elsewhere.join(", ")));
    }
    if tried.is_empty() {
        of.map_or(Ok(()), |game| open_whole(game, context).map(drop))?;
        tried.push("none is solved there; see 'solver list'".to_string());
    }
    let (tables, tried) = (context.store.root().display(), tried.join("; "));
    bail!(Hinted::from(format!("no solved table in {tables} contains `{text}` ({tried})")))
}

fn listed(names: BTreeSet<String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
