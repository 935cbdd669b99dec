//! Contents of a table in numbers.

use std::collections::BTreeMap;

use yomikiri::oracle::LayerValues;
use yomikiri::rules::{Rules, Side};
use yomikiri::table::{Counts, Identity, Manifest, Table};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::thousands;

/// Most roots that are shown of a table.
pub(super) const MOST_ROOTS: usize = 10;

/// Returns the title of a table in brackets, to stand behind its name; nothing for the whole table of a game,
/// whose name is clear.
pub(super) fn bracketed(game: &dyn Rules, name: &str, identity: &Identity) -> String {
    match name == identity.game {
        true => String::new(),
        false => format!(" ({})", title(game, identity)),
    }
}

/// Returns a title for people: the game of a table, and its bounds.
pub(super) fn title(game: &dyn Rules, identity: &Identity) -> String {
    let mut text = game.title();
    match (identity.start.as_str(), identity.roots.len()) {
        ("standard", _) => {}
        ("both", _) => text += ", either side to begin",
        (_, 1) => text += " from one position",
        (_, roots) => text += &format!(" from {roots} positions"),
    }
    let bounds = [
        identity.max_depth.map(|plies| counted_plies(plies.into())),
        identity.max_states.map(|states| format!("at most {} states", thousands(states))),
        (identity.index.as_deref() == Some("keys")).then(|| "by keys".to_string()),
        (identity.symmetry == "none").then(|| "symmetries not folded".to_string()),
        identity.is_derived().then(|| "moves derived".to_string()),
    ];
    bounds.into_iter().flatten().for_each(|bound| text += &format!(", {bound}"));
    text
}

fn counted_plies(plies: u64) -> String {
    if plies == 1 { "1 ply".to_string() } else { format!("{} plies", thousands(plies)) }
}

/// Returns the bytes of all arrays.
pub(super) fn size_of_table(table: &Table) -> u64 {
    let width = |dtype: &str| dtype.get(2..).and_then(|w| w.parse::<u64>().ok()).unwrap_or(1);
    let arrays = table.manifest().arrays.values();
    let sizes = arrays.map(|a| a.shape.iter().fold(width(&a.dtype), |n, &d| n.saturating_mul(d)));
    sizes.fold(0, u64::saturating_add)
}

/// Lays out the counts of a table with their meaning, in all and by layer.
pub(super) fn counts_text(game: &dyn Rules, manifest: &Manifest) -> String {
    let facts = match manifest.counts.reachable {
        Some(_) => {
            positions_text(game, manifest)
                + "\nFrom 'states' on, columns count rows of the table.\n"
        }
        None => rows_text(game, manifest),
    };
    facts + "\n" + &by_layer(game, manifest, None).to_text()
}

/// Lays out positions, counted in five ways: for tables of layered games by key.
fn positions_text(game: &dyn Rules, manifest: &Manifest) -> String {
    let identity = &manifest.identity;
    let first = game.side_name(Side::First);
    let from = match identity.start.as_str() {
        "standard" => format!("the standard start, {first} to move"),
        "both" => "the standard start, either side to move".to_string(),
        _ => roots_text(&identity.roots),
    };
    let mut text = format!("{} from {from}\n\n", game.title());
    let (counts, rows) = (&manifest.counts, &manifest.counts.table);
    let reachable = counts.reachable();
    let folding = match identity.symmetry_order {
        1 if game.with_folding(true).is_none() => {
            "the same: the game has no symmetries".to_string()
        }
        1 => "mover-relative, mirror images counted once".to_string(),
        n => format!("mover-relative, {n} symmetries counted once: rows of the table"),
    };
    let mut facts = vec![
        (reachable.states, "reachable states", "a board and the side to move"),
        (counts.distinct_boards(), "distinct boards", "with either side to move"),
        (
            counts.mover_relative(),
            "mover-relative states",
            "boards as the mover sees them, without colours",
        ),
        (counts.canonical(), "canonical states", &folding),
        (reachable.terminals, "terminals", "reachable states in which the game is over"),
        (reachable.passes, "passes", "reachable states whose mover must pass"),
        (reachable.transitions, "transitions", "moves out of reachable states, passes among them"),
    ];
    if !manifest.complete {
        facts.push((
            reachable.frontier,
            "frontier",
            "reachable states whose moves were not followed",
        ));
    }
    for (number, name, meaning) in facts {
        text += &format!("{:>15}  {name:<22} {meaning}\n", thousands(number));
    }
    text += &format!(
        "{:>15}  {:<22} rows of the table: {} states, {} transitions\n",
        "",
        "",
        thousands(rows.states),
        thousands(rows.transitions)
    );
    text
}

/// Lists the roots of a table; of many the first.
fn roots_text(roots: &[String]) -> String {
    let first = roots.iter().take(MOST_ROOTS);
    let first: String = first.map(|root| format!("\n  {root}")).collect();
    match roots {
        [root] => root.clone(),
        [.., _] if roots.len() <= MOST_ROOTS => format!("{} roots:{first}", roots.len()),
        _ => {
            let count = thousands(roots.len() as u64);
            format!("{count} roots, all of them in manifest.json:{first}\n  …")
        }
    }
}

/// Lays out the rows, in all and by plies: for other tables.
fn rows_text(game: &dyn Rules, manifest: &Manifest) -> String {
    let identity = &manifest.identity;
    let from = match identity.start.as_str() {
        "standard" => format!("the start, {} to move", game.side_name(Side::First)),
        _ => roots_text(&identity.roots),
    };
    let mut text = format!("{} from {from}\n\n", game.title());
    let rows = &manifest.counts.table;
    let states = match (identity.symmetry_order > 1, identity.sides.is_some()) {
        (true, true) => "positions with the side to move, mirror images counted once",
        (false, true) => "positions with the side to move",
        (true, false) => "positions as the mover sees them, mirror images counted once",
        (false, false) => "positions as the mover sees them",
    };
    let won = manifest.counts.terminals_won;
    let mut facts = vec![
        (rows.states, "states", states),
        (rows.terminals, "terminals", "states in which the game is over"),
        (rows.transitions, "transitions", "moves out of the others"),
    ];
    let planes = game.plane_kinds();
    let captures = match planes.pieces.first() {
        Some(king) => format!("those in which the mover could capture the {king}"),
        None => "those that the mover has won".to_string(),
    };
    if let Some(won) = won {
        facts.insert(2, (won, "won terminals", &captures));
    }
    if rows.frontier > 0 {
        facts.push((rows.frontier, "frontier", "states whose moves were not followed"));
    }
    for (number, name, meaning) in facts {
        text += &format!("{:>15}  {name:<13} {meaning}\n", thousands(number));
    }
    text
}

/// Returns the moves without passes, where all are followed: passes are counted at a frontier too.
pub(super) fn moves(counts: &Counts) -> Option<u64> {
    let rows = &counts.table;
    (rows.frontier == 0).then(|| rows.transitions - rows.passes)
}

/// Lays out counts by layer and in all, with values where they are given and rows have a layer.
pub(super) fn by_layer(
    game: &dyn Rules,
    manifest: &Manifest,
    values: Option<(&BTreeMap<u32, LayerValues>, &LayerValues)>,
) -> Grid {
    type CountColumn = (&'static str, fn(&Counts) -> u64);
    type ValueColumn = (&'static str, fn(&LayerValues) -> String);
    let rows = &manifest.counts.table;
    let mut counted: Vec<CountColumn> = Vec::new();
    if manifest.counts.reachable.is_some() {
        counted.push(("positions", |counts| counts.reachable().states));
        counted.push(("boards", Counts::distinct_boards));
        counted.push(("mover-relative", Counts::mover_relative));
    }
    counted.push(("states", |counts| counts.table.states));
    counted.push(("terminals", |counts| counts.table.terminals));
    match rows.frontier {
        0 => counted.push(("moves", |counts| moves(counts).unwrap_or_default())),
        _ => counted.push(("transitions", |counts| counts.table.transitions)),
    }
    if rows.passes > 0 {
        counted.push(("passes", |counts| counts.table.passes));
    }
    if rows.frontier > 0 {
        counted.push(("frontier", |counts| counts.table.frontier));
    }
    let mut valued: Vec<ValueColumn> = Vec::new();
    if let Some((_, all)) = values {
        valued.push(("lost", |values| thousands(values.losses)));
        valued.push(("drawn", |values| thousands(values.draws)));
        valued.push(("won", |values| thousands(values.wins)));
        if unproven(all) > 0 {
            valued.push(("not proven", |values| thousands(unproven(values))));
        }
        if game.has_scores() {
            valued.push(("sum of scores", |values| {
                let sign = if values.sum_of_scores < 0 { "−" } else { "" };
                format!("{sign}{}", thousands(values.sum_of_scores.unsigned_abs()))
            }));
        }
    }
    let row = |name: String, counts: &Counts, values: Option<&LayerValues>| -> Vec<String> {
        let counts = counted.iter().map(|(_, count)| thousands(count(counts)));
        let values = valued.iter().map(|(_, say)| values.map_or(String::new(), say));
        [name].into_iter().chain(counts).chain(values).collect()
    };
    let headings = [game.layer_unit().unwrap_or("ply")].into_iter();
    let headings = headings.chain(counted.iter().map(|column| column.0));
    let headings: Vec<&str> = headings.chain(valued.iter().map(|column| column.0)).collect();
    let layers = (manifest.first_layer..).zip(&manifest.layers);
    let layers = layers.filter(|(_, counts)| counts.table.states > 0).map(|(number, counts)| {
        let values = values.and_then(|(layers, _)| layers.get(&number));
        row(number.to_string(), counts, values)
    });
    let all = row("all".to_string(), &manifest.counts, values.map(|(_, all)| all));
    Grid::of(&headings, layers.chain([all]))
}

fn unproven(values: &LayerValues) -> u64 {
    values.states - values.losses - values.draws - values.wins
}
