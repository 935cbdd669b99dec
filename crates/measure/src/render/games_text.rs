//! The games of a report as aligned text.

use super::grid::Grid;
use super::number::{percent, signed};
use crate::judge::{BothSides, Expected, Match};

/// Explains the treatment of infinite play; empty for games that always end.
pub(super) fn most_plies_text(most_plies: Option<u32>) -> String {
    let text = |plies| {
        format!(
            "\nGames longer than {plies} plies count as infinite (column: infinite).\nPolicies do not see repetitions: a position that recurs does not end the game, and a best response\nmay wait for a mistake.\n"
        )
    };
    most_plies.map_or(String::new(), text)
}

/// Lays out the expected results of games between two policies, for the first one. Ends with a line break.
pub fn match_text(met: &Match) -> String {
    let text = format!(
        "{} against {} on {}, exactly; results are {}'s\n\n",
        met.policy, met.opponent, met.table, met.policy
    );
    let openings = met.openings.iter();
    let rows = openings.map(|opening| (format!("{:>6}", opening.random_plies), opening.results));
    let grid = both_sides((["random", "plies"], met.sides), (&met.units, met.most_plies), rows);
    text + &grid + &most_plies_text(met.most_plies)
}

/// Lays out expected results on both sides; `corner` is the heading of the first column.
fn both_sides(
    (corner, sides): ([&str; 2], [&str; 2]),
    (units, most_plies): (&str, Option<u32>),
    rows: impl Iterator<Item = (String, BothSides<Expected>)>,
) -> String {
    let lower = results(units, most_plies);
    let mut headings = vec![(corner[0], corner[1])];
    let sides = sides.map(|side| format!("as {side}"));
    for side in &sides {
        // Above the second column of results.
        let upper = |at| if at == 1 { &side[..] } else { "" };
        headings.extend(lower.iter().enumerate().map(|(at, lower)| (upper(at), *lower)));
    }
    let mut grid = Grid::headed(&headings);
    for (name, BothSides { first, second }) in rows {
        grid.push([vec![name], cells(&first, most_plies), cells(&second, most_plies)].concat());
    }
    grid.to_text()
}

/// Returns the headings of [`cells`].
fn results(units: &str, most_plies: Option<u32>) -> Vec<&str> {
    let no_end = most_plies.map(|_| "infinite");
    ["win", "draw", "loss", units].into_iter().chain(no_end).collect()
}

/// Returns win, draw and loss in percent and the score; if play may be infinite, its frequency too.
fn cells(expected: &Expected, most_plies: Option<u32>) -> Vec<String> {
    let mut cells: Vec<String> =
        [expected.win, expected.draw, expected.loss].into_iter().map(percent).collect();
    cells.push(signed(expected.score, 2));
    cells.extend(most_plies.map(|_| percent(expected.endless)));
    cells
}
