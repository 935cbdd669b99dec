//! What a table holds, in numbers.

use crate::any::AnyGame;
use crate::game::{Game, Side};
use crate::render::Grid;
use crate::render::number::thousands;
use crate::table::{Counts, Manifest, Table};

/// The payload of all arrays, in bytes.
pub(super) fn size_of_table(table: &Table) -> u64 {
    let width = |dtype: &str| dtype.get(2..).and_then(|w| w.parse::<u64>().ok()).unwrap_or(1);
    let arrays = table.manifest().arrays.values();
    let sizes = arrays.map(|a| a.shape.iter().fold(width(&a.dtype), |n, &d| n.saturating_mul(d)));
    sizes.fold(0, u64::saturating_add)
}

/// The counts of a table with their meaning, in all and by layer.
pub(super) fn counts_text(game: &AnyGame, manifest: &Manifest) -> String {
    match game.layers() {
        Some(layers) => positions_text(game, layers, manifest),
        None => rows_text(game, manifest),
    }
}

/// Of a layered game: positions in every sense in which they are counted.
fn positions_text(game: &AnyGame, layers: &str, manifest: &Manifest) -> String {
    let identity = &manifest.identity;
    let first = game.side_name(Side::First);
    let from = match identity.start.as_str() {
        "standard" => format!("the standard start, {first} to move"),
        "both" => "the standard start, either side to move".to_string(),
        _ => identity.roots.join(" "),
    };
    let mut text = format!("{} from {from}\n\n", game.title());
    let (counts, rows) = (&manifest.counts, &manifest.counts.table);
    let reachable = counts.reachable();
    let folding = match identity.symmetry_order {
        1 if game.with_folding(true).is_none() => {
            "the same, for no symmetries are known".to_string()
        }
        1 => "mover-relative states up to the board's symmetries".to_string(),
        n => format!("mover-relative states up to the board's {n} symmetries: the table's rows"),
    };
    let mut facts = vec![
        (reachable.states, "reachable states", "a board and the side to move"),
        (counts.distinct_boards(), "distinct boards", "whoever is to move"),
        (
            counts.mover_relative(),
            "mover-relative states",
            "boards as the mover sees them, colours forgotten",
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
        "{:>15}  {:<22} rows of the table: {} states, {} transitions\n\n",
        "",
        "",
        thousands(rows.states),
        thousands(rows.transitions)
    );
    let mut columns: Vec<Column> = vec![
        ("states", |counts| counts.reachable().states),
        ("boards", Counts::distinct_boards),
        ("mover-relative", Counts::mover_relative),
        ("canonical", Counts::canonical),
        ("terminals", |counts| counts.reachable().terminals),
        ("passes", |counts| counts.reachable().passes),
        ("transitions", |counts| counts.reachable().transitions),
    ];
    if !manifest.complete {
        columns.push(("frontier", |counts| counts.reachable().frontier));
    }
    text + &layers_text(layers, manifest.first_layer as usize, &columns, manifest)
}

/// What is counted of a layer, with its heading.
type Column = (&'static str, fn(&Counts) -> u64);

/// A row a layer, `first` being the number of the first, and one of all.
fn layers_text(heading: &str, first: usize, columns: &[Column], manifest: &Manifest) -> String {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let row = |name: String, counts: &Counts| {
        let cells = columns.iter().map(|(_, count)| thousands(count(counts)));
        [name].into_iter().chain(cells).collect()
    };
    let layers = (first..).zip(&manifest.layers);
    let layers = layers.map(|(number, counts)| row(number.to_string(), counts));
    let rows = layers.chain([row("all".to_string(), &manifest.counts)]);
    Grid::of(&[&[heading], &headings[..]].concat(), rows).to_text()
}

/// Of a cyclic game: the rows, in all and by plies.
fn rows_text(game: &AnyGame, manifest: &Manifest) -> String {
    let identity = &manifest.identity;
    let from = match (identity.start.as_str(), &identity.roots[..]) {
        ("standard", _) => format!("the start, {} to move", game.side_name(Side::First)),
        (_, [root]) => root.clone(),
        (_, roots) => format!("{} roots, the first {}", roots.len(), roots[0]),
    };
    let mut text = format!("{} from {from}\n", game.title());
    if identity.checks_only {
        text += "The player to move at the root gives check with every move.\n";
    }
    text += "\n";
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
    let planes = game.planes();
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
    let mut columns: Vec<Column> = vec![
        ("states", |counts| counts.table.states),
        ("terminals", |counts| counts.table.terminals),
        ("transitions", |counts| counts.table.transitions),
    ];
    if won.is_some() {
        columns.insert(2, ("won", |counts| counts.terminals_won.unwrap_or(0)));
    }
    if rows.frontier > 0 {
        columns.push(("frontier", |counts| counts.table.frontier));
    }
    text + "\n" + &layers_text("ply", 0, &columns, manifest)
}
